//! # metier-policy — what a skill may do
//!
//! **Problem.** A skill that can't work here should say so before a model trusts it, and say what
//! is missing, where that was asked for, and how to get it.
//!
//! **Goals.** Eight rules of eligibility, each a named [`Reason`] with a hint; the same answer for
//! the same facts; dependencies between skills checked as a whole.
//!
//! **Worked example.** `review-pr` needs the program `gh`. It is not on PATH, and the manifest knows
//! a brew formula: [`admit`] answers `Refused([Reason { kind: Bin, name: "gh", hint: "brew install gh" }])`.
//!
//! **In → out.** [`Card`](metier_model::Card) + [`Standing`] + [`Facts`] → [`Verdict`];
//! cards → [`dependencies::Problem`]s; [`Member`]s → [`Composition`].
//!
//! **Invariants.** no I/O · a refusal always has at least one reason · `always` never skips the
//! operating system, trust or the scan · a set of skills is judged alike in every sequence, and adding
//! a skill never allows what was forbidden.
//!
//! **Start reading at** `admit.rs`, then `dependencies.rs`, then `compose.rs`.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod admit;
mod compose;
mod decision;
pub mod dependencies;

pub use admit::{Evidence, Facts, Reason, ReasonKind, Scan, Standing, Verdict, admit, scan_reason};
pub use compose::{
    CODING_PIPELINE, Composition, Fault, FaultCode, Member, OnConflict, Options, ToolPolicy,
    compose,
};
pub use decision::Decision;
