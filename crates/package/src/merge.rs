//! Local edits and a new version of the same skill, merged file by file.

use std::collections::BTreeSet;

use crate::tree::{PackageFile, PackageTree, TreeError};

/// Applies local edits to a new version. `base` is the version that was edited. A file that only one side changed is taken from that side.
///
/// ```
/// use metier_package::{PackageFile, PackagePath, PackageTree, merge};
///
/// let tree = |body: &str, notes: &str| {
///     let file = |path: &str, text: &str| PackageFile {
///         path: PackagePath::new(path.as_bytes()).unwrap(),
///         bytes: text.into(),
///     };
///     PackageTree::new(vec![file("SKILL.md", body), file("notes.md", notes)]).unwrap()
/// };
/// let merged = merge(&tree("1", "a"), &tree("1", "mine"), &tree("2", "a"));
/// assert_eq!(merged, Ok(tree("2", "mine")));
/// ```
///
/// # Errors
/// If both sides changed a file in different ways, or if the result is not a package.
pub fn merge(
    base: &PackageTree,
    local: &PackageTree,
    new: &PackageTree,
) -> Result<PackageTree, MergeError> {
    let trees = [base, local, new];
    let paths: BTreeSet<_> = trees
        .iter()
        .flat_map(|tree| tree.files().iter().map(|file| &file.path))
        .collect();
    let mut files = Vec::new();
    let mut conflicts = Vec::new();
    for path in paths {
        let [base, local, new] = trees.map(|tree| tree.get(path.as_str()));
        let merged = if local == base || local == new {
            new
        } else if new == base {
            local
        } else {
            conflicts.push(path.to_string());
            continue;
        };
        files.extend(merged.map(|bytes| PackageFile {
            path: path.clone(),
            bytes: bytes.to_vec(),
        }));
    }
    match conflicts.is_empty() {
        true => Ok(PackageTree::new(files)?),
        false => Err(MergeError::Conflict(conflicts)),
    }
}

/// Why local edits can't be applied to a new version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// Both sides changed these files.
    #[error("you and the new version changed {}", .0.join(", "))]
    Conflict(Vec<String>),
    /// The files of both sides exclude each other.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::path::PackagePath;

    fn tree(files: &[(&str, &str)]) -> PackageTree {
        let file = |(path, text): &(&str, &str)| PackageFile {
            path: PackagePath::new(path.as_bytes()).unwrap(),
            bytes: text.as_bytes().to_vec(),
        };
        PackageTree::new(files.iter().map(file).collect()).unwrap()
    }

    #[test]
    fn each_file_is_taken_from_the_side_that_changed_it() {
        let base = tree(&[("SKILL.md", "1"), ("a.md", "a"), ("gone.md", "x")]);
        let local = tree(&[
            ("SKILL.md", "1"),
            ("a.md", "mine"),
            ("gone.md", "x"),
            ("own.md", "o"),
        ]);
        let new = tree(&[("SKILL.md", "2"), ("a.md", "a"), ("added.md", "n")]);
        let expected = tree(&[
            ("SKILL.md", "2"),
            ("a.md", "mine"),
            ("added.md", "n"),
            ("own.md", "o"),
        ]);
        assert_eq!(merge(&base, &local, &new), Ok(expected));
    }

    #[test]
    fn a_file_that_both_sides_changed_is_a_conflict() {
        let base = tree(&[("SKILL.md", "1"), ("a.md", "a"), ("b.md", "b")]);
        let local = tree(&[("SKILL.md", "mine"), ("b.md", "same")]);
        let new = tree(&[("SKILL.md", "2"), ("a.md", "new"), ("b.md", "same")]);
        let conflict = MergeError::Conflict(vec!["SKILL.md".to_owned(), "a.md".to_owned()]);
        assert_eq!(merge(&base, &local, &new), Err(conflict));
    }

    #[test]
    fn what_two_sides_add_must_be_a_package() {
        let base = tree(&[("SKILL.md", "1")]);
        let local = tree(&[("SKILL.md", "1"), ("Notes.md", "mine")]);
        let new = tree(&[("SKILL.md", "1"), ("notes.md", "new")]);
        assert!(matches!(
            merge(&base, &local, &new),
            Err(MergeError::Tree(_))
        ));
    }

    fn any_tree() -> impl Strategy<Value = PackageTree> {
        proptest::collection::btree_map("[a-c]", "[12]", 0..4).prop_map(|files| {
            let files = files
                .iter()
                .map(|(path, text)| (path.as_str(), text.as_str()));
            tree(&files.collect::<Vec<_>>())
        })
    }

    proptest! {
        #[test]
        fn a_side_without_changes_decides_nothing(base in any_tree(), other in any_tree()) {
            prop_assert_eq!(merge(&base, &base, &other), Ok(other.clone()));
            prop_assert_eq!(merge(&base, &other, &base), Ok(other.clone()));
            prop_assert_eq!(merge(&base, &other, &other), Ok(other));
        }

        #[test]
        fn the_result_does_not_depend_on_who_is_local(a in any_tree(), b in any_tree(), c in any_tree()) {
            prop_assert_eq!(merge(&a, &b, &c), merge(&a, &c, &b));
        }
    }
}
