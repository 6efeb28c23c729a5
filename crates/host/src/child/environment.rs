//! Names of variables that can be set for a child.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use metier_policy::variables;

/// Whether a variable makes programs run code that its value names. No skill may set such a variable, whatever was approved.
#[must_use]
pub fn is_hazardous(name: &OsStr) -> bool {
    name.to_str().is_none_or(variables::is_loader)
}

/// Variables with values that make programs run less code.
const QUIETERS: &[(&str, &str)] = &[
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_EDITOR", ":"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", ":"),
];

/// Whether a variable with this value makes programs run code.
pub(crate) fn is_hazardous_value(name: &OsStr, value: &OsStr) -> bool {
    let quiets = |(other, only): &(&str, &str)| name == *other && value == *only;
    is_hazardous(name) && !QUIETERS.iter().any(quiets)
}

/// Whether it is the name of one variable: printable ASCII without `=` and without the characters of patterns.
pub(crate) fn is_name(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let fits = |byte: &u8| byte.is_ascii_graphic() && !b"=*?[]".contains(byte);
    !name.is_empty() && name.iter().all(fits)
}
