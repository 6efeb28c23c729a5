//! *Install*: a source, the card of each skill, and a decision; updates with their differences; and what can be undone.

use axum::{
    extract::{Path, State},
    http::Method,
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{
    api::{Answered, Api, ApiRefusal, PageAct, encoded},
    document::{Part, Quoted},
    forms::{CheckedForm, Visit, form},
    layout::View,
    parts::{badge, counted, empty, hint, problem, time},
};

pub(super) async fn show(State(api): State<Api>, visit: Visit) -> Response {
    shown(&api, &visit, None).await
}

/// The view, with a source from which nothing could be fetched.
async fn shown(api: &Api, visit: &Visit, refused: Option<(&CheckedForm, &ApiRefusal)>) -> Response {
    match content(api, visit, refused).await {
        Ok(content) => {
            let view = View::new(api, "/install", "Install", content).await;
            view.live("skills_changed").into_response()
        }
        Err(refusal) => View::failed(api, "/install", &refusal)
            .await
            .into_response(),
    }
}

async fn content(
    api: &Api,
    visit: &Visit,
    refused: Option<(&CheckedForm, &ApiRefusal)>,
) -> Result<Markup, ApiRefusal> {
    let typed = |name: &str| refused.map_or("", |(sent, _)| sent.field(name));
    let installed = api.get("/installed").await?;
    let installed = installed.root().items("skills");
    let changes = api.get("/changes").await?;
    let changes = changes.root().items("changes");
    let source = html! {
        label { span { "Source" } input type="text" name="source" value=(typed("source")) required placeholder="owner/repo, URL, folder or name" autocomplete="off" data-search; }
        label { span { "Only these, if it has several" } input type="text" name="names" value=(typed("names")) placeholder="names, separated by spaces" autocomplete="off"; }
        label.check { input type="checkbox" name="scope" value="project" checked[typed("scope") == "project"]; span { "for this project only" } }
        button.primary type="submit" { "Fetch and scan" }
    };
    let offers = refused.map_or_else(Vec::new, |(_, refusal)| refusal.choices());
    let chosen = html! {
        input type="hidden" name="source" value=(typed("source"));
        input type="hidden" name="scope" value=(typed("scope"));
        @for offer in &offers {
            label.check { input type="checkbox" name="skill" value=(offer.text("name").raw()); span { strong { (offer.text("name")) } br; (offer.text("description")) } }
        }
        button.primary type="submit" { "Fetch and scan" }
    };
    let update = html! { button type="submit" { "Look for updates" } };
    Ok(html! {
        header.head { div { h1 { "Install" } p.faint { "The skill is fetched into quarantine and scanned first. Nothing is installed before you decide." } } }
        @if let Some((_, refusal)) = refused {
            @if offers.is_empty() { (problem(refusal)) }
            @else {
                section .offers aria-labelledby="offers" {
                    h2 #offers { "Which skills?" }
                    p.faint { (hint(refusal.message())) "." }
                    (form(visit, "installs", "/install", &chosen))
                }
            }
        }
        div.ask { (form(visit, "installs", "/install", &source)) }
        section #installed data-live-part aria-labelledby="here" {
            div.head { h2 #here { "Installed" } @if !installed.is_empty() { (form(visit, "updates", "/install", &update)) } }
            @if installed.is_empty() { (empty("Nothing is installed yet.", &html! { "Skills that you wrote or copied yourself are listed in " a href="/skills" { "Skills" } "." })) }
            @else { ul.rows { @for row in &installed { li.row.permission { (placed(*row, visit)) } } } }
        }
        @if !changes.is_empty() {
            section #changes data-live-part aria-labelledby="history" {
                h2 #history { "Changes" }
                ul.rows { @for (number, change) in changes.iter().enumerate() { li.row.permission { (undoable(*change, number == 0, visit)) } } }
            }
        }
    })
}

fn placed(row: Part<'_>, visit: &Visit) -> Markup {
    let fields = html! {
        input type="hidden" name="skill" value=(row.text("name").raw());
        input type="hidden" name="scope" value=(row.text("scope").raw());
        button type="submit" { "Remove" span.hidden { " " (row.text("name")) } }
    };
    html! {
        div {
            div.row-head {
                a.name href={ "/skills/" (encoded(row.text("name").raw())) } { (row.text("name")) }
                (badge(row.text("state")))
                span.small.faint { (row.text("version")) " · " (row.text("scope")) }
            }
            p.small.faint { "from " (row.text("source")) " in " code { (row.text("place")) } }
            (files(row.at("changes")))
        }
        (form(visit, "remove", "/install", &fields))
    }
}

fn files(changes: Part<'_>) -> Markup {
    html! {
        @for word in ["added", "removed", "changed"] {
            @let names = changes.texts(word);
            @if !names.is_empty() { p.small { (word) ": " @for name in &names { code { (name) } " " } } }
        }
    }
}

fn undoable(change: Part<'_>, is_last: bool, visit: &Visit) -> Markup {
    let fields = html! {
        input type="hidden" name="change" value=(change.text("id").raw());
        button type="submit" { "Undo" span.hidden { ": " (change.text("title")) } }
    };
    html! {
        div { div.row-head { strong { (change.text("title")) } span.small.faint { (time(change.text("at"))) " · number " (change.text("id")) } } }
        @if is_last { (form(visit, "undo", "/install", &fields)) }
    }
}

/// Fetches and scans: the cards of a plan.
pub(super) async fn plan(State(api): State<Api>, visit: Visit, sent: CheckedForm) -> Response {
    let chosen = sent.fields().filter(|(field, _)| *field == "skill");
    let named = sent.field("names").split_whitespace();
    let names: Vec<&str> = named.chain(chosen.map(|(_, name)| name)).collect();
    let body = json!({ "source": sent.field("source"), "names": names, "scope": scope(&sent) });
    let planned = act(&api, &sent, Method::POST, "/installs".to_owned(), body).await;
    if let Err(refusal) = &planned {
        return shown(&api, &visit, Some((&sent, refusal))).await;
    }
    decision(&api, &planned, "installs", "Install", &visit).await
}

/// Compares what is installed with its sources.
pub(super) async fn plan_update(
    State(api): State<Api>,
    visit: Visit,
    sent: CheckedForm,
) -> Response {
    let planned = act(&api, &sent, Method::POST, "/updates".to_owned(), json!({})).await;
    decision(&api, &planned, "updates", "Update", &visit).await
}

fn scope(sent: &CheckedForm) -> &'static str {
    match sent.field("scope") {
        "project" => "project",
        _ => "user",
    }
}

async fn act(api: &Api, sent: &CheckedForm, method: Method, path: String, body: Value) -> Answered {
    api.act(sent, PageAct { method, path, body }).await
}

/// The cards of a plan, and the form that decides about them.
async fn decision(
    api: &Api,
    planned: &Answered,
    verb: &'static str,
    title: &'static str,
    visit: &Visit,
) -> Response {
    let root = match planned {
        Ok(document) => document.root(),
        Err(refusal) => return View::failed(api, "/install", refusal).await.into_response(),
    };
    let rows = root.items("skills");
    let has_choice = rows.iter().any(|row| is_open(card_of(*row)));
    let cards = html! {
        div.ranking { @for row in &rows { (card(*row)) } }
        div.decision {
            @if has_choice { button.primary type="submit" { (title) } }
            a href="/install" { "Cancel" }
        }
    };
    let content = html! {
        header.head { div { p.crumb { a href="/install" { "Install" } " /" } h1 { (title) "?" } p.faint { (counted(rows.len() as u64, "skill")) ", kept for ten minutes, installed exactly as scanned" } } }
        @for note in root.texts("notices").iter().chain(&root.texts("left_out")) { div.notice { p { (hint(*note)) } } }
        @if rows.is_empty() { (empty("There is nothing to decide.", &html! { a href="/install" { "Back" } })) }
        @else { (form(visit, &format!("{verb}/{}", encoded(root.text("plan").raw())), "/install", &cards)) }
    };
    View::new(api, "/install", title, content)
        .await
        .into_response()
}

/// The card of a new version, or of a skill to install.
fn card_of(row: Part<'_>) -> Part<'_> {
    match row.at("card").is_empty() {
        true => row,
        false => row.at("card"),
    }
}

fn is_open(card: Part<'_>) -> bool {
    !card.text("digest").is_empty() && !card.flag("refused")
}

/// One skill of a plan: what a terminal prints, and what can be chosen.
fn card(row: Part<'_>) -> Markup {
    let card = card_of(row);
    let name = row.text("name");
    let field = |kind: &str| format!("{kind}:{}", name.raw());
    let asked = match row.at("needs_approval").is_empty() {
        true => card.texts("open"),
        false => row.texts("needs_approval"),
    };
    html! {
        article.account.planned aria-label={ "Skill " (name) } {
            div.row-head {
                strong.name { (name) }
                @if let Some(state) = row.some_text("state") { (badge(state)) }
                (badge(card.text("verdict")))
                span.small.faint { (card.text("version")) " " (card.text("source")) }
            }
            @if let Some(text) = card.some_text("text") { pre.question tabindex="0" { (text.lines()) } }
            @for file in row.items("files") {
                details { summary { (file.text("change")) " " code { (file.text("path")) } } pre.frame tabindex="0" { code { (file.text("diff").lines()) } } }
            }
            @if let Some(message) = row.at("error").some_text("message") { p.gate { (badge(Quoted::new("error"))) " " (hint(message)) } }
            @if card.flag("refused") { p.gate { (badge(Quoted::new("blocked"))) " It can't be installed." } }
            @else if is_open(card) {
                input type="hidden" name=(field("digest")) value=(card.text("digest").raw());
                label.check { input type="checkbox" name="skill" value=(name.raw()) checked; span { "Install " (name) } }
                @for permission in asked {
                    label.check { input type="checkbox" name=(field("approve")) value=(permission.raw()); span { "Allow " code { (permission) } " for this exact version" } }
                }
                @if !card.items("obstacles").is_empty() {
                    label.check { input type="checkbox" name=(field("replace")) value="true"; span { "Replace what is there" } }
                }
            }
        }
    }
}

/// The decisions that a form contains.
fn choices(sent: &CheckedForm, with_replace: bool) -> Vec<Value> {
    let chosen = sent.fields().filter(|(field, _)| *field == "skill");
    let choice = |(_, name): (&str, &str)| {
        let approve = format!("approve:{name}");
        let approve: Vec<&str> = sent
            .fields()
            .filter(|(field, _)| *field == approve)
            .map(|(_, value)| value)
            .collect();
        let mut choice = json!({ "name": name, "digest": sent.field(&format!("digest:{name}")), "approve": approve });
        if with_replace {
            choice["replace"] = (sent.field(&format!("replace:{name}")) == "true").into();
        }
        choice
    };
    chosen.map(choice).collect()
}

/// Places what was decided about.
pub(super) async fn apply(
    State(api): State<Api>,
    Path(plan): Path<String>,
    sent: CheckedForm,
) -> Response {
    let body = json!({ "skills": choices(&sent, true) });
    let path = format!("/installs/{}", encoded(&plan));
    let done = act(&api, &sent, Method::POST, path, body).await;
    outcome(&api, &done).await
}

/// Updates what was decided about.
pub(super) async fn apply_update(
    State(api): State<Api>,
    Path(plan): Path<String>,
    sent: CheckedForm,
) -> Response {
    let body = json!({ "skills": choices(&sent, false) });
    let path = format!("/updates/{}", encoded(&plan));
    let done = act(&api, &sent, Method::POST, path, body).await;
    outcome(&api, &done).await
}

/// Undoes the last change.
pub(super) async fn undo(State(api): State<Api>, sent: CheckedForm) -> Response {
    let body = json!({ "change": sent.field("change") });
    match act(&api, &sent, Method::POST, "/undo".to_owned(), body).await {
        Ok(_) => sent.back(),
        Err(refusal) => View::failed(&api, "/install", &refusal)
            .await
            .into_response(),
    }
}

/// Removes an installed skill. The view lists the change, which can be undone.
pub(super) async fn remove(State(api): State<Api>, sent: CheckedForm) -> Response {
    let body = json!({ "names": [sent.field("skill")], "scope": scope(&sent) });
    match act(&api, &sent, Method::POST, "/remove".to_owned(), body).await {
        Ok(_) => sent.back(),
        Err(refusal) => View::failed(&api, "/install", &refusal)
            .await
            .into_response(),
    }
}

async fn outcome(api: &Api, done: &Answered) -> Response {
    let content = html! {
        header.head { div { p.crumb { a href="/install" { "Install" } " /" } h1 { @if done.is_ok() { "Done" } @else { "This did not work" } } } }
        @match done {
            Err(refusal) => { (problem(refusal)) }
            Ok(document) => {
                ul.rows {
                    @for row in document.root().items("skills") {
                        li.row {
                            div.row-head { a.name href={ "/skills/" (encoded(row.text("name").raw())) } { (row.text("name")) } (badge(Quoted::new(if row.flag("installed") { "installed" } else { "kept" }))) }
                            p.small.faint { code { (row.text("place")) } }
                        }
                    }
                    @for name in document.root().texts("updated") { li.row { (name) " was updated" } }
                }
            }
        }
        p { a href="/install" { "Go back; changes can be undone there" } }
    };
    View::new(api, "/install", "Install", content)
        .await
        .into_response()
}
