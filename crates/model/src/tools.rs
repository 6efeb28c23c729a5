//! The names of tools in a manifest: a closed grammar.
//!
//! **Problem.** `allowed-tools` is written as a string or a list, with commas or spaces, with `Bash(git:*)`, `*`, and
//! with garbage. A parser that ignores what it doesn't know ends up allowing it.
//!
//! **Decision.** An entry is a [`ToolPattern`]: a set of uses of tools. Anything outside the grammar is a
//! [`ToolError`], is reported as a diagnostic, and allows nothing. An invalid *prohibition* must not become empty
//! either: [`ToolPattern::prohibiting`] reads it as more, never as less.
//!
//! ```text
//! entry  = "*" | name [ "(" scope ")" ] | "mcp__" server [ "__" ( tool | "*" ) ] | "mcp__*"
//! name   = letter { letter | digit | "_" | "." | "-" }
//! scope  = any text without control characters, brackets in pairs
//! ```
//!
//! **Names** are compared exactly, with one exception: the core tools that every agent has under some spelling (the
//! table `CORE`). `Write`, `write` and `write_file` are one tool, so that no spelling bypasses a prohibition.
//!
//! **Worked example.** `Bash(git:*)` and `shell(git *)` are the same pattern. It covers `Bash(git log -3)`, not
//! `Bash(gitk)` and not `Bash(git log; rm x)`: a line of several commands is covered by no prefix.
//!
//! Patterns answer two questions, both on the safe side: [`ToolPattern::covers`] is true only if it is certain,
//! [`ToolPattern::overlaps`] is false only if it is certain. Permissions use the first, prohibitions the second.

use std::{borrow::Cow, fmt, str::FromStr};

/// The core tools and their spellings, in lower case and without `_` and `-`. The first is the name that is compared.
const CORE: &[&[&str]] = &[
    &["read", "readfile"],
    &["write", "writefile", "createfile"],
    &[
        "edit",
        "editfile",
        "multiedit",
        "notebookedit",
        "applypatch",
    ],
    &["bash", "shell", "exec", "runshellcommand"],
    &["grep"],
    &["glob"],
    &["ls"],
    &["webfetch"],
    &["websearch"],
];

/// The tool whose scopes are command lines.
const COMMANDS: &str = "bash";

/// The maximum length of an entry.
const MAX_ENTRY: usize = 1024;

/// An entry of a list of tools: the tool, and which of its uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPattern {
    written: Box<str>,
    which: Which,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Which {
    /// All tools, `*`.
    Every,
    /// A tool by its canonical name, and which of its uses.
    Named(Box<str>, ToolScope),
    /// Tools of MCP servers: of all, of one, or one tool.
    Mcp(Option<Box<str>>, Option<Box<str>>),
}

/// The uses of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ToolScope {
    /// All of its uses.
    All,
    /// Commands that start with these words.
    Begins(Vec<Box<str>>),
    /// Exactly this string; for a command, with single spaces.
    Exactly(Box<str>),
    /// Strings that match this pattern with `*`.
    Like(Box<str>),
}

/// Why an entry is not a tool pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolError {
    /// It is empty or too long.
    Length,
    /// It doesn't start with the name of a tool, or other text follows the name.
    Name,
    /// The parentheses are empty, unbalanced, or contain control characters.
    Scope,
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Length => "it is empty or too long",
            Self::Name => "a tool name consists of letters, digits, `_`, `.` and `-`",
            Self::Scope => "write the scope of a tool in parentheses directly after its name",
        })
    }
}

impl std::error::Error for ToolError {}

impl FromStr for ToolPattern {
    type Err = ToolError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.is_empty() || text.len() > MAX_ENTRY {
            return Err(ToolError::Length);
        }
        let which = match text.split_once('(') {
            _ if text == "*" => Which::Every,
            None => named(text, ToolScope::All)?,
            Some((name, rest)) => {
                let scope = rest.strip_suffix(')').map(str::trim);
                let fits = |scope: &&str| {
                    !scope.is_empty() && in_pairs(scope) && !scope.contains(char::is_control)
                };
                let scope = scope.filter(fits).ok_or(ToolError::Scope)?;
                if name.ends_with(char::is_whitespace) {
                    return Err(ToolError::Scope);
                }
                match named(name, ToolScope::All)? {
                    Which::Named(name, _) => {
                        let scope = ToolScope::read(scope, &*name == COMMANDS);
                        Which::Named(name, scope)
                    }
                    // The tools of a server have no scopes.
                    _ => return Err(ToolError::Scope),
                }
            }
        };
        Ok(Self {
            written: text.into(),
            which,
        })
    }
}

fn named(name: &str, scope: ToolScope) -> Result<Which, ToolError> {
    if name == "mcp__*" {
        return Ok(Which::Mcp(None, None));
    }
    let (server_and_tool, word) = match name.strip_prefix("mcp__") {
        Some(rest) => (Some(rest.split_once("__")), rest),
        None => (None, name),
    };
    match server_and_tool {
        None if is_name(word) => Ok(Which::Named(compared(word).into(), scope)),
        Some(None) if is_name(word) => Ok(Which::Mcp(Some(word.into()), None)),
        Some(Some((server, "*"))) if is_name(server) => Ok(Which::Mcp(Some(server.into()), None)),
        Some(Some((server, tool))) if is_name(server) && is_name(tool) => {
            Ok(Which::Mcp(Some(server.into()), Some(tool.into())))
        }
        _ => Err(ToolError::Name),
    }
}

/// A letter, then letters, digits, `_`, `.` and `-`; only ASCII, so that no look-alike letters are accepted.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
}

/// The canonical name of a tool: its own, or the first spelling of a core tool.
fn compared(name: &str) -> Cow<'_, str> {
    let plain: String = name
        .chars()
        .filter(|c| !"_-".contains(*c))
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let core = CORE.iter().find(|spellings| spellings.contains(&&*plain));
    core.map_or(Cow::Borrowed(name), |spellings| Cow::Borrowed(spellings[0]))
}

/// Whether the parentheses are balanced.
fn in_pairs(text: &str) -> bool {
    let mut depth = 0usize;
    let closes = text.chars().all(|c| match c {
        '(' => {
            depth += 1;
            true
        }
        ')' if depth == 0 => false,
        ')' => {
            depth -= 1;
            true
        }
        _ => true,
    });
    closes && depth == 0
}

impl ToolPattern {
    /// A prohibition. An invalid one forbids the whole tool whose name it starts with, and every tool if there is
    /// none: a typing mistake must not make it weaker.
    #[must_use]
    pub fn prohibiting(text: &str) -> Self {
        let salvage = |error: ToolError| {
            let name = text.split('(').next().unwrap_or_default().trim();
            let which = match named(name, ToolScope::All) {
                Ok(which) if error == ToolError::Scope => Some((name, which)),
                _ => None,
            };
            let (written, which) = which.unwrap_or(("*", Which::Every));
            Self {
                written: written.into(),
                which,
            }
        };
        text.parse().unwrap_or_else(salvage)
    }

    /// One call of a tool. Its argument can be any string: it is compared, not parsed.
    ///
    /// # Errors
    /// If the name is not a valid tool name.
    pub fn call(name: &str, argument: &str) -> Result<Self, ToolError> {
        let which = match named(name, ToolScope::All)? {
            Which::Named(name, _) if !argument.is_empty() => {
                Which::Named(name, ToolScope::Exactly(argument.into()))
            }
            which => which,
        };
        Ok(Self {
            written: format!("{name}({argument})").into(),
            which,
        })
    }

    /// The entry as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it covers tools that it doesn't name: `*`, `mcp__*`.
    #[must_use]
    pub fn names_no_tool(&self) -> bool {
        matches!(self.which, Which::Every | Which::Mcp(None, _))
    }

    /// Whether it is written with a star for everything: `*`, `Bash(*)`, `mcp__*`.
    #[must_use]
    pub fn is_broad(&self) -> bool {
        match &self.which {
            Which::Every | Which::Mcp(None, _) => true,
            Which::Named(_, scope) => *scope == ToolScope::All && self.written.contains('('),
            Which::Mcp(..) => false,
        }
    }

    /// Whether it certainly covers every use that the other covers.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        match (&self.which, &other.which) {
            (Which::Every, _) => true,
            (Which::Named(name, scope), Which::Named(other, inner)) => {
                name == other && scope.covers(inner, &**name == COMMANDS)
            }
            (Which::Mcp(None, _), Which::Mcp(..)) => true,
            (Which::Mcp(server, tool), Which::Mcp(other, inner)) => {
                server == other && (tool.is_none() || tool == inner)
            }
            _ => false,
        }
    }

    /// Whether there can be a use that both cover.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        match (&self.which, &other.which) {
            (Which::Every, _) | (_, Which::Every) => true,
            (Which::Named(name, scope), Which::Named(other, inner)) => {
                name == other && scope.overlaps(inner, &**name == COMMANDS)
            }
            (Which::Mcp(None, _), Which::Mcp(..)) | (Which::Mcp(..), Which::Mcp(None, _)) => true,
            (Which::Mcp(server, tool), Which::Mcp(other, inner)) => {
                server == other && (tool.is_none() || inner.is_none() || tool == inner)
            }
            _ => false,
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

impl ToolScope {
    fn read(text: &str, command: bool) -> Self {
        if matches!(text, "*" | "**" | ":*") {
            return Self::All;
        }
        if !command {
            return if text.contains('*') {
                Self::Like(text.into())
            } else {
                Self::Exactly(text.into())
            };
        }
        let prefix = text.strip_suffix(":*").or_else(|| text.strip_suffix(" *"));
        match prefix {
            Some(prefix) if !prefix.contains('*') => {
                Self::Begins(words(prefix).map(Into::into).collect())
            }
            _ => {
                let text: Box<str> = words(text).collect::<Vec<_>>().join(" ").into();
                if text.contains('*') {
                    Self::Like(text)
                } else {
                    Self::Exactly(text)
                }
            }
        }
    }

    fn covers(&self, other: &Self, command: bool) -> bool {
        match (self, other) {
            (Self::All, _) => true,
            (_, Self::All) => false,
            (Self::Begins(begin), Self::Begins(other)) => other.starts_with(begin),
            (Self::Begins(begin), Self::Exactly(text) | Self::Like(text)) => {
                is_one_command(text) && begins(text, begin)
            }
            (Self::Exactly(text), Self::Exactly(other)) => {
                text == other || (command && words(text).eq(words(other)))
            }
            (Self::Like(pattern), Self::Exactly(text)) if command => {
                is_one_command(text) && matches(pattern, text)
            }
            (Self::Like(pattern), Self::Exactly(text)) => {
                // A path below a folder; one with `..` is not below it.
                let below = pattern
                    .strip_suffix("**")
                    .filter(|rest| !rest.contains('*'));
                is_straight(text) && below.is_some_and(|folder| text.starts_with(folder))
            }
            (Self::Like(pattern), Self::Like(other)) => pattern == other,
            _ => false,
        }
    }

    fn overlaps(&self, other: &Self, command: bool) -> bool {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => true,
            (Self::Begins(one), Self::Begins(other)) => {
                one.starts_with(other) || other.starts_with(one)
            }
            (Self::Begins(begin), Self::Exactly(text))
            | (Self::Exactly(text), Self::Begins(begin)) => may_begin(text, begin),
            (Self::Exactly(one), Self::Exactly(other)) if command => {
                may_be_more(one) || may_be_more(other) || may_be_alike(one, other)
            }
            (Self::Begins(_), Self::Like(_)) | (Self::Like(_), Self::Begins(_)) => true,
            (Self::Exactly(one) | Self::Like(one), Self::Exactly(other) | Self::Like(other)) => {
                command || !apart(one, other)
            }
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

/// Whether a command starts with these words.
fn begins(command: &str, begin: &[Box<str>]) -> bool {
    let mut found = words(command);
    begin.iter().all(|word| found.next() == Some(&**word))
}

/// Whether a string is certainly one command: nothing in it starts another one or writes a file.
fn is_one_command(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || ";|&<>$`(){}\\".contains(c))
}

/// Programs that run their arguments.
const RUNNERS: &[&str] = &[
    "bash", "busybox", "command", "dash", "doas", "env", "eval", "exec", "find", "nice", "nohup",
    "parallel", "setsid", "sh", "sudo", "time", "timeout", "watch", "xargs", "zsh",
];

/// The words of a command, with the program's folder removed.
fn parts(command: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = words(command).collect();
    if let Some(program) = parts.first_mut() {
        *program = program.rsplit('/').next().unwrap_or_default();
    }
    parts
}

/// Whether a command can run programs other than the one it starts with.
fn may_be_more(command: &str) -> bool {
    let runs = |program: &&str| RUNNERS.contains(program);
    !is_one_command(command) || parts(command).first().is_some_and(runs)
}

/// A word that a shell can expand.
fn is_open(word: &str) -> bool {
    word.contains(['"', '\'', '~', '*', '?', '[', '#', '!', '='])
}

/// Whether a command can start with these words after expansion.
fn may_begin(command: &str, begin: &[Box<str>]) -> bool {
    let found = parts(command);
    let mut begin_and_found = begin.iter().zip(&found);
    may_be_more(command)
        || (found.len() >= begin.len()
            && begin_and_found.all(|(word, found)| **word == **found || is_open(found)))
}

/// Whether two commands can be the same one.
fn may_be_alike(one: &str, other: &str) -> bool {
    let (one, other) = (parts(one), parts(other));
    let open = one.iter().chain(&other).any(|word| is_open(word));
    let alike = |(one, other): (&&str, &&str)| one == other || is_open(one) || is_open(other);
    (open || one.len() == other.len()) && one.iter().zip(&other).all(alike)
}

/// Whether a path contains no part that points elsewhere.
fn is_straight(text: &str) -> bool {
    !text
        .split(['/', '\\'])
        .any(|part| matches!(part, "." | ".."))
        && !text.contains("//")
        && !text.contains(char::is_control)
}

/// Whether two strings, with or without stars, certainly match different things.
fn apart(one: &str, other: &str) -> bool {
    let (one, other) = (
        one.strip_prefix("./").unwrap_or(one),
        other.strip_prefix("./").unwrap_or(other),
    );
    let comparable = is_straight(one)
        && is_straight(other)
        && one.starts_with('/') == other.starts_with('/')
        && !one.starts_with('~')
        && !other.starts_with('~');
    let head = |text: &str| text.find('*').unwrap_or(text.len());
    let (first, second) = (&one[..head(one)], &other[..head(other)]);
    let differ = match (one.contains('*'), other.contains('*')) {
        (false, false) => !one.eq_ignore_ascii_case(other),
        (true, false) => !other.starts_with(first),
        (false, true) => !one.starts_with(second),
        (true, true) => !first.starts_with(second) && !second.starts_with(first),
    };
    comparable && differ
}

/// Whether a string matches a pattern with stars.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let head = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(head) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(tail) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(tail)
}

/// The entries of a string, separated by commas or spaces; parentheses keep their content together. A parenthesis after
/// a space still belongs to the word before it: `Bash (git)` must not become all of `Bash`.
#[must_use]
pub fn split(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    // The start of the entry, and its end unless a parenthesis follows.
    let (mut start, mut end, mut depth) = (None, None, 0usize);
    for (at, c) in text.char_indices() {
        let separates = depth == 0 && (c == ',' || c.is_whitespace());
        if let (Some(from), Some(to)) = (start, end)
            && (c == ',' || !(separates || c == '('))
        {
            found.push(&text[from..to]);
            (start, end) = (None, None);
        }
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match (start, separates) {
            (Some(from), true) if c == ',' => {
                found.push(&text[from..at]);
                (start, end) = (None, None);
            }
            (Some(_), true) => end = end.or(Some(at)),
            (Some(_), false) => end = None,
            (None, false) => start = Some(at),
            (None, true) => {}
        }
    }
    found.extend(start.map(|from| &text[from..end.unwrap_or(text.len())]));
    found
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
