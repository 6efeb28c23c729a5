//! # metier — the skill system for LLM agents, as a library
//!
//! **Problem.** A program that gives skills to a model has to find them, read them, scan them, ask for permission, run their code in a sandbox and
//! write down what it did. Each of these can be forgotten, and then the others are worth nothing.
//!
//! **Decision.** A [`Workspace`] is the one way in. What it gives out was trusted and scanned; what it runs was permitted and is
//! written down.
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
//! **Invariants.** this crate and the program alone look at the environment and the clock · bytes of a skill come from a snapshot that was scanned ·
//! a [`Workspace`] is `Send + Sync` and cheap to clone.
//!
//! **Start reading at** `workspace.rs`, then `active.rs`.

mod active;
#[cfg(feature = "agent")]
pub mod agent;
mod approvals;
pub mod composition;
pub mod configuration;
pub mod dependencies;
pub mod diagnosis;
mod error;
#[doc(hidden)]
pub mod explain;
pub mod inspection;
#[doc(hidden)]
pub mod leftovers;
mod live_session;
#[doc(hidden)]
pub mod machine;
mod notices;
#[doc(hidden)]
pub mod office;
#[doc(hidden)]
pub mod opinions;
pub mod permissions;
pub mod prompts;
pub mod receipts;
#[doc(hidden)]
pub mod rendering;
mod running;
pub mod scans;
#[doc(hidden)]
pub mod screening;
pub mod scripts;
pub mod selection;
mod serving;
mod settings;
pub mod skill;
mod skills;
mod testing;
pub mod text;
mod tool_list;
pub mod trusting;
pub mod validating;
mod watch;
#[doc(hidden)]
pub mod wording;
pub mod worker;
mod workspace;

pub use approvals::{ApprovalQueue, PendingApproval};
pub use error::{Error, ErrorKind};
pub use live_session::{Session, SessionOptions};
pub use machine::Machine;
pub use metier_catalog::{Resource, read_named};
pub use metier_model::Source;
#[doc(hidden)]
pub use metier_model::model_text;
pub use metier_policy::{ApprovalQuestion, Approver, Headless, Reply};
pub use metier_runtime::{
    Status,
    live::{Called, Dispatched, Fragment, Model, Tool, workflow_input},
};
pub use metier_sdk::HookPhase;
pub use notices::{Logged, NoticeLevel, Notices};
pub use rendering::{ShowOptions, Shown, SkillFile};
pub use running::Runnable;
pub use settings::{NamedRoot, Settings};
pub use skills::{Skill, Skills};
pub use testing::TestResult;
pub use tool_list::ToolList;
pub use watch::{SkillChanges, Watch, WatchedSkill};
pub use workspace::Workspace;
#[doc(hidden)]
pub use workspace::{problem_failure, roots_to_trust};

const _: () = {
    const fn is_shareable<T: Send + Sync + Clone>() {}
    const fn is_sendable<T: Send>() {}
    is_shareable::<Workspace>();
    is_shareable::<Skills>();
    is_shareable::<ApprovalQueue>();
    is_sendable::<Session>();
};
