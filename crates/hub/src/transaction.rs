//! Changes of several places that happen as a whole.
//!
//! **How.** The new contents are written beside their places, under names that are not skills. Then the change is written down: that is the moment
//! at which it has happened. After it every place is exchanged in one step, and what was there is moved to the folder of kept things.
//! A process that dies before that moment leaves files that are removed; one that dies after it leaves a record, and the next
//! [`TransactionChanges`] that is opened completes it. Each step can be seen on the disk: the new content is known by its inode.
//!
//! ```text
//! .metier-7-0/  (new)        record 7 written          pdf/  ⇄  .metier-7-0/        .metier-7-0/ → kept/7-0/
//! nothing happened  ────────────────┤  it happened: completed now or at the next start
//! ```

use std::{
    collections::HashMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::journal::{self, Change, ChangeId, Step};
use crate::object::{self, Identity, NewContent};

/// Called between the steps of a change, with the name of the step that comes next. A test ends the process there.
pub type Checkpoint = fn(&'static str);

/// How the names of contents begin that are not in their places yet.
const STAGED: &str = ".metier-";

/// How many changes can be undone.
const MAX_KEPT: usize = 20;

/// The changes of one user, and the right to make one. Only one process has it at a time.
pub struct TransactionChanges {
    folder: PathBuf,
    checkpoint: Checkpoint,
    /// Whether file systems are asked to exchange two names in one step.
    exchanges: bool,
    _lock: File,
}

impl TransactionChanges {
    /// Opens the folder in which changes are written down, and completes or removes what a process left that died.
    ///
    /// # Errors
    /// If another process makes a change, or if the folder can't be used.
    pub fn open(folder: &Path) -> Result<Self, ChangeError> {
        Self::with_checkpoint(folder, |_| {})
    }

    /// The same, with a function that is called between steps.
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

    /// Whether a process died in the middle of a change, or makes one now. The folder need not exist.
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
        })
    }

    /// The changes that can be undone, the newest first. What undid a change is not among them, nor is what was undone.
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

    /// Takes a change back: every place holds again what it held before. That is a change too.
    ///
    /// # Errors
    /// If a place was changed since, or if what it held is no longer kept.
    pub fn undo(&self, change: &Change, at: &str) -> Result<Change, ChangeError> {
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
            transaction.set(&step.target, &content)?;
            if let Some(last) = transaction.change.steps.last_mut() {
                last.stands_for = step.old;
            }
        }
        transaction.commit()
    }

    /// Where a change keeps what was at a place before, if anything was.
    #[must_use]
    pub fn kept_at(&self, change: &Change, place: &Path) -> Option<PathBuf> {
        let mut steps = change.steps.iter();
        let step = steps.find(|step| step.target == place && step.old.is_some())?;
        step.kept
            .symlink_metadata()
            .is_ok()
            .then(|| step.kept.clone())
    }

    /// What was put back, and the object that each is a copy of. A copy is always newer than its original.
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

    /// Completes the changes that have happened, and removes what is left of those that have not.
    fn recover(&self) -> Result<(), ChangeError> {
        for id in self.ids("begun")? {
            let path = self.record("begun", id);
            let failed = |error| ChangeError::at(&path, error);
            let change = journal::read(&path).map_err(failed)?;
            match self.record("done", id).exists() {
                true => self.complete(&change)?,
                false => {
                    for step in &change.steps {
                        object::remove(&step.staged)
                            .map_err(|error| ChangeError::at(&step.staged, error))?;
                    }
                }
            }
            fs::remove_file(&path).map_err(failed)?;
        }
        Ok(())
    }

    /// Exchanges every place. It may have been begun before, and interrupted anywhere.
    fn complete(&self, change: &Change) -> Result<(), ChangeError> {
        for step in &change.steps {
            self.put(step)
                .map_err(|error| ChangeError::at(&step.target, error))?;
        }
        Ok(())
    }

    fn put(&self, step: &Step) -> io::Result<()> {
        let now = Identity::at(&step.target)?;
        if now != step.new {
            (self.checkpoint)("exchange");
            match (now, step.new) {
                (Some(_), Some(_)) => self.exchange(step)?,
                (None, _) => object::move_to(&step.staged, &step.target)?,
                (Some(_), None) => object::move_to(&step.target, &step.staged)?,
            }
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

    /// Old and new change places: in one step, or where the file system has no such step, in two. In between there is nothing at the place, and
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

    /// Forgets the oldest changes and what they kept.
    fn forget_oldest(&self) -> Result<(), ChangeError> {
        let ids = self.ids("done")?;
        let excess = ids.len().saturating_sub(MAX_KEPT);
        for id in &ids[..excess] {
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

/// Where the old content is for a moment, on a file system that can't exchange two names.
fn aside(staged: &Path) -> PathBuf {
    let mut name = staged.as_os_str().to_owned();
    name.push("-old");
    name.into()
}

/// A change that has not happened yet. Dropped without [`Transaction::commit`], it never does.
pub struct Transaction<'c> {
    changes: &'c TransactionChanges,
    change: Change,
}

impl Transaction<'_> {
    /// Whether no place was prepared: then there is nothing to commit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.change.steps.is_empty()
    }

    /// Prepares new content for a place. The folder above it must exist.
    ///
    /// # Errors
    /// If the content can't be written, or if the place is part of the change already.
    pub fn set(&mut self, target: &Path, content: &NewContent) -> Result<(), ChangeError> {
        let failed = |error| ChangeError::at(target, error);
        let (Some(parent), Some(_)) = (target.parent(), target.file_name()) else {
            return Err(failed(io::ErrorKind::InvalidInput.into()));
        };
        if self.change.steps.iter().any(|step| step.target == target) {
            return Err(ChangeError::Twice(target.to_owned()));
        }
        let number = self.change.steps.len();
        let id = self.change.id;
        let staged = parent.join(format!("{STAGED}{id}-{number}"));
        let kept = self
            .changes
            .folder
            .join("kept")
            .join(format!("{id}-{number}"));
        self.change.steps.push(Step {
            target: target.to_owned(),
            staged: staged.clone(),
            new: None,
            old: Identity::at(target).map_err(failed)?,
            stands_for: None,
            kept,
        });
        self.note_begun()?;
        (self.changes.checkpoint)("stage");
        object::remove(&staged).map_err(failed)?;
        object::create(&staged, content).map_err(failed)?;
        let new = Identity::at(&staged).map_err(failed)?;
        if let Some(step) = self.change.steps.last_mut() {
            step.new = new;
        }
        (self.changes.checkpoint)("staged");
        Ok(())
    }

    /// Writes down which files belong to a change that may never happen, so that they can be removed.
    fn note_begun(&self) -> Result<(), ChangeError> {
        let path = self.changes.record("begun", self.change.id);
        let failed = |error| ChangeError::at(&path, error);
        object::remove(&path).map_err(failed)?;
        journal::write(&path, &self.change).map_err(failed)
    }

    /// Makes the change.
    ///
    /// # Errors
    /// If it can't be written down: then nothing has changed. If a place can't be exchanged afterwards, the next process that opens the changes
    /// tries again.
    pub fn commit(mut self) -> Result<Change, ChangeError> {
        self.note_begun()?;
        (self.changes.checkpoint)("decide");
        let done = self.changes.record("done", self.change.id);
        journal::write(&done, &self.change).map_err(|error| ChangeError::at(&done, error))?;
        (self.changes.checkpoint)("decided");
        self.changes.complete(&self.change)?;
        (self.changes.checkpoint)("clean");
        let begun = self.changes.record("begun", self.change.id);
        fs::remove_file(&begun).map_err(|error| ChangeError::at(&begun, error))?;
        self.changes.forget_oldest()?;
        let steps = std::mem::take(&mut self.change.steps);
        Ok(Change {
            steps,
            ..self.change.clone()
        })
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // After a commit there are no steps left. What can't be removed now is removed at the next start.
        if self.changes.record("done", self.change.id).exists() {
            return;
        }
        for step in &self.change.steps {
            object::remove(&step.staged).ok();
        }
        fs::remove_file(self.changes.record("begun", self.change.id)).ok();
    }
}

/// Why a change did not happen.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Another process makes one.
    #[error("another metier process is changing skills")]
    Busy,
    /// A place was changed after the change that shall be undone.
    #[error("`{}` was changed since", .0.display())]
    ChangedSince(PathBuf),
    /// What was there before is gone.
    #[error("what was at `{}` before is no longer kept", .0.display())]
    NotKept(PathBuf),
    /// One place can't get two contents.
    #[error("`{}` is part of the change twice", .0.display())]
    Twice(PathBuf),
    /// The file system refused.
    #[error("`{}`: {error}", path.display())]
    Os {
        /// Where.
        path: PathBuf,
        /// Why.
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
