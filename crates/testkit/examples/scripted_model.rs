//! The scripted model as a program, for agents that no test of this project starts.
//!
//! usage: scripted_model SCRIPT
//!
//! SCRIPT is a file with a JSON array of turns: `{"text": "done"}`, or `{"calls": [["tool", {"argument": 1}]]}`. The first line of the
//! output is `{"url": "http://127.0.0.1:PORT"}`. When the input ends, the second and last line contains the requests and the errors:
//! `{"requests": [{"path": "…", "body": {…}}], "problems": []}`.

#![allow(clippy::print_stdout, reason = "a program")]

use std::io::Read;

use metier_testkit::model_server::{ModelServer, ScriptedTurn};
use serde_json::{Value, json};

type AnyError = Box<dyn std::error::Error>;

fn main() -> Result<(), AnyError> {
    let script = std::env::args_os().nth(1).ok_or("which script?")?;
    let script: Vec<Value> = serde_json::from_slice(&std::fs::read(script)?)?;
    let turns: Result<Vec<ScriptedTurn>, AnyError> = script.iter().map(turn).collect();
    let server = ModelServer::start_foreign(turns?);
    println!("{}", json!({ "url": server.url() }));
    std::io::stdin().read_to_end(&mut Vec::new())?;
    let requests: Vec<Value> = server
        .requests()
        .into_iter()
        .map(|request| json!({ "path": request.path, "body": request.json }))
        .collect();
    let problems = server.problems_at_end();
    println!("{}", json!({ "requests": requests, "problems": problems }));
    Ok(())
}

fn turn(turn: &Value) -> Result<ScriptedTurn, AnyError> {
    if let Some(text) = turn["text"].as_str() {
        return Ok(ScriptedTurn::text(text));
    }
    let calls = turn["calls"]
        .as_array()
        .ok_or("a turn has `text` or `calls`")?;
    let calls = calls.iter().map(|call| match call[0].as_str() {
        Some(name) => Ok((name, call[1].clone())),
        None => Err(AnyError::from("a call is [name, arguments]")),
    });
    let calls: Result<Vec<(&str, Value)>, AnyError> = calls.collect();
    Ok(ScriptedTurn::calls(calls?))
}
