//! `metier __starlark`: this program as the room of one Starlark skill.
//!
//! Started by a session, never by a person. It shuts itself in before it reads a byte of the skill; then it talks over its pipes
//! until they are closed.

use std::{
    io::{self, BufReader, Write},
    process::ExitCode,
};

use metier_starlark::{Limits, serve};

/// What holds for one call. Memory and time are bounded from outside as well, by what the room allows.
const LIMITS: Limits = Limits {
    ticks: 50_000_000,
    heap: 256 << 20,
    call_stack: 200,
    output: 4 << 20,
};

pub(crate) fn main() -> ExitCode {
    let input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    match serve(input, io::stdout().lock(), &LIMITS) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever started it reads this; there is nobody else to tell.
            writeln!(io::stderr(), "{error}").ok();
            ExitCode::FAILURE
        }
    }
}
