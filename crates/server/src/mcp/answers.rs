//! Answers to tool calls: each calls one method of the library, and returns the document that `--json` prints and the same as text for a
//! model.

use std::{fmt::Write as _, sync::Arc};

use metier::{
    Called, CurrentSkills, Error, ExecutionPlan, NoticeLevel, Notices, Resource, Skill,
    SkillFilter, Source, Status, Workspace,
    text::{count, one_line},
};
use metier_wire::{
    CallDocument, ExecutedDocument, FoundSkillRow, FoundSkillsPage, ModelSkillsPage, ReadDocument,
    ScanDocument, ScannedRow, ShowDocument, ToolRow, text_of,
};
use serde_json::{Value, json};

use super::{
    calls::CallRelay,
    connections::ClientSessions,
    pages::{self, PageLimits, PageRows, UnknownCursor},
    replies::{MAX_ANSWER, MOST_ANSWER, ToolReply, value},
    skill_source::SkillSource,
    tools::{
        ActivateToolInput, CallToolInput, ListToolsInput, ReadToolInput, ScanToolInput,
        SearchToolInput, ToolRequest, WantedSkills,
    },
};

/// How many rows a page has unless the caller asks for another number.
const SEARCH_ROWS: usize = 10;
const LIST_ROWS: usize = 50;
const MAX_FINDINGS: usize = 20;

/// The share of an answer for rows: each is there twice, as a document and as text.
const ROWS_PART: usize = 5;

/// The data for an answer besides the request.
pub(crate) struct AnswerScope<'a> {
    pub(crate) source: &'a SkillSource,
    pub(crate) call: &'a Arc<CallRelay>,
    /// The sessions of the client, for requests that run code.
    pub(crate) sessions: Option<&'a mut ClientSessions>,
}

impl AnswerScope<'_> {
    /// The current workspace, with the approver, the notices and the end of this call.
    fn workspace(&self, now: &CurrentSkills) -> Workspace {
        let call = self.call;
        now.workspace.for_request(
            Arc::clone(call) as _,
            Arc::clone(call.stop()),
            Arc::clone(call) as _,
        )
    }
}

/// Answers a tool call.
pub(crate) fn answer(request: &ToolRequest, mut scope: AnswerScope<'_>) -> ToolReply {
    let answer = match request {
        ToolRequest::Search(wanted) => search(&scope, wanted),
        ToolRequest::List(wanted) => list(&scope, wanted),
        ToolRequest::Activate(wanted) => activate(&scope, wanted),
        ToolRequest::Read(wanted) => read(&scope, wanted),
        ToolRequest::Scan(wanted) => scan(&scope, wanted),
        ToolRequest::ListTools(wanted) => list_tools(&scope, wanted),
        ToolRequest::Execute(wanted) => execute(&mut scope, wanted),
        ToolRequest::Call(wanted) => call_tool(&mut scope, wanted),
    };
    if let Some(sessions) = scope.sessions {
        sessions.leave(scope.call);
    }
    answer.unwrap_or_else(|error| ToolReply::from(&error))
}

fn limits(asked: Option<usize>, standard: usize) -> PageLimits {
    let size = match asked {
        None => MAX_ANSWER,
        Some(_) => MOST_ANSWER,
    };
    PageLimits {
        rows: asked.unwrap_or(standard).max(1),
        bytes: size / ROWS_PART * 2,
    }
}

fn bad_cursor(_: UnknownCursor) -> Error {
    Error::broken("usage", "invalid `cursor`")
        .hint("leave `cursor` out to start from the beginning")
}

fn search(scope: &AnswerScope<'_>, wanted: &SearchToolInput) -> Result<ToolReply, Error> {
    let now = scope.source.now()?;
    let found = scope
        .workspace(&now)
        .search_for_model(now.usable(), &wanted.query);
    let start = pages::position_of(wanted.cursor.as_deref()).map_err(bad_cursor)?;
    let (total, limits) = (found.len(), limits(wanted.limit, SEARCH_ROWS));
    let (mut rows, mut page) = (Vec::new(), PageRows::default());
    for one in found.into_iter().skip(start) {
        let row = FoundSkillRow::from(one);
        if !page.add(value(&row), limits) {
            break;
        }
        rows.push(row);
    }
    let end = start + rows.len();
    let mut text = String::new();
    for row in &rows {
        let description = one_line(&row.description);
        line(
            &mut text,
            format_args!("- {} ({}): {description}", one_line(&row.name), row.source),
        );
    }
    if text.is_empty() {
        line(
            &mut text,
            format_args!(
                "no skill fits `{}`: list_skills names all of them",
                one_line(&wanted.query)
            ),
        );
    }
    let next_cursor = (end < total).then(|| pages::cursor_at(end));
    add_rest(&mut text, total.saturating_sub(end), next_cursor.as_deref());
    let document = FoundSkillsPage {
        skills: rows,
        total,
        next_cursor,
    };
    Ok(ToolReply::new(&document, &text))
}

fn list(scope: &AnswerScope<'_>, wanted: &WantedSkills) -> Result<ToolReply, Error> {
    let usage = |error: &dyn std::fmt::Display| Error::broken("usage", error.to_string());
    let source = wanted
        .source
        .as_deref()
        .map(str::parse::<Source>)
        .transpose();
    let status = wanted.status.as_deref().map(|word| {
        let found = Status::ALL
            .into_iter()
            .find(|status| status.as_str() == word);
        found.ok_or_else(|| usage(&format!("`{}` is not a status", one_line(word))))
    });
    let filter = SkillFilter {
        source: source.map_err(|error| usage(&error))?,
        status: status.transpose()?,
        query: wanted.query.clone(),
        all: wanted.all,
    };
    let now = scope.source.now()?;
    let (found, counts) = now.workspace.list_for_model(&now.skills, &filter);
    let after = wanted
        .cursor
        .as_deref()
        .map(pages::key_before)
        .transpose()
        .map_err(bad_cursor)?;
    let key = |skill: &Skill<'_>| format!("{}\0{}", skill.name(), skill.path().display());
    let is_before = |skill: &Skill<'_>| after.as_ref().is_some_and(|after| key(skill) <= *after);
    let (total, limits) = (found.len(), limits(wanted.limit, LIST_ROWS));
    let found = &found[found.partition_point(is_before)..];
    let mut page = PageRows::default();
    let mut document = ModelSkillsPage::new(counts, total);
    for skill in found {
        if !page.add(ModelSkillsPage::row(*skill), limits) {
            break;
        }
        let diagnostics = ModelSkillsPage::diagnostics_of(*skill);
        document.diagnostics.extend(diagnostics);
    }
    let (shown, left) = (page.rows.len(), found.len() - page.rows.len());
    let last = found[..shown].last().map(key);
    document.skills = page.rows;
    document.next_cursor = last
        .filter(|_| left > 0)
        .map(|key| pages::cursor_after(&key));
    let mut text = list_text(&document.skills);
    add_rest(&mut text, left, document.next_cursor.as_deref());
    Ok(ToolReply::new(&document, &text))
}

/// How to get the rest of a list.
fn add_rest(text: &mut String, left: usize, cursor: Option<&str>) {
    if let Some(cursor) = cursor {
        let more = count(left, "more row");
        line(
            text,
            format_args!(
                "… and {more}: call it again with `cursor`: \"{cursor}\", or search_skills for those that fit a task"
            ),
        );
    }
}

fn activate(scope: &AnswerScope<'_>, wanted: &ActivateToolInput) -> Result<ToolReply, Error> {
    let now = scope.source.now_for(&wanted.name)?;
    let workspace = scope.workspace(&now);
    let shown = workspace.render_for_model(now.usable(), &wanted.name, &wanted.arguments)?;
    let document = ShowDocument::from(shown);
    Ok(ToolReply::framed(&document, &document.content).in_parts("content"))
}

fn read(scope: &AnswerScope<'_>, wanted: &ReadToolInput) -> Result<ToolReply, Error> {
    let now = scope.source.now_for(&wanted.name)?;
    let (name, path) = (&wanted.name, &wanted.path);
    let (file, place) = scope
        .workspace(&now)
        .read_for_model(now.usable(), name, path)?;
    let document = ReadDocument::of(&file, path);
    Ok(match &file.content {
        Resource::Text(text) => ToolReply::new(&document, text).in_parts("text"),
        Resource::Binary(bytes) => {
            let size = count(bytes.len(), "byte");
            let (path, place) = (one_line(path), one_line(&place));
            ToolReply::new(
                &document,
                &format!("`{path}` is not text ({size}); it is at {place}\n"),
            )
        }
    })
}

fn scan(scope: &AnswerScope<'_>, wanted: &ScanToolInput) -> Result<ToolReply, Error> {
    let now = scope.source.now()?;
    let scanned = scope.workspace(&now).scan_named(&wanted.name)?;
    let skills = vec![ScannedRow::from(&scanned)];
    let mut document = value(&ScanDocument { skills });
    let row = &mut document["skills"][0];
    let most = wanted.limit.unwrap_or(MAX_FINDINGS);
    if let Value::Array(findings) = &mut row["findings"]
        && findings.len() > most
    {
        let left = findings.len() - most;
        findings.truncate(most);
        row["more"] = (row["more"].as_u64().unwrap_or(0) + left as u64).into();
    }
    let text = scan_text(row);
    Ok(ToolReply::new(&document, &text))
}

fn list_tools(scope: &AnswerScope<'_>, wanted: &ListToolsInput) -> Result<ToolReply, Error> {
    let (tools, not_started) = match &wanted.skill {
        Some(name) => {
            let now = scope.source.now_for(name)?;
            let workspace = scope.workspace(&now);
            workspace.find_for_model(now.usable(), name)?;
            (workspace.tools(now.usable(), name)?, Vec::new())
        }
        None => {
            let now = scope.source.now()?;
            let list = scope.workspace(&now).all_tools(now.usable());
            let is_for_models =
                |name: &String| now.workspace.find_for_model(now.usable(), name).is_ok();
            let tools = list
                .tools
                .into_iter()
                .filter(|tool| is_for_models(&tool.skill));
            let tools: Vec<_> = tools.collect();
            (
                tools,
                list.not_started.into_iter().filter(is_for_models).collect(),
            )
        }
    };
    let query = wanted.query.as_deref().unwrap_or_default().to_lowercase();
    let rows: Vec<ToolRow> = tools
        .into_iter()
        .map(ToolRow::from)
        .filter(|row| {
            row.name.to_lowercase().contains(&query)
                || row.description.to_lowercase().contains(&query)
        })
        .collect();
    let start = pages::position_of(wanted.cursor.as_deref()).map_err(bad_cursor)?;
    let (total, limits) = (rows.len(), limits(wanted.limit, LIST_ROWS));
    let mut page = PageRows::default();
    let mut text = String::new();
    for row in rows.iter().skip(start) {
        if !page.add(value(row), limits) {
            break;
        }
        let (skill, tool, about) = (
            one_line(&row.skill),
            one_line(&row.tool),
            one_line(&row.description),
        );
        line(&mut text, format_args!("- {tool} of {skill}: {about}"));
        line(&mut text, format_args!("    input: {}", row.input_schema));
    }
    let end = start + page.rows.len();
    if total == 0 {
        text.push_str("no tools\n");
    }
    if !not_started.is_empty() {
        let names: Vec<String> = not_started.iter().map(|name| one_line(name)).collect();
        line(
            &mut text,
            format_args!(
                "unknown until they are started; name one with `skill`: {}",
                names.join(", ")
            ),
        );
    }
    let next_cursor = (end < total).then(|| pages::cursor_at(end));
    add_rest(&mut text, total.saturating_sub(end), next_cursor.as_deref());
    let mut document = json!({ "tools": page.rows, "not_started": not_started, "total": total });
    if let Some(cursor) = next_cursor {
        document["next_cursor"] = cursor.into();
    }
    Ok(ToolReply::new(&document, &text))
}

fn execute(scope: &mut AnswerScope<'_>, wanted: &ActivateToolInput) -> Result<ToolReply, Error> {
    let now = scope.source.now_for(&wanted.name)?;
    let workspace = scope.workspace(&now);
    let executed = workspace.execute_for_model(now.usable(), &wanted.name, &wanted.arguments)?;
    let document = match executed {
        ExecutionPlan::Inline(shown) => {
            let document = ExecutedDocument::inline(shown);
            return Ok(ToolReply::framed(&document, &document.content).in_parts("content"));
        }
        ExecutionPlan::Fork(planned) => {
            let answer = workspace.follow_planned(&now.agent_skills()?, &planned)?;
            ExecutedDocument::fork(planned.skill, answer)
        }
        ExecutionPlan::Workflow(planned) => {
            let skill = workspace.find_for_model(now.usable(), planned.place())?;
            let session = session(scope, &now, skill)?;
            let called = session.run_planned(&planned)?;
            ExecutedDocument::workflow(planned.skill, &called)
        }
    };
    let reply = ToolReply::new(&document, &document.content).in_parts("content");
    Ok(ToolReply {
        is_error: document.is_error,
        ..reply
    })
}

fn call_tool(scope: &mut AnswerScope<'_>, wanted: &CallToolInput) -> Result<ToolReply, Error> {
    let now = scope.source.now_for(&wanted.skill)?;
    let skill = now.workspace.find_for_model(now.usable(), &wanted.skill)?;
    let (name, place) = (skill.name(), skill.path().to_string_lossy().into_owned());
    let session = session(scope, &now, skill)?;
    session.activate(&place)?;
    let whole = session
        .tools()
        .into_iter()
        .find(|tool| tool.skill == *name && tool.name == wanted.tool);
    let tool = whole.map_or_else(|| wanted.tool.clone(), |tool| tool.spec.name);
    let called: Called = session.call_tool(&name, &tool, &Value::Object(wanted.input.clone()))?;
    session.next_turn();
    let document = CallDocument::from(&called);
    let reply = ToolReply::new(&document, &text_of(&document.output)).in_parts("output");
    Ok(ToolReply {
        is_error: called.is_error,
        ..reply
    })
}

/// The session of the client for a skill.
fn session<'s>(
    scope: &'s mut AnswerScope<'_>,
    now: &CurrentSkills,
    skill: Skill<'_>,
) -> Result<&'s mut metier::Session, Error> {
    let call = scope.call;
    let sessions = scope.sessions.as_deref_mut();
    let sessions = sessions.ok_or_else(|| Error::broken("bug", "this call has no session"))?;
    if let Some(broken) = now.broken(&skill) {
        let name = one_line(&broken.name());
        call.notice(
            NoticeLevel::Warning,
            &format!("skill `{name}` is broken; its last good version is used"),
        );
    }
    sessions.for_call(now, skill, call)
}

/// One line for each skill, and below it what keeps it from being used.
fn list_text(rows: &[Value]) -> String {
    let none = Vec::new();
    let mut text = String::new();
    for row in rows {
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
    if rows.is_empty() {
        text.push_str("no skills\n");
    }
    text
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
    for finding in findings {
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
    if more > 0 {
        line(
            &mut text,
            format_args!("… and {more} more: call it again with a larger `limit`"),
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

#[cfg(test)]
#[path = "answers_tests.rs"]
mod tests;
