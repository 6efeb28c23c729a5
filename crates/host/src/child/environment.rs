//! Names of variables that a child can be given.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use metier_policy::variables;

/// Whether a variable makes programs run code that its value names. No skill may set one, whatever was approved.
#[must_use]
pub fn is_hazardous(name: &OsStr) -> bool {
    name.to_str().is_none_or(variables::is_loader)
}

/// Whether it is the name of one variable: letters, digits, underscores and a few others, and no pattern.
pub(crate) fn is_name(name: &OsStr) -> bool {
    let name = name.as_bytes();
    let fits = |byte: &u8| byte.is_ascii_graphic() && !b"=*?[]".contains(byte);
    !name.is_empty() && name.iter().all(fits)
}
