//! `metier read`

use std::process::ExitCode;

use metier_catalog::{Entry, ReadError, Resource};
use metier_runtime::Inventory;
use metier_wire::ReadDocument;

use crate::{commands::find_usable, failure::Failure, screening::refused, session::Session};

/// Print a file of a skill
///
/// The path is relative to the skill's folder and can't lead out of it: `..`, absolute paths, links
/// and hard links are refused.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill
    name: String,
    /// A file below its folder, such as `references/schema.md`
    path: String,
}

/// The largest file that is printed.
const MAX_RESOURCE: u64 = 10 * 1024 * 1024;

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let entry = inventory.entry(find_usable(session, &inventory, &args.name)?);
    let resource = resource(session, &inventory, entry, &args.path)?;
    if session.output.is_json() {
        let document = document(entry, &args.path, &resource);
        session.output.document(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    match resource {
        Resource::Text(text) => session.output.content(&text)?,
        Resource::Binary(bytes) if std::io::IsTerminal::is_terminal(&std::io::stdout()) => {
            return Err(Failure::unmet(
                "binary",
                format!("`{}` is not text ({} bytes)", args.path, bytes.len()),
            )
            .skill(&args.name)
            .hint("send it to a file: metier read … > FILE"));
        }
        Resource::Binary(bytes) => session.output.bytes(&bytes)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A file of a skill, if it may be given out: for every door.
pub(super) fn resource(
    session: &Session,
    inventory: &Inventory,
    entry: &Entry,
    path: &str,
) -> Result<Resource, Failure> {
    // What can't be given out anyway is refused for that.
    let refuse = |error: &ReadError| failure(&entry.name(), error);
    entry
        .place
        .resource(path, MAX_RESOURCE)
        .map_err(|error| refuse(&error))?;
    let screening = session.screening(&inventory.catalog);
    screening.check_rules()?;
    let held = screening
        .admit(&inventory.catalog, entry)
        .map_err(|refusal| refused(entry, &refusal))?;
    held.resource(path, MAX_RESOURCE)
        .map_err(|error| refuse(&error))
}

/// What is said about it.
pub(super) fn document<'a>(
    entry: &Entry,
    path: &'a str,
    resource: &'a Resource,
) -> ReadDocument<'a> {
    let (text, size, binary) = match resource {
        Resource::Text(text) => (Some(text.as_str()), text.len(), false),
        Resource::Binary(bytes) => (None, bytes.len(), true),
    };
    ReadDocument {
        name: entry.name().into_owned(),
        path,
        text,
        size,
        binary,
    }
}

pub(super) fn failure(skill: &str, error: &ReadError) -> Failure {
    let code = match error {
        ReadError::BadPath { .. } | ReadError::HardLink(_) => "path-refused",
        ReadError::NotFound(_) => "not-found",
        ReadError::NotAFile { .. } => "not-a-file",
        ReadError::TooLarge { .. }
        | ReadError::TooManyFiles { .. }
        | ReadError::TooDeep { .. }
        | ReadError::PathTooLong { .. } => "too-large",
        ReadError::Os { .. } => "unreadable",
    };
    Failure::unmet(code, error.to_string())
        .skill(skill)
        .hint(format!(
            "metier info {} lists its files",
            metier_model::text::shell_word(skill)
        ))
}
