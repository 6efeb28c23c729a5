//! `metier completions`

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{cli::Cli, failure::Failure, output::Output};

/// Print completions for a shell
///
/// For bash: `metier completions bash > ~/.local/share/bash-completion/completions/metier`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args, output: &Output) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "metier", &mut script);
    output.page("script", &script)?;
    Ok(ExitCode::SUCCESS)
}
