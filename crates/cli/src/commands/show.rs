//! `metier show`

use metier::ShowOptions;
use metier_wire::ShowDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
};

/// Show a skill as a model would get it when it is activated
///
/// Arguments replace `$ARGUMENTS`, `$0`, `$name` and so on; those without a placeholder are added at
/// the end. Arguments that could be taken for flags follow `--`.
#[derive(clap::Args)]
pub(crate) struct ShowArgs {
    /// The skill
    name: String,
    /// Its arguments
    arguments: Vec<String>,
    /// Print only the body
    #[arg(long)]
    raw: bool,
    /// Print commands such as `!git log` as they are written
    #[arg(long)]
    no_exec: bool,
}

pub(crate) fn run(run: &CliRun, args: &ShowArgs) -> Result<Exit, Failure> {
    let how = ShowOptions {
        raw: args.raw,
        no_exec: args.no_exec,
    };
    let shown = run.render_with(&args.name, args.arguments.iter().cloned(), how)?;
    let document = ShowDocument::from(shown);
    if run.output.is_json() {
        run.output.document(&document)?;
    } else {
        run.output.content(&document.content)?;
    }
    Ok(Exit::Ok)
}
