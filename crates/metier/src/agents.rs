//! What agents stand on here: the skills of this run, models from the configuration, and a runtime for each session.

use std::{env, sync::Arc, time::Duration};

use metier_agent::{
    Budget, BudgetLimits, Cancel, Chosen, Endpoint, Ground, Limits, Listener, ModelError,
    ModelName, Price, Provider, Report, Settings, Shared,
};
use metier_config::Config;
use metier_runtime::{
    Inventory,
    live::{Model, Runtime},
};

use crate::{
    active::{self, Stage},
    failure::Failure,
    machine::{self, timestamp},
    office,
    session::Session,
};

/// The ground of all sessions of this run.
pub(crate) struct Agents<'s> {
    session: &'s Session<'s>,
    inventory: &'s Inventory,
}

impl<'s> Agents<'s> {
    pub(crate) fn new(session: &'s Session<'s>, inventory: &'s Inventory) -> Self {
        Self { session, inventory }
    }

    /// What the sessions of this run share.
    pub(crate) fn shared<'l>(&self, listener: &'l dyn Listener, cancel: Cancel) -> Shared<'l> {
        let agent = &self.session.config.agent;
        let limits = BudgetLimits {
            requests: agent.max_requests,
            calls: agent.max_tool_calls,
            tokens: agent.max_total_tokens,
        };
        Shared {
            budget: Arc::new(Budget::new(limits)),
            cancel,
            listener,
        }
    }
}

impl Ground for Agents<'_> {
    fn inventory(&self) -> &Inventory {
        self.inventory
    }

    fn config(&self) -> &Config {
        &self.session.config
    }

    fn open(
        &self,
        id: &str,
        voice: &dyn Model,
        work: &mut dyn FnMut(&Runtime<'_>),
    ) -> Result<(), Report> {
        let stage = Stage {
            id: Some(id),
            model: Some(voice),
            ..Stage::default()
        };
        active::on(self.session, self.inventory, &[], stage, |runtime| {
            work(runtime);
            Ok(())
        })
        .map_err(|failure| failure.to_report())
    }

    fn model(&self, name: Option<&str>) -> Result<Chosen, Report> {
        let agent = &self.session.config.agent;
        let settings = Settings::from(agent);
        let Some(name) = name.or(agent.model.as_deref()) else {
            return Err(Report::new("no-model", "no model is configured")
                .hint("name one with --model anthropic/NAME, openai/NAME or ollama/NAME, or for good: metier config agent.model PROVIDER/NAME"));
        };
        let refuse = |error: &ModelError| {
            let code = match error {
                ModelError::NoKey { .. } | ModelError::BadKey { .. } => "no-key",
                _ => "no-model",
            };
            let report = Report::new(code, error.to_string());
            match error.hint() {
                Some(hint) => report.hint(hint),
                None => report,
            }
        };
        let name = ModelName::parse(name, settings.provider).map_err(|error| refuse(&error))?;
        let lookup = |variable: &str| env::var(variable).ok();
        let endpoint =
            Endpoint::resolve(&name, &settings, &lookup).map_err(|error| refuse(&error))?;
        let price = Price::find(&agent.prices, &name)
            .map_err(|error| Report::new("price", error.to_string()).hint(error.hint()))?;
        let limits = Limits::within(Duration::from_secs(agent.timeout));
        Ok(Chosen {
            model: Arc::new(Provider::new(endpoint, limits)),
            name,
            effort: None,
            price,
        })
    }

    fn now(&self) -> String {
        timestamp(machine::now())
    }

    fn fresh_id(&self) -> Result<String, Report> {
        office::fresh_id().map_err(|failure| failure.to_report())
    }
}

/// What an agent could not do, as this program says it.
pub(crate) fn failure(report: Report) -> Failure {
    let failure = if report.is_broken {
        Failure::broken(report.code, report.message)
    } else {
        Failure::unmet(report.code, report.message)
    };
    let failure = match report.hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    match report.skill {
        Some(skill) => failure.skill(skill),
        None => failure,
    }
}
