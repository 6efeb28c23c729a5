//! The state that a skill was left in, such as an error of its last activation. It has no effect: `metier info` shows it.

use rusqlite::{OptionalExtension, Row, params};

use crate::{Store, StoreError};

/// The state that a skill was left in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillState {
    /// The name of the skill in this state.
    pub skill: String,
    /// Where the skill comes from.
    pub source: String,
    /// The state, as a word of the caller.
    pub state: String,
    /// When it entered the state, as the caller wrote it.
    pub since: String,
    /// Details, such as an error message.
    pub detail: Option<String>,
}

impl Store {
    /// Stores the state of a skill and replaces the previous one.
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

    /// Removes the state of a skill; returns whether there was one.
    pub fn forget_state(&self, skill: &str, source: &str) -> Result<bool, StoreError> {
        let sql = "DELETE FROM skill_state WHERE skill = ?1 AND source = ?2";
        self.wait_for_disk(true)?;
        let removed = self.connection.execute(sql, [skill, source]);
        removed
            .map(|removed| removed > 0)
            .map_err(|source| self.fail(source))
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
