//! `metier spawn`

use metier::{
    agent::{CODING_PIPELINE, ConversationOptions, SubAgentRequest, SubAgentSkills},
    text::one_line,
};

use super::agent::{AgentTerminal, How, work};
use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
};

/// Start a sub-agent with exactly the given skills
///
/// Name the skills with --skills A,B. Before a model is asked, the set is checked as a whole: skills that are missing, incompatible or in
/// conflict, and coding without `specification-engine` and `opencode-implementer`, are reported together, and nothing is started. The
/// sub-agent has the tools that its skills allow and no others; a skill without any list of tools contributes `read`, `glob`, `grep` and its own. With
/// --select, the skills are those that `metier select` picks for the task. Without either, a coding task gets the two skills of the coding
/// pipeline, and any other task runs like `metier agent`.
///
/// The model and its key are those of `metier agent`.
#[derive(clap::Args)]
pub(crate) struct SpawnArgs {
    /// The task
    #[arg(long, value_name = "TASK")]
    task: String,
    /// The task is to write code: the set has to contain the coding pipeline [default: detected from the task]
    #[arg(long, conflicts_with = "no_coding")]
    coding: bool,
    /// Treat the task as not a coding task
    #[arg(long)]
    no_coding: bool,
    /// Add the skills that `metier select` picks for the task to those of --skills
    #[arg(long)]
    select: bool,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(run: &CliRun, args: &SpawnArgs) -> Result<Exit, Failure> {
    let available = run.agent_skills()?;
    let terminal = AgentTerminal::open(run, args.how.format)?;
    let request = SubAgentRequest {
        named: run.global.skills.clone(),
        select: args.select,
        coding: (args.coding || args.no_coding).then_some(args.coding),
    };
    let sub_agent = run.sub_agent(&available, &args.task, &request)?;
    note(run, &sub_agent.skills);
    let options = ConversationOptions {
        role: sub_agent.role,
        model: args.how.model.clone(),
        ..terminal.options(run, &args.task)
    };
    work(run, &terminal, &available, options, &args.task)
}

/// Prints skills that were not named.
fn note(run: &CliRun, skills: &SubAgentSkills) {
    match skills {
        SubAgentSkills::Named => {}
        SubAgentSkills::CodingPipeline => {
            let pair = CODING_PIPELINE.join(" and ");
            run.output.note(&format!(
                "a coding task without --skills: {pair} take it; --no-coding starts an agent without them"
            ));
        }
        SubAgentSkills::Selected(skills) => {
            for (name, why) in skills {
                let line = format!("selected {name}: {why}");
                run.output.note(&one_line(&line));
            }
        }
    }
}
