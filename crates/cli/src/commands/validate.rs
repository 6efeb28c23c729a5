//! `metier validate`

use metier::{
    skill::{CatalogEntry, Diagnostic, DiagnosticSeverity},
    validating::ValidationReport,
};
use metier_wire::{DiagnosticRow, ValidateDocument, Validated};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// Check skills against the specification
///
/// Prints each mistake, where it is and how to fix it.
/// Without `--strict` a skill is valid when it can be loaded. With it, the skill must conform to the
/// Agent Skills specification exactly. Exit code 1 when a skill is invalid.
#[derive(clap::Args)]
pub(crate) struct ValidateArgs {
    /// A skill's folder or name, or a folder of skills
    #[arg(default_value = ".")]
    path: Vec<String>,
    /// Require exactly the Agent Skills specification
    #[arg(long)]
    strict: bool,
}

pub(crate) fn run(run: &CliRun, args: &ValidateArgs) -> Result<Exit, Failure> {
    let checked = run.validate(&args.path, args.strict)?;
    let output = &run.output;
    if output.is_json() {
        output.document(&document(&checked))?;
    } else {
        output.report(&report(&checked, output))?;
        if checked.bodies_not_read > 0 {
            output.note(&format!(
                "{} the bodies of {} were not read; name a skill to have its body read",
                output.paint_talk("note:", Tone::Note),
                count(checked.bodies_not_read, "skill")
            ));
        }
    }
    Ok(Exit::unmet_if(!checked.is_valid()))
}

fn document(checked: &ValidationReport) -> ValidateDocument<'_> {
    let inventory = checked.inventory();
    let skills = inventory.skills.iter().map(|skill| {
        let entry = inventory.entry(skill);
        Validated {
            path: entry.place.path().to_string_lossy().into_owned(),
            name: entry.name().into_owned(),
            valid: checked.is_skill_valid(skill),
            diagnostics: entry
                .diagnostics
                .iter()
                .map(|diagnostic| DiagnosticRow::of(entry, diagnostic))
                .collect(),
        }
    });
    ValidateDocument {
        skills: skills.collect(),
        diagnostics: checked.folder_problems().map(DiagnosticRow::new).collect(),
    }
}

fn report(checked: &ValidationReport, output: &Output) -> String {
    let inventory = checked.inventory();
    let mut out = String::new();
    let mut warnings = 0;
    let mut invalid = 0;
    for skill in &inventory.skills {
        let entry = inventory.entry(skill);
        invalid += usize::from(!checked.is_skill_valid(skill));
        for diagnostic in entry.diagnostics.iter().filter(|diagnostic| {
            diagnostic.severity > DiagnosticSeverity::Info || output.is_verbose()
        }) {
            warnings += usize::from(diagnostic.severity == DiagnosticSeverity::Warning);
            out.push_str(&lines(entry, diagnostic, output));
        }
    }
    for diagnostic in checked.folder_problems() {
        warnings += usize::from(diagnostic.severity == DiagnosticSeverity::Warning);
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
        DiagnosticSeverity::Error => Tone::Bad,
        DiagnosticSeverity::Warning => Tone::Warn,
        DiagnosticSeverity::Info => Tone::Faint,
    };
    output.paint(diagnostic.severity.as_str(), tone)
}

/// A diagnostic of a skill for display: its place, its message and its hint.
pub(super) fn lines(entry: &CatalogEntry, diagnostic: &Diagnostic, output: &Output) -> String {
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
