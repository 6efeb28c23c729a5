//! `metier __starlark` and `metier __js`: this program as the worker that interprets one skill.
//!
//! Started by a session, never by a person. It sandboxes itself before it reads a byte of the skill; then it talks over its pipes
//! until they are closed.

use std::{
    io::{self, BufReader, StdinLock, StdoutLock, Write},
    process::ExitCode,
};

use metier_host::sandbox::{WorkerLimits, confine};
use metier_sdk::worker::WorkerServeError;

/// How many bytes are read at once.
const CHUNK: usize = 64 * 1024;

/// Serves one skill. `prepare` does what the sandbox would prevent later: an interpreter looks around when it is first used.
pub(super) fn main(
    unsandboxed: bool,
    prepare: impl FnOnce(),
    serve: impl FnOnce(
        BufReader<StdinLock<'static>>,
        StdoutLock<'static>,
    ) -> Result<(), WorkerServeError>,
) -> ExitCode {
    let limits = WorkerLimits {
        die_with_parent: true,
        unsandboxed,
        ..WorkerLimits::default()
    };
    prepare();
    let served = confine(&limits)
        .map_err(|error| error.to_string())
        .and_then(|_| {
            let input = BufReader::with_capacity(CHUNK, io::stdin().lock());
            let served = serve(input, io::stdout().lock());
            served.map_err(|error| error.to_string())
        });
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Only the parent process reads this.
            writeln!(io::stderr(), "{error}").ok();
            ExitCode::FAILURE
        }
    }
}
