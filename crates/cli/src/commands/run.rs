//! `metier run`

use std::{borrow::Cow, process::ExitCode, sync::Arc};

use metier::ShowOptions;
use metier_agent::{Ground, Plan, Report};
use metier_catalog::Entry;
use metier_model::{Card, text::shell_word};
use metier_runtime::{Inventory, Skill, live::workflow_input, render::Arguments};
use metier_select::mentions;

use crate::{
    active::{self, Stage},
    agents::{self, Agents},
    commands::{agent, call, show, usable, warn_of_version},
    failure::Failure,
    interrupt,
    session::Session,
    talk::Talk,
};

/// Run a skill
///
/// The name is that of a skill, or of a workflow in one. A skill with a workflow runs it: the arguments are its input, what it returns is printed, and everything that it does needs the
/// permissions that were approved for it; asking a model is one of them. Any other skill is followed by an agent: `metier run review-pr
/// 123` is what `/review-pr 123` is in `metier chat`, with the model of `metier agent`. --dry-run prints what a model would be
/// given: the skill's text with the arguments in their places and its commands run, as far as they are permitted.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill, or one of its workflows
    name: String,
    /// Its arguments
    arguments: Vec<String>,
    /// Which of its workflows, if it has several
    #[arg(long)]
    workflow: Option<String>,
    /// Print what a model would be given, and ask none
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    situation: agent::InMode,
    #[command(flatten)]
    how: agent::How,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = Arc::new(session.agent_inventory()?);
    let (skill, workflow) = meant(session, &inventory, args)?;
    let entry = inventory.entry(skill);
    let is_workflow = entry.card.as_ref().is_some_and(Card::runs_workflow);
    if args.dry_run || is_workflow {
        warn_of_version(session, entry);
    }
    if args.dry_run {
        return print(session, &inventory, entry, args);
    }
    let talk = Talk::new(&session.output, args.how.format);
    let agents = Agents::new(session, &inventory, interrupt::listen()?, talk.screen());
    if is_workflow {
        return run_workflow(session, &agents, &talk, entry, workflow, args);
    }
    let said = invocation(&inventory, entry, &args.arguments)?;
    let plan = Plan {
        role: agent::role(session, false),
        model: args.how.model.clone(),
        skills: session.global.skills.clone(),
        mode: args.situation.mode(session),
        ..Plan::about(&said)
    };
    agent::work(session, &agents, &talk, plan, |session| session.turn(&said))
}

/// The skill of the name that was typed, or else the one that has a workflow of that name.
fn meant<'i, 'a>(
    session: &Session,
    inventory: &'i Inventory,
    args: &'a Args,
) -> Result<(&'i Skill, Option<&'a str>), Failure> {
    let unknown = match usable(session, inventory, &args.name) {
        Err(failure) if inventory.find(&args.name).is_err() => failure,
        found => return Ok((found?, args.workflow.as_deref())),
    };
    let owners = inventory.workflow(&args.name, session.config.limits.max_skill_bytes);
    match owners.as_slice() {
        [] => Err(unknown),
        [skill] => Ok((skill, Some(&args.name))),
        several => {
            let names = several.iter().map(|skill| inventory.entry(skill).name());
            let names: Vec<_> = names.collect();
            let (name, all) = (shell_word(&args.name), names.join(", "));
            let message = format!("several skills have a workflow `{}`: {all}", args.name);
            let hint = format!("metier run {} --workflow {name}", shell_word(&names[0]));
            Err(Failure::unmet("which-workflow", message).hint(hint))
        }
    }
}

/// Runs the handler of a workflow, with a model for whatever it asks.
fn run_workflow(
    session: &Session,
    agents: &Arc<Agents>,
    talk: &Talk,
    entry: &Entry,
    workflow: Option<&str>,
    args: &Args,
) -> Result<ExitCode, Failure> {
    let name = entry.name().into_owned();
    if !talk.is_for_people() {
        let message = format!("`{name}` is a workflow: its code runs, and no agent tells events");
        return Err(Failure::broken("usage", message)
            .skill(name)
            .hint("--json prints what it returns, with its receipts"));
    }
    let input = workflow_input(&args.arguments, &args.arguments.join(" "));
    let voice = agents.voice(args.how.model.as_deref());
    let voice = voice.map_err(agents::failure)?;
    let stage = Stage {
        model: Some(Arc::new(voice)),
        stop: Some(agents.cancel().flag()),
        ..Stage::default()
    };
    let others = session.global.skills.iter().map(String::as_str);
    let place = entry.place.path().to_string_lossy().into_owned();
    let names: Vec<&str> = others.chain([place.as_str()]).collect();
    let mut stopped = false;
    let called = active::on(session, agents.inventory(), &names, stage, |runtime| {
        let called = runtime.run(&name, workflow, &input);
        stopped = called.is_err() && agents.cancel().is_cancelled();
        agents.cancel().clear();
        call::told(session, called)
    });
    if stopped {
        talk.screen().stopped();
        let message = format!("workflow `{name}` was stopped by Ctrl-C");
        let hint = format!("metier log {} shows what it did", shell_word(&name));
        return Err(Failure::interrupted(message).skill(name).hint(hint));
    }
    call::print(session, &called?)
}

/// What somebody would type in a chat.
fn invocation(
    inventory: &Inventory,
    entry: &Entry,
    arguments: &[String],
) -> Result<String, Failure> {
    let name = entry.name();
    let is_meant = |word: &str| {
        let found = inventory.find(word).ok();
        found.is_some_and(|skill| std::ptr::eq(inventory.entry(skill), entry))
    };
    let words = [
        name.to_string(),
        format!("{}:{name}", entry.source.as_str()),
    ];
    let said = words.iter().find(|word| is_meant(word)).map(|word| {
        let arguments = arguments.iter().map(|argument| quoted(argument));
        let words = [format!("/{word}").into()].into_iter().chain(arguments);
        (word, words.collect::<Vec<Cow<'_, str>>>().join(" "))
    });
    match said {
        Some((word, said))
            if mentions(&said)
                .first()
                .is_some_and(|first| first.name == word) =>
        {
            Ok(said)
        }
        _ => Err(agents::failure(
            Report::new(
                "not-callable",
                format!("skill `{name}` has a name that can't be called with `/`"),
            )
            .skill(name.as_ref())
            .hint(format!(
                "metier run {} --dry-run prints what a model would be given",
                shell_word(&name)
            )),
        )),
    }
}

/// An argument as one word of a line: blanks and quotes in it stay what they are.
fn quoted(argument: &str) -> Cow<'_, str> {
    let separates = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\');
    if !argument.is_empty() && !argument.contains(separates) {
        Cow::Borrowed(argument)
    } else if argument.contains('\'') {
        let argument = argument.replace('\\', "\\\\").replace('"', "\\\"");
        Cow::Owned(format!("\"{argument}\""))
    } else {
        Cow::Owned(format!("'{argument}'"))
    }
}

/// What a model would be given.
fn print(
    session: &Session,
    inventory: &Inventory,
    entry: &Entry,
    args: &Args,
) -> Result<ExitCode, Failure> {
    let arguments = Arguments::from_words(&args.arguments);
    let how = ShowOptions::default();
    let document = show::document(session.show(inventory, entry, &arguments, how)?);
    if session.output.is_json() {
        session.output.document(&document)?;
    } else {
        session.output.content(&document.content)?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_stays_one_word() {
        for argument in [
            "123",
            "build a game",
            "it's",
            "say \"hi\"",
            "it's \"so\"",
            "a\\b",
            "",
            "x\ty",
        ] {
            let words = metier_model::template::split_arguments(&quoted(argument));
            assert_eq!(words, [argument], "{}", quoted(argument));
        }
    }
}
