//! The files that a search leaves out: `.ignore`, `.gitignore` and `.git/info/exclude`.
//!
//! Any of them can be a FIFO, a device, a link to one, or a gigabyte, in a repository that was cloned a minute ago. So they are
//! read like any other untrusted file: regular files only, without a link on the path, up to a limit. Any other ignore file ignores
//! nothing, and the search reports it.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::execution::files;

/// The largest ignore file that counts, in bytes.
const MAX_FILE: u64 = 128 << 10;
/// Patterns in one ignore file, and in all files that one search reads: each pattern becomes part of an automaton.
const MAX_PATTERNS: usize = 2_000;
const MAX_ALL: usize = 10_000;
/// How many unused ignore files are named.
const MAX_UNUSED: usize = 10;

/// Ignore files by priority: the first kind that matches decides, whichever folder it is in.
const KINDS: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];

/// The ignore files of a folder, and those of the folders above it.
#[derive(Debug)]
pub(super) struct IgnoreRules {
    /// One list of patterns per kind of ignore file.
    own: [Option<Gitignore>; 3],
    /// Whether a repository starts here: ignore rules further up do not apply to it.
    repository: bool,
    above: Option<Rc<IgnoreRules>>,
}

/// Reads ignore files up to the limit of patterns.
#[derive(Debug)]
pub(super) struct IgnoreReader {
    left: usize,
    unused: Vec<PathBuf>,
}

impl IgnoreReader {
    pub(super) fn new() -> Self {
        Self {
            left: MAX_ALL,
            unused: Vec::new(),
        }
    }

    /// The first ignore files that exist and are not used.
    pub(super) fn into_unused(self) -> Vec<PathBuf> {
        self.unused
    }

    fn leave_out(&mut self, path: PathBuf) {
        if self.unused.len() < MAX_UNUSED {
            self.unused.push(path);
        }
    }

    /// The rules for the entries of a folder, from the ignore files in it and in all folders above.
    pub(super) fn rules_for(&mut self, folder: &Path) -> Option<Rc<IgnoreRules>> {
        let mut folders: Vec<&Path> = folder.ancestors().collect();
        folders.reverse();
        let below = |rules, folder: &&Path| self.below(folder, rules);
        folders.iter().fold(None, below)
    }

    /// The rules in a folder: those of the folder above, if it has none itself.
    pub(super) fn below(
        &mut self,
        folder: &Path,
        above: Option<Rc<IgnoreRules>>,
    ) -> Option<Rc<IgnoreRules>> {
        let repository = files::is_there(&folder.join(".git"));
        let own = KINDS.map(|kind| self.read(folder, kind));
        if !repository && own.iter().all(Option::is_none) {
            return above;
        }
        Some(Rc::new(IgnoreRules {
            own,
            repository,
            above,
        }))
    }

    /// A line that is not a pattern is skipped, as git does.
    fn read(&mut self, folder: &Path, kind: &str) -> Option<Gitignore> {
        let path = folder.join(kind);
        let Some(content) = files::read_regular(&path, MAX_FILE) else {
            if files::is_there(&path) {
                self.leave_out(path);
            }
            return None;
        };
        let text = String::from_utf8_lossy(&content);
        let is_pattern = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        let lines = text.trim_start_matches('\u{feff}').lines();
        let patterns: Vec<&str> = lines.filter(is_pattern).collect();
        if patterns.len() > MAX_PATTERNS.min(self.left) {
            self.leave_out(path);
            return None;
        }
        self.left -= patterns.len();
        let mut builder = GitignoreBuilder::new(folder);
        for line in patterns {
            builder.add_line(None, line).ok();
        }
        builder.build().ok().filter(|rules| !rules.is_empty())
    }
}

/// Whether a search leaves a file or folder out.
pub(super) fn is_ignored(rules: Option<&Rc<IgnoreRules>>, path: &Path, is_folder: bool) -> bool {
    for kind in 0..KINDS.len() {
        let mut next = rules;
        while let Some(level) = next {
            let own = level.own.get(kind).and_then(Option::as_ref);
            match own.map_or(Match::None, |own| own.matched(path, is_folder)) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
            let ends = kind > 0 && level.repository;
            next = level.above.as_ref().filter(|_| !ends);
        }
    }
    false
}
