//! The results of discovery: entries, including invalid ones.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use metier_model::{Card, Diagnostic, DiagnosticSeverity, Digest, Source, hooks::plugin::MANIFEST};

use crate::{builtin::BuiltinSkill, remote::RemoteSkill, root::Root};

/// A skill that was found, valid or not.
#[derive(Clone, Debug, PartialEq)]
pub struct CatalogEntry {
    /// Where it comes from.
    pub source: Source,
    /// Its root, as a position in [`Catalog::roots`]; `None` for one that is built in or elsewhere.
    pub root: Option<u16>,
    /// Where its files are.
    pub place: SkillLocation,
    /// The names of its manifest files.
    pub files: ManifestFiles,
    /// Its metadata; `None` if it is invalid.
    pub card: Option<Card>,
    /// All problems of the skill.
    pub diagnostics: Vec<Diagnostic>,
    /// Its canonical path, if it was reached through a link.
    pub real: Option<PathBuf>,
    /// The digest, if it is known to be that of the current files.
    pub digest: Option<Digest>,
}

/// Where the files of a skill are.
#[derive(Clone, Debug, PartialEq)]
pub enum SkillLocation {
    /// A folder on disk.
    Folder(PathBuf),
    /// Files that are compiled into the binary.
    Builtin(&'static BuiltinSkill),
    /// Files that another program serves.
    Remote(RemoteSkill),
}

impl SkillLocation {
    /// The folder, `builtin:name`, or the address of a skill that is elsewhere.
    #[must_use]
    pub fn path(&self) -> Cow<'_, Path> {
        match self {
            Self::Folder(path) => Cow::Borrowed(path),
            Self::Builtin(skill) => Cow::Owned(PathBuf::from(format!("builtin:{}", skill.name))),
            Self::Remote(skill) => Cow::Borrowed(Path::new(skill.address())),
        }
    }
}

/// The names of the manifest files, as they are spelled in the folder.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ManifestFiles {
    /// The name of SKILL.md, if it exists.
    pub skill_md: Option<Cow<'static, str>>,
    /// The name of SKILL.yaml, if it exists.
    pub skill_yaml: Option<Cow<'static, str>>,
    /// Whether `agents/openai.yaml` exists.
    pub sidecar: bool,
    /// Whether SKILL.md and SKILL.yaml are known to have no field `hooks`.
    pub no_hooks: bool,
}

impl ManifestFiles {
    /// The file that requirements and diagnostics point to.
    #[must_use]
    pub fn main(&self) -> &str {
        self.skill_yaml
            .as_deref()
            .or(self.skill_md.as_deref())
            .unwrap_or("SKILL.md")
    }
}

impl CatalogEntry {
    /// Its name; the folder's name if the skill could not be read.
    #[must_use]
    pub fn name(&self) -> Cow<'_, str> {
        match (&self.card, &self.place) {
            (Some(card), _) => Cow::Borrowed(card.name.as_str()),
            (None, SkillLocation::Builtin(skill)) => Cow::Borrowed(skill.name),
            (None, SkillLocation::Remote(skill)) => Cow::Borrowed(skill.folder()),
            (None, SkillLocation::Folder(path)) => path
                .file_name()
                .map_or(Cow::Borrowed("?"), |name| name.to_string_lossy()),
        }
    }

    /// Whether it is a Claude plugin with hooks, rather than a skill with a manifest.
    #[must_use]
    pub fn is_plugin(&self) -> bool {
        self.files.skill_md.as_deref() == Some(MANIFEST)
    }

    /// The file that a model reads: SKILL.md if it exists, whatever else is there.
    #[must_use]
    pub fn body_path(&self) -> PathBuf {
        let name = self.files.skill_md.as_deref();
        self.place.path().join(name.unwrap_or(self.files.main()))
    }

    /// The path of the file that [`ManifestFiles::main`] names.
    #[must_use]
    pub fn manifest_path(&self) -> PathBuf {
        self.place.path().join(self.files.main())
    }

    /// The number of warnings about it.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == DiagnosticSeverity::Warning)
            .count()
    }
}

/// The result of searching all roots.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The roots that were searched.
    pub roots: Vec<Root>,
    /// The entries, root by root with rising precedence.
    pub entries: Vec<CatalogEntry>,
    /// Problems of roots and folders, as opposed to skills.
    pub diagnostics: Vec<Diagnostic>,
}
