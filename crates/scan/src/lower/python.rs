//! Python, parsed with `ruff` and lowered to the common form.
//!
//! The parser continues after an error, so a broken file is lowered up to what was understood. It grows its own stack, but its tree
//! is dropped by plain recursion: the tokens limit how deep the tree can be, and a deep one is handled on a larger stack.
//!
//! ```text
//! from os import system as s; s("id")   →   do os.system("id");
//! ```

mod call;
mod expr;
mod imports;
mod stmt;

#[cfg(test)]
mod tests;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{ModModule, Stmt};
use ruff_python_parser::{Mode, ParseOptions, Parsed, parse_unchecked};

use super::frame::LoweringFrame;
use super::stack::with_stack;
use crate::form::{At, LoweredProgram};

/// The stack for dropping one level of the tree; measured at 160 without optimisation.
const STACK_PER_LEVEL: usize = 256;
/// The maximum number of open braces; nested f-strings take the parser quadratic time.
const MOST_BRACES: usize = 1000;
/// Round and square brackets likewise; each takes the parser 2 KiB of stack.
const MOST_BRACKETS: usize = 5000;

/// Consecutive signs and words that each begin the same rule again: `not not not x`.
const MOST_IN_A_ROW: usize = 2000;
/// Conditional expressions, lambdas and powers of a whole text: each may be nested in the previous one.
const MOST_IN_ALL: usize = 20_000;

/// Lowers a Python text.
#[must_use]
pub(crate) fn python(text: &str) -> LoweredProgram {
    let text = text.get(..u32::MAX as usize).unwrap_or(text);
    if let Some(at) = too_deep(text, b'{', b'}', MOST_BRACES)
        .or_else(|| too_deep(text, b'(', b')', MOST_BRACKETS))
        .or_else(|| too_deep(text, b'[', b']', MOST_BRACKETS))
        .or_else(|| too_many(text))
    {
        return LoweredProgram {
            body: Vec::new(),
            broken: Some(at),
            cut: true,
            ..LoweredProgram::default()
        };
    }
    let options = ParseOptions::from(Mode::Module);
    let Some(parsed) = parse_unchecked(text, options).try_into_module() else {
        return LoweredProgram {
            body: Vec::new(),
            broken: Some(0),
            cut: true,
            ..LoweredProgram::default()
        };
    };
    let needed = depth(&parsed) * STACK_PER_LEVEL;
    with_stack(needed, parsed, |parsed| lower(&parsed)).unwrap_or(LoweredProgram {
        body: Vec::new(),
        broken: Some(0),
        cut: true,
        ..LoweredProgram::default()
    })
}

fn lower(parsed: &Parsed<ModModule>) -> LoweredProgram {
    let mut python = Python {
        frame: LoweringFrame::new(),
        stars: Vec::new(),
    };
    if let Some(error) = parsed
        .errors()
        .iter()
        .map(|error| error.location.start().to_u32())
        .min()
    {
        python.frame.leave_out(error);
    }
    let body: &[Stmt] = parsed.suite();
    python.hoist(body);
    python.body(body);
    LoweredProgram {
        body: std::mem::take(&mut python.frame.out),
        broken: python.frame.broken,
        ..LoweredProgram::default()
    }
}

/// The lowering of one text.
struct Python {
    frame: LoweringFrame,
    /// Modules of `from … import *`.
    stars: Vec<String>,
}

/// Where a text opens more brackets than a person would, counted without regard to strings: f-strings nest in them.
fn too_deep(text: &str, opening: u8, closing: u8, most: usize) -> Option<At> {
    let mut open = 0_usize;
    for at in memchr::memchr2_iter(opening, closing, text.as_bytes()) {
        if text.as_bytes().get(at) == Some(&opening) {
            open += 1;
            if open > most {
                return u32::try_from(at).ok();
            }
        } else {
            open = open.saturating_sub(1);
        }
    }
    None
}

/// Where a text has more operators that nest to the right than a person would write; the parser takes 2 KiB of stack for each. Strings
/// are counted too: no real string contains two thousand `not` either.
fn too_many(text: &str) -> Option<At> {
    let bytes = text.as_bytes();
    if bytes.len() < MOST_IN_A_ROW {
        return None;
    }
    let (mut row, mut all, mut at) = (0_usize, 0_usize, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'+' | b'-' | b'~' | b':' => row += 1,
            b'*' if bytes.get(at) == Some(&b'*') => {
                all += 1;
                at += 1;
            }
            b' ' | b'\t' | b'\n' | b'\r' | b'\\' | 0x0c => {}
            b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => {
                let word = bytes[at..]
                    .iter()
                    .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_');
                at += word.count();
                match &bytes[start..at] {
                    b"not" | b"await" => row += 1,
                    b"lambda" => (row, all) = (row + 1, all + 1),
                    b"else" => all += 1,
                    _ => row = 0,
                }
            }
            _ => row = 0,
        }
        if row > MOST_IN_A_ROW || all > MOST_IN_ALL {
            return u32::try_from(start).ok();
        }
    }
    None
}

/// The maximum depth of the tree: blocks, brackets, and all the operators of one expression.
fn depth(parsed: &Parsed<ModModule>) -> usize {
    let (mut deepest, mut total, mut blocks) = (0_usize, 0_usize, 0_usize);
    let mut levels: Vec<usize> = Vec::new();
    let mut here = 0_usize;
    for token in parsed.tokens().iter() {
        match token.kind() {
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                levels.push(here + 1);
                here = 0;
                total += 1;
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd => {
                total = total.saturating_sub(here);
                here = levels.pop().unwrap_or(0);
            }
            TokenKind::Comma => {
                total = total.saturating_sub(here);
                here = 0;
            }
            TokenKind::Indent => blocks += 2,
            TokenKind::Dedent => blocks = blocks.saturating_sub(2),
            TokenKind::Newline | TokenKind::Semi => {
                levels.clear();
                (here, total) = (0, 0);
            }
            TokenKind::Name
            | TokenKind::Int
            | TokenKind::String
            | TokenKind::Comment
            | TokenKind::NonLogicalNewline => {}
            _ => {
                here += 1;
                total += 1;
            }
        }
        deepest = deepest.max(total + blocks);
    }
    deepest
}
