//! Lists the skills that can be used here: `cargo run -p metier --example list`.

use std::process::ExitCode;

use metier::{Settings, Workspace};

#[allow(clippy::print_stdout, reason = "an example prints")]
fn list() -> Result<(), metier::Error> {
    let workspace = Workspace::open(Settings::from_env()?)?;
    for skill in workspace.skills()?.ready() {
        println!("{}: {}", skill.name(), skill.description());
    }
    Ok(())
}

#[allow(clippy::print_stderr, reason = "an example prints")]
fn main() -> ExitCode {
    if let Err(error) = list() {
        eprintln!("{error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
