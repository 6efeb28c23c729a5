//! Folders that the user trusts, and the skill roots in them that the trust covers.
//!
//! Trust covers the roots that existed when it was given: a root that appears in a trusted folder later was planted
//! there, or came with an update, and has to be trusted separately ([`Store::trusts_root`]). Rows written before
//! roots were listed cover the usual roots directly in their folder.
//!
//! A folder is trusted if it or one of its ancestors is. A path is compared part by part and never as a string, so
//! `/src/app` does not cover `/src/application`; `..` is rejected, because `/src/app/../other` only looks like a path
//! below `/src/app`. The caller resolves links: it passes canonical paths.

use std::path::{Component, Path, PathBuf};

use rusqlite::{OptionalExtension, Row, params};

use crate::{Store, StoreError};

/// A trusted folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// The canonical path of the folder.
    pub folder: PathBuf,
    /// When it was trusted, as the caller wrote it.
    pub at: String,
}

/// A skill root in a trusted folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedRoot {
    /// Its path below the folder, as named there.
    pub root: PathBuf,
    /// Its canonical path: a link that is changed later is another root.
    pub target: PathBuf,
}

impl Store {
    /// Trusts the roots in a folder, and no others in it. Trusting it again updates the time.
    ///
    /// # Errors
    /// If a path is not absolute or not UTF-8, or the database can't be written.
    pub fn trust_roots(
        &self,
        folder: &Path,
        roots: &[TrustedRoot],
        now: &str,
    ) -> Result<(), StoreError> {
        let fail = |source| self.fail(source);
        let name = checked(folder)?;
        let name = text(&name)?;
        self.wait_for_disk(true)?;
        let transaction = self.connection.unchecked_transaction().map_err(fail)?;
        self.trust(folder, now)?;
        let listed = "UPDATE trust SET lists_roots = 1 WHERE folder = ?1";
        transaction.execute(listed, [name]).map_err(fail)?;
        let forgotten = "DELETE FROM trusted_roots WHERE folder = ?1";
        transaction.execute(forgotten, [name]).map_err(fail)?;
        let added =
            "INSERT OR REPLACE INTO trusted_roots (folder, root, target) VALUES (?1, ?2, ?3)";
        for root in roots {
            let values = params![name, text(&root.root)?, text(&root.target)?];
            transaction.execute(added, values).map_err(fail)?;
        }
        transaction.commit().map_err(fail)
    }

    /// Whether this skill root is trusted: listed with a folder that contains it, or one of the `usual` ones directly
    /// in a folder that was trusted before roots were listed.
    ///
    /// # Errors
    /// If the path is not absolute, or the database can't be read.
    pub fn trusts_root(
        &self,
        root: &Path,
        target: &Path,
        usual: &[&str],
    ) -> Result<bool, StoreError> {
        let root = absolute(root)?;
        let (Some(target), true) = (target.to_str(), root.to_str().is_some()) else {
            return Ok(false); // such a path is never stored
        };
        for folder in root.ancestors() {
            let Ok(below) = root.strip_prefix(folder) else {
                continue;
            };
            let lists = "SELECT lists_roots FROM trust WHERE folder = ?1";
            let has = "SELECT 1 FROM trusted_roots WHERE folder = ?1 AND root = ?2 AND target = ?3";
            let (folder, below) = (text(folder)?, text(below)?);
            let read = || {
                let mut rows = self.connection.prepare_cached(lists)?;
                let lists_roots: Option<bool> =
                    rows.query_row([folder], |row| row.get(0)).optional()?;
                match lists_roots {
                    None => Ok(false),
                    Some(false) => Ok(usual.contains(&below)),
                    Some(true) => self
                        .connection
                        .prepare_cached(has)?
                        .exists([folder, below, target]),
                }
            };
            if read().map_err(|source| self.fail(source))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Trusts a folder and everything below it. Trusting it again updates the time.
    pub fn trust(&self, folder: &Path, now: &str) -> Result<(), StoreError> {
        let folder = checked(folder)?;
        let sql = "INSERT INTO trust (folder, trusted_at) VALUES (?1, ?2)
                   ON CONFLICT (folder) DO UPDATE SET trusted_at = excluded.trusted_at";
        self.wait_for_disk(true)?;
        self.connection
            .execute(sql, params![text(&folder)?, now])
            .map_err(|source| self.fail(source))?;
        Ok(())
    }

    /// Revokes the trust in exactly this folder; returns whether there was any. A folder that is trusted through an
    /// ancestor stays trusted; [`Store::trusted_by`] returns that ancestor.
    pub fn revoke(&self, folder: &Path) -> Result<bool, StoreError> {
        let folder = checked(folder)?;
        let sql = "DELETE FROM trust WHERE folder = ?1";
        self.wait_for_disk(true)?;
        let removed = self
            .connection
            .execute(sql, params![text(&folder)?])
            .map_err(|source| self.fail(source))?;
        Ok(removed > 0)
    }

    /// All trusted folders, ordered by path.
    pub fn trusted(&self) -> Result<Vec<Trusted>, StoreError> {
        let read = || {
            let mut statement = self
                .connection
                .prepare("SELECT folder, trusted_at FROM trust ORDER BY folder")?;
            statement
                .query_map([], trusted)?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|source| self.fail(source))
    }

    /// The nearest trusted folder at or above this one.
    pub fn trusted_by(&self, folder: &Path) -> Result<Option<Trusted>, StoreError> {
        let folder = absolute(folder)?;
        let read = |ancestor: &str| {
            let sql = "SELECT folder, trusted_at FROM trust WHERE folder = ?1";
            self.connection
                .prepare_cached(sql)?
                .query_row([ancestor], trusted)
                .optional()
        };
        for ancestor in folder.ancestors() {
            if let Some(found) = read(text(ancestor)?).map_err(|source| self.fail(source))? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

fn trusted(row: &Row<'_>) -> rusqlite::Result<Trusted> {
    Ok(Trusted {
        folder: PathBuf::from(row.get::<_, String>(0)?),
        at: row.get(1)?,
    })
}

/// A folder that can be stored and is not too broad.
fn checked(folder: &Path) -> Result<PathBuf, StoreError> {
    if folder.as_os_str().is_empty() {
        return Err(StoreError::TooBroad {
            folder: folder.to_owned(),
        });
    }
    let folder = absolute(folder)?;
    if folder.parent().is_none() {
        return Err(StoreError::TooBroad { folder });
    }
    Ok(folder)
}

/// The path without `.` and doubled or trailing slashes.
fn absolute(folder: &Path) -> Result<PathBuf, StoreError> {
    let climbs = folder.components().any(|part| part == Component::ParentDir);
    if climbs || !folder.is_absolute() {
        return Err(StoreError::NotAbsolute {
            folder: folder.to_owned(),
        });
    }
    Ok(folder.components().collect())
}

fn text(folder: &Path) -> Result<&str, StoreError> {
    folder.to_str().ok_or_else(|| StoreError::NotUtf8 {
        folder: folder.to_owned(),
    })
}
