//! Types, triggers, permissions, implementation and tools.

use super::{ManifestDraft, shape};
use crate::{
    diagnostic::DiagnosticCode,
    manifest::ToolDefinition,
    permission::Want,
    report::{DiagnosticCollector, Say},
    words::{Backend, SkillType},
    yaml::node::{Node, Pair},
};

impl ManifestDraft {
    pub(super) fn code(&mut self, pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) -> bool {
        let (key, node) = (pair.key.as_ref(), &pair.node);
        match key {
            "types" | "type" => self.read_types(key, node, report),
            "triggers" => shape::map(key, node, report)
                .iter()
                .for_each(|pair| self.read_trigger(pair, report)),
            "permissions" => self.read_permissions(node, report),
            "implementation" => shape::map(key, node, report)
                .iter()
                .for_each(|pair| self.read_implementation(pair, report)),
            "prompt" => shape::map(key, node, report)
                .iter()
                .for_each(|pair| self.read_prompt(pair, report)),
            "tools" => {
                let items = shape::maps(key, node, report);
                self.code.tools = items
                    .into_iter()
                    .filter_map(|item| tool(item, report))
                    .collect();
            }
            "security_rules" => self.code.security_rules = Some(node.to_json()),
            "wiki" => self.code.wiki = Some(node.to_json()),
            _ => return false,
        }
        true
    }

    fn read_types(&mut self, key: &str, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) {
        for (word, at) in shape::located(key, node, report) {
            match word.parse::<SkillType>() {
                Ok(kind) => self.card.types.insert(kind),
                Err(error) => report.add(DiagnosticCode::TypeUnknown, at, || {
                    Say::new(format!("`{key}`: {error}"))
                }),
            }
            self.seen_types = true;
        }
    }

    fn read_trigger(&mut self, pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) {
        let words = shape::texts(&pair.key, &pair.node, report);
        match pair.key.as_ref() {
            "files" => self.triggers.files = words,
            "keywords" => self.triggers.keywords = words,
            "languages" => self.triggers.languages = words,
            "modes" => self.triggers.modes = words,
            _ => unknown(
                "triggers",
                pair,
                "files, keywords, languages and modes",
                report,
            ),
        }
    }

    fn read_permissions(&mut self, node: &Node<'_>, report: &mut DiagnosticCollector<'_>) {
        for (word, at) in shape::located("permissions", node, report) {
            match word.parse::<Want>() {
                Ok(want) => self.wants.push(want),
                Err(error) => {
                    report.add(DiagnosticCode::PermissionUnknown, at, || {
                        let known = metier_sdk::Permission::ALL.map(metier_sdk::Permission::as_str);
                        Say::new(format!("{error}; it grants nothing"))
                            .hint(format!("use one of {}", known.join(", ")))
                    });
                }
            }
        }
    }

    fn read_implementation(&mut self, pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) {
        match pair.key.as_ref() {
            "backend" => {
                let word = shape::text("backend", &pair.node, report).unwrap_or_default();
                match word.parse::<Backend>() {
                    Ok(backend) => self.card.backend = Some(backend),
                    Err(error) => report.add(DiagnosticCode::BackendUnknown, pair.node.at, || {
                        Say::new(format!("`implementation.backend`: {error}"))
                    }),
                }
            }
            "entrypoint" => self.code.entrypoint = shape::text("entrypoint", &pair.node, report),
            "limits" => self.code.limits = super::limits::read(&pair.node, report),
            _ => unknown(
                "implementation",
                pair,
                "backend, entrypoint and limits",
                report,
            ),
        }
    }

    fn read_prompt(&mut self, pair: &Pair<'_>, report: &mut DiagnosticCollector<'_>) {
        match pair.key.as_ref() {
            "system_prompt_file" => {
                self.code.system_prompt_file =
                    shape::text("system_prompt_file", &pair.node, report);
            }
            "context_files" => {
                self.code.context_files = shape::texts("context_files", &pair.node, report);
            }
            "max_context_tokens" => {
                self.code.max_context_tokens =
                    pair.node.as_text().and_then(|text| text.parse().ok());
                if self.code.max_context_tokens.is_none() {
                    shape::wrong("max_context_tokens", &pair.node, "a number", report);
                }
            }
            _ => unknown(
                "prompt",
                pair,
                "system_prompt_file, context_files and max_context_tokens",
                report,
            ),
        }
    }
}

pub(super) fn unknown(
    field: &str,
    pair: &Pair<'_>,
    known: &str,
    report: &mut DiagnosticCollector<'_>,
) {
    report.add(DiagnosticCode::UnknownWord, pair.key_at, || {
        Say::new(format!(
            "unknown field `{field}.{}`",
            pair.key.escape_debug()
        ))
        .hint(format!("the fields of `{field}` are {known}"))
    });
}

fn tool(node: &Node<'_>, report: &mut DiagnosticCollector<'_>) -> Option<ToolDefinition> {
    let Some(name) = shape::entry(node, "name", report) else {
        shape::wrong("tools", node, "a map with a `name`", report);
        return None;
    };
    Some(ToolDefinition {
        name,
        description: shape::entry(node, "description", report).unwrap_or_default(),
        input_schema: node.get("input_schema").map(Node::to_json),
    })
}
