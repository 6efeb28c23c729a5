//! `metier spawn`

use std::process::ExitCode;

use metier_agent::{Plan, Role, judge_set};

use super::agent::{How, work};
use crate::{agents::Agents, chat, failure::Failure, interrupt, session::Session, talk::Talk};

/// Start a sub-agent with exactly a set of skills
///
/// The skills are named with --skills A,B. Before a model is asked, the set is checked as a whole: skills that are missing, incompatible, in
/// conflict or an incomplete pipeline are reported all at once, and nothing is started. The sub-agent has the tools that its skills
/// allow and no others. Without --skills it is an agent like any other.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done
    #[arg(long, value_name = "TASK")]
    task: String,
    /// Code is to be written; found out from the task unless this is said
    #[arg(long, conflicts_with = "no_coding")]
    coding: bool,
    /// No code is to be written
    #[arg(long)]
    no_coding: bool,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let talk = Talk::new(session.output, args.how.format);
    let agents = Agents::new(session, &inventory, interrupt::listen()?, talk.screen());
    let skills = &session.global.skills;
    let coding = match (args.coding, args.no_coding) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let role = if skills.is_empty() {
        Role::Helper
    } else {
        let judged = judge_set(&agents, &args.task, skills, coding).map_err(|rejected| {
            let failure = Failure::unmet("rejected", "the sub-agent was not started");
            let failure = rejected.lines().into_iter().fold(failure, Failure::detail);
            failure.hint(format!("metier compose {}", skills.join(" ")))
        })?;
        Role::Set(Box::new(judged))
    };
    let plan = Plan {
        role,
        model: args.how.model.clone(),
        title: chat::title(&args.task),
        ..Plan::default()
    };
    work(session, &agents, &talk, plan, |session| {
        session.assign(&args.task)
    })
}
