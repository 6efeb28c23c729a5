//! Errors: of the bytes of a skill, and of calls.

use std::{io, path::PathBuf, time::Duration};

use metier_sdk::wire::RpcError;
use wasmtime::{Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::{limits::WasmLimits, meter::MemoryLimit};

/// How many characters of the skill's text are shown.
const SHOWN: usize = 200;
/// How many unavailable imports are named.
const NAMED: usize = 5;

/// Why bytes are rejected.
#[derive(Debug, thiserror::Error)]
pub enum WasmLoadError {
    /// The bytes are machine code, which can't be checked.
    #[error(
        "is already compiled to machine code, which can't be checked and is never run; use the `.wasm` file that it was compiled from"
    )]
    Precompiled,
    /// The bytes are not WebAssembly.
    #[error("is not WebAssembly: {0}")]
    Garbage(String),
    /// The file is too large.
    #[error("is {size} bytes; the limit for a module is {limit}")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// Its machine code is too large, or there is too little memory left for it.
    #[error(
        "compiles to {size} bytes of machine code; the limit for a module is {limit}, and all skills that run at the same time share {} MiB",
        WasmLimits::PROCESS >> 20
    )]
    CodeTooLarge {
        /// Its size in bytes.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// It has too many functions.
    #[error("has more than {0} functions")]
    TooManyFunctions(u32),
    /// It has imports that are not available.
    #[error("imports items that are not available to skills: {}", named(.0))]
    Imports(Vec<String>),
    /// It does not implement any of the carriers.
    #[error("{0}")]
    Carrier(String),
    /// It did not compile, or its imports or requirements don't match.
    #[error("can't be compiled: {0}")]
    Compile(String),
    /// It took too long to compile.
    #[error("took longer than {} seconds to compile", .0.as_secs())]
    CompileTime(Duration),
    /// This machine can't run WebAssembly.
    #[error("this machine can't run WebAssembly: {0}")]
    Engine(String),
    /// The compiler could not be started or used.
    #[error("the compiler can't be used: {0}")]
    Compiler(#[source] io::Error),
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum WasmCallError {
    /// It returned an error.
    #[error("{0}")]
    Answered(RpcError),
    /// It took too long.
    #[error("took longer than {}", seconds(*.0))]
    TimedOut(Duration),
    /// It used up its fuel.
    #[error(
        "used up its fuel of {0} instructions; `implementation.limits.fuel` in SKILL.yaml sets the limit"
    )]
    Fuel(u64),
    /// It exceeded its memory.
    #[error(
        "needs more memory than {mib} MiB ({how}); `implementation.limits.memory_mb` in SKILL.yaml sets the limit, at most {} MiB",
        WasmLimits::CEILING.memory >> 20
    )]
    Memory {
        /// The limit in MiB.
        mib: usize,
        /// The error that it ended with.
        how: String,
    },
    /// Other skills hold the memory that it needs.
    #[error(
        "needs more memory than is left of the {} MiB that all running skills and their machine code share ({how}); retry when other skills have ended",
        WasmLimits::PROCESS >> 20
    )]
    SharedMemory {
        /// The error that it ended with.
        how: String,
    },
    /// It trapped.
    #[error("was stopped: {0}")]
    Trapped(String),
    /// It ended before it answered.
    #[error("ended with code {0} before it answered")]
    Exited(i32),
    /// It broke the protocol.
    #[error("{0}")]
    Protocol(String),
    /// A granted folder can't be opened.
    #[error("the folder {} can't be opened: {why}", folder.display())]
    Place {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        why: String,
    },
    /// There are too many instances at the moment.
    #[error("no more instances can be started now: {0}")]
    Full(String),
    /// This machine can't run WebAssembly.
    #[error("this machine can't run WebAssembly: {0}")]
    Engine(String),
}

/// The deadline has passed; raised inside a call.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the time limit has passed")]
pub(crate) struct DeadlineExceeded;

/// The skill broke the rules of its carrier; raised inside a call.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct GuestFailure(pub(crate) String);

impl WasmCallError {
    /// The error for an engine's error.
    pub(crate) fn of(
        error: &wasmtime::Error,
        limits: &WasmLimits,
        refused_by: Option<MemoryLimit>,
    ) -> Self {
        if error.downcast_ref::<DeadlineExceeded>().is_some() {
            return Self::TimedOut(limits.time);
        }
        if let Some(GuestFailure(why)) = error.downcast_ref::<GuestFailure>() {
            return Self::Protocol(why.clone());
        }
        if let Some(I32Exit(code)) = error.downcast_ref::<I32Exit>() {
            return Self::Exited(*code);
        }
        if error.is::<wasmtime::PoolConcurrencyLimitError>() {
            return Self::Full(error.root_cause().to_string());
        }
        if matches!(error.downcast_ref::<Trap>(), Some(Trap::OutOfFuel)) {
            return Self::Fuel(limits.fuel);
        }
        let how = shown(&error.root_cause().to_string());
        let how = match function(error) {
            Some(function) => format!("{how}, in `{}`", shown(&function)),
            None => how,
        };
        match refused_by {
            Some(MemoryLimit::Skill) => Self::Memory {
                mib: limits.memory >> 20,
                how,
            },
            Some(MemoryLimit::Process) => Self::SharedMemory { how },
            None => Self::Trapped(how),
        }
    }
}

/// The name of the function that trapped.
fn function(error: &wasmtime::Error) -> Option<String> {
    let trace = error.downcast_ref::<WasmBacktrace>()?;
    let frame = trace.frames().first()?;
    frame.func_name().map(str::to_owned)
}

/// Text of the skill, shortened to one line.
pub(crate) fn shown(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    let plain = cut.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain: String = plain.chars().filter(|c| !c.is_control()).collect();
    format!("{plain}{more}")
}

fn named(imports: &[String]) -> String {
    let names = imports.iter().take(NAMED);
    let names: Vec<String> = names.map(|name| format!("`{}`", shown(name))).collect();
    let more = imports.len().saturating_sub(NAMED);
    match more {
        0 => names.join(", "),
        _ => format!("{}, and {more} more", names.join(", ")),
    }
}

fn seconds(time: Duration) -> String {
    if time.subsec_millis() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{} ms", time.as_millis())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_a_skill_are_short_and_on_one_line() {
        assert_eq!(shown("a\nb\u{1b}[2J"), "a b[2J");
        assert_eq!(shown(&"x".repeat(1_000)).chars().count(), SHOWN + 1);
    }

    #[test]
    fn a_few_imports_are_named() {
        let imports: Vec<String> = (0..7).map(|n| format!("env.f{n}")).collect();
        assert!(named(&imports).ends_with("`env.f4`, and 2 more"));
    }
}
