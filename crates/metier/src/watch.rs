//! Watching the skills of a workspace: which ones were added, changed and removed.
//!
//! **Problem.** Editors save by renaming, folders appear and vanish, an unpacked archive is a flood of events, some file systems report none.
//! **Decision.** Events only wake [`LiveSkills`] up. It waits until nothing changes any more, lists the skills, and notes a new revision of each one
//! whose files changed. A watch compares the revisions that it reported with those of now, so that a slow one misses nothing and holds no queue.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use metier_catalog::Fingerprint;
use metier_runtime::Status;

use crate::{CurrentSkills, Error, LiveSkills, Skill, Workspace, watched_folders::WatchedChanges};

/// A watch on the skills of a workspace: it reports which ones were added, changed and removed. It can be sent to another thread.
///
/// ```no_run
/// use std::time::Duration;
///
/// # fn main() -> Result<(), metier::Error> {
/// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
/// let mut watch = workspace.watch()?;
/// while let Some(changes) = watch.next(Duration::from_secs(60)) {
///     for skill in &changes.changed {
///         println!("{} changed", skill.name);
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// `examples/watch.rs` is a program that prints all changes.
pub struct Watch {
    live: LiveSkills,
    known: Arc<SkillStates>,
}

/// A skill that was added, changed or removed.
///
/// An example is at [`Watch`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedSkill {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// Whether it can be used; for one that was removed, whether it could.
    pub status: Status,
}

/// The differences between two listings of the skills, each list in the order of the folders.
///
/// An example is at [`Watch`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillChanges {
    /// Skills that are new.
    pub added: Vec<WatchedSkill>,
    /// Skills with a file that changed, or with another status: trusted, disabled, shadowed, broken.
    pub changed: Vec<WatchedSkill>,
    /// Skills that were removed.
    pub removed: Vec<WatchedSkill>,
}

impl SkillChanges {
    /// Whether nothing was added, changed or removed. Those of [`Watch::next`] never are.
    ///
    /// An example of such changes is at [`Watch`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// The state of each skill, by its folder.
pub(crate) type SkillStates = BTreeMap<PathBuf, SkillState>;

#[derive(Clone, Debug)]
pub(crate) struct SkillState {
    pub(crate) name: String,
    pub(crate) status: Status,
    /// Counts the changes of its files.
    pub(crate) revision: u64,
    /// The state of its files; `None` if it can't be found out.
    pub(crate) files: Option<Fingerprint>,
}

impl SkillState {
    fn is_same(&self, other: &Self) -> bool {
        let key = |one: &Self| (one.status, one.revision);
        key(self) == key(other) && self.name == other.name
    }
}

impl Workspace {
    /// Watches the skills of this workspace, the places where skills can appear, and the configuration. Changes count from now on.
    ///
    /// Each call lists the skills and starts a thread; a program that also uses them calls [`Workspace::live`] once, and
    /// [`LiveSkills::watch`].
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let mut watch = workspace.watch()?;
    /// if let Some(changes) = watch.next(std::time::Duration::from_secs(60)) {
    ///     println!("{} added, {} changed, {} removed", changes.added.len(), changes.changed.len(), changes.removed.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skills can't be listed.
    pub fn watch(&self) -> Result<Watch, Error> {
        self.live()?.watch()
    }
}

impl LiveSkills {
    /// Reports changes from now on, a moment after they happened: what belongs together comes together. If the folders are still being prepared, this
    /// waits for it.
    ///
    /// An example is at [`Watch`].
    ///
    /// # Errors
    /// When the skills can't be listed.
    pub fn watch(&self) -> Result<Watch, Error> {
        Ok(Watch {
            known: self.reported()?,
            live: self.clone(),
        })
    }

    /// [`LiveSkills::watch`], starting with the changes since the first list was returned: folders are watched only after that, so a client
    /// that changes a skill as soon as it has the list would not be notified.
    ///
    /// An example is at [`Watch`].
    ///
    /// # Errors
    /// As for [`LiveSkills::watch`].
    pub fn watch_from_first_list(&self) -> Result<Watch, Error> {
        Ok(Watch {
            known: self.first_given_out()?,
            live: self.clone(),
        })
    }
}

impl Watch {
    /// The next changes; `None` if there are none for `timeout`. Changes that are still going on are awaited for up to two seconds more. While the
    /// configuration can't be read, there are no changes.
    ///
    /// An example is at [`Watch`].
    pub fn next(&mut self, timeout: Duration) -> Option<SkillChanges> {
        let now = self.live.await_report(&self.known, timeout)?;
        let changes = compare(&self.known, &now);
        self.known = now;
        (!changes.is_empty()).then_some(changes)
    }
}

pub(crate) fn compare(before: &SkillStates, after: &SkillStates) -> SkillChanges {
    let named = |path: &Path, state: &SkillState| WatchedSkill {
        name: state.name.clone(),
        path: path.to_owned(),
        status: state.status,
    };
    let mut changes = SkillChanges::default();
    for (path, state) in after {
        match before.get(path) {
            None => changes.added.push(named(path, state)),
            Some(old) if !old.is_same(state) => changes.changed.push(named(path, state)),
            Some(_) => {}
        }
    }
    let gone = before.iter().filter(|(path, _)| !after.contains_key(*path));
    changes.removed = gone.map(|(path, state)| named(path, state)).collect();
    changes
}

/// The state of each skill: that of its files is found out again where something changed.
pub(crate) fn states(
    now: &CurrentSkills,
    before: Option<&SkillStates>,
    changes: &WatchedChanges,
) -> SkillStates {
    let state = |skill: Skill<'_>| {
        let entry = skill.entry();
        let path = entry.place.path().into_owned();
        let old = before.and_then(|before| before.get(&path));
        let real = entry.real.as_deref().unwrap_or(&path);
        let (files, revision) = match old {
            Some(old) if !changes.touches(real) => (old.files, old.revision),
            old => {
                let files = entry.place.fingerprint().ok().flatten();
                let revision = old.map_or(0, |old| {
                    // A state that can't be compared counts as changed.
                    let is_same = files.is_some() && files == old.files;
                    old.revision + u64::from(!is_same)
                });
                (files, revision)
            }
        };
        let state = SkillState {
            name: skill.name().into_owned(),
            status: skill.status(),
            revision,
            files,
        };
        (path, state)
    };
    now.skills.all().map(state).collect()
}

/// The skills of a list that was returned, where the state of their files was read only later.
pub(crate) fn given_out(list: &CurrentSkills, later: &SkillStates) -> SkillStates {
    let state = |skill: Skill<'_>| {
        let path = skill.entry().place.path().into_owned();
        let later = later.get(&path);
        let state = SkillState {
            name: skill.name().into_owned(),
            status: skill.status(),
            revision: 0,
            files: later.and_then(|later| later.files),
        };
        (path, state)
    };
    list.skills.all().map(state).collect()
}

const _: () = {
    const fn is_sendable<T: Send>() {}
    is_sendable::<Watch>();
};

#[cfg(test)]
mod tests {
    use super::*;

    fn state(name: &str, status: Status, revision: u64) -> SkillState {
        SkillState {
            name: name.to_owned(),
            status,
            revision,
            files: None,
        }
    }

    #[test]
    fn skills_are_added_changed_and_removed() {
        let before = SkillStates::from([
            ("/a".into(), state("a", Status::Ready, 1)),
            ("/b".into(), state("b", Status::Ready, 1)),
            ("/c".into(), state("c", Status::Ready, 1)),
            ("/e".into(), state("e", Status::Ready, 1)),
        ]);
        let after = SkillStates::from([
            ("/a".into(), state("a", Status::Ready, 1)),
            ("/b".into(), state("b", Status::Disabled, 1)),
            ("/d".into(), state("d", Status::Ready, 1)),
            ("/e".into(), state("e", Status::Ready, 2)),
        ]);
        let changes = compare(&before, &after);
        let names = |skills: &[WatchedSkill]| {
            let names = skills.iter().map(|skill| skill.name.clone());
            names.collect::<String>()
        };
        assert_eq!(names(&changes.added), "d");
        assert_eq!(names(&changes.changed), "be");
        assert_eq!(names(&changes.removed), "c");
        assert!(compare(&after, &after).is_empty());
    }
}
