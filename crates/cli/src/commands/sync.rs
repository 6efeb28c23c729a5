//! `metier sync`

use std::io::{self, IsTerminal};

use metier::{
    distribution::{InstallScope, SyncAction, SyncOptions, SyncReport, SyncedPlace},
    skill::KnownAgent,
};
use metier_wire::SyncDocument;
use serde_json::json;

use crate::{
    approver::confirmed,
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, one_line},
};

/// Put installed skills into the folders of other agents
///
/// Each agent gets a link to the skill's own folder, or a copy with --copy. The lock file records it, so that later updates and removals
/// change these places too. Anything that metier did not put there is never changed. Without --to, the agents in `skills.sync.to` are used,
/// then those that were named before, then, on a terminal, those that are on this machine.
#[derive(clap::Args)]
pub(crate) struct SyncArgs {
    /// The skills [default: all installed ones]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The agents, such as claude-code, codex or cursor
    #[arg(long, value_name = "AGENT,…", value_delimiter = ',')]
    to: Vec<String>,
    /// Copy the skills instead of linking to them
    #[arg(long, conflicts_with = "remove")]
    copy: bool,
    /// Remove the skills from these folders
    #[arg(long)]
    remove: bool,
    /// The project's skills instead of yours
    #[arg(long)]
    project: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// List the known agents and their folders
    #[arg(long, conflicts_with_all = ["names", "to", "copy", "remove"])]
    agents: bool,
}

pub(crate) fn run(run: &CliRun, args: &SyncArgs) -> Result<Exit, Failure> {
    let scope = InstallScope::of_project(args.project);
    if args.agents {
        return list_agents(run, scope);
    }
    let mut options = SyncOptions {
        scope,
        names: args.names.clone(),
        to: args.to.clone(),
        copy: args.copy,
        remove: args.remove,
        dry_run: args.dry_run,
    };
    let report = match run.sync(&options) {
        Err(failure) if failure.code() == "no-agents" => {
            options.to = chosen_agents(run, scope).ok_or(failure)?;
            run.sync(&options)?
        }
        report => report?,
    };
    answer(run, args, &report)
}

/// The agents on this machine, if the user confirms them.
fn chosen_agents(run: &CliRun, scope: InstallScope) -> Option<Vec<String>> {
    let output = &run.output;
    let seen = io::stdin().is_terminal() && io::stderr().is_terminal();
    let present = run.present_agents(scope);
    if output.is_json() || !output.is_attended() || !seen || present.is_empty() {
        return None;
    }
    let question = format!(
        "Put the installed skills into the folders of {}?",
        present.join(", ")
    );
    let is_yes = confirmed(&question).unwrap_or(false);
    is_yes.then(|| present.iter().map(|name| (*name).to_owned()).collect())
}

fn list_agents(run: &CliRun, scope: InstallScope) -> Result<Exit, Failure> {
    let output = &run.output;
    let present = run.present_agents(scope);
    let folder = |agent: &KnownAgent| match scope {
        InstallScope::User => agent.user.map(|folder| format!("~/{folder}")),
        InstallScope::Project => agent.project.map(str::to_owned),
    };
    let rows = KnownAgent::all().filter_map(|agent| Some((agent, folder(agent)?)));
    if output.is_json() {
        let rows = rows.map(|(agent, folder)| {
            let present = present.contains(&agent.name);
            json!({ "name": agent.name, "aliases": agent.aliases, "folder": folder, "present": present })
        });
        output.document(&json!({ "agents": rows.collect::<Vec<_>>() }))?;
        return Ok(Exit::Ok);
    }
    let lines = rows.map(|(agent, folder)| {
        let sign = match present.contains(&agent.name) {
            true => output.paint("✓", Tone::Good),
            false => " ".to_owned(),
        };
        let others = match agent.aliases {
            [] => String::new(),
            aliases => format!("  also {}", aliases.join(", ")),
        };
        format!("{sign} {:<16} {folder}{others}\n", agent.name)
    });
    output.report(&lines.collect::<String>())?;
    Ok(Exit::Ok)
}

fn answer(run: &CliRun, args: &SyncArgs, report: &SyncReport) -> Result<Exit, Failure> {
    let output = &run.output;
    let is_left = |place: &&SyncedPlace| matches!(place.action, SyncAction::Leave(_));
    let exit = Exit::unmet_if(report.places.iter().any(|place| is_left(&place)));
    if output.is_json() {
        output.document(&SyncDocument::of(report, args.dry_run))?;
        return Ok(exit);
    }
    let mut text = String::new();
    for place in &report.places {
        let (skill, agent) = (one_line(&place.skill), one_line(&place.agent));
        let path = output.path(&place.place);
        let good = output.paint("✓", Tone::Good);
        let sign = if args.dry_run { " ".to_owned() } else { good };
        text.push_str(&match &place.action {
            SyncAction::Link => format!("{sign} {skill} → {agent}: link {path}\n"),
            SyncAction::Copy => format!("{sign} {skill} → {agent}: copy {path}\n"),
            SyncAction::Remove if args.dry_run => {
                format!("{sign} {skill} → {agent}: remove {path}\n")
            }
            SyncAction::Remove => format!("{sign} {skill} → {agent}: removed {path}\n"),
            SyncAction::Keep => format!("  {skill} → {agent}: nothing to do\n"),
            SyncAction::Shared => format!("  {skill} → {agent}: reads the skill's own folder\n"),
            SyncAction::Leave(what) => {
                let bad = output.paint("✗", Tone::Bad);
                format!("{bad} {skill} → {agent}: {path} is {what}; left unchanged\n")
            }
        });
    }
    output.report(&text)?;
    if report.places.is_empty() {
        output.note("no installed skills to sync");
    }
    if args.dry_run {
        output.note("nothing was changed");
    } else if report.change.is_some() {
        output.note("undo with `metier undo`");
    }
    Ok(exit)
}
