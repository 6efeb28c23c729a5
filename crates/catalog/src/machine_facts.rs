//! Facts about this machine: programs on PATH, variables, the operating system.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    ffi::OsStr,
    path::PathBuf,
};

use metier_model::Os;
use metier_policy::Facts;
use rustix::fs::{Access, access};

/// Facts about the machine. Values are passed in; only the files on PATH are inspected.
pub struct MachineFacts<'a> {
    os: Option<Os>,
    path: Vec<PathBuf>,
    variables: BTreeSet<String>,
    setting: &'a dyn Fn(&str) -> bool,
    tools: Option<&'a [String]>,
    own_tools: bool,
    programs: RefCell<HashMap<Box<str>, bool>>,
}

impl<'a> MachineFacts<'a> {
    /// The facts, from the value of PATH, the names of the variables that are set, and the settings.
    pub fn new(
        path: Option<&OsStr>,
        variables: BTreeSet<String>,
        setting: &'a dyn Fn(&str) -> bool,
        tools: Option<&'a [String]>,
    ) -> Self {
        let path = path
            .map(|path| {
                std::env::split_paths(path)
                    .filter(|folder| folder.is_absolute())
                    .collect()
            })
            .unwrap_or_default();
        Self {
            os: std::env::consts::OS.parse().ok(),
            path,
            variables,
            setting,
            tools,
            own_tools: false,
            programs: RefCell::default(),
        }
    }

    /// The facts for an agent that has these tools itself, independent of settings.
    #[must_use]
    pub fn with_own_tools(self, tools: &'a [String]) -> Self {
        Self {
            tools: Some(tools),
            own_tools: true,
            ..self
        }
    }

    /// The path of the file that a program name resolves to.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        if name.is_empty() || name.contains(['/', '\0']) {
            return None;
        }
        self.path
            .iter()
            .map(|folder| folder.join(name))
            .find(|file| access(file, Access::EXEC_OK).is_ok() && file.is_file())
    }
}

impl Facts for MachineFacts<'_> {
    fn os(&self) -> Option<Os> {
        self.os
    }

    fn has_program(&self, name: &str) -> bool {
        if let Some(known) = self.programs.borrow().get(name) {
            return *known;
        }
        let found = self.program(name).is_some();
        self.programs.borrow_mut().insert(name.into(), found);
        found
    }

    fn has_variable(&self, name: &str) -> bool {
        self.variables.contains(name)
    }

    fn has_setting(&self, path: &str) -> bool {
        (self.setting)(path)
    }

    fn tools(&self) -> Option<&[String]> {
        self.tools
    }

    fn tools_are_configured(&self) -> bool {
        !self.own_tools
    }
}
