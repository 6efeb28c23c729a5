//! One run of the program: the workspace that the arguments open, and its output.

use std::{ops::Deref, sync::Arc};

use metier::{Approver, Headless, Machine, Settings, Workspace};

use crate::{approver::Terminal, cli::Global, failure::Failure, output::Output};

/// One run of the program.
#[derive(Clone)]
pub(crate) struct CliRun {
    pub(crate) global: Arc<Global>,
    pub(crate) output: Arc<Output>,
    workspace: Workspace,
}

impl CliRun {
    /// Opens the workspace; the user's own mistakes in the configuration stop the run.
    pub(crate) fn open(
        global: &Global,
        machine: &Machine,
        output: &Output,
    ) -> Result<Self, Failure> {
        Self::with(global, machine, output, Workspace::open)
    }

    /// Opens the workspace for completions: mistakes in the configuration don't matter, and nothing on the disk changes.
    pub(crate) fn open_to_read(
        global: &Global,
        machine: &Machine,
        output: &Output,
    ) -> Result<Self, Failure> {
        Self::with(global, machine, output, |settings| {
            Workspace::open_anyway(Settings {
                keep_leftovers: true,
                ..settings
            })
        })
    }

    /// Opens the workspace for commands that fix the configuration.
    pub(crate) fn open_anyway(
        global: &Global,
        machine: &Machine,
        output: &Output,
    ) -> Result<Self, Failure> {
        Self::with(global, machine, output, Workspace::open_anyway)
    }

    fn with(
        global: &Global,
        machine: &Machine,
        output: &Output,
        open: impl FnOnce(Settings) -> Result<Workspace, Failure>,
    ) -> Result<Self, Failure> {
        let output = Arc::new(output.clone());
        Ok(Self {
            global: Arc::new(global.clone()),
            workspace: open(settings(global, machine, &output))?,
            output,
        })
    }
}

/// The settings from the program's arguments.
pub(crate) fn settings(global: &Global, machine: &Machine, output: &Arc<Output>) -> Settings {
    let approver: Arc<dyn Approver> = match output.is_attended() {
        true => Arc::new(Terminal::new(output)),
        false => Arc::new(Headless),
    };
    Settings {
        roots: global.root.clone(),
        skill_dirs: global.skill_dir.clone(),
        skills: global.skills.clone(),
        approve_skills: global.approve_skills.clone(),
        unsandboxed: global.unsandboxed,
        no_index: global.no_index,
        is_config_named: global.config.is_some(),
        approver,
        notices: Arc::clone(output) as _,
        ..Settings::of(Arc::new(machine.clone()))
    }
}

impl Deref for CliRun {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}
