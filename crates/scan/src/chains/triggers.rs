//! Triggers: instructions that depend on a file outside the skill.

use super::found;
use crate::{
    prose::{ClassSet, MarkdownDocument, PhraseClass as C, Sentence, SentenceRole},
    rule::Chain,
    scan::SkillScanner,
};

/// Top folders with files of projects, users and machines, which the skill did not create.
const OUTSIDE: &[&str] = &[
    "root",
    "home",
    "users",
    "app",
    "workspace",
    "workspaces",
    "data",
    "mnt",
    "opt",
    "srv",
    "output",
    "outputs",
    "input",
    "inputs",
    "testbed",
];

/// Extensions of files that can contain instructions.
const TELLING: &[&str] = &[
    ".md", ".txt", ".json", ".jsonl", ".yaml", ".yml", ".csv", ".toml", ".xml", ".html", ".log",
    ".py", ".js", ".sh",
];

/// Words that make the content of a file binding: orders to follow, to write, to hide.
const BINDING: &[&[C]] = &[&[
    C::Obey,
    C::Always,
    C::Write,
    C::Ignore,
    C::Authority,
    C::Conceal,
    C::Disable,
    C::Lie,
    C::Required,
]];
const BINDING_PHRASES: &[&str] = &["treat ", "as true", "instead of"];

/// Actions that must not depend on such a file.
const WORSE: &[&str] = &[
    "hidden",
    "non-rendered",
    "not rendered",
    "non-visible",
    "invisible",
    "never surface",
    "not surface",
    "password",
    "credential",
    "secret",
    "bypass",
    "suppress",
    "override",
    "phish",
    "verbatim",
    "regardless of",
    "authoritative",
    "source of truth",
    "higher priority",
];

/// "If `/app/policy.md` exists, treat it as …": the author of that file instructs the agent, and a reader of the
/// skill does not see it.
pub(super) fn outside_triggers(
    scanner: &mut SkillScanner<'_>,
    index: usize,
    document: &MarkdownDocument,
) {
    let told = document.sentences.iter().enumerate();
    for (position, sentence) in told {
        if !sentence.classes.contains(C::IfThere)
            || sentence.classes.contains(C::Threat)
            || matches!(sentence.role, SentenceRole::Quotation | SentenceRole::Table)
        {
            continue;
        }
        let content = &scanner.texts.0[index].content;
        let Some(text) = content.get(sentence.at.clone()) else {
            continue;
        };
        let lower = text.to_ascii_lowercase();
        if !lower.contains('/') || !names_outside(&lower) {
            continue;
        }
        let around = told_after(&document.sentences[position..]);
        let passage = content
            .get(sentence.at.start..around)
            .unwrap_or_default()
            .to_ascii_lowercase();
        // "Open it" is not "treat it as true".
        let told = ClassSet::of(document.sentences[position..].iter().take(3));
        if !told.matches(BINDING, &[])
            && !BINDING_PHRASES
                .iter()
                .any(|phrase| passage.contains(phrase))
        {
            continue;
        }
        let milder = !WORSE.iter().any(|sign| passage.contains(sign));
        let evidence = text.replace('\n', " ");
        let place = scanner.texts.place(index, sentence.at.start);
        found(scanner, Chain::OutsideTrigger, place, &evidence, "", milder);
    }
}

/// The maximum distance between the sentence that names the file and its new text.
const BELOW: usize = 400;

/// Settings that bypass the user, as agents' files contain them.
const UNASKED: &[&str] = &[
    "dangerouslydisablesandbox",
    "autoapproveall",
    "auto_approve_all",
    "bypasspermissions",
    "never refuse",
    "do not ask for user confirmation",
    "pre-approved",
];

/// "Write the following to CLAUDE.md:", followed by instructions not to ask.
pub(super) fn planted_orders(
    scanner: &mut SkillScanner<'_>,
    index: usize,
    document: &MarkdownDocument,
) {
    let names_file = |sentence: &&Sentence| {
        sentence.role == SentenceRole::Instruction
            && sentence
                .classes
                .matches(&[&[C::AgentFiles], &[C::Write]], &[C::Threat])
    };
    let planted = document
        .sentences
        .iter()
        .filter(names_file)
        .find_map(|sentence| {
            document.code.iter().find(|code| {
                let lower = || code.text.to_ascii_lowercase();
                !code.inline
                    && code.role == SentenceRole::Instruction
                    && code.at.start >= sentence.at.start
                    && code.at.start <= sentence.at.end + BELOW
                    && UNASKED.iter().any(|sign| lower().contains(sign))
            })
        });
    if let Some(code) = planted {
        let place = scanner.texts.place(index, code.at.start);
        found(scanner, Chain::PlantedOrder, place, &code.text, "", false);
    }
}

/// One sentence claims every conversation, and another one gives the same answer to all of them.
pub(super) fn takeover(scanner: &mut SkillScanner<'_>, documents: &[(usize, MarkdownDocument)]) {
    // Both must be in one file: a manual's statement about its server is unrelated to another page's claim.
    let found_at = documents.iter().find_map(|(index, document)| {
        let told = |class: C| {
            document.sentences.iter().find(|sentence| {
                sentence.classes.contains(class)
                    && !sentence.classes.contains(C::Threat)
                    && matches!(
                        sentence.role,
                        SentenceRole::Instruction | SentenceRole::Warning
                    )
            })
        };
        told(C::EveryTask)?;
        Some((*index, told(C::Stonewall)?.at.clone()))
    });
    let Some((index, at)) = found_at else {
        return;
    };
    let place = scanner.texts.place(index, at.start);
    let content = &scanner.texts.0[index].content;
    let evidence = content.get(at).unwrap_or_default().replace('\n', " ");
    found(scanner, Chain::Takeover, place, &evidence, "", false);
}

/// The end of the sentences that continue the first one.
fn told_after(sentences: &[Sentence]) -> usize {
    let block = sentences.first().map_or(0, |first| first.block);
    sentences
        .iter()
        .take(3)
        .take_while(|sentence| sentence.block == block)
        .last()
        .map_or(0, |last| last.at.end)
}

/// Whether a sentence names a text file at a fixed path outside the skill.
fn names_outside(lower: &str) -> bool {
    lower
        .split(|c: char| c.is_whitespace() || matches!(c, '`' | '"' | '\'' | ',' | '(' | ')' | '*'))
        .any(|word| {
            let word = word.trim_end_matches(['.', ';', ':']);
            let top = word.strip_prefix('/').and_then(|rest| rest.split_once('/'));
            top.is_some_and(|(top, _)| OUTSIDE.contains(&top))
                && (TELLING.iter().any(|end| word.ends_with(end)))
                && !word.contains("/skills/")
        })
}
