//! `metier list`

use std::{mem::ManuallyDrop, process::ExitCode};

use metier_model::{Code, Source};
use metier_policy::scan_reason;
use metier_runtime::{Inventory, Skill, Status, scanning::Stance};
use metier_wire::List;
use unicode_width::UnicodeWidthStr;

use crate::{
    failure::Failure,
    output::{Output, Tone, count, one_line},
    session::Session,
};

/// List the skills of every agent, and what each lacks
///
/// One line for each skill, the strongest source first: ✓ ready, ? ready and not scanned yet, ✗ something is missing or forbids
/// it. With `--json` every skill is in the document, whatever its status.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Also show shadowed, switched-off and invalid skills
    #[arg(long)]
    all: bool,
    /// Only skills from this source: extra, builtin, user, project or inline
    #[arg(long, value_name = "SOURCE")]
    source: Option<Source>,
    /// Scan the skills first; otherwise the last verdict is shown
    #[arg(long)]
    scan: bool,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    // The process ends with the command: giving ten thousand skills back one by one only takes time.
    let mut inventory = ManuallyDrop::new(session.inventory()?);
    if args.scan {
        let screening = session.screening(&inventory.catalog);
        screening.check_rules()?;
        screening.look_at_all(&mut inventory);
    }
    if let Some(source) = args.source {
        keep(&mut inventory, source);
    }
    if session.output.is_json() {
        session.output.stream(|out| List(&inventory).write(out))?;
    } else {
        session
            .output
            .text(&table(&inventory, args.all, session.output))?;
        footer(&inventory, args.all, session.output);
    }
    // A folder that somebody named and that can't be searched is a request that could not be met.
    let unmet = inventory
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.code == Code::RootUnreadable);
    Ok(ExitCode::from(u8::from(unmet)))
}

/// Only the skills of a source.
pub(super) fn keep(inventory: &mut Inventory, source: Source) {
    let Inventory {
        catalog, skills, ..
    } = inventory;
    skills.retain(|skill| catalog.entries[skill.entry].source == source);
}

/// Whether a list shows a skill to somebody who didn't ask for all.
pub(super) fn is_shown(skill: &Skill) -> bool {
    matches!(
        skill.status,
        Status::Ready | Status::NotReady | Status::Blocked
    )
}

/// The skills with what each lacks, by source.
pub(super) fn table(inventory: &Inventory, all: bool, output: &Output) -> String {
    let mut out = String::new();
    let mut current = None;
    let shown = |skill: &&Skill| all || is_shown(skill);
    for skill in inventory.skills.iter().filter(shown) {
        let source = inventory.entry(skill).source;
        if current != Some(source) {
            let gap = if current.is_some() { "\n" } else { "" };
            out.push_str(&format!(
                "{gap}{}\n",
                output.paint(source.as_str(), Tone::Strong)
            ));
            current = Some(source);
        }
        row(inventory, skill, output, &mut out);
    }
    out
}

/// The mark that a skill has in lists. One that was not scanned is not called good.
pub(super) fn mark(inventory: &Inventory, skill: &Skill, output: &Output) -> String {
    match skill.status {
        Status::Ready if inventory.is_unscanned(skill) => output.paint("?", Tone::Warn),
        Status::Ready => output.paint("✓", Tone::Good),
        Status::NotReady => output.paint("✗", Tone::Warn),
        Status::Blocked | Status::Invalid => output.paint("✗", Tone::Bad),
        Status::Disabled | Status::Shadowed => output.paint("-", Tone::Faint),
    }
}

fn row(inventory: &Inventory, skill: &Skill, output: &Output, out: &mut String) {
    let entry = inventory.entry(skill);
    let card = entry.card.as_ref();
    let emoji = card
        .and_then(|card| card.emoji.as_deref())
        .map_or_else(String::new, |emoji| format!("{} ", one_line(emoji)));
    let name = one_line(&entry.name());
    let used = 2 + emoji.width() + name.width() + 3;
    let description = match card {
        Some(card) => output.fitted(&card.description, used),
        None => output.paint("invalid", Tone::Bad),
    };
    out.push_str(&format!(
        "{} {emoji}{} - {description}\n",
        mark(inventory, skill, output),
        output.paint(&name, Tone::Strong)
    ));
    for line in remarks(inventory, skill) {
        out.push_str(&format!("    {}\n", output.paint(&line, Tone::Faint)));
    }
}

/// What keeps a skill from being used, one line each.
pub(super) fn remarks(inventory: &Inventory, skill: &Skill) -> Vec<String> {
    let entry = inventory.entry(skill);
    let mut lines: Vec<String> = skill
        .reasons
        .iter()
        .map(|reason| {
            let hint = reason
                .hint
                .as_deref()
                .map_or_else(String::new, |hint| format!(" → {}", one_line(hint)));
            format!("{}{hint}", one_line(&reason.message))
        })
        .collect();
    if let Some(known) = skill
        .scan
        .as_deref()
        .filter(|known| known.stance == Stance::Warned)
    {
        let reason = scan_reason(&entry.name(), known.objection());
        lines.extend(reason.map(|reason| format!("warning: {}", one_line(&reason.message))));
    }
    if let Some(winner) = skill.shadowed_by {
        let winner = inventory.catalog.entries[winner].place.path();
        lines.push(format!("hidden by {}", one_line(&winner.to_string_lossy())));
    }
    let errors = entry
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == metier_model::Severity::Error);
    lines.extend(errors.map(|diagnostic| {
        let place = diagnostic.position.map_or_else(String::new, |position| {
            format!(":{}:{}", position.line, position.column)
        });
        format!(
            "{}{place}: {}",
            one_line(&entry.place.path().join(&*diagnostic.file).to_string_lossy()),
            one_line(&diagnostic.message)
        )
    }));
    lines
}

/// How many skills are ready, as far as that is known without a scan.
pub(super) fn unscanned(inventory: &Inventory) -> usize {
    let ready = inventory
        .skills
        .iter()
        .filter(|skill| skill.status == Status::Ready);
    ready.filter(|skill| inventory.is_unscanned(skill)).count()
}

fn footer(inventory: &Inventory, all: bool, output: &Output) {
    let counts = inventory.counts();
    let parts = [
        (counts.ready, "ready"),
        (counts.not_ready, "not ready"),
        (counts.blocked, "blocked"),
        (counts.invalid, "invalid"),
        (counts.disabled, "switched off"),
        (counts.shadowed, "shadowed"),
    ];
    let words: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let hidden = if all {
        0
    } else {
        counts.invalid + counts.disabled + counts.shadowed
    };
    let more = if hidden > 0 {
        format!(" ({hidden} not shown: metier list --all)")
    } else {
        String::new()
    };
    let total = count(inventory.skills.len(), "skill");
    output.note(&if words.is_empty() {
        "no skills".to_owned()
    } else {
        format!("{total}: {}{more}", words.join(", "))
    });
    let unscanned = unscanned(inventory);
    if unscanned > 0 {
        output.note(&format!(
            "{} not scanned yet (?): metier list --scan",
            count(unscanned, "skill")
        ));
    }
    for diagnostic in inventory.diagnostics.iter().filter(|diagnostic| {
        output.is_verbose()
            || diagnostic.severity == metier_model::Severity::Error
            || matches!(
                diagnostic.code,
                Code::LimitReached
                    | Code::SelectionUnknown
                    | Code::VersionNotFound
                    | Code::RootMissing
            )
    }) {
        let hint = diagnostic.hint.as_deref().map_or_else(String::new, |hint| {
            format!(
                "\n{} {}",
                output.paint_talk("hint:", Tone::Note),
                one_line(hint)
            )
        });
        let place = if diagnostic.file.is_empty() {
            String::new()
        } else {
            format!("{}: ", one_line(&diagnostic.file))
        };
        output.note(&format!(
            "{} {place}{}{hint}",
            output.paint_talk(&format!("{}:", diagnostic.severity), Tone::Warn),
            one_line(&diagnostic.message)
        ));
    }
}
