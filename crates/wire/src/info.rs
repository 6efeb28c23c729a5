//! `info --json`: the row of the list, and everything else about a skill.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use metier_catalog::{CatalogEntry, FileEntry};
use metier_model::{HookPhase, SkillManifest, hooks::SkillHooks};
use metier_runtime::{Inventory, InventorySkill};
use metier_scan::ScanReport;
use serde::Serialize;
use serde_json::Value;

use crate::{
    json::{self, JsonObject},
    list::{DiagnosticRow, SkillRow},
    manifest,
    permission::PermissionRow,
    scan::{FindingRow, UnreadRow},
};

/// Everything about a skill.
pub struct InfoDocument<'a> {
    row: SkillRow<'a>,
    rest: InfoRest<'a>,
}

/// The fields of `info` that the list does not have.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct InfoRest<'a> {
    manifest: Option<Value>,
    without_effect: Vec<&'static str>,
    files: Vec<FileRow<'a>>,
    has_hooks: bool,
    hooks: Vec<HookRow>,
    has_scripts: bool,
    permissions: Vec<PermissionRow>,
    state: Option<StateRow>,
    findings: Vec<FindingRow>,
    unread: Vec<UnreadRow>,
    tools: Vec<Value>,
    diagnostics: Vec<DiagnosticRow<'a>>,
}

/// The fields that [`InfoDocument`] writes.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "it describes what is written field by field")]
pub(crate) struct InfoShape {
    #[serde(flatten)]
    row: crate::list::SkillShape,
    #[serde(flatten)]
    rest: InfoRest<'static>,
}

/// A hook of a skill that was written for another program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HookRow {
    /// `openclaw` or `claude`.
    pub kind: &'static str,
    /// The file with the handler, or the one in which the command is written.
    pub file: String,
    /// The line of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The command that runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its events, with the names of that program.
    pub events: Vec<String>,
    /// The phases at which metier calls it.
    pub phases: Vec<&'static str>,
}

impl HookRow {
    /// One row for each hook.
    #[must_use]
    pub fn of(hooks: &SkillHooks) -> Vec<Self> {
        let handlers = hooks.handlers.iter().map(|handler| Self {
            kind: "openclaw",
            file: handler.file.to_string(),
            line: None,
            command: None,
            events: handler.events.iter().map(ToString::to_string).collect(),
            phases: handler
                .phases()
                .into_iter()
                .map(HookPhase::as_str)
                .collect(),
        });
        let commands = hooks.commands.iter().map(|hook| Self {
            kind: "claude",
            file: hook.file.to_string(),
            line: Some(hook.line),
            command: Some(hook.command.to_string()),
            events: vec![hook.event.to_owned()],
            phases: vec![hook.phase.as_str()],
        });
        handlers.chain(commands).collect()
    }
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct StateRow {
    state: String,
    since: String,
    detail: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct FileRow<'a> {
    path: Cow<'a, str>,
    size: u64,
}

impl<'a> InfoDocument<'a> {
    /// The document of a skill, with its permissions, their decisions, and its hooks.
    #[must_use]
    pub fn new(
        inventory: &'a Inventory,
        skill: &'a InventorySkill,
        manifest: Option<&SkillManifest>,
        files: &'a [FileEntry],
        report: &ScanReport,
        permissions: Vec<PermissionRow>,
        hooks: &SkillHooks,
    ) -> Self {
        let entry: &CatalogEntry = inventory.entry(skill);
        let below = |folder: &str| {
            files
                .iter()
                .any(|file| file.path.as_path().starts_with(folder))
        };
        let tools = manifest.map_or(&[][..], |manifest| &manifest.code.tools);
        let json = manifest.map(manifest::to_json);
        let rest = InfoRest {
            without_effect: json
                .as_ref()
                .map(manifest::without_effect)
                .unwrap_or_default(),
            manifest: json,
            files: files
                .iter()
                .map(|file| FileRow {
                    path: file.path.text(),
                    size: file.size,
                })
                .collect(),
            has_hooks: below("hooks"),
            hooks: HookRow::of(hooks),
            has_scripts: below("scripts"),
            permissions,
            state: None,
            findings: report.findings.iter().map(FindingRow::of).collect(),
            unread: report.unread.iter().map(UnreadRow::of).collect(),
            tools: tools.iter().map(manifest::tool).collect(),
            diagnostics: entry
                .diagnostics
                .iter()
                .map(|diagnostic| DiagnosticRow::of(entry, diagnostic))
                .collect(),
        };
        Self {
            row: SkillRow::new(inventory, skill),
            rest,
        }
    }

    /// Adds the state that the last activation left, if it failed.
    #[must_use]
    pub fn left_in(mut self, state: String, since: String, detail: Option<String>) -> Self {
        self.rest.state = Some(StateRow {
            state,
            since,
            detail,
        });
        self
    }

    /// Writes the document as one line.
    ///
    /// # Errors
    /// When `to` can't be written to.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let mut out = Vec::new();
        let mut object = JsonObject::begin(&mut out);
        self.row.fields(&mut object);
        if let Ok(Value::Object(fields)) = serde_json::to_value(&self.rest) {
            fields
                .iter()
                .for_each(|(key, field)| json::value(object.any_key(key), field));
        }
        object.end();
        out.push(b'\n');
        to.write_all(&out)
    }
}
