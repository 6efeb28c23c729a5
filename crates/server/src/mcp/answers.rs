//! Answers to the questions of a client: the document that `--json` prints, and the same as text for a model.

use std::{borrow::Cow, fmt::Write as _};

use metier::{
    Error, Resource, Settings, Source, Workspace,
    model_text::{for_model, for_model_framed},
    text::{count, one_line},
};
use metier_wire::{
    ErrorBody, ErrorDocument, ListDocument, ReadDocument, ScanDocument, ScannedRow, ShowDocument,
};
use serde::Serialize;
use serde_json::Value;

use crate::tools::{ToolRequest, WantedSkills};

/// How many skills and findings the text names; the document contains all of them.
const MAX_ROWS: usize = 500;
const MAX_FINDINGS: usize = 20;

/// An answer to a client, or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToolReply {
    pub(crate) document: Value,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl ToolReply {
    /// A document, and the same as text. A model reads both.
    pub(crate) fn new(document: &impl Serialize, text: &str) -> Self {
        Self {
            document: neutral(value(document), for_model),
            text: for_model(text).into_owned(),
            is_error: false,
        }
    }

    /// The same for a skill in its frame, which stays.
    fn framed(document: &impl Serialize, text: &str) -> Self {
        Self {
            document: neutral(value(document), for_model_framed),
            text: for_model_framed(text).into_owned(),
            is_error: false,
        }
    }

    /// An error of the server itself.
    pub(crate) fn refused(code: &str, message: String, hint: Option<&str>) -> Self {
        let text = match hint {
            Some(hint) => format!("error: {message}\nhint: {hint}\n"),
            None => format!("error: {message}\n"),
        };
        let error = ErrorBody {
            code,
            message: Cow::Owned(message),
            hint,
            skill: None,
            path: None,
            line: None,
        };
        Self {
            is_error: true,
            ..Self::new(&ErrorDocument { error }, &text)
        }
    }
}

impl From<&Error> for ToolReply {
    fn from(error: &Error) -> Self {
        let mut text = format!("error: {}\n", one_line(error.message()));
        let place = error.place().map(|(path, line)| match line {
            Some(line) => format!("in {path}:{line}"),
            None => format!("in {path}"),
        });
        for detail in error.details().iter().cloned().chain(place) {
            text.push_str(&format!("  {}\n", one_line(&detail)));
        }
        if let Some(hint) = error.advice() {
            text.push_str(&format!("hint: {}\n", one_line(hint)));
        }
        Self {
            is_error: true,
            ..Self::new(&ErrorDocument::from(error), &text)
        }
    }
}

/// Answers a question. The workspace is opened for it: a skill that was added meanwhile can be used at once.
pub(crate) fn answer(settings: &Settings, call: &ToolRequest) -> ToolReply {
    let answer = Workspace::open(settings.renewed()).and_then(|workspace| match call {
        ToolRequest::List(wanted) => list(&workspace, wanted),
        ToolRequest::Activate(wanted) => {
            let shown = workspace.render_for_model(&wanted.name, &wanted.arguments)?;
            let document = ShowDocument::from(shown);
            Ok(ToolReply::framed(&document, &document.content))
        }
        ToolRequest::Read(wanted) => read(&workspace, &wanted.name, &wanted.path),
        ToolRequest::Scan(wanted) => scan(&workspace, &wanted.name),
    });
    answer.unwrap_or_else(|error| ToolReply::from(&error))
}

/// The skills that a model can choose from; none if that can't be found out.
pub(crate) fn catalog(settings: &Settings) -> Option<String> {
    let workspace = Workspace::open(settings.renewed()).ok()?;
    workspace.catalog_for_model().ok().flatten()
}

fn list(workspace: &Workspace, wanted: &WantedSkills) -> Result<ToolReply, Error> {
    let source = wanted.source.as_deref().map(|word| {
        let source = word.parse::<Source>();
        source.map_err(|error| Error::broken("usage", error.to_string()))
    });
    let (skills, counts) = workspace.skills_for_model(source.transpose()?, wanted.all)?;
    let mut written = Vec::new();
    ListDocument(skills.inventory()).write_with(counts, &mut written)?;
    let document: Value = serde_json::from_slice(&written).unwrap_or_default();
    let text = list_text(&document);
    Ok(ToolReply::new(&document, &text))
}

/// One line for each skill, and below it what keeps it from being used.
fn list_text(document: &Value) -> String {
    let none = Vec::new();
    let rows = document["skills"].as_array().unwrap_or(&none);
    let mut text = String::new();
    for row in rows.iter().take(MAX_ROWS) {
        let status = word(row, "status");
        let mark = match status {
            "ready" => "✓",
            "disabled" | "shadowed" => "-",
            _ => "✗",
        };
        let about = match word(row, "description") {
            "" => status.to_owned(),
            description => one_line(description),
        };
        line(
            &mut text,
            format_args!("{mark} {} - {about}", one_line(word(row, "name"))),
        );
        for reason in row["reasons"].as_array().unwrap_or(&none) {
            let message = one_line(word(reason, "message"));
            match word(reason, "hint") {
                "" => line(&mut text, format_args!("    {message}")),
                hint => line(
                    &mut text,
                    format_args!("    {message} → {}", one_line(hint)),
                ),
            }
        }
        if let Some(winner) = row["shadowed_by"].as_str() {
            line(
                &mut text,
                format_args!("    shadowed by {}", one_line(winner)),
            );
        }
    }
    match rows.len() {
        0 => text.push_str("no skills\n"),
        all if all > MAX_ROWS => line(
            &mut text,
            format_args!(
                "… and {} more: the structured content has all of them; pass `source` for fewer",
                all - MAX_ROWS
            ),
        ),
        _ => {}
    }
    text
}

fn read(workspace: &Workspace, name: &str, path: &str) -> Result<ToolReply, Error> {
    let (file, place) = workspace.read_for_model(name, path)?;
    let text = match &file.content {
        Resource::Text(text) => text.clone(),
        Resource::Binary(bytes) => format!(
            "`{}` is not text ({}); it is at {}\n",
            one_line(path),
            count(bytes.len(), "byte"),
            one_line(&place)
        ),
    };
    Ok(ToolReply::new(&ReadDocument::of(&file, path), &text))
}

fn scan(workspace: &Workspace, name: &str) -> Result<ToolReply, Error> {
    let scanned = workspace.scan_named(name)?;
    let skills = vec![ScannedRow::from(&scanned)];
    let document = value(&ScanDocument { skills });
    let text = scan_text(&document["skills"][0]);
    Ok(ToolReply::new(&document, &text))
}

/// The verdict, and each finding with its place and evidence.
fn scan_text(row: &Value) -> String {
    let none = Vec::new();
    let list = |key: &str| row[key].as_array().unwrap_or(&none);
    let mut text = format!(
        "{}: {}\n",
        one_line(word(row, "name")),
        word(row, "verdict")
    );
    let findings = list("findings");
    for finding in findings.iter().take(MAX_FINDINGS) {
        let [severity, rule, file, message] =
            ["severity", "rule", "file", "message"].map(|key| one_line(word(finding, key)));
        let (at, evidence) = (&finding["line"], one_line(word(finding, "evidence")));
        line(
            &mut text,
            format_args!("{severity} {rule} {file}:{at}: {message}"),
        );
        if !evidence.is_empty() {
            line(&mut text, format_args!("    evidence: {evidence}"));
        }
    }
    let more = row["more"].as_u64().unwrap_or(0);
    let more = more + findings.len().saturating_sub(MAX_FINDINGS) as u64;
    if more > 0 {
        line(
            &mut text,
            format_args!("… and {more} more: see the structured content"),
        );
    }
    for unread in list("unread") {
        let (file, why) = (
            one_line(word(unread, "file")),
            one_line(word(unread, "why")),
        );
        line(&mut text, format_args!("not read: {file}: {why}"));
    }
    let capabilities: Vec<&str> = list("capabilities")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    if !capabilities.is_empty() {
        line(
            &mut text,
            format_args!("it can use: {}", capabilities.join(", ")),
        );
    }
    if row["acceptance"].is_object() {
        text.push_str("the user accepted these bytes despite the findings\n");
    }
    text
}

fn word<'v>(row: &'v Value, key: &str) -> &'v str {
    row[key].as_str().unwrap_or_default()
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    writeln!(text, "{words}").ok();
}

/// A document in whose texts, names included, no turn begins.
fn neutral(mut document: Value, neutral: fn(&str) -> Cow<'_, str>) -> Value {
    let mut left = vec![&mut document];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => {
                if let Cow::Owned(broken) = neutral(text) {
                    *text = broken;
                }
            }
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                if members
                    .keys()
                    .any(|name| matches!(neutral(name), Cow::Owned(_)))
                {
                    *members = std::mem::take(members)
                        .into_iter()
                        .map(|(name, value)| (neutral(&name).into_owned(), value))
                        .collect();
                }
                left.extend(members.values_mut());
            }
            _ => {}
        }
    }
    document
}

/// No document fails to serialize: their keys are strings, and they hold no numbers that JSON does not have.
fn value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap_or_default()
}

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
