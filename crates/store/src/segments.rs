//! Segments: older receipts, moved out of the database into files next to it.
//!
//! A database with every receipt of years is slow to copy and to check, and never shrinks. So when there are too many
//! receipts, the oldest are written to a file that is never changed again, `FIRST-LAST.db` in the folder next to the
//! database, and only then removed from the database. Numbers and hashes continue: the first receipt in the database
//! contains the hash of the last one in the newest segment.
//!
//! The file is complete and on the disk before the rows are removed from the database, in one transaction. A crash in
//! between leaves both; readers take from a segment only the receipts before the first row in the database.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params_from_iter};

use crate::receipts::{self, COLUMNS};
use crate::schema::APPLICATION_ID;
use crate::{Store, StoreError};

/// When receipts are moved out of the database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rotation {
    /// Half of the rows are moved when there are more than this.
    pub(crate) rows: i64,
    /// Half of the rows are moved when they have more than about this many bytes.
    pub(crate) bytes: i64,
    /// How many rows are written between two checks.
    pub(crate) every: i64,
}

impl Default for Rotation {
    fn default() -> Self {
        Self {
            rows: 32_768,
            bytes: 32 << 20,
            every: 256,
        }
    }
}

/// A file with receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReceiptSegment {
    pub(crate) first: i64,
    pub(crate) last: i64,
    path: PathBuf,
}

/// The table of the database, without its triggers: the file is never opened for writing again.
const TABLE: &str = "CREATE TABLE receipts (
    id INTEGER PRIMARY KEY, at TEXT, skill TEXT, source TEXT, digest TEXT, act TEXT, detail TEXT, decision TEXT,
    reason TEXT, outcome TEXT, ms INTEGER, sandbox TEXT, session TEXT, previous BLOB, hash BLOB, begun INTEGER,
    count INTEGER
)";

/// The name of a segment that is not complete yet.
const UNFINISHED: &str = "sealing";

impl Store {
    /// Moves the older half of the receipts into a segment if there are too many. A failure is not an error: it is
    /// tried again later.
    pub(crate) fn rotate_if_due(&self, before: i64, after: i64) {
        let every = self.rotation.every;
        if before / every != after / every {
            self.rotate().ok();
        }
    }

    fn rotate(&self) -> Result<(), StoreError> {
        let folder = self.receipts_folder();
        let due = self.read(|connection| self.due(connection))?;
        if due.is_none() {
            return Ok(());
        }
        let moved = self.write(|connection| {
            // Another process may have done it in the meantime.
            let Some((first, last)) = self.due(connection)? else {
                return Ok(Ok(()));
            };
            if let Err(error) = seal(connection, &folder, first, last) {
                return Ok(Err(error));
            }
            let sql = "UPDATE receipts_sealed SET last = ?1";
            connection.execute(sql, [last])?;
            connection.execute("DELETE FROM receipts WHERE id <= ?1", [last])?;
            receipts::count_bytes(connection)?;
            Ok(Ok(()))
        })?;
        moved.map_err(|source| StoreError::from_io(&self.path, source))
    }

    /// The first and last receipt to move, if there are too many.
    fn due(&self, connection: &Connection) -> rusqlite::Result<Option<(i64, i64)>> {
        let sql = "SELECT min(id), max(id) FROM receipts";
        let range: (Option<i64>, Option<i64>) =
            connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (Some(first), Some(last)) = range else {
            return Ok(None);
        };
        let rows = last.saturating_sub(first).saturating_add(1);
        let bytes = receipts::head(connection)?.map_or(0, |head| head.bytes);
        let is_due = rows > self.rotation.rows || (bytes > self.rotation.bytes && rows > 1);
        Ok(is_due
            .then(|| (first, first + rows / 2 - 1))
            .filter(|(first, last)| last >= first))
    }
}

/// Writes a segment, and waits until it is on the disk.
fn seal(connection: &Connection, folder: &Path, first: i64, last: i64) -> io::Result<()> {
    let unfinished = folder.join(UNFINISHED);
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    copy(connection, &unfinished, first, last).map_err(io::Error::other)?;
    let file = File::open(&unfinished)?;
    file.sync_all()?;
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&unfinished, permissions)?;
    // Left over from a run that was stopped before it removed the rows from the database.
    for stale in all(folder)
        .into_iter()
        .filter(|segment| segment.first >= first)
    {
        fs::remove_file(&stale.path)?;
    }
    fs::rename(&unfinished, folder.join(name(first, last)))?;
    File::open(folder)?.sync_all()
}

fn copy(connection: &Connection, to: &Path, first: i64, last: i64) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let segment = Connection::open_with_flags(to, flags)?;
    segment.pragma_update(None, "journal_mode", "off")?;
    segment.pragma_update(None, "synchronous", "off")?;
    segment.pragma_update(None, "application_id", APPLICATION_ID)?;
    segment.execute_batch(TABLE)?;
    let transaction = segment.unchecked_transaction()?;
    let places = vec!["?"; COLUMNS].join(", ");
    let mut insert = transaction.prepare(&format!("INSERT INTO receipts VALUES ({places})"))?;
    let sql = "SELECT * FROM receipts WHERE id BETWEEN ?1 AND ?2 ORDER BY id";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([first, last])?;
    while let Some(row) = rows.next()? {
        let values: Vec<Value> = (0..COLUMNS)
            .map(|column| row.get(column))
            .collect::<rusqlite::Result<_>>()?;
        insert.execute(params_from_iter(values))?;
    }
    drop(insert);
    transaction.commit()?;
    segment.close().map_err(|(_, error)| error)
}

/// The segments that begin before this receipt, oldest first.
pub(crate) fn before(folder: &Path, id: i64) -> Vec<ReceiptSegment> {
    let mut all = all(folder);
    all.retain(|segment| segment.first < id);
    all
}

fn all(folder: &Path) -> Vec<ReceiptSegment> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut all: Vec<ReceiptSegment> = entries
        .flatten()
        .filter_map(|entry| {
            let (first, last) = range(&entry.file_name().to_string_lossy())?;
            let path = entry.path();
            Some(ReceiptSegment { first, last, path })
        })
        .collect();
    all.sort_by_key(|segment| (segment.first, segment.last));
    all
}

/// Padded with zeros, so that files are listed in order.
fn name(first: i64, last: i64) -> String {
    format!("{first:012}-{last:012}.db")
}

fn range(name: &str) -> Option<(i64, i64)> {
    let (first, last) = name.strip_suffix(".db")?.split_once('-')?;
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (1 <= first && first <= last).then_some((first, last))
}

impl ReceiptSegment {
    /// Passes each row, oldest first, until the callback returns `false`.
    pub(crate) fn each(
        &self,
        mut show: impl FnMut(&Row<'_>) -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<()> {
        let connection = self.open()?;
        let mut statement = connection.prepare("SELECT * FROM receipts ORDER BY id")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if !show(row)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads the row with this id.
    pub(crate) fn one<T>(
        &self,
        id: i64,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        let connection = self.open()?;
        let sql = "SELECT * FROM receipts WHERE id = ?1";
        connection.query_row(sql, [id], read).optional()
    }

    pub(crate) fn open(&self) -> rusqlite::Result<Connection> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        Ok(connection)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}
