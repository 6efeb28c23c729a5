//! Backends: how the code of a skill runs, one file for each kind.
//!
//! A backend is opened for one activation. It applies the same grant to its kind of code, and returns a [`SkillProcess`]; the rest of
//! the program does not know the language of the skill.

mod claude;
#[cfg(feature = "js")]
mod deno;
#[cfg(feature = "js")]
mod handlers;
#[cfg(any(feature = "starlark", feature = "js"))]
mod interpreted;
#[cfg(feature = "js")]
mod js;
mod openclaw;
#[cfg(any(feature = "starlark", feature = "js", feature = "wasm"))]
mod own_binary;
mod process;
mod report;
#[cfg(feature = "starlark")]
mod starlark;
#[cfg(feature = "wasm")]
mod wasm;

use std::collections::BTreeMap;

use metier_host::{
    backend::{CombinedProcess, SkillHost, SkillProcess},
    execution::ActExecutor,
};
use metier_model::Backend;
use metier_policy::Grant;
use metier_sdk::wire::{Contributions, Initialize, PROTOCOL};
use serde_json::Value;

use super::{ActivateError, Active, Runtime};
use crate::entrypoint::entrypoint_among;

/// The error of a backend that is not part of this build.
const fn left_out(language: &'static str, feature: &'static str) -> ActivateError {
    ActivateError::LeftOut { language, feature }
}

/// Replaces a backend that is not part of this build.
macro_rules! left_out {
    ($room:ident, $feature:literal, $language:literal) => {
        #[cfg(not(feature = $feature))]
        mod $room {
            use super::{BackendOpening, OpenedBackend, left_out};

            pub(super) fn open<T>(_: &BackendOpening<'_>, _: T) -> OpenedBackend {
                Err(left_out($language, $feature))
            }
        }
    };
}

left_out!(starlark, "starlark", "Starlark");
left_out!(wasm, "wasm", "WebAssembly");
left_out!(js, "js", "JavaScript");
left_out!(handlers, "js", "JavaScript");

/// A session that lives as long as its runtime.
pub(super) type OpenedBackend = Result<Box<dyn SkillProcess>, ActivateError>;

/// The inputs for opening a backend.
pub(super) struct BackendOpening<'r> {
    pub(super) runtime: &'r Runtime,
    pub(super) active: &'r Active,
    /// The skill's own grant, if it works for a skill with fewer permissions.
    pub(super) own: Option<&'r Grant>,
    /// The host that answers requests while its code starts.
    pub(super) host: &'r dyn SkillHost,
}

impl Runtime {
    /// The code of a skill and its hooks, each in its backend; `None` if it has none. And the registrations of its code.
    pub(super) fn session(
        &self,
        active: &Active,
        own: Option<&Grant>,
        host: &dyn SkillHost,
    ) -> Result<(Option<Box<dyn SkillProcess>>, Contributions), ActivateError> {
        let opening = BackendOpening {
            runtime: self,
            active,
            own,
            host,
        };
        let code = self.code(&opening)?;
        let registered = code.as_ref().map(|code| code.contributions().clone());
        let mut members: Vec<Box<dyn SkillProcess>> = code.into_iter().collect();
        if self.tests.is_none() {
            members.extend(openclaw::open(&opening)?);
            members.extend(claude::open(&opening));
        }
        Ok((CombinedProcess::of(members), registered.unwrap_or_default()))
    }

    /// The code of a skill, in its backend.
    fn code(
        &self,
        opening: &BackendOpening<'_>,
    ) -> Result<Option<Box<dyn SkillProcess>>, ActivateError> {
        let active = opening.active;
        let Some(backend) = active.loaded.manifest.card.backend else {
            return Ok(None);
        };
        let entrypoint = match &self.tests {
            Some(file) => file.clone(),
            None => entrypoint(active, backend)?,
        };
        let session = match backend {
            Backend::Starlark => starlark::open(opening, entrypoint)?,
            Backend::Process => opening.child(&entrypoint, ActExecutor::start)?,
            Backend::Native if cfg!(feature = "native") => {
                opening.child(&entrypoint, ActExecutor::start_library)?
            }
            Backend::Native => {
                return Err(left_out("native", "native"));
            }
            Backend::Wasm => wasm::open(opening, &entrypoint)?,
            Backend::Js => js::open(opening, entrypoint)?,
        };
        Ok(Some(session))
    }
}

impl BackendOpening<'_> {
    /// The first message to the code.
    fn initialize(&self) -> Initialize {
        let grant = self.active.worker.grant();
        let project = &self.runtime.environment.approvals.terms.project;
        Initialize {
            protocol: PROTOCOL,
            skill: self.active.name().to_owned(),
            directory: self.active.folder.to_string_lossy().into_owned(),
            project: Some(project.to_string_lossy().into_owned()),
            config: Value::Null,
            permissions: grant.fence().map(ToString::to_string).collect(),
            entrypoint: None,
            sources: BTreeMap::new(),
            handlers: Vec::new(),
            variables: BTreeMap::new(),
        }
    }
}

/// The file to run. It must be one of the scanned files.
fn entrypoint(active: &Active, backend: Backend) -> Result<String, ActivateError> {
    let written = active.loaded.manifest.code.entrypoint.as_deref();
    let files = &active.loaded.held.files;
    let has = |path: &str| files.iter().any(|file| file.path == *path);
    let found = entrypoint_among(written, backend, has);
    found.map_err(|missing| ActivateError::Entrypoint(missing.message))
}
