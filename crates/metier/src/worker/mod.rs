//! This program as the worker of one skill.
//!
//! Code of skills never runs in the process that activates them. A session starts its own program again, with a word that says what to be: the
//! launcher that puts up the sandbox, an interpreter, the compiler of WebAssembly, the process of a native library. A program that embeds metier
//! does the same with itself, so its `main` begins with [`run_if_worker`].

mod compiler;
mod interpreter;

use std::{env, process::ExitCode};

/// Does the work of a worker, if this process was started as one; `None` otherwise. Call it first in `main`, before threads are started and
/// before anything is read:
///
/// ```no_run
/// use std::process::ExitCode;
///
/// fn main() -> ExitCode {
///     if let Some(code) = metier::worker::run_if_worker() {
///         return code;
///     }
///     // … the program itself …
///     ExitCode::SUCCESS
/// }
/// ```
#[must_use]
pub fn run_if_worker() -> Option<ExitCode> {
    let first = env::args_os().nth(1)?;
    if first == "__exec" {
        metier_host::child::shim::main();
    }
    let word = first.to_str()?;
    let unsandboxed = || {
        env::args_os()
            .nth(2)
            .is_some_and(|word| word == "--unsandboxed")
    };
    if let Some(language) = interpreter::Language::of(word) {
        return Some(interpreter::main(language, unsandboxed()));
    }
    match word {
        "__wasm-compile" => Some(compiler::main(unsandboxed())),
        metier_wasm::script::ROLE => Some(metier_wasm::script::main(env::args_os().skip(2))),
        "__native-host" => Some(metier_native::main(env::args_os().nth(2))),
        _ => None,
    }
}
