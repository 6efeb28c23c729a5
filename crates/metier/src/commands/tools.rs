//! `metier tools`

use std::process::ExitCode;

use metier_model::{Manifest, Mode, SkillType};
use metier_runtime::{Inventory, Skill, Status};
use metier_wire::{ToolRow, ToolsDocument};

use crate::{
    active,
    failure::Failure,
    output::{Tone, one_line},
    session::Session,
};

/// The tools that skills contribute
///
/// Without a name: what every ready skill declares in its manifest. With one, the skill is activated and says itself which tools
/// it has; that takes the permissions that it asks for.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill
    name: Option<String>,
}

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let (tools, silent) = match &args.name {
        Some(name) => {
            let skill = super::find_usable(session, &inventory, name)?;
            let own = inventory.entry(skill).name().into_owned();
            let tools = active::with(session, &inventory, &[name], |runtime| Ok(runtime.tools()))?;
            let tools = tools.into_iter().filter(|tool| tool.skill == own);
            (tools.map(ToolRow::from).collect(), Vec::new())
        }
        None => declared(session, &inventory),
    };
    let output = session.output;
    if output.is_json() {
        output.document(&ToolsDocument { tools })?;
        return Ok(ExitCode::SUCCESS);
    }
    for tool in &tools {
        let name = output.paint(
            &format!("{} {}", one_line(&tool.skill), one_line(&tool.tool)),
            Tone::Strong,
        );
        let about = one_line(&tool.description);
        output.content(&format!("{name}  {about}\n"))?;
    }
    if tools.is_empty() {
        output.note("no tools");
    }
    for name in silent {
        let word = metier_model::text::shell_word(&name);
        output.note(&format!(
            "{}: says when it runs; metier tools {word}",
            one_line(&name)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// What manifests declare, and the skills that have tools but don't name them.
fn declared(session: &Session<'_>, inventory: &Inventory) -> (Vec<ToolRow>, Vec<String>) {
    let (mut tools, mut silent) = (Vec::new(), Vec::new());
    for skill in inventory
        .skills
        .iter()
        .filter(|skill| offers(inventory, skill))
    {
        let entry = inventory.entry(skill);
        let name = entry.name();
        let limit = session.config.limits.max_skill_bytes;
        let manifest: Option<Manifest> = entry
            .load(Mode::Lenient, limit)
            .ok()
            .and_then(|(parsed, _)| parsed.manifest);
        let named = manifest
            .map(|manifest| manifest.code.tools)
            .unwrap_or_default();
        if named.is_empty() {
            silent.push(name.into_owned());
            continue;
        }
        tools.extend(named.into_iter().map(|tool| {
            ToolRow {
                name: metier_runtime::live::full_name(&name, entry.source, &tool.name),
                skill: name.to_string(),
                tool: tool.name.to_string(),
                description: tool.description.to_string(),
                input_schema: tool
                    .input_schema
                    .unwrap_or_else(|| serde_json::json!({ "type": "object" })),
            }
        }));
    }
    (tools, silent)
}

fn offers(inventory: &Inventory, skill: &Skill) -> bool {
    let card = inventory.entry(skill).card.as_ref();
    skill.status == Status::Ready
        && card.is_some_and(|card| card.types.contains(SkillType::Tool) && card.backend.is_some())
}
