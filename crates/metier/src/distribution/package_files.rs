//! Files that packing and signing read and write.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use metier_catalog::read_bytes;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::Error;

/// The path with another extension behind its name.
pub(super) fn beside(file: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(file);
    name.push(".");
    name.push(extension);
    name.into()
}

/// Reads a file that the user named.
pub(super) fn read_file(file: &Path, limit: usize) -> Result<Vec<u8>, Error> {
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    read_bytes(file, limit).map_err(|error| {
        let code = match error.kind() {
            io::ErrorKind::NotFound => "not-found",
            _ => "unreadable",
        };
        Error::unmet(code, format!("the file can't be read: {error}")).path(file)
    })
}

/// Writes a file as a whole; returns whether it was written. A file that has this content already is left alone, and one with other content
/// is replaced only if that was requested.
pub(super) fn write_whole(file: &Path, bytes: &[u8], replace: bool) -> Result<bool, Error> {
    if !is_different(file, bytes, replace)? {
        return Ok(false);
    }
    match put(file, bytes, replace) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(exists(file)),
        Err(error) => Err(unwritten(file, &error)),
    }
}

/// Whether a file would be written. The error if it has other content and must not be replaced.
pub(super) fn is_different(file: &Path, bytes: &[u8], replace: bool) -> Result<bool, Error> {
    match read_bytes(file, bytes.len() as u64) {
        Ok(there) if there == bytes => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        _ if !replace => Err(exists(file)),
        _ => Ok(true),
    }
}

fn put(file: &Path, bytes: &[u8], replace: bool) -> io::Result<()> {
    let temporary = beside(file, &format!("{}.part", std::process::id()));
    let written = write_new(&temporary, bytes, 0o644);
    let placed = written.and_then(|()| match replace {
        true => fs::rename(&temporary, file),
        false => renameat_with(CWD, &temporary, CWD, file, RenameFlags::NOREPLACE)
            .map_err(io::Error::from),
    });
    if placed.is_err() {
        // It may not exist; the first error is the one to report.
        let _absent = fs::remove_file(&temporary);
    }
    placed
}

/// Writes a file that does not exist yet, and waits until it is on the disk.
pub(super) fn write_new(file: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut out = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(file)?;
    out.write_all(bytes)?;
    out.sync_all()
}

fn exists(file: &Path) -> Error {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let message = format!("`{name}` already exists with other content; nothing was changed");
    Error::unmet("exists", message)
        .path(file)
        .hint("replace it with `--force`")
}

/// The error for a file that can't be written.
pub(super) fn unwritten(file: &Path, error: &io::Error) -> Error {
    Error::unmet("not-written", format!("the file can't be written: {error}"))
        .path(file)
        .hint("check the folder and its permissions")
}
