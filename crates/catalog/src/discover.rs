//! Discovery: all roots, one catalog, nothing lost and nothing found twice.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
    sync::atomic::AtomicUsize,
    time::{Duration, SystemTime},
};

use metier_model::{Code, Diagnostic, Mode, Source};

use crate::{
    builtin::{BUILTINS, Builtin},
    entry::{Catalog, Entry, ManifestFiles, Place},
    index::IndexHome,
    manifest_file::{self, Heads},
    root::Root,
    walk::Walk,
};

/// How much a root may hold. Each limit that is reached is a diagnostic.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Skills in a root.
    pub max_skills: usize,
    /// Directory entries in a root.
    pub max_entries: usize,
    /// Bytes of a SKILL.md.
    pub max_skill_bytes: u64,
    /// Levels of folders below a root.
    pub max_depth: usize,
    /// Time for a root.
    pub max_root_time: Duration,
}

/// How to look.
pub struct Options<'a> {
    /// Lenient or strict.
    pub mode: Mode,
    /// The limits.
    pub limits: Limits,
    /// How many threads may look at once.
    pub threads: usize,
    /// Where the warm index is; `None` reads everything again.
    pub index: Option<&'a IndexHome>,
    /// The time, to tell files that may still be changing.
    pub now: SystemTime,
    /// Whether the built-in skills are among the results.
    pub builtins: bool,
    /// Counts skills while they are found, for whoever shows progress.
    pub progress: Option<&'a AtomicUsize>,
}

/// Looks into all roots.
#[must_use]
pub fn discover(roots: Vec<Root>, options: &Options<'_>) -> Catalog {
    let mut catalog = Catalog::default();
    let mut looked_at: HashSet<PathBuf> = HashSet::new();
    if options.builtins {
        catalog.entries.extend(
            BUILTINS
                .iter()
                .map(|skill| builtin_entry(skill, options.mode)),
        );
    }
    for (number, root) in roots.iter().enumerate() {
        match open_root(root) {
            Ok(Some(path)) if looked_at.insert(path.clone()) => {
                let number = u16::try_from(number).unwrap_or(u16::MAX);
                Walk::new(&path, root.source, number, options).run(&mut catalog);
            }
            Ok(_) => {}
            Err(diagnostic) => catalog.diagnostics.push(diagnostic),
        }
    }
    catalog.roots = roots;
    drop_linked_twins(&mut catalog.entries);
    catalog
}

/// The real path of a root; `None` when it is one of the usual places and is not there.
fn open_root(root: &Root) -> Result<Option<PathBuf>, Diagnostic> {
    let named_file = root.path.file_name().is_some_and(|name| {
        name.eq_ignore_ascii_case("SKILL.md") || name.eq_ignore_ascii_case("SKILL.yaml")
    });
    let path = if named_file && root.path.is_file() {
        root.path.parent().unwrap_or(&root.path)
    } else {
        &root.path
    };
    match path.canonicalize() {
        Ok(real) if real.is_dir() => Ok(Some(real)),
        Ok(_) if !root.explicit => Ok(None),
        Ok(_) => Err(root_problem(path, "it is not a folder")),
        Err(error) if !root.explicit && error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(root_problem(path, &error.to_string())),
    }
}

fn root_problem(path: &Path, why: &str) -> Diagnostic {
    Diagnostic {
        severity: metier_model::Severity::Error,
        code: Code::RootUnreadable,
        message: format!("`{}` can't be searched for skills: {why}", path.display()).into(),
        hint: Some("check the path".into()),
        file: path.to_string_lossy().into(),
        position: None,
    }
}

fn builtin_entry(skill: &'static Builtin, mode: Mode) -> Entry {
    let skill_md = skill.file("SKILL.md");
    let heads = Heads {
        skill_md: skill_md.map(|bytes| ("SKILL.md", bytes)),
        ..Heads::default()
    };
    let parsed = manifest_file::parse(Some(skill.name), &heads, mode);
    Entry {
        source: Source::Builtin,
        root: None,
        place: Place::Builtin(skill),
        files: ManifestFiles {
            skill_md: Some("SKILL.md".into()),
            ..ManifestFiles::default()
        },
        card: parsed.manifest.map(|manifest| manifest.card),
        diagnostics: parsed.diagnostics,
        digest: None,
        real: None,
    }
}

/// A skill that was reached through a link and also lies in a root itself, or was reached through
/// several links, is one skill: the real one stays, or the last link.
fn drop_linked_twins(entries: &mut Vec<Entry>) {
    if entries.iter().all(|entry| entry.real.is_none()) {
        return;
    }
    let mut last: HashMap<PathBuf, usize> = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        if let Some(real) = &entry.real {
            last.insert(real.clone(), index);
        }
    }
    for entry in entries.iter() {
        if let (Place::Folder(path), None) = (&entry.place, &entry.real) {
            last.remove(path);
        }
    }
    let mut index = 0;
    entries.retain(|entry| {
        let keep = entry
            .real
            .as_ref()
            .is_none_or(|real| last.get(real) == Some(&index));
        index += 1;
        keep
    });
}
