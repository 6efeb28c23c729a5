//! Files: opened without following links, read up to a limit, written as a whole.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::{Component, Path},
};

use rustix::fs::{Mode, OFlags, ResolveFlags};

use crate::{
    execution::{ExecutionError, MAX_FILE},
    sandbox::DeniedPlaces,
};

/// Reads a file. The path was checked name by name, so no link on it is followed.
pub(super) fn read(path: &Path, never: &DeniedPlaces) -> Result<Vec<u8>, ExecutionError> {
    guard(path, never, "read")?;
    let failed = |source| ExecutionError::File {
        path: path.to_owned(),
        source,
    };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags).map_err(failed)?);
    let kind = file.metadata().map_err(failed)?.file_type();
    if kind.is_dir() {
        let source = io::Error::new(io::ErrorKind::IsADirectory, "it is a folder");
        return Err(failed(source));
    }
    if !kind.is_file() {
        return Err(failed(io::Error::other("it is not a regular file")));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(ExecutionError::TooLarge {
            path: path.to_owned(),
            limit: MAX_FILE,
        });
    }
    Ok(bytes)
}

/// The content of a regular file that is not larger than a limit. `None` for other files, and for files behind a link; it never blocks.
pub(super) fn read_regular(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(open(path, flags).ok()?);
    let found = file.metadata().ok()?;
    if !found.is_file() || found.len() > limit {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= limit).then_some(bytes)
}

/// Opens a regular file by any path, links included, without waiting for the other end of a FIFO.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Writes a file as a whole: a reader sees the old content or the new one. The caller has checked that the file is not protected.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<(), ExecutionError> {
    guard(path, &DeniedPlaces::default(), "written")?;
    let failed = |source| ExecutionError::File {
        path: path.to_owned(),
        source,
    };
    if content.len() as u64 > MAX_FILE {
        return Err(ExecutionError::TooLarge {
            path: path.to_owned(),
            limit: MAX_FILE,
        });
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(failed(io::Error::other("it has no name")));
    };
    let folder = folder(parent).map_err(failed)?;
    // A name that no other writer uses, in this process or another one.
    let number = getrandom::u32().map_err(|error| failed(error.into()))?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{number:x}"));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o644);
    let file = rustix::fs::openat(&folder, &temporary, flags, mode);
    let mut file = File::from(file.map_err(|error| failed(error.into()))?);
    let mut place = || -> io::Result<()> {
        file.write_all(content)?;
        file.sync_all()?;
        rustix::fs::renameat(&folder, &temporary, &folder, name)?;
        Ok(())
    };
    place().map_err(|error| {
        // The partly written file has a separate name; whether it can be removed does not matter.
        rustix::fs::unlinkat(&folder, &temporary, rustix::fs::AtFlags::empty()).ok();
        failed(error)
    })
}

/// Opens a folder, created if it is missing, with the folders above it; without a link on the path.
fn folder(path: &Path) -> io::Result<OwnedFd> {
    const FOLDER: OFlags = OFlags::RDONLY
        .union(OFlags::DIRECTORY)
        .union(OFlags::CLOEXEC);
    let mut missing = Vec::new();
    let mut at = path;
    let mut folder = loop {
        match open(at, FOLDER) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else {
                    return Err(error);
                };
                missing.push(name);
                at = parent;
            }
            other => break other?,
        }
    };
    for name in missing.into_iter().rev() {
        match rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(0o755)) {
            // Another writer was first.
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        folder = rustix::fs::openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(folder)
}

/// Whether there is a file of exactly this name, without a link on the path.
pub(super) fn is_there(path: &Path) -> bool {
    open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC).is_ok()
}

/// [`is_there`], with the reason if there is no such file.
pub(super) fn look(path: &Path) -> Result<(), ExecutionError> {
    let looked = open(path, OFlags::PATH | OFlags::CLOEXEC);
    looked.map(drop).map_err(|source| ExecutionError::File {
        path: path.to_owned(),
        source,
    })
}

/// From the root of the machine, without following any link.
pub(super) fn open(path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let root = rustix::fs::open(
        "/",
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let relative = path
        .strip_prefix("/")
        .map_err(|_| io::Error::other("the path is not absolute"))?;
    let relative = if relative.as_os_str().is_empty() {
        Path::new(".")
    } else {
        relative
    };
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::BENEATH;
    rustix::fs::openat2(&root, relative, flags, Mode::empty(), resolve).map_err(Into::into)
}

fn guard(path: &Path, never: &DeniedPlaces, what: &'static str) -> Result<(), ExecutionError> {
    let plain = path
        .components()
        .all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    if !plain || never.cover(path) {
        return Err(ExecutionError::Never {
            path: path.to_owned(),
            what,
        });
    }
    Ok(())
}

/// The interpreter of a script: from its first line if it has one, otherwise by its extension. Files of a skill need no executable bit:
/// packages lose it.
pub(super) fn runner(
    file: &Path,
    looked_at: &Path,
    arguments: Vec<OsString>,
) -> Result<(OsString, Vec<OsString>), ExecutionError> {
    const INTERPRETERS: &[(&str, &[&str])] = &[
        ("sh", &["sh"]),
        ("bash", &["bash"]),
        ("zsh", &["zsh"]),
        ("py", &["python3"]),
        ("js", &["node"]),
        ("mjs", &["node"]),
        ("cjs", &["node"]),
        ("ts", &["deno", "run"]),
        ("rb", &["ruby"]),
        ("pl", &["perl"]),
        ("php", &["php"]),
        ("lua", &["lua"]),
    ];
    let failed = |source| ExecutionError::File {
        path: file.to_owned(),
        source,
    };
    let mut head = [0; 2];
    let mut opened = open_regular(looked_at).map_err(failed)?;
    let read = opened.read(&mut head).map_err(failed)?;
    let executable = {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(looked_at)
            .map_err(failed)?
            .permissions()
            .mode()
            & 0o111
            != 0
    };
    if executable {
        return Ok((file.into(), arguments));
    }
    let ending = file
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    let known = INTERPRETERS.iter().find(|(known, _)| *known == ending);
    let words: Vec<OsString> = match known {
        _ if &head[..read] == b"#!" => shebang(looked_at).map_err(failed)?,
        Some((_, words)) => words.iter().map(OsString::from).collect(),
        None => {
            return Err(failed(io::Error::other(
                "it is neither executable nor a script of a known kind",
            )));
        }
    };
    let mut words = words.into_iter();
    let program = words.next().unwrap_or_default();
    let arguments = words.chain([file.into()]).chain(arguments).collect();
    Ok((program, arguments))
}

/// The words of a first line `#!/usr/bin/env python3`.
fn shebang(file: &Path) -> io::Result<Vec<OsString>> {
    let mut text = String::new();
    open_regular(file)?.take(256).read_to_string(&mut text)?;
    let line = text
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("#!")
        .trim();
    let (program, argument) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    if program.is_empty() {
        return Err(io::Error::other(
            "its first line names no known interpreter",
        ));
    }
    let argument = argument.trim();
    let words = [program, argument]
        .into_iter()
        .filter(|word| !word.is_empty());
    Ok(words.map(OsString::from).collect())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn writers_of_one_file_do_not_disturb_each_other() {
        let around = tempfile::tempdir().unwrap();
        let folder = around.path().canonicalize().unwrap().join("a/b");
        let file = folder.join("written.txt");
        thread::scope(|scope| {
            for writer in 0..8_u8 {
                let file = &file;
                scope.spawn(move || {
                    for _ in 0..20 {
                        write(file, &[writer; 10_000]).unwrap();
                    }
                });
            }
        });
        let content = fs::read(&file).unwrap();
        assert_eq!(content, vec![content[0]; 10_000]);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    }
}
