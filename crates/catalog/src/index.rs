//! The warm index: what the last look at a root found, kept beside the keys that prove it is still so.
//!
//! One file for each root, in the cache folder. A record is believed only when the skill's folder
//! and its manifest files have the same inode, size and times as when it was written; on any doubt
//! (other program, other version, a damaged byte, a file touched just before it was indexed) the
//! skill is read again. Nothing but time is lost when the file is.

use std::{
    borrow::Cow,
    collections::HashMap,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use metier_model::{Digest, Mode};
use rustix::fs::Stat;

use crate::codec::{Reader, Remembered, Writer};

const MAGIC: &[u8; 8] = b"METIER\x00\x01";

/// A file that was changed this shortly before it was indexed may change again within the same
/// tick of the file system's clock: it is not remembered.
const FRESH: Duration = Duration::from_secs(2);

/// What identifies the state of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) modified: i64,
    pub(crate) changed: i64,
}

impl Key {
    #[expect(
        clippy::unnecessary_cast,
        reason = "the types of these fields differ between platforms"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        let nanos =
            |seconds: i64, part: i64| seconds.saturating_mul(1_000_000_000).saturating_add(part);
        Self {
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: nanos(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanos(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    fn write(&self, out: &mut Writer) {
        out.u64(self.inode);
        out.u64(self.size);
        out.u64(self.modified.cast_unsigned());
        out.u64(self.changed.cast_unsigned());
    }

    fn read(input: &mut Reader<'_>) -> Option<Self> {
        Some(Self {
            inode: input.u64()?,
            size: input.u64()?,
            modified: input.u64()?.cast_signed(),
            changed: input.u64()?.cast_signed(),
        })
    }
}

/// The keys that a record depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    pub(crate) folder: Key,
    pub(crate) skill_md: Option<Key>,
    pub(crate) skill_yaml: Option<Key>,
    pub(crate) sidecar: Option<Key>,
    /// Whether there is an `agents/` folder: if there is none, a new sidecar changes the folder's own key.
    pub(crate) has_agents: bool,
}

impl Keys {
    fn write(&self, out: &mut Writer) {
        self.folder.write(out);
        out.u8(u8::from(self.has_agents));
        for key in [self.skill_md, self.skill_yaml, self.sidecar] {
            out.u8(u8::from(key.is_some()));
            if let Some(key) = key {
                key.write(out);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Option<Self> {
        let folder = Key::read(input)?;
        let has_agents = input.u8()? != 0;
        let mut optional = || match input.u8()? {
            0 => Some(None),
            _ => Key::read(input).map(Some),
        };
        Some(Self {
            folder,
            skill_md: optional()?,
            skill_yaml: optional()?,
            sidecar: optional()?,
            has_agents,
        })
    }

    /// Whether anything was changed so recently that it may still be changing.
    pub(crate) fn is_fresh(&self, now: SystemTime) -> bool {
        let limit = now
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .saturating_sub(FRESH)
            .as_nanos();
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let keys = [
            Some(self.folder),
            self.skill_md,
            self.skill_yaml,
            self.sidecar,
        ];
        keys.into_iter().flatten().any(|key| key.changed >= limit)
    }
}

/// Where indexes are kept, and what else must be the same for one to be believed.
#[derive(Clone, Debug)]
pub struct IndexHome {
    /// The cache folder.
    pub folder: PathBuf,
    /// A number that changes with the program.
    pub stamp: u64,
}

impl IndexHome {
    /// The index file of a root.
    fn file(&self, root: &Path, mode: Mode) -> PathBuf {
        let mut hash = crc32fast::Hasher::new();
        hash.update(root.as_os_str().as_encoded_bytes());
        let name = root.file_name().map_or_else(String::new, |name| {
            name.to_string_lossy()
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .take(24)
                .collect()
        });
        let mode = if mode == Mode::Strict {
            "strict"
        } else {
            "lenient"
        };
        self.folder
            .join(format!("{name}-{:08x}-{mode}.index", hash.finalize()))
    }

    /// Loads the index of a root; `None` when there is none that can be believed.
    pub(crate) fn load(&self, root: &Path, mode: Mode) -> Option<Index> {
        let bytes = fs::read(self.file(root, mode)).ok()?;
        Index::decode(bytes, root, self.stamp)
    }

    /// Writes down the digests of skills that are in the index, so that a list can show them.
    pub fn remember_digests(&self, root: &Path, mode: Mode, digests: &[(&Path, Digest)]) {
        let Some(index) = self.load(root, mode) else {
            return;
        };
        let mut records: Vec<Cow<'_, [u8]>> = (0..index.len())
            .map(|number| Cow::Borrowed(index.whole(number)))
            .collect();
        let mut changed = false;
        for (folder, digest) in digests {
            let path = folder.strip_prefix(root).unwrap_or(folder);
            let path = match path.as_os_str().as_encoded_bytes() {
                b"" => b".",
                path => path,
            };
            let Some((found, view)) = index.find(path, 0) else {
                continue;
            };
            let Some(old) = Remembered::decode(view.payload) else {
                continue;
            };
            if old.digest == Some(*digest) {
                continue;
            }
            let payload = Remembered::encode(
                &old.files,
                old.card.as_ref(),
                &old.diagnostics,
                Some(*digest),
            );
            records[found] = Cow::Owned(record(path, &view.keys, &payload));
            changed = true;
        }
        if changed {
            let records: Vec<Vec<u8>> = records.into_iter().map(Cow::into_owned).collect();
            // A cache that can't be written costs time, nothing else.
            self.save(root, mode, &records).ok();
        }
    }

    /// Writes the index of a root: beside the old one first, then in its place.
    pub(crate) fn save(&self, root: &Path, mode: Mode, records: &[Vec<u8>]) -> io::Result<()> {
        create_private(&self.folder)?;
        let file = self.file(root, mode);
        let content = encode(root, self.stamp, records);
        let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
        let written = fs::File::create(&temporary)
            .and_then(|mut out| out.write_all(&content))
            .and_then(|()| fs::rename(&temporary, &file));
        if written.is_err() {
            // The temporary file may never have been made; there is nothing more to do about it.
            fs::remove_file(&temporary).ok();
        }
        written
    }
}

#[cfg(unix)]
pub(crate) fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

fn encode(root: &Path, stamp: u64, records: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Writer::default();
    out.u64(stamp);
    out.bytes(root.as_os_str().as_encoded_bytes());
    out.u32(u32::try_from(records.len()).unwrap_or(u32::MAX));
    records.iter().for_each(|record| out.raw(record));
    let body = out.into_bytes();
    let mut content = Vec::with_capacity(body.len() + 12);
    content.extend_from_slice(MAGIC);
    content.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
    content.extend_from_slice(&body);
    content
}

/// A record, as bytes: path below the root, keys, payload.
pub(crate) fn record(path: &[u8], keys: &Keys, payload: &[u8]) -> Vec<u8> {
    let mut out = Writer::default();
    out.bytes(path);
    keys.write(&mut out);
    out.bytes(payload);
    out.into_bytes()
}

/// A loaded index.
pub(crate) struct Index {
    bytes: Vec<u8>,
    records: Vec<Record>,
    by_path: std::sync::OnceLock<HashMap<Vec<u8>, usize>>,
}

/// Where a record is; it is taken apart when it is asked for, so that ten thousand of them cost
/// little memory.
#[derive(Clone, Copy)]
struct Record {
    start: usize,
    end: usize,
}

/// A record, taken apart.
pub(crate) struct View<'i> {
    path: &'i [u8],
    pub(crate) keys: Keys,
    pub(crate) payload: &'i [u8],
}

impl<'i> View<'i> {
    fn read(input: &mut Reader<'i>) -> Option<Self> {
        Some(Self {
            path: input.bytes()?,
            keys: Keys::read(input)?,
            payload: input.bytes()?,
        })
    }
}

impl Index {
    fn decode(bytes: Vec<u8>, root: &Path, stamp: u64) -> Option<Self> {
        let (magic, rest) = bytes.split_at_checked(8)?;
        let (checksum, body) = rest.split_at_checked(4)?;
        if magic != MAGIC || crc32fast::hash(body).to_le_bytes() != checksum {
            return None;
        }
        let mut input = Reader::at(&bytes, 12);
        if input.u64()? != stamp || input.bytes()? != root.as_os_str().as_encoded_bytes() {
            return None;
        }
        let count = input.u32()? as usize;
        let mut records = Vec::with_capacity(count.min(1 << 20));
        for _ in 0..count {
            let start = input.position();
            View::read(&mut input)?;
            let end = input.position();
            records.push(Record { start, end });
        }
        Some(Self {
            bytes,
            records,
            by_path: std::sync::OnceLock::new(),
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// A record, taken apart.
    pub(crate) fn view(&self, record: usize) -> Option<View<'_>> {
        let start = self.records.get(record)?.start;
        View::read(&mut Reader::at(&self.bytes, start))
    }

    /// A record as it was written.
    pub(crate) fn whole(&self, record: usize) -> &[u8] {
        let Record { start, end } = self.records[record];
        &self.bytes[start..end]
    }

    /// The record of a path. `guess` is where it stood last time, in the order of the directory:
    /// an unchanged directory is read in the same order, and nothing has to be looked up.
    pub(crate) fn find(&self, path: &[u8], guess: usize) -> Option<(usize, View<'_>)> {
        if let Some(view) = self.view(guess).filter(|view| view.path == path) {
            return Some((guess, view));
        }
        let paths =
            (0..self.len()).filter_map(|number| Some((self.view(number)?.path.to_vec(), number)));
        let map = self.by_path.get_or_init(|| paths.collect());
        let number = *map.get(path)?;
        Some((number, self.view(number)?))
    }
}
