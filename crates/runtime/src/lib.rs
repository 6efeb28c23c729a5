//! # metier-runtime — the order of events
//!
//! **Problem.** The skills on disk, the user's decisions and the facts about the machine must become one answer: which skills exist, which
//! can be used, and what a model learns about them.
//!
//! **Goals.** One [`Inventory`] behind every interface; prompts that keep to a budget and hide nothing; the body of a skill exactly
//! as its author wrote it, with arguments filled in.
//!
//! **Worked example.** `review-pr` is in the project and in the user's folder. The project is
//! trusted, so its skill wins and the other is `shadowed`; `gh` is missing, so it is `not_ready` with
//! the command that installs it; a prompt leaves it out.
//!
//! **In → out.** [`Catalog`](metier_catalog::Catalog) + [`Config`](metier_config::Config) +
//! [`Facts`](metier_policy::Facts) → [`Inventory`]; inventory → [`prompt`]; entry + arguments → [`render`];
//! names → [`Composition`](metier_policy::Composition); inventory + [`Situation`](metier_select::Situation) → [`selecting::Pick`]s.
//!
//! **Invariants.** an invalid, blocked or disabled skill never enters a prompt · an untrusted skill
//! shadows nothing · values that replace placeholders are never parsed again.
//!
//! **Start reading at** `inventory.rs`, then `prompt.rs`, `render.rs`, then `scanning.rs`, `composing.rs`, `selecting.rs`.

#![cfg_attr(
    not(feature = "run"),
    expect(
        dead_code,
        reason = "some of these functions are used only by running skills"
    )
)]

mod admitted_snapshot;
pub mod approvals;
#[cfg(feature = "run")]
pub mod body_commands;
mod composing;
mod entrypoint;
pub mod finding;
#[cfg(feature = "run")]
pub mod granted_skill;
mod guarded;
pub mod hooks;
mod hosts;
mod inventory;
#[cfg(feature = "run")]
pub mod live;
mod log;
pub mod manifest_checks;
mod parallel;
pub mod permissions;
pub mod project_fit;
pub mod prompt;
mod prompt_files;
#[cfg(feature = "run")]
mod receipts;
mod redact;
pub mod render;
pub mod requests;
mod rulebook;
pub mod scanning;
pub mod selecting;
#[cfg(feature = "run")]
pub mod skill_environment;
mod standing_answers;
mod tokens;
pub mod trigger_queries;
mod workflows;

pub use admitted_snapshot::AdmittedSnapshot;
pub use inventory::{
    Inventory, InventorySkill, NotFound, Status, StatusCounts, WITHHELD, near_names, survey,
};
pub use redact::Redactor;
pub use rulebook::{RuleProblem, Rulebook};
pub use tokens::count as count_tokens;
