//! Backends: the ways in which a skill's code runs.
//!
//! In whatever language it is written, running code is a [`SkillProcess`]: it has reported its contributions, it answers calls, and during
//! a call it can send requests to its [`SkillHost`]. The messages are those of [`metier_sdk::wire`], on a pipe or not.

mod combined;
#[cfg(feature = "wasm")]
mod compiler;
mod connection;
mod events;
mod frame;
mod hook_chain;
mod hooks;
mod log;
mod params;
mod process;
mod starting;
#[cfg(feature = "wasm")]
mod wasm;
mod worker;

use std::{error::Error, time::Duration};

use metier_sdk::{
    HookPhase,
    wire::{Contributions, HostRequest, RpcError},
};
use serde_json::Value;

use crate::sandbox::UndonePlace;

pub use combined::CombinedProcess;
#[cfg(feature = "wasm")]
pub use compiler::Compiler;
pub use hook_chain::HookChain;
pub use hooks::{HookHandler, OnlyHooks};
pub use params::{read, write};
pub use process::{
    ChildEnd, ChildEndCause, ChildProcess, ChildStarter, LiveChild, MonotonicClock, StartedChild,
    SystemMonotonicClock, far,
};
#[cfg(feature = "wasm")]
pub use wasm::{WasmCode, WasmProcess};
pub use worker::WorkerCommand;

/// Answers a skill's requests during a call: checks the permission, acts, records. A refusal is an [`RpcError`].
pub trait SkillHost {
    /// Answers one request.
    ///
    /// # Errors
    /// The request is not permitted, or it failed.
    fn ask(&self, request: HostRequest) -> Result<Value, RpcError>;

    /// Whether the call was stopped. Checked often; the skill's code is then killed.
    fn is_stopped(&self) -> bool {
        false
    }

    /// How long the host has waited for the user so far. That time does not count as the skill's.
    fn waited(&self) -> Duration {
        Duration::ZERO
    }
}

/// The code of one active skill, ready to be called. Dropping it stops it, and all that it started.
pub trait SkillProcess: Send {
    /// The contributions that it reported.
    fn contributions(&self) -> &Contributions;

    /// Calls one of [`metier_sdk::wire::method`], and answers its requests until it returns.
    ///
    /// # Errors
    /// The call takes too long, breaks the protocol, ends, or returns an error. The session recovers by
    /// itself: the next call works, or its error contains the time of the next attempt.
    fn call(
        &mut self,
        method: &str,
        params: Value,
        host: &dyn SkillHost,
        timeout: Duration,
    ) -> Result<Value, SkillProcessError>;

    /// Starts a call ahead of time, so that its answer is ready early. The call must have no effects:
    /// it can be made with other parameters later, or not at all.
    fn ahead(&mut self, _method: &str, _params: &Value) {}

    /// The events since the last call: starts, crashes, log lines.
    fn events(&mut self) -> Vec<ProcessEvent>;

    /// Stops it; after this time it is killed.
    fn close(self: Box<Self>, host: &dyn SkillHost, grace: Duration) -> Vec<ProcessEvent>;
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SkillProcessError {
    /// It returned an error.
    #[error("{0}")]
    Answered(RpcError),
    /// It did not answer in time, and was stopped.
    #[error("took longer than {} and was stopped", metier_model::text::duration(*.0))]
    TimedOut(Duration),
    /// The host stopped the call.
    #[error("was stopped")]
    Stopped,
    /// It ended during a call.
    #[error("{how}")]
    Ended {
        /// Its exit code or signal, in words.
        how: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// It broke the protocol, and was stopped.
    #[error("broke the protocol: {0}")]
    Protocol(String),
    /// It crashed too often, and is not restarted for a while.
    #[error("crashed {crashes} times in a row; it can be restarted in {}", metier_model::text::duration(*.wait))]
    GaveUp {
        /// The number of crashes.
        crashes: u32,
        /// The time until it can be restarted.
        wait: Duration,
    },
    /// Its WebAssembly code can't be run: a `metier_wasm::Refused`.
    #[error(transparent)]
    Unfit(Box<dyn Error + Send + Sync>),
    /// It could not be started.
    #[error(transparent)]
    NotStarted(#[from] crate::execution::ExecutionError),
}

/// An event of a session, for receipts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessEvent {
    /// It was started.
    Started {
        /// How long the start took, in milliseconds.
        ms: u64,
        /// The mechanism of its sandbox.
        confinement: &'static str,
    },
    /// It ended unexpectedly.
    Crashed {
        /// The reason.
        how: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// It was restarted.
    Restarted {
        /// The number of the attempt in a row.
        attempt: u32,
        /// The pause before it.
        waited: Duration,
    },
    /// It crashed too often, and is not restarted for a while.
    GaveUp {
        /// The number of crashes.
        crashes: u32,
        /// The time until it can be restarted.
        wait: Duration,
    },
    /// A line that it wrote to its standard error, or with `host/log`.
    Said(String),
    /// The number of lines that were dropped.
    SaidMore(u64),
    /// One of several hooks at a phase failed, and the others continued.
    HookFailed {
        /// The phase.
        phase: HookPhase,
        /// The hook and the reason.
        reason: String,
    },
    /// It had created or changed protected places, which were restored.
    Undone(Vec<UndonePlace>),
    /// It ended normally.
    Ended,
}
