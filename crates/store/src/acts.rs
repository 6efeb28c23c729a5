//! Acts: written down before they begin, and again when they are over.
//!
//! ```text
//! begin     id 7, begun 7, allowed, no outcome     → [`BegunReceipt`], without which nothing is done
//! complete  id 9, begun 7, allowed, ok, 12 ms      consumes it
//! ```
//!
//! Which acts are not over stands in the row of the chain's end, with the owner of each: a store that is alive, see
//! `alive.rs`. What an owner that is gone left open is closed by [`Store::close_abandoned`].

use crate::alive::{self, LiveFile};
use crate::receipts::Entry;
use crate::{Decision, NewReceipt, Outcome, Receipt, ReceiptPart, Store, StoreError};

/// The reason that stands in an act whose program was gone before it was over.
pub const ABANDONED: &str =
    "metier ended before the act was over; what it had done by then is not known";

/// An act that was written down and may be done now. [`Store::complete`] takes it back; an act whose value is dropped
/// stays open until its process is gone, and is closed then as one that was never over.
#[derive(Debug)]
#[must_use = "an act that began is completed, or it stays open"]
pub struct BegunReceipt(Receipt);

impl BegunReceipt {
    /// What was written so far.
    pub fn receipt(&self) -> &Receipt {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn again(&self) -> Self {
        Self(self.0.clone())
    }
}

/// How an act ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// When, in RFC 3339.
    pub at: String,
    /// Whether it was done: some acts are refused only once they are tried.
    pub decision: Decision,
    /// How it ended, if it was done.
    pub outcome: Option<Outcome>,
    /// Why it was refused, or failed.
    pub reason: Option<String>,
    /// How long it took.
    pub ms: u64,
    /// What it was confined by.
    pub sandbox: Option<String>,
    /// What is known only now, such as how many bytes went over a connection; mostly nothing.
    pub note: String,
}

impl Store {
    /// Writes down that an act begins. What can't be written down must not be done: that is why the space for its end is
    /// taken here too.
    pub fn begin(&self, receipt: &NewReceipt) -> Result<BegunReceipt, StoreError> {
        let owner = self.owner()?;
        let entry = NewReceipt {
            decision: Decision::Allowed,
            outcome: None,
            reason: None,
            ms: 0,
            count: 1,
            ..receipt.bounded()
        };
        let mut written = self.extend(vec![Entry::begins(entry, owner)])?;
        written
            .pop()
            .map(BegunReceipt)
            .ok_or_else(|| self.damaged())
    }

    /// Writes down how an act ended, and returns its receipt as a whole. When the disk is full, what was kept for this is
    /// used up.
    pub fn complete(
        &self,
        begun: BegunReceipt,
        completion: &Completion,
    ) -> Result<Receipt, StoreError> {
        let BegunReceipt(begun) = begun;
        let entry = completing(&begun.entry, completion);
        loop {
            match self.extend(vec![Entry::completes(entry.clone(), begun.id)]) {
                Ok(written) => {
                    let by = written.first().map_or(begun.id, |written| written.id);
                    return Ok(begun.joined(by, &entry));
                }
                Err(error) if error.may_lack_space() && self.release() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Closes the acts whose owners are gone, and returns them. They say so.
    pub fn close_abandoned(&self, at: &str) -> Result<Vec<Receipt>, StoreError> {
        let folder = self.receipts_folder();
        let open = self.open_acts()?;
        let mut owners: Vec<i64> = open.iter().map(|(_, owner)| *owner).collect();
        owners.sort_unstable();
        owners.dedup();
        owners.retain(|owner| !alive::is_alive(&folder, *owner));
        let gone = |owner: &i64| owners.binary_search(owner).is_ok();
        let ids = open.iter().filter(|(_, owner)| gone(owner));
        let mut closed = Vec::new();
        for id in ids.map(|(id, _)| *id) {
            let Some(begun) = self.receipt(id)? else {
                continue;
            };
            let completion = Completion {
                at: at.to_owned(),
                decision: Decision::Allowed,
                outcome: Some(Outcome::Error),
                reason: Some(ABANDONED.to_owned()),
                ms: 0,
                sandbox: None,
                note: String::new(),
            };
            closed.push(self.complete(BegunReceipt(begun), &completion)?);
        }
        alive::remove_abandoned(&folder);
        Ok(closed)
    }

    /// The number of this store among those that begin acts. From now on it is seen to be alive, and has its reserve.
    fn owner(&self) -> Result<i64, StoreError> {
        let unreachable = |source| StoreError::from_io(&self.path, source);
        let mut alive = self.alive.borrow_mut();
        let file = match &mut *alive {
            Some(file) => file,
            none => {
                let folder = self.receipts_folder();
                none.insert(LiveFile::make(&folder).map_err(unreachable)?)
            }
        };
        file.fill().map_err(unreachable)?;
        Ok(file.owner())
    }

    pub(crate) fn release(&self) -> bool {
        let alive = self.alive.borrow();
        alive.as_ref().is_some_and(LiveFile::release)
    }
}

impl Receipt {
    /// The receipt of an act, of which this is the beginning, and that the end.
    pub(crate) fn joined(self, by: i64, end: &NewReceipt) -> Self {
        Self {
            entry: NewReceipt {
                decision: end.decision,
                outcome: end.outcome,
                reason: end.reason.clone(),
                ms: end.ms,
                sandbox: end.sandbox.clone().or(self.entry.sandbox),
                ..self.entry
            },
            part: ReceiptPart::Completed { by },
            note: end.detail.clone(),
            ..self
        }
    }
}

/// The entry that ends an act. What stands in the one that began it is not repeated, but for the skill: receipts are
/// looked up by that.
fn completing(begun: &NewReceipt, completion: &Completion) -> NewReceipt {
    NewReceipt {
        at: completion.at.clone(),
        skill: begun.skill.clone(),
        source: String::new(),
        digest: String::new(),
        act: begun.act.clone(),
        detail: completion.note.clone(),
        decision: completion.decision,
        reason: completion.reason.clone(),
        outcome: completion.outcome,
        ms: completion.ms,
        sandbox: completion.sandbox.clone(),
        session: None,
        count: 1,
    }
    .bounded()
}
