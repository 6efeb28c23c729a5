//! The text of a skill as a closed set of elements.
//!
//! **Problem.** The text is written by a stranger, and is shown in a page with buttons that decide. **Decision.** Markdown becomes
//! paragraphs, headings, lists, quotes, code, tables and links: elements without classes and attributes, in a frame that names the author.
//! HTML in it is shown as text. A picture is its description, for loading it would tell its host; a link names the host that it points to.

use maud::{Markup, html};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::document::Quoted;

/// The longest text that is rendered, and how deep its parts may be in each other; the rest is left out, and that is shown.
const MAX_TEXT: usize = 256 << 10;
const MAX_DEPTH: usize = 24;

/// A text of a skill in its frame.
pub(super) fn framed(text: &str, whose: Quoted<'_>) -> Markup {
    html! {
        div.foreign role="region" aria-label={ "Text of the skill " (whose) } tabindex="0" {
            p.whose { "Written by the author of " (whose) ", not by metier" }
            div.text { (rendered(text)) }
        }
    }
}

fn rendered(text: &str) -> Markup {
    let (shown, rest) = match text.len() > MAX_TEXT {
        true => text.split_at(text.floor_char_boundary(MAX_TEXT)),
        false => (text, ""),
    };
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events = Parser::new_ext(shown, options);
    let content = Inner { depth: 0 }.children(&mut events);
    html! {
        (content)
        @if !rest.is_empty() { p { "… (" (rest.len()) " more bytes are not shown)" } }
    }
}

/// The content of an element that was opened.
struct Inner {
    depth: usize,
}

impl Inner {
    /// Everything up to the end of the element.
    fn children<'a>(&self, events: &mut impl Iterator<Item = Event<'a>>) -> Markup {
        let mut parts: Vec<Markup> = Vec::new();
        while let Some(event) = events.next() {
            parts.push(match event {
                Event::End(_) => break,
                Event::Start(tag) => self.element(tag, events),
                Event::Text(text) => html! { (Quoted::new(&text).lines()) },
                Event::Code(text) => html! { code { (Quoted::new(&text)) } },
                Event::Html(text) | Event::InlineHtml(text) => {
                    html! { code { (Quoted::new(&text).lines()) } }
                }
                Event::SoftBreak => html! { "\n" },
                Event::HardBreak => html! { br; },
                Event::Rule => html! { hr; },
                Event::TaskListMarker(done) => html! { (if done { "☑ " } else { "☐ " }) },
                Event::InlineMath(text) | Event::DisplayMath(text) => {
                    html! { code { (Quoted::new(&text)) } }
                }
                Event::FootnoteReference(name) => html! { "[" (Quoted::new(&name)) "]" },
            });
        }
        html! { @for part in &parts { (part) } }
    }

    fn element<'a>(&self, tag: Tag<'a>, events: &mut impl Iterator<Item = Event<'a>>) -> Markup {
        if self.depth >= MAX_DEPTH {
            return skipped(events);
        }
        let inner = Self {
            depth: self.depth + 1,
        };
        match tag {
            Tag::Table(columns) => return inner.table(&columns, events),
            Tag::Image { dest_url, .. } => {
                let content = inner.children(events);
                return html! { "[picture: " (content) (host(&dest_url)) "]" };
            }
            _ => {}
        }
        let content = inner.children(events);
        match tag {
            // The page has the first two levels itself.
            Tag::Heading { level, .. } => match level as usize {
                1 => html! { h3 { (content) } },
                2 => html! { h4 { (content) } },
                3 => html! { h5 { (content) } },
                _ => html! { h6 { (content) } },
            },
            Tag::BlockQuote(_) => html! { blockquote { (content) } },
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented) => {
                html! { pre tabindex="0" { code { (content) } } }
            }
            Tag::List(Some(start)) => html! { ol start=(start) { (content) } },
            Tag::List(None) => html! { ul { (content) } },
            Tag::Item => html! { li { (content) } },
            Tag::Emphasis => html! { em { (content) } },
            Tag::Strong => html! { strong { (content) } },
            Tag::Strikethrough => html! { del { (content) } },
            Tag::Link { dest_url, .. } => link(&dest_url, &content),
            Tag::HtmlBlock | Tag::MetadataBlock(_) => html! { pre tabindex="0" { (content) } },
            _ => html! { p { (content) } },
        }
    }

    fn table<'a>(
        &self,
        columns: &[Alignment],
        events: &mut impl Iterator<Item = Event<'a>>,
    ) -> Markup {
        let mut rows: Vec<(bool, Vec<Markup>)> = Vec::new();
        while let Some(event) = events.next() {
            match event {
                Event::End(TagEnd::Table) => break,
                Event::Start(Tag::TableHead) => rows.push((true, Vec::new())),
                Event::Start(Tag::TableRow) => rows.push((false, Vec::new())),
                Event::Start(Tag::TableCell) => {
                    let cell = self.children(events);
                    if let Some((_, cells)) =
                        rows.last_mut().filter(|(_, row)| row.len() < columns.len())
                    {
                        cells.push(cell);
                    }
                }
                _ => {}
            }
        }
        html! {
            table { tbody {
                @for (is_head, cells) in &rows {
                    tr {
                        @for cell in cells {
                            @if *is_head { th { (cell) } } @else { td { (cell) } }
                        }
                    }
                }
            } }
        }
    }
}

/// An element that is too deep in others.
fn skipped<'a>(events: &mut impl Iterator<Item = Event<'a>>) -> Markup {
    let mut open = 1_usize;
    for event in events {
        match event {
            Event::Start(_) => open += 1,
            Event::End(_) => open -= 1,
            _ => {}
        }
        if open == 0 {
            break;
        }
    }
    html! { "…" }
}

/// A link to the web with its host; any other one is text.
fn link(to: &str, content: &Markup) -> Markup {
    let is_web = ["https://", "http://"]
        .iter()
        .any(|scheme| to.starts_with(scheme));
    html! {
        @if is_web {
            a href=(to) rel="noreferrer noopener nofollow" target="_blank" { (content) (host(to)) }
        } @else if to.starts_with('#') || to.is_empty() { (content) }
        @else { (content) " (" code { (Quoted::new(to)) } ")" }
    }
}

/// The host of an address, in brackets: what is behind a user name, in front of a port or a path.
fn host(address: &str) -> Markup {
    let rest = address.split_once("://").map(|(_, rest)| rest);
    let host = rest.and_then(|rest| rest.split(['/', '?', '#', '\\']).next());
    let host = host.and_then(|host| host.rsplit('@').next());
    html! {
        @if let Some(host) = host { " (" (Quoted::new(host)) ")" }
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
