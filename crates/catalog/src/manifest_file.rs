//! Opens and reads manifests: only regular files, and only as much as the frontmatter needs.

use std::{
    borrow::Cow,
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Component, Path},
};

use metier_model::{
    Card, Diagnostic, DiagnosticCode, DiagnosticSeverity, Extent, FileText, Files, MAX_FRONTMATTER,
    Parsed, Strictness, extent,
};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{FileType, OFlags, Stat, fstat, openat},
    io::Errno,
};

use crate::skill_files::GIT;

/// The flags to open a manifest: never through a link, never waiting for the other end of a FIFO.
pub(crate) const OPEN: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::CLOEXEC);

/// Enough for nearly all frontmatters: a read copies every byte that is requested.
const FIRST_READ: usize = 1024;

/// How much of a file without frontmatter is read.
const HEAD: usize = 4096;

/// A problem with a file that was found before its text was read.
#[derive(Debug)]
pub(crate) struct FileProblem {
    pub(crate) code: DiagnosticCode,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl FileProblem {
    pub(crate) fn new(code: DiagnosticCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn unreadable(error: Errno) -> Self {
        let problem = Self::new(
            DiagnosticCode::FileUnreadable,
            format!("the file can't be read: {error}"),
        );
        if error == Errno::ACCESS {
            problem.hint("check its permissions with `ls -l`")
        } else {
            problem
        }
    }
}

/// A manifest file that is open for reading.
pub(crate) struct OpenedManifest {
    pub(crate) file: OwnedFd,
    pub(crate) stat: Stat,
}

/// Opens `path` below `folder`. `None` if the file does not exist; a link is `Err(LOOP)`.
pub(crate) fn open(folder: BorrowedFd<'_>, path: &[u8]) -> Result<Option<OpenedManifest>, Errno> {
    match openat(folder, path, OPEN, rustix::fs::Mode::empty()) {
        Ok(file) => {
            let stat = fstat(&file)?;
            Ok(Some(OpenedManifest { file, stat }))
        }
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// [`open`] in a folder that was not inspected: fails if a link or another file system is on the path, and if the file does not exist.
#[cfg(target_os = "linux")]
pub(crate) fn open_straight(root: BorrowedFd<'_>, path: &[u8]) -> Result<OpenedManifest, Errno> {
    use rustix::fs::{ResolveFlags, openat2};
    let straight = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let file = openat2(root, path, OPEN, rustix::fs::Mode::empty(), straight)?;
    let stat = fstat(&file)?;
    Ok(OpenedManifest { file, stat })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_straight(_: BorrowedFd<'_>, _: &[u8]) -> Result<OpenedManifest, Errno> {
    Err(Errno::NOSYS)
}

/// Whether a folder contains a regular file with this name. It can be a link, but not to a file outside the folder.
#[must_use]
pub fn has_file(folder: &Path, name: &str) -> bool {
    let file = folder.join(name).canonicalize();
    let folder = folder.canonicalize();
    file.is_ok_and(|file| file.is_file() && folder.is_ok_and(|folder| file.starts_with(folder)))
}

/// The text of a small file in a folder, such as AGENTS.md. It can be a link, but not to a file outside the folder;
/// never waits for a FIFO or device. `None` if the file does not exist.
///
/// # Errors
/// If it is not a regular file of at most `limit` bytes in the folder.
pub fn read_small(folder: &Path, name: &str, limit: u64) -> std::io::Result<Option<String>> {
    let refused = |why: &str| Err(std::io::Error::other(why));
    let file = match folder.join(name).canonicalize() {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if !file.starts_with(folder.canonicalize()?) {
        return refused("it is a link to a file outside the folder");
    }
    let file = rustix::fs::open(&file, OPEN, rustix::fs::Mode::empty())?;
    if let Err(problem) = check(&fstat(&file)?, limit) {
        return refused(&problem.message);
    }
    let content = read_all(&file, limit)?;
    Ok(Some(String::from_utf8_lossy(&content).into_owned()))
}

/// The text of a file that the user names or owns, such as the configuration. It can be a link to any regular file;
/// never waits for a FIFO or device.
///
/// # Errors
/// If it can't be opened, or is not a regular UTF-8 file of at most `limit` bytes.
pub fn read_named(path: &Path, limit: u64) -> std::io::Result<String> {
    String::from_utf8(read_bytes(path, limit)?)
        .map_err(|_| std::io::Error::new(std::io::ErrorKind::InvalidData, "not valid UTF-8"))
}

/// The bytes of a file that the user names or owns, as [`read_named`].
///
/// # Errors
/// If it can't be opened, or is not a regular file of at most `limit` bytes.
pub fn read_bytes(path: &Path, limit: u64) -> std::io::Result<Vec<u8>> {
    let flags = OPEN.difference(OFlags::NOFOLLOW);
    let file = rustix::fs::open(path, flags, rustix::fs::Mode::empty())?;
    check(&fstat(&file)?, limit).map_err(|problem| std::io::Error::other(problem.message))?;
    Ok(read_all(&file, limit)?)
}

/// Opens a manifest that is a link, if the link stays in its folder: its target is resolved from the folder's handle,
/// so that no concurrent change can redirect it.
pub(crate) fn open_linked(
    folder: &OwnedFd,
    path: &Path,
    name: &[u8],
) -> Result<OwnedFd, FileProblem> {
    let nowhere = || {
        FileProblem::new(DiagnosticCode::FileUnreadable, "broken symbolic link")
            .hint("replace it with the file")
    };
    // Only the wording of the error depends on this check, never what is opened.
    let exists = path.join(OsStr::from_bytes(name)).exists();
    let escape = || {
        if !exists {
            return nowhere();
        }
        FileProblem::new(
            DiagnosticCode::SymlinkEscape,
            "the link points outside the skill's folder",
        )
        .hint("copy the file into the folder")
    };
    let target =
        rustix::fs::readlinkat(folder, name, Vec::new()).map_err(FileProblem::unreadable)?;
    let target = Path::new(OsStr::from_bytes(target.as_bytes())).to_owned();
    let target = if target.is_absolute() {
        target.strip_prefix(path).map_err(|_| escape())?.to_owned()
    } else {
        target
    };
    let mut names = Vec::new();
    for component in target.components() {
        match component {
            Component::Normal(name) => names.push(name),
            Component::CurDir => {}
            _ => return Err(escape()),
        }
    }
    let Some((last, above)) = names.split_last() else {
        return Err(escape());
    };
    // Git's files are not part of the skill: no digest covers them.
    if names.first().is_some_and(|name| name.as_bytes() == GIT) {
        return Err(escape());
    }
    let down = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let followed = |error| match error {
        Errno::LOOP | Errno::NOTDIR => escape(),
        Errno::NOENT => nowhere(),
        error => FileProblem::unreadable(error),
    };
    let mut handle = None;
    for name in above {
        let from = handle.as_ref().unwrap_or(folder);
        handle = Some(openat(from, *name, down, rustix::fs::Mode::empty()).map_err(followed)?);
    }
    let from = handle.as_ref().unwrap_or(folder);
    openat(from, *last, OPEN, rustix::fs::Mode::empty()).map_err(followed)
}

/// Checks that it is a regular file within the size limit.
pub(crate) fn check(stat: &Stat, max_bytes: u64) -> Result<(), FileProblem> {
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        let what = match kind {
            FileType::Fifo => "a FIFO",
            FileType::Socket => "a socket",
            FileType::Directory => "a folder",
            FileType::CharacterDevice | FileType::BlockDevice => "a device",
            _ => "not a regular file",
        };
        return Err(FileProblem::new(
            DiagnosticCode::FileNotRegular,
            format!("it is {what}, not a file"),
        )
        .hint("replace it with a text file"));
    }
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > max_bytes {
        let problem = FileProblem::new(
            DiagnosticCode::FileTooLarge,
            format!("the file is {size} bytes; the limit is {max_bytes}"),
        );
        return Err(problem
            .hint("move the bulk into references/, or raise `skills.limits.max_skill_bytes`"));
    }
    Ok(())
}

/// Reads the start of a file, up to the end of its frontmatter, into a reused buffer.
pub(crate) fn read_head<'b>(file: &OwnedFd, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], Errno> {
    let mut filled = 0;
    loop {
        let wanted = FIRST_READ.max(filled * 4);
        if buffer.len() < wanted {
            buffer.resize(wanted, 0);
        }
        let read = match rustix::io::read(file, &mut buffer[filled..wanted]) {
            Ok(read) => read,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error),
        };
        filled += read;
        match extent(&buffer[..filled]) {
            Extent::Until(end) => return Ok(&buffer[..end]),
            Extent::Open if read > 0 && filled <= MAX_FRONTMATTER + HEAD => {}
            Extent::None if read > 0 && filled < HEAD => {}
            Extent::Open | Extent::None => return Ok(&buffer[..filled]),
        }
    }
}

/// Reads a whole file, up to a limit.
pub(crate) fn read_all(file: impl AsFd, limit: u64) -> Result<Vec<u8>, Errno> {
    let mut content = Vec::new();
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    loop {
        content.reserve(8192.max(content.len()));
        match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut content)) {
            Ok(0) => return Ok(content),
            Ok(_) if content.len() > limit => {
                content.truncate(limit + 1);
                return Ok(content);
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
}

/// The texts of a skill's manifest files, as bytes.
#[derive(Default)]
pub(crate) struct Heads<'a> {
    pub(crate) skill_md: Option<(&'a str, &'a [u8])>,
    pub(crate) skill_yaml: Option<(&'a str, &'a [u8])>,
    pub(crate) sidecar: Option<(&'a str, &'a [u8])>,
}

/// Parses the texts into a manifest.
pub(crate) fn parse(folder: Option<&str>, heads: &Heads<'_>, mode: Strictness) -> Parsed {
    let (manifest, diagnostics) = parse_as(folder, heads, mode, |files, mode| {
        let parsed = metier_model::parse(files, mode);
        (parsed.manifest, parsed.diagnostics)
    });
    Parsed {
        manifest,
        diagnostics,
    }
}

/// Parses the texts into a card.
pub(crate) fn parse_card(
    folder: Option<&str>,
    heads: &Heads<'_>,
    mode: Strictness,
) -> (Option<Card>, Vec<Diagnostic>) {
    parse_as(folder, heads, mode, metier_model::parse_card)
}

/// Replaces bytes that are not UTF-8, and reports them.
fn parse_as<T>(
    folder: Option<&str>,
    heads: &Heads<'_>,
    mode: Strictness,
    parse: impl FnOnce(&Files<'_>, Strictness) -> (Option<T>, Vec<Diagnostic>),
) -> (Option<T>, Vec<Diagnostic>) {
    let md = heads.skill_md.map(|(_, bytes)| decode(bytes));
    let yaml = heads.skill_yaml.map(|(_, bytes)| decode(bytes));
    let sidecar = heads.sidecar.map(|(_, bytes)| decode(bytes));
    fn text<'t>(
        file: Option<(&'t str, &[u8])>,
        text: Option<&'t Cow<'_, str>>,
    ) -> Option<FileText<'t>> {
        file.zip(text)
            .map(|((name, _), text)| FileText { name, text })
    }
    let files = Files {
        folder,
        skill_md: text(heads.skill_md, md.as_ref()),
        skill_yaml: text(heads.skill_yaml, yaml.as_ref()),
        sidecar: text(heads.sidecar, sidecar.as_ref()),
    };
    let (mut found, mut diagnostics) = parse(&files, mode);
    let texts = [(files.skill_md, &md), (files.skill_yaml, &yaml)];
    for (file, text) in texts {
        if let (Some(file), Some(Cow::Owned(text))) = (file, text) {
            diagnostics.extend(not_utf8(file.name, text, mode));
        }
    }
    let is_error = |diagnostic: &Diagnostic| diagnostic.severity == DiagnosticSeverity::Error;
    if diagnostics.iter().any(is_error) {
        found = None;
    }
    (found, diagnostics)
}

fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        // A character cut in half at the end of the read is not the author's mistake.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()])
                .map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
        }
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

fn not_utf8(file: &str, text: &str, mode: Strictness) -> Option<Diagnostic> {
    let at = text.find('\u{fffd}')?;
    let line = text[..at].bytes().filter(|byte| *byte == b'\n').count() + 1;
    Some(Diagnostic {
        severity: DiagnosticCode::FileNotUtf8.severity(mode)?,
        code: DiagnosticCode::FileNotUtf8,
        message: "the text is not valid UTF-8; invalid bytes were replaced".into(),
        hint: Some("save the file as UTF-8".into()),
        file: file.into(),
        position: Some(metier_model::Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: 1,
        }),
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::symlink;

    use metier_testkit::{needed, needs};

    use super::*;

    #[test]
    fn nothing_behind_a_link_is_opened_straight() {
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        std::fs::create_dir(at("real")).unwrap();
        std::fs::write(at("real/SKILL.md"), "text").unwrap();
        symlink("real", at("linked")).unwrap();
        symlink("SKILL.md", at("real/other.md")).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(root.path(), flags, rustix::fs::Mode::empty()).unwrap();
        let opened = |path: &str| open_straight(handle.as_fd(), path.as_bytes());
        needed!(needs::condition(
            opened("real/SKILL.md").err() != Some(Errno::NOSYS),
            "this kernel is too old for `openat2`"
        ));
        assert_eq!(opened("real/SKILL.md").map(|file| file.stat.st_size), Ok(4));
        assert_eq!(opened("linked/SKILL.md").err(), Some(Errno::LOOP));
        assert_eq!(opened("real/other.md").err(), Some(Errno::LOOP));
    }
}
