//! A body as a template: prose, arguments, variables, commands and files to read, in order.
//!
//! Parsing decides *once*, on the author's text, what is a placeholder and what is a command. Rendering inserts
//! values and never parses them, so an argument such as `!rm` or `$ARGUMENTS` stays text.
//!
//! ```text
//! Review $ARGUMENTS.          →  Prose("Review "), Arguments, Prose(".\n")
//! !git log -3                 →  Command("git log -3")
//! !read references/style.md   →  Read("references/style.md")
//! Branch: !`git branch`       →  Prose("Branch: "), Command("git branch")
//! ```
//!
//! A placeholder inside a command becomes a reference to a parameter, never text: see [`Script`].

mod invocation;
mod script;

#[cfg(test)]
mod interpreter_tests;
#[cfg(test)]
mod real_tests;
#[cfg(test)]
mod script_tests;
#[cfg(test)]
mod tests;

use memchr::{memchr, memchr2, memchr3};

pub use invocation::{InvocationRefusal, MAX_ARGUMENT, MAX_PARAMETERS, ShellInvocation, Values};
pub use script::{
    BodyCommand, Carries, PlaceholderReason, Recipe, RefusedPlaceholder, Script, Slot,
    UnlistedProgram,
};

/// One piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyPiece<'a> {
    /// Literal text.
    Prose(&'a str),
    /// `$ARGUMENTS`: all arguments, as typed.
    Arguments,
    /// `$ARGUMENTS[N]` or `$N`, counted from zero; the source text is kept for a missing one.
    Argument(usize, &'a str),
    /// `$name`, for a name in `arguments:`, as its position.
    Named(usize),
    /// `${METIER_SKILL_DIR}` and its aliases, `{baseDir}`.
    Variable(HostVariable),
    /// A shell command to run.
    Command(BodyCommand<'a>),
    /// A line `!read path`.
    Read {
        /// A path below the skill's folder: text, arguments and variables, in order.
        path: Vec<BodyPiece<'a>>,
        /// The source text in the body.
        source: &'a str,
    },
}

/// A variable of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostVariable {
    /// The absolute path of the skill's folder.
    SkillDir,
    /// The absolute path of the project's folder.
    ProjectDir,
    /// The id of the session.
    SessionId,
}

/// Spellings of variables; other `${…}` is text (mostly shell code in examples).
const VARIABLES: &[(&str, HostVariable)] = &[
    ("${METIER_SKILL_DIR}", HostVariable::SkillDir),
    ("${CLAUDE_SKILL_DIR}", HostVariable::SkillDir),
    ("{baseDir}", HostVariable::SkillDir),
    ("${METIER_PROJECT_DIR}", HostVariable::ProjectDir),
    ("${CLAUDE_PROJECT_DIR}", HostVariable::ProjectDir),
    ("${METIER_SESSION_ID}", HostVariable::SessionId),
    ("${CLAUDE_SESSION_ID}", HostVariable::SessionId),
];

/// The placeholders that a body can have.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placeholders<'a> {
    /// The names of positional arguments.
    pub names: &'a [Box<str>],
    /// Whether the skill declares arguments; only then (or if `$ARGUMENTS` is used) is a bare `$1` a placeholder, and
    /// not shell code in an example.
    pub declared: bool,
}

/// The program that might run the value of a placeholder; `None` if every program in the command is known to treat
/// values as data, or if there is no placeholder.
#[must_use]
pub fn might_run_a_value(command: &str, placeholders: Placeholders<'_>) -> Option<UnlistedProgram> {
    match prepared(command, placeholders) {
        Script::Ready(recipe) => recipe.unlisted().cloned(),
        Script::Refused(_) => None,
    }
}

/// Whether every program in a command is known to treat the values of these placeholders as data, or it has no
/// placeholder. Also false for a command that is refused because of one.
#[must_use]
pub fn takes_values_as_data(command: &str, placeholders: Placeholders<'_>) -> bool {
    match prepared(command, placeholders) {
        Script::Ready(recipe) => recipe.unlisted().is_none(),
        Script::Refused(_) => false,
    }
}

fn prepared(command: &str, placeholders: Placeholders<'_>) -> Script {
    let spellings = Spellings {
        names: placeholders.names,
        declared: placeholders.declared,
        positional: true,
        dash_ends: true,
    };
    Script::prepare(command, spellings)
}

/// Splits a body into pieces.
#[must_use]
pub fn parse<'a>(body: &'a str, placeholders: Placeholders<'_>) -> Vec<BodyPiece<'a>> {
    let mut parser = TemplateParser {
        body,
        spellings: Spellings {
            names: placeholders.names,
            declared: placeholders.declared,
            positional: placeholders.declared || body.contains("$ARGUMENTS"),
            dash_ends: false,
        },
        pieces: Vec::new(),
        prose: 0,
        unclosed: Vec::new(),
    };
    parser.run();
    parser.pieces
}

struct TemplateParser<'a, 'n> {
    body: &'a str,
    spellings: Spellings<'n>,
    pieces: Vec<BodyPiece<'a>>,
    /// The start of the prose that is not yet a piece.
    prose: usize,
    /// Fences that are not closed anywhere below, so that their end is not searched again.
    unclosed: Vec<&'a str>,
}

impl<'a> TemplateParser<'a, '_> {
    fn run(&mut self) {
        let mut start = 0;
        let mut fence: Option<&str> = None;
        if memchr3(b'$', b'{', b'!', self.body.as_bytes()).is_none() {
            start = self.body.len();
        }
        while start < self.body.len() {
            let end = memchr(b'\n', &self.body.as_bytes()[start..])
                .map_or(self.body.len(), |index| start + index + 1);
            let line = &self.body[start..end];
            start = match (fence, fence_mark(line)) {
                (Some(open), Some(mark))
                    if mark.starts_with(open)
                        && line.trim().trim_start_matches(['`', '~']).is_empty() =>
                {
                    fence = None;
                    self.placeholders_in(start, end)
                }
                (Some(_), _) => self.placeholders_in(start, end),
                (None, Some(mark)) if line.trim() == format!("{mark}!") => {
                    self.command_block(start, end, mark)
                }
                (None, Some(mark)) => {
                    fence = Some(mark);
                    self.placeholders_in(start, end)
                }
                (None, None) => self.line(start, end),
            };
        }
        self.flush(self.body.len(), self.body.len());
    }

    /// Ends the prose at `at`; the next starts at `next`.
    fn flush(&mut self, at: usize, next: usize) {
        if self.prose < at {
            self.pieces
                .push(BodyPiece::Prose(&self.body[self.prose..at]));
        }
        self.prose = next;
    }

    fn command(&self, source: &'a str, text: &'a str) -> BodyPiece<'a> {
        BodyPiece::Command(BodyCommand {
            source,
            text,
            script: Script::prepare(
                text,
                Spellings {
                    dash_ends: true,
                    ..self.spellings
                },
            ),
        })
    }

    fn push(&mut self, piece: BodyPiece<'a>, at: usize, next: usize) {
        self.flush(at, next);
        self.pieces.push(piece);
    }

    /// A line outside fences: a command line, or text with inline commands.
    fn line(&mut self, start: usize, end: usize) -> usize {
        let text = self.body[start..end].trim_end_matches(['\n', '\r']);
        let stop = start + text.len();
        let Some(command) = text.strip_prefix('!').filter(|command| is_command(command)) else {
            return self.inline(start, end);
        };
        let piece = match command.strip_prefix("read ").map(str::trim) {
            Some(path) if !path.is_empty() => BodyPiece::Read {
                path: self.path(unquoted(path)),
                source: text,
            },
            _ => self.command(text, command.trim_end()),
        };
        self.push(piece, start, stop);
        end
    }

    /// The path of a `!read` line, with its placeholders.
    fn path(&self, text: &'a str) -> Vec<BodyPiece<'a>> {
        let mut parser = TemplateParser {
            body: text,
            spellings: self.spellings,
            pieces: Vec::new(),
            prose: 0,
            unclosed: Vec::new(),
        };
        parser.placeholders_in(0, text.len());
        parser.flush(text.len(), text.len());
        parser.pieces
    }

    /// Text that can contain `` !`cmd` ``; the `!` must start the line or follow a space.
    fn inline(&mut self, start: usize, end: usize) -> usize {
        let mut from = start;
        let mut search = start;
        while let Some(index) = memchr(b'!', &self.body.as_bytes()[search..end]) {
            let index = search + index;
            search = index + 1;
            if self.body.as_bytes().get(search) != Some(&b'`') || search >= end {
                continue;
            }
            let free = index == start || self.body[..index].ends_with([' ', '\t']);
            let close = self.body[index + 2..end]
                .find('`')
                .map(|length| index + 2 + length);
            match close {
                Some(close) if free && close > index + 2 => {
                    self.placeholders_in(from, index);
                    let piece =
                        self.command(&self.body[index..=close], &self.body[index + 2..close]);
                    self.push(piece, index, close + 1);
                    from = close + 1;
                    search = from;
                }
                _ => {
                    self.placeholders_in(from, index + 2);
                    from = index + 2;
                    search = from;
                }
            }
        }
        self.placeholders_in(from, end)
    }

    /// A ```` ```! ```` block, up to its closing fence.
    fn command_block(&mut self, start: usize, content: usize, mark: &'a str) -> usize {
        if self.unclosed.contains(&mark) {
            return self.placeholders_in(start, content);
        }
        let close = self.body[content..]
            .split_inclusive('\n')
            .scan(content, |at, line| {
                let here = *at;
                *at += line.len();
                Some((here, *at, line))
            });
        for (at, end, line) in close {
            if line.trim() == mark {
                let source = self.body[start..end].trim_end_matches('\n');
                let piece = self.command(source, self.body[content..at].trim_end());
                self.push(piece, start, start + source.len());
                return end;
            }
        }
        self.unclosed.push(mark);
        self.placeholders_in(start, content)
    }

    fn placeholders_in(&mut self, start: usize, end: usize) -> usize {
        let mut at = start;
        while let Some(index) = memchr2(b'$', b'{', &self.body.as_bytes()[at..end]) {
            at = self.placeholder(at + index, start, end);
        }
        end
    }

    /// A placeholder at `index`, or one byte of text; returns the offset after it.
    fn placeholder(&mut self, index: usize, start: usize, end: usize) -> usize {
        match self.spellings.at(self.body, start, index, end) {
            Spelt::Text => index + 1,
            Spelt::Escaped(length) => {
                self.flush(index - 1, index);
                index + length
            }
            Spelt::Piece(piece, length) => {
                self.push(piece, index, index + length);
                index + length
            }
        }
    }
}

/// The recognised placeholders of one body, in prose and in commands.
#[derive(Clone, Copy, Debug)]
struct Spellings<'n> {
    names: &'n [Box<str>],
    declared: bool,
    positional: bool,
    /// Whether a dash ends a name, as it does for a shell: in prose `$5-a-month` is text, in a command `$0-old` is an
    /// argument and not the shell's `$0`.
    dash_ends: bool,
}

/// The result of parsing at a `$` or `{`.
enum Spelt<'a> {
    Text,
    /// An argument that a backslash made literal; its length.
    Escaped(usize),
    /// A placeholder and its length.
    Piece(BodyPiece<'a>, usize),
}

impl Spellings<'_> {
    /// The placeholder at `index` of `text`, considering only `start..end`.
    fn at<'a>(self, text: &'a str, start: usize, index: usize, end: usize) -> Spelt<'a> {
        let rest = &text[index..end];
        if let Some((spelling, variable)) = VARIABLES
            .iter()
            .find(|(spelling, _)| rest.starts_with(spelling))
        {
            return Spelt::Piece(BodyPiece::Variable(*variable), spelling.len());
        }
        let Some((piece, length)) = self.argument(rest) else {
            return Spelt::Text;
        };
        let backslashes = text[start..index]
            .bytes()
            .rev()
            .take_while(|byte| *byte == b'\\')
            .count();
        if backslashes == 1 {
            return Spelt::Escaped(length);
        }
        Spelt::Piece(piece, length)
    }

    fn argument(self, rest: &str) -> Option<(BodyPiece<'_>, usize)> {
        let word = rest.strip_prefix('$')?;
        if let Some(behind) = word.strip_prefix("ARGUMENTS") {
            let digits = behind
                .bytes()
                .skip(1)
                .take_while(u8::is_ascii_digit)
                .count();
            let index = behind
                .strip_prefix('[')
                .filter(|inner| inner[digits..].starts_with(']'))
                .and_then(|inner| inner[..digits].parse::<usize>().ok())
                .map(|value| (value, "$ARGUMENTS[]".len() + digits));
            return Some(match index {
                Some((value, length)) => (BodyPiece::Argument(value, &rest[..length]), length),
                None => (BodyPiece::Arguments, "$ARGUMENTS".len()),
            });
        }
        let length = word
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            .count();
        let name = &word[..length];
        let stem = if self.dash_ends {
            name.split('-').next().unwrap_or_default()
        } else {
            name.trim_end_matches('-')
        };
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        if self.positional && digits > 0 && digits <= 3 && digits == stem.len() {
            let number = name[..digits].parse().ok()?;
            return Some((BodyPiece::Argument(number, &rest[..=digits]), digits + 1));
        }
        let position = |name: &str| self.names.iter().position(|known| &**known == name);
        if let Some(position) = position(name) {
            return Some((BodyPiece::Named(position), length + 1));
        }
        let position = position(stem).filter(|_| self.dash_ends)?;
        Some((BodyPiece::Named(position), stem.len() + 1))
    }
}

/// The run of backticks or tildes that opens or closes a fence.
fn fence_mark(line: &str) -> Option<&str> {
    let trimmed = line.trim_start_matches(' ');
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = trimmed.chars().take_while(|c| *c == mark).count();
    (length >= 3 && line.len() - trimmed.len() <= 3).then(|| &trimmed[..length])
}

/// A path without the quotes around it.
fn unquoted(path: &str) -> &str {
    let inside = |mark| path.strip_prefix(mark)?.strip_suffix(mark);
    let inner = inside('"').or_else(|| inside('\''));
    inner.unwrap_or(path)
}

/// Lines that look like commands but are text, because no program name follows the `!`. A command has to be written
/// in backticks.
#[must_use]
pub fn lines_taken_for_text(body: &str) -> Vec<&str> {
    let (mut fence, mut found) = (None, Vec::new());
    for line in body.lines() {
        match (fence, fence_mark(line)) {
            (Some(open), Some(mark)) if mark.starts_with(open) => fence = None,
            (None, Some(mark)) => fence = Some(mark),
            (None, None) if looks_like_command(line) => found.push(line.trim_end()),
            _ => {}
        }
    }
    found
}

/// A group, a quoted or computed program, or a space before the program.
fn looks_like_command(line: &str) -> bool {
    let Some(text) = line.strip_prefix('!') else {
        return false;
    };
    let text = text.trim_end();
    let group = |open, close| text.starts_with(open) && text.ends_with(close);
    let spaced = text.strip_prefix(' ').is_some_and(is_command);
    let computed = text.starts_with("$(") || text.starts_with("${") || text.starts_with('"');
    group('(', ')') || group('{', '}') || computed || spaced
}

/// Whether text starts with a word that could be a program: `![image]` and `!important,` don't. Variables can be set
/// before it.
fn is_command(text: &str) -> bool {
    if let Some((word, rest)) = text.split_once([' ', '\t'])
        && let Some((name, _)) = word.split_once('=')
        && name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        return is_command(rest.trim_start());
    }
    let word = text.split([' ', '\t']).next().unwrap_or_default();
    let fits =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~' | '+');
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '~' | '_'))
        && word.chars().all(fits)
}

/// Splits arguments as a shell would: spaces separate, quotes and backslashes keep together.
#[must_use]
pub fn split_arguments(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (_, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
