//! Names that look like other names.
//!
//! Names are ASCII letters, digits and hyphens, so that letters of other alphabets can't imitate them. The remaining cases are digits and
//! pairs that look like a letter, doubled and swapped letters, one letter added, removed or replaced, and words in another order.

/// From this length on, one typing mistake makes another name similar; in shorter names it makes a different word.
const ONE_MISTAKE: usize = 5;
/// From this length on, two typing mistakes do.
const TWO_MISTAKES: usize = 12;

/// Characters that look like others, replaced in this order.
const LOOKALIKES: &[(&str, &str)] = &[
    ("-", ""),
    ("0", "o"),
    ("1", "l"),
    ("i", "l"),
    ("5", "s"),
    ("rn", "m"),
    ("vv", "w"),
    ("cl", "d"),
];

/// The first of these names that a new name can be confused with.
#[must_use]
pub fn resembled<'a>(new: &str, existing: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (skeleton, words) = (skeleton(new), sorted_words(new));
    existing.into_iter().find(|other| {
        *other != new
            && (self::skeleton(other) == skeleton
                || sorted_words(other) == words
                || is_mistyped(new, other))
    })
}

fn is_mistyped(new: &str, other: &str) -> bool {
    let (shorter, longer) = (new.len().min(other.len()), new.len().max(other.len()));
    let allowed = match shorter {
        ..ONE_MISTAKE => return false,
        ONE_MISTAKE..TWO_MISTAKES => 1,
        _ => 2,
    };
    longer - shorter <= allowed && strsim::osa_distance(new, other) <= allowed
}

/// A name with lookalike characters replaced and repeated letters removed: names with the same skeleton look alike.
fn skeleton(name: &str) -> String {
    let plain = LOOKALIKES
        .iter()
        .fold(name.to_owned(), |name, (from, to)| name.replace(from, to));
    let mut letters: Vec<char> = plain.chars().collect();
    letters.dedup();
    letters.into_iter().collect()
}

fn sorted_words(name: &str) -> Vec<&str> {
    let mut words: Vec<&str> = name.split('-').collect();
    words.sort_unstable();
    words
}

#[cfg(test)]
mod tests {
    use super::resembled;

    #[test]
    fn names_that_look_like_another_one_are_found() {
        let check = |new: &str, old: &str| resembled(new, [old]).is_some();
        for (new, old) in [
            ("clawhubb", "clawhub"),
            ("cllawhub", "clawhub"),
            ("clawwhub", "clawhub"),
            ("c1awhub", "clawhub"),
            ("claw-hub", "clawhub"),
            ("calwhub", "clawhub"),
            ("review-code", "code-review"),
            ("rnarkdown", "markdown"),
            ("pdf-f0rms", "pdf-forms"),
            ("frontend-desing", "frontend-design"),
            ("pfd-", "pfd"),
        ] {
            assert!(check(new, old), "{new} passed for {old}");
        }
        for (new, old) in [
            ("pdf", "pdf"),
            ("pdf", "pptx"),
            ("docx", "docs"),
            ("code-review", "code-format"),
            ("git-commit", "git-rebase"),
            ("pdf-forms", "pdf"),
        ] {
            assert!(!check(new, old), "{new} was taken for {old}");
        }
    }
}
