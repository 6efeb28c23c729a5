//! The scans of a child's writable folders: before it starts, and after it and all its descendants have ended.
//!
//! **Problem.** The sandbox holds existing protected places. It can't hold those that a child creates, and a place with the same
//! name need not be the same object: another run may have created it, or replaced the first one.
//!
//! **Decision.** The first scan records each protected place as an object ([`ObjectMark`]). The second scan walks the same folders, and
//! renames every protected place that is not one of those objects. It renames and never deletes: the user may have created it. A
//! file that the sandbox held and that was replaced stays: only another program can have done that, such as the user's editor. It
//! is reported.
//!
//! A child can create more places than fit into memory, each with a path of any length. All of them are renamed; the first ones are listed
//! and the others are counted ([`Findings`]). The places that exist before a child starts have to be listed, so the child is not started if
//! there are too many ([`PathRoom`]).

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    ffi::{OsStr, OsString},
    fmt, io,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, AtFlags, CWD, FileType, accessat};

use super::{
    PlaceIdentity,
    classify::{EntryClassifier, Spots},
    object::{FileId, Moment, NamedObject, ObjectMark, PATH_MAX, make_accessible, rename_aside},
    protected::Protection,
    protected_files::BARE_REPOSITORY,
    trail::Trails,
    walk::{
        FolderWalk, Interest, ListedEntry, RelevantEntry, TooMany, Unopened, VisitedFolder,
        Visitor, kept, path_of, shown,
    },
};

/// How many files and folders are scanned before a child starts. If there are more, it is not started.
const MOST_BEFORE: usize = 1_000_000;
/// How many restored places and how many failures are listed. Further ones are counted.
const MOST_LISTED: usize = 1_000;
/// How many bytes the paths of protected places may have before a child starts, with [`PLACE_SIZE`] for each: some 100,000 places,
/// which is as many as can be mounted. Several copies of them are kept.
const ROOM: usize = 16 << 20;
const PLACE_SIZE: usize = 128;

/// The writable folders of a child, and how they are scanned before it starts and after it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// The protected paths.
    pub protection: Protection,
    /// Folders that the child may write.
    pub roots: Vec<PathBuf>,
    /// Single files that the child may write.
    pub files: Vec<PathBuf>,
    /// Folders `.git` that it may change in part.
    pub open: Vec<PathBuf>,
    /// Folders that are not scanned: its own temporary files.
    pub closed: Vec<PathBuf>,
}

/// The result of the first scan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Survey {
    /// Existing protected places. For a repository under any name, its folder.
    pub(crate) places: Vec<(PathBuf, ObjectMark)>,
    /// Links on the path to protected places (`.cargo -> elsewhere`). Their targets are in `covered`.
    pub(crate) links: Vec<(PathBuf, ObjectMark)>,
    /// Folders that can't be read.
    pub(crate) unreadable: Vec<(PathBuf, ObjectMark)>,
    /// Other places that have to be read-only: unreadable folders that a child could open, other names of protected files, and targets of
    /// links and settings.
    pub(crate) covered: Vec<PathBuf>,
    /// The writable folders themselves, without those inside others.
    pub(crate) roots: Vec<(PathBuf, ObjectMark)>,
    /// Whether a sandbox holds these places, so that the child can't replace them.
    pub(crate) is_fenced: bool,
}

/// Why a child is not started: its writable folders can't be scanned.
#[derive(Debug, thiserror::Error)]
pub enum SurveyError {
    /// There are too many files.
    #[error(
        "`{}` has more than {most} files and folders, and is not opened for writing: a child's writable folders are searched for \
         protected files first",
        shown(folder)
    )]
    TooMany {
        /// The writable folder with too many entries.
        folder: PathBuf,
        /// The maximum number of entries.
        most: usize,
    },
    /// A writable folder is not the object that was approved.
    #[error("`{}` was replaced while the sandbox was prepared; run it again", shown(.0))]
    Replaced(PathBuf),
    /// A folder can't be read.
    #[error(
        "can't scan `{}` for protected files before a process can write there: {source}",
        shown(folder)
    )]
    Unreadable {
        /// The folder that can't be scanned.
        folder: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// A protected place that a child created or changed, and that was restored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UndonePlace {
    /// The path that was restored.
    pub path: PathBuf,
    /// The current name of the object that was there. `None` if a link had been removed.
    pub renamed_to: Option<OsString>,
    /// How many more places were restored that are not listed. One place of a list contains the number.
    pub more: usize,
}

impl fmt::Display for UndonePlace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown(&self.path);
        match &self.renamed_to {
            Some(name) => write!(out, "{path} is now {}", name.display()),
            None => write!(out, "{path} is a link again"),
        }
    }
}

/// The result of the second scan.
#[derive(Debug, Default)]
pub(crate) struct SecondLook {
    pub(crate) undone: Vec<UndonePlace>,
    /// Places that could not be checked or restored.
    pub(crate) failed: Vec<(PathBuf, io::Error)>,
}

impl Survey {
    pub(super) fn all_places(&self) -> impl Iterator<Item = &PathBuf> {
        let places = self.places.iter().map(|(place, _)| place);
        places.chain(&self.covered)
    }

    /// Adds names of protected files, unless they are in protected folders.
    fn cover(&mut self, mut aliases: Vec<PathBuf>) {
        let places = self.places.iter().map(|(place, _)| place.as_path());
        let places: HashSet<&Path> = places.collect();
        aliases.retain(|path| !path.ancestors().any(|above| places.contains(above)));
        self.covered.extend(aliases);
    }

    /// The places that have to be read-only for the child. A writable folder that is a repository is protected in part, by name.
    pub(crate) fn protected<'s>(
        &'s self,
        roots: &'s [PathBuf],
    ) -> impl Iterator<Item = PathBuf> + 's {
        let places = self.all_places();
        places.filter(|place| !roots.contains(place)).cloned()
    }

    /// Removes the places that another run may have created: whether they existed before is not known.
    pub(crate) fn forget(&mut self, is_made: impl Fn(&Path, &ObjectMark) -> bool) {
        let made = self
            .places
            .extract_if(.., |(place, mark)| is_made(place, mark));
        self.covered.extend(made.map(|(place, _)| place));
        self.links.retain(|(link, mark)| !is_made(link, mark));
    }

    /// Sorts the known places, for [`Survey::knows`].
    pub(crate) fn sort(&mut self) {
        for known in [&mut self.places, &mut self.links] {
            known.sort_unstable_by(|(one, _), (other, _)| one.as_os_str().cmp(other.as_os_str()));
        }
    }

    /// Whether the object at a place existed before, or is a file that replaced one held by a sandbox. The survey is sorted.
    pub(crate) fn knows(&self, place: &Path, mark: &ObjectMark) -> bool {
        [&self.places, &self.links].into_iter().any(|known| {
            let start = known.partition_point(|(known, _)| known.as_os_str() < place.as_os_str());
            let same = known
                .iter()
                .skip(start)
                .take_while(|(known, _)| known == place);
            same.into_iter()
                .any(|(_, before)| self.accepts(before, mark))
        })
    }

    fn accepts(&self, before: &ObjectMark, now: &ObjectMark) -> bool {
        before == now || self.is_fenced && before.is_file() && now.is_file()
    }
}

impl Guard {
    /// Finds protected places in the writable folders, and the links to them. `named` contains protected places that are known by name,
    /// and `trails` follows all of them.
    ///
    /// # Errors
    /// When there are too many files, or a folder can't be read.
    pub(crate) fn survey(
        &self,
        named: &[PathBuf],
        trails: &mut Trails,
    ) -> Result<Survey, SurveyError> {
        self.survey_up_to(MOST_BEFORE, named, trails)
    }

    fn survey_up_to(
        &self,
        most: usize,
        named: &[PathBuf],
        trails: &mut Trails,
    ) -> Result<Survey, SurveyError> {
        let mut left = most;
        let mut before = Before {
            judge: EntryClassifier::new(self),
            survey: Survey::default(),
            folders: Vec::new(),
            room: PathRoom::default(),
            error: None,
        };
        self.through_roots(&mut before, &mut left, most)?;
        let Before {
            mut survey,
            folders,
            room,
            error,
            ..
        } = before;
        unreadable(error)?;
        survey.covered.extend(self.elsewhere(&survey));
        for place in named.iter().chain(survey.all_places()) {
            trails.of(place);
        }
        let mut inside = InPlaces {
            linked: trails.shared().clone(),
        };
        for folder in &folders {
            let walked = FolderWalk::through(folder, &mut inside, &mut left);
            walked.map_err(|TooMany| too_many(folder, most))?;
        }
        let is_other_name = |file: &&PathBuf| {
            let found = NamedObject::at(CWD, file.as_os_str());
            found.is_ok_and(|found| inside.linked.contains(&(found.device, found.inode)))
        };
        let files: Vec<PathBuf> = self.files.iter().filter(is_other_name).cloned().collect();
        survey.covered.extend(files);
        let aliases = self.other_names(inside.linked, room, most)?;
        survey.cover(aliases);
        Ok(survey)
    }

    /// The names of these files in the writable folders.
    fn other_names(
        &self,
        files: HashSet<FileId>,
        room: PathRoom,
        most: usize,
    ) -> Result<Vec<PathBuf>, SurveyError> {
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let mut aliases = Aliases {
            inodes: files.iter().map(|(_, inode)| *inode).collect(),
            linked: files,
            found: Vec::new(),
            room,
            error: None,
        };
        let mut left = most;
        self.through_roots(&mut aliases, &mut left, most)?;
        unreadable(aliases.error)?;
        Ok(aliases.found)
    }

    fn through_roots(
        &self,
        visitor: &mut impl Visitor,
        left: &mut usize,
        most: usize,
    ) -> Result<(), SurveyError> {
        for root in self.outermost() {
            let walked = FolderWalk::through(root, visitor, left);
            walked.map_err(|TooMany| too_many(root, most))?;
        }
        Ok(())
    }

    /// The writable folders that are not inside another one.
    fn outermost(&self) -> impl Iterator<Item = &PathBuf> {
        let roots: HashSet<&Path> = self.roots.iter().map(PathBuf::as_path).collect();
        let mut seen = HashSet::new();
        self.roots.iter().filter(move |root| {
            let mut above = root.ancestors().skip(1);
            !above.any(|above| roots.contains(above)) && seen.insert(*root)
        })
    }

    /// The first writable folder that was not walked, because another object or a link was there.
    pub(crate) fn replaced(
        &self,
        survey: &Survey,
        identities: &BTreeMap<PathBuf, PlaceIdentity>,
    ) -> Option<&PathBuf> {
        self.outermost().find(|root| {
            let is_it = |known: &PlaceIdentity, (walked, mark): &(PathBuf, ObjectMark)| {
                walked == *root && mark.is_at(known.device, known.inode)
            };
            let known = identities.get(*root);
            known.is_some_and(|known| !survey.roots.iter().any(|walked| is_it(known, walked)))
        })
    }

    /// Scans again, and renames protected places that did not exist before. Files created after `ended` belong to the user.
    pub(crate) fn second_look(&self, before: &Survey, ended: Option<Moment>) -> SecondLook {
        let known = before.places.iter().chain(&before.links);
        let unreadable = before.unreadable.iter();
        let mut after = After {
            judge: EntryClassifier::new(self),
            known: known.map(|(place, mark)| (place.as_path(), mark)).collect(),
            unreadable: unreadable
                .clone()
                .map(|(place, _)| place.as_path())
                .collect(),
            passed: unreadable.map(|(_, mark)| mark).collect(),
            before,
            ended,
            found: Findings::default(),
        };
        // There is no limit: a child could reach it, and later files would stay. A scan costs less than creating the files did.
        let mut left = usize::MAX;
        for root in self.outermost() {
            if let Err(TooMany) = FolderWalk::through(root, &mut after, &mut left) {
                let error = io::Error::other("there are too many files to scan");
                after.found.look.failed.push((root.clone(), error));
            }
        }
        after.found.listed(&self.roots)
    }
}

/// The first places of the second scan, and the number of the others.
#[derive(Debug, Default)]
struct Findings {
    look: SecondLook,
    more_undone: usize,
    more_failed: usize,
}

impl Findings {
    fn undid(&mut self, folder: &Path, name: &OsStr, renamed_to: &OsStr) {
        if self.look.undone.len() >= MOST_LISTED {
            self.more_undone += 1;
            return;
        }
        self.look.undone.push(UndonePlace {
            path: kept(folder).join(name),
            renamed_to: Some(renamed_to.to_owned()),
            more: 0,
        });
    }

    fn failed(&mut self, place: impl FnOnce() -> PathBuf, error: io::Error) {
        match self.look.failed.len() < MOST_LISTED {
            true => self.look.failed.push((place(), error)),
            false => self.more_failed += 1,
        }
    }

    /// The places, with the numbers of those that are not listed.
    fn listed(self, roots: &[PathBuf]) -> SecondLook {
        let mut look = self.look;
        if let Some(first) = look.undone.first_mut() {
            first.more = self.more_undone;
        }
        if self.more_failed > 0 {
            let folder = roots.first().cloned().unwrap_or_default();
            let error = format!("{} more places are not listed", self.more_failed);
            // At the front: a message names only the first places.
            look.failed.insert(0, (folder, io::Error::other(error)));
        }
        look
    }
}

/// The maximum total size of the paths that a first scan keeps.
#[derive(Debug)]
struct PathRoom {
    left: usize,
}

impl Default for PathRoom {
    fn default() -> Self {
        Self { left: ROOM }
    }
}

impl PathRoom {
    /// The path of an entry, in the form that is kept.
    fn path(&mut self, folder: &Path, name: &OsStr) -> io::Result<PathBuf> {
        let path = path_of(folder, name).ok_or(rustix::io::Errno::NAMETOOLONG)?;
        self.take(&path)?;
        Ok(path)
    }

    /// The path of a place that was found: a link is kept with its target.
    fn place(
        &mut self,
        folder: &Path,
        name: &OsStr,
        mark: ObjectMark,
    ) -> io::Result<(PathBuf, ObjectMark)> {
        if let ObjectMark::Link(target) = &mark {
            self.take(Path::new(target))?;
        }
        Ok((self.path(folder, name)?, mark))
    }

    /// Counts a path against the limit. A path that is too long for the kernel can't be protected.
    fn take(&mut self, path: &Path) -> io::Result<()> {
        let length = path.as_os_str().len();
        if length >= PATH_MAX {
            return Err(rustix::io::Errno::NAMETOOLONG.into());
        }
        let left = self.left.checked_sub(length + PLACE_SIZE);
        self.left = left.ok_or_else(|| io::Error::other("there are too many protected files"))?;
        Ok(())
    }
}

fn unreadable(error: Option<(PathBuf, io::Error)>) -> Result<(), SurveyError> {
    match error {
        Some((folder, source)) => Err(SurveyError::Unreadable { folder, source }),
        None => Ok(()),
    }
}

fn too_many(folder: &Path, most: usize) -> SurveyError {
    SurveyError::TooMany {
        folder: folder.to_owned(),
        most,
    }
}

fn interest(is_wanted: bool) -> Interest {
    match is_wanted {
        true => Interest::Relevant,
        false => Interest::Other,
    }
}

/// The scan before the child starts.
struct Before<'g> {
    judge: EntryClassifier<'g>,
    survey: Survey,
    /// Protected places that are folders.
    folders: Vec<PathBuf>,
    room: PathRoom,
    error: Option<(PathBuf, io::Error)>,
}

impl Before<'_> {
    /// Keeps the protected places of a folder. Whether the folder is a repository that is protected as a whole.
    fn keep(&mut self, folder: &VisitedFolder<'_>, spots: Spots) -> io::Result<bool> {
        if spots.is_repository {
            self.room.take(folder.path)?;
            let place = (folder.path.to_owned(), folder.mark.clone());
            self.survey.places.push(place);
            if folder.depth > 0 {
                self.folders.push(folder.path.to_owned());
                return Ok(true);
            }
        }
        for (name, behind) in spots.links {
            if let Ok(found) = NamedObject::at(folder.handle, &name) {
                let link = self.room.place(folder.path, &name, found.mark)?;
                behind.iter().try_for_each(|place| self.room.take(place))?;
                self.survey.links.push(link);
                self.survey.covered.extend(behind);
            }
        }
        for entry in spots.entries {
            let found = match NamedObject::at(folder.handle, &entry.name) {
                Err(rustix::io::Errno::NOENT) => continue,
                found => found?,
            };
            let place = self.room.place(folder.path, &entry.name, found.mark)?;
            if found.kind == FileType::Directory {
                self.folders.push(place.0.clone());
            }
            self.survey.places.push(place);
        }
        Ok(false)
    }
}

impl Visitor for Before<'_> {
    fn sees(&mut self, folder: &VisitedFolder<'_>, entry: &ListedEntry<'_>) -> Interest {
        interest(self.judge.wants(folder, entry.name))
    }

    fn passes(&self, _folder: &NamedObject) -> bool {
        false
    }

    fn visit(
        &mut self,
        folder: &VisitedFolder<'_>,
        wanted: Vec<RelevantEntry>,
    ) -> Option<Vec<OsString>> {
        let mut spots = self.judge.spots(folder, wanted);
        let inner = std::mem::take(&mut spots.inner);
        if folder.depth == 0 {
            let root = (folder.path.to_owned(), folder.mark.clone());
            self.survey.roots.push(root);
        }
        match self.keep(folder, spots) {
            Ok(is_whole) => (!is_whole && self.error.is_none()).then_some(inner),
            Err(error) => {
                self.error = Some((kept(folder.path), error));
                None // no child is started
            }
        }
    }

    /// A folder that can't be read is skipped; if the child could open it, it is read-only.
    fn fails(&mut self, place: Unopened<'_>, error: io::Error) -> bool {
        let Some((at, name)) = place.around else {
            self.error = Some((kept(place.path), error));
            return false;
        };
        if error.kind() != io::ErrorKind::PermissionDenied {
            self.error = Some((kept(place.path), error));
            return false;
        }
        if let Err(error) = self.room.take(place.path) {
            self.error = Some((kept(place.path), error));
            return false;
        }
        let path = place.path.to_owned();
        let found = NamedObject::at(at, name).ok();
        let can_write = || accessat(at, name, Access::WRITE_OK, AtFlags::empty()).is_ok();
        if found
            .as_ref()
            .is_some_and(|found| found.is_ours() || can_write())
        {
            self.survey.covered.push(path.clone());
        }
        let mark = found.map_or(ObjectMark::UNSEEN, |found| found.mark);
        self.survey.unreadable.push((path, mark));
        false
    }
}

/// Finds files with more than one name in protected folders.
struct InPlaces {
    linked: HashSet<FileId>,
}

impl Visitor for InPlaces {
    fn sees(&mut self, folder: &VisitedFolder<'_>, entry: &ListedEntry<'_>) -> Interest {
        if entry.is_folder {
            // Objects of git are named after their content, and clones on one machine share them.
            let is_git = || NamedObject::at(folder.handle, OsStr::new("HEAD")).is_ok();
            return match entry.name == "objects" && is_git() {
                true => Interest::Closed,
                false => Interest::Other,
            };
        }
        if let Ok(found) = NamedObject::at(folder.handle, entry.name)
            && found.kind == FileType::RegularFile
            && found.names > 1
        {
            self.linked.insert((found.device, found.inode));
        }
        Interest::Other
    }

    fn passes(&self, _folder: &NamedObject) -> bool {
        false
    }

    fn visit(&mut self, _: &VisitedFolder<'_>, _: Vec<RelevantEntry>) -> Option<Vec<OsString>> {
        Some(Vec::new())
    }

    /// Entries that can't be read in a protected folder are skipped.
    fn fails(&mut self, _place: Unopened<'_>, _error: io::Error) -> bool {
        false
    }
}

/// Finds other names of protected files.
struct Aliases {
    linked: HashSet<FileId>,
    inodes: HashSet<u64>,
    found: Vec<PathBuf>,
    room: PathRoom,
    error: Option<(PathBuf, io::Error)>,
}

impl Visitor for Aliases {
    fn sees(&mut self, folder: &VisitedFolder<'_>, entry: &ListedEntry<'_>) -> Interest {
        if self.inodes.contains(&entry.inode)
            && let Ok(found) = NamedObject::at(folder.handle, entry.name)
            && self.linked.contains(&(found.device, found.inode))
        {
            match self.room.path(folder.path, entry.name) {
                Ok(path) => self.found.push(path),
                Err(error) => self.error = Some((kept(folder.path), error)),
            }
        }
        Interest::Other
    }

    fn passes(&self, _folder: &NamedObject) -> bool {
        false
    }

    fn visit(&mut self, _: &VisitedFolder<'_>, _: Vec<RelevantEntry>) -> Option<Vec<OsString>> {
        self.error.is_none().then(Vec::new)
    }

    /// The first scan has already decided about folders that can't be opened.
    fn fails(&mut self, _place: Unopened<'_>, _error: io::Error) -> bool {
        false
    }
}

/// The scan after the child ended.
struct After<'g> {
    judge: EntryClassifier<'g>,
    before: &'g Survey,
    known: HashMap<&'g Path, &'g ObjectMark>,
    unreadable: HashSet<&'g Path>,
    /// The unreadable folders as objects.
    passed: HashSet<&'g ObjectMark>,
    ended: Option<Moment>,
    found: Findings,
}

impl After<'_> {
    /// Whether a place existed before. No known place has a path over the limit, and comparing such a path would read all of it.
    fn knows(&self, path: &Path, mark: &ObjectMark) -> bool {
        if path.as_os_str().len() >= PATH_MAX {
            return false;
        }
        let known = self.known.get(path);
        known.is_some_and(|known| self.before.accepts(known, mark))
    }

    /// Renames an entry, unless it existed before, replaced a file held by a sandbox, or belongs to the user; returns the new name of a
    /// folder.
    fn set_aside(&mut self, folder: &VisitedFolder<'_>, name: &OsStr) -> Option<OsString> {
        let place = || kept(folder.path).join(name);
        let found = match NamedObject::at(folder.handle, name) {
            Ok(found) => found,
            Err(rustix::io::Errno::NOENT) => return None,
            Err(error) => {
                self.found.failed(place, error.into());
                return None;
            }
        };
        let is_users = |ended| found.is_younger_than(ended, folder.handle);
        let path = path_of(folder.path, name);
        let is_known = path.is_some_and(|path| self.knows(&path, &found.mark));
        if is_known || !found.is_ours() || self.ended.is_some_and(is_users) {
            return None;
        }
        match rename_aside(folder.handle, name) {
            Ok(renamed) => {
                self.found.undid(folder.path, name, &renamed);
                Some(renamed).filter(|_| found.kind == FileType::Directory)
            }
            Err(error) => {
                self.found.failed(place, error);
                None
            }
        }
    }
}

impl Visitor for After<'_> {
    fn sees(&mut self, folder: &VisitedFolder<'_>, entry: &ListedEntry<'_>) -> Interest {
        interest(self.judge.wants(folder, entry.name))
    }

    fn passes(&self, folder: &NamedObject) -> bool {
        self.passed.contains(&folder.mark)
    }

    fn visit(
        &mut self,
        folder: &VisitedFolder<'_>,
        wanted: Vec<RelevantEntry>,
    ) -> Option<Vec<OsString>> {
        let spots = self.judge.spots(folder, wanted);
        let mut inner = spots.inner;
        if spots.is_repository {
            match self.knows(folder.path, folder.mark) {
                true if folder.depth > 0 => return None,
                true => {}
                false => {
                    self.set_aside(folder, OsStr::new(BARE_REPOSITORY[0]));
                }
            }
        }
        for entry in spots.entries {
            // The content of a renamed folder must have no effect either: `.git` is a repository under any name.
            inner.extend(self.set_aside(folder, &entry.name));
        }
        for (name, _) in spots.links {
            self.set_aside(folder, &name);
        }
        Some(inner)
    }

    /// Opens a folder that the child may have closed to hide its content.
    fn fails(&mut self, place: Unopened<'_>, error: io::Error) -> bool {
        if place.path.as_os_str().len() < PATH_MAX && self.unreadable.contains(place.path) {
            return false; // it could not be read before either
        }
        let is_closed = error.kind() == io::ErrorKind::PermissionDenied;
        let opened = match place.around {
            Some((at, name)) if is_closed => make_accessible(at, name),
            _ => Err(error),
        };
        match opened {
            Ok(()) => true,
            Err(error) => {
                self.found.failed(|| kept(place.path), error);
                false
            }
        }
    }
}

#[cfg(test)]
#[path = "survey_tests.rs"]
mod tests;
