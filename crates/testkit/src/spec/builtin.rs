//! The few programs that a transcript may use besides `metier`: enough to change files between two runs and to print them.

use std::fs::{self, Permissions};
use std::io::{self, Error, ErrorKind};
use std::os::unix::fs::PermissionsExt;

use crate::{process::make_executable, test_folders::TestFolders};

/// Runs a built-in and returns its output; `None` if there is none with that name.
pub(super) fn run(
    place: &TestFolders,
    program: &str,
    arguments: &[&str],
) -> Option<io::Result<String>> {
    let quiet = |result: io::Result<_>| result.map(|_| String::new());
    let result = match (program, arguments) {
        ("cat", [name]) => place.path(name).and_then(fs::read_to_string),
        ("rm", [name]) => quiet(remove(place, name)),
        ("mkdir", [name]) => quiet(place.dir(name).map(drop)),
        ("chmod", [mode, name]) => quiet(chmod(place, mode, name)),
        ("mkfifo", [name]) => quiet(place.fifo(name).map(drop)),
        ("ln", ["-s", target, name]) => quiet(place.symlink(target, name).map(drop)),
        ("cat" | "rm" | "mkdir" | "chmod" | "mkfifo" | "ln", _) => Err(usage()),
        _ => return None,
    };
    Some(result)
}

fn usage() -> Error {
    let known =
        "know only: cat FILE, rm PATH, mkdir PATH, chmod MODE PATH, mkfifo PATH, ln -s TARGET PATH";
    Error::new(ErrorKind::InvalidInput, known)
}

/// Removes files, links and whole folders.
fn remove(place: &TestFolders, name: &str) -> io::Result<()> {
    let path = place.path(name)?;
    if fs::symlink_metadata(&path)?.is_dir() {
        fs::remove_dir_all(path)
    } else {
        fs::remove_file(path)
    }
}

fn chmod(place: &TestFolders, mode: &str, name: &str) -> io::Result<()> {
    let mode = u32::from_str_radix(mode, 8).map_err(|_| usage())?;
    let path = place.path(name)?;
    if mode & 0o111 != 0 && path.is_file() {
        make_executable(&path);
    }
    fs::set_permissions(path, Permissions::from_mode(mode))
}
