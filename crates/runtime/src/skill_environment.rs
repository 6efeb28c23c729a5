//! The environment of a skill on this machine, the same for every interface.

use std::{ffi::OsString, os::fd::BorrowedFd, path::PathBuf, sync::Arc};

use metier_catalog::{CatalogEntry, CopyError, SkillLocation, Snapshot};
use metier_config::Config;
use metier_host::execution::{ExecutingSkill, ExecutionError};
use metier_model::{Permission, Scope};
use metier_policy::{Grant, PermissionRequest, Purpose, variables};

use crate::{
    Redactor,
    approvals::{Approvals, GrantRefused, RequestingSkill, RevocableGrant},
    granted_skill::{ActError, ActiveSkill, GrantedSkill},
    render::LoadedSkill,
    requests::requested,
};

pub use metier_host::execution::HostEnvironment;

pub use crate::requests::{configured, identity};

/// The value of a variable of this process.
pub type ProcessVariable = Arc<dyn Fn(&str) -> Option<OsString> + Send + Sync>;

/// The approver and the surroundings of a skill, as values from the caller.
pub struct SkillEnvironment {
    /// The approver, and the store of its decisions.
    pub approvals: Arc<Approvals>,
    /// The user's settings.
    pub config: Arc<Config>,
    /// The value of a variable of this process.
    pub variable: ProcessVariable,
    /// The host environment of every skill.
    pub host: Arc<HostEnvironment>,
    /// The cache of compiled code: one of our own places, which no skill reads or writes.
    pub compiled: PathBuf,
}

impl SkillEnvironment {
    /// The environment of another session of this run: it shares the answers and has its own rate limits.
    pub(crate) fn beside(&self, session: &str) -> Self {
        Self {
            approvals: Arc::new(self.approvals.beside(session)),
            config: Arc::clone(&self.config),
            variable: Arc::clone(&self.variable),
            host: Arc::clone(&self.host),
            compiled: self.compiled.clone(),
        }
    }

    /// Requests the permissions of a skill for this purpose, and creates its worker.
    ///
    /// # Errors
    /// When permission is denied, or temporary folders can't be created.
    pub fn worker(
        &self,
        skill: &LoadedSkill,
        purpose: Purpose<'_>,
    ) -> Result<GrantedSkill, StartError> {
        Ok(self.worker_with(skill, self.grant(skill, purpose)?)?)
    }

    /// Requests the permissions of a skill for this purpose.
    ///
    /// # Errors
    /// When permission is denied.
    pub fn grant(
        &self,
        skill: &LoadedSkill,
        purpose: Purpose<'_>,
    ) -> Result<RevocableGrant, GrantRefused> {
        self.grant_request(skill, &self.request(skill, purpose))
    }

    /// Asks for the permissions of a request.
    ///
    /// # Errors
    /// When permission is denied.
    pub fn grant_request(
        &self,
        skill: &LoadedSkill,
        request: &PermissionRequest,
    ) -> Result<RevocableGrant, GrantRefused> {
        let identity = identity(skill);
        let place = skill.entry.place.path();
        let subject = RequestingSkill {
            identity: &identity,
            place: &place.to_string_lossy(),
            held: &skill.held,
        };
        self.approvals.grant(&subject, request)
    }

    /// A worker with the granted permissions.
    ///
    /// # Errors
    /// When temporary folders can't be created.
    pub fn worker_with(
        &self,
        skill: &LoadedSkill,
        granted: RevocableGrant,
    ) -> Result<GrantedSkill, ActError> {
        let named = self.named(skill, granted.grant());
        let redactor = self.redactor(skill, &named);
        let (entry, held) = (Arc::clone(&skill.entry), Arc::clone(&skill.held));
        let in_world = ExecutingSkill {
            folder: match &entry.place {
                SkillLocation::Folder(path) => Some(path.clone()),
                SkillLocation::Builtin(_) | SkillLocation::Remote(_) => None,
            },
            write_files: Arc::new({
                let (entry, held) = (Arc::clone(&entry), Arc::clone(&held));
                move |folder| write(&entry, &held, folder)
            }),
            named,
        };
        let at_work = ActiveSkill {
            place: entry.place.path().to_string_lossy().into_owned(),
            held: Arc::clone(&held),
        };
        let unchanged = move || {
            let digest = entry.place.digest();
            digest.is_ok_and(|digest| digest == held.digest)
        };
        Ok(GrantedSkill::new(
            Arc::clone(&self.approvals),
            granted,
            Arc::clone(&self.host),
            in_world,
            redactor,
            at_work,
            Box::new(unchanged),
        )?)
    }

    /// The permissions that a skill requests.
    #[must_use]
    pub fn request(&self, skill: &LoadedSkill, purpose: Purpose<'_>) -> PermissionRequest {
        requested(skill, purpose, &self.config)
    }

    /// The values of the variables that a grant names: those that the configuration sets for the skill, otherwise this process's own.
    fn named(&self, skill: &LoadedSkill, grant: &Grant) -> Vec<(String, OsString)> {
        let configured = configured(&self.config, skill);
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

    /// The values that are removed from output: those of the configuration, and variables with the name of a secret.
    fn redactor(&self, skill: &LoadedSkill, named: &[(String, OsString)]) -> Redactor {
        let secret = named.iter().filter(|(name, _)| variables::is_secret(name));
        let secret =
            secret.map(|(name, value)| (name.clone(), value.to_string_lossy().into_owned()));
        let all: Vec<(String, String)> = configured(&self.config, skill)
            .into_iter()
            .chain(secret)
            .collect();
        Redactor::new(
            all.iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        )
    }
}

/// Why a skill can't start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The skill is not permitted to run.
    #[error(transparent)]
    Refused(#[from] GrantRefused),
    /// Its act was not done.
    #[error(transparent)]
    Failed(#[from] ActError),
}

/// Writes the scanned files of a skill into an empty folder.
fn write(
    entry: &CatalogEntry,
    held: &Snapshot,
    folder: BorrowedFd<'_>,
) -> Result<(), ExecutionError> {
    held.copy_into(&entry.place, folder)
        .map_err(|error| match error {
            CopyError::Changed { .. } => ExecutionError::Changed,
            error => ExecutionError::NoCopy(error.to_string()),
        })
}
