//! The model for skills: a question, and a text as the answer. The tokens count against the budget of the conversation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metier_policy::ActTarget;
use metier_runtime::{granted_skill::DelegateError, live};

use crate::context::model_beside;
use crate::turn_usage::TurnUsage;
use crate::{AgentContext, Budget, Cancel, ChosenModel, ErrorReport, ModelMessage, ModelRequest};

/// Answers the questions of skills, with the conversation's model or another one that they name.
pub struct MeteredModel {
    context: Arc<AgentContext>,
    chosen: Option<ChosenModel>,
    budget: Arc<Budget>,
    cancel: Cancel,
    took: Mutex<TurnUsage>,
}

impl MeteredModel {
    /// For a conversation with this model, or without one: the configured model is then resolved at the first question.
    #[must_use]
    pub fn new(
        context: &Arc<AgentContext>,
        chosen: Option<ChosenModel>,
        budget: Arc<Budget>,
        cancel: Cancel,
    ) -> Self {
        Self {
            context: Arc::clone(context),
            chosen,
            budget,
            cancel,
            took: Mutex::default(),
        }
    }

    /// The model with a given name, or the session's.
    fn resolved(&self, model: Option<&str>) -> Result<ChosenModel, ErrorReport> {
        match (&self.chosen, model) {
            (Some(chosen), None) => Ok(chosen.clone()),
            (Some(session), Some(name)) => model_beside(&self.context, name, &session.name),
            (None, model) => self.context.model(model),
        }
    }

    fn took(&self) -> MutexGuard<'_, TurnUsage> {
        self.took.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The usage since the last call of this function.
    pub(crate) fn take_tally(&self) -> TurnUsage {
        std::mem::take(&mut *self.took())
    }
}

impl live::Model for MeteredModel {
    fn target(&self, model: Option<&str>) -> ActTarget {
        let Ok(ChosenModel { name, .. }) = self.resolved(model) else {
            // It can't be called either.
            return model.unwrap_or("default").into();
        };
        let means_it = |other: Option<&str>| {
            let found = self.resolved(other);
            found.is_ok_and(|found| found.name == name)
        };
        let target = ActTarget::new(&name.to_string())
            .known_as(&format!("{}:{}", name.provider, name.model), true)
            .known_as(&name.model, means_it(Some(&name.model)));
        match means_it(None) {
            true => target.known_as("default", true),
            false => target,
        }
    }

    fn answer(
        &self,
        prompt: &str,
        system: Option<&str>,
        model: Option<&str>,
    ) -> Result<String, DelegateError> {
        let chosen = self.resolved(model).map_err(|report| {
            let hint = report.hint.map(|hint| format!("; {hint}"));
            let message = report.message + &hint.unwrap_or_default();
            DelegateError::new("no-model", message)
        })?;
        self.budget
            .take_request()
            .map_err(|spent| DelegateError::new("budget", spent.to_string()))?;
        let request = ModelRequest {
            model: chosen.name.model.clone(),
            system: system.unwrap_or_default().into(),
            messages: vec![ModelMessage::User(prompt.to_owned())],
            tools: Arc::default(),
            max_tokens: max_tokens(&self.context),
            effort: chosen.effort,
            temperature: None,
        };
        self.took().requests += 1;
        let answer = chosen.model.answer(&request, &mut |_| {}, &self.cancel);
        let answer = answer.map_err(|error| DelegateError::new("model", error.to_string()))?;
        self.budget.use_tokens(answer.usage);
        self.took().answered(answer.usage, chosen.price);
        Ok(answer.text)
    }
}

/// Maximum length of an answer, in tokens.
pub(crate) fn max_tokens(context: &AgentContext) -> u32 {
    u32::try_from(context.config().agent.max_tokens).unwrap_or(u32::MAX)
}
