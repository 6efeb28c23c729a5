//! A change of installed skills while it is prepared: folders, links and locks that are exchanged together.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use metier_catalog::{read_named, read_small};
use metier_hub::{Change, ChangeError, NewContent, Transaction, TransactionChanges};
use metier_package::{Lock, PackageTree};

use super::places::{CHANGES, InstallScope, LOCK_FILE, ScopePlaces};
use crate::{Error, Machine, NoticeLevel, Notices, Workspace, machine::timestamp, text::one_line};

/// The largest lock file that is read.
const MAX_LOCK: u64 = 16 << 20;

/// How long a change of another process is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
const GLANCE: Duration = Duration::from_millis(20);

/// Several places and the locks, which change as a whole when [`Workspace::change_skills`] ends.
pub(crate) struct ChangeDraft<'c> {
    workspace: &'c Workspace,
    transaction: Transaction<'c>,
    locks: Vec<DraftLock>,
}

struct DraftLock {
    places: ScopePlaces,
    text: Option<String>,
    lock: Lock,
}

impl Workspace {
    /// The skills that are installed in a scope.
    ///
    /// ```no_run
    /// use metier::distribution::InstallScope;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for (name, locked) in workspace.lock(InstallScope::User)?.skills {
    ///     println!("{name} from {}", locked.source);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the lock can't be read, or contains what this program does not understand.
    pub fn lock(&self, scope: InstallScope) -> Result<Lock, Error> {
        Ok(self.read_lock(scope)?.lock)
    }

    fn read_lock(&self, scope: InstallScope) -> Result<DraftLock, Error> {
        let places = self.scope_places(scope)?;
        let read = match scope {
            InstallScope::Project => read_small(&self.machine.project, LOCK_FILE, MAX_LOCK),
            InstallScope::User => match read_named(&places.lock, MAX_LOCK) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                read => read.map(Some),
            },
        };
        let text = read.map_err(|error| {
            Error::broken("lock", format!("the lock can't be read: {error}")).path(&places.lock)
        })?;
        let mut lock: Lock = match &text {
            None => Lock::default(),
            Some(text) => text.parse().map_err(|error: metier_package::LockError| {
                Error::unmet("lock", format!("the lock can't be used: {error}"))
                    .path(&places.lock)
                    .hint(match scope {
                        InstallScope::Project => "fix that line, or restore the file from version control",
                        InstallScope::User => "fix that line; `metier undo` undoes the last change together with the lock",
                    })
            })?,
        };
        // The lock of a project arrives with a clone: a name in it must not point outside the folder of skills.
        if let Some(name) = lock.skills.keys().find(|name| !is_folder_name(name)) {
            let message = format!(
                "the lock can't be used: `{}` can't be the name of a skill's folder",
                one_line(name)
            );
            return Err(Error::unmet("lock", message)
                .path(&places.lock)
                .hint("remove that entry, or restore the file from version control"));
        }
        if scope == InstallScope::Project {
            let sources = lock.skills.values_mut().map(|skill| &mut skill.source);
            sources.for_each(|source| *source = from_project(source, &self.machine.project));
        }
        Ok(DraftLock { places, text, lock })
    }

    /// Makes one change of skills and locks: all of it happens or nothing does. The locks are read after other processes were excluded.
    /// `None` if nothing is different.
    pub(crate) fn change_skills<T>(
        &self,
        title: &str,
        make: impl FnOnce(&mut ChangeDraft<'_>) -> Result<T, Error>,
    ) -> Result<(Option<Change>, T), Error> {
        let changes = self.changes()?;
        let at = timestamp(self.machine.now);
        let mut draft = ChangeDraft {
            workspace: self,
            transaction: changes.begin(title, &at).map_err(failed)?,
            locks: Vec::new(),
        };
        let made = make(&mut draft)?;
        draft.save_locks()?;
        let ChangeDraft { transaction, .. } = draft;
        let change = match transaction.is_empty() {
            true => None,
            false => Some(transaction.commit().map_err(failed)?),
        };
        Ok((change, made))
    }

    /// The recorded changes, with the exclusive right to make one. Waits while another process makes one.
    pub(crate) fn changes(&self) -> Result<TransactionChanges, Error> {
        let folder = self.changes_folder()?;
        let end = Instant::now() + PATIENCE;
        let mut is_announced = false;
        loop {
            self.check_stop()?;
            match TransactionChanges::with_checkpoint(&folder, checkpoint) {
                Err(ChangeError::Busy) if Instant::now() < end => {
                    if !std::mem::replace(&mut is_announced, true) {
                        let line = "waiting for another metier process that changes skills";
                        self.notices.notice(NoticeLevel::Note, line);
                    }
                    thread::sleep(GLANCE);
                }
                opened => return opened.map_err(failed),
            }
        }
    }
}

/// Called between the steps of a change. In a debug build, `ABORT_METIER_AT=N` ends the process at the N-th of them: tests kill it everywhere.
pub(crate) fn checkpoint(_step: &'static str) {
    #[cfg(debug_assertions)]
    {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static PASSED: AtomicUsize = AtomicUsize::new(0);
        let number = PASSED.fetch_add(1, Ordering::Relaxed) + 1;
        let wanted = std::env::var("ABORT_METIER_AT").ok();
        if wanted.is_some_and(|wanted| wanted == number.to_string()) {
            std::process::abort();
        }
    }
}

/// Completes the change of a process that died in the middle of it, or removes what it left. A process that is alive completes its own.
pub(crate) fn complete_changes(machine: &Machine, notices: &dyn Notices) {
    let data = machine.database.as_deref().and_then(Path::parent);
    let Some(folder) = data.map(|data| data.join(CHANGES)) else {
        return;
    };
    if !TransactionChanges::is_interrupted(&folder) {
        return;
    }
    match TransactionChanges::open(&folder) {
        Ok(_) | Err(ChangeError::Busy) => {}
        Err(error) => {
            let line =
                format!("a change of skills was interrupted and can't be completed: {error}");
            notices.notice(NoticeLevel::Alert, &one_line(&line));
        }
    }
}

impl ChangeDraft<'_> {
    pub(crate) fn workspace(&self) -> &Workspace {
        self.workspace
    }

    /// The lock of a scope, to read or to change. A changed one is part of the change.
    pub(crate) fn lock(&mut self, scope: InstallScope) -> Result<&mut Lock, Error> {
        let position = match self.locks.iter().position(|one| one.places.scope == scope) {
            Some(position) => position,
            None => {
                self.locks.push(self.workspace.read_lock(scope)?);
                self.locks.len() - 1
            }
        };
        Ok(&mut self.locks[position].lock)
    }

    /// Puts exactly these files at the place of a skill.
    pub(crate) fn place_skill(
        &mut self,
        scope: InstallScope,
        name: &str,
        tree: PackageTree,
    ) -> Result<(), Error> {
        let places = self.workspace.scope_places(scope)?;
        self.workspace.make_skills_folder(&places)?;
        self.set(&places.skill(name), NewContent::Tree(tree))
    }

    /// Removes the folder of a skill; its content is kept for `undo`.
    pub(crate) fn remove_skill(&mut self, scope: InstallScope, name: &str) -> Result<(), Error> {
        let places = self.workspace.scope_places(scope)?;
        self.set(&places.skill(name), NewContent::Absent)
    }

    /// New content for any other place, such as a link for another agent. The folder above it must exist.
    pub(crate) fn set(&mut self, target: &Path, content: NewContent) -> Result<(), Error> {
        self.transaction.set(target, content).map_err(failed)
    }

    fn save_locks(&mut self) -> Result<(), Error> {
        for draft in &self.locks {
            let mut lock = draft.lock.clone();
            if draft.places.scope == InstallScope::Project {
                let project = &self.workspace.machine.project;
                let sources = lock.skills.values_mut().map(|skill| &mut skill.source);
                sources.for_each(|source| *source = seen_from_project(source, project));
            }
            let text = lock.to_text();
            let is_same = match &draft.text {
                Some(before) => *before == text,
                None => draft.lock.skills.is_empty(),
            };
            if is_same {
                continue;
            }
            let path = &draft.places.lock;
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(|error| Error::unwritable(folder, &error))?;
            }
            let content = NewContent::File(text.into_bytes());
            self.transaction.set(path, content).map_err(failed)?;
        }
        Ok(())
    }
}

impl Workspace {
    /// Makes the folder of a scope. In a project none of its parts is a link: a repository must not choose where skills are written.
    pub(super) fn make_skills_folder(&self, places: &ScopePlaces) -> Result<(), Error> {
        if places.scope == InstallScope::User {
            return fs::create_dir_all(&places.skills)
                .map_err(|error| unmade(&places.skills, &error));
        }
        let below = places.skills.strip_prefix(&self.machine.project);
        make_folders(&self.machine.project, below.unwrap_or(&places.skills))
    }
}

/// How a project's lock writes a source: a folder in or next to the project is written relative to it, so it is the same for everyone who
/// has both.
fn seen_from_project(source: &str, project: &Path) -> String {
    let path = Path::new(source);
    let below = |folder: Option<&Path>| path.strip_prefix(folder?).ok();
    let relative = match (below(Some(project)), below(project.parent())) {
        (Some(below), _) => Path::new(".").join(below),
        (None, Some(below)) => Path::new("..").join(below),
        (None, None) => return source.to_owned(),
    };
    match project.parent().and_then(Path::parent) {
        Some(_) => relative.to_string_lossy().into_owned(),
        // If the project is `/`, every path would be treated as next to the project.
        None => source.to_owned(),
    }
}

/// The reverse of `seen_from_project`.
fn from_project(source: &str, project: &Path) -> String {
    let path = match (source.strip_prefix("./"), source.strip_prefix("../")) {
        (Some(below), _) => project.join(below),
        (None, Some(below)) => project.parent().unwrap_or(project).join(below),
        (None, None) => return source.to_owned(),
    };
    path.to_string_lossy().into_owned()
}

/// Whether a name is one plain component of a path.
fn is_folder_name(name: &str) -> bool {
    let is_plain = !name.contains(['/', '\\', '\0']) && !name.starts_with('.');
    is_plain && !name.is_empty()
}

/// Makes folders in a project. None of them is a link.
pub(crate) fn make_folders(project: &Path, below: &Path) -> Result<(), Error> {
    let mut folder: PathBuf = project.to_owned();
    for part in below {
        folder.push(part);
        match fs::create_dir(&folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let found = fs::symlink_metadata(&folder);
                if !found.is_ok_and(|found| found.is_dir()) {
                    return Err(linked(&folder));
                }
            }
            Err(error) => return Err(unmade(&folder, &error)),
        }
    }
    Ok(())
}

fn unmade(folder: &Path, error: &io::Error) -> Error {
    let message = format!("can't create the folder for skills: {error}");
    Error::broken("not-written", message)
        .path(folder)
        .hint("check its permissions, and those of the folder above it")
}

fn linked(folder: &Path) -> Error {
    let message = "the project's folder of skills is a link or a file, so nothing is written there";
    Error::unmet("linked-folder", message)
        .path(folder)
        .hint("replace it with a folder, or install the skill for yourself: metier install")
}

/// A change that did not happen, as an error with what to do.
pub(crate) fn failed(error: ChangeError) -> Error {
    let message = error.to_string();
    match error {
        ChangeError::Busy => Error::unmet("busy", message)
            .hint("wait until it has ended, then run the command again"),
        ChangeError::ChangedSince(path) => Error::unmet(
            "changed-since",
            "not undone: the file was changed after that",
        )
        .path(path)
        .hint("metier verify shows what is different from the lock"),
        ChangeError::NotKept(path) => Error::unmet("not-kept", "its content is no longer kept")
            .path(path)
            .hint("install the skill again"),
        ChangeError::Twice(path) => Error::broken("twice", message).path(path),
        ChangeError::Interrupted { path, error } => {
            let message = format!("the change was started but can't be completed yet: {error}");
            Error::broken("interrupted", message)
                .path(path)
                .hint("free space there or check its permissions; the next command completes it")
        }
        ChangeError::Os { path, error } => {
            let message = format!("the change was not made: {error}");
            Error::broken("not-written", message)
                .path(path)
                .hint("free space there or check its permissions; nothing was changed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_in_or_beside_a_project_is_written_as_seen_from_it() {
        for (project, source, written) in [
            ("/home/ada/shop", "/home/ada/shop/tools/pdf", "./tools/pdf"),
            ("/home/ada/shop", "/home/ada/pdf", "../pdf"),
            ("/home/ada/shop", "/srv/pdf", "/srv/pdf"),
            ("/home/ada/shop", "owner/repo/pdf", "owner/repo/pdf"),
            (
                "/home/ada/shop",
                "git+file:///home/ada/pdf",
                "git+file:///home/ada/pdf",
            ),
            ("/shop", "/srv/pdf", "/srv/pdf"),
        ] {
            let project = Path::new(project);
            assert_eq!(seen_from_project(source, project), written, "{source}");
            assert_eq!(from_project(written, project), source, "{written}");
        }
    }
}
