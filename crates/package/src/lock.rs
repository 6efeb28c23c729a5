//! `metier.lock`: the installed bytes of each skill, their source, and the approved permissions.
//!
//! One table for each skill, sorted, one line for each fact: two branches that install different skills merge without a conflict. It
//! contains no times, so that installing the same skill twice gives the same file.

use std::{collections::BTreeMap, fmt::Write as _, str::FromStr};

use metier_model::{Digest, text::visible};
use semver::Version;
use toml_edit::{Document, Item, Table, Value};

/// The version of the format that is written.
const FORMAT: i64 = 1;

const HEADER: &str = "\
# The skills that are installed here, and the digests of their files. Written by `metier`; commit it.
";

/// The installed skills, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    /// One entry for each skill.
    pub skills: BTreeMap<String, LockedSkill>,
}

/// One installed skill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockedSkill {
    /// The version that its manifest states.
    pub version: Option<Version>,
    /// Where it was installed from, as it can be typed again.
    pub source: String,
    /// The registry that it came from, if any: its other versions come only from there.
    pub registry: Option<String>,
    /// The commit, if it came from a git repository.
    pub commit: Option<String>,
    /// The digest of the archive, if the source is one.
    pub archive: Option<Digest>,
    /// The digest of its files, with the edits that the user accepted.
    pub tree: Digest,
    /// The digest of its files as they were installed, if the user accepted an edit since.
    pub original: Option<Digest>,
    /// The public key that signed it.
    pub signer: Option<String>,
    /// The permissions that were approved when it was installed, sorted.
    pub permissions: Vec<String>,
    /// The skills that it requires, sorted.
    pub requires: Vec<String>,
    /// The other agents whose folders contain it, sorted: `claude-code` for a link, `claude-code=copy` for a copy.
    pub agents: Vec<String>,
    /// The verdict of the scanner.
    pub verdict: VerdictWord,
    /// The rules that it used.
    pub rules: String,
}

/// The scanner's verdict about an installed skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictWord {
    /// No findings.
    Clean,
    /// Findings for information.
    Info,
    /// Warnings.
    Warning,
    /// A chain of evidence that blocks; the user accepted it.
    Critical,
    /// Not everything could be read; the user accepted it.
    Incomplete,
}

impl VerdictWord {
    const ALL: [(Self, &str); 5] = [
        (Self::Clean, "clean"),
        (Self::Info, "info"),
        (Self::Warning, "warning"),
        (Self::Critical, "critical"),
        (Self::Incomplete, "incomplete"),
    ];

    /// The name used in the file.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        let found = Self::ALL.iter().find(|(verdict, _)| *verdict == self);
        found.map_or("incomplete", |(_, word)| word)
    }
}

impl FromStr for Lock {
    type Err = LockError;

    /// Parses a lock file. An unknown part is an error: a pin that is ignored protects nothing.
    fn from_str(text: &str) -> Result<Self, LockError> {
        if let Some(line) = conflict_line(text) {
            return Err(LockError::Conflict { line });
        }
        let document = Document::parse(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            LockError::Syntax {
                line: line_of(text, offset),
                message: error.message().to_owned(),
            }
        })?;
        let mut skills = BTreeMap::new();
        let root = document.as_table();
        match root.get("version").and_then(Item::as_integer) {
            Some(FORMAT) => {}
            Some(other) => return Err(LockError::Format(other)),
            None => return Err(LockError::field("version", "is missing")),
        }
        for (key, item) in root {
            match (key, item.as_table()) {
                ("version", _) => {}
                ("skills", Some(table)) => {
                    for (name, item) in table {
                        let fields = item
                            .as_table()
                            .ok_or_else(|| LockError::field(name, "is not a table"))?;
                        skills.insert(name.to_owned(), read_skill(name, fields)?);
                    }
                }
                (key, _) => return Err(LockError::field(key, "is not a known field")),
            }
        }
        Ok(Self { skills })
    }
}

fn read_skill(name: &str, table: &Table) -> Result<LockedSkill, LockError> {
    const KNOWN: &[&str] = &[
        "version",
        "source",
        "registry",
        "commit",
        "archive",
        "tree",
        "original",
        "signer",
        "permissions",
        "requires",
        "agents",
        "verdict",
        "rules",
    ];
    let path = |key: &str| format!("skills.{name}.{key}");
    if let Some((key, _)) = table.iter().find(|(key, _)| !KNOWN.contains(key)) {
        return Err(LockError::field(&path(key), "is not a known field"));
    }
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(item) => match item.as_str() {
            Some(text) => Ok(Some(text.to_owned())),
            None => Err(LockError::field(&path(key), "is not a string")),
        },
    };
    let required = |key: &str| text(key)?.ok_or_else(|| LockError::field(&path(key), "is missing"));
    let digest = |key: &str| -> Result<Option<Digest>, LockError> {
        let wrong = |_| LockError::field(&path(key), "is not `sha256:` and 64 hexadecimal digits");
        text(key)?
            .map(|word| word.parse().map_err(wrong))
            .transpose()
    };
    let wrong_version = |_| LockError::field(&path("version"), "is not a version");
    let verdict = required("verdict")?;
    let verdict = VerdictWord::ALL.iter().find(|(_, word)| *word == verdict);
    Ok(LockedSkill {
        version: text("version")?
            .map(|version| version.parse().map_err(wrong_version))
            .transpose()?,
        source: required("source")?,
        registry: text("registry")?,
        commit: text("commit")?,
        archive: digest("archive")?,
        tree: digest("tree")?.ok_or_else(|| LockError::field(&path("tree"), "is missing"))?,
        original: digest("original")?,
        signer: text("signer")?,
        permissions: list(table, "permissions", &path)?,
        requires: list(table, "requires", &path)?,
        agents: list(table, "agents", &path)?,
        verdict: verdict
            .map(|(verdict, _)| *verdict)
            .ok_or_else(|| LockError::field(&path("verdict"), "is not a verdict"))?,
        rules: required("rules")?,
    })
}

fn list(table: &Table, key: &str, path: &dyn Fn(&str) -> String) -> Result<Vec<String>, LockError> {
    let Some(item) = table.get(key) else {
        return Ok(Vec::new());
    };
    let array = item.as_array();
    let words: Option<Vec<String>> = array.and_then(|array| {
        array
            .iter()
            .map(|v| v.as_str().map(str::to_owned))
            .collect()
    });
    words.ok_or_else(|| LockError::field(&path(key), "is not a list of strings"))
}

/// The line of the first mark that a merge left, counted from one.
fn conflict_line(text: &str) -> Option<usize> {
    let is_mark = |line: &str| {
        ["<<<<<<<", "=======", ">>>>>>>", "|||||||"]
            .iter()
            .any(|mark| line.starts_with(mark))
    };
    text.lines().position(is_mark).map(|line| line + 1)
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or_default();
    before.iter().filter(|&&byte| byte == b'\n').count() + 1
}

impl Lock {
    /// The file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = format!("{HEADER}version = {FORMAT}\n");
        for (name, skill) in &self.skills {
            // Writing to a string does not fail.
            let _ = write_skill(&mut out, name, skill);
        }
        out
    }
}

fn write_skill(out: &mut String, name: &str, skill: &LockedSkill) -> std::fmt::Result {
    let key = toml_edit::Key::new(name);
    writeln!(out, "\n[skills.{}]", key.display_repr())?;
    let quoted = |text: &str| Value::from(text).to_string().trim().to_owned();
    let mut field = |key: &str, value: Option<String>| match value {
        Some(value) => writeln!(out, "{key} = {}", quoted(&value)),
        None => Ok(()),
    };
    field("version", skill.version.as_ref().map(ToString::to_string))?;
    field("source", Some(skill.source.clone()))?;
    field("registry", skill.registry.clone())?;
    field("commit", skill.commit.clone())?;
    field("archive", skill.archive.map(|digest| digest.to_string()))?;
    field("tree", Some(skill.tree.to_string()))?;
    field("original", skill.original.map(|digest| digest.to_string()))?;
    field("signer", skill.signer.clone())?;
    field("verdict", Some(skill.verdict.as_str().to_owned()))?;
    field("rules", Some(skill.rules.clone()))?;
    for (key, words) in [
        ("permissions", &skill.permissions),
        ("requires", &skill.requires),
        ("agents", &skill.agents),
    ] {
        if words.is_empty() {
            continue;
        }
        writeln!(out, "{key} = [")?;
        for word in words {
            writeln!(out, "    {},", quoted(word))?;
        }
        writeln!(out, "]")?;
    }
    Ok(())
}

/// A lock file that can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// A merge left its marks.
    #[error("line {line}: the file contains marks of a merge conflict")]
    Conflict {
        /// Where the first one is.
        line: usize,
    },
    /// It is not TOML.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line of the mistake.
        line: usize,
        /// The parser's message.
        message: String,
    },
    /// A newer version of this program wrote it.
    #[error("the file has format {0}, this program reads format {FORMAT}")]
    Format(i64),
    /// A field is missing, unknown or of the wrong type.
    #[error("`{field}` {problem}")]
    Field {
        /// Its full name.
        field: String,
        /// The problem.
        problem: &'static str,
    },
}

impl LockError {
    fn field(field: &str, problem: &'static str) -> Self {
        Self::Field {
            field: visible(field).into_owned(),
            problem,
        }
    }
}
