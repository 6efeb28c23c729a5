//! `metier trust`

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
};

use metier::roots_to_trust;
use metier_catalog::Root;
use metier_model::Source;
use metier_store::{Store, TrustedRoot};
use metier_wire::{TrustDocument, TrustRow};

use crate::{
    approver::confirmed,
    commands::list,
    failure::Failure,
    machine,
    output::{Tone, count, one_line},
    session::Session,
};

/// Trust the skills of a project folder
///
/// Skills that come with a project stay blocked until its folder is trusted, because a freshly cloned
/// repository could hold anything. Trust counts for the places of skills that are in the folder now, those of folders in it and
/// those that its AGENT.md names included: a place that appears later has to be trusted again.
///
/// The skills are scanned first; you see them and what was found, and are asked. A skill that the scanner blocks stays blocked.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder [default: the project around the working directory]
    path: Option<PathBuf>,
    /// Trust it no longer
    #[arg(long)]
    revoke: bool,
    /// Don't ask, as in scripts
    #[arg(long, short, conflicts_with_all = ["revoke", "list"])]
    yes: bool,
    /// List the trusted folders
    #[arg(long, conflicts_with_all = ["revoke", "path"])]
    list: bool,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let database = session.machine.database.as_ref().ok_or_else(|| {
        Failure::broken("store", "there is no home directory to remember trust in")
            .hint("set METIER_HOME to a folder")
    })?;
    if args.list {
        let store = Store::open_existing(database)?;
        return answer(session, store.as_ref(), "listed", None);
    }
    let given = args.path.as_ref().map_or_else(
        || session.machine.project.clone(),
        |path| session.machine.work.join(path),
    );
    let folder = match given.canonicalize() {
        Ok(folder) if folder.is_dir() || args.revoke => folder,
        Ok(_) => {
            let message = format!("`{}` can't be trusted: it is not a folder", given.display());
            return Err(Failure::unmet("not-a-folder", message).hint("name the folder it is in"));
        }
        // What is gone can still be forgotten.
        Err(_) if args.revoke => given,
        Err(error) => {
            return Err(Failure::unmet(
                "not-found",
                format!("`{}` can't be trusted: {error}", given.display()),
            )
            .path(&given)
            .hint("name a folder that exists"));
        }
    };
    let home = session.machine.home.as_ref();
    let home = home.and_then(|home| home.canonicalize().ok());
    if args.path.is_none() && !args.revoke && home.is_some_and(|home| home.starts_with(&folder)) {
        let message = "this would trust every project in your home directory";
        return Err(Failure::unmet("too-wide", message)
            .path(&folder)
            .hint("cd into the project, or name the folder: metier trust DIR"));
    }
    let (roots, all) = match args.revoke {
        true => (Vec::new(), true),
        false => roots_to_trust(&folder),
    };
    if !args.revoke {
        agree(session, args, &folder, &roots)?;
    }
    let store = Store::open(database)?;
    let action = if args.revoke {
        if store.revoke(&folder)? {
            "revoked"
        } else {
            "unchanged"
        }
    } else {
        store.trust_roots(&folder, &roots, &machine::timestamp(session.machine.now))?;
        if !all {
            session.output.note(
                "not all folders in it were looked at; run `metier trust` in those whose skills stay blocked",
            );
        }
        "trusted"
    };
    answer(
        session,
        Some(&store),
        action,
        Some(folder.to_string_lossy().into_owned()),
    )
}

/// Scans what would be trusted, shows it with what was found, and asks.
fn agree(
    session: &Session,
    args: &Args,
    folder: &Path,
    roots: &[TrustedRoot],
) -> Result<(), Failure> {
    let output = &session.output;
    let roots = roots.iter().map(|root| Root {
        trusted: true,
        ..Root::usual(Source::Project, folder.join(&root.root))
    });
    let mut inventory = session.examine(roots.collect(), session.mode());
    // The rules of skills that are not trusted yet don't count.
    let usual = session.catalog()?;
    let screening = session.screening(&usual);
    screening.check_rules()?;
    screening.look_at_all(&mut inventory);
    let found = count(inventory.skills.len(), "skill");
    let blocked = inventory.counts().blocked;
    output.note(&format!(
        "{found} in {}:",
        one_line(&folder.to_string_lossy())
    ));
    let table = list::table(&inventory, true, output);
    table.lines().for_each(|line| output.note(line));
    if args.yes {
        return Ok(());
    }
    let refused = |code, message: String| {
        Err(Failure::unmet(code, message)
            .path(folder)
            .hint("look at them, then: metier trust --yes"))
    };
    let seen = io::stdin().is_terminal() && io::stderr().is_terminal();
    if output.is_json() || !output.is_attended() || !seen {
        let message = format!("{found} would be trusted, and there is no terminal to ask at");
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

fn answer(
    session: &Session,
    store: Option<&Store>,
    action: &'static str,
    folder: Option<String>,
) -> Result<ExitCode, Failure> {
    let trusted = store.map_or(Ok(Vec::new()), Store::trusted)?;
    if session.output.is_json() {
        let rows = trusted
            .into_iter()
            .map(|trusted| TrustRow {
                folder: trusted.folder.to_string_lossy().into_owned(),
                at: trusted.at,
            })
            .collect();
        session.output.document(&TrustDocument {
            action,
            folder,
            trusted: rows,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = String::new();
    match (action, folder) {
        ("trusted", Some(folder)) => {
            out.push_str(&format!(
                "{} {folder} and the skills in it are trusted now\n",
                session.output.paint("✓", Tone::Good)
            ));
        }
        ("revoked", Some(folder)) => out.push_str(&format!(
            "{} {folder} is not trusted any more\n",
            session.output.paint("✓", Tone::Good)
        )),
        ("unchanged", Some(folder)) => out.push_str(&format!("{folder} was not on the list\n")),
        _ => trusted.iter().for_each(|trusted| {
            out.push_str(&format!(
                "{}  trusted {}\n",
                trusted.folder.display(),
                machine::ago(session.machine.now, &trusted.at)
            ));
        }),
    }
    session.output.report(&out)?;
    if action == "listed" && trusted.is_empty() {
        session.output.note("no folder is trusted");
    }
    if action == "trusted" {
        session
            .output
            .note("take it back with `metier trust --revoke`");
    }
    Ok(ExitCode::SUCCESS)
}
