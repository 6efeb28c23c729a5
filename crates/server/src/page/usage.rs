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
    parts::{PROGRAM, actor, bar, counted, empty, grouped, time},
};

/// How many days the plot has, and how many skills the tables.
const DAYS: u64 = 30;
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

/// The acts of one skill.
#[derive(Default)]
struct SkillUse<'a> {
    acts: u64,
    refused: u64,
    ms: u64,
    last: &'a str,
}

/// The acts of all skills, by name and by day.
#[derive(Default)]
struct UseTally<'a> {
    skills: BTreeMap<&'a str, SkillUse<'a>>,
    days: BTreeMap<&'a str, (u64, u64)>,
}

impl<'a> UseTally<'a> {
    fn of(receipts: &[Part<'a>]) -> Self {
        let mut tally = Self::default();
        let of_skills = receipts.iter();
        for receipt in of_skills.filter(|one| one.text("skill").raw() != PROGRAM) {
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
    let receipts = receipts.root().items("receipts");
    let tally = UseTally::of(&receipts);
    // At least `SHOWN` of this many skills never acted. Loading all of them would mean thousands of rows for one number.
    let enough = SHOWN + tally.skills.len();
    let ready = api
        .get(&format!("/skills?status=ready&limit={enough}"))
        .await?;
    let names: Vec<String> = tally.skills.keys().map(|name| encoded(name)).collect();
    let acted = api
        .get(&format!(
            "/skills?status=ready&limit=0&names={}",
            names.join(",")
        ))
        .await?;
    let (ready, acted) = (ready.root(), acted.root().number("total"));
    let never = ready.number("total").saturating_sub(acted);
    let mut used: Vec<(&str, &SkillUse<'_>)> = tally
        .skills
        .iter()
        .map(|(name, one)| (*name, one))
        .collect();
    used.sort_by_key(|(name, one)| (std::cmp::Reverse(one.acts), *name));
    let ready = ready.items("skills");
    let is_unused = |row: &&Part<'_>| !tally.skills.contains_key(row.text("name").raw());
    let unused: Vec<&Part<'_>> = ready.iter().filter(is_unused).collect();
    let most = used.first().map_or(1, |(_, one)| one.acts);
    Ok(html! {
        header.head { div { h1 { "Usage" } p.faint { "Counted from the last " (counted(receipts.len() as u64, "receipt")) ". A skill of which only the text is used leaves none." } } }
        section #usage data-live-part aria-label="Usage" {
            ul.tiles {
                li { div.tile { span.figure { (grouped(used.len() as u64)) } span.label { "skills that acted" } } }
                li { div.tile { span.figure { (grouped(never)) } span.label { "ready, without acts" } } }
                li { div.tile { span.figure { (grouped(tally.days.values().map(|day| day.0).sum())) } span.label { "acts" } } }
                li { div.tile { span.figure { (grouped(tally.days.values().map(|day| day.1).sum())) } span.label { "refused" } } }
            }
            @if used.is_empty() { (empty("Nothing has been used yet.", &html! { "Try a tool of a skill, or start a " a href="/chat" { "chat" } "." })) }
            @else {
                (plot(&tally.days))
                h2 { "Used" }
                table.tally {
                    thead { tr { th scope="col" { "skill" } th.share scope="col" { span.hidden { "share" } } th.num scope="col" { "acts" } th.num scope="col" { "refused" } th.num scope="col" { "time" } th scope="col" { "last" } } }
                    tbody { @for (name, one) in used.iter().take(SHOWN) { (row(name, one, most)) } }
                }
            }
            @if !unused.is_empty() {
                h2 { "Ready, without acts" }
                ul.names {
                    @for row in unused.iter().take(SHOWN) { li { a href={ "/skills/" (encoded(row.text("name").raw())) } { (row.text("name")) } } }
                    @if never > SHOWN as u64 { li.faint { "and " (grouped(never - SHOWN as u64)) " more" } }
                }
            }
        }
    })
}

fn row(name: &str, one: &SkillUse<'_>, most: u64) -> Markup {
    html! {
        tr {
            th scope="row" { (actor(Quoted::new(name))) }
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

/// The last days, oldest first, up to the last one with acts: a day without acts is a gap.
fn last_days(days: &BTreeMap<&str, (u64, u64)>) -> Vec<(String, (u64, u64))> {
    let last = days.keys().next_back().copied().unwrap_or_default();
    let Some(last) = metier::text::parse_time(&format!("{last}T00:00:00Z")) else {
        return Vec::new();
    };
    let back = (0..DAYS).rev().filter_map(|number| {
        let before = std::time::Duration::from_secs(number * 86_400);
        let day = metier::text::timestamp(last.checked_sub(before)?);
        let day = day.get(..10).unwrap_or_default().to_owned();
        let count = days.get(day.as_str()).copied().unwrap_or_default();
        Some((day, count))
    });
    back.collect()
}

/// Acts by day, as columns; refused ones are the upper part.
fn plot(days: &BTreeMap<&str, (u64, u64)>) -> Markup {
    let shown = last_days(days);
    let most = shown.iter().map(|(_, day)| day.0).max().unwrap_or(1);
    let height = |count: u64| (share(count, most) * 100.0).round();
    let ends = shown.first().zip(shown.last());
    html! {
        figure.plot {
            figcaption { "Acts per day (peak: " (grouped(most)) ")" }
            svg viewBox={ "0 0 " (shown.len() * 12) " 104" } preserveAspectRatio="none" role="img" aria-label={ "Acts per day, at most " (most) } {
                @for (number, (day, (acts, refused))) in shown.iter().enumerate() {
                    @if *acts > 0 {
                        rect.fill x=(number * 12 + 2) y=(104.0 - height(*acts).max(1.0)) width="8" height=(height(*acts).max(1.0)) {
                            title { (Quoted::new(day)) ": " (counted(*acts, "act")) ", " (refused) " refused" }
                        }
                    }
                    @if *refused > 0 { rect.refused x=(number * 12 + 2) y=(104.0 - height(*acts).max(1.0)) width="8" height=(height(*refused)) {} }
                }
            }
            @if let Some(((first, _), (last, _))) = ends { p.small.faint { span { (first) } span { (last) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{DAYS, last_days};

    #[test]
    fn days_without_acts_are_gaps_up_to_the_last_one() {
        let days = BTreeMap::from([("2025-12-31", (2, 1)), ("2026-01-02", (5, 0))]);
        let shown = last_days(&days);
        assert_eq!(shown.len() as u64, DAYS);
        let last: Vec<(&str, u64)> = shown
            .iter()
            .rev()
            .take(3)
            .map(|(day, (acts, _))| (day.as_str(), *acts))
            .collect();
        assert_eq!(
            last,
            [("2026-01-02", 5), ("2026-01-01", 0), ("2025-12-31", 2)]
        );
        assert_eq!(last_days(&BTreeMap::new()), []);
    }
}
