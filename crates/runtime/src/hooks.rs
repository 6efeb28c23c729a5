//! Hooks of a skill that were written for other programs, and the engine for those in JavaScript.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use metier_catalog::{CatalogEntry, MachineFacts, SkillLocation, Snapshot, SnapshotContent};
use metier_model::{
    Permission, SkillManifest, Want,
    hooks::{HookFile, PLACES, SkillHooks, discover, plugin, wants_text},
};

use crate::hosts;

/// The variables and files that a command of Claude expects.
const PROJECT: &str = "file:read(./**)";
/// Extensions of files that an engine can load.
const CODE: &[&str] = &[".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

/// The largest file that is read for hooks.
const MAX_FILE: u64 = 256 << 10;

/// The hooks of a skill, from its scanned files.
#[must_use]
pub fn of(held: &Snapshot) -> SkillHooks {
    let paths = held.files.iter().filter_map(|file| file.path.as_str());
    among(paths, |path| held.read(path, MAX_FILE).ok())
}

/// The hooks of a skill as it is on disk now, for display. Most skills have no file that needs to be read for this.
#[must_use]
pub fn in_place(entry: &CatalogEntry) -> SkillHooks {
    match may_hook(entry) {
        true => among_all_files(&entry.place),
        false => SkillHooks::default(),
    }
}

fn among_all_files(place: &SkillLocation) -> SkillHooks {
    let files = place.files().unwrap_or_default();
    let paths = files.iter().filter_map(|file| file.path.as_str());
    among(paths, |path| place.read(path, MAX_FILE).ok())
}

/// Whether a skill can have hooks: its manifest allows some, or a hook folder contains files.
fn may_hook(entry: &CatalogEntry) -> bool {
    let has_place = match &entry.place {
        SkillLocation::Builtin(_) => true,
        SkillLocation::Folder(folder) => PLACES
            .iter()
            .any(|name| folder.join(name).symlink_metadata().is_ok()),
        // Its files are known, and none is read.
        place => {
            let files = place.files().unwrap_or_default();
            let below = |path: &str| PLACES.iter().any(|name| path.starts_with(name));
            files.iter().any(|file| below(&file.path.text()))
        }
    };
    !entry.files.no_hooks || has_place
}

/// The permissions that the hooks of a skill need: commands of Claude read the project, and the scanner reports what the code of
/// handlers and commands does. Code of a skill that declares its permissions gets exactly these.
#[must_use]
pub fn wants(manifest: &SkillManifest, held: &Snapshot, hooks: &SkillHooks) -> Vec<Want> {
    let project = PROJECT.parse().ok().filter(|_| !hooks.commands.is_empty());
    let mut wants: Vec<Want> = project.into_iter().collect();
    if manifest.wants.is_empty() {
        for handler in &hooks.handlers {
            wants.extend(used_by(held, &handler.file));
        }
        wants.extend(used_by_commands(held, hooks));
    }
    let is_covered = |want: &Want| {
        wants
            .iter()
            .any(|other| other != want && other.covers(want))
    };
    wants
        .iter()
        .filter(|want| !is_covered(want))
        .cloned()
        .collect()
}

/// The capabilities that the scanner found in the code of a handler. Handlers start no programs, so that permission is not requested.
fn used_by(held: &Snapshot, handler: &str) -> Vec<Want> {
    let folder = handler.rsplit_once('/').map_or("", |(folder, _)| folder);
    let beside = |path: &str| {
        let rest = path.strip_prefix(folder);
        let inside = rest.is_some_and(|rest| folder.is_empty() || rest.starts_with('/'));
        inside && CODE.iter().any(|ending| path.ends_with(ending))
    };
    let code = held.files.iter().filter_map(|file| match &file.content {
        SnapshotContent::Bytes(bytes) => Some((file.path.as_str()?, &bytes[..])),
        _ => None,
    });
    let files: Vec<(&str, &[u8])> = code.filter(|(path, _)| beside(path)).collect();
    used(hosts::seen(&files))
}

/// The capabilities found in the commands of hooks, and in the files of the skill that they name.
fn used_by_commands(held: &Snapshot, hooks: &SkillHooks) -> Vec<Want> {
    let lines: Vec<&str> = hooks.commands.iter().map(|hook| &*hook.command).collect();
    let is_named = |path: &str| {
        let is_code = path.contains('/') || path.contains('.');
        is_code && lines.iter().any(|line| line.contains(path))
    };
    let mut wants = hosts::of_lines(&lines);
    wants.extend(hosts::of_files(held, is_named));
    used(wants)
}

/// The permissions that can be granted to code separately.
fn used(wants: Vec<Want>) -> Vec<Want> {
    let is_used = |want: &Want| {
        matches!(
            want.permission,
            Permission::FileRead
                | Permission::FileWrite
                | Permission::EnvRead
                | Permission::NetFetch
        )
    };
    wants.into_iter().filter(is_used).collect()
}

fn among<'a>(
    paths: impl Iterator<Item = &'a str>,
    read: impl Fn(&str) -> Option<Vec<u8>>,
) -> SkillHooks {
    let read = |path: &str| Some(String::from_utf8_lossy(&read(path)?).into_owned());
    let paths: Vec<&str> = paths.collect();
    let manifest = paths
        .contains(&plugin::MANIFEST)
        .then(|| read(plugin::MANIFEST));
    let named = manifest.flatten().map(|text| plugin::named_files(&text));
    let named = named.unwrap_or_default();
    let text = |path: &str| {
        let is_named = named.iter().any(|named| named == path);
        (is_named || wants_text(path)).then(|| read(path)).flatten()
    };
    let paths = paths.into_iter();
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

/// Why Deno is not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDeno {
    /// It is not installed, or elsewhere.
    #[error("`deno` is not on PATH")]
    NotOnPath,
    /// The configured path is not absolute.
    #[error("skills.hooks.deno is `{}`, which is not an absolute path", .0.display())]
    Relative(PathBuf),
    /// The configured path is not a file.
    #[error("skills.hooks.deno is `{}`, which is not a file", .0.display())]
    NotAFile(PathBuf),
}

/// The path of Deno: from the configuration, or otherwise from `PATH`.
///
/// # Errors
/// When the configured path is relative or not a file, or when none is configured and Deno is not in `PATH`.
pub fn deno(
    configured: Option<&Path>,
    home: Option<&Path>,
    path: Option<&OsStr>,
) -> Result<PathBuf, NoDeno> {
    let Some(written) = configured else {
        let machine = MachineFacts::new(path, BTreeSet::new(), &|_| false, None);
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

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use metier_catalog::{DiscoveryLimits, DiscoveryOptions, Root, discover as look};
    use metier_model::{Source, Strictness};

    use super::*;

    const EVENTS: &str = "{Odd: [{hooks: [{type: command, command: \"true\"}]}], Stop: [{hooks: [{type: command, command: \"true\"}]}]}";
    const PLAIN: &str = "---\nname: skill\ndescription: A skill.\nversion: 1.0.0\n---\nText.\n";

    fn entries(root: &Path, mode: Strictness) -> Vec<CatalogEntry> {
        let options = DiscoveryOptions {
            mode,
            limits: DiscoveryLimits {
                max_skills: 100,
                max_entries: 1_000,
                max_skill_bytes: 1_000_000,
                max_depth: 3,
                max_root_time: Duration::from_secs(60),
            },
            threads: 1,
            index: None,
            now: std::time::SystemTime::UNIX_EPOCH,
            builtins: false,
            progress: None,
        };
        look(
            vec![Root::explicit(Source::User, root.to_owned())],
            &options,
        )
        .entries
    }

    /// Skills with hooks in all places and spellings, and some without.
    fn skills() -> Vec<Vec<(&'static str, String)>> {
        let field = |line: &str| {
            let head = "---\nname: skill\ndescription: A skill.\n";
            vec![("SKILL.md", format!("{head}{line}\n---\nText.\n"))]
        };
        let beside = |path, text: &str| {
            vec![
                ("SKILL.md", PLAIN.to_owned()),
                (path, text.replace("EVENTS", EVENTS)),
            ]
        };
        vec![
            field("license: MIT"),
            field(&format!("hooks: {EVENTS}")),
            field(&format!("'hooks': {EVENTS}")),
            field(&format!("\"\\x68ooks\": {EVENTS}")),
            field(&format!("\"h\\u006foks\": {EVENTS}")),
            field(&format!("compatibility: &key hooks\n*key : {EVENTS}")),
            field(&format!("version: [\nhooks: {EVENTS}")),
            field(&format!("metadata: a: b\nhooks: {EVENTS}")),
            vec![(
                "SKILL.yaml",
                format!("name: skill\ndescription: A skill.\nhooks: {EVENTS}\n"),
            )],
            vec![(
                "skill.md",
                PLAIN.replace("version: 1.0.0", &format!("hooks: {EVENTS}")),
            )],
            beside("hooks/hooks.json", "{\"hooks\": EVENTS}"),
            beside(
                "HOOK.md",
                "---\nname: one\nmetadata: {openclaw: {events: [agent:boot]}}\n---\n",
            ),
            beside("hooks/openclaw/handler.js", "export default () => {};"),
            beside(".claude-plugin/plugin.json", "{\"hooks\": \"./odd.json\"}"),
            beside("references/hooks/hooks.json", "{\"hooks\": EVENTS}"),
            beside("notes.md", "hooks: EVENTS"),
        ]
    }

    fn shown(hooks: &SkillHooks) -> String {
        format!("{hooks:?}")
    }

    /// Most skills are not opened for their hooks. Hooks that are not found without opening them would never be reported.
    #[test]
    fn hooks_are_found_as_if_all_files_were_read() {
        let home = tempfile::tempdir().unwrap();
        for (number, files) in skills().iter().enumerate() {
            for (path, text) in files {
                let path = home.path().join(format!("skill-{number}")).join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
        }
        for mode in [Strictness::Lenient, Strictness::Strict] {
            let entries = entries(home.path(), mode);
            assert!(entries.len() >= skills().len());
            for entry in &entries {
                let all = shown(&among_all_files(&entry.place));
                assert_eq!(shown(&in_place(entry)), all, "{:?} {mode:?}", entry.place);
            }
            let looked_at = entries.iter().filter(|entry| may_hook(entry)).count();
            let with_hooks =
                |entry: &&CatalogEntry| shown(&in_place(entry)) != shown(&SkillHooks::default());
            let with_hooks = entries.iter().filter(with_hooks).count();
            assert!(with_hooks > 6 && looked_at >= with_hooks, "{mode:?}");
            assert!(looked_at < entries.len(), "{mode:?}");
        }
    }
}
