//! The fast reader and the full reader return the same result for every skill of the repository, and for thousands of
//! generated ones.

#![allow(
    clippy::unwrap_used,
    reason = "a test that can't go on says so by panicking"
)]

use std::{fs, path::Path};

use metier_model::{FileText, Files, Strictness, parse, parse_card, parse_thoroughly};
use proptest::prelude::*;

fn check(folder: &str, text: &str) {
    let files = Files {
        folder: Some(folder),
        skill_md: Some(FileText {
            name: "SKILL.md",
            text,
        }),
        ..Files::default()
    };
    for mode in [Strictness::Lenient, Strictness::Strict] {
        let whole = parse(&files, mode);
        let card = (
            whole.manifest.map(|manifest| manifest.card),
            whole.diagnostics,
        );
        assert_eq!(parse_card(&files, mode), card, "{folder}:\n{text}");
        assert_eq!(
            parse(&files, mode),
            parse_thoroughly(&files, mode),
            "{folder}:\n{text}"
        );
    }
}

fn check_folder(path: &Path) -> usize {
    let mut checked = 0;
    for entry in fs::read_dir(path).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            checked += check_folder(&path);
        } else if path
            .file_name()
            .is_some_and(|name| name.eq_ignore_ascii_case("SKILL.md"))
        {
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            check("folder", &text);
            checked += 1;
        }
    }
    checked
}

#[test]
fn on_every_skill_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let checked: usize = ["skills", "fixtures"]
        .iter()
        .map(|folder| check_folder(&root.join(folder)))
        .sum();
    assert!(checked > 50, "only {checked} skills were found");
}

#[test]
fn spaces_at_the_end_of_a_block_are_content() {
    for spaces in ["", " ", "  ", "   "] {
        for sign in ["|", "|-", ">", ">-"] {
            let text = format!(
                "---\nname: x\ndescription: {sign}\n  d\n{spaces}\n  e\n{spaces}\n---\nbody"
            );
            check("x", &text);
        }
    }
}

/// A folder of skills from the environment, to compare the readers on a corpus.
#[test]
fn on_a_corpus() {
    if let Ok(corpus) = std::env::var("METIER_CORPUS") {
        println!("{} skills agree", check_folder(Path::new(&corpus)));
    }
}

/// Parts that frontmatters consist of, and parts that break them.
fn line() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        "name",
        "description",
        "version",
        "metadata",
        "allowed-tools",
        "license",
        "tags",
        "x"
    ];
    let value = prop_oneof![
        Just(String::new()),
        "[a-z ]{0,12}",
        "\"[a-z: #']{0,10}\"",
        "'[a-z: #\"]{0,10}'",
        "[>|][-+]?",
        "\\[[a-z, \"]{0,12}\\]",
        "\\{\"[a-z]{1,4}\": ?(\"[a-z]{0,4}\"|\\[\"a\", b\\]|1|true|\\{\\})(,)?\\}",
        "[-a-z:#,&*!|>'\"%@`\\[\\]{}?~.é🐛 ]{0,16}",
        "(null|~|true|no|1\\.10|0o17|2026-01-01)",
    ];
    let content = prop_oneof![
        4 => (key, value.clone()).prop_map(|(key, value)| format!("{key}: {value}")),
        1 => value.clone().prop_map(|value| format!("- {value}")),
        1 => ("[a-z]{1,4}", value).prop_map(|(key, value)| format!("{key}: {value}")),
        1 => "[a-z #:é.]{0,20}",
    ];
    ("( |  |    )?", content, "( |  )?")
        .prop_map(|(indent, content, end)| format!("{indent}{content}{end}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    // case 45
    #[test]
    fn on_made_up_frontmatters(lines in prop::collection::vec(line(), 0..8), crlf in any::<bool>()) {
        let end = if crlf { "\r\n" } else { "\n" };
        check("x", &format!("---{end}{}{end}---{end}body", lines.join(end)));
    }

    #[test]
    fn and_neither_panics_on_any_text(text in "\\PC{0,200}") {
        check("x", &format!("---\n{text}\n---\n"));
        check("x", &text);
    }
}
