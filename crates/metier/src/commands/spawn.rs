//! `metier spawn`

use std::process::ExitCode;

use metier_agent::{Plan, Rejected, Role, judge_set};
use metier_model::text::shell_word;
use metier_policy::{CODING_PIPELINE, FaultCode};

use super::agent::{How, work};
use crate::{agents::Agents, failure::Failure, interrupt, session::Session, talk::Talk};

/// Start a sub-agent with exactly a set of skills
///
/// The skills are named with --skills A,B. Before a model is asked, the set is checked as a whole: skills that are missing, incompatible or in
/// conflict, and coding without `specification-engine` and `opencode-implementer`, are reported all at once, and nothing is started. The
/// sub-agent has the tools that its skills allow and no others. Without --skills it is an agent like any other.
///
/// The model and its key are those of `metier agent`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done
    #[arg(long, value_name = "TASK")]
    task: String,
    /// Code is to be written: then the set must be able to. Found out from the task if it is not said
    #[arg(long, conflicts_with = "no_coding")]
    coding: bool,
    /// No code is to be written
    #[arg(long)]
    no_coding: bool,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.agent_inventory()?;
    let talk = Talk::new(session.output, args.how.format);
    let agents = Agents::new(session, &inventory, interrupt::listen()?, talk.screen());
    let skills = &session.global.skills;
    let coding = match (args.coding, args.no_coding) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    // Whoever says that it is coding wants the set to be checked for that, also one with nothing in it.
    let role = if skills.is_empty() && !args.coding {
        Role::Helper
    } else {
        let judged = judge_set(&agents, &args.task, skills, coding).map_err(|rejected| {
            let failure = Failure::unmet("rejected", "the sub-agent was not started");
            let failure = rejected.lines().into_iter().fold(failure, Failure::detail);
            failure.hint(way_out(skills, &rejected))
        })?;
        Role::Set(Box::new(judged))
    };
    let plan = Plan {
        role,
        model: args.how.model.clone(),
        ..Plan::about(&args.task)
    };
    work(session, &agents, &talk, plan, |session| {
        session.assign(&args.task)
    })
}

/// The command that judges the same without starting anything.
fn way_out(skills: &[String], rejected: &Rejected) -> String {
    let named = skills.iter().map(String::as_str);
    let names: Vec<&str> = if skills.is_empty() {
        CODING_PIPELINE.to_vec()
    } else {
        named.collect()
    };
    let names: Vec<_> = names.into_iter().map(shell_word).collect();
    let mut errors = rejected.errors.iter();
    let coding = match errors.any(|fault| fault.code == FaultCode::IncompleteCodingPipeline) {
        true => " --coding",
        false => "",
    };
    format!("metier compose {}{coding}", names.join(" "))
}
