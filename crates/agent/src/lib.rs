//! # metier-agent — talking to models
//!
//! **Problem.** Every provider has its own words for the same conversation, its own way to stream, its own way to fail.
//! A loop that knows them all can't be read, and one that trusts what comes back can be stopped by a bad gateway.
//!
//! **Goals.**
//! * one trait, [`Model`]: a request in our words goes in, an answer in our words comes out, with pieces told on the way;
//! * every failure is a [`ModelError`] that says what happened and what to type;
//! * nothing waits for ever and nothing grows for ever: five time-outs, four sizes, a bounded number of attempts, and
//!   a [`Cancel`] that ends a call from another thread or a signal handler;
//! * the same request is the same bytes, so that prompts are cached and tests can compare.
//!
//! **Worked example.** `anthropic/claude-…` with a key from the environment, which comes in as a value:
//!
//! ```
//! use metier_agent::{Endpoint, ModelError, ModelName, Provider, Settings};
//!
//! let settings = Settings::default();
//! let name = ModelName::parse("anthropic/claude-opus-4-8", None)?;
//! let lookup = |variable: &str| (variable == "ANTHROPIC_API_KEY").then(|| "sk-ant-x".to_owned());
//! let endpoint = Endpoint::resolve(&name, &settings, &lookup)?;
//! assert_eq!(endpoint.url(), "https://api.anthropic.com/v1/messages");
//! assert!(!format!("{endpoint:?}").contains("sk-ant"));
//! let model = Provider::new(endpoint, metier_agent::Limits::default());
//!
//! let without = Endpoint::resolve(&name, &settings, &|_| None);
//! assert!(matches!(without, Err(ModelError::NoKey { variable, .. }) if variable == "ANTHROPIC_API_KEY"));
//! # drop(model);
//! # Ok::<(), ModelError>(())
//! ```
//!
//! **In → out.** `Request → Delta… → Answer`, or a `ModelError`.
//!
//! **Invariants.** No type of a provider leaves `provider/` · no environment: variables come in through a function · a key
//! is in no error, no `Debug` and no other host's request · after a piece was told, a request is never sent again.
//!
//! **Start reading at** `model.rs`, then `provider/mod.rs`, then `provider/anthropic/`.

mod cancel;
mod error;
mod model;
mod price;
mod provider;

pub use cancel::Cancel;
pub use error::{ModelError, Wait};
pub use model::{
    Answer, Delta, Effort, Input, Kept, Message, Model, Request, Stop, ToolCall, ToolResult,
    ToolSpec, Usage,
};
pub use price::{Price, PriceError};
pub use provider::{Endpoint, Kind, Limits, ModelName, Provider, Settings};
