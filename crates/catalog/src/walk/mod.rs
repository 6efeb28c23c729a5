//! The walk through one root; [`read_skill`] reads the skills on the way.
//!
//! For each folder `<dir>/SKILL.md` is tried first; the folder is listed only if that does not exist. That keeps a
//! flat tree of ten thousand skills at a few system calls each. Everything is opened relative to the root's handle,
//! links are never followed implicitly, and a FIFO can't block the walk.
//!
//! Links to folders are collected on the way and followed afterwards, each target once: so the result depends neither
//! on threads nor on the order of a directory, and cycles end.

mod read_skill;

pub(crate) use read_skill::words_instruct;

use std::{
    collections::{HashSet, VecDeque},
    ffi::OsStr,
    ops::Range,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Instant,
};

use metier_model::{Diagnostic, DiagnosticCode, DiagnosticSeverity};
use rustix::{
    fd::OwnedFd,
    fs::{AtFlags, Dir, FileType, OFlags, Stat, openat, statat},
    io::Errno,
};

use crate::{
    discover::DiscoveryOptions,
    entry::{Catalog, CatalogEntry},
    index::{FileStamp, Index, IndexedFolder, Records},
    names::FolderNames,
    plugin,
    root::Root,
};

/// The number of folders that justifies another thread. Threads that call the kernel at the same time slow each other
/// down: on two virtual cores the second one saves 28 % of the time and costs 14 % more work (10,000 skills), which
/// pays off only for large roots.
const WORTH_A_THREAD: usize = 16_384;

/// Walks a root and the targets of its links, and adds the results to the catalog.
pub(crate) fn walk(
    base: &Path,
    root: &Root,
    number: u16,
    options: &DiscoveryOptions<'_>,
    catalog: &mut Catalog,
) {
    let tally = RootTally::default();
    let mut followed = HashSet::from([base.to_owned()]);
    let mut queue = VecDeque::from([(base.to_owned(), None, 0)]);
    while let Some((base, shown, depth)) = queue.pop_front() {
        let walk = RootWalk {
            base,
            shown,
            root,
            number,
            depth,
            options,
            tally: &tally,
        };
        for link in walk.run(catalog) {
            if let Some(target) = walk.target(&link, catalog)
                && depth + link.depth <= options.limits.max_depth
                && followed.insert(target.clone())
            {
                queue.push_back((target, Some(walk.shown(&link.path)), depth + link.depth));
            }
        }
    }
}

/// The cost of a root so far, including the targets of its links.
struct RootTally {
    started: Instant,
    seen: AtomicUsize,
    skills: AtomicUsize,
    /// Nothing more is visited.
    stopped: AtomicBool,
    /// Nothing more is listed; what is listed is still visited.
    full: AtomicBool,
    /// It was already reported that folders are too deep.
    too_deep: AtomicBool,
}

impl Default for RootTally {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            seen: AtomicUsize::new(0),
            skills: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            full: AtomicBool::new(false),
            too_deep: AtomicBool::new(false),
        }
    }
}

/// One walk: a root, or a folder that a link in it points to.
struct RootWalk<'a> {
    /// The canonical path of the folder that paths are relative to.
    base: PathBuf,
    /// The displayed path of that folder, if a link led to it.
    shown: Option<PathBuf>,
    root: &'a Root,
    number: u16,
    /// Its depth below the root.
    depth: usize,
    options: &'a DiscoveryOptions<'a>,
    tally: &'a RootTally,
}

/// A link that might point to a folder.
struct FollowedLink {
    path: Vec<u8>,
    depth: usize,
}

/// The results of one thread.
#[derive(Default)]
struct Lane {
    entries: Vec<CatalogEntry>,
    diagnostics: Vec<Diagnostic>,
    records: Vec<WalkRecord>,
    links: Vec<FollowedLink>,
    /// The remaining records of the index.
    index: Option<Records>,
    path: Vec<u8>,
    md: Vec<u8>,
}

/// The records of the next index, in the order of the walk.
enum WalkRecord {
    /// Valid records of the old index, one after the other.
    Old(Range<usize>),
    New(Vec<u8>),
}

/// A root that is open for walking.
#[derive(Clone, Copy)]
struct WalkOpening<'w> {
    handle: &'w OwnedFd,
    device: u64,
}

impl RootWalk<'_> {
    /// Walks the folder and adds its skills to the catalog; returns the links to follow.
    fn run(&self, catalog: &mut Catalog) -> Vec<FollowedLink> {
        let home = self.options.index.filter(|_| self.shown.is_none());
        let index = home.and_then(|home| home.open(&self.base, self.options.mode));
        let (lanes, listing) = match self.lanes(index.as_ref()) {
            Ok(found) => found,
            Err(error) => {
                let message = format!("the folder can't be read: {error}");
                let hint = Some("check its permissions");
                let problem = self.diagnostic(DiagnosticCode::RootUnreadable, b"", message, hint);
                catalog.diagnostics.push(problem);
                return Vec::new();
            }
        };
        self.save_index(index.as_ref(), &lanes, listing.as_ref());
        let mut links = Vec::new();
        for mut lane in lanes {
            take_over(&mut catalog.entries, lane.entries);
            catalog.diagnostics.append(&mut lane.diagnostics);
            links.append(&mut lane.links);
        }
        links
    }

    /// The results of all threads, and the listing of the root if the index did not have it.
    fn lanes(&self, index: Option<&Index>) -> Result<(Vec<Lane>, Option<IndexedFolder>), Errno> {
        let open = || {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::open(&self.base, flags, rustix::fs::Mode::empty())
        };
        let handle = open()?;
        let stat = rustix::fs::fstat(&handle)?;
        let place = WalkOpening {
            handle: &handle,
            device: stat.st_dev,
        };
        let lane = || Lane {
            index: index.and_then(Index::records),
            ..Lane::default()
        };
        let mut first = lane();
        if self.skill_at(&mut first, &place, b".", &stat) {
            return Ok((vec![first], None));
        }
        let key = FileStamp::of(&stat);
        let known = index.and_then(|index| self.remembered_names(index, key));
        let listed = match known {
            Some(_) => FolderNames::default(),
            None => self.list(&handle, b"", &mut first)?,
        };
        let names = known.unwrap_or(&listed);
        if self.other_spellings(&mut first, &place, b".", names) {
            return Ok((vec![first], None));
        }
        let lanes = self.visit_root(first, lane, open, &place, names);
        let new = known.is_none() && !listed.is_empty() && self.can_remember_names(&handle, key);
        let listing = new.then_some(IndexedFolder { key, names: listed });
        Ok((lanes, listing))
    }

    /// Visits the content of the root, with a suitable number of threads.
    fn visit_root(
        &self,
        mut first: Lane,
        lane: impl Fn() -> Lane + Sync,
        open: impl Fn() -> Result<OwnedFd, Errno> + Sync,
        place: &WalkOpening<'_>,
        names: &FolderNames,
    ) -> Vec<Lane> {
        let most = 1 + names.len() / WORTH_A_THREAD;
        let threads = self.options.threads.clamp(1, most);
        if threads == 1 {
            // Most are skills; growing step by step would copy them a dozen times.
            let room = names.len().min(self.options.limits.max_skills);
            first.entries.reserve_exact(room);
            self.visit_all(&mut first, place, names.iter());
            return vec![first];
        }
        let size = names.len().div_ceil(threads);
        let mut lanes = vec![first];
        std::thread::scope(|scope| {
            let work = |start: usize| {
                let mut lane = lane();
                // Two threads that share a reference count contend at every call.
                let own = open();
                let handle = own.as_ref().unwrap_or(place.handle);
                let part = names.iter().skip(start).take(size);
                self.visit_all(&mut lane, &WalkOpening { handle, ..*place }, part);
                lane
            };
            let starts = (0..names.len()).step_by(size);
            let handles: Vec<_> = starts
                .map(|start| scope.spawn(move || work(start)))
                .collect();
            // A panic in a thread must not look like a smaller result.
            let joined = handles.into_iter().map(|handle| {
                handle
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            lanes.extend(joined);
        });
        lanes
    }

    /// The names in the root from the index, if they are still valid and not too many.
    fn remembered_names<'i>(&self, index: &'i Index, key: FileStamp) -> Option<&'i FolderNames> {
        let listing = index.listing.as_ref().filter(|listing| listing.key == key);
        let names = &listing?.names;
        let seen = self.tally.seen.load(Ordering::Relaxed);
        if seen + names.seen > self.options.limits.max_entries {
            return None;
        }
        self.tally.seen.fetch_add(names.seen, Ordering::Relaxed);
        Some(names)
    }

    /// Whether a later walk can detect that these names are unchanged.
    fn can_remember_names(&self, handle: &OwnedFd, key: FileStamp) -> bool {
        let wanted = self.options.index.is_some() && self.shown.is_none();
        wanted
            && !key.is_fresh(self.options.now)
            && !self.tally.full.load(Ordering::Relaxed)
            && tells_new_names(handle)
    }

    fn visit_all<'n>(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        names: impl Iterator<Item = (&'n [u8], FileType)>,
    ) {
        for (name, kind) in names {
            self.child(lane, place, name, kind, 1);
        }
    }

    /// The folders, links and manifests in a folder. `path` is its location, for diagnostics.
    fn list(&self, folder: &OwnedFd, path: &[u8], lane: &mut Lane) -> Result<FolderNames, Errno> {
        let limit = self.options.limits.max_entries;
        let mut names = FolderNames::default();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            names.seen += 1;
            if self.tally.seen.fetch_add(1, Ordering::Relaxed) >= limit {
                let message =
                    format!("more than {limit} files and folders: the others were not searched");
                self.limit(&self.tally.full, lane, path, message, "max_entries");
                break;
            }
            let kind = entry.file_type();
            let passed_over = matches!(name, b".git" | b"node_modules") || is_staged(name);
            if kind != FileType::RegularFile && !passed_over || is_manifest_name(name) {
                names.push(name, kind);
            }
        }
        names.sort();
        Ok(names)
    }

    fn child(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        kind: FileType,
        depth: usize,
    ) {
        if self.tally.stopped.load(Ordering::Relaxed) {
            return;
        }
        match kind {
            FileType::Directory if self.read_unseen(lane, place, path) => self.counted(lane),
            FileType::Directory | FileType::Unknown => self.folder(lane, place, path, depth),
            FileType::Symlink => lane.links.push(FollowedLink {
                path: path.to_vec(),
                depth,
            }),
            _ => {}
        }
    }

    fn folder(&self, lane: &mut Lane, place: &WalkOpening<'_>, path: &[u8], depth: usize) {
        let stat = match statat(place.handle, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(error) => return lane.diagnostics.push(self.unreadable(path, error)),
        };
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {}
            FileType::Symlink => {
                let path = path.to_vec();
                return lane.links.push(FollowedLink { path, depth });
            }
            _ => return,
        }
        if stat.st_dev != place.device {
            let message = "it is on another file system and was not searched".to_owned();
            let hint = Some("pass it with `--root` to search it");
            let problem = self.diagnostic(DiagnosticCode::LimitReached, path, message, hint);
            return lane.diagnostics.push(problem);
        }
        if !self.skill_at(lane, place, path, &stat) {
            self.descend(lane, place, path, depth);
        }
    }

    /// Adds the skill in a folder, from the index or from its files; returns false if there is none.
    fn skill_at(&self, lane: &mut Lane, place: &WalkOpening<'_>, path: &[u8], stat: &Stat) -> bool {
        let taken =
            self.remembered(lane, place, path, stat) || self.read_skill(lane, place, path, stat);
        if taken {
            self.counted(lane);
        }
        taken
    }

    /// Counts the skill that was just added, and removes it if it exceeds the limit.
    fn counted(&self, lane: &mut Lane) {
        let limit = self.options.limits.max_skills;
        let found = self.tally.skills.fetch_add(1, Ordering::Relaxed) + 1;
        if found > limit {
            lane.entries.pop();
            let message = format!("more than {limit} skills: the others were not read");
            return self.limit(&self.tally.stopped, lane, b"", message, "max_skills");
        }
        if let Some(progress) = self.options.progress {
            progress.fetch_add(1, Ordering::Relaxed);
        }
        if found.is_multiple_of(256) {
            self.check_time(lane);
        }
    }

    fn check_time(&self, lane: &mut Lane) {
        let limit = self.options.limits.max_root_time;
        if self.tally.started.elapsed() > limit {
            let seconds = limit.as_secs();
            let message =
                format!("the search took longer than {seconds} s: the rest was not searched");
            self.limit(&self.tally.stopped, lane, b"", message, "max_root_seconds");
        }
    }

    /// Sets a flag, and reports it the first time.
    fn limit(&self, flag: &AtomicBool, lane: &mut Lane, path: &[u8], message: String, key: &str) {
        if !flag.swap(true, Ordering::Relaxed) {
            let hint = format!("raise the limit with: metier config skills.limits.{key} N");
            let problem = self.diagnostic(DiagnosticCode::LimitReached, path, message, Some(&hint));
            lane.diagnostics.push(problem);
        }
    }

    /// Tries other spellings, then the subfolders of a folder.
    fn descend(&self, lane: &mut Lane, place: &WalkOpening<'_>, path: &[u8], depth: usize) {
        self.check_time(lane);
        if self.tally.full.load(Ordering::Relaxed) {
            return;
        }
        self.plugin_around(lane, path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(place.handle, path, flags, rustix::fs::Mode::empty());
        let names = match opened.and_then(|folder| self.list(&folder, path, lane)) {
            Ok(names) => names,
            Err(error) => return lane.diagnostics.push(self.unreadable(path, error)),
        };
        if self.other_spellings(lane, place, path, &names) {
            return;
        }
        let most = self.options.limits.max_depth;
        if self.depth + depth >= most && !names.is_empty() {
            let message = format!("folders more than {most} levels deep were not searched");
            return self.limit(&self.tally.too_deep, lane, path, message, "max_depth");
        }
        for (name, kind) in names.iter() {
            let below = [path, b"/", name].concat();
            self.child(lane, place, &below, kind, depth + 1);
        }
    }

    /// Adds the plugin whose manifest is in this folder, if it has hooks.
    fn plugin_around(&self, lane: &mut Lane, path: &[u8]) {
        let plugin = match path.strip_suffix(plugin::FOLDER) {
            Some(b"") => b".",
            Some(above) => match above.strip_suffix(b"/") {
                Some(above) => above,
                None => return,
            },
            None => return,
        };
        let shown = self.shown(plugin);
        let found = plugin::entry(&shown, self.root, self.number, self.options.mode);
        if let Some(entry) = found {
            let real = self.shown.as_ref().map(|_| join(&self.base, plugin));
            lane.entries.push(CatalogEntry { real, ..entry });
            self.counted(lane);
        }
    }

    /// The folder that a link points to; `None` for anything else, with a diagnostic where it matters.
    fn target(&self, link: &FollowedLink, catalog: &mut Catalog) -> Option<PathBuf> {
        let shown = self.shown(&link.path);
        let mut broken = |message: String| {
            let hint = Some("remove the link");
            let problem = self.diagnostic(DiagnosticCode::LinkBroken, &link.path, message, hint);
            catalog.diagnostics.push(problem);
        };
        match shown.canonicalize() {
            Err(error) => {
                broken(format!("broken symbolic link: {error}"));
                None
            }
            Ok(real) if !real.is_dir() => None,
            Ok(real) if self.base.starts_with(&real) || shown.starts_with(&real) => {
                broken(
                    "the link points to one of its parent folders and was not followed".to_owned(),
                );
                None
            }
            Ok(real) => Some(real),
        }
    }

    /// A path below the folder for display.
    fn shown(&self, path: &[u8]) -> PathBuf {
        join(self.shown.as_ref().unwrap_or(&self.base), path)
    }

    fn unreadable(&self, path: &[u8], error: Errno) -> Diagnostic {
        let hint = (error == Errno::ACCESS).then_some("check its permissions");
        let message = format!("the folder can't be read: {error}");
        self.diagnostic(DiagnosticCode::FolderUnreadable, path, message, hint)
    }

    fn diagnostic(
        &self,
        code: DiagnosticCode,
        path: &[u8],
        message: String,
        hint: Option<&str>,
    ) -> Diagnostic {
        Diagnostic {
            severity: code
                .severity(self.options.mode)
                .unwrap_or(DiagnosticSeverity::Warning),
            code,
            message: message.into(),
            hint: hint.map(Into::into),
            file: self.shown(path).to_string_lossy().into(),
            position: None,
        }
    }
}

/// Appends, without copying if there is nothing to append to.
fn take_over(all: &mut Vec<CatalogEntry>, mut more: Vec<CatalogEntry>) {
    if all.is_empty() {
        *all = more;
    } else {
        all.append(&mut more);
    }
}

/// Whether this file system is known to update the times of a folder whenever a name in it is added, removed or
/// changed. Not all do, and some only when certain programs write: there a folder is listed again.
#[cfg(target_os = "linux")]
fn tells_new_names(folder: &OwnedFd) -> bool {
    const EXT: u64 = 0xef53;
    const XFS: u64 = 0x5846_5342;
    const BTRFS: u64 = 0x9123_683e;
    const F2FS: u64 = 0xf2f5_2010;
    const ZFS: u64 = 0x2fc1_2fc1;
    const TMPFS: u64 = 0x0102_1994;
    let kind = rustix::fs::fstatfs(folder).map(|system| u64::try_from(system.f_type));
    matches!(kind, Ok(Ok(EXT | XFS | BTRFS | F2FS | ZFS | TMPFS)))
}

#[cfg(not(target_os = "linux"))]
fn tells_new_names(_: &OwnedFd) -> bool {
    false
}

fn is_manifest_name(name: &[u8]) -> bool {
    [&b"SKILL.md"[..], b"SKILL.yaml", b"SKILL.yml"]
        .iter()
        .any(|manifest| name.eq_ignore_ascii_case(manifest))
}

/// Whether a name belongs to content that is being installed, such as `.metier-7-0`: that is not a skill.
fn is_staged(name: &[u8]) -> bool {
    let number = name.strip_prefix(b".metier-");
    number.is_some_and(|number| number.first().is_some_and(u8::is_ascii_digit))
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
        let mut joined = PathBuf::with_capacity(base.as_os_str().len() + 1 + path.len());
        joined.push(base);
        joined.push(OsStr::from_bytes(path));
        joined
    }
}
