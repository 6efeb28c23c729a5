//! # metier-registry — a registry of skills
//!
//! **Problem.** A team shares skills. A version that was installed yesterday must have the same bytes today, a dangerous package must not
//! be served, and a client must notice a registry that changes its history.
//!
//! **Decision.** [`Registry`] is the logic, without HTTP and without a runtime: publish, search, yank, download. It uses two small
//! traits, [`RegistryDatabase`] and [`BlobStore`]. Both block: publishing is work for the processor anyway, SQLite and folders block,
//! and an implementation with asynchronous drivers (PostgreSQL, S3) waits for them on the thread that it is called on. [`http`] runs each
//! request on a thread for blocking work.
//!
//! **In → out.** `.skill` bytes + token → a version, a refusal or a quarantined version with findings · query → page · name + version →
//! bytes.
//!
//! **Invariants.** a version never changes its bytes · nothing is deleted: a version is yanked · a package is scanned before it is served,
//! and a critical one never is · tokens are stored as hashes · every change is an entry of a log with a hash chain, written in the same
//! transaction.
//!
//! **Start reading at** `registry.rs`, then `package_check.rs`, then `http/mod.rs`.

mod blobs;
mod database;
pub mod http;
mod package_check;
mod registry;
mod similar_names;
mod sqlite;
mod tokens;

pub use blobs::{BlobError, BlobStore, FolderBlobs};
pub use database::{
    DatabaseError, RegistryDatabase, StoredSkill, StoredToken, StoredVersion, VersionState,
};
pub use registry::{PackageUpload, Registry, RegistryError, RequestRefusal};
pub use similar_names::resembled;
pub use sqlite::SqliteDatabase;
pub use tokens::{NewToken, TokenScope};
