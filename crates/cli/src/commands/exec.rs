//! `metier exec`

use std::{
    cell::{Cell, RefCell},
    io::{self, IsTerminal},
    os::fd::{AsFd, OwnedFd},
};

use metier::{
    scripts::{Exit as Ended, OutputStream, Relay},
    text::shell_word,
};
use metier_wire::{ExecDocument, ReceiptRow};

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::Output,
};

/// Run a skill's script in a sandbox limited to its permissions
///
/// The script can use its own folder, the system's programs and what was approved, and nothing else: no network, no keys, no
/// variables. It starts in the working directory. Its output is shown as it is written, standard input is passed on unless it is the terminal, and metier
/// exits with its exit code. Every run leaves a receipt (`metier log`).
#[derive(clap::Args)]
pub(crate) struct ExecArgs {
    /// The skill
    name: String,
    /// A file below its folder, such as `scripts/check.sh`
    script: String,
    /// Arguments of the script
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(run: &CliRun, args: &ExecArgs) -> Result<Exit, Failure> {
    let output = &run.output;
    let relay = Passed::new(output);
    let execution = run.exec(&args.name, &args.script, &args.arguments, &relay)?;
    let code = match execution.exit {
        Ended::Code(code) => Some(code),
        _ => None,
    };
    let exit = code.map_or(Exit::Unmet, |code| match u8::try_from(code) {
        Ok(code) => Exit::Script(code),
        Err(_) => Exit::Unmet,
    });
    if output.is_json() {
        output.document(&ExecDocument {
            name: &execution.skill,
            script: &execution.script,
            exit: code,
            ended: execution.exit.to_string(),
            stdout: execution.stdout,
            stderr: execution.stderr,
            truncated: execution.is_truncated,
            ms: execution.ms,
            receipts: execution.receipts.iter().map(ReceiptRow::from).collect(),
            receipts_left_out: execution.receipts_left_out,
        })?;
        return Ok(exit);
    }
    if !execution.was_relayed {
        output.content(&execution.stdout)?;
        output.content_of_error(&execution.stderr);
        if execution.is_truncated {
            output.note("the output exceeded 64 KB and was truncated");
        }
    }
    // The reader closed the pipe, which stopped the script: that is the reader's choice and not an error.
    if relay.is_unread.get() {
        return Ok(Exit::Ok);
    }
    match code {
        Some(_) => Ok(exit),
        None => Err(Failure::unmet(
            "exec",
            format!(
                "`{}` of skill `{}`: {}",
                execution.script, execution.skill, execution.exit
            ),
        )
        .skill(&execution.skill)
        .hint(format!(
            "metier log {} shows how it ended; skills.limits.shell_exec_timeout is the limit",
            shell_word(&execution.skill)
        ))),
    }
}

/// The output of the script, shown while it runs.
struct Passed<'o> {
    output: &'o Output,
    is_shown: bool,
    /// Whether its reader closed the pipe.
    is_unread: Cell<bool>,
    /// The first bytes of a character whose last ones have not arrived, for each stream.
    begun: [RefCell<Vec<u8>>; 2],
}

impl<'o> Passed<'o> {
    fn new(output: &'o Output) -> Self {
        Self {
            output,
            is_shown: !output.is_json(),
            is_unread: Cell::new(false),
            begun: [RefCell::default(), RefCell::default()],
        }
    }
}

impl Relay for Passed<'_> {
    fn input(&self) -> Option<OwnedFd> {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return None;
        }
        stdin.as_fd().try_clone_to_owned().ok()
    }

    fn output(&self, stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
        if !self.is_shown {
            return Ok(());
        }
        let [output, error] = &self.begun;
        let passed = match stream {
            OutputStream::Output => self.output.passed(io::stdout(), output, bytes),
            OutputStream::Error => self.output.passed(io::stderr(), error, bytes),
        };
        passed.inspect_err(|_| self.is_unread.set(true))
    }
}
