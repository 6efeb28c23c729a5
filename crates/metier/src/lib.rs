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
//! let inventory = workspace.inventory()?;
//! for skill in inventory.ready() {
//!     println!("{}", inventory.entry(skill).name());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! **Invariants.** this crate and the program alone look at the environment and the clock · bytes of a skill come from a snapshot that was scanned ·
//! a [`Workspace`] is `Send + Sync` and cheap to clone.
//!
//! **Start reading at** `workspace.rs`, then `active.rs`.

#[doc(hidden)]
pub mod active;
mod error;
#[doc(hidden)]
pub mod explain;
#[doc(hidden)]
pub mod leftovers;
#[doc(hidden)]
pub mod machine;
mod notices;
#[doc(hidden)]
pub mod office;
#[doc(hidden)]
pub mod opinions;
#[doc(hidden)]
pub mod screening;
mod settings;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod wording;
pub mod worker;
mod workspace;

pub use error::{Error, ErrorKind};
pub use notices::{Logged, NoticeLevel, Notices};
pub use settings::{NamedRoot, Settings};
pub use workspace::Workspace;
#[doc(hidden)]
pub use workspace::{problem_failure, roots_to_trust};

const _: () = {
    const fn is_shareable<T: Send + Sync + Clone>() {}
    is_shareable::<Workspace>();
};
