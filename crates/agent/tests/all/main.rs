//! The provider layer against the model server: real HTTP on the loopback interface, both formats.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod answers;
mod bounds;
mod failures;
mod keys;
mod requests;

use std::time::Duration;

use metier_agent::{
    Answer, Cancel, Delta, Endpoint, Kind, Limits, Message, Model, ModelError, ModelName, Provider,
    Request, Settings, ToolSpec,
};
use metier_testkit::model_server::ModelServer;
use serde_json::json;

/// Both formats. What holds for one holds for the other, unless a test states otherwise.
const BOTH: [Kind; 2] = [Kind::Anthropic, Kind::OpenAi];

/// No part of it may ever be seen.
const KEY: &str = "sk-geheim-0123456789";

/// Limits for tests: patient where nothing is to go wrong, quick where something is.
fn limits() -> Limits {
    Limits {
        connect: Duration::from_secs(5),
        first_byte: Duration::from_secs(20),
        between: Duration::from_secs(20),
        whole: Duration::from_secs(25),
        attempts: 3,
        first_pause: Duration::from_millis(10),
        longest_pause: Duration::from_millis(40),
        retry_within: Duration::from_secs(10),
        answer: 1024 * 1024,
        wire: 4 * 1024 * 1024,
    }
}

fn endpoint(kind: Kind, base_url: String) -> Endpoint {
    let name = ModelName::parse("some-model", Some(kind)).unwrap();
    let settings = Settings {
        base_url: Some(base_url),
        ..Settings::default()
    };
    Endpoint::resolve(&name, &settings, &|_| Some(KEY.to_owned())).unwrap()
}

fn provider(kind: Kind, server: &ModelServer, limits: Limits) -> Provider {
    Provider::new(endpoint(kind, server.url()), limits)
}

/// A question, with two tools to hand.
fn question() -> Request {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("does {name}"),
        input_schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    };
    Request {
        model: "some-model".to_owned(),
        system: "be brief".into(),
        messages: vec![Message::User("what is in a.txt?".to_owned())],
        tools: [tool("read_file"), tool("web_search")].into(),
        max_tokens: 1000,
        effort: None,
        temperature: None,
    }
}

/// The reported pieces, one line each.
fn ask(
    provider: &Provider,
    request: &Request,
    cancel: &Cancel,
) -> (Result<Answer, ModelError>, Vec<String>) {
    let mut told = Vec::new();
    let mut tell = |delta: Delta<'_>| {
        told.push(match delta {
            Delta::Text(text) => format!("text {text}"),
            Delta::Thinking(text) => format!("thinking {text}"),
            Delta::Call { id, name } => format!("call {id} {name}"),
            Delta::Again { because, .. } => format!("again {because}"),
        });
    };
    let answer = provider.answer(request, &mut tell, cancel);
    (answer, told)
}

/// One question to a server that plays these turns.
fn answer(kind: Kind, server: &ModelServer, limits: Limits) -> Result<Answer, ModelError> {
    ask(&provider(kind, server, limits), &question(), &Cancel::new()).0
}
