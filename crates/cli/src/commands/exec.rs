//! `metier exec`

use std::{
    cell::{Cell, RefCell},
    io::{self, IsTerminal},
    os::fd::{AsFd, OwnedFd},
    process::ExitCode,
};

use metier::rendering::not_read;
use metier_host::{
    child::{Exit, Relay, Stream},
    world::{Done, WorldError},
};
use metier_model::text::shell_word;
use metier_policy::{Act, Purpose};
use metier_runtime::premises::Stopped;
use metier_wire::{ExecDocument, ReceiptRow};

pub(crate) use metier::explain::act_failed as failed;

use crate::{
    commands::find_usable,
    failure::Failure,
    office::{self, Office},
    output::Output,
    session::Session,
};

/// Run a script of a skill inside the sandbox of its permissions
///
/// The script sees its own folder, the system's programs and what was approved, and nothing else: no network, no keys, no
/// variables. It starts where you are. What it prints appears at once, its input is passed on unless that is the terminal, and its exit
/// code is that of metier. Every run leaves a receipt (`metier log`).
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill
    name: String,
    /// A file below its folder, such as `scripts/check.sh`
    script: String,
    /// Arguments of the script
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let inventory = session.inventory()?;
    let skill = find_usable(session, &inventory, &args.name)?;
    let entry = inventory.entry(skill);
    let name = entry.name();
    let held = session.admit(&inventory, entry)?;
    let script = args.script.strip_prefix("./").unwrap_or(&args.script);
    held.read(script, u64::MAX)
        .map_err(|error| not_read(&args.name, &error))?;
    let loaded = session.loaded(entry, held)?;
    let premises = Office::open(session)?.premises(None, None);
    let act = Act::Script {
        path: script.into(),
        arguments: args.arguments.clone(),
    };
    let worker =
        premises
            .worker(&loaded, Purpose::Script(script))
            .map_err(|stopped| match stopped {
                Stopped::Refused(error) => office::refused(entry, error),
                Stopped::Failed(error) => failed(&name, error),
            })?;
    let relay = Passed::new(&session.output, worker.has_secrets());
    let ended = match worker.act_relayed(&act, Some(&relay)) {
        Ok(Done::Child(ended, _)) => ended,
        Ok(_) => return Err(failed(&name, WorldError::Elsewhere("a script").into())),
        Err(error) => return Err(failed(&name, error)),
    };
    let (stdout, stderr) = (worker.clean(&ended.stdout), worker.clean(&ended.stderr));
    let receipts = worker.receipts().iter().map(ReceiptRow::from).collect();
    let code = match ended.exit {
        Exit::Code(code) => Some(code),
        _ => None,
    };
    if session.output.is_json() {
        session.output.document(&ExecDocument {
            name: &name,
            script,
            exit: code,
            ended: ended.exit.to_string(),
            stdout,
            stderr,
            truncated: ended.truncated,
            ms: ended.ms,
            receipts,
            receipts_left_out: worker.receipts_left_out(),
        })?;
    } else {
        if !relay.is_shown {
            session.output.content(&stdout)?;
            session.output.content_of_error(&stderr);
        }
        if !relay.is_shown && ended.truncated {
            session
                .output
                .note("the output was longer than 64 KB and is cut");
        }
        // The script was ended because its reader went away, and that is the reader's choice.
        if relay.is_unread.get() {
            return Ok(ExitCode::SUCCESS);
        }
        if code.is_none() {
            return Err(Failure::unmet(
                "exec",
                format!("`{script}` of skill `{name}`: {}", ended.exit),
            )
            .skill(name.as_ref())
            .hint(format!(
                "metier log {} shows how it ended; skills.limits.shell_exec_timeout is how long it may take",
                shell_word(&name)
            )));
        }
    }
    Ok(ExitCode::from(
        code.map_or(1, |code| u8::try_from(code).unwrap_or(1)),
    ))
}

/// What the script prints, shown while it runs. Where it was given secrets, they must be taken out of its output, which is then shown
/// when it is whole.
struct Passed<'o> {
    output: &'o Output,
    is_shown: bool,
    /// Whether its reader went away.
    is_unread: Cell<bool>,
    /// The begin of a letter whose end has not come yet, of each stream.
    begun: [RefCell<Vec<u8>>; 2],
}

impl<'o> Passed<'o> {
    fn new(output: &'o Output, has_secrets: bool) -> Self {
        Self {
            output,
            is_shown: !output.is_json() && !has_secrets,
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

    fn output(&self, stream: Stream, bytes: &[u8]) -> io::Result<()> {
        if !self.is_shown {
            return Ok(());
        }
        let [output, error] = &self.begun;
        let passed = match stream {
            Stream::Output => self.output.passed(io::stdout(), output, bytes),
            Stream::Error => self.output.passed(io::stderr(), error, bytes),
        };
        passed.inspect_err(|_| self.is_unread.set(true))
    }
}
