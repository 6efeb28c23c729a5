//! The model of a scenario: its answers, and the requests to it.

use serde_json::{Value, json};

use super::contains;
use crate::model_server::{ModelServer, Recorded, ScriptedTurn};

pub(super) struct SpecModel {
    server: ModelServer,
    /// How many requests were checked.
    seen: usize,
}

impl SpecModel {
    pub(super) fn start() -> Self {
        Self {
            server: ModelServer::start([]),
            seen: 0,
        }
    }

    /// The variables that direct the program to it.
    pub(super) fn variables(&self) -> [(&'static str, String); 3] {
        [
            ("METIER_MODEL", "anthropic/test-model".to_owned()),
            ("ANTHROPIC_BASE_URL", self.server.url()),
            ("ANTHROPIC_API_KEY", "sk-test".to_owned()),
        ]
    }

    pub(super) fn play(&self, turns: &[Value]) -> Result<(), String> {
        let turns: Vec<ScriptedTurn> = turns.iter().map(turn).collect::<Result<_, _>>()?;
        self.server.play(turns);
        Ok(())
    }

    /// Compares the requests since the last check with the expected ones.
    pub(super) fn check(&mut self, expected: &[Value]) -> Vec<String> {
        let requests = self.server.requests();
        let new = requests.get(self.seen..).unwrap_or_default();
        self.seen = requests.len();
        if new.len() != expected.len() {
            let asked: Vec<String> = new.iter().map(|one| brief(&shown(one))).collect();
            return vec![format!(
                "the model was asked {} times, not {}:\n{}",
                new.len(),
                expected.len(),
                asked.join("\n")
            )];
        }
        let pairs = expected.iter().zip(new);
        pairs
            .filter_map(|(expected, request)| {
                let actual = shown(request);
                let wrong = contains::contains(expected, &actual).err()?;
                Some(format!("{wrong}\n{}", brief(&actual)))
            })
            .collect()
    }

    pub(super) fn end(self) -> Vec<String> {
        self.server.problems_at_end()
    }
}

fn turn(value: &Value) -> Result<ScriptedTurn, String> {
    if let Some(text) = value.as_str() {
        return Ok(ScriptedTurn::text(text));
    }
    if let Some(code) = value["status"].as_u64() {
        let code = u16::try_from(code).map_err(|error| error.to_string())?;
        return Ok(ScriptedTurn::status(code, None));
    }
    let wrong = || format!("`{value}` is no turn");
    let calls = value["calls"].as_array().ok_or_else(wrong)?;
    let calls = calls.iter().map(|call| {
        let name = call[0].as_str().ok_or_else(wrong)?;
        Ok((name, call[1].clone()))
    });
    let turn = ScriptedTurn::calls(calls.collect::<Result<Vec<_>, String>>()?);
    Ok(match value["text"].as_str() {
        Some(text) => turn.and_text(text),
        None => turn,
    })
}

/// A request in the form that a document uses.
fn shown(request: &Recorded) -> Value {
    let messages = request.json["messages"].as_array();
    let last = messages.and_then(|messages| messages.last());
    json!({
        "tools": request.tools().join(" "),
        "system": request.system(),
        "last": last.map(|message| text(&message["content"])).unwrap_or_default(),
    })
}

/// The start of a request, short enough for a report.
fn brief(request: &Value) -> String {
    let fields = ["tools", "system", "last"].map(|field| {
        let text = request[field].as_str().unwrap_or_default();
        let cut: String = text.chars().take(600).collect();
        format!("{field}: {cut}")
    });
    fields.join("\n")
}

/// The text of a message, including results.
fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks
                .iter()
                .map(|block| match block["text"].as_str() {
                    Some(text) => text.to_owned(),
                    None => text(&block["content"]),
                })
                .filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
