//! The number of packages that are compiled for a program that embeds the library.
//!
//! Dependencies arrive one by one and stay. So each set of features has a limit, and a change that exceeds it has to find out why or raise it here,
//! with the reason.

use std::collections::BTreeSet;

use crate::{Result, workspace};

/// A build of one of our packages without its default features, and the most packages that it may take.
struct Build {
    package: &'static str,
    features: &'static str,
    most: usize,
}

const BUILDS: &[Build] = &[
    // Finds, validates, scans, selects and renders skills. The search needs stems of words (`rust-stemmers`),
    // the scanner the owners of hosts (`psl`).
    Build {
        package: "metier",
        features: "",
        most: 90,
    },
    // The same, and the scanner reads JavaScript and Python.
    Build {
        package: "metier",
        features: "scan-code",
        most: 190,
    },
    // JSON for clients.
    Build {
        package: "metier-wire",
        features: "",
        most: 92,
    },
];

/// Counts the packages of each build; the result is a line for each that exceeds its limit.
pub(crate) fn problems() -> Result<Vec<String>> {
    let mut problems = Vec::new();
    for build in BUILDS {
        let tree = workspace::cargo()
            .args(["tree", "--locked", "--no-default-features"])
            .args(["--edges", "normal", "--prefix", "none"])
            .args(["--package", build.package, "--features", build.features])
            .output()?;
        if !tree.status.success() {
            let why = String::from_utf8_lossy(&tree.stderr).into_owned();
            return Err(format!("cargo tree: {why}").into());
        }
        problems.extend(build.problem(&String::from_utf8_lossy(&tree.stdout)));
    }
    Ok(problems)
}

impl Build {
    /// The problems in the output of `cargo tree`.
    fn problem(&self, tree: &str) -> Option<String> {
        let Self {
            package,
            features,
            most,
        } = self;
        let count = count(tree);
        let build = match *features {
            "" => format!("`{package}` without features"),
            features => format!("`{package}` with `{features}` alone"),
        };
        match count {
            0 => Some(format!("{build}: cargo tree lists no packages")),
            count if count > *most => Some(format!(
                "{build} takes {count} packages, the limit is {most}: see `cargo tree -p {package} --no-default-features --features \"{features}\" -e normal`"
            )),
            _ => None,
        }
    }
}

/// The packages of a tree; those that were printed before end with `(*)`.
fn count(tree: &str) -> usize {
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    let packages: BTreeSet<&str> = lines.filter(|line| !line.is_empty()).collect();
    packages.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str = "a v1.0.0 (/a)\nb v1.0.0\nc v2.0.0 (proc-macro)\nb v1.0.0 (*)\n\n";

    fn build(most: usize) -> Build {
        Build {
            package: "a",
            features: "",
            most,
        }
    }

    #[test]
    fn a_package_counts_once() {
        assert_eq!(count(TREE), 3);
        assert_eq!(build(3).problem(TREE), None);
    }

    #[test]
    fn sabotage_a_build_that_grows_is_caught() {
        let problem = build(2).problem(TREE).unwrap();
        assert!(problem.contains("takes 3 packages"), "{problem}");
    }

    #[test]
    fn sabotage_a_tree_of_nothing_is_caught() {
        let problem = build(2).problem("").unwrap();
        assert!(problem.contains("lists no packages"), "{problem}");
    }
}
