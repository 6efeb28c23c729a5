//! Calls a tool of a skill from a program that is not its own worker: `cargo run -p metier --example use_the_installed_program -- "$(command -v metier)" greeter greeter__greet '{"name": "Ada"}'`

use std::{env, error::Error, process::ExitCode};

use metier::{SessionOptions, Settings, Workspace};

#[allow(clippy::print_stdout, reason = "an example prints")]
fn call() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [program, skill, tool, input] = words.as_slice() else {
        return Err("usage: METIER SKILL TOOL INPUT".into());
    };
    let settings = Settings {
        worker: Some(program.into()).filter(|_| program != "-"),
        ..Settings::from_env()?
    };
    let workspace = Workspace::open(settings)?;
    let mut session = workspace.session(&workspace.skills()?, SessionOptions::default())?;
    session.activate(skill)?;
    let called = session.call(tool, &serde_json::from_str(input)?)?;
    println!("{}", called.output);
    Ok(session.end()?)
}

#[allow(clippy::print_stderr, reason = "an example prints")]
fn main() -> ExitCode {
    if let Err(error) = call() {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
