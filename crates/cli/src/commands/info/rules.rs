//! The rest of a manifest: rules about tools, triggers, and every field without a separate line.

use metier::skill::SkillManifest;
use serde_json::Value;

use super::InfoPage;
use crate::output::{Tone, one_line};

/// Fields that have a separate line; every other one is printed unchanged, so that nothing that
/// was read stays unseen.
const SHOWN: &[&str] = &[
    "name",
    "description",
    "when_to_use",
    "version",
    "license",
    "compatibility",
    "homepage",
    "author",
    "emoji",
    "category",
    "tags",
    "requires",
    "os",
    "tools_required",
    "dependencies",
    "install",
    "user-invocable",
    "disable-model-invocation",
    "context",
    "agent",
    "model",
    "effort",
    "argument-hint",
    "arguments",
    "paths",
    "allowed-tools",
    "disallowed-tools",
    "allowed_tools",
    "forbidden_tools",
    "execution_protocol",
    "conflicts_with",
    "types",
    "triggers",
    "permissions",
    "hooks",
    "unknown",
];

/// The rest of a manifest.
pub(super) fn show(page: &mut InfoPage<'_>, manifest: &SkillManifest) {
    let (tools, contract, code, triggers) = (
        &manifest.tools,
        &manifest.contract,
        &manifest.code,
        &manifest.triggers,
    );
    let before = page.text.len();
    page.words("pre-approve", &tools.preapprove);
    page.words("disallows", &tools.disallow);
    page.words("only tools", tools.only.as_deref().unwrap_or_default());
    page.words("forbids", &tools.forbid);
    page.words("on files", &triggers.files);
    page.words("on keywords", &triggers.keywords);
    page.words("on language", &triggers.languages);
    page.words("in modes", &triggers.modes);
    page.words("protocol", &contract.execution_protocol);
    page.words("not with", &contract.conflicts_with);
    page.words(
        "needs with",
        &contract
            .composability_rules
            .iter()
            .map(|rule| rule.with.clone())
            .collect::<Vec<_>>(),
    );
    page.words(
        "offers tools",
        &code
            .tools
            .iter()
            .map(|tool| tool.name.clone())
            .collect::<Vec<_>>(),
    );
    page.words(
        "unknown",
        &manifest
            .unknown
            .iter()
            .map(|(key, _)| key.clone())
            .collect::<Vec<_>>(),
    );
    let json = metier_wire::manifest(manifest);
    page.words("no effect yet", &metier_wire::without_effect(&json));
    if let Value::Object(mut fields) = json {
        // Its backend and its entrypoint are shown above.
        if let Some(Value::Object(code)) = fields.get_mut("implementation") {
            code.retain(|key, _| key != "backend" && key != "entrypoint");
        }
        fields.retain(|_, value| value.as_object().is_none_or(|parts| !parts.is_empty()));
        for (key, value) in fields
            .iter()
            .filter(|(key, _)| !SHOWN.contains(&key.as_str()))
        {
            page.value(key, value);
        }
    }
    if page.text.len() > before {
        let heading = page.output.paint("rules", Tone::Strong);
        page.text.insert_str(before, &format!("\n  {heading}\n"));
    }
}

impl InfoPage<'_> {
    /// A field without a separate line: its parts are on the lines below.
    fn value(&mut self, name: &str, value: &Value) {
        match inline_value(value) {
            Some(text) => self.field(name, &text),
            None => {
                let label = self.output.paint(name, Tone::Faint);
                self.line(&format!("  {label}"));
                self.parts(value, 4);
            }
        }
    }

    fn parts(&mut self, value: &Value, indent: usize) {
        for line in part_lines(value) {
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }
}

/// A value that fits on a line: a word, a number, or a list of them.
fn inline_value(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some("none".to_owned()),
        Value::Bool(true) => Some("yes".to_owned()),
        Value::Bool(false) => Some("no".to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            let is_plain = |part: &Value| !part.is_array() && !part.is_object();
            let words = parts
                .iter()
                .map(|part| inline_value(part).filter(|_| is_plain(part)));
            Some(words.collect::<Option<Vec<_>>>()?.join(", "))
        }
        Value::Object(_) => None,
    }
}

/// The parts of a value, a line each: `name: value`, or `- value` for those of a list.
fn part_lines(value: &Value) -> Vec<String> {
    let inner = |part: &Value| part_lines(part).into_iter();
    match value {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, part)| match inline_value(part) {
                Some(text) => vec![format!("{}: {}", one_line(name), one_line(&text))],
                None => {
                    let lines = inner(part).map(|line| format!("  {line}"));
                    let name = format!("{}:", one_line(name));
                    std::iter::once(name).chain(lines).collect()
                }
            })
            .collect(),
        Value::Array(parts) => parts
            .iter()
            .flat_map(|part| match inline_value(part) {
                Some(text) => vec![format!("- {}", one_line(&text))],
                None => inner(part)
                    .enumerate()
                    .map(|(at, line)| format!("{} {line}", if at == 0 { "-" } else { " " }))
                    .collect(),
            })
            .collect(),
        _ => Vec::new(),
    }
}
