//! How a folder compares names: some file systems take `claude.md` for `CLAUDE.md`.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

/// How names in one folder are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// Byte by byte.
    Exact,
    /// Without regard to upper and lower case.
    Folded,
}

impl Names {
    /// As this folder does. One that is not there yet is like the nearest one above it.
    pub(crate) fn of(folder: &Path) -> Self {
        match folder.ancestors().find_map(folds) {
            Some(true) => Self::Folded,
            _ => Self::Exact,
        }
    }

    /// A name in the form in which it is compared. Only the letters of ASCII matter: the tables have no others.
    pub(crate) fn compared(self, name: &OsStr) -> OsString {
        match self {
            Self::Exact => name.to_owned(),
            Self::Folded => name.to_ascii_lowercase(),
        }
    }
}

/// Whether a folder folds names; `None` if it can't be opened.
#[cfg(target_os = "linux")]
fn folds(folder: &Path) -> Option<bool> {
    use rustix::fs::{Mode, OFlags};
    /// Kinds that always do: vfat and msdos, exfat, ntfs (three drivers), cifs, smb2, hfs, hfsplus, vboxsf, 9p.
    const KINDS: &[u32] = &[
        0x4d44,
        0x2011_BAB0,
        0x5346_544e,
        0x7366_746e,
        0x6573_5546,
        0xFF53_4D42,
        0xFE53_4D42,
        0x4244,
        0x482b,
        0x786f_4256,
        0x0102_1997,
    ];
    /// What a folder of ext4, f2fs, bcachefs or tmpfs is marked with that does (`FS_CASEFOLD_FL`).
    const MARK: u32 = 0x4000_0000;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty()).ok()?;
    let kind = rustix::fs::fstatfs(&folder).map_or(0, |found| found.f_type);
    // The number is a magic one, however wide the field is.
    let kind = u32::try_from(kind).unwrap_or_default();
    let is_marked = || rustix::fs::ioctl_getflags(&folder).is_ok_and(|f| f.bits() & MARK != 0);
    Some(KINDS.contains(&kind) || is_marked())
}

/// Elsewhere, nearly all do.
#[cfg(not(target_os = "linux"))]
fn folds(_: &Path) -> Option<bool> {
    Some(cfg!(any(target_os = "macos", windows)))
}

/// Whether two names differ at most in upper and lower case.
pub(crate) fn alike(one: &OsStr, other: &OsStr) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Whether a path is a place or below it, in a folder that compares names like this.
pub(crate) fn is_below(path: &Path, place: &Path, names: Names) -> bool {
    match names {
        Names::Exact => path.starts_with(place),
        Names::Folded => {
            let [path, place] = [path, place].map(|path| names.compared(path.as_os_str()));
            Path::new(&path).starts_with(place)
        }
    }
}
