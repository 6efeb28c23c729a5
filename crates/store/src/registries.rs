//! The stored data about registries: their responses, the ends of their logs, the digests of versions.

use rusqlite::{OptionalExtension, params};

use crate::{Store, StoreError};

/// The maximum number of kept responses; the oldest are deleted.
const MAX_ANSWERS: i64 = 2_000;

/// A response of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryAnswer {
    /// The document.
    pub body: Vec<u8>,
    /// Its `ETag`.
    pub etag: Option<String>,
    /// When it was fetched or confirmed, in seconds since 1970.
    pub fetched_at: u64,
}

impl Store {
    /// The last response from an address.
    ///
    /// # Errors
    /// If the database can't be read.
    pub fn registry_answer(&self, url: &str) -> Result<Option<RegistryAnswer>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT body, etag, fetched_at FROM registry_answers WHERE url = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            let read = |row: &rusqlite::Row<'_>| {
                Ok(RegistryAnswer {
                    body: row.get(0)?,
                    etag: row.get(1)?,
                    fetched_at: u64::try_from(row.get::<_, i64>(2)?).unwrap_or_default(),
                })
            };
            statement.query_row([url], read).optional()
        })
    }

    /// Stores a response in place of the last one.
    ///
    /// # Errors
    /// If the database can't be written.
    pub fn set_registry_answer(
        &self,
        url: &str,
        answer: &RegistryAnswer,
    ) -> Result<(), StoreError> {
        let fetched_at = i64::try_from(answer.fetched_at).unwrap_or(i64::MAX);
        self.write_without_waiting(|connection| {
            let sql = "INSERT OR REPLACE INTO registry_answers (url, body, etag, fetched_at) VALUES (?1, ?2, ?3, ?4)";
            let row = params![url, answer.body, answer.etag, fetched_at];
            connection.prepare_cached(sql)?.execute(row)?;
            let sql = "DELETE FROM registry_answers WHERE url IN
                (SELECT url FROM registry_answers ORDER BY fetched_at DESC LIMIT -1 OFFSET ?1)";
            connection.prepare_cached(sql)?.execute([MAX_ANSWERS])?;
            Ok(())
        })
    }

    /// The position and the hash of the end of a registry's log.
    ///
    /// # Errors
    /// If the database can't be read.
    pub fn registry_log(&self, registry: &str) -> Result<Option<(u64, String)>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT position, hash FROM registry_logs WHERE registry = ?1";
            let read = |row: &rusqlite::Row<'_>| {
                let position = u64::try_from(row.get::<_, i64>(0)?).unwrap_or_default();
                Ok((position, row.get(1)?))
            };
            connection.query_row(sql, [registry], read).optional()
        })
    }

    /// Stores the end of a registry's log. An earlier position than the known one changes nothing: another process was faster.
    ///
    /// # Errors
    /// If the database can't be written.
    pub fn set_registry_log(
        &self,
        registry: &str,
        position: u64,
        hash: &str,
    ) -> Result<(), StoreError> {
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        self.write_without_waiting(|connection| {
            let sql = "INSERT INTO registry_logs (registry, position, hash) VALUES (?1, ?2, ?3)
                ON CONFLICT (registry) DO UPDATE SET position = excluded.position, hash = excluded.hash
                WHERE excluded.position > position";
            connection.execute(sql, params![registry, position, hash])?;
            Ok(())
        })
    }

    /// The first known digest of a version of a skill.
    ///
    /// # Errors
    /// If the database can't be read.
    pub fn registry_version(
        &self,
        registry: &str,
        skill: &str,
        version: &str,
    ) -> Result<Option<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT digest FROM registry_versions WHERE registry = ?1 AND skill = ?2 AND version = ?3";
            let mut statement = connection.prepare_cached(sql)?;
            let row = [registry, skill, version];
            statement.query_row(row, |row| row.get(0)).optional()
        })
    }

    /// Stores the digest of a version. A known one stays.
    ///
    /// # Errors
    /// If the database can't be written.
    pub fn set_registry_version(
        &self,
        registry: &str,
        skill: &str,
        version: &str,
        digest: &str,
    ) -> Result<(), StoreError> {
        self.write_without_waiting(|connection| {
            let sql = "INSERT OR IGNORE INTO registry_versions (registry, skill, version, digest) VALUES (?1, ?2, ?3, ?4)";
            let row = [registry, skill, version, digest];
            connection.prepare_cached(sql)?.execute(row)?;
            Ok(())
        })
    }
}
