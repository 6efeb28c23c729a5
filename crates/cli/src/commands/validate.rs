//! `metier validate`

use std::{path::PathBuf, process::ExitCode};

use metier_catalog::{Entry, Place, Root};
use metier_model::{Code, Diagnostic, Mode, Severity, Source, text::shell_word};
use metier_runtime::{Inventory, Skill, Status, hooks, promises};
use metier_wire::{DiagnosticRow, ValidateDocument, Validated};

use crate::{
    failure::Failure,
    output::{Output, Tone, count, one_line},
    session::Session,
};

/// Check skills against the specification
///
/// Each mistake comes with its place and how to fix it.
/// Without `--strict` a skill is valid when it can be loaded. With it, the skill must conform to the
/// Agent Skills specification exactly. Exit code 1 when a skill is not valid.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A skill's folder or name, or a folder of skills
    #[arg(default_value = ".")]
    path: Vec<String>,
    /// Exactly the specification
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let mode = if args.strict {
        Mode::Strict
    } else {
        session.mode()
    };
    let mut roots = Vec::new();
    for path in &args.path {
        roots.push(Root::explicit(Source::Inline, folder(session, path)?));
    }
    let (mut inventory, unread) = session.examine_counting(roots, mode);
    let limit = session.config.limits.max_skill_bytes;
    for entry in &mut inventory.catalog.entries {
        let broken = promises::broken(entry, mode, limit);
        entry.diagnostics.extend(broken);
        let hooks = hooks::in_place(entry);
        entry.diagnostics.extend(hooks.diagnostics);
    }
    let broken: Vec<&Diagnostic> = inventory
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .collect();
    if let (true, Some(problem)) = (inventory.skills.is_empty(), broken.first()) {
        return Err(Failure::unmet("not-found", problem.message.to_string())
            .path(&*problem.file)
            .hint("name a skill's folder, its SKILL.md, or a folder of skills"));
    }
    if inventory.skills.is_empty() {
        return Err(Failure::unmet(
            "skill-file-missing",
            format!(
                "there is no SKILL.md or SKILL.yaml in `{}`",
                args.path.join("`, `")
            ),
        )
        .hint("name a skill's folder, or a folder of skills"));
    }
    let mut skills = inventory.skills.iter();
    let valid = skills.all(|skill| is_valid(&inventory, skill)) && broken.is_empty();
    if session.output.is_json() {
        session.output.document(&document(&inventory))?;
    } else {
        session
            .output
            .report(&report(&inventory, &session.output))?;
        if unread > 0 {
            session.output.note(&format!(
                "{} the bodies of {} were not read; name a skill to have its body read",
                session.output.paint_talk("note:", Tone::Note),
                count(unread, "skill")
            ));
        }
    }
    Ok(ExitCode::from(u8::from(!valid)))
}

/// The folder that is meant: a path, or where the skill of that name is.
fn folder(session: &Session, what: &str) -> Result<PathBuf, Failure> {
    let path = session.machine.work.join(what);
    if what.contains('/') || path.exists() {
        return Ok(path);
    }
    let inventory = session.inventory()?;
    let entry = inventory.entry(super::find(session, &inventory, what)?);
    match &entry.place {
        Place::Folder(folder) => Ok(folder.clone()),
        Place::Builtin(_) => Err(Failure::unmet(
            "builtin-skill",
            format!("skill `{what}` is part of metier and has no folder"),
        )
        .hint(format!("metier info {}", shell_word(what)))),
    }
}

fn is_valid(inventory: &Inventory, skill: &Skill) -> bool {
    let mut diagnostics = inventory.entry(skill).diagnostics.iter();
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    skill.status != Status::Invalid && !diagnostics.any(is_error)
}

fn document(inventory: &Inventory) -> ValidateDocument<'_> {
    let skills = inventory.skills.iter().map(|skill| {
        let entry = inventory.entry(skill);
        Validated {
            path: entry.place.path().to_string_lossy().into_owned(),
            name: entry.name().into_owned(),
            valid: is_valid(inventory, skill),
            diagnostics: entry
                .diagnostics
                .iter()
                .map(|diagnostic| DiagnosticRow::of(entry, diagnostic))
                .collect(),
        }
    });
    ValidateDocument {
        skills: skills.collect(),
        diagnostics: folder_problems(inventory).map(DiagnosticRow::new).collect(),
    }
}

/// What is wrong with folders. Which other skills are there, of the same name or as dependencies, is no mistake of a file.
fn folder_problems(inventory: &Inventory) -> impl Iterator<Item = &Diagnostic> {
    inventory
        .diagnostics
        .iter()
        .filter(|diagnostic| !matches!(diagnostic.code, Code::Shadowed | Code::DependencyMissing))
}

fn report(inventory: &Inventory, output: &Output) -> String {
    let mut out = String::new();
    let mut warnings = 0;
    let mut invalid = 0;
    for skill in &inventory.skills {
        let entry = inventory.entry(skill);
        invalid += usize::from(!is_valid(inventory, skill));
        for diagnostic in entry
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity > Severity::Info || output.is_verbose())
        {
            warnings += usize::from(diagnostic.severity == Severity::Warning);
            out.push_str(&lines(entry, diagnostic, output));
        }
    }
    for diagnostic in folder_problems(inventory) {
        warnings += usize::from(diagnostic.severity == Severity::Warning);
        out.push_str(&format!(
            "{}: {}: {} [{}]\n",
            one_line(&diagnostic.file),
            severity(diagnostic, output),
            one_line(&diagnostic.message),
            diagnostic.code
        ));
    }
    let total = inventory.skills.len();
    let verdict = if invalid == 0 {
        output.paint("✓", Tone::Good)
    } else {
        output.paint("✗", Tone::Bad)
    };
    let wrong = if invalid == 0 {
        "all valid".to_owned()
    } else {
        format!("{invalid} not valid")
    };
    out.push_str(&format!(
        "{verdict} {}: {wrong}, {}\n",
        count(total, "skill"),
        count(warnings, "warning")
    ));
    out
}

fn severity(diagnostic: &Diagnostic, output: &Output) -> String {
    let tone = match diagnostic.severity {
        Severity::Error => Tone::Bad,
        Severity::Warning => Tone::Warn,
        Severity::Info => Tone::Faint,
    };
    output.paint(diagnostic.severity.as_str(), tone)
}

fn lines(entry: &Entry, diagnostic: &Diagnostic, output: &Output) -> String {
    let place = diagnostic.position.map_or_else(String::new, |position| {
        format!(":{}:{}", position.line, position.column)
    });
    let file = entry.place.path().join(&*diagnostic.file);
    let hint = diagnostic.hint.as_deref().map_or_else(String::new, |hint| {
        format!(
            "  {} {}\n",
            output.paint("hint:", Tone::Note),
            one_line(hint)
        )
    });
    format!(
        "{}{place}: {}: {} [{}]\n{hint}",
        one_line(&file.to_string_lossy()),
        severity(diagnostic, output),
        one_line(&diagnostic.message),
        diagnostic.code
    )
}
