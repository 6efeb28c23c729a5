//! The code of this skill. It runs in a sandbox and asks metier for everything: `host.read_file` works
//! because SKILL.yaml requests `file:read` and the user approved it.

use metier_sdk::guest::Skill;
use serde_json::json;

/// The input of `count`; its schema is generated from this.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct Count {
    /// The file, from the project's folder
    path: String,
}

fn main() -> std::process::ExitCode {
    Skill::new()
        .tool("count", "Counts the lines and words of a text file.", |host, input: Count| {
            let text = host.read_file(&input.path)?;
            Ok(json!({ "lines": text.lines().count(), "words": text.split_whitespace().count() }))
        })
        .serve()
}
