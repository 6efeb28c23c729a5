//! `metier spawn`

use std::{process::ExitCode, sync::Arc};

use metier_agent::{Plan, Rejected, Role, is_coding, judge_set};
use metier_model::text::shell_word;
use metier_policy::{CODING_PIPELINE, FaultCode};
use metier_runtime::Inventory;

use super::{
    agent::{How, work},
    select,
};
use crate::{agents::Agents, failure::Failure, interrupt, session::Session, talk::Talk};

/// Start a sub-agent with exactly a set of skills
///
/// The skills are named with --skills A,B. Before a model is asked, the set is checked as a whole: skills that are missing, incompatible or in
/// conflict, and coding without `specification-engine` and `opencode-implementer`, are reported all at once, and nothing is started. The
/// sub-agent has the tools that its skills allow and no others; a skill without any list of tools brings `read`, `glob`, `grep` and its own. With
/// --select the skills are those that `metier select` picks for the task. Without either, a coding task gets the two skills of the coding
/// pipeline, and any other task an agent like `metier agent`.
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
    /// No code is to be written, whatever the task says
    #[arg(long)]
    no_coding: bool,
    /// Take the skills that fit the task, as `metier select` picks them, beside those of --skills
    #[arg(long)]
    select: bool,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = Arc::new(session.agent_inventory()?);
    let talk = Talk::new(&session.output, args.how.format);
    let agents = Agents::new(session, &inventory, interrupt::listen()?, talk.screen());
    let is_coding = match (args.coding, args.no_coding) {
        (true, _) => true,
        (_, true) => false,
        _ => is_coding(&args.task),
    };
    let skills = skills(session, &inventory, args, is_coding)?;
    let role = if skills.is_empty() {
        Role::Helper
    } else {
        let judged = judge_set(&*agents, &skills, is_coding).map_err(|rejected| {
            let failure = Failure::unmet("rejected", "the sub-agent was not started");
            let failure = rejected.lines().into_iter().fold(failure, Failure::detail);
            failure.hint(way_out(&skills, &rejected))
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

/// The skills of the sub-agent: those that were named, those that fit, or those that a coding task goes through.
fn skills(
    session: &Session,
    inventory: &Arc<Inventory>,
    args: &Args,
    is_coding: bool,
) -> Result<Vec<String>, Failure> {
    let named = &session.global.skills;
    if args.select {
        return select::names(
            session,
            &Arc::clone(inventory).into(),
            &args.task,
            is_coding,
        );
    }
    if named.is_empty() && is_coding {
        let pair = CODING_PIPELINE.join(" and ");
        session.output.note(&format!(
            "a coding task without --skills: {pair} take it; --no-coding starts an agent without them"
        ));
        return Ok(CODING_PIPELINE.map(str::to_owned).to_vec());
    }
    Ok(named.clone())
}

/// The command that judges the same without starting anything.
fn way_out(skills: &[String], rejected: &Rejected) -> String {
    let names: Vec<_> = skills.iter().map(|name| shell_word(name)).collect();
    let mut errors = rejected.errors.iter();
    let coding = match errors.any(|fault| fault.code == FaultCode::IncompleteCodingPipeline) {
        true => " --coding",
        false => "",
    };
    format!("metier compose {}{coding}", names.join(" "))
}
