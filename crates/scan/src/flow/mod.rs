//! Where values come from and where they go.
//!
//! Programs in the common form ([`crate::form`]) are evaluated with abstract values: what is known of a text, and which sources had a hand
//! in it. Nothing is run; every statement is looked at, whatever the conditions, twice (so that what is defined below is
//! known above). What a program *does* comes out as [`Act`]s, each with the sources that reach it: `curl -d "$(env)" …` is
//! one act, `Send`, with one source, `Environment`. Rules look at acts only.
//!
//! The evaluation is generous where it must guess (an unknown function passes on what it was given) and forgets nothing, so
//! it errs towards seeing a flow; that a flow is *dangerous* needs a source and a sink that are both worth it.

mod commands;
mod eval;
mod hosts;
mod places;
mod uses;
mod value;
mod vocabulary;

pub(crate) use eval::{Evaluator, Language, Seen, Unit};
pub(crate) use hosts::{Host, HostKind, Hosts, urls_in};
#[cfg(test)]
pub(crate) use places::SECRET_PARTS;
pub(crate) use places::{PathKind, may_name_path, may_name_secret, path_kind};
pub(crate) use uses::{Use, Used};
pub(crate) use value::{SourceKind, Taint, UNKNOWN};
pub(crate) use vocabulary::{HIDDEN_HOST, IN_SHELL};

/// A position in one of the skill's texts: which unit, and the byte offset in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    /// The index of the unit.
    pub unit: u32,
    /// The offset in its text.
    pub at: u32,
}

/// What kinds of act there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ActKind {
    /// Data goes to another machine.
    Send,
    /// Something is fetched from another machine.
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
    /// A shell is given to somebody who connects.
    RemoteShell,
    /// A file becomes runnable or privileged.
    Permit,
    /// Protection is switched off.
    Unprotect,
    /// Something is printed, for the agent to read.
    Show,
}

/// Something that a program does.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// What.
    pub kind: ActKind,
    /// Where.
    pub site: Site,
    /// With what: the command, URL, path or code, as far as it is known; `\0` stands for what isn't.
    pub subject: String,
    /// More of it: the text that is written, the arguments of a program, the package's source.
    pub detail: String,
    /// The host, if it is about one.
    pub host: Option<Host>,
    /// The sources of what is sent, run or written.
    pub taints: Vec<Taint>,
}

impl Act {
    /// Whether something of this kind had a hand in it.
    #[must_use]
    pub fn came_from(&self, kind: SourceKind) -> bool {
        self.taints.iter().any(|taint| taint.source.kind == kind)
    }
}
