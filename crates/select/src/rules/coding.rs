//! Whether a task is coding: **one whose result is changed or new program code**.
//!
//! Tests, queries, patterns, build files, pipelines and machine-readable configuration are code. Prose about code is
//! not, nor is reading, reviewing, running, deploying or planning it. A task that does both is coding.
//!
//! **Decision.** No model and no single pattern, but a small grammar over tables. A task is split into clauses; each
//! is searched for its verb, and then for its object. *Verbs of craft* (refactor) mean code unless their object says
//! otherwise; *verbs of change* (write, fix, add) mean it when their object does; all others leave code unchanged.
//! The *topic* of a thing does not count: a post about Rust is a post. The best clause decides, and a statement that
//! no code should be changed overrides it.
//!
//! **Worked example.** "Explain the parser, then fix the bug in `next()`." `explain` leaves code unchanged; `fix`
//! changes, and `bug` is code: 0.9, so it is coding.

use super::{
    clause::{Clause, ClauseWord, MAX_CHARACTERS, clauses},
    request::{ClauseKind, find},
    thing::{ThingShape, file},
    words::{WordRole, Words},
};

/// The minimum score: a wrong result adds two skills to the task.
const THRESHOLD: f64 = 0.5;

/// Whether a task is coding, and the evidence.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Coding {
    /// Whether the task is coding.
    pub is: bool,
    /// The confidence, between 0 (certainly not) and 1.
    pub score: f64,
    /// The evidence for and against it, in the order of the task.
    pub evidence: Vec<CodingEvidence>,
}

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct CodingEvidence {
    /// The kind of evidence.
    pub sign: Sign,
    /// The evidence in one sentence.
    pub detail: String,
    /// How much it counts for coding, between 0 and 1.
    pub weight: f64,
}

/// The kinds of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// The caller specified it.
    Told,
    /// A request to change code.
    Change,
    /// A statement of how code should behave.
    Wish,
    /// A request that leaves code unchanged, or is about something else.
    Leave,
    /// A statement that forbids a change.
    Denied,
    /// The task is longer than what was read.
    Unread,
}

impl Sign {
    /// The stable name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Change => "change",
            Self::Wish => "wish",
            Self::Leave => "leave",
            Self::Denied => "denied",
            Self::Unread => "unread",
        }
    }
}

/// The values that were specified in addition to the task.
#[derive(Clone, Copy, Debug, Default)]
pub struct NamedBesideTask<'a> {
    /// The files of the task.
    pub files: &'a [&'a str],
    /// The languages of the task.
    pub languages: &'a [&'a str],
}

impl Coding {
    /// The result that a flag specifies.
    #[must_use]
    pub fn told(is: bool) -> Self {
        let (score, detail) = match is {
            true => (1.0, "it was specified as coding"),
            false => (0.0, "it was specified as not coding"),
        };
        Self {
            is,
            score,
            evidence: vec![CodingEvidence {
                sign: Sign::Told,
                detail: detail.to_owned(),
                weight: score,
            }],
        }
    }

    /// Whether part of it requests a change of code, even if another part forbids one.
    #[must_use]
    pub fn asks_for_a_change(&self) -> bool {
        self.evidence.iter().any(|found| found.weight >= THRESHOLD)
    }

    /// The strongest evidence, in one sentence.
    #[must_use]
    pub fn because(&self) -> &str {
        let mut evidence = self.evidence.iter();
        let best = evidence.find(|found| found.weight >= self.score);
        best.map_or("", |found| &found.detail)
    }
}

/// Determines whether a task is coding.
#[must_use]
pub fn coding(task: &str, named: NamedBesideTask<'_>) -> Coding {
    let (clauses, more) = clauses(task);
    let read: Vec<(&Clause<'_>, ClauseKind<'_, '_>)> = clauses
        .iter()
        .map(|clause| (clause, find(clause)))
        .collect();
    let context = TaskContext::new(&read, named);
    let mut evidence: Vec<CodingEvidence> = Vec::new();
    let mut wishes = Vec::new();
    for (clause, found) in &read {
        match found {
            ClauseKind::Request(request) => evidence.push(request.judge(&context)),
            ClauseKind::Question(word) => evidence.push(CodingEvidence {
                sign: Sign::Leave,
                detail: format!("`{}` asks a question", shown(word.text)),
                weight: 0.0,
            }),
            ClauseKind::Story => wishes.push(CodingEvidence {
                sign: Sign::Wish,
                detail: "it is a user story".to_owned(),
                weight: 0.75,
            }),
            ClauseKind::Statement => wishes.extend(wish(clause, &context)),
        }
    }
    // A statement of how things should be is a request if nothing else is requested.
    if evidence.iter().all(|found| found.sign == Sign::Denied) {
        evidence.extend(wishes);
    } else {
        evidence.extend(wishes.into_iter().filter(|wish| wish.weight > 0.7));
    }
    if more {
        evidence.push(CodingEvidence {
            sign: Sign::Unread,
            detail: format!("only the first {MAX_CHARACTERS} characters were read"),
            weight: 0.0,
        });
    }
    let forbidden = evidence.iter().any(|found| found.sign == Sign::Denied);
    let best = evidence
        .iter()
        .map(|found| found.weight)
        .fold(0.0, f64::max);
    let score = if forbidden { 0.0 } else { best };
    Coding {
        is: score >= THRESHOLD,
        score,
        evidence,
    }
}

/// The subject of the whole task, which `it` refers to.
pub(super) struct TaskContext {
    /// The first code in the task, as a phrase.
    pub(super) code: Option<String>,
    /// The values that were specified in addition to the task, as a phrase.
    pub(super) named: Option<String>,
}

impl TaskContext {
    fn new(read: &[(&Clause<'_>, ClauseKind<'_, '_>)], named: NamedBesideTask<'_>) -> Self {
        // `fix` is a request if it is the verb, and otherwise code.
        let mut nouns = read.iter().flat_map(|(clause, found)| {
            let words = clause.words.iter();
            words.filter(|word| !found.is_verb(word))
        });
        let code = nouns.find(|word| word.is_code()).map(said);
        let mut files = named.files.iter();
        let file = files.find(|name| file(name) == Some(ThingShape::Source));
        let file = file.map(|name| format!("`{}` {}", shown(name), ThingShape::Source.as_str()));
        let language = named.languages.first();
        let language = language.map(|name| format!("the language is `{}`", shown(name)));
        Self {
            code,
            named: file.or(language),
        }
    }
}

/// A statement of how code should behave.
fn wish(clause: &Clause<'_>, context: &TaskContext) -> Option<CodingEvidence> {
    let wish = clause.words.iter().find(|word| word.is(WordRole::Wish))?;
    let code = context.code.as_ref()?;
    Some(CodingEvidence {
        sign: Sign::Wish,
        detail: format!(
            "`{}` states the expected behaviour, and {code}",
            shown(wish.text)
        ),
        weight: 0.6,
    })
}

/// How a word shows that code is meant.
pub(super) fn said(word: &ClauseWord<'_>) -> String {
    let text = shown(word.text);
    match word.shape {
        Some(shape) => format!("`{text}` {}", shape.as_str()),
        None => format!("`{}` is code", shown(&word.plain)),
    }
}

/// A word of the task for display.
pub(super) fn shown(text: &str) -> String {
    crate::skill_triggers::shown(text.split('\n').next().unwrap_or_default())
}

/// Whether a clause begins and continues like a user story.
pub(super) fn is_story(clause: &Clause<'_>) -> bool {
    let plain: Vec<&str> = clause
        .words
        .iter()
        .map(|word| word.plain.as_str())
        .collect();
    let Some((first, rest)) = plain.split_first() else {
        return false;
    };
    let rest = rest.join(" ");
    let mut stories = Words::get().stories.iter();
    stories.any(|(begin, follow)| begin == first && crate::fold::contains(&rest, follow))
}
