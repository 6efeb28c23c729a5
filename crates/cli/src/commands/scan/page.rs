//! The findings of a scan, as a page for people.

use metier::{
    scans::{
        Finding, FindingSeverity, ScanConsequence, ScannedSkill, SourceExcerpt, Verdict, suggested,
    },
    text::visible,
};
use unicode_width::UnicodeWidthStr;

use crate::output::{Output, Tone, count, one_line};

/// The permissions that manifests would declare, as YAML.
pub(super) fn suggestions(scans: &[ScannedSkill]) -> String {
    let mut out = String::new();
    for scan in scans {
        out.push_str(&format!("# {}\n", one_line(&scan.entry.name())));
        let wanted = suggested(&scan.report.capabilities);
        if wanted.is_empty() {
            out.push_str("permissions: []\n");
            continue;
        }
        out.push_str("permissions:\n");
        for permission in wanted {
            // A `#` or a `: ` means something to YAML; brackets and stars within a word don't.
            let plain = !permission.contains(" #") && !permission.contains(": ");
            let shown = if plain {
                permission
            } else {
                format!("{permission:?}")
            };
            out.push_str(&format!("  - {shown}\n"));
        }
    }
    out
}

/// How many findings of a skill are shown, and for how many skills a line is printed even if nothing is wrong.
pub(super) const SHOWN: usize = 20;
pub(super) fn report(scans: &[ScannedSkill], total: &str, bad: bool, output: &Output) -> String {
    let mut out = String::new();
    for scan in scans {
        findings(scan, bad, output, &mut out);
        let quiet = scan.report.verdict() <= Verdict::Info && scan.acceptance.is_none();
        if !quiet || scans.len() <= SHOWN || output.is_verbose() {
            out.push_str(&summary(scan, output));
        }
    }
    out.push_str(total);
    out
}

/// How many skills have which verdict, in a line; nothing about a single skill.
pub(super) fn total(scans: &[ScannedSkill]) -> String {
    if scans.len() == 1 {
        return String::new();
    }
    let with = |verdict: Verdict| {
        let verdicts = scans.iter().map(ScannedSkill::verdict);
        verdicts.filter(|own| *own == verdict).count()
    };
    let parts: Vec<String> = Verdict::ALL
        .into_iter()
        .rev()
        .map(|verdict| (with(verdict), verdict))
        .filter(|(number, _)| *number > 0)
        .map(|(number, verdict)| format!("{number} {}", verdict.word()))
        .collect();
    let total = count(scans.len(), "skill");
    format!("{total}: {}\n", parts.join(", "))
}

/// The findings of one skill with their evidence, and the files that were not read.
pub(in crate::commands) fn findings(
    scan: &ScannedSkill,
    bad: bool,
    output: &Output,
    out: &mut String,
) {
    let least = if bad {
        FindingSeverity::Critical
    } else {
        FindingSeverity::Warning
    };
    let shown = |finding: &&Finding| finding.severity >= least || output.is_verbose();
    let most = if output.is_verbose() {
        usize::MAX
    } else {
        SHOWN
    };
    let number = scan.report.findings.iter().filter(shown).count();
    let frames = scan.frames.iter().chain(std::iter::repeat(&None));
    for (finding, frame) in scan
        .report
        .findings
        .iter()
        .zip(frames)
        .filter(|(finding, _)| shown(finding))
        .take(most)
    {
        describe(scan, finding, frame.as_ref(), output, out);
    }
    let more = number.saturating_sub(most) + scan.report.more;
    if more > 0 {
        out.push_str(&format!("… and {more} more\n"));
    }
    for unread in scan.report.unread.iter().take(most) {
        let path = match unread.file.as_str() {
            "" => scan.entry.place.path().into_owned(),
            file => scan.entry.place.path().join(file),
        };
        out.push_str(&format!(
            "{}: {}: {}\n",
            one_line(&path.to_string_lossy()),
            output.paint("not read", Tone::Warn),
            one_line(&unread.why)
        ));
    }
    let more = scan.report.unread.len().saturating_sub(most);
    if more > 0 {
        out.push_str(&format!("… and {more} more that were not read\n"));
    }
}

/// `✗ name: critical (2 critical, 1 warning; 12 files)`.
fn summary(scan: &ScannedSkill, output: &Output) -> String {
    let verdict = scan.report.verdict();
    let accepted = scan.acceptance.as_ref();
    let sign = match verdict {
        Verdict::Critical | Verdict::Incomplete if accepted.is_none() => {
            output.paint("✗", Tone::Bad)
        }
        Verdict::Warning => output.paint("!", Tone::Warn),
        _ => output.paint("✓", Tone::Good),
    };
    let number = |severity: FindingSeverity| {
        let findings = scan.report.findings.iter();
        findings
            .filter(|finding| finding.severity == severity)
            .count()
    };
    let mut parts: Vec<String> = [
        FindingSeverity::Critical,
        FindingSeverity::Warning,
        FindingSeverity::Info,
    ]
    .into_iter()
    .map(|severity| (number(severity), severity.word()))
    .chain([
        (scan.report.unread.len(), "not read"),
        (scan.suppressed, "suppressed"),
        (scan.left_out, "in the baseline"),
    ])
    .filter(|(number, _)| *number > 0)
    .map(|(number, word)| format!("{number} {word}"))
    .collect();
    parts.push(count(scan.report.files, "file"));
    let mut line = format!(
        "{sign} {}: {} ({})",
        output.paint(&one_line(&scan.entry.name()), Tone::Strong),
        verdict.word(),
        parts.join(", ")
    );
    if let Some(accepted) = accepted {
        let reason = accepted.reason.as_deref().unwrap_or("no reason given");
        line.push_str(&format!(
            ", accepted on {}: {}",
            accepted.at.get(..10).unwrap_or(&accepted.at),
            one_line(reason)
        ));
    }
    line.push('\n');
    if accepted.is_none()
        && scan.stance() == ScanConsequence::Blocked
        && verdict >= Verdict::Incomplete
    {
        line.push_str(&format!(
            "  {} it is blocked; if you have reviewed it yourself: metier scan {} --accept --reason TEXT\n",
            output.paint("hint:", Tone::Note),
            scan.word
        ));
    }
    line
}

fn describe(
    scan: &ScannedSkill,
    finding: &Finding,
    frame: Option<&SourceExcerpt>,
    output: &Output,
    out: &mut String,
) {
    let tone = match finding.severity {
        FindingSeverity::Critical => Tone::Bad,
        FindingSeverity::Warning => Tone::Warn,
        FindingSeverity::Info => Tone::Faint,
    };
    let folder = scan.entry.place.path();
    let path = match finding.place.file.as_str() {
        "" => folder.to_path_buf(),
        file => folder.join(file),
    };
    out.push_str(&format!(
        "{}{}: {}: {} [{}]\n",
        one_line(&path.to_string_lossy()),
        finding.place.position(),
        output.paint(finding.severity.word(), tone),
        one_line(&finding.message),
        one_line(finding.rule.id())
    ));
    match frame {
        Some(frame) => draw(finding, frame, output, out),
        None if finding.evidence.is_empty() => {}
        None => out.push_str(&format!(
            "  {} {}\n",
            output.paint("|", Tone::Faint),
            one_line(&finding.evidence)
        )),
    }
    for step in &finding.steps {
        out.push_str(&format!(
            "  {} {}:{}: {}\n",
            output.paint("from", Tone::Faint),
            one_line(&step.place.file),
            step.place.line,
            one_line(&step.what)
        ));
    }
    if let Some(fix) = finding.rule.fix() {
        out.push_str(&format!(
            "  {} {}\n",
            output.paint("hint:", Tone::Note),
            one_line(fix)
        ));
    }
}

/// The lines around a finding, with a mark below its column.
fn draw(finding: &Finding, frame: &SourceExcerpt, output: &Output, out: &mut String) {
    let last = frame.first as usize + frame.lines.len().saturating_sub(1);
    let width = last.to_string().len();
    let bar = output.paint("|", Tone::Faint);
    let column = finding.place.column.saturating_sub(1) as usize;
    for (number, line) in (frame.first..).zip(&frame.lines) {
        let here = number == finding.place.line;
        let (text, mark) = window(line, if here { column } else { 0 }, column);
        let number = output.paint(&format!("{number:>width$}"), Tone::Faint);
        out.push_str(format!("  {number} {bar} {text}").trim_end());
        out.push('\n');
        if here {
            let mark = " ".repeat(mark);
            let caret = output.paint("^", Tone::Bad);
            out.push_str(&format!("  {:>width$} {bar} {mark}{caret}\n", ""));
        }
    }
}

/// How much of a line is shown, and how much of that before the column that counts.
const WINDOW: usize = 120;
const BEFORE: usize = 60;

/// The part of a line around a column, with nothing hidden in it, and where the column is in that part. All lines of a frame are cut
/// at the same place.
fn window(line: &str, column: usize, common: usize) -> (String, usize) {
    let start = if common > WINDOW - 20 {
        common - BEFORE
    } else {
        0
    };
    let part = |from: usize, to: usize| -> String {
        let cut: String = line.chars().skip(from).take(to - from).collect();
        let seen = visible(&cut);
        // Joiners are visible elsewhere; here they would shift the mark.
        seen.replace('\u{200d}', "\\u{200d}")
    };
    let dots = if start > 0 && line.chars().nth(start).is_some() {
        "…"
    } else {
        ""
    };
    let before = part(start, column.max(start));
    let after = part(column.max(start), start + WINDOW);
    let more = if line.chars().nth(start + WINDOW).is_some() {
        "…"
    } else {
        ""
    };
    let mark = dots.width() + before.width();
    let shown = format!("{dots}{before}{after}");
    // What is spelled out takes more room than it had.
    match shown.char_indices().nth(2 * WINDOW) {
        Some((cut, _)) => (format!("{}…", &shown[..cut]), mark.min(2 * WINDOW)),
        None => (format!("{shown}{more}"), mark),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_around_its_column_and_hides_nothing() {
        assert_eq!(window("abc", 1, 1), ("abc".to_owned(), 1));
        assert_eq!(window("\tab", 1, 1), (" ab".to_owned(), 1));
        let hidden = "a\u{202e}b";
        assert_eq!(window(hidden, 2, 2), ("a\\u{202e}b".to_owned(), 9));
        let long = "x".repeat(500);
        let (text, mark) = window(&long, 300, 300);
        assert_eq!((text.chars().count(), mark), (WINDOW + 2, BEFORE + 1));
        assert_eq!(window("short", 0, 300).0, "", "a neighbour is cut alike");
        assert_eq!(window("", 7, 7), (String::new(), 0));
    }
}
