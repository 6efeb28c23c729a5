//! File patterns of manifests.
//!
//! As in `.gitignore`: a pattern without a slash matches at any depth, one with a slash starts at the project's root,
//! and one that ends with a slash matches everything below that folder. `*` and `?` stop at a slash, `**` doesn't;
//! `{a,b}` and `[x]` work as in shells. Case matters.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use globset::{Candidate, Glob, GlobBuilder, GlobSet};
use metier_model::PatternBudget;

/// Parses a pattern of a catalog; returns what is wrong with it.
pub(crate) fn read(pattern: &str, budget: &mut PatternBudget) -> Result<Glob, String> {
    let pattern = pattern.trim();
    if pattern.starts_with('!') {
        return Err("a trigger can't exclude files".to_owned());
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    let below = pattern.trim_end_matches('/');
    let path = below.trim_start_matches('/');
    if path.is_empty() {
        return Err("it is empty".to_owned());
    }
    if path.split('/').any(|part| part == "..") {
        return Err("it points outside the project".to_owned());
    }
    let anywhere = if below.contains('/') { "" } else { "**/" };
    let inside = if below.len() < pattern.len() {
        "/**"
    } else {
        ""
    };
    let full = format!("{anywhere}{path}{inside}");
    budget
        .accept(pattern)
        .map_err(|excess| excess.to_string())?;
    let glob = GlobBuilder::new(&full).literal_separator(true).build();
    glob.map_err(|error| error.kind().to_string())
}

/// Many patterns at once. Most patterns with a folder name one that the project doesn't have, and sets are built for
/// the others only when there are files to match.
pub(crate) struct Globs {
    /// Patterns that start with this folder.
    below: HashMap<Box<str>, Group>,
    anywhere: Group,
}

/// Patterns with their positions among all, and the sets that are built from them.
#[derive(Default)]
struct Group {
    positions: Vec<usize>,
    globs: Vec<Arc<Glob>>,
    sets: OnceLock<Vec<(usize, GlobSet)>>,
}

impl Globs {
    pub(crate) fn new(globs: Vec<Arc<Glob>>) -> Self {
        let mut all = Self {
            below: HashMap::new(),
            anywhere: Group::default(),
        };
        for (position, glob) in globs.into_iter().enumerate() {
            let group = match folder(glob.glob()) {
                None => &mut all.anywhere,
                Some(folder) => all.below.entry(folder.into()).or_default(),
            };
            group.positions.push(position);
            group.globs.push(glob);
        }
        all
    }

    /// Adds the positions of the patterns that match a path to `found`.
    pub(crate) fn matches(&self, path: &str, found: &mut Vec<usize>) {
        found.clear();
        let candidate = Candidate::new(path);
        self.anywhere.matches(&candidate, found);
        if let Some(folder) = folder(path)
            && let Some(group) = self.below.get(folder)
        {
            group.matches(&candidate, found);
        }
    }
}

/// The first folder of a path or pattern, if it is literal.
fn folder(path: &str) -> Option<&str> {
    let (first, _) = path.split_once('/')?;
    (!first.contains(['*', '?', '[', ']', '{', '}', '\\', '!'])).then_some(first)
}

impl Group {
    fn matches(&self, candidate: &Candidate<'_>, found: &mut Vec<usize>) {
        let sets = self.sets.get_or_init(|| {
            let mut sets = Vec::new();
            add(&self.globs, 0, &mut sets);
            sets
        });
        let mut of_set = Vec::new();
        for (first, set) in sets {
            set.matches_candidate_into(candidate, &mut of_set);
            let positions = of_set
                .iter()
                .filter_map(|at| self.positions.get(first + at));
            found.extend(positions);
        }
    }
}

/// Splits patterns that are too many for one set into several.
fn add(globs: &[Arc<Glob>], first: usize, sets: &mut Vec<(usize, GlobSet)>) {
    if globs.is_empty() {
        return;
    }
    match GlobSet::new(globs.iter().map(|glob| &**glob)) {
        Ok(set) => sets.push((first, set)),
        Err(_) if globs.len() > 1 => {
            let (left, right) = globs.split_at(globs.len() / 2);
            add(left, first, sets);
            add(right, first + left.len(), sets);
        }
        Err(_) => {} // a pattern within the limits always compiles alone
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*, sample::select};

    use super::*;

    fn alone(pattern: &str) -> Result<Glob, String> {
        read(pattern, &mut PatternBudget::default())
    }

    fn is_match(pattern: &str, path: &str) -> bool {
        let globs = Globs::new(vec![alone(pattern).unwrap().into()]);
        let mut found = Vec::new();
        globs.matches(path, &mut found);
        !found.is_empty()
    }

    #[test]
    fn patterns_match_as_in_gitignore() {
        let table: &[(&str, &str, bool)] = &[
            ("*.tf", "main.tf", true),
            ("*.tf", "infra/aws/main.tf", true),
            ("*.tf", "main.tf.json", false),
            ("Dockerfile", "services/api/Dockerfile", true),
            ("Dockerfile", "dockerfile", false),
            ("/Dockerfile", "services/api/Dockerfile", false),
            ("/Dockerfile", "Dockerfile", true),
            ("infra/*.tf", "infra/main.tf", true),
            ("infra/*.tf", "infra/aws/main.tf", false),
            ("infra/*.tf", "x/infra/main.tf", false),
            ("infra/**/*.tf", "infra/aws/eu/main.tf", true),
            ("infra/**/*.tf", "infra/main.tf", true),
            ("**/*.tf", "main.tf", true),
            ("**/migrations/*", "db/migrations/1.sql", true),
            ("infra/", "infra/a/b", true),
            ("infra/", "x/infra/a", true),
            ("infra/", "infra", false),
            ("/infra/", "x/infra/a", false),
            ("infra/**", "infra/a/b", true),
            ("*.{ts,tsx}", "src/app.tsx", true),
            ("*.{ts,tsx}", "src/app.js", false),
            ("{src,lib}/*.rs", "lib/a.rs", true),
            ("[Mm]akefile", "makefile", true),
            ("[!a]*.c", "b.c", true),
            ("[!a]*.c", "a.c", false),
            ("v?.md", "v1.md", true),
            ("v?.md", "v/.md", false),
            ("./docs/*.md", "docs/a.md", true),
            (" *.go ", "a.go", true),
            (".github/workflows/*.yml", ".github/workflows/ci.yml", true),
            ("*.yml", ".github/workflows/ci.yml", true),
            ("*", ".env", true),
            ("**", "a/b/c", true),
            ("a b.txt", "a b.txt", true),
            ("*.文档", "说明.文档", true),
        ];
        for (pattern, path, expected) in table {
            assert_eq!(is_match(pattern, path), *expected, "`{pattern}` on {path}");
        }
    }

    proptest! {
        #[test]
        fn an_accepted_pattern_compiles(
            parts in vec(select(vec!["{", "}", ",", "[", "]", "!", "-", "^", "*", "**/", "/**", "?", "\\", "é", "a", "\u{10ffff}"]), 1..900)
        ) {
            if let Ok(glob) = alone(&parts.concat()) {
                GlobSet::new([&glob]).unwrap();
                glob.compile_matcher();
            }
        }
    }

    #[test]
    fn an_invalid_pattern_is_reported() {
        let deep = "{".repeat(400) + &"}".repeat(400);
        let long = "a".repeat(2000);
        for pattern in [
            "", " ", "/", "//", "[a", "[z-a]", "{a", "a}", "!*.rs", "../x", "a/../b", &long, "a\\",
        ] {
            assert!(alone(pattern).is_err(), "`{pattern}`");
        }
        alone(&deep).ok(); // no input causes a panic
    }

    // case 230
    #[test]
    fn the_patterns_of_a_catalog_are_limited_together() {
        let mut budget = PatternBudget::default();
        let read = (0..1_000).map(|number| read(&format!("{number:?>900}"), &mut budget));
        let accepted = read.filter(Result::is_ok).count();
        assert_eq!(accepted, (256 << 10) / 900);
    }
}
