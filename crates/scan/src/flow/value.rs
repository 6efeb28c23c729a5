//! Abstract values.

use std::{borrow::Cow, rc::Rc};

use super::Site;

/// The kinds of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// All environment variables at once.
    Environment,
    /// An environment variable with a secret-looking name.
    SecretVariable,
    /// Another environment variable.
    Variable,
    /// A file with credentials of other tools: SSH keys, cloud credentials, tokens.
    CredentialFile,
    /// A keychain or password manager.
    Keychain,
    /// A browser's cookies, logins or storage.
    Browser,
    /// A cryptocurrency wallet or seed.
    Wallet,
    /// A history of the shell, a browser or a chat.
    History,
    /// The agent's own memory, settings or transcripts.
    AgentMemory,
    /// The clipboard.
    Clipboard,
    /// Keys, screen, microphone or camera.
    Spying,
    /// The user's identity and location: names, addresses, processes.
    HostFacts,
    /// The user's files, many at once.
    UserFiles,
    /// Data from the network.
    Download,
    /// Text that was decoded or decrypted.
    Decoded,
    /// Input of the user or caller.
    Input,
    /// A file in a world-writable folder.
    TempFile,
    /// A long literal without readable text.
    Blob,
    /// A list of numbers, which may be the character codes of a string.
    Numbers,
}

impl SourceKind {
    /// Whether it is a file that belongs to the user, and that other programs keep for themselves.
    pub(crate) const fn is_private(self) -> bool {
        matches!(
            self,
            Self::CredentialFile | Self::Keychain | Self::Browser | Self::Wallet | Self::History
        )
    }
}

/// A source with its details.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaintSource {
    /// Its kind.
    pub kind: SourceKind,
    /// The variable, path, URL or encoding.
    pub what: Rc<str>,
}

/// A source that contributed to a value, and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// The source.
    pub source: TaintSource,
    /// The position where it was read.
    pub site: Site,
}

/// The maximum number of sources and strings per value: enough for evidence, limited for hostile programs.
const MOST_TAINTS: usize = 12;
const MOST_TEXTS: usize = 4;
const LONGEST_TEXT: usize = 64 * 1024;
const MOST_WITHIN: usize = 64;

/// The placeholder for an unknown part of a string.
pub(crate) const UNKNOWN: char = '\0';

/// Around the name of an unknown value in a string, after [`UNKNOWN`]: a file at a computed path is the same file wherever
/// the same name refers to it.
const SYMBOL: char = '\u{1}';
const LONGEST_SYMBOL: usize = 40;

/// An unknown part of a string, with its name in the program.
fn symbol(name: &str) -> String {
    let plain = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let name: String = name.chars().filter(plain).take(LONGEST_SYMBOL).collect();
    format!("{UNKNOWN}{SYMBOL}{name}{SYMBOL}")
}

/// A string for display: unknown parts have no names.
pub(super) fn without_symbols(text: &str) -> Cow<'_, str> {
    if !text.contains(SYMBOL) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split(SYMBOL).step_by(2).collect())
}

/// A string as a program: unknown parts are words.
pub(super) fn as_program(text: &str) -> String {
    text.replace("\0\u{1}", "__s_")
        .replace(SYMBOL, "_")
        .replace(UNKNOWN, "__")
}

/// An abstract value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FlowValue {
    /// Its possible strings, with [`UNKNOWN`] for unknown parts.
    pub(crate) texts: Vec<String>,
    /// The sources that contributed to it.
    pub(crate) taints: Vec<Taint>,
    /// The function that returned it, for its methods.
    pub(crate) made_by: Option<Rc<str>>,
    /// Its items, if it is a list.
    pub(crate) items: Option<Vec<FlowValue>>,
    /// The number, if it is one.
    pub(crate) number: Option<i64>,
}

impl FlowValue {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        let mut text = text.into();
        if text.len() > LONGEST_TEXT {
            let mut end = LONGEST_TEXT;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        Self {
            texts: vec![text],
            ..Self::default()
        }
    }

    pub(crate) fn source(kind: SourceKind, what: &str, site: Site) -> Self {
        let mut value = Self::default();
        value.taint(kind, what, site);
        value
    }

    /// The first of its possible strings.
    pub(crate) fn known(&self) -> Option<&str> {
        self.texts.first().map(String::as_str)
    }

    /// The string as a path; an unknown path is named after the expression that computed it.
    pub(crate) fn place(&self) -> Option<String> {
        let named = || self.made_by.as_deref().map(symbol);
        self.known().map(str::to_owned).or_else(named)
    }

    /// The string, or the placeholder.
    pub(crate) fn shown(&self) -> String {
        self.known()
            .map_or_else(|| UNKNOWN.to_string(), str::to_owned)
    }

    pub(crate) fn has(&self, kind: SourceKind) -> bool {
        self.taints.iter().any(|taint| taint.source.kind == kind)
    }

    pub(crate) fn taint(&mut self, kind: SourceKind, what: &str, site: Site) {
        let source = TaintSource {
            kind,
            what: what.into(),
        };
        self.add(Taint { source, site });
    }

    fn add(&mut self, taint: Taint) {
        if self.taints.len() < MOST_TAINTS
            && !self.taints.iter().any(|own| own.source == taint.source)
        {
            self.taints.push(taint);
        }
    }

    /// Adds the sources of `other`.
    pub(crate) fn absorb(&mut self, other: &Self) {
        other
            .taints
            .iter()
            .for_each(|taint| self.add(taint.clone()));
        for item in other.items.iter().flatten() {
            item.taints.iter().for_each(|taint| self.add(taint.clone()));
        }
    }

    /// The union of two values: the value of a name after several assignments.
    pub(crate) fn join(&mut self, other: Self) {
        self.absorb(&other);
        for text in other.texts {
            if self.texts.len() < MOST_TEXTS && !self.texts.contains(&text) {
                self.texts.push(text);
            }
        }
        self.made_by = other.made_by.or(self.made_by.take());
        self.items = other.items.or(self.items.take());
        self.number = other.number.or(self.number);
    }

    /// The concatenation of strings.
    pub(crate) fn concat<'v>(values: impl IntoIterator<Item = &'v Self>, between: &str) -> Self {
        let mut result = Self::default();
        let mut text = String::new();
        for (index, value) in values.into_iter().enumerate() {
            if index > 0 {
                text.push_str(between);
            }
            result.absorb(value);
            match value.known() {
                Some(known) if text.len() < LONGEST_TEXT => text.push_str(known),
                Some(_) => {}
                None => match (value.number, &value.made_by) {
                    (Some(number), _) => text.push_str(&number.to_string()),
                    (None, Some(maker)) => text.push_str(&symbol(maker)),
                    (None, None) => text.push(UNKNOWN),
                },
            }
        }
        result.texts = Self::text(text).texts;
        result
    }

    /// Its items. Nested lists are kept only while they are small: `s = [s, s]` forty times would be a tree
    /// that exceeds any memory.
    pub(crate) fn set_items(&mut self, mut items: Vec<Self>) {
        for item in &mut items {
            if item.weight() > MOST_WITHIN {
                item.items = None;
            }
        }
        self.items = Some(items);
    }

    /// The number of values in it.
    fn weight(&self) -> usize {
        1 + self.items.iter().flatten().map(Self::weight).sum::<usize>()
    }

    /// A value with the same sources and another string.
    pub(crate) fn with_text(mut self, text: String) -> Self {
        self.texts = Self::text(text).texts;
        self.items = None;
        self
    }
}

/// Longer literals are unreadable data.
const LARGEST_BLOB: usize = 64 * 1024;

/// A long string without words: encoded, encrypted or shuffled.
pub(super) fn is_blob(text: &str) -> bool {
    let length = text.len();
    if !(64..=LARGEST_BLOB).contains(&length) || text.contains("://") || text.contains('\n') {
        return false;
    }
    // Protein and gene sequences are ordinary data.
    if text.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return false;
    }
    // The three parts of a web token are data.
    if text.starts_with("eyJ") && text.contains('.') {
        return false;
    }
    // Digests are looked up, not decoded.
    let hex = text
        .split(|c: char| !c.is_ascii_hexdigit())
        .filter(|run| run.len() >= 32)
        .map(str::len)
        .sum::<usize>();
    if hex * 10 > length * 3 {
        return false;
    }
    let numbers = text
        .bytes()
        .filter(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b' '))
        .count();
    let listed = numbers == length && text.matches(',').count() >= 24;
    listed || !crate::text::plausible::is_plausible(text)
}
