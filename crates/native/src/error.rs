//! Errors of a library: when it is loaded, and in its answers.

use std::{io, path::PathBuf};

use metier_sdk::{
    native::{ABI, ENTRY},
    wire::{MAX_FRAME, envelope::Malformed},
};

/// Why a library can't be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It can't be read.
    #[error("`{}` can't be read: {source}", path.display())]
    Unreadable {
        /// The library.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is not a shared library.
    #[error("`{}` is not a shared library; build it with `crate-type = [\"cdylib\"]` in Rust, with `cc -shared -fPIC` in C", .0.display())]
    NotLibrary(PathBuf),
    /// It is for another processor.
    #[error("`{}` is for {built}, but this machine is {here}; build it here", path.display())]
    Architecture {
        /// The library.
        path: PathBuf,
        /// The target that it was built for.
        built: String,
        /// The target of this machine.
        here: &'static str,
    },
    /// The system can't load it.
    #[error("`{}` can't be loaded: {why}", path.display())]
    NotLoaded {
        /// The library.
        path: PathBuf,
        /// The system's message.
        why: String,
    },
    /// It is a library, but not a skill.
    #[error("`{}` does not export `{ENTRY}`; in Rust `metier_sdk::export_skill!` does, in C see metier.h", .0.display())]
    NoEntry(PathBuf),
    /// It does not return a valid table.
    #[error("`{ENTRY}` of `{}` does not return a table", .0.display())]
    NoTable(PathBuf),
    /// It was built for another version of the native interface.
    #[error("`{}` was built for version {built} of the native interface; this program has version {ABI}: build it with the SDK of this version", path.display())]
    Abi {
        /// The library.
        path: PathBuf,
        /// The target that it was built for.
        built: u32,
    },
    /// Its table is too short.
    #[error("the table of `{}` is {size} bytes; at least {needed} are required", path.display())]
    Short {
        /// The library.
        path: PathBuf,
        /// The size in the table.
        size: u32,
        /// The required size.
        needed: usize,
    },
    /// A function is missing.
    #[error("the table of `{}` has no `{function}`", path.display())]
    Hole {
        /// The library.
        path: PathBuf,
        /// The name of the function.
        function: &'static str,
    },
    /// It does not create a skill.
    #[error("`create` of `{}` returned NULL", .0.display())]
    NotCreated(PathBuf),
}

/// Why an answer of a library can't be used.
#[derive(Debug, thiserror::Error)]
pub enum AbiError {
    /// The library reports a failure.
    #[error("its library returned no answer: `answer` returned {0}")]
    Status(i32),
    /// The pointer is null.
    #[error("its library returned no answer: {0} bytes at NULL")]
    Nothing(usize),
    /// The answer is too long, and was not read.
    #[error("its library's answer is {0} bytes; the limit for a message is {MAX_FRAME}")]
    TooLong(usize),
    /// It is not JSON, or not an answer.
    #[error("the answer of its library is malformed: {0}")]
    Malformed(Malformed),
}
