//! The closest valid key to an invalid one.

use std::collections::BTreeSet;

use strsim::damerau_levenshtein;

use crate::{KEYS, KeyPath};

/// Longer paths are not typing mistakes, and comparing them is expensive.
const LONGEST: usize = 120;

/// The hint for a key that does not exist.
pub(crate) fn hint(path: &KeyPath) -> String {
    match nearest(path) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`metier config` lists all keys".to_owned(),
    }
}

pub(crate) fn variable(name: &str) -> Option<&'static str> {
    let near = KEYS
        .iter()
        .filter_map(|key| key.env)
        .map(|env| (damerau_levenshtein(name, env), env))
        .min()?;
    (name.len() <= LONGEST && near.0 <= 3).then_some(near.1)
}

fn nearest(path: &KeyPath) -> Option<String> {
    let given = path.to_string();
    if given.len() > LONGEST {
        return None;
    }
    let near = candidates(path)
        .into_iter()
        .filter_map(|candidate| distance(path, &candidate).map(|distance| (distance, candidate)))
        .min()?;
    Some(near.1.to_string())
}

/// All keys and tables, with the user's segments filled in.
fn candidates(path: &KeyPath) -> BTreeSet<KeyPath> {
    let mut all = BTreeSet::new();
    for key in KEYS {
        let mut segments = Vec::new();
        for (position, pattern) in key.segments().enumerate() {
            let chosen = path
                .segments()
                .get(position)
                .filter(|_| pattern.starts_with('<'));
            segments.push(chosen.map_or_else(|| pattern.to_owned(), Clone::clone));
            if !pattern.starts_with('<') {
                all.insert(KeyPath::from_segments(segments.clone()));
            }
        }
    }
    all.remove(path);
    all
}

/// The distance of two paths that are similar: either the whole path was mistyped, or a valid key was written into
/// the wrong table.
fn distance(given: &KeyPath, candidate: &KeyPath) -> Option<usize> {
    let (given_text, candidate_text) = (snake(&given.to_string()), candidate.to_string());
    let whole = damerau_levenshtein(&given_text, &candidate_text);
    let last = damerau_levenshtein(&snake(given.last()), candidate.last());
    let whole_is_close = whole <= (given_text.len() / 5).max(2);
    let last_is_close = candidate.last().len() >= 4 && last <= candidate.last().len() / 5;
    match (whole_is_close, last_is_close) {
        (true, true) => Some(whole.min(last + 1)),
        (true, false) => Some(whole),
        (false, true) => Some(last + 1),
        (false, false) => None,
    }
}

/// `scanOnLoad` and `scan-on-load` as `scan_on_load`.
fn snake(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 4);
    for character in text.chars() {
        if character.is_ascii_uppercase() {
            result.push('_');
            result.push(character.to_ascii_lowercase());
        } else if character == '-' {
            result.push('_');
        } else {
            result.push(character);
        }
    }
    result
}
