//! Checks as a judge reports them, and their verdict together with the list of expected failures.

use std::collections::BTreeMap;
use std::fmt;

/// One check that a judge reported.
#[derive(Debug, Clone)]
pub(crate) struct JudgeCheck {
    /// Unique in a run of its judge, without what changes from run to run.
    pub(crate) name: String,
    /// The actual result, if it failed.
    pub(crate) result: Result<(), String>,
}

/// A known failure, with its cause.
pub(crate) struct ExpectedFailure {
    pub(crate) judge: &'static str,
    /// A check, or the common beginning of several, followed by `*`.
    pub(crate) check: &'static str,
    pub(crate) reason: &'static str,
}

/// The checks of a judge, compared with the list of expected failures.
#[derive(Debug)]
pub(crate) struct Judgement {
    judge: &'static str,
    rows: Vec<JudgedRow>,
    /// Unexpected results: any of them fails the command.
    pub(crate) surprises: Vec<String>,
}

#[derive(Debug)]
struct JudgedRow {
    check: JudgeCheck,
    reason: Option<&'static str>,
}

impl JudgeCheck {
    pub(crate) fn passed(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            name,
            result: Ok(()),
        }
    }

    /// The era or revision in front of the name, if there is one, and the name.
    fn parts(&self) -> (&str, &str) {
        self.name.split_once(": ").unwrap_or(("", &self.name))
    }

    pub(crate) fn failed(name: impl Into<String>, seen: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            result: Err(seen.into()),
        }
    }
}

impl ExpectedFailure {
    fn covers(&self, name: &str) -> bool {
        match self.check.strip_suffix('*') {
            Some(begin) => name.starts_with(begin),
            None => name == self.check,
        }
    }
}

impl Judgement {
    pub(crate) fn of(
        judge: &'static str,
        checks: Vec<JudgeCheck>,
        failures: &[ExpectedFailure],
    ) -> Self {
        let mine = failures.iter().filter(|failure| failure.judge == judge);
        let mine: Vec<&ExpectedFailure> = mine.collect();
        let mut surprises = Vec::new();
        if checks.is_empty() {
            surprises.push("no check was reported".to_owned());
        }
        for failure in &mine {
            if !checks.iter().any(|check| failure.covers(&check.name)) {
                surprises.push(format!(
                    "{}: expected to fail, and not reported",
                    failure.check
                ));
            }
        }
        let mut times = BTreeMap::new();
        let mut rows = Vec::new();
        for check in checks {
            let count = times.entry(check.name.clone()).or_insert(0);
            *count += 1;
            if *count == 2 {
                surprises.push(format!("{}: reported twice", check.name));
            }
            let known = mine.iter().find(|failure| failure.covers(&check.name));
            let reason = known.map(|failure| failure.reason);
            match (&check.result, reason) {
                (Ok(()), Some(_)) => surprises.push(format!(
                    "{}: passes; remove it from the list of expected failures",
                    check.name
                )),
                (Err(seen), None) => surprises.push(format!("{}: {seen}", check.name)),
                _ => {}
            }
            rows.push(JudgedRow { check, reason });
        }
        Self {
            judge,
            rows,
            surprises,
        }
    }

    /// Every check, one a line or as a table.
    pub(crate) fn report(&self, what: &str, markdown: bool) -> String {
        let mut text = match markdown {
            true => format!("\n### {what}\n\n{self}.\n\n{}", self.table()),
            false => format!("\n{}: {what}\n{}", self.judge, self.lines()),
        };
        for surprise in &self.surprises {
            text += &format!("error: {}: {surprise}\n", self.judge);
        }
        text
    }

    fn lines(&self) -> String {
        let line = |row: &JudgedRow| {
            let (word, detail) = match (&row.check.result, row.reason) {
                (Ok(()), _) => ("pass", ""),
                (Err(_), Some(reason)) => ("expected failure", reason),
                (Err(seen), None) => ("FAIL", seen.as_str()),
            };
            let colon = if detail.is_empty() { "" } else { ": " };
            let detail = detail.replace('\n', " ");
            format!("  {word:<16} {}{colon}{detail}\n", row.check.name)
        };
        self.rows.iter().map(line).collect()
    }

    /// A row for each check, a column for each era or revision in front of its name, and the reasons below.
    fn table(&self) -> String {
        let (mut groups, mut names) = (Vec::new(), Vec::new());
        for row in &self.rows {
            let (group, name) = row.check.parts();
            if !groups.contains(&group) {
                groups.push(group);
            }
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let heads = groups.iter().map(|group| match *group {
            "" => "result",
            group => group,
        });
        let heads: Vec<&str> = heads.collect();
        let mut text = format!(
            "| check | {} |\n|---|{}\n",
            heads.join(" | "),
            "---|".repeat(heads.len())
        );
        for name in names {
            let cells = groups.iter().map(|group| {
                let mut rows = self.rows.iter();
                let row = rows.find(|row| row.check.parts() == (*group, name));
                row.map_or("", JudgedRow::word)
            });
            text += &format!("| {name} | {} |\n", cells.collect::<Vec<_>>().join(" | "));
        }
        let known = self.rows.iter().filter(|row| row.check.result.is_err());
        let mut reasons = BTreeMap::<&str, Vec<&str>>::new();
        for (reason, row) in known.filter_map(|row| Some((row.reason?, row))) {
            reasons.entry(reason).or_default().push(&row.check.name);
        }
        let lines = reasons.iter();
        let lines = lines.map(|(reason, checks)| format!("- {}: {reason}\n", checks.join(", ")));
        let lines: String = lines.collect();
        match lines.is_empty() {
            true => text,
            false => format!("{text}\nExpected failures:\n\n{lines}"),
        }
    }
}

impl JudgedRow {
    fn word(&self) -> &'static str {
        match (&self.check.result, self.reason) {
            (Ok(()), _) => "pass",
            (Err(_), Some(_)) => "expected failure",
            (Err(_), None) => "FAIL",
        }
    }
}

impl fmt::Display for Judgement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let passed = self.rows.iter().filter(|row| row.check.result.is_ok());
        let known = self.rows.iter();
        let known = known.filter(|row| row.check.result.is_err() && row.reason.is_some());
        write!(
            f,
            "{}: {} of {} checks pass, {} expected failures, {} surprises",
            self.judge,
            passed.count(),
            self.rows.len(),
            known.count(),
            self.surprises.len()
        )
    }
}

/// Compares the names that were reported with those of a table: each is there once, and no other.
pub(crate) fn complete(mut checks: Vec<JudgeCheck>, table: &[String]) -> Vec<JudgeCheck> {
    for name in table {
        if !checks.iter().any(|check| check.name == *name) {
            checks.push(JudgeCheck::failed(name, "not reported"));
        }
    }
    for check in &mut checks {
        if !table.contains(&check.name) {
            check.result = Err("not in the table of checks".to_owned());
        }
    }
    let place = |name: &String| table.iter().position(|known| known == name);
    checks.sort_by_key(|check| place(&check.name).unwrap_or(usize::MAX));
    checks
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[ExpectedFailure] = &[
        ExpectedFailure {
            judge: "j",
            check: "b",
            reason: "why",
        },
        ExpectedFailure {
            judge: "other",
            check: "a",
            reason: "why",
        },
        ExpectedFailure {
            judge: "j",
            check: "auth/*",
            reason: "why",
        },
    ];

    fn surprises(checks: &[(&str, bool)]) -> Vec<String> {
        let checks = checks.iter().map(|(name, passes)| match passes {
            true => JudgeCheck::passed(*name),
            false => JudgeCheck::failed(*name, "saw"),
        });
        Judgement::of("j", checks.collect(), KNOWN).surprises
    }

    #[test]
    fn what_is_expected_is_no_surprise() {
        let checks = [
            ("a", true),
            ("b", false),
            ("auth/x", false),
            ("auth/y", false),
        ];
        assert!(surprises(&checks).is_empty());
    }

    #[test]
    fn sabotage_each_surprise_is_caught() {
        let fine = [("a", true), ("b", false), ("auth/x", false)];
        for (at, change, expected) in [
            (0, ("a", false), "a: saw"),
            (1, ("b", true), "b: passes; remove"),
            (2, ("auth/x", true), "auth/x: passes; remove"),
            (1, ("c", true), "b: expected to fail, and not reported"),
            (0, ("b", false), "b: reported twice"),
        ] {
            let mut checks = fine;
            checks[at] = change;
            let found = surprises(&checks);
            assert!(
                found.iter().any(|one| one.starts_with(expected)),
                "{found:?}"
            );
        }
        let found = surprises(&[]);
        assert!(
            found.contains(&"no check was reported".to_owned()),
            "{found:?}"
        );
    }

    #[test]
    fn a_table_has_a_column_for_each_era() {
        let checks = vec![
            JudgeCheck::passed("old: a"),
            JudgeCheck::failed("new: a", "saw"),
            JudgeCheck::passed("new: c"),
        ];
        let known = [ExpectedFailure {
            judge: "j",
            check: "new: a",
            reason: "why",
        }];
        let table = Judgement::of("j", checks, &known).table();
        assert_eq!(
            table,
            "| check | old | new |\n|---|---|---|\n| a | pass | expected failure |\n| c |  | pass |\n\nExpected failures:\n\n- new: a: why\n"
        );
    }

    #[test]
    fn sabotage_a_script_that_leaves_out_a_check_is_caught() {
        let table = ["a".to_owned(), "b".to_owned()];
        let checks = complete(
            vec![JudgeCheck::passed("b"), JudgeCheck::passed("x")],
            &table,
        );
        let results: Vec<_> = checks
            .iter()
            .map(|one| (one.name.as_str(), one.result.is_ok()))
            .collect();
        assert_eq!(results, [("a", false), ("b", true), ("x", false)]);
    }
}
