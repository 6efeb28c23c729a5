//! The few words of a skill that enter every prompt: its name and its description, judged when they are read.
//!
//! A whole scan takes milliseconds and needs every file. A list of ten thousand skills reads nothing but their heads, and a model is
//! shown these before any skill is scanned. So they are judged by themselves, by the rules about prose and about hidden characters alone,
//! in microseconds; and most have no word that any of these rules requires, which takes a fraction of one.

use metier_model::model_text::chat_token_at;

use crate::{
    flow::{SIGNS_OF_PATHS, may_name_path},
    matching,
    prose::{
        self, Class, KEPT_FROM_THE_USER, PhraseLists, PhraseTable, phrase_classes, phrase_count,
        words_of,
    },
    quietly,
    report::{Finding, Severity},
    rule::{Rule, When},
    rules,
    scan::{About, Limits, Rules, Scanner},
    settle,
    text::hidden,
    texts::Text,
    unpack::kind::Kind,
};

/// Why words may not be shown to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordsFinding {
    /// The rule.
    pub rule: String,
    /// What is wrong.
    pub message: String,
    /// The words that show it.
    pub evidence: String,
}

/// Judges words that will be shown to models. Anything critical in them is an answer, and so is a failure of the judge.
#[must_use]
pub fn judge_words(words: &str) -> Option<WordsFinding> {
    let judged = quietly(|| may_instruct(words).then(|| worst(words)).flatten());
    judged.unwrap_or_else(|| {
        Some(WordsFinding {
            rule: "scanner".to_owned(),
            message: "the scanner failed on it, which is a bug in metier".to_owned(),
            evidence: String::new(),
        })
    })
}

/// Classes of words. Each critical rule about sentences requires a word of one of these, a URL, an address of mail or a path to a secret.
const DECIDING: &[Class] = &[
    Class::Authority,
    Class::Conceal,
    Class::Disguise,
    Class::Environment,
    Class::External,
    Class::Miner,
    Class::PriorInstructions,
];

/// What a text has at least one of if a critical rule about sentences holds, but for addresses of mail.
const SIGNS: PhraseLists = &{
    let (paths, bare_paths) = (SIGNS_OF_PATHS[0], SIGNS_OF_PATHS[1]);
    let mut lists: [&[&str]; DECIDING.len() + 4] = [&["://"]; DECIDING.len() + 4];
    let mut index = 0;
    while index < DECIDING.len() {
        lists[index] = words_of(DECIDING[index]);
        index += 1;
    }
    lists[index] = KEPT_FROM_THE_USER;
    lists[index + 1] = paths;
    lists[index + 2] = bare_paths;
    lists
};

/// Whether anything critical can be in a text. Where it says no, [`worst`] finds nothing.
fn may_instruct(words: &str) -> bool {
    static TABLE: PhraseTable<{ phrase_count(SIGNS) }> = PhraseTable::new(SIGNS);
    let has_sign = |lower: &str| TABLE.is_in(lower);
    let has = |byte: u8| memchr::memchr(byte, words.as_bytes()).is_some();
    let may_hide = !words.is_ascii() || has(0x1b);
    let mut brackets = memchr::memchr2_iter(b'<', b'[', words.as_bytes());
    if (may_hide && !hidden::hidden(words).list.is_empty())
        || has(b'@')
        || brackets.any(|at| chat_token_at(&words[at..]).is_some())
    {
        return true;
    }
    let lower = words.to_ascii_lowercase();
    match words.is_ascii() {
        true => has_sign(&lower) && may_be_complete(&lower),
        false => has_sign(&lower) || has_sign(&words.to_lowercase()),
    }
}

/// Whether a text in lower case may have all that one of the critical rules about sentences requires. URLs, elements and paths are found by their
/// form, so a text with one of them may have anything.
fn may_be_complete(lower: &str) -> bool {
    if lower.contains("://") || lower.contains('<') || may_name_path(lower) {
        return true;
    }
    let classes = phrase_classes(lower);
    let is_complete = |rule: &Rule| match rule.when {
        When::Sentence { all, .. } | When::Passage { all, .. } => classes.matches(all, &[]),
        _ => false,
    };
    let mut critical = rules::all().filter(|rule| rule.severity == Severity::Critical);
    critical.any(is_complete)
}

fn worst(words: &str) -> Option<WordsFinding> {
    let (about, rules) = (About::default(), Rules::default());
    let mut scanner = Scanner::new(&about, &rules);
    let index = scanner
        .texts
        .add(Text::new("SKILL.md".to_owned(), words.to_owned()));
    let hidden = matching::hidden(&mut scanner, index);
    scanner.documents.push((index, prose::plain(words)));
    scanner.plain_form(index, words, Kind::Text, hidden);
    matching::sentences(&mut scanner);
    settle::settle(&mut scanner.report, &Limits::default());
    let mut findings = scanner.report.findings.into_iter();
    let worst = findings.find(|finding| finding.severity == Severity::Critical)?;
    let Finding {
        rule,
        message,
        evidence,
        ..
    } = worst;
    Some(WordsFinding {
        rule: rule.id().to_owned(),
        message,
        evidence,
    })
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
