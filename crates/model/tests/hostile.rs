//! What careless and hostile frontmatter does: it loads as what it says, or it is refused in time.
//!
//! Each table goes through one [`check`], in both modes and through both YAML readers.
#![expect(clippy::unwrap_used, reason = "a broken fixture is a broken test")]

use std::{
    process::Command,
    time::{Duration, Instant},
};

use metier_model::{
    FileText, Files, Json, MAX_FRONTMATTER, Manifest, Mode, Parsed, Severity, SkillName, body,
    name::RESERVED, parse, parse_thoroughly, text,
};
use proptest::prelude::*;

/// What one mode makes of a text.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    /// It loads, and nothing but notes is said about it.
    Fine,
    /// It loads, with a warning of this code.
    Warns(&'static str),
    /// It does not load, because of an error of this code.
    Refused(&'static str),
}

use Outcome::{Fine, Refused, Warns};

fn parsed(text: &str, mode: Mode) -> Parsed {
    parsed_in(Some("x"), text, mode)
}

fn parsed_in(folder: Option<&str>, text: &str, mode: Mode) -> Parsed {
    let skill_md = Some(FileText {
        name: "SKILL.md",
        text,
    });
    checked(
        &Files {
            folder,
            skill_md,
            ..Files::default()
        },
        mode,
    )
}

/// Both readers agree, and there is a manifest exactly when nothing is an error.
fn checked(files: &Files<'_>, mode: Mode) -> Parsed {
    let found = parse(files, mode);
    let thorough = parse_thoroughly(files, mode);
    if found != thorough {
        panic!(
            "the readers disagree: the fast one says {}, the full one {}",
            summary(&found),
            summary(&thorough)
        );
    }
    let failed = found
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == Severity::Error);
    assert_eq!(found.manifest.is_none(), failed, "{:?}", found.diagnostics);
    found
}

/// A few words about a result that may be large.
fn summary(parsed: &Parsed) -> String {
    let mut text = format!("{parsed:?}");
    let end = text
        .char_indices()
        .nth(600)
        .map_or(text.len(), |(end, _)| end);
    text.truncate(end);
    text
}

fn codes(parsed: &Parsed, severity: Severity) -> Vec<&'static str> {
    let some = parsed
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == severity);
    some.map(|diagnostic| diagnostic.code.as_str()).collect()
}

/// A file with this frontmatter.
fn file(yaml: &str) -> String {
    format!("---\n{yaml}---\n\nThe body.\n")
}

/// A file with a name, a description, and more.
fn with(more: &str) -> String {
    file(&format!("name: x\ndescription: Does things.\n{more}"))
}

fn is(outcome: Outcome, text: &str, mode: Mode) {
    let found = parsed(text, mode);
    let shown: String = text.chars().take(300).collect();
    let errors = codes(&found, Severity::Error);
    let warnings = codes(&found, Severity::Warning);
    match outcome {
        Fine => assert!(
            found.manifest.is_some() && warnings.is_empty(),
            "{mode:?}: {errors:?} {warnings:?}\n{shown}"
        ),
        Warns(code) => assert!(
            found.manifest.is_some() && warnings.contains(&code),
            "{mode:?}: {errors:?} {warnings:?}, not {code}\n{shown}"
        ),
        Refused(code) => assert!(
            errors.contains(&code),
            "{mode:?}: {errors:?} {warnings:?}, not {code}\n{shown}"
        ),
    }
}

/// One file, and what lenient and strict reading make of it.
fn check(text: &str, lenient: Outcome, strict: Outcome) {
    is(lenient, text, Mode::Lenient);
    is(strict, text, Mode::Strict);
}

fn refused(text: &str, code: &'static str) {
    check(text, Refused(code), Refused(code));
}

fn loaded(text: &str) -> Manifest {
    let found = parsed(text, Mode::Lenient);
    let shown: String = text.chars().take(300).collect();
    found
        .manifest
        .unwrap_or_else(|| panic!("{:?}\n{shown}", found.diagnostics))
}

/// Runs `work` and fails when it took unreasonably long; the limit is for a slow machine without
/// optimisation, and still far below what quadratic work would need.
fn in_time<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    let took = started.elapsed();
    assert!(took < Duration::from_secs(4), "{what} took {took:?}");
    result
}

/// Runs `work` with a small stack, so that recursion shows.
fn on_a_small_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(512 * 1024)
            .spawn_scoped(scope, work)
            .unwrap();
        thread.join().unwrap()
    })
}

/// Runs one test of this file in a process of its own: what it tests could end the process.
fn survives_in_a_process(name: &str, work: impl FnOnce()) {
    if std::env::var_os("METIER_TEST_INNER").is_some() {
        return work();
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--include-ignored"])
        .env("METIER_TEST_INNER", "1")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{:?}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
}

// ---- Aliases, depth, size ----

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

#[test]
fn an_alias_is_mentioned_and_strict_reading_refuses_it() {
    check(
        &with("license: &l MIT\ncompatibility: *l\n"),
        Warns("alias-used"),
        Refused("alias-used"),
    );
}

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
    let found = checked(&files, Mode::Lenient);
    assert!(found.manifest.is_some());
    assert_eq!(codes(&found, Severity::Warning), ["sidecar-unread"]);
}

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

#[test]
fn deep_nesting_through_aliases_stays_on_a_small_stack() {
    let mut text = String::from("a0: &a0 [x]\n");
    for level in 1..60 {
        text.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
    }
    on_a_small_stack(|| {
        parsed(&with(&text), Mode::Lenient);
    });
}

/// Brackets inside of strings must not make the nesting look flat.
#[test]
fn nesting_that_hides_behind_brackets_in_strings_ends_no_process() {
    survives_in_a_process(
        "nesting_that_hides_behind_brackets_in_strings_ends_no_process",
        || {
            for (open, close) in [
                ("{\"k\":\"}\",\"a\":", "}"),
                ("{\"k\":\"]]\",\"a\":[", "]}"),
            ] {
                let json = format!("{}1{}", open.repeat(10_000), close.repeat(10_000));
                parsed(&with(&format!("metadata: '{json}'\n")), Mode::Lenient);
                parsed(&with(&format!("metadata: {json} x\n")), Mode::Lenient);
            }
        },
    );
}

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

#[test]
fn more_keys_than_anybody_needs_are_refused_in_time() {
    let few: String = (0..6_000).map(|key| format!("k{key}: v\n")).collect();
    let many: String = (0..25_000).map(|key| format!("k{key}: v\n")).collect();
    in_time("6,000 keys", || refused(&with(&few), "too-many-values"));
    in_time("25,000 keys", || refused(&with(&many), "too-many-values"));
}

#[test]
fn more_values_than_anybody_needs_are_refused_in_time() {
    let row = vec!["v"; 60_000].join(", ");
    let list: String = (0..40_000).map(|_| "  - v\n").collect();
    in_time("a long row", || {
        refused(&with(&format!("tags: [{row}]\n")), "too-many-values");
    });
    in_time("a long list", || {
        refused(&with(&format!("tags:\n{list}")), "too-many-values");
    });
}

/// Texts that have thousands of things wrong with them.
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

#[test]
fn thousands_of_mistakes_take_linear_time() {
    for (what, text) in thousands_of_mistakes() {
        in_time(what, || parsed(&text, Mode::Lenient));
    }
}

#[test]
fn thousands_of_mistakes_are_summed_up() {
    for (what, text) in thousands_of_mistakes() {
        let found = parsed(&text, Mode::Lenient);
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
    let found = parsed(&with(&keys), Mode::Lenient);
    let said: usize = found.diagnostics.iter().map(|d| d.message.len()).sum();
    assert!(said < 4096, "{said} bytes");
}

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
        in_time(what, || parsed(&with(&more), Mode::Lenient));
    }
    let fences = format!("---\n{}", "--- x\n".repeat(40_000));
    in_time("lines that nearly close", || {
        refused(&fences, "frontmatter-unclosed");
    });
}

#[test]
fn a_key_longer_than_yaml_allows_is_the_same_to_both_readers() {
    in_time("a long key", || {
        parsed(&with(&format!("{}: x\n", "a".repeat(2_000))), Mode::Lenient)
    });
}

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

// ---- Keys, merges, tags ----

#[test]
fn a_name_or_description_given_twice_is_refused() {
    for yaml in [
        "name: x\nname: y\ndescription: d\n",
        "name: x\n\"name\": y\ndescription: d\n",
        "name: x\n'name': y\ndescription: d\n",
        "name: x\n? name\n: y\ndescription: d\n",
        "name: x\nName: y\ndescription: d\n",
        "NAME: y\nname: x\ndescription: d\n",
        "name: x\n\"na\\x6de\": y\ndescription: d\n",
        "name: x\ndescription: d\ndescription: e\n",
        "name: x\ndescription: d\nDescription: e\n",
        "{name: x, description: d, name: y}\n",
        "name: x\ndescription: d\nname: [x]\n",
        "name: x\ndescription: a: b\nname: y\n",
    ] {
        refused(&file(yaml), "duplicate-identity");
    }
}

#[test]
fn the_same_value_twice_is_only_odd() {
    for yaml in [
        "name: x\nname: x\ndescription: d\n",
        "name: x\ndescription: d\ndescription: d\n",
        "name: x\ndescription: d\nlicense: MIT\nlicense: GPL\n",
        "name: x\ndescription: d\nmetadata:\n  a: b\n  a: c\n",
    ] {
        check(
            &file(yaml),
            Warns("duplicate-key"),
            Refused("duplicate-key"),
        );
    }
}

#[test]
fn the_same_value_in_quotes_is_the_same_value() {
    check(
        &file("name: x\nname: \"x\"\ndescription: d\n"),
        Warns("duplicate-key"),
        Refused("duplicate-key"),
    );
}

#[test]
fn of_two_values_the_first_one_counts() {
    let manifest = loaded(&with("license: MIT\nlicense: GPL\n"));
    assert_eq!(manifest.about.license.as_deref(), Some("MIT"));
}

#[test]
fn a_merge_key_is_never_applied() {
    for yaml in [
        "base: &base {license: MIT}\n<<: *base\n",
        "base: &base {license: MIT}\n\"<<\": *base\n",
        "<<: {license: MIT}\n",
        "metadata: {\"<<\": {\"a\": \"b\"}}\n",
    ] {
        check(&with(yaml), Warns("merge-key"), Refused("merge-key"));
        let manifest = loaded(&with(yaml));
        assert_eq!(manifest.about.license, None);
        assert!(manifest.metadata.get("a").is_none());
    }
}

#[test]
fn tags_are_refused_wherever_they_stand() {
    for yaml in [
        "name: x\ndescription: !!python/object/apply:os.system [\"id\"]\n",
        "name: !!str x\ndescription: d\n",
        "name: x\ndescription: !!binary aGk=\n",
        "name: x\ndescription: !custom d\n",
        "name: x\ndescription: ! d\n",
        "name: x\ndescription: !<tag:yaml.org,2002:str> d\n",
        "name: x\ndescription: d\nmetadata: !!map {a: b}\n",
        "name: x\ndescription: d\ntags: !!set {a}\n",
        "name: x\ndescription: d\ntags: [!!int \"1\"]\n",
        "name: x\ndescription: d\n!!str tags: a\n",
        "!!map\nname: x\ndescription: d\n",
        "name: x\ndescription: d\nmetadata:\n  a:\n    - !ruby/object:Gem {}\n",
    ] {
        refused(&file(yaml), "tag-used");
    }
}

#[test]
fn text_that_only_looks_like_a_tag_is_text() {
    for value in ["\"!!str\"", "'! important'", "a !b", "wow!"] {
        check(
            &file(&format!("name: x\ndescription: {value}\n")),
            Fine,
            Fine,
        );
    }
}

// ---- Words stay words ----

#[test]
fn a_name_that_looks_like_another_type_stays_text() {
    for name in [
        "no",
        "yes",
        "on",
        "off",
        "true",
        "False",
        "123",
        "0123",
        "0x1f",
        "0o17",
        "1e3",
        "1_000",
        "1.10",
        ".inf",
        "-.5",
        ".nan",
        "2026-01-05",
        "12:30:45",
        "NO",
        "y",
    ] {
        let text = file(&format!("name: {name}\ndescription: d\n"));
        assert_eq!(loaded(&text).card.name.as_str(), name);
    }
}

#[test]
fn a_version_or_description_that_looks_like_a_number_keeps_its_spelling() {
    for value in ["1.10", "0o17", "1e3", "0x1f", "2026-01-05", "no", ".inf"] {
        let manifest = loaded(&file(&format!(
            "name: x\ndescription: {value}\nversion: {value}\nmetadata:\n  v: {value}\n"
        )));
        assert_eq!(&*manifest.card.description, value);
        assert_eq!(
            manifest.card.version.as_ref().map(|v| v.as_str()),
            Some(value)
        );
        assert_eq!(manifest.metadata["v"], Json::from(value));
    }
}

#[test]
fn nothing_is_not_a_name() {
    for value in ["", "~", "null", "Null", "NULL", "\"\"", "''", "\"  \""] {
        refused(
            &file(&format!("name: {value}\ndescription: d\n")),
            "name-missing",
        );
    }
    for value in ["[a]", "{a: b}", "\n  - a", "\n  a: b"] {
        refused(
            &file(&format!("name: {value}\ndescription: d\n")),
            "name-type",
        );
    }
}

// ---- Documents, marks, line ends ----

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

#[test]
fn only_the_first_document_is_read_when_it_needs_repair() {
    let text = file("name: x\ndescription: a: b\n...\nname: y\nlicense: MIT\n");
    let manifest = loaded(&text);
    assert_eq!(manifest.card.name.as_str(), "x");
    assert_eq!(manifest.about.license, None);
    is(Warns("second-document"), &text, Mode::Lenient);
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

#[test]
fn a_directive_is_passed_over_aloud() {
    let text = file("%YAML 1.1\nname: x\ndescription: no\n");
    assert_eq!(&*loaded(&text).card.description, "no");
    assert!(parsed(&text, Mode::Strict).manifest.is_none());
}

#[test]
fn tabs_hurt_only_their_own_entry() {
    let text = file("name: x\ndescription: d\nmetadata:\n\tauthor: me\n");
    assert_eq!(loaded(&text).card.name.as_str(), "x");
    assert!(parsed(&text, Mode::Strict).manifest.is_none());
    check(&file("name: x\ndescription: \"a\\tb\"\n"), Fine, Fine);
}

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

#[test]
fn exotic_line_breaks_end_no_line() {
    for mark in ['\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}'] {
        let text = file(&format!(
            "name: x\ndescription: \"a{mark}name: y{mark}---{mark}b\"\n"
        ));
        let found = parsed(&text, Mode::Lenient);
        let manifest = found.manifest.expect("one value");
        assert_eq!(manifest.card.name.as_str(), "x", "{mark:?}");
        assert!(manifest.card.description.contains("name: y"), "{mark:?}");
        let text = format!("---{mark}name: x\n---\n");
        assert!(parsed(&text, Mode::Lenient).manifest.is_none());
    }
}

#[test]
fn a_lone_carriage_return_can_not_smuggle_a_second_name() {
    let text = file("name: x\ndescription: d\rname: y\n");
    let found = parsed(&text, Mode::Lenient);
    if let Some(manifest) = found.manifest {
        assert_eq!(manifest.card.name.as_str(), "x");
        assert!(
            !codes(&parsed(&text, Mode::Lenient), Severity::Warning).is_empty(),
            "it is read without a word"
        );
    }
}

// ---- Where the frontmatter ends ----

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

#[test]
fn a_second_block_in_the_body_names_nothing() {
    let text = "---\nname: x\ndescription: d\n---\n---\nname: y\ndescription: e\n---\nbody\n";
    assert_eq!(loaded(text).card.name.as_str(), "x");
    assert!(body(text).starts_with("---\nname: y"));
}

#[test]
fn what_has_no_frontmatter_says_so() {
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

#[test]
fn what_is_never_closed_says_so() {
    for text in [
        "---",
        "---\n",
        "---\nname: x\ndescription: d\n",
        "---\nname: x\ndescription: d\n---# Heading\n",
        "---\nname: x\ndescription: d\n --- \n",
        "---\nname: x\ndescription: d\n----\n",
        "---\nname: x\ndescription: d\n...\n",
        "---\nname: x\ndescription: d\n--- # end\n",
    ] {
        refused(text, "frontmatter-unclosed");
    }
}

#[test]
fn an_empty_frontmatter_has_no_name() {
    for yaml in ["", "\n", "# nothing\n", "{}\n", "~\n"] {
        refused(&file(yaml), "name-missing");
        refused(&file(yaml), "description-missing");
    }
}

#[test]
fn what_is_not_a_map_says_so() {
    for yaml in ["- a\n- b\n", "just words\n", "\"name: x\"\n", "[name, x]\n"] {
        assert!(parsed(&file(yaml), Mode::Lenient).manifest.is_none());
    }
}

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

// ---- Metadata and tools ----

#[test]
fn metadata_is_kept_as_data() {
    let manifest = loaded(&with(
        "metadata:\n  author: me\n  n: 12\n  flag: true\n  none:\n  openclaw:\n    requires:\n      bins: [\"$(touch /tmp/x)\", '`id`']\n      env: [A]\n",
    ));
    assert_eq!(
        manifest.metadata["openclaw"]["requires"]["bins"][0],
        Json::from("$(touch /tmp/x)")
    );
    assert_eq!(manifest.metadata["n"], Json::from(12));
    assert_eq!(manifest.metadata["flag"], Json::from(true));
    assert_eq!(manifest.metadata["none"], Json::Null);
    assert_eq!(manifest.card.requirements.len(), 3);
}

#[test]
fn strict_metadata_is_a_map_of_texts() {
    for more in [
        "metadata: {}\n",
        "metadata:\n  a: b\n  n: 12\n  v: 1.10\n  t: true\n",
    ] {
        check(&with(more), Fine, Fine);
    }
    check(&with("metadata:\n"), Fine, Refused("metadata-value"));
    for more in [
        "metadata:\n  a: [b]\n",
        "metadata:\n  a: {b: c}\n",
        "metadata: {\"openclaw\": {\"emoji\": \"x\"}}\n",
    ] {
        check(&with(more), Fine, Refused("metadata-value"));
    }
    for more in ["metadata: [a]\n", "metadata: text\n"] {
        check(
            &with(more),
            Warns("metadata-form"),
            Refused("metadata-form"),
        );
    }
}

#[test]
fn allowed_tools_are_the_words_that_stand_there() {
    for (value, tools) in [
        ("Bash Read", &["Bash", "Read"][..]),
        ("Bash(git:*) Read", &["Bash(git:*)", "Read"]),
        ("Bash(git commit:*), Read", &["Bash(git commit:*)", "Read"]),
        ("[Bash, \"Bash(*)\"]", &["Bash", "Bash(*)"]),
        (
            "\n  - Bash(git add:*)\n  - Read",
            &["Bash(git add:*)", "Read"],
        ),
        ("\"*\"", &["*"]),
        ("Bash(", &["Bash("]),
        ("Bash)) Read", &["Bash))", "Read"]),
        ("", &[]),
        ("[]", &[]),
        ("{Bash: true}", &[]),
        ("~", &[]),
    ] {
        let manifest = loaded(&with(&format!("allowed-tools: {value}\n")));
        let found: Vec<&str> = manifest
            .tools
            .preapprove
            .iter()
            .map(|tool| &**tool)
            .collect();
        assert_eq!(found, tools, "{value}");
        assert_eq!(manifest.tools.only, None, "a wish is not a restriction");
    }
}

#[test]
fn a_bare_star_is_text_and_repaired() {
    let text = with("allowed-tools: *\n");
    check(&text, Warns("yaml-repaired"), Refused("yaml-repaired"));
    assert_eq!(*loaded(&text).tools.preapprove, ["*".into()]);
}

#[test]
fn a_restriction_that_can_not_be_read_never_allows_everything() {
    for value in ["", "[]", "{Bash: true}", "~"] {
        let manifest = loaded(&with(&format!("allowed_tools: {value}\n")));
        assert_eq!(manifest.tools.only, Some(Vec::new()), "{value:?}");
    }
}

#[test]
fn strict_allowed_tools_are_one_text_with_blanks() {
    check(&with("allowed-tools: Bash(git:*) Read\n"), Fine, Fine);
    for value in ["Bash, Read", "[Bash, Read]", "{a: b}"] {
        let text = with(&format!("allowed-tools: {value}\n"));
        is(Refused("allowed-tools-form"), &text, Mode::Strict);
        assert!(parsed(&text, Mode::Lenient).manifest.is_some());
    }
}

// ---- Names and descriptions ----

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
        refused(
            &file(&format!("name: \"{name}\"\ndescription: d\n")),
            "name-unusable",
        );
    }
}

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
        refused(&text, "name-unusable");
    }
}

#[test]
fn variation_selectors_hide_no_bytes_in_names() {
    for c in ('\u{fe00}'..='\u{fe0e}').chain(['\u{e0100}', '\u{e01ef}']) {
        assert!(SkillName::new(&format!("a{c}b")).is_err(), "{c:?}");
    }
}

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
    refused(
        &file(&format!("name: {}\ndescription: d\n", "a".repeat(2_000))),
        "name-unusable",
    );
}

#[test]
fn a_name_that_ends_in_a_line_break_is_trimmed_or_refused_never_kept() {
    let text = file("name: \"x\\n\"\ndescription: d\n");
    if let Some(manifest) = parsed(&text, Mode::Lenient).manifest {
        assert_eq!(manifest.card.name.as_str(), "x");
    }
}

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

#[test]
fn smuggled_letters_are_shown_in_the_warning() {
    let hidden: String = "ignore"
        .chars()
        .filter_map(|c| char::from_u32(u32::from(c) + 0xe0000))
        .collect();
    let found = parsed(
        &file(&format!("name: x\ndescription: Nice.{hidden}\n")),
        Mode::Lenient,
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

#[test]
fn a_byte_order_mark_inside_of_a_text_hides_nothing() {
    assert_eq!(text::without_hidden("a\u{feff}b"), "ab");
}

#[test]
fn runs_of_variation_selectors_carry_no_bytes_to_a_model() {
    assert_eq!(text::without_hidden("a\u{fe01}\u{fe0e}\u{fe03}b"), "ab");
    assert_eq!(text::without_hidden("❤\u{fe0f}"), "❤\u{fe0f}");
}

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
        for mode in [Mode::Lenient, Mode::Strict] {
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

// ---- Two files ----

fn both(yaml: &str, md: &str, mode: Mode) -> Parsed {
    let files = Files {
        folder: Some("x"),
        skill_md: Some(FileText {
            name: "SKILL.md",
            text: md,
        }),
        skill_yaml: Some(FileText {
            name: "SKILL.yaml",
            text: yaml,
        }),
        sidecar: None,
    };
    checked(&files, mode)
}

const MANIFEST: &str = "name: x\nversion: 1.0.0\ndescription: d\ntypes: [prompt]\n";

#[test]
fn two_files_agree_on_the_name() {
    for md in [
        "Just a body.\n",
        "---\nname: x\ndescription: e\n---\nbody\n",
        "---\ndescription: e\n---\nbody\n",
        "",
    ] {
        assert!(both(MANIFEST, md, Mode::Lenient).manifest.is_some(), "{md}");
        let alone = parsed(md, Mode::Strict).manifest.is_some();
        let beside = both(MANIFEST, md, Mode::Strict).manifest.is_some();
        assert_eq!(
            beside, alone,
            "strictly, the SKILL.md must conform by itself: {md}"
        );
    }
    for md in [
        "---\nname: y\ndescription: e\n---\nbody\n",
        "---\nname: \"y\"\n---\nbody\n",
        "\u{feff}---\nname: y\n---\nbody\n",
        "---\nname: y: z\ndescription: a: b\n---\nbody\n",
    ] {
        let found = both(MANIFEST, md, Mode::Lenient);
        assert_eq!(codes(&found, Severity::Error), ["names-disagree"], "{md}");
    }
}

#[test]
fn names_disagree_also_behind_blank_lines() {
    let found = both(MANIFEST, "\n---\nname: y\n---\nbody\n", Mode::Lenient);
    assert_eq!(codes(&found, Severity::Error), ["names-disagree"]);
}

#[test]
fn a_second_name_in_the_body_file_is_not_passed_over() {
    let md = "---\nname: x\nname: y\ndescription: e\n---\nbody\n";
    assert!(both(MANIFEST, md, Mode::Lenient).manifest.is_none());
}

#[test]
fn a_skill_yaml_has_its_own_required_fields() {
    let yaml = |text: &str, mode| {
        let files = Files {
            folder: Some("x"),
            skill_yaml: Some(FileText {
                name: "SKILL.yaml",
                text,
            }),
            ..Files::default()
        };
        checked(&files, mode)
    };
    assert!(yaml(MANIFEST, Mode::Lenient).diagnostics.is_empty());
    for field in ["version", "types"] {
        let less: String = MANIFEST
            .lines()
            .filter(|line| !line.starts_with(field))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(
            codes(&yaml(&less, Mode::Lenient), Severity::Warning),
            ["field-missing"]
        );
        assert!(codes(&yaml(&less, Mode::Strict), Severity::Error).contains(&"field-missing"));
    }
}

// ---- Anything at all ----

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn no_text_makes_a_reader_panic(text in "[-a-d:#,&*!|>'\"%@`\\[\\]{}?~.<é🐛\u{e0041}\u{85}\u{2028}\u{0}\r\n\t ]{0,120}") {
        for mode in [Mode::Lenient, Mode::Strict] {
            parsed(&file(&text), mode);
            parsed(&with(&text), mode);
            parsed(&text, mode);
        }
    }

    #[test]
    fn a_quoted_description_comes_back_as_it_went_in(text in "[^\u{0}-\u{1f}\u{7f}-\u{9f}\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}]{1,80}") {
        prop_assume!(!text.trim().is_empty());
        let manifest = loaded(&file(&format!("name: x\ndescription: '{}'\n", text.replace('\'', "''"))));
        prop_assert_eq!(&*manifest.card.description, text.trim());
    }

    #[test]
    fn a_manifest_never_has_an_unusable_name(name in "\\PC{0,20}|[./\\\\a-c\u{200b}\u{1b}]{0,6}") {
        let quoted = name.replace('\'', "''");
        if let Some(manifest) = parsed(&file(&format!("name: '{quoted}'\ndescription: d\n")), Mode::Lenient).manifest {
            let name = manifest.card.name.as_str();
            prop_assert!(!name.contains(['/', '\\']) && !name.contains("..") && !name.is_empty());
            prop_assert!(!name.contains(|c: char| c.is_control() || text::is_invisible(c)));
        }
    }
}
