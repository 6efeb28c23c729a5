//! A skill that greets: every kind of contribution once, and every failure. `sdk/python/tests/greeter.py` and
//! `sdk/typescript/tests/greeter.ts` are the same skill; the tests run all three against one transcript.
#![expect(
    clippy::print_stdout,
    reason = "that printing can't get between the frames is one of the things shown"
)]

use std::process::ExitCode;

use metier_sdk::{
    HookPhase,
    guest::{Host, Outcome, Skill},
    wire::{FoundByScanner, HookAnswer, HookSpec, ScannedFile},
};
use serde_json::{Value, json};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greet {
    /// Whom to greet
    who: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Repeat {
    /// What to say
    text: String,
    /// How often
    #[serde(default = "once")]
    times: i64,
}

fn once() -> i64 {
    1
}

#[derive(serde::Deserialize)]
struct Guests {
    arguments: Vec<String>,
}

fn main() -> ExitCode {
    Skill::new()
        .tool("greet", "Greets someone", |host, input: Greet| {
            let greeting = host.read_file("greeting.txt")?;
            Ok(format!("{greeting}, {}", input.who))
        })
        .tool("repeat", "Says it again", |_, input: Repeat| {
            println!("this is no frame");
            Ok(vec![input.text; usize::try_from(input.times)?])
        })
        .tool("peek", "Looks where it may not", |host, _: Value| {
            peek(host)
        })
        .tool("tour", "Asks for everything", |host, _: Value| tour(host))
        .tool("fail", "Fails", |_, _: Value| -> Outcome<()> {
            Err("it broke".into())
        })
        .tool("crash", "Crashes", |_, _: Value| -> Outcome<()> {
            panic!("it fell")
        })
        .hook(HookPhase::Activate, |host, _| {
            host.log("info", "the greeter is here");
            Ok(HookAnswer::unchanged())
        })
        .hook(HookPhase::BeforeToolCall, |_, mut event| {
            if event["input"]["who"] == "Mallory" {
                return Ok(HookAnswer::cancelled("we don't greet Mallory"));
            }
            event["input"]["who"] = json!("Countess Ada");
            Ok(HookAnswer::changed(event))
        })
        .hook(closed(HookPhase::AfterResponse), |_, _| {
            Err("it broke".into())
        })
        .workflow("party", "Greets everyone", |_, input: Guests| {
            Ok(json!({ "guests": input.arguments.len() }))
        })
        .scanner("todo", |_, files| {
            Ok(files.iter().flat_map(todos).collect())
        })
        .serve()
}

fn closed(phase: HookPhase) -> HookSpec {
    HookSpec::Full {
        phase,
        fail_closed: true,
    }
}

/// A refusal needn't be the end.
fn peek(host: &Host<'_>) -> Outcome<String> {
    match host.read_file("secret.txt") {
        Err(error) if error.is_refused() => Ok(format!("refused: {error}")),
        other => Ok(other?),
    }
}

fn tour(host: &Host<'_>) -> Outcome<Value> {
    host.write_file("note.txt", "Hello")?;
    let found = host.glob("*.txt")?;
    let lines = host.grep("Hel+o", Some("src"), None)?;
    let ended = host.exec("make greeting")?;
    let page = host.fetch("https://greetings.example/")?;
    let language = host.env("LANG")?;
    host.set_env("LANG", "en")?;
    let branch = host.git(&["branch", "--show-current"])?;
    let said = host.llm("Say hello")?;
    let other = host.invoke_skill("waver", Some("wave"), json!({"hands": 2}))?;
    host.log("debug", "the tour is over");
    Ok(json!([
        found.paths,
        lines.matches[0].line,
        ended.exit,
        page.status,
        language,
        branch.stdout,
        said,
        other.output
    ]))
}

fn todos(file: &ScannedFile) -> Vec<FoundByScanner> {
    let lines = (1..).zip(file.content.lines());
    lines
        .filter(|(_, text)| text.contains("TODO"))
        .map(|(line, _)| file.finding("todo", "info", line, "something is left to do"))
        .collect()
}
