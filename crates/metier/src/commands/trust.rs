//! `metier trust`

use std::{path::PathBuf, process::ExitCode};

use metier_store::Store;
use metier_wire::{TrustDocument, TrustRow};

use crate::{
    failure::Failure,
    machine,
    output::Tone,
    session::{Session, roots_to_trust},
};

/// Trust the skills of a project folder
///
/// Skills that come with a project stay blocked until its folder is trusted, because a freshly cloned
/// repository could hold anything. Trust counts for the places of skills that are in the folder now, those of folders in it and
/// those that its AGENT.md names included: a place that appears later has to be trusted again.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder [default: the project around the working directory]
    path: Option<PathBuf>,
    /// Trust it no longer
    #[arg(long)]
    revoke: bool,
    /// List the trusted folders
    #[arg(long, conflicts_with_all = ["revoke", "path"])]
    list: bool,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
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
    let store = Store::open(database)?;
    let action = if args.revoke {
        if store.revoke(&folder)? {
            "revoked"
        } else {
            "unchanged"
        }
    } else {
        let (roots, all) = roots_to_trust(&folder);
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

fn answer(
    session: &Session<'_>,
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
