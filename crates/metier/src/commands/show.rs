//! `metier show`

use std::process::ExitCode;

use metier_catalog::Entry;
use metier_runtime::render::{self, RenderError, Surroundings};
use metier_wire::ShowDocument;

use crate::{commands::find_usable, failure::Failure, session::Session};

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
    let entry = inventory.entry(find_usable(&inventory, &args.name)?);
    let project = session.machine.project.to_string_lossy();
    let surroundings = Surroundings {
        project: &project,
        max_skill_bytes: session.config.limits.max_skill_bytes,
    };
    let rendered = render::render(entry, &args.arguments.join(" "), surroundings)
        .map_err(|error| failure(entry, &error))?;
    if let (false, Some(command)) = (args.no_exec, rendered.commands.first()) {
        return Err(Failure::unmet(
            "not-permitted",
            format!(
                "skill `{}` runs commands when it is shown, such as `{}`",
                entry.name(),
                crate::output::one_line(command)
            ),
        )
        .skill(entry.name())
        .detail("this version of metier runs no commands of skills")
        .hint(format!(
            "metier show {} --no-exec leaves them as they are written",
            entry.name()
        )));
    }
    let directory = entry.place.path().to_string_lossy().into_owned();
    let content = if args.raw {
        rendered.body.clone()
    } else {
        render::wrap(&entry.name(), &directory, &rendered)
    };
    if session.output.is_json() {
        let digest = entry
            .place
            .digest()
            .map_err(|error| failure(entry, &RenderError::Read(error)))?
            .to_string();
        session.output.document(&ShowDocument {
            name: &entry.name(),
            digest,
            content: &content,
            directory: &directory,
            resources: &rendered.resources,
            commands: Vec::new(),
        })?;
    } else {
        session.output.text(&content)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What to say when a body can't be rendered.
pub(super) fn failure(entry: &Entry, error: &RenderError) -> Failure {
    Failure::unmet(
        "unreadable",
        format!("skill `{}` can't be shown: {error}", entry.name()),
    )
    .skill(entry.name())
    .path(entry.manifest_path())
    .hint(format!("metier validate {}", entry.place.path().display()))
}
