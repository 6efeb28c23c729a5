//! The allow-list of files: Landlock.
//!
//! Every right that the kernel knows is handled, so that what is not granted here is denied. Rights belong to folders
//! and everything below them, and can't be taken back further down: the holes of [`Mechanism::Landlock`] are made by
//! granting around them.
//!
//! [`Mechanism::Landlock`]: super::Mechanism::Landlock

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, PathBeneath, Ruleset, RulesetAttr, RulesetCreated,
    RulesetCreatedAttr, RulesetStatus, Scope, make_bitflags,
};

use super::look::exactly;
use super::trouble::Trouble;
use super::{Network, Profile};

/// The newest rights we know of; the crate asks the kernel which of them it has.
const NEWEST: ABI = ABI::V9;

/// From this version on, cutting a file short is a right. Before, only read-only mounts prevent it.
pub(crate) const KNOWS_TRUNCATE: u32 = 3;
/// From this version on, signals stay inside.
pub(crate) const KNOWS_SIGNALS: u32 = 6;

/// Devices without state and without danger. Everybody may use them.
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
    /// The profile.
    pub(crate) profile: &'a Profile,
    /// Whether mounts take care of `deny` and `protect`.
    pub(crate) holes_mounted: bool,
    /// Where processes are shown.
    pub(crate) extra_read: &'a Path,
    /// Where memory is shared.
    pub(crate) extra_write: Option<&'a Path>,
}

/// Restricts this process and all its children to come, for good.
pub(crate) fn restrict(plan: &Plan<'_>) -> Result<(), Trouble> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))
        .map_err(|error| nowhere(&error))?
        .scope(Scope::from_all(NEWEST))
        .map_err(|error| nowhere(&error))?;
    if plan.profile.network == Network::None {
        ruleset = ruleset
            .handle_access(AccessNet::from_all(NEWEST))
            .map_err(|error| nowhere(&error))?;
    }
    let mut rules = Rules(ruleset.create().map_err(|error| nowhere(&error))?);
    grant(&mut rules, plan)?;
    enforce(rules)
}

/// Leaves this process no file, no connection and nobody to signal.
pub(crate) fn restrict_to_nothing() -> Result<(), Trouble> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(NEWEST)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(NEWEST)))
        .and_then(|ruleset| ruleset.create());
    enforce(Rules(ruleset.map_err(|error| nowhere(&error))?))
}

fn enforce(rules: Rules) -> Result<(), Trouble> {
    let status = rules.0.restrict_self().map_err(|error| nowhere(&error))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        let error = io::Error::other("the kernel took the rules and enforces none");
        return Err(Trouble::machine("Landlock", error));
    }
    Ok(())
}

fn nowhere(error: &landlock::RulesetError) -> Trouble {
    Trouble::machine("Landlock", io::Error::other(error.to_string()))
}

fn grant(rules: &mut Rules, plan: &Plan<'_>) -> Result<(), Trouble> {
    let profile = plan.profile;
    for device in DEVICES {
        rules.allow(
            Path::new(device),
            device_rights(),
            Missing::Fine,
            Links::Followed,
        )?;
    }
    rules.allow(plan.extra_read, readable(), Missing::Fine, Links::Followed)?;
    if let Some(path) = plan.extra_write {
        rules.allow(path, writable(), Missing::Fine, Links::Followed)?;
    }
    if plan.holes_mounted {
        for path in &profile.read {
            rules.allow(path, readable(), Missing::Fine, Links::Refused)?;
        }
        for path in &profile.write {
            rules.allow(path, writable(), Missing::Wrong, Links::Refused)?;
        }
        return Ok(());
    }
    let mut denied = resolved(&profile.deny);
    // The child's own folders in it are granted by themselves.
    denied.extend(profile.rooms.clone());
    let unwritable: Vec<PathBuf> = denied
        .iter()
        .cloned()
        .chain(resolved(&profile.protect))
        .collect();
    for path in profile.read.iter().chain(&profile.write) {
        rules.allow_around(path, readable(), &denied, Missing::Fine)?;
    }
    for path in &profile.write {
        rules.allow_around(path, writable(), &unwritable, Missing::Wrong)?;
    }
    Ok(())
}

/// The places themselves and what they point to: a link into an allowed folder must not be a way in.
fn resolved(places: &[PathBuf]) -> Vec<PathBuf> {
    let mut all = Vec::with_capacity(places.len());
    for place in places {
        if place.symlink_metadata().is_err() {
            continue;
        }
        if let Ok(real) = place.canonicalize()
            && real != *place
        {
            all.push(real);
        }
        all.push(place.clone());
    }
    all
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
enum Missing {
    Fine,
    Wrong,
}

/// What to make of a path with a link in it: those of the profile had theirs resolved.
#[derive(Clone, Copy, PartialEq)]
enum Links {
    Followed,
    Refused,
}

struct Rules(RulesetCreated);

impl Rules {
    fn allow(
        &mut self,
        path: &Path,
        rights: BitFlags<AccessFs>,
        missing: Missing,
        links: Links,
    ) -> Result<(), Trouble> {
        let trouble = |error| Trouble::profile("allow", path, error);
        let opened = match links {
            Links::Followed => File::options()
                .read(true)
                .custom_flags(libc::O_PATH | libc::O_CLOEXEC)
                .open(path),
            Links::Refused => exactly(path).map(File::from),
        };
        let file = match opened {
            Ok(file) => file,
            Err(_) if missing == Missing::Fine => return Ok(()),
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

    /// Grants a place without its holes: as a whole if it has none, otherwise entry by entry.
    fn allow_around(
        &mut self,
        path: &Path,
        rights: BitFlags<AccessFs>,
        holes: &[PathBuf],
        missing: Missing,
    ) -> Result<(), Trouble> {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let inside = |hole: &&PathBuf| hole.starts_with(path) || hole.starts_with(&real);
        if !holes.iter().any(|hole| inside(&hole)) {
            return self.allow(path, rights, missing, Links::Refused);
        }
        if holes.contains(&real) || holes.iter().any(|hole| hole == path) {
            return Ok(());
        }
        let trouble = |error| Trouble::profile("allow", path, error);
        let mut entries = 0usize;
        for entry in std::fs::read_dir(&real).map_err(trouble)? {
            let entry = entry.map_err(trouble)?;
            entries += 1;
            if entries > MAX_SIBLINGS {
                return Err(trouble(io::Error::other(
                    "too many entries beside a protected place",
                )));
            }
            // What a link leads to is granted by its own place, or not at all.
            if entry.file_type().map_err(trouble)?.is_symlink() {
                continue;
            }
            self.allow_around(&entry.path(), rights, holes, Missing::Fine)?;
        }
        Ok(())
    }
}
