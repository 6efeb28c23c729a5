//! The possible objects at a place: a folder of files, a file, a link, or nothing.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, symlink},
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
    time::UNIX_EPOCH,
};

use metier_package::PackageTree;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

/// How many files are synced at the same time.
const MAX_WAITS: usize = 8;

/// The content that a place gets.
#[derive(Clone, Debug)]
pub enum NewContent {
    /// A folder with these files.
    Tree(PackageTree),
    /// A file with this content.
    File(Vec<u8>),
    /// A file with this content that only its owner can read.
    PrivateFile(Vec<u8>),
    /// A symbolic link to this target.
    Link(PathBuf),
    /// A copy of the object here: a folder, a file or a link.
    CopyOf(PathBuf),
    /// The place becomes empty.
    Absent,
}

/// The identity of the object at a path: links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub(crate) struct Identity {
    device: u64,
    inode: u64,
    /// When it was created, in nanoseconds, if the file system records that: inode numbers are reused.
    born: Option<u64>,
}

impl Identity {
    /// Whether both are on one file system.
    pub(crate) const fn is_beside(&self, other: &Self) -> bool {
        self.device == other.device
    }

    /// The identity of the object at a path; `None` if there is none.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(Some(Self {
                device: metadata.dev(),
                inode: metadata.ino(),
                born: metadata
                    .created()
                    .ok()
                    .and_then(|born| born.duration_since(UNIX_EPOCH).ok())
                    .and_then(|since| u64::try_from(since.as_nanos()).ok()),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Writes new content to an empty path. It is on the disk after [`sync_all`].
pub(crate) fn create(path: &Path, content: &NewContent) -> io::Result<()> {
    match content {
        NewContent::Tree(tree) => create_tree(path, tree),
        NewContent::File(bytes) => create_file(path, bytes, 0o644),
        NewContent::PrivateFile(bytes) => create_file(path, bytes, 0o600),
        NewContent::Link(target) => symlink(target, path),
        NewContent::CopyOf(original) => copy(original, path),
        NewContent::Absent => Ok(()),
    }
}

fn create_tree(path: &Path, tree: &PackageTree) -> io::Result<()> {
    folder(path)?;
    let mut last = PathBuf::new();
    for file in tree.files() {
        let place = path.join(file.path.as_str());
        let parent = place.parent().unwrap_or(path);
        if parent != last {
            fs::DirBuilder::new()
                .mode(0o755)
                .recursive(true)
                .create(parent)?;
            parent.clone_into(&mut last);
        }
        create_file(&place, &file.bytes, 0o644)?;
    }
    Ok(())
}

fn folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o755).create(path)
}

fn create_file(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)?;
    file.write_all(bytes)
}

/// Copies the object at a path; a link stays a link.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let kind = fs::symlink_metadata(from)?.file_type();
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if !kind.is_dir() {
        return copy_file(from, to);
    }
    folder(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mode = source.metadata()?.mode() & 0o777;
    let mut target = File::options()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(to)?;
    io::copy(&mut source, &mut target).map(drop)
}

/// These paths and everything below those that are folders. A link counts as an entry of its folder and is not followed.
pub(crate) fn everything_in<'p>(
    paths: impl Iterator<Item = &'p Path>,
) -> io::Result<BTreeSet<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut todo: Vec<PathBuf> = paths.map(Path::to_owned).collect();
    while let Some(path) = todo.pop() {
        let kind = match fs::symlink_metadata(&path) {
            Ok(metadata) => metadata.file_type(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if kind.is_symlink() {
            continue;
        }
        if kind.is_dir() {
            for entry in fs::read_dir(&path)? {
                todo.push(entry?.path());
            }
        }
        found.insert(path);
    }
    Ok(found)
}

/// Waits until all of these files and folders are on the disk, for several at the same time: a file system then writes them together, and
/// not one after the other.
pub(crate) fn sync_all(paths: BTreeSet<PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    let threads = paths.len().min(MAX_WAITS);
    let paths = Mutex::new(paths.into_iter());
    let next = || paths.lock().ok()?.next();
    let wait = || {
        while let Some(path) = next() {
            File::open(&path)
                .and_then(|file| file.sync_all())
                .map_err(|error| (path, error))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(wait)).collect();
        let own = wait();
        let ended = others.into_iter().map(|other| {
            let ended = other.join();
            ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        ended.fold(own, Result::and)
    })
}

/// Waits until the names in the folder above are on the disk.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), sync_folder)
}

/// Waits until the names in a folder are on the disk.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Exchanges the objects at two paths in one step. The caller syncs the folders of both.
pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    rename_with(one, other, RenameFlags::EXCHANGE)
}

/// Whether the error means that the file system does not support the exchange.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    let unsupported = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP];
    unsupported
        .iter()
        .any(|one| error.raw_os_error() == Some(one.raw_os_error()))
}

/// Moves to an empty path. The caller syncs the folders of both.
pub(crate) fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    rename_with(from, to, RenameFlags::NOREPLACE)
}

fn rename_with(from: &Path, to: &Path, flags: RenameFlags) -> io::Result<()> {
    Ok(renameat_with(CWD, from, CWD, to, flags)?)
}

/// Moves the object at a path, if necessary to another file system: it is then copied, and removed when the copy is on the disk.
pub(crate) fn move_anywhere(from: &Path, to: &Path) -> io::Result<()> {
    match move_to(from, to) {
        Err(error) if error.raw_os_error() == Some(Errno::XDEV.raw_os_error()) => {
            let part = to.with_extension("part");
            remove(&part)?;
            copy(from, &part)?;
            sync_all(everything_in([part.as_path()].into_iter())?).map_err(|(_, error)| error)?;
            move_to(&part, to)?;
            sync_parent(to)?;
            remove(from)
        }
        done => done,
    }
}

/// Removes the object at a path, if there is one.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
