//! Command lines, parsed by a closed grammar: every command that would run, or an error.
//!
//! **Problem.** Allowing `git *` requires knowing what `git log; rm -rf ~` or `git log $(rm -rf ~)` runs, before any
//! shell sees it. A parser that skips unknown syntax would classify such a line as "git".
//!
//! **Decision.** [`parse`] lists *every* simple command of a line, including those in substitutions, or returns
//! [`NotUnderstood`]. That includes everything that `sh` and `bash` interpret differently. The grammar is closed:
//! only what is written here is accepted, and "not understood" never means "harmless".
//!
//! **Worked example.**
//!
//! ```text
//! FOO=1 git log "$(id)" | head >out   →  id · FOO=1 git log ⟨dynamic⟩ · head (redirect > out)
//! f() { rm x; }                       →  NotUnderstood { what: Parenthesis, at: 1 }
//! ```
//!
//! The scanner parses shell with another grammar, which never gives up; its tests compare the two on every line that is accepted here.
//!
//! Commands are in the order in which they start to run: those of a substitution before the command that uses it.
//!
//! **Start reading at** `parser.rs` for commands, then `word.rs` for quoting, then `programs.rs`.

mod could_run;
mod could_run_programs;
#[cfg(test)]
mod could_run_tests;
mod interpreters;
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

use parser::ShellParser;

pub(crate) use could_run_programs::git_option_has_value;
pub(crate) use listed::unlisted;
pub use programs::{RunArguments, can_run_programs};
pub(crate) use programs::{moves_command, runs};

/// The maximum length of a line.
pub const MAX_TEXT: usize = 64 * 1024;

/// The maximum depth of nesting.
pub const MAX_DEPTH: usize = 32;

/// A completely parsed command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellLine {
    /// Every simple command, substitutions before the command that uses them.
    pub commands: Vec<SimpleCommand>,
    /// Positions where an inserted value would become code, or be lost.
    pub(crate) zones: Vec<(Range<usize>, Zone)>,
}

/// A simple command: assignments, words and redirects.
///
/// Redirects of a compound command (`{ a; b; } >out`) are a command without words after it, and `for x in a b` is two
/// assignments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Its position; inside backticks, the position of those.
    pub at: usize,
    /// `NAME=value` before the command.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments.
    pub words: Vec<ShellWord>,
    /// Its input and output redirects.
    pub redirects: Vec<Redirect>,
}

/// An assignment `NAME=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The name of the variable.
    pub name: String,
    /// The value; for `NAME+=value`, what is appended.
    pub value: ShellWord,
}

/// A variable that a command sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetVariable<'a> {
    /// Its name; `None` if it is known only at run time.
    pub name: Option<&'a str>,
    /// Its value, if known.
    pub value: Option<&'a str>,
    /// Whether programs see it. A variable that is assigned without a command, by `read` or by `for` belongs to the
    /// shell, unless the name was exported before.
    pub exported: bool,
}

/// A redirect, such as `2>file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The operator of the redirect.
    pub op: RedirectOp,
    /// The file or descriptor; for heredocs and here-strings, the text.
    pub target: ShellWord,
}

/// The operator of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOp {
    /// The operator `<`.
    Read,
    /// The operator `>`.
    Write,
    /// The operator `>|`.
    Clobber,
    /// The operator `>>`.
    Append,
    /// The operator `<>`.
    ReadWrite,
    /// The operator `<&`.
    DuplicateIn,
    /// `>&`: a descriptor, or (in bash) a file.
    DuplicateOut,
    /// The operator `&>`.
    Both,
    /// The operator `&>>`.
    AppendBoth,
    /// The operators `<<` and `<<-`.
    HereDocument,
    /// The operator `<<<`.
    HereString,
}

impl RedirectOp {
    /// Whether the target can be a file that is written.
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
pub struct ShellWord {
    /// The value, if it is known before anything runs.
    literal: Option<String>,
    parts: Vec<WordPart>,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WordPart {
    /// Text, without its quotes.
    Literal {
        /// The text without quotes and escapes.
        text: String,
        /// Whether it was quoted or escaped.
        quoted: bool,
    },
    /// `$name`, `${name}`, `${name:-word}`, `$1`, `$@` and similar.
    Parameter {
        /// The name or number of the parameter.
        name: String,
        /// Whether it is in double quotes.
        quoted: bool,
        /// Whether it is only the value, without `:-word`, `#pattern` and similar.
        plain: bool,
    },
    /// `$(…)` or backticks; the commands are in the line.
    Command {
        /// Whether it is in double quotes.
        quoted: bool,
    },
    /// `<(…)` or `>(…)`; the commands are in the line.
    Process,
    /// `$((…))` that contains only numbers.
    Arithmetic,
    /// `*`, `?` or `[`.
    Glob(char),
    /// Brace expansion, `{a,b}` or `{1..9}`.
    Brace,
    /// A leading `~`, which expands to a home.
    Tilde,
    /// `$'…'` with its text, or the start of `$"…"`; not every shell supports them.
    Dollar(String),
}

/// Positions whose bytes are not part of a word, or have special rules.
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

/// Why a line can't be parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUnderstood {
    /// The construct that is not in the grammar.
    pub what: UnsupportedSyntax,
    /// Its position in bytes; inside backticks, the position of those.
    pub at: usize,
}

/// A construct outside the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsupportedSyntax {
    /// The line is longer than [`MAX_TEXT`].
    TooLong,
    /// The nesting is deeper than [`MAX_DEPTH`].
    TooDeep,
    /// A control character, or a space that only some shells treat as one.
    Character,
    /// A quote, bracket, heredoc or compound command without an end.
    Unterminated,
    /// An operator or keyword in place of a command.
    MissingCommand,
    /// A redirect without a target.
    MissingTarget,
    /// Text after the end of a command.
    Unexpected,
    /// `(` in or after a word: a function, an array or a pattern.
    Parenthesis,
    /// `function`, `select`, `coproc`, and keywords in unusual places.
    Keyword,
    /// `((…))`, `$[…]`, `$((…))` with names, or a builtin that evaluates names: they can run commands.
    Arithmetic,
    /// A `${…}` that assigns, is indirect or is not POSIX.
    Expansion,
    /// A `!` inside a word.
    History,
    /// `alias`, `hash`, `enable`, `shopt`, `set -x`: they change the meaning of later commands.
    Alias,
    /// Assignments such as `a[0]=x` and `{fd}>x`.
    BashAssignment,
    /// A `[[ … ]]` with operators or arithmetic, or a `[ … ]` whose operator can come from a value.
    Test,
    /// A comment, a heredoc or an open `case` pattern inside `$(…)`.
    Substitution,
    /// A heredoc that shells interpret differently.
    HereDocument,
    /// A backslash that shells interpret differently.
    Backslash,
}

impl fmt::Display for UnsupportedSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLong => "it is longer than 64 KiB",
            Self::TooDeep => "it is nested too deeply",
            Self::Character => "it contains a control character or an unusual space",
            Self::Unterminated => "a quote or bracket is not closed",
            Self::MissingCommand => "a command is missing",
            Self::MissingTarget => "a redirect has no target",
            Self::Unexpected => "a command does not end where it should",
            Self::Parenthesis => "it contains a function, an array or a pattern with `(`",
            Self::Keyword => "it contains an unsupported keyword",
            Self::Arithmetic => "it contains arithmetic with more than numbers",
            Self::Expansion => "it contains a complex `${…}`",
            Self::History => "it contains a `!` inside a word",
            Self::Alias => "it changes what other commands mean",
            Self::BashAssignment => "it contains an assignment that only bash supports",
            Self::Test => "it contains a complex test",
            Self::Substitution => "it contains a comment, a heredoc or a pattern inside `$(…)`",
            Self::HereDocument => "it contains a complex heredoc",
            Self::Backslash => "it contains a backslash that shells interpret differently",
        })
    }
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the command can't be analysed: {} (at byte {})",
            self.what, self.at
        )
    }
}

impl std::error::Error for NotUnderstood {}

/// Parses a command line.
///
/// # Errors
/// If any part of it is outside the grammar: nothing is known about such a line.
pub fn parse(text: &str) -> Result<ShellLine, NotUnderstood> {
    ShellParser::new(text, 0, None).parse()
}

/// The prefix of metier's variables.
pub(crate) const REFERENCE: &str = "__metier_";

/// Parses a command line in which metier's variables stand for values that will be quoted.
pub(crate) fn parse_references(text: &str) -> Result<ShellLine, NotUnderstood> {
    let mut parser = ShellParser::new(text, 0, None);
    parser.references = true;
    parser.parse()
}

/// Every command that a line could run, for denials: `$((…))` may contain names, whose values are then unknown. An approval needs
/// [`parse`].
///
/// # Errors
/// As for [`parse`].
pub fn could_run(text: &str) -> Result<Vec<crate::scope::PossibleCommand>, NotUnderstood> {
    Ok(parse_names(text)?.could_run())
}

fn parse_names(text: &str) -> Result<ShellLine, NotUnderstood> {
    let mut parser = ShellParser::new(text, 0, None);
    parser.reads_names = true;
    parser.parse()
}

impl ShellLine {
    /// Every command that the line could run: the commands in it, those that its programs could run (among their words, or in the text of
    /// one word), and those that the values of its variables name. A denial is compared with these.
    #[must_use]
    pub fn could_run(&self) -> Vec<crate::scope::PossibleCommand> {
        could_run::could_run(self)
    }
}

impl ShellWord {
    /// The value, if it is known before anything runs: no parameters, substitutions, globs, braces or tildes.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        self.literal.as_deref()
    }

    /// Its parts, in order.
    #[must_use]
    pub fn parts(&self) -> &[WordPart] {
        &self.parts
    }

    /// Whether any part was quoted or escaped: `"if"` is not a keyword.
    fn is_quoted(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, WordPart::Literal { quoted: true, .. }))
    }
}

impl SimpleCommand {
    /// The program, if the first word is literal.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.words.first()?.literal()
    }

    /// Whether the program runs (some of) its arguments, so that its name reveals little: `env`, `sh -c`, `xargs`. Also
    /// true if the program is not known.
    #[must_use]
    pub fn runs_arguments(&self) -> bool {
        self.runs() != RunArguments::Nothing
    }

    /// The arguments that the program runs.
    #[must_use]
    pub fn runs(&self) -> RunArguments {
        runs(&self.words)
    }

    /// Every variable that it sets or exports, in any way: before the command, alone, by `env`, by a builtin.
    #[must_use]
    pub fn sets(&self) -> Vec<SetVariable<'_>> {
        programs::sets(self)
    }

    /// Whether it can change the meaning of later commands or where they find files: `export PATH=…`, `set`, `cd`, or
    /// assignments without a command.
    #[must_use]
    pub fn changes_shell(&self) -> bool {
        programs::changes_shell(self)
    }
}
