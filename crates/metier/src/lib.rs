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
//! **Features.** All are on by default. Without any, the library finds, validates, scans, selects and renders skills and runs nothing.
//!
//! | feature | adds |
//! |---|---|
//! | `scan-code` | the scanner reads JavaScript and Python; without it files in them are reported as not read |
//! | `run` | sessions; commands in bodies and programs of skills, in the sandbox |
//! | `starlark`, `js`, `wasm`, `native` | skills written for these backends, and `run` |
//! | `agent` | conversations with a model, and `run` |
//!
//! **Start reading at** `workspace.rs`, then `active.rs`.

#[cfg(feature = "run")]
#[doc(hidden)]
pub mod active;
mod approvals;
mod error;
#[doc(hidden)]
pub mod explain;
#[cfg(feature = "run")]
#[doc(hidden)]
pub mod leftovers;
#[cfg(feature = "run")]
mod live_session;
#[doc(hidden)]
pub mod machine;
mod notices;
#[cfg(feature = "run")]
#[doc(hidden)]
pub mod office;
#[cfg(feature = "run")]
#[doc(hidden)]
pub mod opinions;
#[doc(hidden)]
pub mod rendering;
#[doc(hidden)]
pub mod screening;
mod settings;
mod skills;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod wording;
#[cfg(feature = "run")]
pub mod worker;
mod workspace;

pub use approvals::{ApprovalQueue, PendingApproval};
pub use error::{Error, ErrorKind};
#[cfg(feature = "run")]
pub use live_session::{Session, SessionOptions};
pub use metier_catalog::Resource;
pub use metier_model::Source;
pub use metier_policy::{ApprovalQuestion, Approver, Headless, Reply};
pub use metier_runtime::Status;
#[cfg(feature = "run")]
pub use metier_runtime::live::{Called, Model, Tool};
pub use notices::{Logged, NoticeLevel, Notices};
pub use rendering::{ShowOptions, Shown};
pub use settings::{NamedRoot, Settings};
pub use skills::{Skill, Skills};
pub use workspace::Workspace;
#[doc(hidden)]
pub use workspace::{problem_failure, roots_to_trust};

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
