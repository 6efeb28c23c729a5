//! Installing, changing and removing skills.
//!
//! **Problem.** A skill from elsewhere is text for a model and code for this machine. What was scanned, what was approved and what is used
//! later must be the same bytes, and a change that is interrupted must leave the old skill or the new one.
//!
//! **Decision.** Every source takes one way: fetched into memory, written to a quarantine folder, validated, scanned, its permissions listed
//! ([`InstallPlan`]); decided about ([`InstallDecision`]); placed together with the lock in one transaction ([`InstallReport`]).
//!
//! ```text
//! SRC → fetch → quarantine → validate → scan → permissions → InstallCard ─ the user decides ─→ skill folders + metier.lock, one transaction
//! ```
//!
//! Two files state what is installed: `<data>/metier.lock` for the user and `<project>/metier.lock` for a project ([`ScopePlaces`]).
//!
//! **Start reading at** `plan.rs`, then `draft.rs`.

mod apply;
mod card;
mod card_text;
mod checking;
mod draft;
mod history;
mod locked;
mod objects;
mod obstacles;
mod package_files;
pub mod packages;
mod pins;
mod places;
mod plan;
mod present;
mod publishing;
mod quarantine;
pub mod registry;
mod registry_memory;
mod removing;
pub mod signing;
mod sources;
mod verifying;

pub use apply::check_permissions;
pub use card::{
    CardBefore, CardFinding, CardPermission, CardVerdict, InstallAction, InstallCard,
    InstallObstacle,
};
pub use card_text::card_text;
pub(crate) use draft::complete_changes;
pub use history::{ChangeSummary, UndoneChange};
pub use metier_package::{Lock, LockedSkill};
pub(crate) use pins::SkillPins;
pub use places::{InstallScope, ScopePlaces};
pub use plan::{
    InstallDecision, InstallOptions, InstallPlan, InstallReport, InstalledSkill, PlannedSkill,
};
pub use present::FileDifferences;
pub use removing::RemovedSkill;
pub use sources::{OfferChooser, OfferKind, SkillOffer, SourceRequest};
pub use verifying::{InstalledState, VerifiedSkill};
