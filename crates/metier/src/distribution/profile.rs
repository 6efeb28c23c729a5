//! Profiles: named sets of skills, of which at most one is in use. The other skills are disabled and stay installed.

use std::collections::BTreeSet;

use metier_config::{KeyPath, Origin};
use metier_model::{Source, text::shell_word};
use metier_runtime::Status;

use super::{
    places::InstallScope,
    switches::{KeyEdit, SettingsChange},
};
use crate::{Error, NoticeLevel, Workspace, explain, text::one_line};

/// A named set of skills.
///
/// An example is at [`Workspace::profiles`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillProfile {
    /// Its name.
    pub name: String,
    /// Its skills, as they are written in the configuration.
    pub skills: Vec<String>,
    /// Those of them that are not on this machine.
    pub missing: Vec<String>,
    /// Whether it is in use.
    pub is_active: bool,
}

impl Workspace {
    /// The profiles of the configuration, sorted by name.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for profile in workspace.profiles()? {
    ///     println!("{}: {}", profile.name, profile.skills.join(", "));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the trusted folders can't be read from the database.
    pub fn profiles(&self) -> Result<Vec<SkillProfile>, Error> {
        let inventory = self.inventory()?;
        let skills = inventory.skills.iter();
        let known: BTreeSet<String> = skills
            .map(|skill| inventory.entry(skill).name().into_owned())
            .collect();
        let profiles = self.config.profiles.iter();
        let profiles = profiles.map(|(name, skills)| SkillProfile {
            name: name.clone(),
            skills: skills.clone(),
            missing: skills
                .iter()
                .filter(|name| !known.contains(*name))
                .cloned()
                .collect(),
            is_active: self.config.profile.as_ref() == Some(name),
        });
        Ok(profiles.collect())
    }

    /// Uses a profile from now on, or none: then all skills are enabled again that nothing else disables. With `dry_run` nothing is written.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// workspace.use_profile(Some("writing"), false)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such profile, or when the configuration can't be written.
    pub fn use_profile(&self, name: Option<&str>, dry_run: bool) -> Result<SettingsChange, Error> {
        if let Some(name) = name.filter(|name| !self.config.profiles.contains_key(*name)) {
            return Err(self.unknown_profile(name));
        }
        let edit = ("skills.profile".to_owned(), name.map(str::to_owned));
        let title = match name {
            Some(name) => format!("profile use {name}"),
            None => "profile clear".to_owned(),
        };
        let settings = self.edit_settings(InstallScope::User, &title, &[edit], dry_run)?;
        if let Ok(Origin::Env(variable)) = self.config_value("skills.profile").map(|v| v.origin) {
            let line = format!("{variable} overrides this setting while it is set");
            self.notices.notice(NoticeLevel::Warning, &line);
        }
        Ok(settings)
    }

    /// Saves a profile with these skills; without any, with the skills that are enabled now and not built in. With `dry_run` nothing is written.
    /// Returns the skills of the profile, and the change of the file.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let (skills, settings) = workspace.save_profile("writing", &["pdf".to_owned()], false)?;
    /// println!("{} in {}", skills.join(", "), settings.file.display());
    /// workspace.remove_profile("writing", false)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such skill, when there is none at all, or when the configuration can't be written.
    pub fn save_profile(
        &self,
        name: &str,
        skills: &[String],
        dry_run: bool,
    ) -> Result<(Vec<String>, SettingsChange), Error> {
        let skills: Vec<String> = self.profile_skills(skills)?.into_iter().collect();
        if skills.is_empty() {
            let message = format!("the profile `{}` would contain no skills", one_line(name));
            let hint = format!(
                "name them: metier profile save {} SKILL …",
                shell_word(name)
            );
            return Err(Error::unmet("empty-profile", message).hint(hint));
        }
        let key = KeyPath::of(["profiles", name, "skills"]).to_string();
        let value = serde_json::Value::from(skills.clone()).to_string();
        let edit: KeyEdit = (key, Some(value));
        let title = format!("profile save {name}");
        let settings = self.edit_settings(InstallScope::User, &title, &[edit], dry_run)?;
        Ok((skills, settings))
    }

    /// Removes a profile. If it is in use, none is in use afterwards. With `dry_run` nothing is written.
    ///
    /// An example is at [`Workspace::save_profile`].
    ///
    /// # Errors
    /// When there is no such profile, or when the configuration can't be written.
    pub fn remove_profile(&self, name: &str, dry_run: bool) -> Result<SettingsChange, Error> {
        if !self.config.profiles.contains_key(name) {
            return Err(self.unknown_profile(name));
        }
        let key = KeyPath::of(["profiles", name, "skills"]).to_string();
        let mut edits: Vec<KeyEdit> = vec![(key, None)];
        if self.config.profile.as_deref() == Some(name) {
            edits.push(("skills.profile".to_owned(), None));
        }
        let title = format!("profile remove {name}");
        self.edit_settings(InstallScope::User, &title, &edits, dry_run)
    }

    fn profile_skills(&self, named: &[String]) -> Result<BTreeSet<String>, Error> {
        let inventory = self.inventory()?;
        if named.is_empty() {
            let enabled = inventory.skills.iter().filter(|skill| {
                let is_built_in = inventory.entry(skill).source == Source::Builtin;
                let is_left_out = matches!(skill.status, Status::Disabled | Status::Invalid);
                !is_built_in && !is_left_out
            });
            let names = enabled.map(|skill| inventory.entry(skill).name().into_owned());
            return Ok(names.collect());
        }
        let find = |name: &String| {
            let skill = explain::find(self, &inventory, name)?;
            Ok(inventory.entry(skill).name().into_owned())
        };
        named.iter().map(find).collect()
    }

    fn unknown_profile(&self, name: &str) -> Error {
        let shown = one_line(name);
        let error = Error::unmet("unknown-profile", format!("there is no profile `{shown}`"));
        let known: Vec<&str> = self.config.profiles.keys().map(String::as_str).collect();
        match known.as_slice() {
            [] => error.hint(format!(
                "save one: metier profile save {} SKILL …",
                shell_word(name)
            )),
            known => error.hint(format!("the profiles are {}", known.join(", "))),
        }
    }
}
