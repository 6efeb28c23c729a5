//! Starlark: our own binary, started again as an interpreter that can do nothing but talk.

use metier_host::backend::{Process, Worker};

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

impl Opening<'_> {
    /// How to start our own binary as a worker of this kind.
    pub(super) fn worker(&self, kind: &str) -> Worker {
        let premises = &self.runtime.premises;
        let unsandboxed = premises.host.unsandboxed;
        let flag = unsandboxed.then(|| "--unsandboxed".to_owned());
        Worker {
            binary: premises.host.shim.clone(),
            arguments: [kind.to_owned()].into_iter().chain(flag).collect(),
            // Our allocator would set aside a gigabyte, which no limit on memory could take back.
            variables: vec![("MIMALLOC_ARENA_RESERVE".into(), "16384".into())],
            confinement: if unsandboxed { "unsandboxed" } else { "worker" },
        }
    }
}
