//! Folders that the user trusts, and the roots of skills in them that this is about.
//!
//! Trust is given to what was there: a root that appears in a trusted folder later was planted there, or came with an update,
//! and has to be trusted itself ([`Store::trusts_root`]). Rows that were written before roots were listed count for the usual
//! roots directly in their folder.
//!
//! A folder is trusted if it or one of its ancestors was. A path is compared part by part and never as text, so
//! `/src/app` says nothing about `/src/application`; `..` is refused, because `/src/app/../other` lies below `/src/app`
//! only on paper. Links are the caller's business: it gives canonical paths.

use std::path::{Component, Path, PathBuf};

use rusqlite::{OptionalExtension, Row, params};

use crate::{Store, StoreError};

/// A folder that was trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trusted {
    /// The folder.
    pub folder: PathBuf,
    /// When, as the caller wrote it.
    pub at: String,
}

/// A root of skills in a folder that is trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedRoot {
    /// Its path below the folder, as it is named there.
    pub root: PathBuf,
    /// Where it is really: a link that leads elsewhere later is another root.
    pub target: PathBuf,
}

impl Store {
    /// Trusts the roots in a folder, and no other ones there. Trusting it again moves the time.
    ///
    /// # Errors
    /// When a path can't be written down, or the database can't be written.
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

    /// Whether this root of skills is trusted: listed with a folder that it lies in, or one of the `usual` ones directly in a
    /// folder that was trusted before roots were listed.
    ///
    /// # Errors
    /// When the path is not absolute, or the database can't be read.
    pub fn trusts_root(
        &self,
        root: &Path,
        target: &Path,
        usual: &[&str],
    ) -> Result<bool, StoreError> {
        let root = absolute(root)?;
        let (Some(target), true) = (target.to_str(), root.to_str().is_some()) else {
            return Ok(false); // no such path is ever written down
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

    /// Trusts a folder and all below it. Trusting it again moves the time.
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

    /// Takes back the trust in exactly this folder, and says whether there was any. One that is trusted through an
    /// ancestor stays so; [`Store::trusted_by`] names that ancestor.
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

    /// All trusted folders, in order of their paths.
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

    /// Whether the folder or one of its ancestors was trusted.
    pub fn is_trusted(&self, folder: &Path) -> Result<bool, StoreError> {
        Ok(self.trusted_by(folder)?.is_some())
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

/// A folder that can be named in a row.
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
