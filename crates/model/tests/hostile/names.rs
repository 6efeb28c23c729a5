//! Names and descriptions: text that becomes part of prompts.

use metier_model::{SkillName, Strictness, name::RESERVED, text};

use crate::{Fine, Refused, Warns, check, file, loaded, parsed, parsed_in, refused};

// case 56
#[test]
fn descriptions_have_exact_limits() {
    let sized = |length: usize, letter: &str| {
        file(&format!(
            "name: x\ndescription: {}\n",
            letter.repeat(length)
        ))
    };
    for letter in ["a", "é", "字", "🐛"] {
        check(&sized(1, letter), Fine, Fine);
        check(&sized(1024, letter), Fine, Fine);
        check(
            &sized(1025, letter),
            Warns("description-too-long"),
            Refused("description-too-long"),
        );
    }
    let megabyte = format!("---\nname: x\ndescription: {}\n---\n", "a".repeat(1 << 20));
    refused(&megabyte, "frontmatter-too-large");
    for value in ["", "\"  \"", "~", "|\n  \n", "# nothing", "\"\\t\\n\""] {
        refused(
            &file(&format!("name: x\ndescription: {value}\n")),
            "description-missing",
        );
    }
    for value in ["[a]", "{a: b}", "\n  - a"] {
        refused(
            &file(&format!("name: x\ndescription: {value}\n")),
            "description-type",
        );
    }
    refused(&file("name: x\n"), "description-missing");
}

/// The name from a hostile or careless author is never used: the folder's is.
fn named_by_folder(text: &str, code: &'static str) {
    check(text, Warns(code), Refused(code));
    assert_eq!(loaded(text).card.name.as_str(), "x");
    for folder in [None, Some("a\u{200b}b"), Some("activate_skill"), Some("..")] {
        let found = parsed_in(folder, text, Strictness::Lenient);
        assert!(found.manifest.is_none(), "{folder:?}");
    }
}

#[test]
fn what_can_not_be_read_is_not_a_name() {
    for name in [
        "[unclosed",
        "{a",
        "{{skill_name}}",
        "a: b",
        "\"a b",
        "`x`",
        "*x",
        "- a",
    ] {
        let text = file(&format!("name: {name}\ndescription: d\n"));
        let found = parsed(&text, Strictness::Lenient);
        let manifest = found.manifest.unwrap();
        assert_eq!(
            manifest.card.name.as_str(),
            "x",
            "{name}: {:?}",
            found.diagnostics
        );
    }
    let text = file("name: \"quoted\ndescription: d\n");
    assert_eq!(loaded(&text).card.name.as_str(), "quoted");
}

// case 20
#[test]
fn a_name_is_never_a_path() {
    for name in [
        "../../evil",
        "..",
        "a/b",
        "/etc/passwd",
        "a\\\\b",
        "C:\\\\x",
        "a..b",
        "....",
        "~/../x",
    ] {
        let text = file(&format!("name: \"{name}\"\ndescription: d\n"));
        named_by_folder(&text, "name-unusable");
    }
}

// case 59, 60, 61
#[test]
fn a_name_holds_nothing_that_people_can_not_see() {
    for c in [
        '\u{0}',
        '\u{1}',
        '\u{7}',
        '\u{1b}',
        '\u{7f}',
        '\u{85}',
        '\u{9b}',
        '\u{ad}',
        '\u{34f}',
        '\u{61c}',
        '\u{115f}',
        '\u{1160}',
        '\u{17b4}',
        '\u{180b}',
        '\u{180e}',
        '\u{200b}',
        '\u{200c}',
        '\u{200d}',
        '\u{200e}',
        '\u{200f}',
        '\u{2028}',
        '\u{2029}',
        '\u{202a}',
        '\u{202e}',
        '\u{2060}',
        '\u{2063}',
        '\u{2066}',
        '\u{2069}',
        '\u{3164}',
        '\u{feff}',
        '\u{ffa0}',
        '\u{fff9}',
        '\u{1d173}',
        '\u{e0001}',
        '\u{e0041}',
        '\u{e007f}',
        '\u{e0100}',
        '\n',
        '\r',
        '\t',
    ] {
        assert!(SkillName::new(&format!("a{c}b")).is_err(), "{c:?}");
        let text = file(&format!(
            "name: \"a\\U{:08x}b\"\ndescription: d\n",
            u32::from(c)
        ));
        named_by_folder(&text, "name-unusable");
    }
}

// case 60
#[test]
fn variation_selectors_hide_no_bytes_in_names() {
    for c in ('\u{fe00}'..='\u{fe0e}').chain(['\u{e0100}', '\u{e01ef}']) {
        assert!(SkillName::new(&format!("a{c}b")).is_err(), "{c:?}");
    }
}

// case 65
#[test]
fn the_names_of_our_own_tools_are_taken() {
    for name in RESERVED {
        refused(
            &file(&format!("name: {name}\ndescription: d\n")),
            "name-reserved",
        );
        refused(
            &file(&format!("name: \" {name} \"\ndescription: d\n")),
            "name-reserved",
        );
    }
}

// case 21, 62
#[test]
fn odd_names_load_and_strict_reading_refuses_them() {
    let long = "a".repeat(65);
    for (name, code) in [
        ("PDF", "name-characters"),
        ("Pdf Tools", "name-characters"),
        ("p\u{430}ypal", "name-characters"),
        ("ｐｄｆ", "name-characters"),
        ("a_b", "name-characters"),
        ("-a", "name-hyphens"),
        ("a-", "name-hyphens"),
        ("a--b", "name-hyphens"),
        (long.as_str(), "name-too-long"),
    ] {
        let text = file(&format!("name: {name}\ndescription: d\n"));
        check(&text, Warns(code), Refused(code));
        assert_eq!(loaded(&text).card.name.as_str(), name);
    }
    check(
        &file("name: other\ndescription: d\n"),
        Warns("name-folder"),
        Refused("name-folder"),
    );
    let text = file(&format!("name: {}\ndescription: d\n", "a".repeat(2_000)));
    named_by_folder(&text, "name-unusable");
}

// case 21
#[test]
fn a_name_that_ends_in_a_line_break_is_trimmed_or_refused_never_kept() {
    let text = file("name: \"x\\n\"\ndescription: d\n");
    if let Some(manifest) = parsed(&text, Strictness::Lenient).manifest {
        assert_eq!(manifest.card.name.as_str(), "x");
    }
}

// case 59, 60, 61
#[test]
fn hidden_and_control_characters_in_descriptions_are_warned_about_in_both_modes() {
    for (escape, code) in [
        ("\\U000e0041", "hidden-text"),
        ("\\u200b", "hidden-text"),
        ("\\u202e", "hidden-text"),
        ("\\u2066", "hidden-text"),
        ("\\u3164", "hidden-text"),
        ("\\u180e", "hidden-text"),
        ("\\U000e0100", "hidden-text"),
        ("\\e[31m", "control-characters"),
        ("\\0", "control-characters"),
        ("\\e]8;;http://evil\\a", "control-characters"),
        ("\\u009b", "control-characters"),
    ] {
        check(
            &file(&format!("name: x\ndescription: \"a{escape}b\"\n")),
            Warns(code),
            Warns(code),
        );
    }
}

// case 60
#[test]
fn smuggled_letters_are_shown_in_the_warning() {
    let hidden: String = "ignore"
        .chars()
        .filter_map(|c| char::from_u32(u32::from(c) + 0xe0000))
        .collect();
    let found = parsed(
        &file(&format!("name: x\ndescription: Nice.{hidden}\n")),
        Strictness::Lenient,
    );
    assert!(
        found
            .diagnostics
            .iter()
            .any(|diagnostic| diagnostic.message.contains("`ignore`"))
    );
}

#[test]
fn raw_bytes_that_yaml_forbids_are_a_repair() {
    for c in ['\u{0}', '\u{1}', '\u{1b}', '\u{80}', '\u{9b}'] {
        let text = file(&format!("name: x\ndescription: a{c}b\n"));
        check(&text, Warns("control-characters"), Refused("yaml-repaired"));
    }
}

// case 60, 61
#[test]
fn a_model_is_shown_no_hidden_characters() {
    for c in [
        '\u{200b}',
        '\u{202e}',
        '\u{e0041}',
        '\u{e0100}',
        '\u{2063}',
        '\u{3164}',
    ] {
        assert_eq!(text::without_hidden(&format!("a{c}b")), "ab", "{c:?}");
    }
}

// case 60
#[test]
fn a_byte_order_mark_inside_a_text_hides_nothing() {
    assert_eq!(text::without_hidden("a\u{feff}b"), "ab");
}

// case 60
#[test]
fn runs_of_variation_selectors_carry_no_bytes_to_a_model() {
    assert_eq!(text::without_hidden("a\u{fe01}\u{fe0e}\u{fe03}b"), "ab");
    assert_eq!(text::without_hidden("❤\u{fe0f}"), "❤\u{fe0f}");
}

// case 59
#[test]
fn messages_never_carry_control_characters_of_a_file() {
    let evil = "\\e]0;pwned\\a\\u202e\\0";
    for yaml in [
        format!("name: \"a{evil}\"\ndescription: d\n"),
        format!("name: x\ndescription: d\n\"k{evil}\": v\n"),
        format!("name: x\ndescription: d\nversion: \"{evil}\"\n"),
        format!("name: x\ndescription: d\nlicense: {{\"{evil}\": 1}}\n"),
        format!("name: x\ndescription: d\ncontext: \"{evil}\"\n"),
        format!("name: x\ndescription: d\nos: [\"{evil}\"]\n"),
        format!("name: x\ndescription: d\npermissions: [\"{evil}\"]\n"),
        format!("name: x\ndescription: d\nmetadata: {{\"k{evil}\": [1]}}\n"),
        format!("name: x\ndescription: d\nrequires: {{\"{evil}\": [1]}}\n"),
        format!("name: x\ndescription: d\ninstall: [{{\"kind\": \"{evil}\"}}]\n"),
        format!("name: x\ndescription: d\ntypes: [\"{evil}\"]\n"),
        format!("name: x\ndescription: d\ntriggers: {{\"{evil}\": a}}\n"),
        "name: x\ndescription: a: b\n\u{1b}]0;stray\u{7}\u{202e}\n".to_owned(),
        "name: x\ndescription: a: b\u{1b}]0;x\u{7}\u{202e}\nversion: c: \u{1b}\n".to_owned(),
    ] {
        for mode in [Strictness::Lenient, Strictness::Strict] {
            for diagnostic in parsed(&file(&yaml), mode).diagnostics {
                let said = format!(
                    "{}{}",
                    diagnostic.message,
                    diagnostic.hint.unwrap_or_default()
                );
                let bad = |c: char| c.is_control() || text::is_invisible(c);
                assert!(!said.contains(bad), "{said:?}");
            }
        }
    }
}
