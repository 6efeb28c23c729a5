//! `metier outdated`

use metier::distribution::{InstallScope, UpdateAvailability};
use metier_wire::{OutdatedDocument, OutdatedRow};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    interrupt,
    output::{Tone, count, one_line},
};

/// List installed skills with a newer version
///
/// Compares the bytes of each skill with those of its source, and changes nothing. `metier update` shows the differences.
#[derive(clap::Args)]
pub(crate) struct OutdatedArgs {
    /// The skills [default: all installed ones]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The project's skills instead of yours
    #[arg(long)]
    project: bool,
}

pub(crate) fn run(run: &CliRun, args: &OutdatedArgs) -> Result<Exit, Failure> {
    interrupt::listen_with(run.stop())?;
    let scope = InstallScope::of_project(args.project);
    let skills = run.outdated(&args.names, scope)?;
    let exit = Exit::unmet_if(skills.iter().any(|skill| skill.newest.is_err()));
    let output = &run.output;
    if output.is_json() {
        let rows = skills.iter().map(OutdatedRow::from);
        output.document(&OutdatedDocument {
            skills: rows.collect(),
        })?;
        return Ok(exit);
    }
    let listed: Vec<&UpdateAvailability> = skills
        .iter()
        .filter(|skill| skill.is_outdated() || skill.newest.is_err())
        .collect();
    let width = |text: &dyn Fn(&UpdateAvailability) -> String| {
        listed
            .iter()
            .map(|skill| text(skill).chars().count())
            .max()
            .unwrap_or(0)
    };
    let name = |skill: &UpdateAvailability| one_line(&skill.name);
    let versions = |skill: &UpdateAvailability| match &skill.newest {
        Ok(newest) => format!("{} → {}", skill.here.label(), newest.label()),
        Err(_) => skill.here.label(),
    };
    let (names, middle) = (width(&name), width(&versions));
    let mut text = String::new();
    for skill in &listed {
        let source = output.paint(&one_line(&skill.source), Tone::Faint);
        text.push_str(&format!(
            "{:names$}  {:middle$}  {source}\n",
            name(skill),
            versions(skill)
        ));
        if let Err(error) = &skill.newest {
            let sign = output.paint("✗", Tone::Bad);
            text.push_str(&format!("  {sign} {}\n", one_line(error.message())));
        }
    }
    output.report(&text)?;
    let old = skills.iter().filter(|skill| skill.is_outdated()).count();
    output.note(&match old {
        0 if skills.is_empty() => "nothing is installed".to_owned(),
        0 if skills.iter().any(|skill| skill.newest.is_err()) => {
            "no other skill has a newer version".to_owned()
        }
        0 => "no skill has a newer version".to_owned(),
        _ => format!(
            "{} can be updated: {}",
            count(old, "skill"),
            scope.command("update")
        ),
    });
    note_project(run, &args.names, scope, "outdated")?;
    Ok(exit)
}

/// Mentions the project's skills when a command without names was about the user's only.
pub(super) fn note_project(
    run: &CliRun,
    names: &[String],
    scope: InstallScope,
    verb: &str,
) -> Result<(), Failure> {
    if !names.is_empty() || scope == InstallScope::Project {
        return Ok(());
    }
    let project = run.lock(InstallScope::Project)?.skills.len();
    if project > 0 {
        let skills = count(project, "skill");
        let command = InstallScope::Project.command(verb);
        run.output
            .note(&format!("the project has {skills}: {command}"));
    }
    Ok(())
}
