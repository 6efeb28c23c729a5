//! The rules of [`ProjectAuthority`](crate::ProjectAuthority): what a project's file may change.

use std::cmp::Ordering;

use crate::datum::Datum;
use crate::key::{ProjectAuthority, StricterValue, ValueKind};
use crate::read::KeyAssignment;

/// The value after a project's assignment, or why the current value stays.
pub(crate) fn tightened(current: Option<&Datum>, asked: &KeyAssignment) -> Result<Datum, String> {
    match asked.key.project {
        ProjectAuthority::Never => Err(format!("a project can't set `{}`", asked.path)),
        ProjectAuthority::Tighten(StricterValue::Only(word)) => only(word, asked),
        ProjectAuthority::Tighten(StricterValue::Lower) => lower(current, asked, |number| number),
        ProjectAuthority::Tighten(StricterValue::LowerWhereZeroIsNoLimit) => lower(
            current,
            asked,
            |number| if number == 0 { u64::MAX } else { number },
        ),
        ProjectAuthority::Tighten(StricterValue::Intersect) => {
            Ok(both(current, &asked.datum, same))
        }
        ProjectAuthority::Tighten(StricterValue::IntersectPrefixes) => {
            Ok(both(current, &asked.datum, narrower_prefix))
        }
    }
}

fn only(word: &str, asked: &KeyAssignment) -> Result<Datum, String> {
    let fits = match &asked.datum {
        Datum::Bool(value) => value.to_string() == word,
        Datum::Text(value) => value == word,
        _ => false,
    };
    if fits {
        return Ok(asked.datum.clone());
    }
    let quote = if asked.key.kind == ValueKind::Bool {
        ""
    } else {
        "\""
    };
    Err(format!(
        "a project can only set `{}` to `{quote}{word}{quote}`",
        asked.path
    ))
}

fn lower(
    current: Option<&Datum>,
    asked: &KeyAssignment,
    reach: fn(u64) -> u64,
) -> Result<Datum, String> {
    match (current, &asked.datum) {
        (Some(Datum::Int(now)), Datum::Int(then)) if reach(*then) > reach(*now) => Err(format!(
            "a project can only lower `{}`: it is {now}, and the project sets {then}",
            asked.path
        )),
        _ => Ok(asked.datum.clone()),
    }
}

/// The items that both lists allow. No current list allows everything.
fn both(
    current: Option<&Datum>,
    asked: &Datum,
    narrower: fn(&str, &str) -> Option<String>,
) -> Datum {
    let (Some(Datum::List(now)), Datum::List(then)) = (current, asked) else {
        return asked.clone();
    };
    let mut kept: Vec<String> = Vec::new();
    for (one, other) in now
        .iter()
        .flat_map(|one| then.iter().map(move |other| (one, other)))
    {
        if let Some(shared) = narrower(one, other).filter(|shared| !kept.contains(shared)) {
            kept.push(shared);
        }
    }
    Datum::List(kept)
}

fn same(one: &str, other: &str) -> Option<String> {
    (one == other).then(|| one.to_owned())
}

/// The longer of two prefixes if it starts with the shorter, word by word: `git log` and `git`, not `gitk` and `git`.
fn narrower_prefix(one: &str, other: &str) -> Option<String> {
    let words = |text: &str| {
        text.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let (one_words, other_words) = (words(one), words(other));
    let (short, long, text) = match one_words.len().cmp(&other_words.len()) {
        Ordering::Less => (&one_words, &other_words, other),
        Ordering::Equal | Ordering::Greater => (&other_words, &one_words, one),
    };
    long.starts_with(short).then(|| text.to_owned())
}
