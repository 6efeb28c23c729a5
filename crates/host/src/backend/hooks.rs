//! Sessions that only handle hooks: hooks for other agents contribute no tools.

use std::time::Duration;

use metier_sdk::wire::{Contributions, HookAnswer, HookHandle, method};
use serde_json::Value;

use super::{ProcessEvent, SkillHost, SkillProcess, SkillProcessError, read, write};

/// A handler of hooks.
pub trait HookHandler: Send {
    /// A name for errors about other methods.
    const WHO: &'static str;

    /// The phases that it handles.
    fn contributions(&self) -> &Contributions;

    /// Handles one hook.
    ///
    /// # Errors
    /// As [`SkillProcess::call`].
    fn hook(
        &mut self,
        handle: HookHandle,
        host: &dyn SkillHost,
        timeout: Duration,
    ) -> Result<HookAnswer, SkillProcessError>;

    /// The events since the last call.
    fn events(&mut self) -> Vec<ProcessEvent>;

    /// Ends, and returns the last events.
    fn close(self, host: &dyn SkillHost, grace: Duration) -> Vec<ProcessEvent>;
}

/// Hooks as a session.
pub struct OnlyHooks<H>(pub H);

impl<H: HookHandler> SkillProcess for OnlyHooks<H> {
    fn contributions(&self) -> &Contributions {
        self.0.contributions()
    }

    fn call(
        &mut self,
        named: &str,
        params: Value,
        host: &dyn SkillHost,
        timeout: Duration,
    ) -> Result<Value, SkillProcessError> {
        if named != method::HOOK {
            let why = format!("{} don't answer `{named}`", H::WHO);
            return Err(SkillProcessError::Protocol(why));
        }
        write(&self.0.hook(read(params)?, host, timeout)?)
    }

    fn events(&mut self) -> Vec<ProcessEvent> {
        self.0.events()
    }

    fn close(self: Box<Self>, host: &dyn SkillHost, grace: Duration) -> Vec<ProcessEvent> {
        self.0.close(host, grace)
    }
}
