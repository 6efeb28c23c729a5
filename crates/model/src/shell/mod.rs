//! Command lines, read by a closed grammar: what would run, or an admission that we can't tell.
//!
//! **Problem.** Whoever allows `git *` must know what `git log; rm -rf ~` runs, or `git log $(rm -rf ~)`, before
//! any shell sees it. A reader that skips what it does not know calls such a line "git".
//!
//! **Decision.** [`parse`] lists *every* simple command of a text, those in substitutions included, or answers
//! [`NotUnderstood`]. What `sh` and `bash` read differently is not understood either. The grammar is closed: only
//! what is written here is accepted, and "not understood" is never "fine".
//!
//! **Worked example.**
//!
//! ```text
//! FOO=1 git log "$(id)" | head >out   →  id · FOO=1 git log ⟨dynamic⟩ · head (redirect > out)
//! f() { rm x; }                       →  NotUnderstood { what: Parenthesis, at: 1 }
//! ```
//!
//! Commands come in the order in which they start to run: those of a substitution before the command that uses it.
//!
//! **Start reading at** `parser.rs` for commands, then `word.rs` for quoting, then `programs.rs`.

mod listed;
mod listed_programs;
#[cfg(test)]
mod listed_tests;
mod parser;
mod programs;
mod word;

#[cfg(test)]
mod real_tests;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

pub(crate) use listed::unlisted;
pub use programs::Runs;
pub(crate) use programs::runs;

/// The longest text that is read.
pub const MAX_TEXT: usize = 64 * 1024;

/// The deepest nesting that is read.
pub const MAX_DEPTH: usize = 32;

/// A command line that was understood completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Every simple command, substitutions before the command that uses them.
    pub commands: Vec<Simple>,
    /// Places where a value can't be put without becoming code, or nothing at all.
    pub(crate) zones: Vec<(Range<usize>, Zone)>,
}

/// A simple command: assignments, words and redirects.
///
/// Redirects of a compound command (`{ a; b; } >out`) stand as a command without words behind it, and so does
/// `for x in a b`, as two assignments: both change the world like one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Where it starts; inside backticks, where those start.
    pub at: usize,
    /// `NAME=value` in front of the command.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Its redirects.
    pub redirects: Vec<Redirect>,
}

/// `NAME=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// What it gets; for `NAME+=value`, what is added.
    pub value: Word,
}

/// A variable that a command sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetVariable<'a> {
    /// Its name; `None` if only the shell will know it.
    pub name: Option<&'a str>,
    /// What it is set to, if that is known.
    pub value: Option<&'a str>,
    /// Whether programs see it. What is assigned without a command, read, or counted through by `for` is the shell's own, unless
    /// the name was exported before.
    pub exported: bool,
}

/// A redirect, such as `2>file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// What kind it is.
    pub op: RedirectOp,
    /// The file or descriptor; for heredocs and here-strings, the text.
    pub target: Word,
}

/// The operator of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOp {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateIn,
    /// `>&`: a descriptor, or (in bash) a file.
    DuplicateOut,
    /// `&>`
    Both,
    /// `&>>`
    AppendBoth,
    /// `<<` and `<<-`
    HereDocument,
    /// `<<<`
    HereString,
}

impl RedirectOp {
    /// Whether the target may be a file that gets written.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::Clobber
                | Self::Append
                | Self::ReadWrite
                | Self::DuplicateOut
                | Self::Both
                | Self::AppendBoth
        )
    }
}

/// One word, with what is known about its value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// The value, if it is known before anything runs.
    literal: Option<String>,
    parts: Vec<Part>,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text, without its quotes.
    Literal {
        /// The text.
        text: String,
        /// Whether it was quoted or escaped.
        quoted: bool,
    },
    /// `$name`, `${name}`, `${name:-word}`, `$1`, `$@` and the like.
    Parameter {
        /// The parameter.
        name: String,
        /// Whether it stands in double quotes.
        quoted: bool,
        /// Whether it is the mere value, without `:-word`, `#pattern` and such.
        plain: bool,
    },
    /// `$(…)` or backticks; the commands are in the line.
    Command {
        /// Whether it stands in double quotes.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`; the commands are in the line.
    Process,
    /// `$((…))` of numbers.
    Arithmetic,
    /// `*`, `?` or `[`.
    Glob(char),
    /// `{a,b}` or `{1..9}`.
    Brace,
    /// `~`.
    Tilde,
    /// `$'…'` or `$"…"`, which not every shell knows.
    Dollar,
}

/// Places whose bytes are no part of a word, or a part with rules of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Zone {
    SingleQuotes,
    DollarQuotes,
    HereDocument,
    Comment,
    Backticks,
    Expansion,
    Test,
}

/// Why a text was not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// What it was that is not in the grammar.
    pub what: Oddity,
    /// Where, in bytes; inside backticks, where those start.
    pub at: usize,
}

/// What is outside of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// The text is longer than [`MAX_TEXT`].
    TooLong,
    /// The nesting is deeper than [`MAX_DEPTH`].
    TooDeep,
    /// A control character, or a blank that only some shells take for one.
    Character,
    /// A quote, bracket, heredoc or compound command that does not end.
    Unterminated,
    /// An operator or keyword where a command should be.
    MissingCommand,
    /// A redirect without a target.
    MissingTarget,
    /// Something else than the end of a command.
    Unexpected,
    /// `(` in or behind a word: a function, an array or a pattern.
    Parenthesis,
    /// `function`, `select`, `coproc`, and keywords in odd places.
    Keyword,
    /// `((…))`, `$[…]`, `$((…))` with names in it, or a builtin that evaluates names: they may run commands.
    Arithmetic,
    /// A `${…}` that assigns, is indirect or is not POSIX.
    Expansion,
    /// A `!` inside a word.
    History,
    /// `alias`, `hash`, `enable`, `shopt`, `set -x`: other words mean something else from there on.
    Alias,
    /// `a[0]=x`, `{fd}>x`.
    BashAssignment,
    /// A `[[ … ]]` with operators or arithmetic in it, a `[ … ]` whose operator may come out of a value.
    Test,
    /// A comment, a heredoc or a bare `case` pattern inside of `$(…)`.
    Substitution,
    /// A heredoc that shells read differently.
    HereDocument,
    /// A backslash that shells read differently.
    Backslash,
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "it is longer than 64 KiB",
            Self::TooDeep => "it is nested too deeply",
            Self::Character => "it holds a control character or an unusual blank",
            Self::Unterminated => "something is opened and not closed",
            Self::MissingCommand => "a command is missing",
            Self::MissingTarget => "a redirect has no target",
            Self::Unexpected => "a command does not end where it should",
            Self::Parenthesis => "it holds a function, an array or a pattern with `(`",
            Self::Keyword => "it holds a keyword that is not read here",
            Self::Arithmetic => "it holds arithmetic with more than numbers",
            Self::Expansion => "it holds a `${…}` that is not plain",
            Self::History => "it holds a `!` inside a word",
            Self::Alias => "it changes what other commands mean",
            Self::BashAssignment => "it holds an assignment that only bash knows",
            Self::Test => "it holds a test that is not plain",
            Self::Substitution => "it holds a comment, a heredoc or a pattern inside of `$(…)`",
            Self::HereDocument => "it holds a heredoc that is not plain",
            Self::Backslash => "it holds a backslash that shells read differently",
        })
    }
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the command is not understood: {} (at byte {})",
            self.what, self.at
        )
    }
}

impl std::error::Error for NotUnderstood {}

/// Reads a command line.
///
/// # Errors
/// When any part of it is outside of the grammar: nothing is known about such a line.
pub fn parse(text: &str) -> Result<Line, NotUnderstood> {
    parser::parse(text, false)
}

/// What variables of our own start with.
pub(crate) const REFERENCE: &str = "__metier_";

/// Reads a command line in which variables of our own stand for values that will be quoted.
pub(crate) fn parse_references(text: &str) -> Result<Line, NotUnderstood> {
    parser::parse(text, true)
}

impl Word {
    /// The value, if it is known before anything runs: no parameters, substitutions, globs, braces or tildes.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// Its parts, in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Whether any of it was quoted or escaped: `"if"` is no keyword.
    fn is_quoted(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Literal { quoted: true, .. }))
    }
}

impl Simple {
    /// The program, if it is known: the first word, when that is literal.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.literal()
    }

    /// Whether the program runs (some of) its arguments, so that its name says little: `env`, `sh -c`, `xargs`.
    /// True as well when the program is not known.
    #[must_use]
    pub fn runs_arguments(&self) -> bool {
        self.runs() != Runs::Nothing
    }

    /// Which of its arguments the program runs.
    #[must_use]
    pub fn runs(&self) -> Runs {
        runs(&self.words)
    }

    /// Every variable that it sets or exports, whichever way: in front of the command, alone, by `env`, by a builtin.
    #[must_use]
    pub fn sets(&self) -> Vec<SetVariable<'_>> {
        programs::sets(self)
    }

    /// Whether it may change what later commands mean or where they find things: `export PATH=…`, `set`, `cd`,
    /// or assignments without a command.
    #[must_use]
    pub fn changes_shell(&self) -> bool {
        programs::changes_shell(self)
    }
}
