//! The ledger of active skills: the texts that a compacted conversation must still contain.
//!
//! A model that loses the text of an active skill continues as if it had never read it. So each activation is kept here, and
//! compaction attaches the texts again, within stated limits; unloaded skills are not among them.

use std::collections::BTreeMap;

use metier_model::Digest;

use crate::{
    render::FramedText,
    tokens::{count as count_tokens, within},
};

/// The maximum size of one skill that is attached again.
const PER_SKILL: usize = 5_000;
/// The maximum size of all of them.
const IN_ALL: usize = 25_000;

/// The state of the skills of a session.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pinned: BTreeMap<String, Digest>,
    texts: Vec<(String, FramedText)>,
}

/// The text of an active skill, for a compacted conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedText {
    /// Name of the skill.
    pub skill: String,
    /// The text of the skill, cut to fit.
    pub text: String,
    /// Whether the text was cut to fit.
    pub cut: bool,
}

impl Ledger {
    /// Whether a session may use these bytes of a skill: the first ones that it saw, and no others.
    pub(super) fn pin(&mut self, skill: &str, digest: Digest) -> bool {
        *self.pinned.entry(skill.to_owned()).or_insert(digest) == digest
    }

    /// Sets the text of an active skill, in place of the previous one.
    pub(super) fn keep(&mut self, skill: &str, text: FramedText) {
        self.strip(skill);
        self.texts.push((skill.to_owned(), text));
    }

    /// A skill was unloaded.
    pub(super) fn strip(&mut self, skill: &str) {
        self.texts.retain(|(name, _)| name != skill);
    }

    /// The texts to attach to a compacted conversation: newest first, within the limits.
    pub(super) fn attach(&self) -> Vec<AttachedText> {
        let mut room = IN_ALL;
        let newest_first = self.texts.iter().rev();
        let attached = newest_first.map(|(skill, text)| {
            let (text, cut) = within(text.as_str(), PER_SKILL.min(room));
            room -= count_tokens(text).min(room);
            AttachedText {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(body: &str) -> FramedText {
        let text = format!("<skill_content name=\"s\">\n{body}</skill_content>\n");
        FramedText::from_conversation("s", &text).unwrap()
    }

    #[test]
    fn a_session_sees_the_bytes_that_it_saw_first() {
        let mut ledger = Ledger::default();
        assert!(ledger.pin("a", Digest([1; 32])));
        assert!(ledger.pin("a", Digest([1; 32])));
        assert!(!ledger.pin("a", Digest([2; 32])));
        assert!(ledger.pin("b", Digest([2; 32])));
    }

    #[test]
    fn attached_texts_keep_to_their_limits_and_report_cuts() {
        let mut ledger = Ledger::default();
        let long = "one two three four five six seven eight nine ten\n".repeat(2_000);
        for number in 0..7 {
            ledger.keep(&format!("s{number}"), framed(&long));
        }
        ledger.keep("short", framed("a few words\n"));
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
}
