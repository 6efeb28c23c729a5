//! Errors of the store, each with a hint.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why a call to the store failed. The database file is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file or its folder can't be created, read or written.
    #[error("can't open the database {}", path.display())]
    Unreachable {
        /// The file or folder that failed.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The file is not a metier database.
    #[error("{} is not a metier database", path.display())]
    NotOurs {
        /// The file that was to be opened.
        path: PathBuf,
    },
    /// The file is a metier database and is damaged.
    #[error("the database {} is damaged", path.display())]
    Damaged {
        /// The damaged database.
        path: PathBuf,
        /// SQLite's error, if SQLite found the damage.
        #[source]
        source: Option<rusqlite::Error>,
    },
    /// The file was written by a newer metier.
    #[error("the database {} was written by a newer metier (schema {found}; this version supports {known})", path.display())]
    Newer {
        /// The database with the newer schema.
        path: PathBuf,
        /// The schema version in the file.
        found: i64,
        /// The newest version that this program supports.
        known: i64,
    },
    /// Another process kept the database locked.
    #[error("the database {} is in use by another process", path.display())]
    Busy {
        /// The locked database.
        path: PathBuf,
    },
    /// There is no space left on the disk.
    #[error("the disk is full: the database {} can't be written, and metier does nothing that it can't record", path.display())]
    DiskFull {
        /// The database that could not be written.
        path: PathBuf,
    },
    /// Any other error of SQLite.
    #[error("the database {} can't be used", path.display())]
    Database {
        /// The database that SQLite failed on.
        path: PathBuf,
        /// SQLite's error.
        #[source]
        source: rusqlite::Error,
    },
    /// The folder's path is not absolute, or contains `..`.
    #[error("`{}` is not an absolute path without `..`", folder.display())]
    NotAbsolute {
        /// The folder as it was given.
        folder: PathBuf,
    },
    /// The folder's path is not valid UTF-8.
    #[error("`{}` is not valid UTF-8", folder.display())]
    NotUtf8 {
        /// The folder as it was given.
        folder: PathBuf,
    },
    /// Trusting this folder would trust the whole machine.
    #[error("`{}` can't be trusted: it contains everything on this machine", folder.display())]
    TooBroad {
        /// The folder as it was given.
        folder: PathBuf,
    },
    /// An approval with an empty field would match too much.
    #[error("the approval has no {field}")]
    Incomplete {
        /// The name of the empty field.
        field: &'static str,
    },
    /// The nonce of a single-use grant was used before.
    #[error("the nonce of this single-use approval was already used")]
    NonceUsed,
    /// A string is not a valid time.
    #[error("`{}` is not a valid time", text.escape_debug())]
    NotATime {
        /// The string as it was given.
        text: String,
    },
    /// A conversation with this id already exists.
    #[error("conversation `{}` already exists", id.escape_debug())]
    ConversationExists {
        /// The id that is taken.
        id: String,
    },
    /// The conversation to read or continue does not exist.
    #[error("there is no conversation `{}`", id.escape_debug())]
    NoConversation {
        /// The id that was not found.
        id: String,
    },
    /// Another process appended to the conversation.
    #[error(
        "another process continued conversation `{}`: it has {found} lines, expected {after}",
        id.escape_debug()
    )]
    WentOn {
        /// The id of the conversation.
        id: String,
        /// The number of lines that the writer knows.
        after: u64,
        /// The number of lines in the database.
        found: u64,
    },
    /// A line of a conversation is too long.
    #[error(
        "a line of {bytes} bytes exceeds the limit of {most} bytes for a line of conversation `{}`",
        id.escape_debug()
    )]
    LineTooLong {
        /// The id of the conversation.
        id: String,
        /// The length of the line in bytes.
        bytes: usize,
        /// The maximum length in bytes.
        most: usize,
    },
}

impl StoreError {
    /// How the user can fix it.
    pub fn hint(&self) -> String {
        match self {
            StoreError::Unreachable { path, .. } => {
                format!(
                    "check that you can write to {}, or set METIER_HOME to another folder",
                    path.display()
                )
            }
            StoreError::NotOurs { path } => format!(
                "move it away, {}, or set METIER_HOME to another folder",
                mv(path)
            ),
            StoreError::Damaged { path, .. } => {
                format!(
                    "restore it from a backup, or start over with {} (metier will ask for trust and approvals again)",
                    mv(path)
                )
            }
            StoreError::Newer { path, .. } => {
                format!(
                    "update metier, or start over with {} (metier will ask for trust and approvals again)",
                    mv(path)
                )
            }
            StoreError::Busy { .. } => {
                "wait for the other metier process to finish, or stop it, then try again".to_owned()
            }
            StoreError::DiskFull { path } => {
                format!(
                    "free some space on the disk of {}, then try again",
                    path.parent().unwrap_or(path).display()
                )
            }
            StoreError::Database { path, .. } => {
                format!(
                    "check the free space and your permissions in {}",
                    path.parent().unwrap_or(path).display()
                )
            }
            StoreError::NotAbsolute { .. } => "pass the absolute path of the folder".to_owned(),
            StoreError::NotUtf8 { .. } => "rename the folder".to_owned(),
            StoreError::TooBroad { .. } => {
                "trust the project's own folder: `metier trust PATH`".to_owned()
            }
            StoreError::Incomplete { .. } | StoreError::NonceUsed => {
                "this is a bug in metier; nothing was approved".to_owned()
            }
            StoreError::NotATime { .. } => {
                "write it like `2026-01-31` or `2026-01-31T09:00:00Z`".to_owned()
            }
            StoreError::ConversationExists { .. } => {
                "this is a bug in metier; the conversation is unchanged".to_owned()
            }
            StoreError::NoConversation { .. } => "start a new one with `metier chat`".to_owned(),
            StoreError::WentOn { id, .. } => format!(
                "stop the other metier process, then continue with `metier chat --resume {}`",
                quoted(Path::new(id))
            ),
            StoreError::LineTooLong { .. } => {
                "give the model a smaller file or less output".to_owned()
            }
        }
    }

    /// An I/O error of a file next to the database.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreError::DiskFull { path }
            }
            _ => StoreError::Unreachable { path, source },
        }
    }

    /// Whether a full disk can be the cause. Not every failure for lack of space is reported as such.
    pub(crate) fn may_lack_space(&self) -> bool {
        match self {
            StoreError::DiskFull { .. } => true,
            StoreError::Database { source, .. } => {
                source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
            }
            _ => false,
        }
    }

    /// Maps SQLite's errors to errors that the user can act on.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        if is_misfit(&source) {
            return StoreError::Damaged {
                path,
                source: Some(source),
            };
        }
        if is_out_of_space(&source) {
            return StoreError::DiskFull { path };
        }
        match source.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => StoreError::NotOurs { path },
            // This program never violates a constraint of its tables, so the stored data does.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::ConstraintViolation) => {
                StoreError::Damaged {
                    path,
                    source: Some(source),
                }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            _ => StoreError::Database { path, source },
        }
    }
}

/// Whether the disk was full. The index of the log is memory-mapped and has its own error for that.
fn is_out_of_space(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(rusqlite::ffi::SQLITE_FULL | rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
    )
}

/// Whether a column contains a value that this program never writes.
fn is_misfit(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// The command that moves a database and its companions (`-wal`, `-shm`) away together: the log can contain data that is
/// not yet in the file.
fn mv(path: &Path) -> String {
    let away = path.with_file_name("old");
    format!(
        "`mkdir {} && mv {}* {}`",
        quoted(&away),
        quoted(path),
        quoted(&away)
    )
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |character: char| character.is_alphanumeric() || "/._-".contains(character);
    if text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
