//! Looking for files and for lines in them.
//!
//! **Problem.** A skill that may read `./src/**` asks for `**/*.rs` of the project. Whether that is permitted can't be told
//! before it is known what is there, and nothing that may not be read may be listed either.
//!
//! **Decision.** The permit says that something below the folder may be read; each hit is then judged like a file
//! that is read by itself, and what doesn't pass was never there. No link is followed, not even one that is put in
//! the place of a folder meanwhile: a hit counts only if it can be reached by its very name. What `.gitignore` leaves out is
//! left out, and hidden files are, unless the pattern names one.

use std::{
    collections::HashSet,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{DirEntry, WalkBuilder};
use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::OFlags;

use crate::world::{Done, World, WorldError, files};

/// How many files are found, and how many lines in files.
const MAX_PATHS: usize = 1_000;
const MAX_MATCHES: usize = 500;
/// How much of a line is shown, in characters.
const MAX_LINE: usize = 400;
/// Larger files are passed over, in bytes; and how much is read in all.
const MAX_FILE: u64 = 2 << 20;
const MAX_READ: u64 = 512 << 20;
/// How many files and folders are looked at.
const MAX_ENTRIES: usize = 100_000;
/// The longest pattern, and the largest program that it may become, both in bytes.
const MAX_PATTERN: usize = 2_000;
const MAX_PROGRAM: usize = 1 << 20;

/// A line that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The file, absolute.
    pub path: PathBuf,
    /// The line's number, from 1.
    pub line: u64,
    /// The beginning of the line.
    pub text: String,
}

impl World<'_> {
    /// Files in a folder whose names match.
    pub(super) fn find(
        &self,
        folder: &Path,
        pattern: &str,
        timeout: Duration,
    ) -> Result<Done, WorldError> {
        let glob = glob(pattern)?;
        let mut paths = Vec::new();
        let hidden = names_hidden(pattern);
        let truncated = self.walk(folder, hidden, timeout, |entry, below| {
            if glob.is_match(below) && files::is_there(entry.path()) {
                paths.push(entry.into_path());
            }
            paths.len() <= MAX_PATHS
        })?;
        let truncated = truncated || paths.len() > MAX_PATHS;
        paths.truncate(MAX_PATHS);
        Ok(Done::Found { paths, truncated })
    }

    /// Lines that match, in a file or in the files of a folder.
    pub(super) fn search(
        &self,
        folder: &Path,
        pattern: &str,
        glob: Option<&str>,
        timeout: Duration,
    ) -> Result<Done, WorldError> {
        let regex = regex(pattern)?;
        let hidden = glob.is_some_and(names_hidden);
        // As people mean it: without a slash it is about names, wherever they are.
        let anywhere = glob.filter(|glob| !glob.contains('/'));
        let anywhere = anywhere.map(|glob| format!("**/{glob}"));
        let glob = anywhere.as_deref().or(glob).map(self::glob).transpose()?;
        let mut matches = Vec::new();
        let mut left = MAX_READ;
        let truncated = self.walk(folder, hidden, timeout, |entry, below| {
            let wanted = glob.as_ref().is_none_or(|glob| glob.is_match(below));
            if wanted && let Some(text) = text(entry.path()) {
                left = left.saturating_sub(text.len() as u64);
                lines(entry.path(), &text, &regex, &mut matches);
            }
            left > 0 && matches.len() <= MAX_MATCHES
        })?;
        let truncated = truncated || matches.len() > MAX_MATCHES;
        matches.truncate(MAX_MATCHES);
        Ok(Done::Matches { matches, truncated })
    }

    /// Shows every file that may be read, with its path below the folder, until told that it is enough; whether something
    /// was left out.
    fn walk(
        &self,
        folder: &Path,
        hidden: bool,
        timeout: Duration,
        mut show: impl FnMut(DirEntry, &Path) -> bool,
    ) -> Result<bool, WorldError> {
        let never: HashSet<PathBuf> = self.denied().into_iter().collect();
        if folder.ancestors().any(|above| never.contains(above)) {
            return Err(WorldError::Never {
                path: folder.to_owned(),
                what: "read",
            });
        }
        // Fails where there is a link on the way, or nothing.
        files::look(folder)?;
        let began = Instant::now();
        let mut left = MAX_ENTRIES;
        let git = folder.iter().any(|name| name == ".git");
        let walk = WalkBuilder::new(folder)
            .hidden(!hidden)
            .follow_links(false)
            .git_global(false)
            .require_git(false)
            .sort_by_file_name(Ord::cmp)
            .filter_entry(move |entry| {
                !never.contains(entry.path()) && (git || entry.file_name() != ".git")
            })
            .build();
        for entry in walk.flatten() {
            if left == 0 || began.elapsed() > timeout {
                return Ok(true);
            }
            left -= 1;
            let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
            if !is_file || !self.grant.may_read(entry.path()) {
                continue;
            }
            let path = entry.path().to_owned();
            let below = path.strip_prefix(folder).unwrap_or(&path);
            // A file that is searched by itself has its name.
            let below = match below.as_os_str().is_empty() {
                true => path.file_name().map_or(below, Path::new),
                false => below,
            };
            if !show(entry, below) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether a pattern asks for names that begin with a dot.
fn names_hidden(pattern: &str) -> bool {
    let mut parts = pattern.split(['/', '{', ',']);
    parts.any(|part| part.len() > 1 && part.starts_with('.') && part != "..")
}

fn glob(pattern: &str) -> Result<GlobMatcher, WorldError> {
    check(pattern)?;
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    let glob = GlobBuilder::new(plain).literal_separator(true).build();
    glob.map(|glob| glob.compile_matcher())
        .map_err(|error| unclear(pattern, error.kind()))
}

fn regex(pattern: &str) -> Result<Regex, WorldError> {
    check(pattern)?;
    let regex = RegexBuilder::new(pattern).size_limit(MAX_PROGRAM).build();
    regex.map_err(|error| unclear(pattern, &error))
}

fn check(pattern: &str) -> Result<(), WorldError> {
    if pattern.is_empty() || pattern.len() > MAX_PATTERN {
        let why = format!(
            "it has {} bytes, and may have 1 to {MAX_PATTERN}",
            pattern.len()
        );
        return Err(unclear(&pattern.chars().take(80).collect::<String>(), &why));
    }
    Ok(())
}

fn unclear(pattern: &str, why: &impl std::fmt::Display) -> WorldError {
    WorldError::Pattern {
        pattern: pattern.to_owned(),
        why: why.to_string(),
    }
}

/// The content of a file that is small enough and text.
fn text(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(files::open(path, flags).ok()?);
    let found = file.metadata().ok()?;
    if !found.is_file() || found.len() > MAX_FILE {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes).ok()?;
    let fits = bytes.len() as u64 <= MAX_FILE && memchr::memchr(0, &bytes).is_none();
    fits.then_some(bytes)
}

/// Adds the lines that match, and not many more than are wanted.
fn lines(path: &Path, text: &[u8], regex: &Regex, matches: &mut Vec<Match>) {
    let mut rest = text;
    let mut number = 0;
    while !rest.is_empty() && matches.len() <= MAX_MATCHES {
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        let (line, after) = rest.split_at(end);
        rest = after.get(1..).unwrap_or_default();
        number += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if regex.is_match(line) {
            matches.push(Match {
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
