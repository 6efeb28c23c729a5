//! The lock file.

use metier_package::{Lock, LockError, LockedSkill, VerdictWord};
use proptest::prelude::*;

fn skill(source: &str) -> LockedSkill {
    LockedSkill {
        version: Some("1.2.0".parse().unwrap()),
        source: source.to_owned(),
        registry: None,
        commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
        archive: None,
        tree: metier_model::Digest([7; 32]),
        original: None,
        signer: None,
        permissions: vec!["env:read(TOKEN)".to_owned(), "shell:exec(git)".to_owned()],
        requires: Vec::new(),
        agents: Vec::new(),
        verdict: VerdictWord::Info,
        rules: "7".to_owned(),
    }
}

#[test]
fn a_lock_is_one_table_for_each_skill() {
    let mut lock = Lock::default();
    lock.skills
        .insert("pdf".to_owned(), skill("anthropics/skills/skills/pdf@main"));
    assert_eq!(
        lock.to_text(),
        r#"# The skills that are installed here, and the digests of their files. Written by `metier`; commit it.
version = 1

[skills.pdf]
version = "1.2.0"
source = "anthropics/skills/skills/pdf@main"
commit = "0123456789abcdef0123456789abcdef01234567"
tree = "sha256:0707070707070707070707070707070707070707070707070707070707070707"
verdict = "info"
rules = "7"
permissions = [
    "env:read(TOKEN)",
    "shell:exec(git)",
]
"#
    );
    assert_eq!(lock.to_text().parse::<Lock>(), Ok(lock));
}

fn error(text: &str) -> String {
    text.parse::<Lock>().unwrap_err().to_string()
}

#[test]
fn what_is_not_understood_is_refused() {
    let text = {
        let mut lock = Lock::default();
        lock.skills.insert("pdf".to_owned(), skill("./pdf"));
        lock.to_text()
    };
    let cases = [
        (text.replace("version = 1\n", "version = 2\n"), "format 2"),
        (text.replace("version = 1\n", ""), "`version` is missing"),
        (
            text.replace("rules =", "rule ="),
            "`skills.pdf.rule` is not a known field",
        ),
        (
            text.replace("rules = \"7\"\n", ""),
            "`skills.pdf.rules` is missing",
        ),
        (
            text.replace("sha256:07", "sha256:7"),
            "`skills.pdf.tree` is not `sha256:`",
        ),
        (
            text.replace("\"info\"", "\"fine\""),
            "`skills.pdf.verdict` is not a verdict",
        ),
        (
            text.replace("\"1.2.0\"", "\"one\""),
            "`skills.pdf.version` is not a version",
        ),
        (
            text.replace("\"1.2.0\"", "1.2"),
            "`skills.pdf.version` is not a string",
        ),
        (format!("{text}\n[skills.pdf]\n"), "line"),
        (format!("{text}\n[else]\n"), "`else` is not a known field"),
        (
            format!("<<<<<<< HEAD\n{text}"),
            "line 1: the file contains marks of a merge conflict",
        ),
    ];
    for (text, expected) in cases {
        let shown = error(&text);
        assert!(shown.contains(expected), "{shown} for {expected}");
    }
}

#[test]
fn a_conflict_is_recognised() {
    let text = "version = 1\n\n[skills.a]\n<<<<<<< ours\nsource = \"x\"\n";
    assert_eq!(text.parse::<Lock>(), Err(LockError::Conflict { line: 4 }));
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_again(
        names in proptest::collection::btree_map("\\PC{1,12}", "\\PC{0,20}", 0..4),
        words in proptest::collection::vec("(?s).{0,12}", 0..3),
    ) {
        let mut lock = Lock::default();
        for (name, source) in names {
            let mut skill = skill(&source);
            skill.permissions = words.clone();
            skill.agents = words.clone();
            skill.registry = words.first().cloned();
            lock.skills.insert(name, skill);
        }
        prop_assert_eq!(lock.to_text().parse::<Lock>(), Ok(lock));
    }

    #[test]
    fn no_text_makes_it_panic(text in "(?s).{0,200}") {
        let _ = text.parse::<Lock>();
    }
}
