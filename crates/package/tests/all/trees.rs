//! Paths and trees.

use metier_package::{PackageFile, PackagePath, PackageTree, TreeError};

fn file(path: &str) -> PackageFile {
    PackageFile {
        path: PackagePath::new(path.as_bytes()).unwrap(),
        bytes: path.as_bytes().to_vec(),
    }
}

fn tree(paths: &[&str]) -> Result<PackageTree, TreeError> {
    PackageTree::new(paths.iter().map(|path| file(path)).collect())
}

#[test]
fn ordinary_paths_are_accepted() {
    let long = "x".repeat(255);
    for path in [
        "SKILL.md",
        "scripts/run.sh",
        ".hidden/file",
        "a b/c d.txt",
        "été/ärger.md",
        "日本語.md",
        "console/com10.txt",
        "a..b",
        "...x",
        &long,
    ] {
        assert!(PackagePath::new(path.as_bytes()).is_ok(), "{path}");
    }
}

#[test]
fn paths_that_systems_read_differently_are_refused() {
    let (long, wide) = ("x".repeat(256), "x/".repeat(600));
    let deep = vec!["d"; 33].join("/");
    for path in [
        "",
        "/etc/passwd",
        "../x",
        "a/../b",
        "a/./b",
        "./a",
        "a//b",
        "a/",
        "C:\\x",
        "c:x",
        "..\\x",
        "a\\b",
        "a:stream",
        "a\u{202e}b",
        "a\nb",
        "a\tb",
        "a\0b",
        "e\u{301}",
        "nul",
        "NUL.txt",
        "aux .md",
        "dir/com1.md",
        "LPT\u{b9}.md",
        "trailing.",
        "trailing ",
        " leading",
        "what?",
        &long,
        &wide,
        &deep,
    ] {
        let error = PackagePath::new(path.as_bytes());
        assert!(error.is_err(), "{path:?}");
    }
    assert!(PackagePath::new(b"\xff.md").is_err());
}

#[test]
fn two_paths_never_are_one_file() {
    assert_eq!(
        tree(&["a.md", "a.md"]),
        Err(TreeError::Duplicate("a.md".into()))
    );
    for pair in [
        ["A.md", "a.md"],
        ["d/x", "D/y"],
        ["straße", "STRAẞE"],
        ["ﬁ.md", "fi.md"],
    ] {
        let error = tree(&pair).unwrap_err();
        assert!(
            matches!(error, TreeError::Collision { .. }),
            "{pair:?}: {error}"
        );
    }
    assert_eq!(
        tree(&["a", "a/b"]),
        Err(TreeError::FileAndFolder("a".into()))
    );
    assert_eq!(
        tree(&["A", "a/b"]),
        Err(TreeError::FileAndFolder("a".into()))
    );
}

// case 37
#[test]
fn the_skill_is_at_the_root_or_in_the_one_folder() {
    let only = |paths: &[&str]| tree(paths).unwrap().only_skill();
    let paths = |tree: PackageTree| -> Vec<String> {
        tree.files()
            .iter()
            .map(|file| file.path.to_string())
            .collect()
    };
    assert_eq!(
        paths(only(&["SKILL.md", "a/b"]).unwrap()),
        ["SKILL.md", "a/b"]
    );
    assert_eq!(
        paths(only(&["pdf/SKILL.md", "pdf/a/b"]).unwrap()),
        ["SKILL.md", "a/b"]
    );
    assert_eq!(
        paths(only(&["SKILL.md", "examples/x/SKILL.md"]).unwrap()).len(),
        2,
        "a skill in a skill belongs to it"
    );
    assert_eq!(only(&["README.md"]), Err(TreeError::NoSkill));
    assert_eq!(
        only(&["a/b/SKILL.md"]),
        Err(TreeError::TooDeep("a/b".into()))
    );
    assert_eq!(
        only(&["a/SKILL.md", "b/SKILL.yaml"]),
        Err(TreeError::ManySkills(vec!["a".into(), "b".into()]))
    );
    assert_eq!(
        only(&["a/SKILL.md", "evil.sh"]),
        Err(TreeError::Beside("evil.sh".into()))
    );
}

#[test]
fn the_digest_depends_on_paths_and_bytes_only() {
    let one = tree(&["SKILL.md", "a/b"]).unwrap();
    let other = tree(&["a/b", "SKILL.md"]).unwrap();
    assert_eq!(one.digest(), other.digest());
    assert_ne!(one.digest(), tree(&["SKILL.md", "a/c"]).unwrap().digest());
    assert_eq!(one.below("a"), {
        let mut file = file("b");
        file.bytes = b"a/b".to_vec();
        PackageTree::new(vec![file]).unwrap()
    });
}
