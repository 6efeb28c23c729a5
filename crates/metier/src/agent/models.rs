//! The models of a workspace: names, keys and budgets come from the configuration and the environment.

use std::{env, sync::Arc, time::Duration};

use metier_agent::{
    AgentContext, BudgetLimits, Cancel, ChosenModel, ErrorReport, EventListener, LanguageModel,
    ModelError, ModelRequest, ModelResponse, ResponseDelta, SearchedSkill,
};
use metier_catalog::{ProjectLimits, project_files};
use metier_config::Config;

use super::report;
use crate::{
    NoticeLevel, Skills, Workspace, execution_context,
    machine::{self, timestamp},
    text::{count, unused_ignore_file},
};

/// How long skills are scanned before a model's search.
const SEARCH_SCAN_TIME: Duration = Duration::from_secs(2);

/// The context that a conversation shares with its sub-agents.
pub(super) fn context(
    workspace: &Workspace,
    skills: &Skills,
    listener: &Arc<dyn EventListener>,
) -> AgentContext {
    let (config, listener) = (Arc::clone(&workspace.config), Arc::clone(listener));
    let models = move |name: Option<&str>| {
        let chosen = choose(&config, name)?;
        let model: Arc<dyn LanguageModel> = Arc::new(Observed {
            model: chosen.model,
            listener: Arc::clone(&listener),
        });
        Ok(ChosenModel { model, ..chosen })
    };
    let files = workspace.clone();
    let context = AgentContext::new(
        Arc::clone(&skills.inventory),
        Arc::clone(&workspace.config),
        models,
        || execution_context::fresh_id().map_err(|error| report(&error)),
        || timestamp(machine::now()),
    )
    .listing_files(move || listed(&files))
    .with_use(workspace.recent_use());
    let (searched, all) = (workspace.clone(), skills.clone());
    let context = context.searching(move |query, limit| {
        let found = searched.search_skills(&all, query, limit, Some(SEARCH_SCAN_TIME));
        let found = found.into_iter().map(|found| SearchedSkill {
            name: found.name,
            source: found.source,
            description: found.description,
            why: found.why,
        });
        found.collect()
    });
    #[cfg(feature = "mcp")]
    let context = context.with_servers(workspace.server_tools());
    context
}

/// A model by name, or the configured one.
pub(super) fn choose(config: &Config, name: Option<&str>) -> Result<ChosenModel, ErrorReport> {
    ChosenModel::configured(config, name, &|variable| env::var(variable).ok())
}

/// The configured limits of a turn.
pub(super) fn limits(workspace: &Workspace) -> BudgetLimits {
    let agent = &workspace.config.agent;
    BudgetLimits {
        requests: agent.max_requests,
        calls: agent.max_tool_calls,
        tokens: agent.max_total_tokens,
    }
}

/// The files of the project, for triggers.
fn listed(workspace: &Workspace) -> Vec<String> {
    let listed = project_files(&workspace.machine.project, ProjectLimits::default());
    if listed.truncated {
        let files = count(listed.files.len(), "file");
        let message = format!("the project has more than {files}; triggers don't match the others");
        workspace.notices.notice(NoticeLevel::Warning, &message);
    }
    for file in &listed.unused {
        let message = unused_ignore_file(file);
        workspace.notices.notice(NoticeLevel::Warning, &message);
    }
    listed.files
}

/// A model whose listener knows when an answer is awaited.
struct Observed {
    model: Arc<dyn LanguageModel>,
    listener: Arc<dyn EventListener>,
}

impl LanguageModel for Observed {
    fn answer(
        &self,
        request: &ModelRequest,
        told: &mut dyn FnMut(ResponseDelta<'_>),
        cancel: &Cancel,
    ) -> Result<ModelResponse, ModelError> {
        let mut answer = Err(ModelError::Cancelled);
        self.listener
            .while_waiting(&mut || answer = self.model.answer(request, told, cancel));
        answer
    }
}
