//! The ledger of active skills: what must still be in a conversation after it was made shorter.
//!
//! A model that loses the text of an active skill goes on as if it had never read it. So each activation is kept here, and
//! whoever compacts a conversation attaches them again, within limits that are said; a skill that was unloaded is not among them.

use std::collections::BTreeMap;

use metier_model::Digest;

use crate::count_tokens;

/// How much of one skill is attached again.
const PER_SKILL: usize = 5_000;
/// How much of all of them.
const IN_ALL: usize = 25_000;

/// What a session knows of the skills in it.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pinned: BTreeMap<String, Digest>,
    texts: Vec<(String, String)>,
}

/// The text of an active skill, for a conversation that was made shorter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// The skill.
    pub skill: String,
    /// Its text.
    pub text: String,
    /// Whether there was no room for all of it.
    pub cut: bool,
}

impl Ledger {
    /// Whether a session may use these bytes of a skill: the first ones that it saw, and no others.
    pub(super) fn pin(&mut self, skill: &str, digest: Digest) -> bool {
        *self.pinned.entry(skill.to_owned()).or_insert(digest) == digest
    }

    /// The text of an active skill, in place of the one before.
    pub(super) fn keep(&mut self, skill: &str, text: String) {
        self.strip(skill);
        self.texts.push((skill.to_owned(), text));
    }

    /// A skill was unloaded.
    pub(super) fn strip(&mut self, skill: &str) {
        self.texts.retain(|(name, _)| name != skill);
    }

    /// What is attached to a conversation that was made shorter: the newest first, as long as there is room.
    pub(super) fn attach(&self) -> Vec<Attached> {
        let mut room = IN_ALL;
        let newest_first = self.texts.iter().rev();
        let attached = newest_first.map(|(skill, text)| {
            let (text, cut) = within(text, PER_SKILL.min(room));
            room -= count_tokens(text).min(room);
            Attached {
                skill: skill.clone(),
                text: text.to_owned(),
                cut,
            }
        });
        attached
            .filter(|attached| !attached.text.is_empty())
            .collect()
    }
}

/// The beginning of a text that has at most so many tokens, whole lines if there are any, and whether anything was cut.
pub(crate) fn within(text: &str, tokens: usize) -> (&str, bool) {
    if count_tokens(text) <= tokens {
        return (text, false);
    }
    let (mut fits, mut too_long) = (0, text.len());
    while too_long - fits > 1 {
        let middle = text.floor_char_boundary(fits + (too_long - fits) / 2);
        if middle <= fits {
            break;
        }
        if count_tokens(&text[..middle]) <= tokens {
            fits = middle;
        } else {
            too_long = middle;
        }
    }
    let line = text[..fits].rfind('\n').map_or(fits, |line| line + 1);
    (&text[..line], true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_sees_the_bytes_that_it_saw_first() {
        let mut ledger = Ledger::default();
        assert!(ledger.pin("a", Digest([1; 32])));
        assert!(ledger.pin("a", Digest([1; 32])));
        assert!(!ledger.pin("a", Digest([2; 32])));
        assert!(ledger.pin("b", Digest([2; 32])));
    }

    #[test]
    fn what_is_attached_keeps_to_its_limits_and_says_what_was_cut() {
        let mut ledger = Ledger::default();
        let long = "one two three four five six seven eight nine ten\n".repeat(2_000);
        for number in 0..7 {
            ledger.keep(&format!("s{number}"), long.clone());
        }
        ledger.keep("short", "a few words\n".into());
        ledger.strip("s6");
        let attached = ledger.attach();
        assert_eq!(attached[0].skill, "short");
        assert!(!attached[0].cut && attached[1].cut);
        assert!(
            attached
                .iter()
                .all(|one| count_tokens(&one.text) <= PER_SKILL)
        );
        assert!(attached.iter().all(|one| one.skill != "s6"));
        let sum: usize = attached.iter().map(|one| count_tokens(&one.text)).sum();
        assert!(sum <= IN_ALL && sum > IN_ALL - PER_SKILL, "{sum}");
    }

    #[test]
    fn a_text_is_cut_after_a_line() {
        let (text, cut) = within("one\ntwo\nthree\n", 3);
        assert!(cut && (text.is_empty() || text.ends_with('\n')), "{text:?}");
        assert_eq!(within("ä", 0), ("", true));
        assert_eq!(within("", 0), ("", false));
    }
}
