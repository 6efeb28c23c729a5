//! Stored answers about a skill, and approvals by name in flags and in the configuration.

use metier_catalog::Snapshot;
use metier_config::ApprovedPermission;
use metier_model::{Source, Want};
use metier_policy::{
    Decision, Grant, GrantTerms, Identity, PermissionAnswer, PermissionRequest, PermitRefusal,
    RequestReason,
};
use metier_store::{AnswersStamp, Approval, ApprovalDecision, ApprovedFile, Store, StoreError};

/// The permissions that a skill requests and all other answers about it, each with the decision. No question is asked and nothing is
/// recorded: without a store there are no answers.
///
/// # Errors
/// When the answers can't be read.
pub fn standing(
    store: Option<&Store>,
    identity: &Identity,
    request: &PermissionRequest,
    terms: &GrantTerms,
    approved_now: &[String],
    approved: &[ApprovedPermission],
) -> Result<Vec<(Want, Decision)>, StoreError> {
    let mut answers = match store {
        Some(store) => answers(store, identity)?,
        None => Vec::new(),
    };
    let request = request.clone().as_asked_of(identity, terms);
    let known = answers.iter().map(|answer| answer.want.clone());
    let mut wants: Vec<Want> = request
        .iter()
        .map(|asked| asked.want.clone())
        .chain(known)
        .collect();
    wants.sort();
    wants.dedup();
    if is_approved(identity, approved_now, approved) {
        answers.extend(request.iter().map(|asked| allow(&asked.want)));
    }
    let is_free = |want: &Want| {
        let mut asked = request.iter();
        asked.any(|asked| asked.want == *want && asked.why == RequestReason::InProject)
    };
    let decided = wants.into_iter().map(|want| {
        let decision = match metier_policy::decide(&want, &answers) {
            Decision::Ask if is_free(&want) => Decision::Allow,
            decision => decision,
        };
        (want, decision)
    });
    Ok(decided.collect())
}

/// The answers that hold for exactly these bytes.
pub(crate) fn answers(
    store: &Store,
    identity: &Identity,
) -> Result<Vec<PermissionAnswer>, StoreError> {
    let digest = identity.digest.to_string();
    let kept = store.approvals(&identity.skill, identity.source.as_str(), &digest)?;
    Ok(kept.iter().filter_map(answer).collect())
}

/// A grant that ends when an answer behind it does.
#[derive(Debug)]
pub struct RevocableGrant {
    pub(crate) grant: Grant,
    pub(crate) behind: AnswersBehind,
}

impl RevocableGrant {
    /// The grant, if it is not withdrawn.
    #[must_use]
    pub fn grant(&self) -> &Grant {
        &self.grant
    }

    /// The permissions that both grants contain, until one of them ends.
    pub(crate) fn narrowed(&self, caller: &Grant, behind_caller: &AnswersBehind) -> Self {
        let of_both = self.behind.skills.iter().chain(&behind_caller.skills);
        Self {
            grant: self.grant.narrowed(caller),
            behind: AnswersBehind {
                skills: of_both.cloned().collect(),
                stamp: None,
                withdrawn: behind_caller.withdrawn,
            },
        }
    }
}

/// The stored answers behind a grant, which is valid while they are: an approval that is revoked, or a denial that is added, ends it.
#[derive(Clone, Debug)]
pub(crate) struct AnswersBehind {
    skills: Vec<SkillAnswers>,
    /// The stamp of their last comparison, as one connection to the database counts it.
    stamp: Option<AnswersStamp>,
    withdrawn: bool,
}

#[derive(Clone, Debug)]
struct SkillAnswers {
    identity: Identity,
    answers: Vec<PermissionAnswer>,
}

impl AnswersBehind {
    /// The current answers about one skill.
    pub(crate) fn read(store: &Store, identity: &Identity) -> Result<Self, StoreError> {
        // The stamp comes first: a change in between is detected at the next comparison.
        let stamp = Some(store.answers_stamp()?);
        let skill = SkillAnswers {
            identity: identity.clone(),
            answers: answers(store, identity)?,
        };
        Ok(Self {
            skills: vec![skill],
            stamp,
            withdrawn: false,
        })
    }

    /// All answers, for a ruling.
    pub(crate) fn all(&self) -> impl Iterator<Item = &PermissionAnswer> {
        self.skills.iter().flat_map(|skill| &skill.answers)
    }

    /// These answers, to be compared through another connection: stamps of two connections can't be compared.
    pub(crate) fn elsewhere(&self) -> Self {
        Self {
            stamp: None,
            ..self.clone()
        }
    }

    /// The allowed permissions of one skill, as of the last comparison.
    pub(crate) fn allowed(&self, identity: &Identity) -> Vec<Want> {
        let own = self
            .skills
            .iter()
            .filter(|skill| skill.identity == *identity);
        let own = own.flat_map(|skill| &skill.answers);
        let allowed = own.filter(|answer| answer.decision == Decision::Allow);
        allowed.map(|answer| answer.want.clone()).collect()
    }

    /// Whether one of them was withdrawn since. This is permanent. An answer that was added since then counts from now on: its end
    /// withdraws the grant too.
    pub(crate) fn is_withdrawn(&mut self, store: &Store) -> Result<bool, StoreError> {
        if self.withdrawn {
            return Ok(true);
        }
        let stamp = Some(store.answers_stamp()?);
        if stamp != self.stamp {
            for skill in &mut self.skills {
                let now = answers(store, &skill.identity)?;
                self.withdrawn |= skill.is_withdrawn(&now);
                skill.answers = now;
            }
            self.stamp = stamp;
        }
        Ok(self.withdrawn)
    }
}

impl SkillAnswers {
    fn is_withdrawn(&self, now: &[PermissionAnswer]) -> bool {
        let is_denial = |answer: &PermissionAnswer| answer.decision == Decision::Deny;
        let mut before = self.answers.iter();
        let mut after = now.iter();
        before.any(|answer| !is_denial(answer) && !now.contains(answer))
            || after.any(|answer| is_denial(answer) && !self.answers.contains(answer))
    }
}

/// The refusal of an act whose grant was withdrawn.
pub(crate) fn withdrawn(skill: &str) -> PermitRefusal {
    PermitRefusal {
        code: "revoked",
        message: format!(
            "a permission of skill `{}` was revoked or denied after it was started; start it again",
            metier_model::text::visible(skill)
        ),
        needed: None,
    }
}

/// How a list of approved skills names a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamedAct {
    /// Only by its name.
    Bare,
    /// By source and name.
    WithSource,
}

/// How an item such as `deploy` or `project:deploy` names this skill, if it does. A prefix that is a source is parsed as one.
fn named(item: &str, identity: &Identity) -> Option<NamedAct> {
    let source = |word: &str| Source::ALL.into_iter().find(|known| known.as_str() == word);
    let full = item.split_once(':');
    match full.and_then(|(word, name)| Some((source(word)?, name))) {
        Some((source, name)) => {
            (source == identity.source && *name == *identity.skill).then_some(NamedAct::WithSource)
        }
        None => (*item == *identity.skill).then_some(NamedAct::Bare),
    }
}

/// Whether a bare name in the configuration applies to this source: the user's own and the built-in skills. Others could take any name.
pub(crate) fn is_meant_by_name(source: Source) -> bool {
    match source {
        Source::User | Source::Builtin => true,
        Source::Extra | Source::Project | Source::Inline => false,
    }
}

/// Whether flags or the configuration approve everything it requests. A bare name in a flag means the skill that has the name now.
pub(crate) fn is_approved(
    identity: &Identity,
    approved_now: &[String],
    approved: &[ApprovedPermission],
) -> bool {
    let by_flag = |item: &String| named(item, identity).is_some();
    let by_setting = |permission: &ApprovedPermission| match (
        named(&permission.name, identity),
        &permission.digest,
    ) {
        (None, _) => false,
        (Some(_), Some(digest)) => *digest == identity.digest.to_string(),
        (Some(NamedAct::WithSource), None) => true,
        (Some(NamedAct::Bare), None) => is_meant_by_name(identity.source),
    };
    approved_now.iter().any(by_flag) || approved.iter().any(by_setting)
}

/// Whether the configuration contains only the bare name of this skill, which does not apply to a skill of its source.
#[must_use]
pub fn is_approved_elsewhere(identity: &Identity, approved: &[ApprovedPermission]) -> bool {
    let by_name = |permission: &ApprovedPermission| {
        permission.digest.is_none() && named(&permission.name, identity) == Some(NamedAct::Bare)
    };
    !is_meant_by_name(identity.source)
        && approved.iter().any(by_name)
        && !is_approved(identity, &[], approved)
}

pub(crate) fn allow(want: &Want) -> PermissionAnswer {
    PermissionAnswer {
        want: want.clone(),
        decision: Decision::Allow,
    }
}

/// A stored answer. One that can no longer be parsed does not count.
pub(crate) fn answer(kept: &Approval) -> Option<PermissionAnswer> {
    Some(PermissionAnswer {
        want: kept.permission.parse().ok()?,
        decision: match kept.decision {
            ApprovalDecision::Allowed => Decision::Allow,
            ApprovalDecision::Denied => Decision::Deny,
        },
    })
}

/// The files of a skill, each with its digest.
#[must_use]
pub fn files(held: &Snapshot) -> Vec<ApprovedFile> {
    let file = |file: &metier_catalog::SnapshotFile| ApprovedFile {
        // Different bytes are displayed differently, so this is a key.
        path: file.path.to_string(),
        digest: metier_model::Digest(file.hash).to_string(),
        size: file.size,
    };
    held.files.iter().map(file).collect()
}
