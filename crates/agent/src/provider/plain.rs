//! Ids and names in a form that every provider accepts.
//!
//! A model may call a missing tool, by a name that no tool can have, or with ids of another provider. The conversation keeps such
//! calls unchanged, and they are sent in this form: otherwise every further request would be refused.

use std::borrow::Cow;

/// The maximum length of a name.
const LONGEST: usize = 64;

/// Letters, digits, `_` and `-`; anything else becomes `_`.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !text.is_empty() && text.chars().all(fits) {
        return Cow::Borrowed(text);
    }
    let plain = text.chars().map(|c| if fits(c) { c } else { '_' });
    let plain: String = plain.collect();
    Cow::Owned(if plain.is_empty() {
        "_".to_owned()
    } else {
        plain
    })
}

/// [`plain`] for the name of a tool, which is also cut to the maximum length.
pub(super) fn plain_name(name: &str) -> Cow<'_, str> {
    match plain(name) {
        Cow::Borrowed(name) => Cow::Borrowed(&name[..name.len().min(LONGEST)]),
        Cow::Owned(mut name) => {
            name.truncate(LONGEST);
            Cow::Owned(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_odd_becomes_plain_and_the_rest_stays() {
        assert!(matches!(plain("toolu_01-A"), Cow::Borrowed("toolu_01-A")));
        assert_eq!(plain("functions.read:0"), "functions_read_0");
        assert_eq!(plain(""), "_");
        assert_eq!(plain_name(&"ä b".repeat(100)), "__b".repeat(22)[..64]);
        assert_eq!(plain_name(&"a".repeat(65)), "a".repeat(64));
    }
}
