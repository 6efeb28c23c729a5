//! One block: a paragraph, a heading, a table, a rule, or code without a fence.

use std::ops::Range;

use anstyle::Style;
use pulldown_cmark::{
    CodeBlockKind, Event, HeadingLevel, LinkType, OffsetIter, Options, Parser, Tag,
};

use super::{
    CODE_INDENT,
    style::{CODE, FAINT, MarkdownStyle, StyledRun, fold},
    table::MarkdownTable,
};
use crate::output::inert;

/// How wide a rule is at most.
const RULE: usize = 40;

/// The lines of a block. Text that the parser skips stays as it was written.
pub(super) fn lines(source: &str, style: MarkdownStyle) -> Vec<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut page = BlockPage {
        source,
        style,
        events: Parser::new_ext(source, options).into_offset_iter(),
        lines: Vec::new(),
    };
    let mut end = 0;
    while let Some((event, range)) = page.events.next() {
        page.verbatim(&source[end..range.start.max(end)]);
        end = range.end.max(end);
        page.block(event, range);
    }
    page.verbatim(&source[end..]);
    page.lines
}

struct BlockPage<'s> {
    source: &'s str,
    style: MarkdownStyle,
    events: OffsetIter<'s>,
    lines: Vec<String>,
}

impl BlockPage<'_> {
    fn block(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Paragraph) => {
                let runs = self.inline(Style::new());
                self.fold(&runs);
            }
            Event::Start(Tag::Heading { level, .. }) => self.heading(level),
            Event::Start(Tag::Table(alignments)) => {
                let table = self.table(alignments.len());
                self.lines.extend(table.lines(&alignments, self.style));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => {
                self.skip();
                for line in self.source[range].lines() {
                    let code = inert(line.trim());
                    let inner = line.len() - line.trim_start_matches(' ').len();
                    let indent = " ".repeat(inner.max(CODE_INDENT));
                    self.lines.push(format!("{indent}{code}"));
                }
            }
            Event::Rule => {
                let rule = "─".repeat(self.style.width.min(RULE));
                self.lines.push(self.style.faint(&rule));
            }
            Event::Start(_) => {
                self.skip();
                self.verbatim(&self.source[range]);
            }
            _ => self.verbatim(&self.source[range]),
        }
    }

    fn heading(&mut self, level: HeadingLevel) {
        let bold = Style::new().bold();
        let style = match level {
            HeadingLevel::H1 => bold.underline(),
            _ => bold,
        };
        let mut runs = self.inline(style);
        if !self.style.colors {
            let signs = "#".repeat(level as usize);
            let text = format!("{signs} ");
            runs.insert(0, StyledRun { text, style });
        }
        self.fold(&runs);
    }

    fn table(&mut self, columns: usize) -> MarkdownTable {
        let mut table = MarkdownTable::new(columns);
        let (mut depth, mut read) = (1, 0);
        while let Some((event, range)) = self.events.next() {
            match event {
                Event::Start(Tag::TableCell) => {
                    let style = match table.has_head() {
                        true => Style::new(),
                        false => Style::new().bold(),
                    };
                    read = range.end;
                    let cell = self.inline(style);
                    table.push_cell(cell);
                }
                Event::Start(_) => depth += 1,
                Event::End(_) => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                    // The parser drops cells that have no head.
                    let rest = self.source.get(read..range.end).unwrap_or_default();
                    let rest = rest.trim_matches(|c: char| c == '|' || c.is_whitespace());
                    table.end_row(&inert(rest));
                }
                _ => {}
            }
        }
        table
    }

    /// The text up to the end of what has begun.
    fn inline(&mut self, base: Style) -> Vec<StyledRun> {
        let mut runs = Vec::new();
        // Each with what is shown at its end.
        let mut open: Vec<(Style, String)> = vec![(base, String::new())];
        while let Some((event, range)) = self.events.next() {
            let style = open.last().map_or(base, |(style, _)| *style);
            let mut add = |text: &str, style: Style| {
                runs.push(StyledRun {
                    text: inert(text).into_owned(),
                    style,
                });
            };
            match event {
                Event::Text(text) | Event::InlineHtml(text) | Event::Html(text) => {
                    add(&text, style);
                }
                Event::Code(code) if self.style.colors => add(&code, layered(style, CODE)),
                Event::SoftBreak | Event::HardBreak => add("\n", style),
                Event::Start(tag) => match self.opened(&tag, &range, style) {
                    Some((style, before, after)) => {
                        add(&before, style);
                        open.push((style, after));
                    }
                    None => {
                        self.skip();
                        add(&self.source[range], style);
                    }
                },
                Event::End(_) => {
                    let Some((style, after)) = open.pop() else {
                        break;
                    };
                    let mark = if after.starts_with(' ') { FAINT } else { style };
                    add(&after, mark);
                    if open.is_empty() {
                        break;
                    }
                }
                _ => add(&self.source[range], style),
            }
        }
        runs
    }

    /// The style of what begins here, and what is shown around it; none if it stays as it was written.
    fn opened(
        &self,
        tag: &Tag<'_>,
        range: &Range<usize>,
        style: Style,
    ) -> Option<(Style, String, String)> {
        let written = &self.source[range.clone()];
        let marked = |style: Style| {
            let sign = written.chars().next().unwrap_or('*');
            let rest = written.trim_start_matches(sign);
            let most = if matches!(tag, Tag::Emphasis) { 1 } else { 2 };
            let length = (written.len() - rest.len()).min(most);
            let marks: String = std::iter::repeat_n(sign, length).collect();
            let marks = if self.style.colors {
                String::new()
            } else {
                marks
            };
            Some((style, marks.clone(), marks))
        };
        match tag {
            Tag::Emphasis => marked(style.italic()),
            Tag::Strong => marked(style.bold()),
            Tag::Strikethrough => marked(style.strikethrough()),
            Tag::Link {
                link_type,
                dest_url,
                title,
                ..
            }
            | Tag::Image {
                link_type,
                dest_url,
                title,
                ..
            } => {
                let address = match (link_type, title.is_empty()) {
                    (LinkType::Autolink | LinkType::Email, _) => String::new(),
                    (LinkType::Inline, true) => format!(" ({dest_url})"),
                    (LinkType::Inline, false) => format!(" ({dest_url} \"{title}\")"),
                    // The label selects the definition, and would be lost.
                    _ => return None,
                };
                let is_same = written.starts_with(&format!("[{dest_url}]")) && title.is_empty();
                let address = if is_same { String::new() } else { address };
                Some((style.underline(), String::new(), address))
            }
            _ => None,
        }
    }

    /// Skips what has begun.
    fn skip(&mut self) {
        let mut depth = 1;
        while depth > 0 {
            match self.events.next() {
                Some((Event::Start(_), _)) => depth += 1,
                Some((Event::End(_), _)) => depth -= 1,
                Some(_) => {}
                None => return,
            }
        }
    }

    fn fold(&mut self, runs: &[StyledRun]) {
        let lines = fold(runs, self.style).into_iter();
        self.lines.extend(lines.map(|line| line.text));
    }

    /// The unchanged source, if it is not empty.
    fn verbatim(&mut self, text: &str) {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let run = StyledRun {
                text: inert(line).into_owned(),
                style: Style::new(),
            };
            self.fold(&[run]);
        }
    }
}

/// A style on top of another.
fn layered(below: Style, above: Style) -> Style {
    Style::new()
        .effects(below.get_effects() | above.get_effects())
        .fg_color(above.get_fg_color().or(below.get_fg_color()))
}
