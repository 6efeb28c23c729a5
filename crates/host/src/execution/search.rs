//! Searching for files, and for lines in them.
//!
//! **Problem.** A skill that can read `./src/**` requests `**/*.rs` of the project. Whether that is permitted depends on the files
//! that exist, and unreadable files must not be listed either.
//!
//! **Decision.** The permit states that a part of the folder can be read; each hit is then checked like a single file, and
//! hits that don't pass are omitted. No link is followed, not even one that replaces a folder meanwhile: a hit counts only if it
//! can be reached by exactly its name. Files in `.gitignore` are omitted, and so are hidden files, unless the pattern names one.
//!
//! The folder can be untrusted: a million files in one place, a thousand nested folders, ignore files that are devices. The walk
//! reads no more entries than it can show, it uses its own list instead of the stack, and the clock is checked between any two
//! entries and lines.

use std::{
    ffi::OsString,
    fs::{self, FileType},
    io,
    path::{Path, PathBuf},
    rc::Rc,
    time::{Duration, Instant},
    vec,
};

use globset::{GlobBuilder, GlobMatcher};
use metier_model::{IgnoreReader, IgnoreRules, PatternBudget};
use regex::bytes::{Regex, RegexBuilder};

use crate::{
    execution::{ActExecutor, ActResult, ExecutionError, files, ignored},
    sandbox::{DeniedPlaces, NameSet},
};

/// The maximum number of files, and of lines in files.
const MAX_PATHS: usize = 1_000;
const MAX_MATCHES: usize = 500;
/// How many bytes of a line are searched, and how many characters of it are shown.
const MAX_SEARCHED: usize = 64 << 10;
const MAX_LINE: usize = 400;
/// The size in bytes above which a file is skipped; and how many bytes are read in total.
const MAX_FILE: u64 = 2 << 20;
const MAX_READ: u64 = 512 << 20;
/// Maximum length of a path in the kernel, in bytes.
const MAX_PATH: usize = 4_096;
/// The maximum number of visited files and folders.
const MAX_ENTRIES: usize = 100_000;
/// The longest pattern, and the largest program that it is compiled to, both in bytes.
const MAX_PATTERN: usize = 2_000;
const MAX_PROGRAM: usize = 1 << 20;

/// A line that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchMatch {
    /// Absolute path of the file.
    pub path: PathBuf,
    /// The line's number, from 1.
    pub line: u64,
    /// The beginning of the line.
    pub text: String,
}

impl ActExecutor {
    /// Files in a folder whose names match.
    pub(super) fn find(
        &self,
        folder: &Path,
        pattern: &str,
        timeout: Duration,
    ) -> Result<ActResult, ExecutionError> {
        let glob = glob(pattern)?;
        let mut paths = Vec::new();
        let hidden = names_hidden(pattern);
        let until = Instant::now() + timeout;
        let walked = self.walk(folder, hidden, until, |path, below| {
            if glob.is_match(below) && files::is_there(path) {
                paths.push(path.to_owned());
            }
            paths.len() <= MAX_PATHS
        });
        let Walked { truncated, unused } = match walked {
            // A missing folder has no files.
            Err(ExecutionError::File { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Walked::default()
            }
            walked => walked?,
        };
        let truncated = truncated || paths.len() > MAX_PATHS;
        paths.truncate(MAX_PATHS);
        Ok(ActResult::Found {
            paths,
            truncated,
            unused,
        })
    }

    /// Lines that match, in a file or in the files of a folder.
    pub(super) fn search(
        &self,
        folder: &Path,
        pattern: &str,
        glob: Option<&str>,
        timeout: Duration,
    ) -> Result<ActResult, ExecutionError> {
        let regex = regex(pattern)?;
        let hidden = glob.is_some_and(names_hidden);
        // As users expect: a pattern without a slash matches names in any folder.
        let anywhere = glob.filter(|glob| !glob.contains('/'));
        let anywhere = anywhere.map(|glob| format!("**/{glob}"));
        let glob = anywhere.as_deref().or(glob).map(self::glob).transpose()?;
        let mut matches = Vec::new();
        let mut left = MAX_READ;
        let until = Instant::now() + timeout;
        let Walked { truncated, unused } = self.walk(folder, hidden, until, |path, below| {
            let wanted = glob.as_ref().is_none_or(|glob| glob.is_match(below));
            if wanted && let Some(text) = text(path) {
                left = left.saturating_sub(text.len() as u64);
                lines(path, &text, &regex, until, &mut matches);
            }
            left > 0 && matches.len() <= MAX_MATCHES
        })?;
        let truncated = truncated || matches.len() > MAX_MATCHES || Instant::now() > until;
        matches.truncate(MAX_MATCHES);
        Ok(ActResult::Matches {
            matches,
            truncated,
            unused,
        })
    }

    /// Passes every readable file to the visitor, with its path below the folder, until the visitor stops it.
    fn walk(
        &self,
        folder: &Path,
        hidden: bool,
        until: Instant,
        mut show: impl FnMut(&Path, &Path) -> bool,
    ) -> Result<Walked, ExecutionError> {
        let never = self.never_read();
        if never.cover(folder) {
            return Err(ExecutionError::Never {
                path: folder.to_owned(),
                what: "read",
            });
        }
        // Fails if there is a link on the path, or no file.
        files::look(folder)?;
        if !folder.is_dir() {
            // The hit of a searched file has the file's own name.
            let name = folder.file_name().map_or(folder, Path::new);
            return Ok(Walked {
                truncated: self.grant.may_read(folder) && !show(folder, name),
                unused: Vec::new(),
            });
        }
        let mut walk = SearchWalk::new(folder, &self.grant.terms().project, hidden, &never);
        while let Some((path, kind)) = walk.next() {
            if Instant::now() > until {
                walk.truncated = true;
                break;
            }
            if kind.is_dir() {
                walk.enter(&path);
                continue;
            }
            let below = path.strip_prefix(folder).unwrap_or(&path);
            if kind.is_file() && self.grant.may_read(&path) && !show(&path, below) {
                walk.truncated = true;
                break;
            }
        }
        Ok(Walked {
            truncated: walk.truncated,
            unused: walk.ignore.into_unused(),
        })
    }
}

/// The result of a walk.
#[derive(Default)]
struct Walked {
    /// Whether the result is incomplete.
    truncated: bool,
    /// Ignore files that exist and are not used.
    unused: Vec<PathBuf>,
}

/// The entries of a folder and of all folders in it, sorted, without those that are hidden or ignored.
struct SearchWalk<'n> {
    /// The open folders, with the remaining entries of each.
    open: Vec<OpenFolder>,
    never: &'n DeniedPlaces,
    hidden: bool,
    git: bool,
    ignore: IgnoreReader,
    /// How many entries may still be read.
    left: usize,
    truncated: bool,
}

struct OpenFolder {
    path: PathBuf,
    /// How it, or a folder above it, compares names.
    names: NameSet,
    entries: vec::IntoIter<(OsString, FileType)>,
    rules: Option<Rc<IgnoreRules>>,
}

impl<'n> SearchWalk<'n> {
    fn new(folder: &Path, project: &Path, hidden: bool, never: &'n DeniedPlaces) -> Self {
        let mut walk = Self {
            open: Vec::new(),
            never,
            hidden,
            git: folder.iter().any(|name| name == ".git"),
            ignore: IgnoreReader::new(&ignored::KINDS),
            left: MAX_ENTRIES,
            truncated: false,
        };
        let rules = ignored::rules_for(&mut walk.ignore, folder, project);
        walk.open(folder, rules);
        walk
    }

    /// Enters a folder that was found.
    fn enter(&mut self, folder: &Path) {
        let above = self.open.last().and_then(|open| open.rules.clone());
        let rules = ignored::below(&mut self.ignore, folder, above);
        self.open(folder, rules);
    }

    fn open(&mut self, folder: &Path, rules: Option<Rc<IgnoreRules>>) {
        // A folder that can't be read, or whose path is too long, contains nothing that could be found.
        let Ok(listed) = fs::read_dir(folder) else {
            self.truncated |= folder.as_os_str().len() >= MAX_PATH;
            return;
        };
        let mut entries: Vec<(OsString, FileType)> = listed
            .take(self.left + 1)
            .filter_map(Result::ok)
            .filter_map(|entry| Some((entry.file_name(), entry.file_type().ok()?)))
            .collect();
        self.truncated |= entries.len() > self.left;
        entries.truncate(self.left);
        self.left -= entries.len();
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        self.open.push(OpenFolder {
            path: folder.to_owned(),
            names: match self.open.last().map(|above| above.names) {
                Some(NameSet::Folded) => NameSet::Folded,
                Some(NameSet::Exact) => NameSet::of(folder),
                None => DeniedPlaces::names_above(&folder.join("x")),
            },
            entries: entries.into_iter(),
            rules,
        });
    }

    fn next(&mut self) -> Option<(PathBuf, FileType)> {
        loop {
            let folder = self.open.last_mut()?;
            let Some((name, kind)) = folder.entries.next() else {
                self.open.pop();
                continue;
            };
            let path = folder.path.join(&name);
            let is_hidden = name.as_encoded_bytes().starts_with(b".") && !self.hidden;
            let is_git = name == ".git" && !self.git;
            if is_hidden || is_git || self.never.cover_in(&path, folder.names) {
                continue;
            }
            let rules = folder.rules.as_ref();
            if !rules.is_some_and(|rules| rules.exclude(&path, kind.is_dir())) {
                return Some((path, kind));
            }
        }
    }
}

/// Whether a pattern matches names that start with a dot.
fn names_hidden(pattern: &str) -> bool {
    let mut parts = pattern.split(['/', '{', ',']);
    parts.any(|part| part.len() > 1 && part.starts_with('.') && part != "..")
}

fn glob(pattern: &str) -> Result<GlobMatcher, ExecutionError> {
    check(pattern)?;
    // The compiler panics where a pattern is too large for it.
    let accepted = PatternBudget::default().accept(pattern);
    accepted.map_err(|excess| unclear(pattern, &excess))?;
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    let glob = GlobBuilder::new(plain).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| unclear(pattern, error.kind()))
}

fn regex(pattern: &str) -> Result<Regex, ExecutionError> {
    check(pattern)?;
    let regex = RegexBuilder::new(pattern).size_limit(MAX_PROGRAM).build();
    regex.map_err(|error| unclear(pattern, &error))
}

fn check(pattern: &str) -> Result<(), ExecutionError> {
    if pattern.is_empty() || pattern.len() > MAX_PATTERN {
        let why = format!(
            "it is {} bytes; 1 to {MAX_PATTERN} are allowed",
            pattern.len()
        );
        return Err(unclear(&pattern.chars().take(80).collect::<String>(), &why));
    }
    Ok(())
}

fn unclear(pattern: &str, why: &impl std::fmt::Display) -> ExecutionError {
    ExecutionError::Pattern {
        pattern: pattern.to_owned(),
        why: why.to_string(),
    }
}

/// The content of a file that is small enough and is text.
fn text(path: &Path) -> Option<Vec<u8>> {
    files::read_regular(path, MAX_FILE).filter(|bytes| memchr::memchr(0, bytes).is_none())
}

/// Adds the lines that match, up to about the limit.
fn lines(path: &Path, text: &[u8], regex: &Regex, until: Instant, matches: &mut Vec<SearchMatch>) {
    let mut rest = text;
    let mut number = 0;
    while !rest.is_empty() && matches.len() <= MAX_MATCHES && Instant::now() <= until {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = after.get(1..).unwrap_or_default();
        number += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if regex.is_match(line.get(..MAX_SEARCHED).unwrap_or(line)) {
            matches.push(SearchMatch {
                path: path.to_owned(),
                line: number,
                text: String::from_utf8_lossy(line)
                    .chars()
                    .take(MAX_LINE)
                    .collect(),
            });
        }
    }
}
