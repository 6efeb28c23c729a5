//! The parsed triggers of a skill, and the problems of invalid ones.

use std::{collections::HashMap, sync::Arc};

use globset::Glob;
use metier_model::PatternBudget;

use crate::{
    fold::fold,
    glob,
    languages::ProgrammingLanguage,
    triggers::{Signal, TriggerCandidate, TriggerProblem, UsageMode},
};

/// The maximum length of quoted text in an explanation.
const MAX_SHOWN: usize = 80;

/// The patterns of a catalog.
#[derive(Default)]
pub(crate) struct Patterns<'a> {
    /// Those that were parsed before: many skills share the same ones.
    known: HashMap<&'a str, Result<Arc<Glob>, String>>,
    budget: PatternBudget,
}

/// The triggers of a skill, each with the author's text, truncated for display.
#[derive(Default)]
pub(crate) struct SkillTriggers {
    pub(crate) files: Vec<(String, Arc<Glob>)>,
    pub(crate) keywords: Vec<(String, String)>,
    pub(crate) languages: Vec<(String, ProgrammingLanguage)>,
    pub(crate) modes: Vec<UsageMode>,
    pub(crate) problems: Vec<TriggerProblem>,
}

impl SkillTriggers {
    /// Whether the skill has any trigger.
    pub(crate) fn has_any(&self) -> bool {
        let counts = [
            self.files.len(),
            self.keywords.len(),
            self.languages.len(),
            self.modes.len(),
        ];
        counts.iter().any(|count| *count > 0) || !self.problems.is_empty()
    }

    pub(crate) fn read<'a>(offer: &TriggerCandidate<'a>, patterns: &mut Patterns<'a>) -> Self {
        let mut wanted = Self::default();
        let files = offer
            .triggers
            .files
            .iter()
            .map(|text| ("triggers.files", text));
        for (field, text) in files.chain(offer.paths.iter().map(|text| ("paths", text))) {
            let Patterns { known, budget } = &mut *patterns;
            let read = || glob::read(text, budget).map(Arc::new);
            let glob = known.entry(text).or_insert_with(read);
            wanted.file(field, text, glob);
        }
        for text in &offer.triggers.keywords {
            wanted.keyword(text);
        }
        for text in &offer.triggers.languages {
            wanted.language(text);
        }
        for text in &offer.triggers.modes {
            wanted.mode(text);
        }
        wanted
    }

    fn file(&mut self, field: &str, text: &str, glob: &Result<Arc<Glob>, String>) {
        match glob {
            Ok(glob) if self.files.iter().any(|(_, known)| known == glob) => {}
            Ok(glob) => self.files.push((shown(text), Arc::clone(glob))),
            Err(why) => self.problem(Signal::File, field, text, why),
        }
    }

    fn keyword(&mut self, text: &str) {
        let folded = fold(text);
        if folded.is_empty() {
            self.problem(Signal::Keyword, "triggers.keywords", text, "it is empty");
        } else if !self.keywords.iter().any(|(_, known)| *known == folded) {
            self.keywords.push((shown(text), folded));
        }
    }

    fn language(&mut self, text: &str) {
        let language = ProgrammingLanguage::new(text);
        if language.as_str().is_empty() {
            self.problem(Signal::Language, "triggers.languages", text, "it is empty");
        } else if !self.languages.iter().any(|(_, known)| *known == language) {
            self.languages.push((shown(text), language));
        }
    }

    fn mode(&mut self, text: &str) {
        match fold(text).parse::<UsageMode>() {
            Ok(mode) if self.modes.contains(&mode) => {}
            Ok(mode) => self.modes.push(mode),
            Err(unknown) => {
                let why = format!("it is not one of {}", unknown.known.join(", "));
                self.problem(Signal::Mode, "triggers.modes", text, &why);
            }
        }
    }

    fn problem(&mut self, signal: Signal, field: &str, text: &str, why: &str) {
        let message = format!("`{}` in `{field}` never matches: {why}", shown(text));
        self.problems.push(TriggerProblem { signal, message });
    }
}

/// Text of an author for display.
pub(crate) fn shown(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
