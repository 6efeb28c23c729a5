//! The skill of `tests/all/live_languages.rs` as a program of its own.

use std::process::ExitCode;

use metier_sdk::guest::Skill;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Greet {
    /// Whom to greet
    who: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Peek {}

fn main() -> ExitCode {
    Skill::new()
        .tool("greet", "Greets someone", |host, input: Greet| {
            let greeting = host.read_file("greeting.txt")?;
            let said = host.exec("echo Hello")?.stdout;
            host.write_file("note.txt", said.trim())?;
            Ok(format!("{}, {}", greeting.trim(), input.who))
        })
        .tool("peek", "Looks where it may not", |host, _: Peek| {
            Ok(host.read_file("secret.txt")?)
        })
        .serve()
}
