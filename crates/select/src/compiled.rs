//! The triggers of a whole catalog, prepared once and evaluated for each task.
//!
//! Patterns and keywords that several skills share are searched once. All keywords are found in one pass over the
//! task, all patterns in one pass over the files; the sentences for each skill come from the same function as for a
//! single skill.

use std::{
    collections::HashMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use aho_corasick::AhoCorasick;
use globset::Glob;
use metier_model::Source;

use crate::{
    fold::{contains, fold, stands_alone},
    glob::Globs,
    mention::{Mention, mentions},
    skill_triggers::{Patterns, SkillTriggers},
    triggers::{
        Considered, Hit, Situation, SituationFacts, TriggerCandidate, TriggerMatch, TriggerProblem,
    },
};

/// The triggers of many skills.
pub struct CompiledTriggers {
    skills: Vec<PreparedTriggers>,
    globs: Globs,
    patterns: usize,
    keywords: Vec<Box<str>>,
    /// Finds all keywords in one pass; `None` if there are too many. Building it takes longer than a single search
    /// without it, so it is built on the second search.
    automaton: OnceLock<Option<AhoCorasick>>,
    asked: AtomicBool,
}

/// One skill: its triggers, and their positions in the shared tables.
struct PreparedTriggers {
    name: Box<str>,
    source: Source,
    wanted: SkillTriggers,
    globs: Box<[usize]>,
    keywords: Box<[usize]>,
}

/// A [`CompiledTriggers`] catalog evaluated for one situation.
pub struct SituationView<'a> {
    compiled: &'a CompiledTriggers,
    situation: &'a Situation<'a>,
    mentions: Vec<Mention<'a>>,
    files: Vec<Option<Hit>>,
    keywords: Vec<bool>,
}

/// Values in order of insertion, each once.
struct OrderedSet<T> {
    positions: HashMap<Box<str>, usize>,
    things: Vec<T>,
}

impl<T> OrderedSet<T> {
    fn position(&mut self, key: &str, thing: impl FnOnce() -> T) -> usize {
        if let Some(position) = self.positions.get(key) {
            return *position;
        }
        let position = self.things.len();
        self.positions.insert(key.into(), position);
        self.things.push(thing());
        position
    }
}

impl<T> Default for OrderedSet<T> {
    fn default() -> Self {
        Self {
            positions: HashMap::new(),
            things: Vec::new(),
        }
    }
}

impl CompiledTriggers {
    /// Prepares the triggers of all skills. Results refer to skills by position.
    #[must_use]
    pub fn new<'a>(offers: impl IntoIterator<Item = TriggerCandidate<'a>>) -> Self {
        let mut globs = OrderedSet::<Arc<Glob>>::default();
        let mut keywords = OrderedSet::<Box<str>>::default();
        let mut read = Patterns::default();
        let skills: Vec<PreparedTriggers> = offers
            .into_iter()
            .map(|offer| {
                let wanted = SkillTriggers::read(&offer, &mut read);
                let files = wanted.files.iter();
                let words = wanted.keywords.iter();
                PreparedTriggers {
                    name: offer.name.into(),
                    source: offer.source,
                    globs: files
                        .map(|(_, glob)| globs.position(glob.glob(), || Arc::clone(glob)))
                        .collect(),
                    keywords: words
                        .map(|(_, word)| keywords.position(word, || word.as_str().into()))
                        .collect(),
                    wanted,
                }
            })
            .collect();
        Self {
            skills,
            patterns: globs.things.len(),
            globs: Globs::new(globs.things),
            keywords: keywords.things,
            automaton: OnceLock::new(),
            asked: AtomicBool::new(false),
        }
    }

    /// Whether the skill at a position declares any trigger.
    #[must_use]
    pub fn has_triggers(&self, position: usize) -> bool {
        let wanted = self.skills.get(position).map(|skill| &skill.wanted);
        wanted.is_some_and(SkillTriggers::has_any)
    }

    /// The number of skills.
    #[must_use]
    pub fn len(&self) -> usize {
        self.skills.len()
    }

    /// Whether there are no skills.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// Whether any skill has a trigger for files or languages of the project: if not, the files need not be listed.
    #[must_use]
    pub fn asks_about_files(&self) -> bool {
        let asks = |skill: &PreparedTriggers| {
            !skill.globs.is_empty() || !skill.wanted.languages.is_empty()
        };
        self.skills.iter().any(asks)
    }

    /// The problems of a skill's triggers.
    #[must_use]
    pub fn problems(&self, skill: usize) -> &[TriggerProblem] {
        let skill = self.skills.get(skill);
        skill.map_or(&[], |skill| &skill.wanted.problems)
    }

    /// Evaluates a situation, once for all skills.
    #[must_use]
    pub fn look<'a>(&'a self, situation: &'a Situation<'a>) -> SituationView<'a> {
        let mut files = vec![None; self.patterns];
        let mut found = Vec::new();
        if self.patterns > 0 {
            for (file, path) in situation.files.iter().enumerate() {
                self.globs.matches(path, &mut found);
                for position in &found {
                    if let Some(hit) = files.get_mut(*position) {
                        Hit::count(hit, file);
                    }
                }
            }
        }
        SituationView {
            compiled: self,
            situation,
            mentions: mentions(situation.task),
            files,
            keywords: self.keywords_in(&fold(situation.task)),
        }
    }

    /// The automaton, from the second search on.
    fn automaton(&self) -> Option<&AhoCorasick> {
        if !self.asked.swap(true, Ordering::Relaxed) {
            return None;
        }
        let words = self.keywords.iter().map(|word| word.as_bytes());
        let made = self.automaton.get_or_init(|| AhoCorasick::new(words).ok());
        made.as_ref()
    }

    fn keywords_in(&self, task: &str) -> Vec<bool> {
        let Some(automaton) = self.automaton() else {
            let words = self.keywords.iter();
            return words.map(|word| contains(task, word)).collect();
        };
        let mut found = vec![false; self.keywords.len()];
        for hit in automaton.find_overlapping_iter(task) {
            if let Some(found) = found.get_mut(hit.pattern().as_usize())
                && !*found
            {
                *found = stands_alone(task, hit.start(), hit.end());
            }
        }
        found
    }
}

impl SituationView<'_> {
    /// The matches of a skill.
    #[must_use]
    pub fn matches(&self, skill: usize) -> Vec<TriggerMatch> {
        self.consider_with(skill, false).matches
    }

    /// The matches and misses of a skill, and the problems of its triggers.
    #[must_use]
    pub fn consider(&self, skill: usize) -> Considered {
        let mut considered = self.consider_with(skill, true);
        considered.problems = self.compiled.problems(skill).to_vec();
        considered
    }

    fn consider_with(&self, skill: usize, with_misses: bool) -> Considered {
        let Some(skill) = self.compiled.skills.get(skill) else {
            return Considered::default();
        };
        let file = |position: usize| {
            let glob = skill.globs.get(position)?;
            self.files.get(*glob).copied().flatten()
        };
        let keyword = |position: usize| {
            let word = skill.keywords.get(position);
            word.and_then(|word| self.keywords.get(*word)) == Some(&true)
        };
        let facts = SituationFacts {
            situation: self.situation,
            mentions: &self.mentions,
            file: &file,
            keyword: &keyword,
        };
        facts.consider(&skill.name, skill.source, &skill.wanted, with_misses)
    }
}
