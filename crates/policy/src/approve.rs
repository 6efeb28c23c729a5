//! Questions to the user and their answers: from a terminal, from the user's configuration, or from neither.
//!
//! A question is one owned value. It contains the skill that asks, the session, the permissions or the act, how
//! dangerous that is, and the answers that are offered. It borrows nothing from the run that asks, so it can be shown
//! elsewhere and answered later.

use metier_model::Want;

use crate::{Danger, on_use::PendingAct, request::RequestedPermission, rule::Identity};

/// A question to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalQuestion {
    /// The skill that asks, with its exact bytes.
    pub identity: Identity,
    /// The folder of the skill.
    pub place: String,
    /// The session that asks; a sub-agent has its own session.
    pub session: String,
    /// The permissions or the act in question.
    pub subject: ApprovalSubject,
    /// The greatest danger of the requested permissions.
    pub danger: Danger,
    /// The answers that allow something. Denying is always possible.
    pub offers: Vec<ApprovalOffer>,
}

/// The subject of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalSubject {
    /// Permissions of a skill that is about to start.
    Permissions {
        /// The permissions without an answer.
        asked: Vec<RequestedPermission>,
        /// The differences to the version of the skill that was approved before.
        changes: Option<Changes>,
    },
    /// One act that is about to happen.
    Act(Box<PendingAct>),
}

/// An answer that allows the act or permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalOffer {
    /// This act, or this run of the skill.
    Once,
    /// Everything that this covers, until the session ends.
    Session(Want),
    /// Everything that these cover, for this exact version of the skill, from now on.
    Always(Vec<Want>),
}

impl ApprovalQuestion {
    /// A question about permissions of a skill that is about to start.
    #[must_use]
    pub fn about_permissions(
        identity: Identity,
        place: String,
        session: String,
        asked: Vec<RequestedPermission>,
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

    /// A question about one act that is about to happen.
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

    /// The offer that a reply accepts. `None` for a denial, and for a reply that was not offered.
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

/// The differences between the approved version of a skill and this one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// When the earlier version was approved.
    pub since: String,
    /// Permissions that the earlier version did not request.
    pub new_permissions: Vec<String>,
    /// Permissions that are no longer requested.
    pub gone_permissions: Vec<String>,
    /// Files that were added.
    pub added: Vec<String>,
    /// Files that were removed.
    pub removed: Vec<String>,
    /// Files whose content changed.
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
    /// The user denies it.
    Deny,
    /// No user can be asked.
    Unavailable,
}

/// A source of answers that may decide: never a skill, a model or a project.
pub trait Approver: Send + Sync {
    /// Asks one question, and waits for the answer.
    fn ask(&self, question: &ApprovalQuestion) -> Reply;
}

/// There is no user to ask: everything that was not approved before is refused.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headless;

impl Approver for Headless {
    fn ask(&self, _question: &ApprovalQuestion) -> Reply {
        Reply::Unavailable
    }
}
