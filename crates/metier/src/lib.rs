//! # metier — the skill system for LLM agents, as a library
//!
//! **Problem.** A program that gives skills to a model has to find them, read them, scan them, ask for permission, run their code in a sandbox and
//! record what it did. If a program forgets one of these steps, the others are useless.
//!
//! **Decision.** [`Workspace`] is the only entry point. It returns only trusted and scanned content, runs only permitted acts, and records
//! them.
//!
//! ```no_run
//! use metier::{Settings, Workspace};
//!
//! # fn main() -> Result<(), metier::Error> {
//! let workspace = Workspace::open(Settings::from_env()?)?;
//! let skills = workspace.skills()?;
//! for skill in skills.ready() {
//!     println!("{}: {}", skill.name(), skill.description());
//! }
//! let text = workspace.render("review-pr", ["123"])?.content;
//!
//! let mut session = workspace.session(&skills, metier::SessionOptions::default())?;
//! session.activate("kubernetes")?;
//! let pods = session.call("kubernetes__pods", &serde_json::json!({ "namespace": "default" }))?;
//! # let _ = (text, pods);
//! session.end()?;
//! # Ok(())
//! # }
//! ```
//!
//! Two things to know before you start:
//!
//! - **Your program is its own worker.** If it runs code of skills, call [`worker::run_if_worker`] first in `main`, or name a `metier`
//!   binary in [`Settings::worker`].
//! - **Texts of skills are untrusted.** Names, descriptions and outputs were written by authors of skills. [`Workspace::render`] and
//!   [`Workspace::prompt`] return text that is safe for a model; pass other texts through [`model_text::for_model`] first, and for a
//!   terminal through [`text::one_line`].
//!
//! | to | call | and see |
//! |---|---|---|
//! | describe the machine | [`Settings::from_env`], [`Settings::of`], [`Workspace::open`] | [`Settings`], [`Machine`] |
//! | find skills | [`Workspace::skills`], [`Workspace::find`], [`Workspace::inspect`] | [`Skills`], [`skill`], [`inspection`] |
//! | keep the list up to date | [`Workspace::live`], [`Workspace::watch`] | [`LiveSkills`], [`Watch`] |
//! | check them | [`Workspace::validate`], [`Workspace::scan`], [`Workspace::accept`], [`Workspace::check`] | [`validating`], [`scans`], [`checking`] |
//! | run their own tests | [`Workspace::test`] | [`TestResult`] |
//! | install them | [`Workspace::prepare_install`], [`Workspace::verify_skills`], [`Workspace::undo`], [`Workspace::search_registries`], [`Workspace::publish`] | [`distribution`] |
//! | update, link and disable them | [`Workspace::prepare_update`], [`Workspace::sync`], [`Workspace::switch_skills`], [`Workspace::use_profile`] | [`distribution`] |
//! | choose for a task | [`Workspace::select`], [`Workspace::why`], [`Workspace::compose`] | [`selection`], [`composition`] |
//! | make them easier to find | [`Workspace::evaluate`], [`Workspace::improve`], [`Workspace::collisions`] | [`evaluation`], [`improving`] |
//! | give them to a model | [`Workspace::prompt`], [`Workspace::render`], [`Workspace::read`] | [`prompts`] |
//! | give them to a client of a protocol | [`Workspace::catalog_for_model`], [`Workspace::search_for_model`], [`Workspace::render_for_model`], [`Workspace::execute_for_model`] | [`ExposedSkills`] |
//! | run their code | [`Workspace::session`], [`Workspace::exec`] | [`Session`], [`scripts`], [`worker`] |
//! | list their tools | [`Workspace::tools`], [`Workspace::all_tools`], [`Session::tools`] | [`ToolList`] |
//! | hold a conversation | [`Workspace::conversation`], [`Workspace::sub_agent`], [`Workspace::conversations`] | [`agent`] |
//! | use MCP servers | [`Workspace::list_servers`], [`Workspace::login_at_server`] | [`mcp`] |
//! | decide what they may do | [`Workspace::trust`], [`Workspace::permissions`], [`ApprovalQueue`] | [`trusting`], [`permissions`] |
//! | give them to others | [`Workspace::pack`], [`Workspace::sign_package`], [`Workspace::verify_package`] | [`distribution`] |
//! | see what they did | [`Workspace::receipts`] | [`receipts`] |
//! | set the machine up | [`Workspace::diagnose`], [`Workspace::dependencies`], [`Workspace::set_config`] | [`diagnosis`], [`dependencies`], [`configuration`] |
//!
//! **Lists.** [`Workspace::skills`] lists the skills of the machine; with ten thousand of them that takes a tenth of a second. A method
//! that takes [`&Skills`](Skills) uses that list: [`Workspace::find`], [`Workspace::session`], [`Workspace::tools`],
//! [`Workspace::select`], [`Workspace::render_for_model`]. A method that takes only a name lists them again for each call:
//! [`Workspace::render`], [`Workspace::read`], [`Workspace::inspect`], [`Workspace::compose`], [`Workspace::prompt`],
//! [`Workspace::permissions`], [`Workspace::exec`]. For a loop or a server, [`Workspace::live`] keeps the list up to date: the methods of
//! [`CurrentSkills::workspace`] use it and list nothing.
//!
//! **Errors.** A method that fails returns an [`Error`] with a stable code for programs; [`Error::code`] lists them.
//!
//! **Invariants.** only this crate and the programs read the environment · bytes of a skill are read once, scanned, and then used ·
//! a [`Workspace`] is `Send + Sync` and cheap to clone.
//!
//! **Features.** All are on by default. Without any, the library finds, validates, scans, selects and renders skills and runs nothing.
//!
//! | feature | adds |
//! |---|---|
//! | `scan-code` | the scanner reads JavaScript and Python; without it files in them are reported as not read |
//! | `run` | sessions; commands in bodies and programs of skills, in the sandbox |
//! | `starlark`, `js`, `wasm`, `native` | skills written for these backends, and `run` |
//! | `agent` | conversations with a model, and `run` |
//! | `hub` | packages of skills and signatures; skills from elsewhere: installing, updating and removing them; and `run` |
//! | `mcp` | skills and tools of MCP servers that the user configured, and `run` |
//! | `log` | events of `tracing` about skills that are found, scanned, loaded or unavailable; part of `run` |
//!
//! **Start reading at** `workspace.rs`, then `rendering.rs`, then `session_setup.rs`.

#[cfg(feature = "agent")]
pub mod agent;
pub mod approval_text;
mod approvals;
#[cfg(feature = "run")]
pub mod checking;
pub mod composition;
pub mod configuration;
pub mod dependencies;
#[cfg(feature = "run")]
pub mod diagnosis;
#[cfg(feature = "hub")]
pub mod distribution;
mod error;
pub mod evaluation;
#[cfg(feature = "run")]
mod execution_context;
mod explain;
#[cfg(feature = "run")]
mod grant_terms;
pub mod improving;
#[cfg(feature = "run")]
pub mod inspection;
mod last_good;
mod learned_verdicts;
#[cfg(feature = "run")]
mod leftovers;
mod live_skills;
mod machine;
#[cfg(feature = "mcp")]
pub mod mcp;
mod notices;
#[cfg(feature = "run")]
pub mod permissions;
pub mod prompts;
pub mod receipts;
mod rendering;
#[cfg(feature = "run")]
mod running;
mod scan_gate;
#[cfg_attr(not(feature = "run"), path = "no_scanner_skills.rs")]
mod scanner_skills;
pub mod scans;
#[cfg(feature = "run")]
pub mod scripts;
pub mod searching;
pub mod selection;
mod serving;
#[cfg(feature = "run")]
mod session;
#[cfg(feature = "run")]
mod session_setup;
mod settings;
pub mod skill;
mod skills;
#[cfg(feature = "run")]
mod testing;
pub mod text;
#[cfg(feature = "run")]
mod tool_list;
pub mod trusting;
mod usage;
pub mod validating;
mod watch;
mod watched_folders;
#[cfg(feature = "run")]
pub mod worker;
mod workspace;

pub use approvals::{ApprovalQueue, PendingApproval};
pub use error::{Error, ErrorKind};
#[cfg(feature = "run")]
pub use leftovers::restore_protected_places;
pub use live_skills::{CurrentSkills, LiveSkills, WatchState};
pub use machine::Machine;
pub use metier_catalog::{Fingerprint, Resource, read_named};
pub use metier_model::Digest;
pub use metier_model::Source;
/// How text of skills is framed for a model, so that it can't pretend to be the user's.
#[doc(inline)]
pub use metier_model::model_text;
pub use metier_policy::{
    ActTarget, ApprovalOffer, ApprovalQuestion, ApprovalSubject, Approver, Changes, Headless,
    Identity as ApprovalIdentity, Reply, RequestReason, RequestedPermission,
};
pub use metier_runtime::{Status, StatusCounts, render::RanCommand};
#[cfg(feature = "run")]
pub use metier_runtime::{
    granted_skill::DelegateError,
    live::{Called, Dispatched, Model, PromptFragment, SkillLine, Tool, workflow_input},
};
pub use metier_sdk::HookPhase;
#[cfg(feature = "run")]
pub use metier_sdk::wire::{Contributions, ToolSpec};
pub use notices::{
    Logged, NoticeLevel, Notices, ProgressSnapshot, ProgressWatcher, TaskProgress, WorkKind,
};
pub use rendering::{RenderedSkill, ShowOptions, SkillFile};
#[cfg(feature = "run")]
pub use running::Runnable;
#[cfg(feature = "run")]
pub use serving::{ExecutionMode, ExecutionPlan, PlannedAgentRun, PlannedWorkflow};
pub use serving::{
    ExposedSkills, InvocationHelp, RankedSkill, SkillFilter, SkillResource, SkillResourceFile,
    split_arguments,
};
#[cfg(feature = "run")]
pub use session::{Session, SessionOptions};
pub use settings::{NamedRoot, Settings};
pub use skills::{Skill, Skills};
#[cfg(feature = "run")]
pub use testing::TestResult;
#[cfg(feature = "run")]
pub use tool_list::ToolList;
pub use watch::{SkillChanges, Watch, WatchedSkill};
pub use workspace::Workspace;

const _: () = {
    const fn is_shareable<T: Send + Sync + Clone>() {}
    #[cfg(feature = "run")]
    const fn is_sendable<T: Send>() {}
    is_shareable::<Workspace>();
    is_shareable::<Skills>();
    is_shareable::<ApprovalQueue>();
    #[cfg(feature = "run")]
    is_sendable::<Session>();
};
