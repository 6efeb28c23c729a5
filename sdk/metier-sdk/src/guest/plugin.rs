//! Plugins: skills as values, with a name and a version, that register their contributions when they are activated.
//!
//! **Problem.** A skill can be a program, a library or a component, and its author should write it once. **Decision.** The
//! author's type is a [`Plugin`]; [`crate::export_skill!`] turns it into a library or a component, and
//! [`Skill::of`](super::Skill::of) into a program.
//!
//! ```
//! use metier_sdk::guest::{Context, Outcome, Plugin};
//! use metier_sdk::wire::Manifest;
//!
//! #[derive(Default)]
//! struct Greeter;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Greet {
//!     /// Whom to greet
//!     who: String,
//! }
//!
//! impl Plugin for Greeter {
//!     fn manifest(&self) -> Manifest {
//!         Manifest::new("greeter", "1.0.0")
//!     }
//!
//!     fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()> {
//!         let greeting = context.host().read_file("greeting.txt")?;
//!         context.tool("greet", "Greets a guest", move |_, input: Greet| {
//!             Ok(format!("{greeting}, {}", input.who))
//!         });
//!         Ok(())
//!     }
//! }
//!
//! metier_sdk::export_skill!(Greeter);
//! # fn main() {}
//! ```

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Host, Outcome, Parts};
use crate::wire::{FoundByScanner, HookAnswer, HookSpec, Manifest, ScannedFile};

/// A skill as its author writes it, in whatever form it is built.
pub trait Plugin: Send {
    /// Name and version. If SKILL.yaml has others, the skill is not activated.
    fn manifest(&self) -> Manifest;

    /// Registers the contributions. It can send requests to the host.
    ///
    /// # Errors
    ///
    /// The plugin can't work here; the user gets the reason.
    fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()>;

    /// Releases resources. It is not called for a plugin that was never activated, or that is killed.
    ///
    /// # Errors
    ///
    /// Releasing failed. The plugin ends anyway, and the reason is logged.
    fn deactivate(&mut self, _host: &Host<'_>) -> Outcome<()> {
        Ok(())
    }
}

/// The arguments of a plugin's activation: the host, and methods to register contributions.
pub struct Context<'a> {
    parts: &'a mut Parts,
    host: Host<'a>,
}

impl<'a> Context<'a> {
    pub(super) fn new(parts: &'a mut Parts, host: Host<'a>) -> Self {
        Self { parts, host }
    }

    /// The host. [`Host::about`] and [`Host::config`] describe the skill.
    #[must_use]
    pub const fn host(&self) -> &Host<'a> {
        &self.host
    }

    /// Registers a tool, as [`Skill::tool`](super::Skill::tool).
    pub fn tool<I, O>(
        &mut self,
        name: &str,
        description: &str,
        handler: impl FnMut(&Host<'_>, I) -> Outcome<O> + Send + 'static,
    ) -> &mut Self
    where
        I: DeserializeOwned + JsonSchema,
        O: Serialize,
    {
        self.parts.tool(name, description, handler);
        self
    }

    /// Registers a hook, as [`Skill::hook`](super::Skill::hook).
    pub fn hook(
        &mut self,
        at: impl Into<HookSpec>,
        handler: impl FnMut(&Host<'_>, Value) -> Outcome<HookAnswer> + Send + 'static,
    ) -> &mut Self {
        self.parts.hook(at.into(), handler);
        self
    }

    /// Registers a workflow, as [`Skill::workflow`](super::Skill::workflow).
    pub fn workflow<I, O>(
        &mut self,
        name: &str,
        description: &str,
        handler: impl FnMut(&Host<'_>, I) -> Outcome<O> + Send + 'static,
    ) -> &mut Self
    where
        I: DeserializeOwned,
        O: Serialize,
    {
        self.parts.workflow(name, description, handler);
        self
    }

    /// Registers a scanner, as [`Skill::scanner`](super::Skill::scanner).
    pub fn scanner(
        &mut self,
        name: &str,
        handler: impl FnMut(&Host<'_>, Vec<ScannedFile>) -> Outcome<Vec<FoundByScanner>>
        + Send
        + 'static,
    ) -> &mut Self {
        self.parts.scanner(name, handler);
        self
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Context")
            .field(&self.parts.contributions())
            .finish()
    }
}
