//! Sources that are really opened and read: folders, archives, repositories and servers on loopback.

mod archives;
mod folders;
mod repositories;
mod server;
mod sites;

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use metier_hub::{
    SkillSource,
    fetch::{
        AccessSettings, FetchError, FetchProgress, FetchStep, FetchedSkill, HostAccess,
        OpenedSource, SkillOffer, SourceAccess, SourceLimits, open,
    },
};

/// A manifest with this name.
pub(crate) fn manifest(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\nversion: 1.2.0\n---\nHello.\n")
}

/// Bytes that can't be compressed.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// A user with a home and a folder of quarantine.
pub(crate) struct User {
    folder: tempfile::TempDir,
    pub(crate) environment: Vec<(OsString, OsString)>,
    pub(crate) stop: Option<Arc<AtomicBool>>,
}

impl User {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "files"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let home = folder.path().join("home");
        Self {
            environment: vec![
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("HOME".into(), home.into()),
            ],
            folder,
            stop: None,
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// A path below the folder of sources.
    pub(crate) fn files(&self, name: &str) -> PathBuf {
        self.path("files").join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.files(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn settings(&self) -> AccessSettings {
        AccessSettings {
            launcher: PathBuf::from(env!("CARGO_BIN_EXE_metier-hub-exec")),
            quarantine: self.path("quarantine"),
            path: "/usr/bin:/bin".into(),
            home: Some(self.path("home")),
            environment: self.environment.clone(),
            stop: self.stop.clone(),
        }
    }

    pub(crate) fn access(&self) -> HostAccess {
        HostAccess::new(self.settings())
    }

    /// The files that are left in quarantine.
    pub(crate) fn left(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path("quarantine"));
        entries
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// Opens typed text, and reads all offers.
    pub(crate) fn fetch(&self, text: &str) -> Result<Vec<FetchedSkill>, FetchError> {
        fetch_with(&self.access(), text)
    }
}

pub(crate) fn parsed(text: &str) -> SkillSource {
    SkillSource::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn typed(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

pub(crate) fn fetch_with(
    access: &dyn SourceAccess,
    text: &str,
) -> Result<Vec<FetchedSkill>, FetchError> {
    let opened = open(&parsed(text), access, &SourceLimits::default(), &())?;
    let offers: Vec<&SkillOffer> = opened.offers().iter().collect();
    opened.read_all(&offers).into_iter().collect()
}

pub(crate) fn opened<'a>(access: &'a dyn SourceAccess, text: &str) -> OpenedSource<'a> {
    open(&parsed(text), access, &SourceLimits::default(), &())
        .unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// `name folder` of each offer.
pub(crate) fn names(opened: &OpenedSource<'_>) -> Vec<String> {
    let shown = |offer: &SkillOffer| format!("{} {}", offer.name, offer.folder);
    opened.offers().iter().map(shown).collect()
}

/// `path: content` of each file.
pub(crate) fn listing(skill: &FetchedSkill) -> Vec<String> {
    let files = skill.tree.files().iter();
    files
        .map(|file| format!("{}: {}", file.path, String::from_utf8_lossy(&file.bytes)))
        .collect()
}

/// The error of a fetch that must fail, with all of its messages.
#[track_caller]
pub(crate) fn refused(result: Result<Vec<FetchedSkill>, FetchError>) -> String {
    match result {
        Ok(skills) => panic!(
            "fetched: {:?}",
            skills
                .iter()
                .map(|skill| (&skill.name, listing(skill)))
                .collect::<Vec<_>>()
        ),
        Err(error) => error.to_string(),
    }
}

/// Collects the reports of a fetch.
#[derive(Default)]
pub(crate) struct Collected(pub(crate) Mutex<Vec<String>>);

impl FetchProgress for Collected {
    fn report(&self, step: FetchStep<'_>) {
        let text = match step {
            FetchStep::Opening { source } => format!("opening {source}"),
            FetchStep::Bytes {
                received, total, ..
            } => format!("{received} of {total:?}"),
            FetchStep::Read { name } => format!("read {name}"),
        };
        self.0.lock().unwrap().push(text);
    }
}
