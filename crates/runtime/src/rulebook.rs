//! Rules from outside the program: the user's folder, and skills of type `security-rule`. They add findings and remove none.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use metier_catalog::{Catalog, CatalogEntry, read_small};
use metier_config::Config;
use metier_model::{PatternRule, RuleMistake, SkillType, Source, Strictness, text::visible};
use metier_scan::Pattern;
use metier_select::languages;

use crate::inventory::switch;

/// The patterns that scans use besides the built-in rules, and the problems of some of them.
#[derive(Debug, Default)]
pub struct Rulebook {
    /// In a fixed order: the user's by file, then those of skills by name.
    pub patterns: Vec<Pattern>,
    /// Rules that can't be used.
    pub problems: Vec<RuleProblem>,
}

/// A rule that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleProblem {
    /// The file that it is in.
    pub file: PathBuf,
    /// Line in the file.
    pub line: Option<u32>,
    /// The problem with the rule.
    pub message: String,
    /// Whether it is the user's own, and not one that a skill brought.
    pub own: bool,
}

/// The largest file of rules.
const MOST_BYTES: u64 = 1 << 20;
/// Maximum number of rules.
const MOST_RULES: usize = 1000;

impl Rulebook {
    /// Reads the rules of the user's folder, if there is one, and those of the skills in a catalog.
    #[must_use]
    pub fn gather(folder: Option<&Path>, catalog: &Catalog, config: &Config) -> Self {
        let mut book = Self::default();
        if let Some(folder) = folder {
            book.read_folder(folder);
        }
        let mut skills: Vec<&CatalogEntry> = catalog
            .entries
            .iter()
            .filter(|entry| brings_rules(catalog, entry, config))
            .collect();
        skills.sort_by_key(|entry| (entry.name(), entry.place.path()));
        for entry in skills {
            book.read_skill(entry, config.limits.max_skill_bytes);
        }
        book
    }

    /// The problems with the rules of one skill.
    pub(crate) fn problems_of(entry: &CatalogEntry, limit: u64) -> Vec<RuleProblem> {
        let mut book = Self::default();
        book.read_skill(entry, limit);
        book.problems
    }

    fn read_folder(&mut self, folder: &Path) {
        let own = |file: &Path, error: &io::Error| RuleProblem {
            file: file.to_owned(),
            line: None,
            message: format!("the rules can't be read: {error}"),
            own: true,
        };
        let listed: io::Result<Vec<_>> = fs::read_dir(folder).and_then(Iterator::collect);
        let mut names: Vec<String> = match listed {
            Ok(entries) => entries
                .into_iter()
                .filter_map(|entry| entry.file_name().into_string().ok())
                .filter(|name| name.ends_with(".yaml") || name.ends_with(".yml"))
                .collect(),
            Err(error) => return self.problems.push(own(folder, &error)),
        };
        names.sort();
        for name in names {
            let file = folder.join(&name);
            match read_small(folder, &name, MOST_BYTES) {
                Ok(Some(text)) => {
                    let found = metier_model::rules_in_file(&text);
                    self.add("", &file, true, found);
                }
                Ok(None) => {}
                Err(error) => self.problems.push(own(&file, &error)),
            }
        }
    }

    fn read_skill(&mut self, entry: &CatalogEntry, limit: u64) {
        let loaded = entry.load(Strictness::Lenient, limit);
        let rules = loaded
            .ok()
            .and_then(|(parsed, _)| parsed.manifest)
            .and_then(|manifest| manifest.code.security_rules);
        if let Some(rules) = rules {
            let found = metier_model::rules_in_manifest(&rules);
            let prefix = format!("{}/", entry.name());
            self.add(&prefix, &entry.manifest_path(), false, found);
        }
    }

    fn add(
        &mut self,
        prefix: &str,
        file: &Path,
        own: bool,
        (rules, mistakes): (Vec<PatternRule>, Vec<RuleMistake>),
    ) {
        let mut wrong = |line: u32, message: String| {
            self.problems.push(RuleProblem {
                file: file.to_owned(),
                line: (line > 0).then_some(line),
                message,
                own,
            });
        };
        for mistake in mistakes {
            wrong(mistake.line, mistake.message);
        }
        for rule in rules {
            if self.patterns.len() >= MOST_RULES {
                wrong(
                    rule.line,
                    format!("there are more than {MOST_RULES} rules; this one is not used"),
                );
                break;
            }
            let line = rule.line;
            match pattern(prefix, rule) {
                Ok(pattern) => self.patterns.push(pattern),
                Err(message) => wrong(line, message),
            }
        }
    }
}

/// A rule that the scanner can use: its expression compiles, its languages are known, and its own examples match.
fn pattern(prefix: &str, rule: PatternRule) -> Result<Pattern, String> {
    let id = format!("{prefix}{}", rule.id);
    let made = Pattern::new(&id, &rule.pattern, &rule.severity, &rule.message);
    let mut pattern = made.map_err(|error| {
        let message = error.to_string();
        message.split_whitespace().collect::<Vec<_>>().join(" ")
    })?;
    for language in &rule.languages {
        let endings: Vec<String> = languages::endings(language).collect();
        if endings.is_empty() {
            let language = visible(language);
            return Err(format!("rule `{id}`: unknown language `{language}`"));
        }
        pattern.languages.extend(endings);
    }
    let examples = [(&rule.must_match, true), (&rule.must_not_match, false)];
    for (texts, expected) in examples {
        let wrong = texts.iter().find(|text| pattern.is_match(text) != expected);
        if let Some(text) = wrong {
            let (text, not) = (visible(text), if expected { "not " } else { "" });
            let list = if expected {
                "must_match"
            } else {
                "must_not_match"
            };
            return Err(format!(
                "rule `{id}`: it does {not}match `{text}` of its `{list}`"
            ));
        }
    }
    pattern.fix = rule.fix.map(Into::into);
    pattern.files = rule.files.into_iter().map(Into::into).collect();
    Ok(pattern)
}

/// Skills of type `security-rule` that are trusted and enabled.
fn brings_rules(catalog: &Catalog, entry: &CatalogEntry, config: &Config) -> bool {
    let Some(card) = &entry.card else {
        return false;
    };
    let trusted = entry
        .root
        .and_then(|root| catalog.roots.get(usize::from(root)))
        .is_none_or(|root| root.trusted);
    let allowed = entry.source != Source::Builtin
        || config
            .allow_bundled
            .as_ref()
            .is_none_or(|names| names.iter().any(|name| *name == *card.name));
    card.types
        .iter()
        .any(|kind| kind == SkillType::SecurityRule)
        && trusted
        && allowed
        && switch(config, card).is_none()
}
