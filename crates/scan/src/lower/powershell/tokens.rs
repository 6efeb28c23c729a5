//! The tokens of PowerShell, with quotes, backticks and here-strings undone.

use crate::form::{At, Expr};

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// The end of a line.
    End,
    /// A bracket or an operator. `$(` and `@(` are `(`, `@{` is `{`.
    Mark(&'static str),
    /// A bare word: a command, a flag, a number, an argument.
    Word(String),
    /// A quoted string.
    Text(String),
    /// A string in double quotes with values in it.
    Mixed(Vec<Expr>),
    /// `$x`, `$env:X`.
    Name(String),
    /// `[Convert]`, without `System.`.
    Type(String),
    /// `.Name` or `::Name` right after a value.
    Member(String),
}

/// A token and its offset.
pub(super) struct PowerShellToken {
    pub(super) what: What,
    pub(super) at: At,
    pub(super) end: At,
}

const MARKS: &[&str] = &[
    "&&", "||", "+=", ">>", "$(", "@(", "@{", "(", ")", "{", "}", "[", "]", ";", "|", "&", ",",
    "=", "+", ">", ".",
];

/// The distance in which a closing bracket is searched: text with many opening brackets must not be searched to the end each time.
const NEAR: usize = 512;

/// Splits a text into tokens.
pub(super) fn tokens(text: &str) -> Vec<PowerShellToken> {
    let mut out: Vec<PowerShellToken> = Vec::new();
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        let rest = &text[at..];
        let touches = out
            .last()
            .is_some_and(|last| last.end == position(at) && ends_value(&last.what));
        let (what, length) = match char {
            '\n' => (Some(What::End), 1),
            _ if char.is_whitespace() => (None, char.len_utf8()),
            '`' if rest[1..].starts_with(['\n', '\r']) => {
                (None, if rest[1..].starts_with("\r\n") { 3 } else { 2 })
            }
            '#' => (None, rest.find('\n').unwrap_or(rest.len())),
            '<' if rest.starts_with("<#") => {
                (None, rest.find("#>").map_or(rest.len(), |end| end + 2))
            }
            '@' if rest.starts_with("@'") || rest.starts_with("@\"") => here(rest, at),
            '\'' => single(rest),
            '"' => double(rest, at),
            '$' if !rest.starts_with("$(") => variable(rest),
            '[' if !touches => class(rest),
            '.' | ':' if touches => member(rest),
            '1' | '2' | '*' if rest[1..].starts_with(">&1") => (None, 4),
            '2' | '*' if rest[1..].starts_with('>') => (Some(What::Mark(">")), 2),
            _ => mark(rest).unwrap_or_else(|| word(rest)),
        };
        let length = length.max(char.len_utf8()).min(rest.len());
        let length = (length..=rest.len())
            .find(|end| rest.is_char_boundary(*end))
            .unwrap_or(rest.len());
        if let Some(what) = what {
            out.push(PowerShellToken {
                what,
                at: position(at),
                end: position(at + length),
            });
        }
        at += length;
    }
    out
}

type TokenResult = (Option<What>, usize);

fn position(at: usize) -> At {
    At::try_from(at).unwrap_or(At::MAX)
}

fn ends_value(what: &What) -> bool {
    !matches!(
        what,
        What::End
            | What::Word(_)
            | What::Mark(
                "(" | "{" | "[" | ";" | "|" | "&" | "," | "=" | "+" | "+=" | "&&" | "||" | ">"
            )
    )
}

fn mark(rest: &str) -> Option<TokenResult> {
    let found = MARKS.iter().find(|mark| rest.starts_with(**mark))?;
    let shown = match *found {
        "$(" | "@(" => "(",
        "@{" => "{",
        ">>" => ">",
        // `.\x.ps1` is a word, `. x` is not.
        "." if !rest[1..].starts_with([' ', '\t']) => return None,
        other => other,
    };
    Some((Some(What::Mark(shown)), found.len()))
}

/// A bare word. Backticks vanish, quotes inside are joined: `i`e''x` is `iex`.
fn word(rest: &str) -> TokenResult {
    let mut text = String::new();
    let number = rest.starts_with(|char: char| char.is_ascii_digit());
    let mut at = 0;
    while let Some(char) = rest[at..].chars().next() {
        match char {
            '`' => {
                at += 1;
                let Some(next) = rest[at..].chars().next() else {
                    break;
                };
                text.push(next);
                at += next.len_utf8();
                continue;
            }
            '\'' | '"' => {
                let Some(length) = rest[at + 1..].find(char) else {
                    break;
                };
                text.push_str(&rest[at + 1..at + 1 + length]);
                at += length + 2;
                continue;
            }
            _ if char.is_whitespace() || ";|(){},&<>".contains(char) => break,
            '+' | '-' | '*' | ']' if number && at > 0 => break,
            ']' if !text.contains('[') => break,
            _ => text.push(char),
        }
        at += char.len_utf8();
    }
    (Some(What::Word(text)), at)
}

fn single(rest: &str) -> TokenResult {
    let mut text = String::new();
    let mut at = 1;
    while let Some(length) = rest[at..].find('\'') {
        text.push_str(&rest[at..at + length]);
        at += length + 1;
        if !rest[at..].starts_with('\'') {
            return (Some(What::Text(text)), at);
        }
        text.push('\'');
        at += 1;
    }
    text.push_str(&rest[at..]);
    (Some(What::Text(text)), rest.len())
}

fn double(rest: &str, at: usize) -> TokenResult {
    let (parts, length) = mixed(&rest[1..], at + 1, true);
    (Some(parts), length + 1)
}

/// A here-string: `@"`, lines, `"@`.
fn here(rest: &str, at: usize) -> TokenResult {
    let close = if rest.starts_with("@'") {
        "\n'@"
    } else {
        "\n\"@"
    };
    let line = rest.find('\n').unwrap_or(rest.len());
    let start = (line + 1).min(rest.len());
    let end = rest[line..]
        .find(close)
        .map_or(rest.len(), |found| line + found);
    let length = (end + 3).min(rest.len());
    let body = rest.get(start..end).unwrap_or_default();
    if close == "\n'@" {
        return (Some(What::Text(body.to_owned())), length);
    }
    (Some(mixed(body, at + start, false).0), length)
}

/// Text with `$x`, `$(…)` and backticks in it, up to a quote if it is `quoted`.
fn mixed(rest: &str, base: usize, quoted: bool) -> (What, usize) {
    let mut parts: Vec<Expr> = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while let Some(char) = rest[at..].chars().next() {
        let tail = &rest[at..];
        if char == '"' && quoted {
            at += 1;
            if !rest[at..].starts_with('"') {
                break;
            }
        } else if char == '`' {
            at += 1;
            let Some(next) = rest[at..].chars().next() else {
                break;
            };
            text.push(match next {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                other => other,
            });
            at += next.len_utf8();
            continue;
        } else if char == '$' {
            let (value, length) = match tail.strip_prefix("$(").and_then(|inner| {
                inner[..inner.floor_char_boundary(NEAR)]
                    .find(')')
                    .map(|end| &inner[..end])
            }) {
                Some(inner) => (embedded(inner, base + at + 2), inner.len() + 3),
                None => match variable(tail) {
                    (Some(What::Name(name)), length) => {
                        (Expr::Name(name, position(base + at)), length)
                    }
                    _ => (Expr::Nothing, 0),
                },
            };
            if length > 0 {
                if !text.is_empty() {
                    parts.push(Expr::Text(std::mem::take(&mut text), position(base)));
                }
                parts.push(value);
                at += length;
                continue;
            }
        }
        text.push(char);
        at += char.len_utf8();
    }
    if parts.is_empty() {
        return (What::Text(text), at);
    }
    if !text.is_empty() {
        parts.push(Expr::Text(text, position(base)));
    }
    (What::Mixed(parts), at)
}

/// `$(…)` in a text, without inner parentheses: the names in it, or the command as text.
fn embedded(inner: &str, at: usize) -> Expr {
    match variable(inner) {
        (Some(What::Name(name)), _) => Expr::Name(name, position(at)),
        _ => Expr::Parts(vec![Expr::Text(inner.to_owned(), position(at))]),
    }
}

/// `$x`, `${x}`, `$env:X`, `$_`.
fn variable(rest: &str) -> TokenResult {
    let Some(inner) = rest.strip_prefix('$') else {
        return (None, 0);
    };
    if let Some(braced) = inner.strip_prefix('{')
        && let Some(end) = braced.find('}')
    {
        return (Some(What::Name(braced[..end].replace('`', ""))), end + 3);
    }
    let mut end = 0;
    for (at, char) in inner.char_indices() {
        let scope = char == ':'
            && !inner[at + 1..].starts_with(':')
            && inner[at + 1..].starts_with(char::is_alphanumeric)
            && !inner[..at].contains(':');
        if !(char.is_alphanumeric() || char == '_' || char == '?' && at == 0 || scope) {
            break;
        }
        end = at + char.len_utf8();
    }
    let name = &inner[..end];
    let plain = ["global:", "script:", "local:"]
        .iter()
        .find_map(|scope| name.strip_prefix(scope))
        .unwrap_or(name);
    let name = match plain.get(..4) {
        Some(scope) if scope.eq_ignore_ascii_case("env:") => format!("env:{}", &plain[4..]),
        _ => plain.to_owned(),
    };
    if end == 0 {
        (None, 1)
    } else {
        (Some(What::Name(name)), end + 1)
    }
}

/// `[Text.Encoding]`, or a bracket.
fn class(rest: &str) -> TokenResult {
    let window = &rest[1..rest.floor_char_boundary(NEAR)];
    let end = window
        .find(|char: char| !(char.is_alphanumeric() || ".[]_".contains(char)))
        .unwrap_or(window.len());
    let inner = &window[..end];
    let mut depth = 1;
    for (at, char) in inner.char_indices() {
        match char {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let name = &inner[..at];
            return if name.starts_with(char::is_alphabetic) {
                (Some(What::Type(super::short(name).to_owned())), at + 2)
            } else {
                (Some(What::Mark("[")), 1)
            };
        }
    }
    (Some(What::Mark("[")), 1)
}

/// `.Name`, `::Name`, `."Name"`.
fn member(rest: &str) -> TokenResult {
    let name = rest.trim_start_matches([':', '.']);
    let lead = rest.len() - name.len();
    let quoted = usize::from(name.starts_with(['\'', '"']));
    let bare = &name[quoted..];
    let length = bare
        .find(|char: char| !(char.is_alphanumeric() || char == '_' || char == '`'))
        .unwrap_or(bare.len());
    if length == 0 {
        return (None, lead);
    }
    (
        Some(What::Member(bare[..length].replace('`', ""))),
        lead + length + 2 * quoted,
    )
}
