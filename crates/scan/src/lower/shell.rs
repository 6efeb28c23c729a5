//! Shell (POSIX sh, bash, most of zsh) into the common form.
//!
//! A script is data flow in a terse notation, so the lowering is about *words*: the value of a word after
//! quotes, escapes, braces and `$IFS` are undone, because each of them is used to write `curl` so that no pattern finds it.
//! The tree comes from tree-sitter, which continues after mistakes; the parts that it can't parse are walked as well.
//!
//! ```text
//! c""url -s "$URL" | sudo bash
//!   Call sudo [Call bash []]  input: Call curl ["-s", Name URL]
//! ```
//!
//! `metier_model::shell` parses command lines too, for permissions. It refuses uncertain lines, and a scanner can't: a script that is
//! refused is a script that was not scanned. On what both accept, `differential_tests` compares them.
//!
//! Scripts are hostile. Three limits apply, and none of them hides anything: code nested deeper than [`DEPTH`] is
//! lowered as separate statements; a text that makes the parser read the same bytes again and again is cut into
//! lines; and the rest after the parser has used [`STEPS`] for the whole text, or above [`LIMIT`], is not read, which
//! `cut` reports.

mod calls;
mod commands;
mod control;
#[cfg(test)]
mod differential_tests;
mod expansions;
mod flow;
mod repair;
#[cfg(test)]
mod tests;
mod words;

use std::{cell::Cell, ops::ControlFlow};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use crate::form::{At, Expr, LoweredProgram, Stmt};

pub(super) use flow::{feed, output};

/// Texts above this many bytes are not read; scripts that people write have a tenth of that.
pub(super) const LIMIT: usize = 256 << 10;
/// How deep statements and substitutions may nest before they are lowered separately.
const DEPTH: usize = 120;
/// How often a text inside a text (backticks in a here-document) is parsed again.
const LEVELS: usize = 4;
/// The size of one read of the parser; small, so that repeated reads are detected.
const CHUNK: usize = 128;
/// Above this many bytes, one syntax error is enough to continue in paragraphs: recovering from many takes quadratic time.
const LARGE: usize = 2 << 10;
/// Above this many bytes, texts are read in paragraphs from the start: the parser does not always report that it is lost.
const WHOLE: usize = 64 << 10;
/// The additional cost of a mistake, however short the text.
const MISTAKE: usize = 2_000;
/// The largest paragraph, and the largest line, that are parsed as a whole when the text can't be.
const PARAGRAPH: usize = 2 << 10;
const LINE: usize = 1 << 10;
/// The parser also needs time quadratic in a pipeline's length; this many pipes are fine in a whole text, a
/// tenth of them in a paragraph.
const PIPES: usize = 4_000;
/// This many are fine together with a mistake; with more, a text must not contain one.
const FEW_PIPES: usize = 12;
/// A text gets this many steps of the parser, and one more for this many bytes; scripts need one for 25.
const STEPS: usize = 2_000;
const BYTES_A_STEP: usize = 10;

/// How much work the scripts of one skill may cause: one that is hard to parse is parsed, a thousand are not.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Steps of the parser; each is a hundred internal ones, about 25 µs where it is lost.
    steps: Cell<usize>,
    /// The budget for recovering from mistakes: for a text with one, the square of its length in KiB, which is up to 60 ms. After that,
    /// nothing more is read.
    mistakes: Cell<usize>,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            steps: Cell::new(100_000),
            mistakes: Cell::new(24 << 20),
        }
    }
}

/// Lowers a shell script. Never fails: see [`LoweredProgram::broken`].
#[must_use]
pub(crate) fn shell(text: &str, patience: &Patience) -> LoweredProgram {
    if text.len() > LIMIT {
        return LoweredProgram {
            body: Vec::new(),
            broken: Some(0),
            cut: true,
            ..LoweredProgram::default()
        };
    }
    let clean = repair::prompts(text);
    let mut program = LoweredProgram::default();
    let all = patience.steps.get();
    let own = all.min(STEPS + text.len() / BYTES_A_STEP);
    patience.steps.set(own);
    piece(&clean, 0, 0, patience, &mut program);
    patience.steps.set(all - (own - patience.steps.get()));
    program
}

/// Lowers one text that begins at `base`. A text that is too complex for the parser is split into paragraphs, and such a paragraph
/// into lines.
fn piece(text: &str, base: usize, level: usize, left: &Patience, program: &mut LoweredProgram) {
    if lowered(text, PIPES, base, level, left, program) {
        return;
    }
    program.broken = Some(
        program
            .broken
            .map_or(position(base), |at| at.min(position(base))),
    );
    let mut start = base;
    for paragraph in cuts(text, PARAGRAPH) {
        if !lowered(paragraph, PIPES / 10, start, level, left, program) {
            let mut start = start;
            for line in paragraph
                .split_inclusive('\n')
                .flat_map(|line| cuts(line, LINE))
            {
                program.cut |= !lowered(line, LINE, start, level, left, program);
                start += line.len();
            }
        }
        start += paragraph.len();
    }
}

/// Parts of at most `size` bytes, cut after an empty line if there is one, after a line if not.
fn cuts(text: &str, size: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let window = &rest[..rest.floor_char_boundary(size)];
        let end = match (
            window.len() < rest.len(),
            window.rfind("\n\n"),
            window.rfind('\n'),
        ) {
            (false, ..) | (true, None, None) => window.len(),
            (true, Some(empty), _) => empty + 2,
            (true, None, Some(line)) => line + 1,
        };
        let (part, after) = rest.split_at(end);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Lowers a text as a whole; returns whether it could. Repairs once what tree-sitter's grammar does not know.
fn lowered(
    text: &str,
    pipes: usize,
    base: usize,
    level: usize,
    left: &Patience,
    program: &mut LoweredProgram,
) -> bool {
    let count = lone_pipes(text.as_bytes()).count();
    if count > pipes {
        return false;
    }
    let wary = text.len() > LARGE;
    let many = count > FEW_PIPES && bare_pipes(text) > FEW_PIPES;
    if text.len() > WHOLE || (many && !whole_without_pipes(text, wary, left)) {
        return false;
    }
    let Some(tree) = parse(&plain(text), wary, left) else {
        return false;
    };
    if let Some(better) = repair::repaired(text, &tree)
        && let Some(tree) = parse(&plain(&better), wary, left)
    {
        walk(&better, &tree, base, level, left, program);
    } else {
        walk(text, &tree, base, level, left, program);
    }
    true
}

fn walk(
    text: &str,
    tree: &Tree,
    base: usize,
    level: usize,
    left: &Patience,
    program: &mut LoweredProgram,
) {
    let root = tree.root_node();
    let mut lower = Lower {
        text,
        base,
        level,
        left,
        depth: 0,
        before: Vec::new(),
        later: Vec::new(),
        broken: None,
        descriptors: Vec::new(),
    };
    lower.broken = repair::first_error(root).map(|byte| lower.at(byte));
    lower.statements(root, &mut program.body);
    while let Some(node) = lower.later.pop() {
        lower.depth = 0;
        lower.statement(node, &mut program.body);
    }
    program.body.append(&mut lower.before);
    program.broken = match (program.broken, lower.broken) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
}

/// The tree, or nothing if the parser did far more work than the text's length explains. No clock: the work is counted
/// in chunks read and in the parser's own steps, so that the answer is the same everywhere.
/// Scripts need up to 3 reads a chunk.
fn parse(bytes: &[u8], wary: bool, left: &Patience) -> Option<Tree> {
    let chunks = 500 + bytes.len() / CHUNK * 16;
    let steps = (500 + bytes.len() / (2 * BYTES_A_STEP)).min(left.steps.get());
    if steps == 0 || left.mistakes.get() == 0 {
        return None;
    }
    let read = Cell::new(0_usize);
    let mut taken = 0;
    // The parser must get all bytes it asks for: if the text ended within a character, it would read from address 0.
    let mut give = |offset: usize, _| {
        read.set(read.get() + 1);
        bytes
            .get(offset..(offset + CHUNK).min(bytes.len()))
            .unwrap_or_default()
    };
    let mut watch = |state: &ParseState| {
        taken += 1;
        if taken > steps || read.get() > chunks || (wary && state.has_error()) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut watch);
    // A new parser each time: setting one up takes 0.3 µs, parsing ten lines 40.
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .ok()?;
    let tree = parser.parse_with_options(&mut give, None, Some(options));
    left.steps.set(left.steps.get().saturating_sub(taken));
    if tree
        .as_ref()
        .is_none_or(|tree| tree.root_node().has_error())
    {
        let length = bytes.len().min(LARGE);
        let spent = MISTAKE + length * length;
        left.mistakes.set(left.mistakes.get().saturating_sub(spent));
    }
    tree.filter(|_| read.get() <= chunks)
}

/// Whether a text with many pipes has no syntax error, judged by the same text with `&&` in place of each pipe. An error
/// among thirty pipes (a backtick that nothing closes, a substitution that ends with one) takes the parser a second, among
/// sixty it never ends, inside a single one of its steps, where it cannot be stopped; `&&` never does.
fn whole_without_pipes(text: &str, wary: bool, left: &Patience) -> bool {
    let bytes = plain(text);
    let mut other = Vec::with_capacity(bytes.len() + bytes.len() / 8);
    let mut from = 0;
    for at in lone_pipes(&bytes) {
        other.extend_from_slice(&bytes[from..at]);
        from = at + 1 + usize::from(bytes.get(at + 1) == Some(&b'&'));
        other.extend_from_slice(if ends_pattern(&bytes[from..]) {
            b"_"
        } else {
            b"&&"
        });
    }
    other.extend_from_slice(&bytes[from..]);
    parse(&other, wary, left).is_some_and(|tree| !tree.root_node().has_error())
}

/// Whether `b) …` follows, as in `case x in a | b) …`: not a pipe, but the second of two patterns.
fn ends_pattern(after: &[u8]) -> bool {
    let word = after.trim_ascii_start();
    word.iter()
        .position(|byte| b" \t\n;&|()`<>".contains(byte))
        .is_some_and(|end| end > 0 && word[end] == b')')
}

/// The offsets of each `|` that is not part of `||`.
fn lone_pipes(bytes: &[u8]) -> impl Iterator<Item = usize> {
    memchr::memchr_iter(b'|', bytes)
        .filter(|&at| bytes.get(at + 1) != Some(&b'|') && (at == 0 || bytes[at - 1] != b'|'))
}

/// How many pipes are outside quotes that open and close in one line: `grep -E "a|b|c"` has none.
fn bare_pipes(text: &str) -> usize {
    let in_line = |line: &str| {
        let (mut quote, mut bare, mut quoted) = (None, 0, 0);
        for byte in line.bytes() {
            match (quote, byte) {
                (None, b'\'' | b'"') => quote = Some(byte),
                (Some(open), byte) if open == byte => (quote, quoted) = (None, 0),
                (None, b'|') => bare += 1,
                (Some(_), b'|') => quoted += 1,
                _ => {}
            }
        }
        bare + quoted
    };
    text.lines().map(in_line).sum()
}

/// The text for the parser. The grammar's scanner looks characters up in tables of the C library that end at 255, and reads
/// beyond them; so other characters are spelt as a dot and letters, which are parts of words as well. The original is
/// taken from the text.
fn plain(text: &str) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
    text.bytes()
        .map(|byte| match byte {
            0..=0x7f => byte,
            0x80..=0xbf => LETTERS[usize::from(byte & 63)],
            0xc0.. => b'.',
        })
        .collect()
}

fn position(byte: usize) -> At {
    At::try_from(byte).unwrap_or(At::MAX)
}

/// The walk over one tree.
struct Lower<'t> {
    text: &'t str,
    /// The offset of `text` in the original text.
    base: usize,
    level: usize,
    /// The steps that are left for the parser.
    left: &'t Patience,
    depth: usize,
    /// Statements inside an expression (`$(x=1; …)`), which must precede it.
    before: Vec<Stmt>,
    /// Parts that were nested too deep.
    later: Vec<Node<'t>>,
    broken: Option<At>,
    /// Connections that are kept open: `exec 5<>/dev/tcp/host/port`.
    descriptors: Vec<(&'t str, Expr)>,
}

impl<'t> Lower<'t> {
    fn at(&self, byte: usize) -> At {
        position(self.base + byte)
    }

    fn source(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    /// One level deeper, if the limit allows it; otherwise the node is lowered later.
    fn enter(&mut self, node: Node<'t>) -> bool {
        if self.depth < DEPTH {
            self.depth += 1;
            return true;
        }
        self.later.push(node);
        let at = self.at(node.start_byte());
        self.broken = Some(self.broken.map_or(at, |first| first.min(at)));
        false
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Lowers a part of the text again, as a separate script.
    fn again(&mut self, start: usize, end: usize) -> Vec<Stmt> {
        let mut program = LoweredProgram::default();
        if self.level < LEVELS
            && let Some(text) = self.text.get(start..end)
        {
            piece(
                text,
                self.base + start,
                self.level + 1,
                self.left,
                &mut program,
            );
        }
        program.body
    }
}

/// A node's children, including tokens.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}
