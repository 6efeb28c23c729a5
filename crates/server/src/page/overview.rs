//! *Overview*: how many skills there are, what is wrong and what to do about it, and what waits for an answer.

use axum::{
    extract::State,
    http::Method,
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};
use serde_json::json;

use super::{
    api::{Api, ApiRefusal, PageAct},
    document::{Document, Part},
    forms::{CheckedForm, Visit, form},
    layout::View,
    parts::{badge, bar, counted, empty, grouped, hint, skill_address},
};

/// The statuses in the order of the tiles, each with its meaning.
const STATUSES: &[(&str, &str)] = &[
    ("ready", "can be used now"),
    ("not_ready", "something is missing"),
    ("blocked", "blocked by the scanner or by you"),
    ("invalid", "can't be read"),
    ("disabled", "you disabled them"),
    ("shadowed", "another skill has the same name"),
];

/// How many problems of each status the overview names.
const NAMED: usize = 4;

pub(super) async fn show(State(api): State<Api>, visit: Visit) -> Response {
    match content(&api, &visit).await {
        Ok(content) => {
            let view = View::new(&api, "/", "Overview", content).await;
            view.live("skills_changed").into_response()
        }
        Err(refusal) => View::failed(&api, "/", &refusal).await.into_response(),
    }
}

async fn content(api: &Api, visit: &Visit) -> Result<Markup, ApiRefusal> {
    let status = api.get("/status").await?;
    let mut troubles = Vec::new();
    for word in ["blocked", "invalid", "not_ready"] {
        let page = api
            .get(&format!("/skills?status={word}&limit={NAMED}"))
            .await?;
        troubles.push((word, page));
    }
    let root = status.root();
    let all: u64 = STATUSES
        .iter()
        .map(|(word, _)| root.at("counts").number(word))
        .sum();
    let refresh = html! { button type="submit" { "Refresh" } };
    Ok(html! {
        header.head {
            div {
                h1 { "Skills on this machine" }
                p.faint { (watching(root)) }
            }
            (form(visit, "refresh", "/", &refresh))
        }
        section #counts data-live-part aria-label="Skills by status" {
            @if all == 0 {
                (empty("There are no skills yet.", &html! {
                    "Put one into " code { "~/.agents/skills/NAME/SKILL.md" } ", or let " code { "metier new NAME" } " write one. It appears here immediately."
                }))
            }
            ul.tiles {
                li { a.tile href="/skills" { span.figure { (grouped(all)) } span.label { "all" } span.small.faint { "found on this machine" } } }
                @for (word, means) in STATUSES {
                    @let count = root.at("counts").number(word);
                    li { a.tile.none[count == 0] href={ "/skills?status=" (word) } {
                        span.figure { (grouped(count)) }
                        span.label { (badge(super::document::Quoted::new(word))) }
                        span.small.faint { (means) }
                    } }
                }
            }
        }
        section #troubles data-live-part aria-labelledby="fix" {
            h2 #fix { "What to fix" }
            (troubles_list(&troubles))
        }
        div #tallies .columns data-live-part {
            section aria-labelledby="sources" {
                h2 #sources { "By source" }
                (tally(&root.items("sources"), "source", all))
            }
            section aria-labelledby="agents" {
                h2 #agents { "By agent" }
                @let agents = root.items("agents");
                @if agents.is_empty() {
                    p.faint { "No skill is in the folder of an agent, such as " code { "~/.claude/skills" } "." }
                } @else { (tally(&agents, "agent", all)) }
            }
        }
    })
}

/// How changes are noticed.
fn watching(root: Part<'_>) -> Markup {
    let watch = root.at("watch");
    html! {
        code { (root.text("project")) } " · "
        @match watch.text("state").raw() {
            "watched" => { "changes are noticed immediately (" (counted(watch.number("folders"), "folder")) ")" }
            "polled" => { "changes are noticed every few seconds: " (watch.text("reason")) }
            "off" => { "changes are noticed with each request" }
            _ => { "starting to watch the folders" }
        }
    }
}

/// The problems, each with one fix.
fn troubles_list(troubles: &[(&str, Document)]) -> Markup {
    let count: u64 = troubles
        .iter()
        .map(|(_, page)| page.root().number("total"))
        .sum();
    html! {
        @if count == 0 { p.good { "✓ Nothing: every skill can be read, and has what it needs." } }
        @else {
            ul.rows {
                @for (word, page) in troubles {
                    @let total = page.root().number("total");
                    @for row in page.root().items("skills") {
                        li.row { (trouble(row, page.root())) }
                    }
                    @if total > NAMED as u64 {
                        li.row.more { a href={ "/skills?status=" (word) } {
                            (counted(total - NAMED as u64, "more skill")) " " (word.replace('_', " "))
                        } }
                    }
                }
            }
        }
    }
}

fn trouble(row: Part<'_>, page: Part<'_>) -> Markup {
    let folder = format!("{}/", row.text("path").raw());
    let diagnostics = page.items("diagnostics");
    let own = diagnostics.iter().find(|one| {
        one.text("severity").raw() == "error" && one.text("path").raw().starts_with(&folder)
    });
    let reason = row.items("reasons").into_iter().next().or(own.copied());
    html! {
        div.row-head {
            a.name href=(skill_address(row)) { (row.text("name")) }
            (badge(row.text("status")))
        }
        @if let Some(reason) = reason {
            p { (hint(reason.text("message"))) }
            @if let Some(text) = reason.some_text("hint") { p.fix { span.arrow aria-hidden="true" { "→ " } (hint(text)) } }
        }
    }
}

/// Counts by something.
fn tally(rows: &[Part<'_>], key: &str, all: u64) -> Markup {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| std::cmp::Reverse(row.number("skills")));
    html! {
        table.tally {
            thead { tr { th scope="col" { (key) } th scope="col" .share { span.hidden { "share" } } th.num scope="col" { "skills" } th.num scope="col" { "ready" } th.num scope="col" { "invalid" } } }
            tbody {
                @for row in &rows {
                    @let skills = row.number("skills");
                    tr {
                        th scope="row" { a href={ "/skills?" (key) "=" (row.text(key)) } { (row.text(key)) } }
                        td.share { (bar(ratio(skills, all), "")) }
                        td.num { (grouped(skills)) }
                        td.num { (grouped(row.number("ready"))) }
                        td.num { (grouped(row.number("invalid"))) }
                    }
                }
            }
        }
    }
}

fn ratio(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
}

/// Lists the skills again.
pub(super) async fn refresh(State(api): State<Api>, sent: CheckedForm) -> Response {
    let act = PageAct {
        method: Method::POST,
        path: "/refresh".to_owned(),
        body: json!({}),
    };
    match api.act(&sent, act).await {
        Ok(_) => sent.back(),
        Err(refusal) => View::failed(&api, "/", &refusal).await.into_response(),
    }
}
