//! # metier-wasm — skills that are WebAssembly
//!
//! **Problem.** Code of a skill should run quickly and reach nothing. WebAssembly can do both, inside of this process; but it
//! can also loop, eat memory, lie about addresses, and be a bomb for the compiler.
//!
//! **Goals.**
//! * one protocol, three carriers: components, reactors and commands all answer the methods of [`metier_sdk::wire`];
//! * nothing but what the [`Room`] says: no folder, no variable, no socket, no clock but the one that tells the time;
//! * every call has a fresh instance, and ends: by fuel, by the clock, by memory, or by an answer.
//!
//! **Worked example.** [`Program::load`] takes the bytes of `skill.wasm`, looks at them, has them compiled (in a child that can be
//! killed, or from the [`Cache`]), and finds out which carrier it is. [`Program::call`] makes an instance, gives it one request,
//! answers what it asks, and throws the instance away.
//!
//! **In → out.** `bytes + Limits + Room → Program`; `Program + method + params → Value` or [`Trouble`], and what it [`Said`].
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
