//! # metier-select — which skills fit a task
//!
//! **Problem.** There are ten thousand skills and one task. The selection of skills for it must be explainable: a
//! choice that can't be explained can't be fixed.
//!
//! **Goals.** Every signal explains itself in a sentence. The same task in the same project gets the same result,
//! offline and without a model. A whole catalog against a whole project takes milliseconds.
//!
//! **Worked example.** `terraform` declares `triggers: {files: ["*.tf"], keywords: [plan, infrastructure as code]}`.
//! The task is "Plan the new bucket", the project has `infra/main.tf`. Two signals: a [`TriggerMatch`] of a file, weight
//! 0.3, and one of a keyword, weight 0.4; together a score of 0.58.
//!
//! **In → out.** [`TriggerCandidate`] + [`Situation`] → [`TriggerMatch`]es; many offers → [`CompiledTriggers`], evaluated once for each
//! situation; file names → [`languages::DetectedProject`]; task → [`rules::Coding`].
//!
//! **Invariants.** no I/O · any match is enough, and each has an explanation · an invalid trigger matches nothing and
//! is a [`TriggerProblem`] · [`CompiledTriggers`] always gives the same result as [`consider`].
//!
//! **Start reading at** `triggers.rs`, then `compiled.rs`, `fold.rs`, `languages.rs`; then `rules/mod.rs`.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod compiled;
mod fold;
mod glob;
pub mod languages;
mod mention;
pub mod rules;
pub mod search;
mod skill_triggers;
mod triggers;

pub use compiled::{CompiledTriggers, SituationView};
pub use fold::fold;
pub use mention::{Mention, mentions};
pub use triggers::{
    Considered, Signal, Situation, TriggerCandidate, TriggerMatch, TriggerProblem, UnmetTrigger,
    UsageMode, consider, matches, score,
};
