//! Discovery: all roots in one catalog, every skill exactly once.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::atomic::AtomicUsize,
    time::{Duration, SystemTime},
};

use metier_model::{Diagnostic, DiagnosticCode, Source, Strictness};

use crate::{
    builtin::{BUILTINS, BuiltinSkill},
    entry::{Catalog, CatalogEntry, ManifestFiles, SkillLocation},
    folder::FileEntry,
    index::IndexHome,
    manifest_file::{self, Heads},
    plugin,
    root::{Root, RootPresence},
    walk::walk,
};

/// Limits of one root. Reaching one is a diagnostic.
#[derive(Clone, Copy, Debug)]
pub struct DiscoveryLimits {
    /// The maximum number of skills.
    pub max_skills: usize,
    /// The maximum number of directory entries.
    pub max_entries: usize,
    /// The maximum size of a SKILL.md in bytes.
    pub max_skill_bytes: u64,
    /// The maximum depth of folders.
    pub max_depth: usize,
    /// The maximum time.
    pub max_root_time: Duration,
}

/// How to search roots.
pub struct DiscoveryOptions<'a> {
    /// Whether validation is lenient or strict.
    pub mode: Strictness,
    /// The limits of each root.
    pub limits: DiscoveryLimits,
    /// The maximum number of threads.
    pub threads: usize,
    /// The location of the warm index; `None` reads everything again.
    pub index: Option<&'a IndexHome>,
    /// The current time, to recognise files that might still be changing.
    pub now: SystemTime,
    /// Whether the results include the built-in skills.
    pub builtins: bool,
    /// Counts skills while they are found, for a progress display.
    pub progress: Option<&'a AtomicUsize>,
}

/// Searches all roots.
#[must_use]
pub fn discover(roots: Vec<Root>, options: &DiscoveryOptions<'_>) -> Catalog {
    let mut catalog = Catalog::default();
    if options.builtins {
        let builtins = BUILTINS
            .iter()
            .map(|skill| builtin_entry(skill, options.mode));
        catalog.entries.extend(builtins);
    }
    let found: Vec<_> = roots.iter().map(open_root).collect();
    let path = |number: usize| found[number].as_ref().ok().and_then(Option::as_deref);
    for (number, root) in roots.iter().enumerate() {
        match &found[number] {
            Ok(Some(real)) if counts(number, real, &roots, &path) => {
                let number = u16::try_from(number).unwrap_or(u16::MAX);
                walk(real, root, number, options, &mut catalog);
                let plugin = plugin::around(real, root, number, options.mode);
                catalog.entries.extend(plugin);
            }
            Ok(_) => {}
            Err(diagnostic) => catalog.diagnostics.push(diagnostic.clone()),
        }
    }
    catalog.roots = roots;
    drop_twins(&mut catalog);
    if options.builtins {
        let is_source = |entry: &CatalogEntry| entry.source == Source::Project && is_builtin(entry);
        catalog.entries.retain(|entry| !is_source(entry));
    }
    catalog
}

/// Whether a folder is identical to a built-in skill. In a checkout of metier the built-in skills are in such
/// folders, and asking for trust in content that is already in the program makes no sense.
fn is_builtin(entry: &CatalogEntry) -> bool {
    let name = entry.name();
    let Some(builtin) = BUILTINS.iter().find(|builtin| *builtin.name == *name) else {
        return false;
    };
    let content = |file: &FileEntry| {
        let path = std::str::from_utf8(file.path.as_bytes()).ok()?;
        let content = builtin.file(path)?;
        let held = !file.special && file.size == content.len() as u64;
        let read = || entry.place.read(path, file.size).ok();
        (held && read()? == content).then_some(())
    };
    let is_same = |files: Vec<FileEntry>| {
        files.len() == builtin.files.len() && files.iter().all(|file| content(file).is_some())
    };
    entry.place.files().is_ok_and(is_same)
}

/// Of several roots that are the same folder the last one applies; an untrusted one only if there is no other.
fn counts<'p>(
    number: usize,
    real: &Path,
    roots: &[Root],
    path: &impl Fn(usize) -> Option<&'p Path>,
) -> bool {
    let best = (0..roots.len())
        .filter(|other| path(*other) == Some(real))
        .max_by_key(|other| (roots[*other].trusted, *other));
    best == Some(number)
}

/// The canonical path of a root; `None` if it is an optional one that does not exist.
fn open_root(root: &Root) -> Result<Option<PathBuf>, Diagnostic> {
    let named_file = root.path.file_name().is_some_and(|name| {
        name.eq_ignore_ascii_case("SKILL.md") || name.eq_ignore_ascii_case("SKILL.yaml")
    });
    let path = if named_file && root.path.is_file() {
        root.path.parent().unwrap_or(&root.path)
    } else {
        &root.path
    };
    let (real, why) = match path.canonicalize() {
        Ok(real) if real.is_dir() => return Ok(Some(real)),
        Ok(real) => (Some(real), "not a folder".to_owned()),
        Err(error) if is_missing(&error) => (None, error.to_string()),
        Err(error) => {
            return Err(root_problem(
                DiagnosticCode::RootUnreadable,
                path,
                &error.to_string(),
            ));
        }
    };
    match (root.presence, real) {
        (RootPresence::Optional, _) => Ok(None),
        (RootPresence::Expected, None) => {
            Err(root_problem(DiagnosticCode::RootMissing, path, &why))
        }
        (RootPresence::Expected | RootPresence::Required, _) => {
            Err(root_problem(DiagnosticCode::RootUnreadable, path, &why))
        }
    }
}

fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn root_problem(code: DiagnosticCode, path: &Path, why: &str) -> Diagnostic {
    let severity = code.severity(Strictness::Lenient);
    Diagnostic {
        severity: severity.unwrap_or(metier_model::DiagnosticSeverity::Error),
        code,
        message: format!("`{}` can't be searched for skills: {why}", path.display()).into(),
        hint: Some(match code {
            DiagnosticCode::RootMissing => {
                "create the folder, or: metier config skills.load.extra_dirs".into()
            }
            _ => "check the path".into(),
        }),
        file: path.to_string_lossy().into(),
        position: None,
    }
}

fn builtin_entry(skill: &'static BuiltinSkill, mode: Strictness) -> CatalogEntry {
    let (skill_md, skill_yaml) = (skill.file("SKILL.md"), skill.file("SKILL.yaml"));
    let heads = Heads {
        skill_md: skill_md.map(|bytes| ("SKILL.md", bytes)),
        skill_yaml: skill_yaml.map(|bytes| ("SKILL.yaml", bytes)),
        ..Heads::default()
    };
    let (card, diagnostics) = manifest_file::parse_card(Some(skill.name), &heads, mode);
    CatalogEntry {
        source: Source::Builtin,
        root: None,
        place: SkillLocation::Builtin(skill),
        files: ManifestFiles {
            skill_md: skill_md.map(|_| "SKILL.md".into()),
            skill_yaml: skill_yaml.map(|_| "SKILL.yaml".into()),
            ..ManifestFiles::default()
        },
        card,
        diagnostics,
        digest: None,
        real: None,
    }
}

/// A folder that was reached in several ways is one skill. A trusted way is preferred to an untrusted one, a way
/// without a link to one with a link, and a later one to an earlier one.
fn drop_twins(catalog: &mut Catalog) {
    let Catalog { roots, entries, .. } = catalog;
    let root = entries.first().and_then(|entry| entry.root);
    let reached_once = |entry: &CatalogEntry| entry.root == root && entry.real.is_none();
    if entries.iter().all(reached_once) {
        return;
    }
    let rank = |index: usize| {
        let entry: &CatalogEntry = &entries[index];
        let root = entry.root.and_then(|root| roots.get(usize::from(root)));
        (
            root.is_none_or(|root| root.trusted),
            entry.real.is_none(),
            index,
        )
    };
    let mut best: HashMap<&Path, usize> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some(path) = real_path(entry) else {
            continue;
        };
        let other = best.entry(path).or_insert(index);
        if rank(index) > rank(*other) {
            *other = index;
        }
    }
    let kept: HashSet<usize> = best.into_values().collect();
    let mut index = 0;
    entries.retain(|entry| {
        let in_folder = matches!(entry.place, SkillLocation::Folder(_));
        let keep = !in_folder || kept.contains(&index);
        index += 1;
        keep
    });
}

fn real_path(entry: &CatalogEntry) -> Option<&Path> {
    match (&entry.real, &entry.place) {
        (Some(real), _) => Some(real),
        (None, SkillLocation::Folder(path)) => Some(path),
        (None, SkillLocation::Builtin(_) | SkillLocation::Remote(_)) => None,
    }
}
