//! `metier tools`

use std::{process::ExitCode, sync::Arc};

use metier_catalog::Entry;
use metier_model::{Backend, Manifest, Mode, SkillType, text::shell_word};
use metier_policy::Headless;
use metier_runtime::{Inventory, Skill, Status};
use metier_wire::{ToolRow, ToolsDocument};

use crate::{
    active::{self, Stage},
    failure::Failure,
    output::{Tone, count, one_line},
    session::Session,
};

/// How many skills are started for one list.
const MOST_STARTED: usize = 20;

/// List the tools that skills contribute
///
/// A skill names its tools in its manifest or in its code. Code is started for that without a question and with no permission but those
/// that you gave it earlier; programs and libraries are not started unless the skill is named and approved.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill; without one, every skill that is ready
    name: Option<String>,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = Arc::new(session.inventory()?);
    let (tools, silent) = match &args.name {
        Some(name) => {
            let skill = super::find_usable(session, &inventory, name)?;
            (
                of_one(session, &inventory, inventory.entry(skill))?,
                Vec::new(),
            )
        }
        None => of_all(session, &inventory),
    };
    let output = &session.output;
    if output.is_json() {
        output.document(&ToolsDocument { tools })?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = String::new();
    for tool in &tools {
        let name = format!("{} {}", one_line(&tool.skill), one_line(&tool.tool));
        let name = output.paint(&name, Tone::Strong);
        page.push_str(&format!("{name}  {}\n", one_line(&tool.description)));
    }
    output.report(&page)?;
    if tools.is_empty() && silent.is_empty() {
        output.note("no tools");
    }
    if !silent.is_empty() {
        let names: Vec<String> = silent.iter().map(|name| one_line(name)).collect();
        let number = count(names.len(), "skill");
        output.note(&format!(
            "{number} not started, whose tools are known once they run: {}",
            names.join(", ")
        ));
        let first = silent.first().map(|name| shell_word(name));
        output.note(&format!(
            "{} metier tools {}",
            output.paint_talk("hint:", Tone::Note),
            first.unwrap_or_default()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// The tools of one skill, by its code; if that needs a permission that was not given, by its manifest.
fn of_one(
    session: &Session,
    inventory: &Arc<Inventory>,
    entry: &Entry,
) -> Result<Vec<ToolRow>, Failure> {
    let name = entry.name();
    started(session, inventory, entry).or_else(|failure| {
        if !failure.is_about_permission() {
            return Err(failure);
        }
        let named = named(session, entry);
        if !named.is_empty() {
            return Ok(named);
        }
        let word = shell_word(&name);
        Err(failure.hint(format!(
            "its tools are known once it may run: metier permissions {word} --approve"
        )))
    })
}

/// What manifests name and interpreted code registers; and the skills whose tools are not known yet.
fn of_all(session: &Session, inventory: &Arc<Inventory>) -> (Vec<ToolRow>, Vec<String>) {
    let (mut tools, mut silent, mut left) = (Vec::new(), Vec::new(), MOST_STARTED);
    let offering = inventory.skills.iter();
    for skill in offering.filter(|skill| offers(inventory, skill)) {
        let entry = inventory.entry(skill);
        let mut rows = named(session, entry);
        let backend = entry.card.as_ref().and_then(|card| card.backend);
        let is_interpreted = matches!(backend, Some(Backend::Starlark | Backend::Js));
        if rows.is_empty() && is_interpreted && left > 0 {
            left -= 1;
            rows = started(session, inventory, entry).unwrap_or_default();
        }
        if rows.is_empty() {
            silent.push(entry.name().into_owned());
        }
        tools.extend(rows);
    }
    (tools, silent)
}

/// The tools that a skill's code registers when it starts.
fn started(
    session: &Session,
    inventory: &Arc<Inventory>,
    entry: &Entry,
) -> Result<Vec<ToolRow>, Failure> {
    let place = entry.place.path().to_string_lossy().into_owned();
    let stage = Stage {
        describes: true,
        approver: Some(Arc::new(Headless)),
        ..Stage::default()
    };
    let own = entry.name();
    let tools = active::on(session, inventory, &[&place], stage, |runtime| {
        Ok(runtime.tools())
    })?;
    let tools = tools.into_iter().filter(|tool| tool.skill == *own);
    Ok(tools.map(ToolRow::from).collect())
}

/// The tools that a manifest names.
fn named(session: &Session, entry: &Entry) -> Vec<ToolRow> {
    let limit = session.config.limits.max_skill_bytes;
    let manifest: Option<Manifest> = entry
        .load(Mode::Lenient, limit)
        .ok()
        .and_then(|(parsed, _)| parsed.manifest);
    let tools = manifest.map(|manifest| manifest.code.tools);
    let name = entry.name();
    let row = |tool: metier_model::ToolDefinition| ToolRow {
        name: metier_runtime::live::full_name(&name, entry.source, &tool.name),
        skill: name.to_string(),
        tool: tool.name.to_string(),
        description: tool.description.to_string(),
        input_schema: tool
            .input_schema
            .unwrap_or_else(|| serde_json::json!({ "type": "object" })),
    };
    tools.unwrap_or_default().into_iter().map(row).collect()
}

fn offers(inventory: &Arc<Inventory>, skill: &Skill) -> bool {
    let card = inventory.entry(skill).card.as_ref();
    skill.status == Status::Ready
        && card.is_some_and(|card| card.types.contains(SkillType::Tool) && card.backend.is_some())
}
