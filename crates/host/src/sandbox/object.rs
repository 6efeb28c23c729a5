//! Files and folders as objects: which object has a name, whether it is the one that had the name before, and how it is renamed or opened.
//! Each step starts at the handle of a folder and follows no link.

use std::{
    ffi::{OsStr, OsString},
    hash::{BuildHasher, RandomState},
    io,
    os::{
        fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
};

use rustix::{
    fs::{
        AtFlags, FileType, Mode, OFlags, RenameFlags, StatxFlags, chmod, fstatfs, openat,
        readlinkat, renameat_with, statx,
    },
    io::Errno,
};

/// A path of this length or more can't be given to the kernel.
pub(crate) const PATH_MAX: usize = 4096;
/// How a folder is opened to read its entries.
pub(crate) const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);
/// How often another random name is tried.
const TRIES: usize = 16;
/// How much of a name is kept before `.undone-…`. The longest file name has 255 bytes.
const KEPT_NAME: usize = 200;
/// File systems whose times come from the clock of this machine: ext4, XFS, btrfs, tmpfs, overlayfs, F2FS, ZFS, bcachefs.
const LOCAL_CLOCKS: [u64; 8] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0x794c_7630,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0xca45_1a4e,
];

/// A moment of the file system's clock: seconds and nanoseconds.
pub(crate) type Moment = (i64, u32);

/// A file under any of its names: its device and its inode number.
pub(crate) type FileId = ((u32, u32), u64);

/// The identity of an object, as opposed to another one of the same name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ObjectMark {
    /// The device, the inode, and its creation time: inode numbers are reused.
    Object {
        device: (u32, u32),
        inode: u64,
        born: Option<Moment>,
        is_file: bool,
    },
    /// A link with this target. Links with the same target are equal.
    Link(OsString),
}

impl ObjectMark {
    /// The mark of an object that can't be inspected. No object has it.
    pub(crate) const UNSEEN: Self = Self::Object {
        device: (0, 0),
        inode: 0,
        born: None,
        is_file: false,
    };

    /// Whether it is the object with this number on this device.
    pub(crate) fn is_at(&self, at: (u32, u32), number: u64) -> bool {
        matches!(self, Self::Object { device, inode, .. } if (*device, *inode) == (at, number))
    }

    /// Whether it is a regular file.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::Object { is_file: true, .. })
    }
}

/// The object that has a name now.
#[derive(Clone, Debug)]
pub(crate) struct NamedObject {
    pub(crate) kind: FileType,
    pub(crate) owner: u32,
    /// How many names a file has.
    pub(crate) names: u32,
    pub(crate) device: (u32, u32),
    pub(crate) inode: u64,
    pub(crate) born: Option<Moment>,
    pub(crate) mark: ObjectMark,
}

impl NamedObject {
    /// Inspects an entry of a folder; an empty name is the folder itself.
    pub(crate) fn at(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Self, Errno> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::EMPTY_PATH;
        let asked = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let found = statx(folder, name, flags, asked)?;
        let knows_birth = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        let born = knows_birth.then_some((found.stx_btime.tv_sec, found.stx_btime.tv_nsec));
        let kind = FileType::from_raw_mode(found.stx_mode.into());
        let device = (found.stx_dev_major, found.stx_dev_minor);
        let mark = match kind {
            FileType::Symlink => {
                let target = readlinkat(folder, name, Vec::new())?;
                ObjectMark::Link(OsString::from_vec(target.into_bytes()))
            }
            _ => ObjectMark::Object {
                device,
                inode: found.stx_ino,
                born,
                is_file: kind == FileType::RegularFile,
            },
        };
        Ok(Self {
            kind,
            owner: found.stx_uid,
            names: found.stx_nlink,
            device,
            inode: found.stx_ino,
            born,
            mark,
        })
    }

    /// Whether it belongs to the user of this program, as all files that a child creates do.
    pub(crate) fn is_ours(&self) -> bool {
        self.owner == rustix::process::geteuid().as_raw()
    }

    /// Whether it was created after this moment, on a file system that records it reliably.
    pub(crate) fn is_younger_than(&self, moment: Moment, folder: BorrowedFd<'_>) -> bool {
        let is_local = || {
            let kind = fstatfs(folder).map(|found| found.f_type);
            let kind = kind.ok().and_then(|kind| u64::try_from(kind).ok());
            kind.is_some_and(|kind| LOCAL_CLOCKS.contains(&kind))
        };
        self.born.is_some_and(|born| born > moment) && is_local()
    }
}

/// Opens a folder inside another one.
pub(crate) fn open_folder(at: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    openat(at, name, FOLDER, Mode::empty())
}

/// Gives the user back their rights to a folder inside another one. Through a handle that follows no link.
pub(crate) fn make_accessible(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(at, name, flags, Mode::empty())?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&folder)?.st_mode);
    if mode.contains(Mode::RWXU) {
        return Ok(());
    }
    give_back(folder.as_fd())
}

/// Gives the user back their rights to a folder that is open.
pub(crate) fn give_back(folder: BorrowedFd<'_>) -> io::Result<()> {
    let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
    chmod(path, Mode::RWXU).map_err(Into::into)
}

/// Gives an object a name that has no effect and that no child can have used before; returns the name.
pub(crate) fn rename_aside(at: BorrowedFd<'_>, name: &OsStr) -> io::Result<OsString> {
    let bytes = name.as_bytes();
    let kept = bytes.get(..KEPT_NAME).unwrap_or(bytes);
    for _ in 0..TRIES {
        let number = RandomState::new().hash_one(std::process::id());
        let mut aside = OsStr::from_bytes(kept).to_owned();
        aside.push(format!(".undone-{number:016x}"));
        let rename = || renameat_with(at, name, at, &aside, RenameFlags::NOREPLACE);
        let renamed = match rename() {
            Err(Errno::ACCESS) => {
                // A child may have removed the write permission of the folder.
                give_back(at)?;
                rename()
            }
            renamed => renamed,
        };
        match renamed {
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
            Ok(()) => return Ok(aside),
        }
    }
    Err(io::Error::other("there is no free name next to it"))
}
