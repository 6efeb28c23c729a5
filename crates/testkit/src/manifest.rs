//! Manifests for tests of what comes after reading.

use metier_model::{Diagnostic, FileText, Files, SkillManifest, Strictness, parse};

/// What a SKILL.yaml with this text is read as. A text that does not load panics.
#[track_caller]
#[must_use]
pub fn skill_yaml(text: &str) -> (SkillManifest, Vec<Diagnostic>) {
    let name = "SKILL.yaml";
    let files = Files {
        skill_yaml: Some(FileText { name, text }),
        ..Files::default()
    };
    let parsed = parse(&files, Strictness::Lenient);
    match parsed.manifest {
        Some(manifest) => (manifest, parsed.diagnostics),
        None => panic!("{:?}\n{text}", parsed.diagnostics),
    }
}
