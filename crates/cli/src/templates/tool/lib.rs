//! The code of this skill, as a library. It runs in a sandbox and asks metier for everything: `host.read_file` works
//! because SKILL.yaml requests `file:read` and the user approved it.

use metier_sdk::guest::{Context, Outcome, Plugin};
use metier_sdk::wire::Manifest;
use serde_json::json;

/// The skill as a value.
#[derive(Default)]
struct This;

metier_sdk::export_skill!(This);

impl Plugin for This {
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

/// The input of `count`; its schema is generated from this.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Count {
    /// The file, from the project's folder
    path: String,
}
