//! The configuration: every key with its value and origin, and changes of the user's file.

use std::{fs, io, path::Path, path::PathBuf};

use metier_catalog::read_named;
use metier_config::edit;

pub use metier_config::{
    ConfigKey, ConfigLine, ConfigProblem, HookEngine, KEYS, ListItemKind, ValueKind,
    reference_markdown,
};

use crate::{Error, Workspace, text::one_line};

/// The largest configuration that is changed, in bytes.
pub(crate) const MAX_CONFIG: u64 = 1 << 20;

/// A change of the user's configuration.
///
/// An example is at [`Workspace::set_config`].
#[derive(Clone, Debug)]
pub struct ConfigChange {
    /// The file that was written.
    pub file: PathBuf,
    /// The value before, as TOML with secrets hidden.
    pub old: Option<String>,
}

impl Workspace {
    /// Every key with its value, its origin and what it does. Secrets are hidden.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for value in workspace.config_values() {
    ///     println!("{} = {:?}, from {}", value.key, value.text, value.origin);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn config_values(&self) -> Vec<ConfigLine> {
        self.config.values()
    }

    /// One key with its value, its origin and its description. A secret is hidden.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let model = workspace.config_value("agent.model")?;
    /// # let _ = model;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such key, with the nearest one.
    pub fn config_value(&self, key: &str) -> Result<ConfigLine, Error> {
        self.config.get(key).map_err(|unknown| {
            let message = format!("there is no key `{}`", one_line(&unknown.key));
            Error::unmet("unknown-key", message).hint(unknown.hint)
        })
    }

    /// Mistakes in the configuration, each with its place and a hint.
    ///
    /// An example is at [`Workspace::open_anyway`].
    #[must_use]
    pub fn config_problems(&self) -> &[ConfigProblem] {
        &self.problems
    }

    /// Writes a value to the user's file, and keeps the comments there. A workspace that is open keeps its values.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// workspace.set_config("skills.validation", "strict")?;
    /// workspace.unset_config("skills.validation")?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is no such key, when the value does not fit it, or when the file can't be written.
    pub fn set_config(&self, key: &str, value: &str) -> Result<ConfigChange, Error> {
        self.change_config(|text| edit::set(text, key, value))
    }

    /// Removes a key from the user's file.
    ///
    /// An example is at [`Workspace::set_config`].
    ///
    /// # Errors
    /// When there is no such key, or when the file can't be written.
    pub fn unset_config(&self, key: &str) -> Result<ConfigChange, Error> {
        self.change_config(|text| edit::unset(text, key))
    }

    /// The user's file, whether it exists or not.
    pub(crate) fn user_settings_file(&self) -> Result<PathBuf, Error> {
        let file = self.machine.config_file.as_ref();
        let file = file.map(|file| self.machine.work.join(file));
        file.ok_or_else(|| {
            let message = "there is no home directory to keep a configuration in";
            Error::broken("config", message).hint("set METIER_HOME to a folder")
        })
    }

    /// Reads the user's file, changes it, writes the result next to it and replaces it.
    fn change_config(
        &self,
        edit: impl Fn(&str) -> Result<edit::Edited, edit::EditError>,
    ) -> Result<ConfigChange, Error> {
        let file = self.user_settings_file()?;
        let text = match read_named(&file, MAX_CONFIG) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unwritable(&file, &error)),
        };
        let edited = edit(&text).map_err(|error| {
            Error::unmet("config", error.to_string())
                .path(&file)
                .hint(error.hint())
        })?;
        write_whole(&file, &edited.text).map_err(|error| unwritable(&file, &error))?;
        Ok(ConfigChange {
            file,
            old: edited.old,
        })
    }
}

pub(crate) fn unwritable(file: &Path, error: &io::Error) -> Error {
    let message = format!("the configuration can't be written: {error}");
    Error::broken("config", message)
        .path(file)
        .hint("check the folder's permissions, or name another file with `--config`")
}

/// The configuration can contain keys: only its owner may read it.
fn write_whole(file: &Path, text: &str) -> io::Result<()> {
    use std::{io::Write, os::unix::fs::OpenOptionsExt};
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let temporary = file.with_extension(format!("toml.{}", std::process::id()));
    let mut out = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs::rename(&temporary, &file)
}
