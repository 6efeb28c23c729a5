//! Descriptions as people write them: text that continues where YAML does not expect it.

use crate::{Outcome::Refused, Warns, check, file, loaded};

/// Reads the description, which is repaired with a warning.
fn repaired(entry: &str, expected: &str) {
    let text = file(&format!("name: x\n{entry}license: MIT\n"));
    check(&text, Warns("yaml-repaired"), Refused("yaml-repaired"));
    let manifest = loaded(&text);
    assert_eq!(&*manifest.card.description, expected, "{entry}");
    assert_eq!(manifest.about.license.as_deref(), Some("MIT"), "{entry}");
}

#[test]
fn quoted_text_continues_in_the_first_column() {
    for quote in ['"', '\''] {
        for (entry, expected) in [
            ("First.\nSecond.", "First. Second."),
            ("First.\n\nSecond.", "First.\nSecond."),
            ("First:\n- one\n- two", "First: - one - two"),
            ("First.\n# Second\nThird.", "First. # Second Third."),
            (
                "First.\nwhen: it rains\nThird.",
                "First. when: it rains Third.",
            ),
        ] {
            repaired(&format!("description: {quote}{entry}{quote}\n"), expected);
        }
    }
}

#[test]
fn plain_text_continues_in_the_first_column() {
    for (entry, expected) in [
        ("First.\nSecond.\n", "First. Second."),
        (
            "**First**\nSecond; (third: fourth).\n",
            "**First** Second; (third: fourth).",
        ),
        ("First.\n\n- one\n- two\n", "First.\n- one - two"),
        ("|\n  First.\nSecond.\n", "First. Second."),
        ("\nFirst.\nSecond.\n", "First. Second."),
    ] {
        repaired(&format!("description: {entry}"), expected);
    }
}

#[test]
fn a_block_sign_with_text_behind_it_is_not_text() {
    for sign in [">", "|", ">-", "|-", ">+", "|+", "|2-", ">-2", "|1"] {
        repaired(&format!("description: {sign} Reads.\n"), "Reads.");
        repaired(
            &format!("description: {sign} Reads.\n  Writes.\n"),
            "Reads. Writes.",
        );
    }
    repaired("description: >-reads: all\n", "-reads: all");
    repaired("description: >= 2: all\n", "= 2: all");
}

#[test]
fn a_stray_quote_is_not_text_and_quoted_words_are() {
    for (value, expected) in [
        (
            "\"Reads widgets,\"  dynamic ui",
            "Reads widgets,  dynamic ui",
        ),
        ("\"Reads.\"\n  Writes.", "Reads. Writes."),
        ("\"Reads \\\"all\\\" of it", "Reads \"all\" of it"),
        ("\"Never closed", "Never closed"),
        ("'It's open'", "It's open"),
        ("\"Reads\" and \"writes\" it", "\"Reads\" and \"writes\" it"),
    ] {
        repaired(&format!("description: {value}\n"), expected);
    }
}

#[test]
fn a_quote_that_never_closes_takes_no_other_field() {
    let text = file("name: x\ndescription: \"Open\nversion: \"1.0\"\nlicense: MIT\n");
    let manifest = loaded(&text);
    assert_eq!(&*manifest.card.description, "Open");
    assert_eq!(manifest.card.version.unwrap().as_str(), "1.0");
}

#[test]
fn only_sentences_continue_and_only_up_to_a_heading() {
    for yaml in [
        "description: d\nname: x\nstray words\n",
        "name: x\ndescription: d\nuser-invocable: false\nstray words\n",
        "name: x\ndescription: d\n# Heading\nstray words\n",
        "name: x\ndescription: d\n<<<<<<< HEAD\n",
    ] {
        let text = file(yaml);
        check(&text, Warns("stray-line"), Refused("stray-line"));
        let card = loaded(&text).card;
        assert_eq!(
            (card.name.as_str(), &*card.description),
            ("x", "d"),
            "{yaml}"
        );
        assert_eq!(card.user_invocable, !yaml.contains("false"));
    }
}

#[test]
fn a_comment_is_not_part_of_a_repaired_value() {
    repaired("description: Reads: all\n# a comment\n", "Reads: all");
}

#[test]
fn json_in_the_first_column_belongs_to_its_field() {
    let text = file("name: x\ndescription: d\nmetadata:\n{\n  \"author\": \"me\",\n}\n");
    assert_eq!(loaded(&text).metadata["author"], "me");
}
