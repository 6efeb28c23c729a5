//! `metier deps`

use std::{
    io::{self, IsTerminal},
    process::{Command, ExitCode},
};

use metier_model::{Installer, text::shell_word};
use metier_policy::ReasonKind;
use metier_runtime::Inventory;
use metier_wire::{DepsDocument, InstallerRow};

use crate::{
    approver::confirmed,
    commands::{find, find_usable},
    failure::Failure,
    output::{Tone, one_line},
    screening::refused,
    session::Session,
};

/// Show which programs a skill lacks, and install them
///
/// Nothing is installed without being asked: --install shows the command, asks, runs that one installer with your rights, and
/// looks again.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill
    name: String,
    /// Run an installer
    #[arg(long)]
    install: bool,
    /// Which one, by its id or by the program that it brings, if there are several
    #[arg(long, value_name = "ID", requires = "install")]
    with: Option<String>,
    /// Don't ask
    #[arg(long, requires = "install")]
    yes: bool,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    if args.install {
        // A skill that nobody trusts, or that is dangerous, has no say in what is installed.
        let entry = inventory.entry(find_usable(session, &inventory, &args.name)?);
        let screening = session.screening(&inventory.catalog);
        screening.check_rules()?;
        screening
            .admit(&inventory.catalog, entry)
            .map_err(|refusal| refused(entry, &refusal))?;
    }
    let (missing, installers) = look(session, &inventory, &args.name)?;
    if !args.install || missing.is_empty() {
        return answer(session, &args.name, &missing, &installers);
    }
    let chosen = choose(session, args, &missing, &installers)?;
    let command = chosen.command().unwrap_or_default();
    if !args.yes && !agreed(&command, session.output.is_json())? {
        return Err(
            Failure::unmet("not-agreed", format!("`{command}` was not run"))
                .skill(&args.name)
                .hint(format!("run it yourself: {command}")),
        );
    }
    // The command is ours, not the skill's: its words were checked one by one when the manifest was read.
    let mut words = command
        .split_whitespace()
        .map(|word| word.trim_matches('\''));
    let program = words.next().unwrap_or_default();
    let status = Command::new(program)
        .args(words)
        .stdout(io::stderr())
        .status()
        .map_err(|error| {
            Failure::unmet(
                "installer",
                format!("`{program}` can't be started: {error}"),
            )
            .skill(&args.name)
            .hint(format!(
                "install `{program}` first, or see the other ways: metier deps {}",
                shell_word(&args.name)
            ))
        })?;
    if !status.success() {
        return Err(
            Failure::unmet("installer", format!("`{command}` failed: {status}"))
                .skill(&args.name)
                .hint(format!(
                    "see its output above; for other ways run: metier deps {}",
                    shell_word(&args.name)
                )),
        );
    }
    let inventory = session.inventory()?;
    let (missing, installers) = look(session, &inventory, &args.name)?;
    answer(session, &args.name, &missing, &installers)
}

/// What is missing, and the installers that fit, both as they are now.
fn look(
    session: &Session,
    inventory: &Inventory,
    name: &str,
) -> Result<(Vec<String>, Vec<Installer>), Failure> {
    let skill = find(session, inventory, name)?;
    let is_program = |kind| matches!(kind, ReasonKind::Bin | ReasonKind::AnyBin);
    let reasons = skill
        .reasons
        .iter()
        .filter(|reason| is_program(reason.kind));
    let missing = reasons.map(|reason| reason.name.to_string()).collect();
    let card = inventory.entry(skill).card.as_ref();
    let installers = card.map(|card| card.installers.clone()).unwrap_or_default();
    let runnable = installers
        .into_iter()
        .filter(|installer| installer.command().is_some());
    Ok((missing, runnable.collect()))
}

/// The one that was named, or the only one that brings what is missing.
fn choose<'a>(
    session: &Session,
    args: &Args,
    missing: &[String],
    installers: &'a [Installer],
) -> Result<&'a Installer, Failure> {
    let wanted = |installer: &&Installer| match &args.with {
        Some(word) => *installer.id == **word || installer.bins.iter().any(|bin| **bin == **word),
        None => {
            installer.bins.is_empty()
                || installer
                    .bins
                    .iter()
                    .any(|bin| missing.iter().any(|name| name.contains(&**bin)))
        }
    };
    let fits: Vec<&Installer> = installers.iter().filter(wanted).collect();
    let mut absent: Vec<String> = fits.iter().filter_map(|one| absent(session, one)).collect();
    absent.dedup();
    let there = |one: &&Installer| self::absent(session, one).is_none();
    let usable: Vec<&Installer> = fits.iter().copied().filter(there).collect();
    if usable.is_empty() && !absent.is_empty() {
        let programs: Vec<String> = absent.iter().map(|one| format!("`{one}`")).collect();
        return Err(Failure::unmet(
            "no-installer",
            format!(
                "what would install it is not on PATH: {}",
                programs.join(", ")
            ),
        )
        .skill(&args.name)
        .hint(format!(
            "install {} the way you install programs on this machine",
            missing.join(", ")
        )));
    }
    match usable.as_slice() {
        [one] => Ok(one),
        [] => Err(Failure::unmet(
            "no-installer",
            format!(
                "skill `{}` names no installer for {}",
                args.name,
                missing.join(", ")
            ),
        )
        .skill(&args.name)
        .hint("install it the way you install programs, and put it on PATH")),
        several => {
            let ids: Vec<&str> = several.iter().map(|one| label(one, several)).collect();
            Err(
                Failure::unmet("several-installers", "there are several ways to install it")
                    .skill(&args.name)
                    .hint(format!(
                        "choose one of {}: metier deps {} --install --with {}",
                        ids.join(", "),
                        shell_word(&args.name),
                        ids.first().map(|id| shell_word(id)).unwrap_or_default(),
                    )),
            )
        }
    }
}

/// What chooses an installer among several: its id, or what it brings if that id is not the only one.
fn label<'a>(installer: &'a Installer, all: &[&Installer]) -> &'a str {
    let is_only = all.iter().filter(|other| other.id == installer.id).count() == 1;
    match installer.bins.first() {
        Some(bin) if !is_only => bin,
        _ => &installer.id,
    }
}

/// The program of an installer, if this machine doesn't have it.
fn absent(session: &Session, installer: &Installer) -> Option<String> {
    let command = installer.command()?;
    let program = command.split_whitespace().next()?;
    let path = session.machine.path.as_ref()?;
    let is_there = std::env::split_paths(path).any(|folder| folder.join(program).is_file());
    (!is_there).then(|| program.to_owned())
}

/// Shows the command and asks. Without a terminal nobody agrees.
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

fn answer(
    session: &Session,
    name: &str,
    missing: &[String],
    installers: &[Installer],
) -> Result<ExitCode, Failure> {
    let rows: Vec<InstallerRow> = installers
        .iter()
        .map(|installer| InstallerRow {
            id: installer.id.to_string(),
            command: installer.command().unwrap_or_default(),
            brings: installer.bins.iter().map(ToString::to_string).collect(),
        })
        .collect();
    let code = ExitCode::from(u8::from(!missing.is_empty()));
    let output = &session.output;
    if output.is_json() {
        output.document(&DepsDocument {
            name,
            missing,
            installers: rows,
        })?;
        return Ok(code);
    }
    let mut text = String::new();
    for program in missing {
        text.push_str(&format!(
            "{} {}\n",
            output.paint("✗", Tone::Bad),
            one_line(program)
        ));
    }
    if missing.is_empty() {
        text.push_str(&format!(
            "{} all programs that {} requires are installed\n",
            output.paint("✓", Tone::Good),
            one_line(name)
        ));
    } else {
        for row in &rows {
            let program = installers.iter().find(|one| *one.id == *row.id);
            let absent = program.and_then(|one| absent(session, one));
            let absent = absent.map(|program| format!("  (`{program}` is not on PATH)"));
            text.push_str(&format!(
                "    {}  {}{}\n",
                one_line(&row.id),
                one_line(&row.command),
                absent.unwrap_or_default()
            ));
        }
    }
    output.report(&text)?;
    Ok(code)
}
