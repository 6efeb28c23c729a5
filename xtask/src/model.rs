//! `cargo xtask test --with-model`: one conversation with a real model.
//!
//! Not part of the ordinary tests: the weights are 93 MB, and where there is no wheel for this machine llama.cpp is compiled first, which takes
//! minutes. What is installed goes into a Python of its own next to the build output.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::{Result, test, workspace};

/// The weights and the server, with versions.
const REQUIREMENTS: &str = "crates/cli/tests/python/model.txt";

/// How long pip may take, compiler included.
const MINUTES: u32 = 60;

/// The test that has the conversation.
const TEST: &str = "real_model::a_small_model_holds_a_conversation";

/// Installs a model and a server, and runs a conversation with them. Arguments go to cargo.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    prepare(&workspace::root(), &workspace::target()?)?;
    let status = workspace::cargo()
        .args([
            "test",
            "--locked",
            "--package",
            "metier-cli",
            "--test",
            "all",
        ])
        .args(arguments)
        .args(["--", "--ignored", "--exact", "--nocapture", TEST])
        .status()?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn prepare(root: &Path, target: &Path) -> Result<()> {
    let wanted = fs::read_to_string(root.join(REQUIREMENTS))?;
    let (folder, complete) = (target.join("model"), target.join("model/complete"));
    if fs::read_to_string(&complete).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    eprintln!(
        "installing a model and its server into {}; where there is no wheel, llama.cpp is compiled, which takes minutes",
        folder.display()
    );
    let start = Instant::now();
    test::make_venv(&folder)?;
    // `timeout` also stops compilers that pip would leave behind. Images and audio are 51 of 178 files to compile, and unused.
    let installed = Command::new("timeout")
        .args(["--kill-after=10", &format!("{MINUTES}m")])
        .arg(folder.join("bin/python"))
        .args(test::PIP_INSTALL)
        .arg(root.join(REQUIREMENTS))
        .env("CMAKE_ARGS", "-DLLAVA_BUILD=OFF")
        .status()?;
    if !installed.success() {
        return Err(format!(
            "pip can't install what {REQUIREMENTS} names within {MINUTES} minutes; is there a network, and a compiler for C++?"
        )
        .into());
    }
    eprintln!("installed in {} s", start.elapsed().as_secs());
    Ok(fs::write(complete, wanted)?)
}
