//! The inventory of our own agent.

use metier_catalog::Catalog;
use metier_model::Need;
use metier_runtime::Inventory;

use super::{AgentFiles, Workspace};
use crate::Error;

impl Workspace {
    /// Everything that is there, judged for our own agent, which knows its tools: a skill that needs another one is not ready.
    pub fn agent_inventory(&self) -> Result<Inventory, Error> {
        let agent = AgentFiles::read(self);
        let (roots, builtins) = self.roots(&agent)?;
        let mode = self.mode();
        let catalog = self.look(roots, builtins, mode, self.index().as_ref());
        let tools = match &self.config.agent.tools {
            Some(_) => None,
            None => Some(agent_tools(&catalog)),
        };
        Ok(self.judge(catalog, mode, &agent.selection, tools.as_deref()))
    }
}

/// The tools of our own agent: the program's, and those that skills ask for by the name of a skill that is there (`kubernetes__apply`).
pub(super) fn agent_tools(catalog: &Catalog) -> Vec<String> {
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
    own.chain(of_skills).collect()
}
