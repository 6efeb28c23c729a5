//! The possible nesting depth of a text, before it is parsed.
//!
//! The parser recurses, so [`signs`] gives a bound for its stack. And it tries each `(` that could begin the parameters of an arrow
//! function as such, and parses it again as something else if it was not: code nested in `n` of them is parsed `n` times. [`is_tangled`]
//! adds that up, and refuses code that no person or bundler writes: 20 KB of `a=(a=(a=(…` would take a minute and 2 GiB. It refuses
//! implausibly deep nesting as well: each level takes up to 2 KiB of stack, and 1 MB of `[[[[…` would take a gigabyte.

/// The total number of times that brackets may be parsed again: half a second's worth.
const MOST_AGAIN: usize = 300_000;
/// The maximum nesting: brackets, and other constructs that are parsed by recursion. Bundlers reach a few hundred.
const DEEPEST: u32 = 8_000;

/// How many signs and words of a text could nest something, and the longest run of `<` without an end. Strings and comments are
/// counted too: an upper bound that can't be fooled.
pub(super) fn signs(text: &str) -> (usize, u32) {
    let bytes = text.as_bytes();
    let (mut signs, mut angles, mut most) = (0_usize, 0_u32, 0_u32);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'<' => {
                signs += 1;
                angles += 1;
                most = most.max(angles);
            }
            b'>' | b';' | b'}' | b')' => {
                angles = 0;
                signs += usize::from(byte == b'>');
            }
            // A template within a template takes more than one level of anything else.
            b'`' | b'(' | b'[' | b'{' | b'!' | b'~' | b'+' | b'-' | b'=' | b'?' | b'*' | b':'
            | b'@' | b'|' | b'&' => signs += 1,
            b'a'..=b'z' => {
                let start = at - 1;
                while bytes
                    .get(at)
                    .is_some_and(|next| next.is_ascii_alphanumeric() || matches!(next, b'_' | b'$'))
                {
                    at += 1;
                }
                signs += usize::from(bytes.get(start..at).is_some_and(nests));
            }
            _ => {}
        }
    }
    (signs, most)
}

/// Words after which the same rule may begin again.
fn nests(word: &[u8]) -> bool {
    matches!(
        word,
        b"new"
            | b"typeof"
            | b"void"
            | b"delete"
            | b"await"
            | b"yield"
            | b"do"
            | b"else"
            | b"async"
            | b"keyof"
            | b"infer"
            | b"unique"
            | b"readonly"
            | b"extends"
            | b"is"
            | b"asserts"
            | b"in"
            | b"of"
            | b"as"
            | b"satisfies"
            | b"case"
            | b"class"
            | b"function"
            | b"return"
            | b"throw"
            | b"export"
            | b"default"
            | b"import"
    )
}

/// Whether the parser would read the brackets of a text too often.
pub(super) fn is_tangled(text: &str) -> bool {
    let mut scan = NestingScan {
        bytes: text.as_bytes(),
        at: 0,
        open: Vec::new(),
        doubtful: 0,
        again: 0,
        here: 0,
        depth: 0,
        deepest: 0,
        last: b';',
        templates: Vec::new(),
    };
    let is_tangled = |scan: &NestingScan<'_>| scan.again > MOST_AGAIN || scan.deepest > DEEPEST;
    while !is_tangled(&scan) && scan.step() {}
    is_tangled(&scan)
}

struct NestingScan<'a> {
    bytes: &'a [u8],
    at: usize,
    /// For each open bracket, whether it could begin the parameters of an arrow function, and the sign before it.
    open: Vec<(bool, u32)>,
    /// How many of them could.
    doubtful: usize,
    again: usize,
    /// Signs since the last bracket, comma or end of a statement after which the same rule begins again: `!!!!`, `a=a=a=`, `else if`.
    here: u32,
    /// The sum for all open levels, and the brackets.
    depth: u32,
    deepest: u32,
    /// The last sign that was not whitespace or a comment; `a` for a word, `r` for a word that a value follows.
    last: u8,
    /// How many brackets were open where the `${` of a template began.
    templates: Vec<usize>,
}

impl NestingScan<'_> {
    fn step(&mut self) -> bool {
        let Some(&byte) = self.bytes.get(self.at) else {
            return false;
        };
        self.at += 1;
        let next = self.bytes.get(self.at).copied().unwrap_or(b' ');
        match byte {
            // A value, a line end and a word: the statement is over.
            b'\n' if matches!(self.last, b'a' | b'"' | b'\'' | b'`' | b']') && self.is_over() => {
                self.restart();
                return true;
            }
            b' ' | b'\t' | b'\r' | b'\n' => return true,
            b'/' if next == b'/' => {
                self.skip_to(b"\n");
                return true;
            }
            b'/' if next == b'*' => {
                self.skip_to(b"*/");
                return true;
            }
            b'/' if self.is_regex() => self.regex(),
            b'"' | b'\'' => self.string(byte),
            b'`' => self.template(),
            b'(' => self.opened(self.is_doubtful()),
            b'[' | b'{' => self.opened(false),
            b')' | b']' => self.closed(),
            b',' => self.restart(),
            b';' if self.is_over() || !self.at_word() => self.restart(),
            b'}' => {
                self.closed();
                if self.templates.last() == Some(&self.open.len()) {
                    self.templates.pop();
                    self.template();
                } else if self.is_over() {
                    self.restart();
                }
            }
            _ if is_word(byte) => {
                let start = self.at - 1;
                while self.bytes.get(self.at).is_some_and(|next| is_word(*next)) {
                    self.at += 1;
                }
                self.last = match &self.bytes[start..self.at] {
                    b"return" | b"typeof" | b"case" | b"in" | b"of" | b"do" | b"else" | b"void"
                    | b"delete" | b"throw" | b"new" | b"await" | b"yield" | b"instanceof" => b'r',
                    _ => b'a',
                };
                let word = &self.bytes[start..self.at];
                if nests(word) || matches!(word, b"if" | b"for" | b"while" | b"with") {
                    self.again_here();
                }
                return true;
            }
            // After a value, `+` and `-` are read in a loop.
            b'+' | b'-' if !self.is_regex() => {}
            b'<' if next == b'/' => self.level_less(),
            b'/' if next == b'>' => self.level_less(),
            b'!' | b'~' | b'+' | b'-' | b'?' | b':' | b'<' | b'@' => self.again_here(),
            b'=' if self.last != b'=' => self.again_here(),
            b'*' if self.last == b'*' => self.again_here(),
            _ => {}
        }
        self.last = byte;
        true
    }

    fn opened(&mut self, doubtful: bool) {
        self.again_here();
        self.open.push((doubtful, self.here));
        self.here = 0;
        self.doubtful += usize::from(doubtful);
        self.again += self.doubtful;
    }

    fn closed(&mut self) {
        self.restart();
        let (doubtful, before) = self.open.pop().unwrap_or_default();
        self.doubtful -= usize::from(doubtful);
        // The bracket is closed; the expression before it can continue.
        self.here = before.saturating_sub(1);
        self.depth = self.depth.saturating_sub(u32::from(before > 0));
    }

    /// One level deeper.
    fn again_here(&mut self) {
        self.here += 1;
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    /// An element ends.
    fn level_less(&mut self) {
        if self.here > 0 {
            self.here -= 1;
            self.depth -= 1;
        }
    }

    /// Back to where the bracket began.
    fn restart(&mut self) {
        self.depth = self.depth.saturating_sub(self.here);
        self.here = 0;
    }

    /// The following text, without leading whitespace.
    fn ahead(&self) -> &[u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let blanks = rest.iter().take(64);
        let blanks = blanks.take_while(|byte| byte.is_ascii_whitespace()).count();
        &rest[blanks..]
    }

    fn at_word(&self) -> bool {
        self.ahead().first().is_some_and(|byte| is_word(*byte))
    }

    /// Whether a word follows that does not continue the previous statement: `if (a) b; else …`.
    fn is_over(&self) -> bool {
        let ahead = self.ahead();
        let length = ahead
            .iter()
            .take(12)
            .take_while(|byte| is_word(**byte))
            .count();
        length > 0
            && !matches!(
                &ahead[..length],
                b"else" | b"in" | b"of" | b"instanceof" | b"as" | b"satisfies" | b"is" | b"extends"
            )
    }

    /// After a value, `/` divides; after `)` and `}` it may do either, and then nothing may be skipped.
    fn is_regex(&self) -> bool {
        !matches!(self.last, b'a' | b')' | b']' | b'}' | b'"' | b'\'' | b'`')
    }

    fn regex(&mut self) {
        let mut class = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' => return,
                b'\\' => self.at += 1,
                b'[' => class = true,
                b']' => class = false,
                b'/' if !class => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn string(&mut self, quote: u8) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' => return,
                _ if byte == quote => return,
                _ => {}
            }
        }
    }

    /// The rest of a template, up to its end or to the next `${`.
    fn template(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'`' => return,
                b'$' if self.bytes.get(self.at) == Some(&b'{') => {
                    self.at += 1;
                    self.templates.push(self.open.len());
                    self.opened(false);
                    return;
                }
                _ => {}
            }
        }
    }

    fn skip_to(&mut self, end: &[u8]) {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += memchr::memmem::find(rest, end).map_or(rest.len(), |found| found + end.len());
    }

    /// Whether the text after a `(` could be parameters: a pattern, or a name and a sign that can follow it.
    fn is_doubtful(&self) -> bool {
        let mut rest = self.bytes.get(self.at..).unwrap_or_default().iter();
        let mut named = false;
        for byte in rest.by_ref().take(100) {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ if is_word(*byte) || *byte == b'\\' => named = true,
                b'=' | b',' | b':' | b'?' | b'/' => return true,
                b'{' | b'[' | b'.' | b'@' => return !named,
                _ => return false,
            }
        }
        true
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80
}
