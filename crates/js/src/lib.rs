//! # metier-js — runs one skill in JavaScript or TypeScript
//!
//! **Problem.** Skills for OpenClaw bring hooks in TypeScript, written for Node with all of a user's rights. They must run where no
//! Node is, unmodified, and with no more rights than were granted.
//!
//! **Goals.** A guest for a process of its own: it speaks the [wire protocol](metier_sdk::wire) on a reader and a writer,
//! opens nothing, starts nothing, and asks the host for all the rest. `fs`, `process.env` and `fetch` are there, and each is a
//! question to the host: a refusal is `EACCES`, a missing file `ENOENT`, as a handler expects them. Errors name the author's
//! file and line.
//!
//! **Worked example.**
//!
//! ```ts
//! import fs from "node:fs/promises";
//! import type { HookHandler } from "openclaw/hooks";
//!
//! const handler: HookHandler = async (event) => {
//!   event.messages.push(await fs.readFile("NOTES.md", "utf8"));
//! };
//! export default handler;
//! ```
//!
//! `initialize` with `handlers` loads that. `openclaw/handle` calls it; `readFile` becomes `host/read_file`; when its promise is
//! settled, `messages` and `context` go back as JSON. With `entrypoint` it is a skill with tools and hooks of its own, which
//! imports `Skill` from `metier`.
//!
//! **In → out.** lines of JSON → [`serve`] → lines of JSON.
//!
//! **Invariants.** no files, no threads, no environment; of clocks only those that a script can see · modules are the skill's own
//! sources and what is in `compat/` · what a script does to its own world (prototypes, globals) changes no frame: those are
//! written in Rust · no promise is waited for that nothing can settle.
//!
//! **Start reading at** `serve.rs`, then `guest.rs`, `turn.rs`, `modules.rs`, `compat/boot.js`.

mod absent;
mod guest;
mod json;
mod modules;
mod natives;
mod resolve;
mod serve;
mod shims;
mod state;
mod strip;
mod trouble;
mod turn;

pub use shims::{OPENCLAW_WORDS, node_words};

use std::time::Duration;

pub use metier_sdk::worker::ServeError;
pub use serve::serve;

/// What `openclaw/hooks` is for a handler, as TypeScript; the same text for every engine.
///
/// Whoever runs it puts a function at `globalThis[Symbol.for("metier.hooks")]`, which is given each handler that a file
/// passes to `runHook`.
pub const OPENCLAW_HOOKS: &str = include_str!("../compat/openclaw-hooks.ts");

/// What runs in Deno, where that is the engine: speaks the same protocol as [`serve`], as far as handlers need it.
pub const DENO_RUNNER: &str = include_str!("../compat/deno.ts");

/// `node:os` for handlers in Deno.
pub const DENO_OS: &str = include_str!("../compat/deno-os.js");

/// `node:fs` for handlers in Deno.
pub const DENO_FS: &str = include_str!("../compat/deno-fs.js");

/// What holds for the engine, and for each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of all values.
    pub memory: usize,
    /// Bytes of the engine's stack.
    pub stack: usize,
    /// How long a call may take, without the time in which the host works.
    pub time: Duration,
    /// Bytes of an answer.
    pub output: usize,
    /// Bytes of log lines in a call.
    pub log: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 64 << 20,
            stack: 512 << 10,
            time: Duration::from_secs(20),
            output: 1 << 20,
            log: 64 << 10,
        }
    }
}
