//! Acts of skills and refusals: receipts in a hash chain.

use std::time::SystemTime;

use metier_store::ReceiptFilter;
pub use metier_store::{Breakage, Receipt, ReceiptDecision, ReceiptOutcome, ReceiptPart, Verified};

use crate::{Error, Workspace, machine::timestamp};

/// A filter for receipts; by default all of them.
///
/// An example is at [`Workspace::receipts`].
#[derive(Clone, Debug, Default)]
pub struct ReceiptQuery {
    /// Only those of this skill.
    pub skill: Option<String>,
    /// Only from this time on.
    pub since: Option<SystemTime>,
    /// At most this many, the newest.
    pub limit: Option<u32>,
}

impl Workspace {
    /// Reads receipts, the newest first. Acts of a program that has ended are closed first.
    ///
    /// ```no_run
    /// use metier::receipts::ReceiptQuery;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let query = ReceiptQuery { skill: Some("git".into()), limit: Some(10), ..ReceiptQuery::default() };
    /// for receipt in workspace.receipts(&query)? {
    ///     println!("{} {} {}", receipt.entry.at, receipt.entry.act, receipt.entry.detail);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn receipts(&self, query: &ReceiptQuery) -> Result<Vec<Receipt>, Error> {
        let since = query.since.map(timestamp);
        let filter = ReceiptFilter {
            skill: query.skill.as_deref(),
            since: since.as_deref(),
            limit: query.limit,
        };
        let Some(store) = self.existing_store()? else {
            return Ok(Vec::new());
        };
        // On a disk that can't be written they stay open.
        store.close_abandoned(&timestamp(self.machine.now)).ok();
        Ok(store.receipts(filter)?)
    }

    /// Checks that no receipt was changed or removed, including those that were moved into files next to the database.
    ///
    /// ```no_run
    /// use metier::receipts::Verified;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// assert!(matches!(workspace.verify_receipts()?, Verified::Whole { .. }));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn verify_receipts(&self) -> Result<Verified, Error> {
        match self.existing_store()? {
            Some(store) => Ok(store.verify()?),
            None => Ok(Verified::Whole { count: 0 }),
        }
    }
}
