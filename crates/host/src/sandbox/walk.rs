//! A walk through a folder and everything below it, by handles: no path is too long for it, no tree too deep, and no link is followed.
//!
//! A folder is opened from the handle of its parent. Only the innermost handles are kept open; an outer folder is opened again as the
//! parent of the folder that was left, and compared with its earlier state. No folder is too large for it either: the names of folders that
//! are entered later are in a [`NameStack`], and a visitor keeps only relevant entries.

use std::{
    cell::OnceCell,
    collections::VecDeque,
    ffi::{OsStr, OsString},
    io,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::ffi::OsStrExt,
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, FileType, RawDir, statat},
    io::Errno,
};

use super::{
    name_stack::NameStack,
    names::NameSet,
    object::{FOLDER, NamedObject, ObjectMark, PATH_MAX, open_folder},
};

/// How many handles stay open.
const OPEN_HANDLES: usize = 32;
/// The longest path that is followed, in bytes: 8,000 folders with the longest names. Otherwise a child could nest folders until this
/// program runs out of memory, since each level needs some.
const LONGEST_PATH: usize = 2 << 20;
/// How many bytes of entries one read returns.
const BUFFER: usize = 32 << 10;

/// Takes part in a walk.
pub(super) trait Visitor {
    /// How the visitor treats an entry.
    fn sees(&mut self, folder: &VisitedFolder<'_>, entry: &ListedEntry<'_>) -> Interest;

    /// Whether a folder is skipped.
    fn passes(&self, folder: &NamedObject) -> bool;

    /// Visits the relevant entries. Returns which folders are entered besides the others, or `None` to enter none.
    fn visit(
        &mut self,
        folder: &VisitedFolder<'_>,
        wanted: Vec<RelevantEntry>,
    ) -> Option<Vec<OsString>>;

    /// Called when a folder can't be opened or read. Returns whether to retry.
    fn fails(&mut self, place: Unopened<'_>, error: io::Error) -> bool;
}

/// How a visitor treats an entry. Relevant entries are kept in memory until the folder is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// It is visited, and entered only if the visitor decides so.
    Relevant,
    /// It is entered if it is a folder.
    Other,
    /// It is not entered.
    Closed,
}

/// An entry as listed in its folder.
pub(super) struct ListedEntry<'w> {
    pub(super) name: &'w OsStr,
    pub(super) inode: u64,
    pub(super) is_folder: bool,
}

/// A folder that is being visited.
pub(super) struct VisitedFolder<'w> {
    pub(super) handle: BorrowedFd<'w>,
    pub(super) path: &'w Path,
    /// How many folders it is below the start of the walk.
    pub(super) depth: usize,
    pub(super) mark: &'w ObjectMark,
    names: OnceCell<NameSet>,
}

impl VisitedFolder<'_> {
    /// How the folder compares names. It is determined once.
    pub(super) fn names(&self) -> NameSet {
        *self.names.get_or_init(|| NameSet::of_handle(self.handle))
    }
}

/// A folder that could not be opened.
pub(super) struct Unopened<'w> {
    pub(super) path: &'w Path,
    /// Its parent folder, unless the walk starts here.
    pub(super) around: Option<(BorrowedFd<'w>, &'w OsStr)>,
}

/// A relevant entry.
pub(super) struct RelevantEntry {
    pub(super) name: OsString,
    pub(super) is_folder: bool,
    pub(super) is_link: bool,
}

struct WalkLevel {
    device: (u32, u32),
    inode: u64,
    /// The length of its path.
    length: usize,
    /// The height of the stack below the names of this level.
    start: u64,
}

/// A walk through a folder tree.
pub(super) struct FolderWalk<'v, V> {
    visitor: &'v mut V,
    /// How many more entries are visited.
    left: &'v mut usize,
    path: OsString,
    levels: Vec<WalkLevel>,
    /// The folders of all levels that are still to be entered.
    waiting: NameStack,
    /// The handles of the innermost levels.
    handles: VecDeque<OwnedFd>,
}

/// There are more entries than the limit of the walk.
#[derive(Debug)]
pub(super) struct TooMany;

impl<'v, V: Visitor> FolderWalk<'v, V> {
    /// Walks through a folder. `left` is the remaining number of entries, and is counted down.
    pub(super) fn through(
        root: &Path,
        visitor: &'v mut V,
        left: &'v mut usize,
    ) -> Result<(), TooMany> {
        let mut walk = Self {
            visitor,
            left,
            path: root.as_os_str().to_owned(),
            levels: Vec::new(),
            waiting: NameStack::new(root.to_owned()),
            handles: VecDeque::new(),
        };
        walk.begin()?;
        while let Some(level) = walk.levels.last() {
            match walk.waiting.pop_above(level.start) {
                Ok(Some(name)) => walk.enter(&name)?,
                Ok(None) => walk.leave(),
                Err(error) => {
                    walk.failed(error);
                    walk.levels.clear();
                }
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), TooMany> {
        let open = |path: &OsStr| rustix::fs::open(path, FOLDER, rustix::fs::Mode::empty());
        match open(&self.path) {
            Ok(handle) => self.look(handle),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(()),
            Err(error) => {
                let place = Unopened {
                    path: Path::new(&self.path),
                    around: None,
                };
                self.visitor.fails(place, error.into());
                Ok(())
            }
        }
    }

    fn enter(&mut self, name: &OsStr) -> Result<(), TooMany> {
        let length = self.path.len();
        self.path.push("/");
        self.path.push(name);
        let entered = self.enter_named(name);
        if self
            .levels
            .last()
            .is_none_or(|level| level.length <= length)
        {
            self.cut(length);
        }
        entered
    }

    fn enter_named(&mut self, name: &OsStr) -> Result<(), TooMany> {
        let Some(around) = self.handles.back() else {
            return Ok(());
        };
        let mut opened = open_folder(around.as_fd(), name);
        if self.path.len() > LONGEST_PATH {
            opened = Err(Errno::NAMETOOLONG);
        }
        if let Err(error) = opened {
            if matches!(error, Errno::NOENT | Errno::NOTDIR | Errno::LOOP) {
                return Ok(()); // gone, or a link in the meantime
            }
            let place = Unopened {
                path: Path::new(&self.path),
                around: Some((around.as_fd(), name)),
            };
            if !self.visitor.fails(place, error.into()) {
                return Ok(());
            }
            opened = open_folder(around.as_fd(), name);
        }
        match opened {
            Ok(handle) => self.look(handle),
            Err(error) => {
                self.failed(error.into());
                Ok(())
            }
        }
    }

    /// Visits the entries of an open folder, and continues with the folders in it.
    fn look(&mut self, handle: OwnedFd) -> Result<(), TooMany> {
        let found = match NamedObject::at(handle.as_fd(), OsStr::new("")) {
            Ok(found) => found,
            Err(error) => {
                self.failed(error.into());
                return Ok(());
            }
        };
        if self.visitor.passes(&found) {
            return Ok(());
        }
        let folder = VisitedFolder {
            handle: handle.as_fd(),
            path: Path::new(&self.path),
            depth: self.levels.len(),
            mark: &found.mark,
            names: OnceCell::new(),
        };
        let start = self.waiting.height();
        let mut reading = FolderReading {
            visitor: &mut *self.visitor,
            left: &mut *self.left,
            waiting: &mut self.waiting,
            wanted: Vec::new(),
        };
        let read = reading.read(&folder);
        let wanted = reading.wanted;
        if *self.left == 0 {
            return Err(TooMany);
        }
        match self.visitor.visit(&folder, wanted) {
            Some(more) => more.iter().for_each(|name| self.waiting.push(name)),
            None => self.waiting.cut(start),
        }
        match read {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => self.failed(error.into()),
        }
        self.levels.push(WalkLevel {
            device: found.device,
            inode: found.inode,
            length: self.path.len(),
            start,
        });
        self.handles.push_back(handle);
        if self.handles.len() > OPEN_HANDLES {
            self.handles.pop_front();
        }
        Ok(())
    }

    /// Returns to the parent of the finished folder.
    fn leave(&mut self) {
        self.levels.pop();
        let done = self.handles.pop_back();
        let Some(level) = self.levels.last() else {
            return;
        };
        let (length, id) = (level.length, (level.device, level.inode));
        self.cut(length);
        if !self.handles.is_empty() {
            return;
        }
        let parent = match done {
            Some(done) => open_folder(done.as_fd(), OsStr::new("..")),
            None => Err(Errno::BADF),
        };
        let parent = parent.and_then(|parent| {
            let found = NamedObject::at(parent.as_fd(), OsStr::new(""))?;
            match (found.device, found.inode) == id {
                true => Ok(parent),
                false => Err(Errno::STALE),
            }
        });
        match parent {
            Ok(parent) => self.handles.push_back(parent),
            // The folder was moved meanwhile; the remaining entries of the outer levels can't be reached.
            Err(error) => {
                self.failed(error.into());
                self.levels.clear();
            }
        }
    }

    fn failed(&mut self, error: io::Error) {
        let place = Unopened {
            path: Path::new(&self.path),
            around: None,
        };
        self.visitor.fails(place, error);
    }

    fn cut(&mut self, length: usize) {
        let mut bytes = std::mem::take(&mut self.path).into_encoded_bytes();
        bytes.truncate(length);
        self.path = std::os::unix::ffi::OsStringExt::from_vec(bytes);
    }
}

/// Reading the entries of one folder.
struct FolderReading<'r, V> {
    visitor: &'r mut V,
    left: &'r mut usize,
    waiting: &'r mut NameStack,
    wanted: Vec<RelevantEntry>,
}

impl<V: Visitor> FolderReading<'_, V> {
    fn read(&mut self, folder: &VisitedFolder<'_>) -> Result<(), Errno> {
        let mut buffer = [MaybeUninit::uninit(); BUFFER];
        let mut entries = RawDir::new(folder.handle, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            *self.left = self.left.saturating_sub(1);
            if *self.left == 0 {
                return Ok(());
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let found = statat(folder.handle, name, AtFlags::SYMLINK_NOFOLLOW);
                    found.map_or(FileType::Unknown, |found| {
                        FileType::from_raw_mode(found.st_mode)
                    })
                }
                kind => kind,
            };
            let listed = ListedEntry {
                name,
                inode: entry.ino(),
                is_folder: kind.is_dir(),
            };
            match self.visitor.sees(folder, &listed) {
                Interest::Relevant => self.wanted.push(RelevantEntry {
                    name: name.to_owned(),
                    is_folder: kind.is_dir(),
                    is_link: kind.is_symlink(),
                }),
                Interest::Other if kind.is_dir() => self.waiting.push(name),
                Interest::Other | Interest::Closed => {}
            }
        }
        Ok(())
    }
}

/// A path for display: the middle of a very long one is left out. It is never copied as a whole.
pub(crate) fn shown(path: &Path) -> String {
    const EITHER: usize = 150;
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() <= 3 * EITHER {
        return path.display().to_string();
    }
    let (head, rest) = bytes.split_at(EITHER);
    let (_, tail) = rest.split_at(rest.len() - EITHER);
    let [head, tail] = [head, tail].map(String::from_utf8_lossy);
    // A truncated character is replaced by a marker.
    let cut = char::REPLACEMENT_CHARACTER;
    let (head, tail) = (head.trim_end_matches(cut), tail.trim_start_matches(cut));
    format!("{head}…{tail}")
}

/// A path in the form that is kept for display. A long one is shortened: otherwise a child could create enough of them to fill the memory.
pub(super) fn kept(path: &Path) -> PathBuf {
    match path.as_os_str().len() < PATH_MAX {
        true => path.to_owned(),
        false => shown(path).into(),
    }
}

/// The path of an entry, unless it is too long for the kernel.
pub(super) fn path_of(folder: &Path, name: &OsStr) -> Option<PathBuf> {
    let length = folder.as_os_str().len() + 1 + name.len();
    (length < PATH_MAX).then(|| folder.join(name))
}
