//! Counts lines, words and bytes: a skill that is written once and built as a program, a library or a component.

use metier_sdk::{
    HookPhase,
    guest::{Context, Host, Outcome, Plugin},
    wire::{HookAnswer, Manifest},
};

/// The skill.
#[derive(Default)]
pub struct WordCount;

metier_sdk::export_skill!(WordCount);

impl Plugin for WordCount {
    fn manifest(&self) -> Manifest {
        Manifest::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }

    fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()> {
        context
            .tool("count", "Counts the lines, words and bytes of a text or a file.", count)
            .hook(HookPhase::BeforePromptBuild, |_, mut event| {
                if let Some(fragments) = event["fragments"].as_array_mut() {
                    fragments.push("How long a text is says the tool `count`: never guess it.".into());
                }
                Ok(HookAnswer::changed(event))
            });
        Ok(())
    }
}

/// The input of `count`: one of the two.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The text itself
    text: Option<String>,
    /// A file, from the project's folder
    path: Option<String>,
}

/// The answer of `count`.
#[derive(serde::Serialize)]
struct Count {
    lines: usize,
    words: usize,
    bytes: usize,
}

fn count(host: &Host<'_>, input: Input) -> Outcome<Count> {
    let text = match (input.text, input.path) {
        (Some(text), None) => text,
        (None, Some(path)) => host.read_file(&path)?,
        _ => return Err("give either `text` or `path`".into()),
    };
    Ok(Count {
        lines: text.lines().count(),
        words: text.split_whitespace().count(),
        bytes: text.len(),
    })
}
