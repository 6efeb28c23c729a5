//! # metier-hub — skills from elsewhere: finding, fetching and placing them
//!
//! **Problem.** Skills are in repositories, archives, registries and on sites. A process that fetches and places them can be killed at any
//! moment; it must leave the old skill or the new one, never a mixture, and the replaced content must be restorable.
//!
//! **In → out.** typed text → [`SkillSource`] → [`fetch::OpenedSource`] → the files of its skills in memory; new
//! contents of several places → one [`Transaction`] → a [`Change`] that can be undone.
//!
//! **Invariants.** typed text becomes a source here, before a program or the network sees it · nothing is overwritten: replaced content is
//! kept · a change is complete or did not happen, wherever it is interrupted.
//!
//! **Start reading at** `source.rs`, then `fetch/mod.rs`, then `transaction.rs`.

pub mod fetch;
mod index;
mod journal;
mod marketplace;
mod object;
pub mod registry;
mod source;
mod transaction;

pub use index::{Artifact, INDEX_PATHS, IndexError, ListedSkill, SiteIndex};
pub use journal::{Change, ChangeId};
pub use marketplace::{
    MARKETPLACE_PATH, Marketplace, MarketplaceError, MarketplacePlugin, PluginPlace,
};
pub use object::NewContent;
pub use source::{GitSource, SkillSource, SourceError};
pub use transaction::{ChangeError, Checkpoint, Transaction, TransactionChanges};
