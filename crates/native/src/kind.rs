//! The kind of a file, before any of it runs: loading it would call its constructors, and the system's messages for "not a
//! library" differ.

use std::{
    fs::File,
    io::{ErrorKind, Read},
    path::Path,
};

use crate::LoadError;

/// The part of an ELF header that is read: up to the type and the processor.
const HEAD: usize = 20;
const MAGIC: &[u8] = b"\x7fELF";
/// A shared library, in the field `e_type`.
const SHARED: u16 = 3;

/// Processors: their numbers in ELF and their names in Rust.
const PROCESSORS: &[(u16, &str)] = &[
    (3, "x86"),
    (40, "arm"),
    (62, "x86_64"),
    (183, "aarch64"),
    (243, "riscv64"),
    (21, "powerpc64"),
    (22, "s390x"),
    (258, "loongarch64"),
];

/// Checks that a file is a library for this machine. On systems without ELF only that it can be read; loading it reports
/// the rest.
pub(crate) fn check(path: &Path) -> Result<(), LoadError> {
    let unreadable = |source| LoadError::Unreadable {
        path: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut head = [0; HEAD];
    match file.read_exact(&mut head) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            return Err(LoadError::NotLibrary(path.to_owned()));
        }
        Err(error) => return Err(unreadable(error)),
    }
    if cfg!(target_os = "linux") {
        judge(&head, path)
    } else {
        Ok(())
    }
}

fn judge(head: &[u8; HEAD], path: &Path) -> Result<(), LoadError> {
    if !head.starts_with(MAGIC) {
        return Err(LoadError::NotLibrary(path.to_owned()));
    }
    let (bits, order) = (head[4], head[5]);
    let number = |at: usize| {
        let bytes = [head[at], head[at + 1]];
        match order {
            2 => u16::from_be_bytes(bytes),
            _ => u16::from_le_bytes(bytes),
        }
    };
    let processor = number(18);
    let known = PROCESSORS.iter().find(|(number, _)| *number == processor);
    let here = std::env::consts::ARCH;
    let fits = known.is_none_or(|(_, name)| *name == here)
        && (bits == 2) == cfg!(target_pointer_width = "64")
        && (order == 2) == cfg!(target_endian = "big");
    if !fits {
        let bits = if bits == 2 { 64 } else { 32 };
        let built = known.map_or_else(
            || format!("another processor ({bits} bits)"),
            |(_, name)| format!("{name} ({bits} bits)"),
        );
        let path = path.to_owned();
        return Err(LoadError::Architecture { path, built, here });
    }
    if number(16) != SHARED {
        return Err(LoadError::NotLibrary(path.to_owned()));
    }
    Ok(())
}
