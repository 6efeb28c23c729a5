//! The files that a search leaves out: `.ignore`, `.gitignore` and `.git/info/exclude`.
//!
//! The limits and the rules are those of [`IgnoreReader`]. This module opens the files like any other untrusted file: regular files
//! only, without a link on the path. Any other ignore file ignores nothing, and the search reports it.

use std::{path::Path, rc::Rc};

use metier_model::{IgnoreFile, IgnoreReader, IgnoreRules, MAX_IGNORE_FILE};

use crate::execution::files;

/// Ignore files by priority.
pub(super) const KINDS: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// The rules for the entries of a folder, from the ignore files in it and in the folders above, up to the project or, outside it, to the
/// top of the repository. Further up they could be another user's: anyone can write in `/tmp`.
pub(super) fn rules_for(
    reader: &mut IgnoreReader,
    folder: &Path,
    project: &Path,
) -> Option<Rc<IgnoreRules>> {
    let is_top = |above: &&Path| match folder.starts_with(project) {
        true => *above == project,
        false => files::is_there(&above.join(".git")),
    };
    let top = folder.ancestors().find(is_top).unwrap_or(folder);
    let within = |above: &&Path| above.starts_with(top);
    let mut folders: Vec<&Path> = folder.ancestors().take_while(within).collect();
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
