//! The files of the search index, next to the warm index.
//!
//! Two files for a set of roots: `base`, and `delta` with later additions. Each is written as a whole to a temporary file and renamed, and
//! its skills are found by the digest of their bytes, so any two files that survive a crash give correct results. The content is divided
//! into pages with a checksum each, and the checksums follow it: opening reads a few pages, a search only the pages that it needs, and a
//! page whose checksum differs makes the whole index invalid. Losing the files costs only time.

use std::{
    borrow::Cow,
    fs::{self, File},
    io::{self, Write as _},
    ops::Range,
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use metier_model::Strictness;
use metier_select::search::{Segment, SegmentBytes, SkillKey, merge};

use crate::{
    index::{IndexHome, create_private},
    root::Root,
};

const MAGIC: &[u8; 8] = b"METIERS\x02";
/// The last bytes: magic, stamp of the program, length of the content, checksum of the checksums.
const END: u64 = 8 + 8 + 8 + 4;
const PAGE: u64 = 32 << 10;
/// The maximum size of a file, in bytes.
const MAX_BYTES: u64 = 1 << 30;
/// `delta` is merged into `base` when it has more skills than this, and more than an eighth of the skills of `base`.
const MAX_DELTA: usize = 512;

/// The bytes of a segment: in a file, or in memory.
pub enum IndexBytes {
    /// Newly built bytes.
    Memory(Vec<u8>),
    /// A file of the cache.
    File(PagedFile),
    /// A part of a new index, before it is merged.
    Waiting(NamelessFile),
}

impl SegmentBytes for IndexBytes {
    fn length(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.len() as u64,
            Self::File(file) => file.length,
            Self::Waiting(file) => file.length,
        }
    }

    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::Memory(bytes) => bytes.read(range),
            Self::File(file) => file.read(range),
            Self::Waiting(file) => file.read(range),
        }
    }

    fn read_once(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        match self {
            Self::File(file) => file.read_once(range),
            other => other.read(range),
        }
    }
}

/// An unnamed file: it exists for this process only, and disappears with it.
pub struct NamelessFile {
    file: File,
    length: u64,
}

impl NamelessFile {
    fn new(folder: &Path, content: &[u8]) -> io::Result<Self> {
        create_private(folder)?;
        let path = folder.join(format!("search.{}.part", std::process::id()));
        let mut options = File::options();
        let mut file = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        fs::remove_file(&path)?;
        file.write_all(content)?;
        let length = content.len() as u64;
        Ok(Self { file, length })
    }

    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        let size = range.end.min(self.length).checked_sub(range.start)?;
        let mut bytes = vec![0; usize::try_from(size).ok()?];
        self.file.read_exact_at(&mut bytes, range.start).ok()?;
        (range.end <= self.length).then_some(Cow::Owned(bytes))
    }
}

/// A file whose pages are read and verified when they are needed.
pub struct PagedFile {
    file: File,
    length: u64,
    checksums: Vec<u32>,
    pages: Vec<OnceLock<Option<Box<[u8]>>>>,
}

impl PagedFile {
    fn open(path: &Path, stamp: u64) -> Option<Self> {
        let file = File::open(path).ok()?;
        let about = file.metadata().ok().filter(fs::Metadata::is_file)?;
        let mut end = [0; 28];
        file.read_exact_at(&mut end, about.len().checked_sub(END)?)
            .ok()?;
        let number = |at: usize| -> Option<u64> {
            Some(u64::from_le_bytes(end.get(at..at + 8)?.try_into().ok()?))
        };
        let length = number(16)?;
        let pages = length.div_ceil(PAGE);
        let is_ours = end.starts_with(MAGIC)
            && number(8)? == stamp
            && length <= MAX_BYTES
            && about.len() == length + pages * 4 + END;
        if !is_ours {
            return None;
        }
        let mut table = vec![0; usize::try_from(pages * 4).ok()?];
        file.read_exact_at(&mut table, length).ok()?;
        if crc32fast::hash(&table).to_le_bytes() != *end.get(24..28)? {
            return None;
        }
        let (checksums, _) = table.as_chunks::<4>();
        Some(Self {
            file,
            length,
            checksums: checksums
                .iter()
                .map(|sum| u32::from_le_bytes(*sum))
                .collect(),
            pages: (0..pages).map(|_| OnceLock::new()).collect(),
        })
    }

    fn page(&self, number: u64) -> Option<&[u8]> {
        let page = self.pages.get(usize::try_from(number).ok()?)?;
        page.get_or_init(|| self.read_page(number)).as_deref()
    }

    fn read_page(&self, number: u64) -> Option<Box<[u8]>> {
        let position = usize::try_from(number).ok()?;
        let start = number * PAGE;
        let size = usize::try_from(PAGE.min(self.length - start)).ok()?;
        let mut bytes = vec![0; size];
        self.file.read_exact_at(&mut bytes, start).ok()?;
        let is_intact = self.checksums.get(position) == Some(&crc32fast::hash(&bytes));
        is_intact.then(|| bytes.into_boxed_slice())
    }

    /// Reads without keeping the pages.
    fn read_once(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        if range.start > range.end || range.end > self.length {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(range.end - range.start).ok()?);
        for number in range.start / PAGE..range.end.div_ceil(PAGE) {
            let page = self.read_page(number)?;
            let start = range.start.saturating_sub(number * PAGE);
            let end = (range.end - number * PAGE).min(page.len() as u64);
            bytes.extend_from_slice(
                page.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)?,
            );
        }
        Some(Cow::Owned(bytes))
    }

    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        if range.start > range.end || range.end > self.length {
            return None;
        }
        if range.is_empty() {
            return Some(Cow::Borrowed(&[]));
        }
        let (first, last) = (range.start / PAGE, (range.end - 1) / PAGE);
        let within = |number: u64| -> Option<&[u8]> {
            let page = self.page(number)?;
            let start = range.start.saturating_sub(number * PAGE);
            let end = (range.end - number * PAGE).min(page.len() as u64);
            page.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
        };
        if first == last {
            return within(first).map(Cow::Borrowed);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(range.end - range.start).ok()?);
        for number in first..=last {
            bytes.extend_from_slice(within(number)?);
        }
        Some(Cow::Owned(bytes))
    }
}

/// The search index of a set of roots.
pub struct TextIndex {
    base: PathBuf,
    delta: PathBuf,
    folder: PathBuf,
    stamp: u64,
}

impl TextIndex {
    /// The index of these roots.
    #[must_use]
    pub fn new(home: &IndexHome, roots: &[Root], mode: Strictness) -> Self {
        let mut hash = crc32fast::Hasher::new();
        for root in roots {
            hash.update(root.path.as_os_str().as_encoded_bytes());
            hash.update(&[0]);
        }
        hash.update(&[u8::from(mode == Strictness::Strict)]);
        let name = format!("search-{:08x}", hash.finalize());
        Self {
            base: home.folder.join(format!("{name}.base")),
            delta: home.folder.join(format!("{name}.delta")),
            folder: home.folder.clone(),
            stamp: home.stamp,
        }
    }

    /// The existing, valid segments; `base` comes first.
    #[must_use]
    pub fn open(&self) -> Vec<Segment<IndexBytes>> {
        let files = [&self.base, &self.delta];
        let opened = files.map(|path| PagedFile::open(path, self.stamp));
        let segments = opened.into_iter().flatten();
        segments
            .filter_map(|file| Segment::open(IndexBytes::File(file)))
            .collect()
    }

    /// A new part, for [`Self::add`]: in an unnamed file, or in memory if that can't be created.
    #[must_use]
    pub fn wait(&self, part: Vec<u8>) -> IndexBytes {
        match NamelessFile::new(&self.folder, &part) {
            Ok(file) => IndexBytes::Waiting(file),
            Err(_) => IndexBytes::Memory(part),
        }
    }

    /// Adds segments, and removes skills that no longer exist when files are merged.
    ///
    /// # Errors
    /// If the files can't be written, or are damaged: they are then removed. Losing them costs only time.
    pub fn add(
        &self,
        new: &[Segment<IndexBytes>],
        lives: impl Fn(&SkillKey) -> bool,
    ) -> io::Result<()> {
        create_private(&self.folder)?;
        let open =
            |path: &Path| Segment::open(IndexBytes::File(PagedFile::open(path, self.stamp)?));
        let (base, delta) = (open(&self.base), open(&self.delta));
        let living = |segment: &Segment<IndexBytes>| -> Vec<bool> {
            segment.keys().iter().map(&lives).collect()
        };
        let count = |segments: &[&Segment<IndexBytes>]| -> usize {
            let flags = segments.iter().flat_map(|segment| living(segment));
            flags.filter(|lives| *lives).count()
        };
        let small: Vec<&Segment<IndexBytes>> = delta.iter().chain(new).collect();
        let all: Vec<&Segment<IndexBytes>> = base.iter().chain(delta.iter()).chain(new).collect();
        let kept = base.as_ref().map_or(0, |base| count(&[base]));
        let is_small = kept > 0 && count(&small) <= MAX_DELTA.max(kept / 8);
        let (parts, file) = match is_small {
            true => (&small, &self.delta),
            false => (&all, &self.base),
        };
        let flags: Vec<Vec<bool>> = parts.iter().map(|segment| living(segment)).collect();
        let pairs = parts.iter().copied().zip(flags.iter().map(Vec::as_slice));
        let pairs: Vec<(&Segment<IndexBytes>, &[bool])> = pairs.collect();
        match self.write(file, &pairs) {
            // A damaged file can't be merged: the next search builds everything again.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                self.clear()?;
                return Err(error);
            }
            written => written?,
        }
        if !is_small && self.delta.exists() {
            fs::remove_file(&self.delta)?;
        }
        Ok(())
    }

    /// Removes the files.
    ///
    /// # Errors
    /// If they exist and can't be removed.
    pub fn clear(&self) -> io::Result<()> {
        for file in [&self.base, &self.delta] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Writes merged bytes during the merge.
    fn write(&self, path: &Path, parts: &[(&Segment<IndexBytes>, &[bool])]) -> io::Result<()> {
        let mut temporary = path.as_os_str().to_owned();
        temporary.push(format!(".{}.tmp", std::process::id()));
        let write = || {
            let mut pages = PageWriter::new(File::create(&temporary)?);
            merge(parts, &mut |bytes| pages.write(bytes))?;
            pages.finish(self.stamp)?;
            fs::rename(&temporary, path)
        };
        let written = write();
        if written.is_err() {
            // The temporary file might not exist; nothing else needs to be removed.
            fs::remove_file(&temporary).ok();
        }
        written
    }
}

/// Writes the pages of a file, then their checksums.
struct PageWriter {
    file: File,
    page: Vec<u8>,
    sums: Vec<u8>,
    length: u64,
}

impl PageWriter {
    fn new(file: File) -> Self {
        Self {
            file,
            page: Vec::new(),
            sums: Vec::new(),
            length: 0,
        }
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        let size = usize::try_from(PAGE).unwrap_or(usize::MAX);
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(size - self.page.len()));
            self.page.extend_from_slice(now);
            bytes = later;
            if self.page.len() == size {
                self.end_page()?;
            }
        }
        Ok(())
    }

    fn end_page(&mut self) -> io::Result<()> {
        self.sums
            .extend_from_slice(&crc32fast::hash(&self.page).to_le_bytes());
        self.file.write_all(&self.page)?;
        self.length += self.page.len() as u64;
        self.page.clear();
        Ok(())
    }

    fn finish(mut self, stamp: u64) -> io::Result<()> {
        if !self.page.is_empty() {
            self.end_page()?;
        }
        let mut end = self.sums;
        let sum = crc32fast::hash(&end);
        end.extend_from_slice(MAGIC);
        end.extend_from_slice(&stamp.to_le_bytes());
        end.extend_from_slice(&self.length.to_le_bytes());
        end.extend_from_slice(&sum.to_le_bytes());
        self.file.write_all(&end)
    }
}

#[cfg(test)]
#[path = "text_index_tests.rs"]
mod tests;
