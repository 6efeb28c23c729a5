//! What is written down about a change before it happens.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use crate::object::{self, Identity, NewContent};

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
    /// What was done, as a person would say it: `install pdf`.
    pub title: String,
    /// When, as text.
    pub at: String,
    /// The change that this one took back, if it did.
    pub undoes: Option<ChangeId>,
    pub(crate) steps: Vec<Step>,
}

impl Change {
    /// The places that it changed.
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
    /// The new content; `None` if there shall be nothing.
    pub(crate) new: Option<Identity>,
    /// What was there when the change was prepared.
    pub(crate) old: Option<Identity>,
    /// The earlier object of which the new content is a copy, if it was put back.
    pub(crate) stands_for: Option<Identity>,
    /// Where the old content is kept.
    pub(crate) kept: PathBuf,
}

/// Writes a record, whole or not at all, and waits until it is on the disk.
pub(crate) fn write(path: &Path, change: &Change) -> io::Result<()> {
    let part = path.with_extension("part");
    object::remove(&part)?;
    let text = serde_json::to_vec_pretty(change)?;
    let written = object::create(&part, &NewContent::File(text))
        .and_then(|()| object::sync(&part))
        .and_then(|()| fs::rename(&part, path))
        .and_then(|()| object::sync_parent(path));
    if written.is_err() {
        object::remove(&part).ok();
    }
    written
}

/// Writes a record that is waited for later, with [`sync`]. After a loss of power it can be there and empty.
pub(crate) fn note(path: &Path, change: &Change) -> io::Result<()> {
    fs::write(path, serde_json::to_vec_pretty(change)?)
}

/// Waits until a record is on the disk.
pub(crate) fn sync(path: &Path) -> io::Result<()> {
    object::sync(path)?;
    object::sync_parent(path)
}

pub(crate) fn read(path: &Path) -> io::Result<Change> {
    Ok(serde_json::from_slice(&fs::read(path)?)?)
}

/// The records in a folder, the oldest first; files of other names are none.
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
