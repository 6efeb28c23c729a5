//! The allow-list of files: Landlock.
//!
//! Every right that the kernel knows is handled, so that a right that is not granted here is denied. Rights belong to folders
//! and everything below them, and can't be revoked further down: the holes of [`Mechanism::Landlock`] are made by
//! granting around them.
//!
//! A rule is for a file or folder and not for its name. So each is created from a handle, and the skill's copy from the handle of its
//! mount: by then its path can refer to another folder.
//!
//! [`Mechanism::Landlock`]: super::Mechanism::Landlock

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};
use rustix::fs::{Dir, FileType, Mode, OFlags, openat};

use super::names::NameSet;
use super::place_state::exactly_below;
use super::setup_error::{SetupError, SetupErrorKind};
use super::{NetworkAccess, SandboxProfile};

/// The newest rights we know of; the crate asks the kernel which of them it has.
const NEWEST: ABI = ABI::V9;

/// From this version on, truncating a file is a right. Before, only read-only mounts prevent it.
pub(crate) const KNOWS_TRUNCATE: u32 = 3;
/// From this version on, signals are restricted.
pub(crate) const KNOWS_SIGNALS: u32 = 6;

/// Devices without state and without danger. Every child gets them.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/urandom",
    "/dev/random",
];

/// A folder with more entries than this is not granted around a hole, because that would take too long.
const MAX_SIBLINGS: usize = 10_000;

/// Turns a profile into rules.
pub(crate) struct Plan<'a> {
    /// The profile that the rules are created from.
    pub(crate) profile: &'a SandboxProfile,
    /// Whether mounts enforce `deny` and `protect`.
    pub(crate) holes_mounted: bool,
    /// The mount point of the process file system.
    pub(crate) extra_read: &'a Path,
    /// The folder of shared memory.
    pub(crate) extra_write: Option<&'a Path>,
    /// Where the copy of the skill is mounted, and the handle of that mount.
    pub(crate) shown: Option<(&'a Path, BorrowedFd<'a>)>,
}

impl Plan<'_> {
    /// Opens a place of the profile; inside the skill's folder, its counterpart in the copy.
    fn open(&self, path: &Path) -> Result<OwnedFd, SetupError> {
        let in_copy = self
            .shown
            .and_then(|(at, copy)| Some((copy, path.strip_prefix(at).ok()?)));
        match in_copy {
            Some((copy, inner)) => exactly_below(copy, inner)
                .map_err(|error| SetupError::profile("allow", path, error)),
            None => self.profile.open("allow", path),
        }
    }
}

/// Restricts this process and all its future children permanently.
pub(crate) fn restrict(plan: &Plan<'_>) -> Result<(), SetupError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))
        .map_err(|error| nowhere(&error))?
        .scope(Scope::from_all(NEWEST))
        .map_err(|error| nowhere(&error))?;
    if plan.profile.network == NetworkAccess::None {
        ruleset = ruleset
            .handle_access(AccessNet::from_all(NEWEST))
            .map_err(|error| nowhere(&error))?;
    }
    let mut rules = LandlockRules(ruleset.create().map_err(|error| nowhere(&error))?);
    grant(&mut rules, plan)?;
    enforce(rules)
}

/// Removes the right to run programs from this process and its children, except for these programs.
pub(crate) fn restrict_programs(programs: &[PathBuf]) -> Result<(), SetupError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::Execute)
        .and_then(|ruleset| ruleset.create());
    let mut rules = LandlockRules(ruleset.map_err(|error| nowhere(&error))?);
    for program in programs {
        let rights = AccessFs::Execute.into();
        rules.allow(program, rights)?;
    }
    enforce(rules)
}

/// Leaves this process no access to files and connections, and no signals to other processes.
pub(crate) fn restrict_to_nothing() -> Result<(), SetupError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(NEWEST)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(NEWEST)))
        .and_then(|ruleset| ruleset.create());
    enforce(LandlockRules(ruleset.map_err(|error| nowhere(&error))?))
}

fn enforce(rules: LandlockRules) -> Result<(), SetupError> {
    let status = rules.0.restrict_self().map_err(|error| nowhere(&error))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        let error = io::Error::other("the kernel accepted the rules but does not enforce them");
        return Err(SetupError::machine("Landlock", error));
    }
    Ok(())
}

fn nowhere(error: &landlock::RulesetError) -> SetupError {
    SetupError::machine("Landlock", io::Error::other(error.to_string()))
}

fn grant(rules: &mut LandlockRules, plan: &Plan<'_>) -> Result<(), SetupError> {
    let profile = plan.profile;
    for device in DEVICES {
        rules.allow(Path::new(device), device_rights())?;
    }
    rules.allow(plan.extra_read, readable())?;
    if let Some(path) = plan.extra_write {
        rules.allow(path, writable())?;
    }
    // Keys can be created or replaced while the child runs, where no mount covers them yet. So a folder that is only read and that can
    // contain keys is opened entry by entry, whether they exist or not.
    let around = SurroundingPlaces {
        rights: readable(),
        missing: MissingPlaces::Fine,
        is_listed: plan.holes_mounted,
    };
    let mut secret: Vec<&Path> = profile.deny.iter().map(PathBuf::as_path).collect();
    if !plan.holes_mounted {
        // The child's own folders in it are granted separately.
        secret.extend(profile.rooms.as_deref());
    }
    for path in &profile.read {
        rules.allow_around(plan, path, &around, &secret)?;
    }
    let around_written = SurroundingPlaces {
        rights: writable(),
        missing: MissingPlaces::Wrong,
        is_listed: false,
    };
    if plan.holes_mounted {
        for path in &profile.write {
            rules.allow_around(plan, path, &around_written, &[])?;
        }
        return Ok(());
    }
    let is_there = |place: &&Path| place.symlink_metadata().is_ok();
    secret.retain(is_there);
    let protected = profile.protect.iter().map(PathBuf::as_path);
    let unwritable: Vec<&Path> = protected.filter(is_there).chain(secret.clone()).collect();
    for path in &profile.write {
        rules.allow_around(plan, path, &around, &secret)?;
        rules.allow_around(plan, path, &around_written, &unwritable)?;
    }
    Ok(())
}

fn readable() -> BitFlags<AccessFs> {
    AccessFs::from_read(NEWEST)
}

/// All but devices: creating them, and sending commands to them.
fn writable() -> BitFlags<AccessFs> {
    let devices = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev | ResolveUnix});
    AccessFs::from_all(NEWEST) & !devices
}

fn device_rights() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate})
}

/// How a path that does not exist is treated.
#[derive(Clone, Copy, PartialEq)]
enum MissingPlaces {
    Fine,
    Wrong,
}

/// How a folder with holes is granted.
struct SurroundingPlaces {
    /// The rights to its other entries.
    rights: BitFlags<AccessFs>,
    missing: MissingPlaces,
    /// Whether its names can be listed. If so, the names in a hole could be listed too, unless a mount covers them.
    is_listed: bool,
}

struct LandlockRules(RulesetCreated);

impl LandlockRules {
    /// Grants the target of one of our own paths, if it exists.
    fn allow(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), SetupError> {
        let opened = File::options()
            .read(true)
            .custom_flags(libc::O_PATH | libc::O_CLOEXEC)
            .open(path);
        opened.map_or(Ok(()), |file| self.add(&file, path, rights))
    }

    /// Makes the rule. The path is only for messages: the rule is for the target of the handle.
    fn add(
        &mut self,
        place: &impl AsFd,
        path: &Path,
        rights: BitFlags<AccessFs>,
    ) -> Result<(), SetupError> {
        let trouble = |error| SetupError::profile("allow", path, error);
        let is_folder = kind(place).map_err(trouble)?.is_dir();
        let rights = if is_folder {
            rights
        } else {
            rights & AccessFs::from_file(NEWEST)
        };
        (&mut self.0)
            .add_rule(PathBeneath::new(place, rights))
            .map_err(|error| trouble(io::Error::other(error.to_string())))?;
        Ok(())
    }

    /// Grants a place without its holes: as a whole if it has none, otherwise entry by entry. No path has a link in it.
    fn allow_around(
        &mut self,
        plan: &Plan<'_>,
        path: &Path,
        around: &SurroundingPlaces,
        holes: &[&Path],
    ) -> Result<(), SetupError> {
        let place = match plan.open(path) {
            Ok(place) => place,
            Err(trouble)
                if around.missing == MissingPlaces::Fine
                    && trouble.kind != SetupErrorKind::Replaced =>
            {
                return Ok(());
            }
            Err(trouble) => return Err(trouble),
        };
        let start = path.as_os_str().as_encoded_bytes();
        // By bytes first: comparing hundreds of paths component by component is slow.
        let near = |hole: &&&Path| hole.as_os_str().as_encoded_bytes().starts_with(start);
        let inside = holes.iter().filter(near);
        let inside: Vec<&Path> = inside
            .filter_map(|hole| hole.strip_prefix(path).ok())
            .collect();
        self.allow_without(&place, path, around, &inside)
    }

    /// [`Self::allow_around`] with holes that are named from the folder. Everything is opened from the handle, so that a new name has no effect.
    fn allow_without(
        &mut self,
        place: &OwnedFd,
        path: &Path,
        around: &SurroundingPlaces,
        holes: &[&Path],
    ) -> Result<(), SetupError> {
        if holes.iter().any(|hole| hole.as_os_str().is_empty()) {
            return Ok(());
        }
        let trouble = |error: io::Error| SetupError::profile("allow", path, error);
        if holes.is_empty() || !kind(place).map_err(trouble)?.is_dir() {
            return self.add(place, path, around.rights);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = match openat(place, ".", flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(_) if around.missing == MissingPlaces::Fine => return Ok(()),
            Err(error) => return Err(trouble(error.into())),
        };
        if around.is_listed {
            self.add(place, path, AccessFs::ReadDir.into())?;
        }
        let holes = InnerHoles::new(NameSet::of_handle(&folder), holes);
        let entries = Dir::read_from(&folder).map_err(|error| trouble(error.into()))?;
        for (count, entry) in entries.enumerate() {
            let entry = entry.map_err(|error| trouble(error.into()))?;
            if count >= MAX_SIBLINGS {
                return Err(trouble(io::Error::other(
                    "too many entries next to a protected place",
                )));
            }
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                self.allow_entry(place, &path.join(name), around, holes.of(name))?;
            }
        }
        Ok(())
    }

    /// Grants an entry of a folder. The target of a link is granted by its own place, or not at all.
    fn allow_entry(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        around: &SurroundingPlaces,
        holes: &[&Path],
    ) -> Result<(), SetupError> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = path.file_name().unwrap_or_default();
        let Ok(entry) = openat(folder, name, flags, Mode::empty()) else {
            return Ok(());
        };
        let found = kind(&entry).map_err(|error| SetupError::profile("allow", path, error))?;
        if found.is_symlink() {
            return Ok(());
        }
        let around = SurroundingPlaces {
            missing: MissingPlaces::Fine,
            ..*around
        };
        self.allow_without(&entry, path, &around, holes)
    }
}

/// The holes in a folder, by the entry that contains them.
struct InnerHoles<'a> {
    names: NameSet,
    holes: HashMap<OsString, Vec<&'a Path>>,
}

impl<'a> InnerHoles<'a> {
    fn new(names: NameSet, paths: &[&'a Path]) -> Self {
        let mut holes: HashMap<OsString, Vec<&Path>> = HashMap::new();
        for path in paths {
            let mut parts = path.components();
            if let Some(first) = parts.next() {
                let first = names.compared(first.as_os_str());
                holes.entry(first).or_default().push(parts.as_path());
            }
        }
        Self { names, holes }
    }

    /// The holes in this entry, named from there.
    fn of(&self, name: &OsStr) -> &[&'a Path] {
        let holes = self.holes.get(&self.names.compared(name));
        holes.map_or(&[][..], Vec::as_slice)
    }
}

fn kind(place: &impl AsFd) -> io::Result<FileType> {
    let found = rustix::fs::fstat(place)?;
    Ok(FileType::from_raw_mode(found.st_mode))
}
