//! Words: quotes, escapes and everything that a shell expands.

use super::parser::{ParseResult, ShellParser};
use super::{ShellLine, ShellWord, UnsupportedSyntax, WordPart, Zone};

impl ShellWord {
    pub(super) fn from_parts(parts: Vec<WordPart>) -> Self {
        let literal = parts.iter().try_fold(String::new(), |mut all, part| {
            let WordPart::Literal { text, .. } = part else {
                return None;
            };
            all.push_str(text);
            Some(all)
        });
        Self { literal, parts }
    }

    /// Replaces parameters whose values are known by quoted text.
    pub(crate) fn fill(&mut self, value: impl Fn(&str) -> Option<String>) {
        for part in &mut self.parts {
            let WordPart::Parameter {
                name, plain: true, ..
            } = part
            else {
                continue;
            };
            if let Some(text) = value(name) {
                *part = WordPart::Literal { text, quoted: true };
            }
        }
        *self = Self::from_parts(std::mem::take(&mut self.parts));
    }

    /// Replaces `$'…'` by its text.
    fn decode(&mut self) {
        for part in &mut self.parts {
            if let WordPart::Dollar(text) = part {
                let text = std::mem::take(text);
                *part = WordPart::Literal { text, quoted: true };
            }
        }
        *self = Self::from_parts(std::mem::take(&mut self.parts));
    }

    pub(super) fn dynamic(part: WordPart) -> Self {
        Self::from_parts(vec![part])
    }

    pub(super) fn text(text: String) -> Self {
        Self::from_parts(vec![WordPart::Literal { text, quoted: true }])
    }
}

impl ShellLine {
    /// The same line with the text of each `$'…'`. A shell that does not support them reads another word, so this is for denials only.
    pub(super) fn decoded(&self) -> Self {
        let mut line = self.clone();
        for simple in &mut line.commands {
            let values = simple.assignments.iter_mut().map(|set| &mut set.value);
            let targets = simple
                .redirects
                .iter_mut()
                .map(|redirect| &mut redirect.target);
            let words = simple.words.iter_mut().chain(values).chain(targets);
            words.for_each(ShellWord::decode);
        }
        line
    }
}

/// A word under construction: adjacent text of one kind becomes one part.
#[derive(Default)]
struct WordBuilder {
    parts: Vec<WordPart>,
    /// Whether an unquoted `{` was seen.
    brace: bool,
}

impl WordBuilder {
    fn push(&mut self, more: &str, is_quoted: bool) {
        if let Some(WordPart::Literal { text, quoted }) = self.parts.last_mut()
            && *quoted == is_quoted
        {
            text.push_str(more);
            return;
        }
        self.parts.push(WordPart::Literal {
            text: more.to_owned(),
            quoted: is_quoted,
        });
    }

    fn finish(mut self) -> ShellWord {
        // `[` and `[[` are programs, not patterns, when they are a whole word.
        if self.parts.iter().all(|part| *part == WordPart::Glob('[')) && self.parts.len() <= 2 {
            let text = "[".repeat(self.parts.len());
            self.parts = vec![WordPart::Literal {
                text,
                quoted: false,
            }];
        }
        ShellWord::from_parts(self.parts)
    }
}

impl ShellParser<'_> {
    /// A word, which must not be empty.
    pub(super) fn word(&mut self) -> ParseResult<ShellWord> {
        let start = self.at;
        let mut word = WordBuilder::default();
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    self.substitution()?;
                    word.parts.push(WordPart::Process);
                }
                b'<' | b'>' => break,
                b'(' => return self.fail(UnsupportedSyntax::Parenthesis),
                b'\'' => self.single(&mut word)?,
                b'"' => self.double(&mut word)?,
                b'\\' => self.escape(&mut word)?,
                b'$' => self.dollar(&mut word, false)?,
                b'`' => {
                    self.backticks(false)?;
                    word.parts.push(WordPart::Command { quoted: false });
                }
                _ => self.bare(&mut word, start)?,
            }
        }
        if self.at == start {
            return self.fail(UnsupportedSyntax::Unexpected);
        }
        Ok(word.finish())
    }

    /// Reads one unquoted character.
    fn bare(&mut self, word: &mut WordBuilder, start: usize) -> ParseResult<()> {
        let rest = self.rest();
        let Some(char) = rest.chars().next() else {
            return self.fail(UnsupportedSyntax::Unterminated);
        };
        match char {
            '*' | '?' | '[' => word.parts.push(WordPart::Glob(char)),
            '~' if self.at == start || !self.inside_text() => word.parts.push(WordPart::Tilde),
            '!' if !ends_word(self.peek_at(1)) && self.peek_at(1) != Some(b'=') => {
                return self.fail(UnsupportedSyntax::History);
            }
            ',' if word.brace => word.parts.push(WordPart::Brace),
            '.' if word.brace && rest.starts_with("..") => word.parts.push(WordPart::Brace),
            char if !char.is_ascii() && is_blank(char) => {
                return self.fail(UnsupportedSyntax::Character);
            }
            char => {
                word.brace |= char == '{';
                word.push(&rest[..char.len_utf8()], false);
            }
        }
        self.at += char.len_utf8();
        Ok(())
    }

    /// Whether the byte before is text, so that a `~` is literal: `HEAD~1`, `file~`.
    fn inside_text(&self) -> bool {
        let before = self.text.as_bytes().get(self.at.wrapping_sub(1));
        before.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"/._-@^~".contains(byte))
    }

    fn single(&mut self, word: &mut WordBuilder) -> ParseResult<()> {
        let start = self.at;
        let Some(length) = self.rest()[1..].find('\'') else {
            return self.fail(UnsupportedSyntax::Unterminated);
        };
        word.push(&self.text[start + 1..start + 1 + length], true);
        self.at += length + 2;
        self.zones.push((start..self.at, Zone::SingleQuotes));
        Ok(())
    }

    fn escape(&mut self, word: &mut WordBuilder) -> ParseResult<()> {
        let rest = self.rest();
        let Some(char) = rest[1..].chars().next() else {
            return self.fail(UnsupportedSyntax::Unterminated);
        };
        if char != '\n' {
            word.push(&rest[1..1 + char.len_utf8()], true);
        }
        self.at += 1 + char.len_utf8();
        Ok(())
    }

    fn double(&mut self, word: &mut WordBuilder) -> ParseResult<()> {
        self.at += 1;
        word.push("", true);
        loop {
            match self.peek() {
                None => return self.fail(UnsupportedSyntax::Unterminated),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(_) => self.soft(word, b"$`\"\\\n", b"\"$`\\")?,
            }
        }
    }

    /// A heredoc that expands, up to its end.
    pub(super) fn heredoc_word(&mut self, strips_tabs: bool) -> ParseResult<ShellWord> {
        let mut word = WordBuilder::default();
        word.push("", true);
        let start = self.at;
        while self.at < self.end {
            let line_start = self.at == start || self.text[..self.at].ends_with('\n');
            if strips_tabs && line_start && self.peek() == Some(b'\t') {
                let tabs = self.rest().bytes().take_while(|byte| *byte == b'\t');
                self.at += tabs.count();
                continue;
            }
            self.soft(&mut word, b"$`\\\n", b"$`\\\n")?;
        }
        Ok(word.finish())
    }

    /// Text in double quotes or a heredoc, or one expansion in it. `escapable` can follow a backslash that is then
    /// removed, `special` ends the text.
    fn soft(
        &mut self,
        word: &mut WordBuilder,
        escapable: &[u8],
        special: &[u8],
    ) -> ParseResult<()> {
        match self.peek() {
            Some(b'$') => self.dollar(word, true),
            Some(b'`') => {
                self.backticks(true)?;
                word.parts.push(WordPart::Command { quoted: true });
                Ok(())
            }
            Some(b'\\') => match self.peek_at(1) {
                None => self.fail(UnsupportedSyntax::Unterminated),
                Some(b'\n') => {
                    self.at += 2;
                    Ok(())
                }
                Some(next) if escapable.contains(&next) => self.escape(word),
                Some(_) => {
                    word.push("\\", true);
                    self.at += 1;
                    Ok(())
                }
            },
            _ => {
                let rest = self.rest();
                let run = if rest.starts_with('\n') {
                    1
                } else {
                    rest.bytes()
                        .position(|byte| special.contains(&byte))
                        .unwrap_or(rest.len())
                };
                word.push(&rest[..run], true);
                self.at += run;
                Ok(())
            }
        }
    }

    fn dollar(&mut self, word: &mut WordBuilder, quoted: bool) -> ParseResult<()> {
        match self.peek_at(1) {
            Some(b'(') if self.peek_at(2) == Some(b'(') => {
                let part = self.arithmetic()?;
                word.parts.push(part);
            }
            Some(b'(') => {
                self.at += 2;
                self.substitution()?;
                word.parts.push(WordPart::Command { quoted });
            }
            Some(b'{') => {
                let (name, plain) = self.expansion(quoted)?;
                word.parts.push(WordPart::Parameter {
                    name,
                    quoted,
                    plain,
                });
            }
            Some(b'[') => return self.fail(UnsupportedSyntax::Arithmetic),
            Some(b'\'') if !quoted => {
                let text = self.dollar_quotes()?;
                word.parts.push(WordPart::Dollar(unescaped(text)));
            }
            Some(b'"') if !quoted => {
                self.at += 1;
                word.parts.push(WordPart::Dollar(String::new()));
            }
            Some(b'\\') if self.peek_at(2) == Some(b'\n') => {
                return self.fail(UnsupportedSyntax::Backslash);
            }
            Some(byte) if !byte.is_ascii() => return self.fail(UnsupportedSyntax::Character),
            Some(byte) if is_special(byte) => {
                self.at += 2;
                let name = char::from(byte).to_string();
                word.parts.push(WordPart::Parameter {
                    name,
                    quoted,
                    plain: true,
                });
            }
            _ => {
                self.at += 1;
                let name = self.name();
                if name.is_empty() {
                    word.push("$", quoted);
                } else {
                    self.at += name.len();
                    word.parts.push(WordPart::Parameter {
                        name: name.to_owned(),
                        quoted,
                        plain: true,
                    });
                }
            }
        }
        Ok(())
    }

    /// The text of `$'…'`. A shell that does not support it treats an escaped quote in it as its end.
    fn dollar_quotes(&mut self) -> ParseResult<&str> {
        let start = self.at;
        let Some(length) = self.rest()[2..].find('\'') else {
            return self.fail(UnsupportedSyntax::Unterminated);
        };
        let text = &self.rest()[2..2 + length];
        if text.ends_with('\\') {
            return self.fail(UnsupportedSyntax::Backslash);
        }
        self.at += length + 3;
        self.zones.push((start..self.at, Zone::DollarQuotes));
        Ok(text)
    }

    /// `$((…))` with numbers only: the value of a name is evaluated as an expression again, and can run commands. For denials, a name is
    /// a value that is known only at run time.
    fn arithmetic(&mut self) -> ParseResult<WordPart> {
        let mut open = 0_usize;
        let mut part = WordPart::Arithmetic;
        self.at += "$((".len();
        while let Some(byte) = self.peek() {
            match byte {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' if self.peek_at(1) == Some(b')') => {
                    self.at += 2;
                    return Ok(part);
                }
                b'0'..=b'9' | b' ' | b'\t' => {}
                b'$' if self.peek_at(1).is_none_or(|next| !is_name(next)) => {
                    return self.fail(UnsupportedSyntax::Arithmetic);
                }
                b'$' | b'_' | b'a'..=b'z' | b'A'..=b'Z' if self.reads_names => {
                    part = WordPart::Parameter {
                        name: String::new(),
                        quoted: true,
                        plain: false,
                    };
                }
                byte if b"+-*/%<>=!&|^~?:,".contains(&byte) => {}
                _ => return self.fail(UnsupportedSyntax::Arithmetic),
            }
            self.at += 1;
        }
        self.fail(UnsupportedSyntax::Unterminated)
    }

    /// `${…}`: the name, and whether it has no operator.
    fn expansion(&mut self, quoted: bool) -> ParseResult<(String, bool)> {
        let start = self.at;
        self.at += 2;
        let length_of = self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}');
        self.at += usize::from(length_of);
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let mut name = self.name();
        if name.is_empty() {
            name = &self.rest()[..digits];
        }
        if name.is_empty() && self.peek().is_some_and(is_special) {
            name = &self.rest()[..1];
        }
        self.at += name.len();
        let name = name.to_owned();
        if name.is_empty() {
            return self.fail(UnsupportedSyntax::Expansion);
        }
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok((name, !length_of));
        }
        let rest = self.rest().as_bytes();
        self.at += match rest {
            [b':', b'-' | b'?' | b'+', ..] | [b'#', b'#', ..] | [b'%', b'%', ..] => 2,
            [b'-' | b'?' | b'+' | b'#' | b'%', ..] => 1,
            _ => return self.fail(UnsupportedSyntax::Expansion),
        };
        if length_of || matches!(name.as_str(), "#" | "!" | "?" | "-" | "$") {
            return self.fail(UnsupportedSyntax::Expansion);
        }
        self.enter()?;
        self.alternative(quoted)?;
        self.depth -= 1;
        self.zones.push((start..self.at, Zone::Expansion));
        Ok((name, false))
    }

    /// The word after `:-` and similar, through the closing brace. Shells interpret quotes inside quotes differently.
    fn alternative(&mut self, quoted: bool) -> ParseResult<()> {
        let mut ignored = WordBuilder::default();
        loop {
            match self.peek() {
                None => return self.fail(UnsupportedSyntax::Unterminated),
                Some(b'}') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'{' | b'<' | b'>' | b'(' | b')' | b'\n') => {
                    return self.fail(UnsupportedSyntax::Expansion);
                }
                Some(b'\'' | b'"') if quoted => return self.fail(UnsupportedSyntax::Expansion),
                Some(b'\'') => self.single(&mut ignored)?,
                Some(b'"') => self.double(&mut ignored)?,
                Some(b'\\') => return self.fail(UnsupportedSyntax::Backslash),
                Some(b'$') => self.dollar(&mut ignored, quoted)?,
                Some(b'`') => self.backticks(quoted)?,
                Some(_) => {
                    let char = self.rest().chars().next().map_or(1, char::len_utf8);
                    self.at += char;
                }
            }
        }
    }

    /// Backticks: their text, with one level of backslashes removed, is a separate command line.
    fn backticks(&mut self, quoted: bool) -> ParseResult<()> {
        self.no_pending()?;
        let start = self.at;
        let mut text = String::new();
        self.at += 1;
        loop {
            let rest = self.rest();
            let Some(length) = rest.find(['`', '\\']) else {
                return self.fail(UnsupportedSyntax::Unterminated);
            };
            text.push_str(&rest[..length]);
            self.at += length + 1;
            if rest.as_bytes()[length] == b'`' {
                break;
            }
            match self.peek() {
                Some(b'"') if quoted => return self.fail(UnsupportedSyntax::Backslash),
                Some(byte @ (b'$' | b'`' | b'\\')) => {
                    text.push(char::from(byte));
                    self.at += 1;
                }
                _ => text.push('\\'),
            }
        }
        self.zones.push((start..self.at, Zone::Backticks));
        self.enter()?;
        let mut inner = ShellParser::new(&text, self.depth, Some(self.place.unwrap_or(start)));
        inner.references = self.references;
        inner.reads_names = self.reads_names;
        inner.commands = std::mem::take(&mut self.commands);
        inner.whole()?;
        self.commands = inner.commands;
        self.depth -= 1;
        Ok(())
    }
}

/// The text with escapes such as `\n`, `\x41` and `\101` replaced, as in `$'…'`, `echo -e` and `printf`.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut letters = after.chars();
        let letter = letters.next();
        let (digits, radix, most) = match letter {
            Some('x') => (letters.as_str(), 16, 2),
            Some('u') => (letters.as_str(), 16, 4),
            Some('U') => (letters.as_str(), 16, 8),
            Some('0') => (letters.as_str(), 8, 3),
            _ => (after, 8, 3),
        };
        let given = digits.chars().take(most);
        let count = given.take_while(|digit| digit.is_digit(radix)).count();
        let number = u32::from_str_radix(&digits[..count], radix).ok();
        match (number.and_then(char::from_u32), letter) {
            (Some(other), _) => {
                plain.push(other);
                rest = &digits[count..];
                continue;
            }
            (None, Some('n' | 'r' | 'f' | 'v')) => plain.push('\n'),
            (None, Some('t')) => plain.push('\t'),
            (None, other) => plain.extend(other),
        }
        rest = letters.as_str();
    }
    plain + rest
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_special(byte: u8) -> bool {
    byte.is_ascii_digit() || b"@*#?-$!".contains(&byte)
}

fn ends_word(byte: Option<u8>) -> bool {
    byte.is_none_or(|byte| b" \t\n;&|()<>".contains(&byte))
}

/// Whether a character looks like a space, or is invisible.
fn is_blank(char: char) -> bool {
    char.is_whitespace()
        || matches!(char, '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{ffa0}')
}
