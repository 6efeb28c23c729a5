//! The model's Markdown, as a terminal shows it while it arrives.
//!
//! **Problem.** An answer comes in pieces that end anywhere, and a reader wants to see it grow. **Decision.** Whole lines are read one by
//! one: the lines of fenced code are shown immediately, any other block when it ends. What is shown depends on the lines alone, so it is
//! the same however the stream is cut. List items, quotes and fences are found here, because they nest and may be long; everything
//! in them is given to the parser one block at a time (`block.rs`). What the parser does not show, such as the
//! definition of a link, is shown as it was written: no word is lost.
//!
//! **Worked example.** `1. Run it:` is held until the next line. "```sh" shows the item; each line of the code appears as it ends; `2. Done`
//! is held until the answer ends.

mod block;
mod style;
mod table;

use std::fmt::Write as _;

pub(crate) use style::MarkdownStyle;

use crate::output::inert;

/// Nested list items and quotes. Anything nested deeper is shown unchanged.
const MAX_DEPTH: usize = 12;
/// The indentation of code.
const CODE_INDENT: usize = 4;
/// The columns from which on a block is code without a fence.
const INDENTED_CODE: usize = 4;

/// Markdown that is still arriving.
pub(crate) struct MarkdownStream {
    style: MarkdownStyle,
    depth: usize,
    /// A line that has not ended yet.
    line: String,
    /// The list items around the next line, the outermost first.
    items: Vec<ListItem>,
    /// The prefix of the first line of the next block: bullets and numbers.
    marker: String,
    /// The block that has not ended yet.
    block: String,
    quote: Option<Quote>,
    fence: Option<Fence>,
    /// What can be shown.
    shown: String,
}

#[derive(Clone, Copy)]
struct ListItem {
    /// The column of its text in the source.
    column: usize,
    /// The same on the screen.
    shown: usize,
}

struct Quote {
    column: usize,
    text: String,
}

struct Fence {
    mark: char,
    length: usize,
    column: usize,
    shown: usize,
}

/// The block that a line begins.
enum Beginning<'l> {
    Item {
        /// The form in which it is shown.
        marker: String,
        /// How many columns it takes in the source, with the spaces after it.
        width: usize,
        text: &'l str,
    },
    Fence {
        mark: char,
        length: usize,
        info: &'l str,
    },
    Quote,
    Text,
}

impl MarkdownStream {
    pub(crate) fn new(style: MarkdownStyle) -> Self {
        Self::nested(style, 0)
    }

    fn nested(style: MarkdownStyle, depth: usize) -> Self {
        Self {
            style,
            depth,
            line: String::new(),
            items: Vec::new(),
            marker: String::new(),
            block: String::new(),
            quote: None,
            fence: None,
            shown: String::new(),
        }
    }

    /// For a terminal whose size has changed.
    pub(crate) fn set_width(&mut self, width: usize) {
        self.style.width = width;
    }

    /// More of the source; returns the lines that can be shown now.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        for part in piece.split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                self.take_line(line.trim_end_matches(['\n', '\r']));
            }
        }
        std::mem::take(&mut self.shown)
    }

    /// The source has ended; returns the rest. The next piece begins a new text.
    pub(crate) fn finish(&mut self) -> String {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(line.trim_end_matches('\r'));
        }
        self.end_quote();
        self.end_block();
        let shown = std::mem::take(&mut self.shown);
        *self = Self::nested(self.style, self.depth);
        shown
    }

    /// Whether something has arrived that is not shown yet.
    pub(crate) fn holds_text(&self) -> bool {
        !self.line.is_empty() || !self.block.is_empty() || self.quote.is_some()
    }

    fn take_line(&mut self, line: &str) {
        if let Some(fence) = &self.fence {
            if fence.is_closed_by(line) {
                let shown = fence.shown;
                let marks: String = std::iter::repeat_n(fence.mark, fence.length).collect();
                self.fence = None;
                self.show_fence(shown, &marks);
            } else {
                let (code, shown) = (without_blanks(line, fence.column), fence.shown);
                self.show_code(code, shown);
            }
            return;
        }
        let line = with_blanks_for_tabs(line);
        let indent = line.len() - line.trim_start_matches(' ').len();
        if self.continues_quote(&line) {
            return;
        }
        if line.trim().is_empty() {
            self.end_block();
            self.shown.push('\n');
            return;
        }
        let inside = self.items.iter().take_while(|item| item.column <= indent);
        let depth = inside.count();
        let column = depth.checked_sub(1).map_or(0, |at| self.items[at].column);
        let text = &line[column.min(indent)..];
        let beginning = self.beginning(text, self.block.is_empty());
        let leaves_item = depth < self.items.len()
            && (self.block.is_empty() || is_rule(text) || text.starts_with('#'));
        if leaves_item || !matches!(beginning, Beginning::Text) {
            self.end_block();
            self.items.truncate(depth);
        }
        self.take_beginning(beginning, text, column);
    }

    /// Puts what a line begins where it belongs. An item may begin another block in the same line.
    fn take_beginning(&mut self, beginning: Beginning<'_>, text: &str, column: usize) {
        let indent = text.len() - text.trim_start_matches(' ').len();
        match beginning {
            Beginning::Item {
                marker,
                width,
                text,
            } => {
                let shown = self.column_shown();
                if self.marker.is_empty() {
                    self.marker = " ".repeat(shown);
                }
                let columns = style::columns(&marker) + 1;
                write!(self.marker, "{marker} ").ok();
                let column = column + indent + width;
                self.items.push(ListItem {
                    column,
                    shown: shown + columns,
                });
                if !text.trim().is_empty() {
                    let beginning = self.beginning(text, true);
                    self.take_beginning(beginning, text, column);
                }
            }
            Beginning::Fence { mark, length, info } => {
                let shown = self.column_shown();
                let label = match (self.style.colors, info.is_empty()) {
                    (true, true) => String::new(),
                    (true, false) => self.style.faint(&inert(info)),
                    (false, _) => {
                        let marks: String = std::iter::repeat_n(mark, length).collect();
                        format!("{marks}{}", inert(info))
                    }
                };
                if !label.is_empty() || !self.marker.is_empty() {
                    let prefix = self.take_marker();
                    self.shown.push_str(format!("{prefix}{label}").trim_end());
                    self.shown.push('\n');
                }
                self.fence = Some(Fence {
                    mark,
                    length,
                    column: column + indent,
                    shown,
                });
            }
            Beginning::Quote => {
                self.quote = Some(Quote {
                    column,
                    text: format!("{}\n", unquoted(text).unwrap_or(text)),
                });
            }
            Beginning::Text => {
                self.block.push_str(text);
                self.block.push('\n');
            }
        }
    }

    /// The block that a text begins, if the block before it has ended or can be interrupted.
    fn beginning<'l>(&self, text: &'l str, is_free: bool) -> Beginning<'l> {
        let bare = text.trim_start_matches(' ');
        if text.len() - bare.len() >= INDENTED_CODE {
            return Beginning::Text;
        }
        if let Some(fence) = fence(bare) {
            return fence;
        }
        if self.items.len() + self.depth >= MAX_DEPTH || is_rule(bare) {
            return Beginning::Text;
        }
        if bare.starts_with('>') {
            return Beginning::Quote;
        }
        // In a paragraph `2019. It was` is not an item, unless the paragraph is one.
        list_item(bare, is_free, is_free || !self.items.is_empty()).unwrap_or(Beginning::Text)
    }

    /// Adds a line to the quote that is arriving, or ends that.
    fn continues_quote(&mut self, line: &str) -> bool {
        let Some(quote) = &mut self.quote else {
            return false;
        };
        let inner = without_blanks(line, quote.column);
        if let Some(text) = unquoted(inner) {
            quote.text.push_str(text);
            quote.text.push('\n');
            return true;
        }
        self.end_quote();
        false
    }

    fn end_quote(&mut self) {
        let Some(quote) = self.quote.take() else {
            return;
        };
        let first = self.take_marker();
        let rest = " ".repeat(style::columns(&first));
        let style = self.style.narrowed(style::columns(&first) + 2);
        let mut inner = Self::nested(style, self.depth + self.items.len() + 1);
        let mut text = inner.push(&quote.text);
        text.push_str(&inner.finish());
        let bar = self.style.faint("│");
        for (at, line) in text.lines().enumerate() {
            let prefix = if at == 0 { &first } else { &rest };
            self.shown
                .push_str(format!("{prefix}{bar} {line}").trim_end());
            self.shown.push('\n');
        }
    }

    /// Shows the block that has ended.
    fn end_block(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.is_empty() && self.marker.is_empty() {
            return;
        }
        let first = self.take_marker();
        let rest = " ".repeat(style::columns(&first));
        let style = self.style.narrowed(rest.len());
        let lines = block::lines(&block, style);
        if lines.is_empty() {
            self.shown.push_str(first.trim_end());
            self.shown.push('\n');
        }
        for (at, line) in lines.iter().enumerate() {
            let prefix = if at == 0 { &first } else { &rest };
            self.shown.push_str(format!("{prefix}{line}").trim_end());
            self.shown.push('\n');
        }
    }

    fn show_code(&mut self, code: &str, column: usize) {
        if !code.trim().is_empty() {
            self.shown.push_str(&" ".repeat(column + CODE_INDENT));
            self.shown.push_str(&inert(code));
        }
        self.shown.push('\n');
    }

    /// Without colours the end of code has to be seen, too.
    fn show_fence(&mut self, column: usize, marks: &str) {
        if !self.style.colors {
            self.shown.push_str(&" ".repeat(column));
            self.shown.push_str(marks);
            self.shown.push('\n');
        }
    }

    fn column_shown(&self) -> usize {
        self.items.last().map_or(0, |item| item.shown)
    }

    /// The prefix of the first line of a block.
    fn take_marker(&mut self) -> String {
        if self.marker.is_empty() {
            return " ".repeat(self.column_shown());
        }
        std::mem::take(&mut self.marker)
    }
}

impl Fence {
    fn is_closed_by(&self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }
}

fn fence(text: &str) -> Option<Beginning<'_>> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.len() - info.len();
    let is_fence = length >= 3 && !(mark == '`' && info.contains('`'));
    is_fence.then_some(Beginning::Fence {
        mark,
        length,
        info: info.trim(),
    })
}

/// A bullet or a number with something behind it; `is_free` lets that be nothing, `any_number` lets the number be any.
fn list_item(text: &str, is_free: bool, any_number: bool) -> Option<Beginning<'_>> {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = &text[..text.len() - after.len()];
    let sign = after.chars().next()?;
    let is_item = match number {
        "" => matches!(sign, '-' | '*' | '+'),
        "1" => matches!(sign, '.' | ')'),
        _ => any_number && number.len() <= 9 && matches!(sign, '.' | ')'),
    };
    let content = &after[sign.len_utf8()..];
    let is_empty = content.trim().is_empty();
    if !is_item || !(content.starts_with(' ') || is_empty) || (is_empty && !is_free) {
        return None;
    }
    let marker = match number {
        "" => "•".to_owned(),
        number => format!("{number}{sign}"),
    };
    let blanks = content.len() - content.trim_start_matches(' ').len();
    // More than four belong to code that the item begins with.
    let blanks = if is_empty || blanks > INDENTED_CODE {
        1
    } else {
        blanks
    };
    Some(Beginning::Item {
        marker,
        width: number.len() + 1 + blanks,
        text: content.get(blanks..).unwrap_or_default(),
    })
}

/// A line of nothing but three or more of `-`, `*`, `_` or `=`: it separates, or underlines a heading.
fn is_rule(text: &str) -> bool {
    let mut signs = text.chars().filter(|c| !c.is_whitespace());
    let Some(first) = signs.next() else {
        return false;
    };
    matches!(first, '-' | '*' | '_' | '=')
        && text.chars().all(|c| c == first || c.is_whitespace())
        && signs.count() >= 2
}

/// The text behind the sign of a quote.
fn unquoted(text: &str) -> Option<&str> {
    let bare = text.trim_start_matches(' ');
    if text.len() - bare.len() >= INDENTED_CODE {
        return None;
    }
    let inner = bare.strip_prefix('>')?;
    Some(inner.strip_prefix(' ').unwrap_or(inner))
}

/// The text without up to `most` leading spaces.
fn without_blanks(text: &str, most: usize) -> &str {
    let blanks = text.len() - text.trim_start_matches(' ').len();
    &text[blanks.min(most)..]
}

/// Leading tabs of a line, as columns.
fn with_blanks_for_tabs(line: &str) -> String {
    let bare = line.trim_start_matches([' ', '\t']);
    let mut column = 0;
    for c in line[..line.len() - bare.len()].chars() {
        column = if c == '\t' {
            (column / 4 + 1) * 4
        } else {
            column + 1
        };
    }
    format!("{}{bare}", " ".repeat(column))
}

#[cfg(test)]
mod tests;
