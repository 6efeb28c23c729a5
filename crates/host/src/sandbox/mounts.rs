//! A separate view of the file system: read-only, except for writable places; with holes.
//!
//! Landlock enforces most of it too. Two layers without shared code are intended; and only mounts can exclude a place in the
//! middle of an allowed folder.
//!
//! A protected place can't be moved because it is a mount point, which can't be renamed or removed from inside. So
//! are all folders between it and the writable root: otherwise `mv .git x` would move `.git/hooks` away.
//!
//! From outside, a folder that contains a mount point can still be renamed, and the mount moves with it. So the path of a mount proves
//! nothing later: the copy of the skill is granted, entered and compared by the handle that [`arrange`] returns.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind,
    mount_change, move_mount, open_tree,
};

use super::place_state::exactly;
use super::setup_error::SetupError;
use super::sys;
use super::{SandboxProfile, StandIn};

const SHARED_MEMORY: &str = "/dev/shm";
const SHARED_MEMORY_OPTIONS: &str = "mode=1777,size=64m,nr_inodes=1024";
/// An empty folder without any permissions.
const COVER_OPTIONS: &str = "mode=000,size=4k,nr_inodes=2";

/// A folder that contains only the mount points of a child's own folders.
const ROOMS_OPTIONS: &str = "mode=711,size=64k,nr_inodes=64";

/// Builds the view. Only this process and its children see these changes.
///
/// Returns a handle of the mounted copy, if the profile has one.
pub(crate) fn arrange(profile: &SandboxProfile) -> Result<Option<OwnedFd>, SetupError> {
    let machine = |error: io::Error| SetupError::machine("arrange mounts", error);
    let everything = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", everything).map_err(|error| machine(error.into()))?;

    // Shorter paths first: a mount on an inner folder has to follow the mount on its outer folder.
    let mut writable: Vec<&Path> = profile.write.iter().map(PathBuf::as_path).collect();
    writable.sort_unstable();
    let mut copies = Vec::with_capacity(writable.len());
    for path in writable {
        let place = profile.open("make writable", path)?;
        let copy = copy_of(&place);
        let copy = copy.map_err(|error| SetupError::profile("make writable", path, error))?;
        copies.push((path, copy));
    }
    let root = exactly(Path::new("/")).map_err(machine)?;
    sys::freeze_mounts(root.as_fd()).map_err(machine)?;
    for (path, copy) in &copies {
        put(copy, path).map_err(|error| SetupError::profile("make writable", path, error))?;
    }
    let shown = profile.stand_in.as_ref().map(show).transpose()?;
    protect(profile)?;
    deny(profile)?;
    hide_rooms(profile)?;
    if let Some(shared) = shared_memory(profile) {
        fill(shared, MountFlags::empty(), SHARED_MEMORY_OPTIONS).map_err(machine)?;
    }
    Ok(shown)
}

/// Mounts the copy: read-only, even inside a writable folder.
fn show(stand_in: &StandIn) -> Result<OwnedFd, SetupError> {
    let StandIn { at, copy: from } = stand_in;
    let trouble = |error| SetupError::profile("show a copy of", at, error);
    let mounted = copy(from).map_err(trouble)?;
    put(&mounted, at).map_err(trouble)?;
    Ok(mounted)
}

/// The folder of shared memory: a separate one, since the user's contains data of other programs. `None` if there is no such place, or
/// if the user works there.
pub(crate) fn shared_memory(profile: &SandboxProfile) -> Option<&'static Path> {
    let shared = Path::new(SHARED_MEMORY);
    let used = |path: &PathBuf| path.starts_with(shared);
    let free = !profile.write.iter().chain(&profile.read).any(used);
    (free && shared.is_dir()).then_some(shared)
}

/// Mounts a `/proc` that shows only the processes of the namespace. Called by its first process.
///
/// Where `/proc` can't be mounted (in some containers), the child has none: it sees less than usual, never more.
pub(crate) fn processes() -> Result<(), SetupError> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if mount("proc", "/proc", "proc", flags, None).is_ok() {
        return Ok(());
    }
    fill(Path::new("/proc"), MountFlags::RDONLY, COVER_OPTIONS)
        .map_err(|error| SetupError::machine("hide other processes", error))
}

fn protect(profile: &SandboxProfile) -> Result<(), SetupError> {
    let mut pinned = BTreeSet::new();
    for place in &profile.protect {
        let Some(root) = profile.writable_above(place) else {
            continue;
        };
        let trouble = |error| SetupError::profile("protect", place, error);
        pin(root, place, &mut pinned).map_err(trouble)?;
        // A link can't be a mount point: it is checked again after the run, and its target is a separate place.
        let Ok(found) = place.symlink_metadata() else {
            continue;
        };
        if !found.is_symlink() {
            let copy = copy(place).map_err(trouble)?;
            sys::freeze_mounts(copy.as_fd()).map_err(trouble)?;
            put(&copy, place).map_err(trouble)?;
        }
    }
    Ok(())
}

/// Makes every folder between the writable root and the place a mount point. It stops at a link, which can't be one.
fn pin(root: &Path, place: &Path, pinned: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    let Ok(between) = place.strip_prefix(root) else {
        return Ok(());
    };
    let mut path = root.to_owned();
    let Some(parents) = between.parent() else {
        return Ok(());
    };
    for part in parents {
        path.push(part);
        let is_folder = path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if !is_folder {
            return Ok(());
        }
        if pinned.insert(path.clone()) {
            put(&copy(&path)?, &path)?;
        }
    }
    Ok(())
}

fn deny(profile: &SandboxProfile) -> Result<(), SetupError> {
    let allowed: Vec<&PathBuf> = profile.read.iter().chain(&profile.write).collect();
    for place in &profile.deny {
        if !allowed.iter().any(|root| is_inside(place, root)) {
            continue; // Landlock does not grant it
        }
        // A missing place is in no rule of Landlock either, unless the folder is writable.
        let Ok(found) = place.symlink_metadata() else {
            continue;
        };
        let covered = if found.is_dir() {
            fill(place, MountFlags::RDONLY, COVER_OPTIONS)
        } else {
            mount_bind("/dev/null", place).map_err(Into::into)
        };
        covered.map_err(|error| SetupError::profile("deny", place, error))?;
    }
    Ok(())
}

/// Whether a path is a folder or below it. Compares bytes, since this runs thousands of times, for paths without links.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let [path, folder] = [path, folder].map(|path| path.as_os_str().as_encoded_bytes());
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.first().is_none_or(|next| *next == b'/') || folder == b"/")
}

/// Covers the temporary files of all children, including those that start later, and shows the child's own again.
fn hide_rooms(profile: &SandboxProfile) -> Result<(), SetupError> {
    let Some(rooms) = &profile.rooms else {
        return Ok(());
    };
    let trouble = |error| SetupError::profile("hide", rooms, error);
    let own: Vec<(&Path, OwnedFd)> = profile
        .own_rooms()
        .into_iter()
        .map(|path| Ok((path, copy(path)?)))
        .collect::<io::Result<_>>()
        .map_err(trouble)?;
    let show = || -> io::Result<()> {
        fill(rooms, MountFlags::empty(), ROOMS_OPTIONS)?;
        for (path, copy) in &own {
            make_place(path, copy)?;
        }
        sys::freeze_mounts(exactly(rooms)?.as_fd())?;
        own.iter().try_for_each(|(path, copy)| put(copy, path))
    };
    show().map_err(trouble)
}

/// Creates a mount point of the same kind.
fn make_place(path: &Path, copy: &OwnedFd) -> io::Result<()> {
    let found = rustix::fs::fstat(copy)?;
    if rustix::fs::FileType::from_raw_mode(found.st_mode).is_dir() {
        return std::fs::create_dir_all(path);
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    std::fs::File::create(path).map(drop)
}

fn fill(path: &Path, flags: MountFlags, options: &str) -> io::Result<()> {
    let flags = flags | MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let options = std::ffi::CString::new(options)?;
    mount("tmpfs", path, "tmpfs", flags, Some(options.as_c_str())).map_err(Into::into)
}

/// A second mount of the object at `path`, not attached yet.
fn copy(path: &Path) -> io::Result<OwnedFd> {
    copy_of(&exactly(path)?)
}

fn copy_of(place: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    open_tree(place, "", flags).map_err(Into::into)
}

fn put(copy: &OwnedFd, path: &Path) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(copy, "", exactly(path)?, "", flags).map_err(Into::into)
}
