//! `metier verify`

use metier::distribution::{
    InstallDecision, InstallPlan, InstalledState, VerifiedSkill, card_text,
};
use metier_wire::VerifyDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// How many changed files of a skill are listed.
const MAX_FILES: usize = 50;

/// Compare installed skills with the lock file
///
/// Hashes every file of the skills that metier installed, and names those that differ from the lock. A skill that differs is
/// blocked: install it again, or keep your edit with --accept, which scans the skill and writes its new digest into the lock file.
#[derive(clap::Args)]
pub(crate) struct VerifyArgs {
    /// The skills [default: all that are installed]
    names: Vec<String>,
    /// Keep the files as they are now, and pin them
    #[arg(long, requires = "names")]
    accept: bool,
    /// Show what would be pinned, and change nothing
    #[arg(long, requires = "accept")]
    dry_run: bool,
}

pub(crate) fn run(run: &CliRun, args: &VerifyArgs) -> Result<Exit, Failure> {
    let output = &run.output;
    if args.accept {
        for name in &args.names {
            let plan = run.prepare_acceptance(name, None)?;
            if args.dry_run {
                show(output, &plan)?;
                continue;
            }
            let cards = plan.skills().iter();
            let decisions: Vec<_> = cards
                .map(|skill| InstallDecision::agree(&skill.card))
                .collect();
            plan.apply(&decisions)?;
        }
    }
    if args.dry_run && !output.is_json() {
        output.note("nothing was changed (--dry-run)");
        return Ok(Exit::Ok);
    }
    let found = run.verify_skills(&args.names, None)?;
    let unchanged = found
        .iter()
        .all(|skill| skill.state == InstalledState::Unchanged);
    if output.is_json() {
        output.document(&VerifyDocument {
            unchanged,
            skills: found.iter().map(Into::into).collect(),
        })?;
        return Ok(Exit::unmet_if(!unchanged));
    }
    let lines: String = found.iter().map(|skill| lines(output, skill)).collect();
    output.report(&lines)?;
    if found.is_empty() {
        output.note("metier installed no skills here");
    }
    Ok(Exit::unmet_if(!unchanged))
}

/// The cards of what would be pinned; with `--json` the document shows what differs.
fn show(output: &Output, plan: &InstallPlan) -> Result<(), Failure> {
    if output.is_json() {
        return Ok(());
    }
    for skill in plan.skills() {
        output.report(&card_text(&skill.card, &|text, tone| {
            output.paint(text, tone)
        }))?;
    }
    Ok(())
}

fn lines(output: &Output, skill: &VerifiedSkill) -> String {
    let name = one_line(&skill.name);
    let source = output.paint(
        &format!("from {}", one_line(&skill.locked.source)),
        Tone::Faint,
    );
    let bad = output.paint("✗", Tone::Bad);
    match &skill.state {
        InstalledState::Unchanged => {
            format!("{} {name}  {source}\n", output.paint("✓", Tone::Good))
        }
        InstalledState::Missing => {
            format!("{bad} {name} is missing in {}\n", one_line(&skill.place))
        }
        InstalledState::Unreadable(why) => {
            format!("{bad} {name} can't be read: {}\n", one_line(why))
        }
        InstalledState::Changed(None) => {
            format!("{bad} {name} was changed; its original files are not kept\n")
        }
        InstalledState::Changed(Some(files)) => {
            let kinds = [
                ("changed", &files.changed),
                ("added", &files.added),
                ("removed", &files.removed),
            ];
            let number = kinds.iter().map(|(_, files)| files.len()).sum();
            let mut text = format!(
                "{bad} {name}: {} {} from the lock\n",
                count(number, "file"),
                if number == 1 { "differs" } else { "differ" }
            );
            let all = kinds
                .iter()
                .flat_map(|(kind, files)| files.iter().map(move |file| (kind, file)));
            for (kind, file) in all.take(MAX_FILES) {
                text.push_str(&format!("    {kind} {}\n", one_line(file)));
            }
            if number > MAX_FILES {
                text.push_str(&format!("    … and {} more\n", number - MAX_FILES));
            }
            text
        }
    }
}
