//! Sessions that answer hooks and nothing else: what others wrote for their agents has no tools for ours.

use std::time::Duration;

use metier_sdk::wire::{Contributions, HookAnswer, HookHandle, method};
use serde_json::Value;

use super::{Event, Host, Session, SessionError, read, write};

/// What answers hooks.
pub trait Hooks: Send {
    /// What it is, for whoever asks it for something else.
    const WHO: &'static str;

    /// The phases that it asked for.
    fn contributions(&self) -> &Contributions;

    /// Answers one hook.
    ///
    /// # Errors
    /// As [`Session::call`].
    fn hook(
        &mut self,
        handle: HookHandle,
        host: &dyn Host,
        timeout: Duration,
    ) -> Result<HookAnswer, SessionError>;

    /// What happened since this was asked last.
    fn events(&mut self) -> Vec<Event>;

    /// Comes to an end; what happened until then.
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
