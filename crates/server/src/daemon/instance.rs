//! One daemon for each data folder: the lock that it holds, and the token that its clients show.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use metier::Error;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// How long a changed token can stay unnoticed.
const GLANCE: Duration = Duration::from_millis(500);

/// The longest file that is read as a token.
const MAX_TOKEN: u64 = 1_024;

/// The lock of a running daemon. The kernel releases it with the process, however that ends.
pub(super) struct InstanceLock {
    file: File,
}

/// The content of the lock file: the daemon that holds it.
#[derive(Deserialize, Serialize)]
struct RunningInstance {
    pid: u32,
    address: String,
}

impl InstanceLock {
    /// Takes the lock of a data folder.
    pub(super) fn take(path: &Path) -> Result<Self, Error> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| Error::unwritable(folder, &error))?;
        }
        let mut file = private_file(path)
            .open(path)
            .map_err(|error| Error::unwritable(path, &error))?;
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            let mut text = String::new();
            file.read_to_string(&mut text).ok();
            return Err(already_running(path, &text));
        }
        Ok(Self { file })
    }

    /// Writes the process and the address of this daemon into the lock file.
    pub(super) fn note(&mut self, address: &str) -> io::Result<()> {
        let running = RunningInstance {
            pid: std::process::id(),
            address: address.to_owned(),
        };
        self.file.set_len(0)?;
        self.file.rewind()?;
        serde_json::to_writer(&mut self.file, &running)?;
        self.file.flush()
    }
}

impl Drop for InstanceLock {
    fn drop(&mut self) {
        // The kernel releases the lock with the file; its content would name a daemon that has ended.
        self.file.set_len(0).ok();
    }
}

/// The address of the daemon that holds the lock of a data folder, if there is one.
pub(super) fn running_address(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
        return None;
    }
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let running = serde_json::from_str::<RunningInstance>(&text).ok()?;
    Some(running.address)
}

fn already_running(path: &Path, text: &str) -> Error {
    let error = match serde_json::from_str::<RunningInstance>(text) {
        Ok(RunningInstance { pid, address }) => {
            let message = format!("a daemon is running already: process {pid}, at {address}");
            let hint = format!("use that one, or stop it with: kill {pid}");
            Error::unmet("already-running", message).hint(hint)
        }
        Err(_) => Error::unmet("already-running", "a daemon is just starting or stopping")
            .hint("try again in a moment"),
    };
    error.path(path)
}

fn private_file(_path: &Path) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).mode(0o600);
    options
}

/// The token, as it is in its file now.
pub(super) struct DaemonToken {
    path: PathBuf,
    known: Mutex<KnownToken>,
}

struct KnownToken {
    token: String,
    state: Option<FileState>,
    looked: Instant,
}

/// Inode, time of the last change and size of a file: one of them differs after it was replaced.
type FileState = (u64, i64, i64, u64);

impl DaemonToken {
    /// Reads the token of a data folder; makes one if there is none.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        if state_of(path).is_none() {
            replace(path)?;
        }
        let token = read(path)?;
        Ok(Self {
            known: Mutex::new(KnownToken {
                token,
                state: state_of(path),
                looked: Instant::now(),
            }),
            path: path.to_owned(),
        })
    }

    /// Whether a client sent the token, as it is in the file now.
    pub(super) fn is(&self, shown: &str) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.look(&self.path);
        // A file that is gone or empty has no token.
        !known.token.is_empty() && bool::from(known.token.as_bytes().ct_eq(shown.as_bytes()))
    }

    /// The signature of a text (HMAC-SHA-256), which changes with the token. Without a token it is random, so nothing can be verified.
    pub(super) fn sign(&self, text: &str) -> String {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.look(&self.path);
        if known.token.is_empty() {
            return secret().unwrap_or_default();
        }
        let mut key = [0; 64];
        let hashed = Sha256::digest(known.token.as_bytes());
        key[..hashed.len()].copy_from_slice(&hashed);
        let padded = |pad: u8| key.map(|byte| byte ^ pad);
        let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text);
        let outer = Sha256::new().chain_update(padded(0x5c));
        URL_SAFE_NO_PAD.encode(outer.chain_update(inner.finalize()).finalize())
    }

    /// The path of the file with the token.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Changes with the token.
    pub(super) fn version(&self) -> Option<FileState> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.look(&self.path);
        known.state
    }
}

impl KnownToken {
    fn look(&mut self, path: &Path) {
        if self.looked.elapsed() < GLANCE {
            return;
        }
        self.looked = Instant::now();
        let state = state_of(path);
        if state != self.state {
            self.token = read(path).unwrap_or_default();
            self.state = state;
        }
    }
}

fn state_of(path: &Path) -> Option<FileState> {
    let state = fs::symlink_metadata(path).ok()?;
    Some((state.ino(), state.mtime(), state.mtime_nsec(), state.size()))
}

pub(super) fn read(path: &Path) -> Result<String, Error> {
    let unreadable = |why: String| {
        Error::broken("token", format!("the token can't be used: {why}"))
            .path(path)
            .hint("metier serve --rotate-token creates another one")
    };
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mode = file.metadata().map_or(0, |state| state.mode());
    if mode & 0o077 != 0 {
        return Err(unreadable("other users can read its file".to_owned()));
    }
    let mut text = String::new();
    let read = file.take(MAX_TOKEN).read_to_string(&mut text);
    read.map_err(|error| unreadable(error.to_string()))?;
    match text.trim() {
        token if token.len() < 16 => Err(unreadable("it is too short".to_owned())),
        token => Ok(token.to_owned()),
    }
}

/// Writes another token, in one step.
pub(super) fn replace(path: &Path) -> Result<(), Error> {
    let failed = |error: io::Error| Error::unwritable(path, &error);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(failed)?;
    let aside = path.with_extension(format!("{}.new", std::process::id()));
    let mut options = private_file(&aside);
    let mut file = options.truncate(true).open(&aside).map_err(failed)?;
    let written = file.write_all(format!("{}\n", secret()?).as_bytes());
    written.map_err(failed)?;
    file.sync_all().map_err(failed)?;
    fs::rename(&aside, path).map_err(failed)
}

/// 256 random bits as text.
pub(super) fn secret() -> Result<String, Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::from)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
