//! The skills that are found and read, with files that are forged, change and mislead.
//!
//! Every test has a separate folder: `root/` is searched, `outside/` must not be reachable through it, `cache/` is
//! for the index.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a broken fixture is a broken test"
)]

mod copy;
mod digest;
mod discovery;
mod index;
mod paths;
mod snapshot;
mod zoo;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use metier_catalog::{
    Catalog, CatalogEntry, DiscoveryLimits, DiscoveryOptions, IndexHome, Root, SkillLocation,
    discover,
};
use metier_model::{Diagnostic, DiagnosticSeverity, Source, Strictness};
use tempfile::TempDir;

/// A temporary folder with `root/` and `outside/` in it.
pub(crate) struct World {
    folder: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// The same in memory, if possible: for tests that create very many files.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        if memory.is_dir() {
            Self::below(memory)
        } else {
            Self::new()
        }
    }

    fn below(path: &Path) -> Self {
        let folder = TempDir::with_prefix_in("metier-catalog-", path).unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        Self { folder }
    }

    /// The canonical path of a name below the temporary folder.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("root")
    }

    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, &path).unwrap();
        path
    }

    pub(crate) fn fifo(&self, name: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        path
    }

    /// A valid skill in the folder `name`, named like it.
    pub(crate) fn skill(&self, name: &str) -> PathBuf {
        let last = name.rsplit('/').next().unwrap();
        self.write(&format!("{name}/SKILL.md"), skill_md(last));
        self.at(name)
    }

    pub(crate) fn look(&self) -> Catalog {
        look(&self.root(), &options(Strictness::Lenient))
    }

    pub(crate) fn look_within(&self, limits: DiscoveryLimits) -> Catalog {
        let options = options(Strictness::Lenient);
        look(&self.root(), &DiscoveryOptions { limits, ..options })
    }

    pub(crate) fn look_in(&self, mode: Strictness) -> Catalog {
        look(&self.root(), &options(mode))
    }
}

pub(crate) fn skill_md(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nThe body of {name}.\n")
}

pub(crate) const LIMITS: DiscoveryLimits = DiscoveryLimits {
    max_skills: 200_000,
    max_entries: 2_000_000,
    max_skill_bytes: 1_000_000,
    max_depth: 6,
    max_root_time: Duration::from_secs(10),
};

pub(crate) fn options(mode: Strictness) -> DiscoveryOptions<'static> {
    DiscoveryOptions {
        mode,
        limits: LIMITS,
        threads: 2,
        index: None,
        now: later(),
        builtins: false,
        progress: None,
    }
}

/// So much later than now that no file counts as recently changed.
pub(crate) fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(10)
}

pub(crate) fn with_index(home: &IndexHome, mode: Strictness) -> DiscoveryOptions<'_> {
    DiscoveryOptions {
        index: Some(home),
        ..options(mode)
    }
}

/// Searches one explicit root.
pub(crate) fn look(root: &Path, options: &DiscoveryOptions<'_>) -> Catalog {
    discover(vec![Root::explicit(Source::User, root.to_owned())], options)
}

/// The paths of all entries below `base`, sorted.
pub(crate) fn found(catalog: &Catalog, base: &Path) -> Vec<String> {
    let below = |entry: &CatalogEntry| {
        let path = entry.place.path().into_owned();
        let relative = path.strip_prefix(base).map(Path::to_owned);
        relative.unwrap_or(path).to_string_lossy().into_owned()
    };
    let mut paths: Vec<String> = catalog.entries.iter().map(below).collect();
    paths.sort();
    paths
}

/// The only entry.
#[track_caller]
pub(crate) fn only(catalog: &Catalog) -> &CatalogEntry {
    match catalog.entries.as_slice() {
        [entry] => entry,
        entries => panic!("{} entries; {:?}", entries.len(), catalog.diagnostics),
    }
}

#[track_caller]
pub(crate) fn named<'c>(catalog: &'c Catalog, folder: &str) -> &'c CatalogEntry {
    let is = |entry: &&CatalogEntry| entry.place.path().file_name().is_some_and(|n| n == folder);
    catalog
        .entries
        .iter()
        .find(is)
        .unwrap_or_else(|| panic!("no {folder}: {catalog:?}"))
}

pub(crate) fn codes(diagnostics: &[Diagnostic]) -> Vec<&'static str> {
    diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.as_str())
        .collect()
}

pub(crate) fn errors(entry: &CatalogEntry) -> Vec<&'static str> {
    let errors = entry
        .diagnostics
        .iter()
        .filter(|d| d.severity == DiagnosticSeverity::Error);
    errors.map(|diagnostic| diagnostic.code.as_str()).collect()
}

/// The folder as a place of files.
pub(crate) fn place(path: impl Into<PathBuf>) -> SkillLocation {
    SkillLocation::Folder(path.into())
}
