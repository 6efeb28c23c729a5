//! Reading and merging: origins, problems, places.

use proptest::prelude::*;

use crate::{Layer, LoadedConfig, Origin, ProblemSeverity, ValidationSetting, load};

fn user(text: &str) -> LoadedConfig {
    load([Layer::user("/u.toml", text)])
}

/// `line:column severity message | hint`, one per line.
fn report(loaded: &LoadedConfig) -> String {
    let line = |problem: &crate::ConfigProblem| {
        let severity = if problem.severity == ProblemSeverity::Error {
            "error"
        } else {
            "warning"
        };
        let place = match (problem.line, problem.column) {
            (Some(line), Some(column)) => format!("{line}:{column}"),
            _ => problem.origin.to_string(),
        };
        let hint = problem
            .hint
            .as_ref()
            .map_or_else(String::new, |hint| format!(" | {hint}"));
        format!("{place} {severity} {}{hint}", problem.message)
    };
    loaded
        .problems
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn the_later_origin_wins_whatever_the_order_given() {
    let layers = || {
        vec![
            Layer::user("/u.toml", "skills.limits.max_depth = 5"),
            Layer::project("/p.toml", "skills.limits.max_depth = 4"),
            Layer::env("METIER_SKILLS_LIMITS_MAX_DEPTH", "8"),
            Layer::flag("--max-depth", "skills.limits.max_depth", "9"),
        ]
    };
    let expected = [6, 5, 4, 8, 9];
    let origins = [
        Origin::Default,
        Origin::User("/u.toml".into()),
        Origin::Project("/p.toml".into()),
        Origin::Env("METIER_SKILLS_LIMITS_MAX_DEPTH".into()),
        Origin::Flag("--max-depth".into()),
    ];
    for count in 0..=4 {
        for reversed in [false, true] {
            let mut given: Vec<Layer> = layers().into_iter().take(count).collect();
            if reversed {
                given.reverse();
            }
            let loaded = load(given);
            assert_eq!(loaded.config.limits.max_depth, expected[count]);
            let value = loaded.config.get("skills.limits.max_depth").unwrap();
            assert_eq!(value.origin, origins[count]);
            assert_eq!(value.is_default, count == 0);
            assert_eq!(loaded.problems, []);
        }
    }
}

#[test]
fn problems_say_where_what_and_what_to_do() {
    let cases = [
        (
            "[skills]\nvalidaton = \"strict\"",
            "2:1 error there is no key `skills.validaton` | did you mean `skills.validation`?",
        ),
        (
            "validation = \"strict\"",
            "1:1 error there is no key `validation` | did you mean `skills.validation`?",
        ),
        (
            "[skill]\nvalidation = \"strict\"",
            "1:2 error there is no key `skill` | did you mean `skills`?",
        ),
        (
            "[skills.security]\nscan-on-load = true",
            "2:1 error there is no key `skills.security.scan-on-load` | did you mean `skills.security.scan_on_load`?",
        ),
        (
            "skills.entries.gh.enbaled = true",
            "1:19 error there is no key `skills.entries.gh.enbaled` | did you mean `skills.entries.gh.enabled`?",
        ),
        (
            "zebra = 1",
            "1:1 error there is no key `zebra` | `metier config` lists all keys",
        ),
        (
            "[skills]\n  enabled = \"yes\"",
            "2:13 error `skills.enabled`: expected `true` or `false`, found the string `\"yes\"`",
        ),
        (
            "skills.validation = \"loose\"",
            "1:21 error `skills.validation`: expected `\"lenient\"` or `\"strict\"`, found the string `\"loose\"`",
        ),
        (
            "skills.limits.max_depth = -1",
            "1:27 error `skills.limits.max_depth`: expected a whole number of at least 1, found `-1`",
        ),
        (
            "skills.load.extra_dirs = [\"a\", 3]",
            "1:32 error `skills.load.extra_dirs`: expected a folder in the list, found `3`",
        ),
        (
            "skills.load = 3",
            "1:15 error `skills.load`: expected a table, found a number",
        ),
        (
            "skills.entries.x.env = \"hunter2\"",
            "1:24 error `skills.entries.x.env`: expected a table, found a string",
        ),
        (
            "skills.entries.x.api_key = 12345",
            "1:28 error `skills.entries.x.api_key`: expected a string, found a number",
        ),
        (
            "skills.entries.\"../x\".enabled = true",
            "1:23 error `skills.entries.\"../x\".enabled` can't be set: `../x` can't be a skill's name",
        ),
        (
            "skills.load.extraDirs = []",
            "1:13 warning `skills.load.extraDirs` is a different spelling of `skills.load.extra_dirs` | write `extra_dirs`",
        ),
        (
            "skills.approved = [\"x@sha256:12\"]",
            "1:20 error `skills.approved`: expected a skill name or `name@sha256:` and 64 hexadecimal digits in the list, found the string `\"x@sha256:12\"`",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(report(&user(text)), expected, "{text}");
    }
}

#[test]
fn columns_count_characters() {
    assert!(
        report(&user("settings.x = \"ü\"\nskills = { \"ü\" = 1 }"))
            .starts_with("2:12 error there is no key")
    );
    assert!(report(&user("\u{feff}zebra = 1")).starts_with("1:1 error"));
    assert!(report(&user("skills.enabled = true\r\nzebra = 1\r\n")).starts_with("2:1 error"));
}

#[test]
fn a_mistake_hides_nothing_else() {
    let text = "[skills]\nvalidation = \"strict\"\nenabled = maybe\nregistry_url = 3\nnonsense = 1\n\
                [skills.load\nwatch = true\nenabled = false\n[skills.security]\nblock_critical = false\n";
    let loaded = user(text);
    assert_eq!(loaded.config.validation, ValidationSetting::Strict);
    assert!(!loaded.config.security.block_critical);
    assert!(
        loaded.config.enabled,
        "a line below a broken header belongs to no table"
    );
    let places: Vec<_> = loaded.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(
        places,
        [Some(3), Some(4), Some(5), Some(6)],
        "{}",
        report(&loaded)
    );
    assert!(loaded.has_errors());
}

#[test]
fn bad_toml_is_reported_with_its_place() {
    for (text, start) in [
        (
            "[skills]\nvalidation = strict\n",
            "2:14 error not valid TOML: ",
        ),
        ("a = \"\n", "1:"),
        ("[skills\n", "1:"),
        ("x = [1,\n", "1:"),
        ("[skills]\nenabled = true\n[skills]\n", "3:"),
        ("s = \"\"\"\nendless", "2:8 "),
    ] {
        let loaded = user(text);
        assert!(
            report(&loaded).starts_with(start),
            "{text}: {}",
            report(&loaded)
        );
        assert!(loaded.problems[0].hint.is_some());
    }
}

#[test]
fn the_seed_spellings_are_read_with_a_warning() {
    let text = "[skills]\nallowBundled = [\"a\"]\n[skills.load]\nextraDirs = [\"d\"]\nwatchDebounceMs = 9\n\
                [skills.security]\nscanOnLoad = false\nblockCritical = false\nallowedCommandPrefixes = [\"git\"]\n\
                [skills.entries.x]\napiKey = \"k\"\n";
    let loaded = user(text);
    assert!(!loaded.has_errors());
    assert_eq!(loaded.problems.len(), 7, "{}", report(&loaded));
    assert_eq!(loaded.config.load.watch_debounce_ms, 9);
    assert_eq!(
        loaded.config.allow_bundled.as_deref(),
        Some(&["a".to_owned()][..])
    );
    assert_eq!(
        loaded
            .config
            .entry("x")
            .api_key
            .as_ref()
            .map(crate::Secret::expose),
        Some("k")
    );
    assert!(!loaded.config.security.scan_on_load && !loaded.config.security.block_critical);
    let twice = user("skills.allow_bundled = [\"a\"]\nskills.allowBundled = [\"b\"]");
    assert!(
        report(&twice).contains("2:8 error `skills.allow_bundled` is set twice"),
        "{}",
        report(&twice)
    );
}

#[test]
fn variables_and_flags() {
    let loaded = load([
        Layer::env("METIER_SKILLS_LOAD_EXTRA_DIRS", "/a, /b"),
        Layer::env("METIER_SKILLS_ENABLED", "0"),
        Layer::env("METIER_SKILLS_APPROVED", ""),
        Layer::env("METIER_MODEL", "ollama/tiny"),
        Layer::env("METIER_HOME", "/h"),
        Layer::env("METIER_SKILLS_VALIDATON", "strict"),
        Layer::env("METIER_PROMPT_BUDGET", "many"),
        Layer::flag("--strict", "skills.validation", "strict"),
        Layer::flag("--set", "settings.github.enabled", "true"),
        Layer::flag("--set", "skills.nothing", "true"),
    ]);
    let config = &loaded.config;
    assert_eq!(
        config.load.extra_dirs,
        [std::path::Path::new("/a"), std::path::Path::new("/b")]
    );
    assert!(!config.enabled);
    assert_eq!(config.agent.model.as_deref(), Some("ollama/tiny"));
    assert_eq!(config.validation, ValidationSetting::Strict);
    assert!(config.setting_is_truthy("github.enabled"));
    assert_eq!(
        report(&loaded),
        "METIER_SKILLS_VALIDATON warning unknown variable `METIER_SKILLS_VALIDATON` | did you mean `METIER_SKILLS_VALIDATION`?\n\
         METIER_PROMPT_BUDGET error `prompt.budget`: expected a whole number of at least 1, found the string `\"many\"`\n\
         --set error there is no key `skills.nothing` | `metier config` lists all keys"
    );
}

#[test]
fn a_hostile_file_is_read_in_reasonable_time_with_few_messages() {
    let many: String = (0..20_000)
        .map(|number| format!("k{number} = 1\n"))
        .collect();
    assert_eq!(load([Layer::project("/p.toml", many)]).problems.len(), 100);
    let deep = format!("settings.{} = 1", vec!["a"; 5_000].join("."));
    assert!(user(&deep).has_errors());
    let brackets = format!("settings.x = {}", "[".repeat(100_000));
    assert!(user(&brackets).has_errors());
    let long = format!("{} = 1", "k".repeat(1_000_000));
    assert!(user(&long).has_errors());
}

/// Pieces that make up TOML, and some that don't.
fn tokens() -> impl Strategy<Value = String> {
    let pieces = [
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        ".",
        ",",
        "\"",
        "'",
        "\"\"\"",
        "'''",
        "#",
        "\n",
        "\r\n",
        " ",
        "\\",
        "skills",
        "entries",
        "load",
        "settings",
        "security",
        "enabled",
        "true",
        "1",
        "-1",
        "1e9",
        "nan",
        "1979-05-27",
        "\u{feff}",
        "é",
        "\0",
        "extraDirs",
        "x",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..60)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in prop_oneof![any::<String>(), tokens()], value in any::<String>(), key in tokens()) {
        let loaded = load([
            Layer::user("/u.toml", text.clone()),
            Layer::project("/p.toml", text.clone()),
            Layer::env("METIER_SKILLS_APPROVED", value.clone()),
            Layer::env(key.clone(), value.clone()),
            Layer::flag("--set", key.clone(), value),
        ]);
        let lines = text.split('\n').count();
        for problem in &loaded.problems {
            prop_assert!(problem.line.is_none_or(|line| (1..=lines).contains(&line)));
            prop_assert!(!problem.to_string().is_empty());
        }
        prop_assert!(!loaded.config.values().is_empty());
        let _ = loaded.config.get(&key);
        let _ = loaded.config.setting_is_truthy(&key);
    }
}

#[test]
fn servers_are_listed_or_named() {
    let listed = "[[skills.mcp]]\nname = \"docs\"\ncommand = \"npx\"\nargs = [\"-y\", \"-y\"]\nenv = { TOKEN = \"${TOKEN}\" }\n\n[[skills.mcp]]\nname = \"web\"\nurl = \"https://x.example/mcp\"\n[skills.mcp.headers]\nAuthorization = \"Bearer ${KEY}\"\n";
    let named = "[skills.mcp.docs]\ncommand = \"npx\"\nargs = [\"-y\", \"-y\"]\nenv.TOKEN = \"${TOKEN}\"\n[skills.mcp.web]\nurl = \"https://x.example/mcp\"\nheaders = { Authorization = \"Bearer ${KEY}\" }\n";
    let inline = "skills.mcp = [{ name = \"docs\", command = \"npx\", args = [\"-y\", \"-y\"], env = { TOKEN = \"${TOKEN}\" } }, { name = \"web\", url = \"https://x.example/mcp\", headers = { Authorization = \"Bearer ${KEY}\" } }]\n";
    let [listed, named, inline] =
        [listed, named, inline].map(|text| load([Layer::user("/c.toml", text)]));
    assert_eq!(listed.problems, []);
    assert_eq!(listed.config.mcp, named.config.mcp);
    assert_eq!(listed.config.mcp, inline.config.mcp);
    let docs = &listed.config.mcp["docs"];
    assert_eq!(docs.args, ["-y", "-y"]);
    assert_eq!(docs.env["TOKEN"].expose(), "${TOKEN}");
    let web = &listed.config.mcp["web"];
    assert_eq!(web.headers["Authorization"].expose(), "Bearer ${KEY}");
}

#[test]
fn a_server_has_a_usable_name() {
    for (text, expected) in [
        ("[[skills.mcp]]\ncommand = \"x\"\n", "has no `name`"),
        (
            "[[skills.mcp]]\nname = \"user\"\ncommand = \"x\"\n",
            "a source of skills",
        ),
        (
            "[[skills.mcp]]\nname = \"A b\"\ncommand = \"x\"\n",
            "lower-case letters",
        ),
        (
            "[[skills.mcp]]\nname = \"a\"\ncommand = \"x\"\n[[skills.mcp]]\nname = \"a\"\ncommand = \"y\"\n",
            "set twice",
        ),
        (
            "[[skills.mcp]]\nname = \"a\"\ncmd = \"x\"\n",
            "there is no key `skills.mcp.a.cmd`",
        ),
        ("skills.mcp = [3]\n", "expected a table"),
    ] {
        let loaded = load([Layer::user("/c.toml", text)]);
        let messages: Vec<&str> = loaded.problems.iter().map(|one| &*one.message).collect();
        assert!(
            messages.iter().any(|one| one.contains(expected)),
            "{text}: {messages:?}"
        );
    }
}
