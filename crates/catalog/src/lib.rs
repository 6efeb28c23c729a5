//! # metier-catalog — the skills on this machine
//!
//! **Problem.** Skills are in dozens of folders, sometimes ten thousand in one; some are broken, and some are traps:
//! links to secrets, FIFOs that block, files of a terabyte.
//!
//! **Goals.** Every skill is found or reported; an unchanged tree costs little more than a `stat`
//! for each; no file outside a skill's folder is ever read through it.
//!
//! **Worked example.** `~/.claude/skills/` contains `pdf/SKILL.md`, a link `shared → ../x`, and a FIFO
//! `trap/SKILL.md`. [`discover`] lists `pdf`, follows the link once, and lists `trap` as invalid with the reason; it
//! never waits for the FIFO.
//!
//! **In → out.** [`Root`]s + [`DiscoveryOptions`] → [`Catalog`] `{ entries, diagnostics }`;
//! [`SkillLocation`] → files, text, [`Digest`](metier_model::Digest).
//!
//! **Invariants.** no hidden caps: reaching a limit is a diagnostic · a broken skill never hides another · bodies are
//! read only on demand · the index is only a cache.
//!
//! **Start reading at** `discover.rs`, then `walk/mod.rs`, then `folder.rs`.

mod agents;
mod blocks;
mod builtin;
mod codec;
mod copy;
mod discover;
mod entry;
mod folder;
mod index;
mod machine_facts;
mod manifest_file;
mod names;
mod path_bytes;
mod plugin;
mod project;
mod project_state;
mod remote;
mod root;
mod skill_files;
mod snapshot;
mod text_index;
mod verdicts;
mod walk;

pub use agents::{KnownAgent, known_agents};
pub use builtin::{BUILTINS, BuiltinSkill};
pub use copy::CopyError;
pub use discover::{DiscoveryLimits, DiscoveryOptions, discover};
pub use entry::{Catalog, CatalogEntry, ManifestFiles, SkillLocation};
pub use folder::{DigestBudget, FileEntry, ReadError, Resource};
pub use index::IndexHome;
pub use machine_facts::MachineFacts;
pub use manifest_file::{has_file, read_bytes, read_named, read_small};
pub use path_bytes::PathBytes;
pub use project::{ProjectFiles, ProjectLimits, project_files};
pub use project_state::ProjectState;
pub use remote::{
    MAX_REMOTE_BYTES, MAX_REMOTE_FILES, RemoteFile, RemoteManifest, RemoteReader, RemoteSkill,
};
pub use root::{Root, RootBases, RootPresence, roots_below, usual, usual_in_project};
pub use skill_files::Fingerprint;
pub use snapshot::{MemoryBudget, Snapshot, SnapshotContent, SnapshotFile};
pub use text_index::{IndexBytes, PagedFile, TextIndex};
pub use verdicts::{NotedVerdict, VerdictKey, Verdicts};
