//! How a skill is invoked, and the four lists of tools.

use super::{ManifestDraft, shape};
use crate::{
    diagnostic::DiagnosticCode,
    manifest::SkillContext,
    report::{DiagnosticCollector, Say},
    yaml::node::{Node, NodeValue, Pair},
};

impl ManifestDraft {
    pub(super) fn invocation(
        &mut self,
        pair: &Pair<'_>,
        report: &mut DiagnosticCollector<'_>,
    ) -> bool {
        let (key, node) = (pair.key.as_ref(), &pair.node);
        match key {
            "user-invocable" | "user_invocable" => {
                self.card.user_invocable = shape::flag(key, node, report);
            }
            "disable-model-invocation" | "disable_model_invocation" => {
                self.card.model_invocable =
                    shape::flag(key, node, report).map(|disabled| !disabled);
            }
            "when_to_use" => self.card.when_to_use = shape::text(key, node, report),
            "context" => self.invocation.context = read_context(node, report),
            "agent" => self.invocation.agent = shape::text(key, node, report),
            "background" => self.invocation.background = shape::flag(key, node, report),
            "model" => self.invocation.model = shape::text(key, node, report),
            "effort" => self.invocation.effort = read_effort(node, report),
            "argument-hint" | "argument_hint" => self.invocation.argument_hint = read_hint(node),
            "arguments" => self.invocation.arguments = read_arguments(node, report),
            "paths" => self.invocation.paths = shape::texts(key, node, report),
            "shell" => self.invocation.shell = shape::text(key, node, report),
            "hooks" => self.invocation.hooks = Some(node.to_json()),
            "command-dispatch" | "command_dispatch" => {
                if shape::text(key, node, report).is_some_and(|word| &*word != "tool") {
                    report.add(DiagnosticCode::UnknownWord, node.at, || {
                        Say::new("`command-dispatch` must be `tool`")
                    });
                }
            }
            "command-tool" | "command_tool" => {
                self.invocation.dispatch_tool = shape::text(key, node, report);
            }
            "command-arg-mode" | "command_arg_mode" => {
                self.invocation.dispatch_arguments = shape::text(key, node, report);
            }
            "allowed-tools" => self.read_allowed_tools(node, report),
            "disallowed-tools" | "disallowed_tools" => {
                self.tools.disallow = shape::tools(key, node, report);
            }
            "allowed_tools" => self.tools.only = Some(shape::tools(key, node, report)),
            "forbidden_tools" | "forbidden-tools" => {
                self.tools.forbid = shape::tools(key, node, report);
            }
            _ => return false,
        }
        true
    }

    fn read_allowed_tools(&mut self, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) {
        self.tools.preapprove = shape::tools("allowed-tools", node, report);
        let conforms = node.as_text().is_some_and(separated_by_blanks);
        if !conforms {
            report.add(DiagnosticCode::AllowedToolsForm, node.at, || {
                Say::new("`allowed-tools` should be one text with spaces between the tools")
                    .hint(tools_hint(&self.tools.preapprove))
            });
        }
    }
}

/// A hint: the tools in the form of the specification.
fn tools_hint(tools: &[Box<str>]) -> String {
    let tools = tools.join(" ");
    let is_plain = |c: char| c.is_ascii_alphabetic() || c == '_';
    match tools {
        none if none.is_empty() => "remove it".to_owned(),
        plain if plain.starts_with(is_plain) && !plain.contains([':', '#', '\'']) => {
            format!("write `allowed-tools: {plain}`")
        }
        other => format!("write `allowed-tools: '{}'`", other.replace('\'', "\'\'")),
    }
}

/// Whether there is no comma outside parentheses.
fn separated_by_blanks(text: &str) -> bool {
    let mut depth = 0usize;
    text.chars().all(|c| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > 0 || c != ','
    })
}

fn read_context(node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> SkillContext {
    match shape::text("context", node, report).as_deref() {
        Some("fork") => SkillContext::Fork,
        None | Some("inline") => SkillContext::Inline,
        Some(word) => {
            report.add(DiagnosticCode::UnknownWord, node.at, || {
                Say::new(format!(
                    "`context` must be `inline` or `fork`, not `{}`",
                    word.escape_debug()
                ))
            });
            SkillContext::Inline
        }
    }
}

fn read_effort(node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> Option<Box<str>> {
    let word = shape::text("effort", node, report)?;
    let known = ["low", "medium", "high", "xhigh", "max"];
    if !known.contains(&&*word) {
        report.add(DiagnosticCode::UnknownWord, node.at, || {
            Say::new(format!("`effort` must be one of {}", known.join(", ")))
        });
    }
    Some(word)
}

/// A hint is a string; YAML parses `[date] [reason]` as a list, but the author intended a string.
fn read_hint(node: &Node<'_>) -> Option<Box<str>> {
    match &node.value {
        NodeValue::Text(text, _) => Some(text.trim().into()),
        NodeValue::List(items) => {
            let words: Vec<_> = items.iter().filter_map(Node::as_text).collect();
            Some(format!("[{}]", words.join(", ")).into())
        }
        _ => None,
    }
}

fn read_arguments(node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> Vec<Box<str>> {
    match &node.value {
        NodeValue::Text(text, _) => text
            .split([' ', ','])
            .filter(|word| !word.is_empty())
            .map(Into::into)
            .collect(),
        _ => shape::texts("arguments", node, report),
    }
}
