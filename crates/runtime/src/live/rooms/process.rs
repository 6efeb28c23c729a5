//! A program of the skill's own, in any language, behind the fence that its grant amounts to.

use std::sync::Arc;

use metier_host::{
    backend::{Process, Started},
    world::WorldError,
};
use metier_policy::{Act, Permit};

use super::{Opened, Opening};
use crate::{
    desk::Went,
    live::ActivateError,
    worker::{Failed, Worker},
};

pub(super) fn open(opening: &Opening<'_>, entrypoint: &str) -> Opened {
    opening.child(entrypoint, Worker::start)
}

impl Opening<'_> {
    /// A child that runs this file of the skill, started in one way or another.
    pub(super) fn child(
        &self,
        entrypoint: &str,
        start: impl Fn(&Worker, &Permit) -> Result<Started, WorldError> + Send + 'static,
    ) -> Opened {
        let act = Act::Script {
            path: entrypoint.into(),
            arguments: Vec::new(),
        };
        let worker = Arc::clone(&self.active.worker);
        // By its own grant: whoever invokes it needs no permission to start its program, and what the program may do then is
        // what both may. Checked once: a restart is one of the same program. That it runs, and in what, is written down as the
        // activation.
        let own = self.own.unwrap_or_else(|| worker.grant());
        let permit = own.permit(act, &self.runtime.premises.desk.meter);
        let permit = permit.map_err(|refusal| {
            let went = Went::refused(refusal.message.clone());
            let noted = worker.record("shell:exec", entrypoint, &went);
            noted.map_or_else(Failed::from, |()| refusal.into())
        })?;
        let initialize = self.initialize();
        let patience = self.runtime.patience.start;
        let starter = move || start(&worker, &permit);
        Process::open(starter, &initialize, self.host, patience)
            .map(|session| Box::new(session) as _)
            .map_err(ActivateError::Session)
    }
}
