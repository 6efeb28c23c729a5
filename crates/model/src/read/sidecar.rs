//! `agents/openai.yaml`, the file that Codex reads next to a SKILL.md.

use super::{FileText, ManifestDraft};
use crate::{
    diagnostic::{Diagnostic, DiagnosticCode, Strictness},
    report::{DiagnosticCollector, Say},
    yaml::{
        self,
        node::{Node, get},
    },
};

/// Reads the interface, the policy and the tool dependencies. Problems of the sidecar file are warnings: they don't
/// make the skill invalid.
pub(super) fn read(
    file: FileText<'_>,
    mode: Strictness,
    draft: &mut ManifestDraft,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut report = DiagnosticCollector::new(mode, file.name, file.text);
    let pairs = yaml::read_mapping(file.text, 0, &mut report);
    let unread = pairs.is_none() || report.has_errors();
    let repaired = !report.list.is_empty();
    report.list.clear();
    if unread || repaired {
        let what = if unread {
            "is not a YAML map and was ignored"
        } else {
            "is not valid YAML and was read in part"
        };
        report.add(DiagnosticCode::SidecarUnread, 0, || {
            Say::new(format!("the file {what}")).hint("check it with a YAML linter")
        });
    }
    let pairs = pairs.unwrap_or_default();
    draft.about.interface = get(&pairs, "interface").map(Node::to_json);
    draft.about.sidecar_tools = get(&pairs, "dependencies")
        .and_then(|node| node.get("tools"))
        .map(Node::to_json);
    let implicit = get(&pairs, "policy")
        .and_then(|node| node.get("allow_implicit_invocation"))
        .and_then(Node::as_bool);
    if implicit == Some(false) {
        draft.card.model_invocable = Some(false);
    }
    diagnostics.append(&mut report.list);
}
