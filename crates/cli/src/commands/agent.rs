//! `metier agent`

use std::sync::Arc;

use metier::{
    ErrorKind, Skills,
    agent::{AgentRole, Cancel, ConversationOptions},
};
use metier_wire::{AnswerDocument, UsageRow};

use super::select::ModeArg;
use crate::{
    approver::Terminal,
    cli_run::CliRun,
    event_printer::{EventFormat, EventPrinter},
    failure::{Exit, Failure},
    interrupt,
};

/// Give a task to an agent with skills
///
/// The agent has the core tools (read, write, edit, glob, grep, shell), every skill that is ready, and sub-agents. `/name` and `$name` in the
/// task load a skill immediately, and so does --skills. A skill whose triggers match the task, the project's files or the mode is loaded too
/// (`metier config agent.triggers false` disables that); the agent loads others when their descriptions fit. Whatever a skill or a tool does needs
/// permission: reading in the project needs none; you are asked at the terminal about each write and each command, or approve them in advance
/// (`--approve-skills core-tools`).
///
/// Name the model with --model, or permanently with `metier config agent.model`: anthropic/NAME (its key is in ANTHROPIC_API_KEY),
/// openai/NAME (OPENAI_API_KEY), ollama/NAME (no key), or any server that supports one of their formats (`metier config agent.base_url`).
/// The answer goes to stdout, progress to stderr. Ctrl-C stops the agent; the conversation is kept, and
/// `metier chat --resume` continues it.
#[derive(clap::Args)]
pub(crate) struct AgentArgs {
    /// The task
    #[arg(required = true)]
    task: Vec<String>,
    /// Only orchestrate: the agent reads, writes and runs nothing itself, and gives every part of the task to a sub-agent with skills
    #[arg(long)]
    orchestrate: bool,
    #[command(flatten)]
    situation: InMode,
    #[command(flatten)]
    how: How,
}

/// The data for triggers besides the message and the project.
#[derive(clap::Args)]
pub(crate) struct InMode {
    /// How the agent is used, for triggers that depend on it [default: interactive at a terminal, otherwise headless]
    #[arg(long, value_enum, value_name = "MODE")]
    mode: Option<ModeArg>,
}

impl InMode {
    pub(crate) fn mode(&self, run: &CliRun) -> metier::agent::UsageMode {
        match (self.mode, run.output.is_attended()) {
            (Some(mode), _) => mode.into(),
            (None, true) => metier::agent::UsageMode::Interactive,
            (None, false) => metier::agent::UsageMode::Headless,
        }
    }
}

/// The options that all agents share.
#[derive(clap::Args)]
pub(crate) struct How {
    /// The model, as PROVIDER/NAME, instead of the one in `agent.model`
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = EventFormat::Text)]
    pub(crate) format: EventFormat,
}

/// The agent's terminal: where events go, and what Ctrl-C stops.
pub(crate) struct AgentTerminal {
    pub(crate) talk: Arc<EventPrinter>,
    pub(crate) cancel: Cancel,
}

impl AgentTerminal {
    pub(crate) fn open(run: &CliRun, format: EventFormat) -> Result<Self, Failure> {
        Ok(Self {
            talk: EventPrinter::new(&run.output, format),
            cancel: interrupt::listen()?,
        })
    }

    /// The options of a conversation: who gets its events, who answers its questions, and what stops it.
    pub(crate) fn options(&self, run: &CliRun, task: &str) -> ConversationOptions {
        let terminal = Terminal::new(&run.output);
        let screen = Arc::clone(self.talk.screen());
        let terminal = terminal.within(self.cancel.clone(), screen);
        let is_attended = run.output.is_attended();
        ConversationOptions {
            listener: Arc::clone(&self.talk) as _,
            approver: is_attended.then(|| Arc::new(terminal) as _),
            cancel: self.cancel.clone(),
            ..ConversationOptions::about(task)
        }
    }
}

pub(crate) fn run(run: &CliRun, args: &AgentArgs) -> Result<Exit, Failure> {
    let terminal = AgentTerminal::open(run, args.how.format)?;
    let task = args.task.join(" ");
    let options = ConversationOptions {
        role: role(args.orchestrate),
        model: args.how.model.clone(),
        skills: run.global.skills.clone(),
        mode: args.situation.mode(run),
        ..terminal.options(run, &task)
    };
    work(run, &terminal, &run.agent_skills()?, options, &task)
}

pub(crate) fn role(orchestrate: bool) -> AgentRole {
    match orchestrate {
        true => AgentRole::Orchestrator,
        false => AgentRole::Primary,
    }
}

/// A conversation with one task, from its start to its answer.
pub(super) fn work(
    run: &CliRun,
    terminal: &AgentTerminal,
    skills: &Skills,
    options: ConversationOptions,
    task: &str,
) -> Result<Exit, Failure> {
    let talk = &terminal.talk;
    if run.output.is_json() && !talk.is_for_people() {
        return Err(Failure::broken(
            "usage",
            "--json prints one document, --format jsonl one line for each event",
        )
        .hint("use only one of them"));
    }
    let is_confined = matches!(options.role, AgentRole::SkillSet { .. });
    let mut conversation = run.conversation(skills, options)?;
    let id = conversation.id().to_owned();
    let turn = conversation.send(task);
    // Active skills are ended in order, whether or not the turn failed.
    let ended = conversation.end();
    let turn = turn.map_err(|error| match error.kind() {
        ErrorKind::Interrupted => {
            talk.screen().stopped();
            let failure = Failure::interrupted("stopped by Ctrl-C");
            match is_confined {
                true => failure,
                false => failure.hint(format!("resume it with: metier chat --resume {id}")),
            }
        }
        _ => error,
    })?;
    ended?;
    if run.output.is_json() {
        run.output.document(&AnswerDocument {
            session: &id,
            text: &turn.text,
            usage: UsageRow {
                input_tokens: turn.usage.input,
                output_tokens: turn.usage.output,
            },
        })?;
    }
    Ok(Exit::Ok)
}
