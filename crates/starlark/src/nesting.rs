//! The limit of nesting in source files.
//!
//! The parser needs no stack for `((((…`, but later traversals of the tree do, and a tree that is deep enough crashes the
//! process. The interpreter has no limit for this. So the source is checked first, as a sequence of
//! tokens: brackets, and tokens between two commas (`1+1+1+…`, `not not not …`, `x[0][0][0]…`), can each add a
//! level, as can indentation and `elif`. The sum is never smaller than the depth of the tree. Lists and dicts
//! of any length pass, since the count restarts at a comma.

/// The maximum levels of an expression, in tokens between commas and brackets. They need less than 4 MiB of stack
/// in a release build, and a process has 8.
const MAX_TOKENS: usize = 500;
/// The maximum of nested blocks.
const MAX_BLOCKS: usize = 64;
/// The maximum of `elif`s in a file: each is an `if` inside the `else` of the previous one.
const MAX_ELIFS: usize = 250;

/// A place that is nested too deep.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub(crate) struct TooDeep {
    file: String,
    line: usize,
    what: &'static str,
}

/// Checks that the interpreter can handle a source.
pub(crate) fn check(file: &str, source: &str) -> Result<(), TooDeep> {
    let mut walk = NestingWalk {
        rest: source,
        line: 1,
        counts: vec![0],
        open: 0,
        indents: vec![0],
        elifs: 0,
        fresh: true,
    };
    walk.run().map_err(|what| TooDeep {
        file: file.to_owned(),
        line: walk.line,
        what,
    })
}

struct NestingWalk<'a> {
    rest: &'a str,
    line: usize,
    /// Tokens since the last comma, for each open bracket.
    counts: Vec<usize>,
    /// The sum of `counts`.
    open: usize,
    indents: Vec<usize>,
    elifs: usize,
    /// Whether this line has only spaces so far, outside brackets.
    fresh: bool,
}

impl NestingWalk<'_> {
    fn run(&mut self) -> Result<(), &'static str> {
        let mut blanks = 0;
        while let Some(first) = self.rest.chars().next() {
            match first {
                '\n' => {
                    self.line += 1;
                    blanks = 0;
                    if self.counts.len() == 1 {
                        self.start_again();
                        self.fresh = true;
                    }
                    self.skip(1);
                }
                ' ' | '\t' | '\r' => {
                    blanks += 1;
                    self.skip(1);
                }
                // A line that continues on the next one.
                '\\' if self.rest.starts_with("\\\n") || self.rest.starts_with("\\\r\n") => {
                    self.line += 1;
                    self.skip(self.rest.find('\n').unwrap_or(0) + 1);
                }
                '#' => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.skip(end);
                }
                _ => {
                    if std::mem::take(&mut self.fresh) {
                        self.block(blanks)?;
                    }
                    self.token(first)?;
                }
            }
        }
        Ok(())
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    /// The next token is at the level of the previous ones, not inside them.
    fn start_again(&mut self) {
        if let Some(count) = self.counts.last_mut() {
            self.open -= std::mem::take(count);
        }
    }

    fn block(&mut self, indent: usize) -> Result<(), &'static str> {
        self.indents.retain(|outer| *outer < indent);
        self.indents.push(indent);
        if self.indents.len() > MAX_BLOCKS {
            return Err("blocks are nested too deep; move the inner ones into functions");
        }
        Ok(())
    }

    fn token(&mut self, first: char) -> Result<(), &'static str> {
        if matches!(first, '"' | '\'') {
            self.string(first);
        } else if first.is_alphanumeric() || first == '_' {
            let end = self
                .rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(self.rest.len());
            self.elifs += usize::from(&self.rest[..end] == "elif");
            self.skip(end);
        } else {
            self.skip(first.len_utf8());
            match first {
                '(' | '[' | '{' => self.counts.push(0),
                ')' | ']' | '}' if self.counts.len() > 1 => {
                    self.start_again();
                    self.counts.pop();
                }
                ',' | ';' => {
                    self.start_again();
                    return Ok(());
                }
                _ => {}
            }
        }
        if let Some(count) = self.counts.last_mut() {
            *count += 1;
            self.open += 1;
        }
        if self.elifs > MAX_ELIFS {
            return Err("too many `elif` in one file; look the cases up in a dict");
        }
        // A bracket is a token too, so the number of open ones is below this sum.
        if self.open > MAX_TOKENS {
            return Err("the expression is nested too deep or too long; give its parts names");
        }
        Ok(())
    }

    /// Skips a string, raw or not: a backslash keeps a quote from ending either.
    fn string(&mut self, quote: char) {
        let long: String = [quote; 3].iter().collect();
        let is_long = self.rest.starts_with(&long);
        self.skip(if is_long { 3 } else { 1 });
        while let Some(next) = self.rest.chars().next() {
            if is_long && self.rest.starts_with(&long) {
                return self.skip(3);
            }
            match next {
                '\\' => {
                    self.skip(1);
                    let escaped = self.rest.chars().next();
                    self.line += usize::from(escaped == Some('\n'));
                    self.skip(escaped.map_or(0, char::len_utf8));
                    continue;
                }
                // An unfinished string, which the parser reports.
                '\n' if !is_long => return,
                '\n' => self.line += 1,
                _ => {}
            }
            self.skip(next.len_utf8());
            if !is_long && next == quote {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_write_passes() {
        let list = format!("x = [\n{}]\n", "  \"a\", # (((\n".repeat(10_000));
        let dict = format!("x = {{{}}}\n", "\"k\": f(1, [2, 3]), ".repeat(10_000));
        let text = format!("x = '''{}'''\n", "((((\n\\'".repeat(10_000));
        let lines = "x = f(a[0].b) + 'it\\'s' + r'\\d'\n".repeat(10_000);
        let blocks = "def f():\n  if x:\n    for y in z:\n      pass\n".repeat(1_000);
        for source in [list, dict, text, lines, blocks] {
            assert_eq!(check("skill.star", &source), Ok(()), "{}", &source[..40]);
        }
    }

    #[test]
    fn what_is_deep_does_not() {
        let many = 100_000;
        let mut blocks = String::new();
        for indent in 0..100 {
            blocks.push_str(&format!("{}if x:\n", " ".repeat(indent)));
        }
        let deep = [
            "(".repeat(many),
            format!("x = {}", "[".repeat(many)),
            format!("x = 1{}", "+1".repeat(many)),
            format!("x = 1{}", " + \\\n1".repeat(many)),
            format!("x = 1{}", " + \\\r\n1".repeat(many)),
            format!("x = {}True", "not ".repeat(many)),
            format!("x = y{}", "[0]".repeat(many)),
            format!("x = y{}", ".z".repeat(many)),
            format!("x = {}1", "-".repeat(many)),
            format!("x = {}1", "lambda: ".repeat(many)),
            format!("if x:\n  pass\n{}", "elif y:\n  pass\n".repeat(many)),
            format!("x = {}", "f(1, ".repeat(many)),
            blocks,
        ];
        for source in deep {
            assert!(check("skill.star", &source).is_err(), "{}", &source[..40]);
        }
        let error = check("lib/x.star", &format!("\n\nx = {}", "[".repeat(2_000)));
        assert_eq!(
            error.unwrap_err().to_string(),
            "lib/x.star:3: the expression is nested too deep or too long; give its parts names"
        );
    }
}
