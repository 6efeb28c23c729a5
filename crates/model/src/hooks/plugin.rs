//! Claude plugins: `.claude-plugin/plugin.json` has the plugin's name, and can list hooks besides `hooks/hooks.json`.
//!
//! A plugin with hooks is treated as a separate skill, whose folder is the plugin's: so the hooks and the scripts
//! that they run are scanned, hashed and approved like the files of any skill, and once for all skills of the plugin.

use super::{DiagnosticCollector, claude};
use crate::{
    diagnostic::DiagnosticCode,
    report::Say,
    text::visible,
    yaml::{
        self,
        node::{Node, NodeValue},
    },
};

/// The file that makes a folder a plugin.
pub const MANIFEST: &str = ".claude-plugin/plugin.json";
/// The suffix of a plugin's name, which is often that of one of its skills.
const SUFFIX: &str = "-plugin";
/// The maximum length of a skill's name.
const MAX_NAME: usize = 64;
/// The maximum length of a description.
const MAX_DESCRIPTION: usize = 400;

/// A plugin as the text of a skill that only users can invoke; `None` if it isn't JSON. `folder` is the name if it
/// has none.
#[must_use]
pub fn as_skill(text: &str, folder: &str) -> Option<String> {
    let root = yaml::read_file(text).ok()?;
    root.as_map()?;
    let field = |name: &str| root.get(name).and_then(Node::as_text).unwrap_or_default();
    let named = Some(field("name").trim()).filter(|name| !name.is_empty());
    let plain: String = named
        .unwrap_or(folder)
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(MAX_NAME - SUFFIX.len())
        .collect();
    let parts: Vec<&str> = plain.split('-').filter(|part| !part.is_empty()).collect();
    let name = format!("{}{SUFFIX}", parts.join("-"));
    let description: String = visible(field("description"))
        .chars()
        .take(MAX_DESCRIPTION)
        .collect();
    let description = match description.trim() {
        "" => "The hooks of a Claude plugin.".to_owned(),
        description => format!("The hooks of a Claude plugin: {description}"),
    };
    // A JSON string is a YAML string.
    let quoted = serde_json::Value::from(description);
    Some(format!(
        "---\nname: {name}\ndescription: {quoted}\ndisable-model-invocation: true\n---\n"
    ))
}

/// Whether a plugin's manifest contains hooks, or lists files with hooks.
#[must_use]
pub fn has_hooks(text: &str) -> bool {
    let root = yaml::read_file(text).ok();
    root.is_some_and(|root| {
        root.get("hooks")
            .is_some_and(|node| node.value != NodeValue::Null)
    })
}

/// The files with hooks that a plugin's manifest lists, relative to its folder.
#[must_use]
pub fn named_files(text: &str) -> Vec<String> {
    let Ok(root) = yaml::read_file(text) else {
        return Vec::new();
    };
    let names: Vec<&str> = match root.get("hooks").map(|node| &node.value) {
        Some(NodeValue::List(items)) => items.iter().filter_map(Node::as_text).collect(),
        Some(_) => root
            .get("hooks")
            .and_then(Node::as_text)
            .into_iter()
            .collect(),
        None => Vec::new(),
    };
    names
        .into_iter()
        .map(|name| name.trim().trim_start_matches("./").to_owned())
        .collect()
}

/// Reads the hooks inside a plugin's manifest.
pub(super) fn read_inline(
    text: &str,
    report: &mut DiagnosticCollector<'_>,
    commands: &mut Vec<claude::CommandHook>,
) {
    let root = match yaml::read_file(text) {
        Ok(root) => root,
        Err((_, message)) => {
            return report.add(DiagnosticCode::HookForm, 0, || {
                Say::new(format!("not valid JSON: {message}")).hint("check it with a JSON linter")
            });
        }
    };
    let Some(node) = root.get("hooks").filter(|node| node.as_map().is_some()) else {
        return;
    };
    claude::read_events(node.get("hooks").unwrap_or(node), report, commands);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_reads_like_a_skill() {
        let text = r#"{"name": "Super Powers", "description": "Does \"it\": all", "version": "1"}"#;
        assert_eq!(
            as_skill(text, "x").as_deref(),
            Some(
                "---\nname: super-powers-plugin\ndescription: \"The hooks of a Claude plugin: Does \\\"it\\\": all\"\n\
                 disable-model-invocation: true\n---\n"
            )
        );
        assert!(
            as_skill("{}", "my_folder")
                .is_some_and(|text| text.contains("name: my-folder-plugin\n"))
        );
        assert_eq!(as_skill("[1]", "x"), None);
        assert_eq!(as_skill("{", "x"), None);
    }

    #[test]
    fn hooks_are_named_or_written_out() {
        assert_eq!(
            named_files(r#"{"hooks": "./config/hooks.json"}"#),
            ["config/hooks.json"]
        );
        assert_eq!(
            named_files(r#"{"hooks": ["./a.json", "b.json"]}"#),
            ["a.json", "b.json"]
        );
        assert!(named_files(r#"{"hooks": {"Stop": []}}"#).is_empty());
        assert!(has_hooks(r#"{"hooks": {"Stop": []}}"#) && !has_hooks("{}"));
    }
}
