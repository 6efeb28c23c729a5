//! cmd.exe batch into the common form.
//!
//! A line of batch is a row of commands joined by `&`, `|` and redirections, and `^` escapes any character; nothing else is parsed. Labels
//! and `goto` are dropped, `%X%` and `!X!` are names, and parentheses are ignored.

use crate::form::{Arg, At, CallExpr, Expr, LoweredProgram, READ, Stmt, WRITE};

/// Lowers a batch file.
#[must_use]
pub(crate) fn batch(text: &str) -> LoweredProgram {
    let mut program = LoweredProgram::default();
    if text.len() > super::powershell::LIMIT {
        program.broken = Some(0);
        program.cut = true;
        return program;
    }
    let mut line = BatchLine {
        body: &mut program.body,
        words: Vec::new(),
        word: None,
        redirect: None,
        files: Vec::new(),
        input: None,
        pipes: 0,
    };
    let bytes = text.as_bytes();
    let (mut at, mut fresh, mut quoted) = (0, true, false);
    while let Some(char) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let width = char.len_utf8();
        if fresh && !char.is_whitespace() && comment(&text[at..]) {
            at += text[at..].find('\n').unwrap_or(text.len() - at);
            continue;
        }
        match char {
            '\n' => {
                line.end(at, false);
                (fresh, quoted) = (true, false);
            }
            '^' if !quoted => {
                at += 1;
                if next == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                    at += 1;
                }
                match text.get(at..).and_then(|rest| rest.chars().next()) {
                    Some(escaped) if escaped != '\n' => {
                        line.push(escaped, at);
                        at += escaped.len_utf8();
                    }
                    _ => at += 1,
                }
                continue;
            }
            '"' => {
                quoted = !quoted;
                line.touch(at);
            }
            '%' | '!' if name(&text[at + 1..], char).is_some() => {
                let found = name(&text[at + 1..], char).unwrap_or_default();
                line.name(found, at);
                at += found.len() + 1;
            }
            ' ' | '\t' | '\r' | ',' | ';' if !quoted => line.close(),
            '(' | ')' | '@' if !quoted && line.is_empty() => {}
            ')' if !quoted && line.word.is_none() => {}
            '&' | '|' if !quoted => {
                let double = next == char as u8;
                line.end(at, char == '|' && !double);
                at += usize::from(double);
                fresh = true;
                at += 1;
                continue;
            }
            '<' | '>' if !quoted => {
                line.redirect(char);
                at += usize::from(next == b'>');
                if bytes.get(at + 1) == Some(&b'&') {
                    at += 2;
                    line.redirect = None;
                }
            }
            _ => line.push(char, at),
        }
        fresh &= char.is_whitespace() || char == '@';
        at += width;
    }
    line.end(text.len(), false);
    program
}

/// `rem`, `::` and labels.
fn comment(rest: &str) -> bool {
    let word = rest.get(..4).unwrap_or(rest).to_ascii_lowercase();
    rest.starts_with(':') || word.trim_end() == "rem" && rest.len() >= 3
}

/// The name between two `%` or `!`, or after one (`%1`, `%~dp0`).
fn name(rest: &str, mark: char) -> Option<&str> {
    let end =
        rest.find(|char: char| !(char.is_ascii_alphanumeric() || "_~:.-()".contains(char)))?;
    (end > 0 && rest[end..].starts_with(mark)).then(|| &rest[..end])
}

/// The current command.
struct BatchLine<'p> {
    body: &'p mut Vec<Stmt>,
    words: Vec<Expr>,
    word: Option<Vec<Expr>>,
    redirect: Option<char>,
    files: Vec<(char, Expr)>,
    input: Option<Expr>,
    pipes: usize,
}

fn position(at: usize) -> At {
    At::try_from(at).unwrap_or(At::MAX)
}

fn call(callee: &str, args: Vec<Expr>, input: Option<Expr>, at: At, end: At) -> Expr {
    let args = args.into_iter().map(Arg::plain).collect();
    Expr::Call(Box::new(CallExpr {
        callee: callee.to_owned(),
        on: None,
        args,
        input,
        at,
        end,
    }))
}

impl BatchLine<'_> {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.word.is_none()
    }

    fn touch(&mut self, at: usize) {
        self.word
            .get_or_insert_with(|| vec![Expr::Text(String::new(), position(at))]);
    }

    fn push(&mut self, char: char, at: usize) {
        let word = self.word.get_or_insert_default();
        if let Some(Expr::Text(text, _)) = word.last_mut() {
            text.push(char);
        } else {
            word.push(Expr::Text(char.to_string(), position(at)));
        }
    }

    fn name(&mut self, name: &str, at: usize) {
        let name = name.split(':').next().unwrap_or(name).to_owned();
        self.word
            .get_or_insert_default()
            .push(Expr::Name(name, position(at)));
    }

    /// A word ends.
    fn close(&mut self) {
        let Some(mut word) = self.word.take() else {
            return;
        };
        if word.len() > 1 {
            word.retain(|part| !matches!(part, Expr::Text(text, _) if text.is_empty()));
        }
        let value = if word.len() > 1 {
            Expr::Join(word)
        } else {
            word.pop().unwrap_or(Expr::Nothing)
        };
        match self.redirect.take() {
            Some(mark) => self.files.push((mark, value)),
            None => self.words.push(value),
        }
    }

    /// `<` or `>`; a digit just before it is its handle.
    fn redirect(&mut self, mark: char) {
        if matches!(self.word.as_deref(), Some([Expr::Text(text, _)]) if text == "1" || text == "2")
        {
            self.word = None;
        }
        self.close();
        self.redirect = Some(mark);
    }

    /// A command ends.
    fn end(&mut self, at: usize, piped: bool) {
        self.close();
        self.redirect = None;
        let mut words = std::mem::take(&mut self.words).into_iter();
        let files = std::mem::take(&mut self.files);
        let Some(first) = words.next() else { return };
        let start = if let Expr::Text(_, at) | Expr::Name(_, at) = &first {
            *at
        } else {
            0
        };
        let end = position(at);
        let all: Vec<Expr> = std::iter::once(first).chain(words).collect();
        let mut words = all[condition(&all)..].iter().cloned();
        let Some(first) = words.next() else { return };
        let args: Vec<Expr> = words.collect();
        if let (Expr::Text(set, _), Some(pair)) = (&first, args.first())
            && set.eq_ignore_ascii_case("set")
            && let Some((name, mut value)) = assignment(pair, start)
        {
            for arg in args.iter().skip(1) {
                value.extend([Expr::Text(" ".to_owned(), start), arg.clone()]);
            }
            let value = if value.len() > 1 {
                Expr::Join(value)
            } else {
                value.swap_remove(0)
            };
            self.body.push(Stmt::Let {
                name,
                value,
                at: start,
            });
            return;
        }
        let mut value = match first {
            Expr::Text(text, _) => call(&program(&text), args, self.input.take(), start, end),
            other => {
                let args = args.into_iter().map(Arg::plain).collect();
                let input = self.input.take();
                Expr::Call(Box::new(CallExpr {
                    callee: String::new(),
                    on: Some(other),
                    args,
                    input,
                    at: start,
                    end,
                }))
            }
        };
        for (mark, file) in files.into_iter().take(4) {
            if mark == '>' {
                value = call(WRITE, vec![file], Some(value), start, end);
            } else if let Expr::Call(reader) = &mut value {
                reader
                    .input
                    .get_or_insert_with(|| call(READ, vec![file], None, start, end));
            }
        }
        self.pipes = if piped { self.pipes + 1 } else { 0 };
        if piped && self.pipes < 64 {
            self.input = Some(value);
        } else {
            self.body.push(Stmt::Do(value));
        }
    }
}

/// `NAME=value` in one word: the name, and the parts of its value.
fn assignment(word: &Expr, at: At) -> Option<(String, Vec<Expr>)> {
    let (first, rest) = match word {
        Expr::Text(text, _) => (text, &[][..]),
        Expr::Join(parts) => match parts.split_first()? {
            (Expr::Text(text, _), rest) => (text, rest),
            _ => return None,
        },
        _ => return None,
    };
    let (name, value) = first.split_once('=')?;
    let mut parts = vec![Expr::Text(value.to_owned(), at)];
    parts.extend_from_slice(rest);
    Some((name.to_owned(), parts))
}

/// How many words are a condition or the head of a loop: `if not exist FILE`, `if A==B`, `for %%f in (…) do`, `else`.
fn condition(words: &[Expr]) -> usize {
    let text = |at: usize| match words.get(at) {
        Some(Expr::Text(text, _)) => text.to_ascii_lowercase(),
        _ => String::new(),
    };
    let mut start = 0;
    loop {
        let length = match text(start).as_str() {
            "else" | "(" | ")" | "do" => 1,
            "for" => match (start..words.len()).find(|at| text(*at) == "do") {
                Some(at) => at + 1 - start,
                None => 0,
            },
            "if" => {
                let mut length = 1;
                while matches!(text(start + length).as_str(), "not" | "/i") {
                    length += 1;
                }
                match text(start + length).as_str() {
                    "exist" | "defined" | "errorlevel" => length + 2,
                    word if word.contains("==") => length + 1,
                    _ if matches!(text(start + length + 1).as_str(), "==" | "equ" | "neq") => {
                        length + 3
                    }
                    _ => length + 1,
                }
            }
            _ => 0,
        };
        // A condition without a command is left unchanged.
        if length == 0 || start + length >= words.len() || text(start + length) == "(" {
            return start;
        }
        start += length;
    }
}

/// A program's name: lower case, without folder and extension.
fn program(text: &str) -> String {
    let name = text
        .rsplit(['\\', '/'])
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(text)
        .to_ascii_lowercase();
    match name
        .strip_suffix(".exe")
        .or_else(|| name.strip_suffix(".com"))
    {
        Some(stem) if !stem.is_empty() => stem.to_owned(),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::super::show::show;
    use super::batch;

    #[track_caller]
    fn check(source: &str, expected: &str) {
        assert_eq!(show(&batch(source)), expected, "{source}");
    }

    #[test]
    fn a_line_is_a_row_of_commands() {
        check("@echo off\r\nrem x\r\n:: y\r\n:label\r\n", r#"echo["off"]"#);
        check(
            "certutil -urlcache -f http://x a.exe & start a.exe",
            r#"certutil["-urlcache", "-f", "http://x", "a.exe"]; start["a.exe"]"#,
        );
        check(
            "c^u^rl \"http://x?a&b\" | C:\\Windows\\cmd.EXE",
            r#"cmd[] <- curl["http://x?a&b"]"#,
        );
        check(
            "set X=cur\n%X%l a > f 2>&1",
            r#"X = "cur"; >["f"] <- <join($X, "l")>["a"]"#,
        );
        check(
            "if exist x (\n  del y\n)",
            r#"if["exist", "x", "("]; del["y"]"#,
        );
        check(
            "sort < f || echo a ^\nb",
            r#"sort[] <- <["f"]; echo["a", "b"]"#,
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_lowered(text in "[a-z%!^&|<>()\"\r\n é@:=]{0,80}") {
            drop(batch(&text));
        }
    }
}
