//! `metier deps`

use std::io::{self, IsTerminal};

use metier::dependencies::Dependencies;
use metier_wire::{DepsDocument, InstallerRow};

use crate::{
    approver::confirmed,
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, one_line},
};

/// Show which programs a skill requires, and install them
///
/// Nothing is installed without a question: --install shows the command, asks, runs that one installer with your rights, and
/// checks again.
#[derive(clap::Args)]
pub(crate) struct DepsArgs {
    /// The skill
    name: String,
    /// Run an installer
    #[arg(long)]
    install: bool,
    /// The installer, by its id or by a program that it installs, if there are several
    #[arg(long, value_name = "ID", requires = "install")]
    with: Option<String>,
    /// Don't ask
    #[arg(long, requires = "install")]
    yes: bool,
}

pub(crate) fn run(session: &CliRun, args: &DepsArgs) -> Result<Exit, Failure> {
    let plan = match args.install {
        true => session.plan_install(&args.name, args.with.as_deref())?,
        false => None,
    };
    let Some(plan) = plan else {
        return answer(session, &args.name, &session.dependencies(&args.name)?);
    };
    let command = plan.command();
    if !args.yes && !agreed(command, session.output.is_json())? {
        return Err(
            Failure::unmet("not-agreed", format!("`{command}` was not run"))
                .skill(&args.name)
                .hint(format!("run it yourself: {command}")),
        );
    }
    plan.run()?;
    answer(session, &args.name, &session.dependencies(&args.name)?)
}

/// Shows the command and asks. Without a terminal the answer is no.
fn agreed(command: &str, json: bool) -> Result<bool, Failure> {
    if json || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::unmet(
            "not-agreed",
            format!("`{command}` needs confirmation, but there is no terminal"),
        )
        .hint("run it yourself, or add --yes"));
    }
    Ok(confirmed(&format!("Run `{}`?", one_line(command)))?)
}

fn answer(session: &CliRun, name: &str, needed: &Dependencies) -> Result<Exit, Failure> {
    let missing = &needed.missing;
    let exit = Exit::unmet_if(!missing.is_empty());
    let output = &session.output;
    if output.is_json() {
        let rows = needed.installers.iter().map(|installer| InstallerRow {
            id: installer.id.clone(),
            command: installer.command.clone(),
            brings: installer.installs.clone(),
        });
        output.document(&DepsDocument {
            name,
            missing,
            installers: rows.collect(),
        })?;
        return Ok(exit);
    }
    let mut text = String::new();
    for program in missing {
        let sign = output.paint("✗", Tone::Bad);
        text.push_str(&format!("{sign} {}\n", one_line(program)));
    }
    if missing.is_empty() {
        text.push_str(&format!(
            "{} all programs that {} requires are installed\n",
            output.paint("✓", Tone::Good),
            one_line(name)
        ));
    } else {
        for installer in &needed.installers {
            let absent = match installer.is_available {
                true => String::new(),
                false => format!("  (`{}` is not on PATH)", installer.program()),
            };
            text.push_str(&format!(
                "    {}  {}{absent}\n",
                one_line(&installer.id),
                one_line(&installer.command),
            ));
        }
    }
    output.report(&text)?;
    Ok(exit)
}
