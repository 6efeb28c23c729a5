//! `metier select`

use std::{
    num::NonZeroUsize,
    path::{Component, Path, PathBuf},
    process::ExitCode,
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
};
use metier_wire::{PickRow, ProjectRow, RefusedRow, SelectDocument};

use crate::{
    failure::Failure,
    output::{Output, Tone, count, one_line},
    session::Session,
};

/// Pick the skills that fit a task, with the reasons
///
/// A skill fits when the task names it (`/name`, `$name`), when a keyword of it is in the task, or when the project has the
/// files or languages that it waits for. Only skills that can be used are picked; `metier why` tells about the
/// others.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// What is to be done, in quotes
    #[arg(value_name = "TASK")]
    task: String,
    /// Show no more than the best of them
    #[arg(long, value_name = "K")]
    top: Option<NonZeroUsize>,
    #[command(flatten)]
    around: Around,
}

/// What there is beside the task.
#[derive(clap::Args)]
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

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// With somebody at the keyboard
    Interactive,
    /// Alone
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

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    note_unknown(&inventory, session.output);
    let candidates = Candidates::read(&inventory, reading(session, false));
    let project = Project::look(session, &args.around, &candidates);
    let selection = project.with(&args.task, |situation| candidates.select(situation));
    let Selection { mut picks, refused } = selection;
    let found = picks.len();
    picks.truncate(args.top.map_or(usize::MAX, NonZeroUsize::get));
    if session.output.is_json() {
        session.output.document(&SelectDocument {
            picks: picks
                .iter()
                .map(|pick| PickRow::new(&inventory, pick))
                .collect(),
            refused: refused
                .iter()
                .map(|refused| RefusedRow::new(&inventory, refused))
                .collect(),
            considered: candidates.considered(),
            coding: false,
            project: project.row(),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    for pick in &picks {
        session
            .output
            .text(&page(&inventory, pick, session.output))?;
    }
    for refused in &refused {
        note_refused(&inventory, refused, session.output);
    }
    let task = shell_word(&args.task);
    if candidates.considered() == 0 {
        let hint = "no skill can be picked; `metier list --all` says why";
        session.output.note(hint);
    } else if picks.is_empty() {
        let skills = count(candidates.considered(), "skill");
        session.output.note(&format!(
            "nothing speaks for any of {skills}; `metier why {} NAME` says what one waits for",
            one_line(&task)
        ));
    } else if found > picks.len() {
        let more = found - picks.len();
        session
            .output
            .note(&format!("{more} more; leave `--top` out to see them"));
    }
    Ok(ExitCode::SUCCESS)
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

fn page(inventory: &Inventory, pick: &Pick<'_>, output: &Output) -> String {
    let name = inventory.entry(pick.skill).name();
    let name = output.paint(&one_line(&name), Tone::Strong);
    let mut page = format!("{:.2} {name}\n", pick.score);
    signals(&pick.why, output, &mut page);
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

pub(super) fn reading(session: &Session<'_>, everything: bool) -> Reading {
    Reading {
        mode: session.mode(),
        max_bytes: session.config.limits.max_skill_bytes,
        threads: std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(8),
        everything,
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
    pub(super) fn look(
        session: &Session<'_>,
        around: &Around,
        candidates: &Candidates<'_>,
    ) -> Self {
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
            note_limits(listed, session.output);
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
fn within(session: &Session<'_>, file: &Path) -> String {
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
