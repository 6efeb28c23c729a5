//! Backends: how the code of a skill runs.
//!
//! Whatever it is written in, code that runs is a [`Session`]: it has said what it contributes, it answers calls, and while it
//! works it may ask its [`Host`]. The messages are those of [`metier_sdk::wire`], whether they cross a pipe or not.

#[cfg(feature = "wasm")]
mod compiler;
mod events;
mod frame;
mod hooks;
mod line;
mod log;
mod params;
mod process;
mod round;
mod several;
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

#[cfg(feature = "wasm")]
pub use compiler::Compiler;
pub use hooks::{Hooks, OnlyHooks};
pub use params::{read, write};
pub use process::{Alive, Clock, End, Monotonic, Process, Started, Starter, far};
pub use round::Round;
pub use several::Several;
#[cfg(feature = "wasm")]
pub use wasm::{Code, Wasm};
pub use worker::Worker;

/// Who answers what a skill asks while it works. Decides, acts, writes down; a refusal is an error of the wire.
pub trait Host {
    /// Answers one request.
    ///
    /// # Errors
    /// When it is not permitted, or did not work.
    fn ask(&self, request: HostRequest) -> Result<Value, RpcError>;

    /// Whether nobody wants the answer any more. Looked at often; then the skill's code is ended.
    fn is_stopped(&self) -> bool {
        false
    }

    /// How long the host has waited for answers of the user so far. That time is not the skill's.
    fn waited(&self) -> Duration {
        Duration::ZERO
    }
}

/// The code of one activated skill, ready to be called. Dropping it ends it, and all that it started.
pub trait Session: Send {
    /// What it said that it contributes.
    fn contributions(&self) -> &Contributions;

    /// Calls one of [`metier_sdk::wire::method`], and answers its questions until it answers.
    ///
    /// # Errors
    /// When it takes too long, breaks the protocol, ends, or answers with an error. What is wrong with it then is its
    /// own affair: the next call finds it in order, or is told when that may be.
    fn call(
        &mut self,
        method: &str,
        params: Value,
        host: &dyn Host,
        timeout: Duration,
    ) -> Result<Value, SessionError>;

    /// Lets it begin with a call that will come soon, so that the answer is there by then. Whoever does so knows that nothing happens
    /// by it: the call may come with other parameters, or not at all.
    fn ahead(&mut self, _method: &str, _params: &Value) {}

    /// What happened to it since this was asked last: starts, crashes, its own words.
    fn events(&mut self) -> Vec<Event>;

    /// Lets it come to an end in order; after that time it is made to.
    fn close(self: Box<Self>, host: &dyn Host, grace: Duration) -> Vec<Event>;
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// It answered with an error.
    #[error("{0}")]
    Answered(RpcError),
    /// It did not answer in time, and was ended.
    #[error("took longer than {} and was ended", metier_model::text::duration(*.0))]
    TimedOut(Duration),
    /// Nobody wanted its answer any more, and it was ended.
    #[error("was stopped")]
    Stopped,
    /// It ended while it was expected to answer.
    #[error("{how}")]
    Ended {
        /// How it ended.
        how: String,
        /// The last of what it wrote to its standard error.
        stderr: String,
    },
    /// It said something that is no part of the protocol, and was ended.
    #[error("broke the protocol: {0}")]
    Protocol(String),
    /// It crashed too often, and is left alone for a while.
    #[error("crashed {crashes} times in a row; it is tried again in {}", metier_model::text::duration(*.wait))]
    GaveUp {
        /// How often.
        crashes: u32,
        /// How long until it is tried again.
        wait: Duration,
    },
    /// Its code is not a WebAssembly module that can be run: a `metier_wasm::Refused`.
    #[error(transparent)]
    Unfit(Box<dyn Error + Send + Sync>),
    /// It did not start at all.
    #[error(transparent)]
    NotStarted(#[from] crate::world::WorldError),
}

/// Something that happened to a session, for the records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// It was started.
    Started {
        /// How long that took, in milliseconds.
        ms: u64,
        /// What it is confined by.
        confinement: &'static str,
    },
    /// It ended without being asked to.
    Crashed {
        /// How.
        how: String,
        /// The last of what it wrote to its standard error.
        stderr: String,
    },
    /// It was started again, after this pause.
    Restarted {
        /// Which attempt in a row.
        attempt: u32,
        /// How long was waited before.
        waited: Duration,
    },
    /// It crashed too often, and is left alone for this long.
    GaveUp {
        /// How often.
        crashes: u32,
        /// For how long.
        wait: Duration,
    },
    /// A line that it wrote to its standard error, or with `host/log`.
    Said(String),
    /// More lines than are kept.
    SaidMore(u64),
    /// One of several that were asked at this phase failed, and the others went on.
    HookFailed {
        /// The phase.
        phase: HookPhase,
        /// Which of them, and why.
        reason: String,
    },
    /// It had made protected places, which were renamed.
    Undone(Vec<UndonePlace>),
    /// It ended in order.
    Ended,
}
