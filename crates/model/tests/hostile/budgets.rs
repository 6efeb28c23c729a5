//! Aliases, depth and size: expensive input is rejected in time.

use metier_model::{DiagnosticSeverity, FileText, Files, MAX_FRONTMATTER, Strictness};

use crate::{
    Refused, Warns, check, checked, codes, file, in_time, loaded, on_a_small_stack, parsed,
    refused, survives_in_a_process, with,
};

// case 42
#[test]
fn aliases_of_aliases_exceed_their_budget() {
    let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (this, last) in ('b'..='i').zip('a'..) {
        let row = vec![format!("*{last}"); 10].join(", ");
        bomb.push_str(&format!("{this}: &{this} [{row}]\n"));
    }
    in_time("an alias bomb", || {
        refused(&with(&bomb), "alias-budget");
        refused(
            &with(&format!(
                "metadata:\n  {}",
                bomb.replace('\n', "\n  ").trim_end_matches(' ')
            )),
            "alias-budget",
        );
    });
}

// case 42
#[test]
fn many_aliases_of_a_small_value_exceed_their_budget() {
    let row = vec!["*a"; 65].join(", ");
    refused(
        &with(&format!("tags: &a x\nmore: [{row}]\n")),
        "alias-budget",
    );
    let wide = vec!["y"; 400].join(", ");
    refused(
        &with(&format!("tags: &a [{wide}]\nmore: [*a, *a, *a, *a, *a]\n")),
        "alias-budget",
    );
}

// case 42
#[test]
fn an_alias_is_mentioned_and_strict_reading_refuses_it() {
    check(
        &with("license: &l MIT\ncompatibility: *l\n"),
        Warns("alias-used"),
        Refused("alias-used"),
    );
}

// case 42
#[test]
fn an_alias_bomb_beside_the_manifest_is_not_read() {
    let bomb = "a: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c, *c, *c, *c, *c]\n";
    let text = with("");
    let files = Files {
        folder: Some("x"),
        skill_md: Some(FileText {
            name: "SKILL.md",
            text: &text,
        }),
        sidecar: Some(FileText {
            name: "agents/openai.yaml",
            text: bomb,
        }),
        ..Files::default()
    };
    let found = checked(&files, Strictness::Lenient);
    assert!(found.manifest.is_some());
    assert_eq!(
        codes(&found, DiagnosticSeverity::Warning),
        ["sidecar-unread"]
    );
}

// case 43
#[test]
fn nesting_beyond_the_limit_is_refused_on_a_small_stack() {
    let block = |levels: usize| {
        let rows = (0..levels).map(|level| format!("{}a:\n", " ".repeat(level)));
        rows.collect::<String>()
    };
    let texts = [
        with(&format!("tags: {}\n", "[".repeat(100_000))),
        with(&format!(
            "tags: {}{}\n",
            "[".repeat(5_000),
            "]".repeat(5_000)
        )),
        with(&format!("tags: {}\n", "{a: ".repeat(40_000))),
        with(&format!("tags:\n{}\n", "- ".repeat(30_000))),
        with(&block(300)),
        file(&format!("name: x\ndescription: {}\n", "[".repeat(1_000))),
    ];
    for text in &texts {
        on_a_small_stack(|| in_time("deep nesting", || refused(text, "too-deep")));
    }
}

#[test]
fn nesting_just_within_the_limit_is_kept() {
    let text = with(&format!(
        "metadata:\n  deep: {}{}\n",
        "[".repeat(40),
        "]".repeat(40)
    ));
    on_a_small_stack(|| {
        assert!(loaded(&text).metadata["deep"].is_array());
    });
}

// case 43
#[test]
fn deep_nesting_through_aliases_stays_on_a_small_stack() {
    let mut text = String::from("a0: &a0 [x]\n");
    for level in 1..60 {
        text.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    on_a_small_stack(|| {
        parsed(&with(&text), Strictness::Lenient);
    });
}

/// Brackets inside strings must not make the nesting look flat.
// case 43
#[test]
fn nesting_that_hides_behind_brackets_in_strings_ends_no_process() {
    survives_in_a_process(
        "budgets::nesting_that_hides_behind_brackets_in_strings_ends_no_process",
        || {
            for (open, close) in [
                ("{\"k\":\"}\",\"a\":", "}"),
                ("{\"k\":\"]]\",\"a\":[", "]}"),
            ] {
                let json = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
                parsed(&with(&format!("metadata: '{json}'\n")), Strictness::Lenient);
                parsed(&with(&format!("metadata: {json} x\n")), Strictness::Lenient);
            }
        },
    );
}

// case 44
#[test]
fn a_frontmatter_over_the_limit_is_refused_quickly() {
    let scalar = |length: usize| file(&format!("name: x\ndescription: {}\n", "a".repeat(length)));
    let keys: String = (0..1_000_000).map(|key| format!("k{key}:\n")).collect();
    in_time("a large frontmatter", || {
        refused(&scalar(MAX_FRONTMATTER), "frontmatter-too-large");
        refused(&scalar(20_000_000), "frontmatter-too-large");
        refused(&with(&keys), "frontmatter-too-large");
    });
    check(
        &scalar(MAX_FRONTMATTER - 100),
        Warns("description-too-long"),
        Refused("description-too-long"),
    );
}

// case 44
#[test]
fn too_many_keys_are_refused_in_time() {
    let few: String = (0..6_000).map(|key| format!("k{key}: v\n")).collect();
    let many: String = (0..25_000).map(|key| format!("k{key}: v\n")).collect();
    in_time("6,000 keys", || refused(&with(&few), "too-many-values"));
    in_time("25,000 keys", || refused(&with(&many), "too-many-values"));
}

// case 44
#[test]
fn too_many_values_are_refused_in_time() {
    let row = vec!["v"; 60_000].join(", ");
    let list: String = (0..40_000).map(|_| "  - v\n").collect();
    in_time("a long row", || {
        refused(&with(&format!("tags: [{row}]\n")), "too-many-values");
    });
    in_time("a long list", || {
        refused(&with(&format!("tags:\n{list}")), "too-many-values");
    });
}

/// Documents with thousands of problems.
fn thousands_of_mistakes() -> [(&'static str, String); 3] {
    let strays = "stray\n".repeat(20_000);
    let entries: String = (0..15_000).map(|key| format!("k{key}: a: b\n")).collect();
    let repeated = "license: MIT\n".repeat(2_400);
    [
        ("stray lines", with(&format!("a: b: c\n{strays}"))),
        ("repaired entries", with(&entries)),
        ("a key many times", with(&repeated)),
    ]
}

// case 44
#[test]
fn thousands_of_mistakes_take_linear_time() {
    for (what, text) in thousands_of_mistakes() {
        in_time(what, || parsed(&text, Strictness::Lenient));
    }
}

#[test]
fn thousands_of_mistakes_are_summed_up() {
    for (what, text) in thousands_of_mistakes() {
        let found = parsed(&text, Strictness::Lenient);
        let said = found.diagnostics.iter().map(|d| d.message.len());
        let (count, bytes) = (found.diagnostics.len(), said.sum::<usize>());
        assert!(
            count <= 200 && bytes < 64 * 1024,
            "{what}: {count} diagnostics, {bytes} bytes"
        );
    }
}

#[test]
fn thousands_of_unknown_fields_are_summed_up() {
    let keys: String = (0..2_000).map(|key| format!("k{key}: v\n")).collect();
    let found = parsed(&with(&keys), Strictness::Lenient);
    let said: usize = found.diagnostics.iter().map(|d| d.message.len()).sum();
    assert!(said < 4096, "{said} bytes");
}

// case 53
#[test]
fn long_anchors_comments_and_blanks_take_linear_time() {
    let long = "a".repeat(200_000);
    for (what, more) in [
        ("an anchor", format!("license: &{long} MIT\n")),
        ("an alias", format!("license: *{long}\n")),
        ("comments", "# nothing here\n".repeat(15_000)),
        ("a comment", format!("license: MIT # {long}\n")),
        ("blank lines", "\n".repeat(200_000)),
        ("blanks", format!("license:{}MIT\n", " ".repeat(200_000))),
        (
            "open quotes",
            format!("license: {}\n", "\"a' ".repeat(50_000)),
        ),
    ] {
        in_time(what, || parsed(&with(&more), Strictness::Lenient));
    }
    let fences = format!("---\n{}", "--- x\n".repeat(40_000));
    in_time("lines that nearly close", || {
        refused(&fences, "description-missing");
    });
    let indented = format!("---\n{}", " -- -\n".repeat(40_000));
    in_time("indented lines that nearly close", || {
        refused(&indented, "frontmatter-unclosed");
    });
    for quote in ["'", "\"", "\x27\x27\x27"] {
        let quotes = format!("license: {quote}\n").repeat(20_000);
        in_time("quotes that never close", || {
            parsed(&with(&quotes), Strictness::Lenient)
        });
    }
}

#[test]
fn a_key_longer_than_yaml_allows_is_the_same_to_both_readers() {
    in_time("a long key", || {
        parsed(
            &with(&format!("{}: x\n", "a".repeat(2_000))),
            Strictness::Lenient,
        )
    });
}

// case 53
#[test]
fn a_hash_is_a_comment_only_behind_a_blank() {
    for (value, read) in [
        ("c#", "c#"),
        ("a#b c#d", "a#b c#d"),
        ("\"a # b\"", "a # b"),
        ("'#x'", "#x"),
    ] {
        let text = file(&format!("name: x\ndescription: {value}\n"));
        assert_eq!(&*loaded(&text).card.description, read);
    }
    check(
        &file("name: x\ndescription: Reviews #hashtags\n"),
        Warns("comment-cuts-text"),
        Warns("comment-cuts-text"),
    );
}
