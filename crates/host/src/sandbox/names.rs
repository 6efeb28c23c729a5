//! How a folder compares names: on some file systems `claude.md` and `CLAUDE.md` are the same file.

use std::{
    cell::OnceCell,
    collections::HashSet,
    ffi::{OsStr, OsString},
    fs::Metadata,
    mem::MaybeUninit,
    os::{
        fd::AsFd,
        unix::{ffi::OsStrExt, fs::MetadataExt},
    },
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags, RawDir, fstat, fstatfs};

use super::object::PATH_MAX;

/// The largest folder that is listed, in bytes; and the maximum size of all names.
const LARGEST_FOLDER: usize = 32 << 10;
/// File systems that find an entry only if they list it: ext4, XFS, btrfs, tmpfs, F2FS. Network and FUSE file systems may find more, ZFS
/// has a folder that it does not list, and an overlay behaves like the file system below it.
const LISTING_ALL: [u32; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010];

/// How names in one folder are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameSet {
    /// Names are compared byte by byte.
    Exact,
    /// Without regard to upper and lower case.
    Folded,
}

impl NameSet {
    /// How this folder compares names. A missing folder compares them like the nearest existing one above it.
    pub(crate) fn of(folder: &Path) -> Self {
        Self::of_nearest(folder).1
    }

    /// The nearest existing folder, as the length of its path, and how it compares names.
    fn of_nearest(folder: &Path) -> (usize, Self) {
        let above = folder.ancestors();
        // The kernel copies a longer path before it refuses it.
        let mut short = above.skip_while(|above| above.as_os_str().len() >= PATH_MAX);
        let found = short.find_map(|above| Some((above.as_os_str().len(), folds(above)?)));
        let (length, is_folded) = found.unwrap_or((0, false));
        (length, Self::folding(is_folded))
    }

    /// How this open folder compares names.
    pub(crate) fn of_handle(folder: impl AsFd) -> Self {
        Self::folding(folds_open(folder))
    }

    fn folding(is_folded: bool) -> Self {
        match is_folded {
            true => Self::Folded,
            false => Self::Exact,
        }
    }

    /// A name in the form in which it is compared. Only ASCII letters matter: the tables have no others.
    pub(crate) fn compared(self, name: &OsStr) -> OsString {
        match self {
            Self::Exact => name.to_owned(),
            Self::Folded => name.to_ascii_lowercase(),
        }
    }
}

/// How the folders above a path compare names. Each folder is opened once, however many are missing.
pub(super) struct NamesAbove {
    /// The length of the nearest existing folder, and how it compares names.
    nearest: OnceCell<(usize, NameSet)>,
}

impl NamesAbove {
    pub(super) fn new() -> Self {
        Self {
            nearest: OnceCell::new(),
        }
    }

    /// How a folder compares names. It is the folder of the first question, or one above it.
    pub(super) fn of(&self, folder: &Path) -> NameSet {
        let (length, names) = self.nearest.get_or_init(|| NameSet::of_nearest(folder));
        match folder.as_os_str().len() >= *length {
            true => *names,
            false => NameSet::of(folder),
        }
    }
}

/// Whether a folder folds names; `None` if it can't be opened.
#[cfg(target_os = "linux")]
fn folds(folder: &Path) -> Option<bool> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::open(folder, flags, Mode::empty()).ok()?;
    Some(folds_open(folder))
}

#[cfg(target_os = "linux")]
fn folds_open(folder: impl AsFd) -> bool {
    let kind = kind_of(&folder);
    FOLDING.contains(&kind) || is_marked(&folder)
}

/// Kinds of file systems that always fold names: vfat and msdos, exfat, ntfs (three drivers), cifs, smb2, hfs, hfsplus, vboxsf, 9p.
const FOLDING: &[u32] = &[
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

/// The kind of a folder's file system; 0 if unknown.
fn kind_of(folder: impl AsFd) -> u32 {
    let kind = fstatfs(folder).map_or(0, |found| found.f_type);
    // Magic numbers of file systems have 32 bits, even where the field is wider.
    u32::try_from(kind).unwrap_or_default()
}

/// Whether a folder of ext4, f2fs, bcachefs or tmpfs has the flag for folding names (`FS_CASEFOLD_FL`).
fn is_marked(folder: impl AsFd) -> bool {
    const MARK: u32 = 0x4000_0000;
    rustix::fs::ioctl_getflags(folder).is_ok_and(|flags| flags.bits() & MARK != 0)
}

/// The names of all entries of a small folder, where names are compared exactly. The handle must be new: reading continues where it
/// stopped.
pub(crate) fn all_names(folder: impl AsFd) -> Option<HashSet<OsString>> {
    let size = usize::try_from(fstat(&folder).ok()?.st_size).ok()?;
    if size > LARGEST_FOLDER || !LISTING_ALL.contains(&kind_of(&folder)) || is_marked(&folder) {
        return None;
    }
    let mut buffer = [MaybeUninit::uninit(); LARGEST_FOLDER / 2];
    let mut entries = RawDir::new(&folder, &mut buffer);
    let (mut names, mut length) = (HashSet::new(), 0);
    while let Some(entry) = entries.next() {
        let entry = entry.ok()?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        length += name.len();
        if length > LARGEST_FOLDER {
            return None;
        }
        names.insert(name.to_owned());
    }
    Some(names)
}

/// On other systems, nearly all do.
#[cfg(not(target_os = "linux"))]
fn folds(_: &Path) -> Option<bool> {
    Some(cfg!(any(target_os = "macos", windows)))
}

#[cfg(not(target_os = "linux"))]
fn folds_open(_: impl AsFd) -> bool {
    cfg!(any(target_os = "macos", windows))
}

/// Whether two names differ at most in upper and lower case.
pub(crate) fn alike(one: &OsStr, other: &OsStr) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Whether a path is a place or below it, in a folder that compares names this way.
pub(crate) fn is_below(path: &Path, place: &Path, names: NameSet) -> bool {
    match names {
        NameSet::Exact => path.starts_with(place),
        NameSet::Folded => {
            let [path, place] = [path, place].map(|path| names.compared(path.as_os_str()));
            Path::new(&path).starts_with(place)
        }
    }
}

/// Places that nothing opens, compared like the file system compares them: the one answer for single files, searches and the files
/// that a child is given.
#[derive(Debug, Default)]
pub(crate) struct DeniedPlaces {
    exact: HashSet<PathBuf>,
    folded: HashSet<OsString>,
    /// The places as objects: a file can have several names, and file systems fold more letters than those of ASCII.
    objects: OnceCell<HashSet<(u64, u64)>>,
}

impl DeniedPlaces {
    pub(crate) fn new(places: Vec<PathBuf>) -> Self {
        let folded = places.iter().map(|place| place.as_os_str());
        Self {
            folded: folded.map(OsStr::to_ascii_lowercase).collect(),
            exact: places.into_iter().collect(),
            objects: OnceCell::new(),
        }
    }

    /// Whether a path is one of the places, or below one.
    pub(crate) fn cover(&self, path: &Path) -> bool {
        // To find out how names are compared, every folder above is opened.
        !self.exact.is_empty() && self.cover_in(path, Self::names_above(path))
    }

    /// How the folders above a path compare names: folded, if one of them does.
    pub(crate) fn names_above(path: &Path) -> NameSet {
        let mut above = path.ancestors().skip(1);
        NameSet::folding(above.any(|above| NameSet::of(above) == NameSet::Folded))
    }

    /// [`Self::cover`] for a path whose folders compare names this way.
    pub(crate) fn cover_in(&self, path: &Path, names: NameSet) -> bool {
        if path.ancestors().any(|above| self.exact.contains(above)) {
            return true;
        }
        if names == NameSet::Exact {
            // A file can have other names.
            let found = path.symlink_metadata().ok();
            let linked = found.filter(|found| found.is_file() && found.nlink() > 1);
            return linked.is_some_and(|found| self.objects().contains(&object(&found)));
        }
        let folded = names.compared(path.as_os_str());
        let mut above = Path::new(&folded).ancestors();
        if above.any(|above| self.folded.contains(above.as_os_str())) {
            return true;
        }
        let mut above = path
            .ancestors()
            .filter_map(|above| above.symlink_metadata().ok());
        above.any(|found| self.objects().contains(&object(&found)))
    }

    fn objects(&self) -> &HashSet<(u64, u64)> {
        self.objects.get_or_init(|| {
            let places = self.exact.iter();
            let found = places.filter_map(|place| place.symlink_metadata().ok());
            found.map(|found| object(&found)).collect()
        })
    }
}

/// The device and the inode of a file.
fn object(found: &Metadata) -> (u64, u64) {
    (found.dev(), found.ino())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_folder_with_many_entries_is_not_listed() {
        let folder = tempfile::tempdir().unwrap();
        let names = || all_names(File::open(folder.path()).unwrap());
        fs::write(folder.path().join("one"), "").unwrap();
        let few = names();
        assert!(few.is_none_or(|names| names.len() == 3 && names.contains(OsStr::new("one"))));
        for number in 0..=LARGEST_FOLDER / 200 {
            fs::write(folder.path().join(format!("{number:0200}")), "").unwrap();
        }
        assert_eq!(names(), None);
    }

    // case 233
    #[test]
    fn a_denied_place_is_denied_by_all_names_that_the_file_system_gives_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir(at("Secrets")).unwrap();
        fs::write(at("Secrets/key"), "").unwrap();
        fs::write(at("straße"), "").unwrap();
        // Two names of one file, as on a disk that folds names.
        fs::hard_link(at("straße"), at("STRASSE")).unwrap();
        let denied = DeniedPlaces::new(vec![at("Secrets"), at("straße")]);
        for (path, exact, folded) in [
            ("Secrets", true, true),
            ("Secrets/key", true, true),
            ("SECRETS", false, true),
            ("secrets/deep/missing", false, true),
            ("STRASSE", true, true),
            ("Secrets2", false, false),
            ("missing", false, false),
        ] {
            let covers = |names| denied.cover_in(&at(path), names);
            assert_eq!(covers(NameSet::Exact), exact, "{path}");
            assert_eq!(covers(NameSet::Folded), folded, "{path}");
        }
        let here = DeniedPlaces::names_above(&at("SECRETS"));
        assert_eq!(
            denied.cover(&at("SECRETS")),
            here == NameSet::Folded,
            "{here:?}"
        );
    }

    #[test]
    fn a_folder_of_the_kernel_is_not_listed() {
        assert_eq!(all_names(File::open("/proc/self").unwrap()), None);
    }
}
