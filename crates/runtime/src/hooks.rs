//! The hooks that a skill brings along for other programs, and the engine that runs those in JavaScript.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use metier_catalog::{Host, Place, Snapshot};
use metier_model::hooks::{HookFile, Hooks, discover, wants_text};

/// The largest file that is read for hooks.
const MAX_FILE: u64 = 256 << 10;

/// The hooks of a skill, from the files that were judged.
#[must_use]
pub fn of(held: &Snapshot) -> Hooks {
    let paths = held.files.iter().filter_map(|file| file.path.as_str());
    among(paths, |path| held.read(path, MAX_FILE).ok())
}

/// The hooks of a skill as it is now, for whoever only looks at it.
#[must_use]
pub fn in_place(place: &Place) -> Hooks {
    let files = place.files().unwrap_or_default();
    let paths = files.iter().filter_map(|file| file.path.as_str());
    among(paths, |path| place.read(path, MAX_FILE).ok())
}

fn among<'a>(
    paths: impl Iterator<Item = &'a str>,
    read: impl Fn(&str) -> Option<Vec<u8>>,
) -> Hooks {
    let text = |path: &str| {
        let bytes = wants_text(path).then(|| read(path)).flatten()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let files: Vec<(&str, Option<String>)> = paths.map(|path| (path, text(path))).collect();
    let files: Vec<HookFile<'_>> = files
        .iter()
        .map(|(path, text)| HookFile {
            path,
            text: text.as_deref(),
        })
        .collect();
    discover(&files)
}

/// Why there is no Deno.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDeno {
    /// It is not installed, or elsewhere.
    #[error("there is no `deno` in PATH")]
    NotOnPath,
    /// The configuration does not say where exactly.
    #[error("skills.hooks.deno is `{}`, which is no absolute path", .0.display())]
    Relative(PathBuf),
    /// The configuration names something else.
    #[error("skills.hooks.deno is `{}`, which is no file", .0.display())]
    NotAFile(PathBuf),
}

/// Where Deno is: what the configuration says, else what is in `PATH`.
///
/// # Errors
/// When it is not there.
pub fn deno(
    configured: Option<&Path>,
    home: Option<&Path>,
    path: Option<&OsStr>,
) -> Result<PathBuf, NoDeno> {
    let Some(written) = configured else {
        let machine = Host::new(path, BTreeSet::new(), &|_| false, None);
        return machine.program("deno").ok_or(NoDeno::NotOnPath);
    };
    let below_home = written.strip_prefix("~").ok().zip(home);
    let program = below_home.map_or_else(|| written.to_owned(), |(rest, home)| home.join(rest));
    match (program.is_absolute(), program.is_file()) {
        (false, _) => Err(NoDeno::Relative(program)),
        (true, false) => Err(NoDeno::NotAFile(program)),
        (true, true) => Ok(program),
    }
}
