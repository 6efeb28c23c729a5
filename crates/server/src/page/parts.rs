//! Small parts that several views have: badges, commands, bars, empty states.

use maud::{Markup, html};

use super::{
    api::{ApiRefusal, encoded},
    document::{Part, Quoted},
};

/// The tone and the sign of a word; the colour is never the only sign.
fn look(word: &str) -> (&'static str, &'static str) {
    match word {
        "ready" | "clean" | "ok" | "allowed" | "picked" | "valid" | "unchanged" | "installed" => {
            ("good", "✓")
        }
        "not_ready" | "warning" | "ask" | "timeout" | "begun" | "incomplete" | "info"
        | "changed" | "edited" => ("warn", "!"),
        "invalid" | "blocked" | "critical" | "refused" | "denied" | "error" => ("bad", "✗"),
        "running" => ("good", "▸"),
        "unknown" => ("faint", "?"),
        _ => ("faint", "–"),
    }
}

/// A word with its sign.
pub(super) fn badge(word: Quoted<'_>) -> Markup {
    let (tone, sign) = look(word.raw());
    let shown = match word.raw() {
        "unknown" => "not scanned".to_owned(),
        word => word.replace('_', " "),
    };
    html! {
        span class={ "badge " (tone) } {
            span aria-hidden="true" { (sign) } " " (Quoted::new(&shown))
        }
    }
}

/// A word that is typed or read literally. A command of ours can be copied.
fn literal(text: Quoted<'_>) -> Markup {
    let is_ours = text.raw().starts_with("metier ");
    html! { code.typed data-copy[is_ours] { (text) } }
}

/// The words that follow a command in a hint that begins with one.
const AFTER_COMMAND: &[&str] = &[
    " shows ",
    " lists ",
    " names ",
    " keeps ",
    " leaves ",
    " fetches ",
    "; ",
    ", ",
];

/// A sentence: what is between backticks is typed, and so is a command of ours at its beginning.
pub(super) fn hint(text: Quoted<'_>) -> Markup {
    let raw = text.raw();
    if raw.starts_with("metier ") && !raw.contains('`') {
        let ends = AFTER_COMMAND.iter().filter_map(|word| raw.find(word));
        let (command, rest) = raw.split_at(ends.min().unwrap_or(raw.len()));
        return html! { (literal(Quoted::new(command))) (Quoted::new(rest)) };
    }
    let parts: Vec<&str> = text.raw().split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    html! {
        @if is_paired {
            @for (number, part) in parts.iter().enumerate() {
                @if number % 2 == 1 { (literal(Quoted::new(part))) }
                @else { (Quoted::new(part)) }
            }
        } @else { (text) }
    }
}

/// An error with what to do about it.
pub(super) fn problem(refusal: &ApiRefusal) -> Markup {
    html! {
        div.notice.bad role="alert" {
            p { strong { "✗ " } (hint(refusal.message())) }
            @if let Some(text) = refusal.hint() { p.faint { (hint(text)) } }
        }
    }
}

/// Nothing is here, and what to do about that.
pub(super) fn empty(what: &str, then: &Markup) -> Markup {
    html! {
        div.empty { p { strong { (what) } } p { (then) } }
    }
}

/// Where a skill is: by its name, or by its folder if another skill has the name.
pub(super) fn skill_address(row: Part<'_>) -> String {
    let is_shadowed = row.text("status").raw() == "shadowed";
    let key = if is_shadowed { "path" } else { "name" };
    format!("/skills/{}", encoded(row.text(key).raw()))
}

/// The name under which receipts note what the program does itself, such as to undo.
pub(super) const PROGRAM: &str = "metier";

/// The name of a skill that did something, as a link.
pub(super) fn actor(name: Quoted<'_>) -> Markup {
    html! {
        @if name.raw() == PROGRAM { strong { (name) } }
        @else { a.name href={ "/skills/" (encoded(name.raw())) } { (name) } }
    }
}

/// A bar of a share between 0 and 1. It is drawn as a picture, since the page allows no inline style.
pub(super) fn bar(share: f64, tone: &str) -> Markup {
    let width = (share.clamp(0.0, 1.0) * 100.0).round();
    html! {
        svg class={ "bar " (tone) } viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" {
            rect.rail x="0" y="0" width="100" height="6" {}
            rect.fill x="0" y="0" width=(width) height="6" {}
        }
    }
}

/// A time as people read it; the exact one is in its title.
pub(super) fn time(at: Quoted<'_>) -> Markup {
    let short = at.raw().get(..16).unwrap_or(at.raw()).replace('T', " ");
    html! { time datetime=(at) title=(at) data-ago { (Quoted::new(&short)) } }
}

/// A number with its noun.
pub(super) fn counted(number: u64, noun: &str) -> String {
    let noun = if number == 1 {
        noun.to_owned()
    } else {
        format!("{noun}s")
    };
    format!("{} {noun}", grouped(number))
}

/// A number with separators: 10,000.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The rows of a timeline of receipts.
pub(super) fn receipts(rows: &[Part<'_>], with_skill: bool) -> Markup {
    html! {
        ol.timeline {
            @for row in rows {
                @let word = match row.text("decision").raw() {
                    "refused" => row.text("decision"),
                    _ => row.some_text("outcome").unwrap_or(row.text("decision")),
                };
                li {
                    div.when { (time(row.text("at"))) (badge(word)) }
                    div.what {
                        @if with_skill {
                            (actor(row.text("skill"))) " "
                        }
                        @if !row.text("detail").raw().starts_with(row.text("act").raw()) { code { (row.text("act")) } " " }
                        (row.text("detail"))
                        @if let Some(reason) = row.some_text("reason") { div.faint { (hint(reason)) } }
                        div.small.faint {
                            (row.number("ms")) " ms"
                            @if let Some(note) = row.some_text("note") { " · " (note) }
                            @if let Some(sandbox) = row.some_text("sandbox") { " · " (sandbox) }
                            @if row.number("count") > 1 { " · " (row.number("count")) " times" }
                            " · " (row.text("id"))
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Quoted, hint};

    #[test]
    fn a_command_of_a_hint_can_be_copied_without_what_follows_it() {
        for (text, command) in [
            ("metier scan sync", "metier scan sync"),
            ("metier list --all shows every skill", "metier list --all"),
            ("run `metier trust`, then look again", "metier trust"),
        ] {
            let shown = hint(Quoted::new(text)).0;
            let copied = format!("<code class=\"typed\" data-copy>{command}</code>");
            assert!(shown.contains(&copied), "{shown}");
        }
        let shown = hint(Quoted::new("install `gh` first")).0;
        assert!(!shown.contains("data-copy"), "{shown}");
    }
}
