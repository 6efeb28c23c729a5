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
mod difference;
mod draft;
mod history;
mod install_from_lock;
mod installed_files;
mod obstacles;
mod outdated;
mod package_files;
pub mod packages;
mod pins;
mod places;
mod plan;
mod profile;
mod publishing;
mod quarantine;
pub mod registry;
mod registry_memory;
mod removing;
mod requirements;
mod rollback;
mod signer;
pub mod signing;
mod sources;
mod stored_packages;
mod switches;
mod sync;
mod update;
mod verifying;

pub use apply::check_permissions;
pub use card::{
    ExistingSkill, InstallAction, InstallCard, InstallCardFinding, InstallCardPermission,
    InstallCardVerdict, InstallObstacle,
};
pub use card_text::card_text;
pub use difference::{FileChange, FileDiff, SetDifference};
pub(crate) use draft::complete_changes;
pub use history::{ChangeSummary, UndoneChange};
pub use installed_files::ChangedFiles;
pub use metier_hub::{Change, ChangeId};
pub use metier_package::{Lock, LockedSkill, PackageTree};
pub use outdated::UpdateAvailability;
pub(crate) use pins::SkillPins;
pub use places::{InstallScope, ScopePlaces};
pub use plan::{
    InstallDecision, InstallOptions, InstallPlan, InstallReport, InstalledSkill, PlannedSkill,
};
pub use profile::SkillProfile;
pub use removing::RemovedSkill;
pub use requirements::{RequiredSkill, RequirementState, RequirementTree};
pub use rollback::StoredRevision;
pub use sources::{OfferChooser, OfferKind, SkillOffer, SourceRequest};
pub use switches::{SettingsChange, SwitchReport, SwitchedSkill};
pub use sync::{AgentTarget, SyncAction, SyncOptions, SyncReport, SyncedPlace};
pub use update::{
    LocalEdits, SkillRevision, SkillUpdate, UpdateDecision, UpdateOptions, UpdatePlan,
    UpdateReport, UpdateState,
};
pub use verifying::{InstalledState, VerifiedSkill};
