//! `cargo xtask wasi DIR`: the public test suite of WASI in our sandbox.
//!
//! The suite is not ours and not here: DIR is a checkout of `WebAssembly/wasi-testsuite`, branch `prod/testsuite-all`. What runs it is
//! an example of `metier-wasm`, so that the other chores don't wait for an engine to be built.

use std::process::ExitCode;

use crate::{Result, workspace};

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let [suite] = arguments else {
        return Err("which folder has the suite? cargo xtask wasi DIR".into());
    };
    let suite = std::path::absolute(suite)?;
    let status = workspace::cargo()
        .args([
            "run",
            "--quiet",
            "-p",
            "metier-wasm",
            "--example",
            "wasi",
            "--",
        ])
        .arg(suite)
        .status()?;
    Ok(match status.success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
