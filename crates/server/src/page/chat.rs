//! *Chat*: conversations with an agent. Events are shown as they happen; questions are answered in place.

use axum::{
    extract::{Path, State},
    http::Method,
    response::{IntoResponse as _, Redirect, Response},
};
use maud::{Markup, html};
use serde_json::json;

use super::{
    api::{Api, ApiRefusal, PageAct, encoded},
    document::Part,
    forms::{CheckedForm, Visit, form, form_named},
    layout::View,
    markdown,
    parts::{badge, empty, hint, problem, time},
};

pub(super) async fn show(State(api): State<Api>, visit: Visit) -> Response {
    shown(&api, &visit, "", None).await
}

/// The view, with a task that could not be started.
async fn shown(api: &Api, visit: &Visit, task: &str, refusal: Option<&ApiRefusal>) -> Response {
    match content(api, visit, task, refusal).await {
        Ok(content) => {
            let view = View::new(api, "/chat", "Chat", content).await;
            view.live("session_started session_ended").into_response()
        }
        Err(refusal) => View::failed(api, "/chat", &refusal).await.into_response(),
    }
}

async fn content(
    api: &Api,
    visit: &Visit,
    task: &str,
    refusal: Option<&ApiRefusal>,
) -> Result<Markup, ApiRefusal> {
    let sessions = api.get("/sessions").await?;
    let sessions = sessions.root().items("sessions");
    let before = api.get("/conversations").await?;
    let is_open = |id: &str| {
        sessions
            .iter()
            .any(|one| one.text("conversation").raw() == id)
    };
    let before: Vec<Part<'_>> = before
        .root()
        .items("conversations")
        .into_iter()
        .filter(|one| !is_open(one.text("id").raw()))
        .collect();
    let ask = html! {
        label { span { "Task" } textarea name="task" rows="3" required placeholder="What should the agent do?" data-search { (task) } }
        label.check { input type="checkbox" name="orchestrate" value="true"; span { "only plan, and give the parts to sub-agents" } }
        button.primary type="submit" { "Start" }
    };
    Ok(html! {
        header.head { div { h1 { "Chat" } p.faint { "An agent with your skills. It asks before it does anything that you have not allowed." } } }
        @if let Some(refusal) = refusal { (unstarted(refusal)) }
        div.ask { (form(visit, "sessions", "/chat", &ask)) }
        section #sessions data-live-part aria-labelledby="open" {
            h2 #open { "Sessions" }
            @if sessions.is_empty() { (empty("No session is open.", &html! { "Give a task above. The model is the one in " code { "metier config agent.model" } "." })) }
            @else {
                ul.rows { @for one in &sessions {
                    li.row { div.row-head { a.name href={ "/chat/" (encoded(one.text("id").raw())) } { (one.text("title")) } (badge(one.text("state"))) span.small.faint { (time(one.text("started"))) " · " (super::parts::counted(one.number("turns"), "turn")) } } }
                } }
            }
        }
        @if !before.is_empty() {
            section aria-labelledby="before" {
                h2 #before { "Earlier conversations" }
                ul.rows { @for one in &before { li.row { (resumable(*one, visit)) } } }
            }
        }
    })
}

/// Why nothing was started. The hint for a terminal names options that a page does not have.
fn unstarted(refusal: &ApiRefusal) -> Markup {
    html! {
        @if refusal.code() == "no-model" {
            div.notice.bad role="alert" {
                p { strong { "✗ " } (hint(refusal.message())) }
                p { "Run this in a terminal, with a model that you can use, and start again:" }
                p { code.typed data-copy { "metier config agent.model anthropic/NAME" } }
                p.faint { "Other models are " code { "openai/NAME" } " and " code { "ollama/NAME" } "; the key is the variable of the provider, such as " code { "ANTHROPIC_API_KEY" } ", where the daemon was started." }
            }
        } @else { (problem(refusal)) }
    }
}

fn resumable(one: Part<'_>, visit: &Visit) -> Markup {
    let fields = html! {
        input type="hidden" name="resume" value=(one.text("id").raw());
        label { span.hidden { "Next message" } input type="text" name="task" required placeholder="Continue with …" autocomplete="off"; }
        button type="submit" { "Resume" }
    };
    html! {
        div.row-head { strong { (one.text("title")) } span.small.faint { (time(one.text("last_at"))) " · " (one.text("model")) } }
        div.inline { (form(visit, "sessions", "/chat", &fields)) }
    }
}

/// One conversation.
pub(super) async fn conversation(
    State(api): State<Api>,
    visit: Visit,
    Path(id): Path<String>,
) -> Response {
    let found = api.get(&format!("/sessions/{}", encoded(&id))).await;
    let row = match &found {
        Ok(document) => document.root(),
        Err(refusal) => return View::failed(&api, "/chat", refusal).await.into_response(),
    };
    let (key, state) = (encoded(row.text("id").raw()), row.text("state").raw());
    let back = format!("/chat/{key}");
    let say = html! {
        label { span { "Message" } textarea name="text" rows="2" required data-search {} }
        button.primary type="submit" { "Send" }
    };
    let act = |name: &str, label: &str| {
        let button = html! { button type="submit" { (label) } };
        form(&visit, &format!("sessions/{key}/{name}"), &back, &button)
    };
    let content = html! {
        header.head {
            div {
                p.crumb { a href="/chat" { "Chat" } " /" }
                h1 { (row.text("title")) }
                p #state data-live-part { (badge(row.text("state"))) " " span.small.faint { (row.text("conversation")) } }
            }
            div.choices { (act("stop", "Stop")) (act("end", "End")) }
        }
        div #conversation .conversation role="log" aria-label="Conversation" data-session=(row.text("id").raw()) {
            // Shown without script; the events replace it.
            div.without-script {
                @if let Some(text) = row.some_text("text") { (markdown::framed(text.raw(), super::document::Quoted::new("the agent's answer"))) }
                @if let Some(error) = row.some_text("error") { div.notice.bad { p { (error) } } }
                @if state == "running" { p.faint { "The agent is working. " a href=(back) { "Load again" } } }
            }
        }
        div.ask {
            @if state == "ended" { p.faint { "The session has ended. It can be resumed from " a href="/chat" { "Chat" } "." } }
            @else { (form_named(&visit, &format!("sessions/{key}/messages"), &back, "quiet", &say)) }
        }
    };
    let view = View::new(&api, "/chat", row.text("title").raw().to_owned(), content).await;
    view.live("session_ended").into_response()
}

/// Starts a conversation, or continues one.
pub(super) async fn start(State(api): State<Api>, visit: Visit, sent: CheckedForm) -> Response {
    let mut body =
        json!({ "task": sent.field("task"), "orchestrate": sent.field("orchestrate") == "true" });
    if !sent.field("resume").is_empty() {
        body["resume"] = sent.field("resume").into();
    }
    let (method, path) = (Method::POST, "/sessions".to_owned());
    match api.act(&sent, PageAct { method, path, body }).await {
        Ok(session) => {
            let id = encoded(session.root().text("id").raw());
            Redirect::to(&format!("/chat/{id}")).into_response()
        }
        Err(refusal) => shown(&api, &visit, sent.field("task"), Some(&refusal)).await,
    }
}

/// Sends the next message.
pub(super) async fn message(
    State(api): State<Api>,
    Path(id): Path<String>,
    sent: CheckedForm,
) -> Response {
    let body = json!({ "text": sent.field("text") });
    act(
        &api,
        &sent,
        Method::POST,
        format!("/sessions/{}/messages", encoded(&id)),
        body,
    )
    .await
}

/// Stops the turn.
pub(super) async fn stop(
    State(api): State<Api>,
    Path(id): Path<String>,
    sent: CheckedForm,
) -> Response {
    act(
        &api,
        &sent,
        Method::POST,
        format!("/sessions/{}/stop", encoded(&id)),
        json!({}),
    )
    .await
}

/// Ends the conversation.
pub(super) async fn end(
    State(api): State<Api>,
    Path(id): Path<String>,
    sent: CheckedForm,
) -> Response {
    act(
        &api,
        &sent,
        Method::DELETE,
        format!("/sessions/{}", encoded(&id)),
        json!({}),
    )
    .await
}

async fn act(
    api: &Api,
    sent: &CheckedForm,
    method: Method,
    path: String,
    body: serde_json::Value,
) -> Response {
    match api.act(sent, PageAct { method, path, body }).await {
        Ok(_) => sent.back(),
        Err(refusal) => failed(api, &refusal).await,
    }
}

async fn failed(api: &Api, refusal: &ApiRefusal) -> Response {
    let content = html! {
        header.head { h1 { "This did not work" } }
        section #answer { (problem(refusal)) }
        p { a href="/chat" { "Back" } }
    };
    View::new(api, "/chat", "Chat", content)
        .await
        .into_response()
}
