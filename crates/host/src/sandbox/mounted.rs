//! The mounts: file systems of the kernel, and folders that have a second name.
//!
//! **Problem.** `mount --bind ~ ./home` shows the home in the project. The keys in it have other paths there, and a table of paths does not
//! know them.
//!
//! **Decision.** The kernel lists for each mount which folder of which file system it shows. From that follow all names of a
//! place. A mount through another file system (overlays, FUSE, a network) is not recognised.

use std::path::{Path, PathBuf};

use super::places::KERNEL;

/// File systems in which the kernel shows processes, devices and its own settings, wherever they are mounted.
const KERNEL_KINDS: &[&str] = &[
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "mqueue",
    "debugfs",
    "tracefs",
    "securityfs",
    "configfs",
    "efivarfs",
    "pstore",
    "bpf",
    "cgroup",
    "cgroup2",
    "binfmt_misc",
    "rpc_pipefs",
];

/// The mounts that this process sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MountTable {
    /// The mount points where the kernel shows processes and devices, besides the usual places.
    kernel: Vec<PathBuf>,
    /// Mounts that show the same folder as another mount, or a part of it.
    repeated: Vec<Mount>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    device: String,
    /// The folder that is shown, from the root of its file system.
    shown: PathBuf,
    /// The mount point.
    point: PathBuf,
}

impl MountTable {
    /// Parses it. If there is none, no second names are known.
    #[must_use]
    pub fn read() -> Self {
        Self::parse(&std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let mut table = Self::default();
        for line in text.lines() {
            // 36 35 98:0 /source /mount/point options … - kind device options
            let Some((about, kind)) = line.split_once(" - ") else {
                continue;
            };
            let mut about = about.split(' ').skip(2);
            let (Some(device), Some(shown), Some(point)) =
                (about.next(), about.next(), about.next())
            else {
                continue;
            };
            let mount = Mount {
                device: device.to_owned(),
                shown: unescaped(shown).into(),
                point: unescaped(point).into(),
            };
            let kind = kind.split(' ').next().unwrap_or_default();
            let is_usual = KERNEL.iter().any(|known| mount.point.starts_with(known));
            if KERNEL_KINDS.contains(&kind) {
                table.kernel.extend((!is_usual).then_some(mount.point));
            } else {
                table.repeated.push(mount);
            }
        }
        let all = std::mem::take(&mut table.repeated);
        let shows_the_same = |one: &Mount, other: &Mount| {
            one.device == other.device
                && one.point != other.point
                && (one.shown.starts_with(&other.shown) || other.shown.starts_with(&one.shown))
        };
        let is_repeated = |mount: &&Mount| all.iter().any(|other| shows_the_same(mount, other));
        table.repeated = all.iter().filter(is_repeated).cloned().collect();
        table
    }

    /// The mount points where the kernel shows processes and devices: the usual places, and other mounts of the same kinds.
    #[must_use]
    pub fn kernel_places(&self) -> Vec<PathBuf> {
        let usual = KERNEL.iter().map(PathBuf::from);
        usual.chain(self.kernel.iter().cloned()).collect()
    }

    /// The other paths of a place that another mount shows, as a whole or in part. The path contains no links; it need not exist.
    pub(crate) fn other_names(&self, path: &Path) -> Vec<PathBuf> {
        let above = self.repeated.iter().filter(|m| path.starts_with(&m.point));
        // The later one of two mounts at the same point is visible.
        let Some(own) = above.max_by_key(|mount| mount.point.as_os_str().len()) else {
            return Vec::new();
        };
        let Ok(below) = path.strip_prefix(&own.point) else {
            return Vec::new();
        };
        let inside = joined(&own.shown, below);
        let is_other = |m: &&Mount| m.device == own.device && m.point != own.point;
        let others = self.repeated.iter().filter(is_other);
        let name = |mount: &Mount| match inside.strip_prefix(&mount.shown) {
            Ok(below) => Some(joined(&mount.point, below)),
            Err(_) => mount
                .shown
                .starts_with(&inside)
                .then(|| mount.point.clone()),
        };
        others.filter_map(name).collect()
    }

    /// Places, with all their other paths.
    pub(crate) fn with_other_names(&self, mut places: Vec<PathBuf>) -> Vec<PathBuf> {
        if !self.repeated.is_empty() {
            let others = places.iter().flat_map(|place| self.other_names(place));
            let others: Vec<PathBuf> = others.collect();
            places.extend(others);
        }
        places
    }
}

/// With an empty path, `join` would add a slash.
fn joined(folder: &Path, below: &Path) -> PathBuf {
    match below.as_os_str().is_empty() {
        true => folder.to_owned(),
        false => folder.join(below),
    }
}

/// A path of `mountinfo`, in which a space is written as `\040`.
fn unescaped(text: &str) -> std::ffi::OsString {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| *first == b'\\');
        let code = code.and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    std::ffi::OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_in_a_mount_is_read() {
        assert_eq!(unescaped(r"/a\040b\134c\9"), r"/a b\c\9");
    }

    #[test]
    fn a_mount_of_processes_elsewhere_is_found() {
        let table = MountTable::parse("1 0 0:5 / /x/proc rw - proc proc rw\n");
        let places = table.kernel_places();
        for place in ["/proc", "/x/proc"] {
            assert!(places.contains(&PathBuf::from(place)), "{place}");
        }
    }

    #[test]
    fn a_place_has_the_names_that_its_mounts_give_it() {
        let table = MountTable::parse(
            "1 0 8:1 / / rw - ext4 /dev/a rw\n\
             2 1 8:2 / /home rw - ext4 /dev/b rw\n\
             3 1 8:2 /u /srv/p/hh rw - ext4 /dev/b rw\n\
             4 1 8:2 /u/.ssh /srv/p/keys rw - ext4 /dev/b rw\n\
             5 1 8:3 / /other rw - ext4 /dev/c rw\n",
        );
        for (path, names) in [
            ("/home/u/.bashrc", &["/srv/p/hh/.bashrc"][..]),
            ("/home/u/.ssh/id", &["/srv/p/hh/.ssh/id", "/srv/p/keys/id"]),
            ("/home/u", &["/srv/p/hh", "/srv/p/keys"]),
            ("/srv/p/keys/id", &["/home/u/.ssh/id", "/srv/p/hh/.ssh/id"]),
            ("/home/v", &[]),
            ("/etc/x", &[]),
            ("/other/x", &[]),
        ] {
            let names: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
            assert_eq!(table.other_names(Path::new(path)), names, "{path}");
        }
    }
}
