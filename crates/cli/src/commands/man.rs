//! `metier man`

use std::{fs, path::PathBuf};

use clap::CommandFactory;

use crate::{
    cli::Cli,
    failure::{Exit, Failure},
    output::Output,
};

/// Print the manual page
///
/// With --out, writes a page for each command into a folder.
#[derive(clap::Args)]
pub(crate) struct ManArgs {
    /// Write `metier.1`, `metier-list.1`, … into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &ManArgs, output: &Output) -> Result<Exit, Failure> {
    let command = Cli::command();
    match &args.out {
        Some(folder) => {
            let unwritable = |error: std::io::Error| {
                Failure::broken("output", format!("the pages can't be written: {error}"))
                    .path(folder)
                    .hint("name a folder that you can write to")
            };
            fs::create_dir_all(folder).map_err(unwritable)?;
            clap_mangen::generate_to(command, folder).map_err(unwritable)?;
            if output.is_json() {
                output.document(&serde_json::json!({ "path": folder.to_string_lossy() }))?;
            }
            output.note(&format!("wrote the manual pages to {}", folder.display()));
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            output.page("page", &page)?;
        }
    }
    Ok(Exit::Ok)
}
