//! An agent of your own in one loop, against an OpenAI-compatible server (`OPENAI_BASE_URL`, `OPENAI_API_KEY`): `cargo run -p metier --example give_a_model_its_skills -- greeter 'Greet Ada.'`

use std::{env, error::Error, process::ExitCode};

use metier::{SessionOptions, Settings, Workspace, model_text::for_model};
use serde_json::{Value, json};

#[allow(clippy::print_stdout, reason = "an example prints")]
fn main() -> Result<ExitCode, Box<dyn Error>> {
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
    let declared = |tool: &metier::Tool| {
        let (spec, name) = (&tool.spec, &tool.name);
        json!({ "type": "function", "function": { "name": name, "description": for_model(&spec.description), "parameters": spec.input_schema } })
    };
    let tools: Vec<Value> = session.tools().iter().map(declared).collect();
    let mut messages = vec![
        json!({ "role": "system", "content": system }),
        json!({ "role": "user", "content": task }),
    ];
    loop {
        let message = ask(&json!({ "model": "any", "messages": messages, "tools": tools }))?;
        messages.push(message.clone());
        let Some(calls) = message["tool_calls"].as_array() else {
            println!("{}", message["content"].as_str().unwrap_or_default());
            return Ok(ExitCode::SUCCESS);
        };
        for call in calls {
            let function = &call["function"];
            let input = serde_json::from_str(function["arguments"].as_str().unwrap_or("{}"))?;
            let called = session.call(function["name"].as_str().unwrap_or(""), &input);
            let output = called.map(|done| done.output.to_string());
            let output = output.unwrap_or_else(|error| error.to_string());
            messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": for_model(&output) }));
        }
    }
}

fn ask(request: &Value) -> Result<Value, Box<dyn Error>> {
    let url = format!("{}/chat/completions", env::var("OPENAI_BASE_URL")?);
    let key = format!("Bearer {}", env::var("OPENAI_API_KEY")?);
    let post = ureq::post(url).header("authorization", key);
    let post = post.content_type("application/json");
    let mut answer = post.send(request.to_string())?.into_body();
    let answer: Value = serde_json::from_str(&answer.read_to_string()?)?;
    Ok(answer["choices"][0]["message"].clone())
}
