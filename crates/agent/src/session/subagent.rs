//! Sub-agents: sessions that a session starts, with no more than it may hand on.
//!
//! A set of skills is judged as a whole before a model hears of the task: what is missing, incompatible, in conflict or incomplete comes back at
//! once. What holds for the parent holds for the child; what the child may do besides comes from its own skills, and from what a person
//! or the configuration approved for them. Nobody grants anything to anybody here.

use std::sync::Arc;

use metier_runtime::render::Loaded;

use super::{
    Plan, Role, Session, Shared, Turn,
    activation::{place, wanted_model},
    calls::Outcome,
    judge_set, open,
};
use crate::budget::Budget;
use crate::event::Event;
use crate::ground::{Ground, model_beside};
use crate::own::Spawn;
use crate::{Record, Report};

/// A session that is about to begin.
pub(super) struct Child<'s> {
    ground: &'s dyn Ground,
    shared: Shared<'s>,
    plan: Plan,
    task: String,
}

impl<'s> Child<'s> {
    /// For `sessions_spawn`.
    pub(super) fn spawn(parent: &Session<'s, '_>, spawn: Spawn) -> Result<Self, Report> {
        if spawn.task.trim().is_empty() {
            return Err(Report::new("spawn", "a sub-agent needs a task"));
        }
        let role = match &spawn.skills {
            None => Role::Helper,
            Some(skills) => {
                for name in skills {
                    let card = parent.ground.inventory().find(name).ok();
                    let card =
                        card.and_then(|skill| parent.ground.inventory().entry(skill).card.as_ref());
                    if card.is_some_and(|card| !card.model_invocable) {
                        let message =
                            format!("skill `{name}` is started by people only, its author says");
                        return Err(Report::new("not-for-models", message).skill(name.as_str()));
                    }
                }
                let judged = judge_set(parent.ground, &spawn.task, skills, spawn.coding);
                Role::Set(Box::new(judged.map_err(|rejected| {
                    parent.tell(Event::SubagentRejected {
                        errors: rejected.lines(),
                    });
                    rejected.report()
                })?))
            }
        };
        Self::new(parent, role, spawn.model, spawn.task)
    }

    /// For a skill that wants a session of its own.
    pub(super) fn fork(
        parent: &Session<'s, '_>,
        skill: &Loaded<'_>,
        arguments: &str,
    ) -> Result<Self, Report> {
        // Its wish counts if it can be met.
        let wanted = wanted_model(&skill.manifest);
        let model = wanted.and_then(|name| {
            let chosen = model_beside(parent.ground, name, &parent.chosen.name);
            Some(chosen.ok()?.name.to_string())
        });
        let role = Role::Fork {
            skill: place(skill.entry),
            arguments: arguments.to_owned(),
        };
        let task = format!("/{} {arguments}", skill.entry.name());
        Self::new(parent, role, model, task.trim_end().to_owned())
    }

    fn new(
        parent: &Session<'s, '_>,
        role: Role,
        model: Option<String>,
        task: String,
    ) -> Result<Self, Report> {
        let max = parent.max_depth();
        if parent.depth >= max {
            let message = format!("sub-agents are nested at most {max} deep");
            return Err(Report::new("depth", message).hint("do this part yourself"));
        }
        // Unless another one is named, it has its parent's model.
        let model = match model {
            Some(name) => model_beside(parent.ground, &name, &parent.chosen.name)?.name,
            None => parent.chosen.name.clone(),
        };
        let model = Some(model.to_string());
        Ok(Self {
            ground: parent.ground,
            shared: Shared {
                budget: Arc::new(Budget::allowance(
                    &parent.shared.budget,
                    parent.ground.config().agent.max_subagent_requests,
                )),
                ..parent.shared.clone()
            },
            plan: Plan {
                role,
                model,
                parent: Some(parent.id.clone()),
                depth: parent.depth + 1,
                rules: parent.rules.for_child(),
                ..Plan::about(&task)
            },
            task,
        })
    }

    /// Its whole life: it begins, does its task, and reports.
    pub(super) fn run(self) -> Outcome {
        let task = self.task;
        let done = open(self.ground, self.shared, self.plan, |session| {
            session.assign(&task)
        });
        done.map_or_else(Outcome::from, |turn| Outcome::well(turn.text))
    }
}

impl<'s> Session<'s, '_> {
    /// Says that a sub-agent begins.
    pub(super) fn announce(&self, child: &Child<'s>) {
        let (kind, skills) = match &child.plan.role {
            Role::Fork { skill, .. } => {
                let name = self.ground.inventory().find(skill).ok();
                let name =
                    name.map(|skill| self.ground.inventory().entry(skill).name().into_owned());
                ("fork", name.into_iter().collect())
            }
            Role::Set(set) => ("spawn", set.composition().order.clone()),
            _ => ("spawn", Vec::new()),
        };
        self.tell(Event::SubagentStarted {
            kind,
            task: child.task.clone(),
            skills,
        });
    }

    /// A task from a parent, or from `metier spawn`. Names of skills in it are words: only a person loads skills by naming them.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn assign(&mut self, task: &str) -> Result<Turn, Report> {
        self.begin_turn(task);
        let done = self.work_on(task);
        self.end_turn(done)
    }

    fn work_on(&mut self, task: &str) -> Result<String, Report> {
        self.system_prompt()?;
        let record = match self.role.clone() {
            Role::Fork { skill, arguments } => {
                let loaded = self.load(&skill, &arguments, super::activation::By::Plan)?;
                Record::User {
                    text: String::new(),
                    skills: loaded.text.into_iter().collect(),
                }
            }
            _ => Record::User {
                text: task.to_owned(),
                skills: Vec::new(),
            },
        };
        self.record(record)?;
        self.respond()
    }
}
