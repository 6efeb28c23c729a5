//! The table itself: properties of every row.

use std::collections::BTreeSet;

use crate::datum::Datum;
use crate::key::{
    ConfigKey, DefaultValue, KeyLookup, ListItemKind, ProjectAuthority, StricterValue, ValueKind,
    find,
};
use crate::{
    Config, KEYS, KeyPath, Layer, OTHER_VARIABLES, Secret, ValidationSetting, key_for_env, load,
    reference_markdown,
};

#[test]
fn paths_and_variables_are_unique() {
    let paths: BTreeSet<_> = KEYS.iter().map(|key| key.path).collect();
    assert_eq!(paths.len(), KEYS.len());
    let variables: Vec<_> = KEYS.iter().filter_map(|key| key.env).collect();
    let unique: BTreeSet<_> = variables.iter().chain(OTHER_VARIABLES).collect();
    assert_eq!(unique.len(), variables.len() + OTHER_VARIABLES.len());
}

#[test]
fn a_variable_is_the_path_in_capitals() {
    for key in KEYS {
        let expected = format!("METIER_{}", key.path.to_uppercase().replace('.', "_"));
        match key.env {
            Some("METIER_MODEL") => assert_eq!(key.path, "agent.model"),
            Some(env) => assert_eq!(env, expected),
            None => assert!(key.is_pattern(), "{} needs a variable", key.path),
        }
    }
    assert!(key_for_env("METIER_SKILLS_VALIDATION").is_some());
    assert!(key_for_env("METIER_NOTHING").is_none());
}

#[test]
fn each_path_leads_to_its_own_row() {
    for key in KEYS {
        let path = KeyPath::parse(&key.path.replace(['<', '>'], ""));
        match find(&path) {
            KeyLookup::Key {
                key: found,
                by_alias,
                ..
            } => {
                assert_eq!(found.path, key.path);
                assert!(!by_alias);
            }
            KeyLookup::Table | KeyLookup::Nothing => panic!("{} isn't found", key.path),
        }
    }
}

#[test]
fn each_default_fits_its_type() {
    for key in KEYS {
        if let Some(datum) = Datum::from_fallback(key.default) {
            let again = Datum::from_text(key.kind, &datum.to_toml().to_string());
            assert_eq!(again.expect(key.path), datum);
        }
        let optional = matches!(
            key.kind,
            ValueKind::Text | ValueKind::Secret | ValueKind::Free | ValueKind::List(_)
        );
        let absent = key.default == DefaultValue::Absent;
        let means_something = key.path.starts_with("prompt.") || key.path == "agent.provider";
        assert!(
            !absent || optional || key.is_pattern() || means_something,
            "{}",
            key.path
        );
    }
}

#[test]
fn each_rule_fits_its_type() {
    for key in KEYS {
        match (key.project, key.kind) {
            (ProjectAuthority::Never, _)
            | (ProjectAuthority::Tighten(StricterValue::Only("true" | "false")), ValueKind::Bool)
            | (
                ProjectAuthority::Tighten(
                    StricterValue::Lower | StricterValue::LowerWhereZeroIsNoLimit,
                ),
                ValueKind::Int(_),
            )
            | (
                ProjectAuthority::Tighten(
                    StricterValue::Intersect | StricterValue::IntersectPrefixes,
                ),
                ValueKind::List(_),
            ) => {}
            (ProjectAuthority::Tighten(StricterValue::Only(word)), ValueKind::Choice(words))
                if words.contains(&word) => {}
            other => panic!("{}: {other:?}", key.path),
        }
    }
}

/// Values that a key accepts, each with a different meaning.
fn samples(key: &ConfigKey) -> Vec<String> {
    let digits = |count| "a".repeat(count);
    match key.kind {
        ValueKind::Bool => vec!["true".to_owned(), "false".to_owned()],
        ValueKind::Int(least) => vec![(least + 7).to_string(), (least + 8).to_string()],
        ValueKind::Choice(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        ValueKind::List(ListItemKind::Suppression) => {
            let bound = format!("{}@sha256:{}", digits(16), digits(64));
            vec!["[]".to_owned(), format!(r#"["{bound} checked"]"#)]
        }
        ValueKind::List(_) => vec![r#"["a"]"#.to_owned(), r#"["b"]"#.to_owned()],
        ValueKind::Text | ValueKind::Secret | ValueKind::Free => {
            vec!["a".to_owned(), "b".to_owned()]
        }
    }
}

/// The typed values, secrets included, without the state that they were read from.
fn typed(config: &Config) -> String {
    let entries = config.entries().map(|(name, entry)| {
        let key = entry.api_key.as_ref().map(Secret::expose);
        let env: Vec<&str> = entry.env.values().map(Secret::expose).collect();
        format!("{name} {entry:?} {key:?} {env:?}")
    });
    let entries: Vec<String> = entries.collect();
    let servers = config.mcp.values().chain(config.agent.mcp.values());
    let secrets = servers.flat_map(|server| server.env.values().chain(server.headers.values()));
    let secrets: Vec<&str> = secrets.map(Secret::expose).collect();
    let Config {
        enabled,
        validation,
        load,
        allow_bundled,
        approved,
        security,
        scan,
        registry_url,
        profile,
        profiles,
        sync_to,
        limits,
        hooks,
        agent,
        prompt,
        mcp,
        usage,
        ..
    } = config;
    format!(
        "{:?}{:?}{:?}{entries:?}{mcp:?}{secrets:?}",
        (profile, profiles, sync_to),
        (enabled, validation, load, allow_bundled, approved, security),
        (scan, registry_url, limits, hooks, agent, prompt, usage)
    )
}

#[test]
fn every_value_of_every_key_is_read() {
    for key in KEYS.iter().filter(|key| key.kind != ValueKind::Free) {
        let path = key.path.replace(['<', '>'], "");
        let read = |value: String| {
            let loaded = load([Layer::flag("--set", &path, &value)]);
            assert!(loaded.problems.is_empty(), "{path}: {:?}", loaded.problems);
            typed(&loaded.config)
        };
        let values = samples(key);
        let different: BTreeSet<String> = values.iter().cloned().map(read).collect();
        assert_eq!(different.len(), values.len(), "{path}: {values:?}");
    }
}

#[test]
fn each_sentence_is_one_sentence() {
    for key in KEYS {
        assert!(
            key.doc.ends_with('.') && !key.doc.contains(". "),
            "{}: {}",
            key.path,
            key.doc
        );
    }
}

#[test]
fn the_defaults_are_the_documented_ones() {
    let config = Config::default();
    assert!(config.enabled && config.load.agents && config.load.watch);
    assert!(config.security.scan_on_load && config.security.block_critical);
    assert_eq!(config.validation, ValidationSetting::Lenient);
    assert_eq!(config.load.watch_debounce_ms, 250);
    assert_eq!(config.allow_bundled, None);
    assert_eq!(config.security.allowed_command_prefixes, None);
    let limits = config.limits;
    assert_eq!(
        (limits.max_skills, limits.max_entries),
        (200_000, 2_000_000)
    );
    assert_eq!(
        (
            limits.max_skill_bytes,
            limits.max_depth,
            limits.max_root_seconds
        ),
        (1_000_000, 6, 10)
    );
    assert_eq!(
        (
            limits.max_llm_calls_per_turn,
            limits.max_shell_exec_per_turn
        ),
        (10, 20)
    );
    assert_eq!(
        (
            limits.max_net_fetch_per_turn,
            limits.shell_exec_timeout,
            limits.net_fetch_timeout
        ),
        (10, 30, 15)
    );
    assert_eq!((limits.tool_timeout, limits.hook_timeout), (60, 5));
    assert!(config.entry("any").enabled);
}

#[test]
fn the_reference_names_every_key_and_variable() {
    let page = reference_markdown();
    for key in KEYS {
        assert!(
            page.contains(&format!("### `{}`\n\n{}", key.path, key.doc)),
            "{}",
            key.path
        );
        assert!(
            key.env.is_none_or(|env| page.contains(&format!("`{env}`"))),
            "{}",
            key.path
        );
    }
}
