//! `cargo xtask quality`: how often the search finds the right skill, and what each part of it contributes.
//!
//! The sets are built from copies of public collections, then the program `quality` of `xtask/search-bench` prints the table of
//! `docs/selection.md`. The sets are other people's work, so they are next to the build output and in no commit.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::{Result, workspace};

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let usage = "name the folder of the copies: `cargo xtask quality MIRRORS [SETS [--fresh]]`";
    let mirrors = arguments.first().ok_or(usage)?;
    let package = workspace::root().join("xtask/search-bench");
    let sets = match arguments.get(1) {
        Some(sets) => PathBuf::from(sets),
        None => workspace::target()?.join("sets"),
    };
    let complete = sets.join("complete");
    if !complete.exists() {
        let made = Command::new("python3")
            .arg(package.join("sets.py"))
            .args([mirrors.as_ref(), sets.as_os_str()])
            .status()?;
        if !made.success() {
            return Err("the sets can't be built".into());
        }
        std::fs::write(&complete, "")?;
    }
    let status = workspace::cargo()
        .args(["run", "--release", "--bin", "quality", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg("--")
        .arg(&sets)
        .args(arguments.iter().skip(2))
        .status()?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
