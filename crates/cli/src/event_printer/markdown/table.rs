//! A table: in columns if they fit, else with its cells folded, else row by row.

use anstyle::Style;
use pulldown_cmark::Alignment;

use super::style::{FAINT, Folded, MarkdownStyle, StyledRun, fold, widest_word};

/// The separator of two columns.
const BETWEEN: &str = " │ ";
const BETWEEN_COLUMNS: usize = 3;

pub(super) struct MarkdownTable {
    columns: usize,
    /// The first is the head.
    rows: Vec<Vec<Vec<StyledRun>>>,
    row: Vec<Vec<StyledRun>>,
}

impl MarkdownTable {
    pub(super) const fn new(columns: usize) -> Self {
        Self {
            columns,
            rows: Vec::new(),
            row: Vec::new(),
        }
    }

    pub(super) fn has_head(&self) -> bool {
        !self.rows.is_empty()
    }

    pub(super) fn push_cell(&mut self, cell: Vec<StyledRun>) {
        self.row.push(cell);
    }

    /// Ends a row; text after its last cell is shown in that cell.
    pub(super) fn end_row(&mut self, rest: &str) {
        let mut row = std::mem::take(&mut self.row);
        if let Some(last) = row.last_mut()
            && !rest.is_empty()
        {
            last.push(StyledRun {
                text: format!(" | {rest}"),
                style: Style::new(),
            });
        }
        if !row.is_empty() {
            self.rows.push(row);
        }
    }

    pub(super) fn lines(&self, alignments: &[Alignment], style: MarkdownStyle) -> Vec<String> {
        let Some(widths) = self.widths(style) else {
            return self
                .rows
                .iter()
                .flat_map(|row| joined(row, style))
                .collect();
        };
        let mut lines = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            lines.extend(in_columns(row, &widths, alignments, style));
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(style.faint(&rules.join("─┼─")));
            }
        }
        lines
    }

    /// The columns of each column of the table; none if not even the longest words fit side by side.
    fn widths(&self, style: MarkdownStyle) -> Option<Vec<usize>> {
        let gaps = BETWEEN_COLUMNS * self.columns.saturating_sub(1);
        let room = style.width.checked_sub(gaps)?;
        let unlimited = MarkdownStyle {
            width: usize::MAX,
            ..style
        };
        let most = |measure: &dyn Fn(&[StyledRun]) -> usize| -> Vec<usize> {
            let column = |at: usize| self.rows.iter().filter_map(move |row| row.get(at));
            let columns = 0..self.columns;
            columns
                .map(|at| {
                    column(at)
                        .map(|cell| measure(cell))
                        .max()
                        .unwrap_or(0)
                        .max(1)
                })
                .collect()
        };
        let mut widths = most(&|cell| {
            let lines = fold(cell, unlimited);
            lines.iter().map(|line| line.columns).max().unwrap_or(0)
        });
        let least = most(&widest_word);
        while widths.iter().sum::<usize>() > room {
            let wide = widths.iter().zip(&least).enumerate();
            let wide = wide.filter(|(_, (width, least))| width > least);
            let (at, _) = wide.max_by_key(|(_, (width, _))| **width)?;
            widths[at] -= 1;
        }
        Some(widths)
    }
}

/// A row as lines with all of its cells side by side.
fn in_columns(
    row: &[Vec<StyledRun>],
    widths: &[usize],
    alignments: &[Alignment],
    style: MarkdownStyle,
) -> Vec<String> {
    let cells: Vec<Vec<Folded>> = row
        .iter()
        .zip(widths)
        .map(|(cell, width)| {
            fold(
                cell,
                MarkdownStyle {
                    width: *width,
                    ..style
                },
            )
        })
        .collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let between = style.faint(BETWEEN);
    (0..height)
        .map(|at| {
            let parts = widths.iter().enumerate().map(|(column, width)| {
                let line = cells.get(column).and_then(|cell| cell.get(at));
                let line = line.cloned().unwrap_or_default();
                let blanks = width.saturating_sub(line.columns);
                let before = match alignments.get(column) {
                    Some(Alignment::Right) => blanks,
                    Some(Alignment::Center) => blanks / 2,
                    _ => 0,
                };
                let after = " ".repeat(blanks - before);
                format!("{}{}{after}", " ".repeat(before), line.text)
            });
            parts.collect::<Vec<_>>().join(&between)
        })
        .collect()
}

/// A row as text: its cells one after the other.
fn joined(row: &[Vec<StyledRun>], style: MarkdownStyle) -> Vec<String> {
    let mut runs: Vec<StyledRun> = Vec::new();
    for (at, cell) in row.iter().enumerate() {
        if at > 0 {
            runs.push(StyledRun {
                text: BETWEEN.to_owned(),
                style: FAINT,
            });
        }
        runs.extend(cell.iter().cloned());
    }
    if runs.is_empty() {
        runs.push(StyledRun {
            text: String::new(),
            style: Style::new(),
        });
    }
    fold(&runs, style)
        .into_iter()
        .map(|line| line.text)
        .collect()
}
