//! How metier's own binary is started as a worker.

use metier_host::backend::WorkerCommand;

use super::BackendOpening;

impl BackendOpening<'_> {
    /// How to start our own binary as a worker of this kind.
    pub(super) fn worker(&self, kind: &str) -> WorkerCommand {
        let environment = &self.runtime.environment;
        let unsandboxed = environment.host.unsandboxed;
        let flag = unsandboxed.then(|| "--unsandboxed".to_owned());
        WorkerCommand {
            binary: environment.host.shim.clone(),
            arguments: [kind.to_owned()].into_iter().chain(flag).collect(),
            // Our allocator would reserve a gigabyte, which a memory limit could not reclaim.
            variables: vec![("MIMALLOC_ARENA_RESERVE".into(), "16384".into())],
            confinement: if unsandboxed { "unsandboxed" } else { "worker" },
        }
    }
}
