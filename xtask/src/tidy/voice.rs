//! Words that technical writers do not use, in messages, comments and documents.
//!
//! **Problem.** A rule of style that no test checks is forgotten. **Decision.** Each word has a replacement and a number: how often it still
//! occurs. The check fails when there are more, and when there are fewer, so that the number is lowered in the same commit.

use super::ProjectText;

/// One word or phrase that is being removed.
struct Banned {
    /// The phrase, in lower case. It is found as whole words, in any case.
    phrase: &'static str,
    /// What to write instead.
    instead: &'static str,
    /// Words after which the phrase is fine: `it is no longer`.
    unless_before: &'static [&'static str],
    /// How often it occurs today.
    count: usize,
}

const fn banned(phrase: &'static str, instead: &'static str, count: usize) -> Banned {
    let unless_before = &[];
    Banned {
        phrase,
        instead,
        unless_before,
        count,
    }
}

/// `is no` is right before these.
const LONGER: &[&str] = &["longer", "more", "less", "better", "worse", "different"];

const BANNED: &[Banned] = &[
    banned("anew", "again", 0),
    banned("anybody", "the subject of the sentence, or a passive", 0),
    banned("everybody", "all users, every program", 0),
    banned("for good", "permanently", 1),
    banned("go on with", "continue", 0),
    banned("goes on with", "continues", 0),
    banned("in vain", "without effect", 0),
    banned("inside of", "in, inside", 9),
    Banned {
        unless_before: LONGER,
        ..banned("it is no", "it is not a", 2)
    },
    banned("mend", "fix", 2),
    banned("mended", "fixed", 0),
    banned("mends", "fixes", 1),
    banned("near to", "near, similar to", 0),
    banned("nobody", "no user, no skill, nothing", 32),
    banned("outside of", "outside", 10),
    banned("shut in", "sandboxed", 2),
    banned("shuts itself in", "sandboxes itself", 2),
    banned("somebody", "the user, the caller", 10),
    banned("speaks against", "excludes", 0),
    banned("speaks for", "matches, supports", 0),
    banned("switched off", "disabled", 0),
    banned("switched on", "enabled", 1),
    Banned {
        unless_before: LONGER,
        ..banned("that is no", "that is not a", 2)
    },
    banned("the like", "similar", 0),
    banned("went on with", "continued", 0),
    Banned {
        unless_before: LONGER,
        ..banned("which is no", "which is not a", 1)
    },
    banned("whoever", "the caller, the user", 11),
    banned("without end", "without limit", 7),
];

/// How many places of a new use are named.
const SHOWN: usize = 8;

/// Compares the number of uses of each phrase with the table.
pub(super) fn check(texts: &[ProjectText]) -> Vec<String> {
    BANNED
        .iter()
        .filter_map(|banned| problem(banned, &uses(banned, texts)))
        .collect()
}

fn problem(banned: &Banned, uses: &[String]) -> Option<String> {
    let Banned {
        phrase,
        instead,
        count,
        ..
    } = banned;
    let found = uses.len();
    if found < *count {
        return Some(format!(
            "xtask/src/tidy/voice.rs: `{phrase}` occurs {found} times, not {count}: lower the number"
        ));
    }
    let places = uses[..found.min(SHOWN)].join(", ");
    (found > *count).then(|| {
        format!("`{phrase}` occurs {found} times, {count} are allowed; write: {instead} ({places})")
    })
}

/// Every use, as `path:line`.
fn uses(banned: &Banned, texts: &[ProjectText]) -> Vec<String> {
    let mut uses = Vec::new();
    for (path, text) in texts.iter().filter(|(path, _)| is_prose(path)) {
        let markdown = path.ends_with(".md");
        let mut in_code = false;
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if markdown && (line.starts_with("```") || line.starts_with("~~~")) {
                in_code = !in_code;
            }
            if markdown && in_code {
                continue;
            }
            // Between backticks is code.
            let line = match markdown {
                true => line.split('`').step_by(2).collect::<Vec<_>>().join("`"),
                false => line.to_owned(),
            };
            let times = occurrences(&line.to_lowercase(), banned);
            uses.extend((0..times).map(|_| format!("{path}:{}", index + 1)));
        }
    }
    uses
}

/// Documents, and source code that is neither a test nor a template nor this file.
fn is_prose(path: &str) -> bool {
    const DOCUMENTS: [&str; 5] = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "STYLE.md",
        "sdk/README.md",
    ];
    if path.ends_with(".md") {
        let folder = path.split('/').next().unwrap_or_default();
        return DOCUMENTS.contains(&path) || ["docs", "spec", "skills"].contains(&folder);
    }
    path.ends_with(".rs")
        && !path.ends_with("tests.rs")
        && path.contains("src/")
        && !path.contains("/templates/")
        && !path.starts_with("examples/")
        && path != "xtask/src/tidy/voice.rs"
}

fn occurrences(line: &str, banned: &Banned) -> usize {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(banned.phrase)
        .filter(|(at, _)| {
            let after = &line[at + banned.phrase.len()..];
            let whole = !line[..*at].ends_with(is_part) && !after.starts_with(is_part);
            let next = after.trim_start();
            whole
                && !banned
                    .unless_before
                    .iter()
                    .any(|word| next.starts_with(word))
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::{BANNED, LONGER, banned, problem, uses};
    use crate::tidy::ProjectText;

    #[track_caller]
    fn check(path: &str, text: &str, expected: usize) {
        let texts: Vec<ProjectText> = vec![(path.to_owned(), text.to_owned())];
        let word = super::Banned {
            unless_before: LONGER,
            ..banned("it is no", "it is not a", 0)
        };
        let found = uses(&word, &texts).len() + uses(&banned("mend", "fix", 0), &texts).len();
        assert_eq!(found, expected, "{path}: {text}");
    }

    #[test]
    fn whole_words_in_any_case_count() {
        check("docs/a.md", "Mend it, mend it.\n", 2);
        check("docs/a.md", "amend, mending, mend_it\n", 0);
        check("crates/a/src/b.rs", "// how to mend it\n", 1);
        check("docs/a.md", "It is no file.\n", 1);
        check("docs/a.md", "It is no longer a file.\n", 0);
    }

    #[test]
    fn code_in_documents_and_tests_do_not_count() {
        check("docs/a.md", "write `mend`\n```\nmend\n```\nmend\n", 1);
        check("crates/a/src/b_tests.rs", "// mend\n", 0);
        check("crates/a/tests/all/b.rs", "// mend\n", 0);
        check("fixtures/a/SKILL.md", "mend\n", 0);
        check("examples/a/src/main.rs", "// mend\n", 0);
    }

    #[test]
    fn the_number_is_exact() {
        let word = banned("mend", "fix", 1);
        let places = |n: usize| {
            (1..=n)
                .map(|line| format!("a.md:{line}"))
                .collect::<Vec<_>>()
        };
        assert_eq!(problem(&word, &places(1)), None);
        assert_eq!(
            problem(&word, &places(2)).as_deref(),
            Some("`mend` occurs 2 times, 1 are allowed; write: fix (a.md:1, a.md:2)")
        );
        assert_eq!(
            problem(&word, &[]).as_deref(),
            Some("xtask/src/tidy/voice.rs: `mend` occurs 0 times, not 1: lower the number")
        );
    }

    #[test]
    fn the_table_is_sorted_and_in_lower_case() {
        assert!(
            BANNED
                .windows(2)
                .all(|pair| pair[0].phrase < pair[1].phrase)
        );
        assert!(
            BANNED
                .iter()
                .all(|banned| banned.phrase == banned.phrase.to_lowercase())
        );
    }
}
