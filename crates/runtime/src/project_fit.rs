//! The order of a catalog without a task: skills that are closest to the project first.
//!
//! The order depends on the skills, the project and the user's receipts at one moment, so it is the same within a session and a
//! provider can cache the prompt.

use std::{cmp::Reverse, collections::BTreeMap};

use metier_select::languages::DetectedProject;

use crate::{
    inventory::{Inventory, InventorySkill},
    prompt,
};

/// The maximum number of languages of a project that count: those with most files.
const LANGUAGES: usize = 3;

/// The known facts about a project, besides its skills.
#[derive(Clone, Debug, Default)]
pub struct ProjectFit {
    words: Vec<String>,
    /// How much each skill was used, by name; see [`ProjectFit::with_use`].
    used: BTreeMap<String, f64>,
}

impl ProjectFit {
    /// A project with these languages and build systems.
    #[must_use]
    pub fn new(detected: &DetectedProject) -> Self {
        let languages = detected.languages.iter().take(LANGUAGES);
        let languages = languages.flat_map(|one| {
            // Two letters are a word of ordinary text too.
            let others = one.language.aliases().filter(|name| name.len() > 2);
            let mut names = vec![one.language.as_str().to_lowercase()];
            names.extend(others.map(str::to_lowercase));
            names
        });
        let systems = detected
            .build_systems
            .iter()
            .map(|name| name.to_lowercase());
        Self {
            words: languages.chain(systems).collect(),
            used: BTreeMap::new(),
        }
    }

    /// This project with how often skills were used recently, by name.
    #[must_use]
    pub fn with_use(mut self, used: BTreeMap<String, f64>) -> Self {
        self.used = used;
        self
    }

    /// The skills that a model may choose: those that were selected first, then those that were used lately, those that name a language of
    /// the project, those of the nearest source, and by name.
    #[must_use]
    pub fn ordered<'a>(
        &self,
        inventory: &'a Inventory,
        include_disabled: bool,
    ) -> Vec<&'a InventorySkill> {
        let mut skills: Vec<&InventorySkill> =
            prompt::offered(inventory, include_disabled).collect();
        skills.sort_by_cached_key(|skill| {
            let entry = inventory.entry(skill);
            let name = entry.name().into_owned();
            // Thousandths are enough, and integers have an order.
            #[expect(clippy::cast_possible_truncation, reason = "a small number")]
            let used = self
                .used
                .get(&name)
                .map_or(0, |used| (used * 1_000.0) as i64);
            let is_near = entry.card.as_ref().is_some_and(|card| {
                self.names(card.name.as_str()) || self.names(&prompt::describe(card))
            });
            let first = (skill.selected, used, is_near, entry.source);
            (Reverse(first), name)
        });
        skills
    }

    /// Whether a text contains a word for the project.
    fn names(&self, text: &str) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '+' | '#');
        let mut words = text.split(|c: char| !is_part(c));
        words.any(|word| {
            self.words
                .iter()
                .any(|known| known.eq_ignore_ascii_case(word))
        })
    }
}

#[cfg(test)]
mod tests {
    use metier_select::languages::detect;

    use super::*;

    #[test]
    fn languages_are_whole_words() {
        let fit = ProjectFit::new(&detect(["src/main.rs", "Cargo.toml", "x.cpp"]));
        for (text, expected) in [
            ("Reviews Rust code", true),
            ("cargo-audit", true),
            ("Explains C++ templates.", true),
            ("Builds trust", false),
            ("C code", false),
        ] {
            assert_eq!(fit.names(text), expected, "{text}");
        }
        assert!(!ProjectFit::default().names("Rust"));
    }
}
