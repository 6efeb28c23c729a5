//! Scans every skill of the grammar and writes the result.

use std::{
    fmt::Write as _,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use metier_scan::{DeclaredFacts, FileToScan, RuleSet, ScanLimits, ScannedContent, Verdict, scan};

use crate::{
    carriers::{Carrier, MadeSkill, carriers},
    idioms::{Idiom, IdiomFile, IdiomLanguage, IdiomText},
    slots,
};

/// Fillings per idiom and carrier; prose has one per wording.
const FILLINGS: usize = 3;

/// Verdicts of a cell.
#[derive(Clone, Copy, Default)]
struct Tally {
    critical: usize,
    warning: usize,
    clean: usize,
}

impl Tally {
    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Critical => self.critical += 1,
            Verdict::Warning | Verdict::Incomplete => self.warning += 1,
            Verdict::Info | Verdict::Clean => self.clean += 1,
        }
    }

    fn add(&mut self, other: Self) {
        self.critical += other.critical;
        self.warning += other.warning;
        self.clean += other.clean;
    }

    const fn total(self) -> usize {
        self.critical + self.warning + self.clean
    }

    fn cell(self) -> String {
        let parts: Vec<String> = [(self.critical, 'c'), (self.warning, 'w'), (self.clean, '-')]
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, letter)| format!("{letter}{count}"))
            .collect();
        match parts.is_empty() {
            true => ".".to_owned(),
            false => parts.join(" "),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of some thousands")]
    fn share(self, count: usize) -> f64 {
        100.0 * count as f64 / self.total().max(1) as f64
    }
}

/// The result of one idiom.
struct MatrixRow<'a> {
    idiom: &'a Idiom,
    cells: Vec<Tally>,
    twins: Vec<Tally>,
}

/// The results of all idioms.
pub(crate) struct Matrix<'a> {
    files: &'a [IdiomFile],
    rows: Vec<(usize, MatrixRow<'a>)>,
}

impl<'a> Matrix<'a> {
    pub(crate) fn of(files: &'a [IdiomFile]) -> Self {
        let idioms: Vec<(usize, usize, &Idiom)> = files
            .iter()
            .enumerate()
            .flat_map(|(at, file)| file.idioms.iter().map(move |idiom| (at, idiom)))
            .enumerate()
            .map(|(number, (file, idiom))| (number, file, idiom))
            .collect();
        let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    while let Some((number, file, idiom)) =
                        idioms.get(next.fetch_add(1, Ordering::Relaxed))
                    {
                        let row = MatrixRow::of(idiom, *number);
                        rows.lock().expect("no panic").push((*number, *file, row));
                    }
                });
            }
        });
        let mut rows = rows.into_inner().expect("no panic");
        rows.sort_by_key(|(number, ..)| *number);
        Self {
            files,
            rows: rows.into_iter().map(|(_, file, row)| (file, row)).collect(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::from(
            "# Which idioms of attack are found, by carrier. Made by tests/grammar.rs; METIER_BLESS=1 rewrites it.\n\
             # c: critical, w: warning or incomplete, -: not reported; with the number of fillings. Twins are harmless: only critical ones are counted.\n",
        );
        let mut summary = String::new();
        let mut all = Summary::default();
        for (at, file) in self.files.iter().enumerate() {
            for language in IdiomLanguage::ALL {
                let rows: Vec<&MatrixRow<'_>> = self
                    .rows
                    .iter()
                    .filter(|(of, row)| *of == at && row.idiom.language == language)
                    .map(|(_, row)| row)
                    .collect();
                if rows.is_empty() {
                    continue;
                }
                let name = format!("{} in {}", file.name, language.word());
                let _ = writeln!(text, "\n## {name} (written {})\n", file.written);
                section(&mut text, language, &rows);
                let mut one = Summary::default();
                rows.iter().for_each(|row| one.add(row));
                let _ = writeln!(summary, "{}", one.line(&name));
                all.add_all(&one);
            }
        }
        let _ = writeln!(
            text,
            "\n## In total\n\n{:34} {:>6} {:>9} {:>10} {:>6} {:>15}",
            "", "skills", "critical", "not clean", "twins", "twins critical"
        );
        let _ = writeln!(text, "{summary}{}", all.line("all"));
        text
    }
}

fn section(text: &mut String, language: IdiomLanguage, rows: &[&MatrixRow<'_>]) {
    let columns: Vec<&str> = carriers(language)
        .iter()
        .map(|carrier| carrier.name)
        .collect();
    let width = |at: usize| {
        let cells = rows.iter().map(|row| row.cells[at].cell().len());
        cells.chain([columns[at].len()]).max().unwrap_or(0)
    };
    let _ = write!(text, "{:30}", "");
    for (at, column) in columns.iter().enumerate() {
        let _ = write!(text, "  {column:width$}", width = width(at));
    }
    text.push_str("  twin\n");
    for row in rows {
        let _ = write!(text, "{:30}", row.idiom.name);
        for (at, cell) in row.cells.iter().enumerate() {
            let _ = write!(text, "  {:width$}", cell.cell(), width = width(at));
        }
        let _ = writeln!(text, "  {:6}  {}", row.twin(&columns), row.reason());
        while text.ends_with([' ', '\n']) {
            text.pop();
        }
        text.push('\n');
    }
}

impl<'a> MatrixRow<'a> {
    fn of(idiom: &'a Idiom, number: usize) -> Self {
        let carriers = carriers(idiom.language);
        let cells = carriers
            .iter()
            .enumerate()
            .map(|(at, carrier)| tally(idiom, &idiom.attack, carrier, number + at))
            .collect();
        let twins = carriers
            .iter()
            .enumerate()
            .map(|(at, carrier)| match &idiom.twin {
                Some(twin) if carrier.for_twins => tally(idiom, twin, carrier, number + at),
                _ => Tally::default(),
            })
            .collect();
        Self {
            idiom,
            cells,
            twins,
        }
    }

    fn twin(&self, columns: &[&str]) -> String {
        let loud: Vec<&str> = columns
            .iter()
            .zip(&self.twins)
            .filter(|(_, twin)| twin.critical > 0)
            .map(|(column, _)| *column)
            .collect();
        match (self.idiom.no_twin, loud.is_empty()) {
            (true, _) => "none".to_owned(),
            (_, true) => "quiet".to_owned(),
            (_, false) => format!("CRITICAL in {}", loud.join(", ")),
        }
    }

    fn reason(&self) -> String {
        let mut sum = Tally::default();
        self.cells.iter().for_each(|cell| sum.add(*cell));
        match &self.idiom.reason {
            _ if sum.critical == sum.total() => String::new(),
            Some(reason) => reason.clone(),
            None if sum.clean > 0 => format!("missed {} of {}", sum.clean, sum.total()),
            None => "warning only".to_owned(),
        }
    }
}

fn tally(idiom: &Idiom, text: &IdiomText, carrier: &Carrier, round: usize) -> Tally {
    let wordings: Vec<&str> = match idiom.language {
        IdiomLanguage::Prose => text.body.lines().collect(),
        _ => vec![text.body.as_str(); FILLINGS],
    };
    let mut tally = Tally::default();
    for (at, body) in wordings.iter().enumerate() {
        let round = round + at * 5;
        let fill = |text: &str| slots::fill(text, idiom.language, round);
        let filled = IdiomText {
            about: fill(&text.about),
            body: fill(body),
        };
        tally.count(verdict(&(carrier.place)(&filled)));
    }
    tally
}

fn verdict(made: &MadeSkill) -> Verdict {
    let files: Vec<FileToScan<'_>> = made
        .files
        .iter()
        .map(|(path, bytes)| FileToScan {
            path,
            content: ScannedContent::Bytes(bytes),
        })
        .collect();
    let about = DeclaredFacts {
        name: "release-notes",
        description: &made.description,
        ..DeclaredFacts::default()
    };
    scan(&files, &about, &RuleSet::default(), &ScanLimits::default()).verdict()
}

#[derive(Default)]
struct Summary {
    attacks: Tally,
    twins: Tally,
}

impl Summary {
    fn add(&mut self, row: &MatrixRow<'_>) {
        row.cells.iter().for_each(|cell| self.attacks.add(*cell));
        row.twins.iter().for_each(|cell| self.twins.add(*cell));
    }

    fn add_all(&mut self, other: &Self) {
        self.attacks.add(other.attacks);
        self.twins.add(other.twins);
    }

    fn line(&self, name: &str) -> String {
        let attacks = self.attacks;
        format!(
            "{name:34} {:6} {:7.1} % {:8.1} % {:6} {:13.1} %",
            attacks.total(),
            attacks.share(attacks.critical),
            attacks.share(attacks.critical + attacks.warning),
            self.twins.total(),
            self.twins.share(self.twins.critical),
        )
    }
}
