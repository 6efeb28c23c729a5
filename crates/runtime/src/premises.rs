//! The premises: what is at hand on this machine when a skill works, for every door the same.

use std::{ffi::OsString, os::fd::BorrowedFd, path::PathBuf, sync::Arc};

use metier_catalog::{CopyError, Entry, Place, Snapshot};
use metier_config::Config;
use metier_host::world::{SkillInWorld, WorldError};
use metier_model::{Card, Permission, Scope};
use metier_policy::{Grant, Identity, Purpose, Request, variables};

use crate::{
    Redactor,
    desk::{Desk, Refused, Subject},
    hosts,
    render::Loaded,
    worker::{Failed, SkillAtWork, Worker},
};

pub use metier_host::world::HostEnvironment;

/// The value of a variable of this process.
pub type ProcessVariable = Arc<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// Who decides, and what surrounds a skill here. Values come in from the door.
pub struct Premises {
    /// Who decides, and where it is written down.
    pub desk: Arc<Desk>,
    /// What the user decided.
    pub config: Arc<Config>,
    /// The value of a variable of this process.
    pub variable: ProcessVariable,
    /// What surrounds every skill.
    pub host: Arc<HostEnvironment>,
    /// Where compiled code is kept: one of our own places, which no skill reads or writes.
    pub compiled: PathBuf,
}

impl Premises {
    /// The same for another session of this run: it shares the answers and has rate limits of its own.
    pub(crate) fn beside(&self, session: &str) -> Self {
        Self {
            desk: Arc::new(self.desk.beside(session)),
            config: Arc::clone(&self.config),
            variable: Arc::clone(&self.variable),
            host: Arc::clone(&self.host),
            compiled: self.compiled.clone(),
        }
    }

    /// Asks what a skill may do for this purpose, and whoever may do it.
    ///
    /// # Errors
    /// When it may not, or when there is no room for its work.
    pub fn worker(&self, skill: &Loaded, purpose: Purpose<'_>) -> Result<Worker, Stopped> {
        Ok(self.worker_with(skill, self.grant(skill, purpose)?)?)
    }

    /// Asks what a skill may do for this purpose.
    ///
    /// # Errors
    /// When it may not.
    pub fn grant(&self, skill: &Loaded, purpose: Purpose<'_>) -> Result<Grant, Refused> {
        self.grant_request(skill, &self.request(skill, purpose))
    }

    /// Asks for what a request holds.
    ///
    /// # Errors
    /// When it may not.
    pub fn grant_request(&self, skill: &Loaded, request: &Request) -> Result<Grant, Refused> {
        let identity = identity(skill);
        let place = skill.entry.place.path();
        let subject = Subject {
            identity: &identity,
            place: &place.to_string_lossy(),
            held: &skill.held,
        };
        let grant = self.desk.grant(&subject, request)?;
        Ok(*grant)
    }

    /// Whoever may do what was granted.
    ///
    /// # Errors
    /// When there is no room for its work.
    pub fn worker_with(&self, skill: &Loaded, grant: Grant) -> Result<Worker, Failed> {
        let grant = Arc::new(grant);
        let named = self.named(&skill.manifest.card, &grant);
        let redactor = self.redactor(&skill.manifest.card, &named);
        let (entry, held) = (Arc::clone(&skill.entry), Arc::clone(&skill.held));
        let in_world = SkillInWorld {
            folder: match &entry.place {
                Place::Folder(path) => Some(path.clone()),
                Place::Builtin(_) => None,
            },
            write_files: Arc::new({
                let (entry, held) = (Arc::clone(&entry), Arc::clone(&held));
                move |folder| write(&entry, &held, folder)
            }),
            named,
        };
        let at_work = SkillAtWork {
            place: entry.place.path().to_string_lossy().into_owned(),
            held: Arc::clone(&held),
        };
        let unchanged = move || {
            let digest = entry.place.digest();
            digest.is_ok_and(|digest| digest == held.digest)
        };
        Ok(Worker::new(
            Arc::clone(&self.desk),
            grant,
            Arc::clone(&self.host),
            in_world,
            redactor,
            at_work,
            Box::new(unchanged),
        )?)
    }

    /// What a skill asks for.
    #[must_use]
    pub fn request(&self, skill: &Loaded, purpose: Purpose<'_>) -> Request {
        requested(skill, purpose, &self.config)
    }

    /// The values of the variables that a grant names: what the configuration sets for the skill, else this process's own.
    fn named(&self, card: &Card, grant: &Grant) -> Vec<(String, OsString)> {
        let configured = configured(&self.config, card);
        let allowed = grant.allowed().iter();
        let names = allowed.filter_map(|want| match (&want.scope, want.permission) {
            (Scope::Variable(name), Permission::EnvRead) => Some(name.to_string()),
            _ => None,
        });
        let value = |name: &str| {
            let own = configured.iter().find(|(other, _)| other == name);
            own.map(|(_, value)| OsString::from(value))
                .or_else(|| (self.variable)(name))
        };
        names
            .filter_map(|name| Some((name.clone(), value(&name)?)))
            .collect()
    }

    /// What must not be seen in any output: what the configuration sets, and whatever has the name of a secret.
    fn redactor(&self, card: &Card, named: &[(String, OsString)]) -> Redactor {
        let secret = named.iter().filter(|(name, _)| variables::is_secret(name));
        let secret =
            secret.map(|(name, value)| (name.clone(), value.to_string_lossy().into_owned()));
        let all: Vec<(String, String)> = configured(&self.config, card)
            .into_iter()
            .chain(secret)
            .collect();
        Redactor::new(
            all.iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        )
    }
}

/// Why a skill does not get to work.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// It may not.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// What it would do was not done.
    #[error(transparent)]
    Failed(#[from] Failed),
}

/// Which skill this is, in which bytes.
#[must_use]
pub fn identity(skill: &Loaded) -> Identity {
    Identity {
        skill: skill.entry.name().as_ref().into(),
        source: skill.entry.source,
        digest: skill.held.digest,
    }
}

/// What a skill asks for when this is done with it: the same for whoever runs it and for whoever only looks at it.
pub(crate) fn requested(skill: &Loaded, purpose: Purpose<'_>, config: &Config) -> Request {
    let configured = configured(config, &skill.manifest.card);
    let names: Vec<&str> = configured.iter().map(|(name, _)| name.as_str()).collect();
    let hosts = match skill.manifest.wants.is_empty() {
        true => hosts::reached(&skill.held, purpose),
        false => Vec::new(),
    };
    Request::of(&skill.manifest, purpose, &names, &hosts)
}

/// The variables that the user's configuration sets for a skill, with their values. One that makes programs run code, or
/// leads them elsewhere, is given to no child, and so it is not asked for.
#[must_use]
pub fn configured(config: &Config, card: &Card) -> Vec<(String, String)> {
    let entry = config.entry(card.config_key());
    let set = entry.env.iter();
    let set = set.map(|(name, value)| (name.clone(), value.expose().to_owned()));
    let key = entry.api_key.as_ref().zip(card.primary_env.as_deref());
    let key = key.map(|(key, name)| (name.to_owned(), key.expose().to_owned()));
    let all = set.chain(key);
    all.filter(|(name, _)| !variables::is_reserved(name))
        .collect()
}

/// Writes the files of a skill, as they were judged, into an empty folder.
fn write(entry: &Entry, held: &Snapshot, folder: BorrowedFd<'_>) -> Result<(), WorldError> {
    held.copy_into(&entry.place, folder)
        .map_err(|error| match error {
            CopyError::Changed { .. } => WorldError::Changed,
            error => WorldError::NoCopy(error.to_string()),
        })
}
