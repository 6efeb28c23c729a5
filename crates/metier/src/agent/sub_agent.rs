//! Which skills a sub-agent gets: those that are named, those that fit its task, or the coding pipeline.

use metier_model::text::shell_word;

use super::{AgentRole, CODING_PIPELINE, is_coding};
use crate::{
    Error, Skills, Workspace,
    selection::{Incomplete, Task},
};

/// How the skills of a sub-agent are chosen. By default its task decides.
///
/// An example is at [`Workspace::sub_agent`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubAgentRequest {
    /// Skills by name.
    pub named: Vec<String>,
    /// Whether the skills that fit the task are added to them.
    pub select: bool,
    /// Whether the task is to write code; its words decide if not set.
    pub coding: Option<bool>,
}

/// A sub-agent with its skills: the result of [`Workspace::sub_agent`].
///
/// An example is at [`Workspace::sub_agent`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubAgent {
    /// What it can do, for [`ConversationOptions::role`](super::ConversationOptions::role).
    pub role: AgentRole,
    /// Where its skills come from.
    pub skills: SubAgentSkills,
}

/// Where the skills of a sub-agent come from. An example is at [`Workspace::sub_agent`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubAgentSkills {
    /// The request named them. It may have named none.
    Named,
    /// The task is to write code, and no skill was named.
    CodingPipeline,
    /// They fit the task: each name, and the first reason.
    Selected(Vec<(String, String)>),
}

impl Workspace {
    /// Chooses the skills of a sub-agent. [`Workspace::conversation`] checks them as a set.
    ///
    /// ```no_run
    /// use metier::agent::{ConversationOptions, SubAgentRequest};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let skills = workspace.agent_skills()?;
    /// let task = "add a test for the parser";
    /// let sub_agent = workspace.sub_agent(&skills, task, &SubAgentRequest::default())?;
    /// let options = ConversationOptions {
    ///     role: sub_agent.role,
    ///     ..ConversationOptions::about(task)
    /// };
    /// let conversation = workspace.conversation(&skills, options)?;
    /// # let _ = conversation;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When skills are selected and none fits the task, or when it needs the coding pipeline and a skill of that is missing.
    pub fn sub_agent(
        &self,
        skills: &Skills,
        task: &str,
        request: &SubAgentRequest,
    ) -> Result<SubAgent, Error> {
        let is_coding = request.coding.unwrap_or_else(|| is_coding(task));
        let (names, skills) = if request.select {
            let (names, reasons) = self.fitting(skills, task, is_coding)?;
            (names, SubAgentSkills::Selected(reasons))
        } else if request.named.is_empty() && is_coding {
            let names = CODING_PIPELINE.map(str::to_owned).to_vec();
            (names, SubAgentSkills::CodingPipeline)
        } else {
            (request.named.clone(), SubAgentSkills::Named)
        };
        let role = match names.is_empty() {
            true => AgentRole::SubAgent,
            false => AgentRole::SkillSet {
                skills: names,
                is_coding,
            },
        };
        Ok(SubAgent { role, skills })
    }

    /// The skills that fit a task, as `source:name`, and the reasons.
    #[allow(
        clippy::type_complexity,
        reason = "two lists that the caller destructures immediately"
    )]
    fn fitting(
        &self,
        skills: &Skills,
        task: &str,
        is_coding: bool,
    ) -> Result<(Vec<String>, Vec<(String, String)>), Error> {
        let matches = self.select(
            skills,
            Task {
                coding: Some(is_coding),
                by_text: false,
                ..Task::new(task)
            },
        );
        let selection = matches.selection();
        if let Some(incomplete) = &selection.incomplete {
            let error = Error::unmet(Incomplete::CODE, incomplete.to_string());
            return Err(match incomplete.hint() {
                Some(hint) => error.hint(hint),
                None => error,
            });
        }
        if selection.picks.is_empty() {
            let message = "no skill fits the task, so no sub-agent was started";
            let task = shell_word(task);
            return Err(Error::unmet("no-skill", message).hint(format!(
                "name some with --skills; `metier why {task} NAME` explains why one does not fit"
            )));
        }
        let inventory = skills.inventory();
        let picks = selection.picks.iter().map(|pick| {
            let entry = inventory.entry(pick.skill);
            let why = pick.why.first().map_or("", |found| found.detail.as_str());
            let (name, why) = (entry.name().into_owned(), why.to_owned());
            (format!("{}:{name}", entry.source), (name, why))
        });
        Ok(picks.unzip())
    }
}
