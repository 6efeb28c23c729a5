//! The domain of a task, compared with the domains of skills.

use super::RuleSubject;
use crate::{
    fold::{contains, fold},
    skill_triggers::shown,
    triggers::{Signal, TriggerMatch},
};

/// Whether a domain is one of a skill's. `data` matches `data engineering`, and not `database`.
pub(super) fn matches(domain: &str, subject: &RuleSubject<'_>) -> Option<TriggerMatch> {
    let wanted = fold(domain);
    let mut domains = subject.domains.iter();
    let (field, word) = domains.find(|(_, word)| contains(&fold(word), &wanted))?;
    Some(TriggerMatch {
        signal: Signal::Domain,
        subject: shown(word),
        detail: format!(
            "the domain is `{}`: `{}` in `{field}`",
            shown(domain),
            shown(word)
        ),
        weight: Signal::Domain.weight(),
    })
}
