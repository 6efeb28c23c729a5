//! Compares the words of a task with names and descriptions, for skills without triggers, which are nearly all.
//!
//! A word that many skills have distinguishes none of them, so words are weighted by how rare they are. The score is
//! low by design: a trigger is the author's statement, a shared word is a guess.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Signal, TriggerMatch, fold::fold};

/// The minimum length of a compared word.
const SHORTEST: usize = 3;
/// A word in descriptions counts if at most one in this many skills has it.
const RARE: usize = 5;
/// With fewer skills, no word counts as common.
const SMALL: usize = 10;
/// Words that occur in every text or every task.
const COMMON: &[&str] = &[
    "and",
    "are",
    "any",
    "but",
    "can",
    "does",
    "for",
    "from",
    "has",
    "have",
    "how",
    "into",
    "its",
    "not",
    "one",
    "our",
    "out",
    "that",
    "the",
    "them",
    "then",
    "these",
    "this",
    "use",
    "using",
    "was",
    "what",
    "when",
    "which",
    "will",
    "with",
    "you",
    "your",
    "add",
    "change",
    "check",
    "code",
    "create",
    "file",
    "find",
    "fix",
    "get",
    "help",
    "look",
    "make",
    "need",
    "new",
    "project",
    "read",
    "run",
    "set",
    "show",
    "something",
    "task",
    "text",
    "update",
    "work",
    "write",
];
/// The weight of the first word in the name, and of the first one in the description.
const IN_NAME: f64 = 0.35;
const IN_DESCRIPTION: f64 = 0.12;

/// The names and descriptions of skills, with the words of one task in them.
#[derive(Debug, Default)]
pub struct TextMatches {
    /// By the position of the skill.
    found: Vec<Option<TriggerMatch>>,
}

impl TextMatches {
    /// Compares a task with skills; each is a name and a description, or `None` for a skill that is not compared.
    #[must_use]
    pub fn new<'a>(
        task: &str,
        skills: impl IntoIterator<Item = Option<(&'a str, &'a str)>>,
    ) -> Self {
        let wanted = words(task);
        let skills: Vec<Option<[BTreeSet<String>; 2]>> = skills
            .into_iter()
            .map(|texts| {
                let (name, description) = texts?;
                let shared = |text: &str| words(text).intersection(&wanted).cloned().collect();
                Some([shared(name), shared(description)])
            })
            .collect();
        let mut frequency: BTreeMap<&str, usize> = BTreeMap::new();
        for [name, description] in skills.iter().flatten() {
            for word in name.union(description) {
                *frequency.entry(word).or_default() += 1;
            }
        }
        let total = skills.iter().flatten().count();
        let is_rare = |word: &&String| {
            let number = frequency.get(word.as_str()).copied().unwrap_or(0);
            total < SMALL || number * RARE <= total
        };
        let found = skills.iter().map(|texts| {
            let [name, description] = texts.as_ref()?;
            let described: Vec<&String> = description.difference(name).filter(is_rare).collect();
            matched(name, &described)
        });
        let mut found: Vec<Option<TriggerMatch>> = found.collect();
        // Matches that are much weaker than the best one are noise.
        let best = found
            .iter()
            .flatten()
            .map(|found| found.weight)
            .fold(0.0, f64::max);
        for one in &mut found {
            *one = one.take().filter(|one| one.weight * 2.0 >= best);
        }
        Self { found }
    }

    /// The match of a skill's text with the task.
    #[must_use]
    pub fn of(&self, position: usize) -> Option<&TriggerMatch> {
        self.found.get(position)?.as_ref()
    }
}

fn matched(name: &BTreeSet<String>, description: &[&String]) -> Option<TriggerMatch> {
    let list = |words: &mut dyn Iterator<Item = &String>| -> String {
        let quoted: Vec<String> = words.map(|word| format!("`{word}`")).collect();
        quoted.join(", ")
    };
    let named = (!name.is_empty()).then(|| format!("{} in its name", list(&mut name.iter())));
    let described = (!description.is_empty()).then(|| {
        format!(
            "{} in its description",
            list(&mut description.iter().copied())
        )
    });
    let parts: Vec<String> = named.into_iter().chain(described).collect();
    if parts.is_empty() {
        return None;
    }
    let against = halving(IN_NAME, name.len()) * halving(IN_DESCRIPTION, description.len());
    let mut words = name.iter().chain(description.iter().copied());
    Some(TriggerMatch {
        signal: Signal::Text,
        subject: words.next().cloned().unwrap_or_default(),
        detail: parts.join(", "),
        weight: ((1.0 - against) * 1000.0).round() / 1000.0,
    })
}

/// The remaining doubt after this many words, each of which counts half of the one before.
fn halving(first: f64, number: usize) -> f64 {
    let weights = std::iter::successors(Some(first), |weight| Some(weight / 2.0));
    weights
        .take(number.min(8))
        .map(|weight| 1.0 - weight)
        .product()
}

/// The words of a text as they are compared: folded, without a plural `s`.
fn words(text: &str) -> BTreeSet<String> {
    let folded = fold(text);
    let parts = folded.split(|c: char| !c.is_alphanumeric());
    let one = |word: &str| match word.strip_suffix('s') {
        Some(short) if short.len() >= SHORTEST && !short.ends_with('s') => short.to_owned(),
        _ => word.to_owned(),
    };
    let singular = parts.map(one);
    let counts =
        |word: &String| word.chars().count() >= SHORTEST && !COMMON.contains(&word.as_str());
    singular.filter(counts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(task: &str, skills: &[(&str, &str)]) -> Vec<String> {
        let found = TextMatches::new(task, skills.iter().map(|skill| Some(*skill)));
        let mut all: Vec<(f64, &str)> = skills
            .iter()
            .enumerate()
            .filter_map(|(position, (name, _))| Some((found.of(position)?.weight, *name)))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0));
        all.into_iter().map(|(_, name)| name.to_owned()).collect()
    }

    const SKILLS: &[(&str, &str)] = &[
        (
            "pdf",
            "Extracts text and tables from documents. Use when a form is to be filled.",
        ),
        (
            "docx",
            "Reads and writes Word documents. Use when a letter is to be written.",
        ),
        (
            "weather",
            "Forecasts the weather. Use when the user asks for a forecast.",
        ),
    ];

    #[test]
    fn a_name_in_the_task_beats_words_of_descriptions() {
        assert_eq!(best("extract the tables of report.pdf", SKILLS), ["pdf"]);
        assert_eq!(best("a forecast for tomorrow", SKILLS), ["weather"]);
        assert_eq!(best("nothing of the kind", SKILLS), [""; 0]);
    }

    #[test]
    fn the_matching_words_are_named() {
        let found = TextMatches::new("tables of a.pdf", [Some(("pdf", "Reads tables."))]);
        let found = found.of(0).unwrap();
        assert_eq!(
            found.detail,
            "`pdf` in its name, `table` in its description"
        );
        assert!(found.weight < Signal::Keyword.weight() + 0.05, "{found:?}");
    }

    #[test]
    fn a_word_of_many_skills_counts_for_nothing() {
        let names: Vec<String> = (0..20).map(|number| format!("skill-{number:02}")).collect();
        let skills = names
            .iter()
            .map(|name| Some((name.as_str(), "Writes reports.")));
        let found = TextMatches::new("write the reports", skills);
        assert!((0..20).all(|position| found.of(position).is_none()));
    }
}
