//! The table of attack cases in `docs/security.md`: one row is a number, an attempt, what must happen, and a feature.

use std::collections::BTreeMap;

/// Where the table is.
pub(crate) const PAGE: &str = "docs/security.md";

/// The end of the last cell in a row whose feature does not exist yet.
const NOT_BUILT: &str = "(not built)";

/// One attack that metier must survive.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AttackCase {
    pub(crate) number: u16,
    pub(crate) attempt: String,
    pub(crate) feature: String,
    pub(crate) built: bool,
}

/// All rows of the page, by number, and the problems of the table.
pub(crate) fn read(page: &str) -> (Vec<AttackCase>, Vec<String>) {
    let mut cases = Vec::new();
    let mut problems = Vec::new();
    for (index, line) in page.lines().enumerate() {
        match row(line) {
            Some(Ok(case)) => cases.push(case),
            Some(Err(problem)) => problems.push(format!("{PAGE}:{}: {problem}", index + 1)),
            None => {}
        }
    }
    cases.sort_by_key(|case| case.number);
    problems.extend(gaps(&cases));
    problems.extend(half_built(&cases));
    (cases, problems)
}

/// A case, if the first cell of this line is a number.
fn row(line: &str) -> Option<Result<AttackCase, String>> {
    let cells: Vec<&str> = line
        .strip_prefix('|')?
        .trim_end()
        .trim_end_matches('|')
        .split('|')
        .map(str::trim)
        .collect();
    let number = cells.first()?.parse().ok()?;
    let [_, attempt, expected, feature] = cells[..] else {
        return Some(Err(format!("case {number} has {} cells", cells.len())));
    };
    if attempt.is_empty() || expected.is_empty() {
        return Some(Err(format!("case {number} has an empty cell")));
    }
    let word = feature.strip_suffix(NOT_BUILT).unwrap_or(feature).trim();
    let name = word
        .strip_prefix('`')
        .and_then(|rest| rest.strip_suffix('`'));
    let Some(name) = name.filter(|name| name.chars().all(|c| c.is_ascii_lowercase())) else {
        return Some(Err(format!("case {number}: `{feature}` names no feature")));
    };
    Some(Ok(AttackCase {
        number,
        attempt: attempt.to_owned(),
        feature: name.to_owned(),
        built: word == feature,
    }))
}

/// Numbers run from 1 without gaps, each once, so that a deleted row is noticed.
fn gaps(sorted: &[AttackCase]) -> Vec<String> {
    let mut problems = Vec::new();
    let mut expected = 1;
    for case in sorted {
        let number = case.number;
        if number < expected {
            problems.push(format!("{PAGE}: case {number} has two rows"));
        } else if number > expected {
            problems.push(format!("{PAGE}: case {expected} has no row"));
        }
        expected = number.saturating_add(1);
    }
    if sorted.is_empty() {
        problems.push(format!("{PAGE} lists no cases"));
    }
    problems
}

/// A feature is either built or not, the same in all of its rows.
fn half_built(cases: &[AttackCase]) -> Vec<String> {
    let mut features = BTreeMap::new();
    let mut problems = Vec::new();
    for case in cases {
        let built = *features.entry(&case.feature).or_insert(case.built);
        if built != case.built {
            let (number, feature) = (case.number, &case.feature);
            problems.push(format!(
                "{PAGE}: case {number}: `{feature}` is built in one row and not in another"
            ));
        }
    }
    problems
}
