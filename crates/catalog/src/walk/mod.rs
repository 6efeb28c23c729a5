//! The walk through one root; [`take`] reads the skills on the way.
//!
//! For each folder `<dir>/SKILL.md` is tried first; only where it is missing is the folder listed.
//! That keeps a flat tree of ten thousand skills at a few system calls each. Everything is opened
//! relative to the root's handle, links are never followed by accident, and a FIFO can't hold us.

mod take;

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Instant,
};

use metier_model::{Code, Diagnostic, Severity, Source};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, FileType, OFlags, Stat, openat, statat},
    io::Errno,
};

use crate::{
    discover::Options,
    entry::{Catalog, Entry},
    index::Index,
};

/// Fewer folders than this are not worth a second thread.
const WORTH_A_THREAD: usize = 512;

/// One walk: a root, or a folder that a link in it leads to.
pub(crate) struct Walk<'a> {
    /// The real path of the folder that paths are relative to.
    base: PathBuf,
    /// How that folder is shown, when a link led to it.
    shown: Option<PathBuf>,
    source: Source,
    number: u16,
    options: &'a Options<'a>,
    started: Instant,
    seen: AtomicUsize,
    skills: AtomicUsize,
    stopped: AtomicBool,
    linked: Mutex<Vec<PathBuf>>,
}

/// What one thread found.
#[derive(Default)]
struct Lane {
    entries: Vec<Entry>,
    diagnostics: Vec<Diagnostic>,
    records: Vec<Record>,
    /// Where the next record of the index probably is.
    guess: usize,
    path: Vec<u8>,
    md: Vec<u8>,
}

enum Record {
    Old(usize),
    New(Vec<u8>),
}

/// An open root.
#[derive(Clone, Copy)]
struct Opening<'w> {
    handle: &'w OwnedFd,
    device: u64,
    index: Option<&'w Index>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(base: &Path, source: Source, number: u16, options: &'a Options<'a>) -> Self {
        Self {
            base: base.to_owned(),
            shown: None,
            source,
            number,
            options,
            started: Instant::now(),
            seen: AtomicUsize::new(0),
            skills: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            linked: Mutex::new(Vec::new()),
        }
    }

    /// Walks the root and adds what is there to the catalog.
    pub(crate) fn run(&self, catalog: &mut Catalog) {
        let index = self
            .options
            .index
            .and_then(|home| home.load(&self.base, self.options.mode));
        let lanes = match self.lanes(index.as_ref()) {
            Ok(lanes) => lanes,
            Err(error) => {
                let message = format!("the folder can't be read: {error}");
                catalog.diagnostics.push(self.diagnostic(
                    Code::RootUnreadable,
                    b"",
                    message,
                    Some("check its permissions"),
                ));
                return;
            }
        };
        self.save_index(index.as_ref(), &lanes);
        for mut lane in lanes {
            take_over(&mut catalog.entries, lane.entries);
            catalog.diagnostics.append(&mut lane.diagnostics);
        }
    }

    fn lanes(&self, index: Option<&Index>) -> Result<Vec<Lane>, Errno> {
        let open = || {
            rustix::fs::open(
                &self.base,
                OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
                rustix::fs::Mode::empty(),
            )
        };
        let handle = open()?;
        let stat = rustix::fs::fstat(&handle)?;
        let place = Opening {
            handle: &handle,
            device: stat.st_dev,
            index,
        };
        let mut first = Lane::default();
        if self.skill_at(&mut first, &place, b".", &stat) {
            return Ok(vec![first]);
        }
        let names = self.list(&handle, b"", &mut first)?;
        let threads = self
            .options
            .threads
            .clamp(1, 1 + names.len() / WORTH_A_THREAD);
        if threads == 1 {
            self.visit_all(&mut first, &place, &names);
            return Ok(vec![first]);
        }
        let size = names.len().div_ceil(threads);
        let mut lanes = vec![first];
        std::thread::scope(|scope| {
            let work = |(number, names): (usize, &'_ [(Vec<u8>, FileType)])| {
                let mut lane = Lane {
                    guess: number * size,
                    ..Lane::default()
                };
                // Two threads that count references to one handle wait for each other at every call.
                let own = open();
                let place = Opening {
                    handle: own.as_ref().unwrap_or(place.handle),
                    ..place
                };
                self.visit_all(&mut lane, &place, names);
                lane
            };
            let handles: Vec<_> = names
                .chunks(size)
                .enumerate()
                .map(|chunk| scope.spawn(move || work(chunk)))
                .collect();
            lanes.extend(handles.into_iter().filter_map(|handle| handle.join().ok()));
        });
        Ok(lanes)
    }

    fn visit_all(&self, lane: &mut Lane, place: &Opening<'_>, names: &[(Vec<u8>, FileType)]) {
        for (name, kind) in names {
            self.child(lane, place, name, *kind, 1);
        }
    }

    /// The folders and links in a folder. `path` is where it is, for diagnostics.
    fn list(
        &self,
        folder: &OwnedFd,
        path: &[u8],
        lane: &mut Lane,
    ) -> Result<Vec<(Vec<u8>, FileType)>, Errno> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if self.seen.fetch_add(1, Ordering::Relaxed) >= self.options.limits.max_entries {
                let message = format!(
                    "more than {} files and folders: the rest was not looked at",
                    self.options.limits.max_entries
                );
                self.stop(lane, path, message, "skills.limits.max_entries");
                break;
            }
            let kind = entry.file_type();
            if kind != FileType::RegularFile && !matches!(name, b".git" | b"node_modules")
                || is_manifest_name(name)
            {
                names.push((name.to_vec(), kind));
            }
        }
        // In order, so that results don't depend on the file system, and mostly sorted lists stay cheap to sort.
        names.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Ok(names)
    }

    fn child(
        &self,
        lane: &mut Lane,
        place: &Opening<'_>,
        path: &[u8],
        kind: FileType,
        depth: usize,
    ) {
        if self.stopped.load(Ordering::Relaxed) {
            return;
        }
        match kind {
            FileType::Directory | FileType::Unknown => self.folder(lane, place, path, depth),
            FileType::Symlink => self.link(lane, path, depth),
            _ => {}
        }
    }

    fn folder(&self, lane: &mut Lane, place: &Opening<'_>, path: &[u8], depth: usize) {
        let stat = match statat(place.handle, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(error) => return lane.diagnostics.push(self.unreadable(path, error)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {}
            FileType::Symlink => return self.link(lane, path, depth),
            _ => return,
        }
        if stat.st_dev != place.device {
            let message = "it is on another file system and was not looked at".to_owned();
            return lane.diagnostics.push(self.diagnostic(
                Code::LimitReached,
                path,
                message,
                Some("name it with `--root` to search it"),
            ));
        }
        if !self.skill_at(lane, place, path, &stat) {
            self.descend(lane, place, path, depth);
        }
    }

    /// Takes the skill in a folder, from the index or from its files; false when there is none.
    fn skill_at(&self, lane: &mut Lane, place: &Opening<'_>, path: &[u8], stat: &Stat) -> bool {
        if !self.remembered(lane, place, path, stat) && !self.read_skill(lane, place, path, stat) {
            return false;
        }
        let found = self.skills.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(progress) = self.options.progress {
            progress.fetch_add(1, Ordering::Relaxed);
        }
        if found >= self.options.limits.max_skills {
            let message = format!(
                "more than {} skills: the rest was not looked at",
                self.options.limits.max_skills
            );
            self.stop(lane, b"", message, "skills.limits.max_skills");
        } else if found.is_multiple_of(256)
            && self.started.elapsed() > self.options.limits.max_root_time
        {
            self.stop_for_time(lane);
        }
        true
    }

    fn stop_for_time(&self, lane: &mut Lane) {
        let message = format!(
            "looking took longer than {} s: the rest was not looked at",
            self.options.limits.max_root_time.as_secs()
        );
        self.stop(lane, b"", message, "skills.limits.max_root_seconds");
    }

    /// Ends the walk, and says so once.
    fn stop(&self, lane: &mut Lane, path: &[u8], message: String, key: &str) {
        if !self.stopped.swap(true, Ordering::Relaxed) {
            let hint = format!("raise `{key}` with `metier config {key} N`");
            lane.diagnostics
                .push(self.diagnostic(Code::LimitReached, path, message, Some(&hint)));
        }
    }

    /// Looks for other spellings, and into the folders of a folder.
    fn descend(&self, lane: &mut Lane, place: &Opening<'_>, path: &[u8], depth: usize) {
        let opened = openat(
            place.handle,
            path,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        );
        let names = match opened.and_then(|folder| self.list(&folder, path, lane)) {
            Ok(names) => names,
            Err(error) => return lane.diagnostics.push(self.unreadable(path, error)),
        };
        let manifests: Vec<&[u8]> = names
            .iter()
            .filter(|(name, _)| is_manifest_name(name))
            .map(|(name, _)| name.as_slice())
            .collect();
        if !manifests.is_empty() {
            return self.other_spelling(lane, place, path, &manifests);
        }
        let folders = names.iter().filter(|(_, kind)| {
            matches!(
                kind,
                FileType::Directory | FileType::Symlink | FileType::Unknown
            )
        });
        if depth >= self.options.limits.max_depth && folders.clone().next().is_some() {
            let message = format!(
                "folders more than {} levels down were not looked at",
                self.options.limits.max_depth
            );
            return lane.diagnostics.push(self.diagnostic(
                Code::LimitReached,
                path,
                message,
                Some("raise `skills.limits.max_depth`"),
            ));
        }
        if self.started.elapsed() > self.options.limits.max_root_time {
            return self.stop_for_time(lane);
        }
        for (name, kind) in folders {
            let below = [path, b"/", name].concat();
            self.child(lane, place, &below, *kind, depth + 1);
        }
    }

    /// A link in a folder: its target is walked once, under the link's name.
    fn link(&self, lane: &mut Lane, path: &[u8], depth: usize) {
        let shown = join(self.shown.as_ref().unwrap_or(&self.base), path);
        let real = match shown.canonicalize() {
            Ok(real) => real,
            Err(error) => {
                let message = format!("the link leads nowhere: {error}");
                return lane.diagnostics.push(self.diagnostic(
                    Code::LinkBroken,
                    path,
                    message,
                    Some("remove the link"),
                ));
            }
        };
        if !real.is_dir() || real.starts_with(&self.base) {
            return;
        }
        if self.base.starts_with(&real) || shown.starts_with(&real) {
            let message = "the link leads in a circle and was not followed".to_owned();
            return lane.diagnostics.push(self.diagnostic(
                Code::LinkBroken,
                path,
                message,
                Some("remove the link"),
            ));
        }
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        if depth > self.options.limits.max_depth || linked.contains(&real) {
            return;
        }
        linked.push(real.clone());
        drop(linked);
        let inner = Walk {
            shown: Some(shown),
            linked: Mutex::new(vec![self.base.clone()]),
            ..Walk::new(&real, self.source, self.number, self.options)
        };
        let mut found = Catalog::default();
        inner.run(&mut found);
        lane.entries.append(&mut found.entries);
        lane.diagnostics.append(&mut found.diagnostics);
    }

    fn unreadable(&self, path: &[u8], error: Errno) -> Diagnostic {
        let hint = (error == Errno::ACCESS).then_some("check its permissions");
        self.diagnostic(
            Code::FolderUnreadable,
            path,
            format!("the folder can't be read: {error}"),
            hint,
        )
    }

    fn diagnostic(
        &self,
        code: Code,
        path: &[u8],
        message: String,
        hint: Option<&str>,
    ) -> Diagnostic {
        Diagnostic {
            severity: code
                .severity(self.options.mode)
                .unwrap_or(Severity::Warning),
            code,
            message: message.into(),
            hint: hint.map(Into::into),
            file: join(self.shown.as_ref().unwrap_or(&self.base), path)
                .to_string_lossy()
                .into(),
            position: None,
        }
    }
}

/// Appends, without copying when there is nothing to append to.
fn take_over(all: &mut Vec<Entry>, mut more: Vec<Entry>) {
    if all.is_empty() {
        *all = more;
    } else {
        all.append(&mut more);
    }
}

fn is_manifest_name(name: &[u8]) -> bool {
    [&b"SKILL.md"[..], b"SKILL.yaml", b"SKILL.yml"]
        .iter()
        .any(|manifest| name.eq_ignore_ascii_case(manifest))
}

fn joined<'b>(buffer: &'b mut Vec<u8>, path: &[u8], name: &[u8]) -> &'b [u8] {
    buffer.clear();
    buffer.extend_from_slice(path);
    buffer.extend_from_slice(name);
    buffer
}

fn join(base: &Path, path: &[u8]) -> PathBuf {
    if matches!(path, b"" | b".") {
        base.to_owned()
    } else {
        base.join(OsStr::from_bytes(path))
    }
}
