//! Manifests for tests of code that uses parsed manifests.

use metier_model::{Diagnostic, FileText, Files, SkillManifest, Strictness, parse};

/// The manifest parsed from this SKILL.yaml. Panics if it does not load.
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
