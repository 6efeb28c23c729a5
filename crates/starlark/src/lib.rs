//! # metier-starlark — runs one Starlark skill
//!
//! **Problem.** A skill written in Starlark is code of somebody else. The interpreter is deterministic and has no way out,
//! but its limits don't hold against somebody who means harm: one multiplication can take a minute or all memory.
//!
//! **Goals.** A guest for a process of its own: it speaks the [wire protocol](metier_sdk::wire) on a reader and a writer,
//! opens nothing, starts nothing, and asks the host for all the rest. Errors are written for the author of the skill:
//! `file:line:column`, what was wrong, what to write. What goes on for too long or grows too big by many steps is ended
//! inside ([`Limits`]); what does so in one step is ended from outside, by the limits of the process.
//!
//! **Worked example.**
//!
//! ```python
//! def greet(input):
//!     return read_file("greeting.txt") + ", " + input["who"]
//!
//! register_tool("greet", "Greets somebody.", greet)
//! ```
//!
//! `initialize` evaluates that and answers with one tool. `tool/execute` calls `greet`, which sends `host/read_file` and
//! waits.
//!
//! **In → out.** lines of JSON → [`serve`] → lines of JSON; [`reference()`] is the table of all built-ins, for documentation
//! and tests.
//!
//! **Invariants.** no files, no threads, no clock, no environment · `load` sees only the skill's own sources · nothing
//! survives a call: modules are frozen, heaps are dropped · a refusal of the host ends the handler, always · what is not
//! JSON is an error, never something near it.
//!
//! **Start reading at** `serve.rs`, then `load.rs`, `skill.rs`, `builtins/`.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod builtins;
mod call;
mod json;
mod load;
mod nesting;
mod reference;
mod serve;
mod skill;
mod testing;
mod trouble;

pub use metier_sdk::worker::ServeError;
pub use reference::{Builtin, reference};
pub use serve::serve;

/// Builds what all skills share; [`serve`] does so itself if nobody did. There are two reasons to call it earlier.
///
/// It takes longer than loading a small skill, since the interpreter reads the documentation of its own functions
/// with regular expressions; a worker can do it while the host still looks for the skill. And the interpreter counts the
/// processors when it is first used, and opens files of the system for that. Where they can't be opened it does without, but
/// a fence that ends the process instead must not be up yet.
pub fn prepare() {
    builtins::globals();
}

/// What holds for one call, and for the loading of each file.
///
/// Ticks and heap are looked at every thousand ticks, so they end what grows step by step. They don't bound what a single
/// step can do (`"x" * 1000000000`): the process needs limits of its own for memory and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls and rounds of loops.
    pub ticks: u64,
    /// Bytes of values that are alive or were at the last look.
    pub heap: usize,
    /// Calls inside each other. A function may call itself, which the standard of the language forbids and this interpreter
    /// does not; so this is what ends a recursion.
    pub call_stack: usize,
    /// Bytes of the answer, and again as many of log lines.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ticks: 20_000_000,
            heap: 64 << 20,
            call_stack: 100,
            output: 1 << 20,
        }
    }
}
