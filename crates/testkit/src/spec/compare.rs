//! Expected lines against actual lines: one alignment determines whether they match, the difference, and the corrected
//! expectation.

use std::fmt::Write as _;

/// How one line of either side is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WildcardUse {
    /// Expected line i is actual line j.
    Same(usize, usize),
    /// Actual line j matches the `...` at i.
    Swallowed(usize, usize),
    /// The `...` at i ends here.
    AnyEnd(usize),
    /// Expected line i is missing.
    Missing(usize),
    /// Actual line j was not expected.
    Extra(usize),
}

/// The cheapest alignment of expected lines with actual lines.
pub(super) struct Comparison<'a> {
    expected: &'a [String],
    actual: &'a [String],
    uses: Vec<WildcardUse>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(expected: &'a [String], actual: &'a [String]) -> Self {
        let costs = costs(expected, actual);
        let uses = walk(expected, actual, &costs);
        Self {
            expected,
            actual,
            uses,
        }
    }

    pub(super) fn is_match(&self) -> bool {
        let wrong =
            |step: &WildcardUse| matches!(step, WildcardUse::Missing(_) | WildcardUse::Extra(_));
        !self.uses.iter().any(wrong)
    }

    /// The lines with ` `, `-` (expected) and `+` (actual) before them; lines that match `...` are counted.
    pub(super) fn diff(&self) -> String {
        let mut text = String::new();
        for step in &self.uses {
            let (sign, line) = match *step {
                WildcardUse::Same(i, _) | WildcardUse::AnyEnd(i) => (' ', &self.expected[i]),
                WildcardUse::Swallowed(..) => continue,
                WildcardUse::Missing(i) => ('-', &self.expected[i]),
                WildcardUse::Extra(j) => ('+', &self.actual[j]),
            };
            let _ = writeln!(text, "{sign} {}", show_blank_end(line));
        }
        text
    }

    /// The corrected lines: wildcard lines that still match are kept, all others are the actual text.
    pub(super) fn corrected(&self) -> Vec<String> {
        let line = |step: &WildcardUse| match *step {
            WildcardUse::Same(i, _) | WildcardUse::AnyEnd(i) => Some(self.expected[i].clone()),
            WildcardUse::Extra(j) => Some(protect(&self.actual[j])),
            WildcardUse::Swallowed(..) | WildcardUse::Missing(_) => None,
        };
        self.uses.iter().filter_map(line).collect()
    }
}

/// `costs[i][j]`: the minimum number of unmatched lines between `expected[i..]` and `actual[j..]`.
fn costs(expected: &[String], actual: &[String]) -> Vec<Vec<usize>> {
    let mut costs = vec![vec![0; actual.len() + 1]; expected.len() + 1];
    for i in (0..=expected.len()).rev() {
        for j in (0..=actual.len()).rev() {
            let options = options(expected, actual, i, j);
            let cost = |(step, i, j): (WildcardUse, usize, usize)| costs[i][j] + price(step);
            costs[i][j] = options.map(cost).min().unwrap_or(0);
        }
    }
    costs
}

fn walk(expected: &[String], actual: &[String], costs: &[Vec<usize>]) -> Vec<WildcardUse> {
    let (mut i, mut j) = (0, 0);
    let mut uses = Vec::new();
    while let Some((step, next_i, next_j)) =
        options(expected, actual, i, j).min_by_key(|&(step, i, j)| costs[i][j] + price(step))
    {
        uses.push(step);
        (i, j) = (next_i, next_j);
    }
    uses
}

/// The possible steps at (i, j) and their targets; the first of equally cheap ones is taken.
fn options(
    expected: &[String],
    actual: &[String],
    i: usize,
    j: usize,
) -> impl Iterator<Item = (WildcardUse, usize, usize)> {
    let (left, right) = (expected.get(i), actual.get(j));
    let any = left.is_some_and(|line| is_any(line));
    let same = matches!((left, right), (Some(l), Some(r)) if !any && line_matches(l, r));
    [
        same.then_some((WildcardUse::Same(i, j), i + 1, j + 1)),
        any.then_some((WildcardUse::AnyEnd(i), i + 1, j)),
        (any && right.is_some()).then_some((WildcardUse::Swallowed(i, j), i, j + 1)),
        (left.is_some() && !any).then_some((WildcardUse::Missing(i), i + 1, j)),
        right.map(|_| (WildcardUse::Extra(j), i, j + 1)),
    ]
    .into_iter()
    .flatten()
}

fn price(step: WildcardUse) -> usize {
    usize::from(matches!(
        step,
        WildcardUse::Missing(_) | WildcardUse::Extra(_)
    ))
}

fn is_any(line: &str) -> bool {
    line.trim() == "..."
}

fn line_matches(expected: &str, actual: &str) -> bool {
    let expected = match expected.strip_prefix('\\') {
        Some(rest) if needs_protection(rest) => rest,
        _ => expected,
    };
    wildcard(expected, actual)
}

/// Whether `actual` matches `pattern`, where `[..]` stands for any text.
pub(super) fn wildcard(pattern: &str, actual: &str) -> bool {
    let Some((before, last)) = pattern.rsplit_once("[..]") else {
        return pattern == actual;
    };
    let mut parts = before.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = actual.strip_prefix(first) else {
        return false;
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether a line of output would be parsed as a mark of the transcript.
fn needs_protection(line: &str) -> bool {
    let protected = line.strip_prefix('\\').is_some_and(needs_protection);
    line.starts_with("$ ") || line.starts_with("? ") || is_any(line) || protected
}

fn protect(line: &str) -> String {
    let mark = if needs_protection(line) { "\\" } else { "" };
    format!("{mark}{line}")
}

/// Shows spaces at the end of a line, which matter in a comparison but can't be seen.
fn show_blank_end(line: &str) -> String {
    let body = line.trim_end_matches(' ');
    format!("{body}{}", "·".repeat(line.len() - body.len()))
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
