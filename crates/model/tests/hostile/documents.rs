//! Where a document and its frontmatter begin and end.

use metier_model::{DiagnosticSeverity, Strictness, body};

use crate::{Fine, Refused, Warns, check, codes, file, is, loaded, parsed, refused, with};

// case 49
#[test]
fn only_the_first_document_is_read() {
    for yaml in [
        "name: x\ndescription: d\n...\nname: y\ndescription: e\n",
        "name: x\ndescription: d\n...\nlicense: MIT\n",
    ] {
        check(
            &file(yaml),
            Warns("second-document"),
            Refused("second-document"),
        );
        let manifest = loaded(&file(yaml));
        assert_eq!(manifest.card.name.as_str(), "x");
        assert_eq!(manifest.about.license, None);
    }
}

// case 49
#[test]
fn only_the_first_document_is_read_when_it_needs_repair() {
    let text = file("name: x\ndescription: a: b\n...\nname: y\nlicense: MIT\n");
    let manifest = loaded(&text);
    assert_eq!(manifest.card.name.as_str(), "x");
    assert_eq!(manifest.about.license, None);
    is(Warns("second-document"), &text, Strictness::Lenient);
}

#[test]
fn a_document_end_without_another_document_is_fine() {
    assert_eq!(
        loaded(&file("name: x\ndescription: d\n...\n"))
            .card
            .name
            .as_str(),
        "x"
    );
}

// case 49
#[test]
fn a_directive_is_skipped_with_a_warning() {
    let text = file("%YAML 1.1\nname: x\ndescription: no\n");
    assert_eq!(&*loaded(&text).card.description, "no");
    assert!(parsed(&text, Strictness::Strict).manifest.is_none());
}

// case 49
#[test]
fn tabs_hurt_only_their_own_entry() {
    let text = file("name: x\ndescription: d\nmetadata:\n\tauthor: me\n");
    assert_eq!(loaded(&text).card.name.as_str(), "x");
    assert!(parsed(&text, Strictness::Strict).manifest.is_none());
    check(&file("name: x\ndescription: \"a\\tb\"\n"), Fine, Fine);
}

// case 49
#[test]
fn byte_order_marks_and_crlf_are_accepted() {
    let plain = with("license: MIT\n");
    for text in [
        plain.replace('\n', "\r\n"),
        format!("\u{feff}{plain}"),
        format!("\u{feff}{}", plain.replace('\n', "\r\n")),
    ] {
        check(&text, Fine, Fine);
        let manifest = loaded(&text);
        assert_eq!(&*manifest.card.description, "Does things.");
        assert_eq!(manifest.about.license.as_deref(), Some("MIT"));
        assert_eq!(body(&text).trim(), "The body.");
    }
}

// case 49
#[test]
fn exotic_line_breaks_end_no_line() {
    for mark in ['\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}'] {
        let text = file(&format!(
            "name: x\ndescription: \"a{mark}name: y{mark}---{mark}b\"\n"
        ));
        let found = parsed(&text, Strictness::Lenient);
        let manifest = found.manifest.expect("one value");
        assert_eq!(manifest.card.name.as_str(), "x", "{mark:?}");
        assert!(manifest.card.description.contains("name: y"), "{mark:?}");
        let text = format!("---{mark}name: x\n---\n");
        assert!(parsed(&text, Strictness::Lenient).manifest.is_none());
    }
}

// case 45, 49
#[test]
fn a_lone_carriage_return_can_not_smuggle_a_second_name() {
    let text = file("name: x\ndescription: d\rname: y\n");
    let found = parsed(&text, Strictness::Lenient);
    if let Some(manifest) = found.manifest {
        assert_eq!(manifest.card.name.as_str(), "x");
        assert!(
            !codes(
                &parsed(&text, Strictness::Lenient),
                DiagnosticSeverity::Warning
            )
            .is_empty(),
            "it is read without a word"
        );
    }
}

// case 50
#[test]
fn dashes_in_values_and_bodies_delimit_nothing() {
    for (text, description, rest) in [
        (
            "---\nname: x\ndescription: a --- b\n---\nbody\n---\nmore\n",
            "a --- b",
            "body\n---\nmore\n",
        ),
        (
            "---\nname: x\ndescription: |\n  a\n  ---\n  b\n---\nbody\n",
            "a\n---\nb",
            "body\n",
        ),
        (
            "---\nname: x\ndescription: \"---\"\n---\n---\n",
            "---",
            "---\n",
        ),
        ("---\nname: x\ndescription: '\n  ---\n  '\n---\n", "---", ""),
    ] {
        assert_eq!(&*loaded(text).card.description, description);
        assert_eq!(body(text), rest);
    }
}

// case 52
#[test]
fn a_second_block_in_the_body_names_nothing() {
    let text = "---\nname: x\ndescription: d\n---\n---\nname: y\ndescription: e\n---\nbody\n";
    assert_eq!(loaded(text).card.name.as_str(), "x");
    assert!(body(text).starts_with("---\nname: y"));
}

// case 51
#[test]
fn missing_frontmatter_is_reported() {
    for text in [
        "",
        "\u{feff}",
        "\n\n\n",
        "# Title\n",
        "name: x\ndescription: d\n",
        "----\nname: x\n----\n",
        "--\nname: x\n--\n",
        " ---\nname: x\n---\n",
        "```\n---\nname: x\ndescription: d\n---\n```\n",
        "```skill\n---\nname: x\ndescription: d\n---\n```\n",
        "+++\nname = 'x'\n+++\n",
        "\u{feff}\u{feff}---\nname: x\ndescription: d\n---\n",
    ] {
        refused(text, "frontmatter-missing");
    }
}

// case 50, 51
#[test]
fn unclosed_frontmatter_is_reported() {
    for text in [
        "---",
        "---\n",
        "---\nname: x\ndescription: d\n",
        "---\nname: x\ndescription: d\n...\n",
        "---\nname: x\ndescription: d\n# Heading\n  ---\n",
    ] {
        refused(text, "frontmatter-unclosed");
    }
}

// case 50, 51
#[test]
fn frontmatter_closed_by_more_than_three_hyphens_is_reported() {
    for close in ["---# Heading", "---text", " --- ", "----", "--- # end"] {
        let text = format!("---\nname: x\ndescription: d\n{close}\n");
        check(&text, Warns("delimiter-text"), Refused("delimiter-text"));
        assert_eq!(&*loaded(&text).card.description, "d");
    }
}

// case 51
#[test]
fn an_empty_frontmatter_has_no_name() {
    for yaml in ["", "\n", "# nothing\n", "{}\n", "~\n"] {
        refused(&file(yaml), "description-missing");
    }
}

#[test]
fn what_is_not_a_map_says_so() {
    for yaml in ["- a\n- b\n", "just words\n", "\"name: x\"\n", "[name, x]\n"] {
        assert!(parsed(&file(yaml), Strictness::Lenient).manifest.is_none());
    }
}

// case 51
#[test]
fn a_file_of_nothing_but_frontmatter_loads() {
    for text in [
        "---\nname: x\ndescription: d\n---\n",
        "---\nname: x\ndescription: d\n---",
    ] {
        check(text, Fine, Fine);
        assert_eq!(body(text), "");
    }
}

#[test]
fn leading_blank_lines_are_odd() {
    check(
        &format!("\n\n{}", with("")),
        Warns("leading-blank-lines"),
        Refused("leading-blank-lines"),
    );
}
