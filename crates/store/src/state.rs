//! Two small memories: what state a skill was left in, and what a registry said lately.
//!
//! Neither decides what may run. A registry's answer is kept under a key that names the registry, so that one can't
//! speak for another; it counts while it is fresh, and after that only for whoever asks for the old one, to show it
//! without a network or to ask the registry whether it still holds.

use rusqlite::{OptionalExtension, Row, params};

use crate::{Store, StoreError};

/// The state that a skill was left in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillState {
    /// The skill's name.
    pub skill: String,
    /// Where the skill comes from.
    pub source: String,
    /// The state; the words are the caller's.
    pub state: String,
    /// Since when, as the caller wrote it.
    pub since: String,
    /// More about it, such as an error.
    pub detail: Option<String>,
}

/// What a registry said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cached {
    /// The question, with the registry that was asked.
    pub key: String,
    /// The answer.
    pub body: Vec<u8>,
    /// The registry's name for this version of the answer.
    pub etag: Option<String>,
    /// When, in seconds since 1970.
    pub fetched_at: i64,
    /// For how many seconds it counts.
    pub ttl: i64,
}

impl Store {
    /// Remembers the state of a skill, in place of the one before.
    pub fn set_state(&self, state: &SkillState) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO skill_state (skill, source, state, since, detail)
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![
            state.skill,
            state.source,
            state.state,
            state.since,
            state.detail
        ];
        self.wait_for_disk(true)?;
        let done = self.connection.execute(sql, row);
        done.map(drop).map_err(|source| self.fail(source))
    }

    /// The state of a skill.
    pub fn state(&self, skill: &str, source: &str) -> Result<Option<SkillState>, StoreError> {
        let sql = "SELECT skill, source, state, since, detail FROM skill_state
                   WHERE skill = ?1 AND source = ?2";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([skill, source], state).optional()
        };
        read().map_err(|source| self.fail(source))
    }

    /// All states, in order of names.
    pub fn states(&self) -> Result<Vec<SkillState>, StoreError> {
        let sql =
            "SELECT skill, source, state, since, detail FROM skill_state ORDER BY skill, source";
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            statement
                .query_map([], state)?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|source| self.fail(source))
    }

    /// Forgets the state of a skill, and says whether there was one.
    pub fn forget_state(&self, skill: &str, source: &str) -> Result<bool, StoreError> {
        let sql = "DELETE FROM skill_state WHERE skill = ?1 AND source = ?2";
        self.wait_for_disk(true)?;
        let removed = self.connection.execute(sql, [skill, source]);
        removed
            .map(|removed| removed > 0)
            .map_err(|source| self.fail(source))
    }

    /// Keeps what a registry said, in place of what it said before.
    pub fn cache(&self, cached: &Cached) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO registry_cache (key, body, etag, fetched_at, ttl)
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = params![
            cached.key,
            cached.body,
            cached.etag,
            cached.fetched_at,
            cached.ttl
        ];
        self.wait_for_disk(true)?;
        let done = self.connection.execute(sql, row);
        done.map(drop).map_err(|source| self.fail(source))
    }

    /// What a registry said, if it is fresh at `now`. What was fetched in the future is not: the clock was wrong then
    /// or is wrong now.
    pub fn cached(&self, key: &str, now: i64) -> Result<Option<Cached>, StoreError> {
        let found = self.cached_or_stale(key)?;
        Ok(found.filter(|cached| cached.is_fresh(now)))
    }

    /// What a registry said, however long ago.
    pub fn cached_or_stale(&self, key: &str) -> Result<Option<Cached>, StoreError> {
        let sql = "SELECT key, body, etag, fetched_at, ttl FROM registry_cache WHERE key = ?1";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([key], cached).optional()
        };
        read().map_err(|source| self.fail(source))
    }

    /// Removes what was fetched before this time, fresh or not, and says how many answers that were.
    pub fn prune_cache(&self, before: i64) -> Result<usize, StoreError> {
        let sql = "DELETE FROM registry_cache WHERE fetched_at < ?1";
        self.wait_for_disk(true)?;
        let removed = self.connection.execute(sql, [before]);
        removed.map_err(|source| self.fail(source))
    }
}

impl Cached {
    /// Whether it counts at this time.
    pub fn is_fresh(&self, now: i64) -> bool {
        self.fetched_at <= now && now < self.fetched_at.saturating_add(self.ttl)
    }
}

fn state(row: &Row<'_>) -> rusqlite::Result<SkillState> {
    Ok(SkillState {
        skill: row.get(0)?,
        source: row.get(1)?,
        state: row.get(2)?,
        since: row.get(3)?,
        detail: row.get(4)?,
    })
}

fn cached(row: &Row<'_>) -> rusqlite::Result<Cached> {
    Ok(Cached {
        key: row.get(0)?,
        body: row.get(1)?,
        etag: row.get(2)?,
        fetched_at: row.get(3)?,
        ttl: row.get(4)?,
    })
}
