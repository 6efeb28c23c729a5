//! # metier-wasm — skills that are WebAssembly
//!
//! **Problem.** A skill's code should run quickly and reach nothing. WebAssembly can do both in this process; but it
//! can also loop, exhaust memory, return wrong addresses, and overload the compiler.
//!
//! **Goals.**
//! * one protocol, three carriers: components, reactors and commands all answer the methods of [`metier_sdk::wire`];
//! * only the contents of [`WasiRoots`]: no other folder, no other variable, no socket, no clock except the time of day;
//! * every call has a new instance, and ends: by fuel, by the clock, by memory, or with an answer.
//!
//! **Worked example.** [`WasmProgram::load`] checks the bytes of `skill.wasm`, has them compiled (in a child that can be
//! killed, or from the [`Cache`]), and determines the carrier. [`WasmProgram::call`] creates an instance, passes it one request,
//! answers its requests, and drops the instance.
//!
//! **In → out.** bytes + [`WasmLimits`] + [`WasiRoots`] → [`WasmProgram`]; program + method + parameters → [`WasmAnswer`] or
//! [`WasmCallError`], and the output ([`CapturedOutput`]).
//!
//! **Invariants.** machine code comes from our own compiler only, never from a skill · nothing is kept between calls · the
//! host is called on the thread of the caller · `unsafe` is in one file, `artifact.rs`.
//!
//! **Start reading at** `program.rs`, then `carrier/reactor.rs`, then `polling.rs`.

mod artifact;
mod cache;
mod captured_output;
mod carrier;
mod clock;
mod engine;
mod error;
mod examine;
mod limits;
mod meter;
mod polling;
mod process_memory;
mod program;
mod question_slot;
pub mod script;
mod sealed_file;
mod state;
mod wasi_roots;

pub use artifact::CompiledCode;
pub use cache::Cache;
pub use captured_output::CapturedOutput;
pub use engine::{compile, prepare};
pub use error::{WasmCallError, WasmLoadError};
pub use limits::WasmLimits;
pub use program::{Ask, Compile, Finished, WasmAnswer, WasmProgram};
pub use wasi_roots::{PreopenedFolder, WasiRoots};
