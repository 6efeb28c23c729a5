//! `metier __starlark`: this program as the room of one Starlark skill.
//!
//! Started by a session, never by a person. It shuts itself in before it reads a byte of the skill; then it talks over its pipes
//! until they are closed.

use std::{
    io::{self, BufReader, Write},
    process::ExitCode,
};

use metier_host::sandbox::{WorkerLimits, confine};
use metier_starlark::{Limits, prepare, serve};

/// What is read at once.
const CHUNK: usize = 64 * 1024;

pub(crate) fn main(unsandboxed: bool) -> ExitCode {
    let limits = WorkerLimits {
        die_with_parent: true,
        unsandboxed,
        ..WorkerLimits::default()
    };
    // The interpreter looks around when it is used first; in its room it could not.
    prepare();
    let served = confine(&limits)
        .map_err(|error| error.to_string())
        .and_then(|_| {
            let input = BufReader::with_capacity(CHUNK, io::stdin().lock());
            serve(input, io::stdout().lock(), &Limits::default()).map_err(|error| error.to_string())
        });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever started it reads this; there is nobody else to tell.
            writeln!(io::stderr(), "{error}").ok();
            ExitCode::FAILURE
        }
    }
}
