//! Statements of `ARCHITECTURE.md` that the sources decide, and the size of its glossary.
//!
//! An invariant that names its places is compared with the code: code that does it elsewhere is a problem, and so is a place that does not do it any
//! more. The paragraph is the only list, so it can't differ from a second one.

use super::{ProjectText, paths};

const MAP: &str = "ARCHITECTURE.md";

/// A glossary that is longer is not read.
const MAX_WORDS: usize = 30;

/// An invariant: how its paragraph begins, and the words of code that are found in the places that it names and nowhere else.
struct Invariant {
    begins: &'static str,
    words: &'static [&'static str],
    /// Lines with one of these don't count.
    except: &'static [&'static str],
}

const INVARIANTS: &[Invariant] = &[
    Invariant {
        begins: "**Architecture Invariant:** the environment and the working directory are read in",
        words: &[
            "env::var(",
            "env::var_os(",
            "env::vars(",
            "env::vars_os(",
            "env::current_dir(",
            "env::home_dir(",
            "env::temp_dir(",
        ],
        except: &["use "],
    },
    Invariant {
        begins: "**Architecture Invariant:** the date is read in",
        words: &["SystemTime::now"],
        except: &["use "],
    },
    Invariant {
        begins: "**Architecture Invariant:** the monotonic clock is read by",
        words: &["Instant::now", ".elapsed()"],
        except: &["use "],
    },
    Invariant {
        begins: "**Architecture Invariant:** the JSON that clients see is defined in",
        words: &["Serialize"],
        // A function that takes any serialisable value makes none.
        except: &[
            "use ",
            "&impl Serialize",
            "&impl serde::Serialize",
            ": Serialize",
        ],
    },
];

/// Packages and files that do not ship: they are for tests.
const FOR_TESTS: &[&str] = &["crates/testkit/", "crates/store/src/rerun.rs"];

/// Compares the invariants with the sources, and counts the words of the glossary.
pub(super) fn check(texts: &[ProjectText]) -> Vec<String> {
    let Some((_, map)) = texts.iter().find(|(path, _)| path == MAP) else {
        return vec![format!("{MAP} is missing")];
    };
    let mut problems: Vec<String> = INVARIANTS
        .iter()
        .flat_map(|invariant| invariant.problems(map, texts))
        .collect();
    problems.extend(glossary(map));
    problems
}

impl Invariant {
    fn problems(&self, map: &str, texts: &[ProjectText]) -> Vec<String> {
        let begins = self.begins;
        let paragraph = map
            .split("\n\n")
            .map(|paragraph| paragraph.replace('\n', " "))
            .find(|paragraph| paragraph.starts_with(begins));
        let Some(paragraph) = paragraph else {
            return vec![format!("{MAP}: no paragraph begins with \"{begins}\"")];
        };
        let named = paths(&paragraph);
        let covers = |place: &str, path: &str| {
            path.strip_prefix(place)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let found: Vec<(&str, usize, &str)> = texts
            .iter()
            .filter(|(path, _)| is_shipped(path))
            .flat_map(|(path, text)| {
                self.uses(text)
                    .map(move |(line, word)| (path.as_str(), line, word))
            })
            .collect();
        let elsewhere = found
            .iter()
            .filter(|(path, ..)| !named.iter().any(|place| covers(place, path)))
            .map(|(path, line, word)| {
                format!(
                    "{path}:{line}: `{word}` in a place that {MAP} does not name: \"{begins} …\""
                )
            });
        let stale = named
            .iter()
            .filter(|place| !found.iter().any(|(path, ..)| covers(place, path)))
            .map(|place| format!("{MAP}: nothing in `{place}` does this: \"{begins} …\""));
        elsewhere.chain(stale).collect()
    }

    /// The lines of code, before the tests in the file, with one of the words; a word in a comment or a string does not count.
    fn uses<'t>(&'t self, text: &'t str) -> impl Iterator<Item = (usize, &'static str)> + 't {
        let mut after_test_attribute = false;
        let before_tests = text.lines().enumerate().take_while(move |(_, line)| {
            let is_tests = after_test_attribute && line.starts_with("mod ") && line.ends_with('{');
            after_test_attribute = *line == "#[cfg(test)]";
            !is_tests
        });
        before_tests.filter_map(|(index, line)| {
            let counts = !self.except.iter().any(|words| line.contains(words));
            let mut words = self.words.iter().filter(|_| counts);
            let word = words.find(|word| is_in_code(line, word))?;
            Some((index + 1, *word))
        })
    }
}

/// Source code of a package that is neither a test nor a template of `metier new`.
fn is_shipped(path: &str) -> bool {
    let ours = path.starts_with("crates/") || path.starts_with("sdk/");
    ours && path.ends_with(".rs")
        && path.contains("/src/")
        && !path.ends_with("tests.rs")
        && !path.contains("/templates/")
        && !FOR_TESTS.iter().any(|place| path.starts_with(place))
}

/// Whether the line contains the word as a name of its own outside a comment and a string.
fn is_in_code(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let inside = word.starts_with(part) && before.ends_with(part)
            || word.ends_with(part) && after.starts_with(part);
        !inside && !before.contains("//") && before.matches('"').count() % 2 == 0
    })
}

fn glossary(map: &str) -> Option<String> {
    let (_, after) = map.split_once("\n## Glossary\n")?;
    let section = after.split("\n## ").next().unwrap_or_default();
    let rows = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .count();
    match rows.saturating_sub(1) {
        0 => Some(format!("{MAP}: the glossary has no words")),
        words if words > MAX_WORDS => Some(format!(
            "{MAP}: the glossary has {words} words, the limit is {MAX_WORDS}: use words that need no explanation"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: Invariant = Invariant {
        begins: "the date is read in",
        words: &["SystemTime::now"],
        except: &["use "],
    };

    #[track_caller]
    fn problems(paragraph: &str, files: &[(&str, &str)]) -> Vec<String> {
        let texts: Vec<ProjectText> = files
            .iter()
            .map(|&(path, text)| (path.to_owned(), text.to_owned()))
            .collect();
        DATE.problems(&format!("# Map\n\n{paragraph}\n\nMore."), &texts)
    }

    const READS: (&str, &str) = (
        "crates/a/src/b.rs",
        "//! A.\nlet now = SystemTime::now();\n",
    );

    #[test]
    fn code_in_a_named_place_is_fine() {
        for place in ["crates/a", "crates/a/src/b.rs"] {
            let paragraph = format!("the date is read in `{place}`.");
            assert_eq!(problems(&paragraph, &[READS]), [""; 0]);
        }
    }

    #[test]
    fn sabotage_code_elsewhere_is_caught() {
        let paragraph = "the date is read in\n`crates/a`.";
        let other = ("crates/ab/src/c.rs", READS.1);
        let found = problems(paragraph, &[READS, other]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with("crates/ab/src/c.rs:2: `SystemTime::now`"),
            "{found:?}"
        );
    }

    #[test]
    fn sabotage_a_place_that_does_not_do_it_is_caught() {
        let found = problems("the date is read in `crates/a` and `crates/d`.", &[READS]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("nothing in `crates/d`"), "{found:?}");
    }

    #[test]
    fn sabotage_a_paragraph_that_is_gone_is_caught() {
        assert_eq!(problems("Nothing.", &[READS]).len(), 1);
    }

    #[test]
    fn comments_strings_imports_and_tests_do_not_count() {
        let text = "//! SystemTime::now\nuse std::SystemTime::now;\nlet a = \"SystemTime::now\"; // SystemTime::now\nSystemTime::now_local();\n\
                    #[cfg(test)]\nmod tests {\n    SystemTime::now();\n}\n";
        assert_eq!(DATE.uses(text).count(), 0);
        let file = format!("#[cfg(test)]\nmod other_tests;\n{}", READS.1);
        assert_eq!(DATE.uses(&file).count(), 1);
    }

    #[test]
    fn the_glossary_stays_short() {
        let map = |rows: usize| {
            let rows = "| act | one |\n".repeat(rows);
            format!(
                "# A\n\n## Glossary\n\n| word | meaning |\n|---|---|\n{rows}\n## Map\n\n| a | b |\n"
            )
        };
        assert_eq!(glossary(&map(MAX_WORDS)), None);
        let long = glossary(&map(MAX_WORDS + 1)).unwrap();
        assert!(long.contains("has 31 words"), "{long}");
        assert!(glossary(&map(0)).is_some());
    }
}
