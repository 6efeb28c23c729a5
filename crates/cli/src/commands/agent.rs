//! `metier agent`

use std::{process::ExitCode, sync::Arc};

use metier_agent::{Plan, Report, Role, Session as Conversing, Turn, open};
use metier_wire::{AnswerDocument, UsageRow};

use super::select::Mode;
use crate::{
    agents::{self, Agents},
    failure::Failure,
    interrupt,
    session::Session,
    talk::{Format, Talk},
};

/// Let an agent do a task, with skills
///
/// The agent has the core tools (read, write, edit, glob, grep, shell), every skill that is ready, and sub-agents. `/name` and `$name` in the
/// task load a skill at once, and so does --skills. A skill whose triggers match the task, the files of the project or the mode is loaded too
/// (`metier config agent.triggers false` turns that off); others the agent loads when their description fits. Whatever a skill or a tool does needs
/// permission: reading in the project needs none; each write and each command is asked for at the terminal when it happens, or approved before
/// (`--approve-skills core-tools`).
///
/// The model is named with --model or for good with `metier config agent.model`: anthropic/NAME (its key is in ANTHROPIC_API_KEY),
/// openai/NAME (OPENAI_API_KEY), ollama/NAME (no key), or any server that speaks one of their formats (`metier config agent.base_url`).
/// The answer goes to stdout, what happens on the way to stderr. Ctrl-C stops the agent; the conversation is kept, and
/// `metier chat --resume` continues it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done
    #[arg(required = true)]
    task: Vec<String>,
    /// The agent only orchestrates: it reads, writes and runs nothing itself and gives every part of the task to a sub-agent with skills
    #[arg(long)]
    orchestrate: bool,
    #[command(flatten)]
    situation: InMode,
    #[command(flatten)]
    how: How,
}

/// What triggers ask about besides the message and the project.
#[derive(clap::Args)]
pub(crate) struct InMode {
    /// How the agent is used, for skills whose triggers ask [default: interactive at a terminal, else headless]
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<Mode>,
}

impl InMode {
    pub(crate) fn mode(&self, session: &Session) -> metier_select::Mode {
        match (self.mode, session.output.is_attended()) {
            (Some(mode), _) => mode.into(),
            (None, true) => metier_select::Mode::Interactive,
            (None, false) => metier_select::Mode::Headless,
        }
    }
}

/// What agents have in common.
#[derive(clap::Args)]
pub(crate) struct How {
    /// The model that answers, as PROVIDER/NAME, instead of the one of `agent.model`
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// How what happens is written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = Arc::new(session.agent_inventory()?);
    let talk = Talk::new(&session.output, args.how.format);
    let agents = Agents::new(session, &inventory, interrupt::listen()?, talk.screen());
    let task = args.task.join(" ");
    let plan = Plan {
        role: role(session, args.orchestrate),
        model: args.how.model.clone(),
        skills: session.global.skills.clone(),
        mode: args.situation.mode(session),
        ..Plan::about(&task)
    };
    work(session, &agents, &talk, plan, |session| session.turn(&task))
}

/// Whether the agent that a person talks to may do something itself.
pub(crate) fn role(session: &Session, orchestrate: bool) -> Role {
    if orchestrate || session.config.agent.orchestrator {
        Role::Orchestrator
    } else {
        Role::Primary
    }
}

/// A session with one task, from its begin to its answer.
pub(super) fn work(
    session: &Session,
    agents: &Arc<Agents>,
    talk: &Arc<Talk>,
    plan: Plan,
    task: impl FnOnce(&mut Conversing) -> Result<Turn, Report>,
) -> Result<ExitCode, Failure> {
    if session.output.is_json() && !talk.is_for_people() {
        return Err(Failure::broken(
            "usage",
            "--json is one document, and --format jsonl a line for each event",
        )
        .hint("leave one of them out"));
    }
    let (mut id, mut stopped) = (String::new(), false);
    let is_confined = matches!(plan.role, Role::Set(_));
    let listener = Arc::clone(talk) as _;
    let opened = open(&agents.ground(), agents.shared(listener), plan);
    let done = opened.and_then(|mut session| {
        session.id().clone_into(&mut id);
        let turn = task(&mut session);
        // What is active ends in order, whatever ended the turn.
        stopped = turn.is_err() && agents.cancel().is_cancelled();
        agents.cancel().clear();
        let ended = session.end();
        turn.and_then(|turn| ended.map(|()| turn))
    });
    if stopped {
        talk.screen().stopped();
        let failure = Failure::interrupted("stopped by Ctrl-C");
        return Err(if is_confined {
            failure
        } else {
            failure.hint(format!("resume it with: metier chat --resume {id}"))
        });
    }
    let turn = done.map_err(agents::failure)?;
    if session.output.is_json() && talk.is_for_people() {
        session.output.document(&AnswerDocument {
            session: &id,
            text: &turn.text,
            usage: UsageRow {
                input_tokens: turn.usage.input,
                output_tokens: turn.usage.output,
            },
        })?;
    }
    Ok(ExitCode::SUCCESS)
}
