//! Python bytecode: its names and strings, and whether its source contains them too.
//!
//! Python runs `__pycache__/x.cpython-312.pyc` instead of `x.py` if the header of the former states that it is
//! fresh; with the flag *unchecked hash* (PEP 552) it does so whatever the source is. So a harmless source
//! with harmful bytecode next to it hides a program. Here bytecode is not decompiled: the names it
//! uses and the strings it contains are collected, and [`compare`] searches for them in the source. A name that is missing there
//! was not compiled from it.

use std::collections::HashSet;

use super::bytes::ByteReader;
use super::marshal::MarshalWalk;

/// The magic numbers of CPython releases and of their pre-releases: first, last, version.
const MAGIC: &[(u16, u16, (u8, u8))] = &[
    (62171, 62211, (2, 7)),
    (3000, 3131, (3, 0)),
    (3141, 3151, (3, 1)),
    (3160, 3180, (3, 2)),
    (3190, 3230, (3, 3)),
    (3250, 3310, (3, 4)),
    (3320, 3351, (3, 5)),
    (3360, 3379, (3, 6)),
    (3390, 3399, (3, 7)),
    (3400, 3419, (3, 8)),
    (3420, 3429, (3, 9)),
    (3430, 3439, (3, 10)),
    (3450, 3495, (3, 11)),
    (3500, 3531, (3, 12)),
    (3550, 3571, (3, 13)),
    (3600, 3649, (3, 14)),
    (3650, 3699, (3, 15)),
];

/// Names that a compiler adds by itself.
const IMPLICIT: &[&str] = &[
    // In the qualified names of objects inside a function.
    "locals",
    "listcomp",
    "setcomp",
    "dictcomp",
    "genexpr",
    "lambda",
    "__name__",
    "__module__",
    "__qualname__",
    "__doc__",
    "__class__",
    "__classcell__",
    "__annotations__",
    "__static_attributes__",
    "__firstlineno__",
    "__annotate__",
    "__annotate_func__",
    "__annotations_cache__",
    "__conditional_annotations__",
    "__classdict__",
    "__classdictcell__",
    "__type_params__",
    "__locals__",
    "__dict__",
    "AssertionError",
    "NotImplementedError",
    "format",
    "return",
    "append",
    "__build_class__",
    "__build_class",
    "all",
    "any",
    "None",
    "True",
    "False",
    "locals",
    "self",
];

/// The maximum number of listed names.
const MOST_LISTED: usize = 50;
/// Words that the source does not contain unchanged may be split over literals there; that search is slow.
const MOST_SEARCHED: usize = 64;

/// How Python decides whether bytecode is fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PycValidation {
    /// By the time and size of the source.
    Mtime {
        /// Seconds since 1970.
        mtime: u32,
        /// The size of the source; 0 before Python 3.3, which did not store it.
        size: u32,
    },
    /// By a hash of the source.
    Hash {
        /// SipHash of the source.
        hash: u64,
        /// If false, Python never reads the source.
        checked: bool,
    },
}

/// The names and strings of a `.pyc` file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pyc {
    /// The version of Python, major and minor.
    pub version: (u8, u8),
    /// How it is compared with its source.
    pub validation: PycValidation,
    /// Attributes, globals, variables, functions, modules: sorted, each once.
    pub names: Vec<String>,
    /// String constants, sorted, each once.
    pub strings: Vec<String>,
    /// The sources that it claims to be compiled from.
    pub files: Vec<String>,
    /// How many code objects were walked.
    pub codes: usize,
    /// Whether the walk reached the end.
    pub complete: bool,
}

/// The names and strings in bytecode that its source does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BytecodeMatch {
    /// Names, at most 50.
    pub names: Vec<String>,
    /// Strings, at most 50.
    pub strings: Vec<String>,
}

impl BytecodeMatch {
    /// Whether nothing in the bytecode is foreign to the source.
    #[must_use]
    pub(crate) fn agrees(&self) -> bool {
        self.names.is_empty() && self.strings.is_empty()
    }
}

/// Whether bytes begin like bytecode of a known version.
#[must_use]
pub(crate) fn has_magic(head: &[u8]) -> bool {
    version(head).is_some()
}

/// Reads a `.pyc` file; `None` if it does not begin like one.
#[must_use]
pub(crate) fn pyc(bytes: &[u8]) -> Option<Pyc> {
    let version = version(bytes)?;
    let mut reader = ByteReader::new(bytes);
    reader.take(4)?;
    let validation = match version {
        (2, _) | (3, ..=2) => PycValidation::Mtime {
            mtime: reader.low32()?,
            size: 0,
        },
        (3, ..=6) => PycValidation::Mtime {
            mtime: reader.low32()?,
            size: reader.low32()?,
        },
        _ => {
            let flags = reader.low32()?;
            if flags & 1 == 1 {
                PycValidation::Hash {
                    hash: reader.low64()?,
                    checked: flags & 2 == 2,
                }
            } else {
                PycValidation::Mtime {
                    mtime: reader.low32()?,
                    size: reader.low32()?,
                }
            }
        }
    };
    let mut walk = MarshalWalk::new(bytes.get(reader.position()..)?, version);
    let complete = walk.run();
    let found = &walk.found;
    let (names, strings, files) = (
        walk.strings(&found.names),
        walk.strings(&found.strings),
        walk.strings(&found.files),
    );
    Some(Pyc {
        version,
        validation,
        names,
        strings,
        files,
        codes: found.codes,
        complete,
    })
}

fn version(head: &[u8]) -> Option<(u8, u8)> {
    let [low, high, b'\r', b'\n', ..] = *head else {
        return None;
    };
    let magic = u16::from_le_bytes([low, high]);
    MAGIC
        .iter()
        .find(|(first, last, _)| (*first..=*last).contains(&magic))
        .map(|&(_, _, version)| version)
}

/// Lists the names and strings in bytecode that its alleged source does not contain.
///
/// Strings are compared word by word, since a compiler joins literals, takes f-strings apart and strips
/// docstrings; the words stay. Escapes in the source are undone first.
#[must_use]
pub(crate) fn compare(pyc: &Pyc, source: &str) -> BytecodeMatch {
    let plain = unescaped(source);
    let words: HashSet<&str> = words(source).chain(words(&plain)).collect();
    let mut sewn = Sewn {
        source: &plain,
        text: None,
        left: MOST_SEARCHED,
    };
    let mut result = BytecodeMatch::default();
    for name in &pyc.names {
        let known = name.split('.').all(|part| {
            part.is_empty()
                || part.contains('<')
                || part == "0" // the argument of a comprehension is called `.0`
                || IMPLICIT.contains(&part)
                || words.contains(part)
                || unmangled(part).is_some_and(|part| words.contains(part))
        });
        if !known && result.names.len() < MOST_LISTED {
            result.names.push(name.clone());
        }
    }
    for string in &pyc.strings {
        let known = self::words(string).all(|word| {
            is_trifle(word)
                || words.contains(word)
                || IMPLICIT.contains(&word)
                || sewn.contains(word)
        });
        if !known && result.strings.len() < MOST_LISTED {
            result.strings.push(string.clone());
        }
    }
    result
}

/// The source without quotes, joining signs and line ends: `"cu" "rl"` becomes `curl`.
struct Sewn<'a> {
    source: &'a str,
    text: Option<String>,
    left: usize,
}

impl Sewn<'_> {
    fn contains(&mut self, word: &str) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let source = self.source;
        self.text.get_or_insert_with(|| sew(source)).contains(word)
    }
}

fn sew(source: &str) -> String {
    let joins = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '+' | '\\' | '(' | ')');
    let mut out = String::with_capacity(source.len());
    let mut before = ' ';
    let mut rest = source.chars().peekable();
    while let Some(c) = rest.next() {
        let prefix = matches!(c, 'b' | 'r' | 'f' | 'u') && matches!(rest.peek(), Some('"' | '\''));
        if !joins(c) && (!prefix || before.is_alphanumeric()) {
            out.push(c);
        }
        before = c;
    }
    out
}

/// Too short to decide, or the product of a multiplication (`"u" * 4`).
fn is_trifle(word: &str) -> bool {
    let first = word.chars().next();
    word.chars().nth(2).is_none() || word.chars().all(|c| Some(c) == first)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !word.is_empty())
}

/// `_Class__private` was written `__private`.
fn unmangled(name: &str) -> Option<&str> {
    let rest = name.strip_prefix('_')?;
    let at = rest.find("__")?;
    rest.get(at..)
}

/// Literals as they are at run time, roughly: each escape becomes its character.
fn unescaped(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let Some(sign) = rest.chars().next() else {
            break;
        };
        let hex = |count: usize| {
            let digits = rest.get(1..=count)?;
            digits
                .bytes()
                .all(|b| b.is_ascii_hexdigit())
                .then(|| {
                    u32::from_str_radix(digits, 16)
                        .ok()
                        .and_then(char::from_u32)
                })
                .flatten()
        };
        let (c, length) = match sign {
            'x' => (hex(2), 3),
            'u' => (hex(4), 5),
            'U' => (hex(8), 9),
            '0'..='7' => {
                let length = rest
                    .bytes()
                    .take(3)
                    .take_while(|b| (b'0'..=b'7').contains(b))
                    .count();
                (
                    rest.get(..length)
                        .and_then(|digits| u32::from_str_radix(digits, 8).ok())
                        .and_then(char::from_u32),
                    length,
                )
            }
            'n' | 't' | 'r' | 'a' | 'b' | 'f' | 'v' => (Some(' '), 1),
            '\n' => (None, 1),
            sign => (Some(sign), sign.len_utf8()),
        };
        out.extend(c);
        rest = rest.get(length..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}
