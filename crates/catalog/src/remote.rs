//! Skills that another program serves, file by file, such as an MCP server.
//!
//! **Problem.** The bytes of such a skill are elsewhere, and the program that serves them can change them, or lie. **Decision.** A skill is
//! described by a [`RemoteManifest`]: its frontmatter, and the path, size and hash of every file. That is enough for a list, for the digest
//! that verdicts and approvals belong to, and to recognise each file. Bytes are only read through [`RemoteSkill::read`], which compares
//! them with the manifest every time; a file that is not in the manifest is not requested. SKILL.md is read first, and its declarations
//! have to match the manifest: no other file is read before that.

use std::{fmt, sync::Arc};

use metier_model::{
    Diagnostic, DiagnosticCode, DiagnosticSeverity, Digest, Json, SkillName, Source, Strictness,
    hooks, text::visible,
};
use serde_json::Map;
use sha2::{Digest as _, Sha256};

use crate::{
    entry::{CatalogEntry, ManifestFiles, SkillLocation},
    folder::{self, FileEntry, ReadError},
    manifest_file::{self, Heads},
    snapshot::{Snapshot, SnapshotContent, SnapshotFile},
    walk::words_instruct,
};

/// The maximum number of files of such a skill.
pub const MAX_REMOTE_FILES: usize = 512;
/// The maximum size of all its files, in bytes.
pub const MAX_REMOTE_BYTES: u64 = 16 << 20;

const SKILL_MD: &str = "SKILL.md";

/// A file, as its server describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteFile {
    /// Relative to the skill's folder, with forward slashes.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
    /// The SHA-256 of its bytes.
    pub hash: [u8; 32],
}

impl RemoteFile {
    /// Whether bytes have the size and the hash of this file.
    #[must_use]
    pub fn is(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.size && <[u8; 32]>::from(Sha256::digest(bytes)) == self.hash
    }
}

/// All files of a skill and its frontmatter, as its server describes them.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteManifest {
    folder: String,
    frontmatter: Map<String, Json>,
    files: Vec<RemoteFile>,
}

impl RemoteManifest {
    /// The description of a skill whose folder has this name.
    ///
    /// # Errors
    /// If a path is not one inside the skill, a file is described twice, SKILL.md is missing, or a limit is exceeded.
    pub fn new(
        folder: &str,
        frontmatter: &Map<String, Json>,
        mut files: Vec<RemoteFile>,
    ) -> Result<Self, String> {
        if files.len() > MAX_REMOTE_FILES {
            return Err(format!("it has more than {MAX_REMOTE_FILES} files"));
        }
        let total = files
            .iter()
            .fold(0_u64, |total, file| total.saturating_add(file.size));
        if total > MAX_REMOTE_BYTES {
            return Err(format!(
                "its files are larger than {MAX_REMOTE_BYTES} bytes in total"
            ));
        }
        for file in &files {
            folder::components(&file.path).map_err(|error| error.to_string())?;
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        if let Some([twice, _]) = files
            .array_windows()
            .find(|[one, other]| one.path == other.path)
        {
            return Err(format!("`{}` is listed twice", visible(&twice.path)));
        }
        if !files.iter().any(|file| file.path == SKILL_MD) {
            return Err("SKILL.md is not among its files".to_owned());
        }
        Ok(Self {
            folder: folder.to_owned(),
            frontmatter: frontmatter.clone(),
            files,
        })
    }

    /// Its files, sorted by path.
    #[must_use]
    pub fn files(&self) -> &[RemoteFile] {
        &self.files
    }

    /// The digest of its bytes, if they match the manifest.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let line = |file: &RemoteFile| folder::line(file.path.as_bytes(), &file.size, &file.hash);
        folder::digest_of(self.files.iter().map(line).collect())
    }
}

/// Access to the files of a skill.
pub trait RemoteReader: Send + Sync {
    /// The current bytes of a file. The caller checks them.
    ///
    /// # Errors
    /// Why they are not available.
    fn read(&self, file: &RemoteFile) -> Result<Vec<u8>, String>;

    /// Called when bytes of a file were verified, so that they can be cached.
    fn verified(&self, file: &RemoteFile, bytes: &[u8]);

    /// The skill does not match its manifest: it was changed, or its server lies.
    fn differs(&self);
}

/// A skill that another program serves.
#[derive(Clone)]
pub struct RemoteSkill {
    address: Arc<str>,
    manifest: Arc<RemoteManifest>,
    reader: Arc<dyn RemoteReader>,
}

impl fmt::Debug for RemoteSkill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSkill")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl PartialEq for RemoteSkill {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address && self.manifest == other.manifest
    }
}

impl RemoteSkill {
    /// A skill at an address, such as `mcp:docs/pdf`.
    pub fn new(address: &str, manifest: RemoteManifest, reader: Arc<dyn RemoteReader>) -> Self {
        Self {
            address: address.into(),
            manifest: Arc::new(manifest),
            reader,
        }
    }

    /// Its address, only for display: never a path that is opened.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The name of its folder, without the name of its server.
    pub(crate) fn folder(&self) -> &str {
        &self.manifest.folder
    }

    pub(crate) fn digest(&self) -> Digest {
        self.manifest.digest()
    }

    pub(crate) fn list(&self) -> Vec<FileEntry> {
        let entry = |file: &RemoteFile| FileEntry {
            path: file.path.as_str().into(),
            size: file.size,
            special: false,
        };
        self.manifest.files.iter().map(entry).collect()
    }

    /// One file. Its bytes have the size and the hash that the manifest states; those of SKILL.md have its frontmatter.
    ///
    /// # Errors
    /// If the manifest does not list it, if it is not available, or if it differs.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let shown = || folder::shown(path);
        let mut files = self.manifest.files.iter();
        let file = files.find(|file| file.path == path);
        let file = file.ok_or_else(|| ReadError::NotFound(shown()))?;
        let bytes = self
            .reader
            .read(file)
            .map_err(|why| ReadError::Remote { path: shown(), why })?;
        self.check(file, &bytes).map_err(|why| {
            self.reader.differs();
            ReadError::Unverified { path: shown(), why }
        })?;
        self.reader.verified(file, &bytes);
        Ok(bytes)
    }

    fn check(&self, file: &RemoteFile, bytes: &[u8]) -> Result<(), String> {
        if bytes.len() as u64 != file.size {
            return Err(format!(
                "it is {} bytes, but {} were announced",
                bytes.len(),
                file.size
            ));
        }
        if !file.is(bytes) {
            return Err("it does not have the digest that was announced".to_owned());
        }
        if file.path != SKILL_MD {
            return Ok(());
        }
        let text = String::from_utf8_lossy(bytes);
        match metier_model::frontmatter_difference(&text, &self.manifest.frontmatter) {
            None => Ok(()),
            Some(field) => Err(format!("its `{field}` differs from the announced one")),
        }
    }

    /// All files, SKILL.md first: if it does not match, no other file is read.
    pub(crate) fn snapshot(&self) -> Result<Snapshot, ReadError> {
        let is_first = |file: &&RemoteFile| file.path == SKILL_MD;
        let (first, rest): (Vec<&RemoteFile>, Vec<&RemoteFile>) =
            self.manifest.files.iter().partition(is_first);
        let mut files = Vec::new();
        for file in first.into_iter().chain(rest) {
            files.push(SnapshotFile {
                path: file.path.as_str().into(),
                content: SnapshotContent::Bytes(self.read(&file.path)?),
                hash: file.hash,
                size: file.size,
                shared: false,
                executable: false,
            });
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Snapshot {
            files,
            digest: self.digest(),
            fingerprint: None,
        })
    }
}

impl CatalogEntry {
    /// The entry of a skill that another program serves, under a name of the user's choice. It has the lowest precedence, and can't choose
    /// its configuration key: settings of other skills, such as keys, are not for it.
    #[must_use]
    pub fn remote(name: &str, skill: RemoteSkill, mode: Strictness) -> Self {
        // JSON is YAML, so the frontmatter is read like any other.
        let frontmatter = Json::Object(skill.manifest.frontmatter.clone());
        let head = format!("---\n{frontmatter}\n---\n");
        let heads = Heads {
            skill_md: Some((SKILL_MD, head.as_bytes())),
            ..Heads::default()
        };
        let (card, mut diagnostics) = manifest_file::parse_card(Some(skill.folder()), &heads, mode);
        let card = card.and_then(|mut card| {
            diagnostics.extend(words_instruct(&card, SKILL_MD));
            card.name = SkillName::new(name).ok()?;
            card.skill_key = None;
            Some(card)
        });
        let digest = Some(skill.digest());
        Self {
            digest,
            card,
            diagnostics,
            files: ManifestFiles {
                skill_md: Some(SKILL_MD.into()),
                no_hooks: !hooks::may_be_named(head.as_bytes()),
                ..ManifestFiles::default()
            },
            ..Self::at(SkillLocation::Remote(skill))
        }
    }

    /// The entry of a skill that a server lists and that can't be used.
    #[must_use]
    pub fn remote_refused(name: &str, address: &str, reason: &str) -> Self {
        let diagnostic = Diagnostic {
            severity: DiagnosticSeverity::Error,
            code: DiagnosticCode::RemoteSkill,
            message: format!("the server's entry can't be used: {reason}").into(),
            hint: None,
            file: SKILL_MD.into(),
            position: None,
        };
        let nothing = RemoteManifest {
            folder: name.to_owned(),
            frontmatter: Map::new(),
            files: Vec::new(),
        };
        let skill = RemoteSkill::new(address, nothing, Arc::new(Nowhere));
        Self {
            diagnostics: vec![diagnostic],
            ..Self::at(SkillLocation::Remote(skill))
        }
    }

    fn at(place: SkillLocation) -> Self {
        Self {
            source: Source::Extra,
            root: None,
            place,
            files: ManifestFiles::default(),
            card: None,
            diagnostics: Vec::new(),
            real: None,
            digest: None,
        }
    }
}

/// The access to a skill without files.
struct Nowhere;

impl RemoteReader for Nowhere {
    fn read(&self, _: &RemoteFile) -> Result<Vec<u8>, String> {
        Err("it has no files".to_owned())
    }

    fn verified(&self, _: &RemoteFile, _: &[u8]) {}

    fn differs(&self) {}
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
