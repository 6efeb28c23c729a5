//! The program's own tools: a model uses them to find skills, load them, and start sub-agents.

use metier_runtime::{Inventory, InventorySkill, Status, finding::SkillFinder, prompt};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{ModelTool, SearchedSkill, context::AgentContext};

/// One of the program's own tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BuiltinTool {
    /// All skills that a model may use.
    ListSkills,
    /// Searches skills with a few words.
    SearchSkills,
    /// Loads a skill into the conversation.
    ActivateSkill,
    /// Reads a file of a skill.
    ReadSkillResource,
    /// Starts a sub-agent with a task.
    SessionsSpawn,
}

impl BuiltinTool {
    /// All of them, in the order in which a model sees them.
    pub(crate) const ALL: [Self; 5] = [
        Self::ListSkills,
        Self::SearchSkills,
        Self::ActivateSkill,
        Self::ReadSkillResource,
        Self::SessionsSpawn,
    ];

    /// All tools of an orchestrator: it reads nothing and loads nothing itself.
    pub(crate) const ORCHESTRATION: &'static [Self] =
        &[Self::ListSkills, Self::SearchSkills, Self::SessionsSpawn];

    /// For a conversation at the maximum nesting depth.
    pub(crate) const WITHOUT_SPAWN: &'static [Self] = &[
        Self::ListSkills,
        Self::SearchSkills,
        Self::ActivateSkill,
        Self::ReadSkillResource,
    ];

    /// Its name for a model.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ListSkills => "list_skills",
            Self::SearchSkills => "search_skills",
            Self::ActivateSkill => "activate_skill",
            Self::ReadSkillResource => "read_skill_resource",
            Self::SessionsSpawn => "sessions_spawn",
        }
    }

    /// The specification for the model. `names` are the skills that it can choose; `None` if there are more than it gets.
    pub(crate) fn spec(self, names: Option<&[&str]>) -> ModelTool {
        let name = match names {
            Some(names) => json!({ "type": "string", "enum": names }),
            None => json!({ "type": "string" }),
        };
        let (description, properties, required): (&str, Value, &[&str]) = match self {
            Self::ListSkills => (
                "List the skills that can be activated, with their sources and purposes.",
                json!({}),
                &[],
            ),
            Self::SearchSkills => (
                "Search the names, descriptions and instructions of all skills. Returns the best ten with the reasons. Use it when no listed skill fits.",
                json!({ "query": { "type": "string", "description": "the task, or parts of it" } }),
                &["query"],
            ),
            Self::ActivateSkill => (
                "Load a skill: its full instructions come back, and its tools can be called from then on. \
                 Do this before you start a task that its description matches.",
                json!({
                    "name": name,
                    "arguments": { "type": "string", "description": "input for the skill" },
                }),
                &["name"],
            ),
            Self::ReadSkillResource => (
                "Read a file of a skill, by its path relative to the skill's folder.",
                json!({ "name": name, "path": { "type": "string" } }),
                &["name", "path"],
            ),
            Self::SessionsSpawn => (
                "Give a task to a sub-agent and wait for its report. With `skills` it has exactly the tools that those skills allow, \
                 and nothing else; an incompatible set is rejected with all its errors. A task that writes code needs \
                 `specification-engine` and `opencode-implementer`. It knows nothing of this \
                 conversation: the task must say all that it needs.",
                json!({
                    "task": { "type": "string" },
                    "skills": { "type": "array", "items": { "type": "string" } },
                    "model": { "type": "string", "description": "another model, as provider/model" },
                    "coding": { "type": "boolean", "enum": [true], "description": "whether the task is coding; inferred from the task if omitted" },
                }),
                &["task"],
            ),
        };
        ModelTool {
            name: self.name().to_owned(),
            description: description.to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            }),
        }
    }
}

/// The tools that an agent has with any active skills: the core tools, those of the two coding skills, and the conversation's own.
pub fn tool_names() -> impl Iterator<Item = &'static str> {
    let core = [
        "read", "write", "edit", "glob", "grep", "shell", "specKit", "opencode",
    ];
    core.into_iter()
        .chain(BuiltinTool::ALL.map(BuiltinTool::name))
}

/// `activate_skill`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActivateInput {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) arguments: String,
}

/// `read_skill_resource`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadResourceInput {
    pub(crate) name: String,
    pub(crate) path: String,
}

/// `sessions_spawn`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpawnInput {
    /// The task.
    pub(crate) task: String,
    /// The skills for it; without any it is an ordinary agent or, for coding, one with the coding pipeline.
    #[serde(default)]
    pub(crate) skills: Option<Vec<String>>,
    /// A model other than the parent's.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// Whether the task is coding; otherwise inferred from the task. `false` is the same as not given.
    #[serde(default)]
    pub(crate) coding: Option<bool>,
}

/// `search_skills`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchInput {
    pub(crate) query: String,
}

/// Reads the arguments of a call.
///
/// # Errors
/// The problem with the arguments.
pub(crate) fn read<T: for<'de> Deserialize<'de>>(input: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(input)).map_err(|error| error.to_string())
}

/// The maximum number of skills that are named.
const MAX_LISTED: usize = 200;
const MAX_FOUND: usize = 10;

/// A skill that a model can choose: its name and its description.
pub(crate) fn offered(inventory: &Inventory) -> impl Iterator<Item = (&str, &InventorySkill)> {
    let ready = inventory
        .skills
        .iter()
        .filter(|skill| skill.status == Status::Ready);
    ready.filter_map(|skill| {
        let card = inventory.entry(skill).card.as_ref()?;
        card.model_invocable.then_some((card.name.as_str(), skill))
    })
}

fn line(inventory: &Inventory, skill: &InventorySkill) -> String {
    let entry = inventory.entry(skill);
    entry.card.as_ref().map_or_else(String::new, |card| {
        let about = prompt::describe(card);
        let about: Vec<&str> = about.split_whitespace().collect();
        let (name, source) = (card.name.as_str(), entry.source);
        format!("- {name} ({source}): {}\n", about.join(" "))
    })
}

/// The skills, by name.
pub(crate) fn list(inventory: &Inventory) -> String {
    let mut all: Vec<(&str, &InventorySkill)> = offered(inventory).collect();
    all.sort_by_key(|(name, _)| *name);
    let more = all.len().saturating_sub(MAX_LISTED);
    let mut text: String = all
        .iter()
        .take(MAX_LISTED)
        .map(|(_, skill)| line(inventory, skill))
        .collect();
    if more > 0 {
        text.push_str(&format!("and {more} more: call search_skills\n"));
    }
    if text.is_empty() {
        text.push_str("there are no skills\n");
    }
    text
}

/// The skills that fit a query best, each with the reason.
pub(crate) fn search(context: &AgentContext, query: &str) -> String {
    let found = context.search(query, MAX_FOUND);
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = |skill: SearchedSkill| {
        let (name, source) = (&skill.name, skill.source);
        let (about, why) = (flat(&skill.description), flat(&skill.why));
        format!("- {name} ({source}): {about} [{why}]\n")
    };
    let text: String = found.into_iter().map(line).collect();
    if text.is_empty() {
        return format!("no skill matches `{query}`\n");
    }
    text
}

/// The skills whose name and description fit a query best.
pub(crate) fn search_cards(inventory: &Inventory, query: &str, limit: usize) -> Vec<SearchedSkill> {
    let finder = SkillFinder::of_cards(inventory);
    // An index in memory is never damaged.
    let found = finder
        .find(query, limit.saturating_mul(2))
        .unwrap_or_default();
    let skills = found.skills.into_iter().filter_map(|found| {
        let entry = inventory.entry(inventory.skills.get(found.position)?);
        let card = entry.card.as_ref().filter(|card| card.model_invocable)?;
        Some(SearchedSkill {
            name: card.name.as_str().to_owned(),
            source: entry.source.as_str(),
            description: prompt::describe(card).into_owned(),
            why: found.hit.told(),
        })
    });
    skills.take(limit).collect()
}
