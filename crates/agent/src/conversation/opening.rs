//! How a conversation starts: new, resumed, or for a parent.

use std::{collections::BTreeSet, sync::Arc};

use metier_policy::CORE_TOOLS;
use metier_runtime::live::Runtime;
use metier_store::NewConversation;

use super::{AgentConversation, SkillSet};
use crate::builtin_tools::{self, BuiltinTool};
use crate::context::{AgentContext, ChosenModel};
use crate::event::{ActivatedBy, AgentEvent, EventListener};
use crate::history::MessageHistory;
use crate::metered_model::MeteredModel;
use crate::pipeline::Pipeline;
use crate::rules::{RequestedTool, ToolUseRules};
use crate::system::{PromptAudience, System};
use crate::toolbox::Toolbox;
use crate::transcript::Transcript;
use crate::turn_usage::TurnUsage;
use crate::{Budget, Cancel, ErrorReport, HistoryRecord};

/// The skill that has the program's core tools.
const CORE_SKILL: &str = "core-tools";
/// Maximum length of a title in a list.
const MAX_TITLE: usize = 80;

/// The resources that a conversation shares with the conversations that it starts.
#[derive(Clone)]
pub struct SharedResources {
    /// The budget of all of them.
    pub budget: Arc<Budget>,
    /// Ends all of them.
    pub cancel: Cancel,
    /// Receives the events of all of them.
    pub listener: Arc<dyn EventListener>,
}

/// The plan of a conversation.
#[derive(Clone, Debug, Default)]
pub struct ConversationPlan {
    /// The role of the conversation.
    pub role: ConversationRole,
    /// A model other than the configured one.
    pub model: Option<String>,
    /// Skills that are active from the start.
    pub skills: Vec<String>,
    /// Its title, for a list of conversations.
    pub title: String,
    /// The mode of the program.
    pub mode: metier_select::UsageMode,
    /// Whether it continues the conversation whose id is that of the runtime's session.
    pub resumes: bool,
    /// The conversation that started it.
    pub parent: Option<String>,
    /// Its nesting depth.
    pub depth: usize,
    /// Limits that are inherited from the parent.
    pub rules: ToolUseRules,
}

impl ConversationPlan {
    /// A plan whose title is the start of the message, in one line.
    #[must_use]
    pub fn about(said: &str) -> Self {
        let words: Vec<&str> = said.split_whitespace().collect();
        Self {
            title: words.join(" ").chars().take(MAX_TITLE).collect(),
            ..Self::default()
        }
    }
}

/// The role of a conversation: its user, and its tools and skills.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConversationRole {
    /// For a person, with core tools and every skill.
    #[default]
    Primary,
    /// For a person, and only through sub-agents: it can read, write and run nothing itself.
    Orchestrator,
    /// For a parent, with exactly what a set of skills allows.
    Set(Box<SkillSet>),
    /// For a parent, without a set: like a primary agent, within the parent's rules.
    Helper,
    /// For a parent, one skill that requires its own conversation.
    Fork {
        /// The skill that the sub-agent runs.
        skill: String,
        /// The arguments of the skill.
        arguments: String,
    },
}

/// Opens a conversation on a runtime without active skills. Its id is that of the runtime's session, even when it resumes a conversation.
///
/// # Errors
/// When there is no model, or when the conversation can't be read or written.
pub fn open(
    context: &Arc<AgentContext>,
    runtime: Runtime,
    shared: SharedResources,
    plan: ConversationPlan,
) -> Result<AgentConversation, ErrorReport> {
    let chosen = context.model(plan.model.as_deref())?;
    let budget = Arc::clone(&shared.budget);
    let skill_model =
        MeteredModel::new(context, Some(chosen.clone()), budget, shared.cancel.clone());
    let skill_model = Arc::new(skill_model);
    let runtime = runtime.with_model(Arc::clone(&skill_model) as _);
    AgentConversation::begin(context, runtime, shared, chosen, skill_model, plan)
}

impl AgentConversation {
    fn begin(
        context: &Arc<AgentContext>,
        runtime: Runtime,
        shared: SharedResources,
        chosen: ChosenModel,
        skill_model: Arc<MeteredModel>,
        plan: ConversationPlan,
    ) -> Result<Self, ErrorReport> {
        let model = chosen.name.to_string();
        let id = runtime.environment().approvals.session.clone();
        let resumed = plan.resumes;
        let (transcript, records) = if resumed {
            Transcript::resume(runtime.store(), &id)?
        } else {
            let folder = runtime
                .environment()
                .approvals
                .terms
                .project
                .to_string_lossy();
            let new = NewConversation {
                id: &id,
                at: &context.now(),
                folder: &folder,
                model: &model,
                title: &plan.title,
                parent: plan.parent.as_deref(),
            };
            (Transcript::begin(runtime.store(), &new)?, Vec::new())
        };
        let mut conversation = Self {
            context: Arc::clone(context),
            runtime,
            shared,
            id,
            depth: plan.depth,
            role: plan.role,
            configured: chosen.clone(),
            chosen,
            instead: None,
            rules: plan.rules,
            pipeline: Pipeline::default(),
            conditioned: Vec::new(),
            conversation: MessageHistory::replay(records),
            transcript,
            system: System::default(),
            prompt: None,
            toolbox: Toolbox::default(),
            mode: plan.mode,
            triggers: None,
            passed_over: BTreeSet::new(),
            room: 0,
            tally: TurnUsage::default(),
            skill_model,
        };
        if let ConversationRole::Set(set) = &conversation.role {
            let skills = set.composition().order.clone();
            conversation.record(HistoryRecord::Confined { skills })?;
        }
        conversation.tell(AgentEvent::SessionStarted { model, resumed });
        conversation.activate_planned(&plan.skills)?;
        if resumed {
            conversation.settle()?;
            conversation.reactivate()?;
        }
        conversation.refresh_tools();
        conversation.runtime.conversation_start()?;
        conversation.tell_new();
        Ok(conversation)
    }

    /// The prompt, the tools and the skills of the role.
    fn activate_planned(&mut self, skills: &[String]) -> Result<(), ErrorReport> {
        let who = match self.role {
            ConversationRole::Primary => PromptAudience::Primary,
            ConversationRole::Orchestrator => PromptAudience::Orchestrator,
            ConversationRole::Set(_) | ConversationRole::Helper | ConversationRole::Fork { .. } => {
                PromptAudience::Subagent
            }
        };
        let chooses = !matches!(self.role, ConversationRole::Set(_));
        self.system = System::new(who, &self.context, chooses);
        if let ConversationRole::Set(set) = self.role.clone() {
            self.inject(&set)?;
        }
        self.add_core_tools();
        if let ConversationRole::Set(set) = self.role.clone() {
            self.check_tools(&set)?;
        }
        if !skills.is_empty() && self.role == ConversationRole::Orchestrator {
            return Err(needs_an_executor(&skills.join(", ")));
        }
        for name in skills {
            let loaded = self.load(name, "", ActivatedBy::Plan)?;
            self.passed_over.insert(loaded.skill);
            if let Some(text) = loaded.text {
                self.system.add_skill(&text.text, "");
                // It is in the prompt, which is never compacted.
                self.runtime.forget_text(&text.skill);
            }
        }
        // A model that a skill of the opening requires is used for the whole conversation, not for one turn.
        if let Some(chosen) = self.instead.take() {
            self.chosen = chosen;
        }
        Ok(())
    }

    /// The core tools, if the role and its rules leave any. They can be refused; an agent without tools can still chat.
    fn add_core_tools(&mut self) {
        let offers = |tool: &&str| {
            self.rules.offers(RequestedTool {
                name: tool,
                short: tool,
                skill: Some(CORE_SKILL),
            })
        };
        let wanted = self.role != ConversationRole::Orchestrator && CORE_TOOLS.iter().any(offers);
        let Some(skill) = self
            .context
            .inventory()
            .find(CORE_SKILL)
            .ok()
            .filter(|_| wanted)
        else {
            return;
        };
        if skill.status != metier_runtime::Status::Ready {
            let standing = skill.standing();
            self.note(format!(
                "the core tools are not available: skill `{CORE_SKILL}` {standing}"
            ));
            return;
        }
        if let Err(error) = self.runtime.activate(CORE_SKILL) {
            self.note(format!(
                "the core tools are not available: {error}; allow them with --approve-skills {CORE_SKILL}, or permanently: metier permissions {CORE_SKILL} --approve"
            ));
        }
        // Its text is advice for agents with other tools; it is loaded on request.
        self.runtime.forget_text(CORE_SKILL);
    }

    /// Calls that were running when the conversation or its last turn ended are not repeated: they may have had an effect.
    pub(super) fn settle(&mut self) -> Result<(), ErrorReport> {
        for call in self.conversation.open_calls() {
            self.record(HistoryRecord::Result {
                output: call.verdict().to_owned(),
                id: call.id,
                name: call.name,
                is_error: true,
                skill: None,
            })?;
        }
        Ok(())
    }

    /// Skills that were active get their tools, rules and places in the ledger back. A skill that can't be used now is unloaded: without
    /// its rules its text must not stay, and the text of a skill that was blocked since then must not return.
    fn reactivate(&mut self) -> Result<(), ErrorReport> {
        for skill in self.conversation.active().to_vec() {
            let revived = match self.role {
                ConversationRole::Orchestrator => Err(needs_an_executor(&skill)),
                _ => self.revive(&skill),
            };
            if let Err(report) = revived {
                self.note(format!("skill `{skill}` is no longer active: {report}"));
                self.rules.widen(&skill);
                self.runtime.forget_text(&skill);
                self.record(HistoryRecord::Unloaded {
                    skill: skill.clone(),
                })?;
                self.tell(AgentEvent::SkillUnloaded { skill });
            } else if self.conversation.skill_text(&skill).is_none() {
                // It did not fit; the ledger contains only skills that were in the conversation.
                self.runtime.forget_text(&skill);
            }
        }
        Ok(())
    }

    /// The program's own tools that the role has.
    pub(super) fn own_tools(&self) -> &'static [BuiltinTool] {
        let nothing_to_choose = builtin_tools::offered(self.context.inventory())
            .next()
            .is_none();
        let may_spawn = self.depth < self.max_depth();
        match self.role {
            _ if nothing_to_choose => &[],
            ConversationRole::Orchestrator if may_spawn => BuiltinTool::ORCHESTRATION,
            ConversationRole::Orchestrator => &[],
            _ if may_spawn => &BuiltinTool::ALL,
            _ => BuiltinTool::WITHOUT_SPAWN,
        }
    }

    pub(super) fn max_depth(&self) -> usize {
        usize::try_from(self.context.config().agent.max_depth).unwrap_or(usize::MAX)
    }
}

fn needs_an_executor(skills: &str) -> ErrorReport {
    let message = format!("an orchestrator does not load skills itself: {skills}");
    ErrorReport::new("orchestrator", message).hint("name them in the task, for a sub-agent; or omit --orchestrate (metier config agent.orchestrator false)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_one_line_of_first_words() {
        assert_eq!(
            ConversationPlan::about(" review\nthe\tlast  commit ").title,
            "review the last commit"
        );
        assert_eq!(
            ConversationPlan::about(&"ä".repeat(500)).title,
            "ä".repeat(80)
        );
        assert_eq!(ConversationPlan::about("").title, "");
    }
}
