//! Sessions that only handle hooks: hooks for other agents contribute no tools.

use std::time::Duration;

use metier_sdk::wire::{Contributions, HookAnswer, HookHandle, method};
use serde_json::Value;

use super::{Event, Host, Session, SessionError, read, write};

/// A handler of hooks.
pub trait Hooks: Send {
    /// A name for errors about other methods.
    const WHO: &'static str;

    /// The phases that it handles.
    fn contributions(&self) -> &Contributions;

    /// Handles one hook.
    ///
    /// # Errors
    /// As [`Session::call`].
    fn hook(
        &mut self,
        handle: HookHandle,
        host: &dyn Host,
        timeout: Duration,
    ) -> Result<HookAnswer, SessionError>;

    /// The events since the last call.
    fn events(&mut self) -> Vec<Event>;

    /// Ends, and returns the last events.
    fn close(self, host: &dyn Host, grace: Duration) -> Vec<Event>;
}

/// Hooks as a session.
pub struct OnlyHooks<H>(pub H);

impl<H: Hooks> Session for OnlyHooks<H> {
    fn contributions(&self) -> &Contributions {
        self.0.contributions()
    }

    fn call(
        &mut self,
        named: &str,
        params: Value,
        host: &dyn Host,
        timeout: Duration,
    ) -> Result<Value, SessionError> {
        if named != method::HOOK {
            let why = format!("{} don't answer `{named}`", H::WHO);
            return Err(SessionError::Protocol(why));
        }
        write(&self.0.hook(read(params)?, host, timeout)?)
    }

    fn events(&mut self) -> Vec<Event> {
        self.0.events()
    }

    fn close(self: Box<Self>, host: &dyn Host, grace: Duration) -> Vec<Event> {
        self.0.close(host, grace)
    }
}
