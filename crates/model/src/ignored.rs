//! Which files the ignore files of a folder exclude: `.ignore`, `.gitignore` and `.git/info/exclude`.
//!
//! **Problem.** An ignore file belongs to a repository that was cloned a minute ago, and is read before anyone decided about it. Each
//! file of a search is compared with each of its patterns.
//!
//! **Decision.** There is one reader with one set of limits: bytes and patterns of a file, and those of a [`PatternBudget`] for a
//! search. A file beyond a limit ignores nothing and is named to the caller. The caller opens the files, as this crate does no I/O:
//! regular ones only, and no more than [`MAX_IGNORE_FILE`] bytes. It also watches the clock between two entries, as the limits bound
//! the work for one.

use std::{
    path::{Path, PathBuf},
    rc::Rc,
};

use crate::{PatternBudget, ignore_line::IgnoreLine};

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
    folder: PathBuf,
    /// One list of patterns per kind of ignore file, the kind with precedence first.
    own: Vec<Vec<IgnoreLine>>,
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
        let own: Vec<Vec<IgnoreLine>> = kinds
            .map(|kind| {
                let path = folder.join(kind);
                match read(&path) {
                    IgnoreFile::Absent => Vec::new(),
                    IgnoreFile::Unread => self.leave_out(path),
                    IgnoreFile::Read(content) => self.patterns(path, &content),
                }
            })
            .collect();
        if !repository && own.iter().all(Vec::is_empty) {
            return above;
        }
        Some(Rc::new(IgnoreRules {
            folder: folder.to_owned(),
            own,
            repository,
            above,
        }))
    }

    fn leave_out(&mut self, path: PathBuf) -> Vec<IgnoreLine> {
        if self.unused.len() < MAX_UNUSED {
            self.unused.push(path);
        }
        Vec::new()
    }

    fn patterns(&mut self, path: PathBuf, content: &[u8]) -> Vec<IgnoreLine> {
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
        patterns.into_iter().filter_map(IgnoreLine::read).collect()
    }
}

impl IgnoreRules {
    /// Whether the rules exclude a file or folder. Its path starts like those of the folders that the rules were made from.
    #[must_use]
    pub fn exclude(self: &Rc<Self>, path: &Path, is_folder: bool) -> bool {
        for kind in 0..self.own.len() {
            let mut next = Some(self);
            while let Some(level) = next {
                let below = path.strip_prefix(&level.folder).unwrap_or(path);
                let below = below.as_os_str().as_encoded_bytes();
                let mut lines = level.own.get(kind).into_iter().flatten().rev();
                if let Some(last) = lines.find(|line| line.matches(below, is_folder)) {
                    return !last.includes;
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
