//! Whether a sentence is an order, a warning or a denial.

use std::{ops::Range, sync::LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};

use super::{
    SentenceRole, is_kept_from_the_user,
    lexicon::{PhraseClass, places_of},
};

/// Headings of sections with prohibitions, and of sections about attacks.
pub(super) fn warning_heading(heading: &str) -> Option<SentenceRole> {
    const BAD: &[&str] = &[
        "anti-pattern",
        "antipattern",
        "what not to do",
        "don't",
        "do not",
        "never ",
        "red flag",
        "bad example",
        "bad:",
        "❌",
        "🚫",
        "forbidden",
        "prohibited",
        "not allowed",
        "rejected",
        "warning signs",
        "what gets flagged",
        "rationalizations",
    ];
    const ABOUT: &[&str] = &[
        "avoid",
        "pitfall",
        "vulnerab",
        "attack",
        "threat",
        "malicious",
        "dangerous",
        "insecure",
        "guardrail",
        "safety rule",
        "security rule",
        "common mistakes",
        "exploit",
        "what it detects",
        "detection",
        "out of scope",
    ];
    static FINDERS: LazyLock<[Option<AhoCorasick>; 2]> = LazyLock::new(|| [BAD, ABOUT].map(any_of));
    let has = |finder: &Option<AhoCorasick>| {
        finder
            .as_ref()
            .is_some_and(|finder| finder.is_match(heading))
    };
    if has(&FINDERS[0]) {
        Some(SentenceRole::Warning)
    } else {
        has(&FINDERS[1]).then_some(SentenceRole::Caution)
    }
}

/// Whether a paragraph only prohibits the items of the list below it: "DO NOT:".
pub(super) fn denies_list(text: &str) -> bool {
    const HEADS: &[&str] = &[
        "do not",
        "don't",
        "don'ts",
        "never",
        "avoid",
        "must not",
        "you must not",
        "you must never",
        "forbidden",
        "prohibited",
        "not allowed",
    ];
    let text = text.trim();
    let head = text.trim_matches(|c: char| !c.is_alphanumeric());
    text.ends_with(':') && HEADS.contains(&head)
}

/// Headings of sections with steps to follow.
pub(super) fn is_steps_heading(heading: &str) -> bool {
    const STEPS: &[&str] = &[
        "install",
        "setup",
        "set up",
        "prerequisite",
        "requirement",
        "quick start",
        "quickstart",
        "getting started",
        "usage",
        "how to use",
        "instructions",
        "workflow",
        "step 1",
        "configuration",
    ];
    warning_heading(heading).is_none() && STEPS.iter().any(|word| heading.contains(word))
}

/// The role of sentences that are or introduce a wrong example, and of those about attacks.
pub(super) fn bad_example(text: &str) -> Option<SentenceRole> {
    const BAD: &[&str] = &[
        "❌",
        "🚫",
        "⛔",
        "bad:",
        "wrong:",
        "bad example",
        "insecure:",
        "vulnerable:",
        "unsafe:",
        "anti-pattern",
        "for example, an attacker",
        "such as \"ignore",
        "like \"ignore",
        "e.g., \"ignore",
        "payload example",
        "red flag",
    ];
    const ABOUT: &[&str] = &[
        "an attacker",
        "attackers ",
        "attacker could",
        "malicious skill",
        "malicious actor",
        "prompt injection",
        "injection attempt",
        "if you see",
        "if a skill",
        "looks like this",
        "exploit",
        "flag any",
        "flagged",
        "is blocked",
        "are blocked",
        "will be blocked",
        "reject",
        "refuse",
    ];
    static FINDERS: LazyLock<[Option<AhoCorasick>; 2]> = LazyLock::new(|| [BAD, ABOUT].map(any_of));
    let has =
        |finder: &Option<AhoCorasick>| finder.as_ref().is_some_and(|finder| finder.is_match(text));
    if has(&FINDERS[0]) {
        Some(SentenceRole::Warning)
    } else {
        has(&FINDERS[1]).then_some(SentenceRole::Caution)
    }
}

/// The acts that a sentence can order.
pub(super) const ACTIONS: &[&[PhraseClass]] = &[&[
    PhraseClass::Run,
    PhraseClass::Send,
    PhraseClass::Download,
    PhraseClass::Install,
    PhraseClass::Paste,
    PhraseClass::Obey,
    PhraseClass::Ignore,
    PhraseClass::Collect,
    PhraseClass::Write,
]];

/// The parts of a sentence that a negation governs: from it to the end of its clause.
pub(super) fn negated(text: &str) -> Vec<Range<usize>> {
    /// Words after a comma that begin a new clause.
    const VERBS: &[&str] = &[
        "run ",
        "execute ",
        "send ",
        "download ",
        "install ",
        "copy ",
        "paste ",
        "open ",
        "upload ",
        "post ",
        "read ",
        "collect ",
        "ignore ",
        "use ",
        "follow ",
        "call ",
        "launch ",
        "start ",
        "visit ",
        "add ",
        "write ",
        "append ",
        "forward ",
        "fetch ",
        "always ",
        "you must",
        "you should",
        "you need",
        "please",
        "first",
        "instead",
        "simply",
        "just ",
        "then ",
        "but ",
        "make sure",
    ];
    let parts = places_of(
        text,
        &[
            PhraseClass::Conceal,
            PhraseClass::NoConsent,
            PhraseClass::NoLeave,
            PhraseClass::Stonewall,
            PhraseClass::Persona,
            PhraseClass::Ignore,
            PhraseClass::Required,
        ],
    );
    let own = super::orders::own_negations(text);
    let mut spans: Vec<Range<usize>> = Vec::new();
    for negation in places_of(text, &[PhraseClass::Negation]) {
        let rest = &text[negation.start..];
        // "Do not tell the user" is a separate phrase; "never forget to" denies nothing.
        let is_part = parts
            .iter()
            .any(|part| part.start <= negation.start && part.end > negation.end);
        if is_part
            || own.contains(&negation.start)
            || is_negation_harmless(rest)
            || spans
                .last()
                .is_some_and(|span| span.contains(&negation.start))
        {
            continue;
        }
        let end = rest
            .char_indices()
            .find(|(at, c)| match c {
                ';' | '.' | '!' | '?' => rest[at + 1..].starts_with([' ', '\n']),
                '—' | '–' => true,
                ',' | ':' => VERBS.iter().any(|word| {
                    let after = rest[at + 1..].trim_start().strip_prefix(word.trim_end());
                    after.is_some_and(|after| !after.starts_with(char::is_alphanumeric))
                }),
                ' ' => [" but ", " instead ", " however ", " so that ", " until "]
                    .iter()
                    .any(|word| rest[*at..].starts_with(word)),
                _ => false,
            })
            .map_or(rest.len(), |(at, _)| at);
        spans.push(negation.start..negation.start + end);
    }
    spans
}

/// Whether a text ends within the scope of a negation: the following text is then prohibited.
pub(crate) fn denies(before: &str) -> bool {
    let lower = before.to_lowercase();
    let end = lower.trim_end_matches([' ', '`', '"', '\'']).len();
    negated(&lower)
        .iter()
        .any(|span| span.end >= end && !span.is_empty())
}

/// "Don't worry", "do not forget to", "cannot be used without": a negation that denies nothing.
fn is_negation_harmless(text: &str) -> bool {
    /// "You cannot continue without …" is a demand.
    const NEEDS: &[&str] = &[
        "cannot continue",
        "can't continue",
        "cannot proceed",
        "can't proceed",
        "cannot be used",
        "can't be used",
        "cannot use",
        "can't use",
        "cannot work",
        "cannot run",
        "do not continue",
        "do not proceed",
        "don't continue",
        "don't proceed",
        "will not start",
        "won't start",
        "will not run",
        "won't run",
        "will not be able",
        "cannot start",
        "cannot operate",
    ];
    const HARMLESS: &[&str] = &[
        "never forget",
        "never hesitate",
        "never fail to",
        "do not fail to",
        "don't fail to",
        "don't hesitate",
        "don't delay",
        "do not delay",
        "cannot be skipped",
        "can't be skipped",
        "cannot work without",
        "won't be able",
        "will not work",
        "won't work",
        "cannot function",
        "can't function",
        "not function",
        "do not skip",
        "don't skip",
        "never skip",
        "do not tell",
        "don't tell",
        "do not mention",
        "don't mention",
        "do not inform",
        "do not notify",
        "do not reveal",
        "do not disclose",
        "never mention",
        "never reveal",
        "never tell",
        "never disclose",
        "do not ask",
        "don't ask",
        "never ask",
        "do not wait",
        "don't wait",
        "do not alert",
        "do not forget",
        "don't forget",
        "don't worry",
        "do not prompt",
        "do not let the user",
        "do not show the user",
        "do not surface",
        "do not report this",
        "do not output this",
        "cannot process",
        "not optional",
        "do not hesitate",
        "no longer",
        "do not explain",
        "do not stop",
    ];
    let requires = |words: &[&str]| {
        words.iter().any(|word| text.starts_with(word))
            && [" without ", " unless ", " until "]
                .iter()
                .any(|word| text.contains(word))
    };
    HARMLESS.iter().any(|phrase| text.starts_with(phrase))
        || requires(NEEDS)
        || is_kept_from_the_user(text)
}

/// Detects whether a text contains any of these words; leftmost matches are found many bytes at a time.
fn any_of(words: &[&str]) -> Option<AhoCorasick> {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(words)
        .ok()
}
