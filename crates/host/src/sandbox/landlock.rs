//! The allow-list of files: Landlock.
//!
//! Every right that the kernel knows is handled, so that what is not granted here is denied. Rights belong to folders
//! and everything below them, and can't be taken back further down: the holes of [`Mechanism::Landlock`] are made by
//! granting around them.
//!
//! [`Mechanism::Landlock`]: super::Mechanism::Landlock

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use super::names::NameSet;
use super::place_state::exactly;
use super::setup_error::SetupError;
use super::{NetworkAccess, SandboxProfile};

/// The newest rights we know of; the crate asks the kernel which of them it has.
const NEWEST: ABI = ABI::V9;

/// From this version on, cutting a file short is a right. Before, only read-only mounts prevent it.
pub(crate) const KNOWS_TRUNCATE: u32 = 3;
/// From this version on, signals stay inside.
pub(crate) const KNOWS_SIGNALS: u32 = 6;

/// Devices without state and without danger. Every child gets them.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/urandom",
    "/dev/random",
];

/// A folder with more entries than this is not granted around a hole; it would take too long.
const MAX_SIBLINGS: usize = 10_000;

/// How a profile becomes rules.
pub(crate) struct Plan<'a> {
    /// The profile that the rules are made from.
    pub(crate) profile: &'a SandboxProfile,
    /// Whether mounts take care of `deny` and `protect`.
    pub(crate) holes_mounted: bool,
    /// Where processes are shown.
    pub(crate) extra_read: &'a Path,
    /// Where memory is shared.
    pub(crate) extra_write: Option<&'a Path>,
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

/// Takes the right to run programs away from this process and its children, but for these.
pub(crate) fn restrict_programs(programs: &[PathBuf]) -> Result<(), SetupError> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::Execute)
        .and_then(|ruleset| ruleset.create());
    let mut rules = LandlockRules(ruleset.map_err(|error| nowhere(&error))?);
    for program in programs {
        let rights = AccessFs::Execute.into();
        rules.allow(program, rights, MissingPlaces::Fine, PlaceLinks::Followed)?;
    }
    enforce(rules)
}

/// Leaves this process no file, no connection and no process to signal.
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
        rules.allow(
            Path::new(device),
            device_rights(),
            MissingPlaces::Fine,
            PlaceLinks::Followed,
        )?;
    }
    rules.allow(
        plan.extra_read,
        readable(),
        MissingPlaces::Fine,
        PlaceLinks::Followed,
    )?;
    if let Some(path) = plan.extra_write {
        rules.allow(path, writable(), MissingPlaces::Fine, PlaceLinks::Followed)?;
    }
    // Keys can be created or replaced while the child runs, where no mount covers them yet. So a folder that is only read and in
    // which keys can be is opened entry by entry, whether they exist or not.
    let around = SurroundingPlaces {
        rights: readable(),
        missing: MissingPlaces::Fine,
        is_listed: plan.holes_mounted,
    };
    let mut secret: Vec<&Path> = profile.deny.iter().map(PathBuf::as_path).collect();
    if !plan.holes_mounted {
        // The child's own folders in it are granted by themselves.
        secret.extend(profile.rooms.as_deref());
    }
    for path in &profile.read {
        rules.allow_around(path, &around, &secret)?;
    }
    if plan.holes_mounted {
        for path in &profile.write {
            rules.allow(path, writable(), MissingPlaces::Wrong, PlaceLinks::Refused)?;
        }
        return Ok(());
    }
    let is_there = |place: &&Path| place.symlink_metadata().is_ok();
    secret.retain(is_there);
    let protected = profile.protect.iter().map(PathBuf::as_path);
    let unwritable: Vec<&Path> = protected.filter(is_there).chain(secret.clone()).collect();
    for path in &profile.write {
        rules.allow_around(path, &around, &secret)?;
        let around = SurroundingPlaces {
            rights: writable(),
            missing: MissingPlaces::Wrong,
            is_listed: false,
        };
        rules.allow_around(path, &around, &unwritable)?;
    }
    Ok(())
}

fn readable() -> BitFlags<AccessFs> {
    AccessFs::from_read(NEWEST)
}

/// All but devices: making one, and talking to one.
fn writable() -> BitFlags<AccessFs> {
    let devices = make_bitflags!(AccessFs::{MakeChar | MakeBlock | IoctlDev | ResolveUnix});
    AccessFs::from_all(NEWEST) & !devices
}

fn device_rights() -> BitFlags<AccessFs> {
    make_bitflags!(AccessFs::{ReadFile | WriteFile | Truncate})
}

/// What to make of a path that does not exist.
#[derive(Clone, Copy, PartialEq)]
enum MissingPlaces {
    Fine,
    Wrong,
}

/// What to make of a path with a link in it: those of the profile had theirs resolved.
#[derive(Clone, Copy, PartialEq)]
enum PlaceLinks {
    Followed,
    Refused,
}

/// How a folder is granted that has holes.
struct SurroundingPlaces {
    /// What is granted of its other entries.
    rights: BitFlags<AccessFs>,
    missing: MissingPlaces,
    /// Whether the names in it can be seen. Below it those in a hole could be too, unless a mount covers them.
    is_listed: bool,
}

struct LandlockRules(RulesetCreated);

impl LandlockRules {
    fn allow(
        &mut self,
        path: &Path,
        rights: BitFlags<AccessFs>,
        missing: MissingPlaces,
        links: PlaceLinks,
    ) -> Result<(), SetupError> {
        let trouble = |error| SetupError::profile("allow", path, error);
        let opened = match links {
            PlaceLinks::Followed => File::options()
                .read(true)
                .custom_flags(libc::O_PATH | libc::O_CLOEXEC)
                .open(path),
            PlaceLinks::Refused => exactly(path).map(File::from),
        };
        let file = match opened {
            Ok(file) => file,
            Err(_) if missing == MissingPlaces::Fine => return Ok(()),
            Err(error) => return Err(trouble(error)),
        };
        let is_folder = file.metadata().map_err(trouble)?.is_dir();
        let rights = if is_folder {
            rights
        } else {
            rights & AccessFs::from_file(NEWEST)
        };
        (&mut self.0)
            .add_rule(PathBeneath::new(file, rights))
            .map_err(|error| trouble(io::Error::other(error.to_string())))?;
        Ok(())
    }

    /// Grants a place without its holes: as a whole if it has none, otherwise entry by entry. No path has a link in it.
    fn allow_around(
        &mut self,
        path: &Path,
        around: &SurroundingPlaces,
        holes: &[&Path],
    ) -> Result<(), SetupError> {
        let start = path.as_os_str().as_encoded_bytes();
        // By bytes first: comparing hundreds of paths by their parts takes long.
        let near = |hole: &&&Path| hole.as_os_str().as_encoded_bytes().starts_with(start);
        let inside = holes.iter().filter(near);
        let inside: Vec<&Path> = inside
            .filter_map(|hole| hole.strip_prefix(path).ok())
            .collect();
        self.allow_without(path, around, &inside)
    }

    /// The same with holes that are named from the folder.
    fn allow_without(
        &mut self,
        path: &Path,
        around: &SurroundingPlaces,
        holes: &[&Path],
    ) -> Result<(), SetupError> {
        let (rights, missing) = (around.rights, around.missing);
        if holes.is_empty() {
            return self.allow(path, rights, missing, PlaceLinks::Refused);
        }
        if holes.iter().any(|hole| hole.as_os_str().is_empty()) {
            return Ok(());
        }
        let trouble = |error| SetupError::profile("allow", path, error);
        let entries = match std::fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                return self.allow(path, rights, missing, PlaceLinks::Refused);
            }
            Err(_) if missing == MissingPlaces::Fine => return Ok(()),
            Err(error) => return Err(trouble(error)),
        };
        if around.is_listed {
            let rights = AccessFs::ReadDir.into();
            self.allow(path, rights, MissingPlaces::Fine, PlaceLinks::Refused)?;
        }
        let names = NameSet::of(path);
        let mut inner: HashMap<OsString, Vec<&Path>> = HashMap::new();
        for hole in holes {
            let mut parts = hole.components();
            if let Some(first) = parts.next() {
                let first = names.compared(first.as_os_str());
                inner.entry(first).or_default().push(parts.as_path());
            }
        }
        for (count, entry) in entries.enumerate() {
            let entry = entry.map_err(trouble)?;
            if count >= MAX_SIBLINGS {
                return Err(trouble(io::Error::other(
                    "too many entries beside a protected place",
                )));
            }
            // What a link leads to is granted by its own place, or not at all.
            if entry.file_type().map_err(trouble)?.is_symlink() {
                continue;
            }
            let holes = inner.get(&names.compared(&entry.file_name()));
            let around = SurroundingPlaces {
                missing: MissingPlaces::Fine,
                ..*around
            };
            let holes = holes.map_or(&[][..], Vec::as_slice);
            self.allow_without(&entry.path(), &around, holes)?;
        }
        Ok(())
    }
}
