//! Permits for acts: the answers that hold at this moment, and the questions about acts.

use metier_policy::{
    Act, ApprovalOffer, ApprovalQuestion, Grant, OnUseAnswers, PendingAct, Permit, PermitRefusal,
    RequestReason, RequestedPermission, Unpermitted,
};
use metier_store::{ApprovalDecision, StoreError};

use super::{Approvals, RequestingSkill};
use crate::{
    guarded::Guarded,
    standing_answers::{AnswersBehind, withdrawn},
};

impl Approvals {
    /// The permit for an act, with the answers that are stored now, after asking if necessary. `shown` completes the act for the question.
    /// The grant permits nothing once an answer behind it was withdrawn, even while the question was open: nothing else takes a permit
    /// for an act that is asked about.
    ///
    /// # Errors
    /// When answers can't be read or stored. A no is a refusal inside.
    pub(crate) fn permit(
        &self,
        subject: &RequestingSkill<'_>,
        (grant, behind): (&Grant, &Guarded<AnswersBehind>),
        act: &Act,
        shown: impl FnOnce(PendingAct) -> PendingAct,
    ) -> Result<Result<Permit, PermitRefusal>, StoreError> {
        let gone = || withdrawn(&subject.identity.skill);
        if self.is_withdrawn(grant, behind)? {
            return Ok(Err(gone()));
        }
        let stored = behind.lock().allowed(subject.identity);
        let answers = OnUseAnswers::stored(&self.asking.answers, stored);
        let pending = match grant.permit_or_ask(act.clone(), answers, &self.meter) {
            Ok(permit) => return Ok(Ok(permit)),
            Err(Unpermitted::Refused(refusal)) => return Ok(Err(refusal)),
            Err(Unpermitted::Pending(pending)) => shown(*pending),
        };
        let answered = self.ask_about(subject, grant, pending)?;
        // The question may have been open for minutes.
        match self.is_withdrawn(grant, behind)? {
            true => Ok(Err(gone())),
            false => Ok(answered),
        }
    }

    /// Whether an answer behind a grant was withdrawn. An empty grant can't lose anything.
    pub(crate) fn is_withdrawn(
        &self,
        grant: &Grant,
        behind: &Guarded<AnswersBehind>,
    ) -> Result<bool, StoreError> {
        if grant.is_empty() {
            return Ok(false);
        }
        // The store first, everywhere.
        let store = self.store.lock();
        behind.lock().is_withdrawn(&store)
    }

    /// Asks about one act before it happens, and stores the answer if it is permanent.
    fn ask_about(
        &self,
        subject: &RequestingSkill<'_>,
        grant: &Grant,
        pending: PendingAct,
    ) -> Result<Result<Permit, PermitRefusal>, StoreError> {
        let question = ApprovalQuestion::about_act(
            subject.identity.clone(),
            subject.place.to_owned(),
            self.session.clone(),
            pending.clone(),
        );
        let offer = match self.put(&question) {
            Ok(offer) => offer,
            Err(no) => return Ok(Err(no.to(subject.identity, &pending))),
        };
        if let ApprovalOffer::Always(wants) = offer {
            let asked = wants.iter().map(|want| RequestedPermission {
                want: want.clone(),
                why: RequestReason::OnUse,
            });
            let asked: Vec<RequestedPermission> = asked.collect();
            self.remember(subject, &asked, ApprovalDecision::Allowed, "terminal")?;
        }
        self.asking.answers.keep(subject.identity, offer);
        Ok(Ok(grant.permit_answered(pending, offer)))
    }
}
