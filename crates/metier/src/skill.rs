//! The values that describe a skill: where it was found, what its manifest contains, how it was judged.
//!
//! [`Workspace::skills`](crate::Workspace::skills) returns them as an [`Inventory`]:
//!
//! ```no_run
//! # fn main() -> Result<(), metier::Error> {
//! # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
//! let skills = workspace.skills()?;
//! for skill in &skills.inventory().skills {
//!     let entry = skills.inventory().entry(skill);
//!     println!("{} is {}", entry.name(), skill.status.as_str());
//! }
//! # Ok(())
//! # }
//! ```

pub use metier_catalog::{
    CatalogEntry, FileEntry, KnownAgent, Root, RootPresence, SkillLocation, known_agents,
};
pub use metier_model::{
    Backend, Card, Diagnostic, DiagnosticCode, DiagnosticSeverity, Digest, Installer, Need,
    SkillContext, SkillManifest, SkillName, SkillType, Source, Strictness, UnknownWord,
    name::{MAX_NAME, conforming, departures},
};
pub use metier_policy::{Reason, ReasonKind, scan_reason};
pub use metier_runtime::{Inventory, InventorySkill, Status, StatusCounts};
