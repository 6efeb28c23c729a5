//! A tree as a `.skill` file: a zip archive whose bytes depend on the files only.
//!
//! All files are in one folder with the name of the skill, because tools that install `.skill` files unpack them into a folder of skills.
//! [`PackageTree::only_skill`] reads archives with that folder and archives without it. The archive is written here, field by field:
//! another version of a library would write other bytes.

use std::io::Write;

use flate2::{Compression, Crc, write::DeflateEncoder};

use crate::tree::PackageTree;

/// The extension of package files.
pub const PACKAGE_EXTENSION: &str = "skill";

/// The extension that a signature adds to the name of its package.
pub const SIGNATURE_EXTENSION: &str = "minisig";

/// The extension that a bill of materials adds to the name of its package.
pub const SBOM_EXTENSION: &str = "cdx.json";

/// Folders that tools write at any depth.
const TOOL_FOLDERS: &[&str] = &["__pycache__", "node_modules"];

/// Version 2.0 of the format, written on Unix.
const VERSION: u16 = 20;
const MADE_BY: u16 = 3 << 8 | VERSION;
/// The name is in UTF-8.
const UTF8: u16 = 1 << 11;
/// Midnight of 1 January 1980, the first time that a zip archive can contain.
const TIME: u16 = 0;
const DATE: u16 = 1 << 5 | 1;
/// A regular file that all users can read, only the owner can write and none can execute.
const ATTRIBUTES: u32 = 0o100_644 << 16;

/// Packs a tree into one folder with this name. Without a name the files are at the root, as lists below `/.well-known/` require.
///
/// The entries are sorted, and contain no times, owners or modes of the machine that packed them: the same files give the same bytes.
///
/// # Errors
/// If there are more files or bytes than a zip archive can contain.
pub fn pack(folder: &str, tree: &PackageTree) -> Result<Vec<u8>, PackError> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for file in tree.files() {
        let name = match folder {
            "" => file.path.to_string(),
            folder => format!("{folder}/{}", file.path),
        };
        let deflated = deflated(&file.bytes);
        let (method, content) = match deflated.len() < file.bytes.len() {
            true => (8, deflated.as_slice()),
            false => (0, file.bytes.as_slice()),
        };
        let mut crc = Crc::new();
        crc.update(&file.bytes);
        let mut common = Vec::new();
        let flags = if name.is_ascii() { 0 } else { UTF8 };
        for number in [VERSION, flags, method, TIME, DATE] {
            common.extend(number.to_le_bytes());
        }
        for number in [crc.sum(), length(content)?, length(&file.bytes)?] {
            common.extend(number.to_le_bytes());
        }
        let name_length = u16::try_from(name.len()).map_err(|_| PackError)?;
        // No extra fields.
        common.extend(name_length.to_le_bytes());
        common.extend(0u16.to_le_bytes());
        directory.extend(b"PK\x01\x02");
        directory.extend(MADE_BY.to_le_bytes());
        directory.extend(&common);
        // No comment, the first disk, no internal attributes.
        directory.extend([0; 6]);
        directory.extend(ATTRIBUTES.to_le_bytes());
        directory.extend(length(&archive)?.to_le_bytes());
        directory.extend(name.as_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(common);
        archive.extend(name.as_bytes());
        archive.extend(content);
    }
    let start = length(&archive)?;
    let entries = u16::try_from(tree.files().len()).map_err(|_| PackError)?;
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([entries.to_le_bytes(), entries.to_le_bytes()].concat());
    archive.extend(length(&directory)?.to_le_bytes());
    archive.extend(start.to_le_bytes());
    archive.extend(0u16.to_le_bytes());
    Ok(archive)
}

/// At level 9 the compressor makes the same decisions on every processor.
fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    // Writing to memory does not fail; if it did, the file would be stored.
    written.unwrap_or_else(|_| bytes.to_vec())
}

fn length(bytes: &[u8]) -> Result<u32, PackError> {
    // The maximum value means that the real one is elsewhere.
    let length = u32::try_from(bytes.len()).ok();
    length.filter(|length| *length < u32::MAX).ok_or(PackError)
}

/// The schema that `metier new` writes for editors.
const EDITOR_SCHEMA: &str = "SKILL.schema.json";

/// Whether a package leaves out this file of a skill's folder: output of tools, evaluations, files for editors, and earlier
/// packages.
#[must_use]
pub fn is_left_out(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut names = folders.split('/');
    let is_output = name.ends_with(".pyc") || name == ".DS_Store" || path == EDITOR_SCHEMA;
    let is_package = folders.is_empty() && {
        let package = format!(".{PACKAGE_EXTENSION}");
        let beside = [SIGNATURE_EXTENSION, SBOM_EXTENSION];
        let mut beside = beside.iter().map(|end| format!("{package}.{end}"));
        name.ends_with(&package) || beside.any(|end| name.ends_with(&end))
    };
    let is_evaluation = path.starts_with("evals/");
    is_output || is_package || is_evaluation || names.any(|name| TOOL_FOLDERS.contains(&name))
}

/// A tree that is too large for a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a package can't contain more than 4 GB or 65,535 files")]
pub struct PackError;
