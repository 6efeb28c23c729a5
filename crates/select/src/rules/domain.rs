//! The domain of a task, compared with the domains of skills.

use super::Subject;
use crate::{
    fold::{contains, fold},
    triggers::{Match, Signal},
    wanted::shown,
};

/// Whether a domain is one of a skill's. `data` matches `data engineering`, and not `database`.
pub(super) fn matches(domain: &str, subject: &Subject<'_>) -> Option<Match> {
    let wanted = fold(domain);
    let mut domains = subject.domains.iter();
    let (field, word) = domains.find(|(_, word)| contains(&fold(word), &wanted))?;
    Some(Match {
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
