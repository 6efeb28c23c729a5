//! Keys are sent only to their provider, and shown nowhere.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread;

use metier_agent::{
    Cancel, Endpoint, ModelError, ModelName, Provider, ProviderKind, ProviderSettings,
};
use metier_testkit::model_server::{ModelServer, ScriptedTurn};

use crate::{BOTH, KEY, ask, endpoint, limits, provider, question};

#[test]
fn without_a_key_nothing_is_sent() {
    for (kind, variable) in BOTH
        .into_iter()
        .zip(["ANTHROPIC_API_KEY", "OPENAI_API_KEY"])
    {
        let server = ModelServer::start([]);
        let name = ModelName::parse("m", Some(kind)).unwrap();
        let settings = ProviderSettings {
            base_url: Some(server.url()),
            ..ProviderSettings::default()
        };
        let error = Endpoint::resolve(&name, &settings, &|_| None).unwrap_err();
        assert_eq!(error.to_string(), format!("no API key for {kind}"));
        let hint = error.hint().unwrap();
        assert!(hint.contains(&format!("export {variable}=…")), "{hint}");
        assert!(server.finish().is_empty());
    }
}

#[test]
fn each_provider_gets_its_key_in_its_own_header_and_once() {
    for kind in BOTH {
        let server = ModelServer::start([ScriptedTurn::text("ok")]);
        ask(
            &provider(kind, &server, limits()),
            &question(),
            &Cancel::new(),
        )
        .0
        .unwrap();
        let requests = server.finish();
        let (name, value) = match kind {
            ProviderKind::Anthropic => ("x-api-key", KEY.to_owned()),
            _ => ("authorization", format!("Bearer {KEY}")),
        };
        assert_eq!(requests[0].header(name), Some(value.as_str()));
        let holders = requests[0]
            .headers
            .iter()
            .filter(|(_, value)| value.contains(KEY));
        assert_eq!(holders.count(), 1);
        assert!(!String::from_utf8_lossy(&requests[0].body).contains(KEY));
    }
}

#[test]
fn a_server_of_ones_own_gets_no_key() {
    let server = ModelServer::start_keyless([ScriptedTurn::text("ok")]);
    let name = ModelName::parse("ollama/llama3:8b", None).unwrap();
    let host = server.url();
    let lookup = |variable: &str| match variable {
        "OLLAMA_HOST" => Some(host.clone()),
        _ => Some(KEY.to_owned()),
    };
    let endpoint = Endpoint::resolve(&name, &ProviderSettings::default(), &lookup).unwrap();
    let provider = Provider::new(endpoint, limits());
    ask(&provider, &question(), &Cancel::new()).0.unwrap();
    let _ = server.finish();
}

#[test]
fn a_key_is_in_no_error_even_if_the_provider_repeats_it() {
    for kind in BOTH {
        for code in [400, 401, 429, 500] {
            let page = format!(r#"{{"error":{{"message":"bad key {KEY}\u001b[31m!\nreally"}}}}"#);
            let turns = (0..3).map(|_| ScriptedTurn::raw(code, "application/json", page.clone()));
            let server = ModelServer::start(turns);
            let provider = provider(kind, &server, limits());
            let (answer, told) = ask(&provider, &question(), &Cancel::new());
            let error = answer.unwrap_err();
            let all = format!("{error} {error:?} {:?} {told:?} {provider:?}", error.hint());
            assert!(!all.contains(KEY) && !all.contains("geheim"), "{all}");
            assert!(error.to_string().contains("bad key [key]"), "{error}");
            assert!(
                !error.to_string().contains(['\u{1b}', '\n']),
                "one line, nothing hidden"
            );
            server.forget();
        }
    }
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = ModelServer::start([]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let target = elsewhere.url();
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 64 * 1024];
        let _ = stream.read(&mut buffer).unwrap();
        let head = format!(
            "HTTP/1.1 307 Moved\r\nlocation: {target}/v1/messages\r\ncontent-length: 0\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
    });
    let provider = Provider::new(endpoint(ProviderKind::Anthropic, url), limits());
    let error = ask(&provider, &question(), &Cancel::new()).0.unwrap_err();
    assert!(
        matches!(error, ModelError::Status { code: 307, .. }),
        "{error:?}"
    );
    serving.join().unwrap();
    assert!(elsewhere.finish().is_empty());
}

#[test]
fn an_untrusted_certificate_gets_no_key() {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let config = rustls::ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key.into())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut connection = rustls::ServerConnection::new(config.into()).unwrap();
        let mut got = Vec::new();
        while connection
            .complete_io(&mut stream)
            .is_ok_and(|(read, _)| read > 0)
        {
            let _ = connection.reader().read_to_end(&mut got);
        }
        got
    });
    let url = format!("https://localhost:{port}");
    let provider = Provider::new(endpoint(ProviderKind::OpenAi, url), limits());
    let (answer, told) = ask(&provider, &question(), &Cancel::new());
    let error = answer.unwrap_err();
    assert!(matches!(error, ModelError::Untrusted { .. }), "{error:?}");
    assert!(told.is_empty(), "not tried again: {told:?}");
    assert!(
        serving.join().unwrap().is_empty(),
        "not a byte of the request"
    );
}
