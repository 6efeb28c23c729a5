//! Public type names are unique in the workspace, so that a search for one finds one thing.

use std::collections::BTreeMap;

use super::ProjectText;

/// (name, reason): names that two public types share. The list only shrinks: a name that is no longer shared is an error.
const SHARED: &[(&str, &str)] = &[
    ("Child", "two platforms, of which one is compiled"),
    (
        "Skill",
        "what embedders hold and what skill authors build: two public interfaces",
    ),
];

/// Fewer public types than this mean that the scan failed.
const MIN_TYPES: usize = 100;

/// Reports every public type name that is used twice without a reason.
pub(super) fn check(texts: &[ProjectText]) -> Vec<String> {
    let homes = homes(texts);
    let mut problems = problems(&homes, SHARED);
    if homes.len() < MIN_TYPES {
        problems.push(format!(
            "only {} public types: that can't be all",
            homes.len()
        ));
    }
    problems
}

/// Where each public type is defined, as `path:line`.
fn homes(texts: &[ProjectText]) -> BTreeMap<&str, Vec<String>> {
    let mut homes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, text) in texts.iter().filter(|(path, _)| is_shipped(path)) {
        for (index, line) in text.lines().enumerate() {
            if let Some(name) = public_type(line) {
                let home = format!("{path}:{}", index + 1);
                homes.entry(name).or_default().push(home);
            }
        }
    }
    homes
}

fn problems(homes: &BTreeMap<&str, Vec<String>>, shared: &[(&str, &str)]) -> Vec<String> {
    let is_allowed = |name: &str| shared.iter().any(|(allowed, _)| *allowed == name);
    let twice = homes
        .iter()
        .filter(|(name, places)| places.len() > 1 && !is_allowed(name))
        .map(|(name, places)| {
            format!(
                "the type name `{name}` is used {} times: {}",
                places.len(),
                places.join(", ")
            )
        });
    let stale = shared
        .iter()
        .filter(|(name, _)| homes.get(name).is_none_or(|places| places.len() < 2))
        .map(|(name, _)| {
            format!("xtask/src/tidy/names.rs: `{name}` is unique now: remove the exception")
        });
    twice.chain(stale).collect()
}

/// Whether a file is source code of a package, and neither a test nor a template of `metier new`.
fn is_shipped(path: &str) -> bool {
    let mut parts = path.split('/');
    let ours = parts
        .next()
        .is_some_and(|first| ["crates", "sdk", "xtask"].contains(&first));
    let file = path.rsplit('/').next().unwrap_or_default();
    ours && file.ends_with(".rs")
        && !file.ends_with("tests.rs")
        && path.contains("/src/")
        && !path.contains("/templates/")
}

/// The name, if a public type is defined on this line.
fn public_type(line: &str) -> Option<&str> {
    const KEYWORDS: [&str; 5] = ["struct ", "enum ", "trait ", "type ", "union "];
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    let rest = KEYWORDS
        .iter()
        .find_map(|keyword| rest.strip_prefix(keyword))?;
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

#[cfg(test)]
mod tests {
    use super::{ProjectText, homes, problems, public_type};

    fn texts(files: &[(&str, &str)]) -> Vec<ProjectText> {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        files.iter().map(owned).collect()
    }

    #[test]
    fn definitions_are_recognized_by_their_line() {
        let check = |line: &str, expected: Option<&str>| assert_eq!(public_type(line), expected);
        check("pub struct Limits {", Some("Limits"));
        check("    pub enum Kind<'a> {", Some("Kind"));
        check("pub unsafe trait Table: Send {", Some("Table"));
        check("pub type Clock = Arc<dyn Fn()>;", Some("Clock"));
        check("pub struct Digest(String);", Some("Digest"));
        check("pub(crate) struct Limits {", None);
        check("struct Limits {", None);
        check("/// pub struct Limits {", None);
        check("        pub struct $name {", None);
        check("pub fn limits() {", None);
    }

    #[test]
    fn a_name_with_two_homes_is_reported() {
        let texts = texts(&[
            ("crates/a/src/lib.rs", "//! A.\npub struct Limits;\n"),
            ("crates/b/src/x/y.rs", "//! B.\n\npub enum Limits {}\n"),
        ]);
        assert_eq!(
            problems(&homes(&texts), &[]),
            [
                "the type name `Limits` is used 2 times: crates/a/src/lib.rs:2, crates/b/src/x/y.rs:3"
            ]
        );
        assert!(problems(&homes(&texts), &[("Limits", "a reason")]).is_empty());
    }

    #[test]
    fn tests_examples_and_templates_do_not_count() {
        let texts = texts(&[
            ("crates/a/src/lib.rs", "pub struct Limits;\n"),
            ("crates/a/src/lib_tests.rs", "pub struct Limits;\n"),
            ("crates/a/src/deep/tests.rs", "pub struct Limits;\n"),
            ("crates/a/tests/all/main.rs", "pub struct Limits;\n"),
            ("crates/a/examples/list.rs", "pub struct Limits;\n"),
            (
                "crates/a/src/templates/rust/src/lib.rs",
                "pub struct Limits;\n",
            ),
            ("examples/word-count/src/lib.rs", "pub struct Limits;\n"),
        ]);
        assert_eq!(problems(&homes(&texts), &[]), Vec::<String>::new());
    }

    #[test]
    fn an_exception_that_is_not_needed_is_reported() {
        let texts = texts(&[("crates/a/src/lib.rs", "pub struct Limits;\n")]);
        assert_eq!(
            problems(&homes(&texts), &[("Limits", "a reason")]),
            ["xtask/src/tidy/names.rs: `Limits` is unique now: remove the exception"]
        );
    }
}
