//! `metier agent`

use std::process::ExitCode;

use metier_agent::{Cancel, Plan, Role, Turn, open};
use serde_json::json;

use crate::{
    agents::{self, Agents},
    failure::Failure,
    output::Output,
    session::Session,
    talk::{Format, Talk},
};

/// Let an agent do a task, with skills
///
/// The agent has the core tools (read, write, edit, glob, grep, shell), every skill that is ready, and sub-agents. `/name` and `$name` in the
/// task load a skill at once; others it loads when their description fits. Whatever a skill or a tool does needs permission: it
/// is asked for at the terminal, or approved before (`--approve-skills core-tools`).
///
/// The model is `agent.model`, or --model: anthropic/NAME, openai/NAME, ollama/NAME, or any server that speaks one of their formats
/// (`agent.base_url`).
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done
    #[arg(required = true)]
    task: Vec<String>,
    #[command(flatten)]
    how: How,
}

/// What agents have in common.
#[derive(clap::Args)]
pub(crate) struct How {
    /// The model, as provider/model
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How events are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let agents = Agents::new(session, &inventory);
    let talk = Talk::new(session.output, args.how.format);
    let shared = agents.shared(&talk, Cancel::new());
    let task = args.task.join(" ");
    let plan = Plan {
        role: role(session),
        model: args.how.model.clone(),
        skills: session.global.skills.clone(),
        title: task.clone(),
        ..Plan::default()
    };
    let (id, turn) = open(&agents, shared, plan, |session| {
        let turn = session.turn(&task)?;
        Ok((session.id().to_owned(), turn))
    })
    .map_err(agents::failure)?;
    finish(session.output, args.how.format, &id, &turn)?;
    Ok(ExitCode::SUCCESS)
}

/// Whether the agent that a person talks to may do something itself.
pub(crate) fn role(session: &Session<'_>) -> Role {
    if session.config.agent.orchestrator {
        Role::Orchestrator
    } else {
        Role::Primary
    }
}

/// The answer, where it was not told on the way.
pub(crate) fn finish(
    output: &Output,
    format: Format,
    id: &str,
    turn: &Turn,
) -> Result<(), Failure> {
    if output.is_json() && format == Format::Text {
        output.document(&json!({
            "session": id,
            "text": turn.text,
            "usage": { "input_tokens": turn.usage.input, "output_tokens": turn.usage.output },
        }))?;
    }
    Ok(())
}
