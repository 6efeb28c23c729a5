//! The provider layer against the model server: real HTTP on the loopback interface, both formats.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod answers;
mod bounds;
mod failures;
mod keys;
mod requests;

use std::time::Duration;

use metier_agent::{
    Cancel, Endpoint, LanguageModel, ModelError, ModelMessage, ModelName, ModelRequest,
    ModelResponse, ModelTool, Provider, ProviderKind, ProviderLimits, ProviderSettings,
    ResponseDelta,
};
use metier_testkit::model_server::ModelServer;
use serde_json::json;

/// Both formats. Every test applies to both, unless it states otherwise.
const BOTH: [ProviderKind; 2] = [ProviderKind::Anthropic, ProviderKind::OpenAi];

/// No part of it may ever be shown.
const KEY: &str = "sk-geheim-0123456789";

/// Limits for tests: long where no failure is expected, short where one is.
fn limits() -> ProviderLimits {
    ProviderLimits {
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

fn endpoint(kind: ProviderKind, base_url: String) -> Endpoint {
    let name = ModelName::parse("some-model", Some(kind)).unwrap();
    let settings = ProviderSettings {
        base_url: Some(base_url),
        ..ProviderSettings::default()
    };
    Endpoint::resolve(&name, &settings, &|_| Some(KEY.to_owned())).unwrap()
}

fn provider(kind: ProviderKind, server: &ModelServer, limits: ProviderLimits) -> Provider {
    Provider::new(endpoint(kind, server.url()), limits)
}

/// A question, with two available tools.
fn question() -> ModelRequest {
    let tool = |name: &str| ModelTool {
        name: name.to_owned(),
        description: format!("does {name}"),
        input_schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    };
    ModelRequest {
        model: "some-model".to_owned(),
        system: "be brief".into(),
        messages: vec![ModelMessage::User("what is in a.txt?".to_owned())],
        tools: [tool("read_file"), tool("web_search")].into(),
        max_tokens: 1000,
        effort: None,
        temperature: None,
    }
}

/// The reported pieces, one line each.
fn ask(
    provider: &Provider,
    request: &ModelRequest,
    cancel: &Cancel,
) -> (Result<ModelResponse, ModelError>, Vec<String>) {
    let mut told = Vec::new();
    let mut tell = |delta: ResponseDelta<'_>| {
        told.push(match delta {
            ResponseDelta::Text(text) => format!("text {text}"),
            ResponseDelta::Thinking(text) => format!("thinking {text}"),
            ResponseDelta::Call { id, name } => format!("call {id} {name}"),
            ResponseDelta::Again { because, .. } => format!("again {because}"),
        });
    };
    let answer = provider.answer(request, &mut tell, cancel);
    (answer, told)
}

/// One question to a server that plays these turns.
fn answer(
    kind: ProviderKind,
    server: &ModelServer,
    limits: ProviderLimits,
) -> Result<ModelResponse, ModelError> {
    ask(&provider(kind, server, limits), &question(), &Cancel::new()).0
}
