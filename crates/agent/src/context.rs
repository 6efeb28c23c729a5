//! The values that the conversations of one run share: skills, configuration and models.

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

use metier_config::Config;
use metier_runtime::{Inventory, live::ServedTool};
use metier_sdk::wire::ToolOutput;
use serde_json::Value;

use crate::{
    Cancel, Endpoint, ErrorReport, LanguageModel, ModelName, Price, Provider, ProviderLimits,
    ProviderSettings, ReasoningEffort, builtin_tools,
};

type Models = Box<dyn Fn(Option<&str>) -> Result<ChosenModel, ErrorReport> + Send + Sync>;
type Ids = Box<dyn Fn() -> Result<String, ErrorReport> + Send + Sync>;
type Clock = Box<dyn Fn() -> String + Send + Sync>;
type Files = Box<dyn Fn() -> Vec<String> + Send + Sync>;
type Search = Box<dyn Fn(&str, usize) -> Vec<SearchedSkill> + Send + Sync>;

/// A skill that a model's search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchedSkill {
    /// Its name.
    pub name: String,
    /// Its source: `user`, `project` …
    pub source: &'static str,
    /// Its description.
    pub description: String,
    /// The words of the query, and where the skill contains them.
    pub why: String,
}

/// Servers that the user configured, and the tools that they offer.
pub trait ToolServers: Send + Sync {
    /// All of their tools.
    fn tools(&self) -> &[ServedTool];

    /// Calls a tool. The runtime has checked and recorded the call; it ends when `cancel` is set.
    ///
    /// # Errors
    /// Why the call failed.
    fn call(&self, tool: &ServedTool, input: &Value, cancel: &Cancel)
    -> Result<ToolOutput, String>;
}

/// No servers.
struct NoServers;

impl ToolServers for NoServers {
    fn tools(&self) -> &[ServedTool] {
        &[]
    }

    fn call(&self, _: &ServedTool, _: &Value, _: &Cancel) -> Result<ToolOutput, String> {
        Err("there is no server".to_owned())
    }
}

/// Skills, configuration and models for a session and its sub-agents, which run on their own threads.
pub struct AgentContext {
    inventory: Arc<Inventory>,
    config: Arc<Config>,
    models: Models,
    ids: Ids,
    clock: Clock,
    files: Files,
    listed: OnceLock<Vec<String>>,
    servers: Arc<dyn ToolServers>,
    search: Option<Search>,
    used: BTreeMap<String, f64>,
}

impl AgentContext {
    /// All conversations see these skills. `models` finds the model with a given name, or the configured one; `ids` returns a new session
    /// id;
    /// `clock` returns the time as text.
    pub fn new(
        inventory: Arc<Inventory>,
        config: Arc<Config>,
        models: impl Fn(Option<&str>) -> Result<ChosenModel, ErrorReport> + Send + Sync + 'static,
        ids: impl Fn() -> Result<String, ErrorReport> + Send + Sync + 'static,
        clock: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            inventory,
            config,
            models: Box::new(models),
            ids: Box::new(ids),
            clock: Box::new(clock),
            files: Box::new(Vec::new),
            listed: OnceLock::new(),
            servers: Arc::new(NoServers),
            search: None,
            used: BTreeMap::new(),
        }
    }

    /// This context with a function that lists the files of the project, relative to its root and with forward slashes. It is called only once,
    /// when a trigger matches files.
    #[must_use]
    pub fn listing_files(
        mut self,
        files: impl Fn() -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.files = Box::new(files);
        self
    }

    /// This context with a function that searches skills, up to a limit; without it only names and descriptions are searched.
    #[must_use]
    pub fn searching(
        mut self,
        search: impl Fn(&str, usize) -> Vec<SearchedSkill> + Send + Sync + 'static,
    ) -> Self {
        self.search = Some(Box::new(search));
        self
    }

    /// This context with how often skills were used lately, by name: a catalog that does not fit describes these first.
    #[must_use]
    pub fn with_use(mut self, used: BTreeMap<String, f64>) -> Self {
        self.used = used;
        self
    }

    pub(crate) fn used_skills(&self) -> BTreeMap<String, f64> {
        self.used.clone()
    }

    pub(crate) fn search(&self, query: &str, limit: usize) -> Vec<SearchedSkill> {
        match &self.search {
            Some(search) => search(query, limit),
            None => builtin_tools::search_cards(&self.inventory, query, limit),
        }
    }

    /// This context with tools of servers.
    #[must_use]
    pub fn with_servers(mut self, servers: Arc<dyn ToolServers>) -> Self {
        self.servers = servers;
        self
    }

    pub(crate) fn servers(&self) -> &Arc<dyn ToolServers> {
        &self.servers
    }

    /// The skills of this run.
    #[must_use]
    pub fn inventory(&self) -> &Arc<Inventory> {
        &self.inventory
    }

    /// The user's configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The model with a given name, or the configured one.
    ///
    /// # Errors
    /// When no model is configured, when the name has no provider, or when there is no key.
    pub fn model(&self, name: Option<&str>) -> Result<ChosenModel, ErrorReport> {
        (self.models)(name)
    }

    pub(crate) fn project_files(&self) -> &[String] {
        self.listed.get_or_init(&self.files)
    }

    pub(crate) fn now(&self) -> String {
        (self.clock)()
    }

    pub(crate) fn fresh_id(&self) -> Result<String, ErrorReport> {
        (self.ids)()
    }
}

/// A model with its name and price.
#[derive(Clone)]
pub struct ChosenModel {
    /// The connection to the model.
    pub model: Arc<dyn LanguageModel>,
    /// As `provider/model`.
    pub name: ModelName,
    /// The effort, if a skill requested one.
    pub effort: Option<ReasoningEffort>,
    /// The prices of its tokens, if configured.
    pub price: Option<Price>,
}

impl ChosenModel {
    /// The model with a given name, or the one of `agent.model`. `lookup` returns the value of an environment variable, which can contain
    /// a key.
    ///
    /// # Errors
    /// When no model is configured, when the name has no provider, or when there is no key.
    pub fn configured(
        config: &Config,
        name: Option<&str>,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ErrorReport> {
        let agent = &config.agent;
        let settings = ProviderSettings::from(agent);
        let Some(name) = name.or(agent.model.as_deref()) else {
            return Err(ErrorReport::new("no-model", "no model is configured")
                .hint("name one with --model anthropic/NAME, openai/NAME or ollama/NAME, or permanently: metier config agent.model PROVIDER/NAME"));
        };
        let name =
            ModelName::parse(name, settings.provider).map_err(|error| ErrorReport::from(&error))?;
        let endpoint = Endpoint::resolve(&name, &settings, lookup)
            .map_err(|error| ErrorReport::from(&error))?;
        let price = Price::find(&agent.prices, &name)
            .map_err(|error| ErrorReport::new("price", error.to_string()).hint(error.hint()))?;
        let limits = ProviderLimits::within(Duration::from_secs(agent.timeout));
        Ok(Self {
            model: Arc::new(Provider::new(endpoint, limits)),
            name,
            effort: None,
            price,
        })
    }
}

/// The model with a given name. A name without a provider means the provider of the conversation's model.
///
/// # Errors
/// When there is no such model, or no key for it.
pub(crate) fn model_beside(
    context: &AgentContext,
    name: &str,
    primary: &ModelName,
) -> Result<ChosenModel, ErrorReport> {
    let name = ModelName::parse(name, Some(primary.provider));
    let name = name.map_err(|error| ErrorReport::from(&error))?;
    context.model(Some(&name.to_string()))
}
