//! The text of a card, for a terminal. Everything that an author wrote is on its own line, escaped, after our words.

use std::fmt::Write as _;

use super::{
    card::{ExistingSkill, InstallAction, InstallCard, InstallObstacle},
    places::InstallScope,
};
use crate::{
    permissions::PermissionDecision,
    scans::{FindingSeverity, Verdict},
    text::{Tone, count, one_line, shortened},
};

/// How many findings, files and warnings are shown.
const MAX_SHOWN: usize = 12;
/// How much of a description is shown, in characters.
const MAX_DESCRIPTION: usize = 300;

/// The card as text for a terminal; `paint` colours a part of it. Texts of the author are escaped.
///
/// ```
/// # fn f(card: &metier::distribution::InstallCard) {
/// print!("{}", metier::distribution::card_text(card, &|text, _tone| text.to_owned()));
/// # }
/// ```
#[must_use]
pub fn card_text(card: &InstallCard, paint: &dyn Fn(&str, Tone) -> String) -> String {
    let mut out = String::new();
    let version = card
        .version
        .as_deref()
        .map(|version| format!(" {}", one_line(version)));
    let head = format!("{}{}", one_line(&card.name), version.unwrap_or_default());
    let _ = writeln!(out, "{}", paint(&head, Tone::Strong));
    let _ = writeln!(
        out,
        "  {}",
        shortened(&one_line(&card.description), MAX_DESCRIPTION)
    );
    let mut row = |title: &str, text: &str| {
        let _ = writeln!(
            out,
            "  {} {text}",
            paint(&format!("{title:<9}"), Tone::Faint)
        );
    };
    let source = one_line(&card.source);
    match (card.source.starts_with('/'), &card.registry) {
        (true, _) => row("from", &format!("{source} (on this machine)")),
        (false, Some(registry)) => {
            row("from", &format!("{source} (in {})", one_line(registry)));
        }
        (false, None) => row("from", &source),
    }
    if let Some(commit) = &card.commit {
        row("commit", &one_line(commit));
    }
    match &card.signer {
        Some(signer) => row("signed by", &one_line(signer)),
        None => row("signature", "none"),
    }
    row(
        "files",
        &format!("{}, {}", count(card.files, "file"), size(card.bytes)),
    );
    row("digest", &card.digest.to_string());
    row("to", &place(card));
    if let Some(before) = &card.before {
        row("replaces", &replaces(card, before));
    }
    out.push_str(&permissions(card, paint));
    out.push_str(&scan(card, paint));
    for missing in card.missing.iter().take(MAX_SHOWN) {
        let _ = writeln!(out, "  {} {}", paint("!", Tone::Warn), one_line(missing));
    }
    for warning in card.warnings.iter().take(MAX_SHOWN) {
        let _ = writeln!(out, "  {} {}", paint("!", Tone::Warn), one_line(warning));
    }
    for obstacle in &card.obstacles {
        let tone = if obstacle.is_final() {
            Tone::Bad
        } else {
            Tone::Warn
        };
        let mark = if obstacle.is_final() { "✗" } else { "!" };
        let _ = writeln!(out, "  {} {}", paint(mark, tone), decision(obstacle));
    }
    out
}

fn place(card: &InstallCard) -> String {
    let scope = match card.scope {
        InstallScope::User => "for you, in every project",
        InstallScope::Project => "for everyone who works on this project",
    };
    format!("{} ({scope})", card.place.display())
}

fn replaces(card: &InstallCard, before: &ExistingSkill) -> String {
    if card.action == InstallAction::Keep {
        return "nothing: exactly these files are already installed".to_owned();
    }
    let version = before
        .version
        .as_deref()
        .map(|version| format!("version {}, ", one_line(version)));
    let mut parts = Vec::new();
    for (word, files) in [
        ("changed", &before.files.changed),
        ("new", &before.files.added),
        ("gone", &before.files.removed),
    ] {
        if let Some(first) = files.first() {
            let more = match files.len() {
                1 => String::new(),
                many => format!(" and {} more", many - 1),
            };
            parts.push(format!("{word} {}{more}", one_line(first)));
        }
    }
    let gone = before
        .gone_permissions
        .iter()
        .map(|one| format!("no longer asks for {}", one_line(one)));
    parts.extend(gone);
    format!("{}{}", version.unwrap_or_default(), parts.join(", "))
}

fn permissions(card: &InstallCard, paint: &dyn Fn(&str, Tone) -> String) -> String {
    if card.permissions.is_empty() {
        return format!("  {} it asks for no permissions\n", paint("✓", Tone::Good));
    }
    let mut out = format!("  {}\n", paint("It asks for:", Tone::Strong));
    for one in &card.permissions {
        let (mark, tone) = match one.decision {
            PermissionDecision::Allow => ("✓", Tone::Good),
            PermissionDecision::Ask => ("?", Tone::Warn),
            PermissionDecision::Deny => ("✗", Tone::Bad),
        };
        let is_new = if one.is_new { " (new)" } else { "" };
        let _ = writeln!(
            out,
            "    {} {}{is_new}  {}",
            paint(mark, tone),
            one_line(&one.permission),
            paint(&one_line(&one.meaning), Tone::Faint)
        );
    }
    out
}

fn scan(card: &InstallCard, paint: &dyn Fn(&str, Tone) -> String) -> String {
    let found = &card.verdict;
    let (mark, tone, words) = match found.verdict {
        Verdict::Clean => ("✓", Tone::Good, "the scanner found nothing"),
        Verdict::Info => ("✓", Tone::Good, "the scanner found nothing dangerous"),
        Verdict::Warning => ("!", Tone::Warn, "the scanner warns"),
        Verdict::Incomplete => ("✗", Tone::Bad, "the scanner could not read everything"),
        Verdict::Critical => ("✗", Tone::Bad, "the scanner found something critical"),
    };
    let accepted = if found.is_accepted {
        "; you accepted these bytes"
    } else {
        ""
    };
    let mut out = format!("  {} {words}{accepted}\n", paint(mark, tone));
    let shown = found
        .findings
        .iter()
        .filter(|one| one.severity > FindingSeverity::Info);
    let shown: Vec<_> = shown.collect();
    for finding in shown.iter().take(MAX_SHOWN) {
        let line = finding
            .line
            .map(|line| format!(":{line}"))
            .unwrap_or_default();
        let _ = writeln!(
            out,
            "    {}{line}: {} {}",
            one_line(&finding.file),
            one_line(&finding.message),
            paint(&format!("({})", one_line(&finding.rule)), Tone::Faint)
        );
    }
    if shown.len() > MAX_SHOWN {
        let _ = writeln!(out, "    … and {} more", shown.len() - MAX_SHOWN);
    }
    for unread in found.unread.iter().take(MAX_SHOWN) {
        let _ = writeln!(out, "    not read: {}", one_line(unread));
    }
    out
}

/// An obstacle as the question to the user.
fn decision(obstacle: &InstallObstacle) -> String {
    match obstacle {
        InstallObstacle::Blocked(why) => format!("blocked: {}", one_line(why)),
        InstallObstacle::Invalid(why) => format!("invalid: {}", one_line(why)),
        InstallObstacle::Signature(why) => format!("invalid signature: {}", one_line(why)),
        InstallObstacle::Foreign => "metier did not install the skill that is there now".to_owned(),
        InstallObstacle::Edited(files) => match files.first() {
            Some(first) => format!("the installed skill was edited: {}", one_line(first)),
            None => "the installed skill was edited".to_owned(),
        },
        InstallObstacle::OtherSource(source) => {
            format!(
                "the installed skill is from another source: {}",
                one_line(source)
            )
        }
        InstallObstacle::Shadows(place) => {
            format!("there is another skill with this name: {}", one_line(place))
        }
        InstallObstacle::Breaks(why) => one_line(why),
        InstallObstacle::OtherSigner(signer) => {
            format!(
                "its known signer did not sign these files: {}",
                one_line(signer)
            )
        }
    }
}

/// A number of bytes for display.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} KB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
