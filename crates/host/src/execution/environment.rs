//! The environment of a child: variables that every program needs and that a permission names, and no others.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    path::PathBuf,
    sync::{MutexGuard, PoisonError},
};

use metier_model::Permission;
use metier_policy::variables;

use crate::{
    child::{ChildError, is_name},
    execution::{ActExecutor, ExecutionError},
};

/// How many variables a skill can set for its children, and how long their values can be: the size of a program's environment is
/// limited.
const MAX_VARIABLES: usize = 64;
const MAX_VALUE: usize = 32 * 1024;

/// Toolchain managers whose shims need to know their root, because the home of a child is empty: the root, the folder of `PATH`
/// that shows that it is used, and the variable.
const ROOTS: &[(&str, &str, &str)] = &[
    (".pyenv", ".pyenv", "PYENV_ROOT"),
    (".rbenv", ".rbenv", "RBENV_ROOT"),
    (".nodenv", ".nodenv", "NODENV_ROOT"),
    (".nvm", ".nvm", "NVM_DIR"),
    (".volta", ".volta", "VOLTA_HOME"),
    (".asdf", ".asdf", "ASDF_DATA_DIR"),
    (".rustup", ".cargo/bin", "RUSTUP_HOME"),
];

impl ActExecutor {
    /// The folders of `PATH` in which programs are searched: only absolute ones outside the skill's folder, so that a skill can't put
    /// its own `git` first.
    pub(super) fn path_folders(&self) -> Vec<PathBuf> {
        let path = self.host.path.as_deref();
        let path = path.unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
        let inside = |folder: &PathBuf| {
            let skill = self.skill.folder.as_ref();
            skill.is_some_and(|skill| folder.starts_with(skill))
        };
        let folders = env::split_paths(path);
        folders
            .filter(|folder| folder.is_absolute() && !inside(folder))
            .collect()
    }

    /// The roots of toolchain managers that are on `PATH`, with the variables that name them.
    pub(super) fn tool_roots(&self) -> Vec<(PathBuf, &'static str)> {
        let folders = self.path_folders();
        let used = |(root, sign, name): &(&str, &str, &'static str)| {
            let home = self.host.home.as_deref()?;
            let sign = home.join(sign);
            let on_path = folders.iter().any(|folder| folder.starts_with(&sign));
            on_path.then(|| (home.join(root), *name))
        };
        ROOTS.iter().filter_map(used).collect()
    }

    /// The complete environment of a child.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> = self.host.common.to_vec();
        let folders = self.path_folders();
        let scratch = self.scratch.path();
        let mut set = |name: &str, value: OsString| env.push((name.into(), value));
        set("PATH", env::join_paths(&folders).unwrap_or_default());
        // An empty home: programs find no settings there, and don't complain about any.
        set("HOME", scratch.into());
        set("TMPDIR", scratch.into());
        for (root, name) in self.tool_roots() {
            set(name, root.into());
        }
        // By default Node ignores variables that every other program uses.
        if self.reaches_out() {
            set("NODE_USE_ENV_PROXY", "1".into());
        }
        if let Some(skill) = self.skill.folder.as_deref() {
            set("METIER_SKILL_DIR", skill.into());
            set("CLAUDE_SKILL_DIR", skill.into());
            set("CLAUDE_PLUGIN_ROOT", skill.into());
        }
        let project = &self.grant.terms().project;
        set("METIER_PROJECT_DIR", project.into());
        set("CLAUDE_PROJECT_DIR", project.into());
        for (name, value) in &self.skill.named {
            if self.may_see(name) {
                env.push((name.into(), value.clone()));
            }
        }
        for (name, value) in &*self.set_for_children() {
            env.retain(|(other, _)| other.as_os_str() != OsStr::new(name));
            env.push((name.into(), value.clone()));
        }
        env
    }

    fn set_for_children(&self) -> MutexGuard<'_, BTreeMap<String, OsString>> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a variable for later children of this activation.
    pub(super) fn set_variable(&self, name: &str, value: &str) -> Result<(), ExecutionError> {
        if !is_name(OsStr::new(name)) || variables::is_reserved(name) {
            return Err(ChildError::Variable(name.to_owned()).into());
        }
        if value.contains('\0') {
            return Err(ChildError::Nul(name.to_owned()).into());
        }
        let mut set = self.set_for_children();
        let is_new = !set.contains_key(name);
        if value.len() > MAX_VALUE || (is_new && set.len() >= MAX_VARIABLES) {
            return Err(ExecutionError::TooManyVariables(name.to_owned()));
        }
        set.insert(name.to_owned(), value.into());
        Ok(())
    }

    /// The value of a variable, for a skill that may read it.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        if let Some(value) = self.set_for_children().get(name) {
            return Some(value.clone());
        }
        let named = self.skill.named.iter().find(|(other, _)| other == name);
        let common = || self.host.common.iter().find(|(other, _)| other == name);
        named
            .map(|(_, value)| value.clone())
            .or_else(|| common().map(|(_, value)| value.clone()))
    }

    /// A child sees the variables that a permission names. A permission for all variables does not pass all of them to a child.
    pub(super) fn may_see(&self, name: &str) -> bool {
        let named = self.grant.allowed().iter().any(|want| {
            want.permission == Permission::EnvRead
                && want.scope != metier_model::Scope::All
                && want.scope.names(name)
        });
        let denied = self.grant.denied().iter().any(|want| {
            want.permission == Permission::EnvRead
                && (want.scope == metier_model::Scope::All || want.scope.names(name))
        });
        named && !denied && !variables::is_withheld(name)
    }
}
