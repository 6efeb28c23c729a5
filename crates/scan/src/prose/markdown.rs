//! Parses Markdown into sentences with their roles, and code with its language.

use std::ops::{Range, RangeInclusive};

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::{
    ClassSet, Sentence, SentenceRole, classes_of,
    lexicon::PhraseClass,
    polarity::{ACTIONS, bad_example, denies_list, is_steps_heading, negated, warning_heading},
};

/// A piece of code in a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CodeSpan {
    /// The first word after the fence, lower case; empty if there is none.
    pub(crate) language: String,
    /// Its text.
    pub(crate) text: String,
    /// Its range in the text.
    pub(crate) at: Range<usize>,
    /// Whether it is shown as a warning, a quotation, or in a table.
    pub(crate) role: SentenceRole,
    /// Whether it is an inline code span.
    pub(crate) inline: bool,
}

/// Shorter spans of code are not kept.
const SHORTEST_CODE: usize = 4;

/// A parsed document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MarkdownDocument {
    /// Its sentences, in order; headings are sentences too.
    pub(crate) sentences: Vec<Sentence>,
    /// Its code, in order.
    pub(crate) code: Vec<CodeSpan>,
    /// Comments and raw HTML.
    pub(crate) html: Vec<(Range<usize>, String)>,
}

/// Reads Markdown.
pub(crate) fn document(text: &str) -> MarkdownDocument {
    let mut reader = MarkdownReader::new(text);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let parser = Parser::new_ext(text, options);
    let definitions = unseen_definitions(&parser, text);
    for (event, range) in parser.into_offset_iter() {
        reader.event(event, range);
    }
    reader.end_block(text.len());
    reader.document.html.extend(definitions);
    reader.document
}

/// `[//]: # (words)`: a definition of a link is not visible in the page. Its words are kept as a comment.
fn unseen_definitions(parser: &Parser<'_>, text: &str) -> Vec<(Range<usize>, String)> {
    let mut found: Vec<(Range<usize>, String)> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| {
            let title = definition.title.as_deref().unwrap_or_default();
            (definition.span.clone(), format!("{label} {title}"))
        })
        .collect();
    found.sort_by_key(|(at, _)| at.start);
    // The parser keeps the first of several with one label, an agent reads them all.
    let mut start = 0;
    let mut repeated = Vec::new();
    for line in text.split_inclusive('\n') {
        let definition = line.trim_start().strip_prefix('[');
        if let Some((label, rest)) = definition.and_then(|rest| rest.split_once("]:")) {
            let next = found.partition_point(|(at, _)| at.start <= start);
            let known = next > 0 && found[next - 1].0.end > start;
            if !known {
                repeated.push((start..start + line.len(), format!("{label} {rest}")));
            }
        }
        start += line.len();
    }
    found.extend(repeated);
    found.retain(|(_, words)| words.split_whitespace().count() > 2);
    for (_, words) in &mut found {
        *words = format!("<!-- {words} -->");
    }
    found
}

/// A text without structure: each line or sentence separately.
pub(crate) fn plain(text: &str) -> MarkdownDocument {
    let mut reader = MarkdownReader::new(text);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        reader.push_text(line, start);
        start += line.len();
        if line.trim().is_empty() || reader.block.len() > 4096 {
            reader.end_block(start);
        }
    }
    reader.end_block(text.len());
    reader.document
}

struct MarkdownReader<'t> {
    source: &'t str,
    document: MarkdownDocument,
    /// The text of the current block, and the sources of its pieces.
    block: String,
    pieces: Vec<(usize, usize)>,
    blocks: u32,
    quotes: u32,
    table: bool,
    /// How many lists are open.
    lists: u32,
    /// Whether the next or current list contains prohibitions: "DO NOT:".
    denies: bool,
    heading: Option<HeadingLevel>,
    /// For each level of heading, the role of a section of warnings.
    warned: [Option<SentenceRole>; 7],
    code: Option<(String, String, usize)>,
}

impl<'t> MarkdownReader<'t> {
    fn new(source: &'t str) -> Self {
        Self {
            source,
            document: MarkdownDocument::default(),
            block: String::new(),
            pieces: Vec::new(),
            blocks: 0,
            quotes: 0,
            table: false,
            lists: 0,
            denies: false,
            heading: None,
            warned: [None; 7],
            code: None,
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                self.end_block(range.start);
                let language = match kind {
                    CodeBlockKind::Fenced(info) => info
                        .split([' ', ',', '{'])
                        .next()
                        .unwrap_or_default()
                        .to_ascii_lowercase(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new(), range.start));
            }
            Event::End(TagEnd::CodeBlock) => {
                if let Some((language, text, start)) = self.code.take() {
                    self.end_code(language, text, start..range.end);
                }
            }
            Event::Text(text) => match &mut self.code {
                Some((_, code, start)) => {
                    if code.is_empty() {
                        *start = range.start;
                    }
                    code.push_str(&text);
                }
                None => self.push_text(&text, range.start),
            },
            Event::Code(text) => {
                self.push_text("`", range.start);
                self.push_text(&text, range.start);
                self.push_text("`", range.end);
                // No shorter code could be run, and a page may have a quarter of a million spans.
                if text.len() < SHORTEST_CODE {
                    return;
                }
                let role = self.role(false);
                let skip = self.source[range.clone()].find(text.as_ref()).unwrap_or(1);
                self.document.code.push(CodeSpan {
                    language: String::new(),
                    text: text.to_string(),
                    at: range.start + skip..range.end,
                    role,
                    inline: true,
                });
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                self.document.html.push((range, html.to_string()));
            }
            Event::SoftBreak | Event::HardBreak => self.push_text("\n", range.start),
            Event::Start(tag) => self.start(&tag, &range),
            Event::End(tag) => self.end(tag, &range),
            Event::Rule => self.end_block(range.end),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::List(_) => {
                self.end_block(range.start);
                self.lists += 1;
            }
            Tag::BlockQuote(_) => self.quotes += 1,
            Tag::Table(_) => {
                self.end_block(range.start);
                self.table = true;
            }
            Tag::Heading { level, .. } => {
                self.end_block(range.start);
                self.heading = Some(*level);
            }
            Tag::Paragraph | Tag::Item | Tag::TableRow | Tag::TableHead => {
                self.end_block(range.start);
            }
            Tag::Link {
                dest_url, title, ..
            }
            | Tag::Image {
                dest_url, title, ..
            } => {
                // The target is part of the text, and so is the invisible title.
                self.push_text(" ", range.start);
                let target = dest_url.to_string();
                self.push_text(&target, range.start);
                self.push_text(" ", range.start);
                if !title.is_empty() {
                    let title = format!("; {title} ");
                    self.push_text(&title, range.start);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::BlockQuote(_) => {
                self.end_block(range.end);
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::List(_) => {
                self.end_block(range.end);
                self.lists = self.lists.saturating_sub(1);
                self.denies &= self.lists > 0;
            }
            TagEnd::Table => {
                self.end_block(range.end);
                self.table = false;
            }
            TagEnd::Heading(level) => {
                let depth = level as usize;
                let lower = self.block.to_lowercase();
                let warned = warning_heading(&lower).filter(|_| lower.len() <= 120);
                self.warned[depth..].fill(None);
                self.warned[depth] = warned;
                // Steps to follow are instructions in any section.
                if is_steps_heading(&lower) {
                    self.warned.fill(None);
                }
                self.end_block(range.end);
                self.heading = None;
            }
            TagEnd::Paragraph | TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead => {
                self.end_block(range.end);
            }
            TagEnd::TableCell => self.push_text(" | ", range.end),
            _ => {}
        }
    }

    /// Adds a text, folded: one space for any white space except the line breaks that can end a sentence, letters of usual width, straight
    /// apostrophes. Phrases are matched against this form.
    fn push_text(&mut self, text: &str, at: usize) {
        self.pieces.push((self.block.len(), at));
        if !needs_folding(text, self.block.as_bytes().last().copied()) {
            self.block.push_str(text);
            return;
        }
        let mut moved = false;
        let mut rest = text.char_indices().peekable();
        while let Some((index, c)) = rest.next() {
            let next = rest.peek().map(|(_, next)| *next);
            let folded = match c {
                '\n' if next.is_none_or(begins_item) => '\n',
                c if c.is_whitespace() => ' ',
                '\u{2018}' | '\u{2019}' | '\u{2bc}' | '\u{ff07}' => '\'',
                '\u{2010}'..='\u{2012}' => '-',
                '\u{ff01}'..='\u{ff5e}' if !is_east_asian_mark(c) => {
                    char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c)
                }
                c => c,
            };
            if folded == ' ' && matches!(self.block.as_bytes().last(), Some(b' ')) {
                moved = true;
                continue;
            }
            if moved {
                self.pieces.push((self.block.len(), at + index));
            }
            self.block.push(folded);
            moved = folded.len_utf8() != c.len_utf8();
        }
    }

    fn source_offset(&self, offset: usize) -> usize {
        let index = self
            .pieces
            .partition_point(|(block, _)| *block <= offset)
            .saturating_sub(1);
        let (block, source) = self.pieces.get(index).copied().unwrap_or_default();
        (source + (offset - block)).min(self.source.len())
    }

    fn role(&self, is_denied: bool) -> SentenceRole {
        let section = self.warned.iter().flatten().max();
        match section {
            Some(SentenceRole::Warning) => SentenceRole::Warning,
            _ if is_denied => SentenceRole::Warning,
            Some(_) => SentenceRole::Caution,
            _ if self.denies && self.lists > 0 => SentenceRole::Warning,
            None if self.table => SentenceRole::Table,
            None => SentenceRole::Instruction,
        }
    }

    fn end_code(&mut self, language: String, text: String, at: Range<usize>) {
        let index = self.document.code.len();
        let mut role = self.role(false);
        if let Some(last) = self.document.sentences.last_mut() {
            last.code_after = Some(index);
            // "Never run this:", "❌ Bad:", "A malicious skill might say:" determine the role of the code below.
            let before = self.source[last.at.clone()].to_lowercase();
            let worse = match last.role {
                SentenceRole::Warning => Some(SentenceRole::Warning),
                _ => bad_example(&before),
            };
            role = worse.map_or(role, |worse| worse.max(role));
        }
        self.document.code.push(CodeSpan {
            language,
            text,
            at,
            role,
            inline: false,
        });
    }

    /// Marks the code of a sentence that it denies.
    fn deny_code(&mut self, sentence: RangeInclusive<usize>, is_denied: impl Fn(usize) -> bool) {
        let codes = self.document.code.iter_mut().rev();
        codes
            .take_while(|code| code.inline && code.at.start >= *sentence.start())
            .filter(|code| sentence.contains(&code.at.start) && is_denied(code.at.start))
            .for_each(|code| code.role = SentenceRole::Warning);
    }

    fn end_block(&mut self, end: usize) {
        if self.block.trim().is_empty() {
            self.block.clear();
            self.pieces.clear();
            return;
        }
        let lower = lowered(&self.block);
        if self.lists == 0 {
            self.denies = denies_list(&lower);
        }
        let quoted = quotations(&lower);
        for range in sentences(&lower) {
            let text = &lower[range.clone()];
            let unquoted = |at: usize| {
                !quoted
                    .iter()
                    .any(|quote| quote.contains(&(range.start + at)))
            };
            let denied = classes_of(text, unquoted);
            let spans = match denied.contains(PhraseClass::Negation) {
                true => negated(text),
                false => Vec::new(),
            };
            let affirmed = |at: usize| unquoted(at) && !spans.iter().any(|span| span.contains(&at));
            let mut classes = match spans.is_empty() {
                true => denied,
                false => classes_of(text, affirmed),
            };
            classes.remove(PhraseClass::Negation);
            let in_quotes = match quoted.is_empty() {
                true => classes,
                false => classes_of(text, |_| true),
            };
            // "Never run this:" is about what follows; "to avoid errors, run this:" is not.
            let is_denied = spans
                .last()
                .is_some_and(|span| span.end >= text.trim_end().len())
                && !classes.matches(ACTIONS, &[]);
            let mut role = self.role(is_denied);
            // All relevant words are inside quotation marks.
            let mut set = classes;
            if classes != in_quotes
                && role == SentenceRole::Instruction
                && quoted.iter().any(|quote| quote.start <= range.start + 4)
            {
                role = SentenceRole::Quotation;
                set = in_quotes;
            }
            role = match bad_example(text) {
                Some(worse) if role != SentenceRole::Warning => worse,
                _ => role,
            };
            let start = self.source_offset(range.start);
            // Code in a sentence about attacks is an example of one.
            if set.contains(PhraseClass::Threat) {
                let end = self.source_offset(range.end.saturating_sub(1));
                let within = |code: &&mut CodeSpan| {
                    code.inline
                        && code.role == SentenceRole::Instruction
                        && (start..=end).contains(&code.at.start)
                };
                self.document
                    .code
                    .iter_mut()
                    .rev()
                    .take(64)
                    .filter(within)
                    .for_each(|code| code.role = SentenceRole::Quotation);
            }
            let stop = self
                .source_offset(range.end.saturating_sub(1))
                .max(start)
                .min(end.max(start));
            let stop = ceil_boundary(self.source, stop + 1);
            // "Never run `…`": the code is denied together with the words around it.
            let all = role == SentenceRole::Warning;
            let denies = |span: &Range<usize>| {
                let from = self.source_offset(range.start + span.start);
                from..=self.source_offset(range.start + span.end.saturating_sub(1))
            };
            let denied_parts: Vec<_> = spans.iter().map(denies).collect();
            self.deny_code(start..=stop, |at| {
                all || denied_parts.iter().any(|part| part.contains(&at))
            });
            self.document.sentences.push(Sentence {
                at: floor_boundary(self.source, start)..stop,
                role,
                classes: set,
                denied,
                block: self.blocks,
                code_after: None,
            });
        }
        self.blocks += 1;
        self.block.clear();
        self.pieces.clear();
    }
}

/// A text in lower case, with every byte at the same offset.
fn lowered(text: &str) -> String {
    let lower = text.to_lowercase();
    match lower.len() == text.len() {
        true => lower,
        false => text.to_ascii_lowercase(),
    }
}

/// Whether a line break before this character ends a sentence.
fn begins_item(c: char) -> bool {
    matches!(c, '-' | '*' | '•' | '\n' | '#' | '|') || c.is_ascii_digit()
}

/// Punctuation of the scripts that have wide letters ends sentences there.
fn is_east_asian_mark(c: char) -> bool {
    matches!(c, '！' | '？' | '；' | '，' | '：' | '（' | '）' | '．')
}

/// Whether a text is not in the folded form already.
fn needs_folding(text: &str, before: Option<u8>) -> bool {
    let bytes = text.as_bytes();
    let blank = |byte: u8| byte.is_ascii_whitespace();
    !text.is_ascii()
        || (before == Some(b' ') && bytes.first().is_some_and(|byte| *byte == b' '))
        || bytes
            .windows(2)
            .any(|pair| blank(pair[0]) && (blank(pair[1]) || pair[0] != b' '))
        || bytes
            .iter()
            .any(|byte| matches!(byte, b'\t' | b'\r' | 0x0b | 0x0c))
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn ceil_boundary(text: &str, mut at: usize) -> usize {
    at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Ranges inside quotation marks that contain at least three words.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if text.is_ascii() && memchr::memchr(b'"', text.as_bytes()).is_none() {
        return found;
    }
    let mut open: Option<(char, usize)> = None;
    for (at, c) in text.char_indices() {
        match (open, c) {
            (None, '"') => open = Some(('"', at)),
            (None, '“') => open = Some(('”', at)),
            (None, '«') => open = Some(('»', at)),
            (None, '「') => open = Some(('」', at)),
            (Some((closer, start)), c) if c == closer => {
                let quoted = &text[start..at];
                // Scripts without spaces have several words in a few letters.
                if quoted.split_whitespace().count() >= 3
                    || quoted.chars().filter(|c| u32::from(*c) >= 0x2e80).count() >= 6
                {
                    found.push(start..at + c.len_utf8());
                }
                open = None;
            }
            (Some((_, _)), '\n') if found.len() > 10_000 => break,
            _ => {}
        }
    }
    found
}

/// Longer sentences are split.
pub(crate) const LONGEST_SENTENCE: usize = 1200;

/// Where sentences begin and end.
fn sentences(text: &str) -> Vec<Range<usize>> {
    if text.is_ascii() {
        return ascii_sentences(text);
    }
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        let ends = match c {
            '.' | '!' | '?' | ';' => next.is_none_or(char::is_whitespace),
            '。' | '！' | '？' | '；' => true,
            '\n' => next
                .is_some_and(|c| matches!(c, '-' | '*' | '•') || c.is_ascii_digit() || c == '\n'),
            _ => false,
        };
        if ends || at - start > LONGEST_SENTENCE {
            let end = at + c.len_utf8();
            if !text[start..end].trim().is_empty() {
                found.push(start..end);
            }
            start = end;
        }
    }
    if !text[start..].trim().is_empty() {
        found.push(start..text.len());
    }
    found
}

/// [`sentences`] for ASCII, which most texts are.
fn ascii_sentences(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut start, mut at) = (0, 0);
    let is_sign = |byte: &u8| matches!(byte, b'.' | b'!' | b'?' | b';' | b'\n');
    while at < bytes.len() {
        let last = bytes.len().min(start + LONGEST_SENTENCE + 2);
        let Some(sign) = bytes[at..last]
            .iter()
            .position(is_sign)
            .map(|next| at + next)
        else {
            if last < start + LONGEST_SENTENCE + 2 {
                break;
            }
            found.push(start..last);
            (start, at) = (last, last);
            continue;
        };
        let next = bytes.get(sign + 1).copied();
        let ends = match bytes[sign] {
            b'\n' => next.is_some_and(|c| matches!(c, b'-' | b'*' | b'\n' | b'0'..=b'9')),
            _ => next.is_none_or(|c| char::from(c).is_whitespace()),
        };
        at = sign + 1;
        if ends || sign - start > LONGEST_SENTENCE {
            found.push(start..at);
            start = at;
        }
    }
    found.push(start..bytes.len());
    found.retain(|range| !text[range.clone()].trim().is_empty());
    found
}

impl ClassSet {
    /// The classes of several sentences together.
    pub(crate) fn of<'s>(sentences: impl IntoIterator<Item = &'s Sentence>) -> Self {
        sentences
            .into_iter()
            .fold(Self::default(), |set, sentence| set.union(sentence.classes))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ascii_is_divided_like_any_text(text in "[a-c.!?;\\n \\-*1\\x0b]{0,60}", times in 1_usize..80) {
            let text = text.repeat(times);
            // One character beyond ASCII, in a separate sentence at the end, selects the other function.
            let other = format!("{text}\n\né");
            let mut slow = sentences(&other);
            slow.retain(|range| range.end <= text.len());
            let mut fast = sentences(&text);
            fast.retain(|range| range.end <= text.len());
            let whole = |range: &Range<usize>| range.end < text.len();
            slow.retain(whole);
            fast.retain(whole);
            prop_assert_eq!(slow, fast);
        }
    }
}
