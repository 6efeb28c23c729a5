//! The code of this skill: it adds a line to the prompt that depends on the project. What never changes is in prompt.md.

use metier_sdk::{HookPhase, guest::Skill, wire::HookAnswer};

fn main() -> std::process::ExitCode {
    Skill::new()
        .hook(HookPhase::BeforePromptBuild, |host, mut event| {
            let style = host.config()["style"].as_str().unwrap_or("short");
            // A hook of this phase can only add; it keeps the existing fragments.
            if let Some(fragments) = event["fragments"].as_array_mut() {
                fragments.push(format!("Write release notes in the style: {style}.").into());
            }
            Ok(HookAnswer::changed(event))
        })
        .serve()
}
