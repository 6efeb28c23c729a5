//! Lists, pipelines and compound commands.

use std::ops::Range;

use super::{
    Assignment, MAX_DEPTH, MAX_TEXT, NotUnderstood, Redirect, RedirectOp, ShellLine, ShellWord,
    SimpleCommand, UnsupportedSyntax, WordPart, Zone, programs,
};

pub(super) type ParseResult<T> = Result<T, NotUnderstood>;

/// Keywords that end a list; the caller checks which one.
const CLOSERS: &[&str] = &["then", "else", "elif", "fi", "do", "done", "esac", "}"];

/// All keywords that are recognised in place of a command.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "do", "done", "esac", "}", "{", "!", "while", "until",
    "for", "case", "in", "function", "select", "coproc",
];

pub(super) struct ShellParser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// The end of the text, or of the heredoc that is being parsed.
    pub(super) end: usize,
    pub(super) depth: usize,
    /// The number of open `$(…)`. Shells before bash 5.2 search for their end without parsing them as commands, and
    /// are misled by comments, heredocs and patterns.
    inside: usize,
    /// Whether metier's variables are references that will be quoted.
    pub(super) references: bool,
    /// Whether `$((…))` can contain names.
    pub(super) reads_names: bool,
    /// Inside backticks: their position, for all errors.
    pub(super) place: Option<usize>,
    pub(super) commands: Vec<SimpleCommand>,
    pub(super) zones: Vec<(Range<usize>, Zone)>,
    pub(super) pending: Vec<Pending>,
}

/// A heredoc whose text has not been reached yet.
pub(super) struct Pending {
    /// The position of its operator.
    at: usize,
    delimiter: String,
    expands: bool,
    strips_tabs: bool,
    /// The command and the redirect that it belongs to.
    command: usize,
    redirect: usize,
}

impl<'a> ShellParser<'a> {
    pub(super) fn new(text: &'a str, depth: usize, place: Option<usize>) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            depth,
            inside: 0,
            references: false,
            reads_names: false,
            place,
            commands: Vec::new(),
            zones: Vec::new(),
            pending: Vec::new(),
        }
    }

    pub(super) fn parse(mut self) -> ParseResult<ShellLine> {
        let text = self.text;
        if text.len() > MAX_TEXT {
            let (what, at) = (UnsupportedSyntax::TooLong, MAX_TEXT);
            return Err(NotUnderstood { what, at });
        }
        let odd = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{feff}';
        if let Some(at) = text.find(odd) {
            let what = UnsupportedSyntax::Character;
            return Err(NotUnderstood { what, at });
        }
        self.whole()?;
        Ok(ShellLine {
            commands: self.commands,
            zones: self.zones,
        })
    }

    /// The whole text as one list.
    pub(super) fn whole(&mut self) -> ParseResult<()> {
        self.list()?;
        if self.at < self.end {
            return self.fail(UnsupportedSyntax::Unexpected);
        }
        self.no_pending()
    }

    pub(super) fn fail<T>(&self, what: UnsupportedSyntax) -> ParseResult<T> {
        let at = self.here();
        Err(NotUnderstood { what, at })
    }

    fn here(&self) -> usize {
        self.place.unwrap_or(self.at)
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end {
            return self.text.as_bytes().get(at).copied();
        }
        None
    }

    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..self.end]
    }

    pub(super) fn enter(&mut self) -> ParseResult<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(UnsupportedSyntax::TooDeep);
        }
        Ok(())
    }

    fn expect(&mut self, byte: u8) -> ParseResult<()> {
        if self.peek() != Some(byte) {
            return self.fail(UnsupportedSyntax::Unterminated);
        }
        self.at += 1;
        Ok(())
    }

    /// An unquoted keyword that is a separate word at the current position.
    fn keyword(&self) -> Option<&'static str> {
        let rest = self.rest();
        KEYWORDS.iter().copied().find(|word| {
            rest.starts_with(word)
                && rest
                    .as_bytes()
                    .get(word.len())
                    .is_none_or(|byte| b" \t\n;&|()<>".contains(byte))
        })
    }

    fn expect_keyword(&mut self, word: &str) -> ParseResult<()> {
        if self.keyword() != Some(word) {
            return self.fail(UnsupportedSyntax::Unterminated);
        }
        self.at += word.len();
        Ok(())
    }

    /// Skips spaces and continued lines.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                _ => return,
            }
        }
    }

    /// Skips spaces, comments and line ends, and reads heredocs after those.
    fn lines(&mut self) -> ParseResult<()> {
        loop {
            self.blanks();
            match self.peek() {
                Some(b'#') => self.comment()?,
                Some(b'\n') => {
                    self.at += 1;
                    self.heredocs()?;
                }
                _ => return Ok(()),
            }
        }
    }

    fn comment(&mut self) -> ParseResult<()> {
        self.outside()?;
        let start = self.at;
        self.at = self.rest().find('\n').map_or(self.end, |n| start + n);
        self.zones.push((start..self.at, Zone::Comment));
        Ok(())
    }

    /// Rejects constructs that are not supported in a substitution.
    fn outside(&self) -> ParseResult<()> {
        if self.inside > 0 {
            return self.fail(UnsupportedSyntax::Substitution);
        }
        Ok(())
    }

    /// Parses commands up to a closing keyword or bracket; returns how many.
    fn list(&mut self) -> ParseResult<usize> {
        let mut count = 0;
        loop {
            self.lines()?;
            let closed = self.peek().is_none_or(|byte| byte == b')')
                || self.rest().starts_with(";;")
                || self.keyword().is_some_and(|word| CLOSERS.contains(&word));
            if closed {
                return Ok(count);
            }
            self.chain()?;
            count += 1;
            self.blanks();
            match self.peek() {
                None | Some(b')' | b'\n' | b'#') => {}
                Some(b';') if self.peek_at(1) == Some(b';') => {}
                Some(b';' | b'&') if self.peek_at(1) != Some(b'&') => self.at += 1,
                _ => return self.fail(UnsupportedSyntax::Unexpected),
            }
        }
    }

    /// A list that must not be empty.
    fn body(&mut self) -> ParseResult<()> {
        if self.list()? == 0 {
            return self.fail(UnsupportedSyntax::MissingCommand);
        }
        Ok(())
    }

    /// Commands joined by `|`, `&&` and `||`.
    fn chain(&mut self) -> ParseResult<()> {
        loop {
            while self.keyword() == Some("!") {
                self.at += 1;
                self.blanks();
            }
            self.command()?;
            self.blanks();
            let rest = self.rest();
            self.at += if ["&&", "||", "|&"].iter().any(|op| rest.starts_with(op)) {
                2
            } else if rest.starts_with('|') {
                1
            } else {
                return Ok(());
            };
            self.lines()?;
        }
    }

    fn command(&mut self) -> ParseResult<()> {
        if self.rest().starts_with("((") {
            return self.fail(UnsupportedSyntax::Arithmetic);
        }
        let start = self.here();
        self.enter()?;
        match (self.peek(), self.keyword()) {
            (Some(b'('), _) => {
                self.at += 1;
                self.body()?;
                self.expect(b')')?;
            }
            (_, Some("{")) => {
                self.at += 1;
                self.body()?;
                self.expect_keyword("}")?;
            }
            (_, Some("if")) => self.conditional()?,
            (_, Some("while" | "until")) => {
                self.at += "while".len();
                self.body()?;
                self.looped()?;
            }
            (_, Some("for")) => self.each()?,
            (_, Some("case")) => self.cases()?,
            (_, Some(_)) => return self.fail(UnsupportedSyntax::Keyword),
            (_, None) => {
                self.depth -= 1;
                return self.simple();
            }
        }
        self.depth -= 1;
        self.compound_redirects(start)
    }

    fn conditional(&mut self) -> ParseResult<()> {
        self.at += "if".len();
        self.body()?;
        self.expect_keyword("then")?;
        self.body()?;
        while self.keyword() == Some("elif") {
            self.at += "elif".len();
            self.body()?;
            self.expect_keyword("then")?;
            self.body()?;
        }
        if self.keyword() == Some("else") {
            self.at += "else".len();
            self.body()?;
        }
        self.expect_keyword("fi")
    }

    /// Parses `do …; done`.
    fn looped(&mut self) -> ParseResult<()> {
        self.expect_keyword("do")?;
        self.body()?;
        self.expect_keyword("done")
    }

    /// Parses `for name in words; do …; done`; each word is an assignment.
    fn each(&mut self) -> ParseResult<()> {
        let at = self.here();
        self.at += "for".len();
        self.blanks();
        let name = self.name().to_owned();
        if name.is_empty() {
            return self.fail(UnsupportedSyntax::Unexpected);
        }
        self.at += name.len();
        self.blanks();
        let mut values = Vec::new();
        if self.peek() != Some(b';') {
            self.lines()?;
        }
        if self.keyword() == Some("in") {
            self.at += "in".len();
            self.blanks();
            while !matches!(self.peek(), None | Some(b'\n' | b';' | b'#')) {
                values.push(self.word()?);
                self.blanks();
            }
        } else {
            values.push(ShellWord::dynamic(WordPart::Parameter {
                name: "@".into(),
                quoted: true,
                plain: true,
            }));
        }
        let assignments = values
            .into_iter()
            .map(|value| Assignment {
                name: name.clone(),
                value,
            })
            .collect();
        self.commands.push(SimpleCommand {
            at,
            assignments,
            ..SimpleCommand::default()
        });
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        self.lines()?;
        self.looped()
    }

    fn cases(&mut self) -> ParseResult<()> {
        self.at += "case".len();
        self.blanks();
        self.word()?;
        self.lines()?;
        self.expect_keyword("in")?;
        loop {
            self.lines()?;
            if self.keyword() == Some("esac") {
                self.at += "esac".len();
                return Ok(());
            }
            if self.peek() == Some(b'(') {
                self.at += 1;
            } else {
                self.outside()?;
            }
            loop {
                self.blanks();
                self.word()?;
                self.blanks();
                if self.peek() != Some(b'|') {
                    break;
                }
                self.at += 1;
            }
            self.expect(b')')?;
            self.list()?;
            if self.rest().starts_with(";;") && !self.rest().starts_with(";;&") {
                self.at += 2;
            } else if self.keyword() != Some("esac") {
                return self.fail(UnsupportedSyntax::Unexpected);
            }
        }
    }

    /// Parses the redirects after a compound command.
    fn compound_redirects(&mut self, at: usize) -> ParseResult<()> {
        let mut command = SimpleCommand {
            at,
            ..SimpleCommand::default()
        };
        loop {
            self.blanks();
            if !self.redirect(&mut command)? {
                break;
            }
        }
        if !command.redirects.is_empty() {
            self.commands.push(command);
            self.claim();
        }
        Ok(())
    }

    /// `[A-Za-z_][A-Za-z0-9_]*` at the current position; can be empty.
    pub(super) fn name(&self) -> &'a str {
        name_prefix(self.rest())
    }

    fn simple(&mut self) -> ParseResult<()> {
        let mut command = SimpleCommand {
            at: self.here(),
            ..SimpleCommand::default()
        };
        let start = self.at;
        loop {
            self.blanks();
            match self.peek() {
                None | Some(b'\n' | b';' | b')' | b'|' | b'#') => break,
                Some(b'(') => return self.fail(UnsupportedSyntax::Parenthesis),
                _ => {}
            }
            if self.redirect(&mut command)? {
                continue;
            }
            if self.peek() == Some(b'&') {
                break;
            }
            self.argument(&mut command)?;
        }
        let empty = command.words.is_empty()
            && command.assignments.is_empty()
            && command.redirects.is_empty();
        if empty {
            return self.fail(UnsupportedSyntax::MissingCommand);
        }
        self.judge(&command, start)?;
        self.commands.push(command);
        self.claim();
        Ok(())
    }

    fn argument(&mut self, command: &mut SimpleCommand) -> ParseResult<()> {
        let both = |one: &Redirect| matches!(one.op, RedirectOp::Both | RedirectOp::AppendBoth);
        if command.redirects.iter().any(both) {
            // In dash the `&` ended a command, and the next one starts here.
            return self.fail(UnsupportedSyntax::Unexpected);
        }
        let start = self.at;
        let word = self.word()?;
        let source = &self.text[start..self.at];
        if matches!(self.peek(), Some(b'<' | b'>'))
            && (source.contains("\\\n") || source.starts_with('{'))
        {
            return self.fail(UnsupportedSyntax::BashAssignment);
        }
        if command.words.is_empty() {
            if let Some(assignment) = assignment(&word) {
                command.assignments.push(assignment);
                return Ok(());
            }
            let name = name_prefix(source);
            if !name.is_empty() && source[name.len()..].starts_with('[') {
                return self.fail(UnsupportedSyntax::BashAssignment);
            }
        }
        command.words.push(word);
        Ok(())
    }

    /// Rejects commands that change the meaning of others.
    fn judge(&mut self, command: &SimpleCommand, start: usize) -> ParseResult<()> {
        let Some(first) = command.words.first() else {
            return Ok(());
        };
        let Some(program) = first.literal() else {
            return Ok(());
        };
        if !first.is_quoted() && KEYWORDS.contains(&program) {
            return self.fail(UnsupportedSyntax::Keyword);
        }
        if let Some(what) = programs::hides_code(&command.words, self.references) {
            return self.fail(what);
        }
        if program == "[[" {
            let arithmetic = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"];
            let odd = command.words.iter().any(|word| {
                word.literal()
                    .is_some_and(|text| arithmetic.contains(&text))
            });
            let closed = command.words.last().and_then(ShellWord::literal) == Some("]]");
            if odd || !closed || !command.redirects.is_empty() {
                return self.fail(UnsupportedSyntax::Test);
            }
            self.zones.push((start..self.at, Zone::Test));
        }
        Ok(())
    }

    /// Parses a redirect at the current position, if there is one.
    fn redirect(&mut self, command: &mut SimpleCommand) -> ParseResult<bool> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let rest = &self.rest()[digits..];
        if rest.starts_with("<(") || rest.starts_with(">(") {
            return if digits > 0 {
                self.fail(UnsupportedSyntax::Unexpected)
            } else {
                Ok(false)
            };
        }
        let Some((spelling, op)) = OPERATORS
            .iter()
            .find(|(spelling, _)| rest.starts_with(spelling))
        else {
            return Ok(false);
        };
        if digits > 0 && spelling.starts_with('&') {
            return Ok(false);
        }
        if digits > 1 {
            // A descriptor in bash, and a word in dash.
            return self.fail(UnsupportedSyntax::Unexpected);
        }
        let start = self.at;
        self.at += digits + spelling.len();
        self.blanks();
        let starts = !matches!(
            self.peek(),
            None | Some(b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'#')
        );
        let process = self.rest().starts_with("<(") || self.rest().starts_with(">(");
        if !starts || (matches!(self.peek(), Some(b'<' | b'>')) && !process) {
            return self.fail(UnsupportedSyntax::MissingTarget);
        }
        let target = self.word()?;
        if *op == RedirectOp::HereDocument {
            self.announce(&target, start, *spelling == "<<-", command)?;
        }
        command.redirects.push(Redirect { op: *op, target });
        Ok(true)
    }

    /// Records a heredoc whose text starts after the line.
    fn announce(
        &mut self,
        delimiter: &ShellWord,
        at: usize,
        strips_tabs: bool,
        command: &SimpleCommand,
    ) -> ParseResult<()> {
        self.outside()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let Some(text) = delimiter
            .literal()
            .filter(|text| !text.is_empty() && text.chars().all(plain))
        else {
            return self.fail(UnsupportedSyntax::HereDocument);
        };
        self.pending.push(Pending {
            at,
            delimiter: text.to_owned(),
            expands: !delimiter.is_quoted(),
            strips_tabs,
            command: usize::MAX,
            redirect: command.redirects.len(),
        });
        Ok(())
    }

    /// Assigns the recorded heredocs to their command.
    fn claim(&mut self) {
        let last = self.commands.len() - 1;
        for pending in self.pending.iter_mut().rev() {
            if pending.command != usize::MAX {
                break;
            }
            pending.command = last;
        }
    }

    pub(super) fn no_pending(&self) -> ParseResult<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.fail(UnsupportedSyntax::HereDocument)
    }

    /// Reads the bodies of the heredocs of the line that just ended. Shells disagree about lines that end inside
    /// another construct, so those are rejected.
    fn heredocs(&mut self) -> ParseResult<()> {
        let pending = std::mem::take(&mut self.pending);
        if let Some(first) = pending.first()
            && self.text[first.at..self.at - 1].contains('\n')
        {
            return self.fail(UnsupportedSyntax::HereDocument);
        }
        for heredoc in pending {
            let body = self.heredoc_text(&heredoc)?;
            let slot = self
                .commands
                .get_mut(heredoc.command)
                .and_then(|command| command.redirects.get_mut(heredoc.redirect));
            match slot {
                Some(redirect) => redirect.target = body,
                None => return self.fail(UnsupportedSyntax::HereDocument),
            }
        }
        Ok(())
    }

    fn heredoc_text(&mut self, heredoc: &Pending) -> ParseResult<ShellWord> {
        let start = self.at;
        let mut at = start;
        loop {
            let line = self.text[at..self.end].split('\n').next().unwrap_or("");
            let bare = if heredoc.strips_tabs {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if bare == heredoc.delimiter {
                break;
            }
            let next = at + line.len() + 1;
            let continued = heredoc.expands && line.ends_with('\\');
            if next > self.end || continued || bare.starts_with(&*heredoc.delimiter) {
                return self.fail(UnsupportedSyntax::HereDocument);
            }
            at = next;
        }
        let behind = self.text[at..self.end]
            .find('\n')
            .map_or(self.end, |length| at + length + 1);
        self.zones.push((start..at, Zone::HereDocument));
        let word = if heredoc.expands {
            self.enter()?;
            let end = std::mem::replace(&mut self.end, at);
            let word = self.heredoc_word(heredoc.strips_tabs)?;
            self.end = end;
            self.depth -= 1;
            word
        } else {
            let text = &self.text[start..at];
            ShellWord::text(if heredoc.strips_tabs {
                text.split_inclusive('\n')
                    .map(|line| line.trim_start_matches('\t'))
                    .collect()
            } else {
                text.to_owned()
            })
        };
        self.at = behind;
        Ok(word)
    }

    /// Parses the content of `$(…)` or `<(…)`, from after the opening to after the closing bracket.
    pub(super) fn substitution(&mut self) -> ParseResult<()> {
        self.no_pending()?;
        self.enter()?;
        self.inside += 1;
        self.list()?;
        self.inside -= 1;
        self.depth -= 1;
        self.expect(b')')
    }
}

/// The operators of redirects, longest first.
const OPERATORS: &[(&str, RedirectOp)] = &[
    ("&>>", RedirectOp::AppendBoth),
    ("&>", RedirectOp::Both),
    ("<<<", RedirectOp::HereString),
    ("<<-", RedirectOp::HereDocument),
    ("<<", RedirectOp::HereDocument),
    ("<&", RedirectOp::DuplicateIn),
    ("<>", RedirectOp::ReadWrite),
    ("<", RedirectOp::Read),
    (">>", RedirectOp::Append),
    (">|", RedirectOp::Clobber),
    (">&", RedirectOp::DuplicateOut),
    (">", RedirectOp::Write),
];

fn name_prefix(text: &str) -> &str {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let length = text.bytes().take_while(|byte| fits(*byte)).count();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return "";
    }
    &text[..length]
}

/// Parses `NAME=value` or `NAME+=value`, with an unquoted name.
fn assignment(word: &ShellWord) -> Option<Assignment> {
    let WordPart::Literal {
        text,
        quoted: false,
    } = word.parts.first()?
    else {
        return None;
    };
    let name = name_prefix(text);
    let rest = &text[name.len()..];
    let value = rest.strip_prefix('=').or_else(|| rest.strip_prefix("+="))?;
    if name.is_empty() {
        return None;
    }
    let mut parts = word.parts.clone();
    if value.is_empty() {
        parts.remove(0);
    } else if let Some(WordPart::Literal { text, .. }) = parts.first_mut() {
        *text = value.to_owned();
    }
    Some(Assignment {
        name: name.to_owned(),
        value: ShellWord::from_parts(parts),
    })
}
