//! Words: quotes, escapes, braces and `$IFS` undone.
//!
//! A word is read into *pieces* first, since whether a `{` opens an expansion or a word ends at an `$IFS` is known only once all of it
//! has been seen. `a{1,"$x"}$IFS-s` is `a { 1 , $x } break -s`, which makes the words `a1`, `a$x`, `-s`.

use tree_sitter::Node;

use super::{Lower, children};
use crate::form::{At, Expr};

/// The maximum number of words that one word may become.
const WORDS: usize = 64;
/// Words with more pieces than this keep their braces.
const PIECES: usize = 512;

/// A piece of a word.
#[derive(Clone, Debug)]
pub(super) enum WordPiece {
    Text(String, At),
    /// An unquoted `{`, `,` or `}`.
    Mark(char, At),
    Value(Expr),
    /// An unquoted `$IFS`: the word ends here.
    Break,
}

/// Whether a node is a word or a part of one.
pub(super) fn is_word(kind: &str) -> bool {
    matches!(
        kind,
        "word"
            | "number"
            | "raw_string"
            | "ansi_c_string"
            | "string"
            | "translated_string"
            | "string_expansion"
            | "concatenation"
            | "brace_expression"
            | "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "command_name"
            | "extglob_pattern"
            | "regex"
            | "array"
    )
}

impl<'t> Lower<'t> {
    /// The words of these nodes. Nodes that touch, or are separated only by `\` and a line end, are one word.
    pub(super) fn words(&mut self, nodes: &[Node<'t>]) -> Vec<Expr> {
        let mut words = Vec::with_capacity(nodes.len());
        let mut pieces = Vec::new();
        let mut last_end = None;
        for &node in nodes {
            if last_end.is_some_and(|end| !self.touches(end, node.start_byte())) {
                finish(std::mem::take(&mut pieces), &mut words);
            }
            self.pieces(node, false, &mut pieces);
            last_end = Some(node.end_byte());
        }
        finish(pieces, &mut words);
        words
    }

    /// The value of one node where words aren't split: assignments, paths of redirections.
    pub(super) fn word(&mut self, node: Node<'t>) -> Expr {
        let mut pieces = Vec::new();
        self.pieces(node, false, &mut pieces);
        join(pieces)
    }

    fn touches(&self, end: usize, start: usize) -> bool {
        let gap = self.text.get(end..start).unwrap_or(" ");
        gap.len() <= 64 && gap.replace("\\\r\n", "").replace("\\\n", "").is_empty()
    }

    fn pieces(&mut self, node: Node<'t>, marks: bool, out: &mut Vec<WordPiece>) {
        let at = self.at(node.start_byte());
        let source = self.source(node);
        match node.kind() {
            "raw_string" => out.push(WordPiece::Text(inner(source, "'", '\'').to_owned(), at)),
            "ansi_c_string" => out.push(WordPiece::Text(ansi(inner(source, "$'", '\'')), at)),
            "string" => self.mixed(node, "\\\"$`", out),
            "translated_string" | "string_expansion" => {
                for child in children(node)
                    .into_iter()
                    .filter(|child| child.kind() == "string")
                {
                    self.pieces(child, marks, out);
                }
            }
            "concatenation" | "command_name" => {
                for child in children(node) {
                    self.pieces(child, marks || node.kind() == "concatenation", out);
                }
            }
            "brace_expression" => {
                out.push(WordPiece::Mark('{', at));
                out.push(WordPiece::Text(
                    source.trim_matches(['{', '}']).to_owned(),
                    at,
                ));
                out.push(WordPiece::Mark('}', at));
            }
            "simple_expansion" if source == "$IFS" => out.push(WordPiece::Break),
            "expansion"
                if source.starts_with("${IFS")
                    && !source[5..].starts_with(char::is_alphanumeric) =>
            {
                out.push(WordPiece::Break);
            }
            "``" => {}
            // `$"…"` is a string that could be translated.
            "$" if self.text[node.end_byte()..].starts_with('"') => {}
            _ if node.child_count() == 0 => bare(source, at, marks, out),
            _ => out.push(WordPiece::Value(self.value(node))),
        }
    }

    /// Text in double quotes, or in a here-document: expansions with text between them.
    pub(super) fn mixed(&mut self, node: Node<'t>, escapable: &str, out: &mut Vec<WordPiece>) {
        let source = self.source(node);
        let quoted = node.kind() == "string";
        let (mut from, mut end) = (node.start_byte(), node.end_byte());
        if quoted {
            from += 1;
            end -= usize::from(source.len() > 1 && source.ends_with('"'));
        }
        out.push(WordPiece::Text(String::new(), self.at(node.start_byte())));
        for child in children(node) {
            if !matches!(
                child.kind(),
                "expansion" | "simple_expansion" | "command_substitution" | "arithmetic_expansion"
            ) {
                continue;
            }
            self.stretch(from, child.start_byte(), escapable, quoted, out);
            out.push(WordPiece::Value(self.value(child)));
            from = child.end_byte();
        }
        self.stretch(from, end, escapable, quoted, out);
    }

    /// A stretch of such text. The grammar leaves backticks in here-documents alone, so they are found here.
    fn stretch(
        &mut self,
        from: usize,
        end: usize,
        escapable: &str,
        quoted: bool,
        out: &mut Vec<WordPiece>,
    ) {
        let Some(text) = self.text.get(from..end).filter(|text| !text.is_empty()) else {
            return;
        };
        let ticks: Vec<usize> = if quoted { Vec::new() } else { backticks(text) };
        let mut done = 0;
        for pair in ticks.chunks_exact(2) {
            out.push(WordPiece::Text(
                unescape(&text[done..pair[0]], escapable),
                self.at(from + done),
            ));
            let inner = self.again(from + pair[0] + 1, from + pair[1]);
            let value = super::flow::output(inner, &mut self.before);
            out.push(WordPiece::Value(value));
            done = pair[1] + 1;
        }
        out.push(WordPiece::Text(
            unescape(&text[done..], escapable),
            self.at(from + done),
        ));
    }
}

/// The text between the quotes; the closing one may be missing.
fn inner<'s>(source: &'s str, open: &str, close: char) -> &'s str {
    let rest = source.strip_prefix(open).unwrap_or(source);
    rest.strip_suffix(close).unwrap_or(rest)
}

/// Text outside quotes.
fn bare(source: &str, at: At, marks: bool, out: &mut Vec<WordPiece>) {
    let mut text = String::with_capacity(source.len());
    let mut chars = source.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some('\n') => {}
                Some('\r') if chars.as_str().starts_with('\n') => {
                    chars.next();
                }
                Some(next) => text.push(next),
                None => text.push('\\'),
            },
            '{' | ',' | '}' if marks => {
                if !text.is_empty() {
                    out.push(WordPiece::Text(std::mem::take(&mut text), at));
                }
                out.push(WordPiece::Mark(char, at));
            }
            _ => text.push(char),
        }
    }
    if !text.is_empty() {
        out.push(WordPiece::Text(text, at));
    }
}

/// Undoes backslashes where only some characters can be escaped.
fn unescape(text: &str, escapable: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let rest = chars.as_str();
        if char == '\\' && rest.starts_with('\n') {
            chars.next();
        } else if char == '\\' && rest.starts_with(|next| escapable.contains(next)) {
            out.extend(chars.next());
        } else {
            out.push(char);
        }
    }
    out
}

/// The offsets of backticks that aren't escaped.
fn backticks(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'`', bytes)
        .filter(|&at| at == 0 || bytes[at - 1] != b'\\')
        .collect()
}

/// Undoes the escapes of `$'…'`. Bytes are joined before they are decoded: `\xc3\xa9` is one letter.
fn ansi(text: &str) -> String {
    let mut out: Vec<u8> = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(found) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..found]);
        rest = &rest[found + 1..];
        let Some(char) = rest.chars().next() else {
            out.push(b'\\');
            break;
        };
        let after = &rest[char.len_utf8()..];
        let (width, radix, digits) = match char {
            'x' => (2, 16, after),
            'u' => (4, 16, after),
            'U' => (8, 16, after),
            '0'..='7' => (3, 8, rest),
            _ => {
                match char {
                    'n' => out.push(b'\n'),
                    't' => out.push(b'\t'),
                    'r' => out.push(b'\r'),
                    'a' => out.push(7),
                    'b' => out.push(8),
                    'e' | 'E' => out.push(27),
                    'f' => out.push(12),
                    'v' => out.push(11),
                    'c' => {}
                    _ => out.extend(char.to_string().bytes()),
                }
                rest = after;
                continue;
            }
        };
        let end = digits
            .bytes()
            .take(width)
            .take_while(|byte| char::from(*byte).is_digit(radix))
            .count();
        match u32::from_str_radix(&digits[..end], radix) {
            Ok(code) if char == 'u' || char == 'U' => {
                out.extend(
                    char::from_u32(code)
                        .unwrap_or(char::REPLACEMENT_CHARACTER)
                        .to_string()
                        .bytes(),
                );
            }
            #[expect(
                clippy::cast_possible_truncation,
                reason = "`\\777` wraps in the shell as well"
            )]
            Ok(code) => out.push(code as u8),
            Err(_) => out.extend([b'\\', char as u8]),
        }
        rest = &digits[end..];
    }
    out.extend_from_slice(rest.as_bytes());
    String::from_utf8_lossy(&out).into_owned()
}

/// Braces are expanded, breaks end a word, and the remaining pieces are joined.
fn finish(pieces: Vec<WordPiece>, words: &mut Vec<Expr>) {
    if pieces.is_empty() {
        return;
    }
    for word in expand(pieces) {
        let mut word = word.into_iter().peekable();
        while word.peek().is_some() {
            let part: Vec<WordPiece> = word
                .by_ref()
                .take_while(|piece| !matches!(piece, WordPiece::Break))
                .collect();
            if !part.is_empty() {
                words.push(join(part));
            }
        }
    }
}

/// Adjacent strings become one; several different pieces a `Join`.
pub(super) fn join(pieces: Vec<WordPiece>) -> Expr {
    let mut out: Vec<Expr> = Vec::new();
    for piece in pieces {
        let (text, at) = match piece {
            WordPiece::Text(text, at) => (text, at),
            WordPiece::Mark(char, at) => (char.to_string(), at),
            WordPiece::Break => (" ".to_owned(), 0),
            WordPiece::Value(value) => {
                out.push(value);
                continue;
            }
        };
        match out.last_mut() {
            Some(Expr::Text(before, _)) => before.push_str(&text),
            _ => out.push(Expr::Text(text, at)),
        }
    }
    if out.len() > 1 {
        out.retain(|part| !matches!(part, Expr::Text(text, _) if text.is_empty()));
    }
    match out.len() {
        0 => Expr::Text(String::new(), 0),
        1 => out.swap_remove(0),
        _ => Expr::Join(out),
    }
}

/// Brace expansion, the leftmost group first, as long as there is room.
fn expand(pieces: Vec<WordPiece>) -> Vec<Vec<WordPiece>> {
    if pieces.len() > PIECES
        || !pieces
            .iter()
            .any(|piece| matches!(piece, WordPiece::Mark('{', _)))
    {
        return vec![pieces];
    }
    let mut done = Vec::new();
    let mut todo = vec![pieces];
    while let Some(word) = todo.pop() {
        match group(&word) {
            Some((open, close, alternatives))
                if done.len() + todo.len() + alternatives.len() <= WORDS =>
            {
                for (index, middle) in alternatives.into_iter().enumerate().rev() {
                    let keep = |piece: &&WordPiece| {
                        index == 0
                            || !matches!(piece, WordPiece::Value(value) if !matches!(value, Expr::Name(..)))
                    };
                    let mut next: Vec<WordPiece> =
                        word[..open].iter().filter(keep).cloned().collect();
                    next.extend(middle);
                    next.extend(word[close + 1..].iter().filter(keep).cloned());
                    todo.push(next);
                }
            }
            _ => done.push(word),
        }
    }
    done
}

/// The first group that is an expansion: where it opens and closes, and its alternatives. A call next to the group
/// is kept in the first alternative only: nested groups would multiply it otherwise.
fn group(word: &[WordPiece]) -> Option<(usize, usize, Vec<Vec<WordPiece>>)> {
    for (open, _) in word
        .iter()
        .enumerate()
        .filter(|(_, piece)| matches!(piece, WordPiece::Mark('{', _)))
    {
        let mut alternatives = vec![Vec::new()];
        let mut depth = 0;
        for (index, piece) in word.iter().enumerate().skip(open + 1) {
            match piece {
                WordPiece::Mark('}', _) if depth == 0 => {
                    if let Some(range) = range(&alternatives) {
                        return Some((open, index, range));
                    }
                    if alternatives.len() > 1 {
                        return Some((open, index, alternatives));
                    }
                    break;
                }
                WordPiece::Mark(',', _) if depth == 0 => {
                    alternatives.push(Vec::new());
                    continue;
                }
                WordPiece::Mark('{', _) => depth += 1,
                WordPiece::Mark('}', _) => depth -= 1,
                _ => {}
            }
            if let Some(last) = alternatives.last_mut() {
                last.push(piece.clone());
            }
        }
    }
    None
}

/// `{1..3}` and `{a..c}`.
fn range(alternatives: &[Vec<WordPiece>]) -> Option<Vec<Vec<WordPiece>>> {
    let [only] = alternatives else { return None };
    let [WordPiece::Text(text, at)] = only.as_slice() else {
        return None;
    };
    let (from, to) = text.split_once("..")?;
    let code = |end: &str| end.parse::<i64>().ok();
    let letter = |end: &str| {
        end.chars()
            .next()
            .filter(|char| end.len() == 1 && char.is_ascii_alphabetic())
            .map(|char| i64::from(u32::from(char)))
    };
    let (from, to, letters) = match (code(from), code(to)) {
        (Some(from), Some(to)) => (from, to, false),
        _ => (letter(from)?, letter(to)?, true),
    };
    if from.abs_diff(to) >= WORDS as u64 {
        return None;
    }
    let word = |number: i64| match u8::try_from(number) {
        Ok(byte) if letters => char::from(byte).to_string(),
        _ => number.to_string(),
    };
    let mut words: Vec<Vec<WordPiece>> = (from.min(to)..=from.max(to))
        .map(|number| vec![WordPiece::Text(word(number), *at)])
        .collect();
    if from > to {
        words.reverse();
    }
    Some(words)
}
