//! Checks of a manifest beyond its own text: the files that it names, and the rules and triggers that have to work.
//!
//! The manifest alone is not enough: files are looked up in the skill's folder, expressions are compiled, patterns are parsed.
//! `metier validate` does that; a list does not, because it would have to open every skill.

use metier_catalog::CatalogEntry;
use metier_model::{
    Card, Diagnostic, DiagnosticCode, Position, SkillManifest, SkillType, Strictness, Types,
};
use metier_select::{Situation, TriggerCandidate, consider};

use crate::{entrypoint::entrypoint_among, rulebook::Rulebook};

/// All false statements of a skill's manifest.
#[must_use]
pub fn broken(entry: &CatalogEntry, mode: Strictness, limit: u64) -> Vec<Diagnostic> {
    if !may_promise(entry) {
        return Vec::new();
    }
    let loaded = entry.load(Strictness::Lenient, limit);
    let Some(manifest) = loaded.ok().and_then(|(parsed, _)| parsed.manifest) else {
        return Vec::new();
    };
    let mut found = BrokenPromises {
        entry,
        mode,
        list: Vec::new(),
    };
    files(&manifest, &mut found);
    triggers(&manifest, &mut found);
    if manifest.card.types.contains(SkillType::SecurityRule) {
        for problem in Rulebook::problems_of(entry, limit) {
            found.add(
                DiagnosticCode::SecurityRuleForm,
                problem.line,
                problem.message,
            );
        }
    }
    found.list
}

/// Whether a skill is more than text: thousands are not, and none of those is opened for this.
fn may_promise(entry: &CatalogEntry) -> bool {
    let is_more = |card: &Card| card.backend.is_some() || card.types != Types::PROMPT;
    entry.files.skill_yaml.is_some() || entry.card.as_ref().is_some_and(is_more)
}

/// Collects the problems of one skill.
struct BrokenPromises<'e> {
    entry: &'e CatalogEntry,
    mode: Strictness,
    list: Vec<Diagnostic>,
}

impl BrokenPromises<'_> {
    fn add(&mut self, code: DiagnosticCode, line: Option<u32>, message: String) {
        let Some(severity) = code.severity(self.mode) else {
            return;
        };
        self.list.push(Diagnostic {
            severity,
            code,
            message: message.into(),
            hint: None,
            file: self.entry.files.main().into(),
            position: line.map(|line| Position { line, column: 1 }),
        });
    }
}

fn files(manifest: &SkillManifest, found: &mut BrokenPromises<'_>) {
    let code = &manifest.code;
    let prompts = code.system_prompt_file.iter().chain(&code.context_files);
    if manifest.card.backend.is_none() && prompts.clone().next().is_none() {
        return;
    }
    let files = found.entry.place.files().unwrap_or_default();
    let has = |path: &str| files.iter().any(|file| file.path.as_str() == Some(path));
    if let Some(backend) = manifest.card.backend
        && let Err(missing) = entrypoint_among(code.entrypoint.as_deref(), backend, has)
    {
        let code = match missing.is_unbuilt {
            true => DiagnosticCode::EntrypointUnbuilt,
            false => DiagnosticCode::EntrypointMissing,
        };
        found.add(code, None, missing.message);
    }
    for path in prompts {
        if !has(path.strip_prefix("./").unwrap_or(path)) {
            let message = format!("its prompt file `{path}` is not in its folder");
            found.add(DiagnosticCode::PromptFileMissing, None, message);
        }
    }
}

fn triggers(manifest: &SkillManifest, found: &mut BrokenPromises<'_>) {
    let offer = TriggerCandidate {
        name: &manifest.card.name,
        source: found.entry.source,
        triggers: &manifest.triggers,
        paths: &manifest.invocation.paths,
    };
    let nothing = Situation {
        task: "",
        files: &[],
        languages: &[],
        mode: metier_select::UsageMode::default(),
        explicit: &[],
    };
    for problem in consider(&offer, &nothing).problems {
        found.add(DiagnosticCode::TriggerForm, None, problem.message);
    }
}
