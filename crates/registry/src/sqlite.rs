//! The database as one SQLite file.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metier_package::registry_api::{LoggedAction, RegistryLogEntry, RegistryLogHead};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::database::{
    DatabaseError, RegistryDatabase, StoredSkill, StoredToken, StoredVersion, VersionState, latest,
    next_entry,
};

/// The application id in the file's header: "metr".
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"metr");
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// One list of statements for each version of the schema. Append; never change a released one.
const MIGRATIONS: &[&str] = &["
    CREATE TABLE skills (
        name  TEXT NOT NULL PRIMARY KEY,
        owner TEXT NOT NULL
    ) STRICT;

    -- `body` is the version as JSON; `number` is the order of publication.
    CREATE TABLE versions (
        number  INTEGER PRIMARY KEY AUTOINCREMENT,
        name    TEXT NOT NULL REFERENCES skills (name),
        version TEXT NOT NULL,
        archive TEXT NOT NULL,
        body    TEXT NOT NULL,
        UNIQUE (name, version)
    ) STRICT;
    CREATE TRIGGER versions_stay BEFORE DELETE ON versions
        BEGIN SELECT raise(ABORT, 'versions are never removed'); END;
    CREATE TRIGGER versions_keep_their_bytes BEFORE UPDATE ON versions
        WHEN NEW.archive IS NOT OLD.archive OR NEW.name IS NOT OLD.name OR NEW.version IS NOT OLD.version
        BEGIN SELECT raise(ABORT, 'versions never change their bytes'); END;

    -- The latest available version of each skill: what a list and a search show.
    CREATE TABLE latest (
        name   TEXT NOT NULL PRIMARY KEY REFERENCES skills (name),
        number INTEGER NOT NULL REFERENCES versions (number)
    ) STRICT;
    CREATE VIRTUAL TABLE words USING fts5 (name, description, tags, tokenize = 'unicode61');

    CREATE TABLE log (
        position INTEGER PRIMARY KEY,
        body     TEXT NOT NULL
    ) STRICT;
    CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
        BEGIN SELECT raise(ABORT, 'the log is only appended'); END;
    CREATE TRIGGER log_is_not_removed BEFORE DELETE ON log
        BEGIN SELECT raise(ABORT, 'the log is only appended'); END;

    CREATE TABLE tokens (
        number     INTEGER PRIMARY KEY AUTOINCREMENT,
        id         TEXT NOT NULL UNIQUE,
        hash       TEXT NOT NULL UNIQUE,
        owner      TEXT NOT NULL,
        scope      TEXT NOT NULL,
        created_at TEXT NOT NULL
    ) STRICT;
"];

/// A registry's database in one file. One connection, because SQLite has one writer and reading a row takes microseconds.
pub struct SqliteDatabase {
    connection: Mutex<Connection>,
}

impl SqliteDatabase {
    /// Opens a database, which is created if it is missing.
    ///
    /// # Errors
    /// If the file can't be opened, is not a registry's database, or was written by a newer version.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(DatabaseError::new)?;
        }
        let connection = Connection::open(path).map_err(DatabaseError::new)?;
        Self::prepare(connection)
    }

    fn prepare(mut connection: Connection) -> Result<Self, DatabaseError> {
        let newest = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
        let mut migrate = || -> rusqlite::Result<Option<&'static str>> {
            connection.busy_timeout(BUSY_TIMEOUT)?;
            let id: i32 =
                connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
            let version: i64 =
                connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
            if (id, version) != (0, 0) && id != APPLICATION_ID {
                return Ok(Some("the file is another program's database"));
            }
            if version > newest {
                return Ok(Some("a newer version of metier-registry wrote the file"));
            }
            connection.pragma_update(None, "journal_mode", "wal")?;
            connection.pragma_update(None, "synchronous", "full")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let version: i64 =
                transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
            for (position, sql) in (0..newest).zip(MIGRATIONS) {
                if position >= version {
                    transaction.execute_batch(sql)?;
                }
            }
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", newest)?;
            transaction.commit()?;
            Ok(None)
        };
        match migrate().map_err(DatabaseError::new)? {
            Some(problem) => Err(DatabaseError::new(problem)),
            None => Ok(Self {
                connection: Mutex::new(connection),
            }),
        }
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic between two statements rolled its transaction back.
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes all of it or nothing.
    fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut connection = self.connection();
        let transaction = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(DatabaseError::new)?;
        let written = write(&transaction)?;
        transaction.commit().map_err(DatabaseError::new)?;
        Ok(written)
    }
}

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        Self::new(error)
    }
}

impl From<serde_json::Error> for DatabaseError {
    fn from(error: serde_json::Error) -> Self {
        Self::new(error)
    }
}

impl RegistryDatabase for SqliteDatabase {
    fn skill(&self, name: &str) -> Result<Option<StoredSkill>, DatabaseError> {
        skill(&self.connection(), name)
    }

    fn names(&self) -> Result<Vec<(String, String)>, DatabaseError> {
        let connection = self.connection();
        let mut statement =
            connection.prepare_cached("SELECT name, owner FROM skills ORDER BY name")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn search(
        &self,
        words: &[String],
        offset: u64,
        limit: u64,
    ) -> Result<(Vec<(String, StoredVersion)>, u64), DatabaseError> {
        const SHOWN: &str = "SELECT skills.owner, versions.body FROM latest
            JOIN versions ON versions.number = latest.number JOIN skills ON skills.name = latest.name";
        let connection = self.connection();
        let page = |limit: u64| i64::try_from(limit).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let (found, total): (Vec<(String, String)>, i64) = if words.is_empty() {
            let sql = "SELECT count(*) FROM latest";
            let total: i64 = connection.query_one(sql, [], |row| row.get(0))?;
            let sql = format!("{SHOWN} ORDER BY latest.name LIMIT ?1 OFFSET ?2");
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![page(limit), page(offset)], read)?;
            (rows.collect::<Result<_, _>>()?, total)
        } else {
            // The words are letters and digits in quotes, so none is parsed as FTS syntax. Each matches as a prefix, because the user may
            // still be typing.
            let query: Vec<String> = words.iter().map(|word| format!("\"{word}\"*")).collect();
            let query = query.join(" ");
            let sql = "SELECT count(*) FROM words WHERE words MATCH ?1";
            let total: i64 = connection.query_one(sql, [&query], |row| row.get(0))?;
            let sql = format!(
                "{SHOWN} JOIN words ON words.rowid = latest.rowid WHERE words MATCH ?1
                 ORDER BY bm25(words, 10.0, 2.0, 5.0), latest.name LIMIT ?2 OFFSET ?3"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![query, page(limit), page(offset)], read)?;
            (rows.collect::<Result<_, _>>()?, total)
        };
        let read = |(owner, body): (String, String)| Ok((owner, serde_json::from_str(&body)?));
        let found: Result<Vec<_>, DatabaseError> = found.into_iter().map(read).collect();
        Ok((found?, u64::try_from(total).unwrap_or_default()))
    }

    fn add(&self, version: &StoredVersion, by: &str) -> Result<bool, DatabaseError> {
        self.write(|transaction| {
            let public = &version.public;
            let exists = "SELECT 1 FROM versions WHERE name = ?1 AND version = ?2";
            let exists = transaction
                .query_row(exists, [&public.name, &public.version], |_| Ok(()))
                .optional()?;
            if exists.is_some() {
                return Ok(false);
            }
            let sql = "INSERT OR IGNORE INTO skills (name, owner) VALUES (?1, ?2)";
            transaction.execute(sql, [public.name.as_str(), by])?;
            let sql = "INSERT INTO versions (name, version, archive, body) VALUES (?1, ?2, ?3, ?4)";
            let body = serde_json::to_string(version)?;
            transaction.execute(sql, [&public.name, &public.version, &public.archive, &body])?;
            let action = match version.state {
                VersionState::Served => LoggedAction::Publish,
                VersionState::Quarantined => LoggedAction::Quarantine,
            };
            let entry = next_entry(
                &head(transaction)?,
                action,
                public,
                by,
                &public.published_at,
            );
            append(transaction, &entry)?;
            refresh_latest(transaction, &public.name)?;
            Ok(true)
        })
    }

    fn set_yanked(
        &self,
        name: &str,
        version: &str,
        reason: Option<&str>,
        by: &str,
        at: &str,
    ) -> Result<bool, DatabaseError> {
        self.write(|transaction| {
            let sql = "SELECT body FROM versions WHERE name = ?1 AND version = ?2";
            let body = transaction.query_row(sql, [name, version], |row| row.get::<_, String>(0));
            let Some(body) = body.optional()? else {
                return Ok(false);
            };
            let mut stored: StoredVersion = serde_json::from_str(&body)?;
            if stored.public.yanked.is_some() == reason.is_some() {
                return Ok(false);
            }
            stored.public.yanked = reason.map(str::to_owned);
            let sql = "UPDATE versions SET body = ?3 WHERE name = ?1 AND version = ?2";
            transaction.execute(sql, [name, version, &serde_json::to_string(&stored)?])?;
            let action = match reason {
                Some(_) => LoggedAction::Yank,
                None => LoggedAction::Unyank,
            };
            let entry = next_entry(&head(transaction)?, action, &stored.public, by, at);
            append(transaction, &entry)?;
            refresh_latest(transaction, name)?;
            Ok(true)
        })
    }

    fn log(&self, after: u64, limit: u64) -> Result<Vec<RegistryLogEntry>, DatabaseError> {
        let connection = self.connection();
        let sql = "SELECT body FROM log WHERE position > ?1 ORDER BY position LIMIT ?2";
        let mut statement = connection.prepare_cached(sql)?;
        let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let rows = statement.query_map([number(after), number(limit)], |row| {
            row.get::<_, String>(0)
        })?;
        rows.map(|body| Ok(serde_json::from_str(&body?)?)).collect()
    }

    fn head(&self) -> Result<RegistryLogHead, DatabaseError> {
        head(&self.connection())
    }

    fn add_token(&self, token: &StoredToken) -> Result<(), DatabaseError> {
        let sql =
            "INSERT INTO tokens (id, hash, owner, scope, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
        let row = [
            &token.id,
            &token.hash,
            &token.owner,
            &token.scope,
            &token.created_at,
        ];
        self.connection().execute(sql, row)?;
        Ok(())
    }

    fn token(&self, hash: &str) -> Result<Option<StoredToken>, DatabaseError> {
        let sql = "SELECT id, hash, owner, scope, created_at FROM tokens WHERE hash = ?1";
        Ok(self
            .connection()
            .query_row(sql, [hash], read_token)
            .optional()?)
    }

    fn tokens(&self) -> Result<Vec<StoredToken>, DatabaseError> {
        let connection = self.connection();
        let sql = "SELECT id, hash, owner, scope, created_at FROM tokens ORDER BY number";
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map([], read_token)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn remove_token(&self, id: &str) -> Result<bool, DatabaseError> {
        let removed = self
            .connection()
            .execute("DELETE FROM tokens WHERE id = ?1", [id])?;
        Ok(removed > 0)
    }
}

fn skill(connection: &Connection, name: &str) -> Result<Option<StoredSkill>, DatabaseError> {
    let owner = connection
        .query_row("SELECT owner FROM skills WHERE name = ?1", [name], |row| {
            row.get(0)
        })
        .optional()?;
    let Some(owner) = owner else {
        return Ok(None);
    };
    let sql = "SELECT body FROM versions WHERE name = ?1 ORDER BY number";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([name], |row| row.get::<_, String>(0))?;
    let versions: Result<Vec<StoredVersion>, DatabaseError> =
        rows.map(|body| Ok(serde_json::from_str(&body?)?)).collect();
    Ok(Some(StoredSkill {
        name: name.to_owned(),
        owner,
        versions: versions?,
    }))
}

fn head(connection: &Connection) -> Result<RegistryLogHead, DatabaseError> {
    let sql = "SELECT body FROM log ORDER BY position DESC LIMIT 1";
    let body = connection
        .query_row(sql, [], |row| row.get::<_, String>(0))
        .optional()?;
    match body {
        None => Ok(RegistryLogHead::default()),
        Some(body) => Ok(serde_json::from_str::<RegistryLogEntry>(&body)?.head()),
    }
}

fn append(connection: &Connection, entry: &RegistryLogEntry) -> Result<(), DatabaseError> {
    let position = i64::try_from(entry.position).map_err(DatabaseError::new)?;
    let sql = "INSERT INTO log (position, body) VALUES (?1, ?2)";
    connection.execute(sql, params![position, serde_json::to_string(entry)?])?;
    Ok(())
}

/// The fields of a skill in a list and a search, after one of its versions was added or yanked.
fn refresh_latest(connection: &Connection, name: &str) -> Result<(), DatabaseError> {
    let row: Option<i64> = connection
        .query_row("SELECT rowid FROM latest WHERE name = ?1", [name], |row| {
            row.get(0)
        })
        .optional()?;
    if let Some(row) = row {
        connection.execute("DELETE FROM words WHERE rowid = ?1", [row])?;
        connection.execute("DELETE FROM latest WHERE rowid = ?1", [row])?;
    }
    let Some(stored) = skill(connection, name)? else {
        return Ok(());
    };
    let Some(version) = latest(&stored.versions) else {
        return Ok(());
    };
    let public = &version.public;
    let sql = "INSERT INTO latest (name, number) SELECT name, number FROM versions WHERE name = ?1 AND version = ?2";
    connection.execute(sql, [&public.name, &public.version])?;
    let row = connection.last_insert_rowid();
    let sql = "INSERT INTO words (rowid, name, description, tags) VALUES (?1, ?2, ?3, ?4)";
    let row = params![row, public.name, public.description, public.tags.join(" ")];
    connection.execute(sql, row)?;
    Ok(())
}

fn read_token(row: &Row<'_>) -> rusqlite::Result<StoredToken> {
    Ok(StoredToken {
        id: row.get(0)?,
        hash: row.get(1)?,
        owner: row.get(2)?,
        scope: row.get(3)?,
        created_at: row.get(4)?,
    })
}
