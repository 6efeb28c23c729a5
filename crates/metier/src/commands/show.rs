//! `metier show`

use std::process::ExitCode;

use metier_catalog::{Entry, Snapshot};
use metier_model::text::shell_word;
use metier_runtime::render::{self, Arguments, RenderError, Rendered, Surroundings};
use metier_wire::ShowDocument;

use crate::{commands::find_usable, failure::Failure, screening::refused, session::Session};

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

pub(crate) fn run(session: &Session<'_>, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let entry = inventory.entry(find_usable(session, &inventory, &args.name)?);
    let screening = session.screening(&inventory.catalog);
    screening.check_rules()?;
    let held = screening
        .admit(&inventory.catalog, entry)
        .map_err(|refusal| refused(entry, &refusal))?;
    let arguments = Arguments::from_words(&args.arguments);
    let rendered = activate(session, entry, &held, &arguments, args.no_exec)?;
    let directory = entry.place.path().to_string_lossy().into_owned();
    let content = if args.raw {
        rendered.body.clone()
    } else {
        render::wrap(&entry.name(), &directory, &rendered)
    };
    if session.output.is_json() {
        session.output.document(&ShowDocument {
            name: &entry.name(),
            digest: held.digest.to_string(),
            content: &content,
            directory: &directory,
            resources: &rendered.resources,
            commands: Vec::new(),
        })?;
    } else {
        session.output.content(&content)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Renders a skill; one that would run commands is refused, unless they are to stay as they are.
pub(super) fn activate(
    session: &Session<'_>,
    entry: &Entry,
    held: &Snapshot,
    arguments: &Arguments,
    no_exec: bool,
) -> Result<Rendered, Failure> {
    let project = session.machine.project.to_string_lossy();
    let surroundings = Surroundings {
        project: &project,
        max_skill_bytes: session.config.limits.max_skill_bytes,
        reads: !no_exec,
        held,
    };
    let rendered =
        render::render(entry, arguments, surroundings).map_err(|error| failure(entry, &error))?;
    match rendered.commands.first() {
        Some(command) if !no_exec => {
            let (name, command) = (entry.name(), crate::output::one_line(command));
            let message =
                format!("skill `{name}` runs commands when it is shown, such as `{command}`");
            Err(Failure::unmet("not-permitted", message)
                .skill(entry.name())
                .detail("this version of metier runs no commands of skills")
                .hint(format!(
                    "metier show {} --no-exec leaves them as they are written",
                    shell_word(&name)
                )))
        }
        _ => Ok(rendered),
    }
}

/// What to say when a body can't be rendered.
pub(super) fn failure(entry: &Entry, error: &RenderError) -> Failure {
    Failure::unmet(
        "unreadable",
        format!("skill `{}` can't be shown: {error}", entry.name()),
    )
    .skill(entry.name())
    .path(entry.manifest_path())
    .hint(format!(
        "metier validate {}",
        shell_word(&entry.place.path().to_string_lossy())
    ))
}
