//! A program of the skill's own, in any language, behind the fence that its grant amounts to.

use std::rc::Rc;

use metier_host::backend::Process;
use metier_policy::Act;

use super::{Opened, Opening};
use crate::{desk::Went, live::ActivateError, worker::Failed};

pub(super) fn open<'p>(opening: &Opening<'_, 'p>, entrypoint: &str) -> Opened<'p> {
    let act = Act::Script {
        path: entrypoint.into(),
        arguments: Vec::new(),
    };
    let worker = Rc::clone(&opening.active.worker);
    // By its own grant: whoever invokes it needs no permission to start its program, and what the program may do then is
    // what both may. Checked once: a restart is one of the same program. That it runs, and in what, is written down as the
    // activation.
    let own = opening.own.unwrap_or_else(|| worker.grant());
    let permit = own.permit(act, &opening.runtime.premises.desk.meter);
    let permit = permit.map_err(|refusal| {
        let went = Went::refused(refusal.message.clone());
        let noted = worker.record("shell:exec", entrypoint, &went);
        noted.map_or_else(Failed::from, |()| refusal.into())
    })?;
    let initialize = opening.initialize();
    let patience = opening.runtime.patience.start;
    let starter = move || worker.start(&permit);
    Process::open(starter, &initialize, opening.host, patience)
        .map(|session| Box::new(session) as _)
        .map_err(ActivateError::Session)
}
