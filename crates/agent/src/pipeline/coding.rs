//! The rules of every coding set, whatever its skills declare: specification, implementation, check.
//!
//! **Problem.** A report is written by a model. It can claim that a criterion is met although no tool worked on it, or omit a failure.
//! **Decision.** The program keeps its own record: which calls of the implementer's tools returned which exit code, which criterion each
//! named, and which files changed around every call that could change one. A report is accepted when it agrees with that record.
//!
//! - A criterion is *met* only if the last call that named it succeeded, after the current specification was delivered.
//! - Files that the report calls changed are those that changed.
//! - Only the implementer changes files. A tool of another skill that could do so waits until the implementer has run; changes that it
//!   makes anyway have to be undone, or made by the implementer.
//! - No tool leaves the conversation: no sub-agent, no further skill.

use std::collections::{BTreeMap, BTreeSet};

use metier_catalog::ProjectState;
use metier_model::SkillManifest;
use metier_policy::{CODING_PIPELINE, reads_only, writes};
use serde_json::{Value, json};

use super::NotYet;
use crate::rules::RequestedTool;

/// How many files a sentence names.
const MAX_FILES: usize = 20;

/// The record of a coding task.
pub(super) struct CodingTask {
    /// Other skills of the set, whose own tools can't change files.
    harmless: Vec<String>,
    specification: Option<Value>,
    /// Calls of the implementer since the current specification.
    calls: Vec<ImplementerCall>,
    has_run: bool,
    /// The project before the first call that could change it, and after the last one.
    first: Option<ProjectState>,
    last: Option<ProjectState>,
    /// Files that the implementer changed.
    implemented: BTreeSet<String>,
    /// Files that another tool changed, with its name.
    elsewhere: BTreeMap<String, String>,
}

/// One call of the implementer.
struct ImplementerCall {
    criterion: Option<String>,
    ended: Result<(), String>,
    changed: Option<BTreeSet<String>>,
}

/// The result of a watched call.
pub(crate) struct CodingCall {
    /// The input from the model.
    pub(crate) criterion: Option<String>,
    /// The result of the tool itself; `None` if it was an error.
    pub(crate) output: Option<Value>,
    /// The project before it and after it.
    pub(crate) before: ProjectState,
    /// The project after it.
    pub(crate) after: ProjectState,
}

impl CodingTask {
    /// The record of a set, if it is a coding set.
    pub(super) fn new(members: &[&SkillManifest], is_coding: bool) -> Option<Self> {
        let named = |name: &str| members.iter().any(|member| *member.card.name == *name);
        if !is_coding && !named(CODING_PIPELINE[1]) {
            return None;
        }
        let harmless = members.iter().filter(|member| !writes(member));
        Some(Self {
            harmless: harmless
                .map(|member| member.card.name.to_string())
                .collect(),
            specification: None,
            calls: Vec::new(),
            has_run: false,
            first: None,
            last: None,
            implemented: BTreeSet::new(),
            elsewhere: BTreeMap::new(),
        })
    }

    /// Whether a call of this tool may change files, apart from the implementer's.
    fn could_write(&self, tool: RequestedTool<'_>) -> bool {
        match tool.skill {
            Some(skill) if CODING_PIPELINE.contains(&skill) => false,
            Some(skill) if self.harmless.iter().any(|harmless| harmless == skill) => false,
            _ => !reads_only(tool.short),
        }
    }

    /// Whether a tool can be called before, between or after the two.
    pub(super) fn admit(&self, tool: RequestedTool<'_>) -> Result<(), NotYet> {
        if !self.could_write(tool) {
            return Ok(());
        }
        // A tool of the program that does more than read starts other skills or conversations.
        if tool.skill.is_none() {
            return Err(NotYet::Leads(tool.name.to_owned()));
        }
        if self.has_run {
            return Ok(());
        }
        let [specification, implementer] = CODING_PIPELINE;
        Err(NotYet::Waits {
            waits: tool.name.to_owned(),
            first: implementer.to_owned(),
            what: match self.specification {
                None => format!(
                    "deliver what `{specification}` promises, then call the tool of `{implementer}`"
                ),
                Some(_) => "call its tool for a criterion of the specification".to_owned(),
            },
        })
    }

    /// Whether the files around a call have to be known.
    pub(super) fn watches(&self, tool: RequestedTool<'_>) -> bool {
        tool.skill == Some(CODING_PIPELINE[1]) || self.could_write(tool)
    }

    /// A skill delivered its result. A new specification starts a new record: calls for another specification prove nothing.
    pub(super) fn delivered(&mut self, skill: &str, output: &Value) {
        if skill == CODING_PIPELINE[0] {
            self.specification = Some(output.clone());
            self.calls.clear();
        }
    }

    /// A watched call ended.
    pub(super) fn called(&mut self, tool: RequestedTool<'_>, called: CodingCall) {
        let changed = called.after.changed_since(&called.before);
        let files = changed.clone().unwrap_or_default();
        self.first.get_or_insert(called.before);
        self.last = Some(called.after);
        if tool.skill != Some(CODING_PIPELINE[1]) {
            let files = files.into_iter().map(|file| (file, tool.name.to_owned()));
            self.elsewhere.extend(files);
            return;
        }
        self.elsewhere.retain(|file, _| !files.contains(file));
        self.implemented.extend(files);
        let ended = match &called.output {
            None => Err("failed".to_owned()),
            Some(output) => exit(output),
        };
        self.has_run |= ended.is_ok();
        // A hook may have changed the criterion: the call then names neither.
        let said = called
            .output
            .as_ref()
            .and_then(|output| output["criterion"].as_str());
        let criterion = called.criterion.map(|name| name.trim().to_owned());
        let is_same = said.is_none() || said.map(str::trim) == criterion.as_deref();
        self.calls.push(ImplementerCall {
            criterion: criterion.filter(|_| is_same),
            ended,
            changed,
        });
    }

    /// The differences between a report and the record.
    pub(super) fn disputes(&self, skill: &str, reports: &[&Value]) -> Vec<String> {
        if skill != CODING_PIPELINE[1] {
            return Vec::new();
        }
        let [report] = reports else {
            return vec![format!(
                "the answer contains {} reports: give one",
                reports.len()
            )];
        };
        let specified = self.specification.as_ref();
        let promised = specified.map_or_else(Vec::new, |value| ids(value, "acceptance"));
        if promised.is_empty() {
            let [specification, _] = CODING_PIPELINE;
            return vec![format!(
                "`{specification}` has delivered no acceptance criterion with an `id`"
            )];
        }
        let reported = ids(report, "criteria");
        let mut wrong: Vec<String> = promised
            .iter()
            .filter(|id| !reported.contains(id))
            .map(|id| format!("acceptance criterion `{id}` is missing from the report"))
            .collect();
        let items = report["criteria"].as_array().into_iter().flatten();
        let mut seen = BTreeSet::new();
        for item in items {
            let Some(id) = item["id"].as_str().map(str::trim) else {
                wrong.push("a criterion has no `id`".to_owned());
                continue;
            };
            if !seen.insert(id) {
                wrong.push(format!("criterion `{id}` is reported twice"));
            } else if !promised.iter().any(|promised| promised == id) {
                wrong.push(format!("the specification has no criterion `{id}`"));
            // Anything except a plain no counts as a claim.
            } else if item["met"] != Value::Bool(false) {
                wrong.extend(self.unproven(id, item));
            }
        }
        wrong.extend(self.miscounted(report));
        wrong
    }

    /// Why a criterion can't be reported as met.
    fn unproven(&self, id: &str, item: &Value) -> Option<String> {
        let evidence = item["evidence"].as_str().unwrap_or_default();
        if evidence.trim().is_empty() {
            return Some(format!("criterion `{id}` is met without evidence"));
        }
        let mut calls = self.calls.iter().rev();
        let last = calls.find(|call| call.criterion.as_deref() == Some(id));
        let [_, implementer] = CODING_PIPELINE;
        match last.map(|call| &call.ended) {
            Some(Ok(())) => None,
            Some(Err(why)) => Some(format!(
                "criterion `{id}` is reported as met, but the last call of `{implementer}` for it {why}"
            )),
            None => Some(format!(
                "criterion `{id}` is reported as met, but no call of `{implementer}` named it: call its tool with `criterion` `{id}`, or report it as not met"
            )),
        }
    }

    /// Wrong statements of a report about files.
    fn miscounted(&self, report: &Value) -> Option<String> {
        let said = report["changed"].as_array()?;
        let said: BTreeSet<String> = said
            .iter()
            .filter_map(Value::as_str)
            .map(|path| path.trim().trim_start_matches("./").to_owned())
            .collect();
        let changed = self.changed()?;
        (said != changed).then(|| {
            format!(
                "the report lists {} as changed, but {} changed",
                files(&said),
                files(&changed)
            )
        })
    }

    /// The files that differ from the start because of a call; `None` when that is unknown.
    fn changed(&self) -> Option<BTreeSet<String>> {
        let (Some(first), Some(last)) = (&self.first, &self.last) else {
            return Some(BTreeSet::new());
        };
        let mut changed = last.changed_since(first)?;
        changed.retain(|file| self.implemented.contains(file) || self.elsewhere.contains_key(file));
        Some(changed)
    }

    /// Files that were not changed by the implementer, and are not restored.
    pub(super) fn breaches(&self) -> Vec<String> {
        let changed = self.changed();
        let is_left = |file: &str| {
            changed
                .as_ref()
                .is_none_or(|changed| changed.contains(file))
        };
        let left = self.elsewhere.iter().filter(|(file, _)| is_left(file));
        let [_, implementer] = CODING_PIPELINE;
        left.take(MAX_FILES)
            .map(|(file, tool)| {
                format!("`{file}` was changed by `{tool}`: remove it, or let `{implementer}` make the change")
            })
            .collect()
    }

    /// The recorded facts, one sentence for each call.
    pub(super) fn facts(&self) -> String {
        let [_, implementer] = CODING_PIPELINE;
        let all = match self.changed() {
            None => "the changed files are unknown".to_owned(),
            Some(changed) => format!("in all, {} changed", files(&changed)),
        };
        if self.calls.is_empty() {
            return format!("`{implementer}` did not run for the specification; {all}");
        }
        let lines = self.calls.iter().map(|call| {
            let what = match &call.criterion {
                Some(id) => format!("for `{id}`"),
                None => "for no criterion".to_owned(),
            };
            let ended = match &call.ended {
                Ok(()) => "succeeded",
                Err(why) => why,
            };
            let changed = match &call.changed {
                None => "the files that it changed are unknown".to_owned(),
                Some(changed) => format!("it changed {}", files(changed)),
            };
            format!("`{implementer}` {what} {ended}, {changed}")
        });
        let lines: Vec<String> = lines.chain([all]).collect();
        lines.join("; ")
    }
}

/// The contract of one of the two skills if it declares none.
pub(super) fn owed(skill: &str) -> Option<Value> {
    let [specification, implementer] = CODING_PIPELINE;
    let list = |name: &str, least: usize, fields: &[&str]| {
        let items =
            json!({"type": "object", "required": fields, "properties": {"id": {"type": "string"}}});
        let properties = json!({name: {"type": "array", "minItems": least, "items": items}});
        json!({"type": "object", "required": [name], "properties": properties})
    };
    if skill == specification {
        Some(list("acceptance", 1, &["id"]))
    } else {
        (skill == implementer).then(|| list("criteria", 0, &["id", "met", "evidence"]))
    }
}

/// Whether a program that the implementer ran succeeded, if its tool reports that.
fn exit(output: &Value) -> Result<(), String> {
    match &output["exit"] {
        Value::Null if output.get("exit").is_none() => Ok(()),
        Value::Number(code) if code.as_i64() == Some(0) => Ok(()),
        Value::Number(code) => Err(format!("ended with exit code {code}")),
        _ => Err("did not exit by itself".to_owned()),
    }
}

fn ids(value: &Value, list: &str) -> Vec<String> {
    let items = value[list].as_array().into_iter().flatten();
    let ids = items.filter_map(|item| item["id"].as_str());
    ids.map(|id| id.trim().to_owned()).collect()
}

fn files(files: &BTreeSet<String>) -> String {
    let named = files.iter().take(MAX_FILES);
    let named: Vec<String> = named.map(|file| format!("`{file}`")).collect();
    match files.len() {
        0 => "no file".to_owned(),
        more if more > MAX_FILES => {
            format!("{} and {} more", named.join(", "), more - MAX_FILES)
        }
        _ => named.join(", "),
    }
}
