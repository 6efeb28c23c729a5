//! Abstract values.

use std::rc::Rc;

use super::Site;

/// What kinds of source there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceKind {
    /// All environment variables at once.
    Environment,
    /// One environment variable whose name says that it is secret.
    SecretVariable,
    /// Another environment variable.
    Variable,
    /// A file that holds credentials of other tools: SSH keys, cloud credentials, tokens.
    CredentialFile,
    /// A keychain or password manager.
    Keychain,
    /// A browser's cookies, logins or storage.
    Browser,
    /// A cryptocurrency wallet or seed.
    Wallet,
    /// What the shell, a browser or a chat remembers of the user.
    History,
    /// The agent's own memory, settings or transcripts.
    AgentMemory,
    /// The clipboard.
    Clipboard,
    /// Keys, screen, microphone or camera.
    Spying,
    /// Who and where the user is: names, addresses, processes.
    HostFacts,
    /// The user's files, many at once.
    UserFiles,
    /// Something from the network.
    Download,
    /// Text that was decoded or decrypted.
    Decoded,
    /// What the user or caller gives.
    Input,
    /// A file in a place where anybody can write.
    TempFile,
    /// A long literal that says nothing as it stands.
    Blob,
}

/// A source, with its particulars.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Source {
    /// Which kind.
    pub kind: SourceKind,
    /// The variable, path, URL or encoding.
    pub what: Rc<str>,
}

/// A source that had a hand in a value, and where it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taint {
    /// The source.
    pub source: Source,
    /// Where it was read.
    pub site: Site,
}

/// How many sources and texts of one value are kept: enough for evidence, bounded for hostile programs.
const MOST_TAINTS: usize = 12;
const MOST_TEXTS: usize = 4;
const LONGEST_TEXT: usize = 64 * 1024;
const MOST_WITHIN: usize = 64;

/// The sign for a piece of text that isn't known.
pub(crate) const UNKNOWN: char = '\0';

/// What is known of a value.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Value {
    /// Texts that it may be, [`UNKNOWN`] for unknown pieces.
    pub(crate) texts: Vec<String>,
    /// What had a hand in it.
    pub(crate) taints: Vec<Taint>,
    /// The function that made it, for methods on it.
    pub(crate) made_by: Option<Rc<str>>,
    /// Its items, if it is a list.
    pub(crate) items: Option<Vec<Value>>,
    /// The number, if it is one.
    pub(crate) number: Option<i64>,
}

impl Value {
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

    /// The first text it may be.
    pub(crate) fn known(&self) -> Option<&str> {
        self.texts.first().map(String::as_str)
    }

    /// The text, or the sign for unknown.
    pub(crate) fn shown(&self) -> String {
        self.known()
            .map_or_else(|| UNKNOWN.to_string(), str::to_owned)
    }

    pub(crate) fn has(&self, kind: SourceKind) -> bool {
        self.taints.iter().any(|taint| taint.source.kind == kind)
    }

    pub(crate) fn taint(&mut self, kind: SourceKind, what: &str, site: Site) {
        let source = Source {
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

    /// Everything that had a hand in `other` has a hand in this.
    pub(crate) fn absorb(&mut self, other: &Self) {
        other
            .taints
            .iter()
            .for_each(|taint| self.add(taint.clone()));
        for item in other.items.iter().flatten() {
            item.taints.iter().for_each(|taint| self.add(taint.clone()));
        }
    }

    /// This, or that: what a name is after several assignments.
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

    /// Texts one after the other.
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
                None => match value.number {
                    Some(number) => text.push_str(&number.to_string()),
                    None => text.push(UNKNOWN),
                },
            }
        }
        result.texts = Self::text(text).texts;
        result
    }

    /// Its items. Lists within lists are kept only while they are small: `s = [s, s]` forty times would be a tree
    /// that fits no machine.
    pub(crate) fn set_items(&mut self, mut items: Vec<Self>) {
        for item in &mut items {
            if item.weight() > MOST_WITHIN {
                item.items = None;
            }
        }
        self.items = Some(items);
    }

    /// How many values it is made of.
    fn weight(&self) -> usize {
        1 + self.items.iter().flatten().map(Self::weight).sum::<usize>()
    }

    /// The same sources, another text.
    pub(crate) fn with_text(mut self, text: String) -> Self {
        self.texts = Self::text(text).texts;
        self.items = None;
        self
    }
}

/// Longer literals are data that nobody reads.
const LARGEST_BLOB: usize = 64 * 1024;

/// A long text without words: encoded, encrypted or shuffled.
pub(super) fn is_blob(text: &str) -> bool {
    let length = text.len();
    if !(64..=LARGEST_BLOB).contains(&length) || text.contains("://") || text.contains('\n') {
        return false;
    }
    // Sequences of proteins and genes are data of their own kind.
    if text.bytes().all(|byte| byte.is_ascii_uppercase()) {
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
