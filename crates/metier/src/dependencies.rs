//! The programs that a skill requires, and the installers that it names.

use std::{io, process::Command};

use metier_model::{Installer, text::shell_word};
use metier_policy::ReasonKind;

use crate::{Error, Workspace, explain};

/// The programs that a skill requires and this machine does not have.
///
/// An example is at [`Workspace::dependencies`].
#[derive(Clone, Debug)]
pub struct Dependencies {
    /// Programs that are not on `PATH`.
    pub missing: Vec<String>,
    /// The installers of the skill that metier can run.
    pub installers: Vec<InstallerState>,
}

/// An installer that a skill names.
///
/// An example is at [`Workspace::dependencies`].
#[derive(Clone, Debug)]
pub struct InstallerState {
    /// Its id, for `--with`.
    pub id: String,
    /// The programs that it installs.
    pub installs: Vec<String>,
    /// The program to run, and its arguments.
    pub words: Vec<String>,
    /// The program and its arguments as a person would type them.
    pub command: String,
    /// Whether the program to run is on `PATH`.
    pub is_available: bool,
}

impl InstallerState {
    fn of(workspace: &Workspace, installer: &Installer) -> Option<Self> {
        let (words, command) = (installer.words()?, installer.command()?);
        let program = words.first()?;
        let path = workspace.machine.path.as_ref();
        let is_available = path.is_none_or(|path| {
            std::env::split_paths(path).any(|folder| folder.join(program).is_file())
        });
        Some(Self {
            id: installer.id.to_string(),
            installs: installer.bins.iter().map(ToString::to_string).collect(),
            words,
            command,
            is_available,
        })
    }

    /// The program to run.
    ///
    /// The example of [`Workspace::dependencies`] prints the whole command.
    #[must_use]
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }
}

/// An installer of a skill that was trusted and scanned. Only [`Workspace::plan_install`] creates one.
///
/// An example is at [`Workspace::dependencies`].
#[derive(Clone, Debug)]
pub struct InstallerRun {
    skill: String,
    installer: InstallerState,
}

impl InstallerRun {
    /// The command, as a person would type it.
    ///
    /// The example of [`Workspace::dependencies`] prints it.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.installer.command
    }

    /// Runs the installer with the rights of the user. Its output goes to the error stream.
    ///
    /// An example is at [`Workspace::dependencies`].
    ///
    /// # Errors
    /// When the installer is not on `PATH` or can't be started, or when it ends with another exit code than 0.
    pub fn run(&self) -> Result<(), Error> {
        let others = format!("metier deps {}", shell_word(&self.skill));
        let unmet = |message: String| Error::unmet("installer", message).skill(&self.skill);
        let (program, command) = (self.installer.program(), self.command());
        let status = Command::new(program)
            .args(self.installer.words.iter().skip(1))
            .stdout(io::stderr())
            .status();
        let status = status.map_err(|error| {
            unmet(format!("`{program}` can't be started: {error}")).hint(format!(
                "install `{program}` first, or see the other ways: {others}"
            ))
        })?;
        match status.success() {
            true => Ok(()),
            false => Err(unmet(format!("`{command}` failed: {status}")).hint(format!(
                "see its output above; for other ways run: {others}"
            ))),
        }
    }
}

impl Workspace {
    /// The programs that a skill requires and this machine does not have, and how the skill would install them.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// println!("missing: {}", workspace.dependencies("review-pr")?.missing.join(", "));
    /// if let Some(plan) = workspace.plan_install("review-pr", None)? {
    ///     println!("{}", plan.command());
    ///     plan.run()?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill.
    pub fn dependencies(&self, name: &str) -> Result<Dependencies, Error> {
        let inventory = self.inventory()?;
        let skill = explain::find(self, &inventory, name)?;
        let is_program = |kind| matches!(kind, ReasonKind::Bin | ReasonKind::AnyBin);
        let reasons = skill.reasons.iter();
        let reasons = reasons.filter(|reason| is_program(reason.kind));
        let missing = reasons.map(|reason| reason.name.to_string()).collect();
        let card = inventory.entry(skill).card.as_ref();
        let installers = card.iter().flat_map(|card| &card.installers);
        let installers = installers.filter_map(|one| InstallerState::of(self, one));
        Ok(Dependencies {
            missing,
            installers: installers.collect(),
        })
    }

    /// The installer to run for a skill: the one that `with` names by its id or by a program that it installs, or the only one that installs
    /// what is missing; none if nothing is missing. A skill that is not trusted, or that the scanner blocks, decides nothing about what is installed.
    ///
    /// The example of [`Workspace::dependencies`] runs it.
    ///
    /// # Errors
    /// When the skill can't be used, when it names no installer that this machine can run, or several.
    pub fn plan_install(
        &self,
        name: &str,
        with: Option<&str>,
    ) -> Result<Option<InstallerRun>, Error> {
        let inventory = self.inventory()?;
        let entry = inventory.entry(explain::find_usable(self, &inventory, name)?);
        self.admit(&inventory, entry)?;
        let needed = self.dependencies(name)?;
        if needed.missing.is_empty() {
            return Ok(None);
        }
        Ok(Some(InstallerRun {
            installer: choose(name, with, &needed)?.clone(),
            skill: name.to_owned(),
        }))
    }
}

fn choose<'d>(
    skill: &str,
    with: Option<&str>,
    needed: &'d Dependencies,
) -> Result<&'d InstallerState, Error> {
    let missing = needed.missing.join(", ");
    let fits = |installer: &&InstallerState| match with {
        Some(word) => installer.id == word || installer.installs.iter().any(|one| one == word),
        None => {
            let brings = |program: &String| needed.missing.iter().any(|one| one.contains(program));
            installer.installs.is_empty() || installer.installs.iter().any(brings)
        }
    };
    let fitting: Vec<&InstallerState> = needed.installers.iter().filter(fits).collect();
    let usable: Vec<&InstallerState> = fitting
        .iter()
        .copied()
        .filter(|installer| installer.is_available)
        .collect();
    let unmet = |code, message: String| Error::unmet(code, message).skill(skill);
    match (usable.as_slice(), fitting.as_slice()) {
        ([one], _) => Ok(one),
        ([], []) => Err(unmet(
            "no-installer",
            format!("skill `{skill}` names no installer for {missing}"),
        )
        .hint("install it with your package manager, and put it on PATH")),
        ([], absent) => {
            let mut programs: Vec<String> = absent
                .iter()
                .map(|installer| format!("`{}`", installer.program()))
                .collect();
            programs.dedup();
            let message = format!("its installers are not on PATH: {}", programs.join(", "));
            Err(unmet("no-installer", message).hint(format!(
                "install {missing} with the package manager of this machine"
            )))
        }
        (several, _) => {
            let ids: Vec<&str> = several.iter().map(|one| label(one, several)).collect();
            let message = "there are several ways to install it".to_owned();
            Err(unmet("several-installers", message).hint(format!(
                "choose one of {}: metier deps {} --install --with {}",
                ids.join(", "),
                shell_word(skill),
                ids.first().map(|id| shell_word(id)).unwrap_or_default(),
            )))
        }
    }
}

/// The word that selects one of several installers: its id, or a program that it installs if that id is not the only one.
fn label<'a>(installer: &'a InstallerState, all: &[&InstallerState]) -> &'a str {
    let is_only = all.iter().filter(|other| other.id == installer.id).count() == 1;
    match installer.installs.first() {
        Some(program) if !is_only => program,
        _ => &installer.id,
    }
}
