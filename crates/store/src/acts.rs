//! Acts: recorded before they begin, and again when they end.
//!
//! ```text
//! begin     id 7, begun 7, allowed, no outcome     → [`BegunReceipt`], without which nothing is done
//! complete  id 9, begun 7, allowed, ok, 12 ms      consumes it
//! ```
//!
//! Acts that have not ended are listed in the row of the chain's end, each with its owner: a live store, see
//! `alive.rs`. [`Store::close_abandoned`] closes the acts of owners that have ended.

use crate::alive::{self, LiveFile};
use crate::receipts::ReceiptEntry;
use crate::{NewReceipt, Receipt, ReceiptDecision, ReceiptOutcome, ReceiptPart, Store, StoreError};

/// The reason in the receipt of an act whose process ended before the act did.
pub const ABANDONED: &str = "metier ended before the act was complete; its effects are unknown";

/// An act that was recorded and may now be done. [`Store::complete`] consumes it; an act whose value is dropped stays
/// open until its process ends, and is then closed as abandoned.
#[derive(Debug)]
#[must_use = "an act that began is completed, or it stays open"]
pub struct BegunReceipt(Receipt);

impl BegunReceipt {
    /// The receipt written so far.
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
    /// When it ended, in RFC 3339.
    pub at: String,
    /// Whether it was done: some acts are refused only when they are tried.
    pub decision: ReceiptDecision,
    /// How it ended, if it was done.
    pub outcome: Option<ReceiptOutcome>,
    /// Why it was refused, or failed.
    pub reason: Option<String>,
    /// Duration in milliseconds.
    pub ms: u64,
    /// The sandbox that it ran in.
    pub sandbox: Option<String>,
    /// Details that are known only at the end, such as the bytes sent over a connection; usually empty.
    pub note: String,
}

impl Store {
    /// Records that an act begins. An act that can't be recorded must not be done, so space for recording its end is
    /// reserved here too.
    pub fn begin(&self, receipt: &NewReceipt) -> Result<BegunReceipt, StoreError> {
        let owner = self.owner()?;
        let entry = NewReceipt {
            decision: ReceiptDecision::Allowed,
            outcome: None,
            reason: None,
            ms: 0,
            count: 1,
            ..receipt.bounded()
        };
        let mut written = self.extend(vec![ReceiptEntry::begins(entry, owner)])?;
        written
            .pop()
            .map(BegunReceipt)
            .ok_or_else(|| self.damaged())
    }

    /// Records how an act ended, and returns its whole receipt. When the disk is full, the reserved space is used.
    pub fn complete(
        &self,
        begun: BegunReceipt,
        completion: &Completion,
    ) -> Result<Receipt, StoreError> {
        let BegunReceipt(begun) = begun;
        let entry = completing(&begun.entry, completion);
        loop {
            match self.extend(vec![ReceiptEntry::completes(entry.clone(), begun.id)]) {
                Ok(written) => {
                    let by = written.first().map_or(begun.id, |written| written.id);
                    return Ok(begun.joined(by, &entry));
                }
                Err(error) if error.may_lack_space() && self.release() => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Closes the acts whose owners have ended, and returns them with [`ABANDONED`] as the reason.
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
                decision: ReceiptDecision::Allowed,
                outcome: Some(ReceiptOutcome::Error),
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

    /// The number of this store among those that begin acts. From now on its live file exists and contains its reserve.
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
    /// Joins the beginning and the end of an act into one receipt.
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

/// The entry that ends an act. It repeats nothing from the first entry except the skill, by which receipts are looked
/// up.
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
