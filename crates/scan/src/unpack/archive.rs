//! Archives, one level deep.
//!
//! A hostile archive declares false sizes, so no memory is allocated by declared
//! sizes: members are read through a counter, and the counter stops. An archive in an archive is returned
//! as bytes and named ([`ArchiveProblem::Nested`]); the caller decides whether to open it.

use std::io::{Cursor, Read};

use super::kind::{FileKind, kind};

/// The limits for reading an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnpackLimits {
    /// Members.
    pub members: usize,
    /// Bytes of all members together.
    pub bytes: usize,
    /// The maximum ratio of output bytes to input bytes.
    pub ratio: usize,
}

impl Default for UnpackLimits {
    fn default() -> Self {
        Self {
            members: 1000,
            bytes: 25 * 1024 * 1024,
            ratio: 100,
        }
    }
}

/// One file of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArchiveMember {
    /// Its name in the archive.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// A problem of an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveProblem {
    /// Grows out of proportion when unpacked; reading stopped at this member.
    Bomb(String),
    /// More members than the limit; the rest was not read.
    TooMany(usize),
    /// More bytes than the limit; reading stopped at this member.
    TooLarge(String),
    /// A member that can't be read without a password.
    Encrypted(String),
    /// A name that points outside the folder in which it is unpacked.
    Traversal(String),
    /// A symbolic or hard link, and its target.
    Link(String, String),
    /// An archive inside the archive.
    Nested(String),
    /// Two readers could see different files: headers that disagree, names that occur twice, members that overlap
    /// or that no directory lists, names with hidden characters, members that are not files.
    Ambiguous(String),
    /// An unreadable part, with the reason.
    Broken(String),
    /// An archive of a kind that is not opened.
    Unsupported,
}

/// The content of an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenedArchive {
    /// Its files.
    pub members: Vec<ArchiveMember>,
    /// Its problems.
    pub problems: Vec<ArchiveProblem>,
}

/// A small file may shrink to nothing; only above this size is a ratio suspicious.
const RATIO_FLOOR: usize = 1024 * 1024;

/// Opens an archive, but not the archives in it.
#[must_use]
pub(crate) fn open(kind: FileKind, bytes: &[u8], limits: UnpackLimits) -> OpenedArchive {
    let mut room = ArchiveBudget {
        opened: OpenedArchive::default(),
        limits,
        used: 0,
    };
    match kind {
        FileKind::Zip | FileKind::Ooxml | FileKind::Jar => room.zip(bytes),
        FileKind::Tar => room.tar(bytes),
        FileKind::Gzip => room.gzip(bytes),
        _ => room.problem(ArchiveProblem::Unsupported),
    }
    room.opened
}

struct ArchiveBudget {
    opened: OpenedArchive,
    limits: UnpackLimits,
    used: usize,
}

impl ArchiveBudget {
    fn problem(&mut self, problem: ArchiveProblem) {
        if self.opened.problems.len() < self.limits.members.saturating_mul(2) {
            self.opened.problems.push(problem);
        }
    }

    fn zip(&mut self, bytes: &[u8]) {
        let mut archive = match zip::ZipArchive::new(Cursor::new(bytes)) {
            Ok(archive) => archive,
            Err(error) => return self.problem(ArchiveProblem::Broken(error.to_string())),
        };
        if archive.len() > self.limits.members {
            self.problem(ArchiveProblem::TooMany(archive.len()));
        }
        if let Err(error) = archive.validate_header_consistency() {
            self.problem(ArchiveProblem::Ambiguous(error.to_string()));
        }
        for index in 0..archive.len().min(self.limits.members) {
            if !self.zip_member(&mut archive, index) {
                return;
            }
        }
    }

    /// Whether the limits allow more.
    fn zip_member(&mut self, archive: &mut zip::ZipArchive<Cursor<&[u8]>>, index: usize) -> bool {
        let (path, packed, encrypted, link, folder) = match archive.by_index_raw(index) {
            Ok(file) => {
                let path = String::from_utf8_lossy(file.name_raw()).into_owned();
                (
                    path,
                    file.compressed_size(),
                    file.encrypted(),
                    file.is_symlink(),
                    file.is_dir(),
                )
            }
            Err(error) => {
                self.problem(ArchiveProblem::Broken(error.to_string()));
                return true;
            }
        };
        self.judge_name(&path);
        if encrypted {
            self.problem(ArchiveProblem::Encrypted(path));
            return true;
        }
        if folder {
            return true;
        }
        let file = match archive.by_index(index) {
            Ok(file) => file,
            Err(error) => {
                self.problem(ArchiveProblem::Broken(format!("{path}: {error}")));
                return true;
            }
        };
        let packed = usize::try_from(packed).unwrap_or(usize::MAX);
        if link {
            let mut target = Vec::new();
            let _ = file.take(4096).read_to_end(&mut target);
            self.problem(ArchiveProblem::Link(
                path,
                String::from_utf8_lossy(&target).into_owned(),
            ));
            return true;
        }
        self.take(path, packed, file)
    }

    fn tar(&mut self, bytes: &[u8]) {
        self.tar_of(bytes, bytes.len());
    }

    fn tar_of(&mut self, bytes: &[u8], packed: usize) {
        let mut archive = tar::Archive::new(bytes);
        let Ok(entries) = archive.entries() else {
            return self.problem(ArchiveProblem::Broken("no entries".to_owned()));
        };
        for (index, entry) in entries.enumerate() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => return self.problem(ArchiveProblem::Broken(error.to_string())),
            };
            if index >= self.limits.members {
                return self.problem(ArchiveProblem::TooMany(index + 1));
            }
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            self.judge_name(&path);
            let sort = entry.header().entry_type();
            if let Some(target) = entry
                .link_name_bytes()
                .filter(|_| sort.is_symlink() || sort.is_hard_link())
            {
                self.problem(ArchiveProblem::Link(
                    path,
                    String::from_utf8_lossy(&target).into_owned(),
                ));
            } else if sort.is_character_special() || sort.is_block_special() || sort.is_fifo() {
                self.problem(ArchiveProblem::Ambiguous(format!(
                    "`{}` is a device or a pipe",
                    metier_model::text::visible(&path)
                )));
            } else if (sort.is_file() || sort.is_contiguous() || sort.is_gnu_sparse())
                && !self.take(path, packed, entry)
            {
                return;
            }
        }
    }

    fn gzip(&mut self, bytes: &[u8]) {
        let named = flate2::read::GzDecoder::new(bytes)
            .header()
            .and_then(|header| header.filename().map(<[u8]>::to_vec));
        let mut inner = Vec::new();
        let limit = u64::try_from(self.limits.bytes)
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        let read = flate2::read::MultiGzDecoder::new(bytes)
            .take(limit)
            .read_to_end(&mut inner);
        let path = named.map_or_else(
            || "content".to_owned(),
            |name| String::from_utf8_lossy(&name).into_owned(),
        );
        if let Err(error) = read {
            self.problem(ArchiveProblem::Broken(error.to_string()));
        }
        if inner.len() > RATIO_FLOOR && inner.len() / bytes.len().max(1) > self.limits.ratio {
            return self.problem(ArchiveProblem::Bomb(path));
        }
        if kind("", &inner) == FileKind::Tar {
            if inner.len() > self.limits.bytes {
                self.problem(ArchiveProblem::TooLarge(path));
            }
            return self.tar_of(&inner, bytes.len());
        }
        if !inner.is_empty() {
            self.judge_name(&path);
            self.take(path, bytes.len(), inner.as_slice());
        }
    }

    /// Reads a member; returns whether the limits allow more.
    fn take(&mut self, path: String, packed: usize, file: impl Read) -> bool {
        let left = self.limits.bytes.saturating_sub(self.used);
        let by_ratio = packed.saturating_mul(self.limits.ratio).max(RATIO_FLOOR);
        let most = left.min(by_ratio);
        let mut bytes = Vec::new();
        let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
        if let Err(error) = file.take(limit).read_to_end(&mut bytes) {
            self.problem(ArchiveProblem::Broken(format!("{path}: {error}")));
        }
        if bytes.len() > most {
            self.problem(if by_ratio < left {
                ArchiveProblem::Bomb(path)
            } else {
                ArchiveProblem::TooLarge(path)
            });
            return false;
        }
        self.used += bytes.len();
        if kind(&path, &bytes).is_archive() {
            self.problem(ArchiveProblem::Nested(path.clone()));
        }
        self.opened.members.push(ArchiveMember { path, bytes });
        true
    }

    fn judge_name(&mut self, path: &str) {
        if leads_out(path) {
            self.problem(ArchiveProblem::Traversal(path.to_owned()));
        }
        // Tools disagree on such names, and terminals obey them.
        let shown = metier_model::text::visible(path);
        if shown != path {
            self.problem(ArchiveProblem::Ambiguous(format!(
                "the name `{shown}` contains hidden characters"
            )));
        }
    }
}

/// Absolute on some system, or with a step upwards.
fn leads_out(path: &str) -> bool {
    let drive = matches!(path.as_bytes(), [b'a'..=b'z' | b'A'..=b'Z', b':', ..]);
    drive
        || path.starts_with(['/', '\\'])
        || path.contains('\0')
        || path.split(['/', '\\']).any(|step| step == "..")
}
