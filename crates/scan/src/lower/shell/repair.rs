//! Changes to a text so that the grammar can parse it. Every change keeps the length: positions stay valid.
//!
//! Three things are common in the wild and unknown to tree-sitter's grammar: prompts in documentation (`$ curl …`), a brace expansion
//! in place of a command (`{curl,-s,x}`), and a subshell that begins a substitution (`$((a; b) | c)`, read as arithmetic).

use tree_sitter::{Node, Tree};

/// Replaces prompts at the start of lines by spaces, and NULs (the lexer looks ahead to the end of the text for each of them).
pub(super) fn prompts(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let body = line.trim_start_matches([' ', '\t']);
        let indent = line.len() - body.len();
        let rest = body
            .strip_prefix("$ ")
            .or_else(|| body.strip_prefix("% "))
            .or_else(|| {
                // `> f` empties a file; `> npm i` shows a prompt.
                body.strip_prefix("> ")
                    .filter(|rest| rest.split_whitespace().nth(1).is_some() && !rest.contains("<<"))
            });
        out.push_str(&line[..indent]);
        match rest {
            Some(rest) => {
                out.push_str("  ");
                out.push_str(rest);
            }
            None => out.push_str(body),
        }
    }
    if out.contains('\0') {
        out.replace('\0', " ")
    } else {
        out
    }
}

/// The offset of the first piece that couldn't be read.
pub(super) fn first_error(root: Node<'_>) -> Option<usize> {
    if !root.has_error() {
        return None;
    }
    let mut cursor = root.walk();
    loop {
        let node = cursor.node();
        if node.is_error() || node.is_missing() {
            return Some(node.start_byte());
        }
        if node.has_error() && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(root.start_byte());
            }
        }
    }
}

/// The text with the unknown constructs spelt in known ones, if there are any. Without a syntax error only a `!` can be one.
pub(super) fn repaired(text: &str, tree: &Tree) -> Option<String> {
    let is_broken = tree.root_node().has_error();
    if !is_broken && !text.contains('!') {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut changed = false;
    let mut work = 8 * bytes.len() + 4096;
    let mut cursor = tree.walk();
    'nodes: loop {
        let node = cursor.node();
        changed |= match node.kind() {
            "!" => negation(&mut bytes, node.start_byte()),
            "{" if is_broken => braces(&mut bytes, node.start_byte(), &mut work),
            "$((" if is_broken => parens(&mut bytes, node.start_byte(), &mut work),
            _ => false,
        };
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'nodes;
            }
        }
    }
    if changed {
        String::from_utf8(bytes).ok()
    } else {
        None
    }
}

/// `! { a; }` becomes `  { a; }`, and `! ! a` becomes `    a`: after `!` the grammar reads words such as `{`, `do` and `!` as programs.
fn negation(bytes: &mut [u8], at: usize) -> bool {
    const COMPOUND: [&[u8]; 6] = [b"{", b"for", b"if", b"while", b"until", b"case"];
    let rest = bytes.get(at..).unwrap_or_default();
    let signs = rest.iter().take_while(|byte| b" \t!".contains(byte));
    let length = signs.clone().count();
    let is_many = signs.filter(|byte| **byte == b'!').count() > 1;
    let word = &rest[length..];
    let end = word.iter().position(|byte| b" \t\n".contains(byte));
    let is_compound = end.is_some_and(|end| COMPOUND.contains(&&word[..end]));
    if is_many || is_compound {
        bytes[at..at + length].fill(b' ');
    }
    is_many || is_compound
}

/// `{a,b}` becomes ` a b `, if it is a separate word on one line.
fn braces(bytes: &mut [u8], open: usize, work: &mut usize) -> bool {
    let mut commas = Vec::new();
    let close = scan(bytes, open + 1, work, |byte, at, _| match byte {
        b',' => {
            commas.push(at);
            Some(false)
        }
        b'}' => Some(true),
        b'{' | b' ' | b'\t' | b'\n' | b';' | b'|' => None,
        _ => Some(false),
    });
    let Some(close) = close.filter(|_| !commas.is_empty()) else {
        return false;
    };
    if bytes
        .get(close + 1)
        .is_some_and(|next| !b" \t\r\n;|&)<>`".contains(next))
    {
        return false;
    }
    for at in commas.into_iter().chain([open, close]) {
        bytes[at] = b' ';
    }
    true
}

/// `$((a) | b)` becomes `$( a  | b)`: the inner pair is replaced by spaces unless it closes together with the outer one.
fn parens(bytes: &mut [u8], dollar: usize, work: &mut usize) -> bool {
    let open = dollar + 2;
    let close = scan(bytes, open + 1, work, |byte, _, depth| {
        match byte {
            b'(' => *depth += 1,
            b')' if *depth == 0 => return Some(true),
            b')' => *depth -= 1,
            _ => {}
        }
        Some(false)
    });
    let Some(close) = close.filter(|&close| bytes.get(close + 1).is_some_and(|&next| next != b')'))
    else {
        return false;
    };
    bytes[open] = b' ';
    bytes[close] = b' ';
    true
}

/// Walks the bytes outside quotes until `decide` returns that this is the end (`Some(true)`) or that there is none (`None`).
fn scan(
    bytes: &[u8],
    from: usize,
    work: &mut usize,
    mut decide: impl FnMut(u8, usize, &mut usize) -> Option<bool>,
) -> Option<usize> {
    let (mut quote, mut depth, mut at) = (None, 0, from);
    while let Some(&byte) = bytes.get(at) {
        *work = work.checked_sub(1)?;
        match (quote, byte) {
            (_, b'\\') => at += 1,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, _) => {
                if decide(byte, at, &mut depth)? {
                    return Some(at);
                }
            }
        }
        at += 1;
    }
    None
}
