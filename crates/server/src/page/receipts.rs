//! *Receipts*: what skills did and what was refused, newest first; with a check of the chain, and an export.

use std::collections::HashMap;

use axum::{
    extract::{Query, State},
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};

use super::{
    api::{Api, ApiRefusal, query},
    layout::View,
    parts::{counted, empty, receipts},
};

/// Receipts of a page.
const ROWS: usize = 100;

pub(super) async fn show(
    State(api): State<Api>,
    Query(wanted): Query<HashMap<String, String>>,
) -> Response {
    match content(&api, &wanted).await {
        Ok(content) => {
            let view = View::new(&api, "/receipts", "Receipts", content).await;
            view.live("receipt").into_response()
        }
        Err(refusal) => View::failed(&api, "/receipts", &refusal)
            .await
            .into_response(),
    }
}

async fn content(api: &Api, wanted: &HashMap<String, String>) -> Result<Markup, ApiRefusal> {
    let value = |name: &str| wanted.get(name).map_or("", String::as_str);
    let start: usize = value("cursor").parse().unwrap_or(0);
    let since = match value("since") {
        "" => String::new(),
        day if day.contains('T') => day.to_owned(),
        day => format!("{day}T00:00:00Z"),
    };
    let filters = [
        ("skill", value("skill")),
        ("query", value("query")),
        ("status", value("status")),
        ("since", since.as_str()),
    ];
    let (limit, cursor) = ((ROWS + 1).to_string(), start.to_string());
    let mut asked = filters.to_vec();
    asked.extend([("limit", limit.as_str()), ("cursor", cursor.as_str())]);
    if value("verify") == "true" {
        asked.push(("verify", "true"));
    }
    let document = api.get(&format!("/receipts{}", query(&asked))).await?;
    let mut rows = document.root().items("receipts");
    let has_more = rows.len() > ROWS;
    rows.truncate(ROWS);
    let page = |start: usize| {
        let cursor = start.to_string();
        let mut all = filters.to_vec();
        all.push(("cursor", cursor.as_str()));
        format!("/receipts{}", query(&all))
    };
    let mut export = filters.to_vec();
    export.push(("limit", "10000"));
    let is_filtered = filters.iter().any(|(_, value)| !value.is_empty());
    Ok(html! {
        header.head {
            div { h1 { "Receipts" } p.faint { "Every act of a skill leaves one, allowed or not, in a chain of hashes." } }
            div.choices {
                a.button href="/receipts?verify=true" { "Verify the chain" }
                a.button href={ "/api/v1/receipts" (query(&export)) } download="receipts.json" { "Export as JSON" }
            }
        }
        @match document.root().at("whole").value().as_bool() {
            Some(true) => div.notice.good role="status" { p { "✓ The chain is intact: no receipt was changed or removed." } },
            Some(false) => div.notice.bad role="alert" { p { "✗ The chain is broken. " code.typed data-copy { "metier log --verify" } " names the receipt." } },
            None => {},
        }
        form.filters method="get" action="/receipts" role="search" {
            label.wide { span { "Search" } input type="search" name="query" value=(value("query")) placeholder="skill, act or subject" autocomplete="off" data-search; }
            label { span { "Skill" } input type="text" name="skill" value=(value("skill")) autocomplete="off"; }
            label { span { "Result" } select name="status" {
                option value="" { "any" }
                @for word in ["allowed", "refused", "ok", "error", "timeout", "begun"] { option value=(word) selected[word == value("status")] { (word) } }
            } }
            label { span { "Since" } input type="date" name="since" value=(since.get(..10).unwrap_or("")); }
            button type="submit" { "Show" }
            @if is_filtered { a.plain href="/receipts" { "Clear" } }
        }
        section #results data-live-part aria-label="Results" {
            @if rows.is_empty() {
                (empty("No receipts.", &html! { @if is_filtered { "No receipt matches these filters." } @else { "No receipts yet." } }))
            } @else {
                p.faint.small role="status" { (counted(rows.len() as u64, "receipt")) @if start > 0 || has_more { " from " (start + 1) } }
                (receipts(&rows, true))
            }
            nav.pages aria-label="Pages" {
                @if start > 0 { a.button rel="prev" href=(page(start.saturating_sub(ROWS))) { "← Newer" } }
                @if has_more { a.button rel="next" href=(page(start + ROWS)) { "Older →" } }
            }
        }
    })
}
