//! Keys, tags and values: they are read as written.

use metier_model::{Json, Strictness};

use crate::{Fine, Refused, Warns, check, file, is, loaded, parsed, refused, with};

// case 45
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

// case 45
#[test]
fn of_two_values_the_first_one_counts() {
    let manifest = loaded(&with("license: MIT\nlicense: GPL\n"));
    assert_eq!(manifest.about.license.as_deref(), Some("MIT"));
}

// case 46
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

// case 47
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

// case 48
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

// case 48
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

// case 48
#[test]
fn nothing_is_not_a_name() {
    for value in ["", "~", "null", "Null", "NULL", "\"\"", "''", "\"  \""] {
        let text = file(&format!("name: {value}\ndescription: d\n"));
        check(&text, Warns("name-missing"), Refused("name-missing"));
        assert_eq!(loaded(&text).card.name.as_str(), "x");
    }
    for value in ["[a]", "{a: b}", "\n  - a", "\n  a: b"] {
        let text = file(&format!("name: {value}\ndescription: d\n"));
        check(&text, Warns("name-type"), Refused("name-type"));
        assert_eq!(loaded(&text).card.name.as_str(), "x");
    }
}

// case 54
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

// case 54
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

// case 55
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

// case 55
#[test]
fn a_bare_star_is_text_and_repaired() {
    let text = with("allowed-tools: *\n");
    check(&text, Warns("yaml-repaired"), Refused("yaml-repaired"));
    assert_eq!(*loaded(&text).tools.preapprove, ["*".into()]);
}

// case 55
#[test]
fn a_restriction_that_can_not_be_read_never_allows_everything() {
    for value in ["", "[]", "{Bash: true}", "~"] {
        let manifest = loaded(&with(&format!("allowed_tools: {value}\n")));
        assert_eq!(manifest.tools.only, Some(Vec::new()), "{value:?}");
    }
}

#[test]
fn a_list_of_tools_has_an_end() {
    let many = |count: usize| with(&format!("allowed-tools: {}\n", "Read ".repeat(count)));
    check(&many(1000), Fine, Fine);
    check(
        &many(1001),
        Refused("too-many-values"),
        Refused("too-many-values"),
    );
}

// case 55
#[test]
fn an_invalid_tool_is_reported_and_kept() {
    for value in ["Bash(", "Rea*", "\"Read Wr;te\"", "[Read, \"!x\"]"] {
        let text = with(&format!("allowed_tools: {value}\n"));
        is(Warns("tool-form"), &text, Strictness::Lenient);
    }
}

#[test]
fn strict_allowed_tools_are_one_text_with_blanks() {
    check(&with("allowed-tools: Bash(git:*) Read\n"), Fine, Fine);
    for value in ["Bash, Read", "[Bash, Read]", "{a: b}"] {
        let text = with(&format!("allowed-tools: {value}\n"));
        is(Refused("allowed-tools-form"), &text, Strictness::Strict);
        assert!(parsed(&text, Strictness::Lenient).manifest.is_some());
    }
}
