//! The process of one native skill: requests of the wire protocol in, answers out.

use std::{
    ffi::OsString,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use metier_sdk::{
    guest::{Transport, serve},
    wire::{HostRequest, RpcError, code, envelope::Body, method},
};
use serde_json::Value;

use crate::library::LoadedLibrary;

/// Runs this process as the host of a library: `metier __native-host LIB`.
#[must_use]
pub fn main(library: Option<OsString>) -> ExitCode {
    let Some(library) = library else {
        // Addressed to the process that started this one.
        writeln!(io::stderr(), "usage: __native-host LIBRARY").ok();
        return ExitCode::FAILURE;
    };
    let mut room = NativeLibrary::new(PathBuf::from(library));
    serve(|method, params, transport| room.answer(method, &params, transport))
}

/// A library, which is loaded by `initialize`.
pub struct NativeLibrary {
    path: PathBuf,
    library: Option<LoadedLibrary>,
}

impl NativeLibrary {
    /// For this library, which is not read yet.
    #[must_use]
    pub const fn new(path: PathBuf) -> Self {
        let library = None;
        Self { path, library }
    }

    /// Answers one request.
    ///
    /// # Errors
    /// The library is not or can't be loaded, or returns an error or a malformed answer.
    pub fn answer(
        &mut self,
        method: &str,
        params: &Value,
        transport: &mut dyn Transport,
    ) -> Result<Value, RpcError> {
        if self.library.is_none() && method == method::INITIALIZE {
            let opened = LoadedLibrary::open(&self.path);
            self.library = Some(opened.map_err(|problem| error(code::FAILED, &problem))?);
        }
        let Some(library) = &mut self.library else {
            return Err(error(code::INVALID, &"`initialize` must be called first"));
        };
        let request = serde_json::to_vec(&Body::Call { method, params });
        let request = request.map_err(|problem| error(code::INTERNAL, &problem))?;
        let mut asked = |question: &[u8]| ask(question, transport);
        let answer = library.answer(&request, &mut asked);
        answer.unwrap_or_else(|problem| Err(error(code::INTERNAL, &problem)))
    }
}

impl std::fmt::Debug for NativeLibrary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Room").field(&self.path).finish()
    }
}

/// Passes a request of the library to the host.
fn ask(question: &[u8], transport: &mut dyn Transport) -> Vec<u8> {
    let answer = match serde_json::from_slice::<HostRequest>(question) {
        Ok(request) => transport.ask(&request),
        Err(problem) => Err(error(code::PARAMS, &problem)),
    };
    // Writing these types to memory can't fail.
    serde_json::to_vec(&Body::from(&answer)).unwrap_or_default()
}

fn error(code: i32, problem: &impl ToString) -> RpcError {
    RpcError::new(code, problem.to_string())
}
