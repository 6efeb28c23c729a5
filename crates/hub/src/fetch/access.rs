//! Access to sources: git in the sandbox, HTTP with checked addresses, and a quarantine folder for unscanned files.

use std::path::{Path, PathBuf};

use url::Url;

use super::{SourceLimits, error::FetchError, quarantine::QuarantineRoom};

/// Access to sources. [`HostAccess`](super::HostAccess) is the real one.
pub trait SourceAccess: Send + Sync {
    /// The folder that `~` at the start of a path stands for.
    fn home(&self) -> Option<&Path>;

    /// The base address of ClawHub.
    fn clawhub(&self) -> &str;

    /// A folder for one fetch; it is removed when the value is dropped.
    ///
    /// # Errors
    /// If it can't be created.
    fn quarantine(&self) -> Result<QuarantineRoom, FetchError>;

    /// Runs git in the sandbox and returns its output.
    ///
    /// # Errors
    /// If git can't be started, reports an error, or exceeds a limit.
    fn git(&self, run: &GitRun<'_>) -> Result<Vec<u8>, FetchError>;

    /// Starts git in the sandbox to read objects that were fetched.
    ///
    /// # Errors
    /// If git can't be started.
    fn objects(&self, run: &GitRun<'_>) -> Result<Box<dyn ObjectReader>, FetchError>;

    /// Downloads a whole file. A response with a status other than 200 is an error.
    ///
    /// # Errors
    /// If the address is refused, at any redirect, or the download fails or exceeds a limit.
    fn download(&self, request: &DownloadRequest<'_>) -> Result<Download, FetchError>;
}

/// One run of git.
#[derive(Clone, Copy)]
pub struct GitRun<'a> {
    /// The source, for messages.
    pub source_name: &'a str,
    /// The repository in quarantine, which is the only place that git can write to.
    pub repository: &'a Path,
    /// The command and its arguments.
    pub arguments: &'a [&'a str],
    /// The standard input of git.
    pub input: &'a [u8],
    /// The remote that git can reach under the name `origin`; `None` for work on objects that were fetched before.
    pub remote: Option<&'a GitRemote>,
    /// The maximum size of its output, in bytes.
    pub max_output: usize,
    /// Called with the number of bytes received so far.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// The limits of the fetch.
    pub limits: &'a SourceLimits,
}

/// Where a repository is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitRemote {
    /// Behind an `https` address, or `http` on this machine.
    Web(Url),
    /// In a folder on this machine.
    Folder(PathBuf),
    /// Behind ssh.
    Ssh {
        /// `user@host` or `host`.
        host: String,
        /// The port, if it is not the usual one.
        port: Option<u16>,
        /// The path on that host.
        path: String,
    },
}

/// A running git that returns the content of objects by their names.
pub trait ObjectReader: Send {
    /// The content of an object that was fetched.
    ///
    /// # Errors
    /// If git ended, or does not have it.
    fn read(&mut self, id: &str) -> Result<Vec<u8>, FetchError>;
}

/// One download.
#[derive(Clone, Copy)]
pub struct DownloadRequest<'a> {
    /// The address.
    pub url: &'a Url,
    /// The address that the user typed: only its host can be one of this machine or of a private network.
    pub typed: &'a Url,
    /// The maximum size, in bytes.
    pub max_bytes: usize,
    /// Called with the number of bytes so far, and the total if the server announced it.
    pub progress: &'a (dyn Fn(u64, Option<u64>) + Sync),
    /// The limits of the fetch.
    pub limits: &'a SourceLimits,
}

/// A download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// The final address, after all redirects.
    pub url: Url,
    /// Its media type, in lower case and without parameters; empty if none was stated.
    pub media_type: String,
    /// The content.
    pub bytes: Vec<u8>,
}
