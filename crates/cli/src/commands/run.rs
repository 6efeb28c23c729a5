//! `metier run`

use std::sync::Arc;

use metier::{
    Runnable, SessionOptions, Skill, Skills,
    agent::{ConversationOptions, EventListener},
    text::shell_word,
    workflow_input,
};
use metier_wire::ShowDocument;

use crate::{
    cli_run::CliRun,
    commands::{
        agent::{self, AgentTerminal},
        call,
    },
    failure::{Exit, Failure},
};

/// Run a skill
///
/// NAME is a skill, or a workflow in one. A skill with a workflow runs it: the arguments are its input, its result is printed, and everything that it does needs the
/// permissions that were approved for it; asking a model is one of them. Any other skill is carried out by an agent: `metier run review-pr
/// 123` does what `/review-pr 123` does in `metier chat`, with the model of `metier agent`. --dry-run prints the prompt that a model would
/// get: the skill's instructions with their arguments, after the commands in them have run, if they are permitted.
#[derive(clap::Args)]
pub(crate) struct RunArgs {
    /// The skill, or one of its workflows
    name: String,
    /// Its arguments
    arguments: Vec<String>,
    /// The workflow to run, if the skill has several
    #[arg(long)]
    workflow: Option<String>,
    /// Print the prompt that a model would get, without asking one
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    situation: agent::InMode,
    #[command(flatten)]
    how: agent::How,
}

pub(crate) fn run(run: &CliRun, args: &RunArgs) -> Result<Exit, Failure> {
    let skills = run.agent_skills()?;
    let found = run.find_runnable(&skills, &args.name)?;
    if args.dry_run {
        return print(run, found.skill, args);
    }
    let terminal = AgentTerminal::open(run, args.how.format)?;
    if found.is_workflow {
        return run_workflow(run, &terminal, &skills, &found, args);
    }
    let task = found.skill.invocation(&args.arguments)?;
    let options = ConversationOptions {
        role: agent::role(false),
        model: args.how.model.clone(),
        skills: run.global.skills.clone(),
        mode: args.situation.mode(run),
        ..terminal.options(run, &task)
    };
    agent::work(run, &terminal, &skills, options, &task)
}

/// Runs the handler of a workflow, with a model that it can ask.
fn run_workflow(
    run: &CliRun,
    terminal: &AgentTerminal,
    skills: &Skills,
    found: &Runnable<'_>,
    args: &RunArgs,
) -> Result<Exit, Failure> {
    let (talk, cancel) = (&terminal.talk, &terminal.cancel);
    let name = found.skill.name().into_owned();
    if !talk.is_for_people() {
        let message = format!("`{name}` is a workflow and produces no events");
        return Err(Failure::broken("usage", message)
            .skill(name)
            .hint("--json prints what it returns, with its receipts"));
    }
    let input = workflow_input(&args.arguments, &args.arguments.join(" "));
    let listener = Arc::clone(talk) as Arc<dyn EventListener>;
    let model = run.skill_model(skills, args.how.model.as_deref(), &listener, cancel)?;
    let options = SessionOptions {
        model: Some(model),
        stop: Some(cancel.flag()),
        ..SessionOptions::default()
    };
    let mut live = run.session(skills, options)?;
    let place = found.skill.path().to_string_lossy().into_owned();
    for skill in run.global.skills.iter().chain([&place]) {
        live.activate(skill)?;
    }
    let workflow = found.workflow.as_deref().or(args.workflow.as_deref());
    let called = live.run(&name, workflow, &input);
    let stopped = called.is_err() && cancel.is_cancelled();
    cancel.clear();
    let ended = live.end();
    if stopped {
        talk.screen().stopped();
        let message = format!("workflow `{name}` was stopped by Ctrl-C");
        let hint = format!("metier log {} shows what it did", shell_word(&name));
        return Err(Failure::interrupted(message).skill(name).hint(hint));
    }
    let called = called?;
    ended?;
    call::print(run, &called)
}

/// Prints the text that a model would get.
fn print(run: &CliRun, skill: Skill<'_>, args: &RunArgs) -> Result<Exit, Failure> {
    let arguments = args.arguments.iter().cloned();
    let shown = run.render(&skill.path().to_string_lossy(), arguments)?;
    let document = ShowDocument::from(shown);
    if run.output.is_json() {
        run.output.document(&document)?;
    } else {
        run.output.content(&document.content)?;
    }
    Ok(Exit::Ok)
}
