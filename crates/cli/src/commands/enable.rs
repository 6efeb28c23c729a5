//! `metier enable` and `metier disable`

use metier::distribution::InstallScope;
use metier_wire::SwitchDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, one_line},
};

/// Enable skills that were disabled
///
/// Changes the user's configuration and keeps its comments; `metier undo` reverts it. With --project, the setting that disables the
/// skill is removed from the project's `.metier/config.toml`.
#[derive(clap::Args)]
pub(crate) struct EnableArgs {
    #[command(flatten)]
    which: SwitchArgs,
}

/// Disable skills without removing them
///
/// A disabled skill stays installed, but no model sees it. Changes the user's configuration and keeps its comments; `metier undo` reverts
/// it. With --project, the skill is disabled for everyone who works on the project, in its `.metier/config.toml`.
#[derive(clap::Args)]
pub(crate) struct DisableArgs {
    #[command(flatten)]
    which: SwitchArgs,
}

#[derive(clap::Args)]
struct SwitchArgs {
    /// The skills, by name, source:name or path
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// Change the project's configuration instead of yours
    #[arg(long)]
    project: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn enable(run: &CliRun, args: &EnableArgs) -> Result<Exit, Failure> {
    switch(run, &args.which, true)
}

pub(crate) fn disable(run: &CliRun, args: &DisableArgs) -> Result<Exit, Failure> {
    switch(run, &args.which, false)
}

fn switch(run: &CliRun, args: &SwitchArgs, enabled: bool) -> Result<Exit, Failure> {
    let scope = InstallScope::of_project(args.project);
    let report = run.switch_skills(&args.names, enabled, scope, args.dry_run)?;
    let output = &run.output;
    let (action, state) = match enabled {
        true => ("enable", "enabled"),
        false => ("disable", "disabled"),
    };
    if output.is_json() {
        output.document(&SwitchDocument::of(&report, action, args.dry_run))?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for skill in &report.skills {
        let name = one_line(&skill.name);
        let sign = output.paint("✓", Tone::Good);
        text.push_str(&match (skill.is_different, args.dry_run) {
            (true, true) => format!("{name} would be {state}\n"),
            (true, false) => format!("{sign} {name} is {state}\n"),
            (false, _) => format!("{name} is already {state}\n"),
        });
    }
    output.report(&text)?;
    if report.settings.change.is_some() {
        let file = output.path(&report.settings.file);
        output.note(&format!("wrote {file}; undo with `metier undo`"));
    }
    Ok(Exit::Ok)
}
