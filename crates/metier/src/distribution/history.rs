//! Changes of skills that were made, and undoing the last one.

use metier_hub::{Change, TransactionChanges};
use metier_model::Source;
use metier_store::{NewReceipt, ReceiptDecision, ReceiptOutcome};

use super::draft::failed;
use crate::{Error, Workspace, machine::timestamp, text::one_line};

/// A change that can be undone.
///
/// The example of [`Workspace::undo_change`] prints them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeSummary {
    /// Its number.
    pub id: String,
    /// A title, such as `install pdf`.
    pub title: String,
    /// The time, in RFC 3339.
    pub at: String,
    /// The files and folders that it changed.
    pub places: Vec<String>,
}

/// A change that was undone.
///
/// An example is at [`Workspace::undo`].
pub type UndoneChange = ChangeSummary;

impl From<&Change> for ChangeSummary {
    fn from(change: &Change) -> Self {
        let places = change.places();
        Self {
            id: change.id.to_string(),
            title: change.title.clone(),
            at: change.at.clone(),
            places: places
                .map(|place| place.to_string_lossy().into_owned())
                .collect(),
        }
    }
}

impl Workspace {
    /// The changes of installed skills that can be undone, the newest first.
    ///
    /// The example of [`Workspace::undo_change`] prints them.
    ///
    /// # Errors
    /// When the records can't be read.
    pub fn skill_changes(&self) -> Result<Vec<ChangeSummary>, Error> {
        if !self.changes_folder()?.exists() {
            return Ok(Vec::new());
        }
        let changes = self.changes()?;
        let list = changes.list().map_err(failed)?;
        Ok(list.iter().map(ChangeSummary::from).collect())
    }

    /// Undoes the last change, whatever it was: every file and lock is again what it was before, byte for byte.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// println!("undone: {}", workspace.undo()?.title);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is none, when one of its places was changed since, or when what was there is no longer kept.
    pub fn undo(&self) -> Result<UndoneChange, Error> {
        let (changes, last) = self.last_change()?;
        self.undo_last(&changes, &last)
    }

    /// [`Workspace::undo`], but only if this is still the last change: the user agreed to undo this one and no other.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for change in workspace.skill_changes()? {
    ///     println!("{} {}", change.at, change.title);
    /// }
    /// let last = workspace.check_undo()?;
    /// // … the user agrees to undo this one …
    /// workspace.undo_change(&last.id)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As of [`Workspace::undo`], and when another change was made since.
    pub fn undo_change(&self, id: &str) -> Result<UndoneChange, Error> {
        let (changes, last) = self.last_change()?;
        if last.id.to_string() != id {
            let message = format!("change {} is not the last one", one_line(id));
            return Err(Error::unmet("changed-since", message)
                .detail(format!("the last one is {}: {}", last.id, last.title))
                .hint("metier undo --list shows the changes that can be undone"));
        }
        self.undo_last(&changes, &last)
    }

    fn undo_last(
        &self,
        changes: &TransactionChanges,
        last: &Change,
    ) -> Result<UndoneChange, Error> {
        let at = timestamp(self.machine.now);
        changes.undo(last, &at).map_err(failed)?;
        let receipt = self.change_receipt("skill:undo", &last.title);
        self.store()?.append(&[NewReceipt {
            outcome: Some(ReceiptOutcome::Ok),
            ..receipt
        }])?;
        Ok(last.into())
    }

    /// The change that [`Workspace::undo`] would undo. Nothing is changed.
    ///
    /// The example of [`Workspace::undo_change`] asks before it undoes.
    ///
    /// # Errors
    /// As of [`Workspace::undo`].
    pub fn check_undo(&self) -> Result<ChangeSummary, Error> {
        let (changes, last) = self.last_change()?;
        changes.check_undo(&last).map_err(failed)?;
        Ok((&last).into())
    }

    fn last_change(&self) -> Result<(TransactionChanges, Change), Error> {
        let nothing = || {
            Error::unmet("nothing-to-undo", "there is no change to undo")
                .hint("metier undo --list shows the changes that can be undone")
        };
        if !self.changes_folder()?.exists() {
            return Err(nothing());
        }
        let changes = self.changes()?;
        let mut list = changes.list().map_err(failed)?;
        match list.is_empty() {
            true => Err(nothing()),
            false => Ok((changes, list.swap_remove(0))),
        }
    }

    /// The receipt of a change that is not about one skill.
    pub(crate) fn change_receipt(&self, act: &str, detail: &str) -> NewReceipt {
        NewReceipt {
            at: timestamp(self.machine.now),
            skill: "metier".to_owned(),
            source: Source::User.as_str().to_owned(),
            digest: String::new(),
            act: act.to_owned(),
            detail: detail.to_owned(),
            decision: ReceiptDecision::Allowed,
            reason: None,
            outcome: None,
            ms: 0,
            sandbox: None,
            session: None,
            count: 1,
        }
    }
}
