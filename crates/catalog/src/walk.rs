//! The walk through one root.
//!
//! For each folder `<dir>/SKILL.md` is tried first; only where it is missing is the folder listed.
//! That keeps a flat tree of ten thousand skills at a few system calls each. Everything is opened
//! relative to the root's handle, links are never followed by accident, and a FIFO can't hold us.

use std::{
    borrow::Cow,
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
    fd::{AsFd, OwnedFd},
    fs::{AtFlags, Dir, FileType, OFlags, Stat, openat, statat},
    io::Errno,
};

use crate::{
    codec::Remembered,
    discover::Options,
    entry::{Catalog, Entry, ManifestFiles, Place},
    index::{self, Index, Key, Keys},
    manifest_file::{self, FileProblem, Heads, Opened},
};

/// Fewer folders than this are not worth a second thread.
const WORTH_A_THREAD: usize = 512;

const MAX_SIDECAR: u64 = 64 * 1024;

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

    /// Believes the index, if every key still fits.
    fn remembered(&self, lane: &mut Lane, place: &Opening<'_>, path: &[u8], stat: &Stat) -> bool {
        let Some(index) = place.index else {
            return false;
        };
        let Some(record) = index.find(path, lane.guess) else {
            return false;
        };
        lane.guess = record + 1;
        let keys = index.keys(record);
        let mut same = |name: &[u8], key: Option<&Key>| {
            lane.path.clear();
            lane.path.extend_from_slice(path);
            lane.path.extend_from_slice(name);
            let found = statat(place.handle, &lane.path[..], AtFlags::SYMLINK_NOFOLLOW).ok();
            found.map(|stat| Key::of(&stat)).as_ref() == key
        };
        let unchanged = keys.folder == Key::of(stat)
            && (keys.skill_md.is_none() || same(b"/SKILL.md", keys.skill_md.as_ref()))
            && (keys.skill_yaml.is_none() || same(b"/SKILL.yaml", keys.skill_yaml.as_ref()))
            && (!keys.has_agents || same(b"/agents/openai.yaml", keys.sidecar.as_ref()));
        let Some(remembered) = unchanged
            .then(|| Remembered::decode(index.payload(record)))
            .flatten()
        else {
            return false;
        };
        let Remembered {
            files,
            card,
            diagnostics,
            digest,
        } = remembered;
        lane.entries.push(Entry {
            card,
            diagnostics,
            digest,
            ..self.entry(path, files)
        });
        lane.records.push(Record::Old(record));
        true
    }

    fn entry(&self, path: &[u8], files: ManifestFiles) -> Entry {
        Entry {
            source: self.source,
            root: Some(self.number),
            place: Place::Folder(join(self.shown.as_ref().unwrap_or(&self.base), path)),
            files,
            card: None,
            diagnostics: Vec::new(),
            real: self.shown.as_ref().map(|_| join(&self.base, path)),
            digest: None,
        }
    }

    /// Reads the skill in a folder. False when no manifest has its usual name there.
    fn read_skill(&self, lane: &mut Lane, place: &Opening<'_>, path: &[u8], stat: &Stat) -> bool {
        let md = self.open(lane, place, path, b"/SKILL.md");
        // A look is cheaper than a failed open, and nearly no skill has this file.
        let has_yaml = statat(
            place.handle,
            joined(&mut lane.path, path, b"/SKILL.yaml"),
            AtFlags::SYMLINK_NOFOLLOW,
        )
        .is_ok();
        let yaml = if has_yaml {
            self.open(lane, place, path, b"/SKILL.yaml")
        } else {
            Ok(None)
        };
        let files = ManifestFiles {
            skill_md: (!matches!(md, Ok(None))).then_some("SKILL.md".into()),
            skill_yaml: (!matches!(yaml, Ok(None))).then_some("SKILL.yaml".into()),
            sidecar: false,
        };
        if files.skill_md.is_none() && files.skill_yaml.is_none() {
            return false;
        }
        if let (Ok(Some(md)), true) = (&md, files.skill_md.is_some())
            && self.has_other_spelling(lane, place, path, md)
        {
            let problem = FileProblem::new(
                Code::FileAmbiguous,
                "both SKILL.md and skill.md are in this folder",
            )
            .hint("remove one of them");
            lane.entries.push(self.broken(path, files, problem));
            return true;
        }
        match (md, yaml) {
            (Ok(md), Ok(yaml)) => {
                self.read_files(lane, place, path, stat, Manifests { files, md, yaml });
            }
            (Err(problem), _) | (_, Err(problem)) => {
                lane.entries.push(self.broken(path, files, problem));
            }
        }
        true
    }

    /// A second spelling of SKILL.md, on a file system that tells them apart.
    fn has_other_spelling(
        &self,
        lane: &mut Lane,
        place: &Opening<'_>,
        path: &[u8],
        md: &Opened,
    ) -> bool {
        statat(
            place.handle,
            joined(&mut lane.path, path, b"/skill.md"),
            AtFlags::SYMLINK_NOFOLLOW,
        )
        .is_ok_and(|other| other.st_ino != md.stat.st_ino)
    }

    fn open(
        &self,
        lane: &mut Lane,
        place: &Opening<'_>,
        path: &[u8],
        name: &[u8],
    ) -> Result<Option<Opened>, FileProblem> {
        let opened =
            match manifest_file::open(place.handle.as_fd(), joined(&mut lane.path, path, name)) {
                Ok(opened) => opened,
                Err(Errno::LOOP) => Some(self.open_linked(path, name)?),
                Err(Errno::NXIO) => {
                    return Err(FileProblem::new(
                        Code::FileNotRegular,
                        "this is a socket, not a file",
                    ));
                }
                Err(error) => return Err(FileProblem::unreadable(error)),
            };
        if let Some(opened) = &opened {
            manifest_file::check(&opened.stat, self.options.limits.max_skill_bytes)?;
        }
        Ok(opened)
    }

    /// A manifest that is a link: fine as long as it stays in its folder.
    fn open_linked(&self, path: &[u8], name: &[u8]) -> Result<Opened, FileProblem> {
        let folder = join(&self.base, path);
        let target = join(&folder, &name[1..]).canonicalize().map_err(|error| {
            FileProblem::new(
                Code::FileUnreadable,
                format!("the link leads nowhere: {error}"),
            )
            .hint("replace it by the file itself")
        })?;
        if !target.starts_with(folder.canonicalize().unwrap_or(folder)) {
            let problem = FileProblem::new(
                Code::SymlinkEscape,
                "the link leads out of the skill's folder",
            );
            return Err(problem.hint("copy the file into the folder"));
        }
        let file = rustix::fs::open(&target, manifest_file::OPEN, rustix::fs::Mode::empty())
            .map_err(FileProblem::unreadable)?;
        let stat = rustix::fs::fstat(&file).map_err(FileProblem::unreadable)?;
        Ok(Opened { file, stat })
    }

    fn broken(&self, path: &[u8], files: ManifestFiles, problem: FileProblem) -> Entry {
        let diagnostic = Diagnostic {
            severity: problem
                .code
                .severity(self.options.mode)
                .unwrap_or(Severity::Error),
            code: problem.code,
            message: problem.message.into(),
            hint: problem.hint.map(Into::into),
            file: files.main().into(),
            position: None,
        };
        Entry {
            diagnostics: vec![diagnostic],
            ..self.entry(path, files)
        }
    }

    fn read_files(
        &self,
        lane: &mut Lane,
        place: &Opening<'_>,
        path: &[u8],
        stat: &Stat,
        manifests: Manifests,
    ) {
        let Manifests {
            mut files,
            md,
            yaml,
        } = manifests;
        let mut head = std::mem::take(&mut lane.md);
        let read_md = md
            .as_ref()
            .map_or(Ok(()), |md| manifest_file::read_head(&md.file, &mut head));
        let yaml_text = yaml
            .as_ref()
            .map(|yaml| manifest_file::read_all(&yaml.file, self.options.limits.max_skill_bytes))
            .transpose();
        let (yaml_text, ()) = match (yaml_text, read_md) {
            (Ok(text), Ok(())) => (text, ()),
            (Err(error), _) | (_, Err(error)) => {
                lane.md = head;
                return lane
                    .entries
                    .push(self.broken(path, files, FileProblem::unreadable(error)));
            }
        };
        let sidecar = self.read_sidecar(lane, place, path, stat);
        files.sidecar = sidecar.is_some();
        let folder = self.folder_name(path);
        let names = (
            files.skill_md.clone().unwrap_or_default(),
            files.skill_yaml.clone().unwrap_or_default(),
        );
        let heads = Heads {
            skill_md: md.as_ref().map(|_| (&*names.0, &head[..])),
            skill_yaml: yaml_text.as_ref().map(|text| (&*names.1, &text[..])),
            sidecar: sidecar
                .as_ref()
                .map(|(_, text)| ("agents/openai.yaml", &text[..])),
        };
        let parsed = manifest_file::parse(folder.as_deref(), &heads, self.options.mode);
        let keys = Keys {
            folder: Key::of(stat),
            skill_md: md.as_ref().map(|opened| Key::of(&opened.stat)),
            skill_yaml: yaml.as_ref().map(|opened| Key::of(&opened.stat)),
            sidecar: sidecar.as_ref().map(|(key, _)| *key),
            has_agents: self.options.index.is_some() && self.has_agents(lane, place, path, stat),
        };
        let entry = Entry {
            card: parsed.manifest.map(|manifest| manifest.card),
            diagnostics: parsed.diagnostics,
            ..self.entry(path, files)
        };
        self.remember(lane, path, &keys, &entry);
        lane.entries.push(entry);
        lane.md = head;
    }

    /// The last part of the path, as the skill's folder.
    fn folder_name<'p>(&'p self, path: &'p [u8]) -> Option<Cow<'p, str>> {
        let name = if path == b"." {
            self.shown
                .as_ref()
                .unwrap_or(&self.base)
                .file_name()?
                .as_bytes()
        } else {
            path.rsplit(|byte| *byte == b'/').next()?
        };
        Some(String::from_utf8_lossy(name))
    }

    fn read_sidecar(
        &self,
        lane: &mut Lane,
        place: &Opening<'_>,
        path: &[u8],
        stat: &Stat,
    ) -> Option<(Key, Vec<u8>)> {
        if !may_have_sidecar(stat) {
            return None;
        }
        let opened = manifest_file::open(
            place.handle.as_fd(),
            joined(&mut lane.path, path, b"/agents/openai.yaml"),
        )
        .ok()??;
        manifest_file::check(&opened.stat, MAX_SIDECAR).ok()?;
        Some((
            Key::of(&opened.stat),
            manifest_file::read_all(&opened.file, MAX_SIDECAR).ok()?,
        ))
    }

    fn has_agents(&self, lane: &mut Lane, place: &Opening<'_>, path: &[u8], stat: &Stat) -> bool {
        may_have_sidecar(stat)
            && statat(
                place.handle,
                joined(&mut lane.path, path, b"/agents"),
                AtFlags::SYMLINK_NOFOLLOW,
            )
            .is_ok()
    }

    /// Only what can be proven unchanged with the usual names is written to the index.
    fn remember(&self, lane: &mut Lane, path: &[u8], keys: &Keys, entry: &Entry) {
        let usual = |name: &Option<Cow<'static, str>>| {
            matches!(name.as_deref(), None | Some("SKILL.md" | "SKILL.yaml"))
        };
        if self.options.index.is_none()
            || self.shown.is_some()
            || keys.is_fresh(self.options.now)
            || !usual(&entry.files.skill_md)
            || !usual(&entry.files.skill_yaml)
        {
            return;
        }
        let payload = Remembered::encode(
            &entry.files,
            entry.card.as_ref(),
            &entry.diagnostics,
            entry.digest,
        );
        lane.records
            .push(Record::New(index::record(path, keys, &payload)));
    }

    fn save_index(&self, index: Option<&Index>, lanes: &[Lane]) {
        let Some(home) = self.options.index.filter(|_| self.shown.is_none()) else {
            return;
        };
        let records = || lanes.iter().flat_map(|lane| &lane.records);
        let changed = records().any(|record| matches!(record, Record::New(_)))
            || index.is_some_and(|index| index.len() != records().count());
        if !changed {
            return;
        }
        let bytes: Vec<Vec<u8>> = records()
            .filter_map(|record| match record {
                Record::New(bytes) => Some(bytes.clone()),
                Record::Old(record) => index.map(|index| index.whole(*record).to_vec()),
            })
            .collect();
        // A cache that can't be written costs time, nothing else.
        home.save(&self.base, self.options.mode, &bytes).ok();
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

    /// `skill.md`, `Skill.md`, `SKILL.yml`: read with a warning, unless there are several.
    fn other_spelling(&self, lane: &mut Lane, place: &Opening<'_>, path: &[u8], names: &[&[u8]]) {
        let spelling = String::from_utf8_lossy(names[0]).into_owned();
        let is_yaml = !spelling.to_ascii_lowercase().ends_with(".md");
        let name = Some(spelling.clone().into());
        let files = if is_yaml {
            ManifestFiles {
                skill_yaml: name,
                ..ManifestFiles::default()
            }
        } else {
            ManifestFiles {
                skill_md: name,
                ..ManifestFiles::default()
            }
        };
        if names.len() > 1 {
            let problem = FileProblem::new(
                Code::FileAmbiguous,
                "several spellings of SKILL.md are in this folder",
            )
            .hint("keep one, named `SKILL.md`");
            return lane.entries.push(self.broken(path, files, problem));
        }
        let opened = match self.open(lane, place, path, &[b"/", names[0]].concat()) {
            Ok(Some(opened)) => opened,
            Ok(None) => return,
            Err(problem) => return lane.entries.push(self.broken(path, files, problem)),
        };
        let Ok(stat) = statat(place.handle, path, AtFlags::SYMLINK_NOFOLLOW) else {
            return;
        };
        let (md, yaml) = if is_yaml {
            (None, Some(opened))
        } else {
            (Some(opened), None)
        };
        self.read_files(lane, place, path, &stat, Manifests { files, md, yaml });
        self.skills.fetch_add(1, Ordering::Relaxed);
        let right = if is_yaml { "SKILL.yaml" } else { "SKILL.md" };
        let Some((entry, severity)) = lane
            .entries
            .last_mut()
            .zip(Code::FileNameCase.severity(self.options.mode))
        else {
            return;
        };
        if severity == Severity::Error {
            entry.card = None;
        }
        entry.diagnostics.push(Diagnostic {
            severity,
            code: Code::FileNameCase,
            message: format!(
                "the file is named `{spelling}`; other programs look only for `{right}`"
            )
            .into(),
            hint: Some(format!("rename it to `{right}`").into()),
            file: spelling.into(),
            position: None,
        });
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

/// The opened manifest files of a folder.
struct Manifests {
    files: ManifestFiles,
    md: Option<Opened>,
    yaml: Option<Opened>,
}

/// `agents/openai.yaml` needs a folder: a directory with two links has none. (Some file systems
/// don't count; theirs say one.)
fn may_have_sidecar(stat: &Stat) -> bool {
    stat.st_nlink != 2
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
