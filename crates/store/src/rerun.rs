//! Other processes for tests: the same test binary, with one task.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PATH: &str = "METIER_STORE_TEST_CHILD";
const ROLE: &str = "METIER_STORE_TEST_ROLE";

/// The test with this name in another process, which gets the database's path and one argument.
pub(crate) fn process(test: &str, path: &Path, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command
        .args(["--exact", test, "--nocapture"])
        .env(PATH, path)
        .env(ROLE, role)
        .stdin(Stdio::null());
    command
}

/// In such a process: the database's path and the argument.
pub(crate) fn role() -> Option<(PathBuf, String)> {
    let path = std::env::var_os(PATH)?;
    Some((path.into(), std::env::var(ROLE).unwrap_or_default()))
}
