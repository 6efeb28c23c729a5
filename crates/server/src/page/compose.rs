//! *Compose*: pick skills; the tools, the order and the conflicts of the set.

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
    parts::{badge, empty, hint, problem},
};

/// How many names the field suggests.
const SUGGESTED: usize = 500;

pub(super) async fn show(
    State(api): State<Api>,
    Query(wanted): Query<Vec<(String, String)>>,
) -> Response {
    let values = wanted.iter().filter(|(name, _)| name == "skill");
    let mut picked: Vec<&str> = Vec::new();
    for name in values.flat_map(|(_, value)| value.split_whitespace()) {
        if !picked.contains(&name) {
            picked.push(name);
        }
    }
    let coding = wanted
        .iter()
        .any(|(name, value)| name == "coding" && value == "true");
    let composed = match picked.is_empty() {
        true => None,
        false => {
            let body = json!({ "skills": picked, "coding": coding });
            Some(api.ask(ApiQuestion::Compose, body).await)
        }
    };
    let known = api
        .get(&format!("/skills?status=ready&limit={SUGGESTED}"))
        .await;
    let names = known
        .as_ref()
        .map(|page| page.root().items("skills"))
        .unwrap_or_default();
    let content = html! {
        header.head { div { h1 { "Compose" } p.faint { "Several skills as one set: the tools their agent may use, their order, and their conflicts." } } }
        form.filters method="get" action="/compose" {
            @for name in &picked { input type="hidden" name="skill" value=(name); }
            label.wide { span { "Add a skill" } input type="text" name="skill" list="names" placeholder="name" autocomplete="off" data-search; }
            datalist #names { @for row in &names { option value=(row.text("name").raw()) {} } }
            label.check { input type="checkbox" name="coding" value="true" checked[coding]; span { "the agent writes code" } }
            button type="submit" { "Add" }
        }
        section aria-label="The set" {
            @if picked.is_empty() { (empty("The set is empty.", &html! { "Add two or more skills. Their rules are checked together, in any order." })) }
            @else { (chosen(&picked, coding)) }
            @if let Some(composed) = &composed { (result(composed)) }
        }
    };
    View::new(&api, "/compose", "Compose", content)
        .await
        .into_response()
}

/// The picked skills, each with a link that removes it.
fn chosen(picked: &[&str], coding: bool) -> Markup {
    let without = |name: &str| {
        let rest = picked.iter().filter(|other| **other != name);
        let mut query: Vec<String> = rest
            .map(|other| format!("skill={}", encoded(other)))
            .collect();
        query.extend(coding.then(|| "coding=true".to_owned()));
        format!("/compose?{}", query.join("&"))
    };
    html! {
        ul.chips aria-label="Picked" {
            @for name in picked {
                li { a href={ "/skills/" (encoded(name)) } { (Quoted::new(name)) } a.remove href=(without(name)) aria-label={ "Remove " (Quoted::new(name)) } { "×" } }
            }
        }
    }
}

fn result(composed: &Answered) -> Markup {
    let root = match composed {
        Ok(document) => document.root(),
        Err(refusal) => return problem(refusal),
    };
    let tools = root.at("tools");
    html! {
        p.outcome { @if root.flag("valid") { (badge(Quoted::new("valid"))) " The set can be used." } @else { (badge(Quoted::new("invalid"))) " The set can't be used." } }
        (faults(&root.items("errors"), &root.items("warnings")))
        div.columns {
            section aria-labelledby="order" {
                h2 #order { "Order" }
                @let order = root.texts("order");
                @if order.is_empty() { p.faint { "None, because of the errors." } }
                @else { ol { @for name in &order { li { (name) } } } }
            }
            section aria-labelledby="set-tools" {
                h2 #set-tools { "Tools" }
                dl.facts {
                    (list("Allowed", &tools.texts("allowed")))
                    (list("Forbidden", &tools.texts("forbidden")))
                    (list("Skills with their own tools", &tools.texts("own")))
                }
            }
        }
        @let unchecked = root.items("unchecked");
        @if !unchecked.is_empty() {
            section aria-labelledby="promises" {
                h2 #promises { "Unchecked promises" }
                p.faint { "The model is asked to keep these; nothing checks them." }
                ul.plain-list { @for row in &unchecked { li { strong { (row.text("skill")) } " " code { (row.text("field")) } " " (row.text("text")) } } }
            }
        }
    }
}

fn list(label: &str, names: &[Quoted<'_>]) -> Markup {
    html! {
        dt { (label) }
        dd { @if names.is_empty() { span.faint { "none" } } @for name in names { code { (name) } " " } }
    }
}

fn faults(errors: &[Part<'_>], warnings: &[Part<'_>]) -> Markup {
    let errors = errors.iter().map(|row| (row, "error"));
    let rows: Vec<(&Part<'_>, &str)> = errors
        .chain(warnings.iter().map(|row| (row, "warning")))
        .collect();
    html! {
        @if !rows.is_empty() {
            ul.rows {
                @for (row, word) in rows {
                    li.row {
                        div.row-head { (badge(Quoted::new(word))) code.small { (row.text("code")) } }
                        p { (hint(row.text("message"))) }
                        @if let Some(text) = row.some_text("hint") { p.fix { span.arrow aria-hidden="true" { "→ " } (hint(text)) } }
                    }
                }
            }
        }
    }
}
