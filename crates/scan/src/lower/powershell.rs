//! PowerShell into the common form, from tokens.
//!
//! There is no grammar for PowerShell here, and the relevant parts need none: commands and their words, pipes, assignments, method calls
//! and the few operators that concatenate strings. A statement that begins with a value is an expression, any other is a command.
//!
//! ```text
//! iex (New-Object Net.WebClient).DownloadString('http://x')
//!   Call invoke-expression [Call Net.WebClient.DownloadString ["http://x"]]
//! ```
//!
//! Names of commands are lower-case and spelt out: `iex`, `IEX` and `i`e`x` are all `invoke-expression`.

#[cfg(test)]
mod tests;
mod tokens;

use tokens::{PowerShellToken, What, tokens};

use crate::form::{Arg, At, CallExpr, Expr, LoweredProgram, Stmt, WRITE};

/// Texts above this many bytes are not read, nor are batch files.
pub(super) const LIMIT: usize = 128 << 10;
/// The maximum nesting of parentheses and blocks.
const DEPTH: usize = 60;
/// How many operators or members may follow each other before they are just parts.
const CHAIN: usize = 16;

/// Lowers a PowerShell script.
#[must_use]
pub(crate) fn powershell(text: &str) -> LoweredProgram {
    if text.len() > LIMIT {
        return LoweredProgram {
            body: Vec::new(),
            broken: Some(0),
            cut: true,
            ..LoweredProgram::default()
        };
    }
    let mut reader = PowerShellReader {
        tokens: tokens(text),
        next: 0,
        depth: 0,
        broken: None,
    };
    let mut body = Vec::new();
    while reader.peek().is_some() {
        reader.statements(&mut body);
        // A bracket that nothing opened.
        if let Some(token) = reader.take() {
            reader.broken.get_or_insert(token.at);
        }
    }
    LoweredProgram {
        body,
        broken: reader.broken,
        ..LoweredProgram::default()
    }
}

struct PowerShellReader {
    tokens: Vec<PowerShellToken>,
    next: usize,
    depth: usize,
    broken: Option<At>,
}

fn call(callee: &str, on: Option<Expr>, args: Vec<Expr>, at: At, end: At) -> CallExpr {
    CallExpr {
        callee: callee.to_owned(),
        on,
        args: args.into_iter().map(Arg::plain).collect(),
        input: None,
        at,
        end,
    }
}

impl PowerShellReader {
    fn peek(&self) -> Option<&PowerShellToken> {
        self.tokens.get(self.next)
    }

    fn take(&mut self) -> Option<PowerShellToken> {
        let token = self.tokens.get_mut(self.next)?;
        self.next += 1;
        Some(PowerShellToken {
            what: std::mem::replace(&mut token.what, What::End),
            ..*token
        })
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(PowerShellToken { what: What::Mark(found), .. }) if *found == mark)
    }

    fn accept(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        self.next += usize::from(found);
        found
    }

    fn here(&self) -> At {
        self.peek().map_or(0, |token| token.at)
    }

    /// Where the last token ended.
    fn end(&self) -> At {
        self.next
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .map_or(0, |token| token.end)
    }

    /// Statements up to a closing bracket.
    fn statements(&mut self, out: &mut Vec<Stmt>) {
        while let Some(token) = self.peek() {
            match token.what {
                What::Mark(")" | "}" | "]") => return,
                What::End | What::Mark(";" | "&&" | "||" | ",") => self.next += 1,
                _ => {
                    let before = self.next;
                    self.pipeline(out);
                    if self.next == before {
                        self.next += 1;
                    }
                }
            }
        }
    }

    fn pipeline(&mut self, out: &mut Vec<Stmt>) {
        let at = self.here();
        if self.depth < DEPTH
            && let Some(PowerShellToken {
                what: What::Name(name),
                ..
            }) = self.peek()
            && let Some(PowerShellToken {
                what: What::Mark(mark @ ("=" | "+=")),
                ..
            }) = self.tokens.get(self.next + 1)
        {
            let (name, adds) = (name.clone(), *mark == "+=");
            self.next += 2;
            let mut inner = Vec::new();
            self.depth += 1;
            self.pipeline(&mut inner);
            self.depth -= 1;
            let mut value = super::shell::output(inner, out);
            if adds {
                value = Expr::Join(vec![Expr::Name(name.clone(), at), value]);
            }
            out.push(Stmt::Let { name, value, at });
            return;
        }
        let mut value = self.stage(true, out);
        let mut pipes = 0;
        while self.accept("|") {
            while matches!(
                self.peek(),
                Some(PowerShellToken {
                    what: What::End,
                    ..
                })
            ) {
                self.next += 1;
            }
            pipes += 1;
            if pipes % 8 == 0 {
                let name = format!("|{}", self.here());
                out.push(Stmt::Let {
                    name: name.clone(),
                    value,
                    at,
                });
                value = Expr::Name(name, at);
            }
            let mut stage = vec![Stmt::Do(self.stage(false, out))];
            super::shell::feed(&mut stage, value);
            value = super::shell::output(stage, out);
        }
        if value != Expr::Nothing {
            out.push(Stmt::Do(value));
        }
    }

    /// One part of a pipe: a command or an expression.
    fn stage(&mut self, first: bool, out: &mut Vec<Stmt>) -> Expr {
        let Some(token) = self.peek() else {
            return Expr::Nothing;
        };
        match &token.what {
            What::Word(word) => {
                let word = word.to_lowercase();
                // After a pipe, `foreach` is a command.
                if first && let Some(value) = self.keyword(&word, out) {
                    return value;
                }
                self.command()
            }
            What::Mark("&" | ".") => {
                self.next += 1;
                self.command()
            }
            _ => self.expression(),
        }
    }

    /// `function`, `if`, `foreach` and similar ones: a block is a block.
    fn keyword(&mut self, word: &str, out: &mut Vec<Stmt>) -> Option<Expr> {
        match word {
            "function" | "filter" => {
                self.next += 1;
                let name = match self.take()?.what {
                    What::Word(name) => name.to_lowercase(),
                    _ => String::new(),
                };
                let params = if self.is("(") {
                    names(&self.group())
                } else {
                    Vec::new()
                };
                let mut body = Vec::new();
                self.block(&mut body);
                out.push(Stmt::Function { name, params, body });
            }
            "if" | "elseif" | "else" | "while" | "foreach" | "for" | "switch" | "do" | "try"
            | "catch" | "finally" | "until"
                if matches!(
                    self.tokens.get(self.next + 1),
                    Some(PowerShellToken {
                        what: What::Mark("(" | "{"),
                        ..
                    })
                ) =>
            {
                self.next += 1;
                let condition = if self.is("(") {
                    Some(self.group())
                } else {
                    None
                };
                let mut body = Vec::new();
                self.block(&mut body);
                out.push(Stmt::Block { condition, body });
            }
            "return" | "throw" => {
                self.next += 1;
                let value = self.expression();
                out.push(Stmt::Return(value));
            }
            _ => return None,
        }
        Some(Expr::Nothing)
    }

    fn block(&mut self, out: &mut Vec<Stmt>) {
        while matches!(
            self.peek(),
            Some(PowerShellToken {
                what: What::End,
                ..
            })
        ) {
            self.next += 1;
        }
        if self.is("{")
            && let Expr::Lambda { body, .. } = self.value()
        {
            out.extend(body);
        }
    }

    fn command(&mut self) -> Expr {
        let at = self.here();
        let (mut callee, mut on) = (String::new(), None);
        match self.peek() {
            Some(PowerShellToken {
                what: What::Word(word) | What::Text(word),
                ..
            }) => {
                callee = program(word);
                self.next += 1;
            }
            _ => on = Some(self.value()),
        }
        let (mut args, mut files) = (Vec::new(), Vec::new());
        while let Some(token) = self.peek() {
            match &token.what {
                What::End | What::Mark(";" | "|" | ")" | "}" | "]" | "&&" | "||" | "&") => break,
                What::Mark(">") => {
                    self.next += 1;
                    files.push(self.value());
                }
                What::Mark(",") => self.next += 1,
                What::Word(word) => {
                    args.push(Expr::Text(word.clone(), token.at));
                    self.next += 1;
                }
                _ => args.push(self.joined()),
            }
        }
        let mut value = call(&callee, on, args, at, self.end());
        for path in files.into_iter().take(4) {
            let mut write = call(WRITE, None, vec![path], at, self.end());
            write.input = Some(Expr::Call(Box::new(value)));
            value = write;
        }
        Expr::Call(Box::new(value))
    }

    /// Values with `+`, `-f`, `,` and other operators between them.
    fn expression(&mut self) -> Expr {
        let first = self.joined();
        let mut list = vec![first];
        let mut operators = 0;
        while let Some(token) = self.peek() {
            match &token.what {
                What::Mark(",") => {
                    self.next += 1;
                    list.push(self.joined());
                }
                What::Word(word) if word.starts_with('-') && word.len() > 1 => {
                    let callee = match word.to_lowercase().trim_start_matches(['-', 'c', 'i']) {
                        "f" => ".format",
                        "replace" => ".replace",
                        "join" => ".join",
                        "split" => ".split",
                        _ => "",
                    };
                    let (at, end) = (token.at, token.end);
                    self.next += 1;
                    let base = if list.len() == 1 {
                        list.swap_remove(0)
                    } else {
                        Expr::List(std::mem::take(&mut list))
                    };
                    let mut args = vec![self.joined()];
                    while self.accept(",") {
                        args.push(self.joined());
                    }
                    operators += 1;
                    let value = if callee.is_empty() || operators > CHAIN {
                        let mut all = if let Expr::Parts(all) = base {
                            all
                        } else {
                            vec![base]
                        };
                        all.extend(args);
                        Expr::Parts(all)
                    } else {
                        Expr::Call(Box::new(call(callee, Some(base), args, at, end)))
                    };
                    list = vec![value];
                }
                What::Mark("=" | "+=" | ">") => {
                    self.next += 1;
                    let value = self.joined();
                    list.push(value);
                }
                _ => break,
            }
        }
        if list.len() == 1 {
            list.swap_remove(0)
        } else {
            Expr::List(list)
        }
    }

    /// `'a' + $b`.
    fn joined(&mut self) -> Expr {
        let mut parts = vec![self.value()];
        while self.accept("+") {
            parts.push(self.value());
        }
        if parts.len() == 1 {
            return parts.swap_remove(0);
        }
        let mut out: Vec<Expr> = Vec::new();
        for part in parts {
            match (out.last_mut(), part) {
                (Some(Expr::Text(before, _)), Expr::Text(text, _)) => before.push_str(&text),
                (_, part) => out.push(part),
            }
        }
        if out.len() == 1 {
            out.swap_remove(0)
        } else {
            Expr::Join(out)
        }
    }

    /// The content of a pair of brackets, as one value.
    fn group(&mut self) -> Expr {
        let Some(open) = self.take() else {
            return Expr::Nothing;
        };
        let mut body = Vec::new();
        if self.depth >= DEPTH {
            self.broken.get_or_insert(open.at);
            return Expr::Nothing;
        }
        self.depth += 1;
        self.statements(&mut body);
        self.depth -= 1;
        if self.peek().is_none() {
            self.broken.get_or_insert(open.at);
        }
        self.next += 1;
        let mut kept = Vec::new();
        let value = super::shell::output(body, &mut kept);
        if kept.is_empty() {
            return value;
        }
        let mut body = kept;
        body.push(Stmt::Return(value));
        Expr::Lambda {
            params: Vec::new(),
            body,
        }
    }

    fn value(&mut self) -> Expr {
        let at = self.here();
        let Some(token) = self.peek() else {
            return Expr::Nothing;
        };
        let base = match &token.what {
            What::Mark("(") => self.group(),
            What::Mark("{") if self.depth < DEPTH => {
                self.next += 1;
                self.depth += 1;
                let mut body = Vec::new();
                self.statements(&mut body);
                self.depth -= 1;
                self.next += 1;
                Expr::Lambda {
                    params: Vec::new(),
                    body,
                }
            }
            What::Mark(")" | "}" | "]" | ";" | "|") | What::End => return Expr::Nothing,
            _ => match self.take().map(|token| token.what) {
                Some(What::Text(text)) => Expr::Text(text, at),
                Some(What::Mixed(parts)) => Expr::Join(parts),
                Some(What::Name(name)) => Expr::Name(name, at),
                Some(What::Type(name)) => self.cast(name, at),
                Some(What::Word(word)) => word.parse().map_or_else(
                    |_| Expr::Text(word.clone(), at),
                    |number| Expr::Number(number, at),
                ),
                _ => Expr::Nothing,
            },
        };
        self.members(base, at)
    }

    /// `[char]104` is a call of `char`; `[Convert]` alone is a name.
    fn cast(&mut self, name: String, at: At) -> Expr {
        match self.peek() {
            Some(PowerShellToken {
                what:
                    What::Text(_) | What::Mixed(_) | What::Name(_) | What::Word(_) | What::Mark("("),
                at: next,
                ..
            }) if *next == self.end() => {
                let value = self.value();
                Expr::Call(Box::new(call(&name, None, vec![value], at, self.end())))
            }
            _ => Expr::Name(name, at),
        }
    }

    /// `.Method(…)`, `::Method(…)`, `.Property` and `[index]` after a value.
    fn members(&mut self, mut base: Expr, at: At) -> Expr {
        for _ in 0..CHAIN {
            match self.peek().map(|token| &token.what) {
                Some(What::Member(name)) => {
                    let name = name.clone();
                    self.next += 1;
                    let called = matches!(self.peek(), Some(token) if token.what == What::Mark("(") && token.at == self.end());
                    let path = path(&base).map(|path| format!("{path}.{name}"));
                    if !called {
                        base = path
                            .map_or_else(|| Expr::Parts(vec![base]), |path| Expr::Name(path, at));
                        continue;
                    }
                    let args = match self.group() {
                        Expr::Nothing => Vec::new(),
                        Expr::List(values) | Expr::Parts(values) => values,
                        other => vec![other],
                    };
                    let callee = path.unwrap_or_else(|| format!(".{name}"));
                    base = Expr::Call(Box::new(call(&callee, Some(base), args, at, self.end())));
                }
                Some(What::Mark("["))
                    if self.peek().is_some_and(|token| token.at == self.end()) =>
                {
                    let index = self.group();
                    base = Expr::Parts(vec![base, index]);
                }
                _ => break,
            }
        }
        base
    }
}

/// The dotted path of a value; that of a new object is its class.
fn path(base: &Expr) -> Option<String> {
    match base {
        Expr::Name(name, _) => Some(name.clone()),
        Expr::Call(made) if made.callee == "new-object" => match made
            .args
            .iter()
            .map(|arg| &arg.value)
            .find(|value| !flag(value))?
        {
            Expr::Text(class, _) => Some(short(class).to_owned()),
            _ => None,
        },
        _ => None,
    }
}

fn flag(value: &Expr) -> bool {
    matches!(value, Expr::Text(text, _) if text.starts_with('-'))
}

/// A class without `System.`, which may be left out.
fn short(class: &str) -> &str {
    match class.get(..7) {
        Some(prefix) if prefix.eq_ignore_ascii_case("system.") => &class[7..],
        _ => class,
    }
}

/// The names in a list of parameters.
fn names(value: &Expr) -> Vec<String> {
    match value {
        Expr::Name(name, _) => vec![name.clone()],
        Expr::Call(cast) => cast.args.iter().flat_map(|arg| names(&arg.value)).collect(),
        Expr::List(values) | Expr::Parts(values) => values.iter().flat_map(names).collect(),
        _ => Vec::new(),
    }
}

/// The command of an alias.
const ALIASES: &[(&str, &str)] = &[
    ("curl", "invoke-webrequest"),
    ("gc", "get-content"),
    ("gci", "get-childitem"),
    ("icm", "invoke-command"),
    ("iex", "invoke-expression"),
    ("ii", "invoke-item"),
    ("irm", "invoke-restmethod"),
    ("iwr", "invoke-webrequest"),
    ("nal", "new-alias"),
    ("sal", "set-alias"),
    ("saps", "start-process"),
    ("sc", "set-content"),
    ("start", "start-process"),
    ("wget", "invoke-webrequest"),
];

/// A command's name: lower case, without folder, spelt out. `curl.exe` is the program, not the alias.
fn program(word: &str) -> String {
    let name = word
        .rsplit(['\\', '/'])
        .next()
        .filter(|name| !name.is_empty())
        .unwrap_or(word)
        .to_lowercase();
    if let Some(stem) = name.strip_suffix(".exe").filter(|stem| !stem.is_empty()) {
        return stem.to_owned();
    }
    ALIASES
        .iter()
        .find(|(alias, _)| *alias == name)
        .map_or(name, |(_, full)| (*full).to_owned())
}
