//! The code of this skill, as a library: what a pattern in SKILL.yaml can't express.

use metier_sdk::HookPhase;
use metier_sdk::guest::{Context, Outcome, Plugin};
use metier_sdk::wire::{FoundByScanner, HookAnswer, HookSpec, Manifest, ScannedFile};

/// If the function behind it fails, the call is cancelled too.
const AT: HookSpec = HookSpec::Full { phase: HookPhase::BeforeToolCall, fail_closed: true };

/// The skill as a value.
#[derive(Default)]
struct This;

metier_sdk::export_skill!(This);

impl Plugin for This {
    fn manifest(&self) -> Manifest {
        Manifest::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }

    fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()> {
        context.scanner("goes-on", |_, files| Ok(files.iter().filter_map(continues).collect()));
        context.hook(AT, |_, event| {
            // The event is {tool, skill, input, session}; a call that is cancelled here never runs.
            let command = event["input"]["command"].as_str().unwrap_or_default();
            let has = |word| command.split_whitespace().any(|other| other == word);
            Ok(match has("chmod") && has("777") {
                true => HookAnswer::cancelled("world-writable files are not allowed here"),
                false => HookAnswer::unchanged(),
            })
        });
        Ok(())
    }
}

/// A shell script that continues after an error: a pattern finds what is there, this finds what is missing.
fn continues(file: &ScannedFile) -> Option<FoundByScanner> {
    let message = "continues after an error; start with `set -eu`";
    (file.path.ends_with(".sh") && !file.content.contains("set -e"))
        .then(|| file.finding("goes-on-after-errors", "warning", 1, message))
}
