//! The sandbox of a child: the files, network and resources that it can use.
//!
//! **Problem.** A skill's code runs with the user's rights. It must see the granted folders, but neither the keys
//! next to them nor the start-up files through which it would run again later, outside the sandbox.
//!
//! **Decision.** A [`SandboxProfile`] is plain data and contains what is allowed; empty means nothing. It is enforced by the kernel, in
//! several layers that don't trust each other, and by a separate process (the launcher), because a restriction can't be undone:
//!
//! | layer | stops | where |
//! |---|---|---|
//! | Landlock | reading, writing and running what is not on the list | always; without it nothing runs |
//! | seccomp | sockets, other namespaces, mounts, tracing, keys, `io_uring` … | always |
//! | resource limits | memory, files, processes, processor time | always, if the profile has them |
//! | mounts | all writes but those on the list, protected and denied places in the middle of allowed ones | [`Mechanism::Namespaces`] |
//! | PID namespace | survivors; seeing or signalling other processes | [`Mechanism::Namespaces`] |
//! | network namespace | every packet; only loopback, which ends at our proxy | [`Mechanism::Namespaces`] |
//!
//! Without namespaces, [`Mechanism::Landlock`] uses the first three. Landlock can't exclude a place from an allowed folder, so
//! there the folder is not allowed as a whole: its other entries are, one by one, and no file can be created next to the
//! protected one. Network by proxy is refused. Survivors are killed by a supervisor instead of by the kernel. Without Landlock
//! the child does not run.
//!
//! Our own interpreters need no program, file or network. They have no profile: they sandbox themselves with [`confine()`].

mod aliases;
mod classify;
mod confine;
mod mounted;
mod name_stack;
mod names;
pub(crate) mod object;
mod places;
mod profile;
mod protected;
mod protected_files;
mod protected_home;
mod survey;
mod trail;
mod variables;
mod walk;

#[cfg(target_os = "linux")]
pub(crate) mod filter;
#[cfg(target_os = "linux")]
pub(crate) mod landlock;
#[cfg(target_os = "linux")]
pub(crate) mod mounts;
#[cfg(target_os = "linux")]
pub(crate) mod namespaces;
#[cfg(target_os = "linux")]
pub(crate) mod place_state;
#[cfg(target_os = "linux")]
pub(crate) mod setup_error;
#[cfg(target_os = "linux")]
pub(crate) mod sys;

pub use crate::child::detect;
pub use confine::{ConfineError, WorkerLimits, confine};
pub use mounted::MountTable;
pub(crate) use names::{DeniedPlaces, NameSet, all_names, is_below};
pub use places::{KERNEL, credential_places, machine_keys, system_read};
pub use profile::{
    Contradiction, Mechanism, NetworkAccess, PlaceIdentity, SandboxLimits, SandboxProfile, StandIn,
    Support,
};
pub use protected::Protection;
pub use survey::{Guard, SurveyError, UndonePlace};
pub(crate) use survey::{SecondLook, Survey};
pub(crate) use trail::Trails;
pub use variables::NamedByVariables;
pub(crate) use walk::shown;
