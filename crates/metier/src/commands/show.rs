//! `metier show`

use std::process::ExitCode;

use metier_catalog::{Entry, Snapshot};
use metier_model::{template::Piece, text::shell_word};
use metier_runtime::{
    Inventory,
    activate::{self, Activation, ActivationError},
    render::{self, Arguments, Here, Loaded, Nobody, RenderError},
};
use metier_wire::{CommandRow, ShowDocument};

use crate::{
    commands::find_usable,
    failure::Failure,
    office::{self, Office},
    screening::refused,
    session::Session,
};

/// Show a skill as a model would get it when it is activated
///
/// Arguments take the places of `$ARGUMENTS`, `$0`, `$name` and so on; what no place took is added at
/// the end. Arguments that could be taken for flags follow `--`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill
    name: String,
    /// Its arguments
    arguments: Vec<String>,
    /// Only the body
    #[arg(long)]
    raw: bool,
    /// Leave commands (`!git log`) as they are written
    #[arg(long)]
    no_exec: bool,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let entry = inventory.entry(find_usable(session, &inventory, &args.name)?);
    let arguments = Arguments::from_words(&args.arguments);
    let how = How {
        raw: args.raw,
        no_exec: args.no_exec,
    };
    let document = document(session, &inventory, entry, &arguments, how)?;
    if session.output.is_json() {
        session.output.document(&document)?;
    } else {
        session.output.content(&document.content)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What is wanted of a skill that is shown.
#[derive(Clone, Copy, Default)]
pub(super) struct How {
    /// Only the body.
    raw: bool,
    /// Nothing runs.
    no_exec: bool,
}

/// A skill as a model gets it, if it may be given out: for every door.
pub(super) fn document(
    session: &Session,
    inventory: &Inventory,
    entry: &Entry,
    arguments: &Arguments,
    how: How,
) -> Result<ShowDocument, Failure> {
    let screening = session.screening(&inventory.catalog);
    screening.check_rules()?;
    let held = screening
        .admit(&inventory.catalog, entry)
        .map_err(|refusal| refused(entry, &refusal))?;
    let digest = held.digest.to_string();
    let shown = activate(session, entry, held, arguments, how.no_exec)?;
    let directory = entry.place.path().to_string_lossy().into_owned();
    let content = if how.raw {
        shown.rendered.body
    } else {
        render::wrap(&entry.name(), &directory, &shown.rendered)
    };
    Ok(ShowDocument {
        name: entry.name().into_owned(),
        digest,
        content,
        directory,
        resources: shown.rendered.resources,
        commands: shown.commands.iter().map(CommandRow::from).collect(),
    })
}

/// A skill as a model gets it; its commands run if they may, or stay as they are.
pub(super) fn activate(
    session: &Session,
    entry: &Entry,
    held: Snapshot,
    arguments: &Arguments,
    no_exec: bool,
) -> Result<Activation, Failure> {
    let limit = session.config.limits.max_skill_bytes;
    let loaded = Loaded::new(entry, held, limit).map_err(|error| failure(entry, &error))?;
    let project = session.machine.project.to_string_lossy();
    let pieces = loaded.pieces();
    if no_exec
        || !pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Command(_)))
    {
        let here = Here {
            project: &project,
            session: "",
            reads: !no_exec,
        };
        let rendered = render::render(&loaded, &pieces, arguments, here, &Nobody);
        return Ok(Activation {
            rendered: rendered.map_err(|error| failure(entry, &error))?,
            commands: Vec::new(),
            receipts: Vec::new(),
        });
    }
    let premises = Office::open(session)?.premises(None, None);
    activate::activate(&loaded, arguments, &project, &premises)
        .map_err(|error| stopped(entry, error))
}

/// What to say when a skill can't be activated.
fn stopped(entry: &Entry, error: ActivationError) -> Failure {
    let name = entry.name();
    let word = shell_word(&name).into_owned();
    let unmet = |code, message: String| Failure::unmet(code, message).skill(name.as_ref());
    match error {
        ActivationError::Render(error) => failure(entry, &error),
        ActivationError::Refused(error) => office::refused(entry, error),
        ActivationError::Failed(error) => super::exec::failed(&name, error),
        error @ ActivationError::Arguments { .. } => {
            unmet("arguments-refused", format!("skill `{name}`: {error}")).hint(format!(
                "metier show {word} --no-exec leaves its commands as they are written"
            ))
        }
        error @ ActivationError::Shell(_) => unmet("shell", format!("skill `{name}`: {error}"))
            .hint(format!(
                "metier show {word} --no-exec leaves its commands as they are written"
            )),
        ActivationError::Command { ref stderr, .. }
        | ActivationError::Pipeline { ref stderr, .. } => {
            let failure = unmet("command-failed", format!("skill `{name}`: {error}"));
            let lines = stderr.lines().take(5).map(str::to_owned);
            lines.fold(failure, Failure::detail).hint(format!(
                "commands see no network and no files but the skill's own, unless approved: metier permissions {word}"
            ))
        }
    }
}

/// What to say when a body can't be rendered.
pub(super) fn failure(entry: &Entry, error: &RenderError) -> Failure {
    let failure = Failure::unmet(
        "unreadable",
        format!("skill `{}` can't be shown: {error}", entry.name()),
    )
    .skill(entry.name())
    .path(entry.manifest_path());
    match error {
        RenderError::Argument { .. } => failure.hint(format!(
            "metier info {} lists its files",
            shell_word(&entry.name())
        )),
        _ => failure.hint(format!(
            "metier validate {}",
            shell_word(&entry.place.path().to_string_lossy())
        )),
    }
}
