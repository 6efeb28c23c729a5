//! The environment of a child: what every program needs, what a permission names, and nothing else.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::PathBuf,
};

use metier_model::Permission;
use metier_policy::variables;

use crate::world::World;

/// Toolchain managers whose shims need to know where their root is, because the home that a child sees is an empty one.
const ROOTS: &[(&str, &str)] = &[
    (".pyenv", "PYENV_ROOT"),
    (".rbenv", "RBENV_ROOT"),
    (".nodenv", "NODENV_ROOT"),
    (".nvm", "NVM_DIR"),
    (".volta", "VOLTA_HOME"),
    (".asdf", "ASDF_DATA_DIR"),
    (".rustup", "RUSTUP_HOME"),
];

impl World<'_> {
    /// The folders of `PATH` in which programs are looked for: absolute ones outside of the skill's folder, so that a skill
    /// can't put its own `git` in front.
    pub(super) fn path_folders(&self) -> Vec<PathBuf> {
        let path = self
            .around
            .path
            .unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
        let inside = |folder: &PathBuf| {
            self.around
                .skill
                .is_some_and(|skill| folder.starts_with(skill))
        };
        let folders = env::split_paths(path);
        folders
            .filter(|folder| folder.is_absolute() && !inside(folder))
            .collect()
    }

    /// Exactly what a child sees.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        let mut env: Vec<(OsString, OsString)> = self.around.common.to_vec();
        let folders = self.path_folders();
        let scratch = self.scratch.path();
        let mut set = |name: &str, value: OsString| env.push((name.into(), value));
        set("PATH", env::join_paths(&folders).unwrap_or_default());
        // An empty home of its own: programs find no settings there, and complain about none.
        set("HOME", scratch.into());
        set("TMPDIR", scratch.into());
        for (folder, name) in ROOTS {
            let root = self.around.home.map(|home| home.join(folder));
            if let Some(root) = root.filter(|root| folders.iter().any(|bin| bin.starts_with(root)))
            {
                set(name, root.into());
            }
        }
        if let Some(skill) = self.around.skill {
            set("METIER_SKILL_DIR", skill.into());
            set("CLAUDE_SKILL_DIR", skill.into());
        }
        set(
            "METIER_PROJECT_DIR",
            self.grant.terms().project.clone().into(),
        );
        for (name, value) in self.around.named {
            if self.may_see(name) {
                env.push((name.into(), value.clone()));
            }
        }
        env
    }

    /// The value of a variable, for a skill that may read it.
    pub(super) fn variable(&self, name: &str) -> Option<OsString> {
        let named = self.around.named.iter().find(|(other, _)| other == name);
        let common = || self.around.common.iter().find(|(other, _)| other == name);
        named
            .map(|(_, value)| value.clone())
            .or_else(|| common().map(|(_, value)| value.clone()))
    }

    /// A child sees what a permission names. One for all variables is for asking, not for handing out everything.
    fn may_see(&self, name: &str) -> bool {
        let named = self.grant.allowed().iter().any(|want| {
            want.permission == Permission::EnvRead
                && want.scope != metier_model::Scope::All
                && want.scope.names(name)
        });
        let denied = self.grant.denied().iter().any(|want| {
            want.permission == Permission::EnvRead
                && (want.scope == metier_model::Scope::All || want.scope.names(name))
        });
        named && !denied && !variables::is_reserved(name)
    }
}
