//! A program of the skill in any language, or our own binary with a library of the skill loaded: a child in the sandbox of its grant.

use std::sync::Arc;

use metier_host::{
    backend::ChildProcess,
    execution::{ActExecutor, ExecutionError, RecordedAct, RunningScript},
};
use metier_policy::{Act, Permit, plain_script};
use metier_store::BegunReceipt;

use super::{BackendOpening, OpenedBackend};
use crate::{approvals::ActRecord, granted_skill::ActError, live::ActivateError};

/// How a child is started: [`ActExecutor::start`] for a program, [`ActExecutor::start_library`] for a library.
type Start = fn(
    &ActExecutor,
    &RecordedAct<'_, Permit, BegunReceipt>,
) -> Result<RunningScript, ExecutionError>;

impl BackendOpening<'_> {
    /// A child that runs this file of the skill.
    pub(super) fn child(&self, entrypoint: &str, start: Start) -> OpenedBackend {
        let act = Act::Script {
            path: plain_script(entrypoint).into(),
            arguments: Vec::new(),
        };
        let worker = Arc::clone(&self.active.worker);
        // With its own grant: the caller needs no permission to start its program, and the program then has the permissions that both
        // have. Checked once, because a restart runs the same program. The receipt of the activation records that it runs, and in
        // which sandbox.
        let own = self.own.unwrap_or_else(|| worker.grant());
        let permit = own.permit(act, &self.runtime.environment.approvals.meter);
        let permit = permit.map_err(|refusal| {
            let went = ActRecord::refused(refusal.message.clone());
            let noted = worker.record("shell:exec", entrypoint, &went);
            noted.map_or_else(ActError::from, |()| refusal.into())
        })?;
        let initialize = self.initialize();
        let patience = self.runtime.patience.start;
        let file = entrypoint.to_owned();
        let starter = move || worker.start(&file, &permit, start);
        ChildProcess::open(starter, &initialize, self.host, patience)
            .map(|session| Box::new(session) as _)
            .map_err(ActivateError::Session)
    }
}
