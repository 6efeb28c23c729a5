//! `metier remove`

use std::io::{self, IsTerminal};

use metier::distribution::{InstallScope, RemovedSkill};
use metier_wire::RemoveDocument;

use crate::{
    approver::confirmed,
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, count, one_line},
};

/// Remove installed skills, or restore a removed one
///
/// Removes skills that `metier install` or `metier add` placed, from their folders and from the lock. What is removed is kept:
/// `metier undo` reverts the last change, `metier remove --restore NAME` restores one skill.
#[derive(clap::Args)]
pub(crate) struct RemoveArgs {
    /// The skills
    #[arg(required = true)]
    names: Vec<String>,
    /// Only the user's skills
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// Only the project's skills
    #[arg(long)]
    project: bool,
    /// Restore removed skills
    #[arg(long)]
    restore: bool,
    /// Show what would be removed or restored, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Don't ask for confirmation (for scripts)
    #[arg(long, short)]
    yes: bool,
}

pub(crate) fn run(run: &CliRun, args: &RemoveArgs) -> Result<Exit, Failure> {
    let scope = match (args.user, args.project) {
        (true, _) => Some(InstallScope::User),
        (_, true) => Some(InstallScope::Project),
        _ => None,
    };
    if args.restore {
        let mut restored = Vec::new();
        for name in &args.names {
            restored.push(match args.dry_run {
                true => run.check_restore(name, scope)?,
                false => run.restore(name, scope)?,
            });
        }
        return answer(run, "restored", args.dry_run, &restored);
    }
    let skills = run.installed_skills(&args.names, scope)?;
    if args.dry_run {
        return answer(run, "removed", true, &skills);
    }
    agree(run, args, &skills)?;
    run.remove(&skills)?;
    answer(run, "removed", false, &skills)
}

/// Removing can be undone, so it is asked about only on a terminal.
fn agree(run: &CliRun, args: &RemoveArgs, skills: &[RemovedSkill]) -> Result<(), Failure> {
    let output = &run.output;
    let is_seen = io::stdin().is_terminal() && io::stderr().is_terminal();
    if args.yes || output.is_json() || !output.is_attended() || !is_seen {
        return Ok(());
    }
    for skill in skills {
        output.note(&format!(
            "  {}  {}",
            one_line(&skill.name),
            one_line(&skill.place)
        ));
    }
    match confirmed(&format!("Remove {}?", count(skills.len(), "skill")))? {
        true => Ok(()),
        false => Err(Failure::unmet("not-agreed", "nothing was removed")),
    }
}

fn answer(
    run: &CliRun,
    action: &'static str,
    dry_run: bool,
    skills: &[RemovedSkill],
) -> Result<Exit, Failure> {
    let output = &run.output;
    if output.is_json() {
        output.document(&RemoveDocument {
            action,
            dry_run,
            skills: skills.iter().map(Into::into).collect(),
        })?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for skill in skills {
        let (name, place) = (one_line(&skill.name), one_line(&skill.place));
        let mark = output.paint("✓", Tone::Good);
        text.push_str(&match (dry_run, action) {
            (true, "restored") => format!("would restore {name} in {place}\n"),
            (true, _) => format!("would remove {name} from {place}\n"),
            (_, "restored") => format!("{mark} {name} is restored in {place}\n"),
            _ => format!("{mark} {name} is removed from {place}\n"),
        });
    }
    output.report(&text)?;
    if !dry_run {
        output.note("undo with `metier undo`");
    }
    Ok(Exit::Ok)
}
