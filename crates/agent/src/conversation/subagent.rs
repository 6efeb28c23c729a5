//! Sub-agents: conversations that a conversation starts, with no more permissions than it can pass on.
//!
//! A set of skills is checked as a whole before a model gets the task: missing, incompatible, conflicting and incomplete skills are
//! reported together. Limits of the parent apply to the child; its other permissions come from its own skills, and from the approvals of
//! the user or the configuration for them. Nothing is granted here.

use std::sync::Arc;

use metier_policy::CODING_PIPELINE;
use metier_runtime::{live::Runtime, render::LoadedSkill};

use super::{
    AgentConversation, ConversationPlan, ConversationRole, SharedResources, TurnResult,
    activation::{place, wanted_model},
    calls::CallOutcome,
    judge_set, open,
    set::{is_coding_of_model, is_unread},
};
use crate::budget::Budget;
use crate::builtin_tools::SpawnInput;
use crate::context::{AgentContext, model_beside};
use crate::event::{ActivatedBy, AgentEvent, SubagentKind};
use crate::{ErrorReport, HistoryRecord};

/// A conversation that is about to start.
pub(super) struct Subagent {
    context: Arc<AgentContext>,
    runtime: Runtime,
    shared: SharedResources,
    plan: ConversationPlan,
    task: String,
}

impl Subagent {
    /// The sub-agent of a `sessions_spawn` call.
    pub(super) fn spawn(
        parent: &AgentConversation,
        spawn: SpawnInput,
    ) -> Result<Self, ErrorReport> {
        if spawn.task.trim().is_empty() {
            return Err(ErrorReport::new("spawn", "a sub-agent needs a task"));
        }
        let role = match Self::named(parent, &spawn)? {
            None => ConversationRole::Helper,
            Some((skills, is_coding)) => {
                let mut judged = judge_set(&parent.context, &skills, is_coding);
                if let Ok(set) = &judged
                    && set.composition().can_write
                    && parent.suspects_coding(&spawn.task)
                {
                    judged = judge_set(&parent.context, &skills, true);
                }
                ConversationRole::Set(Box::new(judged.map_err(|rejected| {
                    parent.tell(AgentEvent::SubagentRejected {
                        errors: rejected.lines(),
                    });
                    rejected.report()
                })?))
            }
        };
        Self::new(parent, role, spawn.model, spawn.task)
    }

    /// The skills of a sub-agent that a model requests, and whether it is coding; none if it is an ordinary agent. A model can
    /// state that a task is coding, and never that it is not.
    fn named(
        parent: &AgentConversation,
        spawn: &SpawnInput,
    ) -> Result<Option<(Vec<String>, bool)>, ErrorReport> {
        let is_coding = spawn.coding == Some(true) || is_coding_of_model(&spawn.task);
        let Some(skills) = &spawn.skills else {
            if parent.role == ConversationRole::Orchestrator {
                return Err(needs_skills("an orchestrator's sub-agent needs skills"));
            }
            let pair = CODING_PIPELINE.map(str::to_owned).to_vec();
            return Ok(is_coding.then_some((pair, true)));
        };
        if skills.is_empty() {
            return Err(needs_skills("an empty set of skills has no tools"));
        }
        for name in skills {
            let card = parent.context.inventory().find(name).ok();
            let card = card.and_then(|skill| parent.context.inventory().entry(skill).card.as_ref());
            if card.is_some_and(|card| !card.model_invocable) {
                let message = format!(
                    "skill `{name}` can only be invoked by the user (`disable-model-invocation`)"
                );
                return Err(ErrorReport::new("not-for-models", message).skill(name.as_str()));
            }
        }
        Ok(Some((skills.clone(), is_coding)))
    }

    /// For a skill that requires its own conversation.
    pub(super) fn fork(
        parent: &AgentConversation,
        skill: &LoadedSkill,
        arguments: &str,
    ) -> Result<Self, ErrorReport> {
        // Its requested model is used if it is available.
        let wanted = wanted_model(&skill.manifest);
        let model = wanted.and_then(|name| {
            let chosen = model_beside(&parent.context, name, &parent.chosen.name);
            Some(chosen.ok()?.name.to_string())
        });
        let role = ConversationRole::Fork {
            skill: place(&skill.entry),
            arguments: arguments.to_owned(),
        };
        let task = format!("/{} {arguments}", skill.entry.name());
        Self::new(parent, role, model, task.trim_end().to_owned())
    }

    fn new(
        parent: &AgentConversation,
        role: ConversationRole,
        model: Option<String>,
        task: String,
    ) -> Result<Self, ErrorReport> {
        let max = parent.max_depth();
        if parent.depth >= max {
            let message = format!("sub-agents can be nested at most {max} levels deep");
            return Err(ErrorReport::new("depth", message).hint("do this part yourself"));
        }
        // Unless another one is named, it has its parent's model.
        let model = match model {
            Some(name) => model_beside(&parent.context, &name, &parent.chosen.name)?.name,
            None => parent.chosen.name.clone(),
        };
        let model = Some(model.to_string());
        let id = parent.context.fresh_id()?;
        Ok(Self {
            runtime: parent.runtime.beside(&id),
            context: Arc::clone(&parent.context),
            shared: SharedResources {
                budget: Arc::new(Budget::allowance(
                    &parent.shared.budget,
                    parent.context.config().agent.max_subagent_requests,
                )),
                ..parent.shared.clone()
            },
            plan: ConversationPlan {
                role,
                model,
                parent: Some(parent.id.clone()),
                depth: parent.depth + 1,
                rules: parent.rules.for_child(),
                ..ConversationPlan::about(&task)
            },
            task,
        })
    }

    /// Its whole lifetime: it starts, does its task, and reports.
    pub(super) fn run(self) -> CallOutcome {
        let task = self.task;
        let done = open(&self.context, self.runtime, self.shared, self.plan).and_then(
            |mut conversation| {
                let turn = conversation.assign(&task);
                let facts = conversation.pipeline.facts();
                let ended = conversation.end();
                let turn = turn?;
                ended?;
                Ok((turn.text, facts))
            },
        );
        // The program's record of a coding task is added to the model's report.
        done.map_or_else(CallOutcome::from, |(text, facts)| match facts {
            None => CallOutcome::well(text),
            Some(facts) => CallOutcome::well(format!("{text}\n\n[seen by metier: {facts}]")),
        })
    }
}

fn needs_skills(why: &str) -> ErrorReport {
    let message = format!("the sub-agent was not started: {why}");
    ErrorReport::new("spawn", message)
        .hint("name them in `skills`; search_skills finds those that fit")
}

impl AgentConversation {
    /// Whether a sub-agent that can write files might be meant to write code although its task does not state it: part of the task
    /// was not read, or the user asked for code and only sub-agents can write it.
    fn suspects_coding(&self, task: &str) -> bool {
        let asked = self.conversation.last_user_text();
        is_unread(task)
            || (self.role == ConversationRole::Orchestrator && is_coding_of_model(asked))
    }

    /// Reports the start of a sub-agent.
    pub(super) fn announce(&self, child: &Subagent) {
        let (kind, skills) = match &child.plan.role {
            ConversationRole::Fork { skill, .. } => {
                let name = self.context.inventory().find(skill).ok();
                let name =
                    name.map(|skill| self.context.inventory().entry(skill).name().into_owned());
                (SubagentKind::Fork, name.into_iter().collect())
            }
            ConversationRole::Set(set) => (SubagentKind::Spawn, set.composition().order.clone()),
            _ => (SubagentKind::Spawn, Vec::new()),
        };
        self.tell(AgentEvent::SubagentStarted {
            kind,
            task: child.task.clone(),
            skills,
        });
    }

    /// A task from a parent, or from `metier spawn`. Names of skills in it are plain text: only a user loads skills by naming them.
    ///
    /// # Errors
    /// When there is no answer.
    pub fn assign(&mut self, task: &str) -> Result<TurnResult, ErrorReport> {
        self.begin_turn(task);
        let done = self.work_on(task);
        self.end_turn(done)
    }

    fn work_on(&mut self, task: &str) -> Result<String, ErrorReport> {
        if let Some(expects) = self.pipeline.expected_of(task).first() {
            let report = ErrorReport::new("precondition", expects.to_string());
            return Err(report.hint("put it into the task, as a JSON object in a ```json block"));
        }
        self.system_prompt()?;
        let record = match self.role.clone() {
            ConversationRole::Fork { skill, arguments } => {
                let loaded = self.load(&skill, &arguments, ActivatedBy::Plan)?;
                HistoryRecord::User {
                    text: String::new(),
                    skills: loaded.text.into_iter().collect(),
                }
            }
            _ => HistoryRecord::User {
                text: task.to_owned(),
                skills: Vec::new(),
            },
        };
        self.record(record)?;
        self.respond()
    }
}
