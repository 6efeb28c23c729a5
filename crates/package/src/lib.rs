//! # metier-package — the package format of skills
//!
//! **Problem.** A skill is distributed as an archive by an unknown author. Archives can have false names and sizes, unpackers disagree
//! about their content, and a version that was approved yesterday can contain other bytes today.
//!
//! **Goals.** One strict reader for every archive format; one digest for a tree of files, wherever it came from; a lock file that survives
//! a merge; signatures that other tools can check.
//!
//! **In → out.** bytes → [`PackageTree`] → [`Digest`](metier_model::Digest); tree → reproducible `.skill` bytes ([`pack`]);
//! text ↔ [`Lock`]; requirements + versions → [`resolve`]d versions or sentences that explain the conflict.
//!
//! **Invariants.** no I/O, no clock · an archive is read completely or refused: nothing is skipped, renamed or repaired ·
//! a [`PackagePath`] is a plain relative path on every operating system · the same tree always packs to the same bytes.
//!
//! **Start reading at** `tree.rs`, then `archive.rs`.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod archive;
mod lock;
mod merge;
mod pack;
mod path;
pub mod registry_api;
mod resolve;
mod sbom;
mod signature;
mod tree;

pub use archive::{ArchiveError, ArchiveLimits, read_archive};
pub use lock::{Lock, LockError, LockedSkill, VerdictWord};
pub use merge::{MergeError, merge};
pub use pack::{
    PACKAGE_EXTENSION, PackError, SBOM_EXTENSION, SIGNATURE_EXTENSION, is_left_out, pack,
};
pub use path::{PackagePath, PathError};
pub use resolve::{Available, ResolutionError, ResolvedVersions, resolve};
pub use sbom::BillOfMaterials;
pub use signature::{
    KeyPair, PublicKey, SignatureError, SignedPackage, claimed_key, is_signature, needs_password,
    sign, verify, verify_tree,
};
pub use tree::{PackageFile, PackageTree, TreeError, digest_of_lines, file_line};
