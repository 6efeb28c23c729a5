//! The tables, version by version, and the code that migrates a database.

use rusqlite::{Connection, TransactionBehavior};

/// The application id in the file's header, which marks a database as ours: "meti".
pub(crate) const APPLICATION_ID: i32 = i32::from_be_bytes(*b"meti");

/// The changes of each version; `MIGRATIONS[0]` leads to version 1. Never change a released one: append.
static MIGRATIONS: &[&str] = &[
    "
    -- Folders whose project skills may be used. Rows are written by people's decisions only.
    CREATE TABLE trust (
        folder     TEXT NOT NULL PRIMARY KEY,
        trusted_at TEXT NOT NULL
    ) STRICT;
",
    "
    -- Skills that the user accepts despite the findings; bound to their exact bytes.
    CREATE TABLE accepted (
        digest      TEXT NOT NULL PRIMARY KEY,
        skill       TEXT NOT NULL,
        verdict     TEXT NOT NULL,
        reason      TEXT,
        accepted_at TEXT NOT NULL
    ) STRICT;
",
    "
    -- What a skill may do: the user's answers, for exact bytes. `number` grows with each answer: the last one is
    -- the greatest, whatever the clocks say.
    CREATE TABLE permission_approvals (
        number     INTEGER PRIMARY KEY AUTOINCREMENT,
        skill      TEXT NOT NULL,
        source     TEXT NOT NULL,
        digest     TEXT NOT NULL,
        permission TEXT NOT NULL,
        answer     TEXT NOT NULL CHECK (answer IN ('allowed', 'denied')),
        decided_at TEXT NOT NULL,
        decided_by TEXT NOT NULL,
        UNIQUE (skill, source, digest, permission)
    ) STRICT;

    -- The files of a skill when it was decided about, to show later what changed.
    CREATE TABLE approved_files (
        skill       TEXT NOT NULL,
        source      TEXT NOT NULL,
        digest      TEXT NOT NULL,
        path        TEXT NOT NULL,
        file_digest TEXT NOT NULL,
        size        INTEGER NOT NULL,
        PRIMARY KEY (skill, source, digest, path)
    ) STRICT, WITHOUT ROWID;

    -- Allow once. A used one stays until it has expired, so that its nonce can't be granted again.
    CREATE TABLE single_use_grants (
        nonce      TEXT NOT NULL PRIMARY KEY,
        skill      TEXT NOT NULL,
        source     TEXT NOT NULL,
        digest     TEXT NOT NULL,
        permission TEXT NOT NULL,
        expires_at INTEGER NOT NULL,
        used_at    INTEGER
    ) STRICT, WITHOUT ROWID;
",
    "
    -- What was done and what was refused. Each row names the hash of the one before.
    CREATE TABLE receipts (
        id       INTEGER PRIMARY KEY,
        at       TEXT NOT NULL,
        skill    TEXT NOT NULL,
        source   TEXT NOT NULL,
        digest   TEXT NOT NULL,
        act      TEXT NOT NULL,
        detail   TEXT NOT NULL,
        decision TEXT NOT NULL CHECK (decision IN ('allowed', 'refused')),
        reason   TEXT,
        outcome  TEXT CHECK (outcome IN ('ok', 'error', 'timeout')),
        ms       INTEGER NOT NULL CHECK (ms >= 0),
        sandbox  TEXT,
        session  TEXT,
        previous BLOB NOT NULL CHECK (length(previous) = 32),
        hash     BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT;
    CREATE INDEX receipts_of_skill ON receipts (skill, id);

    -- How many there are and the hash of the last: without it, missing last rows would not be missed.
    CREATE TABLE receipts_head (
        one   INTEGER PRIMARY KEY CHECK (one = 1),
        count INTEGER NOT NULL,
        hash  BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT;
    INSERT INTO receipts_head (one, count, hash) VALUES (1, 0, zeroblob(32));

    CREATE TRIGGER receipts_are_not_changed BEFORE UPDATE ON receipts
        BEGIN SELECT raise(ABORT, 'receipts are never changed'); END;
    CREATE TRIGGER receipts_are_not_removed BEFORE DELETE ON receipts
        BEGIN SELECT raise(ABORT, 'receipts are never removed'); END;
    -- REPLACE removes rows without asking the trigger above.
    CREATE TRIGGER receipts_are_appended BEFORE INSERT ON receipts
        WHEN NEW.id <= (SELECT max(id) FROM receipts)
        BEGIN SELECT raise(ABORT, 'receipts are only appended'); END;
    CREATE TRIGGER receipts_head_grows BEFORE UPDATE ON receipts_head
        WHEN NEW.count <= OLD.count
        BEGIN SELECT raise(ABORT, 'receipts are only appended'); END;
    CREATE TRIGGER receipts_head_is_not_removed BEFORE DELETE ON receipts_head
        BEGIN SELECT raise(ABORT, 'receipts are never removed'); END;
    CREATE TRIGGER receipts_head_is_alone BEFORE INSERT ON receipts_head
        BEGIN SELECT raise(ABORT, 'receipts are only appended'); END;
",
    "
    CREATE TABLE skill_state (
        skill  TEXT NOT NULL,
        source TEXT NOT NULL,
        state  TEXT NOT NULL,
        since  TEXT NOT NULL,
        detail TEXT,
        PRIMARY KEY (skill, source)
    ) STRICT, WITHOUT ROWID;

    -- What registries said. Losing it costs only time.
    CREATE TABLE registry_cache (
        key        TEXT NOT NULL PRIMARY KEY,
        body       BLOB NOT NULL,
        etag       TEXT,
        fetched_at INTEGER NOT NULL,
        ttl        INTEGER NOT NULL
    ) STRICT;
",
    "
    -- Conversations with models. `lines` is the number of the last line, which an append has to name.
    CREATE TABLE conversations (
        number     INTEGER PRIMARY KEY,
        id         TEXT NOT NULL UNIQUE,
        started_at TEXT NOT NULL,
        folder     TEXT NOT NULL,
        model      TEXT NOT NULL,
        title      TEXT NOT NULL,
        parent     TEXT REFERENCES conversations (id) ON DELETE CASCADE,
        lines      INTEGER NOT NULL CHECK (lines >= 0),
        last_at    TEXT NOT NULL
    ) STRICT;
    CREATE INDEX conversations_of_parent ON conversations (parent);

    -- With row ids: a line is often longer than what the pages of an index hold.
    CREATE TABLE conversation_lines (
        conversation INTEGER NOT NULL REFERENCES conversations (number) ON DELETE CASCADE,
        number       INTEGER NOT NULL,
        at           TEXT NOT NULL,
        body         TEXT NOT NULL,
        PRIMARY KEY (conversation, number)
    ) STRICT;
",
    "
    -- Trust counts for the roots that were in the folder when it was given. Rows from before know none: they count for the
    -- roots directly in their folder.
    ALTER TABLE trust ADD COLUMN lists_roots INTEGER NOT NULL DEFAULT 0 CHECK (lists_roots IN (0, 1));
    CREATE TABLE trusted_roots (
        folder TEXT NOT NULL REFERENCES trust (folder) ON DELETE CASCADE,
        root   TEXT NOT NULL,
        target TEXT NOT NULL,
        PRIMARY KEY (folder, root)
    ) STRICT, WITHOUT ROWID;
",
    "
    -- An act is two rows: one before it, whose `begun` is its own id, and one after it, whose `begun` is the id of the
    -- first. What is one row has none. `count` is how many refusals a row stands for, if more than one.
    ALTER TABLE receipts ADD COLUMN begun INTEGER;
    ALTER TABLE receipts ADD COLUMN count INTEGER CHECK (count > 1);

    -- Acts that are not over: pairs of the id and its owner, eight bytes each. In the row that every receipt changes
    -- anyway. `bytes` is about what the receipts take that are not in a segment.
    ALTER TABLE receipts_head ADD COLUMN open BLOB NOT NULL DEFAULT x'';
    ALTER TABLE receipts_head ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

    -- The last receipt that is in a segment, a file beside the database. Only what is in one may be removed here.
    CREATE TABLE receipts_sealed (
        one  INTEGER PRIMARY KEY CHECK (one = 1),
        last INTEGER NOT NULL
    ) STRICT;
    INSERT INTO receipts_sealed (one, last) VALUES (1, 0);

    DROP TRIGGER receipts_are_not_removed;
    CREATE TRIGGER receipts_are_not_removed BEFORE DELETE ON receipts
        WHEN OLD.id > coalesce((SELECT last FROM receipts_sealed), 0)
        BEGIN SELECT raise(ABORT, 'receipts are never removed'); END;
    DROP TRIGGER receipts_head_grows;
    CREATE TRIGGER receipts_head_grows BEFORE UPDATE ON receipts_head
        WHEN NEW.count < OLD.count
            OR NEW.count = OLD.count AND (NEW.hash IS NOT OLD.hash OR NEW.open IS NOT OLD.open)
        BEGIN SELECT raise(ABORT, 'receipts are only appended'); END;
    CREATE TRIGGER receipts_sealed_grows BEFORE UPDATE ON receipts_sealed
        WHEN NEW.last <= OLD.last OR NOT EXISTS (SELECT 1 FROM receipts WHERE id = NEW.last)
        BEGIN SELECT raise(ABORT, 'receipts are sealed in their order'); END;
    CREATE TRIGGER receipts_sealed_is_not_removed BEFORE DELETE ON receipts_sealed
        BEGIN SELECT raise(ABORT, 'receipts are never removed'); END;
    CREATE TRIGGER receipts_sealed_is_alone BEFORE INSERT ON receipts_sealed
        BEGIN SELECT raise(ABORT, 'receipts are only appended'); END;
",
    "
    -- Nothing ever read it.
    DROP TABLE registry_cache;
",
    "
    -- Skills that the user placed in projects: usable in exactly these bytes without trust in the project.
    CREATE TABLE placed_skills (
        folder    TEXT NOT NULL PRIMARY KEY,
        digest    TEXT NOT NULL,
        placed_at TEXT NOT NULL
    ) STRICT;
",
    "
    -- Answers of registries, by their address. Losing them costs only time.
    CREATE TABLE registry_answers (
        url        TEXT NOT NULL PRIMARY KEY,
        body       BLOB NOT NULL,
        etag       TEXT,
        fetched_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX registry_answers_by_age ON registry_answers (fetched_at);

    -- The end of each registry's log, and the digest of each version, as they were seen. A registry that contradicts them is
    -- refused, so that they are not a cache.
    CREATE TABLE registry_logs (
        registry TEXT NOT NULL PRIMARY KEY,
        position INTEGER NOT NULL CHECK (position >= 0),
        hash     TEXT NOT NULL
    ) STRICT;
    CREATE TABLE registry_versions (
        registry TEXT NOT NULL,
        skill    TEXT NOT NULL,
        version  TEXT NOT NULL,
        digest   TEXT NOT NULL,
        PRIMARY KEY (registry, skill, version)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER registry_versions_are_not_changed BEFORE UPDATE ON registry_versions
        WHEN NEW.digest IS NOT OLD.digest
        BEGIN SELECT raise(ABORT, 'a version never changes'); END;
",
    "
    -- A denial counts for all bytes of a skill, and an approval ends it. Until this version it counted for its own bytes only, so that an
    -- approval of other bytes left it: a denial that the user replaced by a later approval must not return.
    DELETE FROM permission_approvals WHERE answer = 'denied' AND EXISTS (
        SELECT 1 FROM permission_approvals AS later
            WHERE later.skill = permission_approvals.skill AND later.source = permission_approvals.source
                AND later.permission = permission_approvals.permission AND later.answer = 'allowed'
                AND later.number > permission_approvals.number
    );
",
];

/// The newest version, which this program writes.
pub(crate) fn newest() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

pub(crate) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Migrates a database to the newest version.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    migrate_to(connection, newest())
}

/// Applies the missing migrations in one transaction: each would wait for the disk, and a new database needs all of
/// them. Another process can be doing the same, so the version is read again once the lock is held.
pub(crate) fn migrate_to(connection: &mut Connection, last: i64) -> rusqlite::Result<()> {
    if version(connection)? >= last {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let first = version(&transaction)?;
    if first >= last {
        return Ok(());
    }
    for (position, sql) in (0..last).zip(MIGRATIONS) {
        if position >= first {
            transaction.execute_batch(sql)?;
        }
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", last)?;
    transaction.commit()
}
