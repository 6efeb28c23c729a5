//! Editing keeps everything that isn't the key.

use proptest::prelude::*;

use crate::edit::{EditError, set, unset};
use crate::{KEYS, Layer, load};

const FILE: &str = "# mine\n\n[skills] # about skills\n# keep me\nvalidation = 'lenient' # for now\n\n[skills.load]\n\
                    extraDirs = [\n  \"/a\", # first\n]\nwatch = true\n\n# the end\n";

#[test]
fn set_replaces_in_place_or_adds() {
    let cases = [
        (
            FILE,
            "skills.validation",
            "strict",
            FILE.replace("'lenient'", "\"strict\""),
            Some("\"lenient\""),
        ),
        (
            FILE,
            "skills.load.extra_dirs",
            "/b,/c",
            FILE.replace("[\n  \"/a\", # first\n]", "[\"/b\", \"/c\"]"),
            Some("[\"/a\"]"),
        ),
        (
            FILE,
            "skills.load.agents",
            "0",
            FILE.replace("watch = true\n", "watch = true\nagents = false\n"),
            None,
        ),
        (
            FILE,
            "skills.enabled",
            "false",
            FILE.replace("for now\n", "for now\nenabled = false\n"),
            None,
        ),
        (
            "",
            "skills.load.watch",
            "false",
            "[skills.load]\nwatch = false\n".to_owned(),
            None,
        ),
        (
            "skills.enabled = true",
            "skills.load.watch",
            "false",
            "skills.enabled = true\nskills.load.watch = false\n".to_owned(),
            None,
        ),
        (
            "skills = { enabled = true }\n",
            "skills.load.watch",
            "false",
            "skills = { enabled = true , load = { watch = false } }\n".to_owned(),
            None,
        ),
        (
            "",
            "skills.entries.\"a.b\".env.T",
            "x y",
            "[skills.entries.\"a.b\".env]\nT = \"x y\"\n".to_owned(),
            None,
        ),
        (
            "",
            "settings.github.enabled",
            "true",
            "[settings.github]\nenabled = true\n".to_owned(),
            None,
        ),
        (
            "",
            "settings.user",
            "ada",
            "[settings]\nuser = \"ada\"\n".to_owned(),
            None,
        ),
        (
            "",
            "skills.approved",
            "[\"a\", 'b']",
            "[skills]\napproved = [\"a\", \"b\"]\n".to_owned(),
            None,
        ),
        (
            "skills.enabled = 7",
            "skills.enabled",
            "true",
            "skills.enabled = true".to_owned(),
            Some("7"),
        ),
        (
            "[skills]\r\nenabled = true\r\n",
            "skills.enabled",
            "false",
            "[skills]\r\nenabled = false\r\n".to_owned(),
            Some("true"),
        ),
    ];
    for (text, key, value, expected, old) in cases {
        let edited = set(text, key, value).unwrap();
        assert_eq!(edited.text, expected, "{key}");
        assert_eq!(edited.old.as_deref(), old, "{key}");
    }
}

#[test]
fn unset_removes_the_line_and_nothing_else() {
    let cases = [
        (
            FILE,
            "skills.validation",
            FILE.replace("validation = 'lenient' # for now\n", ""),
            Some("\"lenient\""),
        ),
        (
            FILE,
            "skills.load.extra_dirs",
            FILE.replace("extraDirs = [\n  \"/a\", # first\n]\n", ""),
            Some("[\"/a\"]"),
        ),
        (FILE, "skills.enabled", FILE.to_owned(), None),
        (
            "# head\nskills.enabled = true",
            "skills.enabled",
            "# head\n".to_owned(),
            Some("true"),
        ),
        (
            "skills = { enabled = true, validation = \"strict\" } # x\n",
            "skills.enabled",
            "skills = { validation = \"strict\" } # x\n".to_owned(),
            Some("true"),
        ),
        (
            "skills.entries.x.api_key = \"hunter2\"\n",
            "skills.entries.x.api_key",
            String::new(),
            Some("\"…\""),
        ),
    ];
    for (text, key, expected, old) in cases {
        let edited = unset(text, key).unwrap();
        assert_eq!(edited.text, expected, "{key}");
        assert_eq!(edited.old.as_deref(), old, "{key}");
    }
}

#[test]
fn errors_have_a_next_step() {
    let cases = [
        (
            set("", "skills.validaton", "strict"),
            "there is no key `skills.validaton`",
            "did you mean `skills.validation`?",
        ),
        (
            set("", "skills.validation", "loose"),
            "`skills.validation`: expected `\"lenient\"` or `\"strict\"`, found the string `\"loose\"`",
            "VALUE in `metier config skills.validation VALUE` must be `\"lenient\"` or `\"strict\"`",
        ),
        (
            set("skills = 3", "skills.enabled", "true"),
            "`skills` is not a table, so `skills.enabled` can't be changed",
            "remove or rename `skills` in the file first",
        ),
        (
            set("[settings.a]\nb = 1", "settings.a", "1"),
            "`settings.a` is a table, so `settings.a` can't be changed",
            "remove or rename `settings.a` in the file first",
        ),
        (
            set("", "skills.entries.\"../x\".enabled", "true"),
            "`skills.entries.\"../x\".enabled` can't be set: `../x` can't be a skill's name",
            "`metier list` shows the names of skills",
        ),
        (
            unset("", "skills.load"),
            "there is no key `skills.load`",
            "`metier config` lists all keys",
        ),
    ];
    for (result, message, hint) in cases {
        let error = result.unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.hint().as_str()),
            (message, hint)
        );
    }
    let error = set("a = \n", "skills.enabled", "true").unwrap_err();
    assert!(
        matches!(error, EditError::NotToml { line: 1, .. }),
        "{error}"
    );
}

proptest! {
    #[test]
    fn what_was_set_is_what_is_loaded(number in 1_u32..1000, word in "\\PC{1,20}", text in prop_oneof![Just(""), Just(FILE), Just("skills.load.watch = true\nsettings.x = 1\n")]) {
        prop_assume!(!word.trim().is_empty());
        let quoted = toml_edit::Value::from(word.as_str()).to_string();
        let edited = set(text, "skills.limits.max_depth", &number.to_string()).unwrap();
        let edited = set(&edited.text, "agent.model", &quoted).unwrap();
        let loaded = load([Layer::user("/u.toml", edited.text.as_str())]);
        prop_assert!(!loaded.has_errors(), "{}", edited.text);
        prop_assert_eq!(loaded.config.limits.max_depth, u64::from(number));
        prop_assert_eq!(loaded.config.agent.model.as_deref(), Some(word.as_str()));
        let back = unset(&edited.text, "agent.model").unwrap();
        prop_assert_eq!(unset(&back.text, "agent.model").unwrap().old, None);
    }

    #[test]
    fn editing_never_panics(text in any::<String>(), value in any::<String>(), row in 0..KEYS.len()) {
        let key = KEYS[row].path.replace(['<', '>'], "");
        let results = [set(&text, &key, &value), unset(&text, &key), set("", &key, &value), set(FILE, &key, &value)];
        for edited in results.into_iter().flatten() {
            prop_assert!(toml_edit::Document::parse(edited.text).is_ok());
        }
    }
}
