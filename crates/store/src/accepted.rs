//! Skills that the user takes as they are.
//!
//! The scanner blocks what is dangerous and what it could not read. The user may know better, and says so for exactly the bytes that
//! were looked at: another byte, another digest, and the question is open again. Nobody but the user writes here.

use rusqlite::{OptionalExtension, Row, params};

use crate::{Store, StoreError};

/// A skill that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Its exact bytes, as `sha256:…`.
    pub digest: String,
    /// The name that it had.
    pub skill: String,
    /// What the scanner had said.
    pub verdict: String,
    /// Why, as the user put it.
    pub reason: Option<String>,
    /// When, as the caller wrote it.
    pub at: String,
}

impl Store {
    /// Accepts a skill. Doing it again replaces the reason and the time.
    pub fn accept(&self, accepted: &Accepted) -> Result<(), StoreError> {
        let sql = "INSERT INTO accepted (digest, skill, verdict, reason, accepted_at) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT (digest) DO UPDATE SET skill = excluded.skill, verdict = excluded.verdict,
                       reason = excluded.reason, accepted_at = excluded.accepted_at";
        let row = params![
            accepted.digest,
            accepted.skill,
            accepted.verdict,
            accepted.reason,
            accepted.at
        ];
        self.wait_for_disk(true)?;
        let done = self.connection.execute(sql, row);
        done.map(drop).map_err(|source| self.fail(source))
    }

    /// Takes it back, and says whether there was anything to take back.
    pub fn take_back(&self, digest: &str) -> Result<bool, StoreError> {
        let sql = "DELETE FROM accepted WHERE digest = ?1";
        self.wait_for_disk(true)?;
        let removed = self.connection.execute(sql, [digest]);
        removed
            .map(|removed| removed > 0)
            .map_err(|source| self.fail(source))
    }

    /// What was accepted about these bytes.
    pub fn accepted(&self, digest: &str) -> Result<Option<Accepted>, StoreError> {
        let sql =
            "SELECT digest, skill, verdict, reason, accepted_at FROM accepted WHERE digest = ?1";
        let read = || {
            self.connection
                .prepare_cached(sql)?
                .query_row([digest], accepted)
                .optional()
        };
        read().map_err(|source| self.fail(source))
    }

    /// Everything that was accepted, in order of names.
    pub fn all_accepted(&self) -> Result<Vec<Accepted>, StoreError> {
        let sql = "SELECT digest, skill, verdict, reason, accepted_at FROM accepted ORDER BY skill, digest";
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            statement
                .query_map([], accepted)?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|source| self.fail(source))
    }
}

fn accepted(row: &Row<'_>) -> rusqlite::Result<Accepted> {
    Ok(Accepted {
        digest: row.get(0)?,
        skill: row.get(1)?,
        verdict: row.get(2)?,
        reason: row.get(3)?,
        at: row.get(4)?,
    })
}
