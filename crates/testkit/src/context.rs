//! The interface of the crate for tests written in Rust: prepare files, run the program, check the output.
//!
//! A broken fixture is a broken test, so everything here panics with a sentence instead of returning an error.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::output::{Filters, ProgramOutput};
use crate::patience::PATIENCE;
use crate::process::{self, RunError};
use crate::test_folders::TestFolders;

/// The time of all tests (`METIER_NOW`).
pub const NOW: &str = "2026-01-02T03:04:05Z";

/// A fresh home, working folder and `PATH` in which the program under test runs.
///
/// The environment contains `HOME`, `PATH`, `METIER_NOW`, `TERM=dumb` and nothing else until a test adds to it.
#[derive(Debug)]
pub struct TestContext {
    program: PathBuf,
    pub(crate) place: TestFolders,
    env: BTreeMap<OsString, OsString>,
    timeout: Duration,
    /// The user that runs the program, if it is not the one who runs the tests.
    user: Option<u32>,
    /// A program with its arguments that starts the program under test.
    wrapper: Vec<OsString>,
    pub(crate) filters: Arc<Filters>,
}

impl TestContext {
    /// `program` is the binary under test, usually `env!("CARGO_BIN_EXE_metier")`.
    #[must_use]
    pub fn new(program: impl AsRef<Path>) -> Self {
        sure("make a temporary folder", Self::try_new(program.as_ref()))
    }

    pub(crate) fn try_new(program: &Path) -> io::Result<Self> {
        // The child starts in another folder, so a relative path has to be resolved now.
        let program = std::path::absolute(program)?;
        let place = TestFolders::new()?;
        let (home, work, bin) = (place.home(), place.work(), place.bin());
        let filters = Filters::new(&[(&work, "[WORK]"), (&home, "[HOME]"), (&bin, "[BIN]")]);
        let env = BTreeMap::from([
            ("HOME".into(), home.into()),
            ("PATH".into(), bin.into()),
            ("METIER_NOW".into(), NOW.into()),
            ("TERM".into(), "dumb".into()),
        ]);
        Ok(Self {
            program,
            place,
            env,
            timeout: PATIENCE,
            user: None,
            wrapper: Vec::new(),
            filters: Arc::new(filters),
        })
    }

    /// Sets a variable for all later runs.
    pub fn env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> &mut Self {
        self.env.insert(name.as_ref().into(), value.as_ref().into());
        self
    }

    /// Removes a variable for all later runs.
    pub fn unset(&mut self, name: impl AsRef<OsStr>) -> &mut Self {
        self.env.remove(name.as_ref());
        self
    }

    /// Changes the time limit of a run ([`PATIENCE`] otherwise).
    pub fn timeout(&mut self, limit: Duration) -> &mut Self {
        self.timeout = limit;
        self
    }

    /// Runs the program as another user, who then owns all files of this context. Only root can do this.
    pub fn run_as(&mut self, user: u32) -> &mut Self {
        self.user = Some(user);
        self
    }

    /// Starts the program through another program, which gets the first one and its arguments as its last arguments.
    pub fn wrap(&mut self, wrapper: &[&str]) -> &mut Self {
        self.wrapper = wrapper.iter().map(OsString::from).collect();
        self
    }

    /// The program's home folder.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.place.home()
    }

    /// The folder that the program starts in.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.place.work()
    }

    /// The path of a name: `~/x` below home, `$BIN/x` below the folder on `PATH`, `x` below the working folder.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        sure(name, self.place.path(name))
    }

    /// Writes a file (see [`Self::path`] for names), creating its folders.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        sure(name, self.place.write(name, content.as_ref()))
    }

    /// Creates a folder and those above it.
    pub fn dir(&self, name: &str) -> PathBuf {
        sure(name, self.place.dir(name))
    }

    /// Creates a symbolic link; `target` is written unchanged.
    pub fn symlink(&self, target: &str, name: &str) -> PathBuf {
        sure(name, self.place.symlink(target, name))
    }

    /// Creates a FIFO: a file that blocks a careless reader.
    pub fn fifo(&self, name: &str) -> PathBuf {
        sure(name, self.place.fifo(name))
    }

    /// Puts an executable on `PATH`, for example `bin("gh", "#!/bin/sh\necho hi\n")`.
    pub fn bin(&self, name: &str, script: &str) -> PathBuf {
        self.write(&format!("$BIN/{name}"), script)
    }

    /// The content of a file, to check what the program wrote.
    #[must_use]
    pub fn read(&self, name: &str) -> String {
        sure(name, std::fs::read_to_string(self.path(name)))
    }

    /// Runs the program to its end, without input. Panics if it takes too long.
    pub fn run(&self, arguments: &[&str]) -> ProgramOutput {
        sure(&arguments.join(" "), self.try_run(arguments, None))
    }

    /// Like [`Self::run`], with this text on standard input.
    pub fn run_with_stdin(&self, arguments: &[&str], stdin: impl AsRef<[u8]>) -> ProgramOutput {
        let stdin = Some(stdin.as_ref());
        sure(&arguments.join(" "), self.try_run(arguments, stdin))
    }

    /// Like [`Self::run`], but a timeout is a value.
    ///
    /// # Errors
    /// If the program can't be started, or if it had to be killed.
    pub fn try_run(
        &self,
        arguments: &[&str],
        stdin: Option<&[u8]>,
    ) -> Result<ProgramOutput, RunError> {
        self.try_run_with(arguments, stdin, &[])
    }

    /// [`Self::try_run`] with variables for this run only.
    pub(crate) fn try_run_with(
        &self,
        arguments: &[&str],
        stdin: Option<&[u8]>,
        env: &[(String, String)],
    ) -> Result<ProgramOutput, RunError> {
        let mut command = self.command();
        command.args(arguments);
        command.envs(env.iter().map(|(name, value)| (name, value)));
        let done = process::run(command, stdin, &self.place.logs(), self.timeout)?;
        Ok(self.output(done.stdout, done.stderr, done.code))
    }

    /// The program with this context's environment and folder, for tests that start it themselves (servers).
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = match self.wrapper.split_first() {
            Some((wrapper, arguments)) => {
                let mut command = Command::new(wrapper);
                command.args(arguments).arg(&self.program);
                command
            }
            None => Command::new(&self.program),
        };
        command
            .env_clear()
            .envs(&self.env)
            .current_dir(self.place.work());
        if let Some(user) = self.user {
            sure("change the owner", self.place.give_to(user));
            command.uid(user).gid(user);
        }
        command
    }

    /// Starts any program in this context's environment and folder, for tests that communicate with it: all its streams are pipes.
    pub fn start(&self, mut command: Command) -> Child {
        command
            .env_clear()
            .envs(&self.env)
            .current_dir(self.place.work())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        sure("start", command.spawn())
    }

    /// Replaces temporary paths in a string by `[WORK]`, `[HOME]`, `[BIN]`.
    #[must_use]
    pub fn filter(&self, text: &str) -> String {
        self.filters.apply(text)
    }

    pub(crate) fn output(&self, stdout: String, stderr: String, code: i32) -> ProgramOutput {
        ProgramOutput {
            stdout,
            stderr,
            code,
            filters: Arc::clone(&self.filters),
        }
    }
}

/// A fixture that can't be created must stop the test that needs it.
#[track_caller]
fn sure<T, E: std::fmt::Display>(what: &str, result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{what}: {error}"),
    }
}

#[cfg(test)]
#[path = "context_tests.rs"]
mod tests;
