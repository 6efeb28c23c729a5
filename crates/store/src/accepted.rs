//! Skills that the user accepted despite the scanner's findings.
//!
//! The scanner blocks dangerous skills and skills that it could not read completely. The user can accept one, for
//! exactly the bytes that were scanned: when a byte changes, the digest changes and the acceptance no longer applies.
//! Only the user's decisions are written here.

use rusqlite::{OptionalExtension, Row, params};

use crate::{Store, StoreError};

/// An accepted skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Its exact bytes, as `sha256:…`.
    pub digest: String,
    /// The skill's name when it was accepted.
    pub skill: String,
    /// The scanner's verdict when it was accepted.
    pub verdict: String,
    /// The user's reason.
    pub reason: Option<String>,
    /// When it was accepted, as the caller wrote it.
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

    /// Revokes an acceptance; returns whether there was one.
    pub fn take_back(&self, digest: &str) -> Result<bool, StoreError> {
        let sql = "DELETE FROM accepted WHERE digest = ?1";
        self.wait_for_disk(true)?;
        let removed = self.connection.execute(sql, [digest]);
        removed
            .map(|removed| removed > 0)
            .map_err(|source| self.fail(source))
    }

    /// The acceptance of exactly these bytes.
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

    /// All acceptances, ordered by skill.
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
