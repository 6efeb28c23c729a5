//! Handles and names as every provider takes them back.
//!
//! A model may call a tool that does not exist, by a name that no tool can have, or come with handles of another provider. That stays in the
//! conversation as it was, and is sent like this: otherwise every further request would be refused.

use std::borrow::Cow;

/// A name is not longer.
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

/// The same for the name of a tool.
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
