//! Zip archives, which is what `.skill` files are.

use std::io::Cursor;

use metier_model::text::visible;
use zip::{ZipArchive, result::ZipError};

use super::{ArchiveError, Budget};
use crate::{path::PackagePath, tree::PackageFile};

/// The record at the end of a zip archive, without its comment.
const END_RECORD: usize = 22;

pub(super) fn read(bytes: &[u8], budget: &mut Budget) -> Result<Vec<PackageFile>, ArchiveError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(damaged)?;
    check_bounds(bytes, &archive)?;
    archive
        .validate_header_consistency()
        .map_err(|error| ArchiveError::Ambiguous(error.to_string()))?;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        budget.entry()?;
        files.extend(read_entry(&mut archive, index, budget)?);
    }
    Ok(files)
}

/// The archive begins with its first entry and ends with its end record.
fn check_bounds(bytes: &[u8], archive: &ZipArchive<Cursor<&[u8]>>) -> Result<(), ArchiveError> {
    let end = bytes
        .len()
        .checked_sub(END_RECORD + archive.comment().len());
    let ends = end.is_some_and(|end| bytes[end..].starts_with(b"PK\x05\x06"));
    let begins = bytes.starts_with(b"PK\x03\x04") || archive.is_empty();
    match ends && begins && archive.offset() == 0 {
        true => Ok(()),
        false => Err(ArchiveError::Trailing),
    }
}

/// The file at an index; `None` for a folder.
fn read_entry(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    index: usize,
    budget: &mut Budget,
) -> Result<Option<PackageFile>, ArchiveError> {
    let raw = archive.by_index_raw(index).map_err(damaged)?;
    let name = raw.name_raw().to_vec();
    let shown = visible(&String::from_utf8_lossy(&name)).into_owned();
    if raw.encrypted() {
        return Err(ArchiveError::Encrypted(shown));
    }
    // The upper bits of the mode are the kind of the file.
    match raw.unix_mode().map_or(0, |mode| mode & 0o170_000) {
        0 | 0o100_000 => {}
        0o040_000 if name.ends_with(b"/") => {}
        0o120_000 => return Err(ArchiveError::Link(shown)),
        _ => {
            return Err(ArchiveError::Special {
                path: shown,
                kind: "a special file",
            });
        }
    }
    let announced = raw.size();
    drop(raw);
    if let Some(folder) = name.strip_suffix(b"/") {
        PackagePath::new(folder)?;
        return match announced {
            0 => Ok(None),
            _ => Err(ArchiveError::Ambiguous(format!(
                "the folder `{shown}` has content"
            ))),
        };
    }
    let path = PackagePath::new(&name)?;
    let mut entry = archive.by_index(index).map_err(damaged)?;
    let bytes = budget.read(path.as_str(), announced, &mut entry)?;
    Ok(Some(PackageFile { path, bytes }))
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what map_err hands over"
)]
fn damaged(error: ZipError) -> ArchiveError {
    ArchiveError::Damaged(error.to_string())
}
