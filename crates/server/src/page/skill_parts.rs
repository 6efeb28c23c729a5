//! Parts of *A skill* that are long or that do something: findings, permissions, tools, files.

use axum::{
    extract::{Path, State},
    http::Method,
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};
use serde_json::json;

use super::{
    api::{Answered, Api, PageAct, encoded},
    document::{Part, Quoted},
    forms::{CheckedForm, Visit, form, form_named},
    layout::View,
    parts::{self, badge, counted, empty, hint, problem, time},
    schema_form,
};

/// The findings of the scanner, each with the place and the evidence.
pub(super) fn findings(root: Part<'_>) -> Markup {
    let (findings, unread) = (root.items("findings"), root.items("unread"));
    html! {
        @if !findings.is_empty() || !unread.is_empty() {
            section aria-labelledby="findings" {
                h2 #findings { "What the scanner found" }
                ul.rows {
                    @for finding in &findings {
                        li.row {
                            div.row-head {
                                (badge(finding.text("severity")))
                                code.small { (finding.text("rule")) }
                                span.small.faint { (finding.text("file")) ":" (finding.number("line")) ":" (finding.number("column")) }
                            }
                            p { (hint(finding.text("message"))) }
                            (frame(*finding))
                            @let steps = finding.items("steps");
                            @if !steps.is_empty() {
                                ol.steps { @for step in &steps { li { (step.text("what")) " " span.small.faint { (step.text("file")) ":" (step.number("line")) } } } }
                            }
                            @if let Some(fix) = finding.some_text("fix") { p.fix { span.arrow aria-hidden="true" { "→ " } (hint(fix)) } }
                        }
                    }
                    @for part in &unread {
                        li.row {
                            div.row-head { (badge(Quoted::new("incomplete"))) span.small.faint { (part.text("file")) } }
                            p { "not read: " (part.text("why")) (part.text("reason")) }
                        }
                    }
                }
            }
        }
    }
}

/// The evidence with its line number.
fn frame(finding: Part<'_>) -> Markup {
    let evidence = finding.text("evidence");
    html! {
        @if !evidence.is_empty() {
            pre.frame tabindex="0" { span.line-number aria-hidden="true" { (finding.number("line")) } code { (evidence.lines()) } }
        }
    }
}

/// Its permissions, with a decision for each.
pub(super) fn permissions(root: Part<'_>, answers: Part<'_>, visit: &Visit, back: &str) -> Markup {
    let rows = root.items("permissions");
    let answers = answers.items("approvals");
    let undecided = rows.iter().any(|row| row.text("state").raw() == "ask");
    let denied = rows.iter().any(|row| row.text("state").raw() == "denied");
    let skill = ShownSkill {
        path: root.text("path").raw(),
        digest: root.text("digest").raw(),
    };
    html! {
        section #permissions data-live-part aria-labelledby="may" {
            h2 #may { "What it may do" }
            @if rows.is_empty() { (empty("No permissions.", &html! { "It asks for nothing beyond its own text." })) }
            @else {
                ul.rows {
                    @for row in &rows {
                        li.row.permission {
                            div {
                                div.row-head { (badge(row.text("state"))) code { (row.text("permission")) } }
                                p { (row.text("means")) }
                                (answered(*row, root, &answers))
                            }
                            div.choices { (choices(*row, &skill, visit, back)) }
                        }
                    }
                }
                @if undecided && rows.len() > 1 {
                    (form(visit, "permissions", back, &decide(&skill, "", "allow", "Allow all for this exact version", "")))
                    @if denied { p.small.faint { "Denied permissions stay denied: allow each of them by itself." } }
                }
            }
        }
    }
}

/// An answer that was given about this permission, and whether it was about these bytes.
fn answered(row: Part<'_>, root: Part<'_>, answers: &[Part<'_>]) -> Markup {
    let is_about = |answer: &&Part<'_>| {
        answer.text("skill") == root.text("name")
            && answer.text("source") == root.text("source")
            && answer.text("permission") == row.text("permission")
    };
    let answer = answers.iter().find(is_about);
    html! {
        @if let Some(answer) = answer {
            p.small.faint {
                (answer.text("state")) " " (time(answer.text("at"))) " by " (answer.text("by"))
                @if answer.text("state").raw() == "allowed" && answer.text("digest") != root.text("digest") {
                    " for other bytes (" code { (short(answer.text("digest"))) } "): the files changed since, so it is asked again"
                }
            }
        }
    }
}

/// The beginning of a digest.
fn short(digest: Quoted<'_>) -> Quoted<'_> {
    Quoted::new(digest.raw().get(..15).unwrap_or(digest.raw()))
}

/// The subject of a decision: the folder of a skill, since several skills can have its name, and the bytes that the page shows.
struct ShownSkill<'p> {
    path: &'p str,
    digest: &'p str,
}

fn choices(row: Part<'_>, skill: &ShownSkill<'_>, visit: &Visit, back: &str) -> Markup {
    let permission = row.text("permission").raw();
    let one = |decision: &str, label: &str| {
        let fields = decide(skill, permission, decision, label, permission);
        form(visit, "permissions", back, &fields)
    };
    html! {
        @match row.text("state").raw() {
            "ask" => { (one("allow", "Allow")) (one("deny", "Deny")) }
            "denied" => { (one("allow", "Allow")) (one("forget", "Forget")) }
            _ => { (one("forget", "Revoke")) }
        }
    }
}

fn decide(
    skill: &ShownSkill<'_>,
    permission: &str,
    decision: &str,
    label: &str,
    about: &str,
) -> Markup {
    html! {
        input type="hidden" name="skill" value=(skill.path);
        input type="hidden" name="digest" value=(skill.digest);
        @if !permission.is_empty() { input type="hidden" name="permission" value=(permission); }
        input type="hidden" name="decision" value=(decision);
        button type="submit" { (label) @if !about.is_empty() { span.hidden { " " (Quoted::new(about)) } } }
    }
}

/// Decides about a permission.
pub(super) async fn permit(State(api): State<Api>, sent: CheckedForm) -> Response {
    let named: Vec<&str> = [sent.field("permission")]
        .into_iter()
        .filter(|name| !name.is_empty())
        .collect();
    let (skill, decision) = (sent.field("skill"), sent.field("decision"));
    let (method, body) = match decision {
        "forget" => (
            Method::DELETE,
            json!({ "skill": skill, "permissions": named }),
        ),
        _ => (
            Method::POST,
            json!({
                "skill": skill,
                "digest": sent.field("digest"),
                "permissions": named,
                "decision": decision,
            }),
        ),
    };
    let path = "/permissions".to_owned();
    done(&api, &sent, PageAct { method, path, body }).await
}

/// Scans the skill.
pub(super) async fn scan(State(api): State<Api>, sent: CheckedForm) -> Response {
    let body = json!({ "name": sent.field("skill") });
    let (method, path) = (Method::POST, "/scan".to_owned());
    done(&api, &sent, PageAct { method, path, body }).await
}

async fn done(api: &Api, sent: &CheckedForm, act: PageAct) -> Response {
    match api.act(sent, act).await {
        Ok(_) => sent.back(),
        Err(refusal) => View::failed(api, "/skills", &refusal).await.into_response(),
    }
}

/// Its tools, each with a form to try it. Tools that the code registers are known once it runs: that is a button.
pub(super) fn tools(root: Part<'_>, visit: &Visit, back: &str) -> Markup {
    let tools = root.items("tools");
    let is_code = root.texts("types").iter().any(|kind| kind.raw() == "tool");
    let skill = encoded(root.text("name").raw());
    let ask = html! {
        p.faint { "The code of the skill registers its tools when it starts." }
        button type="submit" { "Start it and list its tools" }
    };
    html! {
        @if !tools.is_empty() || is_code {
            section aria-labelledby="tools" {
                h2 #tools { "Tools" }
                @if tools.is_empty() { (form_named(visit, &format!("tools/{skill}"), back, "inline", &ask)) }
                @else { (tool_forms(&tools, &skill, "name", visit, back)) }
            }
        }
    }
}

/// One form for each tool; `key` is the field with the name of the tool in the skill.
fn tool_forms(tools: &[Part<'_>], skill: &str, key: &str, visit: &Visit, back: &str) -> Markup {
    html! {
        @for (number, tool) in tools.iter().enumerate() {
            details.tool open[tools.len() == 1] {
                summary { code { (tool.text(key)) } " " span.faint { (tool.text("description")) } }
                @let fields = html! {
                    (schema_form::controls(tool.at("input_schema").value(), &format!("tool-{number}")))
                    button type="submit" { "Try it" }
                };
                (form_named(visit, &format!("tools/{skill}/{}", encoded(tool.text(key).raw())), back, "inline", &fields))
            }
        }
    }
}

/// Starts the code of a skill, and shows the tools that it registers.
pub(super) async fn ask_tools(
    State(api): State<Api>,
    visit: Visit,
    Path(name): Path<String>,
    sent: CheckedForm,
) -> Response {
    let key = encoded(&name);
    let back = format!("/skills/{key}");
    let act = PageAct {
        method: Method::GET,
        path: format!("/skills/{key}/tools"),
        body: json!({}),
    };
    let listed = api.act(&sent, act).await;
    let content = html! {
        header.head { div { p.crumb { a href=(back) { (Quoted::new(&name)) } " /" } h1 { "Tools" } } }
        section #answer aria-label="Tools" tabindex="-1" {
            @match &listed {
                Err(refusal) => { (problem(refusal)) }
                Ok(document) => {
                    @let tools = document.root().items("tools");
                    @if tools.is_empty() { p.faint { "It registers none." } }
                    (tool_forms(&tools, &key, "tool", &visit, &back))
                }
            }
        }
    };
    View::new(&api, "/skills", name, content)
        .await
        .into_response()
}

/// Calls a tool with what a form has.
pub(super) async fn call(
    State(api): State<Api>,
    Path((name, tool)): Path<(String, String)>,
    sent: CheckedForm,
) -> Response {
    let back = format!("/skills/{}", encoded(&name));
    let result = match schema_form::input(&sent) {
        Err(why) => {
            html! { div.notice.bad role="alert" { p { strong { "✗ " } (Quoted::new(&why)) } } }
        }
        Ok(input) => {
            // Without script there is nothing that could show a question while this request waits.
            let approvals = if sent.field("approvals") == "ask" {
                "ask"
            } else {
                "refuse"
            };
            let act = PageAct {
                method: Method::POST,
                path: format!("/skills/{}/tools/{}", encoded(&name), encoded(&tool)),
                body: json!({ "input": input, "approvals": approvals }),
            };
            result(&api.act(&sent, act).await)
        }
    };
    let content = html! {
        header.head { div { p.crumb { a href=(back) { (Quoted::new(&name)) } " /" } h1 { (Quoted::new(&tool)) } } }
        section #answer aria-label="Result" tabindex="-1" { (result) }
        p { a href=(back) { "Back to the skill" } }
    };
    View::new(&api, "/skills", tool, content)
        .await
        .into_response()
}

fn result(called: &Answered) -> Markup {
    let document = match called {
        Ok(document) => document.root(),
        Err(refusal) => return problem(refusal),
    };
    let receipts = document.items("receipts");
    html! {
        div.result {
            p { (badge(Quoted::new(if document.flag("is_error") { "error" } else { "ok" }))) }
            pre tabindex="0" { (document.at("output").block()) }
            @if !receipts.is_empty() {
                details { summary { (counted(receipts.len() as u64, "receipt")) } (parts::receipts(&receipts, false)) }
            }
        }
    }
}

/// Its files.
pub(super) fn files(root: Part<'_>, back: &str) -> Markup {
    let files = root.items("files");
    html! {
        section aria-labelledby="files" {
            h2 #files { "Files" }
            ul.files {
                @for file in &files {
                    @let path: Vec<String> = file.text("path").raw().split('/').map(encoded).collect();
                    li { a href={ (back) "/files/" (path.join("/")) } { (file.text("path")) } " " span.small.faint { (size(file.number("size"))) } }
                }
            }
        }
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        _ => format!("{} MB", bytes.div_ceil(1_000_000)),
    }
}

/// One file, as text.
pub(super) async fn file(
    State(api): State<Api>,
    Path((name, path)): Path<(String, String)>,
) -> Response {
    let parts: Vec<String> = path.split('/').map(encoded).collect();
    let key = encoded(&name);
    let read = api
        .get(&format!("/skills/{key}/files/{}", parts.join("/")))
        .await;
    let file = match &read {
        Ok(file) => file.root(),
        Err(refusal) => return View::failed(&api, "/skills", refusal).await.into_response(),
    };
    let content = html! {
        header.head { div {
            p.crumb { a href="/skills" { "Skills" } " / " a href={ "/skills/" (key) } { (file.text("name")) } " /" }
            h1 { (Quoted::new(&path)) }
            p.faint { (size(file.number("size"))) }
        } }
        @if file.flag("binary") { (empty("Not text.", &html! { "The file is binary and is not shown." })) }
        @else {
            div.foreign role="region" aria-label="Content of the file" tabindex="0" {
                p.whose { "Written by the author of " (file.text("name")) ", not by metier" }
                pre.content { (file.text("text").lines()) }
            }
        }
    };
    View::new(&api, "/skills", path, content)
        .await
        .into_response()
}
