//! *Usage*: which skills do something, how often, and which never did; counted from receipts.

use std::collections::BTreeMap;

use axum::{
    extract::State,
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};

use super::{
    api::{Api, ApiRefusal, encoded},
    document::{Part, Quoted},
    layout::View,
    parts::{bar, counted, empty, grouped, time},
};

/// How many days the plot has, and how many skills the tables.
const DAYS: usize = 30;
const SHOWN: usize = 50;

pub(super) async fn show(State(api): State<Api>) -> Response {
    match content(&api).await {
        Ok(content) => {
            let view = View::new(&api, "/usage", "Usage", content).await;
            view.live("receipt").into_response()
        }
        Err(refusal) => View::failed(&api, "/usage", &refusal).await.into_response(),
    }
}

/// What one skill did.
#[derive(Default)]
struct SkillUse<'a> {
    acts: u64,
    refused: u64,
    ms: u64,
    last: &'a str,
}

/// What all skills did, by name and by day.
#[derive(Default)]
struct UseTally<'a> {
    skills: BTreeMap<&'a str, SkillUse<'a>>,
    days: BTreeMap<&'a str, (u64, u64)>,
}

impl<'a> UseTally<'a> {
    fn of(receipts: &[Part<'a>]) -> Self {
        let mut tally = Self::default();
        for receipt in receipts {
            let (at, count) = (receipt.text("at").raw(), receipt.number("count").max(1));
            let is_refused = receipt.text("decision").raw() == "refused";
            let skill = tally.skills.entry(receipt.text("skill").raw()).or_default();
            skill.acts += count;
            skill.refused += if is_refused { count } else { 0 };
            skill.ms += receipt.number("ms");
            skill.last = skill.last.max(at);
            let day = tally.days.entry(at.get(..10).unwrap_or(at)).or_default();
            day.0 += count;
            day.1 += if is_refused { count } else { 0 };
        }
        tally
    }
}

async fn content(api: &Api) -> Result<Markup, ApiRefusal> {
    let receipts = api.get("/receipts?limit=10000").await?;
    let ready = api.get("/skills?status=ready").await?;
    let receipts = receipts.root().items("receipts");
    let tally = UseTally::of(&receipts);
    let mut used: Vec<(&str, &SkillUse<'_>)> = tally
        .skills
        .iter()
        .map(|(name, one)| (*name, one))
        .collect();
    used.sort_by_key(|(name, one)| (std::cmp::Reverse(one.acts), *name));
    let ready = ready.root().items("skills");
    let is_unused = |row: &&Part<'_>| !tally.skills.contains_key(row.text("name").raw());
    let unused: Vec<&Part<'_>> = ready.iter().filter(is_unused).collect();
    let most = used.first().map_or(1, |(_, one)| one.acts);
    Ok(html! {
        header.head { div { h1 { "Usage" } p.faint { "Counted from the last " (counted(receipts.len() as u64, "receipt")) ". A skill whose text alone is used leaves none." } } }
        section #usage data-live-part aria-label="Usage" {
            ul.tiles {
                li { div.tile { span.figure { (grouped(used.len() as u64)) } span.label { "skills that acted" } } }
                li { div.tile { span.figure { (grouped(unused.len() as u64)) } span.label { "ready, never acted" } } }
                li { div.tile { span.figure { (grouped(tally.days.values().map(|day| day.0).sum())) } span.label { "acts" } } }
                li { div.tile { span.figure { (grouped(tally.days.values().map(|day| day.1).sum())) } span.label { "refused" } } }
            }
            @if used.is_empty() { (empty("Nothing was used yet.", &html! { "Try a tool of a skill, or start a " a href="/chat" { "chat" } "." })) }
            @else {
                (plot(&tally.days))
                h2 { "Used" }
                table.tally {
                    thead { tr { th scope="col" { "skill" } th.share scope="col" { span.hidden { "share" } } th.num scope="col" { "acts" } th.num scope="col" { "refused" } th.num scope="col" { "time" } th scope="col" { "last" } } }
                    tbody { @for (name, one) in used.iter().take(SHOWN) { (row(name, one, most)) } }
                }
            }
            @if !unused.is_empty() {
                h2 { "Ready, never acted" }
                ul.names {
                    @for row in unused.iter().take(SHOWN) { li { a href={ "/skills/" (encoded(row.text("name").raw())) } { (row.text("name")) } } }
                    @if unused.len() > SHOWN { li.faint { "and " (grouped((unused.len() - SHOWN) as u64)) " more" } }
                }
            }
        }
    })
}

fn row(name: &str, one: &SkillUse<'_>, most: u64) -> Markup {
    html! {
        tr {
            th scope="row" { a.name href={ "/skills/" (encoded(name)) } { (Quoted::new(name)) } }
            td.share { (bar(share(one.acts, most), "")) }
            td.num { (grouped(one.acts)) }
            td.num { (grouped(one.refused)) }
            td.num { (metier::text::duration(std::time::Duration::from_millis(one.ms))) }
            td { (time(Quoted::new(one.last))) }
        }
    }
}

fn share(part: u64, most: u64) -> f64 {
    part as f64 / most.max(1) as f64
}

/// Acts by day, as columns; refused ones are the upper part.
fn plot(days: &BTreeMap<&str, (u64, u64)>) -> Markup {
    let last: Vec<(&&str, &(u64, u64))> = days.iter().rev().take(DAYS).collect();
    let most = last.iter().map(|(_, day)| day.0).max().unwrap_or(1);
    let columns = last.len();
    let height = |count: u64| (share(count, most) * 100.0).round();
    html! {
        figure.plot {
            figcaption { "Acts by day, the last " (counted(columns as u64, "day with acts")) " at the right" }
            svg viewBox={ "0 0 " (columns.max(10) * 12) " 104" } preserveAspectRatio="none" role="img" aria-label={ "Acts by day, at most " (most) " in a day" } {
                @for (number, (day, (acts, refused))) in last.iter().rev().enumerate() {
                    rect.fill x=(number * 12 + 2) y=(102.0 - height(*acts)) width="8" height=(height(*acts).max(1.0)) {
                        title { (Quoted::new(day)) ": " (counted(*acts, "act")) ", " (refused) " refused" }
                    }
                    @if *refused > 0 { rect.refused x=(number * 12 + 2) y=(102.0 - height(*acts)) width="8" height=(height(*refused)) {} }
                }
            }
            p.small.faint { (Quoted::new(last.last().map_or("", |(day, _)| day))) span { (Quoted::new(last.first().map_or("", |(day, _)| day))) } }
        }
    }
}
