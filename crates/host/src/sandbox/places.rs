//! Which places of a machine are what: the system's, the keys', and those that others obey.

use std::path::{Path, PathBuf};

/// What nearly every program needs to start: libraries, certificates, locales, the programs themselves.
const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
];

/// What programs may read of the system, besides its programs and libraries.
#[must_use]
pub fn system_read(_path_dirs: &[PathBuf], _home: Option<&Path>) -> Vec<PathBuf> {
    SYSTEM.iter().map(PathBuf::from).collect()
}

/// Where keys are.
#[must_use]
pub fn credential_places(_home: &Path) -> Vec<PathBuf> {
    Vec::new()
}

/// What others obey.
#[must_use]
pub fn protected_places(_home: Option<&Path>, _writable_root: &Path) -> Vec<PathBuf> {
    Vec::new()
}
