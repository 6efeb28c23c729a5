//! Commands: `git log *`, `scripts/*.sh`, or a whole line with pipes that is allowed exactly as it stands.

use std::fmt;

use super::{NotAScope, glob};

/// What may be run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CommandPattern {
    /// Word by word.
    Words {
        /// The program, then its arguments; `*` stands for letters of one word.
        words: Vec<Box<str>>,
        /// Whether any further words may follow (a last `*`).
        open: bool,
    },
    /// Exactly this line of a shell, as its author wrote it.
    Line(Box<str>),
}

/// Signs that mean something to a shell, or would be taken for something else by a reader.
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
            return Err(NotAScope("leave the brackets out to ask for every command"));
        };
        if program.split('/').any(|name| name == "..") {
            return Err(NotAScope("a program's path has no `..`"));
        }
        if glob::is_pattern(program) && !program.contains('/') {
            return Err(NotAScope("name the program, as in `shell:exec(git *)`"));
        }
        // A file of the skill is named with any arguments: they are the user's, not its own.
        let open = open || is_file(&words);
        Ok(Self::Words { words, open })
    }

    /// A line exactly as it stands in a body; one of plain words is the same as those words.
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

    /// Whether a command, word by word, is in it; `None` is a word that only the shell will know.
    #[must_use]
    pub fn matches(&self, command: &[Option<&str>]) -> bool {
        let Self::Words { words, open } = self else {
            return false;
        };
        let fits = |pattern: &str, word: Option<&str>| match word {
            Some(word) => glob::matches(pattern, word),
            None => pattern == "*",
        };
        let known = command.first().is_some_and(Option::is_some);
        known
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
            // One of plain words is written as those words.
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
                // Without any sign of the shell in it, it would read back as words.
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

fn is_file(words: &[Box<str>]) -> bool {
    matches!(words, [file] if file.contains('/'))
}

/// `\n`, `\t` and `\\`; a leading `\-` only says "a line".
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
