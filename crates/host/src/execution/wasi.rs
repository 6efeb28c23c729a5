//! A grant as WASI sees it: folders that are opened beforehand, and variables. Plain data for [`metier_wasm`].
//!
//! WebAssembly runs in this process, without a sandbox of the system: a folder that is opened for it is open as a whole. So only whole
//! folders are opened (`file:read(docs/**)`), and none that contains a place that no permission opens: keys, our own state, places the user
//! denied, and for writing, files that other programs obey. Single files and patterns are read and written through the host, which checks
//! each one. Protected files that don't exist yet could be created: that is checked after each call, as after each child, and they are
//! renamed.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use metier_model::{
    Permission, Scope,
    scope::{PathPattern, Reach},
};
use metier_wasm::{PreopenedFolder, WasiRoots, script::ScriptModule};
use rustix::fs::makedev;

use crate::{
    child::{
        ChildError,
        journal::OtherRuns,
        watch::{self, Watch},
    },
    execution::{ActExecutor, ExecutionError, child_profile::WATCHED, leftovers},
    sandbox::{Guard, SandboxProfile, SecondLook, Trails, UndonePlace, place_state::PlaceStates},
};

/// The opened places of a grant, for WebAssembly.
#[derive(Clone, Debug, Default)]
pub struct Wasi {
    /// The context for the engine.
    pub room: WasiRoots,
    /// The granted places that are not opened, with the reasons, for the user.
    pub closed: Vec<String>,
    /// Writable folders, and the protected places that must not appear in them.
    guarded: SandboxProfile,
    /// Where these places are recorded, and for which owner.
    watched: PathBuf,
    owner: String,
}

impl ActExecutor {
    /// The opened places of the grant, for WebAssembly.
    ///
    /// # Errors
    /// When a granted name is a link, a place that is never written, or a folder that can't be created.
    pub fn wasi(&self) -> Result<Wasi, ExecutionError> {
        let mut wasi = Wasi::default();
        // Writable ones first: they can be read as well.
        for permission in [Permission::FileWrite, Permission::FileRead] {
            for want in self.grant.allowed() {
                let Scope::Paths(pattern) = want.reach() else {
                    continue;
                };
                if want.permission == permission && pattern.fixed().1 == Reach::Everything {
                    self.open(&pattern, permission == Permission::FileWrite, &mut wasi)?;
                }
            }
        }
        for (name, value) in &self.skill.named {
            let value = value.to_str().filter(|_| self.may_see(name));
            wasi.room
                .variables
                .extend(value.map(|value| (name.clone(), value.to_owned())));
        }
        Ok(wasi)
    }

    /// Our own binary and its arguments, to run a WebAssembly file of the skill as a script.
    pub(super) fn wasm_script(
        &self,
        file: PathBuf,
        arguments: Vec<OsString>,
    ) -> Result<(OsString, Vec<OsString>), ExecutionError> {
        let script = ScriptModule {
            file,
            places: self.script_places()?,
            arguments,
        };
        Ok((self.host.shim.clone().into(), script.command()))
    }

    /// The folders that a WebAssembly script of the skill opens: its working directory, its own folder, its temporary one, and those that
    /// grant names as a whole. The sandbox around the child decides what can be read and written there.
    fn script_places(&self) -> Result<Vec<PreopenedFolder>, ExecutionError> {
        let work = &self.host.work;
        let mut places = Vec::new();
        let mut add = |folder: &Path, name: Option<&str>, write| {
            places.extend(name.map(|name| PreopenedFolder {
                folder: folder.to_owned(),
                name: name.to_owned(),
                write,
                identity: None,
            }));
        };
        add(work, Some("."), true);
        add(self.scratch.path(), self.scratch.path().to_str(), true);
        for permission in [Permission::FileWrite, Permission::FileRead] {
            for want in self.grant.fence() {
                let Scope::Paths(pattern) = want.reach() else {
                    continue;
                };
                if want.permission != permission || pattern.fixed().1 != Reach::Everything {
                    continue;
                }
                let Some(folder) = self.straight(&pattern)? else {
                    continue;
                };
                let write = permission == Permission::FileWrite;
                add(&folder, folder.to_str(), write);
                // Programs name files relative to their working directory: `data/x.txt` is found in the folder named `data`.
                let seen = folder.strip_prefix(work).ok();
                let seen = seen.filter(|seen| !seen.as_os_str().is_empty());
                add(&folder, seen.and_then(Path::to_str), write);
            }
        }
        if let Some(skill) = self.skill.folder.as_deref() {
            add(skill, skill.to_str(), false);
        }
        let mut names = BTreeSet::new();
        places.retain(|place| names.insert(place.name.clone()));
        Ok(places)
    }

    /// Opens one folder, or returns why not.
    fn open(
        &self,
        pattern: &PathPattern,
        write: bool,
        wasi: &mut Wasi,
    ) -> Result<(), ExecutionError> {
        let Some(base) = self.straight(pattern)? else {
            return Ok(());
        };
        let failed = |source: io::Error| ExecutionError::File {
            path: base.clone(),
            source,
        };
        if write {
            if self.is_untouchable(&base)? {
                return Err(ExecutionError::Never {
                    path: base,
                    what: "written",
                });
            }
            fs::create_dir_all(&base).map_err(failed)?;
        }
        if !base.is_dir() {
            return Ok(());
        }
        let mut identities = BTreeMap::new();
        self.found(pattern, vec![base.clone()], write, &mut identities)?;
        let known = identities.first_key_value();
        let Some((folder, known)) = known.map(|(folder, known)| (folder.clone(), *known)) else {
            return Ok(());
        };
        let (major, minor) = known.device;
        let identity = Some((makedev(major, minor), known.inode));
        let protected = match write {
            true => self.protected(&folder)?,
            false => Vec::new(),
        };
        let there = protected.iter().find(|place| exists(place));
        if let Some(place) = self.secret_in(&folder).as_ref().or(there) {
            wasi.closed.push(closed(&folder, place, write));
            return Ok(());
        }
        if wasi.room.places.iter().any(|place| place.folder == folder) {
            return Ok(());
        }
        // Programs name files relative to the project: `data/x.txt` is found in the folder named `data`.
        let seen = base.strip_prefix(&self.grant.terms().project).ok();
        let seen = seen.map(|inside| match inside.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => inside.to_string_lossy().into_owned(),
        });
        let names = [base.to_string_lossy().into_owned()]
            .into_iter()
            .chain(seen);
        wasi.room.places.extend(names.map(|name| PreopenedFolder {
            folder: folder.clone(),
            name,
            write,
            identity,
        }));
        if write {
            let guard = wasi.guarded.guard.get_or_insert_with(|| Guard {
                protection: self.protection().clone(),
                ..Guard::default()
            });
            guard.roots.push(folder.clone());
            wasi.guarded.identities.append(&mut identities);
            wasi.guarded.write.push(folder);
            wasi.guarded.protect.extend(protected);
            wasi.owner = leftovers::owner(self.grant.identity());
            wasi.watched = self.host.temporary.join(WATCHED);
        }
        Ok(())
    }

    /// A place that no permission opens, in this folder or around it. It need not exist: it may exist later.
    fn secret_in(&self, folder: &Path) -> Option<PathBuf> {
        let meets = |place: &Path| place.starts_with(folder) || folder.starts_with(place);
        self.denied()
            .into_iter()
            .find(|place| meets(place) || place.canonicalize().is_ok_and(|place| meets(&place)))
    }

    /// Files in a folder that other programs obey, and places that the user denied for writing.
    fn protected(&self, folder: &Path) -> Result<Vec<PathBuf>, ExecutionError> {
        let guard = Guard {
            protection: self.protection().clone(),
            roots: vec![folder.to_owned()],
            ..Guard::default()
        };
        let mut places = self.protection().around(&guard.roots, &[]);
        let mut trails = Trails::default();
        let survey = guard
            .survey(&places, &mut trails)
            .map_err(ChildError::from)?;
        places.extend(survey.protected(&guard.roots));
        places.extend(self.protection().steps(&places, &mut trails));
        places.extend(self.refused(Permission::FileWrite));
        places.retain(|place| place.starts_with(folder));
        Ok(places)
    }
}

impl Wasi {
    /// Runs something that can write, renames files that must not appear there, and returns them.
    ///
    /// # Errors
    /// When a file exists now that must not be written, or could not be restored.
    pub(crate) fn guarding<T>(
        &self,
        work: impl FnOnce() -> T,
    ) -> Result<(T, Vec<UndonePlace>), ExecutionError> {
        if self.guarded.write.is_empty() {
            return Ok((work(), Vec::new()));
        }
        let mut profile = self.guarded.clone();
        let failed = |path: &Path, source| ExecutionError::File {
            path: path.to_owned(),
            source,
        };
        let others = OtherRuns::read(&self.watched);
        let others = others.map_err(|source| failed(&self.watched, source))?;
        let mut look = PlaceStates::default();
        let survey = watch::survey(&mut profile, &others, &mut Trails::default());
        let survey = survey.map_err(ChildError::from)?;
        let watch = Watch::new(&mut profile, survey, &others, &mut look);
        let mut watch = watch.map_err(|source| match profile.write.first() {
            Some(folder) => failed(folder, source),
            None => failed(Path::new("/"), source),
        })?;
        let written = watch.write_down(&self.watched, &self.owner);
        written.map_err(|source| failed(&self.watched, source))?;
        if let Some(path) = profile.protect.first() {
            return Err(ExecutionError::Never {
                path: path.clone(),
                what: "written",
            });
        }
        drop(others);
        let done = work();
        let SecondLook { undone, failed } = watch.undo();
        match failed.is_empty() {
            true => Ok((done, undone)),
            false => Err(ChildError::NotUndone { failed, undone }.into()),
        }
    }
}

fn exists(place: &Path) -> bool {
    place.symlink_metadata().is_ok()
}

fn closed(folder: &Path, place: &Path, write: bool) -> String {
    let (what, instead) = match write {
        true => ("for writing", "`host/write_file`"),
        false => ("for reading", "`host/read_file`"),
    };
    format!(
        "{} is not opened {what} as a folder, because {} is in it; {instead} works there",
        folder.display(),
        place.display()
    )
}
