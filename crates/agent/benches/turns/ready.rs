//! Models that take no time: one that answers without a request, and one behind HTTP on this machine.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use metier_agent::{
    CallArguments, Cancel, ChosenModel, Endpoint, LanguageModel, ModelError, ModelMessage,
    ModelName, ModelRequest, ModelResponse, Provider, ProviderLimits, ProviderSettings,
    ResponseDelta, StopReason, TokenUsage, ToolCall,
};
use serde_json::{Map, json};

use crate::environment::Error;

/// The text of every answer, of typical length.
pub(crate) fn words(bytes: usize) -> String {
    let mut text = String::new();
    while text.len() < bytes {
        text.push_str("The report is in \"notes/report.md\"; three of its tables were empty.\n");
    }
    text
}

/// A model with a prepared answer. The request is built as for a server, but not sent.
pub(crate) struct Ready {
    provider: Provider,
    answer: String,
    /// Whether it calls a tool before it answers.
    pub(crate) calls: AtomicBool,
    /// How many bytes the last request had.
    pub(crate) sent: AtomicUsize,
}

impl Ready {
    pub(crate) fn new(answer: String) -> Result<Self, Error> {
        Ok(Self {
            provider: provider("http://127.0.0.1:9/v1")?,
            answer,
            calls: AtomicBool::new(false),
            sent: AtomicUsize::new(0),
        })
    }
}

impl LanguageModel for Ready {
    fn answer(
        &self,
        request: &ModelRequest,
        told: &mut dyn FnMut(ResponseDelta<'_>),
        _: &Cancel,
    ) -> Result<ModelResponse, ModelError> {
        let body = self.provider.body(request)?;
        self.sent.store(body.len(), Ordering::Relaxed);
        let asked = matches!(request.messages.last(), Some(ModelMessage::User(_)));
        let tool = request
            .tools
            .iter()
            .find(|tool| tool.name.ends_with("greet"));
        if let Some(tool) = tool
            && asked
            && self.calls.load(Ordering::Relaxed)
        {
            let call = ToolCall {
                id: "call_1".to_owned(),
                name: tool.name.clone(),
                input: CallArguments::Object(Map::from_iter([("who".to_owned(), json!("Ada"))])),
            };
            return Ok(said(String::new(), vec![call]));
        }
        told(ResponseDelta::Text(&self.answer));
        Ok(said(self.answer.clone(), Vec::new()))
    }
}

fn said(text: String, calls: Vec<ToolCall>) -> ModelResponse {
    ModelResponse {
        text,
        stop: if calls.is_empty() {
            StopReason::End
        } else {
            StopReason::ToolUse
        },
        calls,
        kept: Vec::new(),
        usage: TokenUsage {
            input: 1_000,
            output: 100,
            cached_input: 0,
        },
    }
}

/// The session's view of the model.
pub(crate) fn chosen(model: Arc<dyn LanguageModel>) -> Result<ChosenModel, Error> {
    Ok(ChosenModel {
        model,
        name: ModelName::parse("openai/ready", None)?,
        effort: None,
        price: None,
    })
}

/// A model behind HTTP; its server has a prepared answer too.
pub(crate) fn behind_http(answer: &str) -> Result<Provider, Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let chunk = |value: serde_json::Value| format!("data: {value}\n\n");
    let events = [
        chunk(json!({"choices": [{"index": 0, "delta": {"content": answer}}]})),
        chunk(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{events}",
        events.len()
    );
    // It ends with the program.
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // The client closed the connection; there is no one to report to.
            let _ = serve(&stream, reply.as_bytes());
        }
    });
    provider(&format!("http://{address}/v1"))
}

/// Reads one complete request, and answers it.
fn serve(mut stream: &TcpStream, reply: &[u8]) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.is_empty() {
            break;
        }
    }
    io::copy(&mut reader.by_ref().take(length), &mut io::sink())?;
    stream.write_all(reply)
}

fn provider(base: &str) -> Result<Provider, Error> {
    let settings = ProviderSettings {
        base_url: Some(base.to_owned()),
        ..ProviderSettings::default()
    };
    let name = ModelName::parse("openai/ready", None)?;
    let endpoint = Endpoint::resolve(&name, &settings, &|_| Some("none".to_owned()))?;
    Ok(Provider::new(endpoint, ProviderLimits::default()))
}
