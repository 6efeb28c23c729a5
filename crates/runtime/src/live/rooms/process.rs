//! A program of the skill in any language, or our own binary with a library of the skill loaded: a child in the sandbox of its grant.

use std::sync::Arc;

use metier_host::{
    backend::Process,
    world::{Begun, Running, World, WorldError},
};
use metier_policy::{Act, Permit};
use metier_store::BegunReceipt;

use super::{Opened, Opening};
use crate::{desk::Went, live::ActivateError, worker::Failed};

/// How a child is started: [`World::start`] for a program, [`World::start_library`] for a library.
type Start = fn(&World, &Begun<'_, Permit, BegunReceipt>) -> Result<Running, WorldError>;

impl Opening<'_> {
    /// A child that runs this file of the skill.
    pub(super) fn child(&self, entrypoint: &str, start: Start) -> Opened {
        let act = Act::Script {
            path: entrypoint.into(),
            arguments: Vec::new(),
        };
        let worker = Arc::clone(&self.active.worker);
        // By its own grant: the caller needs no permission to start its program, and the program then has the permissions that both
        // have. Checked once, because a restart runs the same program. The receipt of the activation records that it runs, and in
        // which sandbox.
        let own = self.own.unwrap_or_else(|| worker.grant());
        let permit = own.permit(act, &self.runtime.premises.desk.meter);
        let permit = permit.map_err(|refusal| {
            let went = Went::refused(refusal.message.clone());
            let noted = worker.record("shell:exec", entrypoint, &went);
            noted.map_or_else(Failed::from, |()| refusal.into())
        })?;
        let initialize = self.initialize();
        let patience = self.runtime.patience.start;
        let file = entrypoint.to_owned();
        let starter = move || worker.start(&file, &permit, start);
        Process::open(starter, &initialize, self.host, patience)
            .map(|session| Box::new(session) as _)
            .map_err(ActivateError::Session)
    }
}
