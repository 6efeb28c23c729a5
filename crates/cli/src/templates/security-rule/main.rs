//! The code of this skill: what a pattern in SKILL.yaml can't express.

use metier_sdk::{
    HookPhase,
    guest::Skill,
    wire::{FoundByScanner, HookAnswer, HookSpec, ScannedFile},
};

/// If the function behind it fails, the call is cancelled too.
const AT: HookSpec = HookSpec::Full { phase: HookPhase::BeforeToolCall, fail_closed: true };

fn main() -> std::process::ExitCode {
    Skill::new()
        .scanner("goes-on", |_, files| Ok(files.iter().filter_map(continues).collect()))
        .hook(AT, |_, event| {
            // The event is {tool, skill, input, session}; a call that is cancelled here never runs.
            let command = event["input"]["command"].as_str().unwrap_or_default();
            let has = |word| command.split_whitespace().any(|other| other == word);
            Ok(match has("chmod") && has("777") {
                true => HookAnswer::cancelled("world-writable files are not allowed here"),
                false => HookAnswer::unchanged(),
            })
        })
        .serve()
}

/// A shell script that continues after an error: a pattern finds what is there, this finds what is missing.
fn continues(file: &ScannedFile) -> Option<FoundByScanner> {
    (file.path.ends_with(".sh") && !file.content.contains("set -e")).then(|| FoundByScanner {
        rule: Some("goes-on-after-errors".into()),
        severity: "warning".into(),
        file: file.path.clone(),
        line: 1,
        message: "continues after an error; start with `set -eu`".into(),
    })
}
