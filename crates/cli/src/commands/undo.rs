//! `metier undo`

use metier::text::ago;
use metier_wire::ChangesDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, one_line},
};

/// Undo the last change to installed skills
///
/// Reverts the last `install`, `add`, `remove` or other change: files and lock files are restored byte for byte. Run again,
/// it undoes the change before that. A folder that something else has changed since is left alone.
#[derive(clap::Args)]
pub(crate) struct UndoArgs {
    /// List the changes that can be undone
    #[arg(long)]
    list: bool,
    /// Show what would be undone, and change nothing
    #[arg(long, conflicts_with = "list")]
    dry_run: bool,
}

pub(crate) fn run(run: &CliRun, args: &UndoArgs) -> Result<Exit, Failure> {
    let output = &run.output;
    let (action, changes) = match (args.list, args.dry_run) {
        (true, _) => ("listed", run.skill_changes()?),
        (false, true) => ("planned", vec![run.check_undo()?]),
        (false, false) => ("undone", vec![run.undo()?]),
    };
    if output.is_json() {
        output.document(&ChangesDocument {
            action,
            changes: changes.into_iter().map(Into::into).collect(),
        })?;
        return Ok(Exit::Ok);
    }
    if args.dry_run {
        let mut text = String::new();
        for change in &changes {
            text.push_str(&format!("would undo: {}\n", one_line(&change.title)));
            let places = change.places.iter();
            places.for_each(|place| text.push_str(&format!("  {}\n", output.path(place.as_ref()))));
        }
        return output.report(&text).map(|()| Exit::Ok);
    }
    if !args.list {
        let title = changes.first().map(|change| one_line(&change.title));
        let mark = output.paint("✓", Tone::Good);
        output.report(&format!("{mark} undone: {}\n", title.unwrap_or_default()))?;
        return Ok(Exit::Ok);
    }
    let mut text = String::new();
    for change in &changes {
        let when = ago(run.machine().now, &change.at);
        text.push_str(&format!(
            "{:>4}  {}  {}\n",
            change.id,
            one_line(&change.title),
            output.paint(&when, Tone::Faint)
        ));
    }
    output.report(&text)?;
    if changes.is_empty() {
        output.note("there is no change to undo");
    }
    Ok(Exit::Ok)
}
