//! # metier-native — skills that are a library of machine code
//!
//! **Problem.** A library that is loaded can do all that its process can: crash it, print into its pipes, never return.
//! **Decision.** So it gets a process of its own: our binary again, started behind the same fence as a program of a skill. This crate
//! is the inside of it. It loads one library, and speaks the wire protocol for it.
//!
//! **In → out.** `metier __native-host LIB`: lines on stdin → requests to the library, across the C border of
//! `sdk/include/metier.h` → lines on stdout. Questions of the library become `host/*` requests on the same pipes.
//!
//! **Invariants.** No code of the library runs before the pipes are out of its reach, and before `initialize` · a library that can't be
//! loaded is an answer to `initialize`, not the end · what a library hands over is looked at before it is used · `unsafe` is in
//! `library.rs` and nowhere else.
//!
//! **Start reading at** `room.rs`, then `library.rs`.

mod kind;
mod library;
mod room;
mod trouble;

pub use room::{Room, main};
pub use trouble::{BorderError, LoadError};
