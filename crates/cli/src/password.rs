//! The password of the signing key: from a file, from a variable, or from the terminal.

use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::Path,
};

use metier::read_named;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::{cli_run::CliRun, failure::Failure};

/// The variable with the password.
const VARIABLE: &str = "METIER_KEY_PASSWORD";

/// The largest file with a password.
const MAX_FILE: u64 = 64 << 10;

/// A password for a new key; at the terminal it is typed twice.
pub(crate) fn new(run: &CliRun, file: Option<&Path>) -> Result<String, Failure> {
    let given = given(run, file)?;
    let password = match given {
        Some(password) => password,
        None => {
            let first = typed(run, "Password of the new key: ")?;
            if first != typed(run, "Repeat the password: ")? {
                return Err(Failure::unmet("password", "the two passwords differ"));
            }
            first
        }
    };
    match password.is_empty() {
        false => Ok(password),
        true => Err(Failure::unmet("password", "the password is empty")
            .hint("use `--no-password` for a key without one")),
    }
}

/// The password of a key that exists.
pub(crate) fn existing(run: &CliRun, file: Option<&Path>) -> Result<String, Failure> {
    match given(run, file)? {
        Some(password) => Ok(password),
        None => typed(run, "Password of the signing key: "),
    }
}

fn given(run: &CliRun, file: Option<&Path>) -> Result<Option<String>, Failure> {
    let machine = run.machine();
    if let Some(file) = file {
        let path = machine.work.join(file);
        let text = read_named(&path, MAX_FILE).map_err(|error| {
            let message = format!("the password can't be read: {error}");
            Failure::unmet("password", message).path(&path)
        })?;
        return Ok(Some(text.lines().next().unwrap_or_default().to_owned()));
    }
    let mut settings = machine.settings.iter();
    let found = settings.find(|(name, _)| name == VARIABLE);
    Ok(found.map(|(_, value)| value.clone()))
}

/// A line from the terminal, which does not show it.
pub(crate) fn typed(run: &CliRun, question: &str) -> Result<String, Failure> {
    let stdin = io::stdin();
    let is_terminal = stdin.is_terminal() && io::stderr().is_terminal();
    if !is_terminal || run.output.is_json() {
        return Err(
            Failure::unmet("password", "there is no terminal to ask for the password")
                .hint(format!("use `--password-file FILE`, or set {VARIABLE}")),
        );
    }
    let mut keyboard = stdin.lock();
    run.output.murmur(question);
    let shown = tcgetattr(&keyboard).map_err(io::Error::from)?;
    let mut line = String::new();
    let read = {
        let _hidden = HiddenTyping::start(shown)?;
        keyboard.read_line(&mut line)
    };
    writeln!(io::stderr()).ok();
    match read? {
        0 => Err(Failure::interrupted("no password was typed")),
        _ => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}

/// Characters are not shown until it is dropped.
struct HiddenTyping(Termios);

impl HiddenTyping {
    fn start(shown: Termios) -> io::Result<Self> {
        let mut hidden = shown.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden)?;
        Ok(Self(shown))
    }
}

impl Drop for HiddenTyping {
    fn drop(&mut self) {
        // A terminal that is gone needs no repair.
        tcsetattr(io::stdin(), OptionalActions::Now, &self.0).ok();
    }
}
