//! Conversations with models, line by line.
//!
//! A conversation must outlive the program that writes it: resuming finds every acknowledged line exactly once. Two
//! processes could resume the same conversation, each with a model's answer to a different question; mixed, their
//! lines would form a conversation that never took place. So a writer passes the number of lines that it knows, and
//! if there are more, it gets an error and nothing is written.
//!
//! The store does not interpret lines: a body is kept byte for byte. The number of lines and the time of the last one
//! are in the conversation's row, written in the same transaction, so a list of conversations reads no lines and
//! missing lines are detected.
//!
//! A conversation that another one started, such as that of a sub-agent, names it as its parent and is not listed.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::column_values::unsigned;
use crate::{Store, StoreError};

/// The maximum length of a line's body in bytes.
pub const LONGEST_LINE: usize = 32 * 1024 * 1024;

/// The minimum length of an abbreviated id in characters.
const SHORTEST_PREFIX: usize = 4;

/// A conversation to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewConversation<'a> {
    /// Its unique id.
    pub id: &'a str,
    /// When it starts, in RFC 3339.
    pub at: &'a str,
    /// The project folder it belongs to.
    pub folder: &'a str,
    /// The model that it uses.
    pub model: &'a str,
    /// The title shown to the user.
    pub title: &'a str,
    /// The conversation that started it.
    pub parent: Option<&'a str>,
}

/// A conversation, without its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationRecord {
    /// Its unique id.
    pub id: String,
    /// When it started, in RFC 3339.
    pub started_at: String,
    /// The project folder it belongs to.
    pub folder: String,
    /// The model it started with.
    pub model: String,
    /// The title shown to the user.
    pub title: String,
    /// The conversation that started it.
    pub parent: Option<String>,
    /// The number of its lines.
    pub lines: u64,
    /// When its last line was written, or when it started if it has none.
    pub last_at: String,
}

/// One line of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationLine {
    /// Its number: 1, 2, 3 …
    pub number: u64,
    /// When it was written, as the caller wrote it.
    pub at: String,
    /// The content, as the caller wrote it.
    pub body: String,
}

impl Store {
    /// Starts a conversation without lines. Its id must be new, and its parent must exist.
    pub fn begin_conversation(&self, new: &NewConversation<'_>) -> Result<(), StoreError> {
        self.write_without_waiting(|connection| {
            if place(connection, new.id)?.is_some() {
                return Ok(Err(StoreError::ConversationExists {
                    id: new.id.to_owned(),
                }));
            }
            if let Some(parent) = new.parent
                && place(connection, parent)?.is_none()
            {
                return Ok(Err(missing(parent)));
            }
            let sql = "INSERT INTO conversations (id, started_at, folder, model, title, parent, lines, last_at)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?2)";
            let row = params![new.id, new.at, new.folder, new.model, new.title, new.parent];
            connection.prepare_cached(sql)?.execute(row)?;
            Ok(Ok(()))
        })?
    }

    /// Appends lines in this order, all or none, to a conversation that has `after` lines; returns how many it has
    /// now. If another process continued it, that is an error and nothing is written.
    ///
    /// The lines survive the end of this program, however it ends. The call does not wait for the disk: after a power
    /// failure the last moments can be missing.
    pub fn append_lines(
        &self,
        id: &str,
        after: u64,
        at: &str,
        bodies: &[&str],
    ) -> Result<u64, StoreError> {
        if let Some(body) = bodies.iter().find(|body| body.len() > LONGEST_LINE) {
            return Err(StoreError::LineTooLong {
                id: id.to_owned(),
                bytes: body.len(),
                most: LONGEST_LINE,
            });
        }
        // Refusals are returned before anything is written, so the commit is empty.
        self.write_without_waiting(|connection| {
            let Some(place) = place(connection, id)? else {
                return Ok(Err(missing(id)));
            };
            if place.lines != after {
                return Ok(Err(StoreError::WentOn {
                    id: id.to_owned(),
                    after,
                    found: place.lines,
                }));
            }
            match numbers(after, bodies.len()) {
                Some(numbers) => append(connection, place.number, numbers, at, bodies).map(Ok),
                None => Ok(Err(self.damaged())),
            }
        })?
    }

    /// The conversation with this id.
    pub fn conversation(&self, id: &str) -> Result<Option<ConversationRecord>, StoreError> {
        let sql = "SELECT * FROM conversations WHERE id = ?1";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([id], conversation).optional()
        };
        read().map_err(|source| self.fail(source))
    }

    /// The conversations that an abbreviated id can mean: the one with exactly this id, or all whose ids start with
    /// it, in order. Fewer than four characters match nothing.
    pub fn find_conversation(&self, prefix: &str) -> Result<Vec<ConversationRecord>, StoreError> {
        if let Some(exact) = self.conversation(prefix)? {
            return Ok(vec![exact]);
        }
        if prefix.chars().count() < SHORTEST_PREFIX {
            return Ok(Vec::new());
        }
        // Not LIKE: `_` and `%` are wildcards there, and case is ignored.
        let sql = "SELECT * FROM conversations WHERE id >= ?1 ORDER BY id";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let mut rows = statement.query([prefix])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let candidate = conversation(row)?;
                if !candidate.id.starts_with(prefix) {
                    break;
                }
                found.push(candidate);
            }
            Ok(found)
        };
        read().map_err(|source| self.fail(source))
    }

    /// The conversations that have no parent, of one project or of all, at most `limit`. The one with the newest line
    /// is first; of two with the same time, the one that started later. Those with an unreadable time are last.
    pub fn conversations(
        &self,
        folder: Option<&str>,
        limit: u32,
    ) -> Result<Vec<ConversationRecord>, StoreError> {
        // Times are compared as times: as strings, `09:00:00.5Z` comes before `09:00:00Z`.
        let sql = "SELECT * FROM conversations
                   WHERE parent IS NULL AND (?1 IS NULL OR folder = ?1)
                   ORDER BY unixepoch(last_at, 'subsec') DESC, number DESC LIMIT ?2";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement
                .query_map(params![folder, limit], conversation)?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(|source| self.fail(source))
    }

    /// All lines of a conversation, in order. A missing conversation is an error: it must not look like an empty one.
    pub fn conversation_lines(&self, id: &str) -> Result<Vec<ConversationLine>, StoreError> {
        let sql = "SELECT number, at, body FROM conversation_lines WHERE conversation = ?1 ORDER BY number";
        let found = self.read(|connection| {
            let Some(place) = place(connection, id)? else {
                return Ok(None);
            };
            let mut statement = connection.prepare_cached(sql)?;
            let lines = statement
                .query_map([place.number], line)?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(Some((place.lines, lines)))
        })?;
        let (count, lines) = found.ok_or_else(|| missing(id))?;
        if !lines.iter().map(|line| line.number).eq(1..=count) {
            return Err(self.damaged());
        }
        Ok(lines)
    }
}

/// The row that a conversation's lines refer to.
struct LinePlace {
    /// The key that the lines refer to.
    number: i64,
    /// The number of lines.
    lines: u64,
}

fn place(connection: &Connection, id: &str) -> rusqlite::Result<Option<LinePlace>> {
    let sql = "SELECT number, lines FROM conversations WHERE id = ?1";
    let place = |row: &Row<'_>| {
        Ok(LinePlace {
            number: row.get(0)?,
            lines: unsigned(row, 1)?,
        })
    };
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([id], place).optional()
}

/// The numbers of the next `count` lines. `None` only for a count that this program never wrote.
fn numbers(after: u64, count: usize) -> Option<std::ops::Range<i64>> {
    let first = i64::try_from(after).ok()?.checked_add(1)?;
    let end = first.checked_add(i64::try_from(count).ok()?)?;
    Some(first..end)
}

/// Returns the number of the last line.
fn append(
    connection: &Connection,
    conversation: i64,
    numbers: std::ops::Range<i64>,
    at: &str,
    bodies: &[&str],
) -> rusqlite::Result<u64> {
    let last = numbers.end - 1;
    if !bodies.is_empty() {
        let sql = "INSERT INTO conversation_lines (conversation, number, at, body) VALUES (?1, ?2, ?3, ?4)";
        let mut insert = connection.prepare_cached(sql)?;
        for (number, body) in numbers.zip(bodies) {
            insert.execute(params![conversation, number, at, body])?;
        }
        let sql = "UPDATE conversations SET lines = ?2, last_at = ?3 WHERE number = ?1";
        connection
            .prepare_cached(sql)?
            .execute(params![conversation, last, at])?;
    }
    Ok(last.unsigned_abs())
}

fn missing(id: &str) -> StoreError {
    StoreError::NoConversation { id: id.to_owned() }
}

fn conversation(row: &Row<'_>) -> rusqlite::Result<ConversationRecord> {
    Ok(ConversationRecord {
        id: row.get(1)?,
        started_at: row.get(2)?,
        folder: row.get(3)?,
        model: row.get(4)?,
        title: row.get(5)?,
        parent: row.get(6)?,
        lines: unsigned(row, 7)?,
        last_at: row.get(8)?,
    })
}

fn line(row: &Row<'_>) -> rusqlite::Result<ConversationLine> {
    Ok(ConversationLine {
        number: unsigned(row, 0)?,
        at: row.get(1)?,
        body: row.get(2)?,
    })
}
