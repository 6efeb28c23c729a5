//! `metier compose`

use metier::{
    composition::{Composition, CompositionFault, FaultCode, ToolPattern},
    text::shell_word,
};
use metier_wire::ComposeDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// Combine skills for one agent: tools, their order and conflicts
///
/// A tool is allowed when a skill of the set allows it and none forbids it; a tool that no skill names is not
/// allowed. A skill without a list of tools allows `read`, `glob`, `grep` and its own tools. The order in which skills are named doesn't matter. Exit code 1 when the set can't be used.
#[derive(clap::Args)]
pub(crate) struct ComposeArgs {
    /// The skills: names, `source:name`, or folders
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
    /// The agent will write code: the coding pipeline is needed, and files are not written directly
    #[arg(long)]
    coding: bool,
}

pub(crate) fn run(run: &CliRun, args: &ComposeArgs) -> Result<Exit, Failure> {
    let set = run.compose(&args.names, args.coding)?;
    if run.output.is_json() {
        run.output.document(&ComposeDocument::from(&set))?;
    } else {
        run.output.report(&page(&set, args, &run.output))?;
    }
    Ok(Exit::unmet_if(!set.valid))
}

fn page(set: &Composition, args: &ComposeArgs, output: &Output) -> String {
    let head = if set.valid {
        let skills = count(set.skills.len(), "skill");
        format!("{} a set of {skills}", output.paint("✓", Tone::Good))
    } else {
        let errors = count(set.errors.len(), "error");
        let sign = output.paint("✗", Tone::Bad);
        format!("{sign} these skills can't be combined: {errors}")
    };
    let mut page = format!("{head}\n");
    let mut field = |name: &str, value: String| {
        let label = output.paint(&format!("{name:<9}"), Tone::Faint);
        page.push_str(&format!("  {label}  {}\n", one_line(&value)));
    };
    if !set.order.is_empty() {
        field("order", set.order.join(" → "));
    }
    field("allowed", tools(&set.tools.allowed, note));
    if !set.tools.own.is_empty() {
        field("own tools", format!("all of {}", set.tools.own.join(", ")));
    }
    field("forbidden", tools(&set.tools.forbidden, |_| ""));
    if !set.unchecked.is_empty() {
        let conditions = count(set.unchecked.len(), "promise");
        field(
            "unchecked",
            format!("{conditions} in prose; the model is asked to follow them"),
        );
    }
    for (word, tone, faults) in [
        ("error:", Tone::Bad, &set.errors),
        ("warning:", Tone::Warn, &set.warnings),
    ] {
        let lines = faults.iter().map(|fault| line(word, tone, fault, output));
        page.extend(lines);
    }
    if let Some(next) = next(set, args) {
        let label = output.paint("next:", Tone::Note);
        page.push_str(&format!("{label} {}\n", one_line(&next)));
    }
    page
}

fn tools(tools: &[ToolPattern], note: impl Fn(&ToolPattern) -> &'static str) -> String {
    if tools.is_empty() {
        return "none".to_owned();
    }
    let shown = tools.iter().map(|tool| format!("{tool}{}", note(tool)));
    shown.collect::<Vec<_>>().join(", ")
}

/// The meaning of a star in a list of allowed tools.
fn note(tool: &ToolPattern) -> &'static str {
    match (tool.names_no_tool(), tool.is_broad()) {
        (true, _) => " (metier asks for each tool)",
        (false, true) => " (all of it)",
        (false, false) => "",
    }
}

fn line(word: &str, tone: Tone, fault: &CompositionFault, output: &Output) -> String {
    let word = output.paint(word, tone);
    let message = one_line(&fault.message);
    let hint = fault.hint.as_deref().map_or_else(String::new, |hint| {
        format!(
            "  {} {}\n",
            output.paint("hint:", Tone::Note),
            one_line(hint)
        )
    });
    format!("{word} {message} [{}]\n{hint}", fault.code.as_str())
}

/// The next command: the same with the missing skills, if nothing else is wrong; otherwise details of the first skill of a set.
fn next(set: &Composition, args: &ComposeArgs) -> Option<String> {
    let typed = |name: &String| {
        let means = |typed: &&String| {
            typed
                .rsplit([':', '/'])
                .next()
                .is_some_and(|last| last == name)
        };
        args.names.iter().find(means).unwrap_or(name).clone()
    };
    if set.valid {
        return Some(format!(
            "metier info {}",
            shell_word(&typed(set.order.first()?))
        ));
    }
    let lacks = |fault: &CompositionFault| {
        matches!(
            fault.code,
            FaultCode::MissingPartner | FaultCode::IncompleteCodingPipeline
        )
    };
    if !set.errors.iter().all(lacks) {
        return None;
    }
    let mut names: Vec<String> = set.skills.iter().map(typed).collect();
    names.extend(set.missing.iter().cloned());
    let names: Vec<_> = names.iter().map(|name| shell_word(name)).collect();
    let coding = if args.coding { " --coding" } else { "" };
    Some(format!("metier compose {}{coding}", names.join(" ")))
}
