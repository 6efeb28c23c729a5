//! A test folder with a fake home next to it, and one function that runs a program there.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use metier_host::child::{self, ChildError, ChildOutcome, ChildSpec, Confinement, Stdin};
use metier_host::sandbox::{Mechanism, Protection, SandboxProfile, system_read};
use metier_testkit::patience::PATIENCE;

/// Both sandbox mechanisms.
pub(crate) const BOTH: [Mechanism; 2] = [Mechanism::Namespaces, Mechanism::Landlock];

/// The shim of the tests.
pub(crate) fn shim() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_metier-exec"))
}

/// The program that tries forbidden acts.
pub(crate) fn probe() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_metier-probe"))
}

/// An isolated environment.
pub(crate) struct TestHome {
    folder: tempfile::TempDir,
    pub(crate) profile: SandboxProfile,
    pub(crate) mechanism: Option<Mechanism>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) timeout: Duration,
    pub(crate) stdin: Vec<u8>,
    pub(crate) stop: Option<Arc<AtomicBool>>,
}

impl TestHome {
    /// A writable workspace, in a home that is not writable.
    pub(crate) fn new(mechanism: Mechanism) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir_all(folder.path().join("home/work")).expect("a workspace");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
        let mut read = system_read(&dirs, None);
        read.push(probe().to_owned());
        let profile = SandboxProfile {
            read,
            write: vec![folder.path().join("home/work")],
            ..SandboxProfile::default()
        };
        Self {
            folder,
            profile,
            mechanism: Some(mechanism),
            env: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            timeout: PATIENCE,
            stdin: Vec::new(),
            stop: None,
        }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    /// The protected places in the workspace, with these `.git` folders open in part.
    pub(crate) fn protected(&self, open: &[PathBuf]) -> Vec<PathBuf> {
        let work = self.work();
        Protection::new(None, &work, &work, &[]).around(&[work], open)
    }

    /// Writes a file below the home.
    pub(crate) fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(&path, text).expect("a file");
        path
    }

    pub(crate) fn run(&self, program: &str, args: &[&str]) -> Result<ChildOutcome, ChildError> {
        let folder = File::open(self.work()).expect("the workspace");
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let mut spec = ChildSpec::new(
            shim(),
            program,
            folder.as_fd(),
            Confinement::Profile(&self.profile),
        );
        spec.args = &args;
        spec.env = &self.env;
        spec.mechanism = self.mechanism;
        spec.timeout = self.timeout;
        spec.stop = self.stop.as_deref();
        if !self.stdin.is_empty() {
            spec.stdin = Stdin::Bytes(&self.stdin);
        }
        child::run(&spec)
    }

    /// Runs a shell script.
    pub(crate) fn sh(&self, script: &str) -> ChildOutcome {
        self.run("/bin/sh", &["-c", script]).expect("an outcome")
    }

    /// Runs the program that tries forbidden acts.
    pub(crate) fn probe(&self, args: &[&str]) -> ChildOutcome {
        let program = probe().to_str().expect("a readable path");
        self.run(program, args).expect("an outcome")
    }
}

/// The names of the protected places that were restored.
pub(crate) fn undone(outcome: &ChildOutcome) -> Vec<PathBuf> {
    let places = outcome.undone.iter();
    places.map(|place| place.path.clone()).collect()
}

/// The output, for comparing.
pub(crate) fn out(outcome: &ChildOutcome) -> String {
    String::from_utf8_lossy(&outcome.stdout).trim().to_owned()
}
