//! The files of a skill: listed, read and hashed from open directory handles.
//!
//! A path from a model is resolved one component at a time, each opened relative to the one before and never through
//! a link. If a folder is replaced by a link meanwhile, the result is an error or the old content, never a file from
//! outside.

use std::{ffi::CString, fmt, path::Path};

use metier_model::{
    Diagnostic, DiagnosticCode, DiagnosticSeverity, Digest, Parsed, Strictness,
    template::lines_taken_for_text,
};
use rustix::{
    fd::OwnedFd,
    fs::{Dir, FileType, OFlags, Stat, fstat, openat, readlinkat},
    io::Errno,
};
use sha2::{Digest as _, Sha256};

use crate::{
    builtin::BuiltinSkill,
    entry::{CatalogEntry, SkillLocation},
    manifest_file::{self, Heads},
    path_bytes::PathBytes,
    plugin,
    skill_files::{
        Fingerprint, GIT, MAX_DEPTH, MAX_FILES, MAX_PATH, States, Visited, visit, visit_counted,
    },
    snapshot::Snapshot,
};

const SIDECAR: &str = "agents/openai.yaml";
const MAX_SIDECAR: u64 = 64 * 1024;
/// The maximum number of bytes hashed of one skill.
pub(crate) const MAX_DIGEST: u64 = 1 << 30;
const MAX_COMPONENT: usize = 255;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Why a file of a skill could not be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReadError {
    /// The path could point outside the folder, or has another meaning on other systems.
    #[error("`{path}` is not a path inside the skill: {why}")]
    BadPath {
        /// The requested path, escaped.
        path: String,
        /// The problem.
        why: &'static str,
    },
    /// The file does not exist.
    #[error("there is no file `{0}` in the skill")]
    NotFound(String),
    /// It is a folder, a link, a FIFO, …
    #[error("`{path}` is {what}, not a file")]
    NotAFile {
        /// The requested path.
        path: String,
        /// The actual type of the path.
        what: &'static str,
    },
    /// It has another hard link, possibly outside the skill's folder.
    #[error("`{0}` has more than one hard link and may belong to another program")]
    HardLink(String),
    /// It is larger than the limit.
    #[error("`{path}` is larger than {limit} bytes")]
    TooLarge {
        /// The requested path.
        path: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// There are more files and folders than the limit.
    #[error("the skill contains more than {limit} files and folders")]
    TooManyFiles {
        /// The maximum number of files and folders.
        limit: usize,
    },
    /// A folder is deeper than the limit.
    #[error("`{path}` is more than {MAX_DEPTH} folders deep")]
    TooDeep {
        /// The path of the folder, truncated.
        path: String,
    },
    /// A path is longer than can be opened on every system.
    #[error("the path `{path}` is longer than {MAX_PATH} bytes")]
    PathTooLong {
        /// The path, truncated.
        path: String,
    },
    /// It is elsewhere, and not available now.
    #[error("`{path}` can't be read: {why}")]
    Remote {
        /// The path of the file.
        path: String,
        /// The reason.
        why: String,
    },
    /// It is elsewhere, and is not the file that was announced.
    #[error("`{path}` failed verification: {why}")]
    Unverified {
        /// The path of the file.
        path: String,
        /// The difference.
        why: String,
    },
    /// The operating system returned an error.
    #[error("`{path}` can't be read: {error}")]
    Os {
        /// The path of the file.
        path: String,
        /// The system's error code.
        error: Errno,
    },
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEntry {
    /// Relative to the skill's folder, with forward slashes.
    pub path: PathBytes,
    /// Its size; for a link, the length of its target.
    pub size: u64,
    /// Whether it is a link or a special file that can't be read.
    pub special: bool,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Valid UTF-8 without NUL bytes.
    Text(String),
    /// Content that is not text.
    Binary(Vec<u8>),
}

impl SkillLocation {
    /// All files of the skill, sorted; a `.git` at the top is not included.
    ///
    /// # Errors
    /// If the folder can't be read, or exceeds the limits.
    pub fn files(&self) -> Result<Vec<FileEntry>, ReadError> {
        match self {
            Self::Builtin(skill) => Ok(builtin_files(skill)),
            Self::Remote(skill) => Ok(skill.list()),
            Self::Folder(path) => {
                let mut files = Vec::new();
                visit(path, MAX_FILES, |file| {
                    files.push(FileEntry {
                        path: file.path.into(),
                        size: file.size,
                        special: file.kind != FileType::RegularFile,
                    });
                    Ok(())
                })?;
                files.sort_by(|a, b| a.path.cmp(&b.path));
                Ok(files)
            }
        }
    }

    /// The digest of the skill's exact bytes.
    ///
    /// # Errors
    /// If a file can't be read: its bytes would not be covered by the digest.
    pub fn digest(&self) -> Result<Digest, ReadError> {
        self.digest_within(MAX_DIGEST, MAX_FILES)
            .map(|(digest, _)| digest)
    }

    /// [`Self::digest`] with a limit of bytes and files; returns the state of the files as well.
    ///
    /// # Errors
    /// If a file can't be read, or a limit is exceeded.
    pub fn digest_within(
        &self,
        max_bytes: u64,
        max_files: usize,
    ) -> Result<(Digest, Fingerprint), ReadError> {
        self.digest_counted(&mut Total::new(max_bytes), max_files)
    }

    /// [`Self::digest_within`] what is left for several skills, from which its bytes and files are taken.
    ///
    /// # Errors
    /// If a file can't be read, or a limit is exceeded. What was read and found until then is taken.
    pub fn digest_from(
        &self,
        max_bytes: u64,
        max_files: usize,
        left: &mut DigestBudget,
    ) -> Result<(Digest, Fingerprint), ReadError> {
        let mut total = Total::new(max_bytes.min(left.bytes));
        let max_files = max_files.min(left.files);
        let found = self.digest_counted(&mut total, max_files);
        left.bytes -= total.seen;
        left.files -= total.files;
        found
    }

    fn digest_counted(
        &self,
        total: &mut Total,
        max_files: usize,
    ) -> Result<(Digest, Fingerprint), ReadError> {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut states = States::default();
        let folders = match self {
            Self::Remote(skill) => return Ok((skill.digest(), states.fingerprint(0))),
            Self::Builtin(skill) => {
                lines.extend(skill.files.iter().map(|(path, content)| {
                    line(path.as_bytes(), &content.len(), &Sha256::digest(content))
                }));
                0
            }
            Self::Folder(path) => {
                let mut listed = 0;
                let visited = visit_counted(path, max_files, &mut listed, |file| {
                    total.add(file)?;
                    states.add(file.path, &file.key);
                    lines.push(match file.kind {
                        FileType::RegularFile => {
                            let (size, hash, _) = read_and_hash(file, 0)?;
                            line(file.path, &size, &hash)
                        }
                        FileType::Symlink => {
                            line(file.path, &"link", &Sha256::digest(link_target(file)?))
                        }
                        _ => line(file.path, &"special", &Sha256::digest(b"")),
                    });
                    Ok(())
                });
                total.files = listed;
                visited?
            }
        };
        Ok((digest_of(lines), states.fingerprint(folders)))
    }

    /// The state of the skill's files, without reading them; `None` for a skill without a folder.
    ///
    /// # Errors
    /// If the folder can't be read, or contains more files than the limit of a fingerprint.
    pub fn fingerprint(&self) -> Result<Option<Fingerprint>, ReadError> {
        match self {
            Self::Builtin(_) | Self::Remote(_) => Ok(None),
            Self::Folder(path) => Fingerprint::of(path).map(Some),
        }
    }

    /// One file of the skill, as bytes.
    ///
    /// # Errors
    /// If the path is not inside the skill, or is not a regular file within the limit.
    pub fn read(&self, relative: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let components = components(relative)?;
        let content = match self {
            Self::Builtin(skill) => skill
                .file(&components.join("/"))
                .map(<[u8]>::to_vec)
                .ok_or_else(|| ReadError::NotFound(shown(relative)))?,
            Self::Folder(folder) => read_beneath(folder, &components, relative, limit)?,
            Self::Remote(skill) => skill.read(&components.join("/"))?,
        };
        if content.len() as u64 > limit {
            return Err(ReadError::TooLarge {
                path: shown(relative),
                limit,
            });
        }
        Ok(content)
    }

    /// Reads a manifest file: unlike other files it can be a link that stays in the folder, or have a second hard
    /// link, as in trees that a package store links together.
    fn read_manifest(&self, name: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let Self::Folder(path) = self else {
            return self.read(name, limit);
        };
        let os = |error| ReadError::Os {
            path: shown(name),
            error,
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, flags, rustix::fs::Mode::empty()).map_err(os)?;
        let file = match openat(
            &folder,
            name,
            manifest_file::OPEN,
            rustix::fs::Mode::empty(),
        ) {
            Ok(file) => file,
            Err(Errno::LOOP) => {
                let real = path.canonicalize().unwrap_or_else(|_| path.clone());
                let what = "a link that points outside the skill";
                let refused = |_| ReadError::NotAFile {
                    path: shown(name),
                    what,
                };
                manifest_file::open_linked(&folder, &real, name.as_bytes()).map_err(refused)?
            }
            Err(error) => return Err(refused(error, name)),
        };
        regular(&file, name)?;
        let content = manifest_file::read_all(&file, limit).map_err(os)?;
        if content.len() as u64 > limit {
            return Err(ReadError::TooLarge {
                path: shown(name),
                limit,
            });
        }
        Ok(content)
    }

    /// One file of the skill, as text if it is text.
    ///
    /// # Errors
    /// As [`SkillLocation::read`].
    pub fn resource(&self, relative: &str, limit: u64) -> Result<Resource, ReadError> {
        self.read(relative, limit).map(Resource::of)
    }
}

impl Resource {
    /// Classifies bytes as text or binary.
    pub(crate) fn of(content: Vec<u8>) -> Self {
        if content.contains(&0) {
            return Self::Binary(content);
        }
        String::from_utf8(content).map_or_else(|error| Self::Binary(error.into_bytes()), Self::Text)
    }
}

impl CatalogEntry {
    /// Reads and parses the whole manifest again, now with its body.
    ///
    /// # Errors
    /// If a manifest file can't be read.
    pub fn load(&self, mode: Strictness, limit: u64) -> Result<(Parsed, String), ReadError> {
        let read = |name: &str| match self.is_plugin() {
            true => self.place.read(name, limit),
            false => self.place.read_manifest(name, limit),
        };
        let sidecar = || self.place.read(SIDECAR, MAX_SIDECAR);
        self.load_with(mode, read, sidecar)
    }

    /// [`Self::load`] from a snapshot: it reads the bytes of the snapshot's digest.
    ///
    /// # Errors
    /// If a manifest file is not in the snapshot.
    pub fn load_held(
        &self,
        snapshot: &Snapshot,
        mode: Strictness,
        limit: u64,
    ) -> Result<(Parsed, String), ReadError> {
        let read = |name: &str| snapshot.read_manifest(name, limit);
        let sidecar = || snapshot.read(SIDECAR, MAX_SIDECAR);
        self.load_with(mode, read, sidecar)
    }

    fn load_with(
        &self,
        mode: Strictness,
        read: impl Fn(&str) -> Result<Vec<u8>, ReadError>,
        sidecar: impl Fn() -> Result<Vec<u8>, ReadError>,
    ) -> Result<(Parsed, String), ReadError> {
        let mut md = self.files.skill_md.as_deref().map(&read).transpose()?;
        let yaml = self.files.skill_yaml.as_deref().map(&read).transpose()?;
        let sidecar = sidecar().ok().filter(|_| self.files.sidecar);
        let named = |name: &Option<std::borrow::Cow<'static, str>>| {
            name.as_deref().unwrap_or_default().to_owned()
        };
        let (md_name, yaml_name) = (named(&self.files.skill_md), named(&self.files.skill_yaml));
        let path = self.place.path();
        let folder = match &self.place {
            SkillLocation::Builtin(skill) => Some(skill.name.into()),
            SkillLocation::Remote(skill) => Some(skill.folder().into()),
            SkillLocation::Folder(_) => path.file_name().map(|name| name.to_string_lossy()),
        };
        // A plugin is read like a skill, but its name can differ from its folder.
        let folder = match (&md, self.is_plugin()) {
            (Some(json), true) => {
                md = Some(plugin::as_skill(json, &folder.unwrap_or_default()));
                None
            }
            _ => folder,
        };
        let heads = Heads {
            skill_md: md.as_ref().map(|bytes| (md_name.as_str(), &bytes[..])),
            skill_yaml: yaml.as_ref().map(|bytes| (yaml_name.as_str(), &bytes[..])),
            sidecar: sidecar.as_ref().map(|bytes| (SIDECAR, &bytes[..])),
        };
        let mut parsed = manifest_file::parse(folder.as_deref(), &heads, mode);
        if let (SkillLocation::Remote(_), Some(card), Some(manifest)) =
            (&self.place, &self.card, &mut parsed.manifest)
        {
            // The user gave it its name, and it has no settings of another skill.
            manifest.card.name = card.name.clone();
            manifest.card.skill_key = None;
        }
        let text = md
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default();
        Ok((parsed, metier_model::body(&text).to_owned()))
    }
}

impl CatalogEntry {
    /// Checks what is too slow for a list: every spelling of SKILL.md in the folder, and whether the body is text.
    /// Problems are added to the diagnostics; an error removes the card.
    pub fn examine(&mut self, mode: Strictness, limit: u64) {
        let SkillLocation::Folder(path) = &self.place else {
            return;
        };
        let mut found: Vec<(DiagnosticCode, String, String)> = Vec::new();
        if self.card.is_some() && spellings(path) > 1 {
            found.push((
                DiagnosticCode::FileAmbiguous,
                "this folder contains several spellings of SKILL.md".to_owned(),
                "keep one, named `SKILL.md`".to_owned(),
            ));
        }
        let body = self.files.skill_md.as_deref().filter(|_| {
            !self
                .diagnostics
                .iter()
                .any(|diagnostic| diagnostic.code == DiagnosticCode::FileNotUtf8)
        });
        let body = body.and_then(|name| self.place.read(name, limit).ok());
        match body.as_deref().map(std::str::from_utf8) {
            Some(Ok(text)) => found.extend(commands_as_text(metier_model::body(text))),
            Some(Err(_)) => found.push((
                DiagnosticCode::FileNotUtf8,
                "the body is not valid UTF-8; invalid bytes are replaced".to_owned(),
                "save the file as UTF-8".to_owned(),
            )),
            None => {}
        }
        for (code, message, hint) in found {
            let Some(severity) = code.severity(mode) else {
                continue;
            };
            let file = self.files.main().into();
            self.diagnostics.push(Diagnostic {
                severity,
                code,
                message: message.into(),
                hint: Some(hint.into()),
                file,
                position: None,
            });
            if severity == DiagnosticSeverity::Error {
                self.card = None;
            }
        }
    }
}

/// Lines of a body that were probably meant as commands.
fn commands_as_text(body: &str) -> Option<(DiagnosticCode, String, String)> {
    let lines = lines_taken_for_text(body);
    let first = lines.first()?;
    let line = metier_model::text::visible(first);
    let more = match lines.len() {
        1 => String::new(),
        all => format!(" (and {} more lines)", all - 1),
    };
    let command = line.trim_start_matches('!').trim();
    Some((
        DiagnosticCode::CommandAsText,
        format!("`{line}` is not run: a command starts with the name of a program{more}"),
        format!("write !`{command}` to run it"),
    ))
}

fn is_yaml(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"SKILL.yaml") || name.eq_ignore_ascii_case(b"SKILL.yml")
}

/// The number of files in a folder that could be read as SKILL.md, or as SKILL.yaml.
fn spellings(folder: &Path) -> usize {
    let opened = rustix::fs::open(
        folder,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    );
    let names = opened.and_then(|folder| names(&folder)).unwrap_or_default();
    names
        .iter()
        .filter(|name| name.to_bytes().eq_ignore_ascii_case(b"SKILL.md"))
        .count()
        .max(names.iter().filter(|name| is_yaml(name.to_bytes())).count())
}

/// Splits a relative path; anything that is not a plain path downwards is rejected before any file is touched.
/// Nothing is decoded or normalised: `%2e%2e` is an unusual name, not a path upwards.
pub(crate) fn components(path: &str) -> Result<Vec<&str>, ReadError> {
    let bad = |why| {
        Err(ReadError::BadPath {
            path: shown(path),
            why,
        })
    };
    if path.len() > MAX_PATH {
        return bad("it is too long");
    }
    if path.is_empty() {
        return bad("it is empty");
    }
    if path.contains('\0') {
        return bad("it contains a NUL character");
    }
    if path.starts_with('/') || path.starts_with('~') {
        return bad("it is absolute");
    }
    if path.contains('\\') {
        return bad("it contains a backslash");
    }
    if path.contains(':') {
        return bad("it contains a colon, as drives, URLs and streams do");
    }
    let mut found: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => return bad("it contains `..`"),
            name if name.len() > MAX_COMPONENT => return bad("a part of it is too long"),
            name if name.ends_with(['.', ' ']) => {
                return bad("a part of it ends with a dot or a space");
            }
            name if found.is_empty() && name.as_bytes().eq_ignore_ascii_case(GIT) => {
                return bad("`.git` is not part of the skill");
            }
            name if is_device(name) => return bad("it is a device name on other systems"),
            name => found.push(name),
        }
    }
    if found.is_empty() || path.ends_with('/') || path.ends_with("/.") {
        return Err(ReadError::NotAFile {
            path: shown(path),
            what: "a folder",
        });
    }
    if found.len() > MAX_DEPTH {
        return bad("it is nested too deeply");
    }
    Ok(found)
}

/// Whether a name opens a device on Windows, with any extension.
fn is_device(name: &str) -> bool {
    let stem = name
        .split('.')
        .next()
        .unwrap_or_default()
        .to_ascii_uppercase();
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix)
            .is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']))
    };
    matches!(stem.as_str(), "CON" | "NUL" | "AUX" | "PRN") || numbered("COM") || numbered("LPT")
}

pub(crate) fn shown(path: &str) -> String {
    let visible = metier_model::text::visible(path);
    let mut short: String = visible.chars().take(120).collect();
    if short.len() < visible.len() {
        short.push('…');
    }
    short
}

fn read_beneath(
    folder: &Path,
    components: &[&str],
    asked: &str,
    limit: u64,
) -> Result<Vec<u8>, ReadError> {
    let os = |error| ReadError::Os {
        path: shown(asked),
        error,
    };
    let mut handle = rustix::fs::open(
        folder,
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        rustix::fs::Mode::empty(),
    )
    .map_err(os)?;
    let (name, above) = components
        .split_last()
        .ok_or_else(|| ReadError::NotFound(shown(asked)))?;
    for component in above {
        handle = openat(&handle, *component, FOLDER, rustix::fs::Mode::empty())
            .map_err(|error| refused(error, asked))?;
    }
    let file = openat(
        &handle,
        *name,
        manifest_file::OPEN,
        rustix::fs::Mode::empty(),
    )
    .map_err(|error| refused(error, asked))?;
    let stat = regular(&file, asked)?;
    if stat.st_nlink > 1 {
        return Err(ReadError::HardLink(shown(asked)));
    }
    if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > limit {
        return Err(ReadError::TooLarge {
            path: shown(asked),
            limit,
        });
    }
    manifest_file::read_all(&file, limit).map_err(os)
}

/// The metadata of an open file, if it is a regular file.
fn regular(file: &OwnedFd, asked: &str) -> Result<Stat, ReadError> {
    let stat = fstat(file).map_err(|error| ReadError::Os {
        path: shown(asked),
        error,
    })?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(stat),
        kind => Err(ReadError::NotAFile {
            path: shown(asked),
            what: if kind == FileType::Directory {
                "a folder"
            } else {
                "a FIFO, socket or device"
            },
        }),
    }
}

fn refused(error: Errno, asked: &str) -> ReadError {
    match error {
        Errno::NOENT => ReadError::NotFound(shown(asked)),
        Errno::LOOP | Errno::MLINK => ReadError::NotAFile {
            path: shown(asked),
            what: "a link",
        },
        Errno::NOTDIR => ReadError::NotAFile {
            path: shown(asked),
            what: "a path through a file or a link",
        },
        Errno::NXIO => ReadError::NotAFile {
            path: shown(asked),
            what: "a socket",
        },
        error => ReadError::Os {
            path: shown(asked),
            error,
        },
    }
}

fn builtin_files(skill: &BuiltinSkill) -> Vec<FileEntry> {
    skill
        .files
        .iter()
        .map(|(path, content)| FileEntry {
            path: (*path).into(),
            size: content.len() as u64,
            special: false,
        })
        .collect()
}

/// A count of bytes with a limit.
pub(crate) struct Total {
    seen: u64,
    /// Files and folders.
    files: usize,
    limit: u64,
}

/// What may still be hashed of several skills together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestBudget {
    /// Bytes of files.
    pub bytes: u64,
    /// Files and folders.
    pub files: usize,
}

impl Total {
    pub(crate) fn new(limit: u64) -> Self {
        Self {
            seen: 0,
            files: 0,
            limit,
        }
    }

    /// Counts the bytes of a file that is about to be read, up to the limit.
    pub(crate) fn add(&mut self, file: &Visited<'_>) -> Result<(), ReadError> {
        let seen = self.seen.saturating_add(file.size);
        if seen > self.limit {
            return Err(ReadError::TooLarge {
                path: file.shown(),
                limit: self.limit,
            });
        }
        self.seen = seen;
        Ok(())
    }
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Reads a file to its end: returns its size, its hash, and the first `keep` bytes.
pub(crate) fn read_and_hash(
    file: &Visited<'_>,
    keep: usize,
) -> Result<(u64, [u8; 32], Vec<u8>), ReadError> {
    let fail = |error| ReadError::Os {
        path: file.shown(),
        error,
    };
    let handle = openat(
        file.folder,
        file.name,
        manifest_file::OPEN,
        rustix::fs::Mode::empty(),
    )
    .map_err(fail)?;
    let room = usize::try_from(file.size).unwrap_or(usize::MAX).min(keep);
    let mut kept = Vec::with_capacity(room.min(1 << 20));
    let (mut hash, mut size, mut buffer) = (Sha256::new(), 0, vec![0u8; 64 * 1024]);
    loop {
        match rustix::io::read(&handle, &mut buffer[..]) {
            Ok(0) => return Ok((size, hash.finalize().into(), kept)),
            Ok(length) => {
                hash.update(&buffer[..length]);
                size += length as u64;
                kept.extend_from_slice(&buffer[..length.min(keep - kept.len())]);
                if size > MAX_DIGEST {
                    return Err(ReadError::TooLarge {
                        path: file.shown(),
                        limit: MAX_DIGEST,
                    });
                }
            }
            Err(Errno::INTR) => {}
            Err(error) => return Err(fail(error)),
        }
    }
}

/// The digest of a skill, from the lines of its files.
pub(crate) fn digest_of(mut lines: Vec<Vec<u8>>) -> Digest {
    lines.sort();
    let mut hash = Sha256::new();
    lines.iter().for_each(|line| hash.update(line));
    Digest(hash.finalize().into())
}

pub(crate) fn link_target(file: &Visited<'_>) -> Result<Vec<u8>, ReadError> {
    let target = readlinkat(file.folder, file.name, Vec::new());
    target
        .map(CString::into_bytes)
        .map_err(|error| ReadError::Os {
            path: file.shown(),
            error,
        })
}

/// `path NUL size NUL sha256`, one line.
pub(crate) fn line(path: &[u8], size: &dyn fmt::Display, hash: &impl AsRef<[u8]>) -> Vec<u8> {
    let hex: String = hash
        .as_ref()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    [path, format!("\0{size}\0{hex}\n").as_bytes()].concat()
}
