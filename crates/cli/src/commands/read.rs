//! `metier read`

use std::process::ExitCode;

use metier_catalog::{Entry, Resource};
use metier_wire::ReadDocument;

use crate::{commands::find_usable, failure::Failure, session::Session};

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

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let entry = inventory.entry(find_usable(session, &inventory, &args.name)?);
    let resource = session.resource(&inventory, entry, &args.path)?;
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
