//! What agents stand on here: the skills of this run, models from the configuration, and a runtime for each session.

use std::{
    env,
    sync::{Arc, OnceLock},
    time::Duration,
};

use metier_agent::{
    Answer, Budget, BudgetLimits, Cancel, Chosen, Delta, Endpoint, Ground, Limits, Listener,
    ModelError, ModelName, Price, Provider, Report, Request, Settings, Shared, Voice,
};
use metier_catalog::{ProjectLimits, project_files};
use metier_config::Config;
use metier_policy::{Approver, SessionAnswers};
use metier_runtime::{
    Inventory,
    live::{Model, Runtime},
};

use crate::{
    active::{self, Stage},
    approver::Terminal,
    failure::Failure,
    machine::{self, timestamp},
    office,
    output::count,
    session::Session,
    talk::Screen,
};

/// The ground of all sessions of this run.
pub(crate) struct Agents {
    session: Session,
    inventory: Arc<Inventory>,
    /// Ends whatever waits.
    cancel: Cancel,
    screen: Arc<Screen>,
    /// The files of the project, listed when a trigger asks about them.
    files: OnceLock<Vec<String>>,
    /// What was answered about acts; sub-agents share it with the session that started them.
    answers: Arc<SessionAnswers>,
    /// The session that was opened first: those after it are sub-agents.
    first: OnceLock<String>,
}

impl Agents {
    pub(crate) fn new(
        session: &Session,
        inventory: &Arc<Inventory>,
        cancel: Cancel,
        screen: &Arc<Screen>,
    ) -> Arc<Self> {
        Arc::new(Self {
            session: session.clone(),
            inventory: Arc::clone(inventory),
            cancel,
            screen: Arc::clone(screen),
            files: OnceLock::new(),
            answers: Arc::default(),
            first: OnceLock::new(),
        })
    }

    /// What sessions stand on.
    pub(crate) fn ground(self: &Arc<Self>) -> Arc<dyn Ground> {
        Arc::clone(self) as _
    }

    /// Whether somebody pressed Ctrl-C.
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// The model for skills that are run by themselves. Unless one is named, whether there is any is found out when somebody asks it.
    pub(crate) fn voice(self: &Arc<Self>, model: Option<&str>) -> Result<Voice, Report> {
        let chosen = model.map(|name| self.model(Some(name))).transpose()?;
        let ground = self.ground();
        Ok(Voice::new(
            &ground,
            chosen,
            self.budget(),
            self.cancel.clone(),
        ))
    }

    /// What the sessions of this run share.
    pub(crate) fn shared(&self, listener: Arc<dyn Listener>) -> Shared {
        Shared {
            budget: self.budget(),
            cancel: self.cancel.clone(),
            listener,
        }
    }

    fn budget(&self) -> Arc<Budget> {
        let agent = &self.session.config.agent;
        let limits = BudgetLimits {
            requests: agent.max_requests,
            calls: agent.max_tool_calls,
            tokens: agent.max_total_tokens,
        };
        Arc::new(Budget::new(limits))
    }
}

impl Ground for Agents {
    fn inventory(&self) -> &Arc<Inventory> {
        &self.inventory
    }

    fn config(&self) -> &Config {
        &self.session.config
    }

    fn project_files(&self) -> &[String] {
        self.files.get_or_init(|| {
            let listed = project_files(&self.session.machine.project, ProjectLimits::default());
            if listed.truncated {
                let files = count(listed.files.len(), "file");
                let message = format!("the project has more than {files}; triggers see no others");
                self.session.output.warn(&message);
            }
            listed.files
        })
    }

    fn open(&self, id: &str, voice: Arc<dyn Model>) -> Result<Runtime, Report> {
        let terminal = Terminal::new(&self.session.output);
        let by_subagent = self.first.get_or_init(|| id.to_owned()) != id;
        let screen = Arc::clone(&self.screen);
        let terminal = terminal.within(self.cancel.clone(), screen, by_subagent);
        let is_attended = self.session.output.is_attended();
        let stage = Stage {
            id: Some(id),
            model: Some(voice),
            approver: is_attended.then(|| Arc::new(terminal) as Arc<dyn Approver>),
            stop: Some(self.cancel.flag()),
            answers: Some(Arc::clone(&self.answers)),
            ..Stage::default()
        };
        active::open(&self.session, &self.inventory, stage).map_err(|failure| failure.to_report())
    }

    fn model(&self, name: Option<&str>) -> Result<Chosen, Report> {
        let agent = &self.session.config.agent;
        let settings = Settings::from(agent);
        let Some(name) = name.or(agent.model.as_deref()) else {
            return Err(Report::new("no-model", "no model is configured")
                .hint("name one with --model anthropic/NAME, openai/NAME or ollama/NAME, or for good: metier config agent.model PROVIDER/NAME"));
        };
        let name =
            ModelName::parse(name, settings.provider).map_err(|error| Report::from(&error))?;
        let lookup = |variable: &str| env::var(variable).ok();
        let endpoint =
            Endpoint::resolve(&name, &settings, &lookup).map_err(|error| Report::from(&error))?;
        let price = Price::find(&agent.prices, &name)
            .map_err(|error| Report::new("price", error.to_string()).hint(error.hint()))?;
        let limits = Limits::within(Duration::from_secs(agent.timeout));
        Ok(Chosen {
            model: Arc::new(Watched {
                model: Provider::new(endpoint, limits),
                screen: Arc::clone(&self.screen),
            }),
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

/// A model that is seen to be waited for.
struct Watched {
    model: Provider,
    screen: Arc<Screen>,
}

impl metier_agent::Model for Watched {
    fn answer(
        &self,
        request: &Request,
        told: &mut dyn FnMut(Delta<'_>),
        cancel: &Cancel,
    ) -> Result<Answer, ModelError> {
        self.screen
            .while_waiting(|| self.model.answer(request, told, cancel))
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
