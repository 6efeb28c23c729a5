//! `metier read`

use metier::Resource;
use metier_wire::ReadDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
};

/// Print a file of a skill
///
/// The path is relative to the skill's folder and can't leave it: `..`, absolute paths, links
/// and hard links are refused.
#[derive(clap::Args)]
pub(crate) struct ReadArgs {
    /// The skill
    name: String,
    /// A file below its folder, such as `references/schema.md`
    path: String,
}

pub(crate) fn run(run: &CliRun, args: &ReadArgs) -> Result<Exit, Failure> {
    let file = run.read(&args.name, &args.path)?;
    if run.output.is_json() {
        let document = ReadDocument::of(&file, &args.path);
        run.output.document(&document)?;
        return Ok(Exit::Ok);
    }
    match file.content {
        Resource::Text(text) => run.output.content(&text)?,
        Resource::Binary(bytes) if std::io::IsTerminal::is_terminal(&std::io::stdout()) => {
            return Err(Failure::unmet(
                "binary",
                format!("`{}` is not text ({} bytes)", args.path, bytes.len()),
            )
            .skill(&args.name)
            .hint("send it to a file: metier read … > FILE"));
        }
        Resource::Binary(bytes) => run.output.bytes(&bytes)?,
    }
    Ok(Exit::Ok)
}
