//! *Why*: type a task; the skills that fit, each signal as a bar, and what keeps others out.

use std::collections::HashMap;

use axum::{
    extract::{Query, State},
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};
use serde_json::json;

use super::{
    api::{Answered, Api, ApiQuestion, encoded},
    document::{Part, Quoted},
    layout::View,
    parts::{badge, bar, counted, empty, hint, problem},
};

/// How many skills are explained.
const SHOWN: usize = 40;

pub(super) async fn show(
    State(api): State<Api>,
    Query(wanted): Query<HashMap<String, String>>,
) -> Response {
    let value = |name: &str| wanted.get(name).map_or("", String::as_str);
    let (task, risk) = (value("task"), value("risk"));
    let risk = if matches!(risk, "medium" | "high") {
        risk
    } else {
        "low"
    };
    let answered = match task.trim() {
        "" => None,
        task => {
            let body = json!({ "task": task, "risk": risk, "limit": SHOWN });
            Some(api.ask(ApiQuestion::Why, body).await)
        }
    };
    let content = html! {
        header.head { div { h1 { "Why" } p.faint { "Which skills a model would get for a task, and why the others are left out." } } }
        form.filters method="get" action="/why" role="search" {
            label.wide { span { "Task" } input type="search" name="task" value=(task) placeholder="review the open pull request" autocomplete="off" data-search; }
            label { span { "Risk" } select name="risk" {
                @for word in ["low", "medium", "high"] { option value=(word) selected[word == risk] { (word) } }
            } }
            button type="submit" { "Explain" }
        }
        section #results aria-label="Results" { (results(answered.as_ref())) }
    };
    View::new(&api, "/why", "Why", content)
        .await
        .into_response()
}

fn results(answered: Option<&Answered>) -> Markup {
    let root = match answered {
        None => {
            return empty(
                "Type a task.",
                &html! { "The ranking appears here, with every signal that counted." },
            );
        }
        Some(Err(refusal)) => return problem(refusal),
        Some(Ok(document)) => document.root(),
    };
    let told: Vec<Part<'_>> = root
        .items("skills")
        .into_iter()
        .filter(|row| {
            row.real("score") > 0.0 || row.flag("picked") || !row.items("problems").is_empty()
        })
        .collect();
    let (picked, others): (Vec<Part<'_>>, Vec<Part<'_>>) =
        told.into_iter().partition(|row| row.flag("picked"));
    html! {
        p.faint.small role="status" {
            (picked.len()) " of " (counted(root.number("considered"), "available skill")) " picked · "
            @if root.flag("coding") { "a coding task" } @else { "not a coding task" }
            " (" (two(root.at("coding_evidence").real("score"))) ")"
        }
        @for lack in root.items("errors") {
            div.notice.bad { p { (hint(lack.text("message"))) } @if let Some(text) = lack.some_text("hint") { p.faint { (hint(text)) } } }
        }
        @if picked.is_empty() { (empty("No skill fits.", &html! { "Name one with " code { "/name" } " in the task, or use other words." })) }
        ol.ranking { @for row in &picked { li { (account(*row)) } } }
        @if !others.is_empty() {
            h2 { "Not picked" }
            ul.ranking { @for row in &others { li { (account(*row)) } } }
        }
        (evidence(root.at("coding_evidence")))
    }
}

fn account(row: Part<'_>) -> Markup {
    html! {
        article.account {
            div.row-head {
                a.name href={ "/skills/" (encoded(row.text("name").raw())) } { (row.text("name")) }
                @if row.flag("picked") { (badge(Quoted::new("picked"))) }
                span.small.faint { (row.text("source")) }
                span.score { (two(row.real("score"))) }
            }
            (signals(&row.items("why"), "weight"))
            @for gate in row.items("gates") {
                p.gate { (badge(gate.text("kind"))) " " (hint(gate.text("message"))) }
                @if let Some(text) = gate.some_text("hint") { p.fix { span.arrow aria-hidden="true" { "→ " } (hint(text)) } }
            }
            @if let Some(consent) = row.some_text("consent") { p.gate { (badge(Quoted::new("ask"))) " needs consent: " (consent) } }
            @for miss in row.items("problems") { p.gate { (badge(Quoted::new("warning"))) " " (miss.text("detail")) } }
        }
    }
}

fn signals(rows: &[Part<'_>], weight: &str) -> Markup {
    html! {
        @if !rows.is_empty() {
            table.signals {
                thead.hidden { tr { th { "signal" } th { "share" } th { "weight" } th { "reason" } } }
                tbody {
                    @for row in rows {
                        tr {
                            th scope="row" { (row.text("signal")) (row.text("sign")) }
                            td.share { (bar(row.real(weight).abs(), if row.real(weight) < 0.0 { "against" } else { "" })) }
                            td.num { (two(row.real(weight))) }
                            td { (hint(row.text("detail"))) }
                        }
                    }
                }
            }
        }
    }
}

fn evidence(coding: Part<'_>) -> Markup {
    let rows = coding.items("evidence");
    html! {
        @if !rows.is_empty() {
            details { summary { "Is it a coding task?" } (signals(&rows, "weight")) }
        }
    }
}

fn two(number: f64) -> String {
    format!("{number:.2}")
}
