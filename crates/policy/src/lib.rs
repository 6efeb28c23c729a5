//! # metier-policy — the permissions of a skill
//!
//! **Problem.** Two questions have to be answered for every skill. Can it work here at all, and if not, what is
//! missing? And when it runs: may it do *this*, now, with exactly these bytes?
//!
//! **Goals.** Eight rules of eligibility, each a named [`Reason`] with a hint. Permissions that are enforced: requests,
//! decisions and acts are compared here and nowhere else.
//!
//! **Worked example.** `review-pr` declares `shell:exec(gh *)` and `net:fetch(api.github.com)`. Ada allows both.
//! [`rule`] creates a [`Grant`] for those bytes; `gh pr view 7` becomes a [`Permit`], `gh pr view 7; id` a
//! [`PermitRefusal`] that names `shell:exec(gh pr view 7; id)`. When one byte of the skill changes, Ada is asked again.
//!
//! **In → out.** [`Card`](metier_model::Card) + [`UserDecisions`] + [`Facts`] → [`Admission`]; cards →
//! [`dependencies::DependencyProblem`]s; [`Member`]s → [`Composition`]; [`PermissionRequest`] + [`PermissionAnswer`]s + [`GrantTerms`] →
//! [`Ruling`]; [`Grant`] + [`Act`] + [`ActMeter`] → [`Permit`].
//!
//! **Invariants.** no I/O · a refusal always has at least one reason · `always` never skips the operating system,
//! trust or the scan · grants and permits are created only here · of several answers the strictest applies · text that
//! can't be parsed is not permitted · the result for a set of skills does not depend on their order, and adding a
//! skill never allows what was forbidden.
//!
//! **Start reading at** `admit.rs`, then `request.rs`, `rule.rs`, `grant.rs`, `on_use.rs`, then `compose.rs`.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod act;
mod act_target;
mod admit;
mod approve;
mod compose;
mod danger;
mod decision;
pub mod dependencies;
mod grant;
mod meter;
mod narrow;
mod on_use;
mod plain;
mod preview;
mod request;
mod rule;
pub mod variables;

#[cfg(test)]
mod command_denial_tests;
#[cfg(test)]
mod grant_tests;
#[cfg(test)]
mod on_use_tests;

pub use act::{
    Act, CommandLine, CommandWords, ExactOnly, FetchAct, GitAct, LineContext, RedirectTarget,
};
pub use act_target::ActTarget;
pub use admit::{
    Admission, Facts, Reason, ReasonKind, ScanEvidence, ScanState, UserDecisions, admit,
    outside_profile, scan_reason,
};
pub use approve::{
    ApprovalOffer, ApprovalQuestion, ApprovalSubject, Approver, Changes, Headless, Reply,
};
pub use compose::{
    CODING_PIPELINE, CORE_TOOLS, ComposeOptions, Composition, CompositionFault, FaultCode, Member,
    OnConflict, SESSION_TOOLS, ToolPolicy, Unchecked, allows, brings_own_tools, compose,
    gives_tools, reads_only, writes,
};
pub use danger::{Danger, DangerRank};
pub use decision::Decision;
pub use grant::{Grant, GrantTerms, Permit, PermitRefusal, plain_script};
pub use meter::{ActMeter, Rates};
pub use on_use::{OnUseAnswers, PendingAct, SessionAnswers, Unpermitted};
pub use plain::plain;
pub use preview::{ChangeKind, ChangePreview, ContentBefore, LineChange, PreviewLine};
pub use request::{PermissionRequest, Purpose, RequestReason, RequestedPermission};
pub use rule::{Identity, PermissionAnswer, Ruling, decide, rule};
