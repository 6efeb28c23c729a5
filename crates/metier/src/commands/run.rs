//! `metier run`

use std::process::ExitCode;

use metier_model::SkillType;
use metier_runtime::render::Arguments;
use serde_json::json;

use crate::{
    active,
    commands::{
        call, find_usable,
        show::{self, How},
    },
    failure::Failure,
    session::Session,
};

/// Run a skill
///
/// A skill with a workflow runs it: the arguments are its input, what it prints is its answer, and everything that it does needs the
/// permissions that were approved for it. For any other skill, --dry-run prints what a model would be given: its text with
/// the arguments in their places and its commands run, as far as they are permitted. This version has no agent of its own: give
/// that prompt to yours, or let it ask for skills by `metier mcp`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill
    name: String,
    /// Its arguments
    arguments: Vec<String>,
    /// Which of its workflows, if it has several
    #[arg(long)]
    workflow: Option<String>,
    /// Print the prompt, and run nothing with it
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let entry = inventory.entry(find_usable(session, &inventory, &args.name)?);
    let is_workflow = entry
        .card
        .as_ref()
        .is_some_and(|card| card.types.contains(SkillType::Workflow) && card.backend.is_some());
    if is_workflow && !args.dry_run {
        let name = entry.name().into_owned();
        let input = json!({ "arguments": args.arguments, "text": args.arguments.join(" ") });
        let called = active::with(session, &inventory, &[&args.name], |runtime| {
            runtime
                .run(&name, args.workflow.as_deref(), &input)
                .map_err(|error| active::failed(&error))
        })?;
        return call::print(session, called);
    }
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
