//! The authority of a project over each key. The cases are generated from the table, so a new key can't be forgotten.

use proptest::prelude::*;

use crate::key::{ListItemKind, ProjectAuthority, StricterValue, ValueKind};
use crate::{Config, ConfigKey, KEYS, Layer, LoadedConfig, load};

const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// A path without patterns.
fn concrete(key: &ConfigKey) -> String {
    key.path
        .replace("<name>", "x")
        .replace("<profile>", "writing")
        .replace("<variable>", "TOKEN")
        .replace("<model>", "some-model")
        .replace("<path>", "github.enabled")
        .replace("<server>", "docs")
        .replace("<header>", "X-Key")
}

/// A valid value that differs from the default.
fn sample(key: &ConfigKey) -> String {
    match key.kind {
        ValueKind::Bool => "true".to_owned(),
        ValueKind::Int(_) => "7".to_owned(),
        ValueKind::Choice(words) => format!("{:?}", words[1]),
        ValueKind::Text | ValueKind::Secret => "\"text\"".to_owned(),
        ValueKind::List(ListItemKind::Approval) => format!("[\"x@{DIGEST}\"]"),
        ValueKind::List(ListItemKind::Suppression) => {
            format!("[\"0123456789abcdef@{DIGEST} looked at it\"]")
        }
        ValueKind::List(_) => "[\"x\"]".to_owned(),
        ValueKind::Free => "true".to_owned(),
    }
}

/// The user's value, and values by which a project might try to loosen it.
fn attempt(key: &ConfigKey, rule: StricterValue) -> (String, String) {
    match (rule, key.kind) {
        (StricterValue::Only(word), ValueKind::Choice(words)) => {
            let other = words
                .iter()
                .find(|other| **other != word)
                .copied()
                .unwrap_or_default();
            (format!("{word:?}"), format!("{other:?}"))
        }
        (StricterValue::Only(word), _) => (
            word.to_owned(),
            if word == "true" { "false" } else { "true" }.to_owned(),
        ),
        (StricterValue::Lower, _) => ("2".to_owned(), "3".to_owned()),
        (StricterValue::LowerWhereZeroIsNoLimit, _) => ("5".to_owned(), "0".to_owned()),
        (StricterValue::Intersect | StricterValue::IntersectPrefixes, _) => {
            ("[\"a\"]".to_owned(), "[\"a\", \"b\"]".to_owned())
        }
    }
}

fn with(user: &str, project: &str) -> LoadedConfig {
    load([
        Layer::user("/u.toml", user),
        Layer::project("/p.toml", project),
    ])
}

fn shown(config: &Config, key: &str) -> Option<String> {
    config.get(key).ok().and_then(|value| value.text)
}

// case 132
#[test]
fn no_key_can_be_loosened() {
    for key in KEYS {
        let path = concrete(key);
        let ProjectAuthority::Tighten(rule) = key.project else {
            continue;
        };
        let (strict, loose) = attempt(key, rule);
        let loaded = with(&format!("{path} = {strict}"), &format!("{path} = {loose}"));
        assert_eq!(shown(&loaded.config, &path), Some(strict), "{path}");
        let narrowed = matches!(
            rule,
            StricterValue::Intersect | StricterValue::IntersectPrefixes
        );
        assert_eq!(
            loaded.problems.len(),
            usize::from(!narrowed),
            "{path}: {:?}",
            loaded.problems
        );
        assert_eq!(loaded.has_errors(), !narrowed);
    }
}

#[test]
fn a_key_that_is_not_for_projects_is_refused_and_has_no_effect() {
    for key in KEYS
        .iter()
        .filter(|key| key.project == ProjectAuthority::Never)
    {
        let path = concrete(key);
        let project = format!("{path} = {}", sample(key));
        assert_eq!(
            with(&project, "").problems,
            [],
            "the sample for {path} must be right"
        );
        let loaded = with("", &project);
        assert_eq!(
            shown(&loaded.config, &path),
            shown(&Config::default(), &path),
            "{path}"
        );
        let [problem] = loaded.problems.as_slice() else {
            panic!("{path}: {:?}", loaded.problems)
        };
        assert!(problem.is_error());
        assert_eq!(problem.message, format!("a project can't set `{path}`"));
        assert_eq!((problem.line, problem.hint.is_some()), (Some(1), true));
    }
}

#[test]
fn every_other_key_can_be_tightened() {
    for key in KEYS {
        let ProjectAuthority::Tighten(rule) = key.project else {
            continue;
        };
        let path = concrete(key);
        let (strict, _) = attempt(key, rule);
        let loaded = with("", &format!("{path} = {strict}"));
        assert_eq!(loaded.problems, [], "{path}");
        assert_eq!(shown(&loaded.config, &path), Some(strict), "{path}");
    }
}

#[test]
fn lists_are_narrowed_to_what_both_allow() {
    let cases = [
        (
            "skills.allow_bundled",
            r#"["a", "b"]"#,
            r#"["b", "c"]"#,
            r#"["b"]"#,
        ),
        ("skills.allow_bundled", "[]", r#"["b"]"#, "[]"),
        (
            "skills.security.allowed_command_prefixes",
            r#"["git", "gh pr"]"#,
            r#"["git log", "gh", "rm"]"#,
            r#"["git log", "gh pr"]"#,
        ),
        (
            "skills.security.allowed_command_prefixes",
            r#"["git"]"#,
            r#"["gitk", "gi"]"#,
            "[]",
        ),
    ];
    for (key, user, project, expected) in cases {
        let loaded = with(&format!("{key} = {user}"), &format!("{key} = {project}"));
        assert_eq!(
            shown(&loaded.config, key).as_deref(),
            Some(expected),
            "{key}"
        );
    }
}

#[test]
fn two_projects_one_below_the_other_tighten_in_turn() {
    let loaded = load([
        Layer::project("/outer.toml", "skills.limits.max_depth = 3"),
        Layer::project("/inner.toml", "skills.limits.max_depth = 4"),
    ]);
    assert_eq!(loaded.config.limits.max_depth, 3);
    assert_eq!(loaded.problems.len(), 1);
}

// case 132
#[test]
fn other_spellings_and_shapes_are_no_bypass() {
    let attempts = [
        "skills.security.scanOnLoad = false",
        "skills = { security = { scan_on_load = false } }",
        "[skills.\"security\"]\n\"scan_on_load\" = false",
        "[skills.security]\nscan_on_load = false\nscan_on_load = false",
        "[skills.security]\nscan_on_load = \n scan_on_load = false",
        "[[skills]]\nsecurity.scan_on_load = false",
        "[skills.security]\nscan_on_load = \"false\"",
    ];
    for project in attempts {
        let loaded = with("", project);
        assert!(loaded.config.security.scan_on_load, "{project}");
        assert!(loaded.has_errors(), "{project}");
    }
}

/// Whether `after` allows nothing that `before` forbids, for numbers and switches.
fn is_no_looser(before: &Config, after: &Config) -> bool {
    let switches = |config: &Config| {
        let security = &config.security;
        [
            !config.enabled,
            config.validation == crate::ValidationSetting::Strict,
            security.scan_on_load,
            security.block_critical,
        ]
    };
    let numbers = |config: &Config| {
        let limits = config.limits;
        [
            limits.max_skills,
            limits.max_depth,
            limits.max_shell_exec_per_turn,
            limits.shell_exec_timeout,
            config.scan.max_files,
            config.scan.max_file_bytes,
        ]
    };
    switches(before)
        .iter()
        .zip(switches(after))
        .all(|(before, after)| !before || after)
        && numbers(before)
            .iter()
            .zip(numbers(after))
            .all(|(before, after)| after <= *before)
        && before.approved == after.approved
        && before.scan.suppress == after.scan.suppress
        && before.scan.rules == after.scan.rules
        && before.scan.rules_dir == after.scan.rules_dir
        && before.hooks == after.hooks
        && before.load.extra_dirs == after.load.extra_dirs
}

fn line() -> impl Strategy<Value = String> {
    let paths: Vec<String> = KEYS.iter().map(concrete).collect();
    let values = [
        "true",
        "false",
        "0",
        "1",
        "5",
        "999999999",
        "\"strict\"",
        "\"lenient\"",
        "[]",
        "[\"x\"]",
        "[\"x\", \"y\"]",
        "{}",
        "\"",
    ];
    (
        prop::sample::select(paths),
        prop::sample::select(values.to_vec()),
    )
        .prop_map(|(path, value)| format!("{path} = {value}"))
}

proptest! {
    // case 132
    #[test]
    fn a_project_never_loosens(user in prop::collection::vec(line(), 0..8), project in prop::collection::vec(line(), 0..8)) {
        let user = user.join("\n");
        let before = with(&user, "").config;
        let after = with(&user, &project.join("\n")).config;
        prop_assert!(is_no_looser(&before, &after));
    }
}

#[test]
fn a_project_names_no_server() {
    for table in ["skills.mcp", "agent.mcp"] {
        let text = format!("[[{table}]]\nname = \"docs\"\ncommand = \"evil\"\n");
        let loaded = load([Layer::project("/p/.metier/config.toml", text)]);
        let messages: Vec<&str> = loaded.problems.iter().map(|one| &*one.message).collect();
        assert_eq!(
            messages,
            [format!("a project can't set `{table}.docs.command`")]
        );
        assert!(loaded.config.mcp.is_empty() && loaded.config.agent.mcp.is_empty());
    }
}
