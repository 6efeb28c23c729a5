//! Rows of text, aligned or as Markdown.

/// One measurement.
#[derive(Debug)]
pub(super) struct BenchRow {
    what: String,
    size: String,
    ours: String,
    floor: String,
    value: String,
    budget: String,
    verdict: &'static str,
}

impl BenchRow {
    pub(super) fn new(what: &str) -> Self {
        let empty = String::new;
        Self {
            what: what.to_owned(),
            size: empty(),
            ours: empty(),
            floor: empty(),
            value: empty(),
            budget: empty(),
            verdict: "",
        }
    }

    pub(super) fn size(mut self, size: usize) -> Self {
        self.size = size.to_string();
        self
    }

    pub(super) fn ours(mut self, text: String) -> Self {
        self.ours = text;
        self
    }

    pub(super) fn floor(mut self, text: String) -> Self {
        self.floor = text;
        self
    }

    /// The ratio, or the difference.
    pub(super) fn value(mut self, text: String) -> Self {
        self.value = text;
        self
    }

    pub(super) fn budget(mut self, value: f64, limit: f64, unit: &str) -> Self {
        self.budget = format!("≤ {limit} {unit}");
        self.verdict = if value <= limit { "ok" } else { "MISSED" };
        self
    }

    fn cells(&self) -> [&str; COLUMNS] {
        let Self {
            what,
            size,
            ours,
            floor,
            value,
            budget,
            verdict,
        } = self;
        [what, size, ours, floor, value, budget, verdict]
    }
}

const COLUMNS: usize = 7;
const HEAD: [&str; COLUMNS] = ["what", "size", "ours", "floor", "ratio", "budget", "ok?"];
/// Numbers are read from the right.
const RIGHT: [bool; COLUMNS] = [false, true, true, true, true, true, false];

/// The subject of the measurement.
#[derive(Debug, Default)]
pub(super) struct BenchTable(Vec<BenchRow>);

impl BenchTable {
    pub(super) fn push(&mut self, row: BenchRow) {
        self.0.push(row);
    }

    pub(super) fn text(&self) -> String {
        let lines = self.aligned().into_iter().map(|cells| cells.join("  "));
        lines.map(|line| format!("{}\n", line.trim_end())).collect()
    }

    pub(super) fn markdown(&self) -> String {
        let rule = RIGHT.map(|right| if right { "--:" } else { "---" });
        let mut lines: Vec<String> = self
            .aligned()
            .iter()
            .map(|cells| cells.join(" | "))
            .collect();
        lines.insert(1, rule.join(" | "));
        lines.iter().map(|line| format!("| {line} |\n")).collect()
    }

    fn aligned(&self) -> Vec<[String; COLUMNS]> {
        let rows: Vec<_> = std::iter::once(HEAD)
            .chain(self.0.iter().map(BenchRow::cells))
            .collect();
        let width = |column: usize| {
            rows.iter()
                .map(|cells| cells[column].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: [usize; COLUMNS] = std::array::from_fn(width);
        let align = |cells: &[&str; COLUMNS]| {
            std::array::from_fn(|column| {
                let (cell, width) = (cells[column], widths[column]);
                if RIGHT[column] {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            })
        };
        rows.iter().map(align).collect()
    }

    #[cfg(test)]
    pub(super) fn verdicts(&self) -> Vec<&str> {
        self.0.iter().map(|row| row.verdict).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{BenchRow, BenchTable};

    #[test]
    fn columns_line_up() {
        let mut table = BenchTable::default();
        table.push(
            BenchRow::new("a")
                .size(52)
                .ours("1.00 ms".to_owned())
                .budget(1.0, 2.0, "ms"),
        );
        let expected = "\
what  size     ours  floor  ratio  budget  ok?
a       52  1.00 ms                ≤ 2 ms  ok
";
        assert_eq!(table.text(), expected);
        assert_eq!(table.markdown().lines().count(), 3);
    }
}
