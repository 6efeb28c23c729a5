//! A tree as a `.skill` file: a zip archive whose bytes depend on nothing but the files.

use std::io::{Cursor, Write};

use zip::{CompressionMethod, DateTime, ZipWriter, result::ZipError, write::SimpleFileOptions};

use crate::tree::PackageTree;

/// What the files of packages end in.
pub const PACKAGE_EXTENSION: &str = "skill";

/// The mode of every file: for its owner to write, for all to read, for nobody to execute.
const MODE: u32 = 0o644;

/// Packs a tree into one folder of this name, which is what tools that unpack `.skill` files into a folder of skills expect. Without a name
/// the files are at the root, as lists below `/.well-known/` require it.
///
/// The entries are sorted, and have no times, owners or modes of the machine that packed them: the same files give the same bytes.
///
/// # Errors
/// If the name of the folder or a path is not one that a zip archive can hold.
pub fn pack(folder: &str, tree: &PackageTree) -> Result<Vec<u8>, PackError> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(9))
        .last_modified_time(DateTime::DEFAULT)
        .unix_permissions(MODE);
    for file in tree.files() {
        let path = match folder {
            "" => file.path.to_string(),
            folder => format!("{folder}/{}", file.path),
        };
        writer.start_file(path, options)?;
        writer.write_all(&file.bytes).map_err(ZipError::from)?;
    }
    Ok(writer.finish()?.into_inner())
}

/// A tree that can't be packed.
#[derive(Debug, thiserror::Error)]
#[error("the package can't be written: {0}")]
pub struct PackError(#[from] ZipError);
