//! Adds a skill to the catalog: from the index if nothing changed, otherwise from its files.

use std::{borrow::Cow, os::unix::ffi::OsStrExt};

use metier_model::{Card, Diagnostic, DiagnosticCode, DiagnosticSeverity, hooks};
use rustix::{
    fd::AsFd,
    fs::{AtFlags, OFlags, Stat, openat, statat},
    io::Errno,
};

use super::{Lane, RootWalk, WalkOpening, WalkRecord, is_manifest_name, join, joined};
use crate::{
    codec::Remembered,
    entry::{CatalogEntry, ManifestFiles, SkillLocation},
    index::{self, FileStamp, Index, IndexedFolder, Keys},
    manifest_file::{self, FileProblem, Heads, OpenedManifest},
    names::FolderNames,
    skill_files::Fingerprint,
};

const MAX_SIDECAR: u64 = 64 * 1024;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

impl RootWalk<'_> {
    /// Uses the index, if every key still matches.
    pub(super) fn remembered(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        stat: &Stat,
    ) -> bool {
        let found = lane.index.as_mut().and_then(|index| index.find(path));
        let Some((record, view)) = found else {
            return false;
        };
        let keys = view.keys;
        let mut same = |name: &[u8], key: Option<&FileStamp>| {
            lane.path.clear();
            lane.path.extend_from_slice(path);
            lane.path.extend_from_slice(name);
            let found = statat(place.handle, &lane.path[..], AtFlags::SYMLINK_NOFOLLOW).ok();
            found.map(|stat| FileStamp::of(&stat)).as_ref() == key
        };
        let limit = self.options.limits.max_skill_bytes;
        let fits = |key: Option<FileStamp>| key.is_none_or(|key| key.size <= limit);
        let unchanged = keys.folder == FileStamp::of(stat)
            && fits(keys.skill_md)
            && fits(keys.skill_yaml)
            && (keys.skill_md.is_none() || same(b"/SKILL.md", keys.skill_md.as_ref()))
            && (keys.skill_yaml.is_none() || same(b"/SKILL.yaml", keys.skill_yaml.as_ref()))
            && (!keys.has_agents || same(b"/agents/openai.yaml", keys.sidecar.as_ref()));
        let Some(remembered) = unchanged
            .then(|| Remembered::decode(view.payload))
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
        let digest = digest.filter(|dated| dated.plain || self.is_state(path, &dated.state));
        lane.entries.push(CatalogEntry {
            card,
            diagnostics,
            digest: digest.map(|dated| dated.digest),
            ..self.entry(path, files)
        });
        match lane.records.last_mut() {
            Some(WalkRecord::Old(records)) if records.end == record => records.end += 1,
            _ => lane.records.push(WalkRecord::Old(record..record + 1)),
        }
        true
    }

    /// Whether all files of a skill are in the state that a digest was computed from. False for an unreadable folder.
    fn is_state(&self, path: &[u8], state: &[u8; 16]) -> bool {
        let now = Fingerprint::of(&join(&self.base, path));
        now.is_ok_and(|now| now.hash == *state)
    }

    fn entry(&self, path: &[u8], files: ManifestFiles) -> CatalogEntry {
        CatalogEntry {
            source: self.root.source,
            root: Some(self.number),
            place: SkillLocation::Folder(self.shown(path)),
            files,
            card: None,
            diagnostics: Vec::new(),
            real: self.shown.as_ref().map(|_| join(&self.base, path)),
            digest: None,
        }
    }

    /// Reads the skill in what the listing calls a folder, without a `stat` of the folder: only the index needs its
    /// times. The kernel ensures that no link and no other file system is on the path. Returns false without effect
    /// in any unusual case and where the kernel does not support that.
    pub(super) fn read_unseen(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
    ) -> bool {
        if self.options.index.is_some() {
            return false;
        }
        let file = joined(&mut lane.path, path, b"/SKILL.md");
        let Ok(md) = manifest_file::open_straight(place.handle.as_fd(), file) else {
            return false;
        };
        let limit = self.options.limits.max_skill_bytes;
        md.stat.st_dev == place.device
            && manifest_file::check(&md.stat, limit).is_ok()
            && self.read_beside(lane, place, path, None, Ok(Some(md)))
    }

    /// Reads the skill in a folder. False if no manifest has its usual name there.
    pub(super) fn read_skill(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        stat: &Stat,
    ) -> bool {
        let md = self.open(lane, place, path, b"/SKILL.md");
        self.read_beside(lane, place, path, Some(stat), md)
    }

    /// Reads SKILL.md and its companion files. `stat` is that of the folder, if known.
    fn read_beside(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        stat: Option<&Stat>,
        md: Result<Option<OpenedManifest>, FileProblem>,
    ) -> bool {
        // A `stat` is cheaper than a failed open, and nearly no skill has this file.
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
            ..ManifestFiles::default()
        };
        if files.skill_md.is_none() && files.skill_yaml.is_none() {
            return false;
        }
        if let Ok(Some(opened)) = &md
            && self.has_other_spelling(lane, place, path, opened)
        {
            let what = "this folder contains both SKILL.md and skill.md";
            let problem =
                FileProblem::new(DiagnosticCode::FileAmbiguous, what).hint("remove one of them");
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

    /// The most common other spelling, on a case-sensitive file system; [`CatalogEntry::examine`] checks all others.
    fn has_other_spelling(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        md: &OpenedManifest,
    ) -> bool {
        let other = joined(&mut lane.path, path, b"/skill.md");
        let other = statat(place.handle, other, AtFlags::SYMLINK_NOFOLLOW);
        other.is_ok_and(|other| other.st_ino != md.stat.st_ino)
    }

    fn open(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        name: &[u8],
    ) -> Result<Option<OpenedManifest>, FileProblem> {
        let opened =
            match manifest_file::open(place.handle.as_fd(), joined(&mut lane.path, path, name)) {
                Ok(opened) => opened,
                Err(Errno::LOOP) => Some(self.open_linked(place, path, name)?),
                Err(Errno::NXIO) => {
                    return Err(FileProblem::new(
                        DiagnosticCode::FileNotRegular,
                        "it is a socket, not a file",
                    ));
                }
                Err(error) => return Err(FileProblem::unreadable(error)),
            };
        if let Some(opened) = &opened {
            manifest_file::check(&opened.stat, self.options.limits.max_skill_bytes)?;
        }
        Ok(opened)
    }

    /// A manifest that is a link: valid if it stays in its folder.
    fn open_linked(
        &self,
        place: &WalkOpening<'_>,
        path: &[u8],
        name: &[u8],
    ) -> Result<OpenedManifest, FileProblem> {
        let folder = openat(place.handle, path, FOLDER, rustix::fs::Mode::empty())
            .map_err(FileProblem::unreadable)?;
        let file = manifest_file::open_linked(&folder, &join(&self.base, path), &name[1..])?;
        let stat = rustix::fs::fstat(&file).map_err(FileProblem::unreadable)?;
        Ok(OpenedManifest { file, stat })
    }

    fn broken(&self, path: &[u8], files: ManifestFiles, problem: FileProblem) -> CatalogEntry {
        let diagnostic = Diagnostic {
            severity: problem
                .code
                .severity(self.options.mode)
                .unwrap_or(DiagnosticSeverity::Error),
            code: problem.code,
            message: problem.message.into(),
            hint: problem.hint.map(Into::into),
            file: files.main().into(),
            position: None,
        };
        CatalogEntry {
            diagnostics: vec![diagnostic],
            ..self.entry(path, files)
        }
    }

    fn read_files(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        stat: Option<&Stat>,
        manifests: Manifests,
    ) {
        let Manifests {
            mut files,
            md,
            yaml,
        } = manifests;
        let mut room = std::mem::take(&mut lane.md);
        let head = md
            .as_ref()
            .map(|md| manifest_file::read_head(&md.file, &mut room))
            .transpose();
        let yaml_text = yaml
            .as_ref()
            .map(|yaml| manifest_file::read_all(&yaml.file, self.options.limits.max_skill_bytes))
            .transpose();
        let (yaml_text, head) = match (yaml_text, head) {
            (Ok(text), Ok(head)) => (text, head),
            (Err(error), _) | (_, Err(error)) => {
                lane.md = room;
                return lane
                    .entries
                    .push(self.broken(path, files, FileProblem::unreadable(error)));
            }
        };
        let (sidecar, problem) = match self.read_sidecar(lane, place, path, stat) {
            Ok(sidecar) => (sidecar, None),
            Err(problem) => (None, Some(problem)),
        };
        files.sidecar = sidecar.is_some();
        let folder = self.folder_name(path);
        let names = (
            files.skill_md.clone().unwrap_or_default(),
            files.skill_yaml.clone().unwrap_or_default(),
        );
        let heads = Heads {
            skill_md: head.map(|head| (&*names.0, head)),
            skill_yaml: yaml_text.as_ref().map(|text| (&*names.1, &text[..])),
            sidecar: sidecar
                .as_ref()
                .map(|(_, text)| ("agents/openai.yaml", &text[..])),
        };
        let manifests = [heads.skill_md, heads.skill_yaml];
        let mut manifests = manifests.iter().flatten();
        files.no_hooks = !manifests.any(|(_, text)| hooks::may_be_named(text));
        let (card, mut diagnostics) =
            manifest_file::parse_card(folder.as_deref(), &heads, self.options.mode);
        diagnostics.extend(
            card.as_ref()
                .and_then(|card| words_instruct(card, files.main())),
        );
        let keys = stat.filter(|_| self.options.index.is_some());
        let keys = keys.map(|stat| Keys {
            folder: FileStamp::of(stat),
            skill_md: md.as_ref().map(|opened| FileStamp::of(&opened.stat)),
            skill_yaml: yaml.as_ref().map(|opened| FileStamp::of(&opened.stat)),
            sidecar: sidecar.as_ref().map(|(key, _)| *key),
            has_agents: self.has_agents(lane, place, path, stat),
        });
        let mut entry = CatalogEntry {
            card,
            diagnostics,
            ..self.entry(path, files)
        };
        entry.diagnostics.extend(problem.map(|problem| {
            let message = format!("the sidecar file was ignored: {}", problem.message);
            Diagnostic {
                severity: DiagnosticSeverity::Warning,
                code: DiagnosticCode::SidecarUnread,
                message: message.into(),
                hint: problem.hint.map(Into::into),
                file: "agents/openai.yaml".into(),
                position: None,
            }
        }));
        if let Some(keys) = keys {
            self.remember(lane, path, &keys, &entry);
        }
        lane.entries.push(entry);
        lane.md = room;
    }

    /// The last part of the path, as the name of the skill's folder.
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
        // Checking that a name is UTF-8 is much faster than converting it, and nearly every one is.
        let text = std::str::from_utf8(name).map(Cow::Borrowed);
        Some(text.unwrap_or_else(|_| String::from_utf8_lossy(name)))
    }

    /// The sidecar file, if it exists; its problems are diagnostics of the skill.
    fn read_sidecar(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        stat: Option<&Stat>,
    ) -> Result<Option<(FileStamp, Vec<u8>)>, FileProblem> {
        if !may_have_sidecar(stat) {
            return Ok(None);
        }
        // A `stat` is cheaper than a failed open; the file is opened without following links.
        let file = joined(&mut lane.path, path, b"/agents/openai.yaml");
        let look = statat(place.handle, file, AtFlags::SYMLINK_NOFOLLOW);
        if look.err() == Some(Errno::NOENT) {
            return Ok(None);
        }
        let agents = [path, b"/agents"].concat();
        let agents = match openat(place.handle, &agents[..], FOLDER, rustix::fs::Mode::empty()) {
            Ok(agents) => agents,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(FileProblem::unreadable(error)),
        };
        let opened = manifest_file::open(agents.as_fd(), b"openai.yaml");
        let Some(opened) = opened.map_err(FileProblem::unreadable)? else {
            return Ok(None);
        };
        manifest_file::check(&opened.stat, MAX_SIDECAR)?;
        let text = manifest_file::read_all(&opened.file, MAX_SIDECAR);
        Ok(Some((
            FileStamp::of(&opened.stat),
            text.map_err(FileProblem::unreadable)?,
        )))
    }

    fn has_agents(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        stat: &Stat,
    ) -> bool {
        may_have_sidecar(Some(stat))
            && statat(
                place.handle,
                joined(&mut lane.path, path, b"/agents"),
                AtFlags::SYMLINK_NOFOLLOW,
            )
            .is_ok()
    }

    /// Only what can be proven unchanged, with the usual names, is written to the index.
    fn remember(&self, lane: &mut Lane, path: &[u8], keys: &Keys, entry: &CatalogEntry) {
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
        let payload =
            Remembered::encode(&entry.files, entry.card.as_ref(), &entry.diagnostics, None);
        lane.records
            .push(WalkRecord::New(index::record(path, keys, &payload)));
    }

    /// Writes the index, if it would change: a record, or the listing of the root.
    pub(super) fn save_index(
        &self,
        index: Option<&Index>,
        lanes: &[Lane],
        listing: Option<&IndexedFolder>,
    ) {
        let Some(home) = self.options.index.filter(|_| self.shown.is_none()) else {
            return;
        };
        let records = || lanes.iter().flat_map(|lane| &lane.records);
        let kept = records().map(|record| match record {
            WalkRecord::Old(records) => Some(records.len()),
            WalkRecord::New(_) => None,
        });
        let all_kept = kept.sum::<Option<usize>>() == Some(index.map_or(0, Index::len));
        if all_kept && listing.is_none() {
            return;
        }
        let mut old = index.and_then(Index::records);
        let mut all = Vec::new();
        for record in records() {
            match (record, &mut old) {
                (WalkRecord::New(bytes), _) => all.push(bytes.clone()),
                (WalkRecord::Old(records), Some(old)) => old.copy(records.clone(), &mut all),
                (WalkRecord::Old(_), None) => {}
            }
        }
        let listing = listing.or(index.and_then(|index| index.listing.as_ref()));
        // A cache that can't be written costs only time.
        home.save(&self.base, self.options.mode, listing, &all).ok();
    }

    /// Adds a skill whose manifest has an unusual spelling; returns false if there is none.
    pub(super) fn other_spellings(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        names: &FolderNames,
    ) -> bool {
        let names = names.iter().map(|(name, _)| name);
        let manifests: Vec<&[u8]> = names.filter(|name| is_manifest_name(name)).collect();
        let before = lane.entries.len();
        if !manifests.is_empty() {
            self.other_spelling(lane, place, path, &manifests);
        }
        if lane.entries.len() > before {
            self.counted(lane);
        }
        !manifests.is_empty()
    }

    /// Reads `skill.md`, `Skill.md`, `SKILL.yml` with a warning, unless there are several.
    fn other_spelling(
        &self,
        lane: &mut Lane,
        place: &WalkOpening<'_>,
        path: &[u8],
        names: &[&[u8]],
    ) {
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
                DiagnosticCode::FileAmbiguous,
                "this folder contains several spellings of SKILL.md",
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
        self.read_files(
            lane,
            place,
            path,
            Some(&stat),
            Manifests { files, md, yaml },
        );
        let right = if is_yaml { "SKILL.yaml" } else { "SKILL.md" };
        let Some((entry, severity)) = lane
            .entries
            .last_mut()
            .zip(DiagnosticCode::FileNameCase.severity(self.options.mode))
        else {
            return;
        };
        if severity == DiagnosticSeverity::Error {
            entry.card = None;
        }
        entry.diagnostics.push(Diagnostic {
            severity,
            code: DiagnosticCode::FileNameCase,
            message: format!("the file is named `{spelling}`; other programs only read `{right}`")
                .into(),
            hint: Some(format!("rename it to `{right}`").into()),
            file: spelling.into(),
            position: None,
        });
    }
}

/// The opened manifest files of a folder.
struct Manifests {
    files: ManifestFiles,
    md: Option<OpenedManifest>,
    yaml: Option<OpenedManifest>,
}

/// `agents/openai.yaml` needs a subfolder: a directory with two hard links has none. (Some file systems don't count;
/// they report one.)
fn may_have_sidecar(stat: Option<&Stat>) -> bool {
    stat.is_none_or(|stat| stat.st_nlink != 2)
}

/// The scanner's finding about the words of a skill that every prompt shows. They are scanned when they are read, and
/// the index stores the result.
pub(crate) fn words_instruct(card: &Card, file: &str) -> Option<Diagnostic> {
    let when = card.when_to_use.as_deref().unwrap_or_default();
    let found = metier_scan::judge_words(&card.name, &card.description, when)?;
    Some(Diagnostic {
        severity: DiagnosticSeverity::Warning,
        code: DiagnosticCode::WordsInstruct,
        message: format!("{} [{}]", found.message, found.rule).into(),
        hint: None,
        file: file.into(),
        position: None,
    })
}
