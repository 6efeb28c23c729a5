//! A body as a template: prose, arguments, variables, commands and files to read, in order.
//!
//! Parsing decides *once*, on the author's text, what is a placeholder and what is a command.
//! Whoever renders the pieces puts values in their places and never looks at them again, so an
//! argument that says `!rm` or `$ARGUMENTS` stays the text it is.
//!
//! ```text
//! Review $ARGUMENTS.          →  Prose("Review "), Arguments, Prose(".\n")
//! !git log -3                 →  Command("git log -3")
//! !read references/style.md   →  Read("references/style.md")
//! Branch: !`git branch`       →  Prose("Branch: "), Command("git branch")
//! ```

/// One piece of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text as it is.
    Prose(&'a str),
    /// `$ARGUMENTS`: all of them, as typed.
    Arguments,
    /// `$ARGUMENTS[N]` or `$N`, counted from zero; the source text is kept for a missing one.
    Argument(usize, &'a str),
    /// `$name`, for a name in `arguments:`, as its position.
    Named(usize),
    /// `${METIER_SKILL_DIR}` and its aliases, `{baseDir}`.
    Variable(Variable),
    /// A shell command; `source` is how it stands in the body.
    Command {
        /// What to run.
        command: &'a str,
        /// How it stands in the body.
        source: &'a str,
    },
    /// `!read path`.
    Read {
        /// A path below the skill's folder.
        path: &'a str,
        /// How it stands in the body.
        source: &'a str,
    },
}

/// What the host knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variable {
    /// The skill's folder.
    SkillDir,
    /// The project's folder.
    ProjectDir,
    /// The session's id.
    SessionId,
}

/// Spellings of variables; other `${…}` is text (mostly shell code in examples).
const VARIABLES: &[(&str, Variable)] = &[
    ("${METIER_SKILL_DIR}", Variable::SkillDir),
    ("${CLAUDE_SKILL_DIR}", Variable::SkillDir),
    ("{baseDir}", Variable::SkillDir),
    ("${METIER_PROJECT_DIR}", Variable::ProjectDir),
    ("${CLAUDE_PROJECT_DIR}", Variable::ProjectDir),
    ("${METIER_SESSION_ID}", Variable::SessionId),
    ("${CLAUDE_SESSION_ID}", Variable::SessionId),
];

/// Which placeholders a body has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placeholders<'a> {
    /// Names of positional arguments.
    pub names: &'a [Box<str>],
    /// Whether the skill declares arguments; only then (or where `$ARGUMENTS` is used) is a bare
    /// `$1` a placeholder, and not shell code in an example.
    pub declared: bool,
}

/// Cuts a body into pieces.
#[must_use]
pub fn parse<'a>(body: &'a str, placeholders: Placeholders<'_>) -> Vec<Piece<'a>> {
    let positional = placeholders.declared || body.contains("$ARGUMENTS");
    let mut parser = Parser {
        body,
        placeholders,
        positional,
        pieces: Vec::new(),
        prose: 0,
    };
    parser.run();
    parser.pieces
}

struct Parser<'a, 'n> {
    body: &'a str,
    placeholders: Placeholders<'n>,
    positional: bool,
    pieces: Vec<Piece<'a>>,
    /// Where the prose that is not yet a piece starts.
    prose: usize,
}

impl<'a> Parser<'a, '_> {
    fn run(&mut self) {
        let mut start = 0;
        let mut fence: Option<&str> = None;
        while start < self.body.len() {
            let end = self.body[start..]
                .find('\n')
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
            self.pieces.push(Piece::Prose(&self.body[self.prose..at]));
        }
        self.prose = next;
    }

    fn push(&mut self, piece: Piece<'a>, at: usize, next: usize) {
        self.flush(at, next);
        self.pieces.push(piece);
    }

    /// A line outside of fences: a command line, or text with inline commands.
    fn line(&mut self, start: usize, end: usize) -> usize {
        let text = self.body[start..end].trim_end_matches(['\n', '\r']);
        let stop = start + text.len();
        let Some(command) = text.strip_prefix('!').filter(|command| is_command(command)) else {
            return self.inline(start, end);
        };
        let piece = match command.strip_prefix("read ").map(str::trim) {
            Some(path) if !path.is_empty() => Piece::Read { path, source: text },
            _ => Piece::Command {
                command: command.trim_end(),
                source: text,
            },
        };
        self.push(piece, start, stop);
        end
    }

    /// Text that may hold `` !`cmd` ``; the `!` must start the line or follow a blank.
    fn inline(&mut self, start: usize, end: usize) -> usize {
        let mut from = start;
        while let Some(index) = self.body[from..end].find("!`").map(|index| from + index) {
            let free = index == start || self.body[..index].ends_with([' ', '\t']);
            let close = self.body[index + 2..end]
                .find('`')
                .map(|length| index + 2 + length);
            match close {
                Some(close) if free && close > index + 2 => {
                    self.placeholders_in(from, index);
                    let piece = Piece::Command {
                        command: &self.body[index + 2..close],
                        source: &self.body[index..=close],
                    };
                    self.push(piece, index, close + 1);
                    from = close + 1;
                }
                _ => {
                    self.placeholders_in(from, index + 2);
                    from = index + 2;
                }
            }
        }
        self.placeholders_in(from, end)
    }

    /// A ```` ```! ```` block, up to its closing fence.
    fn command_block(&mut self, start: usize, content: usize, mark: &str) -> usize {
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
                let piece = Piece::Command {
                    command: self.body[content..at].trim_end(),
                    source,
                };
                self.push(piece, start, start + source.len());
                return end;
            }
        }
        self.placeholders_in(start, content)
    }

    fn placeholders_in(&mut self, start: usize, end: usize) -> usize {
        let mut at = start;
        while let Some(index) = self.body[at..end].find(['$', '{']).map(|index| at + index) {
            at = self.placeholder(index, start, end);
        }
        end
    }

    /// A placeholder at `index`, or one byte of text; the offset behind it.
    fn placeholder(&mut self, index: usize, start: usize, end: usize) -> usize {
        let rest = &self.body[index..end];
        if let Some((spelling, variable)) = VARIABLES
            .iter()
            .find(|(spelling, _)| rest.starts_with(spelling))
        {
            self.push(Piece::Variable(*variable), index, index + spelling.len());
            return index + spelling.len();
        }
        let Some((piece, length)) = self.argument(rest) else {
            return index + 1;
        };
        let backslashes = self.body[start..index]
            .bytes()
            .rev()
            .take_while(|byte| *byte == b'\\')
            .count();
        if backslashes == 1 {
            self.flush(index - 1, index);
            return index + length;
        }
        self.push(piece, index, index + length);
        index + length
    }

    fn argument(&self, rest: &'a str) -> Option<(Piece<'a>, usize)> {
        let word = rest.strip_prefix('$')?;
        if let Some(behind) = word.strip_prefix("ARGUMENTS") {
            let index = behind
                .strip_prefix('[')
                .and_then(|inner| inner.split_once(']'))
                .and_then(|(number, _)| {
                    number
                        .parse::<usize>()
                        .ok()
                        .map(|value| (value, "$ARGUMENTS[".len() + number.len() + 1))
                });
            return Some(match index {
                Some((value, length)) => (Piece::Argument(value, &rest[..length]), length),
                None => (Piece::Arguments, "$ARGUMENTS".len()),
            });
        }
        let length = word
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
            .count();
        let name = &word[..length];
        let digits = name.bytes().take_while(u8::is_ascii_digit).count();
        if self.positional
            && digits > 0
            && digits <= 3
            && digits == name.trim_end_matches('-').len()
        {
            let number = name[..digits].parse().ok()?;
            return Some((Piece::Argument(number, &rest[..=digits]), digits + 1));
        }
        let position = self
            .placeholders
            .names
            .iter()
            .position(|known| &**known == name)?;
        Some((Piece::Named(position), length + 1))
    }
}

/// The run of backticks or tildes that opens or closes a fence.
fn fence_mark(line: &str) -> Option<&str> {
    let trimmed = line.trim_start_matches(' ');
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = trimmed.chars().take_while(|c| *c == mark).count();
    (length >= 3 && line.len() - trimmed.len() <= 3).then(|| &trimmed[..length])
}

/// A command starts with a word that could be a program: `![image]` and `!important,` don't.
fn is_command(text: &str) -> bool {
    let word = text.split([' ', '\t']).next().unwrap_or_default();
    let fits =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~' | '+');
    word.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '/' | '~' | '_'))
        && word.chars().all(fits)
}

/// Splits arguments the way a shell would: blanks separate, quotes and backslashes keep together.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &str, declared: bool) -> Vec<Piece<'_>> {
        let names = [Box::<str>::from("issue")];
        let pieces = parse(
            body,
            Placeholders {
                names: &names,
                declared,
            },
        );
        let source: String = pieces.iter().map(source).collect();
        if !body.contains('\\') {
            assert_eq!(source, body, "pieces put together are the body");
        }
        pieces
    }

    fn source<'a>(piece: &Piece<'a>) -> &'a str {
        match piece {
            Piece::Prose(text) | Piece::Argument(_, text) => text,
            Piece::Command { source, .. } | Piece::Read { source, .. } => source,
            Piece::Arguments => "$ARGUMENTS",
            Piece::Named(_) => "$issue",
            Piece::Variable(_) => "{baseDir}",
        }
    }

    #[test]
    fn placeholders() {
        assert_eq!(
            check("a $ARGUMENTS b", false),
            [Piece::Prose("a "), Piece::Arguments, Piece::Prose(" b")]
        );
        assert_eq!(
            check("$ARGUMENTS[1]", false),
            [Piece::Argument(1, "$ARGUMENTS[1]")]
        );
        assert_eq!(
            check("fix $issue now", false),
            [Piece::Prose("fix "), Piece::Named(0), Piece::Prose(" now")]
        );
        assert_eq!(
            check("in {baseDir}/x", false),
            [
                Piece::Prose("in "),
                Piece::Variable(Variable::SkillDir),
                Piece::Prose("/x")
            ]
        );
    }

    #[test]
    fn shell_examples_stay_text() {
        assert_eq!(
            check("echo $1 $HOME ${x}", false),
            [Piece::Prose("echo $1 $HOME ${x}")]
        );
        assert_eq!(check("$0", true), [Piece::Argument(0, "$0")]);
        assert_eq!(
            check("costs $100000", true),
            [Piece::Prose("costs $100000")]
        );
    }

    #[test]
    fn a_single_backslash_escapes() {
        assert_eq!(check("\\$ARGUMENTS", false), [Piece::Prose("$ARGUMENTS")]);
        assert_eq!(
            check("\\\\$ARGUMENTS", false),
            [Piece::Prose("\\\\"), Piece::Arguments]
        );
    }

    #[test]
    fn commands() {
        assert_eq!(
            check("!git log\nx", false),
            [
                Piece::Command {
                    command: "git log",
                    source: "!git log"
                },
                Piece::Prose("\nx")
            ]
        );
        assert_eq!(
            check("!read a/b.md", false),
            [Piece::Read {
                path: "a/b.md",
                source: "!read a/b.md"
            }]
        );
        assert_eq!(
            check("on !`git branch` now", false)[1],
            Piece::Command {
                command: "git branch",
                source: "!`git branch`"
            }
        );
        assert_eq!(
            check("```!\nls\n```\n", false)[0],
            Piece::Command {
                command: "ls",
                source: "```!\nls\n```"
            }
        );
    }

    #[test]
    fn what_is_no_command() {
        for body in [
            "![image](x.png)",
            "!important, read this",
            "KEY=!`x`",
            "```sh\n!ls\n```\n",
            "~~~\n!`ls`\n~~~\n",
            "！ls",
            " !",
            "!",
            "```!\nls\n",
        ] {
            assert!(
                check(body, false)
                    .iter()
                    .all(|piece| matches!(piece, Piece::Prose(_))),
                "{body:?}"
            );
        }
    }

    #[test]
    fn arguments_split_like_a_shell() {
        assert_eq!(
            split_arguments(r#"a "b c" d\ e 'f"g' """#),
            ["a", "b c", "d e", "f\"g", ""]
        );
    }
}
