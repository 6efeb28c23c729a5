//! Protected places that no sandbox can hold: missing ones, and links.
//!
//! A missing file can't be made read-only, and a link can't be a mount point. So they are checked again after the child and all its
//! descendants are gone: new files are renamed, changed links are restored. No link is followed: every step starts at the handle of
//! the previous folder, and a link on the path itself counts as new.
//!
//! The list is recorded before the child starts ([`Journal`]), so that the next run can restore the places if this program is killed.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, RenameFlags, openat, readlinkat, renameat_with, symlinkat,
    unlinkat,
};
use rustix::io::Errno;

use super::journal::{Journal, OtherRuns};
use crate::sandbox::object::{
    FOLDER, Moment, NamedObject, ObjectMark, give_back, make_accessible, open_folder, rename_aside,
};
use crate::sandbox::place_state::{PlaceState, PlaceStates};
use crate::sandbox::{
    Guard, SandboxProfile, SecondLook, Survey, SurveyError, Trails, UndonePlace, all_names,
};

/// How often a folder is read again because entries seemed to be left.
const PASSES: usize = 16;

/// Finds protected places in the folders that a child can write, and adds them to the profile. Files that another run may have
/// created there are protected, but do not count as known.
pub(crate) fn survey(
    profile: &mut SandboxProfile,
    others: &OtherRuns,
    trails: &mut Trails,
) -> Result<Survey, SurveyError> {
    let Some(guard) = &profile.guard else {
        return Ok(Survey::default());
    };
    let mut survey = guard.survey(&profile.protect, trails)?;
    if let Some(root) = guard.replaced(&survey, &profile.identities) {
        return Err(SurveyError::Replaced(root.clone()));
    }
    survey.forget(|place, mark| others.made(place, mark));
    profile.protect.extend(survey.protected(&guard.roots));
    Ok(survey)
}

/// The places of one child.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(super) roots: Vec<WatchedRoot>,
    /// The tables and the first scan, to find protected places that the child creates.
    pub(super) guard: Option<(Guard, Survey)>,
    /// Protected places in the writable folders that existed, and the identity of each.
    there: Vec<(PathBuf, ObjectMark)>,
    journal: Option<Journal>,
}

/// A folder that the child can write to.
#[derive(Debug)]
pub(super) struct WatchedRoot {
    pub(super) path: PathBuf,
    handle: OwnedFd,
    /// Protected names below it that did not exist.
    pub(super) missing: Vec<PathBuf>,
    /// Links below it, and their targets.
    pub(super) links: Vec<(PathBuf, OsString)>,
}

impl Watch {
    /// Records the state before the child starts. Missing places can't be sandboxed, and are removed from the profile.
    pub(crate) fn new(
        profile: &mut SandboxProfile,
        mut survey: Survey,
        others: &OtherRuns,
        look: &mut PlaceStates,
    ) -> io::Result<Self> {
        // Everything found is in the profile, and the child can't write it.
        survey.is_fenced = true;
        let mut watch = Self {
            guard: profile.guard.take().map(|guard| (guard, survey)),
            ..Self::default()
        };
        let mut there = Vec::new();
        for place in std::mem::take(&mut profile.protect) {
            let missing = match profile.writable_above(&place) {
                Some(root) if root != place => watch.note(root, &place, others, look)?,
                _ => false,
            };
            if !missing {
                if profile.writable_above(&place).is_some() {
                    let mark = object_at(&place);
                    watch.there.extend(mark.map(|mark| (place.clone(), mark)));
                }
                there.push(place);
            }
        }
        profile.protect = there;
        Ok(watch)
    }

    /// Writes the places to check into the journal, in case this program is killed.
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

    /// Records a place; returns whether it is missing.
    fn note(
        &mut self,
        root: &Path,
        place: &Path,
        others: &OtherRuns,
        look: &mut PlaceStates,
    ) -> io::Result<bool> {
        let names = place.strip_prefix(root).unwrap_or(Path::new(""));
        let mut below = root.to_owned();
        for part in names {
            below.push(part);
            match look.at(&below) {
                PlaceState::Thing => {}
                PlaceState::Missing => {
                    self.root(root)?.missing.push(names.to_owned());
                    return Ok(true);
                }
                PlaceState::Link => {
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
        if others.miss(place) {
            // Another run has created it. It exists for now, and is restored like files that this run creates.
            self.root(root)?.missing.push(names.to_owned());
        }
        Ok(false)
    }

    fn root(&mut self, path: &Path) -> io::Result<&mut WatchedRoot> {
        let known = self.roots.iter().position(|root| root.path == path);
        let at = known.map_or_else(|| self.open(path), Ok)?;
        let missing = || io::Error::other("a folder that was just opened");
        self.roots.get_mut(at).ok_or_else(missing)
    }

    fn open(&mut self, root: &Path) -> io::Result<usize> {
        self.roots.push(WatchedRoot::open(root)?);
        Ok(self.roots.len() - 1)
    }

    /// Restores places, and returns them. Places that could not be restored are retried at the next start.
    pub(crate) fn undo(&mut self) -> SecondLook {
        let look = self.put_back(None);
        if let Some(journal) = self.journal.take()
            && !look.failed.is_empty()
        {
            journal.keep();
        }
        look
    }

    /// Protected places that are now another object, except restored ones. A mount is bound to its file, so the child had access to a file
    /// that another program put in its place while the child ran.
    pub(crate) fn replaced(&self) -> Vec<PathBuf> {
        let is_other = |(place, before): &&(PathBuf, ObjectMark)| {
            object_at(place).is_some_and(|now| now != *before)
        };
        let replaced = self.there.iter().filter(is_other);
        replaced.map(|(place, _)| place.clone()).collect()
    }

    /// [`Self::undo`] without a caller that takes the result: it is recorded for the next start.
    pub(crate) fn undo_unasked(&mut self) {
        let look = self.put_back(None);
        match self.journal.take() {
            Some(journal) if !look.failed.is_empty() => journal.keep(),
            Some(journal) => journal.end_with(&look.undone),
            None => {}
        }
    }

    /// The places that were restored, and those that could not be. Files created after `ended` belong to the user.
    pub(super) fn put_back(&mut self, ended: Option<Moment>) -> SecondLook {
        let mut look = SecondLook::default();
        for root in std::mem::take(&mut self.roots) {
            let links = root.links.iter();
            let straightened = links.map(|(name, to)| (name, root.straighten(name, to, ended)));
            let straightened: Vec<_> = straightened.collect();
            let missing = root.to_look_at();
            let cleared = missing.map(|name| (name, root.clear(name, ended)));
            for (name, done) in straightened.into_iter().chain(cleared) {
                match done {
                    Ok(undone) => look.undone.extend(undone),
                    Err(error) => look.failed.push((root.path.join(name), error)),
                }
            }
        }
        if let Some((guard, before)) = self.guard.take() {
            let SecondLook { undone, mut failed } = guard.second_look(&before, ended);
            look.undone.extend(undone);
            // These come first: the total number is read from the start of the list.
            failed.append(&mut look.failed);
            look.failed = failed;
        }
        look.undone.sort_unstable();
        look.undone.dedup();
        look
    }
}

/// The object at a place. Links are restored, and their target is a separate place.
fn object_at(place: &Path) -> Option<ObjectMark> {
    let found = NamedObject::at(CWD, place.as_os_str()).ok()?;
    (found.kind != FileType::Symlink).then_some(found.mark)
}

impl WatchedRoot {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            handle: openat(CWD, path, FOLDER, Mode::empty())?,
            missing: Vec::new(),
            links: Vec::new(),
        })
    }

    /// The names that did not exist, except those that a listing of the folder shows to be still missing.
    fn to_look_at(&self) -> impl Iterator<Item = &PathBuf> {
        let again = openat(&self.handle, ".", FOLDER, Mode::empty());
        let listed = again.ok().and_then(all_names);
        self.missing.iter().filter(move |name| {
            let first = name.iter().next();
            let is_listed =
                |names: &HashSet<OsString>| first.is_none_or(|name| names.contains(name));
            listed.as_ref().is_none_or(is_listed)
        })
    }

    /// Renames the file that has this name now, or the link on the path to it. Nothing is deleted: the user may have created it while
    /// the child ran.
    fn clear(&self, name: &Path, ended: Option<Moment>) -> io::Result<Option<UndonePlace>> {
        let mut folder: Option<OwnedFd> = None;
        let mut walked = PathBuf::new();
        let count = name.iter().count();
        for (index, part) in name.iter().enumerate() {
            walked.push(part);
            if self.links.iter().any(|(link, _)| *link == walked) {
                return Ok(None); // existed before, and points elsewhere
            }
            let at = folder.as_ref().map_or(self.handle.as_fd(), AsFd::as_fd);
            let found = match NamedObject::at(at, part) {
                Ok(found) => found,
                Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
                Err(Errno::ACCESS) => {
                    // Only a child creates a folder that its owner can't enter.
                    give_back(at)?;
                    NamedObject::at(at, part)?
                }
                Err(error) => return Err(error.into()),
            };
            if index + 1 == count || found.kind == FileType::Symlink {
                let path = self.path.join(walked);
                return set_aside(at, part, &found, path, ended);
            }
            if found.kind != FileType::Directory {
                return Ok(None);
            }
            make_accessible(at, part)?;
            folder = Some(open_folder(at, part)?);
        }
        Ok(None)
    }

    /// Restores the target of a link, unless the user has put something else there.
    fn straighten(
        &self,
        name: &Path,
        target: &OsStr,
        ended: Option<Moment>,
    ) -> io::Result<Option<UndonePlace>> {
        let mut folder: Option<OwnedFd> = None;
        let Some(last) = name.file_name() else {
            return Ok(None);
        };
        for part in name.parent().into_iter().flatten() {
            let at = folder.as_ref().map_or(self.handle.as_fd(), AsFd::as_fd);
            folder = Some(open_folder(at, part)?);
        }
        let at = folder.as_ref().map_or(self.handle.as_fd(), AsFd::as_fd);
        let path = self.path.join(name);
        let undone = match readlinkat(at, last, Vec::new()) {
            Ok(now) if now.as_bytes() == target.as_bytes() => return Ok(None),
            Ok(_) | Err(Errno::INVAL) => {
                let found = NamedObject::at(at, last)?;
                let Some(undone) = set_aside(at, last, &found, path, ended)? else {
                    return Ok(None);
                };
                undone
            }
            Err(Errno::NOENT) => UndonePlace {
                path,
                renamed_to: None,
                more: 0,
            },
            Err(error) => return Err(error.into()),
        };
        symlinkat(target, at, last)?;
        Ok(Some(undone))
    }
}

/// Renames a file that was found, unless the user created it after the child had ended.
fn set_aside(
    at: BorrowedFd<'_>,
    name: &OsStr,
    found: &NamedObject,
    path: PathBuf,
    ended: Option<Moment>,
) -> io::Result<Option<UndonePlace>> {
    if ended.is_some_and(|ended| found.is_younger_than(ended, at)) {
        return Ok(None);
    }
    let renamed_to = Some(rename_aside(at, name)?);
    Ok(Some(UndonePlace {
        path,
        renamed_to,
        more: 0,
    }))
}

/// Removes a file, a link or a folder with its content.
///
/// Nested folders are moved up and removed one after the other: a tree can be deeper than the stack or the number of descriptors allows.
pub(crate) fn remove_tree(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    match unlinkat(at, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR) => {}
        Err(error) => return Err(error.into()),
    }
    let mut moved = 0u64;
    // The first folder keeps its name; folders that were moved have numbers, of which there can be millions.
    let (mut first, mut waiting) = (Some(name.to_owned()), Vec::new());
    while let Some(name) = first.take().or_else(|| waiting.pop().map(moved_name)) {
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

/// The name of a folder that was moved up.
fn moved_name(number: u64) -> OsString {
    OsString::from(format!(".metier-undo-{}-{number}", std::process::id()))
}

fn move_up(
    from: BorrowedFd<'_>,
    entry: &OsStr,
    to: BorrowedFd<'_>,
    moved: &mut u64,
) -> io::Result<u64> {
    loop {
        *moved += 1;
        match renameat_with(from, entry, to, moved_name(*moved), RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(*moved),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_deeper_than_any_stack_is_removed() {
        let around = tempfile::tempdir().unwrap();
        let root = openat(CWD, around.path(), FOLDER, Mode::empty()).unwrap();
        let mut folder = root.try_clone().unwrap();
        for _ in 0..20_000 {
            rustix::fs::mkdirat(&folder, "deep", Mode::RWXU).unwrap();
            folder = open_folder(folder.as_fd(), OsStr::new("deep")).unwrap();
        }
        remove_tree(root.as_fd(), OsStr::new("deep")).unwrap();
        assert_eq!(std::fs::read_dir(around.path()).unwrap().count(), 0);
    }
}
