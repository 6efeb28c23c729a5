//! Tags, attributes and text of XML and HTML.
//!
//! Browsers and Office accept malformed documents, which a strict parser (`quick-xml`) would reject. This one never fails: a `<`
//! that opens nothing is text, a tag that never ends ends the document.

/// A piece of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum XmlEvent<'a> {
    /// `<name …>`; the rest is the part between the name and `>`.
    Open { name: &'a str, rest: &'a str },
    /// `</name>`.
    Close(&'a str),
    /// Text between tags, with its entities.
    Text(&'a str),
    /// `<!DOCTYPE …>` with its declarations.
    Doctype(&'a str),
}

/// Walks a document.
pub(super) struct XmlEvents<'a> {
    rest: &'a str,
    /// Quotes are unbalanced up to the end. Then any `>` ends a tag, and no search runs that far again.
    torn: bool,
}

impl<'a> XmlEvents<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            torn: false,
        }
    }

    fn cut(&mut self, length: usize) -> &'a str {
        let (cut, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        cut
    }

    /// The text before `end`, which is skipped; everything if there is none.
    fn until(&mut self, end: &str) -> &'a str {
        let length = self.rest.find(end);
        let cut = self.cut(length.unwrap_or(self.rest.len()));
        self.cut(if length.is_some() { end.len() } else { 0 });
        cut
    }

    fn tag(&mut self) -> Option<XmlEvent<'a>> {
        let mut quote = None;
        let torn = self.torn;
        let end = self.rest.bytes().position(|b| {
            match quote {
                Some(open) if b == open => quote = None,
                None if b == b'"' || b == b'\'' => quote = Some(b),
                _ => {}
            }
            (torn || quote.is_none()) && b == b'>'
        });
        self.torn |= end.is_none();
        let tag = match end {
            Some(end) => {
                let tag = self.cut(end);
                self.cut(1);
                tag
            }
            None => self.until(">"),
        };
        let tag = tag.get(1..)?;
        if let Some(name) = tag.strip_prefix('/') {
            return Some(XmlEvent::Close(local(name.trim())));
        }
        let name = tag.split(|c: char| c.is_whitespace() || c == '/').next()?;
        Some(XmlEvent::Open {
            name: local(name),
            rest: tag.get(name.len()..)?,
        })
    }
}

impl<'a> Iterator for XmlEvents<'a> {
    type Item = XmlEvent<'a>;

    fn next(&mut self) -> Option<XmlEvent<'a>> {
        while !self.rest.is_empty() {
            if self.rest.starts_with("<!--") {
                self.until("-->");
            } else if self.rest.starts_with("<![CDATA[") {
                self.cut("<![CDATA[".len());
                return Some(XmlEvent::Text(self.until("]]>")));
            } else if self.rest.starts_with("<!") {
                let head = self.rest.split('>').next().unwrap_or_default();
                let end = if head.contains('[') { "]>" } else { ">" };
                return Some(XmlEvent::Doctype(self.until(end)));
            } else if self.rest.starts_with("<?") {
                self.until("?>");
            } else if self.rest.starts_with('<')
                && self
                    .rest
                    .as_bytes()
                    .get(1)
                    .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'_'))
            {
                return self.tag();
            } else {
                let skip = usize::from(self.rest.starts_with('<'));
                let length = self
                    .rest
                    .get(skip..)?
                    .find('<')
                    .map_or(self.rest.len(), |at| at + skip);
                return Some(XmlEvent::Text(self.cut(length)));
            }
        }
        None
    }
}

/// The name without its namespace.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The attributes of a tag: local names, values with their entities resolved.
pub(super) fn attributes(rest: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '=' | '/'))
            .unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let after = after.trim_start();
        let (value, after) = match after.strip_prefix('=').map(str::trim_start) {
            None => ("", after),
            Some(value) => match value.chars().next() {
                Some(quote @ ('"' | '\'')) => {
                    let body = value.get(1..).unwrap_or_default();
                    body.split_once(quote).unwrap_or((body, ""))
                }
                _ => value
                    .split_at_checked(value.find(char::is_whitespace).unwrap_or(value.len()))
                    .unwrap_or((value, "")),
            },
        };
        if !name.is_empty() {
            found.push((local(name).to_owned(), entities(value)));
        }
        rest = after.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
    }
    found
}

/// Text with its entities resolved: the five of XML, and numbers.
pub(super) fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at..).unwrap_or_default();
        let end = rest.bytes().take(12).position(|b| b == b';');
        let resolved = end.and_then(|end| entity(rest.get(1..end)?));
        match (end, resolved) {
            (Some(end), Some(c)) => {
                out.push(c);
                rest = rest.get(end + 1..).unwrap_or_default();
            }
            _ => {
                out.push('&');
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}

fn entity(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        "colon" => Some(':'),
        "Tab" => Some('\t'),
        "NewLine" => Some('\n'),
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}
