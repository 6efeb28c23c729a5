//! `metier select`

use std::{num::NonZeroUsize, path::PathBuf};

use clap::ValueEnum;
use metier::{
    agent::RerankedSkills,
    selection::{
        self, Coding, Incomplete, Pick, Selection, Task, TaskMatches, TaskMode, TriggerMatch,
        UnusableSkill,
    },
    skill::{DiagnosticCode, Inventory},
    text::shell_word,
};
use metier_wire::{RerankRow, SelectDocument};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Output, Tone, count, one_line},
};

/// Pick the skills that fit a task, with the reasons
///
/// A skill fits when the task names it (`/name`, `$name`), when one of its keywords is in the task, when the project has the
/// files or languages of its triggers, or when its name, description and body have the words of the task. A coding task also gets `specification-engine` and `opencode-implementer`, both or an
/// error; the words of a task decide whether it is coding. Only skills that can be used are picked; `metier why` explains why
/// others were not picked.
#[derive(clap::Args)]
pub(crate) struct SelectArgs {
    /// The task, in quotes
    #[arg(value_name = "TASK")]
    task: String,
    /// Show only the best K; skills that the task requires are always shown
    #[arg(long, value_name = "K")]
    top: Option<NonZeroUsize>,
    /// Let the configured model choose among the best 20: one request, whose answer and cost are shown
    #[arg(long)]
    rerank: bool,
    #[command(flatten)]
    around: ProjectArgs,
    #[command(flatten)]
    ruled: Ruled,
}

/// How many skills a model chooses from.
const RERANKED: usize = 20;

/// Values for the rules about tasks.
#[derive(clap::Args)]
pub(super) struct Ruled {
    /// Treat the task as a coding task
    #[arg(long, conflicts_with = "no_coding")]
    coding: bool,
    /// Treat the task as not a coding task
    #[arg(long)]
    no_coding: bool,
    /// How costly mistakes are: at high risk, skills that write or run commands must be named
    #[arg(long, value_enum, value_name = "RISK", default_value_t = RiskArg::Low)]
    risk: RiskArg,
    /// The field of the task: a word in a skill's category or tags
    #[arg(long, value_name = "WORD")]
    domain: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum RiskArg {
    /// Mistakes are cheap
    Low,
    /// What skills may do is shown
    Medium,
    /// Mistakes are costly: skills that write or run commands are left out unless the task names them
    High,
}

impl From<RiskArg> for selection::Risk {
    fn from(risk: RiskArg) -> Self {
        match risk {
            RiskArg::Low => Self::Low,
            RiskArg::Medium => Self::Medium,
            RiskArg::High => Self::High,
        }
    }
}

impl Ruled {
    /// A task with the values that were given with it.
    pub(super) fn task(&self, text: &str, around: &ProjectArgs) -> Task {
        Task {
            files: around.file.clone(),
            languages: around.language.clone(),
            mode: around.mode.into(),
            coding: match (self.coding, self.no_coding) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            },
            risk: self.risk.into(),
            domain: self.domain.clone(),
            ..Task::new(text)
        }
    }

    pub(super) fn risk(&self) -> &'static str {
        selection::Risk::from(self.risk).as_str()
    }
}

/// Values that are given with the task.
#[derive(clap::Args, Default)]
pub(super) struct ProjectArgs {
    /// A file that the task is about, instead of all files of the project
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// A language that the task is about, instead of those of the files
    #[arg(long, value_name = "LANGUAGE")]
    language: Vec<String>,
    /// How the agent is used
    #[arg(long, value_enum, value_name = "MODE", default_value_t = ModeArg::Interactive)]
    mode: ModeArg,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum ModeArg {
    /// A person is at the keyboard
    #[default]
    Interactive,
    /// There is no user to ask
    Headless,
    /// To write the wiki of a project
    Wiki,
}

impl From<ModeArg> for TaskMode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Interactive => Self::Interactive,
            ModeArg::Headless => Self::Headless,
            ModeArg::Wiki => Self::Wiki,
        }
    }
}

pub(crate) fn run(run: &CliRun, args: &SelectArgs) -> Result<Exit, Failure> {
    let skills = run.skills()?;
    let inventory = skills.inventory();
    note_unknown(inventory, &run.output);
    let task = Task {
        // The model gets more skills to choose from than the words alone would pick.
        top: args
            .top
            .map(NonZeroUsize::get)
            .or(args.rerank.then_some(RERANKED)),
        ..args.ruled.task(&args.task, &args.around)
    };
    let matches = run.select(&skills, task);
    let mut selection = matches.selection();
    let reranked = match args.rerank && !selection.picks.is_empty() {
        true => Some(rerank(run, &matches, &mut selection)?),
        false => None,
    };
    let found = selection.picks.len();
    let required = selection.picks.iter().filter(|pick| pick.required).count();
    let top = args.top.map_or(usize::MAX, NonZeroUsize::get);
    let chosen = reranked
        .as_ref()
        .map_or(usize::MAX, |one| required + one.chosen);
    selection.picks.truncate(top.min(chosen).max(required));
    let exit = Exit::unmet_if(selection.incomplete.is_some());
    if run.output.is_json() {
        let risk = args.ruled.risk();
        let mut document = SelectDocument::new(&matches, &selection, risk);
        document.rerank = reranked.as_ref().map(RerankRow::from);
        run.output.document(&document)?;
        return Ok(exit);
    }
    for pick in &selection.picks {
        run.output.report(&page(inventory, pick, &run.output))?;
    }
    if let Some(reranked) = &reranked {
        note_rerank(reranked, &run.output);
    }
    note_rest(run, inventory, &selection);
    note_unscanned(&matches, &run.output);
    let task = shell_word(&args.task);
    if matches.considered() == 0 {
        let hint = "no skill can be picked; `metier list --all` shows why";
        run.output.note(hint);
    } else if found == 0 && selection.held.is_empty() && selection.incomplete.is_none() {
        let skills = count(matches.considered(), "skill");
        run.output.note(&format!(
            "no skill matches this task ({skills} checked); `metier why {} NAME` explains one",
            one_line(&task)
        ));
    } else if found > selection.picks.len() {
        let more = found - selection.picks.len();
        let option = match chosen < top {
            true => "--rerank",
            false => "--top",
        };
        run.output
            .note(&format!("{more} more; leave `{option}` out to see them"));
    }
    if let Some(incomplete) = &selection.incomplete {
        note_incomplete(incomplete, matches.coding(), &run.output);
    }
    Ok(exit)
}

/// The model's choice, and the skills in its order.
fn rerank(
    run: &CliRun,
    matches: &TaskMatches,
    selection: &mut Selection<'_>,
) -> Result<RerankedSkills, Failure> {
    run.rerank(matches, selection)
}

/// The answer of a model, and its cost.
fn note_rerank(reranked: &RerankedSkills, output: &Output) {
    let row = RerankRow::from(reranked);
    let cost = row.cost.as_ref().map(|cost| format!(", cost {cost}"));
    output.note(&format!(
        "{} chose {} of {}: \"{}\" ({} tokens in, {} out{})",
        one_line(row.model),
        row.chosen,
        count(row.offered, "skill"),
        one_line(row.answer),
        row.input_tokens,
        row.output_tokens,
        cost.unwrap_or_default()
    ));
}

/// Skills that are searched by name and description only.
pub(super) fn note_unscanned(matches: &TaskMatches, output: &Output) {
    if matches.unscanned() > 0 {
        let skills = count(matches.unscanned(), "skill");
        output.note(&format!(
            "{skills} could not be scanned in {} s: only name and description are searched; the next run continues",
            Task::SCAN_TIME.as_secs()
        ));
        let word = output.paint_talk("hint:", Tone::Note);
        output.note(&format!("{word} metier list --scan scans all of them"));
    }
}

/// Skills that were held back or refused.
fn note_rest(run: &CliRun, inventory: &Inventory, selection: &Selection<'_>) {
    for held in &selection.held {
        note_held(inventory, held, &run.output);
    }
    for refused in &selection.refused {
        note_refused(inventory, refused, &run.output);
    }
}

/// A skill that fits and is held back until the task names it.
fn note_held(inventory: &Inventory, held: &Pick<'_>, output: &Output) {
    let name = one_line(&inventory.entry(held.skill).name());
    let word = output.paint_talk("warning:", Tone::Warn);
    let reason = held.consent.as_deref().unwrap_or_default();
    output.note(&format!(
        "{word} `{name}` fits and is held back: {}",
        one_line(reason)
    ));
    let word = output.paint_talk("hint:", Tone::Note);
    output.note(&format!("{word} name it in the task: /{name}"));
}

/// Why the request can't be met, and why the task counts as coding.
pub(super) fn note_incomplete(incomplete: &Incomplete, coding: &Coding, output: &Output) {
    let word = output.paint_talk("error:", Tone::Bad);
    let message = one_line(&incomplete.to_string());
    output.say(&format!("{word} {message} [{}]", Incomplete::CODE));
    output.say(&format!("  it is coding: {}", one_line(coding.because())));
    if let Some(hint) = incomplete.hint() {
        let word = output.paint_talk("hint:", Tone::Note);
        output.say(&format!("{word} {}", one_line(hint)));
    }
}

/// A skill that the task names and that can't be picked.
fn note_refused(inventory: &Inventory, refused: &UnusableSkill<'_>, output: &Output) {
    let name = one_line(&inventory.entry(refused.skill).name());
    let word = output.paint_talk("warning:", Tone::Warn);
    let messages = refused.gates.iter().map(|gate| one_line(&gate.message));
    let messages: Vec<String> = messages.collect();
    output.note(&format!(
        "{word} `{name}` can't be picked: {}",
        messages.join("; ")
    ));
    let mut hints = refused.gates.iter().filter_map(|gate| gate.hint.as_deref());
    if let Some(hint) = hints.next() {
        let word = output.paint_talk("hint:", Tone::Note);
        output.note(&format!("{word} {}", one_line(hint)));
    }
}

fn page(inventory: &Inventory, pick: &Pick<'_>, output: &Output) -> String {
    let name = inventory.entry(pick.skill).name();
    let name = output.paint(&one_line(&name), Tone::Strong);
    let mut page = format!("{:.2} {name}\n", pick.score);
    signals(&pick.why, output, &mut page);
    if let Some(consent) = &pick.consent {
        line("consent", consent, output, &mut page);
    }
    page
}

/// A line for each match.
pub(super) fn signals(matches: &[TriggerMatch], output: &Output, page: &mut String) {
    for found in matches {
        line(found.signal.as_str(), &found.detail, output, page);
    }
}

pub(super) fn line(label: &str, text: &str, output: &Output, page: &mut String) {
    let label = output.paint(&format!("{label:<9}"), Tone::Faint);
    page.push_str(&format!("  {label}  {}\n", one_line(text)));
}

/// Names in `--skills` that no skill has.
pub(super) fn note_unknown(inventory: &Inventory, output: &Output) {
    let unknown = inventory
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.code == DiagnosticCode::SelectionUnknown);
    for diagnostic in unknown {
        let word = output.paint_talk("warning:", Tone::Warn);
        output.note(&format!("{word} {}", one_line(&diagnostic.message)));
    }
}
