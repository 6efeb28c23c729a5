//! `metier list`

use std::{cmp::Reverse, mem::ManuallyDrop};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use metier::{
    Skill as FoundSkill,
    scans::ScanConsequence,
    skill::{
        CatalogEntry, Diagnostic, DiagnosticCode, DiagnosticSeverity, Inventory, InventorySkill,
        Reason, ReasonKind, RootPresence, SkillLocation, Source, Status, known_agents, scan_reason,
    },
};
use metier_wire::ListDocument;
use unicode_width::UnicodeWidthStr;

use super::{causes::untrusted_root, search};
use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// List the skills of every agent, and why some can't be used
///
/// One line for each skill, the strongest source first: ✓ ready, ? ready and not scanned yet, ✗ not ready or
/// blocked. With `--json`, the document has every skill, whatever its status.
#[derive(clap::Args)]
pub(crate) struct ListArgs {
    /// Only skills with all of these words in their name or description
    words: Vec<String>,
    /// Only skills in the folders of this agent, such as claude-code, codex or openclaw
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Only skills from this source
    #[arg(long, value_name = "SOURCE", value_parser = sources())]
    source: Option<Source>,
    /// Only skills that can be used now
    #[arg(long)]
    ready: bool,
    /// Only skills with this status
    #[arg(long, value_name = "STATUS", value_parser = statuses(), conflicts_with = "ready")]
    status: Option<Status>,
    /// Also show shadowed, disabled and invalid skills
    #[arg(long)]
    all: bool,
    /// Scan the skills first instead of showing their last verdicts
    #[arg(long)]
    scan: bool,
    /// Ask every MCP server in `skills.mcp` for its skills; otherwise only those whose list is missing or old
    #[arg(long)]
    refresh: bool,
    /// List the skills of registries instead
    #[arg(long, conflicts_with_all = ["agent", "source", "ready", "status", "all", "scan", "refresh", "words"])]
    available: bool,
}

fn sources() -> impl TypedValueParser<Value = Source> {
    let words = ["extra", "builtin", "user", "project", "inline"];
    PossibleValuesParser::new(words).try_map(|word| word.parse::<Source>())
}

fn statuses() -> impl TypedValueParser<Value = Status> {
    PossibleValuesParser::new(Status::ALL.map(Status::as_str)).map(|word| {
        let named = Status::ALL
            .into_iter()
            .find(|status| status.as_str() == word);
        named.unwrap_or(Status::Ready)
    })
}

pub(crate) fn run(run: &CliRun, args: &ListArgs) -> Result<Exit, Failure> {
    if args.available {
        return search::available(run);
    }
    let agent = args.agent.as_deref().map(agent).transpose()?;
    // A server that fails is a warning in the list, so the result is not checked here.
    run.list_servers(args.refresh);
    // The process ends with the command: freeing ten thousand skills one by one only takes time.
    let mut skills = ManuallyDrop::new(match args.scan {
        true => run.scanned_skills()?,
        false => run.skills()?,
    });
    let before = skills.inventory().skills.len();
    let words: Vec<String> = args.words.iter().map(|word| word.to_lowercase()).collect();
    skills.retain(|skill| is_wanted(skill, args, agent, &words));
    let inventory = skills.inventory();
    // A requested status is shown, whatever it is.
    let all = args.all || args.status.is_some();
    if run.output.is_json() {
        run.output
            .stream(|out| ListDocument(inventory).write(out))?;
    } else {
        run.output.report(&table(inventory, all, &run.output))?;
        footer(inventory, all, before, &run.output);
    }
    // A folder that was named and can't be searched is a request that could not be met.
    let unmet = inventory
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.code == DiagnosticCode::RootUnreadable);
    Ok(Exit::unmet_if(unmet))
}

/// The agent with this name, or whose name starts with it.
fn agent(word: &str) -> Result<&'static str, Failure> {
    let word = word.to_lowercase();
    let agents = known_agents();
    let begins = |agent: &&&str| agent.starts_with(&word) && !word.is_empty();
    let found = agents.iter().find(|agent| **agent == word);
    let found = found.or_else(|| agents.iter().find(begins));
    found.copied().ok_or_else(|| {
        Failure::broken("usage", format!("there is no agent `{}`", one_line(&word)))
            .hint(format!("known agents: {}", agents.join(", ")))
    })
}

/// Whether a skill was asked for.
fn is_wanted(
    skill: FoundSkill<'_>,
    args: &ListArgs,
    agent: Option<&str>,
    words: &[String],
) -> bool {
    let status = args.status.or(args.ready.then_some(Status::Ready));
    status.is_none_or(|status| skill.status() == status)
        && args.source.is_none_or(|source| skill.source() == source)
        && agent.is_none_or(|agent| skill.agent() == Some(agent))
        && has_words(skill.entry(), words)
}

/// Whether all words are in the name or the description of a skill.
pub(super) fn has_words(entry: &CatalogEntry, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let description = entry.card.as_ref().map_or("", |card| &card.description);
    let text = format!("{} {description}", entry.name()).to_lowercase();
    words.iter().all(|word| text.contains(word))
}

/// Whether a list without `--all` shows a skill.
pub(crate) fn is_shown(skill: &InventorySkill) -> bool {
    matches!(
        skill.status,
        Status::Ready | Status::NotReady | Status::Blocked
    )
}

/// The skills with their reasons, by source and folder.
pub(super) fn table(inventory: &Inventory, all: bool, output: &Output) -> String {
    let mut out = String::new();
    let mut current = None;
    let shown = |skill: &&InventorySkill| all || is_shown(skill);
    let mut skills: Vec<&InventorySkill> = inventory.skills.iter().filter(shown).collect();
    let group = |skill: &InventorySkill| {
        let entry = inventory.entry(skill);
        (Reverse(entry.source), entry.root.map(Reverse))
    };
    skills.sort_by_key(|skill| group(skill));
    for skill in skills {
        if current != Some(group(skill)) {
            let gap = if current.is_some() { "\n" } else { "" };
            out.push_str(&format!("{gap}{}\n", heading(inventory, skill, output)));
            current = Some(group(skill));
        }
        row(inventory, skill, output, &mut out);
    }
    out
}

/// `user  ~/.codex/skills (codex)`; for a folder that was named on the command line, its source alone.
fn heading(inventory: &Inventory, skill: &InventorySkill, output: &Output) -> String {
    let entry = inventory.entry(skill);
    let source = output.paint(entry.source.as_str(), Tone::Strong);
    let root = entry.root.map(usize::from);
    let Some(root) = root.and_then(|root| inventory.catalog.roots.get(root)) else {
        return match entry.place {
            SkillLocation::Remote(_) => format!("{source}  MCP servers"),
            _ => source,
        };
    };
    let place = match root.presence == RootPresence::Required {
        true => String::new(),
        false => format!("  {}", output.path(&root.path)),
    };
    let agent = root
        .agent
        .map_or_else(String::new, |agent| format!(" ({agent})"));
    let trust = match root.trusted {
        true => "",
        false => ", not trusted → metier trust",
    };
    format!("{source}{place}{agent}{trust}")
}

/// The mark of a skill in lists. One that was not scanned is not marked as good.
pub(super) fn mark(inventory: &Inventory, skill: &InventorySkill, output: &Output) -> String {
    match skill.status {
        Status::Ready if inventory.is_unscanned(skill) => output.paint("?", Tone::Warn),
        status => mark_of(status, output),
    }
}

/// The mark of a status.
pub(super) fn mark_of(status: Status, output: &Output) -> String {
    match status {
        Status::Ready => output.paint("✓", Tone::Good),
        Status::NotReady => output.paint("✗", Tone::Warn),
        Status::Blocked | Status::Invalid => output.paint("✗", Tone::Bad),
        Status::Disabled | Status::Shadowed => output.paint("-", Tone::Faint),
    }
}

fn row(inventory: &Inventory, skill: &InventorySkill, output: &Output, out: &mut String) {
    let entry = inventory.entry(skill);
    let card = entry.card.as_ref();
    let emoji = card
        .and_then(|card| card.emoji.as_deref())
        .map_or_else(String::new, |emoji| format!("{} ", one_line(emoji)));
    let name = one_line(&entry.name());
    let used = 2 + emoji.width() + name.width() + 3;
    let description = match card {
        Some(card) => output.fitted(&card.description, used),
        None => output.paint("invalid", Tone::Bad),
    };
    out.push_str(&format!(
        "{} {emoji}{} - {description}\n",
        mark(inventory, skill, output),
        output.paint(&name, Tone::Strong)
    ));
    // The heading above its skills shows that a folder is not trusted.
    let is_said = untrusted_root(inventory, skill).is_some();
    let counts = |reason: &Reason| !(is_said && reason.kind == ReasonKind::Untrusted);
    for line in remarks_with(inventory, skill, counts) {
        out.push_str(&format!("    {}\n", output.paint(&line, Tone::Faint)));
    }
}

/// The reasons why a skill can't be used, a line each.
pub(super) fn remarks(inventory: &Inventory, skill: &InventorySkill) -> Vec<String> {
    remarks_with(inventory, skill, |_| true)
}

/// [`remarks`], limited to some of the reasons.
fn remarks_with(
    inventory: &Inventory,
    skill: &InventorySkill,
    wanted: impl Fn(&Reason) -> bool,
) -> Vec<String> {
    let entry = inventory.entry(skill);
    let mut lines: Vec<String> = skill
        .reasons
        .iter()
        .filter(|reason| wanted(reason))
        .map(|reason| {
            let hint = reason
                .hint
                .as_deref()
                .map_or_else(String::new, |hint| format!(" → {}", one_line(hint)));
            format!("{}{hint}", one_line(&reason.message))
        })
        .collect();
    if let Some(known) = skill
        .scan
        .as_deref()
        .filter(|known| known.stance == ScanConsequence::Warned)
    {
        let reason = scan_reason(&entry.name(), known.objection());
        lines.extend(reason.map(|reason| format!("warning: {}", one_line(&reason.message))));
    }
    if let Some(winner) = skill.shadowed_by {
        let winner = inventory.catalog.entries[winner].place.path();
        lines.push(format!(
            "shadowed by {}",
            one_line(&winner.to_string_lossy())
        ));
    }
    let errors = entry
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Error);
    lines.extend(errors.map(|diagnostic| {
        let place = diagnostic.position.map_or_else(String::new, |position| {
            format!(":{}:{}", position.line, position.column)
        });
        format!(
            "{}{place}: {}",
            one_line(&entry.place.path().join(&*diagnostic.file).to_string_lossy()),
            one_line(&diagnostic.message)
        )
    }));
    lines
}

/// How many ready skills were not scanned yet. Those of servers are scanned when they are loaded.
pub(super) fn unscanned(inventory: &Inventory) -> usize {
    let ready = inventory
        .skills
        .iter()
        .filter(|skill| skill.status == Status::Ready);
    let is_here =
        |skill: &&InventorySkill| !matches!(inventory.entry(skill).place, SkillLocation::Remote(_));
    ready
        .filter(is_here)
        .filter(|skill| inventory.is_unscanned(skill))
        .count()
}

/// How many there are; `before` is their number without a filter.
fn footer(inventory: &Inventory, all: bool, before: usize, output: &Output) {
    let counts = inventory.counts();
    let parts = [
        (counts.ready, "ready"),
        (counts.not_ready, "not ready"),
        (counts.blocked, "blocked"),
        (counts.invalid, "invalid"),
        (counts.disabled, "disabled"),
        (counts.shadowed, "shadowed"),
    ];
    let words: Vec<String> = parts
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| format!("{number} {word}"))
        .collect();
    let hidden = if all {
        0
    } else {
        counts.invalid + counts.disabled + counts.shadowed
    };
    let more = if hidden > 0 {
        format!(" ({hidden} not shown: metier list --all)")
    } else {
        String::new()
    };
    let total = match inventory.skills.len() {
        number if number == before => count(number, "skill"),
        number => format!("{number} of {}", count(before, "skill")),
    };
    output.note(&if words.is_empty() && before > 0 {
        format!("none of {} matches", count(before, "skill"))
    } else if words.is_empty() {
        "no skills".to_owned()
    } else {
        format!("{total}: {}{more}", words.join(", "))
    });
    let unscanned = unscanned(inventory);
    if unscanned > 0 {
        output.note(&format!(
            "{} not scanned yet (?): metier list --scan",
            count(unscanned, "skill")
        ));
    }
    let of_all = inventory.diagnostics.iter().filter(|diagnostic| {
        output.is_verbose()
            || diagnostic.severity == DiagnosticSeverity::Error
            || matches!(
                diagnostic.code,
                DiagnosticCode::LimitReached
                    | DiagnosticCode::SelectionUnknown
                    | DiagnosticCode::RootMissing
                    | DiagnosticCode::McpServer
            )
    });
    let skills = inventory.skills.iter();
    let pins = skills.filter_map(|skill| version_problem(inventory.entry(skill)));
    for diagnostic in pins.chain(of_all) {
        let is_of_skill = diagnostic.code == DiagnosticCode::VersionNotFound;
        let hint = diagnostic.hint.as_deref().map_or_else(String::new, |hint| {
            format!(
                "\n{} {}",
                output.paint_talk("hint:", Tone::Note),
                one_line(hint)
            )
        });
        let place = if diagnostic.file.is_empty() || is_of_skill {
            String::new()
        } else {
            format!("{}: ", one_line(&diagnostic.file))
        };
        output.note(&format!(
            "{} {place}{}{hint}",
            output.paint_talk(&format!("{}:", diagnostic.severity), Tone::Warn),
            one_line(&diagnostic.message)
        ));
    }
}

/// The diagnostic about a skill whose version differs from the configured one.
fn version_problem(entry: &CatalogEntry) -> Option<&Diagnostic> {
    let mut diagnostics = entry.diagnostics.iter();
    diagnostics.find(|diagnostic| diagnostic.code == DiagnosticCode::VersionNotFound)
}
