//! `metier select`

use std::{
    num::NonZeroUsize,
    path::{Component, Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::ValueEnum;
use metier_catalog::{ProjectFiles, ProjectLimits, project_files};
use metier_model::{Code, text::shell_word};
use metier_runtime::{
    Inventory,
    selecting::{Candidates, Pick, Reading, Refused, Selection},
};
use metier_select::{
    Match, Situation,
    languages::{Detected, Language, Seen, detect},
    rules::{self, Coding, Incomplete, Named, Rules, coding},
};
use metier_wire::{CodingRow, LackRow, PickRow, ProjectRow, RefusedRow, SelectDocument};

use crate::{
    failure::Failure,
    output::{Output, Tone, count, one_line},
    session::Session,
};

/// Pick the skills that fit a task, with the reasons
///
/// A skill fits when the task names it (`/name`, `$name`), when a keyword of it is in the task, or when the project has the
/// files or languages that it waits for. A coding task also gets `specification-engine` and `opencode-implementer`, both or an
/// error; whether a task is coding is found out from its words. Only skills that can be used are picked; `metier why` tells
/// about the others.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done, in quotes
    #[arg(value_name = "TASK")]
    task: String,
    /// Show no more than the best of them; what the task requires is always shown
    #[arg(long, value_name = "K")]
    top: Option<NonZeroUsize>,
    #[command(flatten)]
    around: Around,
    #[command(flatten)]
    ruled: Ruled,
}

/// What rules ask about a task.
#[derive(clap::Args)]
pub(super) struct Ruled {
    /// The task is to write code, whatever its words say
    #[arg(long, conflicts_with = "no_coding")]
    coding: bool,
    /// The task is not to write code, whatever its words say
    #[arg(long)]
    no_coding: bool,
    /// How much can go wrong: when it is high, skills that write or run commands have to be named
    #[arg(long, value_enum, value_name = "RISK", default_value_t = Risk::Low)]
    risk: Risk,
    /// The field that the task is in: a word of a skill's category or tags
    #[arg(long, value_name = "WORD")]
    domain: Option<String>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Risk {
    /// Mistakes are cheap
    Low,
    /// What skills may do is shown
    Medium,
    /// Mistakes are costly: skills that write or run commands are left out unless the task names them
    High,
}

impl From<Risk> for rules::Risk {
    fn from(risk: Risk) -> Self {
        match risk {
            Risk::Low => Self::Low,
            Risk::Medium => Self::Medium,
            Risk::High => Self::High,
        }
    }
}

impl Ruled {
    /// The rules for a task, with what was named beside it.
    pub(super) fn rules(&self, task: &str, around: &Around) -> Rules<'_> {
        let names: Vec<_> = around
            .file
            .iter()
            .map(|file| file.to_string_lossy())
            .collect();
        let files: Vec<&str> = names.iter().map(|name| &**name).collect();
        let languages: Vec<&str> = around.language.iter().map(String::as_str).collect();
        let named = Named {
            files: &files,
            languages: &languages,
        };
        Rules {
            coding: match (self.coding, self.no_coding) {
                (true, _) => Coding::told(true),
                (_, true) => Coding::told(false),
                _ => coding(task, named),
            },
            risk: self.risk.into(),
            domain: self.domain.as_deref(),
        }
    }

    /// Whether what skills may do has to be known.
    pub(super) fn asks_about_powers(&self) -> bool {
        !matches!(self.risk, Risk::Low)
    }
}

/// What there is beside the task.
#[derive(clap::Args, Default)]
pub(super) struct Around {
    /// A file that the task is about, instead of all files of the project
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// A language that the task is about, instead of those of the files
    #[arg(long, value_name = "LANGUAGE")]
    language: Vec<String>,
    /// How the agent is used
    #[arg(long, value_enum, value_name = "MODE", default_value_t = Mode::Interactive)]
    mode: Mode,
}

#[derive(Clone, Copy, Default, ValueEnum)]
pub(crate) enum Mode {
    /// A person is at the keyboard
    #[default]
    Interactive,
    /// No person is there to answer
    Headless,
    /// To write the wiki of a project
    Wiki,
}

impl From<Mode> for metier_select::Mode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Interactive => Self::Interactive,
            Mode::Headless => Self::Headless,
            Mode::Wiki => Self::Wiki,
        }
    }
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = Arc::new(session.inventory()?);
    note_unknown(&inventory, &session.output);
    let mut reading = reading(session, false);
    reading.powers = args.ruled.asks_about_powers();
    let candidates = Candidates::read(&inventory, reading).with_text();
    let project = Project::look(session, &args.around, &candidates);
    let rules = args.ruled.rules(&args.task, &args.around);
    let mut selection = project.with(&args.task, |situation| candidates.select(situation, &rules));
    let found = selection.picks.len();
    let required = selection.picks.iter().filter(|pick| pick.required).count();
    let top = args.top.map_or(usize::MAX, NonZeroUsize::get);
    selection.picks.truncate(top.max(required));
    let code = ExitCode::from(u8::from(selection.incomplete.is_some()));
    if session.output.is_json() {
        let row = |pick| PickRow::new(&inventory, pick);
        session.output.document(&SelectDocument {
            picks: selection.picks.iter().map(row).collect(),
            held: selection.held.iter().map(row).collect(),
            refused: selection
                .refused
                .iter()
                .map(|refused| RefusedRow::new(&inventory, refused))
                .collect(),
            considered: candidates.considered(),
            coding: rules.coding.is,
            coding_evidence: CodingRow::from(&rules.coding),
            risk: rules.risk.as_str(),
            errors: selection.incomplete.iter().map(LackRow::from).collect(),
            project: project.row(),
        })?;
        return Ok(code);
    }
    for pick in &selection.picks {
        session
            .output
            .report(&page(&inventory, pick, &session.output))?;
    }
    note_rest(session, &inventory, &selection);
    let task = shell_word(&args.task);
    if candidates.considered() == 0 {
        let hint = "no skill can be picked; `metier list --all` shows why";
        session.output.note(hint);
    } else if selection.picks.is_empty()
        && selection.held.is_empty()
        && selection.incomplete.is_none()
    {
        let skills = count(candidates.considered(), "skill");
        session.output.note(&format!(
            "no skill matches this task ({skills} checked); `metier why {} NAME` explains one",
            one_line(&task)
        ));
    } else if found > selection.picks.len() {
        let more = found - selection.picks.len();
        session
            .output
            .note(&format!("{more} more; leave `--top` out to see them"));
    }
    if let Some(incomplete) = &selection.incomplete {
        note_incomplete(incomplete, &rules.coding, &session.output);
    }
    Ok(code)
}

/// What was not picked and should have been said.
fn note_rest(session: &Session, inventory: &Inventory, selection: &Selection<'_>) {
    for held in &selection.held {
        note_held(inventory, held, &session.output);
    }
    for refused in &selection.refused {
        note_refused(inventory, refused, &session.output);
    }
}

/// A skill that fits and waits until somebody names it.
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

/// The request can't be met, and why it was taken for one that needs more.
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

/// Whoever names a skill expects it.
fn note_refused(inventory: &Inventory, refused: &Refused<'_>, output: &Output) {
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

/// The skills that fit a task, for whoever starts an agent with them: what was picked is said, and what is missing is an error.
pub(super) fn names(
    session: &Session,
    inventory: &Arc<Inventory>,
    task: &str,
    is_coding: bool,
) -> Result<Vec<String>, Failure> {
    let candidates = Candidates::read(inventory, reading(session, false));
    let project = Project::look(session, &Around::default(), &candidates);
    let rules = Rules {
        coding: Coding::told(is_coding),
        ..Rules::default()
    };
    let selection = project.with(task, |situation| candidates.select(situation, &rules));
    if let Some(incomplete) = &selection.incomplete {
        let failure = Failure::unmet(Incomplete::CODE, incomplete.to_string());
        return Err(match incomplete.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        });
    }
    if selection.picks.is_empty() {
        let message = "no skill fits the task, so there is no set to start a sub-agent with";
        let task = shell_word(task);
        return Err(Failure::unmet("no-skill", message).hint(format!(
            "name some with --skills; `metier why {task} NAME` explains why one does not fit"
        )));
    }
    for pick in &selection.picks {
        let why = pick.why.first().map_or("", |found| found.detail.as_str());
        let name = inventory.entry(pick.skill).name();
        let line = format!("selected {name}: {why}");
        session.output.note(&one_line(&line));
    }
    let place = |pick: &Pick<'_>| {
        let entry = inventory.entry(pick.skill);
        format!("{}:{}", entry.source, entry.name())
    };
    Ok(selection.picks.iter().map(place).collect())
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
pub(super) fn signals(matches: &[Match], output: &Output, page: &mut String) {
    for found in matches {
        line(found.signal.as_str(), &found.detail, output, page);
    }
}

pub(super) fn line(label: &str, text: &str, output: &Output, page: &mut String) {
    let label = output.paint(&format!("{label:<9}"), Tone::Faint);
    page.push_str(&format!("  {label}  {}\n", one_line(text)));
}

pub(super) fn reading(session: &Session, everything: bool) -> Reading {
    Reading {
        mode: session.mode(),
        max_bytes: session.config.limits.max_skill_bytes,
        threads: std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(8),
        everything,
        powers: false,
    }
}

/// A skill that was asked for with `--skills` and isn't there.
pub(super) fn note_unknown(inventory: &Inventory, output: &Output) {
    let unknown = inventory
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.code == Code::SelectionUnknown);
    for diagnostic in unknown {
        let word = output.paint_talk("warning:", Tone::Warn);
        output.note(&format!("{word} {}", one_line(&diagnostic.message)));
    }
}

/// The project, as far as somebody asked about it.
pub(super) struct Project {
    files: Option<ProjectFiles>,
    detected: Detected,
    seen: Vec<Seen>,
    mode: metier_select::Mode,
}

impl Project {
    /// Looks at the project, if any skill asks about it.
    pub(super) fn look(session: &Session, around: &Around, candidates: &Candidates) -> Self {
        let files = candidates.asks_about_files().then(|| {
            if around.file.is_empty() {
                return project_files(&session.machine.project, ProjectLimits::default());
            }
            let given = around.file.iter();
            ProjectFiles {
                files: given.map(|file| within(session, file)).collect(),
                ..ProjectFiles::default()
            }
        });
        if let Some(listed) = &files {
            note_limits(listed, &session.output);
        }
        let names = files.iter().flat_map(|listed| &listed.files);
        let detected = detect(names.map(String::as_str));
        let named = around.language.iter().map(|name| Seen {
            language: Language::new(name),
            because: "it was named".to_owned(),
        });
        let seen = match around.language.as_slice() {
            [] => detected.seen(),
            _ => named.collect(),
        };
        Self {
            files,
            detected,
            seen,
            mode: around.mode.into(),
        }
    }

    /// The situation of a task in this project.
    pub(super) fn with<T>(&self, task: &str, ask: impl FnOnce(&Situation<'_>) -> T) -> T {
        let listed = self.files.iter().flat_map(|listed| &listed.files);
        let files: Vec<&str> = listed.map(String::as_str).collect();
        ask(&Situation {
            task,
            files: &files,
            languages: &self.seen,
            mode: self.mode,
            explicit: &[],
        })
    }

    pub(super) fn row(&self) -> Option<ProjectRow<'_>> {
        let listed = self.files.as_ref()?;
        let files = listed.files.len();
        Some(ProjectRow::new(files, listed.truncated, &self.detected))
    }
}

fn note_limits(listed: &ProjectFiles, output: &Output) {
    let word = || output.paint_talk("warning:", Tone::Warn);
    if listed.truncated {
        let files = count(listed.files.len(), "file");
        output.note(&format!(
            "{} the project has more than the {files} that were looked at; name those that matter with `--file`",
            word()
        ));
    }
    if listed.unreadable > 0 {
        let folders = count(listed.unreadable, "folder");
        output.note(&format!(
            "{} {folders} of the project can't be read",
            word()
        ));
    }
}

/// A file that was named, relative to the project. It needn't be there.
fn within(session: &Session, file: &Path) -> String {
    let mut path = PathBuf::new();
    for component in session.machine.work.join(file).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    let relative = path
        .strip_prefix(&session.machine.project)
        .or_else(|_| path.strip_prefix("/"))
        .unwrap_or(&path);
    relative.to_string_lossy().into_owned()
}
