//! The SDK for Rust, which is part of the program until it is published: a new skill in Rust is built against this copy.
//!
//! It is written next to the skill and not into it: every file in a skill's folder is part of the skill.

use std::{fs, io, path::Path};

/// Its folder, in the folder that contains the skill.
pub(crate) const FOLDER: &str = ".metier-sdk";

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../../../sdk/", $path))),)+]
    };
}

/// Everything that is compiled, by its path in `sdk/`.
const SOURCES: &[(&str, &str)] = files![
    "metier-sdk/src/component.rs",
    "metier-sdk/src/export.rs",
    "metier-sdk/src/guest.rs",
    "metier-sdk/src/guest/host.rs",
    "metier-sdk/src/guest/parts.rs",
    "metier-sdk/src/guest/pipe.rs",
    "metier-sdk/src/guest/plugin.rs",
    "metier-sdk/src/lib.rs",
    "metier-sdk/src/native.rs",
    "metier-sdk/src/permission.rs",
    "metier-sdk/src/phase.rs",
    "metier-sdk/src/wire.rs",
    "metier-sdk/src/wire/envelope.rs",
    "metier-sdk/src/worker.rs",
    "wit/skill.wit",
];

const MANIFEST: &str = include_str!("../../../../sdk/metier-sdk/Cargo.toml");
const WORKSPACE: &str = include_str!("../../../../Cargo.toml");

/// Writes the SDK into a folder. What is there of an older metier is replaced.
pub(crate) fn write(folder: &Path) -> io::Result<()> {
    let manifest = manifest();
    let own = ("metier-sdk/Cargo.toml", manifest.as_str());
    for (path, content) in SOURCES.iter().copied().chain([own]) {
        let file = folder.join(path);
        if let Some(parent) = file.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(file, content)?;
    }
    Ok(())
}

/// The manifest of the SDK as a separate package: the values from the workspace are written out, and the lints are left out.
fn manifest() -> String {
    let mut manifest = String::new();
    let mut is_lint = false;
    for line in MANIFEST.lines() {
        if line.starts_with('[') {
            is_lint = line.starts_with("[lints");
        }
        if is_lint || line.starts_with('#') {
            continue;
        }
        match line.split_once(".workspace = true") {
            Some((key, _)) => manifest.push_str(&shared(key)),
            None => match line.split_once(" = { workspace = true, ") {
                Some((key, rest)) => {
                    let version = version(key);
                    manifest.push_str(&format!("{key} = {{ version = {version}, {rest}"));
                }
                None => manifest.push_str(line),
            },
        }
        manifest.push('\n');
    }
    manifest.push_str("\n[workspace]\n");
    manifest
}

/// The line of the workspace for a key, of the package or of a dependency.
fn shared(key: &str) -> String {
    let begin = format!("{key} = ");
    let line = WORKSPACE.lines().find(|line| line.starts_with(&begin));
    line.unwrap_or_default().to_owned()
}

/// The version of a dependency, in quotes.
fn version(key: &str) -> String {
    let line = shared(key);
    let quoted = line.split('"').nth(1).unwrap_or("*");
    format!("\"{quoted}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_sdk_is_in_the_program() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/metier-sdk/src");
        let mut waiting = vec![folder];
        let mut found = 0;
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.path().is_dir() {
                    waiting.push(entry.path());
                    continue;
                }
                let path = entry.path().to_string_lossy().into_owned();
                found += 1;
                assert!(SOURCES.iter().any(|(own, _)| path.ends_with(own)), "{path}");
            }
        }
        assert_eq!(found + 1, SOURCES.len(), "all of them, and the world");
    }

    #[test]
    fn the_manifest_stands_alone() {
        let manifest = manifest();
        assert!(!manifest.contains("workspace = true"), "{manifest}");
        assert!(!manifest.contains("lints"), "{manifest}");
        for line in [
            "version = \"0.1.0\"",
            "serde_json = ",
            "rustix = { version = \"",
        ] {
            assert!(manifest.contains(line), "{line} is not in\n{manifest}");
        }
    }
}
