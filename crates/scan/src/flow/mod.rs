//! Data flow: where values come from and where they go.
//!
//! Programs in the common form ([`crate::form`]) are evaluated with abstract values: the known parts of a string, and the sources that
//! contributed to it. Nothing is run; every statement is evaluated, whatever the conditions, twice (so that what is defined below is known
//! above). The acts of a program are recorded as [`ProgramAct`]s, each with the sources that reach it: `curl -d "$(env)" …` is one act,
//! `Send`, with one source, `Environment`. Rules examine only acts.
//!
//! The evaluation over-approximates (an unknown function returns its arguments) and forgets nothing, so
//! it errs towards a flow; a flow is *dangerous* only if both its source and its sink are.

mod commands;
mod eval;
mod hosts;
mod places;
mod unit;
mod uses;
mod value;
mod vocabulary;

pub(crate) use eval::{Evaluator, ObservedUse};
pub(crate) use hosts::{HostCondition, HostKind, RemoteHost, urls_in};
#[cfg(test)]
pub(crate) use places::SECRET_PARTS;
pub(crate) use places::{PathKind, may_name_path, may_name_secret, path_kind};
pub(crate) use unit::{EvaluatedLanguage, Unit};
pub(crate) use uses::{ObservedKind, Used};
pub(crate) use value::{SourceKind, Taint, UNKNOWN};
pub(crate) use vocabulary::{HIDDEN_HOST, IN_SHELL};

/// A position in one of the skill's texts: which unit, and the byte offset in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The index of the unit.
    pub unit: u32,
    /// The offset in its text.
    pub at: u32,
}

/// The kinds of act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActKind {
    /// Data is sent to another host.
    Send,
    /// Data is downloaded from another host.
    Fetch,
    /// A program or shell command is run.
    Run,
    /// Text is run as code.
    Eval,
    /// A file is read.
    Read,
    /// A file is written.
    Write,
    /// Files are deleted, or a disk is overwritten.
    Delete,
    /// An environment variable is read.
    Environment,
    /// A port is opened.
    Listen,
    /// A package is installed.
    Install,
    /// A shell is opened for a remote host.
    RemoteShell,
    /// A file becomes runnable or privileged.
    Permit,
    /// A protection is disabled.
    Unprotect,
    /// Text is printed, which the agent reads.
    Show,
    /// A string contains a command line that downloads and runs something, however it is used.
    Mention,
}

/// An act of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramAct {
    /// The kind of act.
    pub kind: ActKind,
    /// The position.
    pub site: Site,
    /// The command, URL, path or code, with `\0` for unknown parts.
    pub subject: String,
    /// Details: the written text, the arguments of a program, the package's source.
    pub detail: String,
    /// The host, if the act involves one.
    pub host: Option<RemoteHost>,
    /// The sources of the sent, run or written data.
    pub taints: Vec<Taint>,
}

/// Shells without a command: their input decides what they run.
const BARE_SHELLS: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "cmd",
    "cmd.exe",
    "powershell",
    "powershell.exe",
    "pwsh",
];

/// A program that opens its own connection and starts a shell without a command gives the shell to the other end.
pub(crate) fn remote_shells(acts: &[ProgramAct]) -> Vec<ProgramAct> {
    let is_shell = |act: &&ProgramAct| {
        let line = act.subject.trim_end_matches(" -i");
        let name = line.rsplit('/').next().unwrap_or_default();
        act.kind == ActKind::Run && BARE_SHELLS.contains(&name)
    };
    let connects = |shell: &&ProgramAct| {
        acts.iter().any(|act| {
            act.kind == ActKind::Fetch
                && act.site.unit == shell.site.unit
                && ["net.", "tls.", "socket."]
                    .iter()
                    .any(|module| act.detail.starts_with(module))
        })
    };
    let shells = acts.iter().filter(is_shell).filter(connects);
    let given = shells.map(|shell| ProgramAct {
        kind: ActKind::RemoteShell,
        ..shell.clone()
    });
    given.collect()
}

impl ProgramAct {
    /// Whether a source of this kind contributed to it.
    #[must_use]
    pub fn came_from(&self, kind: SourceKind) -> bool {
        self.taints.iter().any(|taint| taint.source.kind == kind)
    }
}
