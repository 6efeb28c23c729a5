//! The tables, version by version, and the ten lines that bring a database up to date.

use rusqlite::{Connection, TransactionBehavior};

/// Written into the file's header, so that no other program's database is taken for ours: "meti".
pub(crate) const APPLICATION_ID: i32 = i32::from_be_bytes(*b"meti");

/// What each version added; `MIGRATIONS[0]` leads to version 1. Never change one that was released: append.
static MIGRATIONS: &[&str] = &[
    "
    -- Folders whose project skills may be used. Rows are written by people's decisions only.
    CREATE TABLE trust (
        folder     TEXT NOT NULL PRIMARY KEY,
        trusted_at TEXT NOT NULL
    ) STRICT;
",
    "
    -- Skills that the user takes as they are, whatever the scanner says; bound to their exact bytes.
    CREATE TABLE accepted (
        digest      TEXT NOT NULL PRIMARY KEY,
        skill       TEXT NOT NULL,
        verdict     TEXT NOT NULL,
        reason      TEXT,
        accepted_at TEXT NOT NULL
    ) STRICT;
",
];

/// The version that this program writes.
pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Applies what is missing, one transaction for each version. Another process may be doing the same: the version is
/// read again once the lock is held.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    for (position, sql) in (0_i64..).zip(MIGRATIONS) {
        if version(connection)? > position {
            continue;
        }
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if version(&transaction)? == position {
            transaction.execute_batch(sql)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", position + 1)?;
            transaction.commit()?;
        }
    }
    Ok(())
}
