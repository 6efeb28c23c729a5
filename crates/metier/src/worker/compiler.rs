//! `metier __wasm-compile`: this program as the compiler of one WebAssembly skill.
//!
//! Started by a session, never by a person. It sandboxes itself before it reads a byte of the skill; then it reads the module to
//! its end, and answers with the length of the code, and the code.

use std::{
    io::{self, Read, Write},
    process::ExitCode,
};

use metier_host::sandbox::{WorkerLimits, confine};
use metier_wasm::{WasmLimits, compile, prepare};

/// How much memory a compiler may use; the largest modules need about one GiB.
const MEMORY: u64 = 3 << 30;

pub(super) fn main(unsandboxed: bool) -> ExitCode {
    let limits = WorkerLimits {
        memory: MEMORY,
        cpu_seconds: WasmLimits::CEILING.compile_time.as_secs(),
        die_with_parent: true,
        unsandboxed,
    };
    // The compiler detects the processor when it is used first; in its sandbox it could not.
    let compiled = prepare()
        .map_err(|error| error.to_string())
        .and_then(|()| confine(&limits).map_err(|error| error.to_string()))
        .and_then(|_| answer().map_err(|error| error.to_string()));
    match compiled {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Only the parent process reads this.
            write!(io::stderr(), "{error}").ok();
            ExitCode::FAILURE
        }
    }
}

fn answer() -> Result<(), Box<dyn std::error::Error>> {
    let mut module = Vec::new();
    io::stdin().lock().read_to_end(&mut module)?;
    let code = compile(&module)?;
    let bytes = code.as_bytes();
    let mut out = io::stdout().lock();
    out.write_all(&u64::try_from(bytes.len())?.to_le_bytes())?;
    out.write_all(bytes)?;
    Ok(out.flush()?)
}
