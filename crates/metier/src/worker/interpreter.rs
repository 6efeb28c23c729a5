//! `metier __starlark` and `metier __js`: this program as the room of one skill that we interpret.
//!
//! Started by a session, never by a person. It shuts itself in before it reads a byte of the skill; then it talks over its pipes
//! until they are closed.

use std::{
    io::{self, BufReader, StdinLock, StdoutLock, Write},
    process::ExitCode,
};

use metier_host::sandbox::{WorkerLimits, confine};
use metier_sdk::worker::ServeError;

/// What is read at once.
const CHUNK: usize = 64 * 1024;

/// What a worker interprets.
#[derive(Clone, Copy)]
pub(super) enum Language {
    Starlark,
    Js,
}

impl Language {
    /// By the word that a session starts this program with.
    pub(super) fn of(word: &str) -> Option<Self> {
        match word {
            "__starlark" => Some(Self::Starlark),
            "__js" => Some(Self::Js),
            _ => None,
        }
    }

    /// What has to be done while it is still possible.
    fn prepare(self) {
        match self {
            // The interpreter looks around when it is used first; in its room it could not.
            Self::Starlark => metier_starlark::prepare(),
            Self::Js => {}
        }
    }

    fn serve(
        self,
        input: BufReader<StdinLock<'static>>,
        output: StdoutLock<'static>,
    ) -> Result<(), ServeError> {
        match self {
            Self::Starlark => {
                metier_starlark::serve(input, output, &metier_starlark::Limits::default())
            }
            Self::Js => metier_js::serve(input, output, &metier_js::Limits::default()),
        }
    }
}

pub(super) fn main(language: Language, unsandboxed: bool) -> ExitCode {
    let limits = WorkerLimits {
        die_with_parent: true,
        unsandboxed,
        ..WorkerLimits::default()
    };
    language.prepare();
    let served = confine(&limits)
        .map_err(|error| error.to_string())
        .and_then(|_| {
            let input = BufReader::with_capacity(CHUNK, io::stdin().lock());
            let served = language.serve(input, io::stdout().lock());
            served.map_err(|error| error.to_string())
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
