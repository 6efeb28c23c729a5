//! The existing content of a skill's folder before it is installed there.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use metier_catalog::{MemoryBudget, SkillLocation, Snapshot};
use metier_hub::fetch::SkillOrigin;
use metier_model::Digest;
use metier_package::{LockedSkill, PackageTree};
use sha2::{Digest as _, Sha256};

use super::{
    card::{ExistingSkill, InstallAction, InstallCardPermission, InstallObstacle},
    places::InstallScope,
};
use crate::{Error, Workspace};

/// Files that differ between two states of a skill.
///
/// An example is at [`ChangedFiles::all`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// Only in the new state.
    pub added: Vec<String>,
    /// Only in the old state.
    pub removed: Vec<String>,
    /// In both, with other content.
    pub changed: Vec<String>,
}

impl ChangedFiles {
    /// From one state of a skill to another.
    pub(crate) fn between(old: &FileHashes, new: &FileHashes) -> Self {
        let mut found = Self::default();
        for (path, hash) in new {
            match old.get(path) {
                None => found.added.push(path.clone()),
                Some(before) if before == hash => {}
                Some(_) => found.changed.push(path.clone()),
            }
        }
        let removed = old.keys().filter(|path| !new.contains_key(*path));
        found.removed = removed.cloned().collect();
        found
    }

    /// All of them, sorted.
    ///
    /// ```
    /// use metier::distribution::ChangedFiles;
    ///
    /// let files = ChangedFiles { added: vec!["b.md".into()], removed: vec!["a.md".into()], ..ChangedFiles::default() };
    /// assert_eq!(files.all(), ["a.md", "b.md"]);
    /// assert!(!files.is_empty());
    /// ```
    #[must_use]
    pub fn all(&self) -> Vec<String> {
        let all = self.added.iter().chain(&self.removed).chain(&self.changed);
        let mut all: Vec<String> = all.cloned().collect();
        all.sort();
        all
    }

    /// Whether nothing differs.
    ///
    /// An example is at [`ChangedFiles::all`].
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// The files of a skill by path, each with the hash of its bytes and what kind of file it is.
pub(crate) type FileHashes = BTreeMap<String, (bool, [u8; 32])>;

/// The hashes of a tree's files.
pub(crate) fn hashes_of_tree(tree: &PackageTree) -> FileHashes {
    let files = tree.files().iter();
    files
        .map(|file| {
            (
                file.path.to_string(),
                (true, Sha256::digest(&file.bytes).into()),
            )
        })
        .collect()
}

/// The hashes of a snapshot's files.
pub(crate) fn hashes_of_snapshot(held: &Snapshot) -> FileHashes {
    use metier_catalog::SnapshotContent::{Bytes, Left};
    let files = held.files.iter().map(|file| {
        let is_file = matches!(file.content, Bytes(_) | Left);
        (file.path.to_string(), (is_file, file.hash))
    });
    files.collect()
}

/// The files of a folder, hashed; nothing of them stays in memory.
pub(crate) fn hashed(folder: &Path) -> Result<Snapshot, metier_catalog::ReadError> {
    let nothing = MemoryBudget { file: 0, total: 0 };
    SkillLocation::Folder(folder.to_owned()).snapshot(nothing)
}

/// The existing content of a skill's folder, and its entry in the lock.
pub(crate) struct PresentSkill {
    place: PathBuf,
    locked: Option<LockedSkill>,
    /// Whether there is anything.
    exists: bool,
    /// The files, if it is a folder that can be read.
    held: Option<Snapshot>,
    /// The changes since it was installed; `None` if they are not known.
    edited: Option<ChangedFiles>,
}

impl PresentSkill {
    /// Reads what is at the place of a skill in a scope.
    pub(crate) fn look(
        workspace: &Workspace,
        scope: InstallScope,
        key: &str,
    ) -> Result<Self, Error> {
        let place = workspace.scope_places(scope)?.skill(key);
        let locked = workspace.lock(scope)?.skills.remove(key);
        let found = fs::symlink_metadata(&place);
        let is_folder = found.as_ref().is_ok_and(fs::Metadata::is_dir);
        let held = is_folder.then(|| hashed(&place).ok()).flatten();
        let mut edited = None;
        if let (Some(locked), Some(held)) = (&locked, &held) {
            // After an update that kept edits, the lock also has the digest of the files without them: edits are counted from there.
            let installed = locked.original.unwrap_or(locked.tree);
            edited = match held.digest == installed {
                true => Some(ChangedFiles::default()),
                false => workspace.objects()?.get(installed).map(|tree| {
                    ChangedFiles::between(&hashes_of_tree(&tree), &hashes_of_snapshot(held))
                }),
            };
        }
        Ok(Self {
            place,
            locked,
            exists: found.is_ok(),
            held,
            edited,
        })
    }

    /// Its entry in the lock.
    pub(crate) fn locked(&self) -> Option<&LockedSkill> {
        self.locked.as_ref()
    }

    /// The digest of what is there.
    pub(crate) fn digest(&self) -> Option<Digest> {
        self.held.as_ref().map(|held| held.digest)
    }

    /// Whether anything is there.
    pub(crate) fn exists(&self) -> bool {
        self.exists
    }

    /// The effect of installing these bytes.
    pub(crate) fn action(&self, new: Digest) -> InstallAction {
        match (self.exists, self.digest() == Some(new)) {
            (false, _) => InstallAction::Install,
            (true, true) => InstallAction::Keep,
            (true, false) => InstallAction::Replace,
        }
    }

    /// The decisions that replacing it needs.
    pub(crate) fn obstacles(
        &self,
        new: &PackageTree,
        origin: &SkillOrigin,
    ) -> Vec<InstallObstacle> {
        let mut found = Vec::new();
        if !self.exists || self.digest() == Some(new.digest()) {
            return found;
        }
        let Some(locked) = &self.locked else {
            return vec![InstallObstacle::Foreign];
        };
        match &self.edited {
            Some(edited) if edited.is_empty() => {}
            edited => {
                let files = edited.as_ref().map(ChangedFiles::all);
                found.push(InstallObstacle::Edited(files.unwrap_or_default()));
            }
        }
        if !is_same_origin(&locked.source, &origin.source) {
            found.push(InstallObstacle::OtherSource(locked.source.clone()));
        }
        found
    }

    /// Its representation on the card.
    pub(crate) fn card(
        &self,
        new: &PackageTree,
        permissions: &[InstallCardPermission],
    ) -> Option<ExistingSkill> {
        if !self.exists {
            return None;
        }
        let old = self.held.as_ref().map(hashes_of_snapshot);
        let files = ChangedFiles::between(&old.unwrap_or_default(), &hashes_of_tree(new));
        let locked = self.locked.as_ref();
        let asks = |gone: &&String| !permissions.iter().any(|one| one.permission == **gone);
        let gone = locked.iter().flat_map(|locked| &locked.permissions);
        Some(ExistingSkill {
            place: self.place.to_string_lossy().into_owned(),
            source: locked.map(|locked| locked.source.clone()),
            version: locked
                .and_then(|locked| locked.version.as_ref())
                .map(ToString::to_string),
            digest: self.digest(),
            files,
            gone_permissions: gone.filter(asks).cloned().collect(),
        })
    }
}

/// Whether two sources are the same place, at whatever commit or version.
pub(crate) fn is_same_origin(one: &str, other: &str) -> bool {
    fn base(source: &str) -> &str {
        const CLAWHUB: &str = "clawhub:";
        let end = match source.strip_prefix(CLAWHUB) {
            Some(slug) => slug
                .rfind('@')
                .filter(|at| *at > 0)
                .map(|at| at + CLAWHUB.len()),
            None if source.starts_with(['/', '.', '~']) => None,
            // A URL, or `user@host:path`.
            None if source.contains(':') => source.find('#'),
            None => source.find('@'),
        };
        end.map_or(source, |at| &source[..at])
    }
    base(one) == base(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_the_same_at_every_version() {
        for (one, other, expected) in [
            ("owner/repo/pdf", "owner/repo/pdf@main", true),
            ("owner/repo/pdf@feature/x", "owner/repo/pdf@v1.0", true),
            ("owner/repo/pdf", "owner/repo/docx", false),
            ("pdf@^1", "pdf", true),
            ("git@host:owner/repo", "git@host:owner/repo#v2", true),
            ("git@host:owner/repo", "git@other:owner/repo", false),
            (
                "git+https://host/r.git//pdf#a",
                "git+https://host/r.git//pdf",
                true,
            ),
            ("clawhub:@owner/pdf@1.0.0", "clawhub:@owner/pdf", true),
            ("clawhub:@owner/pdf", "clawhub:@other/pdf", false),
            ("/home/a@b/pdf", "/home/a@c/pdf", false),
        ] {
            assert_eq!(is_same_origin(one, other), expected, "{one} {other}");
            assert_eq!(is_same_origin(other, one), expected, "{other} {one}");
        }
    }

    #[test]
    fn differences_are_what_a_person_would_call_them() {
        let state = |files: &[(&str, u8)]| -> FileHashes {
            let files = files.iter();
            files
                .map(|(path, byte)| ((*path).to_owned(), (true, [*byte; 32])))
                .collect()
        };
        let found = ChangedFiles::between(
            &state(&[("a", 1), ("b", 1), ("c", 1)]),
            &state(&[("a", 1), ("b", 2), ("d", 1)]),
        );
        assert_eq!(found.added, ["d"]);
        assert_eq!(found.removed, ["c"]);
        assert_eq!(found.changed, ["b"]);
        assert_eq!(found.all(), ["b", "c", "d"]);
    }
}
