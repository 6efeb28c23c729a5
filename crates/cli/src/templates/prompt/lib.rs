//! The code of this skill, as a library: it adds a line to the prompt that depends on the project. What never changes is in prompt.md.

use metier_sdk::HookPhase;
use metier_sdk::guest::{Context, Outcome, Plugin};
use metier_sdk::wire::{HookAnswer, Manifest};

/// The skill as a value.
#[derive(Default)]
struct This;

metier_sdk::export_skill!(This);

impl Plugin for This {
    fn manifest(&self) -> Manifest {
        Manifest::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }

    fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()> {
        context.hook(HookPhase::BeforePromptBuild, |host, mut event| {
            let style = host.config()["style"].as_str().unwrap_or("short");
            // A hook of this phase can only add; it keeps the existing fragments.
            if let Some(fragments) = event["fragments"].as_array_mut() {
                fragments.push(format!("Write release notes in the style: {style}.").into());
            }
            Ok(HookAnswer::changed(event))
        });
        Ok(())
    }
}
