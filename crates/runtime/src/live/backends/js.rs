//! JavaScript and TypeScript: our own binary, started again as an engine that can only exchange messages.

use metier_host::{
    backend::{ChildProcess, WorkerCommand},
    child::SMALL_PAGES,
};
use metier_sdk::wire::Initialize;

use super::{BackendOpening, OpenedBackend, interpreted::sources};
use crate::live::ActivateError;

/// The argument that makes metier's binary a JavaScript worker.
const JS: &str = "__js";
/// The files that an engine can load.
const ENDINGS: &[&str] = &[".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];

pub(super) fn open(opening: &BackendOpening<'_>, entrypoint: String) -> OpenedBackend {
    let mut initialize = opening.initialize();
    initialize.sources = sources(&opening.active.loaded.held, is_source)?;
    initialize.entrypoint = Some(entrypoint);
    engine(opening, &initialize)
}

/// An engine with these parameters: the file to start with, or the handlers.
pub(super) fn engine(opening: &BackendOpening<'_>, initialize: &Initialize) -> OpenedBackend {
    let mut starter: WorkerCommand = opening.worker(JS);
    // The engine has its own allocator.
    let (name, value) = SMALL_PAGES;
    starter.variables.push((name.into(), value.into()));
    let patience = opening.runtime.patience.start;
    ChildProcess::open(starter, initialize, opening.host, patience)
        .map(|session| Box::new(session) as _)
        .map_err(ActivateError::Session)
}

/// Whether an engine could load a file with this name; a declaration has nothing to load.
pub(super) fn is_source(path: &str) -> bool {
    ENDINGS.iter().any(|ending| path.ends_with(ending)) && !path.ends_with(".d.ts")
}
