//! # metier-native — skills that are native libraries
//!
//! **Problem.** A loaded library can do everything that its process can: crash it, print to its pipes, never return.
//! **Decision.** So it gets its own process: our binary again, started in the same sandbox as a program of a skill. This crate
//! is the code of that process. It loads one library, and implements the wire protocol for it.
//!
//! **In → out.** `metier __native-host LIB`: lines on stdin → calls of the library, through the C interface of
//! `sdk/include/metier.h` → lines on stdout. Requests of the library become `host/*` requests on the same pipes.
//!
//! **Invariants.** No code of the library runs before the pipes are out of its reach, and before `initialize` · a library that can't be
//! loaded is an error of `initialize`, not a crash · values of a library are checked before they are used · `unsafe` is only in
//! `library.rs`.
//!
//! **Start reading at** `served_library.rs`, then `library.rs`.

mod error;
mod kind;
mod library;
mod served_library;

pub use error::{AbiError, LoadError};
pub use served_library::{NativeLibrary, main};
