//! The cache of compiled code: files that are used only if they contain exactly the bytes that we wrote.
//!
//! Write access to such a file is the ability to run code as us. So the folder is private to the user (0700), a file counts only if it is
//! a regular file of the user that no other user can write, and its digest covers the code and its source: a file
//! that was damaged, replaced or made by another engine is ignored and written again. Any other failure of the cache
//! costs only time.

use std::{
    fs::{self, DirBuilder, File},
    io::{Read, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};
use wasmtime::Engine;

use crate::{
    artifact::{CompiledCode, Kept},
    engine::fingerprint,
    limits::WasmLimits,
    sealed_file::SealedFile,
};

/// The first bytes of a file.
const MAGIC: &[u8] = b"metier-wasm-1\n";
const DIGEST: usize = 32;
/// The size of the header: the first bytes and the digest.
const HEAD: usize = MAGIC.len() + DIGEST;
/// The maximum amount of code that is read; the rest of a larger file does not match its digest.
const LARGEST: u64 = WasmLimits::CODE as u64;
/// How many files are kept; the oldest are removed.
const KEPT: usize = 128;
/// Their extension.
const ENDING: &str = "code";

/// A folder of compiled code.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// The source of compiled code: the bytes and the engine.
pub(crate) struct CacheKey([u8; DIGEST]);

impl Cache {
    /// A cache in this folder, which is created if necessary.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(crate) fn key(&self, bytes: &[u8], engine: &Engine) -> CacheKey {
        let mut hash = Sha256::new();
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(fingerprint(engine));
        hash.update(Sha256::digest(bytes));
        CacheKey(hash.finalize().into())
    }

    /// The cached code, if it is valid.
    pub(crate) fn get(&self, key: &CacheKey) -> Option<Kept> {
        if !is_private_folder(&self.folder) {
            return None;
        }
        let mut file = open(&self.path(key))?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        let seal = head.strip_prefix(MAGIC)?;
        // It is copied to sealed memory first, then checked.
        let code = SealedFile::copy(file.take(LARGEST)).ok()?;
        (seal == key.seal_of(&code)?).then(|| Kept::own(code))
    }

    /// Stores code; failures are ignored.
    pub(crate) fn put(&self, key: &CacheKey, code: &CompiledCode) {
        if self.write(key, code).is_some() {
            self.prune();
        }
    }

    fn write(&self, key: &CacheKey, code: &CompiledCode) -> Option<()> {
        if let Some(above) = self.folder.parent() {
            fs::create_dir_all(above).ok()?;
        }
        // If it already exists, it is checked.
        let _there = DirBuilder::new().mode(0o700).create(&self.folder);
        if !is_private_folder(&self.folder) {
            return None;
        }
        // Created with mode 0600, and renamed into place.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).ok()?;
        file.write_all(MAGIC).ok()?;
        file.write_all(&key.seal(code.as_bytes())).ok()?;
        file.write_all(code.as_bytes()).ok()?;
        file.persist(self.path(key)).ok()?;
        Some(())
    }

    /// Removes the oldest files when there are too many.
    fn prune(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .flatten()
            .filter(|entry| entry.path().extension().is_some_and(|end| end == ENDING))
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort_unstable();
        let too_many = files.len().saturating_sub(KEPT);
        for (_, file) in files.into_iter().take(too_many) {
            let _gone_already = fs::remove_file(file);
        }
    }

    fn path(&self, key: &CacheKey) -> PathBuf {
        let name: String = key.0.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name).with_extension(ENDING)
    }
}

impl CacheKey {
    /// The digest of code with this source.
    fn seal(&self, code: &[u8]) -> [u8; DIGEST] {
        self.begin().chain_update(code).finalize().into()
    }

    /// The digest of cached code with this source; `None` if it can't be read.
    fn seal_of(&self, code: &SealedFile) -> Option<[u8; DIGEST]> {
        let mut hash = self.begin();
        code.each(|piece| hash.update(piece)).ok()?;
        Some(hash.finalize().into())
    }

    fn begin(&self) -> Sha256 {
        Sha256::new().chain_update(self.0)
    }
}

/// Whether it is a folder, not a link, and private to the user.
fn is_private_folder(folder: &Path) -> bool {
    let found = fs::symlink_metadata(folder);
    found.is_ok_and(|found| found.is_dir() && is_own(&found) && found.mode() & 0o077 == 0)
}

fn is_own(found: &fs::Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

/// Opens a regular file of the user that no other user can write, without following links and without blocking.
fn open(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    let believed = found.is_file() && is_own(&found) && found.mode() & 0o022 == 0;
    (believed && found.len() <= LARGEST).then_some(file)
}
