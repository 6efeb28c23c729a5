//! The inventory of our own agent.

use metier_catalog::Catalog;
use metier_model::Need;
use metier_runtime::Inventory;

use super::{AgentFiles, Workspace};
use crate::Error;

impl Workspace {
    #[cfg(feature = "mcp")]
    fn server_tool_names(&self) -> Vec<String> {
        use metier_agent::ToolServers;
        let tools = self.server_tools();
        let names = tools.tools().iter().map(|tool| tool.full_name().to_owned());
        names.collect()
    }

    #[cfg(not(feature = "mcp"))]
    fn server_tool_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// All skills, judged for our own agent, which knows its tools: a skill that needs another one is not ready.
    pub(crate) fn agent_inventory(&self) -> Result<Inventory, Error> {
        let agent = AgentFiles::read(self);
        let (roots, builtins) = self.roots(&agent)?;
        let mode = self.mode();
        let catalog = self.look(roots, builtins, mode, self.index().as_ref(), self.limits());
        let tools = match &self.config.agent.tools {
            Some(_) => None,
            None => Some(self.own_agent_tools(&catalog)),
        };
        Ok(self.judge(catalog, mode, &agent.selection, tools.as_deref()))
    }

    /// The tools that metier's own agent has: its own, those of skills, and those of MCP servers.
    pub(super) fn own_agent_tools(&self, catalog: &Catalog) -> Vec<String> {
        let tools = agent_tools(catalog).chain(self.server_tool_names());
        tools.collect()
    }
}

/// The tools of our own agent: the program's, and those that skills ask for by the name of a skill that is there (`kubernetes__apply`).
fn agent_tools(catalog: &Catalog) -> impl Iterator<Item = String> {
    let cards = || catalog.entries.iter().filter_map(|one| one.card.as_ref());
    let is_there = |skill: &str| cards().any(|card| *card.name == *skill);
    let of_skills = cards()
        .flat_map(|card| &card.requirements)
        .filter_map(|requirement| match &requirement.need {
            Need::Tool(name) => Some(name),
            _ => None,
        })
        .filter(|name| {
            name.split_once("__")
                .is_some_and(|(skill, _)| is_there(skill))
        })
        .map(|name| name.to_string());
    let own = metier_agent::tool_names().map(str::to_owned);
    let of_skills: Vec<String> = of_skills.collect();
    own.chain(of_skills)
}
