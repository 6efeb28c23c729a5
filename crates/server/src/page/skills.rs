//! *Skills*: the list, with a search and filters, a page at a time.

use std::collections::HashMap;

use axum::{
    extract::{Query, State},
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};

use super::{
    api::{Api, ApiRefusal, query},
    document::Part,
    layout::View,
    parts::{badge, counted, empty, grouped, skill_address},
};

/// Skills of a page.
const ROWS: u64 = 100;

/// The filters: the parameter, its label, and its values.
const FILTERS: &[(&str, &str, &[&str])] = &[
    (
        "status",
        "Status",
        &[
            "ready",
            "not_ready",
            "blocked",
            "invalid",
            "disabled",
            "shadowed",
        ],
    ),
    (
        "scan",
        "Verdict",
        &[
            "clean",
            "info",
            "warning",
            "critical",
            "incomplete",
            "unknown",
        ],
    ),
    (
        "type",
        "Type",
        &["prompt", "tool", "workflow", "security-rule", "transform"],
    ),
];

pub(super) async fn show(
    State(api): State<Api>,
    Query(wanted): Query<HashMap<String, String>>,
) -> Response {
    match content(&api, &wanted).await {
        Ok(content) => {
            let view = View::new(&api, "/skills", "Skills", content).await;
            view.live("skills_changed").into_response()
        }
        Err(refusal) => View::failed(&api, "/skills", &refusal)
            .await
            .into_response(),
    }
}

async fn content(api: &Api, wanted: &HashMap<String, String>) -> Result<Markup, ApiRefusal> {
    let value = |name: &str| wanted.get(name).map_or("", String::as_str);
    let start: u64 = value("cursor").parse().unwrap_or(0);
    let (rows, cursor) = (ROWS.to_string(), start.to_string());
    let mut parameters: Vec<(&str, &str)> = vec![("search", value("search"))];
    for name in ["status", "scan", "type", "source", "agent"] {
        parameters.push((name, value(name)));
    }
    let address = |start: &str| {
        let mut all = parameters.clone();
        all.push(("cursor", start));
        format!("/skills{}", query(&all))
    };
    let mut asked = parameters.clone();
    asked.extend([("limit", rows.as_str()), ("cursor", cursor.as_str())]);
    let page = api.get(&format!("/skills{}", query(&asked))).await?;
    let status = api.get("/status").await?;
    let total = page.root().number("total");
    let shown = page.root().items("skills");
    let is_filtered = parameters.iter().any(|(_, value)| !value.is_empty());
    Ok(html! {
        header.head { div { h1 { "Skills" } } }
        form.filters method="get" action="/skills" role="search" data-live-form {
            label.wide { span { "Search" } input type="search" name="search" value=(value("search")) placeholder="a name, or what it should do" autocomplete="off" data-search; }
            @for (name, label, values) in FILTERS {
                (filter(name, label, value(name), values.iter().copied()))
            }
            (filter("source", "Source", value("source"), names(status.root(), "sources", "source").into_iter()))
            (filter("agent", "Agent", value("agent"), names(status.root(), "agents", "agent").into_iter()))
            button type="submit" { "Show" }
            @if is_filtered { a.plain href="/skills" { "Clear" } }
        }
        section #results data-live-part aria-label="Results" {
            p.faint.small.tally-line role="status" { (count(start, shown.len() as u64, total)) }
            @if total == 0 {
                @if is_filtered {
                    (empty("No skill matches.", &html! { a href="/skills" { "Show all skills" } ", or describe a task in " a href="/why" { "Why" } "." }))
                } @else {
                    (empty("There are no skills yet.", &html! { "Let " code { "metier new NAME" } " write one. It appears here immediately." }))
                }
            } @else { (table(&shown)) }
            (pages(start, total, &address))
        }
    })
}

fn names<'a>(root: Part<'a>, list: &str, key: &str) -> Vec<&'a str> {
    let rows = root.items(list).into_iter();
    rows.map(|row| row.text(key).raw()).collect()
}

fn filter<'a>(
    name: &str,
    label: &str,
    chosen: &str,
    values: impl Iterator<Item = &'a str>,
) -> Markup {
    html! {
        label { span { (label) }
            select name=(name) {
                option value="" { "any" }
                @for value in values {
                    option value=(value) selected[value == chosen] { (match value { "unknown" => "not scanned".to_owned(), value => value.replace('_', " ") }) }
                }
            }
        }
    }
}

fn count(start: u64, shown: u64, total: u64) -> String {
    match total {
        0 => "no skills".to_owned(),
        total if shown == total => counted(total, "skill"),
        total => format!(
            "{}–{} of {}",
            grouped(start + 1),
            grouped(start + shown),
            counted(total, "skill")
        ),
    }
}

fn table(rows: &[Part<'_>]) -> Markup {
    html! {
        table.skills {
            thead { tr { th scope="col" { "Skill" } th scope="col" { "Status" } th scope="col" { "Verdict" } th scope="col" { "Source" } } }
            tbody {
                @for row in rows {
                    tr {
                        th scope="row" {
                            a.name href=(skill_address(*row)) { (row.text("name")) }
                            @if let Some(version) = row.some_text("version") { " " span.small.faint { (version) } }
                            p.description { (row.text("description")) }
                        }
                        td { (badge(row.text("status"))) }
                        td { (badge(row.text("scan"))) }
                        td {
                            (row.text("source"))
                            @if let Some(agent) = row.some_text("agent") { div.small.faint { (agent) } }
                        }
                    }
                }
            }
        }
    }
}

fn pages(start: u64, total: u64, address: &dyn Fn(&str) -> String) -> Markup {
    let before = start.saturating_sub(ROWS).to_string();
    let after = (start + ROWS).to_string();
    html! {
        @if total > ROWS {
            nav.pages aria-label="Pages" {
                @if start > 0 { a.button rel="prev" href=(address(&before)) { "← Before" } }
                span.faint { "page " (start / ROWS + 1) " of " (total.div_ceil(ROWS)) }
                @if start + ROWS < total { a.button rel="next" href=(address(&after)) { "Next →" } }
            }
        }
    }
}
