//! Claude plugins: a folder with `.claude-plugin/plugin.json` and hooks is a separate entry, besides the skills in
//! it.
//!
//! Its bytes are all files of the folder: its hooks can run files anywhere in it, including the folders of its
//! skills.

use std::path::Path;

use metier_model::{
    Strictness,
    hooks::plugin::{self, MANIFEST},
};

use crate::{
    entry::{CatalogEntry, ManifestFiles, SkillLocation},
    folder::ReadError,
    manifest_file::{self, Heads},
    root::Root,
};

/// The folder that contains a plugin's manifest.
pub(crate) const FOLDER: &[u8] = b".claude-plugin";
/// The default path of hooks.
const HOOKS: &str = "hooks/hooks.json";
/// The folder of a plugin that contains its skills.
const SKILLS: &str = "skills";
/// The maximum size of a manifest or a list of hooks that is read.
const MAX_BYTES: u64 = 256 << 10;

/// A plugin's manifest in the form of a skill's. An unreadable one becomes one without a name, which is invalid.
pub(crate) fn as_skill(json: &[u8], folder: &str) -> Vec<u8> {
    let text = String::from_utf8_lossy(json);
    plugin::as_skill(&text, folder)
        .unwrap_or_default()
        .into_bytes()
}

/// The plugin in a folder, if it is one with hooks. Its files are opened one component at a time, never through a link.
pub(crate) fn entry(
    shown: &Path,
    root: &Root,
    number: u16,
    mode: Strictness,
) -> Option<CatalogEntry> {
    let place = SkillLocation::Folder(shown.to_owned());
    let json = place.read(MANIFEST, MAX_BYTES).ok()?;
    let has_file = !matches!(place.read(HOOKS, MAX_BYTES), Err(ReadError::NotFound(_)));
    if !has_file && !plugin::has_hooks(&String::from_utf8_lossy(&json)) {
        return None;
    }
    let folder = shown.file_name().map(|name| name.to_string_lossy());
    let text = as_skill(&json, &folder.unwrap_or_default());
    let heads = Heads {
        skill_md: Some((MANIFEST, &text)),
        ..Heads::default()
    };
    let (card, diagnostics) = manifest_file::parse_card(None, &heads, mode);
    Some(CatalogEntry {
        source: root.source,
        root: Some(number),
        place,
        files: ManifestFiles {
            skill_md: Some(MANIFEST.into()),
            ..ManifestFiles::default()
        },
        card,
        diagnostics,
        real: None,
        digest: None,
    })
}

/// The plugin that contains this root as its skills folder.
pub(crate) fn around(
    real: &Path,
    root: &Root,
    number: u16,
    mode: Strictness,
) -> Option<CatalogEntry> {
    let is_skills = real.file_name().is_some_and(|name| name == SKILLS);
    entry(real.parent().filter(|_| is_skills)?, root, number, mode)
}
