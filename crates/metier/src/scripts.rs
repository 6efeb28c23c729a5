//! Running a script of a skill in the sandbox of its permissions.

use std::{io, os::fd::OwnedFd};

use metier_host::execution::{ActResult, ExecutionError};
use metier_policy::{Act, Purpose};
use metier_runtime::skill_environment::StartError;

pub use metier_host::child::{Exit, OutputStream, Relay};

use crate::{
    Error, Workspace,
    execution_context::{self, ExecutionContext},
    explain,
    receipts::Receipt,
    rendering::not_read,
};

/// A script that has ended.
///
/// An example is at [`Workspace::exec`].
#[derive(Clone, Debug)]
pub struct ScriptRun {
    /// The name of the skill.
    pub skill: String,
    /// The script, below the folder of the skill.
    pub script: String,
    /// The exit code, or what ended it.
    pub exit: Exit,
    /// Its standard output, without secrets; the beginning of a long one.
    pub stdout: String,
    /// Its standard error, without secrets.
    pub stderr: String,
    /// Whether the output was longer than is kept.
    pub is_truncated: bool,
    /// Whether the relay got the output while the script ran. Output that may contain secrets is cleaned first, and is whole only at the end.
    pub was_relayed: bool,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// The receipts of the run.
    pub receipts: Vec<Receipt>,
    /// How many further receipts there are.
    pub receipts_left_out: u64,
}

/// Passes output on unless it may contain secrets.
struct Cleaned<'r> {
    relay: &'r dyn Relay,
    has_secrets: bool,
}

impl Relay for Cleaned<'_> {
    fn input(&self) -> Option<OwnedFd> {
        self.relay.input()
    }

    fn output(&self, stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
        match self.has_secrets {
            true => Ok(()),
            false => self.relay.output(stream, bytes),
        }
    }
}

impl Workspace {
    /// Runs a script of a skill in the sandbox of its permissions, with a receipt. `relay` provides its input and gets its output while
    /// it runs.
    ///
    /// Each call lists the skills of the machine, except on [`CurrentSkills::workspace`](crate::CurrentSkills::workspace).
    ///
    /// ```no_run
    /// use std::os::fd::OwnedFd;
    /// use metier::scripts::{OutputStream, Relay};
    ///
    /// struct Nothing;
    /// impl Relay for Nothing {
    ///     fn input(&self) -> Option<OwnedFd> { None }
    ///     fn output(&self, _: OutputStream, _: &[u8]) -> std::io::Result<()> { Ok(()) }
    /// }
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let run = workspace.exec("pdf", "scripts/fields.py", &["form.pdf".to_owned()], &Nothing)?;
    /// println!("{}: {}", run.exit, run.stdout);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the skill can't be used, when the scanner blocks it, when it has no such file, or when a permission is missing. A script that
    /// fails is a [`ScriptRun`].
    pub fn exec(
        &self,
        name: &str,
        script: &str,
        arguments: &[String],
        relay: &dyn Relay,
    ) -> Result<ScriptRun, Error> {
        let inventory = self.inventory()?;
        let entry = inventory.entry(explain::find_usable(self, &inventory, name)?);
        let held = self.admit(&inventory, entry)?;
        let script = &metier_policy::plain_script(script);
        held.read(script, u64::MAX)
            .map_err(|error| not_read(name, &error))?;
        let loaded = self.loaded(entry, held)?;
        let environment = ExecutionContext::open(self)?.environment(None, None);
        let failed = |error| explain::act_failed(&entry.name(), error);
        let worker = environment.worker(&loaded, Purpose::Script(script));
        let worker = worker.map_err(|stopped| match stopped {
            StartError::Refused(error) => execution_context::refused(entry, error),
            StartError::Failed(error) => failed(error),
        })?;
        let act = Act::Script {
            path: script.as_str().into(),
            arguments: arguments.to_vec(),
        };
        let has_secrets = worker.has_secrets();
        let ended = match worker.act_relayed(&act, Some(&Cleaned { relay, has_secrets })) {
            Ok(ActResult::Child(ended, _)) => ended,
            Ok(_) => return Err(failed(ExecutionError::Elsewhere("a script").into())),
            Err(error) => return Err(failed(error)),
        };
        Ok(ScriptRun {
            skill: entry.name().into_owned(),
            script: script.to_owned(),
            stdout: worker.clean(&ended.stdout),
            stderr: worker.clean(&ended.stderr),
            is_truncated: ended.truncated,
            was_relayed: !has_secrets,
            ms: ended.ms,
            exit: ended.exit,
            receipts: worker.receipts(),
            receipts_left_out: worker.receipts_left_out(),
        })
    }
}
