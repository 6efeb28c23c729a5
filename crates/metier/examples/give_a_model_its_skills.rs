//! An agent of your own in one loop: the skills of this machine, a model behind an OpenAI-compatible server, and tools that are scanned, permitted
//! and written down. Reads `OPENAI_BASE_URL` and `OPENAI_API_KEY`, and takes skills and a task:
//!
//! ```text
//! cargo run -p metier --example give_a_model_its_skills -- greeter 'Greet Ada.'
//! ```

use std::{env, error::Error, process::ExitCode};

use metier::{SessionOptions, Settings, Workspace};
use serde_json::{Value, json};

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<ExitCode> {
    // The code of skills runs in processes of its own, which are this program again.
    if let Some(code) = metier::worker::run_if_worker() {
        return Ok(code);
    }
    let words: Vec<String> = env::args().skip(1).collect();
    let [names @ .., task] = words.as_slice() else {
        return Err("usage: SKILL… TASK".into());
    };
    let workspace = Workspace::open(Settings::from_env()?)?;
    let mut session = workspace.session(&workspace.skills()?, SessionOptions::default())?;
    let mut system = String::new();
    for name in names {
        system.push_str(&workspace.render(name, [""; 0])?.content);
        session.activate(name)?;
    }
    let tools: Vec<Value> = session.tools().iter().map(declared).collect();
    let mut messages = vec![
        json!({ "role": "system", "content": system }),
        json!({ "role": "user", "content": task }),
    ];
    loop {
        let message = ask(&messages, &tools)?;
        messages.push(message.clone());
        let Some(calls) = message["tool_calls"].as_array() else {
            return print(message["content"].as_str().unwrap_or_default());
        };
        for call in calls {
            let function = &call["function"];
            let input = serde_json::from_str(function["arguments"].as_str().unwrap_or("{}"))?;
            // A refusal is something that a model should know.
            let output = match session.call(function["name"].as_str().unwrap_or(""), &input) {
                Ok(called) => called.output.to_string(),
                Err(error) => error.to_string(),
            };
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": output }));
        }
    }
}

fn declared(tool: &metier::Tool) -> Value {
    let (spec, name) = (&tool.spec, &tool.name);
    json!({ "type": "function", "function": { "name": name, "description": spec.description, "parameters": spec.input_schema } })
}

fn ask(messages: &[Value], tools: &[Value]) -> Outcome<Value> {
    let url = format!("{}/chat/completions", env::var("OPENAI_BASE_URL")?);
    let key = format!("Bearer {}", env::var("OPENAI_API_KEY")?);
    let request = json!({ "model": "any", "messages": messages, "tools": tools });
    let post = ureq::post(url).header("authorization", key);
    let answer = post
        .content_type("application/json")
        .send(request.to_string())?;
    let answer: Value = serde_json::from_str(&answer.into_body().read_to_string()?)?;
    Ok(answer["choices"][0]["message"].clone())
}

#[allow(clippy::print_stdout, reason = "an example prints")]
fn print(text: &str) -> Outcome<ExitCode> {
    println!("{text}");
    Ok(ExitCode::SUCCESS)
}
