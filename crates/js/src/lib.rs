//! # metier-js — runs one skill in JavaScript or TypeScript
//!
//! **Problem.** Skills for OpenClaw contain hooks in TypeScript, written for Node with all rights of the user. They must run without
//! Node, unmodified, and with the granted rights only.
//!
//! **Goals.** The content of a worker process: it implements the [wire protocol](metier_sdk::wire) on a reader and a writer,
//! opens nothing, starts nothing, and asks the host for everything else. `fs`, `process.env` and `fetch` exist, and each sends a
//! request to the host: a refusal is `EACCES`, a missing file `ENOENT`, as a handler expects. Errors name the author's
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
//! `initialize` with `handlers` loads this. `openclaw/handle` calls it; `readFile` becomes `host/read_file`; when its promise is
//! settled, `messages` and `context` are returned as JSON. With `entrypoint` it is a skill with its own tools and hooks, which
//! imports `Skill` from `metier`.
//!
//! **In → out.** lines of JSON → [`serve`] → lines of JSON.
//!
//! **Invariants.** no files, no threads, no environment, no clocks except those of scripts · modules are the skill's own
//! sources and the files in `compat/` · changes of prototypes and globals by a script don't affect messages, which are
//! written in Rust · a promise that can't settle is reported, not awaited.
//!
//! **Start reading at** `serve.rs`, then `guest.rs`, `event_loop.rs`, `modules.rs`, `compat/boot.js`.

mod absent;
mod event_loop;
mod guest;
mod json;
mod modules;
mod natives;
mod resolve;
mod script_error;
mod serve;
mod shims;
mod state;
mod strip;

pub use shims::{OPENCLAW_WORDS, node_words};

use std::time::Duration;

pub use metier_sdk::worker::WorkerServeError;
pub use serve::serve;

/// The module `openclaw/hooks` for handlers, as TypeScript; the same source for every engine.
///
/// The engine puts a function at `globalThis[Symbol.for("metier.hooks")]`, which gets each handler that a file
/// passes to `runHook`.
pub const OPENCLAW_HOOKS: &str = include_str!("../compat/openclaw-hooks.ts");

/// The program for Deno as the engine: the part of the protocol of [`serve`] that handlers need.
pub const DENO_RUNNER: &str = include_str!("../compat/deno.ts");

/// `node:os` for handlers in Deno.
pub const DENO_OS: &str = include_str!("../compat/deno-os.js");

/// `node:fs` for handlers in Deno.
pub const DENO_FS: &str = include_str!("../compat/deno-fs.js");

/// Limits of the engine, and of each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsLimits {
    /// Memory of all values, in bytes.
    pub memory: usize,
    /// Size of the engine's stack, in bytes.
    pub stack: usize,
    /// How long a call can take, without the time of requests to the host.
    pub time: Duration,
    /// Size of an answer, in bytes.
    pub output: usize,
    /// Size of the log of a call, in bytes.
    pub log: usize,
}

impl Default for JsLimits {
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
