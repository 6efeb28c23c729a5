//! The cache of compiled code: files of ours, believed only if they are exactly what we wrote.
//!
//! Whoever can write such a file can run code as us. So the folder is the user's alone (0700), a file counts only if it is
//! a plain file of the user's that nobody else can write, and its digest is over the code and what it was made from: a file
//! that was damaged, exchanged or made by another engine is not taken, and made anew. It is a cache: whatever goes wrong
//! with it costs time, nothing else.

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
    artifact::{Compiled, Kept},
    engine::fingerprint,
    frozen::Frozen,
};

/// How a file begins.
const MAGIC: &[u8] = b"metier-wasm-1\n";
const DIGEST: usize = 32;
/// What is before the code: how it begins, and its seal.
const HEAD: usize = MAGIC.len() + DIGEST;
/// The largest file that is read.
const LARGEST: u64 = 1 << 30;
/// How many files are kept, the newest.
const KEPT: usize = 128;
/// How they end.
const ENDING: &str = "code";

/// A folder with compiled code.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
}

/// What code was made from: the bytes, and the engine.
pub(crate) struct Key([u8; DIGEST]);

impl Cache {
    /// A cache in this folder, which is made if it isn't there.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(crate) fn key(&self, bytes: &[u8], engine: &Engine) -> Key {
        let mut hash = Sha256::new();
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update(fingerprint(engine));
        hash.update(Sha256::digest(bytes));
        Key(hash.finalize().into())
    }

    /// What was kept, if it can be believed.
    pub(crate) fn get(&self, key: &Key) -> Option<Kept> {
        if !is_private_folder(&self.folder) {
            return None;
        }
        let mut file = open(&self.path(key))?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        let seal = head.strip_prefix(MAGIC)?;
        // First it is a copy that nobody can change, then it is checked.
        let code = Frozen::copy(file.take(LARGEST)).ok()?;
        (seal == key.seal_of(&code)?).then(|| Kept::own(code))
    }

    /// Keeps code, if it can be.
    pub(crate) fn put(&self, key: &Key, code: &Compiled) {
        if self.write(key, code).is_some() {
            self.prune();
        }
    }

    fn write(&self, key: &Key, code: &Compiled) -> Option<()> {
        if let Some(above) = self.folder.parent() {
            fs::create_dir_all(above).ok()?;
        }
        // It may be there already, and then it is looked at.
        let _there = DirBuilder::new().mode(0o700).create(&self.folder);
        if !is_private_folder(&self.folder) {
            return None;
        }
        // Made with mode 0600, and put in its place as a whole.
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

    fn path(&self, key: &Key) -> PathBuf {
        let name: String = key.0.iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name).with_extension(ENDING)
    }
}

impl Key {
    /// The digest of code that was made from this.
    fn seal(&self, code: &[u8]) -> [u8; DIGEST] {
        self.begin().chain_update(code).finalize().into()
    }

    /// The same for code that was kept.
    fn seal_of(&self, code: &Frozen) -> Option<[u8; DIGEST]> {
        let mut hash = self.begin();
        code.each(|piece| hash.update(piece)).ok()?;
        Some(hash.finalize().into())
    }

    fn begin(&self) -> Sha256 {
        Sha256::new().chain_update(self.0)
    }
}

/// Whether it is a folder, no link, and the user's alone.
fn is_private_folder(folder: &Path) -> bool {
    let found = fs::symlink_metadata(folder);
    found.is_ok_and(|found| found.is_dir() && is_own(&found) && found.mode() & 0o077 == 0)
}

fn is_own(found: &fs::Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

/// Opens a plain file of the user's that nobody else can write; no link is followed, and nothing waited for.
fn open(path: &Path) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    let believed = found.is_file() && is_own(&found) && found.mode() & 0o022 == 0;
    (believed && found.len() <= LARGEST).then_some(file)
}
