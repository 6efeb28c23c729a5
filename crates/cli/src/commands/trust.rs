//! `metier trust`

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
};

use metier::{
    text::ago,
    trusting::{TrustPreview, TrustedFolder},
};
use metier_wire::{TrustDocument, TrustRow};

use crate::{
    approver::confirmed,
    cli_run::CliRun,
    commands::list,
    failure::{Exit, Failure},
    output::{Tone, count, one_line},
};

/// Trust the skills of a project folder
///
/// Skills of a project stay blocked until its folder is trusted, because a freshly cloned
/// repository could contain anything. Trust covers the places of skills that are in the folder now, including those of folders in it and
/// those that its AGENT.md names: a place that appears later must be trusted again.
///
/// The skills are scanned first; you see them with their findings, and are asked. A skill that the scanner blocks stays blocked.
#[derive(clap::Args)]
pub(crate) struct TrustArgs {
    /// The folder [default: the project around the working directory]
    path: Option<PathBuf>,
    /// Stop trusting the folder
    #[arg(long)]
    revoke: bool,
    /// Don't ask for confirmation (for scripts)
    #[arg(long, short, conflicts_with_all = ["revoke", "list"])]
    yes: bool,
    /// List the trusted folders
    #[arg(long, conflicts_with_all = ["revoke", "path"])]
    list: bool,
}

pub(crate) fn run(run: &CliRun, args: &TrustArgs) -> Result<Exit, Failure> {
    let folder = args.path.as_deref();
    if args.list {
        return answer(run, "listed", None);
    }
    if args.revoke {
        let (folder, was_trusted) = run.distrust(folder)?;
        let action = if was_trusted { "revoked" } else { "unchanged" };
        return answer(run, action, Some(&folder));
    }
    let preview = run.preview_trust(folder)?;
    if preview.inventory().skills.is_empty() {
        let folder = preview.folder();
        let shown = one_line(&folder.to_string_lossy());
        run.output
            .note(&format!("there are no skills to trust in {shown}"));
        return match run.output.is_json() {
            true => answer(run, "unchanged", Some(folder)),
            false => Ok(Exit::Ok),
        };
    }
    agree(run, args, &preview)?;
    run.trust(&preview)?;
    answer(run, "trusted", Some(preview.folder()))
}

/// Shows what would be trusted with the findings, and asks.
fn agree(run: &CliRun, args: &TrustArgs, preview: &TrustPreview) -> Result<(), Failure> {
    let (output, inventory) = (&run.output, preview.inventory());
    let folder = preview.folder();
    let found = count(inventory.skills.len(), "skill");
    let blocked = inventory.counts().blocked;
    output.note(&format!(
        "{found} in {}:",
        one_line(&folder.to_string_lossy())
    ));
    let table = list::table(inventory, true, output);
    table.lines().for_each(|line| output.note(line));
    if args.yes {
        return Ok(());
    }
    let refused = |code, message: String| {
        Err(Failure::unmet(code, message)
            .path(folder)
            .hint("review them, then: metier trust --yes"))
    };
    let seen = io::stdin().is_terminal() && io::stderr().is_terminal();
    if output.is_json() || !output.is_attended() || !seen {
        let message = format!("trusting {found} needs confirmation, but there is no terminal");
        return refused("not-agreed", message);
    }
    let but = match blocked {
        0 => String::new(),
        _ => format!(" ({blocked} of them stay blocked)"),
    };
    match confirmed(&format!("Trust {found}{but}?"))? {
        true => Ok(()),
        false => refused("not-agreed", "nothing was trusted".to_owned()),
    }
}

fn answer(run: &CliRun, action: &'static str, folder: Option<&Path>) -> Result<Exit, Failure> {
    let trusted = run.trusted_folders()?;
    let folder = folder.map(|folder| folder.to_string_lossy().into_owned());
    if run.output.is_json() {
        let rows = trusted
            .into_iter()
            .map(|trusted: TrustedFolder| TrustRow {
                folder: trusted.folder.to_string_lossy().into_owned(),
                at: trusted.at,
            })
            .collect();
        run.output.document(&TrustDocument {
            action,
            folder,
            trusted: rows,
        })?;
        return Ok(Exit::Ok);
    }
    let mut out = String::new();
    match (action, folder) {
        ("trusted", Some(folder)) => {
            out.push_str(&format!(
                "{} {folder} and the skills in it are trusted now\n",
                run.output.paint("✓", Tone::Good)
            ));
        }
        ("revoked", Some(folder)) => out.push_str(&format!(
            "{} {folder} is no longer trusted\n",
            run.output.paint("✓", Tone::Good)
        )),
        ("unchanged", Some(folder)) => out.push_str(&format!("{folder} was not trusted\n")),
        _ => trusted.iter().for_each(|trusted| {
            out.push_str(&format!(
                "{}  trusted {}\n",
                trusted.folder.display(),
                ago(run.machine().now, &trusted.at)
            ));
        }),
    }
    run.output.report(&out)?;
    if action == "listed" && trusted.is_empty() {
        run.output.note("no folder is trusted");
    }
    if action == "trusted" {
        run.output.note("undo with `metier trust --revoke`");
    }
    Ok(Exit::Ok)
}
