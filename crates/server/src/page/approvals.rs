//! *Approvals*: questions that wait for an answer, as on a terminal and over MCP; and the answers that are kept.

use axum::{
    extract::{Path, State},
    http::Method,
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};
use serde_json::json;

use crate::daemon::access::PageVisit;

use super::{
    api::{Api, ApiRefusal, PageAct, encoded},
    document::{Part, Quoted},
    forms::{CheckedForm, Visit, form},
    layout::View,
    parts::{badge, empty, time},
};

pub(super) async fn show(State(api): State<Api>, visit: Visit) -> Response {
    match content(&api, &visit).await {
        Ok(content) => {
            let view = View::new(&api, "/approvals", "Approvals", content).await;
            view.live("approval_requested approval_answered")
                .into_response()
        }
        Err(refusal) => View::failed(&api, "/approvals", &refusal)
            .await
            .into_response(),
    }
}

async fn content(api: &Api, visit: &PageVisit) -> Result<Markup, ApiRefusal> {
    let waiting = api.get("/approvals").await?;
    let waiting = waiting.root().items("approvals");
    let answers = api.get("/permissions").await?;
    let answers = answers.root().items("approvals");
    Ok(html! {
        header.head { div { h1 { "Approvals" } p.faint { "A skill waits up to ten minutes for an answer. Without one the act is refused." } } }
        section #questions data-live-part aria-label="Questions" {
            @if waiting.is_empty() {
                (empty("No pending requests.", &html! { "A question appears here as soon as a skill asks for something that you have not decided yet." }))
            }
            @for question in &waiting { (card(*question, visit)) }
        }
        section #answers data-live-part aria-labelledby="kept" {
            h2 #kept { "Saved decisions" }
            @if answers.is_empty() { (empty("None yet.", &html! { "“Always” answers are kept here, for the exact bytes of the skill." })) }
            @else { (kept(&answers, visit)) }
        }
    })
}

/// The card of a question: the text that a terminal prints, and one button for each answer.
fn card(question: Part<'_>, visit: &PageVisit) -> Markup {
    let id = question.text("id").raw();
    let (skill, danger) = (
        question.text("skill"),
        question.text("danger").raw().replace('_', " "),
    );
    let act = format!("approvals/{}", encoded(id));
    let button = |answer: &str, label: &str, covers: &[Quoted<'_>]| {
        let fields = html! {
            input type="hidden" name="answer" value=(answer);
            button type="submit" class=(answer) { (label) span.hidden { ": " (skill) } }
            p.small.faint {
                @match answer {
                    "once" => "only this time",
                    "session" => "until the session ends",
                    "always" => "for this exact version of the skill",
                    _ => "it is refused",
                }
                @if !covers.is_empty() { ": " @for one in covers { code { (one) } " " } }
            }
        };
        form(visit, &act, "/approvals", &fields)
    };
    html! {
        article.approval id={ "approval-" (encoded(id)) } aria-label={ "Question from the skill " (skill) } {
            header {
                h2 { a href={ "/skills/" (encoded(skill.raw())) } { (skill) } " asks" }
                span.badge.warn { span aria-hidden="true" { "!" } " " (Quoted::new(&danger)) }
                span.small.faint {
                    "from " (question.text("source")) " · "
                    @match question.text("session").raw() {
                        "requests" => "a program called it",
                        session => { a href={ "/chat/" (encoded(session)) } { "its conversation" } }
                    }
                }
            }
            pre.question tabindex="0" { (question.text("text").lines()) }
            div.choices {
                @for offer in question.items("answers") {
                    @let answer = offer.text("answer").raw();
                    @let label = match answer { "once" => "Once", "session" => "This session", _ => "Always" };
                    (button(answer, label, &offer.texts("covers")))
                }
                (button("no", "No", &[]))
            }
        }
    }
}

fn kept(answers: &[Part<'_>], visit: &PageVisit) -> Markup {
    html! {
        ul.rows {
            @for answer in answers {
                li.row.permission {
                    div {
                        div.row-head {
                            (badge(answer.text("state")))
                            a.name href={ "/skills/" (encoded(answer.text("skill").raw())) } { (answer.text("skill")) }
                            code { (answer.text("permission")) }
                        }
                        p.small.faint { (time(answer.text("at"))) " by " (answer.text("by")) }
                    }
                    (form(visit, "permissions", "/approvals", &html! {
                        input type="hidden" name="skill" value=(answer.text("skill").raw());
                        input type="hidden" name="permission" value=(answer.text("permission").raw());
                        input type="hidden" name="decision" value="forget";
                        button type="submit" { "Revoke" span.hidden { " " (answer.text("permission")) " of " (answer.text("skill")) } }
                    }))
                }
            }
        }
    }
}

/// Answers a question. One that was answered before, in another tab or at a terminal, stays as it was answered.
pub(super) async fn answer(
    State(api): State<Api>,
    Path(id): Path<String>,
    sent: CheckedForm,
) -> Response {
    let act = PageAct {
        method: Method::POST,
        path: format!("/approvals/{}", encoded(&id)),
        body: json!({ "answer": sent.field("answer") }),
    };
    match api.act(&sent, act).await {
        Ok(_) => sent.back(),
        Err(refusal) => View::failed(&api, "/approvals", &refusal)
            .await
            .into_response(),
    }
}
