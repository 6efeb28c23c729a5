//! Whether a task is coding: **one whose result is changed or new program code**.
//!
//! Tests, queries, patterns, build files, pipelines and configuration that a machine reads are code. Prose about code is not, nor is
//! reading, reviewing, running, deploying or planning it. A task that does both is coding.
//!
//! **Decision.** No model, no single pattern: a small grammar over tables. A task is cut into clauses; in each the verb is looked for, and then
//! what it acts on. *Verbs of craft* (refactor) mean code unless their object says otherwise; *verbs of change* (write, fix, add) mean it when
//! their object does; all others leave code as it is. What a thing is *about* does not count: a post about Rust is a post. The best clause
//! decides, and whoever says that no code is to be changed is believed.
//!
//! **Worked example.** "Explain the parser, then fix the bug in `next()`." `explain` leaves code as it is; `fix` changes, and `bug` is code:
//! 0.9, so it is coding.

use super::{
    clause::{Clause, MAX_CHARACTERS, Word, clauses},
    request::{Found, find},
    thing::{Shape, file},
    words::{Role, Words},
};

/// What is half as sure is not done unasked: two more skills would join the task.
const THRESHOLD: f64 = 0.5;

/// Whether a task is coding, and how we know.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Coding {
    /// Whether it is.
    pub is: bool,
    /// How sure that is, between 0 (certainly not) and 1.
    pub score: f64,
    /// What speaks for and against it, in the order of the task.
    pub evidence: Vec<Evidence>,
}

/// Something that tells whether a task is coding.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// What kind of thing.
    pub sign: Sign,
    /// In words.
    pub detail: String,
    /// What it counts for coding, between 0 and 1.
    pub weight: f64,
}

/// The kinds of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// Somebody said so.
    Told,
    /// A request to change code.
    Change,
    /// A sentence that says how code ought to behave.
    Wish,
    /// A request that leaves code as it is, or is about something else.
    Leave,
    /// Words that forbid a change.
    Denied,
    /// The task is longer than what was read.
    Unread,
}

impl Sign {
    /// The stable word used in JSON.
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

/// What somebody named beside the task.
#[derive(Clone, Copy, Debug, Default)]
pub struct Named<'a> {
    /// Files that the task is about.
    pub files: &'a [&'a str],
    /// Languages that it is about.
    pub languages: &'a [&'a str],
}

impl Coding {
    /// The answer of somebody who was not asked: a flag.
    #[must_use]
    pub fn told(is: bool) -> Self {
        let (score, detail) = match is {
            true => (1.0, "it was said that it is coding"),
            false => (0.0, "it was said that it is not coding"),
        };
        Self {
            is,
            score,
            evidence: vec![Evidence {
                sign: Sign::Told,
                detail: detail.to_owned(),
                weight: score,
            }],
        }
    }

    /// Whether something in it asks for a change of code, also where other words forbid one.
    #[must_use]
    pub fn asks_for_a_change(&self) -> bool {
        self.evidence.iter().any(|found| found.weight >= THRESHOLD)
    }

    /// What speaks for it most, in words.
    #[must_use]
    pub fn because(&self) -> &str {
        let mut evidence = self.evidence.iter();
        let best = evidence.find(|found| found.weight >= self.score);
        best.map_or("", |found| &found.detail)
    }
}

/// Finds out whether a task is coding.
#[must_use]
pub fn coding(task: &str, named: Named<'_>) -> Coding {
    let (clauses, more) = clauses(task);
    let read: Vec<(&Clause<'_>, Found<'_, '_>)> = clauses
        .iter()
        .map(|clause| (clause, find(clause)))
        .collect();
    let context = Context::new(&read, named);
    let mut evidence: Vec<Evidence> = Vec::new();
    let mut wishes = Vec::new();
    for (clause, found) in &read {
        match found {
            Found::Request(request) => evidence.push(request.judge(&context)),
            Found::Question(word) => evidence.push(Evidence {
                sign: Sign::Leave,
                detail: format!("`{}` asks a question", shown(word.text)),
                weight: 0.0,
            }),
            Found::Story => wishes.push(Evidence {
                sign: Sign::Wish,
                detail: "it is a user story".to_owned(),
                weight: 0.75,
            }),
            Found::Statement => wishes.extend(wish(clause, &context)),
        }
    }
    // How things ought to be is a request where nobody says what to do about it.
    if evidence.iter().all(|found| found.sign == Sign::Denied) {
        evidence.extend(wishes);
    } else {
        evidence.extend(wishes.into_iter().filter(|wish| wish.weight > 0.7));
    }
    if more {
        evidence.push(Evidence {
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

/// What the whole task is about: that is what `it` means.
pub(super) struct Context {
    /// The first code of the task, in words.
    pub(super) code: Option<String>,
    /// What was named beside it, in words.
    pub(super) named: Option<String>,
}

impl Context {
    fn new(read: &[(&Clause<'_>, Found<'_, '_>)], named: Named<'_>) -> Self {
        // `fix` is a request where it is the verb, and code where it is not.
        let mut nouns = read.iter().flat_map(|(clause, found)| {
            let words = clause.words.iter();
            words.filter(|word| !found.is_verb(word))
        });
        let code = nouns.find(|word| word.is_code()).map(said);
        let mut files = named.files.iter();
        let file = files.find(|name| file(name) == Some(Shape::Source));
        let file = file.map(|name| format!("`{}` {}", shown(name), Shape::Source.as_str()));
        let language = named.languages.first();
        let language = language.map(|name| format!("the language is `{}`", shown(name)));
        Self {
            code,
            named: file.or(language),
        }
    }
}

/// A sentence that says how code ought to behave.
fn wish(clause: &Clause<'_>, context: &Context) -> Option<Evidence> {
    let wish = clause.words.iter().find(|word| word.is(Role::Wish))?;
    let code = context.code.as_ref()?;
    Some(Evidence {
        sign: Sign::Wish,
        detail: format!("`{}` says how it ought to be, and {code}", shown(wish.text)),
        weight: 0.6,
    })
}

/// How a word tells that code is meant.
pub(super) fn said(word: &Word<'_>) -> String {
    let text = shown(word.text);
    match word.shape {
        Some(shape) => format!("`{text}` {}", shape.as_str()),
        None => format!("`{}` is code", shown(&word.plain)),
    }
}

/// Somebody's word, as it is quoted.
pub(super) fn shown(text: &str) -> String {
    crate::wanted::shown(text.split('\n').next().unwrap_or_default())
}

/// Whether a clause begins like a user story and goes on like one.
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
