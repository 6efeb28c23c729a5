//! Commands: `git log *`, `scripts/*.sh`, or a whole line with pipes that is allowed exactly as written.

use std::fmt;

use super::{NotAScope, glob};
use crate::shell::{self, NotUnderstood, ShellWord, WordPart};

/// A pattern of commands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandPattern {
    /// A pattern of words.
    Words {
        /// The program, then its arguments; `*` matches any characters within a word.
        words: Vec<Box<str>>,
        /// Whether further words may follow (a last `*`).
        open: bool,
    },
    /// Exactly this shell command line, as its author wrote it.
    Line(Box<str>),
}

/// Why a line can't be denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotADenial {
    /// It can't be analysed, so that its commands are not known.
    NotUnderstood(NotUnderstood),
    /// It runs no program.
    NoCommand,
    /// The name of a program is known only at run time.
    Program,
}

impl fmt::Display for NotADenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUnderstood(error) => write!(f, "{error}"),
            Self::NoCommand => f.write_str("the line contains no command"),
            Self::Program => f.write_str("a program of the line is known only at run time"),
        }
    }
}

impl std::error::Error for NotADenial {}

/// Characters that have a meaning for a shell, or could be misread.
const SHELL_SIGNS: &[char] = &[
    ';', '|', '&', '<', '>', '$', '`', '"', '\'', '(', ')', '{', '}', '[', ']', '\\', '!', '#',
    '~', '?', '\n',
];

impl CommandPattern {
    pub(super) fn parse(text: &str) -> Result<Self, NotAScope> {
        if text.contains(SHELL_SIGNS) {
            return unescape(text).map(|line| Self::Line(line.into()));
        }
        let mut words: Vec<Box<str>> = text.split_ascii_whitespace().map(Into::into).collect();
        let open = words.last().is_some_and(|word| &**word == "*");
        if open {
            words.pop();
        }
        let Some(program) = words.first() else {
            return Err(NotAScope("omit the parentheses to request every command"));
        };
        if program.split('/').any(|name| name == "..") {
            return Err(NotAScope("a program's path can't contain `..`"));
        }
        if glob::is_pattern(program) && !program.contains('/') {
            return Err(NotAScope("specify the program, as in `shell:exec(git *)`"));
        }
        // A file of the skill is requested with any arguments: they come from the user, not from the skill.
        let open = open || is_file(&words);
        Ok(Self::Words { words, open })
    }

    /// A line exactly as written in a body; a line of plain words is the same as those words.
    #[must_use]
    pub fn line(text: &str) -> Self {
        let plain = !text.contains(SHELL_SIGNS) && !text.contains(['*', '\t']);
        match Self::parse(text) {
            Ok(words) if plain => words,
            _ => Self::Line(text.into()),
        }
    }

    /// A script of the skill with any arguments.
    #[must_use]
    pub fn script(path: &str) -> Self {
        match Self::parse(path) {
            Ok(Self::Words { words, .. }) if words.len() == 1 && !glob::is_pattern(path) => {
                Self::Words { words, open: true }
            }
            _ => Self::Line(path.into()),
        }
    }

    /// The patterns of words that a denial covers: of a line each command, with any further words. `git log | head` is `git log` and
    /// `head`, however it is spaced and quoted.
    ///
    /// # Errors
    /// When the commands of a line are not known. A denial of such a line covers exactly that line, and those that can't be analysed.
    pub fn denied_commands(&self) -> Result<Vec<Self>, NotADenial> {
        let Self::Line(line) = self else {
            return Ok(vec![self.clone()]);
        };
        let parsed = shell::parse(line).map_err(NotADenial::NotUnderstood)?;
        let commands = parsed.commands.iter().map(|command| &command.words);
        let commands: Vec<Self> = commands
            .filter(|words| !words.is_empty())
            .map(|words| denied_words(words))
            .collect::<Result<_, _>>()?;
        if commands.is_empty() {
            return Err(NotADenial::NoCommand);
        }
        Ok(commands)
    }

    /// Whether a command, word by word, matches; `None` is a word that is known only at run time.
    #[must_use]
    pub fn matches(&self, command: &[Option<&str>]) -> bool {
        let Self::Words { words, open } = self else {
            return false;
        };
        let fits = |pattern: &str, word: Option<&str>| match word {
            Some(word) => glob::matches(pattern, word),
            None => pattern == "*",
        };
        // A file has one spelling: `scripts/../../bin/sh` is not a file of `scripts/`.
        let is_named = |program: &str| {
            let mut names = program.strip_prefix('/').unwrap_or(program).split('/');
            !program.contains('/') || names.all(|name| !matches!(name, "" | "." | ".."))
        };
        let is_typed_here = |program: &str| program.strip_prefix("./").is_some_and(is_named);
        let known = command.first().copied().flatten();
        known.is_some_and(|program| is_named(program) || is_typed_here(program))
            && (command.len() == words.len() || (*open && command.len() > words.len()))
            && words
                .iter()
                .zip(command)
                .all(|(pattern, word)| fits(pattern, *word))
    }

    /// Whether a line, as its author wrote it, is exactly this one.
    #[must_use]
    pub fn is_line(&self, text: &str) -> bool {
        match self {
            Self::Line(line) => **line == *text,
            // A line of plain words is stored as those words.
            Self::Words { words, open } => {
                let exact = !open && !words.iter().any(|word| glob::is_pattern(word));
                let plain = !text.contains(SHELL_SIGNS) && !text.contains('*');
                exact
                    && plain
                    && text
                        .split_ascii_whitespace()
                        .eq(words.iter().map(|word| &**word))
            }
        }
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Line(this), Self::Line(other)) => this == other,
            (
                Self::Words { words, open },
                Self::Words {
                    words: others,
                    open: other_open,
                },
            ) => {
                let fits = |pattern: &str, word: &str| {
                    pattern == word || (!glob::is_pattern(word) && glob::matches(pattern, word))
                };
                (*open || (!other_open && words.len() == others.len()))
                    && words.len() <= others.len()
                    && words
                        .iter()
                        .zip(others)
                        .all(|(pattern, word)| fits(pattern, word))
            }
            _ => false,
        }
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words { words, open } => {
                f.write_str(&words.join(" "))?;
                f.write_str(if *open && !is_file(words) { " *" } else { "" })
            }
            Self::Line(line) => {
                let escaped = line
                    .replace('\\', "\\\\")
                    .replace('\n', "\\n")
                    .replace('\t', "\\t");
                // Without any shell character it would be parsed as words.
                let mark = if escaped.contains(SHELL_SIGNS) {
                    ""
                } else {
                    "\\-"
                };
                write!(f, "{mark}{escaped}")
            }
        }
    }
}

/// The words of a denied command. What is known only at run time is any text; at the end it is any words, or none.
fn denied_words(words: &[ShellWord]) -> Result<CommandPattern, NotADenial> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(NotADenial::NoCommand);
    };
    let mut words = vec![denied_program(program)?];
    words.extend(arguments.iter().map(denied_word));
    let is_any = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte == b'*');
    while words.len() > 1 && words.last().is_some_and(|word| is_any(word)) {
        words.pop();
    }
    Ok(CommandPattern::Words { words, open: true })
}

/// A program in a folder that is known only at run time is denied in every folder.
fn denied_program(word: &ShellWord) -> Result<Box<str>, NotADenial> {
    let name: Box<str> = match word.literal() {
        Some(text) => text.into(),
        None => match denied_word(word).rsplit_once('/') {
            Some((_, name)) => format!("/{name}").into(),
            None => return Err(NotADenial::Program),
        },
    };
    let last = name.rsplit('/').next().unwrap_or_default();
    if last.is_empty() || glob::is_pattern(last) {
        return Err(NotADenial::Program);
    }
    Ok(name)
}

/// A word in which everything that a shell expands is any text.
fn denied_word(word: &ShellWord) -> Box<str> {
    let mut denied = String::new();
    for part in word.parts() {
        match part {
            WordPart::Literal { text, .. } => denied.push_str(text),
            WordPart::Tilde => denied.push('~'),
            // Its end is not a part of its own.
            WordPart::Brace | WordPart::Glob('[') => {
                let until = denied.find('{').filter(|_| *part == WordPart::Brace);
                denied.truncate(until.unwrap_or(denied.len()));
                denied.push('*');
                break;
            }
            _ => denied.push('*'),
        }
    }
    denied.into()
}

fn is_file(words: &[Box<str>]) -> bool {
    matches!(words, [file] if file.contains('/'))
}

/// Replaces `\n`, `\t` and `\\`; a leading `\-` only marks a line.
fn unescape(text: &str) -> Result<String, NotAScope> {
    let mut out = String::new();
    let mut chars = text.strip_prefix("\\-").unwrap_or(text).chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (c, false) => out.push(c),
            _ => out.push(match chars.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('\\') => '\\',
                _ => return Err(NotAScope("write `\\\\` for a backslash in a command")),
            }),
        }
    }
    Ok(out)
}
