//! `metier rollback`

use metier::distribution::{InstallScope, StoredRevision};
use serde_json::json;

use super::update::{Carrying, UpdateHow, carry_out};
use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    interrupt,
    output::{Tone, one_line},
};

/// Roll a skill back to an earlier version
///
/// Without a version, rolls back to the one before the current one. The bytes of every installed state are kept, and are scanned again with today's rules;
/// permissions that were approved for them are still valid. Nothing is fetched. --list shows the states.
#[derive(clap::Args)]
pub(crate) struct RollbackArgs {
    /// The skill
    name: String,
    /// A version, or the first characters of a digest
    #[arg(value_name = "VERSION")]
    to: Option<String>,
    /// List the states that are kept
    #[arg(long, conflicts_with = "to")]
    list: bool,
    /// The project's skill instead of yours
    #[arg(long)]
    project: bool,
    #[command(flatten)]
    how: UpdateHow,
}

pub(crate) fn run(run: &CliRun, args: &RollbackArgs) -> Result<Exit, Failure> {
    let scope = InstallScope::of_project(args.project);
    if args.list {
        return list(run, &run.kept_revisions(&args.name, scope)?);
    }
    let plan = run.prepare_rollback(&args.name, args.to.as_deref(), scope, args.how.edits())?;
    let cancel = interrupt::listen_with(run.stop())?;
    let carrying = Carrying {
        how: &args.how,
        cancel: &cancel,
        accept_signer: true,
        asks: false,
        done: "rolled back",
    };
    carry_out(run, plan, &carrying)
}

fn list(run: &CliRun, kept: &[StoredRevision]) -> Result<Exit, Failure> {
    let output = &run.output;
    if output.is_json() {
        let rows = kept.iter().map(|kept| {
            json!({
                "version": kept.revision.version, "digest": kept.revision.digest.to_string(), "current": kept.is_current,
            })
        });
        output.document(&json!({ "revisions": rows.collect::<Vec<_>>() }))?;
        return Ok(Exit::Ok);
    }
    let lines = kept.iter().map(|kept| {
        let sign = match kept.is_current {
            true => output.paint("✓", Tone::Good),
            false => " ".to_owned(),
        };
        let version = kept.revision.version.as_deref().unwrap_or("no version");
        let digest = kept.revision.digest.to_string();
        let digest: String = digest.chars().skip(7).take(12).collect();
        format!("{sign} {digest}  {}\n", one_line(version))
    });
    output.report(&lines.collect::<String>())?;
    Ok(Exit::Ok)
}
