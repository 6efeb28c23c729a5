//! Programs that do only the unavoidable work: inspect every skill, write a document of that size.
//!
//! Written plainly on purpose. A clever floor would need explaining, a slow one would flatter us.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::ExitCode;

use crate::Result;

/// `__floor-read ROOT BYTES`: open, read 4 KiB, close; the work that a listing without an index has to do.
pub(crate) fn read(arguments: &[String]) -> Result<ExitCode> {
    visit(arguments, |path| {
        let mut buffer = [0; 4096];
        Ok(File::open(path)?.read(&mut buffer)? as u64)
    })
}

/// `__floor-stat ROOT BYTES`: is each file unchanged; the work that a listing from an index has to do.
pub(crate) fn stat(arguments: &[String]) -> Result<ExitCode> {
    visit(arguments, |path| Ok(fs::metadata(path)?.len()))
}

fn visit(arguments: &[String], look: impl Fn(&Path) -> Result<u64>) -> Result<ExitCode> {
    let [root, bytes] = arguments else {
        return Err("a floor needs ROOT and BYTES".into());
    };
    let mut seen = 0;
    for entry in fs::read_dir(root)? {
        seen += look(&entry?.path().join("SKILL.md"))?;
    }
    // The sum keeps the compiler from removing the calls.
    if seen == 0 {
        return Err("a floor that saw nothing".into());
    }
    write_document(bytes.parse()?)?;
    Ok(ExitCode::SUCCESS)
}

fn write_document(bytes: usize) -> Result<()> {
    let chunk = [b'x'; 64 * 1024];
    let mut output = std::io::stdout().lock();
    let mut left = bytes;
    while left > 0 {
        let part = left.min(chunk.len());
        output.write_all(&chunk[..part])?;
        left -= part;
    }
    output.flush()?;
    Ok(())
}
