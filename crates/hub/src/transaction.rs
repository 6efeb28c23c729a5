//! Changes of several places that happen as a whole.
//!
//! **How.** All names that the change will use are recorded first (`begun`), so that everything it creates can be found and removed. The
//! new contents are written next to their places, under names that no search for skills enters. Then the change is recorded as `done`: at
//! that moment it has happened. Afterwards every place is exchanged in one step, and the old content is moved to the folder of kept
//! content. A process that dies before that moment leaves files that are removed; one that dies after it leaves both records, and the next
//! [`TransactionChanges`] that is opened completes it. Each step can be seen on the disk: the new content is known by its inode.
//!
//! ```text
//! begun/7     .metier-7-0/  (new)     done/7        pdf/  ⇄  .metier-7-0/        .metier-7-0/ → kept/7-0/
//! nothing happened  ────────────────────┤  it happened: completed now or at the next start
//! ```
//!
//! A killed process loses nothing that it wrote; at a power loss, everything that was not synced is lost. So the new contents and `begun`
//! are synced before `done` is written, and `done` before a place is exchanged. The exchanges themselves are not synced where the records
//! are on the same file system: `begun` is removed after them, and file systems keep the order of names.
//!
//! If a place can't be exchanged although the process is alive (for example because its folder is read-only), the places before it are
//! restored and the record is withdrawn. An error therefore means that nothing changed, except for [`ChangeError::Interrupted`].

use std::{
    collections::{BTreeSet, HashMap},
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::journal::{self, Change, ChangeId, Step};
use crate::object::{self, Identity, NewContent};

/// Called between the steps of a change, with the name of the next step. A test ends the process there.
pub type Checkpoint = fn(&'static str);

/// The start of the names of new contents that are not in their places yet.
const STAGED: &str = ".metier-";

/// How many changes can be undone.
const MAX_KEPT: usize = 20;

/// How many records are kept. Changes that were undone, and the undo changes, count too.
const MAX_RECORDS: usize = 100;

/// The changes of one user, and the right to make one. Only one process has it at a time.
pub struct TransactionChanges {
    folder: PathBuf,
    checkpoint: Checkpoint,
    /// Whether file systems are asked to exchange two names in one step.
    exchanges: bool,
    _lock: File,
}

impl TransactionChanges {
    /// Opens the folder in which changes are recorded, and completes or removes the work of a process that died.
    ///
    /// # Errors
    /// If another process makes a change, or if the folder can't be used.
    pub fn open(folder: &Path) -> Result<Self, ChangeError> {
        Self::with_checkpoint(folder, |_| {})
    }

    /// [`Self::open`] with a function that is called between steps.
    ///
    /// # Errors
    /// As for [`TransactionChanges::open`].
    pub fn with_checkpoint(folder: &Path, checkpoint: Checkpoint) -> Result<Self, ChangeError> {
        let failed = |error| ChangeError::at(folder, error);
        for part in ["begun", "done", "kept"] {
            fs::create_dir_all(folder.join(part)).map_err(failed)?;
        }
        let lock = File::create(folder.join("lock")).map_err(failed)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(ChangeError::Busy),
            Err(error) => return Err(failed(error.into())),
        }
        let changes = Self {
            folder: folder.to_owned(),
            checkpoint,
            exchanges: true,
            _lock: lock,
        };
        changes.recover()?;
        Ok(changes)
    }

    /// Whether a process died in the middle of a change, or is making one now. The folder need not exist.
    #[must_use]
    pub fn is_interrupted(folder: &Path) -> bool {
        journal::ids(&folder.join("begun")).is_ok_and(|ids| !ids.is_empty())
    }

    /// For tests: as on a file system that can't exchange two names in one step.
    #[doc(hidden)]
    #[must_use]
    pub fn without_exchange(mut self) -> Self {
        self.exchanges = false;
        self
    }

    /// Begins a change.
    ///
    /// # Errors
    /// If the folder can't be read.
    pub fn begin(&self, title: &str, at: &str) -> Result<Transaction<'_>, ChangeError> {
        let begun = self.ids("begun")?.into_iter().next_back();
        let done = self.ids("done")?.into_iter().next_back();
        let last = begun.max(done).map_or(0, |id| id.0);
        Ok(Transaction {
            changes: self,
            change: Change {
                id: ChangeId(last + 1),
                title: title.to_owned(),
                at: at.to_owned(),
                undoes: None,
                steps: Vec::new(),
            },
            contents: Vec::new(),
        })
    }

    /// The changes that can be undone, the newest first, without undo changes and changes that were undone.
    ///
    /// # Errors
    /// If a record can't be read.
    pub fn list(&self) -> Result<Vec<Change>, ChangeError> {
        let mut all = self.all()?;
        let undone: Vec<ChangeId> = all.iter().filter_map(|change| change.undoes).collect();
        all.retain(|change| change.undoes.is_none() && !undone.contains(&change.id));
        all.reverse();
        Ok(all)
    }

    /// Undoes a change: every place gets its earlier content. That is a change too.
    ///
    /// # Errors
    /// If a place was changed since, or if its earlier content is no longer kept.
    pub fn undo(&self, change: &Change, at: &str) -> Result<Change, ChangeError> {
        self.undoing(change, at)?.commit()
    }

    /// Checks whether a change can be undone, and changes nothing.
    ///
    /// # Errors
    /// As of [`TransactionChanges::undo`].
    pub fn check_undo(&self, change: &Change) -> Result<(), ChangeError> {
        self.undoing(change, "").map(drop)
    }

    fn undoing(&self, change: &Change, at: &str) -> Result<Transaction<'_>, ChangeError> {
        let mut transaction = self.begin(&format!("undo {}", change.title), at)?;
        transaction.change.undoes = Some(change.id);
        let copies = self.copies()?;
        for step in change.steps.iter().rev() {
            let failed = |error| ChangeError::at(&step.target, error);
            let mut now = Identity::at(&step.target).map_err(failed)?;
            while let Some(original) = now.and_then(|now| copies.get(&now)) {
                now = Some(*original);
            }
            if now != step.new {
                return Err(ChangeError::ChangedSince(step.target.clone()));
            }
            let content = match step.old {
                Some(_) if step.kept.symlink_metadata().is_err() => {
                    return Err(ChangeError::NotKept(step.target.clone()));
                }
                Some(_) => NewContent::CopyOf(step.kept.clone()),
                None => NewContent::Absent,
            };
            transaction.set(&step.target, content)?;
            if let Some(last) = transaction.change.steps.last_mut() {
                last.stands_for = step.old;
            }
        }
        Ok(transaction)
    }

    /// Where a change keeps the earlier content of a place, if there was any.
    #[must_use]
    pub fn kept_at(&self, change: &Change, place: &Path) -> Option<PathBuf> {
        let mut steps = change.steps.iter();
        let step = steps.find(|step| step.target == place && step.old.is_some())?;
        step.kept
            .symlink_metadata()
            .is_ok()
            .then(|| step.kept.clone())
    }

    /// The contents that an undo restored, each with the original that it is a copy of. A copy is always newer than its original.
    fn copies(&self) -> Result<HashMap<Identity, Identity>, ChangeError> {
        let mut copies = HashMap::new();
        for change in self.all()? {
            for step in change.steps {
                copies.extend(
                    step.new
                        .zip(step.stands_for)
                        .filter(|(new, old)| new != old),
                );
            }
        }
        Ok(copies)
    }

    fn all(&self) -> Result<Vec<Change>, ChangeError> {
        let ids = self.ids("done")?.into_iter();
        ids.map(|id| {
            let path = self.record("done", id);
            journal::read(&path).map_err(|error| ChangeError::at(&path, error))
        })
        .collect()
    }

    fn record(&self, state: &str, id: ChangeId) -> PathBuf {
        self.folder.join(state).join(format!("{id}.json"))
    }

    fn ids(&self, state: &str) -> Result<Vec<ChangeId>, ChangeError> {
        let folder = self.folder.join(state);
        journal::ids(&folder).map_err(|error| ChangeError::at(&folder, error))
    }

    /// Completes the changes that have happened, and removes the files of those that have not.
    fn recover(&self) -> Result<(), ChangeError> {
        for id in self.ids("begun")? {
            let begun = self.record("begun", id);
            let failed = |error| ChangeError::at(&begun, error);
            let done = self.record("done", id);
            match (done.exists(), journal::read(&begun)) {
                (true, _) => self.complete(&journal::read(&done).map_err(failed)?)?,
                (false, Ok(change)) => remove_staged(&change)?,
                // The process or the power ended while it was written, so nothing was decided.
                (false, Err(error)) if is_cut(&error) => {}
                (false, Err(error)) => return Err(failed(error)),
            }
            fs::remove_file(&begun).map_err(failed)?;
        }
        Ok(())
    }

    /// Exchanges every place. This may have been started before, and interrupted anywhere.
    fn complete(&self, change: &Change) -> Result<(), ChangeError> {
        for step in &change.steps {
            self.put(step)
                .map_err(|error| ChangeError::at(&step.target, error))?;
        }
        let kept = change.steps.iter().map(|step| step.kept.as_path());
        let own = Identity::at(&self.folder).map_err(|error| ChangeError::at(&self.folder, error));
        let own = own?;
        let elsewhere = change.places().chain(kept).filter(|path| {
            let folder = path.parent().map(Identity::at);
            let folder = folder.and_then(Result::ok).flatten();
            !folder
                .zip(own)
                .is_some_and(|(folder, own)| folder.is_beside(&own))
        });
        sync_parents(elsewhere)
    }

    fn put(&self, step: &Step) -> io::Result<()> {
        let now = Identity::at(&step.target)?;
        if now != step.new {
            (self.checkpoint)("exchange");
            self.swap(step, now, step.new)?;
        }
        let aside = aside(&step.staged);
        if Identity::at(&aside)?.is_some() {
            object::move_to(&aside, &step.staged)?;
        }
        (self.checkpoint)("keep");
        if Identity::at(&step.staged)?.is_some() {
            object::remove(&step.kept)?;
            object::move_anywhere(&step.staged, &step.kept)?;
        }
        Ok(())
    }

    /// Exchanges the staged content with the content of the place. Either side can be empty.
    fn swap(&self, step: &Step, now: Option<Identity>, then: Option<Identity>) -> io::Result<()> {
        match (now, then) {
            (Some(_), Some(_)) => self.exchange(step),
            (None, _) => object::move_to(&step.staged, &step.target),
            (Some(_), None) => object::move_to(&step.target, &step.staged),
        }
    }

    /// Restores every place, the last one first, and withdraws the record. The new contents are staged again.
    fn withdraw(&self, change: &Change) -> Result<(), ChangeError> {
        for step in change.steps.iter().rev() {
            self.put_back(step)
                .map_err(|error| ChangeError::at(&step.target, error))?;
        }
        let kept = change.steps.iter().map(|step| step.kept.as_path());
        sync_parents(change.places().chain(kept))?;
        let done = self.record("done", change.id);
        fs::remove_file(&done)
            .and_then(|()| object::sync_parent(&done))
            .map_err(|error| ChangeError::at(&done, error))
    }

    fn put_back(&self, step: &Step) -> io::Result<()> {
        let aside = aside(&step.staged);
        if Identity::at(&aside)?.is_some() {
            let is_empty = Identity::at(&step.target)?.is_none();
            let back = if is_empty { &step.target } else { &step.staged };
            object::move_to(&aside, back)?;
        }
        if Identity::at(&step.target)? != step.new {
            return Ok(());
        }
        if Identity::at(&step.kept)?.is_some() {
            object::move_anywhere(&step.kept, &step.staged)?;
        }
        let old = Identity::at(&step.staged)?;
        if step.new.is_some() || old.is_some() {
            self.swap(step, step.new, old)?;
        }
        Ok(())
    }

    /// Exchanges old and new: in one step, or in two where the file system does not support that. Between the two the place is empty, and
    /// the next start completes it.
    fn exchange(&self, step: &Step) -> io::Result<()> {
        if self.exchanges {
            match object::exchange(&step.staged, &step.target) {
                Err(error) if object::is_unsupported(&error) => {}
                done => return done,
            }
        }
        object::move_to(&step.target, &aside(&step.staged))?;
        (self.checkpoint)("between");
        object::move_to(&step.staged, &step.target)
    }

    /// Deletes the oldest changes and the content that they kept.
    fn forget_oldest(&self) -> Result<(), ChangeError> {
        let ids = self.ids("done")?;
        let excess = ids.len().saturating_sub(MAX_RECORDS);
        let undoable = self.list()?;
        let first = undoable
            .get(MAX_KEPT - 1)
            .map_or(ChangeId(0), |first| first.id);
        let numbered = ids.iter().enumerate();
        for (_, id) in numbered.filter(|(at, id)| *at < excess || **id < first) {
            let path = self.record("done", *id);
            let failed = |error| ChangeError::at(&path, error);
            let change = journal::read(&path).map_err(failed)?;
            for step in &change.steps {
                object::remove(&step.kept).map_err(failed)?;
            }
            fs::remove_file(&path).map_err(failed)?;
        }
        Ok(())
    }
}

/// Whether a record is empty or truncated.
fn is_cut(error: &io::Error) -> bool {
    let kinds = [io::ErrorKind::InvalidData, io::ErrorKind::UnexpectedEof];
    kinds.contains(&error.kind())
}

/// Removes the prepared files of a change that did not happen.
fn remove_staged(change: &Change) -> Result<(), ChangeError> {
    for step in &change.steps {
        object::remove(&step.staged).map_err(|error| ChangeError::at(&step.staged, error))?;
    }
    Ok(())
}

/// Waits until the names in the folders above these paths are on the disk.
fn sync_parents<'p>(paths: impl Iterator<Item = &'p Path>) -> Result<(), ChangeError> {
    let folders: BTreeSet<&Path> = paths.filter_map(Path::parent).collect();
    for folder in folders {
        object::sync_folder(folder).map_err(|error| ChangeError::at(folder, error))?;
    }
    Ok(())
}

/// The temporary place of the old content, on a file system that can't exchange two names.
fn aside(staged: &Path) -> PathBuf {
    let mut name = staged.as_os_str().to_owned();
    name.push("-old");
    name.into()
}

/// A change that has not happened yet. Dropped without [`Transaction::commit`], it never does.
pub struct Transaction<'c> {
    changes: &'c TransactionChanges,
    change: Change,
    /// The new content of each place. Nothing of it is on the disk before the commit.
    contents: Vec<NewContent>,
}

impl Transaction<'_> {
    /// Whether no place was prepared: then there is nothing to commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.change.steps.is_empty()
    }

    /// Adds a place and its new content to the change. The folder above it must exist.
    ///
    /// # Errors
    /// If there is no such folder, or if the place is part of the change already.
    pub fn set(&mut self, target: &Path, content: NewContent) -> Result<(), ChangeError> {
        let failed = |error| ChangeError::at(target, error);
        let (Some(parent), Some(_)) = (target.parent(), target.file_name()) else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        fs::metadata(parent).map_err(failed)?;
        if self.change.steps.iter().any(|step| step.target == target) {
            return Err(ChangeError::Twice(target.to_owned()));
        }
        let number = self.change.steps.len();
        let id = self.change.id;
        let kept = self.changes.folder.join("kept");
        self.change.steps.push(Step {
            target: target.to_owned(),
            staged: parent.join(format!("{STAGED}{id}-{number}")),
            new: None,
            old: Identity::at(target).map_err(failed)?,
            stands_for: None,
            kept: kept.join(format!("{id}-{number}")),
        });
        self.contents.push(content);
        Ok(())
    }

    /// Makes the change.
    ///
    /// # Errors
    /// If the change can't be made. Nothing has changed then, except after [`ChangeError::Interrupted`].
    pub fn commit(mut self) -> Result<Change, ChangeError> {
        let begun = self.changes.record("begun", self.change.id);
        let failed = |error| ChangeError::at(&begun, error);
        journal::note(&begun, &self.change).map_err(failed)?;
        let made = self.stage().and_then(|()| self.decide());
        match &made {
            Err(ChangeError::Interrupted { .. }) => {} // The records stay: the next start completes it.
            Err(_) => {
                // Files that can't be removed now are removed at the next start.
                remove_staged(&self.change).ok();
                fs::remove_file(&begun).ok();
            }
            Ok(()) => {
                (self.changes.checkpoint)("clean");
                fs::remove_file(&begun).map_err(failed)?;
                self.changes.forget_oldest()?;
            }
        }
        made.map(|()| self.change)
    }

    /// Writes the new contents next to their places.
    fn stage(&mut self) -> Result<(), ChangeError> {
        for (step, content) in self.change.steps.iter_mut().zip(&self.contents) {
            let failed = |error| ChangeError::at(&step.target, error);
            (self.changes.checkpoint)("stage");
            object::remove(&step.staged).map_err(failed)?;
            object::create(&step.staged, content).map_err(failed)?;
            step.new = Identity::at(&step.staged).map_err(failed)?;
            (self.changes.checkpoint)("staged");
        }
        let id = self.change.id;
        let done = journal::part(&self.changes.record("done", id));
        journal::note(&done, &self.change).map_err(|error| ChangeError::at(&done, error))?;
        let staged = self.change.steps.iter().map(|step| step.staged.as_path());
        let mut waits = object::everything_in(staged.chain([done.as_path()]))
            .map_err(|error| ChangeError::at(&done, error))?;
        let parents = self.change.places().filter_map(Path::parent);
        waits.extend(parents.map(Path::to_owned));
        waits.insert(self.changes.folder.join("begun"));
        object::sync_all(waits).map_err(|(path, error)| ChangeError::at(&path, error))
    }

    /// Records the change as done and exchanges the places, or restores those that were exchanged.
    fn decide(&self) -> Result<(), ChangeError> {
        (self.changes.checkpoint)("decide");
        let done = self.changes.record("done", self.change.id);
        if let Err(error) = journal::publish(&done) {
            fs::remove_file(&done).ok();
            fs::remove_file(journal::part(&done)).ok();
            return Err(ChangeError::at(&done, error));
        }
        (self.changes.checkpoint)("decided");
        let Err(error) = self.changes.complete(&self.change) else {
            return Ok(());
        };
        (self.changes.checkpoint)("withdraw");
        match (self.changes.withdraw(&self.change), error) {
            (Err(_), ChangeError::Os { path, error }) => {
                Err(ChangeError::Interrupted { path, error })
            }
            (_, error) => Err(error),
        }
    }
}

/// Why a change did not happen.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Another process is making a change.
    #[error("another metier process is changing skills")]
    Busy,
    /// A place was changed after the change to be undone.
    #[error("`{}` was changed after that", .0.display())]
    ChangedSince(PathBuf),
    /// The earlier content no longer exists.
    #[error("the previous content of `{}` is no longer kept", .0.display())]
    NotKept(PathBuf),
    /// One place can't get two contents.
    #[error("`{}` is part of the change twice", .0.display())]
    Twice(PathBuf),
    /// Some places are exchanged and others not, and neither can be changed now. The next start completes it.
    #[error("`{}`: {error}", path.display())]
    Interrupted {
        /// The place that could not be exchanged.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
    /// The file system refused.
    #[error("`{}`: {error}", path.display())]
    Os {
        /// The path of the failed operation.
        path: PathBuf,
        /// The error of the system.
        error: io::Error,
    },
}

impl ChangeError {
    fn at(path: &Path, error: io::Error) -> Self {
        Self::Os {
            path: path.to_owned(),
            error,
        }
    }
}
