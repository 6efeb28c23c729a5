//! What can be wrong with a library: before it is used, and with what it hands over.

use std::{io, path::PathBuf};

use metier_sdk::{
    native::{ABI, ENTRY},
    wire::{MAX_FRAME, envelope::Malformed},
};

/// Why a library is not used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It can't be read.
    #[error("`{}` can't be read: {source}", path.display())]
    Unreadable {
        /// The library.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is something else.
    #[error("`{}` is not a shared library; build it with `crate-type = [\"cdylib\"]` in Rust, with `cc -shared -fPIC` in C", .0.display())]
    NotLibrary(PathBuf),
    /// It is one for other machines.
    #[error("`{}` is for {built}, but this machine is {here}; build it here", path.display())]
    Architecture {
        /// The library.
        path: PathBuf,
        /// What it was built for.
        built: String,
        /// What this is.
        here: &'static str,
    },
    /// The system does not load it.
    #[error("`{}` can't be loaded: {why}", path.display())]
    NotLoaded {
        /// The library.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// It is a library, and no skill.
    #[error("`{}` does not export `{ENTRY}`; in Rust `metier_sdk::export_skill!` does, in C see metier.h", .0.display())]
    NoEntry(PathBuf),
    /// It does not return a table, or what can't be one.
    #[error("`{ENTRY}` of `{}` does not return a table", .0.display())]
    NoTable(PathBuf),
    /// It was built for another border.
    #[error("`{}` was built for version {built} of the native interface; this program has version {ABI}: build it with the SDK of this version", path.display())]
    Abi {
        /// The library.
        path: PathBuf,
        /// What it was built for.
        built: u32,
    },
    /// Its table is too short to be one.
    #[error("the table of `{}` has {size} bytes; at least {needed} are required", path.display())]
    Short {
        /// The library.
        path: PathBuf,
        /// What it says.
        size: u32,
        /// What a table has.
        needed: usize,
    },
    /// A function is missing.
    #[error("the table of `{}` has no `{function}`", path.display())]
    Hole {
        /// The library.
        path: PathBuf,
        /// Which.
        function: &'static str,
    },
    /// It makes no skill.
    #[error("`create` of `{}` returned NULL", .0.display())]
    NotCreated(PathBuf),
}

/// What is wrong with an answer.
#[derive(Debug, thiserror::Error)]
pub enum BorderError {
    /// It says itself that there is none.
    #[error("its library returned no answer: `answer` returned {0}")]
    Status(i32),
    /// There are no bytes where there should be some.
    #[error("its library returned no answer: {0} bytes at NULL")]
    Nothing(usize),
    /// More bytes than a message may have; so it was not read.
    #[error("the answer of its library has {0} bytes; a message has at most {MAX_FRAME}")]
    TooLong(usize),
    /// It is not JSON, or not an answer.
    #[error("the answer of its library is malformed: {0}")]
    Malformed(Malformed),
}
