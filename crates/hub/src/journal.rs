//! The record of a change, written before the change is made.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use crate::object::{self, Identity};

/// The number of a change; later changes have higher ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChangeId(pub(crate) u64);

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ChangeId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// A change of several places, which happened as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its number.
    pub id: ChangeId,
    /// The action in the user's words: `install pdf`.
    pub title: String,
    /// The time, as text.
    pub at: String,
    /// The earlier change that this one undid, if it did.
    pub undoes: Option<ChangeId>,
    pub(crate) steps: Vec<Step>,
}

impl Change {
    /// The places that the change replaced.
    pub fn places(&self) -> impl Iterator<Item = &Path> {
        self.steps.iter().map(|step| step.target.as_path())
    }
}

/// One place of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) target: PathBuf,
    /// Beside the target: first the new content, then, until it is moved away, the old one.
    pub(crate) staged: PathBuf,
    /// The new content; `None` if the place ends up empty.
    pub(crate) new: Option<Identity>,
    /// The object that was there when the change was prepared.
    pub(crate) old: Option<Identity>,
    /// The earlier object that the new content is a copy of, if it was restored.
    pub(crate) stands_for: Option<Identity>,
    /// Where the old content is kept.
    pub(crate) kept: PathBuf,
}

/// Writes a record without waiting for the disk: after a power loss it can exist and be empty.
pub(crate) fn note(path: &Path, change: &Change) -> io::Result<()> {
    fs::write(path, serde_json::to_vec_pretty(change)?)
}

/// The name of a record until it is complete on the disk.
pub(crate) fn part(path: &Path) -> PathBuf {
    path.with_extension("part")
}

/// Gives a record that is on the disk as its [`part`] its final name, and waits until that name is on the disk too.
pub(crate) fn publish(path: &Path) -> io::Result<()> {
    fs::rename(part(path), path)?;
    object::sync_parent(path)
}

pub(crate) fn read(path: &Path) -> io::Result<Change> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

/// The records in a folder, the oldest first. Files with other names are ignored.
pub(crate) fn ids(folder: &Path) -> io::Result<Vec<ChangeId>> {
    let mut ids = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(".json"));
        ids.extend(stem.and_then(|stem| stem.parse::<ChangeId>().ok()));
    }
    ids.sort_unstable();
    Ok(ids)
}
