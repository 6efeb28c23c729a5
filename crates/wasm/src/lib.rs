//! # metier-wasm — skills that are WebAssembly
//!
//! **Problem.** A skill's code should run quickly and reach nothing. WebAssembly can do both in this process; but it
//! can also loop, exhaust memory, return wrong addresses, and overload the compiler.
//!
//! **Goals.**
//! * one protocol, three carriers: components, reactors and commands all answer the methods of [`metier_sdk::wire`];
//! * only what the [`Room`] contains: no other folder, no other variable, no socket, no clock except the time of day;
//! * every call has a new instance, and ends: by fuel, by the clock, by memory, or with an answer.
//!
//! **Worked example.** [`Program::load`] checks the bytes of `skill.wasm`, has them compiled (in a child that can be
//! killed, or from the [`Cache`]), and determines the carrier. [`Program::call`] creates an instance, passes it one request,
//! answers its requests, and drops the instance.
//!
//! **In → out.** `bytes + Limits + Room → Program`; `Program + method + params → Value` or [`Trouble`], and the output ([`Said`]).
//!
//! **Invariants.** machine code comes from our own compiler only, never from a skill · nothing is kept between calls · the
//! host is asked on the thread of the caller · `unsafe` is in one file, `artifact.rs`.
//!
//! **Start reading at** `program.rs`, then `carrier/reactor.rs`, then `drive.rs`.

mod artifact;
mod cache;
mod carrier;
mod clock;
mod counter;
mod drive;
mod engine;
mod examine;
mod frozen;
mod limits;
mod meter;
mod program;
mod room;
mod said;
pub mod script;
mod state;
mod trouble;

pub use artifact::Compiled;
pub use cache::Cache;
pub use engine::{compile, prepare};
pub use limits::Limits;
pub use program::{Answer, Ask, Compile, Finished, Program};
pub use room::{Place, Room};
pub use said::Said;
pub use trouble::{Refused, Trouble};
