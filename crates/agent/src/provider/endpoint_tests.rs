//! Tables of settings and variables with the resulting endpoints.

use super::*;

fn resolve(
    model: &str,
    settings: &ProviderSettings,
    variables: &[(&str, &str)],
) -> Result<Endpoint, ModelError> {
    let name = ModelName::parse(model, settings.provider).unwrap();
    let lookup = |wanted: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == wanted);
        found.map(|(_, value)| (*value).to_owned())
    };
    Endpoint::resolve(&name, settings, &lookup)
}

const KEYS: [(&str, &str); 2] = [
    ("ANTHROPIC_API_KEY", "key-of-anthropic"),
    ("OPENAI_API_KEY", "key-of-openai"),
];

#[test]
fn base_urls_are_read_as_people_write_them() {
    let check = |model: &str, base: &str, expected: &str| {
        let settings = ProviderSettings {
            base_url: Some(base.to_owned()),
            ..ProviderSettings::default()
        };
        let endpoint = resolve(model, &settings, &KEYS).unwrap();
        assert_eq!(endpoint.url(), expected, "{model} at {base}");
    };
    check(
        "anthropic/m",
        "https://gate.example",
        "https://gate.example/v1/messages",
    );
    check(
        "anthropic/m",
        "https://gate.example/v1/",
        "https://gate.example/v1/messages",
    );
    check(
        "anthropic/m",
        "https://gate.example/a",
        "https://gate.example/a/v1/messages",
    );
    check(
        "openai/m",
        "http://127.0.0.1:8000",
        "http://127.0.0.1:8000/v1/chat/completions",
    );
    check(
        "openai/m",
        "http://127.0.0.1:8000/v1",
        "http://127.0.0.1:8000/v1/chat/completions",
    );
    check(
        "openai/m",
        "https://gate.example/api/",
        "https://gate.example/api/chat/completions",
    );
    check(
        "openai/m",
        "https://gate.example/v1?v=2",
        "https://gate.example/v1/chat/completions?v=2",
    );
    check(
        "ollama/m",
        "http://10.0.0.2:11434",
        "http://10.0.0.2:11434/v1/chat/completions",
    );
}

#[test]
fn without_settings_the_variables_count_and_then_the_provider() {
    let check = |model: &str, variables: &[(&str, &str)], expected: &str| {
        let variables = [&KEYS[..], variables].concat();
        let endpoint = resolve(model, &ProviderSettings::default(), &variables).unwrap();
        assert_eq!(endpoint.url(), expected, "{model} with {variables:?}");
    };
    check("anthropic/m", &[], "https://api.anthropic.com/v1/messages");
    check(
        "anthropic/m",
        &[("ANTHROPIC_BASE_URL", "http://[::1]:9")],
        "http://[::1]:9/v1/messages",
    );
    check(
        "anthropic/m",
        &[("ANTHROPIC_BASE_URL", "")],
        "https://api.anthropic.com/v1/messages",
    );
    check(
        "openai/m",
        &[],
        "https://api.openai.com/v1/chat/completions",
    );
    check(
        "openai/m",
        &[("OPENAI_BASE_URL", "http://h/v1")],
        "http://h/v1/chat/completions",
    );
    check(
        "ollama/m",
        &[],
        "http://127.0.0.1:11434/v1/chat/completions",
    );
    check(
        "ollama/m",
        &[("OLLAMA_HOST", "box")],
        "http://box:11434/v1/chat/completions",
    );
    check(
        "ollama/m",
        &[("OLLAMA_HOST", "box:80")],
        "http://box/v1/chat/completions",
    );
    check(
        "ollama/m",
        &[("OLLAMA_HOST", "https://box")],
        "https://box/v1/chat/completions",
    );
}

#[test]
fn a_key_meant_for_one_provider_is_not_sent_to_another() {
    let settings = ProviderSettings {
        provider: Some(ProviderKind::OpenAi),
        base_url: Some("http://127.0.0.1:8000/v1".to_owned()),
        api_key_env: Some("LOCAL_KEY".to_owned()),
    };
    let variables = [KEYS[0], ("LOCAL_KEY", "local")];
    let own = resolve("m", &settings, &variables).unwrap();
    assert_eq!(own.key().unwrap().expose(), "local");
    let other = resolve("anthropic/m", &settings, &variables).unwrap();
    assert_eq!(other.url(), "https://api.anthropic.com/v1/messages");
    assert_eq!(other.key().unwrap().expose(), "key-of-anthropic");
}

#[test]
fn a_missing_key_names_its_variable() {
    let check = |model: &str, settings: &ProviderSettings, expected: &str| {
        let error = resolve(model, settings, &[]).unwrap_err();
        assert!(
            matches!(&error, ModelError::NoKey { variable, .. } if variable == expected),
            "{error:?}"
        );
        assert!(
            error
                .hint()
                .unwrap()
                .contains(&format!("export {expected}="))
        );
    };
    check(
        "anthropic/m",
        &ProviderSettings::default(),
        "ANTHROPIC_API_KEY",
    );
    check("openai/m", &ProviderSettings::default(), "OPENAI_API_KEY");
    let named = ProviderSettings {
        api_key_env: Some("MY_KEY".to_owned()),
        ..ProviderSettings::default()
    };
    check("openai/m", &named, "MY_KEY");
    check("ollama/m", &named, "MY_KEY");
    assert!(resolve("ollama/m", &ProviderSettings::default(), &[]).is_ok());
    let empty = resolve(
        "openai/m",
        &ProviderSettings::default(),
        &[("OPENAI_API_KEY", "")],
    );
    assert!(matches!(empty, Err(ModelError::NoKey { .. })));
}

#[test]
fn a_key_with_a_line_break_is_refused_without_being_shown() {
    let error = resolve(
        "openai/m",
        &ProviderSettings::default(),
        &[("OPENAI_API_KEY", "geheim\n")],
    );
    let error = error.unwrap_err();
    assert!(matches!(error, ModelError::BadKey { .. }));
    assert!(!format!("{error} {error:?} {:?}", error.hint()).contains("geheim"));
}

#[test]
fn an_invalid_base_url_is_refused() {
    for base in [
        "",
        "host/v1",
        "ftp://host",
        "file:///etc",
        "https://",
        "https://me:geheim@host/v1",
    ] {
        let settings = ProviderSettings {
            base_url: Some(base.to_owned()),
            ..ProviderSettings::default()
        };
        let error = resolve("openai/m", &settings, &KEYS).unwrap_err();
        assert!(
            matches!(error, ModelError::BadUrl { .. }),
            "{base}: {error:?}"
        );
        assert!(!format!("{error:?}").contains("geheim"));
    }
}

#[test]
fn a_key_is_not_shown() {
    let endpoint = resolve("openai/m", &ProviderSettings::default(), &KEYS).unwrap();
    assert!(!format!("{endpoint:?}").contains("key-of-openai"));
}

#[test]
fn every_provider_of_the_settings_is_one_of_ours() {
    let key = metier_config::KEYS
        .iter()
        .find(|key| key.path == "agent.provider")
        .unwrap();
    let metier_config::ValueKind::Choice(words) = key.kind else {
        panic!("{:?}", key.kind);
    };
    for word in words {
        let agent = metier_config::AgentSettings {
            provider: Some((*word).to_owned()),
            base_url: Some("http://h".to_owned()),
            ..metier_config::Config::default().agent
        };
        let settings = ProviderSettings::from(&agent);
        assert_eq!(settings.provider.map(ProviderKind::word), Some(*word));
        assert_eq!(settings.base_url.as_deref(), Some("http://h"));
    }
}
