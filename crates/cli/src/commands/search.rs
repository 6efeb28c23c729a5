//! `metier search`

use std::collections::BTreeSet;

use metier::distribution::registry::RegistrySearch;
use metier_wire::{SearchDocument, SearchRow};

use super::list;
use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, count, one_line},
};

/// Search the skills of this machine and of registries
///
/// A skill matches if its name, description or tags contain all words. Those of this machine are listed first. The registries are those of
/// `skills.registry_url`; their answers are cached for an hour, and used longer if they can't be reached.
#[derive(clap::Args)]
pub(crate) struct SearchArgs {
    /// Words to search for
    #[arg(required = true)]
    words: Vec<String>,
    /// Maximum number of skills from each registry
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u64,
}

pub(crate) fn run(run: &CliRun, args: &SearchArgs) -> Result<Exit, Failure> {
    let mut skills = run.skills()?;
    let here = names(&skills);
    let words: Vec<String> = args.words.iter().map(|word| word.to_lowercase()).collect();
    skills.retain(|skill| list::has_words(skill.entry(), &words));
    let found = run.search_registries(&args.words.join(" "), args.limit)?;
    if run.output.is_json() {
        let local = skills.all().map(|skill| {
            let card = skill.entry().card.as_ref();
            SearchRow {
                name: skill.entry().name().into_owned(),
                version: card.and_then(|card| Some(card.version.as_ref()?.to_string())),
                description: card.map_or("", |card| &card.description),
                source: skill.source().as_str(),
                registry: None,
                owner: None,
                verdict: None,
                is_here: true,
            }
        });
        return document(run, local.collect(), &found, &here);
    }
    let table = list::table(skills.inventory(), false, &run.output);
    run.output.report(&table)?;
    let local = skills.inventory().skills.iter();
    let local = local.filter(|skill| list::is_shown(skill)).count();
    let gap = if table.is_empty() { "" } else { "\n" };
    report(run, &found, &here, gap)?;
    let others = found.total;
    run.output.note(&match run.registries()?.len() {
        0 => format!(
            "{} on this machine; no registry is configured: metier help search",
            count(local, "skill")
        ),
        _ => format!(
            "{} on this machine, {others} in registries",
            count(local, "skill")
        ),
    });
    Ok(Exit::unmet_if(!found.failed.is_empty()))
}

/// `metier list --available`.
pub(super) fn available(run: &CliRun) -> Result<Exit, Failure> {
    let here = names(&run.skills()?);
    if run.registries()?.is_empty() {
        return Err(Failure::unmet("no-registry", "no registry is configured")
            .hint("metier config skills.registry_url https://…"));
    }
    let found = run.available_skills()?;
    if run.output.is_json() {
        return document(run, Vec::new(), &found, &here);
    }
    report(run, &found, &here, "")?;
    let total = usize::try_from(found.total).unwrap_or(usize::MAX);
    run.output
        .note(&format!("{} in registries", count(total, "skill")));
    Ok(Exit::unmet_if(!found.failed.is_empty()))
}

fn names(skills: &metier::Skills) -> BTreeSet<String> {
    skills
        .all()
        .map(|skill| skill.entry().name().into_owned())
        .collect()
}

fn document<'a>(
    run: &CliRun,
    mut rows: Vec<SearchRow<'a>>,
    found: &'a RegistrySearch,
    here: &BTreeSet<String>,
) -> Result<Exit, Failure> {
    rows.extend(found.found.iter().map(|(registry, skill)| {
        SearchRow::of_registry(registry, skill, here.contains(&skill.name))
    }));
    run.output.document(&SearchDocument {
        skills: rows,
        in_registries: found.total,
        stale: &found.stale,
        failed: &found.failed,
    })?;
    Ok(Exit::unmet_if(!found.failed.is_empty()))
}

/// The skills of registries, below the address of each.
fn report(
    run: &CliRun,
    found: &RegistrySearch,
    here: &BTreeSet<String>,
    mut gap: &str,
) -> Result<(), Failure> {
    let output = &run.output;
    let mut text = String::new();
    let mut current = "";
    for (registry, skill) in &found.found {
        if registry != current {
            let heading = output.paint("registry", Tone::Strong);
            text.push_str(&format!("{gap}{heading}  {}\n", one_line(registry)));
            (current, gap) = (registry, "\n");
        }
        let mark = match here.contains(&skill.name) {
            true => output.paint("✓", Tone::Good),
            false => "·".to_owned(),
        };
        let (name, version) = (one_line(&skill.name), one_line(&skill.version));
        let used = 2 + name.len() + 1 + version.len() + 3;
        let description = output.fitted(&skill.description, used);
        let name = output.paint(&name, Tone::Strong);
        text.push_str(&format!("{mark} {name} {version} - {description}\n"));
        if !matches!(skill.verdict.as_str(), "clean" | "info") {
            let line = format!("its scan in the registry: {}", one_line(&skill.verdict));
            text.push_str(&format!("    {}\n", output.paint(&line, Tone::Faint)));
        }
    }
    output.report(&text)?;
    for registry in &found.stale {
        let line = format!("{registry} can't be reached: its last known state is listed");
        output.warn(&one_line(&line));
    }
    for problem in &found.failed {
        output.warn(&one_line(problem));
    }
    Ok(())
}
