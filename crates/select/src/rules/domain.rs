//! The field that a task is in, against the words that skills use for theirs.

use super::Subject;
use crate::{
    fold::{contains, fold},
    triggers::{Match, Signal},
    wanted::shown,
};

/// Whether a word for a field is one of a skill's. `data` is in `data engineering`, and not in `database`.
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
