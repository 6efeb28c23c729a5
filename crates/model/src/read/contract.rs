//! Conditions and rules for composing a skill with others.

use super::{ManifestDraft, shape};
use crate::{
    Condition,
    diagnostic::DiagnosticCode,
    manifest::{CompatibilityRule, ComposabilityRule, Json, SkillOrder},
    report::{DiagnosticCollector, Say},
    text::visible,
    yaml::node::{Node, NodeValue, Pair},
};

impl ManifestDraft {
    pub(super) fn contract(
        &mut self,
        pair: &Pair<'_>,
        report: &mut DiagnosticCollector<'_>,
    ) -> bool {
        let (key, node) = (pair.key.as_ref(), &pair.node);
        match key {
            "execution_protocol" => self.contract.execution_protocol = steps(key, node, report),
            "preconditions" => self.contract.preconditions = conditions(key, node, report),
            "postconditions" => self.contract.postconditions = conditions(key, node, report),
            "output_contract" => self.contract.output_contract = result(key, node, report),
            "conflicts_with" => self.contract.conflicts_with = shape::texts(key, node, report),
            "compatibility_rules" => {
                let items = shape::maps(key, node, report);
                self.contract.compatibility_rules = items
                    .into_iter()
                    .filter_map(|item| compatibility(item, report))
                    .collect();
            }
            "composability_rules" => {
                let items = shape::maps(key, node, report);
                self.contract.composability_rules = items
                    .into_iter()
                    .filter_map(|item| composability(item, report))
                    .collect();
            }
            _ => return false,
        }
        true
    }
}

/// Steps are sentences: a single string is one step, including its commas.
fn steps(key: &str, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> Vec<Box<str>> {
    match &node.value {
        NodeValue::Text(text, _) => vec![text.trim().into()],
        _ => shape::texts(key, node, report),
    }
}

fn conditions(key: &str, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> Vec<Json> {
    let items = match &node.value {
        NodeValue::List(items) => items.as_slice(),
        NodeValue::Null => &[],
        _ => std::slice::from_ref(node),
    };
    let mut read = |item: &Node<'_>| {
        let value = item.to_json();
        if Condition::read(&value) == Condition::Unknown {
            let wanted = "a sentence, or `{file: PATH}`, `{command: LINE}` or `{schema: {…}}`";
            report.add(DiagnosticCode::FieldForm, item.at, || {
                let value = value.to_string();
                let value = visible(&value);
                Say::new(format!("`{value}` in `{key}` can't be checked"))
                    .hint(format!("write {wanted}"))
            });
        }
        value
    };
    items.iter().map(&mut read).collect()
}

/// A JSON Schema, or prose.
fn result(key: &str, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> Option<Json> {
    match &node.value {
        NodeValue::Map(_) | NodeValue::Text(..) => Some(node.to_json()),
        NodeValue::Null => None,
        _ => {
            shape::wrong(key, node, "a JSON Schema or a string", report);
            None
        }
    }
}

fn compatibility(
    node: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
) -> Option<CompatibilityRule> {
    let Some(with) = shape::entry(node, "with", report) else {
        shape::wrong("compatibility_rules", node, "a map with `with`", report);
        return None;
    };
    let version = shape::entry(node, "version", report);
    if let Some(range) = version
        .as_deref()
        .filter(|range| semver::VersionReq::parse(range).is_err())
    {
        report.add(DiagnosticCode::VersionForm, node.at, || {
            let range = visible(range);
            Say::new(format!("`{range}` is not a valid version range")).hint("write it as `^1.2`")
        });
    }
    Some(CompatibilityRule {
        with,
        version,
        // A value that can't be parsed counts as the stricter one.
        compatible: node
            .get("compatible")
            .is_none_or(|flag| shape::flag("compatible", flag, report).unwrap_or(false)),
        reason: shape::entry(node, "reason", report),
    })
}

fn composability(
    node: &Node<'_>,
    report: &mut DiagnosticCollector<'_>,
) -> Option<ComposabilityRule> {
    let Some(with) = shape::entry(node, "with", report) else {
        shape::wrong("composability_rules", node, "a map with `with`", report);
        return None;
    };
    let order = match shape::entry(node, "order", report).as_deref() {
        None => None,
        Some("before") => Some(SkillOrder::Before),
        Some("after") => Some(SkillOrder::After),
        Some(word) => {
            report.add(DiagnosticCode::UnknownWord, node.at, || {
                let word = visible(word);
                Say::new(format!("`order` must be `before` or `after`, not `{word}`"))
            });
            None
        }
    };
    Some(ComposabilityRule {
        with,
        required: node
            .get("required")
            .is_some_and(|flag| shape::flag("required", flag, report).unwrap_or(true)),
        order,
    })
}
