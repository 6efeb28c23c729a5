//! Styled text, and lines of it that fit.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr;

/// The fewest columns that text is folded at, however deep it is nested.
const NARROWEST: usize = 20;

/// How Markdown is shown.
#[derive(Clone, Copy)]
pub(crate) struct MarkdownStyle {
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// Without them the marks of the source stay.
    pub(crate) colors: bool,
}

impl MarkdownStyle {
    pub(super) fn narrowed(self, columns: usize) -> Self {
        Self {
            width: self.width.saturating_sub(columns).max(NARROWEST),
            ..self
        }
    }

    pub(super) fn faint(self, text: &str) -> String {
        self.painted(text, FAINT)
    }

    fn painted(self, text: &str, style: Style) -> String {
        if self.colors && style != Style::new() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

pub(super) const FAINT: Style = Style::new().dimmed();
pub(super) const CODE: Style = AnsiColor::Cyan.on_default();

/// A piece of text in one style. It contains nothing that a terminal interprets.
#[derive(Clone, Debug)]
pub(super) struct StyledRun {
    pub(super) text: String,
    pub(super) style: Style,
}

/// A line, and the columns that it takes.
#[derive(Clone, Default)]
pub(super) struct Folded {
    pub(super) text: String,
    pub(super) columns: usize,
}

/// A word: the spaces before it, and its pieces.
#[derive(Default)]
struct StyledWord {
    blanks: usize,
    runs: Vec<StyledRun>,
}

impl StyledWord {
    fn columns(&self) -> usize {
        self.runs.iter().map(|run| columns(&run.text)).sum()
    }
}

/// Lines that fit into the width. A word that is wider stays whole, so that it can be copied.
pub(super) fn fold(runs: &[StyledRun], style: MarkdownStyle) -> Vec<Folded> {
    let mut lines = Vec::new();
    for words in lines_of_words(runs) {
        let mut line = Folded::default();
        for word in words {
            let needed = word.columns();
            if line.columns > 0 && line.columns + word.blanks + needed > style.width {
                lines.push(std::mem::take(&mut line));
            } else {
                line.text.push_str(&" ".repeat(word.blanks));
                line.columns += word.blanks;
            }
            for run in &word.runs {
                line.text.push_str(&style.painted(&run.text, run.style));
            }
            line.columns += needed;
        }
        lines.push(line);
    }
    lines
}

/// The columns of the widest word.
pub(super) fn widest_word(runs: &[StyledRun]) -> usize {
    let words = lines_of_words(runs).into_iter().flatten();
    words.map(|word| word.columns()).max().unwrap_or(0)
}

fn lines_of_words(runs: &[StyledRun]) -> Vec<Vec<StyledWord>> {
    let mut lines = vec![Vec::new()];
    let mut word = StyledWord::default();
    for run in runs {
        for c in run.text.chars() {
            match c {
                '\n' => {
                    end_word(&mut lines, &mut word);
                    word.blanks = 0;
                    lines.push(Vec::new());
                }
                ' ' | '\t' => {
                    end_word(&mut lines, &mut word);
                    word.blanks += 1;
                }
                c => match word.runs.last_mut() {
                    Some(last) if last.style == run.style => last.text.push(c),
                    _ => word.runs.push(StyledRun {
                        text: c.to_string(),
                        style: run.style,
                    }),
                },
            }
        }
    }
    end_word(&mut lines, &mut word);
    lines
}

fn end_word(lines: &mut [Vec<StyledWord>], word: &mut StyledWord) {
    if !word.runs.is_empty()
        && let Some(line) = lines.last_mut()
    {
        line.push(std::mem::take(word));
    }
}

/// How many columns a text takes.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}
