//! `metier run`

use std::process::ExitCode;

use metier_runtime::render::Arguments;

use crate::{
    commands::{
        find_usable,
        show::{self, How},
    },
    failure::Failure,
    session::Session,
};

/// Run a skill
///
/// --dry-run prints what a model would be given: the skill with its arguments in their places and its commands run, as far as they
/// are permitted. This version has no agent of its own: give the prompt to yours, or let it ask for skills by `metier mcp`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill
    name: String,
    /// Its arguments
    arguments: Vec<String>,
    /// Print the prompt, and run nothing with it
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let entry = inventory.entry(find_usable(session, &inventory, &args.name)?);
    if !args.dry_run {
        let word = metier_model::text::shell_word(&args.name).into_owned();
        return Err(Failure::unmet(
            "no-agent",
            "this version has no agent that could follow a skill",
        )
        .skill(entry.name())
        .hint(format!(
            "metier run {word} --dry-run prints what a model would be given"
        )));
    }
    let arguments = Arguments::from_words(&args.arguments);
    let document = show::document(session, &inventory, entry, &arguments, How::default())?;
    if session.output.is_json() {
        session.output.document(&document)?;
    } else {
        session.output.content(&document.content)?;
    }
    Ok(ExitCode::SUCCESS)
}
