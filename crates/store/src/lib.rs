//! # metier-store — persistent decisions, receipts and conversations
//!
//! **Problem.** Some decisions must outlive a run: which folders the user trusts, which skills were accepted despite
//! the scanner, what each skill may do, what was done, and the conversations with models. They decide what may run on
//! the machine, so they must survive a crash, be private to the user and never be lost silently.
//!
//! **Goals.**
//! - One SQLite file, opened in one place, by any number of processes at once.
//! - A file that is not a metier database, is damaged or was written by a newer metier is an error with a hint; it is
//!   left unchanged, byte for byte. Starting over is the user's decision.
//! - Reading creates nothing: no file, no folder.
//!
//! **Worked example.** Ada trusts her checkout; from then on everything below it is trusted, and its siblings are
//! not.
//!
//! ```
//! use metier_store::Store;
//! use std::path::Path;
//!
//! # let home = tempfile::tempdir()?;
//! # let path = home.path().join("data/metier.db");
//! assert!(Store::open_existing(&path)?.is_none());
//! let store = Store::open(&path)?;
//! store.trust(Path::new("/src/app"), "2026-01-31T09:00:00Z")?;
//! assert!(store.trusted_by(Path::new("/src/app/crates/web"))?.is_some());
//! assert!(store.trusted_by(Path::new("/src/application"))?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! She allows a skill one permission, and its acts are recorded. After the skill has changed, nothing is allowed.
//!
//! ```
//! use metier_store::{
//!     Approval, ApprovalDecision, Completion, NewReceipt, ReceiptDecision, ReceiptOutcome, ReceiptPart, Store,
//!     Verified,
//! };
//!
//! # let home = tempfile::tempdir()?;
//! # let store = Store::open(&home.path().join("metier.db"))?;
//! let (skill, source, digest) = ("release", "user", "sha256:5e1f");
//! store.approve(&[Approval {
//!     skill: skill.to_owned(),
//!     source: source.to_owned(),
//!     permission: "shell:exec(git *)".to_owned(),
//!     digest: digest.to_owned(),
//!     decision: ApprovalDecision::Allowed,
//!     at: "2026-01-31T09:00:00Z".to_owned(),
//!     by: "terminal".to_owned(),
//! }])?;
//! assert_eq!(store.approvals(skill, source, digest)?.len(), 1);
//! assert!(store.approvals(skill, source, "sha256:0dd5")?.is_empty());
//!
//! let receipts = store.append(&[NewReceipt {
//!     at: "2026-01-31T09:00:01Z".to_owned(),
//!     skill: skill.to_owned(),
//!     source: source.to_owned(),
//!     digest: digest.to_owned(),
//!     act: "shell:exec".to_owned(),
//!     detail: "git tag v1".to_owned(),
//!     decision: ReceiptDecision::Allowed,
//!     reason: None,
//!     outcome: Some(ReceiptOutcome::Ok),
//!     ms: 12,
//!     sandbox: None,
//!     session: None,
//!     count: 1,
//! }])?;
//! assert_eq!(receipts[0].id, 1);
//! assert_eq!(store.verify()?, Verified::Whole { count: 1 });
//!
//! // An act is recorded before it happens, and again when it is over.
//! let begun = store.begin(&receipts[0].entry)?;
//! // … here it is done …
//! let receipt = store.complete(begun, &Completion {
//!     at: "2026-01-31T09:00:02Z".to_owned(),
//!     decision: ReceiptDecision::Allowed,
//!     outcome: Some(ReceiptOutcome::Ok),
//!     reason: None,
//!     ms: 12,
//!     sandbox: None,
//!     note: String::new(),
//! })?;
//! assert_eq!((receipt.id, receipt.part), (2, ReceiptPart::Completed { by: 3 }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! She talks to a model. The conversation can be resumed, and two processes can't continue from the same line.
//!
//! ```
//! use metier_store::{NewConversation, Store, StoreError};
//!
//! # let home = tempfile::tempdir()?;
//! # let store = Store::open(&home.path().join("metier.db"))?;
//! let (id, now) = ("7c9e6679", "2026-01-31T09:00:00Z");
//! store.begin_conversation(&NewConversation {
//!     id,
//!     at: now,
//!     folder: "/src/app",
//!     model: "small",
//!     title: "the release",
//!     parent: None,
//! })?;
//! assert_eq!(store.append_lines(id, 0, now, &[r#"{"user":"tag it"}"#, r#"{"model":"done"}"#])?, 2);
//! assert_eq!(store.conversation_lines(id)?[1].body, r#"{"model":"done"}"#);
//!
//! let late = store.append_lines(id, 0, now, &[r#"{"user":"and push"}"#]);
//! assert!(matches!(late, Err(StoreError::WentOn { found: 2, .. })));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **In → out.** `path → Store` · `folder + time → row` · `folder → the trusted ancestor, or none` · `digest + reason
//! → row` · `skill + source + digest → decisions` · `nonce + now → used, or not` · `acts → receipts` · `act → begun →
//! completed` · `receipts → whole, or broken at an id` · `lines + known count → new count, or a conflict`
//!
//! **Invariants.** the file is 0600 and a folder we create 0700 · a migration happens as a whole or not at all ·
//! committed data survives a killed process · an approval is never looked up by less than skill, source and exact
//! bytes · a single-use grant is used once, across all processes · receipts are only appended, and each contains the
//! hash of the one before · an act that began and was not completed is found again · a conversation grows only from
//! the line that its writer knows as the last · permissions are not interpreted here: they are strings that are equal
//! or not · no clock, no environment, no home directory: paths and times are passed in · only this crate opens the
//! database.
//!
//! **Start reading at** `open.rs`, then `schema.rs`, then `approvals.rs`, `receipts.rs` and `conversations.rs`.

mod accepted;
mod acts;
mod alive;
mod approvals;
mod chain;
mod column_values;
mod conversations;
mod error;
mod open;
mod open_databases;
mod placed;
mod pool;
mod receipts;
mod registries;
mod schema;
mod segments;
mod shared;
mod state;
mod trust;
mod verify;

#[cfg(test)]
mod accepted_tests;
#[cfg(test)]
mod acts_tests;
#[cfg(test)]
mod approvals_tests;
#[cfg(test)]
mod chain_tests;
#[cfg(test)]
mod conversations_tests;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod kill_tests;
#[cfg(test)]
mod migration_tests;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod open_databases_tests;
#[cfg(test)]
mod open_tests;
#[cfg(test)]
mod pool_tests;
#[cfg(test)]
mod receipts_tests;
#[cfg(test)]
mod registries_tests;
#[cfg(test)]
mod rerun;
#[cfg(test)]
mod segments_tests;
#[cfg(test)]
mod state_tests;
#[cfg(test)]
mod trust_tests;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;

use alive::LiveFile;
use open_databases::OpenDatabase;
use segments::Rotation;

pub use accepted::Accepted;
pub use acts::{ABANDONED, BegunReceipt, Completion};
pub use approvals::{
    AnswersStamp, Approval, ApprovalDecision, ApprovedFile, EarlierApproval, SingleUse,
};
pub use conversations::{ConversationLine, ConversationRecord, LONGEST_LINE, NewConversation};
pub use error::StoreError;
pub use placed::PlacedSkill;
pub use pool::{PooledStore, StorePool};
pub use receipts::{
    Breakage, ChainHead, NewReceipt, Receipt, ReceiptDecision, ReceiptFilter, ReceiptOutcome,
    ReceiptPart, Verified,
};
pub use registries::RegistryAnswer;
pub use shared::SharedStore;
pub use state::SkillState;
pub use trust::{Trusted, TrustedRoot};

/// An open database. Use one for each thread; any number can be open on one file.
#[derive(Debug)]
pub struct Store {
    connection: rusqlite::Connection,
    path: PathBuf,
    /// Whether a commit currently waits for the disk.
    waits: Cell<bool>,
    /// How often this store changed answers about permissions.
    answered: Cell<u64>,
    /// The file that shows that this store is alive, once it has begun an act.
    alive: RefCell<Option<LiveFile>>,
    rotation: Rotation,
    /// Dropped last, after the connection is closed.
    held: OpenDatabase,
}
