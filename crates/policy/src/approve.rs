//! Questions to the user, and who answers them: a person at a terminal, the user's own configuration, or nobody.
//!
//! A question is one owned value. It says which skill asks, in which session, for what, how dangerous that is, and which answers are
//! offered. Nothing in it borrows from the run that asks, so it can be shown elsewhere and answered later.

use metier_model::Want;

use crate::{Danger, on_use::PendingAct, request::Asked, rule::Identity};

/// A question to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalQuestion {
    /// Which skill asks, in which bytes.
    pub identity: Identity,
    /// The folder of the skill.
    pub place: String,
    /// The session in which it asks; a sub-agent has a session of its own.
    pub session: String,
    /// What it asks for.
    pub subject: ApprovalSubject,
    /// The worst of what it asks for.
    pub danger: Danger,
    /// The answers that allow something. A no is always possible.
    pub offers: Vec<ApprovalOffer>,
}

/// What a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalSubject {
    /// Permissions of a skill that is about to start.
    Permissions {
        /// Those that have no answer yet.
        asked: Vec<Asked>,
        /// If an earlier version of the skill was approved: what is different now.
        changes: Option<Changes>,
    },
    /// One act that is about to happen.
    Act(Box<PendingAct>),
}

/// An answer that allows something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalOffer {
    /// This act, or this run of the skill.
    Once,
    /// Everything that this covers, until the session ends.
    Session(Want),
    /// Everything that these cover, for these bytes of the skill, from now on.
    Always(Vec<Want>),
}

impl ApprovalQuestion {
    /// About permissions of a skill that is about to start.
    #[must_use]
    pub fn about_permissions(
        identity: Identity,
        place: String,
        session: String,
        asked: Vec<Asked>,
        changes: Option<Changes>,
    ) -> Self {
        let wants: Vec<Want> = asked.iter().map(|asked| asked.want.clone()).collect();
        let danger = wants.iter().map(Danger::of).min();
        Self {
            identity,
            place,
            session,
            danger: danger.unwrap_or(Danger::Read),
            subject: ApprovalSubject::Permissions { asked, changes },
            offers: vec![ApprovalOffer::Once, ApprovalOffer::Always(wants)],
        }
    }

    /// About one act.
    #[must_use]
    pub fn about_act(
        identity: Identity,
        place: String,
        session: String,
        pending: PendingAct,
    ) -> Self {
        Self {
            identity,
            place,
            session,
            danger: pending.danger(),
            offers: pending.offers(),
            subject: ApprovalSubject::Act(Box::new(pending)),
        }
    }

    /// The offer that an answer takes. There is none for a no, and none for an answer that was not offered.
    #[must_use]
    pub fn taken(&self, reply: Reply) -> Option<&ApprovalOffer> {
        self.offers.iter().find(|offer| {
            matches!(
                (offer, reply),
                (ApprovalOffer::Once, Reply::Once)
                    | (ApprovalOffer::Session(_), Reply::Session)
                    | (ApprovalOffer::Always(_), Reply::Always)
            )
        })
    }
}

/// What is different between the bytes that were approved and these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// When the earlier ones were approved.
    pub since: String,
    /// Permissions that were not asked for before.
    pub new_permissions: Vec<String>,
    /// Permissions that are not asked for any more.
    pub gone_permissions: Vec<String>,
    /// Files that are new.
    pub added: Vec<String>,
    /// Files that are gone.
    pub removed: Vec<String>,
    /// Files with other content.
    pub changed: Vec<String>,
}

/// The answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// This act, or this run of the skill.
    Once,
    /// Until the session ends.
    Session,
    /// For these bytes, from now on.
    Always,
    /// No.
    Deny,
    /// There is nobody to ask.
    Nobody,
}

/// Somebody who may decide. A skill, a model or a project never is.
pub trait Approver: Send + Sync {
    /// Asks one question, and waits for the answer.
    fn ask(&self, question: &ApprovalQuestion) -> Reply;
}

/// Nobody is there: whatever was not approved before stays refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headless;

impl Approver for Headless {
    fn ask(&self, _question: &ApprovalQuestion) -> Reply {
        Reply::Nobody
    }
}
