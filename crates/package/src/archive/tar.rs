//! Tar archives. Tools disagree about extensions, so only one is accepted: the path, and times, in a POSIX extended header.

use std::io::Read;

use metier_model::text::visible;
use tar::{Archive, Entry, EntryType};

use super::{ArchiveError, Budget, PackageEntries};
use crate::{path::PackagePath, tree::PackageFile};

/// The largest extended header.
const MAX_EXTENDED: u64 = 64 << 10;
const BLOCK: usize = 512;

pub(super) fn read(bytes: &[u8], budget: &mut Budget) -> Result<PackageEntries, ArchiveError> {
    let mut archive = Archive::new(bytes);
    let entries = archive.entries().map_err(damaged)?.raw(true);
    let mut found = PackageEntries::default();
    let mut long_path: Option<Vec<u8>> = None;
    let mut end = 0;
    for entry in entries {
        budget.entry()?;
        let mut entry = entry.map_err(damaged)?;
        end = end_of(&entry);
        check_header(entry.header().as_bytes())?;
        let kind = entry.header().entry_type();
        if long_path.is_some() && matches!(kind, EntryType::XGlobalHeader | EntryType::XHeader) {
            return Err(ambiguous("an extended header has no entry"));
        }
        match kind {
            EntryType::XGlobalHeader => {
                let records = extended(&mut entry)?;
                if records.iter().any(|(key, _)| key != "comment") {
                    return Err(ambiguous("a global header changes other entries"));
                }
            }
            EntryType::XHeader => {
                let records = extended(&mut entry)?;
                long_path = Some(path_in(records)?.unwrap_or_default());
            }
            _ => {
                let path = long_path.take().filter(|path| !path.is_empty());
                let path = path.unwrap_or_else(|| entry.path_bytes().into_owned());
                read_entry(&mut entry, &path, budget, &mut found)?;
            }
        }
    }
    if long_path.is_some() {
        return Err(ambiguous("an extended header has no entry"));
    }
    match bytes.get(end..) {
        Some(rest) if rest.len() >= 2 * BLOCK && rest.iter().all(|&byte| byte == 0) => Ok(found),
        Some(rest) if rest.iter().all(|&byte| byte == 0) => {
            Err(ArchiveError::Damaged("its end is missing".to_owned()))
        }
        Some(_) => Err(ArchiveError::Trailing),
        None => Err(ArchiveError::Damaged("its end is missing".to_owned())),
    }
}

/// Where the padded content of an entry ends in the archive.
fn end_of(entry: &Entry<'_, &[u8]>) -> usize {
    let content = usize::try_from(entry.size()).unwrap_or(usize::MAX);
    let start = usize::try_from(entry.raw_file_position()).unwrap_or(usize::MAX);
    start
        .saturating_add(content)
        .checked_next_multiple_of(BLOCK)
        .unwrap_or(usize::MAX)
}

/// Refuses headers whose fields tools read differently: the size must be octal, and the bytes after the fields of formats other than POSIX
/// must be empty, because some tools read a part of the name there.
fn check_header(header: &[u8; BLOCK]) -> Result<(), ArchiveError> {
    let size = &header[124..136];
    let digits = size.trim_ascii_start();
    let end = digits.iter().position(|byte| !(b'0'..=b'7').contains(byte));
    let (digits, rest) = digits.split_at(end.unwrap_or(digits.len()));
    if digits.is_empty() || rest.iter().any(|byte| !matches!(byte, 0 | b' ')) {
        return Err(ambiguous("a size is not an octal number"));
    }
    let is_posix = header[257..263] == *b"ustar\0";
    if !is_posix && header[345..500].iter().any(|&byte| byte != 0) {
        return Err(ambiguous(
            "a header contains fields that only some tools read",
        ));
    }
    Ok(())
}

/// Adds the file or the folder of an entry.
fn read_entry(
    entry: &mut Entry<'_, &[u8]>,
    path: &[u8],
    budget: &mut Budget,
    found: &mut PackageEntries,
) -> Result<(), ArchiveError> {
    let shown = || visible(&String::from_utf8_lossy(path)).into_owned();
    let special = |kind| {
        Err(ArchiveError::Special {
            path: shown(),
            kind,
        })
    };
    let announced = entry.size();
    match entry.header().entry_type() {
        EntryType::Regular if !path.ends_with(b"/") => {
            let path = PackagePath::new(path.strip_prefix(b"./").unwrap_or(path))?;
            let bytes = budget.read(path.as_str(), announced, entry)?;
            found.files.push(PackageFile { path, bytes });
            Ok(())
        }
        EntryType::Directory => {
            let folder = path.strip_suffix(b"/").unwrap_or(path);
            let folder = folder.strip_prefix(b"./").unwrap_or(folder);
            if folder != b"." {
                found.folders.push(PackagePath::new(folder)?);
            }
            match announced {
                0 => Ok(()),
                _ => Err(ambiguous(&format!("the folder `{}` has content", shown()))),
            }
        }
        EntryType::Symlink | EntryType::Link => Err(ArchiveError::Link(shown())),
        EntryType::Char | EntryType::Block => special("a device"),
        EntryType::Fifo => special("a pipe"),
        EntryType::GNUSparse => special("a sparse file"),
        EntryType::GNULongName | EntryType::GNULongLink => special(
            "a long name in a form that only some tools read (pack with `tar --format=pax`)",
        ),
        _ => special("an entry of an unknown kind"),
    }
}

/// The records of an extended header: `length key=value`, each with its line break.
fn extended(entry: &mut Entry<'_, &[u8]>) -> Result<Vec<(String, Vec<u8>)>, ArchiveError> {
    if entry.size() > MAX_EXTENDED {
        return Err(ambiguous("an extended header is too large"));
    }
    let mut bytes = Vec::new();
    entry.read_to_end(&mut bytes).map_err(damaged)?;
    let mut rest = bytes.as_slice();
    let mut records = Vec::new();
    while !rest.is_empty() {
        let record = next_record(&mut rest);
        records.push(record.ok_or_else(|| ambiguous("an extended header is malformed"))?);
    }
    Ok(records)
}

fn next_record(rest: &mut &[u8]) -> Option<(String, Vec<u8>)> {
    let space = rest.iter().position(|&byte| byte == b' ')?;
    let digits = &rest[..space];
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let length: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let (record, after) = rest.split_at_checked(length)?;
    let record = record.get(space + 1..)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|&byte| byte == b'=')?;
    let key = std::str::from_utf8(&record[..equals]).ok()?.to_owned();
    *rest = after;
    Some((key, record[equals + 1..].to_vec()))
}

/// The path of an extended header. Any field that changes how the entry is read is refused.
fn path_in(records: Vec<(String, Vec<u8>)>) -> Result<Option<Vec<u8>>, ArchiveError> {
    let mut path = None;
    for (key, value) in records {
        match key.as_str() {
            "path" if path.is_none() && !value.is_empty() => path = Some(value),
            "mtime" | "atime" | "ctime" | "uid" | "gid" | "uname" | "gname" | "comment" => {}
            key if key.starts_with("LIBARCHIVE.") || key.starts_with("SCHILY.xattr.") => {}
            key => {
                let message = format!("an extended header sets `{}`", visible(key));
                return Err(ArchiveError::Ambiguous(message));
            }
        }
    }
    Ok(path)
}

fn ambiguous(message: &str) -> ArchiveError {
    ArchiveError::Ambiguous(message.to_owned())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "`map_err` passes it by value"
)]
fn damaged(error: std::io::Error) -> ArchiveError {
    ArchiveError::Damaged(error.to_string())
}
