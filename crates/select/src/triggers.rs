//! Compares the triggers of a skill with the current situation.
//!
//! Five signals: the skill was named; a file of the project matches one of its patterns; one of its keywords is in
//! the task; the project uses one of its languages; the program runs in one of its modes. Any one is enough.
//! [`Signal::weight`] is the table of weights: words of a task count more than the content of a project.

use std::{cell::OnceCell, str::FromStr};

use metier_model::{Source, Triggers, UnknownWord};

use crate::{
    fold::{contains, fold},
    glob::Globs,
    languages::SituationLanguage,
    mention::{Mention, mentions},
    skill_triggers::{Patterns, SkillTriggers, shown},
};

/// The properties of a skill that triggers use.
#[derive(Clone, Copy, Debug)]
pub struct TriggerCandidate<'a> {
    /// The name of the skill.
    pub name: &'a str,
    /// Its source: `source:name` means only this skill.
    pub source: Source,
    /// The triggers from its manifest.
    pub triggers: &'a Triggers,
    /// `paths` of SKILL.md: patterns like those of the triggers.
    pub paths: &'a [Box<str>],
}

/// The current situation.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The task as the user wrote it.
    pub task: &'a str,
    /// The files of the project, relative to its root, with forward slashes.
    pub files: &'a [&'a str],
    /// The languages of the project.
    pub languages: &'a [SituationLanguage],
    /// The mode of the program.
    pub mode: UsageMode,
    /// Skills that were requested outside the task: names, or `source:name`.
    pub explicit: &'a [&'a str],
}

/// The mode of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum UsageMode {
    /// A user can answer questions.
    #[default]
    Interactive,
    /// Without a user, as in scripts.
    Headless,
    /// Writing the wiki of a project.
    Wiki,
}

impl UsageMode {
    /// All modes, in a fixed order.
    pub const ALL: [Self; 3] = [Self::Interactive, Self::Headless, Self::Wiki];

    /// The name used in manifests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Interactive => "interactive",
            Self::Headless => "headless",
            Self::Wiki => "wiki",
        }
    }
}

impl FromStr for UsageMode {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mode = Self::ALL.into_iter().find(|mode| mode.as_str() == text);
        mode.ok_or_else(|| UnknownWord {
            found: text.to_owned(),
            known: &["interactive", "headless", "wiki"],
        })
    }
}

/// The kind of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// The skill was named.
    Explicit,
    /// A file of the project matches a pattern.
    File,
    /// A keyword is in the task.
    Keyword,
    /// A language of the project matches.
    Language,
    /// The mode of the program matches.
    Mode,
    /// A rule requires it.
    Rule,
    /// The domain of the task matches.
    Domain,
    /// The task shares words with the name, the description or the body.
    Text,
    /// The skill was used recently; only counts in addition to another match.
    Used,
}

impl Signal {
    /// The stable name used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::File => "file",
            Self::Keyword => "keyword",
            Self::Language => "language",
            Self::Mode => "mode",
            Self::Rule => "rule",
            Self::Domain => "domain",
            Self::Text => "text",
            Self::Used => "used",
        }
    }

    /// The weight of the first match of this kind, between 0 and 1. Each further one counts half of the one before: a
    /// skill doesn't win by listing synonyms.
    #[must_use]
    pub const fn weight(self) -> f64 {
        match self {
            Self::Explicit | Self::Rule => 1.0,
            Self::Keyword => 0.4,
            Self::File | Self::Domain => 0.3,
            Self::Language => 0.2,
            Self::Mode | Self::Text => 0.1,
            Self::Used => 0.05,
        }
    }
}

/// One reason for a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerMatch {
    /// The kind of match.
    pub signal: Signal,
    /// The matching value: the keyword, the first file, the language, the mode or the name.
    pub subject: String,
    /// The match in one sentence.
    pub detail: String,
    /// Its weight, between 0 and 1.
    pub weight: f64,
}

/// A trigger that does not match the situation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetTrigger {
    /// The kind of trigger.
    pub signal: Signal,
    /// The miss in one sentence.
    pub detail: String,
}

/// A trigger that can never match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerProblem {
    /// The kind of trigger.
    pub signal: Signal,
    /// The problem in one sentence.
    pub message: String,
}

/// The complete result for a skill and a situation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Considered {
    /// The matches: by kind, then in the order of the manifest.
    pub matches: Vec<TriggerMatch>,
    /// The triggers that did not match.
    pub misses: Vec<UnmetTrigger>,
    /// The triggers that can never match.
    pub problems: Vec<TriggerProblem>,
}

/// The matches of one skill. For many skills, see [`CompiledTriggers`](crate::CompiledTriggers).
#[must_use]
pub fn matches(offer: &TriggerCandidate<'_>, situation: &Situation<'_>) -> Vec<TriggerMatch> {
    consider(offer, situation).matches
}

/// The matches and misses of one skill, and the problems of its triggers.
#[must_use]
pub fn consider(offer: &TriggerCandidate<'_>, situation: &Situation<'_>) -> Considered {
    let wanted = SkillTriggers::read(offer, &mut Patterns::default());
    let task = fold(situation.task);
    let files = |position: usize| {
        let globs = Globs::new(vec![wanted.files.get(position)?.1.clone()]);
        let mut found = Vec::new();
        let mut hit: Option<Hit> = None;
        for (file, path) in situation.files.iter().enumerate() {
            globs.matches(path, &mut found);
            if !found.is_empty() {
                Hit::count(&mut hit, file);
            }
        }
        hit
    };
    let keywords = |position: usize| {
        let keyword = wanted.keywords.get(position);
        keyword.is_some_and(|(_, keyword)| contains(&task, keyword))
    };
    let mentions = mentions(situation.task);
    let facts = SituationFacts {
        situation,
        mentions: &mentions,
        file: &files,
        keyword: &keywords,
    };
    let mut considered = facts.consider(offer.name, offer.source, &wanted, true);
    considered.problems = wanted.problems;
    considered
}

/// The combined score of all matches, between 0 and 1: as independent probabilities.
#[must_use]
pub fn score(matches: &[TriggerMatch]) -> f64 {
    let against: f64 = matches.iter().map(|found| 1.0 - found.weight).product();
    ((1.0 - against) * 1000.0).round() / 1000.0
}

/// The files that match a pattern: the first one, and the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Hit {
    pub(crate) fn count(hit: &mut Option<Self>, file: usize) {
        match hit {
            Some(hit) => hit.count += 1,
            None => {
                *hit = Some(Self {
                    first: file,
                    count: 1,
                });
            }
        }
    }
}

/// The facts about the situation, for one skill or many; this type writes the sentences.
pub(crate) struct SituationFacts<'a> {
    pub(crate) situation: &'a Situation<'a>,
    pub(crate) mentions: &'a [Mention<'a>],
    /// By the position of the pattern in [`SkillTriggers::files`].
    pub(crate) file: &'a dyn Fn(usize) -> Option<Hit>,
    /// By the position of the keyword in [`SkillTriggers::keywords`].
    pub(crate) keyword: &'a dyn Fn(usize) -> bool,
}

impl SituationFacts<'_> {
    pub(crate) fn consider(
        &self,
        name: &str,
        source: Source,
        wanted: &SkillTriggers,
        with_misses: bool,
    ) -> Considered {
        let mut out = CollectedMatches {
            considered: Considered::default(),
            with_misses,
        };
        self.explicit(name, source, &mut out);
        for (position, (text, _)) in wanted.files.iter().enumerate() {
            let found = (self.file)(position);
            let found = found.map(|hit| (self.first_file(hit), self.file_detail(text, hit)));
            out.add(Signal::File, found, || format!("no file matches `{text}`"));
        }
        for (position, (text, _)) in wanted.keywords.iter().enumerate() {
            let found = (self.keyword)(position)
                .then(|| (text.as_str(), format!("`{text}` is in the task")));
            let miss = || format!("`{text}` is not in the task");
            out.add(Signal::Keyword, found, miss);
        }
        for (text, language) in &wanted.languages {
            let mut seen = self.situation.languages.iter();
            let seen = seen.find(|seen| seen.language == *language);
            let found = seen.map(|seen| {
                let detail = format!("`{text}` is a language here: {}", seen.because);
                (text.as_str(), detail)
            });
            let miss = || format!("`{text}` is not a language here");
            out.add(Signal::Language, found, miss);
        }
        let now = self.situation.mode;
        for mode in &wanted.modes {
            let found =
                (*mode == now).then(|| (now.as_str(), format!("the mode is {}", now.as_str())));
            let miss = || format!("the mode is {}, not {}", now.as_str(), mode.as_str());
            out.add(Signal::Mode, found, miss);
        }
        out.considered
    }

    fn explicit(&self, name: &str, source: Source, out: &mut CollectedMatches) {
        let full = OnceCell::new();
        let means = |text: &str| {
            text == name || {
                text.contains(':') && text == full.get_or_init(|| format!("{source}:{name}"))
            }
        };
        if self.situation.explicit.iter().any(|text| means(text)) {
            let found = (name, "it was requested by name".to_owned());
            out.add(Signal::Explicit, Some(found), String::new);
        }
        if let Some(mention) = self.mentions.iter().find(|mention| means(mention.name)) {
            let found = (name, format!("`{}` is in the task", shown(mention.text)));
            out.add(Signal::Explicit, Some(found), String::new);
        }
    }

    fn file_detail(&self, pattern: &str, hit: Hit) -> String {
        let more = match hit.count {
            0 | 1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        format!("`{pattern}` matches {}{more}", self.first_file(hit))
    }

    fn first_file(&self, hit: Hit) -> &str {
        let first = self.situation.files.get(hit.first).copied();
        first.unwrap_or_default()
    }
}

struct CollectedMatches {
    considered: Considered,
    with_misses: bool,
}

impl CollectedMatches {
    /// Adds a trigger as a match with its subject and sentence, or as a miss.
    fn add(
        &mut self,
        signal: Signal,
        found: Option<(&str, String)>,
        miss: impl FnOnce() -> String,
    ) {
        let Considered {
            matches, misses, ..
        } = &mut self.considered;
        if let Some((subject, detail)) = found {
            let before = matches
                .iter()
                .filter(|found| found.signal == signal)
                .count();
            let halved = i32::try_from(before).unwrap_or(i32::MAX);
            matches.push(TriggerMatch {
                signal,
                subject: subject.to_owned(),
                detail,
                weight: signal.weight() * 0.5_f64.powi(halved),
            });
        } else if self.with_misses {
            misses.push(UnmetTrigger {
                signal,
                detail: miss(),
            });
        }
    }
}

#[cfg(test)]
#[path = "triggers_tests.rs"]
mod tests;
