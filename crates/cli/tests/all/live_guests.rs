//! Components as their authors build them: the Rust templates of `metier new`, with the compiler that `cargo xtask guests` installs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    live_session::{Live, left_running},
    live_word_count::example,
};

const TYPES: &[&str] = &["tool", "prompt", "workflow", "security-rule", "transform"];

/// A file that `cargo xtask guests` created.
pub(crate) fn guest(name: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let file = target.unwrap().join("guests").join(name);
    assert!(
        file.exists(),
        "there is no {}: `cargo xtask guests` makes it, and `cargo xtask test` too",
        file.display()
    );
    file
}

/// Builds a component as the README of a new skill describes it for machines where rustup lacks the target; returns the file.
fn build(package: &Path, name: &str) -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--release", "--config"])
        .arg(guest("config.toml"))
        .env("RUSTC_BOOTSTRAP", "1")
        // It would override the folder that the configuration names.
        .env_remove("CARGO_TARGET_DIR")
        // Lints are for this repository, not for packages that are built from it.
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .current_dir(package)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{name} is not built:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let library = format!("{}.wasm", name.replace('-', "_"));
    guest("build/wasm32-unknown-unknown/release").join(library)
}

#[test]
fn a_new_component_of_every_type_is_built_and_passes_its_tests() {
    let live = Live::new();
    let context = &live.stage.context;
    let lock = fs::read_to_string(example().join("Cargo.lock")).unwrap();
    for kind in TYPES {
        let name = format!("new-{kind}");
        let name = name.as_str();
        let made = context.run(&["new", name, "--type", kind, "--backend", "wasm"]);
        assert_eq!(made.code, 0, "{kind}: {}", made.snapshot());
        context.write(&format!("{name}/Cargo.lock"), &lock);
        let built = build(&context.path(name), name);
        fs::create_dir(context.path(&format!("{name}/lib"))).unwrap();
        fs::copy(built, context.path(&format!("{name}/lib/skill.wasm"))).unwrap();
        // The scanner reads build output like everything else, so it need not be accepted unread.
        for arguments in [
            &["validate", "--strict", name][..],
            &["scan", "--fail-on", "warning", name],
            &["test", name],
        ] {
            let output = context.run(arguments);
            assert_eq!(output.code, 0, "{kind}: {}", output.snapshot());
            assert!(output.stdout.contains("✓"), "{kind}: {}", output.snapshot());
        }
    }
    assert_eq!(left_running(&live), [""; 0]);
}
