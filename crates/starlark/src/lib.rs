//! # metier-starlark — runs one Starlark skill
//!
//! **Problem.** A skill in Starlark is untrusted code. The interpreter is deterministic and reaches nothing,
//! but its limits don't stop an attacker: one multiplication can take a minute or all memory.
//!
//! **Goals.** The content of a worker process: it implements the [wire protocol](metier_sdk::wire) on a reader and a writer,
//! opens nothing, starts nothing, and asks the host for everything else. Errors are written for the author of the skill:
//! `file:line:column`, the problem, the solution. Code that takes too long or grows too large in many steps is stopped
//! by the interpreter ([`StarlarkLimits`]); code that does so in one step is stopped by the limits of the process.
//!
//! **Worked example.**
//!
//! ```python
//! def greet(input):
//!     return read_file("greeting.txt") + ", " + input["who"]
//!
//! register_tool("greet", "Greets a guest.", greet)
//! ```
//!
//! `initialize` evaluates this and returns one tool. `tool/execute` calls `greet`, which sends `host/read_file` and
//! waits.
//!
//! **In → out.** lines of JSON → [`serve`] → lines of JSON; [`reference()`] is the table of all built-ins, for documentation
//! and tests.
//!
//! **Invariants.** no files, no threads, no clock, no environment · `load` sees only the skill's own sources · nothing
//! survives a call: modules are frozen, heaps are dropped · a refusal of the host always ends the handler · a value without
//! a JSON form is an error, never approximated.
//!
//! **Start reading at** `serve.rs`, then `load.rs`, `skill.rs`, `builtins/`.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod builtins;
mod call;
mod json;
mod load;
mod nesting;
mod reference;
mod script_error;
mod serve;
mod skill;
mod testing;

pub use metier_sdk::worker::WorkerServeError;
pub use reference::{StarlarkBuiltin, reference};
pub use serve::serve;

/// Builds the parts that all skills share; [`serve`] does so itself if necessary. There are two reasons to call it earlier.
///
/// It takes longer than loading a small skill, since the interpreter reads the documentation of its own functions
/// with regular expressions; a worker can do it while the host still prepares the skill. And the interpreter counts the
/// processors when it is first used, and opens files of the system for that. If it can't open them, it continues without, but
/// a sandbox that kills the process instead must not be active yet.
pub fn prepare() {
    builtins::globals();
}

/// Limits of one call, and of loading each file.
///
/// Ticks and heap are checked every thousand ticks, so they stop code that grows step by step. They don't limit what a single
/// step can do (`"x" * 1000000000`): the process needs its own limits of memory and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StarlarkLimits {
    /// Calls and iterations of loops.
    pub ticks: u64,
    /// Bytes of values that are alive or were at the last check.
    pub heap: usize,
    /// Nested calls. A function can call itself, which the language's standard forbids and this interpreter
    /// does not; so this limit ends a recursion.
    pub call_stack: usize,
    /// Bytes of the answer, and the same number of bytes of log lines.
    pub output: usize,
}

impl Default for StarlarkLimits {
    fn default() -> Self {
        Self {
            ticks: 20_000_000,
            heap: 64 << 20,
            call_stack: 100,
            output: 1 << 20,
        }
    }
}
