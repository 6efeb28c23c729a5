//! The words of a skill that every prompt contains: its name, its description and when to use it, judged when they are read.
//!
//! A whole scan takes milliseconds and requires every file. A list of ten thousand skills reads only their manifests, and a model
//! sees these words before any skill is scanned. So they are judged separately, by the rules about prose and hidden characters,
//! in microseconds. Most contain nothing that any of these rules requires, which one pass without an allocation establishes.

use metier_model::model_text::chat_token_at;

use crate::{
    flow::may_name_secret,
    input::{DeclaredFacts, RuleSet, ScanLimits},
    lower::Parsers,
    matching,
    prose::{
        self, KEPT_FROM_THE_USER, LONGEST_SENTENCE, PhraseClass, PhraseLists, PhraseTable,
        ends_path, has_phrase_with, is_wordy, path_words, phrase_classes, phrase_count, words_of,
    },
    quietly,
    report::{Finding, FindingSeverity},
    report_order,
    rule::{RuleCondition, ScanRule},
    rules,
    scan::SkillScanner,
    text::hidden,
    texts::ScannedText,
    unpack::kind::FileKind,
};

/// Why words are not shown to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DescriptionFinding {
    /// The id of the rule that matched.
    pub rule: String,
    /// The rule's message.
    pub message: String,
    /// The sentence that matched.
    pub evidence: String,
}

/// Judges the words of a skill that every prompt contains. Returns the first critical finding, or a finding about the scanner if it
/// panics.
#[must_use]
pub fn judge_words(name: &str, description: &str, when_to_use: &str) -> Option<DescriptionFinding> {
    let is_ordinary = |words: &str| words.is_ascii() && !has_sign(words);
    let judged = quietly(|| {
        // The full stop after the name turns it into a path.
        let has_ordinary_name = is_ordinary(name) && !may_name_secret(name.as_bytes());
        if has_ordinary_name && is_ordinary(description) && is_ordinary(when_to_use) {
            return None;
        }
        judge(&[name, ".\n\n", description, "\n\n", when_to_use, "\n"].concat())
    });
    judged.unwrap_or_else(|| {
        Some(DescriptionFinding {
            rule: "scanner".to_owned(),
            message: "the scanner failed on it, which is a bug in metier".to_owned(),
            evidence: String::new(),
        })
    })
}

fn judge(words: &str) -> Option<DescriptionFinding> {
    may_instruct(words).then(|| worst(words)).flatten()
}

/// Classes of words. Each critical rule about sentences requires a word of one of these, a URL, an email address or a path to a secret.
const DECIDING: &[PhraseClass] = &[
    PhraseClass::Authority,
    PhraseClass::Conceal,
    PhraseClass::Environment,
    PhraseClass::External,
    PhraseClass::Ignore,
    PhraseClass::Miner,
    PhraseClass::Persona,
    PhraseClass::Unnamed,
];

/// Classes that the grammar of a sentence determines: any text may match them.
const BY_GRAMMAR: &[PhraseClass] = &[
    PhraseClass::OverrideOrder,
    PhraseClass::Unbound,
    PhraseClass::Taken,
];

/// The phrases of which a text contains at least one if a critical rule about sentences matches, apart from email addresses and paths.
const SIGNS: PhraseLists = &{
    let mut lists: [&[&str]; DECIDING.len() + 2] = [&["://"]; DECIDING.len() + 2];
    let mut index = 0;
    while index < DECIDING.len() {
        lists[index] = words_of(DECIDING[index]);
        index += 1;
    }
    lists[index] = KEPT_FROM_THE_USER;
    lists
};

static TABLE: PhraseTable<{ phrase_count(SIGNS) }> = PhraseTable::new(SIGNS);

/// The meaning of a byte for [`has_sign`].
const IN_WORD: u8 = 1;
/// The start of an escape sequence, a tag or a chat token, or a part of an email address.
const SPECIAL: u8 = 2;
const ENDS_PATH: u8 = 4;
const IN_PATH: u8 = 8;
/// The first byte of one of the [`SIGNS`].
const BEGINS_SIGN: u8 = 16;

static KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        #[expect(clippy::cast_possible_truncation, reason = "there are 256")]
        let value = byte as u8;
        kinds[byte] = match value {
            0x1b | b'@' | b'<' | b'[' => SPECIAL,
            b'/' | b'.' => IN_PATH,
            _ if ends_path(value) => ENDS_PATH,
            _ if is_wordy(value) => IN_WORD,
            _ => 0,
        };
        if has_phrase_with(SIGNS, value.to_ascii_lowercase()) {
            kinds[byte] |= BEGINS_SIGN;
        }
        byte += 1;
    }
    kinds
};

/// Whether a text contains anything that a critical rule requires: one of the [`SIGNS`] at the start of a word, in ASCII of either case, a
/// path to a secret, or a special byte.
fn has_sign(text: &str) -> bool {
    let bytes = text.as_bytes();
    let kind = |byte: &u8| KINDS[usize::from(*byte)];
    // A longer sentence is cut, so a word can then start in the middle of another one.
    let has_whole_words = bytes.len() <= LONGEST_SENTENCE;
    let (mut at, mut path, mut is_path) = (0, 0, false);
    while let Some(first) = bytes.get(at) {
        if kind(first) & BEGINS_SIGN != 0 && TABLE.begins(&bytes[at..]) {
            return true;
        }
        match kind(first) & !BEGINS_SIGN {
            IN_WORD if has_whole_words => {
                let mut rest = bytes[at..].iter();
                let length = rest.position(|byte| kind(byte) & IN_WORD == 0);
                at = length.map_or(bytes.len(), |length| at + length);
                continue;
            }
            SPECIAL => return true,
            IN_PATH => is_path = true,
            ENDS_PATH => {
                if is_path && may_name_secret(&bytes[path..at]) {
                    return true;
                }
                (path, is_path) = (at + 1, false);
            }
            _ => {}
        }
        at += 1;
    }
    is_path && may_name_secret(&bytes[path..])
}

/// Whether a text can contain anything critical. If not, [`worst`] finds nothing.
fn may_instruct(words: &str) -> bool {
    let has = |byte: u8| memchr::memchr(byte, words.as_bytes()).is_some();
    let may_hide = !words.is_ascii() || has(0x1b);
    let mut brackets = memchr::memchr2_iter(b'<', b'[', words.as_bytes());
    if (may_hide && !hidden::hidden(words).list.is_empty())
        || has(b'@')
        || brackets.any(|at| chat_token_at(&words[at..]).is_some())
    {
        return true;
    }
    if words.is_ascii() {
        return may_be_complete(&words.to_ascii_lowercase());
    }
    let is_capital = |c: char| !c.is_ascii() && !c.to_lowercase().eq([c]);
    has_sign(words) || words.chars().any(is_capital) && has_sign(&words.to_lowercase())
}

/// Whether a text in lower case may contain everything that one of the critical rules about sentences requires. URLs and paths are found by
/// their form, so a text with one of them may match any rule.
fn may_be_complete(lower: &str) -> bool {
    if lower.contains("://") || path_words(lower).any(|word| may_name_secret(word.as_bytes())) {
        return true;
    }
    // Phrases are matched with one space between their words.
    let folded: String = lower
        .split_ascii_whitespace()
        .flat_map(|word| [word, " "])
        .collect();
    let mut classes = phrase_classes(lower).union(phrase_classes(&folded));
    BY_GRAMMAR.iter().for_each(|class| classes.insert(*class));
    let is_complete = |rule: &ScanRule| match rule.when {
        RuleCondition::Sentence { all, .. } | RuleCondition::Passage { all, .. } => {
            classes.matches(all, &[])
        }
        _ => false,
    };
    let mut critical = rules::all().filter(|rule| rule.severity == FindingSeverity::Critical);
    critical.any(is_complete)
}

fn worst(words: &str) -> Option<DescriptionFinding> {
    let (about, rules) = (DeclaredFacts::default(), RuleSet::default());
    let mut scanner = SkillScanner::new(&about, &rules, Parsers::BUILT);
    let index = scanner
        .texts
        .add(ScannedText::new("SKILL.md".to_owned(), words.to_owned()));
    let hidden = matching::hidden(&mut scanner, index);
    scanner.documents.push((index, prose::plain(words)));
    scanner.plain_form(index, words, FileKind::Text, hidden);
    matching::sentences(&mut scanner);
    report_order::settle(&mut scanner.report, &ScanLimits::default());
    let mut findings = scanner.report.findings.into_iter();
    let worst = findings.find(|finding| finding.severity == FindingSeverity::Critical)?;
    let Finding {
        rule,
        message,
        evidence,
        ..
    } = worst;
    Some(DescriptionFinding {
        rule: rule.id().to_owned(),
        message,
        evidence,
    })
}

#[cfg(test)]
#[path = "descriptions_tests.rs"]
mod tests;
