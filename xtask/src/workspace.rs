//! Where the project is, what cargo knows about it, and its files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::Result;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// The cargo that started us, so that a pinned toolchain stays pinned.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// `cargo metadata` of the workspace's own packages; needs neither network nor lock.
pub(crate) fn metadata() -> Result<Value> {
    let output = cargo()
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .output()?;
    if !output.status.success() {
        return Err(format!(
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr)
        )
        .into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Where cargo builds.
pub(crate) fn target() -> Result<PathBuf> {
    let metadata = metadata()?;
    let target = metadata["target_directory"]
        .as_str()
        .ok_or("cargo does not say where it builds")?;
    Ok(PathBuf::from(target))
}

/// All files of the project with their text, sorted by path relative to `root`. Hidden folders, build output and
/// files that are not text are left out.
pub(crate) fn texts(root: &Path) -> Result<Vec<(String, String)>> {
    let mut texts = Vec::new();
    collect(root, root, &mut texts)?;
    texts.sort();
    Ok(texts)
}

fn collect(root: &Path, folder: &Path, texts: &mut Vec<(String, String)>) -> Result<()> {
    const TEXT: [&str; 8] = ["rs", "md", "toml", "star", "py", "ts", "js", "yaml"];
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        let kind = entry.file_type()?;
        let hidden = name.as_encoded_bytes().starts_with(b".");
        if kind.is_dir() && !hidden && name != "target" && name != "node_modules" {
            collect(root, &path, texts)?;
        } else if kind.is_file()
            && path
                .extension()
                .is_some_and(|e| TEXT.iter().any(|t| e == *t))
        {
            let relative = path.strip_prefix(root)?.to_string_lossy().into_owned();
            // A fixture may hold invalid UTF-8 on purpose.
            texts.push((
                relative,
                String::from_utf8_lossy(&fs::read(&path)?).into_owned(),
            ));
        }
    }
    Ok(())
}
