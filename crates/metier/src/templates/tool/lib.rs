//! The code of this skill. It runs in a room of its own and asks metier for everything: `host.read_file` works
//! because SKILL.yaml asks for `file:read` and the user said yes.

use metier_sdk::{
    guest::{Context, Outcome, Plugin},
    wire::Manifest,
};
use serde_json::json;

#[derive(Default)]
struct Counter;

metier_sdk::export_skill!(Counter);

/// What `count` is called with; its schema is made from this.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Count {
    /// The file, from the project's folder
    path: String,
}

impl Plugin for Counter {
    fn manifest(&self) -> Manifest {
        Manifest::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }

    fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()> {
        context.tool("count", "Counts the lines and words of a text file.", |host, input: Count| {
            let text = host.read_file(&input.path)?;
            Ok(json!({ "lines": text.lines().count(), "words": text.split_whitespace().count() }))
        });
        Ok(())
    }
}
