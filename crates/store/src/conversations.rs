//! What was said with a model, line by line.
//!
//! A conversation must outlive the program that holds it: whoever takes it up again finds every line that was
//! acknowledged, and none twice. Two could take up the same one at once, each with a model's answer to another
//! question in hand; mixed, their lines would make a conversation that nobody had. So a writer says how many lines it
//! knows of, and if there are more by now, it is told so and nothing is written.
//!
//! What a line means is the caller's business: its body is a text, kept to the byte. How many lines there are and when
//! the last one came is in the conversation's own row, written in the same transaction: a list of conversations reads
//! no lines, and lines that went missing are missed.
//!
//! A conversation that another one started, such as that of a sub-agent, names it as its parent and is not listed.

use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::words::unsigned;
use crate::{Store, StoreError};

/// The most bytes of a line's body.
pub const LONGEST_LINE: usize = 32 * 1024 * 1024;

/// The fewest characters of an id that may stand for all of it.
const SHORTEST_PREFIX: usize = 4;

/// A conversation that begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewConversation<'a> {
    /// A name that no other has.
    pub id: &'a str,
    /// When, in RFC 3339.
    pub at: &'a str,
    /// The project that it is about.
    pub folder: &'a str,
    /// The model that it is with.
    pub model: &'a str,
    /// What people know it by.
    pub title: &'a str,
    /// The conversation that began it.
    pub parent: Option<&'a str>,
}

/// A conversation, without its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversation {
    /// A name that no other has.
    pub id: String,
    /// When it began, in RFC 3339.
    pub started_at: String,
    /// The project that it is about.
    pub folder: String,
    /// The model that it began with.
    pub model: String,
    /// What people know it by.
    pub title: String,
    /// The conversation that began it.
    pub parent: Option<String>,
    /// How many lines it has.
    pub lines: u64,
    /// When the last one came, or when it began if there is none.
    pub last_at: String,
}

/// One line of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConversationLine {
    /// Its number: 1, 2, 3 …
    pub number: u64,
    /// When it came, as the caller wrote it.
    pub at: String,
    /// What it says, as the caller wrote it.
    pub body: String,
}

impl Store {
    /// Begins a conversation, without any lines. Its id must be new, and its parent there.
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

    /// Appends lines in this order, all or none, to a conversation that has `after` lines, and says how many it has
    /// now. If somebody else went on with it, that is an error and nothing is written.
    ///
    /// They outlive this program, whatever ends it. The disk is not waited for: after a power cut the last moments may
    /// be missing.
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
        // Refusals come before anything is written: then what is committed is nothing.
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
    pub fn conversation(&self, id: &str) -> Result<Option<Conversation>, StoreError> {
        let sql = "SELECT * FROM conversations WHERE id = ?1";
        let read = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_row([id], conversation).optional()
        };
        read().map_err(|source| self.fail(source))
    }

    /// The conversations that somebody may mean who typed the beginning of an id: the one with exactly this id, else
    /// all whose ids begin so, in their order. Fewer than four characters are not a beginning.
    pub fn find_conversation(&self, prefix: &str) -> Result<Vec<Conversation>, StoreError> {
        if let Some(exact) = self.conversation(prefix)? {
            return Ok(vec![exact]);
        }
        if prefix.chars().count() < SHORTEST_PREFIX {
            return Ok(Vec::new());
        }
        // Not LIKE: in there, `_` and `%` mean something, and `A` is `a`.
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

    /// The conversations that no other one began, of one project or of all, at most so many. The one whose last line is
    /// the newest comes first, and of two at the same time the one that began later; those whose time can't be read
    /// come last.
    pub fn conversations(
        &self,
        folder: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Conversation>, StoreError> {
        // Times are compared as times: as texts, `09:00:00.5Z` comes before `09:00:00Z`.
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

    /// All lines of a conversation, from the first to the last. That there is no such conversation is an error: it must
    /// not be taken for one in which nothing was said.
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

/// Where the lines of a conversation go.
struct Place {
    /// What its lines name it by.
    number: i64,
    /// How many there are.
    lines: u64,
}

fn place(connection: &Connection, id: &str) -> rusqlite::Result<Option<Place>> {
    let sql = "SELECT number, lines FROM conversations WHERE id = ?1";
    let place = |row: &Row<'_>| {
        Ok(Place {
            number: row.get(0)?,
            lines: unsigned(row, 1)?,
        })
    };
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([id], place).optional()
}

/// The numbers of so many lines after that one, as the database has them. Only a count that was never written here
/// leaves no room for more.
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

fn conversation(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    Ok(Conversation {
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
