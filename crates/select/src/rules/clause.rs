//! Splits a task into clauses, and each clause into words with their possible meanings.
//!
//! A request has one verb, so each clause is read separately: "explain it, then fix it" requests two things. Text in
//! quotation marks is a quotation and is not part of the request; text in backticks is code.

use super::{
    thing::{ThingShape, shape},
    words::{Noun, Sense, WordRole, Words, plain},
};
use crate::mention::mentions;

/// The maximum number of characters that are read. The request of a longer task is within them.
pub(super) const MAX_CHARACTERS: usize = 20_000;

/// Languages whose names are common words: recognised only with a capital, after a word such as *in* or *to*.
const SHORT: &[&str] = &["Go", "C", "R", "D"];

/// One word, or several that mean one thing.
#[derive(Clone, Debug)]
pub(super) struct ClauseWord<'a> {
    /// The text in the task, without the punctuation around it.
    pub(super) text: &'a str,
    pub(super) plain: String,
    pub(super) sense: Sense,
    pub(super) shape: Option<ThingShape>,
}

/// A part of a task with at most one request.
#[derive(Clone, Debug, Default)]
pub(super) struct Clause<'a> {
    pub(super) words: Vec<ClauseWord<'a>>,
    /// It ends with a question mark.
    pub(super) asks: bool,
}

impl ClauseWord<'_> {
    pub(super) fn is(&self, role: WordRole) -> bool {
        self.shape.is_none() && self.sense.is(role)
    }

    /// Whether it is code or the name of a language, framework or tool.
    pub(super) fn is_code(&self) -> bool {
        match self.shape {
            Some(shape) => shape.is_code(),
            None => matches!(
                self.sense.noun,
                Some(Noun::Code | Noun::Double | Noun::Name)
            ),
        }
    }
}

/// The clauses of a task, in order, none of them empty; and whether the task is longer than what was read.
pub(super) fn clauses(task: &str) -> (Vec<Clause<'_>>, bool) {
    let words = Words::get();
    let mut out = Vec::new();
    let mut clause = Clause::default();
    let end = task.char_indices().nth(MAX_CHARACTERS);
    let (task, more) = match end.and_then(|(end, _)| task.get(..end)) {
        Some(begin) => (begin, true),
        None => (task, false),
    };
    let mut tokens = Tokens { rest: task }.peekable();
    while let Some(token) = tokens.next() {
        // The name of a skill states who does it, not what is done.
        if !token.code && !mentions(token.text).is_empty() && !token.ends {
            continue;
        }
        let mut word = read(token, words);
        let before = clause.words.last();
        if SHORT.contains(&word.text) && before.is_some_and(|before| before.is(WordRole::Place)) {
            word.sense = Sense::name();
        }
        let joins = word.is(WordRole::Join) && tokens.peek().is_some();
        if !joins {
            clause.words.push(word);
        }
        if joins || token.ends {
            clause.asks = token.asks;
            close(&mut clause, &mut out, words);
        }
    }
    close(&mut clause, &mut out, words);
    (out, more)
}

fn close<'a>(clause: &mut Clause<'a>, out: &mut Vec<Clause<'a>>, words: &Words) {
    let done = std::mem::take(clause);
    if !done.words.is_empty() {
        out.push(Clause {
            words: merge(&done.words, words),
            ..done
        });
    }
}

/// A word of the task.
#[derive(Clone, Copy)]
struct ClauseToken<'a> {
    text: &'a str,
    quoted: bool,
    code: bool,
    /// A clause ends after it.
    ends: bool,
    asks: bool,
}

fn read<'a>(token: ClauseToken<'a>, words: &Words) -> ClauseWord<'a> {
    let plain = if token.quoted {
        String::new()
    } else {
        plain(token.text)
    };
    let shape = if token.code {
        Some(ThingShape::Code)
    } else if token.quoted {
        Some(ThingShape::Quote)
    } else {
        shape(token.text)
    };
    ClauseWord {
        text: token.text,
        sense: sense(&plain, words),
        plain,
        shape,
    }
}

/// The meaning of a word; of `Python-Skript` the meaning of its last part.
fn sense(plain: &str, words: &Words) -> Sense {
    let whole = words.sense(plain);
    let part = || {
        let (_, part) = plain.rsplit_once('-')?;
        words.sense(part).map(Sense::as_part)
    };
    whole.or_else(part).unwrap_or_default()
}

/// Merges words that mean one thing together: `pull request`, `dark mode`.
fn merge<'a>(mut words: &[ClauseWord<'a>], known: &Words) -> Vec<ClauseWord<'a>> {
    let mut out: Vec<ClauseWord<'a>> = Vec::with_capacity(words.len());
    while let Some(first) = words.first() {
        let longest = known.longest(&first.plain).min(words.len());
        let found = (2..=longest).rev().find_map(|count| {
            let part = words.get(..count)?;
            let entry: Vec<&str> = part.iter().map(|word| word.plain.as_str()).collect();
            let entry = entry.join(" ");
            let sense = known.sense(&entry)?;
            Some((count, entry, sense))
        });
        let mut word = first.clone();
        let mut taken = 1;
        if let Some((count, entry, sense)) = found {
            (word.plain, word.sense, word.shape) = (entry, sense, None);
            taken = count;
        }
        out.push(word);
        words = words.get(taken..).unwrap_or_default();
    }
    out
}

/// Splits a string into words.
struct Tokens<'a> {
    rest: &'a str,
}

/// Pairs of quotation marks.
const QUOTES: &[(char, char)] = &[('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')];

impl<'a> Iterator for Tokens<'a> {
    type Item = ClauseToken<'a>;

    fn next(&mut self) -> Option<ClauseToken<'a>> {
        let option = self.rest.trim_start().starts_with("--");
        let opens = |c: char| c.is_whitespace() || !option && "([{¿¡-–—*•>#".contains(c);
        self.rest = self.rest.trim_start_matches(opens);
        let first = self.rest.chars().next()?;
        if first == '`' {
            let fence = if self.rest.starts_with("```") {
                "```"
            } else {
                "`"
            };
            if let Some(token) = self.enclosed(fence, fence, true) {
                return Some(token);
            }
        }
        if let Some((open, close)) = QUOTES.iter().find(|(open, _)| *open == first) {
            let (mut a, mut b) = ([0; 4], [0; 4]);
            let (open, close) = (open.encode_utf8(&mut a), close.encode_utf8(&mut b));
            if let Some(token) = self.enclosed(open, close, false) {
                return Some(token);
            }
        }
        // A backtick without a closing one is not a mark.
        self.rest = self.rest.trim_start_matches('`');
        let end = self.rest.find(|c: char| c.is_whitespace() || c == '`');
        let (raw, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len()))?;
        self.rest = rest;
        let text = raw.trim_end_matches(|c: char| ".,;:!?)]}\"'”»…".contains(c));
        let behind = raw.get(text.len()..).unwrap_or_default();
        let line = rest.trim_start_matches(|c: char| c.is_whitespace() && c != '\n');
        Some(ClauseToken {
            text,
            quoted: false,
            code: false,
            ends: behind.contains(['.', ',', ';', ':', '!', '?', '…']) || line.starts_with('\n'),
            asks: behind.contains('?'),
        })
    }
}

impl<'a> Tokens<'a> {
    /// The text between two marks, if the second one exists.
    fn enclosed(&mut self, open: &str, close: &str, code: bool) -> Option<ClauseToken<'a>> {
        let inner = self.rest.strip_prefix(open)?;
        let (text, rest) = inner.split_once(close)?;
        self.rest = rest;
        let ends = rest.starts_with(['.', ',', ';', ':', '!', '?', '\n']);
        let asks = rest.starts_with('?');
        self.rest = rest.trim_start_matches(['.', ',', ';', ':', '!', '?']);
        Some(ClauseToken {
            text,
            quoted: !code,
            code,
            ends,
            asks,
        })
    }
}
