//! `metier validate`

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use metier_catalog::{Entry, Place, Root};
use metier_model::{Diagnostic, Mode, Severity, Source};
use metier_runtime::{Inventory, Status, hooks};
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
    path: Vec<PathBuf>,
    /// Exactly the specification
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let mode = if args.strict {
        Mode::Strict
    } else {
        session.mode()
    };
    let roots = args
        .path
        .iter()
        .map(|path| Ok(Root::explicit(Source::Inline, folder(session, path)?)))
        .collect::<Result<_, Failure>>()?;
    let mut inventory = session.examine(roots, mode);
    for entry in &mut inventory.catalog.entries {
        let hooks = hooks::in_place(&entry.place);
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
        let shown: Vec<String> = args
            .path
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        return Err(Failure::unmet(
            "skill-file-missing",
            format!(
                "there is no SKILL.md or SKILL.yaml in `{}`",
                shown.join("`, `")
            ),
        )
        .hint("name a skill's folder, or a folder of skills"));
    }
    let valid = inventory
        .skills
        .iter()
        .all(|skill| skill.status != Status::Invalid)
        && broken.is_empty();
    if session.output.is_json() {
        session.output.document(&document(&inventory))?;
    } else {
        session.output.report(&report(&inventory, session.output))?;
    }
    Ok(ExitCode::from(u8::from(!valid)))
}

fn document(inventory: &Inventory) -> ValidateDocument<'_> {
    let skills = inventory.skills.iter().map(|skill| {
        let entry = inventory.entry(skill);
        Validated {
            path: entry.place.path().to_string_lossy().into_owned(),
            name: entry.name().into_owned(),
            valid: skill.status != Status::Invalid,
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

/// The folder that was named; a word that is no path is the name of a skill.
fn folder(session: &Session<'_>, path: &Path) -> Result<PathBuf, Failure> {
    let here = session.machine.work.join(path);
    let name = path.to_str().filter(|name| !name.contains('/'));
    let Some(name) = name.filter(|_| !here.exists()) else {
        return Ok(here);
    };
    let inventory = session.inventory()?;
    match inventory.find(name) {
        Ok(skill) => match &inventory.entry(skill).place {
            Place::Folder(folder) => Ok(folder.clone()),
            Place::Builtin(_) => Ok(here),
        },
        Err(_) => Ok(here),
    }
}

/// What is wrong with folders; that skills of one name hide each other is not a mistake here.
fn folder_problems(inventory: &Inventory) -> impl Iterator<Item = &Diagnostic> {
    inventory
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.code != metier_model::Code::Shadowed)
}

fn report(inventory: &Inventory, output: &Output) -> String {
    let mut out = String::new();
    let mut warnings = 0;
    let mut invalid = 0;
    for skill in &inventory.skills {
        let entry = inventory.entry(skill);
        invalid += usize::from(skill.status == Status::Invalid);
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
