//! Words that technical writers do not use, in messages, comments, documents and names of tests.
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
    banned("all the same", "anyway", 0),
    banned("anew", "again", 0),
    banned("anybody", "the subject of the sentence, or a passive", 0),
    banned("are told", "get, receive", 0),
    banned("as far as", "if, up to", 0),
    banned("at the begin", "at the start", 0),
    banned("be had", "be available", 0),
    banned("everybody", "all users, every program", 0),
    banned("falls over", "panics, fails", 0),
    banned("for good", "permanently", 0),
    // They are names of functions.
    banned("given out", "issued, returned, handed out", 4),
    banned("go on with", "continue", 0),
    banned("goes on", "continues", 0),
    banned("hears of", "receives, sees", 0),
    banned("in vain", "without effect", 0),
    banned("inside of", "in, inside", 0),
    banned("is said", "is reported", 0),
    banned("is told", "gets, receives", 0),
    Banned {
        unless_before: LONGER,
        ..banned("it is no", "it is not a", 0)
    },
    banned("lie beside", "are beside", 0),
    banned("lies beside", "is beside", 0),
    banned("lies in", "is in", 0),
    banned("looked at", "read, checked, scanned", 0),
    banned("looks at", "reads, checks, scans", 0),
    banned("mend", "fix", 0),
    banned("mended", "fixed", 0),
    banned("mends", "fixes", 0),
    banned("near to", "near, similar to", 0),
    // They are in lists of English words that skills contain.
    banned("nobody", "no user, no skill, nothing", 5),
    banned("of the moment", "current, at that time", 0),
    banned("outside of", "outside", 0),
    banned("passed over", "skipped", 0),
    banned("passes over", "skips", 0),
    banned("shut in", "sandboxed", 0),
    banned("shuts itself in", "sandboxes itself", 0),
    // One is in a list of English words that tasks contain.
    banned("somebody", "the user, the caller", 1),
    banned("speaks against", "excludes", 0),
    banned("speaks for", "matches, supports", 0),
    banned("speaks of", "describes, mentions", 0),
    banned("stands before", "is before", 0),
    banned("switched off", "disabled", 0),
    banned("switched on", "enabled", 0),
    banned("taken away", "removed", 0),
    banned("takes away", "removes", 0),
    Banned {
        unless_before: LONGER,
        ..banned("that is no", "that is not a", 0)
    },
    banned("the like", "similar", 0),
    banned("went on", "continued", 0),
    Banned {
        unless_before: LONGER,
        ..banned("what is no", "a noun: an invalid X", 0)
    },
    banned("what lies", "the files, the content", 0),
    Banned {
        unless_before: LONGER,
        ..banned("which is no", "which is not a", 0)
    },
    banned("whoever", "the caller, the user", 0),
    banned("without end", "without limit", 0),
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

/// Every use, as `path:line`: in prose, and in the names of functions everywhere.
fn uses(banned: &Banned, texts: &[ProjectText]) -> Vec<String> {
    let mut uses = Vec::new();
    for (path, text) in texts {
        let mut in_code = false;
        for (index, line) in text.lines().enumerate() {
            let mut times = 0;
            if is_prose(path) {
                times += occurrences(&prose(path, line, &mut in_code), banned);
            }
            if path.ends_with(".rs") && path != OWN {
                times += function_name(line).map_or(0, |name| occurrences(&name, banned));
            }
            uses.extend((0..times).map(|_| format!("{path}:{}", index + 1)));
        }
    }
    uses
}

/// The part of a line that is prose, in lower case. In documents, code between fences and backticks is not.
fn prose(path: &str, line: &str, in_code: &mut bool) -> String {
    let line = line.trim_start();
    if !path.ends_with(".md") {
        return line.to_lowercase();
    }
    if line.starts_with("```") || line.starts_with("~~~") {
        *in_code = !*in_code;
    }
    if *in_code {
        return String::new();
    }
    let outside = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
    outside.to_lowercase()
}

/// The words of the name of a function that is declared in a line: tests have sentences as names.
fn function_name(line: &str) -> Option<String> {
    let (before, after) = line.split_once("fn ")?;
    let is_keyword = before.is_empty() || before.ends_with(' ');
    let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    is_keyword.then(|| after[..end].replace('_', " "))
}

/// The file of the table itself.
const OWN: &str = "xtask/src/tidy/voice.rs";

/// The extensions of programs and of data in them, which contain messages for users and models.
const PROGRAMS: [&str; 6] = [".rs", ".star", ".py", ".ts", ".js", ".yaml"];

/// Documents, and source code that is neither a test nor this file.
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
    let is_program = PROGRAMS.iter().any(|extension| path.ends_with(extension));
    let is_ours = ["skills/", "sdk/"]
        .iter()
        .any(|folder| path.starts_with(folder))
        || path.contains("src/");
    let is_test =
        path.ends_with("tests.rs") || path.contains("/tests/") || path.starts_with("fixtures/");
    is_program && is_ours && !is_test && !path.starts_with("examples/") && path != OWN
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
        check("skills/a/skill.star", "fail(\"mend it\")\n", 1);
        check("sdk/python/a.py", "# mend it\n", 1);
        check("docs/a.md", "It is no longer a file.\n", 0);
    }

    #[test]
    fn code_in_documents_and_tests_do_not_count() {
        check("docs/a.md", "write `mend`\n```\nmend\n```\nmend\n", 1);
        check("crates/a/src/b_tests.rs", "// mend\n", 0);
        check("crates/a/tests/all/b.rs", "// mend\n", 0);
        check("skills/a/tests/cases.yaml", "# mend\n", 0);
        check("fixtures/a/SKILL.md", "mend\n", 0);
        check("examples/a/src/main.rs", "// mend\n", 0);
    }

    #[test]
    fn names_of_functions_are_read_as_words() {
        check("crates/a/tests/all/b.rs", "    fn it_is_no_file() {\n", 1);
        check("crates/a/tests/all/b.rs", "fn how_to_mend_it() {}\n", 1);
        check(
            "crates/a/tests/all/b.rs",
            "fn it_is_no_longer_a_file() {}\n",
            0,
        );
        check("crates/a/tests/all/b.rs", "let mend = fix(mend);\n", 0);
        check("docs/a.md", "`fn mend()`\n", 0);
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
