//! The calls of a text that cannot be parsed, with the strings and names between their brackets.
//!
//! No scopes and no imports, only paths as written. It is enough for rules about `eval(…)` or a URL, and a
//! broken line at the end of a file does not hide the lines above it.

use crate::form::{Arg, At, CallExpr, Expr, LoweredProgram, Stmt};

/// The maximum number of open brackets; the content of further ones belongs to the last.
const MOST_OPEN: usize = 200;

/// Collects the calls from a text; `broken` is where parsing failed.
pub(super) fn salvage(text: &str, broken: At) -> LoweredProgram {
    let mut salvage = Salvage {
        text,
        at: 0,
        path: None,
        open: Vec::new(),
        deeper: 0,
        body: Vec::new(),
    };
    while salvage.step() {}
    while !salvage.open.is_empty() {
        salvage.close();
    }
    LoweredProgram {
        body: salvage.body,
        broken: Some(broken),
        ..LoweredProgram::default()
    }
}

struct Salvage<'a> {
    text: &'a str,
    at: usize,
    /// The last path, if nothing came after it.
    path: Option<(usize, usize)>,
    /// Brackets that are open: calls, or `None` for others.
    open: Vec<Option<CallExpr>>,
    /// How many brackets are open within those.
    deeper: usize,
    body: Vec<Stmt>,
}

impl Salvage<'_> {
    /// Reads one token; `false` at the end.
    fn step(&mut self) -> bool {
        let bytes = self.text.as_bytes();
        let Some(&byte) = bytes.get(self.at) else {
            return false;
        };
        let start = self.at;
        self.at += 1;
        match byte {
            b'"' | b'\'' | b'`' => {
                self.flush();
                self.string(byte, start);
            }
            b'/' if bytes.get(self.at) == Some(&b'/') => self.skip_to(b"\n"),
            b'/' if bytes.get(self.at) == Some(&b'*') => self.skip_to(b"*/"),
            b'(' if self.open.len() >= MOST_OPEN => {
                self.flush();
                self.deeper += 1;
            }
            b')' if self.deeper > 0 => {
                self.flush();
                self.deeper -= 1;
            }
            b'(' => {
                let path = self
                    .path
                    .take()
                    .and_then(|(from, to)| Some((from, self.text.get(from..to)?)))
                    // Their conditions are not arguments of a call.
                    .filter(|(_, path)| {
                        !matches!(*path, "if" | "for" | "while" | "switch" | "with" | "catch")
                    });
                let call = path.map(|(from, path)| CallExpr {
                    callee: path.to_owned(),
                    on: None,
                    args: Vec::new(),
                    input: None,
                    at: offset(from),
                    end: 0,
                });
                self.open.push(call);
            }
            b')' => {
                self.flush();
                self.close();
            }
            _ if is_word(byte) => {
                while bytes
                    .get(self.at)
                    .is_some_and(|&next| is_word(next) || next == b'.')
                {
                    self.at += 1;
                }
                self.flush();
                self.path = (!byte.is_ascii_digit()).then_some((start, self.at));
            }
            b' ' | b'\t' => {}
            _ => self.flush(),
        }
        true
    }

    fn skip_to(&mut self, end: &[u8]) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += memchr::memmem::find(rest, end).map_or(rest.len(), |found| found + end.len());
    }

    fn string(&mut self, quote: u8, start: usize) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' if quote != b'`' => break,
                _ if byte == quote => break,
                _ => {}
            }
        }
        self.at = self.at.min(bytes.len());
        let text = bytes
            .get(start + 1..self.at.saturating_sub(1))
            .unwrap_or_default();
        let text = String::from_utf8_lossy(text).into_owned();
        self.give(Expr::Text(text, offset(start)));
    }

    /// A path that wasn't called is an argument.
    fn flush(&mut self) {
        if let Some((from, to)) = self.path.take()
            && let Some(path) = self.text.get(from..to)
        {
            self.give(Expr::Name(path.to_owned(), offset(from)));
        }
    }

    fn give(&mut self, value: Expr) {
        match self.open.iter_mut().rev().flatten().next() {
            Some(call) => call.args.push(Arg::plain(value)),
            None if matches!(value, Expr::Text(..)) => self.body.push(Stmt::Do(value)),
            None => {}
        }
    }

    fn close(&mut self) {
        if let Some(Some(mut call)) = self.open.pop() {
            call.end = offset(self.at);
            let depth = self.open.iter().flatten().count();
            if depth < 100 {
                let value = Expr::Call(Box::new(call));
                match self.open.iter_mut().rev().flatten().next() {
                    Some(outer) => outer.args.push(Arg::plain(value)),
                    None => self.body.push(Stmt::Do(value)),
                }
            } else {
                self.body.push(Stmt::Do(Expr::Call(Box::new(call))));
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn offset(at: usize) -> At {
    u32::try_from(at).unwrap_or(u32::MAX)
}
