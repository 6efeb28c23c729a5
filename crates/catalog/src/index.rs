//! The warm index: the result of the last search of a root, with the keys that prove that it is still valid.
//!
//! One file for each root, in the cache folder. A record is valid only if the skill's folder and its manifest files
//! have the same inode, size and times as when it was written; in any doubt (another program, another version, a
//! damaged byte, a file changed just before it was indexed) the skill is read again. Losing the file costs only time.
//!
//! The names in the root are stored in the same way, with the key of the root's folder. `blocks.rs` documents the
//! file format.

use std::{
    cmp::Ordering,
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::atomic::{self, AtomicU64},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use metier_model::{Digest, Strictness};
use rustix::fs::Stat;

use crate::{
    blocks::{self, Cursor},
    codec::{DatedDigest, RecordReader, RecordWriter, Remembered},
    names::FolderNames,
    skill_files::{Fingerprint, States},
};

/// A file that was changed this recently before it was indexed can change again within the same tick of the file
/// system's clock, so it is not stored.
const FRESH: Duration = Duration::from_secs(2);

/// The identity of a state of a file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStamp {
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) modified: i64,
    pub(crate) changed: i64,
}

impl FileStamp {
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

    /// Whether it was changed so recently that it might still be changing.
    pub(crate) fn is_fresh(&self, now: SystemTime) -> bool {
        is_fresh(self.changed, now)
    }

    fn write(&self, out: &mut RecordWriter) {
        out.u64(self.inode);
        out.u64(self.size);
        out.u64(self.modified.cast_unsigned());
        out.u64(self.changed.cast_unsigned());
    }

    fn read(input: &mut RecordReader<'_>) -> Option<Self> {
        Some(Self {
            inode: input.u64()?,
            size: input.u64()?,
            modified: input.u64()?.cast_signed(),
            changed: input.u64()?.cast_signed(),
        })
    }
}

/// Whether a change at this time, in nanoseconds, is so recent that another change could have the same time.
pub(crate) fn is_fresh(changed: i64, now: SystemTime) -> bool {
    let limit = now
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .saturating_sub(FRESH)
        .as_nanos();
    changed >= i64::try_from(limit).unwrap_or(i64::MAX)
}

/// The keys that a record depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Keys {
    pub(crate) folder: FileStamp,
    pub(crate) skill_md: Option<FileStamp>,
    pub(crate) skill_yaml: Option<FileStamp>,
    pub(crate) sidecar: Option<FileStamp>,
    /// Whether there is an `agents/` folder: if not, a new sidecar file changes the folder's key.
    pub(crate) has_agents: bool,
}

impl Keys {
    fn write(&self, out: &mut RecordWriter) {
        self.folder.write(out);
        out.u8(u8::from(self.has_agents));
        for key in [self.skill_md, self.skill_yaml, self.sidecar] {
            out.u8(u8::from(key.is_some()));
            if let Some(key) = key {
                key.write(out);
            }
        }
    }

    fn read(input: &mut RecordReader<'_>) -> Option<Self> {
        let folder = FileStamp::read(input)?;
        let has_agents = input.u8()? != 0;
        let mut optional = || match input.u8()? {
            0 => Some(None),
            _ => FileStamp::read(input).map(Some),
        };
        Some(Self {
            folder,
            skill_md: optional()?,
            skill_yaml: optional()?,
            sidecar: optional()?,
            has_agents,
        })
    }

    /// The state of a folder that contains only manifest files.
    fn fingerprint(&self) -> Fingerprint {
        let mut states = States::default();
        let files = [
            (&b"SKILL.md"[..], self.skill_md),
            (b"SKILL.yaml", self.skill_yaml),
        ];
        for (name, key) in files {
            if let Some(key) = key {
                states.add(name, &key);
            }
        }
        states.fingerprint(0)
    }

    /// Whether anything was changed so recently that it might still be changing.
    pub(crate) fn is_fresh(&self, now: SystemTime) -> bool {
        let keys = [
            Some(self.folder),
            self.skill_md,
            self.skill_yaml,
            self.sidecar,
        ];
        keys.into_iter().flatten().any(|key| key.is_fresh(now))
    }
}

/// The location of indexes, and the other conditions for a valid one.
#[derive(Clone, Debug)]
pub struct IndexHome {
    /// The cache folder for indexes and verdicts.
    pub folder: PathBuf,
    /// A number that changes with the program.
    pub stamp: u64,
}

impl IndexHome {
    /// The index file of a root.
    fn file(&self, root: &Path, mode: Strictness) -> PathBuf {
        let mut hash = crc32fast::Hasher::new();
        hash.update(root.as_os_str().as_encoded_bytes());
        let name = root.file_name().map_or_else(String::new, |name| {
            name.to_string_lossy()
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .take(24)
                .collect()
        });
        let mode = if mode == Strictness::Strict {
            "strict"
        } else {
            "lenient"
        };
        self.folder
            .join(format!("{name}-{:08x}-{mode}.index", hash.finalize()))
    }

    /// Opens the index of a root; `None` if there is no valid one.
    pub(crate) fn open(&self, root: &Path, mode: Strictness) -> Option<Index> {
        let file = fs::File::open(self.file(root, mode)).ok()?;
        Index::open(file, root, self.stamp)
    }

    /// Stores the digests of indexed skills, each with the state of the files that it was computed from, so that a
    /// list can show it while the files are in that state. Recently changed files are skipped: their next change
    /// could have the same time.
    pub fn remember_digests(
        &self,
        root: &Path,
        mode: Strictness,
        now: SystemTime,
        digests: &[(&Path, Digest, Fingerprint)],
    ) {
        let settled = digests.iter().filter(|(_, _, state)| !state.is_fresh(now));
        let mut digests: Vec<(&[u8], (Digest, Fingerprint))> = settled
            .map(|(folder, digest, state)| {
                let path = folder.strip_prefix(root).unwrap_or(folder);
                let path = match path.as_os_str().as_encoded_bytes() {
                    b"" => &b"."[..],
                    path => path,
                };
                (path, (*digest, *state))
            })
            .collect();
        digests.sort_by(|a, b| in_order(a.0, b.0));
        let Some(index) = self.open(root, mode) else {
            return;
        };
        let (Some(mut records), Some(mut old)) = (index.records(), index.records()) else {
            return;
        };
        let mut all = Vec::new();
        old.copy(0..index.len(), &mut all);
        let mut changed = false;
        for (path, digest) in digests {
            if let Some((found, rewritten)) = records.with_digest(path, digest)
                && let Some(record) = all.get_mut(found)
            {
                changed |= *record != rewritten;
                *record = rewritten;
            }
        }
        if changed {
            // A cache that can't be written costs only time.
            self.save(root, mode, index.listing.as_ref(), &all).ok();
        }
    }

    /// Writes the index of a root to a temporary file and renames it.
    pub(crate) fn save(
        &self,
        root: &Path,
        mode: Strictness,
        listing: Option<&IndexedFolder>,
        records: &[Vec<u8>],
    ) -> io::Result<()> {
        create_private(&self.folder)?;
        let file = self.file(root, mode);
        let content = encode(root, self.stamp, listing, records);
        replace(&file, &content)
    }
}

/// Replaces a file atomically: writes a temporary file with a unique name and renames it.
pub(crate) fn replace(file: &Path, content: &[u8]) -> io::Result<()> {
    static WRITERS: AtomicU64 = AtomicU64::new(0);
    let number = WRITERS.fetch_add(1, atomic::Ordering::Relaxed);
    let process = std::process::id();
    let mut temporary = file.as_os_str().to_owned();
    temporary.push(format!(".{process}-{number}.tmp"));
    let written = fs::write(&temporary, content).and_then(|()| fs::rename(&temporary, file));
    if written.is_err() {
        // The temporary file might not exist; nothing else needs to be removed.
        fs::remove_file(&temporary).ok();
    }
    written
}

#[cfg(unix)]
pub(crate) fn create_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

fn encode(
    root: &Path,
    stamp: u64,
    listing: Option<&IndexedFolder>,
    records: &[Vec<u8>],
) -> Vec<u8> {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    let mut header = RecordWriter::default();
    header.u64(stamp);
    header.bytes(root.as_os_str().as_encoded_bytes());
    header.u32(number(records.len()));
    header.u8(u8::from(listing.is_some()));
    let parts = listing.map_or_else(Vec::new, |listing| listing.write(&mut header));
    let header = header.into_bytes();
    let all = std::iter::once(&header).chain(&parts).chain(records);
    blocks::encode(all.map(Vec::as_slice))
}

/// A record, as bytes: path below the root, keys, payload.
pub(crate) fn record(path: &[u8], keys: &Keys, payload: &[u8]) -> Vec<u8> {
    let mut out = RecordWriter::default();
    out.bytes(path);
    keys.write(&mut out);
    out.bytes(payload);
    out.into_bytes()
}

/// The names in a root, and the state of the root that proves them.
pub(crate) struct IndexedFolder {
    pub(crate) key: FileStamp,
    pub(crate) names: FolderNames,
}

impl IndexedFolder {
    /// Writes the key to the header and returns the names as records.
    fn write(&self, header: &mut RecordWriter) -> Vec<Vec<u8>> {
        let parts: Vec<Vec<u8>> = self.names.parts().collect();
        let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.key.write(header);
        header.u32(number(self.names.seen));
        header.u32(number(parts.len()));
        let mut hash = crc32fast::Hasher::new();
        parts.iter().for_each(|part| hash.update(part));
        header.u32(hash.finalize());
        parts
    }

    /// A record is verified against its skill, but nothing verifies these names, and a lost one would hide its skill.
    /// So they have a separate checksum.
    fn read(header: &mut RecordReader<'_>, cursor: &mut Cursor) -> Option<Self> {
        let key = FileStamp::read(header)?;
        let mut names = FolderNames::default();
        names.seen = header.u32()? as usize;
        let mut hash = crc32fast::Hasher::new();
        for _ in 0..header.u32()? {
            let part = cursor.take()?;
            hash.update(part);
            names.read_part(part)?;
        }
        (hash.finalize() == header.u32()?).then_some(Self { key, names })
    }
}

/// An index that is open for reading.
pub(crate) struct Index {
    /// A cursor at the first record of a skill.
    start: Cursor,
    count: usize,
    /// The names in the root when it was last listed.
    pub(crate) listing: Option<IndexedFolder>,
}

impl Index {
    fn open(file: fs::File, root: &Path, stamp: u64) -> Option<Self> {
        let mut cursor = Cursor::new(file).ok().flatten()?;
        let header = cursor.take()?.to_vec();
        let mut header = RecordReader::at(&header, 0);
        if header.u64()? != stamp || header.bytes()? != root.as_os_str().as_encoded_bytes() {
            return None;
        }
        let count = header.u32()? as usize;
        let listing = match header.flag()? {
            true => IndexedFolder::read(&mut header, &mut cursor),
            false => None,
        };
        Some(Self {
            start: cursor,
            count,
            listing,
        })
    }

    /// The number of skills in it.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Its records, from the first one.
    pub(crate) fn records(&self) -> Option<Records> {
        let cursor = self.start.fork().ok()?;
        Some(Records { cursor, next: 0 })
    }
}

/// The records of an index. They are in the order of the walk and are read in that order: a walk that looks up paths
/// in that order finds every record.
pub(crate) struct Records {
    cursor: Cursor,
    /// The number of the record under the cursor.
    next: usize,
}

/// A decoded record.
pub(crate) struct RecordView<'i> {
    pub(crate) keys: Keys,
    pub(crate) payload: &'i [u8],
}

impl<'i> RecordView<'i> {
    fn read(record: &'i [u8]) -> Option<Self> {
        let mut input = RecordReader::at(record, 0);
        input.bytes()?; // the path, which led here
        Some(Self {
            keys: Keys::read(&mut input)?,
            payload: input.bytes()?,
        })
    }
}

impl Records {
    /// The record of a path, and its number. Records of paths before it are skipped permanently: an index in another
    /// order costs only time.
    pub(crate) fn find(&mut self, path: &[u8]) -> Option<(usize, RecordView<'_>)> {
        loop {
            let found = RecordReader::at(self.cursor.record()?, 0).bytes()?;
            match in_order(found, path) {
                Ordering::Less => self.step(),
                Ordering::Equal => {
                    let number = self.next;
                    return Some((number, RecordView::read(self.step()?)?));
                }
                Ordering::Greater => return None,
            };
        }
    }

    fn step(&mut self) -> Option<&[u8]> {
        self.next += 1;
        self.cursor.take()
    }

    /// Copies records from the cursor on, unchanged, until one can't be read.
    pub(crate) fn copy(&mut self, numbers: Range<usize>, to: &mut Vec<Vec<u8>>) {
        while self.next < numbers.start && self.step().is_some() {}
        to.extend(numbers.map_while(|_| self.step().map(<[u8]>::to_vec)));
    }

    /// The number of a path's record, and that record with a digest.
    fn with_digest(
        &mut self,
        path: &[u8],
        (digest, state): (Digest, Fingerprint),
    ) -> Option<(usize, Vec<u8>)> {
        let (number, view) = self.find(path)?;
        // A list then compares only the keys, so they must be those of this state.
        if state.plain && view.keys.fingerprint().hash != state.hash {
            return None;
        }
        let old = Remembered::decode(view.payload)?;
        let card = old.card.as_ref();
        let dated = DatedDigest {
            digest,
            state: state.hash,
            plain: state.plain,
        };
        let payload = Remembered::encode(&old.files, card, &old.diagnostics, Some(dated));
        Some((number, record(path, &view.keys, &payload)))
    }
}

/// The order of a walk: a folder before its content, and its content before its siblings.
fn in_order(a: &[u8], b: &[u8]) -> Ordering {
    // The root comes first, whatever sorts before a dot.
    let path = |path| if path == b"." { &b""[..] } else { path };
    let parts = |path| <[u8]>::split(path, |byte| *byte == b'/');
    let (a, b) = (path(a), path(b));
    if a == b {
        Ordering::Equal
    } else {
        parts(a).cmp(parts(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_a_walk() {
        let paths: [&[u8]; 7] = [b".", b"-a", b".a", b"a", b"a/b", b"a/b/c", b"a-b"];
        assert!(paths.is_sorted_by(|a, b| in_order(a, b).is_lt()));
    }
}
