//! Starlark: our own binary, started again as an interpreter that can only exchange messages.

use metier_host::backend::ChildProcess;

use super::{BackendOpening, OpenedBackend, interpreted::sources};
use crate::live::ActivateError;

/// The argument that makes metier's binary a Starlark worker.
const STARLARK: &str = "__starlark";

pub(super) fn open(opening: &BackendOpening<'_>, entrypoint: String) -> OpenedBackend {
    let mut initialize = opening.initialize();
    initialize.sources = sources(&opening.active.loaded.held, |path| path.ends_with(".star"))?;
    initialize.entrypoint = Some(entrypoint);
    let starter = opening.worker(STARLARK);
    let patience = opening.runtime.patience.start;
    ChildProcess::open(starter, &initialize, opening.host, patience)
        .map(|session| Box::new(session) as _)
        .map_err(ActivateError::Session)
}
