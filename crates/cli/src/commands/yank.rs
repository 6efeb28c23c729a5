//! `metier yank`

use metier_wire::YankDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::one_line,
};

/// Withdraw a version from a registry, without deleting it
///
/// A yanked version is no longer chosen. Installations that have locked it can still download it.
#[derive(clap::Args)]
pub(crate) struct YankArgs {
    /// The skill and its version, such as pdf@1.2.0
    #[arg(value_name = "NAME@VERSION")]
    version: String,
    /// The reason, shown to users who have it installed
    #[arg(long, required_unless_present = "undo")]
    reason: Option<String>,
    /// Make it available again
    #[arg(long, conflicts_with = "reason")]
    undo: bool,
    /// The registry [default: the first one of `skills.registry_url`]
    #[arg(long, value_name = "URL")]
    registry: Option<String>,
    /// Check the version and your token, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(run: &CliRun, args: &YankArgs) -> Result<Exit, Failure> {
    let Some((name, version)) = args.version.split_once('@') else {
        let message = format!("`{}` does not name a version", one_line(&args.version));
        return Err(Failure::broken("usage", message).hint("metier yank NAME@1.2.0 --reason TEXT"));
    };
    let reason = args.reason.as_deref();
    let output = &run.output;
    let registry = args.registry.as_deref();
    if args.dry_run {
        let (registry, found) = run.check_yanked(name, version, registry)?;
        if output.is_json() {
            output.document(&YankDocument::new(&registry, &found))?;
            return Ok(Exit::Ok);
        }
        let verb = match args.undo {
            true => "make available again",
            false => "yank",
        };
        let title = one_line(&format!("{} {}", found.name, found.version));
        output.report(&format!(
            "would {verb}: {title} in {}\n",
            one_line(&registry)
        ))?;
        return Ok(Exit::Ok);
    }
    let (registry, yanked) = run.set_yanked(name, version, reason, registry)?;
    if output.is_json() {
        output.document(&YankDocument::new(&registry, &yanked))?;
        return Ok(Exit::Ok);
    }
    let title = one_line(&format!("{} {}", yanked.name, yanked.version));
    let registry = one_line(&registry);
    output.report(&match &yanked.yanked {
        Some(reason) => format!("{title} is yanked in {registry}: {}\n", one_line(reason)),
        None => format!("{title} is available again in {registry}\n"),
    })?;
    Ok(Exit::Ok)
}
