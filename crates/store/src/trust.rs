//! Folders that the user trusts.
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

impl Store {
    /// Trusts a folder and all below it. Trusting it again moves the time.
    pub fn trust(&self, folder: &Path, now: &str) -> Result<(), StoreError> {
        let folder = checked(folder)?;
        let sql = "INSERT INTO trust (folder, trusted_at) VALUES (?1, ?2)
                   ON CONFLICT (folder) DO UPDATE SET trusted_at = excluded.trusted_at";
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
