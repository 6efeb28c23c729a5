//! Tests that a soak makes longer: sessions on many threads of one workspace.

use std::process::{Command, ExitCode};

use crate::{Result, workspace};

/// How long the threads work.
const SECONDS: &str = "30";

pub(crate) fn run() -> Result<ExitCode> {
    let status = Command::new("cargo")
        .args(["test", "--workspace", "--test", "all", "--"])
        .args(["embedding::sessions", "--nocapture"])
        .env("METIER_SOAK_SECONDS", SECONDS)
        .current_dir(workspace::root())
        .status()?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
