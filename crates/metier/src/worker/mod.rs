//! This program as the worker of one skill.
//!
//! Code of skills never runs in the process that activates them. A session starts its own program again, with a word for the role: the
//! launcher that puts up the sandbox, an interpreter, the compiler of WebAssembly, the process of a native library. A program that embeds metier
//! does the same with itself, so its `main` begins with [`run_if_worker`].

#[cfg(feature = "wasm")]
mod compiler;
#[cfg(any(feature = "starlark", feature = "js"))]
mod interpreter;

use std::{
    env,
    path::PathBuf,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
};

use metier_host::child;

use crate::{Error, Workspace, text::one_line};

/// Whether this program asked if it is a worker. One that never does would run its own `main` again in place of a worker.
static CAN_BE_WORKER: AtomicBool = AtomicBool::new(false);

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
    CAN_BE_WORKER.store(true, Ordering::Relaxed);
    let first = env::args_os().nth(1)?;
    if first == "__exec" {
        child::shim::main();
    }
    become_worker(first.to_str()?)
}

/// Runs the worker with this name; a backend that this build leaves out can't be started.
fn become_worker(word: &str) -> Option<ExitCode> {
    let argument = env::args_os().nth(2);
    #[cfg_attr(
        not(any(feature = "starlark", feature = "js", feature = "wasm")),
        expect(
            unused_variables,
            reason = "only workers that sandbox themselves read it"
        )
    )]
    let unsandboxed = argument.as_deref() == Some("--unsandboxed".as_ref());
    match word {
        #[cfg(feature = "starlark")]
        "__starlark" => Some(interpreter::main(
            unsandboxed,
            metier_starlark::prepare,
            |input, output| {
                metier_starlark::serve(input, output, &metier_starlark::StarlarkLimits::default())
            },
        )),
        #[cfg(feature = "js")]
        "__js" => Some(interpreter::main(
            unsandboxed,
            || {},
            |input, output| metier_js::serve(input, output, &metier_js::JsLimits::default()),
        )),
        #[cfg(feature = "wasm")]
        "__wasm-compile" => Some(compiler::main(unsandboxed)),
        #[cfg(feature = "wasm")]
        metier_wasm::script::ROLE => Some(metier_wasm::script::main(env::args_os().skip(2))),
        #[cfg(feature = "native")]
        "__native-host" => Some(metier_native::main(argument)),
        _ => None,
    }
}

impl Workspace {
    /// The program that becomes the launcher, an interpreter or the host of a library.
    ///
    /// # Errors
    /// When it is named and is no metier of this version, when it is this program and can't be a worker, or when its path can't be determined.
    pub(crate) fn worker_program(&self) -> Result<PathBuf, Error> {
        if let Some(named) = &self.settings.worker {
            return child::try_launcher(named).map(|()| named.clone()).map_err(|error| {
                let named = one_line(&named.to_string_lossy());
                let message = format!(
                    "`{named}` can't run code of skills: it is not a metier of version {}: {error}",
                    env!("CARGO_PKG_VERSION")
                );
                let hint = "name a `metier` binary of this version in `Settings::worker`";
                Error::broken("no-worker", message).hint(hint)
            });
        }
        if !CAN_BE_WORKER.load(Ordering::Relaxed) {
            let message = "this program can't run code of skills: it does not call `metier::worker::run_if_worker`";
            let hint = "call it first in `main`, or name a `metier` binary in `Settings::worker`";
            return Err(Error::broken("no-worker", message).hint(hint));
        }
        env::current_exe().map_err(|error| {
            let message = format!("cannot determine the path of the metier executable: {error}");
            Error::broken("program", message).hint("start metier by its full path")
        })
    }
}
