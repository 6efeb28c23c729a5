//! Which files the ignore files of a folder exclude: `.ignore`, `.gitignore` and `.git/info/exclude`.
//!
//! **Problem.** An ignore file belongs to a repository that was cloned a minute ago, and is read before anyone decided about it. Each
//! pattern becomes part of an automaton: one megabyte of lines with one character takes half a gigabyte.
//!
//! **Decision.** There is one reader with one set of limits: bytes and patterns of a file, and those of a [`PatternBudget`] for a
//! search. A file beyond a limit ignores nothing and is named to the caller. The caller opens the files, as this crate does no I/O:
//! regular ones only, and no more than [`MAX_IGNORE_FILE`] bytes. It also watches the clock between two entries, as the limits bound
//! the work for one.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use crate::PatternBudget;

/// The largest ignore file that counts, in bytes.
pub const MAX_IGNORE_FILE: u64 = 128 << 10;
/// Patterns in one ignore file.
const MAX_PATTERNS: usize = 2_000;
/// The limits of a file, for messages.
pub const IGNORE_FILE_RULE: &str = "it must be a regular file of at most 128 KB and 2,000 patterns, \
     each with at most 1,000 bytes, 16 braces and 200 commas, and all such files together have at most 10,000 patterns of 256 KB";
/// How many unused ignore files are named.
const MAX_UNUSED: usize = 10;

/// The object in a folder in place of an ignore file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IgnoreFile {
    /// There is nothing.
    Absent,
    /// It is not a regular file, too large, or can't be read.
    Unread,
    /// Its content.
    Read(Vec<u8>),
}

/// The ignore files of a folder, and those of the folders above it.
#[derive(Debug)]
pub struct IgnoreRules {
    /// One list of patterns per kind of ignore file, the kind with precedence first.
    own: Vec<Option<Gitignore>>,
    /// Whether a repository starts here: ignore rules further up do not apply to it.
    repository: bool,
    above: Option<Rc<IgnoreRules>>,
}

/// Makes rules from ignore files, up to the limits of patterns.
#[derive(Debug)]
pub struct IgnoreReader {
    kinds: &'static [&'static str],
    budget: PatternBudget,
    unused: Vec<PathBuf>,
}

impl IgnoreReader {
    /// For ignore files of these names. The first kind has precedence, whichever folder it is in; it is the one that has nothing to do
    /// with git, so it also applies to repositories inside the folder.
    #[must_use]
    pub fn new(kinds: &'static [&'static str]) -> Self {
        Self {
            kinds,
            budget: PatternBudget::default(),
            unused: Vec::new(),
        }
    }

    /// The first ignore files that exist and are not used.
    #[must_use]
    pub fn into_unused(self) -> Vec<PathBuf> {
        self.unused
    }

    /// The rules in a folder: those of the folder above, if it has none itself.
    pub fn below(
        &mut self,
        folder: &Path,
        repository: bool,
        above: Option<Rc<IgnoreRules>>,
        read: impl Fn(&Path) -> IgnoreFile,
    ) -> Option<Rc<IgnoreRules>> {
        let kinds = self.kinds.iter();
        let own: Vec<Option<Gitignore>> = kinds
            .map(|kind| {
                let path = folder.join(kind);
                match read(&path) {
                    IgnoreFile::Absent => None,
                    IgnoreFile::Unread => self.leave_out(path),
                    IgnoreFile::Read(content) => self.patterns(folder, path, &content),
                }
            })
            .collect();
        if !repository && own.iter().all(Option::is_none) {
            return above;
        }
        Some(Rc::new(IgnoreRules {
            own,
            repository,
            above,
        }))
    }

    fn leave_out(&mut self, path: PathBuf) -> Option<Gitignore> {
        if self.unused.len() < MAX_UNUSED {
            self.unused.push(path);
        }
        None
    }

    /// A line that is not a pattern is skipped, as git does.
    fn patterns(&mut self, folder: &Path, path: PathBuf, content: &[u8]) -> Option<Gitignore> {
        if content.len() as u64 > MAX_IGNORE_FILE {
            return self.leave_out(path);
        }
        let text = String::from_utf8_lossy(content);
        let is_pattern = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
        let lines = text.trim_start_matches('\u{feff}').lines();
        let patterns: Vec<&str> = lines.filter(is_pattern).collect();
        let mut budget = self.budget.clone();
        let is_beyond = |line: &&str| budget.accept(line).is_err();
        if patterns.len() > MAX_PATTERNS || patterns.iter().any(is_beyond) {
            return self.leave_out(path);
        }
        self.budget = budget;
        let mut builder = GitignoreBuilder::new(folder);
        for line in patterns {
            builder.add_line(None, line).ok();
        }
        builder.build().ok().filter(|rules| !rules.is_empty())
    }
}

impl IgnoreRules {
    /// Whether the rules exclude a file or folder. Its path starts like those of the folders that the rules were made from.
    #[must_use]
    pub fn exclude(self: &Rc<Self>, path: &Path, is_folder: bool) -> bool {
        for kind in 0..self.own.len() {
            let mut next = Some(self);
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of files that are not used, of some with this content.
    fn unused(files: usize, content: &str) -> usize {
        let mut reader = IgnoreReader::new(&[".gitignore"]);
        for number in 0..files {
            let folder = PathBuf::from(format!("f{number}"));
            reader.below(&folder, false, None, |_| {
                IgnoreFile::Read(content.as_bytes().into())
            });
        }
        reader.into_unused().len()
    }

    // case 230
    #[test]
    fn each_limit_leaves_a_file_out_and_names_it() {
        for (files, content, expected) in [
            (1, "?\n".repeat(2_000), 0),
            (1, "?\n".repeat(2_001), 1),
            (1, "#\n".repeat(60_000), 0),
            (1, "#\n".repeat(70_000), 1),
            (5, "?\n".repeat(2_000), 0),
            (6, "?\n".repeat(2_000), 1),
            (100, "?\n".repeat(3_000), MAX_UNUSED),
            (1, "{".repeat(60_000) + "a,b" + &"}".repeat(60_000), 1),
            (1, "?".repeat(1_001), 1),
            (27, ("?".repeat(999) + "\n").repeat(10), 1),
        ] {
            assert_eq!(unused(files, &content), expected, "{files}");
        }
    }

    #[test]
    fn a_file_that_was_not_read_ignores_nothing_and_is_named() {
        let mut reader = IgnoreReader::new(&[".ignore", ".gitignore"]);
        let rules = reader.below(Path::new("a"), false, None, |path| {
            match path.ends_with(".ignore") {
                true => IgnoreFile::Unread,
                false => IgnoreFile::Absent,
            }
        });
        assert!(rules.is_none());
        assert_eq!(reader.into_unused(), [Path::new("a/.ignore")]);
    }
}
