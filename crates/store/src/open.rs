//! Opening a database: check the header, create the file privately, then migrate.
//!
//! SQLite repairs and rewrites what it opens, so the first hundred bytes decide whether the file is ours before
//! SQLite opens it. The application id is in them from the first commit on: version 1 is written before the switch to
//! WAL, so it is never in the log alone.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::open_databases::OpenDatabase;
use crate::receipts::receipts_folder;
use crate::schema::{self, APPLICATION_ID};
use crate::segments::Rotation;
use crate::{Store, StoreError};

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// More than the number of statements that are prepared once and kept.
const STATEMENTS: usize = 32;

const SWITCH_ATTEMPTS: u32 = 50;
const SWITCH_PAUSE: Duration = Duration::from_millis(10);

const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: usize = 100;
/// The position of the page size in the header; 65,536 is stored as 1.
const PAGE_SIZE_AT: std::ops::Range<usize> = 16..18;
/// The position of the application id in the header, four bytes in big-endian order.
const APPLICATION_ID_AT: std::ops::Range<usize> = 68..72;

impl Store {
    /// Opens the database and migrates it; creates it and its folder if they are missing.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let held = OpenDatabase::take(path, || {
            check_kind(path).map_err(|source| unreachable(path, source))?;
            create(path).map_err(|source| unreachable(path, source))?;
            check_header(path)
        })?;
        make_private(path).map_err(|source| unreachable(path, source))?;
        let mut connection =
            connect(path).map_err(|source| StoreError::from_sqlite(path, source))?;
        check_content(path, &connection)?;
        prepare(&mut connection).map_err(|source| StoreError::from_sqlite(path, source))?;
        // The folder must exist before a skill could create it: it contains the record of what skills did.
        let folder = receipts_folder(path);
        if !folder.is_dir() {
            make_folder(&folder).map_err(|source| StoreError::from_io(&folder, source))?;
        }
        Ok(Self::of(connection, path, held))
    }

    pub(crate) fn of(connection: Connection, path: &Path, held: OpenDatabase) -> Self {
        Self {
            connection,
            path: path.to_owned(),
            waits: Cell::new(true),
            answered: Cell::new(0),
            alive: RefCell::new(None),
            rotation: Rotation::default(),
            held,
        }
    }

    /// Opens the database if it exists. Otherwise creates nothing: there is nothing to read.
    pub fn open_existing(path: &Path) -> Result<Option<Self>, StoreError> {
        match fs::metadata(path) {
            Ok(found) if found.is_file() && found.len() == 0 && !has_journal(path) => Ok(None),
            Ok(_) => Self::open(path).map(Some),
            Err(error) if is_absence(&error) => Ok(None),
            Err(source) => Err(unreachable(path, source)),
        }
    }

    /// The path of the database.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the file that this store has open is still the one at its path.
    pub(crate) fn is_current(&self) -> bool {
        self.held.is_at(&self.path)
    }

    /// Whether it has begun an act: while it is open, its open acts are not taken for abandoned ones.
    pub(crate) fn has_begun(&self) -> bool {
        self.alive.borrow().is_some()
    }

    pub(crate) fn fail(&self, source: rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, source)
    }

    /// The error for data that SQLite can read and this program never wrote.
    pub(crate) fn damaged(&self) -> StoreError {
        StoreError::Damaged {
            path: self.path.clone(),
            source: None,
        }
    }

    /// Reads from one snapshot, whatever other processes write meanwhile.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let read = || {
            let snapshot = self.connection.unchecked_transaction()?;
            read(&snapshot)
        };
        read().map_err(|source| self.fail(source))
    }

    /// Writes all of it or nothing. The lock is taken at the start: a transaction that reads first and then writes
    /// would get "busy" immediately instead of waiting.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.wait_for_disk(true)?;
        self.transact(write)
    }

    /// Like [`Store::write`], without waiting for the disk: the data survives the end of this program, however it
    /// ends, but after a power failure the last moments can be missing.
    pub(crate) fn write_without_waiting<T>(
        &self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.wait_for_disk(false)?;
        self.transact(write)
    }

    /// One transaction with prepared statements: every receipt is one.
    fn transact<T>(
        &self,
        write: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let run = |sql: &str| self.connection.prepare_cached(sql)?.execute([]);
        let write = || {
            run("BEGIN IMMEDIATE")?;
            let unfinished = Unfinished(&self.connection);
            let written = write(&self.connection)?;
            run("COMMIT")?;
            drop(unfinished);
            Ok(written)
        };
        write().map_err(|source| self.fail(source))
    }

    /// Sets whether the next commit waits for the disk; code that writes without [`Store::write`] sets it too. The
    /// setting is sent to SQLite only when it changes: most writes in a row are of one kind.
    pub(crate) fn wait_for_disk(&self, waits: bool) -> Result<(), StoreError> {
        if self.waits.get() == waits {
            return Ok(());
        }
        let how = if waits { "FULL" } else { "NORMAL" };
        let set = self.connection.pragma_update(None, "synchronous", how);
        set.map_err(|source| self.fail(source))?;
        self.waits.set(waits);
        Ok(())
    }
}

/// A transaction that is rolled back unless it was committed.
struct Unfinished<'a>(&'a Connection);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            self.0.execute_batch("ROLLBACK").ok(); // SQLite already did
        }
    }
}

fn unreachable(path: &Path, source: io::Error) -> StoreError {
    StoreError::Unreachable {
        path: path.to_owned(),
        source,
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Checks that the path is a regular file. Opening a FIFO would block, and a device could be read forever.
fn check_kind(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("not a regular file")),
        Ok(_) => Ok(()),
        Err(error) if is_absence(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates an empty file that only its owner can read. SQLite treats it as a new database and gives its companions
/// the same mode.
fn create(path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        make_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// Creates a folder that only its owner can access.
fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Removes the permissions of other users from a file, for example one restored from a backup.
#[cfg(unix)]
fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    for file in [
        path.to_owned(),
        companion(path, "-wal"),
        companion(path, "-shm"),
    ] {
        match fs::metadata(&file) {
            Ok(found) if found.permissions().mode() & 0o077 != 0 => {
                fs::set_permissions(&file, fs::Permissions::from_mode(0o600))?;
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_private(_path: &Path) -> io::Result<()> {
    Ok(())
}

fn companion(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Whether a process was stopped during the very first commit; SQLite undoes it.
fn has_journal(path: &Path) -> bool {
    companion(path, "-journal").exists()
}

/// Checks without SQLite that the file is empty, or is ours and whole.
fn check_header(path: &Path) -> Result<(), StoreError> {
    let in_motion = has_journal(path) || companion(path, "-wal").exists();
    let (header, length) = header(path).map_err(|source| unreachable(path, source))?;
    if header.is_empty() || has_journal(path) {
        return Ok(());
    }
    let id = header.get(APPLICATION_ID_AT);
    if !header.starts_with(MAGIC) || id != Some(&APPLICATION_ID.to_be_bytes()) {
        return Err(StoreError::NotOurs {
            path: path.to_owned(),
        });
    }
    // SQLite detects missing pages, but accepts half a page as a whole one.
    if !in_motion && length % page_size(&header) != 0 {
        return Err(StoreError::Damaged {
            path: path.to_owned(),
            source: None,
        });
    }
    Ok(())
}

/// The first bytes of a file and its length.
fn header(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut header = Vec::with_capacity(HEADER);
    file.take(HEADER as u64).read_to_end(&mut header)?;
    Ok((header, length))
}

fn page_size(header: &[u8]) -> u64 {
    match header.get(PAGE_SIZE_AT) {
        Some(&[0, 1]) => 65_536,
        Some(&[high, low]) => u64::from(u16::from_be_bytes([high, low])).max(1),
        _ => 1,
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Whether this program can read the content. Nothing is written before this.
fn check_content(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let content = content(connection).map_err(|source| StoreError::from_sqlite(path, source))?;
    let is_new = content.application == 0 && content.tables == 0;
    if !is_new && content.application != i64::from(APPLICATION_ID) {
        return Err(StoreError::NotOurs {
            path: path.to_owned(),
        });
    }
    let (found, known) = (content.version, schema::newest());
    if found > known {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known,
        });
    }
    Ok(())
}

struct Content {
    application: i64,
    tables: i64,
    version: i64,
}

/// Reads one snapshot: another process can be creating the tables at the same time.
fn content(connection: &Connection) -> rusqlite::Result<Content> {
    let snapshot = connection.unchecked_transaction()?;
    let tables = snapshot.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let application = snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let version = schema::version(&snapshot)?;
    Ok(Content {
        application,
        tables,
        version,
    })
}

/// Migrates the tables, then switches to WAL, so that readers and writers don't block each other.
fn prepare(connection: &mut Connection) -> rusqlite::Result<()> {
    schema::migrate(connection)?;
    for _ in 0..SWITCH_ATTEMPTS {
        match switch_to_wal(connection) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                thread::sleep(SWITCH_PAUSE);
            }
            other => return other,
        }
    }
    switch_to_wal(connection)
}

/// Happens once per database. Two processes that create it at the same moment can collide here, and SQLite then
/// returns "busy" immediately instead of waiting.
fn switch_to_wal(connection: &Connection) -> rusqlite::Result<()> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    if mode != "wal" {
        connection.pragma_update(None, "journal_mode", "wal")?;
    }
    Ok(())
}
