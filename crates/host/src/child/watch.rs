//! Protected places that no fence can hold: those that don't exist yet, and links.
//!
//! What isn't there can't be made read-only, and a link can't be a mount point. So they are looked at again when the
//! child and all it started are gone: what appeared is removed, what was bent is put back. Nothing is followed: every
//! step is taken from the handle of the folder before, and a link in the way is itself what appeared.
//!
//! The list is written down before the child starts ([`Journal`]), so that the next run can do the same if this program is killed. It does not
//! remove, but renames: the user may have made a file of that name in the meantime.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, chmod, openat, readlinkat,
    renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use super::journal::Journal;
use crate::sandbox::look::{Look, Seen};
use crate::sandbox::{Guard, Identity, Profile, Survey};

/// How often a folder is read again because entries appeared to be left.
const PASSES: usize = 16;

/// How many names are tried for what is set aside.
const MOST_NAMES: u32 = 1_000;

/// The places of one child.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(super) roots: Vec<Root>,
    /// How to look for others, and what was there before.
    pub(super) guard: Option<(Guard, Survey)>,
    /// Protected places that were there, and what they were.
    there: Vec<(PathBuf, Identity)>,
    journal: Option<Journal>,
}

/// A writable folder.
#[derive(Debug)]
pub(super) struct Root {
    pub(super) path: PathBuf,
    handle: OwnedFd,
    /// Names below it that were not there.
    pub(super) missing: Vec<PathBuf>,
    /// Links below it, and where they led.
    pub(super) links: Vec<(PathBuf, OsString)>,
}

impl Watch {
    /// Notes how things are before the child starts. What is missing can't be fenced, and is taken out of the profile.
    pub(crate) fn new(profile: &mut Profile, survey: Survey, look: &mut Look) -> io::Result<Self> {
        let mut watch = Self {
            guard: profile.guard.take().map(|guard| (guard, survey)),
            ..Self::default()
        };
        let mut there = Vec::new();
        for place in std::mem::take(&mut profile.protect) {
            let missing = match profile.writable_above(&place) {
                Some(root) if root != place => watch.note(root, &place, look)?,
                _ => false,
            };
            if !missing {
                if profile.writable_above(&place).is_some() {
                    watch
                        .there
                        .extend(identity(&place).map(|id| (place.clone(), id)));
                }
                there.push(place);
            }
        }
        profile.protect = there;
        Ok(watch)
    }

    /// Writes down what has to be looked at, for the case that this program is killed.
    pub(crate) fn write_down(&mut self, folder: &Path, owner: &str) -> io::Result<()> {
        if self.guard.is_some() || !self.roots.is_empty() {
            self.journal = Some(Journal::begin(folder, owner, self)?);
        }
        Ok(())
    }

    /// Shows other processes that these places are still watched.
    pub(crate) fn lock(&self) -> Option<BorrowedFd<'_>> {
        self.journal.as_ref().map(Journal::lock)
    }

    /// Whether it is missing.
    fn note(&mut self, root: &Path, place: &Path, look: &mut Look) -> io::Result<bool> {
        let names = place.strip_prefix(root).unwrap_or(Path::new(""));
        let mut below = root.to_owned();
        for part in names {
            below.push(part);
            match look.at(&below) {
                Seen::Thing => {}
                Seen::Missing => {
                    self.root(root)?.missing.push(names.to_owned());
                    return Ok(true);
                }
                Seen::Link => {
                    let name = below.strip_prefix(root).unwrap_or(Path::new(""));
                    let link = (
                        name.to_owned(),
                        std::fs::read_link(&below)?.into_os_string(),
                    );
                    let root = self.root(root)?;
                    if !root.links.contains(&link) {
                        root.links.push(link);
                    }
                    return Ok(false);
                }
            }
        }
        Ok(false)
    }

    fn root(&mut self, path: &Path) -> io::Result<&mut Root> {
        let known = self.roots.iter().position(|root| root.path == path);
        let at = known.map_or_else(|| self.open(path), Ok)?;
        let missing = || io::Error::other("a folder that was just opened");
        self.roots.get_mut(at).ok_or_else(missing)
    }

    fn open(&mut self, root: &Path) -> io::Result<usize> {
        self.roots.push(Root::open(root)?);
        Ok(self.roots.len() - 1)
    }

    /// Puts things back, and says which.
    ///
    /// # Errors
    /// The first place that could not be put back, after all others were tried. It is tried again at the next start.
    pub(crate) fn undo(&mut self) -> Result<Vec<PathBuf>, (PathBuf, io::Error)> {
        let (undone, failed) = self.put_back();
        let journal = self.journal.take();
        match failed {
            None => Ok(undone),
            Some(failed) => {
                if let Some(journal) = journal {
                    journal.keep();
                }
                Err(failed)
            }
        }
    }

    /// Protected places that are not what they were. A mount goes with the file on which it is, so what another program put there
    /// while the child ran was open to the child.
    pub(crate) fn replaced(&self) -> Vec<PathBuf> {
        let is_other = |(place, before): &&(PathBuf, Identity)| identity(place) != Some(*before);
        let replaced = self.there.iter().filter(is_other);
        replaced.map(|(place, _)| place.clone()).collect()
    }

    /// The same without a caller that takes the result: it is written down for the next start.
    pub(crate) fn undo_unasked(&mut self) {
        let (undone, failed) = self.put_back();
        match self.journal.take() {
            Some(journal) if failed.is_some() => journal.keep(),
            Some(journal) => journal.end_with(&undone),
            None => {}
        }
    }

    /// What was put back, and the first place that could not be.
    pub(super) fn put_back(&mut self) -> (Vec<PathBuf>, Option<(PathBuf, io::Error)>) {
        let mut undone = Vec::new();
        let mut failed = None;
        let roots = std::mem::take(&mut self.roots);
        for root in &roots {
            for (name, target) in &root.links {
                match root.straighten(name, target) {
                    Ok(false) => {}
                    Ok(true) => undone.push(root.path.join(name)),
                    Err(error) => failed = failed.or(Some((root.path.join(name), error))),
                }
            }
            for name in &root.missing {
                match root.clear(name) {
                    Ok(None) => {}
                    Ok(Some(removed)) => undone.push(root.path.join(removed)),
                    Err(error) => failed = failed.or(Some((root.path.join(name), error))),
                }
            }
        }
        if let Some((guard, before)) = self.guard.take() {
            let (places, unseen) = guard.survey_again(&before);
            failed = failed.or(unseen);
            for place in places {
                match clear_below(&guard, &roots, &place) {
                    Ok(removed) => undone.extend(removed),
                    Err(error) => failed = failed.or(Some((place, error))),
                }
            }
        }
        undone.sort_unstable();
        undone.dedup();
        (undone, failed)
    }
}

/// What is at a place; links are looked at by where they lead.
fn identity(place: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    let found = place.symlink_metadata().ok()?;
    (!found.is_symlink()).then(|| (found.dev(), found.ino()))
}

/// Clears a place that a walk has found, from the handle of the writable folder in which it is.
fn clear_below(guard: &Guard, roots: &[Root], place: &Path) -> io::Result<Option<PathBuf>> {
    let place = guard.offending(place);
    let above = guard.roots.iter().filter(|root| place.starts_with(root));
    let Some(folder) = above.max_by_key(|root| root.as_os_str().len()) else {
        return Ok(None);
    };
    let name = place.strip_prefix(folder).unwrap_or(&place);
    let opened;
    let root = match roots.iter().find(|root| root.path == *folder) {
        Some(root) => root,
        None => {
            opened = Root::open(folder)?;
            &opened
        }
    };
    let cleared = root.clear(name)?;
    Ok(cleared.map(|name| folder.join(name)))
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            handle: openat(CWD, path, FOLDER, Mode::empty())?,
            missing: Vec::new(),
            links: Vec::new(),
        })
    }

    /// Renames what has this name now, or the link on the way to it; the name of what was there. Nothing is deleted: the user may have made
    /// it while the child ran.
    fn clear(&self, name: &Path) -> io::Result<Option<PathBuf>> {
        let mut folder: Option<OwnedFd> = None;
        let mut walked = PathBuf::new();
        let count = name.iter().count();
        for (index, part) in name.iter().enumerate() {
            walked.push(part);
            if self.links.iter().any(|(link, _)| *link == walked) {
                return Ok(None); // was there before, and leads elsewhere
            }
            let at = folder.as_ref().map_or(self.handle.as_fd(), AsFd::as_fd);
            let found = match statat(at, part, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => FileType::from_raw_mode(found.st_mode),
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
                Err(Errno::ACCESS) => {
                    // A folder that nobody may look into was made by the child.
                    enter(at)?;
                    FileType::from_raw_mode(statat(at, part, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
                }
                Err(error) => return Err(error.into()),
            };
            if index + 1 == count || found == FileType::Symlink {
                rename_aside(at, part)?;
                return Ok(Some(walked));
            }
            if found != FileType::Directory {
                return Ok(None);
            }
            make_accessible(at, part)?;
            folder = Some(openat(at, part, FOLDER, Mode::empty())?);
        }
        Ok(None)
    }

    /// Makes a link lead where it led; whether it had to be.
    fn straighten(&self, name: &Path, target: &OsStr) -> io::Result<bool> {
        let mut folder: Option<OwnedFd> = None;
        let Some(last) = name.file_name() else {
            return Ok(false);
        };
        for part in name.parent().into_iter().flatten() {
            let at = folder.as_ref().map_or(self.handle.as_fd(), AsFd::as_fd);
            folder = Some(openat(at, part, FOLDER, Mode::empty())?);
        }
        let at = folder.as_ref().map_or(self.handle.as_fd(), AsFd::as_fd);
        match readlinkat(at, last, Vec::new()) {
            Ok(now) if now.as_bytes() == target.as_bytes() => return Ok(false),
            Ok(_) | Err(Errno::INVAL) => rename_aside(at, last)?,
            Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        symlinkat(target, at, last)?;
        Ok(true)
    }
}

/// Gives the user back their rights to a folder that they hold open.
fn enter(folder: BorrowedFd<'_>) -> io::Result<()> {
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    chmod(path, Mode::RWXU).map_err(Into::into)
}

/// The same for a folder by its name. Through a handle that follows no link.
fn make_accessible(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(at, name, flags, Mode::empty())?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&folder)?.st_mode);
    if mode.contains(Mode::RWXU) {
        return Ok(());
    }
    enter(folder.as_fd())
}

/// Gives something a name that counts for nothing.
fn rename_aside(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    for number in 1..=MOST_NAMES {
        let mut aside = name.to_owned();
        aside.push(format!(".undone-{number}"));
        match renameat_with(at, name, at, &aside, RenameFlags::NOREPLACE) {
            Err(Errno::EXIST) => {}
            renamed => return renamed.map_err(Into::into),
        }
    }
    Err(io::Error::other("there is no free name beside it"))
}

/// Removes a file, a link or a folder with all in it.
///
/// Folders inside are moved up and removed one after the other: a tree may be deeper than a stack, or than there are
/// descriptors.
pub(crate) fn remove_tree(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match unlinkat(at, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut moved = 0u64;
    let mut waiting = vec![name.to_owned()];
    while let Some(name) = waiting.pop() {
        make_accessible(at, &name)?;
        let folder = openat(at, &name, FOLDER, Mode::empty())?;
        for _ in 0..PASSES {
            for entry in Dir::read_from(&folder)? {
                let entry = entry?;
                let entry = OsStr::from_bytes(entry.file_name().to_bytes());
                if entry == "." || entry == ".." {
                    continue;
                }
                match unlinkat(&folder, entry, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => continue,
                    Err(Errno::ISDIR) => {}
                    Err(error) => return Err(error.into()),
                }
                make_accessible(folder.as_fd(), entry)?;
                waiting.push(move_up(folder.as_fd(), entry, at, &mut moved)?);
            }
            match unlinkat(at, &name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => break,
                Err(Errno::NOTEMPTY) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

fn move_up(
    from: BorrowedFd<'_>,
    entry: &OsStr,
    to: BorrowedFd<'_>,
    moved: &mut u64,
) -> io::Result<OsString> {
    loop {
        *moved += 1;
        let name = OsString::from(format!(".metier-undo-{}-{moved}", std::process::id()));
        match renameat_with(from, entry, to, &name, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(name),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
