//! The files that a search leaves out: `.ignore`, `.gitignore` and `.git/info/exclude`.
//!
//! The limits and the rules are those of [`IgnoreReader`]. This module opens the files like any other untrusted file: regular files
//! only, without a link on the path. Any other ignore file ignores nothing, and the search reports it.

use std::{path::Path, rc::Rc};

use metier_model::{IgnoreFile, IgnoreReader, IgnoreRules, MAX_IGNORE_FILE};

use crate::execution::files;

/// Ignore files by priority.
pub(super) const KINDS: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// The rules for the entries of a folder, from the ignore files in it and in all folders above.
pub(super) fn rules_for(reader: &mut IgnoreReader, folder: &Path) -> Option<Rc<IgnoreRules>> {
    let mut folders: Vec<&Path> = folder.ancestors().collect();
    folders.reverse();
    let into = |rules, folder: &&Path| below(reader, folder, rules);
    folders.iter().fold(None, into)
}

/// The rules in a folder: those of the folder above, if it has none itself.
pub(super) fn below(
    reader: &mut IgnoreReader,
    folder: &Path,
    above: Option<Rc<IgnoreRules>>,
) -> Option<Rc<IgnoreRules>> {
    let repository = files::is_there(&folder.join(".git"));
    reader.below(
        folder,
        repository,
        above,
        |path| match files::read_regular(path, MAX_IGNORE_FILE) {
            Some(content) => IgnoreFile::Read(content),
            None if files::is_there(path) => IgnoreFile::Unread,
            None => IgnoreFile::Absent,
        },
    )
}
