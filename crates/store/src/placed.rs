//! Skills that the user placed in projects.
//!
//! A project is not trusted because one skill was added to it. So the user's decision is kept here, outside the project, for one
//! folder and exact bytes: changes by a later pull are not trusted.

use std::path::{Path, PathBuf};

use rusqlite::params;

use crate::{Store, StoreError};

/// A skill that the user placed in a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedSkill {
    /// The canonical path of its folder.
    pub folder: PathBuf,
    /// Its exact bytes, as `sha256:…`.
    pub digest: String,
    /// When it was placed, as the caller wrote it.
    pub at: String,
}

impl Store {
    /// Stores a placed skill. A later one in the same folder replaces it.
    ///
    /// # Errors
    /// If the path is not UTF-8, or the database can't be written.
    pub fn place_skill(&self, placed: &PlacedSkill) -> Result<(), StoreError> {
        let folder = placed.folder.to_str().ok_or_else(|| StoreError::NotUtf8 {
            folder: placed.folder.clone(),
        })?;
        let sql =
            "INSERT OR REPLACE INTO placed_skills (folder, digest, placed_at) VALUES (?1, ?2, ?3)";
        self.wait_for_disk(true)?;
        self.connection
            .execute(sql, params![folder, placed.digest, placed.at])
            .map_err(|source| self.fail(source))?;
        Ok(())
    }

    /// Removes the placed skills in a folder and below it; returns how many there were.
    ///
    /// # Errors
    /// If the database can't be written.
    pub fn forget_placed(&self, folder: &Path) -> Result<usize, StoreError> {
        let mut all = self.placed()?;
        all.retain(|placed| placed.folder.starts_with(folder));
        self.wait_for_disk(true)?;
        for placed in &all {
            let sql = "DELETE FROM placed_skills WHERE folder = ?1";
            let removed = self.connection.execute(sql, [placed.folder.to_str()]);
            removed.map_err(|source| self.fail(source))?;
        }
        Ok(all.len())
    }

    /// The skills that were placed directly in this folder, sorted.
    ///
    /// # Errors
    /// If the database can't be read.
    pub fn placed_in(&self, folder: &Path) -> Result<Vec<PlacedSkill>, StoreError> {
        let mut all = self.placed()?;
        all.retain(|placed| placed.folder.parent() == Some(folder));
        Ok(all)
    }

    fn placed(&self) -> Result<Vec<PlacedSkill>, StoreError> {
        let read = || {
            let sql = "SELECT folder, digest, placed_at FROM placed_skills ORDER BY folder";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(PlacedSkill {
                    folder: PathBuf::from(row.get::<_, String>(0)?),
                    digest: row.get(1)?,
                    at: row.get(2)?,
                })
            })?;
            rows.collect::<rusqlite::Result<Vec<PlacedSkill>>>()
        };
        read().map_err(|source| self.fail(source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placed_skill_is_one_folder_and_exact_bytes() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(&home.path().join("metier.db")).unwrap();
        let placed = |folder: &str, digest: &str| PlacedSkill {
            folder: folder.into(),
            digest: digest.into(),
            at: "2026-01-31T09:00:00Z".into(),
        };
        store
            .place_skill(&placed("/p/skills/a", "sha256:1"))
            .unwrap();
        store
            .place_skill(&placed("/p/skills/a", "sha256:2"))
            .unwrap();
        store
            .place_skill(&placed("/p/skills/a/b", "sha256:3"))
            .unwrap();
        store
            .place_skill(&placed("/p/skills2/c", "sha256:4"))
            .unwrap();
        let found = store.placed_in(Path::new("/p/skills")).unwrap();
        assert_eq!(found, [placed("/p/skills/a", "sha256:2")]);
        assert_eq!(store.placed_in(Path::new("/p")).unwrap(), []);
        assert_eq!(store.forget_placed(Path::new("/p/skills")).unwrap(), 2);
        assert_eq!(store.placed_in(Path::new("/p/skills")).unwrap(), []);
        assert_eq!(store.forget_placed(Path::new("/p")).unwrap(), 1);
    }
}
