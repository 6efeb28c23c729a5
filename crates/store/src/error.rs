//! What can go wrong, and the way out of it.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the store could not do what was asked. The database file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file or its folder can't be created, read or written.
    #[error("can't open the database {}", path.display())]
    Unreachable {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a metier database", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The file was one of ours and is damaged.
    #[error("the database {} is damaged", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What SQLite says, if it got to see it.
        #[source]
        source: Option<rusqlite::Error>,
    },
    /// A newer metier wrote the file.
    #[error("the database {} was written by a newer metier (schema {found}, this one knows {known})", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The schema version in the file.
        found: i64,
        /// The newest one we know.
        known: i64,
    },
    /// Another process kept the database locked.
    #[error("the database {} is in use by another process", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// There is no space left for what was to be written.
    #[error("the disk is full: the database {} can't be written, and what can't be written down is not done", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// Anything else that SQLite may say.
    #[error("the database {} can't be used", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// What SQLite says.
        #[source]
        source: rusqlite::Error,
    },
    /// A folder was given that isn't absolute, or has `..` in it.
    #[error("`{}` is not an absolute path without `..`", folder.display())]
    NotAbsolute {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder's name can't be written down.
    #[error("`{}` is not valid UTF-8", folder.display())]
    NotUtf8 {
        /// The folder.
        folder: PathBuf,
    },
    /// Trusting this folder would trust everything.
    #[error("`{}` can't be trusted: everything on this machine lies below it", folder.display())]
    TooBroad {
        /// The folder.
        folder: PathBuf,
    },
    /// An approval that doesn't say what it is about would be one for anything.
    #[error("an approval without its {field}")]
    Incomplete {
        /// What is empty.
        field: &'static str,
    },
    /// A single-use grant with a nonce that was there before.
    #[error("this nonce was used before")]
    NonceUsed,
    /// A text that should be a time isn't.
    #[error("`{}` is not a time", text.escape_debug())]
    NotATime {
        /// The text.
        text: String,
    },
    /// A conversation with this id was begun before.
    #[error("there is a conversation `{}` already", id.escape_debug())]
    ConversationExists {
        /// The id.
        id: String,
    },
    /// A conversation was to be read or gone on with that isn't there.
    #[error("there is no conversation `{}`", id.escape_debug())]
    NoConversation {
        /// The id.
        id: String,
    },
    /// A conversation has other lines than its writer knows of.
    #[error(
        "somebody else went on with the conversation `{}`: it is at line {found}, not at line {after}",
        id.escape_debug()
    )]
    WentOn {
        /// The conversation.
        id: String,
        /// The last line that the writer knows.
        after: u64,
        /// The last line that is there.
        found: u64,
    },
    /// A line of a conversation is too long to be kept.
    #[error(
        "a line of {bytes} bytes is too long for the conversation `{}`, which takes {most}",
        id.escape_debug()
    )]
    LineTooLong {
        /// The conversation.
        id: String,
        /// The length of the line.
        bytes: usize,
        /// The most bytes of a line.
        most: usize,
    },
}

impl StoreError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            StoreError::Unreachable { path, .. } => {
                format!(
                    "check that you may write to {}, or set METIER_HOME to another folder",
                    path.display()
                )
            }
            StoreError::NotOurs { path } => format!(
                "move it away, {}, or set METIER_HOME to another folder",
                mv(path)
            ),
            StoreError::Damaged { path, .. } => {
                format!(
                    "restore it from a backup, or start anew with {} (trust and approvals are asked again)",
                    mv(path)
                )
            }
            StoreError::Newer { path, .. } => {
                format!(
                    "update metier, or start anew with {} (trust and approvals are asked again)",
                    mv(path)
                )
            }
            StoreError::Busy { .. } => {
                "wait for the other metier to finish, or stop it, and try again".to_owned()
            }
            StoreError::DiskFull { path } => {
                format!(
                    "free some space on the disk of {}, and try again",
                    path.parent().unwrap_or(path).display()
                )
            }
            StoreError::Database { path, .. } => {
                format!(
                    "check the free space and your permissions in {}",
                    path.parent().unwrap_or(path).display()
                )
            }
            StoreError::NotAbsolute { .. } => "give the full path of the folder".to_owned(),
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
                "this is a bug in metier; the conversation is as it was".to_owned()
            }
            StoreError::NoConversation { .. } => "begin a new one with `metier chat`".to_owned(),
            StoreError::WentOn { id, .. } => format!(
                "stop the other metier, then go on where it was with `metier chat --resume {}`",
                quoted(Path::new(id))
            ),
            StoreError::LineTooLong { .. } => {
                "give the model a smaller file or less output at a time".to_owned()
            }
        }
    }

    /// What the system says about a file beside the database.
    pub(crate) fn from_io(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreError::DiskFull { path }
            }
            _ => StoreError::Unreachable { path, source },
        }
    }

    /// Whether it may be for want of space on the disk. Not all that needs space says so.
    pub(crate) fn may_lack_space(&self) -> bool {
        match self {
            StoreError::DiskFull { .. } => true,
            StoreError::Database { source, .. } => {
                source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
            }
            _ => false,
        }
    }

    /// Sorts what SQLite says into what a person can act on.
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
            // What this program writes breaks no rule of the tables; so what is in them does.
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

/// Whether there was no space. The index of the log is mapped into memory, and what it says about a full disk is its own.
fn is_out_of_space(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(rusqlite::ffi::SQLITE_FULL | rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
    )
}

/// Whether a column holds what this program never writes into it.
fn is_misfit(error: &rusqlite::Error) -> bool {
    matches!(
        error,
        rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::Utf8Error(..)
    )
}

/// The command that moves a database and its companions (`-wal`, `-shm`) out of the way, together: the log may hold
/// what the file doesn't yet.
fn mv(path: &Path) -> String {
    let away = path.with_file_name("old");
    format!(
        "`mkdir {} && mv {}* {}`",
        quoted(&away),
        quoted(path),
        quoted(&away)
    )
}

/// A path as one word of a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |character: char| character.is_alphanumeric() || "/._-".contains(character);
    if text.chars().all(is_plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
