//! The public values: listing, secrets, settings.

use crate::{Config, KEYS, Layer, Origin, load};

const SECRET: &str = "hunter2";

fn user(text: &str) -> Config {
    let loaded = load([Layer::user("/u.toml", text)]);
    assert_eq!(loaded.problems, []);
    loaded.config
}

#[test]
fn values_list_every_key_with_its_origin() {
    let config = user("[skills]\nvalidation = \"strict\"\n[skills.entries.gh]\nenabled = false\n");
    let values = config.values();
    let fixed = KEYS.iter().filter(|key| !key.is_pattern()).count();
    assert_eq!(values.len(), fixed + 1);
    let find = |key: &str| values.iter().find(|value| value.key == key).unwrap();
    let validation = find("skills.validation");
    assert_eq!(validation.text.as_deref(), Some("\"strict\""));
    assert_eq!(
        (&validation.origin, validation.line),
        (&Origin::User("/u.toml".into()), Some(2))
    );
    assert!(find("skills.enabled").is_default);
    assert_eq!(find("skills.registry_url").text, None);
    assert_eq!(
        find("skills.entries.gh.enabled").text.as_deref(),
        Some("false")
    );
}

#[test]
fn secrets_stay_hidden() {
    let text = format!(
        "[skills.entries.gh]\napi_key = \"{SECRET}\"\nenv.TOKEN = \"{SECRET}\"\n\
         [settings]\ndiscord.token = \"{SECRET}\"\nlist = [{{ token = \"{SECRET}\" }}]\n[[settings.many]]\npw = \"{SECRET}\"\n"
    );
    let layer = Layer::user("/u.toml", text.as_str());
    assert!(!format!("{layer:?}").contains(SECRET));
    let loaded = load([layer]);
    assert!(!format!("{loaded:?}").contains(SECRET));
    assert!(!format!("{:?}", loaded.config.values()).contains(SECRET));
    assert_eq!(
        loaded
            .config
            .get("skills.entries.gh.api_key")
            .unwrap()
            .text
            .as_deref(),
        Some("\"…\"")
    );
    let entry = loaded.config.entry("gh");
    assert_eq!(entry.api_key.as_ref().unwrap().expose(), SECRET);
    assert_eq!(entry.env["TOKEN"].expose(), SECRET);
    assert_eq!(
        format!("{} {:?}", entry.env["TOKEN"], entry.env["TOKEN"]),
        "[secret] [secret]"
    );
}

#[test]
fn a_secret_of_the_wrong_type_or_in_broken_toml_stays_hidden_too() {
    for text in [
        format!("skills.entries.x.api_key = [\"{SECRET}\"]"),
        format!("skills.entries.x.env = \"{SECRET}\""),
        format!("skills.entries.x.env.A = {{ b = \"{SECRET}\" }}"),
        format!("skills.entries.x.api_key = \"{SECRET}"),
        format!("skills.entries.x.api_key = {SECRET}"),
    ] {
        let loaded = load([Layer::user("/u.toml", text.as_str())]);
        assert!(loaded.has_errors(), "{text}");
        assert!(
            !format!("{loaded:?}").contains(SECRET),
            "{text}: {:?}",
            loaded.problems
        );
    }
}

#[test]
fn settings_are_truthy_or_not() {
    let config = user(
        "[settings]\nyes = true\nno = false\nzero = 0\nnought = 0.0\none = 1\nempty = \"\"\ntext = \"x\"\nnone = []\nsome = [0]\n\
         nothing = {}\ninline = { a = false }\n[settings.github]\nenabled = true\n[settings.bare]\n[settings.\"a.b\"]\nc = 1\n",
    );
    for path in [
        "yes",
        "one",
        "text",
        "some",
        "inline",
        "github",
        "github.enabled",
        "\"a.b\".c",
    ] {
        assert!(config.setting_is_truthy(path), "{path}");
    }
    for path in [
        "no", "zero", "nought", "empty", "none", "nothing", "inline.a", "bare", "absent",
        "github.x", "yes.x", "",
    ] {
        assert!(!config.setting_is_truthy(path), "{path}");
    }
}

#[test]
fn a_later_setting_replaces_what_it_covers() {
    let loaded = load([
        Layer::user(
            "/u.toml",
            "settings.github = { enabled = true, user = \"ada\" }",
        ),
        Layer::flag("--set", "settings.github", "false"),
    ]);
    assert!(!loaded.config.setting_is_truthy("github"));
    assert!(!loaded.config.setting_is_truthy("github.enabled"));
}

#[test]
fn names_with_dots_are_one_segment() {
    let config = user("[skills.entries.\"my.skill\"]\nenabled = false\nversion = \"1.2\"\n");
    assert!(!config.entry("my.skill").enabled);
    assert_eq!(
        config.entries().map(|(name, _)| name).collect::<Vec<_>>(),
        ["my.skill"]
    );
    let value = config.get("skills.entries.\"my.skill\".version").unwrap();
    assert_eq!(
        (value.key.as_str(), value.text.as_deref()),
        ("skills.entries.\"my.skill\".version", Some("\"1.2\""))
    );
}

#[test]
fn approvals_may_be_bound_to_content() {
    let digest = format!("sha256:{}", "AB".repeat(32));
    let config = user(&format!("skills.approved = [\"a\", \"b@{digest}\"]"));
    assert_eq!(config.approved[0].digest, None);
    assert_eq!(
        (
            config.approved[1].name.as_str(),
            config.approved[1].digest.clone()
        ),
        ("b", Some(digest.to_lowercase()))
    );
}

#[test]
fn a_suppression_is_bound_and_has_a_reason() {
    let digest = format!("sha256:{}", "AB".repeat(32));
    let item = format!("0123456789ABCDEF@{digest}  the host is ours");
    let config = user(&format!("skills.scan.suppress = [\"{item}\"]"));
    let only = &config.scan.suppress[0];
    assert_eq!(only.fingerprint, "0123456789abcdef");
    assert_eq!(only.digest, digest.to_lowercase());
    for wrong in [
        format!("0123456789abcdef@{digest}"),
        format!("0123456789abcdef@{digest}   "),
        "0123456789abcdef because".to_owned(),
        format!("0123@{digest} because"),
        format!("0123456789abcdef@{} because", &digest[..20]),
    ] {
        let text = format!("skills.scan.suppress = [{wrong:?}]");
        assert!(load([Layer::user("c.toml", &text)]).has_errors(), "{wrong}");
    }
}

#[test]
fn an_unknown_key_has_a_hint() {
    let error = Config::default().get("skills.validatoin").unwrap_err();
    assert_eq!(error.to_string(), "there is no key `skills.validatoin`");
    assert_eq!(error.hint, "did you mean `skills.validation`?");
    assert!(Config::default().get("skills.load").is_err());
}

#[test]
fn models_are_found_and_priced_as_written() {
    let config = user(
        "[agent]\nprovider = \"openai\"\nbase_url = \"http://127.0.0.1:8000/v1\"\napi_key_env = \"LOCAL_KEY\"\n\
         max_tokens = 100\ntimeout = 30\n\
         [agent.prices.\"gpt-4.1\"]\ninput = \"2\"\noutput = \"8.00\"\n[agent.prices.tiny]\ncached_input = \"0.1\"\n",
    );
    let agent = &config.agent;
    assert_eq!(agent.provider.as_deref(), Some("openai"));
    assert_eq!(agent.base_url.as_deref(), Some("http://127.0.0.1:8000/v1"));
    assert_eq!(agent.api_key_env.as_deref(), Some("LOCAL_KEY"));
    assert_eq!((agent.max_tokens, agent.timeout), (100, 30));
    let named = &agent.prices["gpt-4.1"];
    assert_eq!(
        (named.input.as_deref(), named.output.as_deref()),
        (Some("2"), Some("8.00"))
    );
    assert_eq!(named.cached_input, None);
    assert_eq!(agent.prices["tiny"].cached_input.as_deref(), Some("0.1"));
    let unset = &Config::default().agent;
    assert_eq!((unset.max_tokens, unset.timeout), (16_384, 600));
    assert!(unset.provider.is_none() && unset.prices.is_empty());
}

#[test]
fn an_unsupported_provider_is_refused() {
    let loaded = load([Layer::user("/u.toml", "[agent]\nprovider = \"oracle\"\n")]);
    assert_eq!(loaded.config.agent.provider, None);
    let problem = loaded.problems[0].to_string();
    assert!(problem.contains("`\"ollama\"`"), "{problem}");
}
