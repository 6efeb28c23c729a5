//! `metier` without a command: which skills were found where, what is wrong, and what to type next.

use std::path::Path;

use metier::{
    skill::{DiagnosticCode, DiagnosticSeverity, Inventory, ReasonKind, Source, Status},
    text::shell_word,
};
use metier_wire::{ListCounts, NextRow, OverviewDocument, RootRow};

use crate::{
    cli_run::CliRun,
    commands::{
        causes::causes,
        list::{self, mark_of},
    },
    failure::{Exit, Failure},
    output::{Tone, count, one_line},
};

/// The longest command whose reason is aligned with those of the others.
const WIDEST: usize = 36;
/// How many problems the overview names.
const SHOWN: usize = 8;

pub(crate) fn run(run: &CliRun) -> Result<Exit, Failure> {
    let skills = run.skills()?;
    let inventory = skills.inventory();
    let rows = rows(inventory);
    if run.output.is_json() {
        run.output.document(&OverviewDocument {
            roots: rows,
            counts: ListCounts::from(inventory.counts()),
            next: next_rows(inventory),
        })?;
        return Ok(Exit::Ok);
    }
    let mut out = headline(run, inventory);
    out.push_str(&places(run, &rows));
    let unscanned = list::unscanned(inventory);
    if unscanned > 0 {
        out.push_str(&format!(
            "\n{} {} not scanned yet: metier list --scan\n",
            run.output.paint("?", Tone::Warn),
            count(unscanned, "ready skill")
        ));
    }
    out.push_str(&troubles(run, inventory));
    out.push_str(&format!("\n{}\n", run.output.paint("Next", Tone::Strong)));
    let next: Vec<(String, &str)> = next(inventory)
        .into_iter()
        .map(|(command, why)| (run.output.as_typed(&command), why))
        .collect();
    let lengths = next.iter().map(|(command, _)| command.chars().count());
    // One long command must not push the reasons of the short ones off the screen.
    let width = lengths
        .filter(|length| *length <= WIDEST)
        .max()
        .unwrap_or(0);
    for (command, why) in &next {
        let command = run.output.paint(&format!("{command:width$}"), Tone::Note);
        out.push_str(&format!("  {command}  {why}\n"));
    }
    run.output.report(&out)?;
    Ok(Exit::Ok)
}

/// One row for each root that contains skills, the strongest first.
fn rows(inventory: &Inventory) -> Vec<RootRow> {
    let tally = |root: Option<u16>| {
        let of_root = || {
            inventory
                .skills
                .iter()
                .filter(move |skill| inventory.entry(skill).root == root)
        };
        (
            of_root().count(),
            of_root()
                .filter(|skill| skill.status == Status::Ready)
                .count(),
        )
    };
    let mut rows: Vec<(Source, RootRow)> = Vec::new();
    for (number, root) in inventory.catalog.roots.iter().enumerate() {
        let (skills, ready) = tally(u16::try_from(number).ok());
        if skills > 0 {
            rows.push((
                root.source,
                RootRow {
                    source: root.source.as_str(),
                    path: root.path.to_string_lossy().into_owned(),
                    trusted: root.trusted,
                    skills,
                    ready,
                },
            ));
        }
    }
    let (skills, ready) = tally(None);
    if skills > 0 {
        rows.push((
            Source::Builtin,
            RootRow {
                source: Source::Builtin.as_str(),
                path: "in metier itself".into(),
                trusted: true,
                skills,
                ready,
            },
        ));
    }
    rows.sort_by_key(|(source, _)| std::cmp::Reverse(*source));
    rows.into_iter().map(|(_, row)| row).collect()
}

fn headline(run: &CliRun, inventory: &Inventory) -> String {
    let counts = inventory.counts();
    let found = count(inventory.skills.len(), "skill");
    let ready = run
        .output
        .paint(&format!("{} ready", counts.ready), Tone::Good);
    format!(
        "{} found {found} on this machine, {ready}\n\n",
        run.output.paint("metier", Tone::Strong)
    )
}

fn places(run: &CliRun, rows: &[RootRow]) -> String {
    let shown: Vec<String> = rows
        .iter()
        .map(|row| run.output.path(Path::new(&row.path)))
        .collect();
    let width = shown
        .iter()
        .map(|path| path.chars().count())
        .max()
        .unwrap_or(0);
    let line = |(row, path): (&RootRow, &String)| {
        let state = if !row.trusted {
            "not trusted yet".to_owned()
        } else if row.ready == row.skills {
            "all ready".to_owned()
        } else {
            format!("{} ready", row.ready)
        };
        let skills = count(row.skills, "skill");
        format!("  {:<8} {path:width$}  {skills:>10}, {state}\n", row.source)
    };
    rows.iter().zip(&shown).map(line).collect()
}

/// The problems, the worst first, each with a command that helps.
fn troubles(run: &CliRun, inventory: &Inventory) -> String {
    let wrong = causes(inventory, false, &run.output);
    let roots: Vec<String> = inventory
        .diagnostics
        .iter()
        .filter(|diagnostic| {
            diagnostic.severity == DiagnosticSeverity::Error
                || diagnostic.code == DiagnosticCode::LimitReached
        })
        .map(|diagnostic| {
            format!(
                "  {} {}\n",
                run.output.paint("✗", Tone::Bad),
                one_line(&diagnostic.message)
            )
        })
        .collect();
    if wrong.is_empty() && roots.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", run.output.paint("What is wrong", Tone::Strong));
    roots.iter().for_each(|line| out.push_str(line));
    for cause in wrong.iter().take(SHOWN) {
        // Invalid skills have a separate section below, with the command there.
        let hint = cause.hint.as_deref();
        let hint = hint.filter(|_| cause.status != Status::Invalid);
        let hint = hint.map_or_else(String::new, |hint| format!(" → {hint}"));
        out.push_str(&format!(
            "  {} {}: {}{hint}\n",
            mark_of(cause.status, &run.output),
            run.output.paint(&cause.who, Tone::Strong),
            cause.message,
        ));
    }
    if wrong.len() > SHOWN {
        out.push_str(&format!(
            "  … and {} more: metier list --all\n",
            wrong.len() - SHOWN
        ));
    }
    out
}

fn next_rows(inventory: &Inventory) -> Vec<NextRow<'static>> {
    let next = next(inventory).into_iter();
    next.map(|(command, why)| NextRow { command, why })
        .collect()
}

/// Two or three things worth typing now.
fn next(inventory: &Inventory) -> Vec<(String, &'static str)> {
    let mut next = Vec::new();
    let with = |status: Status| {
        inventory
            .skills
            .iter()
            .find(|skill| skill.status == status)
            .map(|skill| inventory.entry(skill))
    };
    if inventory.skills.iter().any(|skill| {
        skill
            .reasons
            .iter()
            .any(|reason| reason.kind == ReasonKind::Untrusted)
    }) {
        next.push(("metier trust".to_owned(), "use the skills of this project"));
    }
    if let Some(entry) = with(Status::NotReady) {
        next.push((
            format!("metier info {}", shell_word(&entry.name())),
            "see what it requires and how to get it",
        ));
    }
    if let Some(entry) = with(Status::Invalid) {
        next.push((
            format!(
                "metier validate {}",
                shell_word(&entry.place.path().to_string_lossy())
            ),
            "see what is wrong with it and how to fix it",
        ));
    }
    if next.is_empty()
        && let Some(entry) = with(Status::Ready)
    {
        next.push((
            format!("metier show {} --no-exec", shell_word(&entry.name())),
            "see what a model would read",
        ));
    }
    next.push(("metier list".to_owned(), "see every skill"));
    next.push(("metier prompt".to_owned(), "print them as a system prompt"));
    next
}
