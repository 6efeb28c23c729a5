//! Watching the skills of a workspace.
//!
//! **Problem.** Editors save by renaming, folders appear and vanish, an unpacked archive is a flood of events, some file systems report none. What
//! an event means can't be told from the event. **Decision.** Events only wake the watch up. Then it waits until nothing changes any more, lists the
//! skills again, and compares the state of their files. Where a folder can't be watched, a clock wakes it up.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use metier_catalog::Fingerprint;
use metier_runtime::Status;
#[cfg(feature = "watch")]
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "watch")]
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use crate::{Error, Workspace};

/// How long nothing may change before changes are reported, and how long that is awaited at most.
const SETTLE: Duration = Duration::from_millis(250);
const MAX_SETTLE: Duration = Duration::from_secs(2);

/// How often the skills are listed without an event: if every folder is watched, and otherwise.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_secs(1);

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
    workspace: Workspace,
    known: SkillStates,
    events: Receiver<()>,
    /// Kept so that the channel stays open without a watcher.
    _wake: SyncSender<()>,
    folders: Folders,
}

/// A skill that was added, changed or removed.
///
/// An example is at [`Watch`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WatchedSkill {
    /// Its name.
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
}

/// The differences between two listings of the skills, each list in the order of the folders.
///
/// An example is at [`Watch`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillChanges {
    /// Skills that are new.
    pub added: Vec<WatchedSkill>,
    /// Skills with a file that changed, or with another status: trusted, disabled, shadowed.
    pub changed: Vec<WatchedSkill>,
    /// Skills that are gone.
    pub removed: Vec<WatchedSkill>,
}

impl SkillChanges {
    /// Whether nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.removed.is_empty()
    }
}

/// The state of each skill, by its folder.
type SkillStates = BTreeMap<PathBuf, SkillState>;

#[derive(Clone, PartialEq)]
struct SkillState {
    name: String,
    status: Status,
    files: Option<Fingerprint>,
}

impl Workspace {
    /// Watches the skills of this workspace, the places where skills can appear, and the configuration. Changes count from now on.
    ///
    /// An example is at [`Watch`].
    ///
    /// # Errors
    /// When the skills can't be listed.
    pub fn watch(&self) -> Result<Watch, Error> {
        let (wake, events) = sync_channel(1);
        let mut folders = Folders::new(&wake);
        // First the watch, then the list: a change in between is reported.
        folders.follow(self.watched_places());
        Ok(Watch {
            known: states(self)?,
            workspace: self.clone(),
            events,
            _wake: wake,
            folders,
        })
    }

    /// Files and folders whose changes matter, whether they exist or not.
    fn watched_places(&self) -> BTreeSet<PathBuf> {
        let agent_files = ["AGENT.md", "AGENTS.md", ".metier/config.toml"];
        let project = &self.machine.project;
        let mut places: BTreeSet<PathBuf> = self.obeyed().into_iter().collect();
        places.extend(agent_files.map(|file| project.join(file)));
        places
    }
}

impl Watch {
    /// The next changes; `None` if there are none for `timeout`. Changes that are still going on are awaited for up to two seconds more. While the
    /// configuration can't be read, there are no changes.
    ///
    /// An example is at [`Watch`].
    pub fn next(&mut self, timeout: Duration) -> Option<SkillChanges> {
        let end = Instant::now() + timeout;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let pause = match self.folders.all_watched {
                true => LOOK_AGAIN,
                false => POLL,
            };
            let woken = self.events.recv_timeout(left.min(pause)).is_ok();
            if let Some(changes) = self.look(woken) {
                return Some(changes);
            }
            if Instant::now() >= end {
                return None;
            }
        }
    }

    /// Lists the skills, until they stay the same.
    fn look(&mut self, woken: bool) -> Option<SkillChanges> {
        let start = Instant::now();
        if woken {
            thread::sleep(SETTLE);
        }
        let mut now = self.list()?;
        if now == self.known {
            return None;
        }
        while start.elapsed() < MAX_SETTLE {
            thread::sleep(SETTLE);
            let then = std::mem::replace(&mut now, self.list()?);
            if now == then {
                break;
            }
        }
        let changes = compare(&self.known, &now);
        self.known = now;
        (!changes.is_empty()).then_some(changes)
    }

    fn list(&mut self) -> Option<SkillStates> {
        // Events until now are covered by the list that follows.
        while self.events.try_recv().is_ok() {}
        let workspace = Workspace::open_anyway(self.workspace.settings.renewed()).ok()?;
        self.folders.follow(workspace.watched_places());
        let states = states(&workspace).ok();
        self.workspace = workspace;
        states
    }
}

/// The skills as they are now.
fn states(workspace: &Workspace) -> Result<SkillStates, Error> {
    let skills = workspace.skills()?;
    let states = skills.all().map(|skill| {
        let state = SkillState {
            name: skill.name().into_owned(),
            status: skill.status(),
            files: skill.entry().place.fingerprint().ok().flatten(),
        };
        (skill.path(), state)
    });
    Ok(states.collect())
}

fn compare(before: &SkillStates, after: &SkillStates) -> SkillChanges {
    let named = |path: &Path, state: &SkillState| WatchedSkill {
        name: state.name.clone(),
        path: path.to_owned(),
    };
    let mut changes = SkillChanges::default();
    for (path, state) in after {
        match before.get(path) {
            None => changes.added.push(named(path, state)),
            Some(old) if old != state => changes.changed.push(named(path, state)),
            Some(_) => {}
        }
    }
    let gone = before.iter().filter(|(path, _)| !after.contains_key(*path));
    changes.removed = gone.map(|(path, state)| named(path, state)).collect();
    changes
}

/// The folders that the system watches for us.
struct Folders {
    /// Whether there is an event for each change.
    all_watched: bool,
    #[cfg(feature = "watch")]
    watcher: Option<RecommendedWatcher>,
    #[cfg(feature = "watch")]
    watched: BTreeSet<PathBuf>,
    /// The places, without links: events elsewhere in a watched folder are ignored.
    #[cfg(feature = "watch")]
    places: Arc<Mutex<BTreeSet<PathBuf>>>,
}

#[cfg(not(feature = "watch"))]
impl Folders {
    fn new(_wake: &SyncSender<()>) -> Self {
        Self { all_watched: false }
    }

    fn follow(&mut self, _places: BTreeSet<PathBuf>) {}
}

#[cfg(feature = "watch")]
impl Folders {
    fn new(wake: &SyncSender<()>) -> Self {
        let (wake, places) = (wake.clone(), Arc::<Mutex<BTreeSet<PathBuf>>>::default());
        let ours = Arc::clone(&places);
        let handler = move |event: notify::Result<notify::Event>| {
            let matters = event.map_or(true, |event| {
                let places = ours.lock().unwrap_or_else(PoisonError::into_inner);
                !event.kind.is_access() && concerns(&event.paths, &places)
            });
            if matters {
                // If the channel is full, the event in it stands for this one too.
                wake.try_send(()).ok();
            }
        };
        Self {
            all_watched: false,
            watcher: notify::recommended_watcher(handler).ok(),
            watched: BTreeSet::new(),
            places,
        }
    }

    /// Watches these places: a folder with everything below it; for one that does not exist, the nearest folder above it that does.
    fn follow(&mut self, places: BTreeSet<PathBuf>) {
        let Some(watcher) = &mut self.watcher else {
            return;
        };
        let (mut wanted, mut real) = (BTreeMap::new(), BTreeSet::new());
        for place in places {
            let mut upwards = place.ancestors();
            let Some(there) = upwards.find(|folder| folder.is_dir()) else {
                continue;
            };
            let Ok(folder) = there.canonicalize() else {
                continue;
            };
            let rest = place.strip_prefix(there).unwrap_or(Path::new(""));
            real.insert(folder.join(rest).components().collect());
            let is_whole = rest.as_os_str().is_empty();
            *wanted.entry(folder).or_insert(false) |= is_whole;
            // A root that is a link: the link itself is an entry of the folder above it.
            let (above, name) = (place.parent(), place.file_name());
            if let (true, Some(above), Some(name)) = (place.is_symlink(), above, name)
                && let Ok(above) = above.canonicalize()
            {
                real.insert(above.join(name));
                wanted.entry(above).or_insert(false);
            }
        }
        *self.places.lock().unwrap_or_else(PoisonError::into_inner) = real;
        self.watched.retain(|folder| {
            let stays = wanted.contains_key(folder);
            if !stays {
                // It may be gone already.
                watcher.unwatch(folder).ok();
            }
            stays
        });
        self.all_watched = true;
        for (folder, is_whole) in wanted {
            let mode = match is_whole {
                true => RecursiveMode::Recursive,
                false => RecursiveMode::NonRecursive,
            };
            // Also a folder that is watched: another one may have its name now.
            self.all_watched &= watcher.watch(&folder, mode).is_ok();
            self.watched.insert(folder);
        }
    }
}

/// Whether an event is about one of the places, something below it, or a folder above it. One without a path is about anything.
#[cfg(feature = "watch")]
fn concerns(paths: &[PathBuf], places: &BTreeSet<PathBuf>) -> bool {
    let concerns = |path: &PathBuf| {
        let is_below = |place: &PathBuf| path.starts_with(place) || place.starts_with(path);
        places.iter().any(is_below)
    };
    paths.is_empty() || paths.iter().any(concerns)
}

const _: () = {
    const fn is_sendable<T: Send>() {}
    is_sendable::<Watch>();
};

#[cfg(test)]
mod tests {
    use super::*;

    fn state(name: &str, status: Status) -> SkillState {
        SkillState {
            name: name.to_owned(),
            status,
            files: None,
        }
    }

    #[test]
    fn skills_are_added_changed_and_removed() {
        let before = SkillStates::from([
            ("/a".into(), state("a", Status::Ready)),
            ("/b".into(), state("b", Status::Ready)),
            ("/c".into(), state("c", Status::Ready)),
        ]);
        let after = SkillStates::from([
            ("/a".into(), state("a", Status::Ready)),
            ("/b".into(), state("b", Status::Disabled)),
            ("/d".into(), state("d", Status::Ready)),
        ]);
        let changes = compare(&before, &after);
        let names = |skills: &[WatchedSkill]| {
            let names = skills.iter().map(|skill| skill.name.clone());
            names.collect::<String>()
        };
        assert_eq!(names(&changes.added), "d");
        assert_eq!(names(&changes.changed), "b");
        assert_eq!(names(&changes.removed), "c");
        assert!(compare(&after, &after).is_empty());
    }
}
