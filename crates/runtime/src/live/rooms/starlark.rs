//! Starlark: our own binary, started again as an interpreter that can do nothing but talk.

use metier_host::backend::Process;

use super::{Opened, Opening, sources};
use crate::live::ActivateError;

/// What makes our own binary a worker that interprets Starlark.
const STARLARK: &str = "__starlark";

pub(super) fn open(opening: &Opening<'_>, entrypoint: String) -> Opened {
    let mut initialize = opening.initialize();
    initialize.sources = sources(&opening.active.loaded.held, |path| path.ends_with(".star"))?;
    initialize.entrypoint = Some(entrypoint);
    let starter = opening.worker(STARLARK);
    let patience = opening.runtime.patience.start;
    Process::open(starter, &initialize, opening.host, patience)
        .map(|session| Box::new(session) as _)
        .map_err(ActivateError::Session)
}
