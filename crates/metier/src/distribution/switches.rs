//! Enabling and disabling skills: changes of a configuration file that `undo` takes back.

use std::{fs, io, path::PathBuf};

use metier_catalog::{CatalogEntry, read_named, read_small};
use metier_config::edit::{self, EditError, Edited};
use metier_hub::{Change, NewContent};
use metier_model::{Card, Source, text::shell_word};

use super::{draft::make_folders, places::InstallScope};
use crate::{
    Error, NoticeLevel, Workspace,
    configuration::{MAX_CONFIG, unwritable},
    explain,
};

/// The configuration of a project, relative to it.
const PROJECT_CONFIG: &str = ".metier/config.toml";

/// A change of a configuration file.
///
/// The example of [`Workspace::switch_skills`] prints the file.
#[derive(Debug)]
pub struct SettingsChange {
    /// The file.
    pub file: PathBuf,
    /// Whether the file is different from before, or would be.
    pub is_different: bool,
    /// The change, for `undo`; none if nothing was different, or nothing was to be written.
    pub change: Option<Change>,
}

/// A skill that was enabled or disabled.
///
/// An example is at [`Workspace::switch_skills`].
#[derive(Debug)]
pub struct SwitchedSkill {
    /// The name in its manifest.
    pub name: String,
    /// Whether it was different before.
    pub is_different: bool,
}

/// The result of enabling or disabling skills.
///
/// [`Workspace::switch_skills`] returns it and has an example.
#[derive(Debug)]
pub struct SwitchReport {
    /// Each of the skills.
    pub skills: Vec<SwitchedSkill>,
    /// The file that states it.
    pub settings: SettingsChange,
}

/// One key of a configuration file, and its new value; none removes it.
pub(crate) type KeyEdit = (String, Option<String>);

impl Workspace {
    /// Enables or disables skills, by name, `source:name` or path, in the user's configuration or in that of the project. Comments there are kept.
    /// A project can only disable a skill; enabling one there removes that setting. With `dry_run` nothing is written.
    ///
    /// ```no_run
    /// use metier::distribution::InstallScope;
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let report = workspace.switch_skills(&["pdf".to_owned()], false, InstallScope::User, false)?;
    /// println!("changed {}", report.settings.file.display());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill, when something else disables it, or when the file can't be written.
    pub fn switch_skills(
        &self,
        names: &[String],
        enabled: bool,
        scope: InstallScope,
        dry_run: bool,
    ) -> Result<SwitchReport, Error> {
        let inventory = self.inventory()?;
        let (_, text) = self.settings_file(scope)?;
        let mut skills = Vec::new();
        let mut edits = Vec::new();
        for name in names {
            let entry = inventory.entry(explain::find(self, &inventory, name)?);
            let card = entry.card.as_ref().ok_or_else(|| {
                Error::unmet("invalid", format!("skill `{}` can't be read", entry.name()))
                    .skill(entry.name())
                    .hint(format!("metier validate {}", shell_word(name)))
            })?;
            let keys = card_keys(card);
            let (off, mut on): (Vec<_>, Vec<_>) =
                keys.into_iter().partition(|key| is_false(&text, key));
            let keys = match enabled {
                true => {
                    self.check_others(entry, scope, off.is_empty())?;
                    off
                }
                false => {
                    // The key of the skill's name is enough to disable it.
                    on.truncate(usize::from(off.is_empty()));
                    on
                }
            };
            skills.push(SwitchedSkill {
                name: card.name.to_string(),
                is_different: !keys.is_empty(),
            });
            let value = match (enabled, scope) {
                (true, InstallScope::Project) => None,
                (enabled, _) => Some(enabled.to_string()),
            };
            edits.extend(keys.into_iter().map(|key| (key, value.clone())));
        }
        let verb = if enabled { "enable" } else { "disable" };
        let title = format!("{verb} {}", names.join(" "));
        let settings = self.edit_settings(scope, &title, &edits, dry_run)?;
        Ok(SwitchReport { skills, settings })
    }

    /// Whether something other than one file disables a skill: an error if nothing would be different, otherwise a warning.
    fn check_others(
        &self,
        entry: &CatalogEntry,
        scope: InstallScope,
        is_last: bool,
    ) -> Result<(), Error> {
        let name = &*entry.name();
        let profile = self.config.profile_without(name);
        let profile = profile.filter(|_| entry.source != Source::Builtin);
        let (message, hint) = if !self.config.enabled {
            let message = "all skills are disabled by `skills.enabled`".to_owned();
            (message, "metier config skills.enabled true".to_owned())
        } else if let Some(profile) = profile {
            let message = format!("the profile `{profile}` does not contain skill `{name}`");
            (message, "metier profile clear".to_owned())
        } else if let Some(other) = self.other_switch(entry, scope) {
            let hint = match other {
                InstallScope::User => format!("metier enable {}", shell_word(name)),
                InstallScope::Project => format!("metier enable {} --project", shell_word(name)),
            };
            let whose = match other {
                InstallScope::User => "your own configuration",
                InstallScope::Project => "the project",
            };
            (format!("{whose} disables skill `{name}`"), hint)
        } else {
            return Ok(());
        };
        if is_last {
            let error = Error::unmet("disabled-elsewhere", message);
            return Err(error.skill(name).hint(hint));
        }
        let line = format!("{message}; to enable it: {hint}");
        self.notices.notice(NoticeLevel::Warning, &line);
        Ok(())
    }

    /// The other file that disables a skill, if it does.
    fn other_switch(&self, entry: &CatalogEntry, scope: InstallScope) -> Option<InstallScope> {
        let other = match scope {
            InstallScope::User => InstallScope::Project,
            InstallScope::Project => InstallScope::User,
        };
        let (_, text) = self.settings_file(other).ok()?;
        let keys = entry.card.as_ref().map(card_keys)?;
        let is_off = keys.iter().any(|key| is_false(&text, key));
        is_off.then_some(other)
    }

    /// Changes keys of a configuration file in one step, which `undo` takes back.
    pub(crate) fn edit_settings(
        &self,
        scope: InstallScope,
        title: &str,
        edits: &[KeyEdit],
        dry_run: bool,
    ) -> Result<SettingsChange, Error> {
        let (file, before) = self.settings_file(scope)?;
        let mut text = before.clone();
        for (key, value) in edits {
            text = edited(&text, key, value.as_deref())
                .map_err(|error| {
                    let message = error.to_string();
                    Error::unmet("config", message)
                        .path(&file)
                        .hint(error.hint())
                })?
                .text;
        }
        let is_different = text != before;
        if dry_run || !is_different {
            return Ok(SettingsChange {
                file,
                is_different,
                change: None,
            });
        }
        let content = match scope {
            // The configuration can contain keys: only its owner may read it.
            InstallScope::User => NewContent::PrivateFile(text.into_bytes()),
            InstallScope::Project => NewContent::File(text.into_bytes()),
        };
        match scope {
            InstallScope::User => {
                let folder = file.parent().unwrap_or(&file);
                fs::create_dir_all(folder).map_err(|error| unwritable(&file, &error))?;
            }
            InstallScope::Project => make_folders(&self.machine.project, ".metier".as_ref())?,
        }
        let (change, ()) = self.change_skills(title, |draft| draft.set(&file, content))?;
        Ok(SettingsChange {
            file,
            is_different,
            change,
        })
    }

    /// The configuration file of a scope, without links, and its text.
    fn settings_file(&self, scope: InstallScope) -> Result<(PathBuf, String), Error> {
        let file = match scope {
            InstallScope::User => self.user_settings_file()?,
            InstallScope::Project => self.machine.project.join(PROJECT_CONFIG),
        };
        let read = match scope {
            InstallScope::User => match read_named(&file, MAX_CONFIG) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                read => read.map(Some),
            },
            InstallScope::Project => read_small(&self.machine.project, PROJECT_CONFIG, MAX_CONFIG),
        };
        let text = read.map_err(|error| unwritable(&file, &error))?;
        let file = file.canonicalize().unwrap_or(file);
        Ok((file, text.unwrap_or_default()))
    }
}

fn edited(text: &str, key: &str, value: Option<&str>) -> Result<Edited, EditError> {
    match value {
        Some(value) => edit::set(text, key, value),
        None => edit::unset(text, key),
    }
}

/// Whether a configuration file sets a key to `false`.
fn is_false(text: &str, key: &str) -> bool {
    edit::unset(text, key).is_ok_and(|edited| edited.old.as_deref() == Some("false"))
}

/// The keys that can disable a skill: the one with its name, and the one that it chose for its settings.
fn card_keys(card: &Card) -> Vec<String> {
    let mut names = vec![card.name.as_str(), card.config_key()];
    names.dedup();
    let quoted = |name: &str| metier_config::KeyPath::of(["skills", "entries", name, "enabled"]);
    names
        .into_iter()
        .map(|name| quoted(name).to_string())
        .collect()
}
