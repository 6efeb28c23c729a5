//! The room of a child: which places its grant opens, and a folder of its own for temporary files.

use std::{
    fs, io,
    os::fd::AsFd,
    path::{Path, PathBuf},
};

use metier_model::{
    Permission, Scope, Want,
    scope::{Anchor, PathPattern, Reach},
};

use crate::{
    sandbox::{Network, Profile, StandIn, credential_places, protected_places, system_read},
    world::{LIMITS, World, WorldError},
};

/// How many files a pattern is matched against before it is given up.
const MAX_MATCHED: usize = 20_000;
/// Where, below the temporary files, folders are that children only read.
const KEPT: &str = "kept";

/// A folder that is gone when this is.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// A new folder below this one, for nobody else.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn new(below: &Path) -> Result<Self, WorldError> {
        let make = || {
            fs::create_dir_all(below)?;
            tempfile::Builder::new().prefix("run-").tempdir_in(below)
        };
        make().map(Self).map_err(|source| WorldError::File {
            path: below.to_owned(),
            source,
        })
    }

    /// The same for what others are started with: there no child writes, whatever was granted to it.
    ///
    /// # Errors
    /// When it can't be made.
    pub fn kept(below: &Path) -> Result<Self, WorldError> {
        Self::new(&below.join(KEPT))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl World<'_> {
    /// The fence that the grant amounts to.
    pub(super) fn profile(&self) -> Result<Profile, WorldError> {
        let mut read = system_read(&self.path_folders(), self.around.home);
        read.extend(self.around.skill.map(Path::to_owned));
        read.extend(self.tool_roots().into_iter().map(|(root, _)| root));
        let mut write = vec![self.scratch.path().to_owned()];
        let mut repositories = Vec::new();
        for want in self.grant.allowed() {
            let Scope::Paths(pattern) = want.reach() else {
                continue;
            };
            match want.permission {
                Permission::FileRead => read.extend(self.places(&pattern, false)?),
                Permission::FileWrite => write.extend(self.places(&pattern, true)?),
                Permission::GitRead => read.extend(self.straight(&pattern)?),
                Permission::GitWrite => {
                    write.extend(self.straight(&pattern)?);
                    repositories.extend(self.anchored(&pattern));
                }
                _ => {}
            }
        }
        let mut protect = self.around.own.to_vec();
        // It must be there: what is protected and missing is removed when it appears.
        let kept = self.around.temporary.join(KEPT);
        let failed = |source| WorldError::File {
            path: kept.clone(),
            source,
        };
        fs::create_dir_all(&kept).map_err(failed)?;
        protect.push(kept.canonicalize().map_err(failed)?);
        for root in &write[1..] {
            protect.extend(self.obeyed(root));
            for inner in repositories_below(root) {
                let places = protected_places(None, &inner).into_iter();
                protect.extend(places.filter(|place| place.exists()));
            }
        }
        protect.extend(self.refused(Permission::FileWrite));
        // Whoever may change a repository may make one; its hooks and settings stay out of reach.
        let repositories: Vec<PathBuf> =
            repositories.iter().map(|root| root.join(".git")).collect();
        protect.retain(|place| !repositories.contains(place));
        Ok(Profile {
            read,
            write,
            deny: self.hidden(),
            protect,
            stand_in: self.stand_in()?,
            network: if self.reaches_out() {
                Network::Proxy
            } else {
                Network::None
            },
            limits: LIMITS,
        })
    }

    /// What children see in the place of the skill's folder.
    fn stand_in(&self) -> Result<Option<StandIn>, WorldError> {
        let (skill, copy) = (self.around.skill, self.copy()?);
        Ok(skill.zip(copy).map(|(skill, copy)| StandIn {
            at: skill.to_owned(),
            copy: copy.to_owned(),
        }))
    }

    /// The skill's files as they were judged, written down once; `None` for a built-in skill. Without them no child is
    /// started: the folder itself may hold something else by now.
    pub(super) fn copy(&self) -> Result<Option<&Path>, WorldError> {
        if self.around.skill.is_none() {
            return Ok(None);
        }
        if let Some(copy) = self.copy.get() {
            return Ok(Some(copy.path()));
        }
        let copy = Scratch::kept(self.around.temporary)?;
        let folder = fs::File::open(copy.path()).map_err(|source| WorldError::File {
            path: copy.path().to_owned(),
            source,
        })?;
        (self.around.write_files)(folder.as_fd())?;
        Ok(Some(self.copy.get_or_init(|| copy).path()))
    }

    /// What git keeps at the top of the skill's folder. It is in no digest, so the skill can't open it in any way.
    pub(super) fn unjudged(&self) -> Option<PathBuf> {
        self.around.skill.map(|skill| skill.join(".git"))
    }

    /// What no permission opens for reading.
    pub(super) fn denied(&self) -> Vec<PathBuf> {
        self.secret().chain(self.rooms()).collect()
    }

    /// The same for a child, which has a room of its own among those of others.
    pub(super) fn hidden(&self) -> Vec<PathBuf> {
        let rooms = self.rooms().into_iter().flat_map(fs::read_dir).flatten();
        let others = rooms.flatten().map(|room| room.path()).filter(|room| {
            !room.ends_with(KEPT) && room.file_name() != self.scratch.path().file_name()
        });
        self.secret().chain(others).collect()
    }

    /// The folder of all temporary files: what is in it belongs to one activation, and is nobody else's.
    fn rooms(&self) -> Option<PathBuf> {
        self.around.temporary.canonicalize().ok()
    }

    /// Keys, our own state, what is in no digest, and what the user denied; by name, and wherever that leads.
    fn secret(&self) -> impl Iterator<Item = PathBuf> {
        let keys = self.around.home.map(credential_places).unwrap_or_default();
        keys.into_iter()
            .chain(self.around.own.to_vec())
            .chain(self.unjudged())
            .chain(self.refused(Permission::FileRead))
            .flat_map(both)
    }

    /// What the user denied, though it lies inside of what the user allowed. Of a pattern, the whole folder.
    pub(super) fn refused(&self, permission: Permission) -> Vec<PathBuf> {
        let denied = self.grant.denied().iter();
        let denied = denied.filter(|want| want.permission == permission);
        let places = denied.filter_map(|want: &Want| match want.reach() {
            Scope::Paths(pattern) => self.anchored(&pattern),
            _ => None,
        });
        places.collect()
    }

    /// What no permission opens for writing.
    pub(super) fn untouchable(&self, path: &Path) -> Vec<PathBuf> {
        let mut places = self.denied();
        places.extend(self.obeyed(path));
        places
    }

    /// What others obey in a folder, and in those of the user's above it: `.git` alone is a folder like any other, and its
    /// hooks are known by what lies above.
    pub(super) fn obeyed(&self, path: &Path) -> Vec<PathBuf> {
        let parent = path.parent().filter(|_| path.is_file());
        let folder = parent.unwrap_or(path);
        let above = folder
            .ancestors()
            .skip(1)
            .filter(|above| self.is_users(above));
        let mut places = protected_places(self.around.home, folder);
        places.extend(above.flat_map(|above| protected_places(None, above)));
        places.into_iter().flat_map(both).collect()
    }

    /// Whether it is the project, the home, or below one of them.
    fn is_users(&self, path: &Path) -> bool {
        let terms = self.grant.terms();
        let home = terms.home.as_ref();
        path.starts_with(&terms.project) || home.is_some_and(|home| path.starts_with(home))
    }

    /// The fixed part of a pattern, if no link is on the way: what people were asked about is the name, and a project could
    /// make it lead anywhere.
    pub(super) fn straight(&self, pattern: &PathPattern) -> Result<Option<PathBuf>, WorldError> {
        let Some(path) = self.anchored(pattern) else {
            return Ok(None);
        };
        let is_link = |path: &&Path| {
            let found = path.symlink_metadata();
            self.is_users(path) && found.is_ok_and(|found| found.is_symlink())
        };
        match path.ancestors().find(is_link) {
            Some(link) => Err(WorldError::Link(link.to_owned())),
            None => Ok(Some(path)),
        }
    }

    /// The fixed part of a pattern on this machine.
    fn anchored(&self, pattern: &PathPattern) -> Option<PathBuf> {
        let terms = self.grant.terms();
        let anchor = match pattern.anchor() {
            Anchor::Project => terms.project.as_path(),
            Anchor::Home => terms.home.as_deref()?,
            Anchor::Root => Path::new("/"),
        };
        let (names, _) = pattern.fixed();
        let mut path = anchor.to_owned();
        path.extend(names);
        Some(path)
    }

    /// The files and folders that a pattern opens for a child. A folder that is to be written and isn't there is made; a
    /// pattern with names to be matched opens the files that match today.
    pub(super) fn places(
        &self,
        pattern: &PathPattern,
        to_write: bool,
    ) -> Result<Vec<PathBuf>, WorldError> {
        let Some(base) = self.straight(pattern)? else {
            return Ok(Vec::new());
        };
        let never = |path: &Path, what| WorldError::Never {
            path: path.to_owned(),
            what,
        };
        let within = |place: &PathBuf| base.starts_with(place);
        if self.rooms().as_ref().is_some_and(within) {
            return Err(never(&base, if to_write { "written" } else { "read" }));
        }
        if to_write && self.obeyed(&base).iter().any(within) {
            return Err(never(&base, "written"));
        }
        let failed = |source: io::Error| WorldError::File {
            path: base.clone(),
            source,
        };
        let (names, reach) = pattern.fixed();
        match reach {
            Reach::Everything => {
                if to_write && !base.exists() {
                    fs::create_dir_all(&base).map_err(failed)?;
                }
                Ok(vec![base])
            }
            Reach::Exactly if base.is_file() || (!to_write && base.is_dir()) => Ok(vec![base]),
            Reach::Exactly if to_write && !base.exists() => {
                fs::File::create_new(&base).map_err(failed)?;
                Ok(vec![base])
            }
            Reach::Exactly => Ok(Vec::new()),
            Reach::Some => {
                let mut found = Vec::new();
                let mut left = MAX_MATCHED;
                let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
                collect(&base, &names, pattern, &mut left, &mut found);
                Ok(found)
            }
        }
    }
}

/// A place, and the same without links on the way, if there are any: what is asked for is named without.
fn both(place: PathBuf) -> impl Iterator<Item = PathBuf> {
    let real = real(&place).filter(|real| *real != place);
    std::iter::once(place).chain(real)
}

/// A path without links, as far as it is there.
fn real(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        let real = above.canonicalize().ok()?;
        // With nothing behind it, `join` would add a slash, which a file does not have.
        Some(if rest.as_os_str().is_empty() {
            real
        } else {
            real.join(rest)
        })
    })
}

/// Repositories inside of a folder, which have hooks of their own. Looked for as far as people keep them, and not further.
pub(super) fn repositories_below(root: &Path) -> Vec<PathBuf> {
    const DEEPEST: usize = 4;
    const MOST_LOOKED_AT: usize = 5_000;
    const MOST: usize = 32;
    let mut found = Vec::new();
    let mut left = MOST_LOOKED_AT;
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            if left == 0 || found.len() == MOST {
                return found;
            }
            left -= 1;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name();
            if name == ".git" {
                if folder != root {
                    found.push(folder.clone());
                }
            } else if is_folder && depth < DEEPEST && name != "node_modules" && name != "target" {
                open.push((entry.path(), depth + 1));
            }
        }
    }
    found
}

/// Every file below a folder whose names match, without following links.
fn collect(
    folder: &Path,
    names: &[String],
    pattern: &PathPattern,
    left: &mut usize,
    found: &mut Vec<PathBuf>,
) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
            continue;
        };
        let mut names = names.to_vec();
        names.push(name);
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        if kind.is_file() && pattern.matches(&all) {
            found.push(entry.path());
        } else if kind.is_dir() {
            collect(&entry.path(), &names, pattern, left, found);
        }
    }
}
