//! The abilities of a child, as plain data.

use std::collections::{BTreeMap, HashSet};
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use super::place_state::{exactly, identity};
#[cfg(target_os = "linux")]
use super::setup_error::{SetupError, SetupErrorKind};
use super::survey::Guard;
#[cfg(target_os = "linux")]
use super::trail::Trails;

/// The files, network and resources that a child may use. The default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxProfile {
    /// Files and folders that can be read, and whose programs can be run. Missing ones are skipped.
    pub read: Vec<PathBuf>,
    /// Files and folders that can be written, which includes reading. They must exist.
    pub write: Vec<PathBuf>,
    /// Never readable, even inside an allowed folder: places of keys and passwords.
    pub deny: Vec<PathBuf>,
    /// Never writable, even inside a writable folder: files that other programs run or obey later.
    pub protect: Vec<PathBuf>,
    /// How protected places are found in writable folders; without it only those in `protect` are known.
    pub guard: Option<Guard>,
    /// A folder with the temporary files of all children. A child sees only those of its entries that are in `read` or `write`.
    pub rooms: Option<PathBuf>,
    /// A folder that the child sees as a read-only copy: the scanned files, whatever happens to the folder meanwhile. Only
    /// [`Mechanism::Namespaces`] can do that; without them the folder itself is seen.
    pub stand_in: Option<StandIn>,
    /// The identities of some readable and writable places: those that were resolved when the grant was read. Their paths
    /// contain no links. A place that is now another object, or is behind a link, is refused.
    pub identities: BTreeMap<PathBuf, PlaceIdentity>,
    /// The network access.
    pub network: NetworkAccess,
    /// Its limits on resources.
    pub limits: SandboxLimits,
    /// The only programs that can be run, of those in readable places; `None` is all of them.
    pub programs: Option<Vec<PathBuf>>,
}

/// A file or folder under any name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceIdentity {
    /// The file system: its major and minor number.
    pub device: (u32, u32),
    /// The inode number.
    pub inode: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
}

/// A folder and the copy that is shown in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandIn {
    /// The folder whose place is taken.
    pub at: PathBuf,
    /// The copy that is mounted there.
    pub copy: PathBuf,
}

impl StandIn {
    /// This folder and its copy without links in their paths.
    #[cfg(target_os = "linux")]
    fn settled(&self) -> Result<Self, SetupError> {
        Ok(Self {
            at: real("show a copy of", &self.at)?,
            copy: real("show the copy", &self.copy)?,
        })
    }
}

/// A path without links.
#[cfg(target_os = "linux")]
fn real(step: &'static str, path: &Path) -> Result<PathBuf, SetupError> {
    let trouble = |error| SetupError::profile(step, path, error);
    path.canonicalize().map_err(trouble)
}

/// The network of a child.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NetworkAccess {
    /// No sockets at all, local ones included.
    #[default]
    None,
    /// A separate network with a single access: a listener that is passed to the parent's proxy.
    Proxy,
}

/// Limits of resources; `None` leaves a limit as it is. Core dumps are always off, since they contain secrets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SandboxLimits {
    /// Memory that each process may write to, in bytes; it may reserve sixteen times as much address space.
    pub memory: Option<u64>,
    /// Address space that it may reserve, if not sixteen times as much.
    pub address_space: Option<u64>,
    /// Size of each file that is written, in bytes.
    pub file_size: Option<u64>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Processes and threads, together.
    pub processes: Option<u64>,
    /// Processor time of each process, in seconds.
    pub cpu_seconds: Option<u64>,
}

/// The mechanism that sandboxes a child on this machine, from strong to none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// Own user, mount, PID, network and IPC namespaces, with Landlock and seccomp inside.
    Namespaces,
    /// Landlock and seccomp only.
    Landlock,
    /// Nothing: a profile can't be enforced, so nothing runs under one.
    None,
}

/// The mechanism of this machine, and why stronger ones are not available.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// The strongest available mechanism.
    pub mechanism: Mechanism,
    /// The version of Landlock, if the kernel has it enabled.
    pub landlock: Option<u32>,
    /// Why stronger mechanisms are not available, one sentence each.
    pub missing: Vec<String>,
}

/// A profile that allows and forbids the same place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is allowed, but is in `{}`, which is not", allowed.display(), forbidden.display())]
pub struct Contradiction {
    /// The path in `read` or `write`.
    pub allowed: PathBuf,
    /// The path in `deny` or `protect` that is above it.
    pub forbidden: PathBuf,
}

impl SandboxProfile {
    /// Refuses contradictions: an allowed place below a forbidden one has no single meaning.
    ///
    /// # Errors
    /// The first such pair.
    pub fn check(&self) -> Result<(), Contradiction> {
        let clash = |allowed: &[PathBuf], forbidden: &[PathBuf]| {
            let forbidden: HashSet<&Path> = forbidden.iter().map(PathBuf::as_path).collect();
            allowed.iter().find_map(|inner| {
                let outer = inner.ancestors().find(|above| forbidden.contains(above))?;
                Some(Contradiction {
                    allowed: inner.clone(),
                    forbidden: outer.to_owned(),
                })
            })
        };
        let found = clash(&self.read, &self.deny)
            .or_else(|| clash(&self.write, &self.deny))
            .or_else(|| clash(&self.write, &self.protect));
        found.map_or(Ok(()), Err)
    }

    /// This profile without links, so that paths can be compared by their names: readable and writable places are resolved, denied
    /// places are replaced by their targets, whether they exist or not, and protected places by every step to their targets. Places that
    /// another mount shows are denied and protected under those paths too, and so are other names of protected files.
    ///
    /// Missing readable places are left out. A place with an identity is not resolved again.
    ///
    /// # Errors
    /// If a place is a different object than before. If a writable place does not exist: the permission to write it would silently have no
    /// effect. If the folder with a stand-in or the stand-in
    /// does not exist: the child would see the folder itself.
    #[cfg(target_os = "linux")]
    pub(crate) fn settled(&self, trails: &mut Trails) -> Result<Self, SetupError> {
        let mut identities = self.identities.clone();
        let mut write = self.settled_write(&mut identities)?;
        in_order(&mut write);
        let nothing = Guard::default();
        let guard = self.guard.as_ref().unwrap_or(&nothing);
        let mut protect = guard.protection.steps(&self.protect, trails);
        // A file that is protected by another name is not opened, as in a folder.
        let is_protected = |file: &PathBuf| protect.iter().any(|place| file.starts_with(place));
        write.retain(|path| !(guard.files.contains(path) && is_protected(path)));
        // The rest can't be reached anyway.
        protect.retain(|place| {
            write
                .iter()
                .any(|root| place.starts_with(root) || root.starts_with(place))
        });
        in_order(&mut protect);
        let ends = self.deny.iter().map(|place| trails.of(place).end);
        let mut deny = guard.protection.mounts().with_other_names(ends.collect());
        in_order(&mut deny);
        let mut read = self.settled_read(trails)?;
        in_order(&mut read);
        Ok(Self {
            read,
            write,
            deny,
            protect,
            guard: self.guard.clone(),
            rooms: self
                .rooms
                .as_ref()
                .and_then(|rooms| rooms.canonicalize().ok()),
            stand_in: self.stand_in.as_ref().map(StandIn::settled).transpose()?,
            identities,
            network: self.network,
            limits: self.limits,
            programs: self.programs.clone(),
        })
    }

    /// The writable places without links. From here on each has an identity.
    #[cfg(target_os = "linux")]
    fn settled_write(
        &self,
        identities: &mut BTreeMap<PathBuf, PlaceIdentity>,
    ) -> Result<Vec<PathBuf>, SetupError> {
        const STEP: &str = "make writable";
        let mut write = Vec::with_capacity(self.write.len());
        for path in &self.write {
            if self.identities.contains_key(path) {
                self.open(STEP, path)?;
                write.push(path.clone());
                continue;
            }
            let path = real(STEP, path)?;
            let found = exactly(&path).and_then(identity);
            let found = found.map_err(|error| SetupError::profile(STEP, &path, error))?;
            identities.entry(path.clone()).or_insert(found);
            write.push(path);
        }
        Ok(write)
    }

    /// The readable places without links.
    #[cfg(target_os = "linux")]
    fn settled_read(&self, trails: &mut Trails) -> Result<Vec<PathBuf>, SetupError> {
        let mut read = Vec::with_capacity(self.read.len());
        for path in &self.read {
            if !self.identities.contains_key(path) {
                read.extend(trails.of(path).real());
                continue;
            }
            match self.open("allow", path) {
                Ok(_) => read.push(path.clone()),
                Err(trouble) if trouble.kind == SetupErrorKind::Replaced => return Err(trouble),
                Err(_missing) => {}
            }
        }
        Ok(read)
    }

    /// Opens a readable or writable place whose links were resolved before. It must have the identity.
    #[cfg(target_os = "linux")]
    pub(crate) fn open(&self, step: &'static str, path: &Path) -> Result<OwnedFd, SetupError> {
        let trouble = |error| SetupError::profile(step, path, error);
        let known = self.identities.get(path);
        let place = match exactly(path) {
            Err(error) if known.is_some() && error.raw_os_error() == Some(libc::ELOOP) => {
                return Err(SetupError::replaced(path));
            }
            place => place.map_err(trouble)?,
        };
        let found = identity(&place).map_err(trouble)?;
        match known.is_some_and(|known| *known != found) {
            true => Err(SetupError::replaced(path)),
            false => Ok(place),
        }
    }

    /// The allowed entries of the folder with all temporary files.
    #[cfg(target_os = "linux")]
    pub(crate) fn own_rooms(&self) -> Vec<&Path> {
        let Some(rooms) = &self.rooms else {
            return Vec::new();
        };
        let all = self.read.iter().chain(&self.write).map(PathBuf::as_path);
        all.filter(|path| path.starts_with(rooms) && path != rooms)
            .collect()
    }

    /// The outermost writable place that contains `path`, if one does. The child can rename all folders between the two, including those
    /// above an inner writable place.
    #[cfg(target_os = "linux")]
    pub(crate) fn writable_above(&self, path: &Path) -> Option<&Path> {
        let above = self.write.iter().filter(|root| path.starts_with(root));
        above
            .map(PathBuf::as_path)
            .min_by_key(|root| root.as_os_str().len())
    }
}

/// Sorted, without duplicates. By bytes: comparing hundreds of paths by their parts takes longer than looking them up.
#[cfg(target_os = "linux")]
fn in_order(paths: &mut Vec<PathBuf>) {
    paths.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    paths.dedup_by(|one, other| one.as_os_str() == other.as_os_str());
}
