//! The tools that skills contribute, without calling any.

use std::sync::Arc;

use metier_catalog::CatalogEntry;
use metier_model::{Backend, SkillManifest, SkillType, Strictness, text::shell_word};
use metier_policy::Headless;
use metier_runtime::{
    Inventory, Status,
    live::{Tool, full_name},
};
use metier_sdk::wire::ToolSpec;

use crate::{
    Error, Skills, Workspace, explain,
    session_setup::{self, SessionSetup},
};

/// How many skills are started for one list.
const MOST_STARTED: usize = 20;

/// The tools of several skills.
///
/// An example is at [`Workspace::tools`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolList {
    /// The tools, by skill.
    pub tools: Vec<Tool>,
    /// Skills that were not started, so that their tools are unknown.
    pub not_started: Vec<String>,
}

impl Workspace {
    /// The tools of one skill: those that its code registers, or, if it is not permitted to start, those of its manifest.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for tool in workspace.tools(&workspace.skills()?, "kubernetes")? {
    ///     println!("{}: {}", tool.name, tool.spec.description);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skill can't be used, does not start, or needs a permission that it does not have.
    pub fn tools(&self, skills: &Skills, name: &str) -> Result<Vec<Tool>, Error> {
        let inventory = &skills.inventory;
        let entry = inventory.entry(explain::find_usable(self, inventory, name)?);
        started(self, inventory, entry).or_else(|error| {
            if !error.is_about_permission() {
                return Err(error);
            }
            let declared = declared(self, entry);
            if !declared.is_empty() {
                return Ok(declared);
            }
            let name = entry.name();
            let word = shell_word(&name);
            Err(error.hint(format!(
                "its tools are known once it is permitted to run: metier permissions {word} --approve"
            )))
        })
    }

    /// The tools of every skill that is ready. Manifests are read first; interpreted code is started if its manifest declares no tools, programs
    /// and libraries are not.
    ///
    /// An example is at [`Workspace::tools`].
    #[must_use]
    pub fn all_tools(&self, skills: &Skills) -> ToolList {
        let inventory = &skills.inventory;
        let (mut list, mut left) = (ToolList::default(), MOST_STARTED);
        for skill in &inventory.skills {
            let entry = inventory.entry(skill);
            let card = entry.card.as_ref();
            let is_ready = skill.status == Status::Ready;
            let Some(card) = card.filter(|card| is_ready && card.types.contains(SkillType::Tool))
            else {
                continue;
            };
            let Some(backend) = card.backend else {
                continue;
            };
            let mut tools = declared(self, entry);
            let is_interpreted = matches!(backend, Backend::Starlark | Backend::Js);
            if tools.is_empty() && is_interpreted && left > 0 {
                left -= 1;
                tools = started(self, inventory, entry).unwrap_or_default();
            }
            if tools.is_empty() {
                list.not_started.push(entry.name().into_owned());
            }
            list.tools.extend(tools);
        }
        list
    }
}

/// The tools that a skill's code registers when it starts, with the permissions that it already has.
fn started(
    workspace: &Workspace,
    inventory: &Arc<Inventory>,
    entry: &CatalogEntry,
) -> Result<Vec<Tool>, Error> {
    let place = entry.place.path().to_string_lossy().into_owned();
    let stage = SessionSetup {
        describes: true,
        approver: Some(Arc::new(Headless)),
        ..SessionSetup::default()
    };
    let own = entry.name();
    let mut tools = session_setup::on(workspace, inventory, &[&place], stage, |runtime| {
        Ok(runtime.tools())
    })?;
    tools.retain(|tool| tool.skill == *own);
    Ok(tools)
}

/// The tools that a manifest declares.
fn declared(workspace: &Workspace, entry: &CatalogEntry) -> Vec<Tool> {
    let limit = workspace.config.limits.max_skill_bytes;
    let manifest: Option<SkillManifest> = entry
        .load(Strictness::Lenient, limit)
        .ok()
        .and_then(|(parsed, _)| parsed.manifest);
    let tools = manifest.map(|manifest| manifest.code.tools);
    let name = entry.name();
    let tool = |tool: metier_model::ToolDefinition| Tool {
        name: full_name(&name, entry.source, &tool.name),
        skill: name.to_string(),
        spec: ToolSpec {
            name: tool.name.to_string(),
            description: tool.description.to_string(),
            input_schema: tool
                .input_schema
                .unwrap_or_else(|| serde_json::json!({ "type": "object" })),
        },
    };
    tools.unwrap_or_default().into_iter().map(tool).collect()
}
