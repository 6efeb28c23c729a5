//! `metier tools`

use metier::ToolList;
use metier::text::shell_word;
use metier_wire::{ToolRow, ToolsDocument};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, count, one_line},
};

/// List the tools that skills contribute
///
/// A skill names its tools in its manifest or in its code. Its code is started to find out, without asking, and with only the permissions
/// that you granted earlier; programs and libraries are not started unless the skill is named and approved.
#[derive(clap::Args)]
pub(crate) struct ToolsArgs {
    /// The skill; without one, every skill that is ready
    name: Option<String>,
}

pub(crate) fn run(run: &CliRun, args: &ToolsArgs) -> Result<Exit, Failure> {
    let skills = run.skills()?;
    let ToolList { tools, not_started } = match &args.name {
        Some(name) => ToolList {
            tools: run.tools(&skills, name)?,
            not_started: Vec::new(),
        },
        None => run.all_tools(&skills),
    };
    let tools: Vec<ToolRow> = tools.into_iter().map(ToolRow::from).collect();
    let output = &run.output;
    if output.is_json() {
        output.document(&ToolsDocument { tools })?;
        return Ok(Exit::Ok);
    }
    let mut page = String::new();
    for tool in &tools {
        let name = format!("{} {}", one_line(&tool.skill), one_line(&tool.tool));
        let name = output.paint(&name, Tone::Strong);
        page.push_str(&format!("{name}  {}\n", one_line(&tool.description)));
    }
    output.report(&page)?;
    if tools.is_empty() && not_started.is_empty() {
        output.note("no tools");
    }
    if let Some(first) = not_started.first() {
        let names: Vec<String> = not_started.iter().map(|name| one_line(name)).collect();
        let number = count(names.len(), "skill");
        output.note(&format!(
            "{number} not started; their tools are unknown until they run: {}",
            names.join(", ")
        ));
        output.note(&format!(
            "{} metier tools {}",
            output.paint_talk("hint:", Tone::Note),
            shell_word(first)
        ));
    }
    Ok(Exit::Ok)
}
