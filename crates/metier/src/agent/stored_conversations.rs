//! Conversations in the database: the list, and the last message of each.

use std::path::Path;

use metier_agent::{HistoryRecord, Transcript};
use metier_store::SharedStore;

pub use metier_store::ConversationRecord as StoredConversation;

use super::failure;
use crate::{Error, Workspace, machine, text::one_line};

/// How many conversations a list returns, and how many an error names.
const MAX_LISTED: u32 = 50;
const MAX_NAMED: usize = 10;

/// The conversations of a project.
///
/// An example is at [`Workspace::conversations`].
pub struct StoredConversations {
    /// None if nothing was ever written.
    store: Option<SharedStore>,
    folder: String,
}

/// The last message of a conversation, and its answer.
///
/// [`StoredConversations::last_exchange`] returns it and has an example.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastExchange {
    /// The message.
    pub message: Option<String>,
    /// The answer, if there was one.
    pub answer: Option<String>,
}

impl Workspace {
    /// The conversations that were held in this project.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// for one in workspace.conversations()?.list()? {
    ///     println!("{} {}", one.id, one.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the database can't be opened.
    pub fn conversations(&self) -> Result<StoredConversations, Error> {
        let project: &Path = &self.machine.project;
        let folder = project.canonicalize();
        let folder = folder.unwrap_or_else(|_| project.to_owned());
        Ok(StoredConversations {
            store: self.existing_shared_store()?,
            folder: folder.to_string_lossy().into_owned(),
        })
    }
}

impl StoredConversations {
    /// Those that are not empty, the newest first; at most 50.
    ///
    /// An example is at [`Workspace::conversations`].
    ///
    /// # Errors
    /// When the database can't be read.
    pub fn list(&self) -> Result<Vec<StoredConversation>, Error> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let mut all = store.lock().conversations(Some(&self.folder), MAX_LISTED)?;
        all.retain(|one| one.lines > 0);
        Ok(all)
    }

    /// The newest one that can be continued.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let conversations = workspace.conversations()?;
    /// let newest = conversations.newest()?;
    /// let options = metier::agent::ConversationOptions {
    ///     resume: Some(newest.id),
    ///     ..metier::agent::ConversationOptions::about("")
    /// };
    /// # let _ = options;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is none, or when the database can't be read.
    pub fn newest(&self) -> Result<StoredConversation, Error> {
        let mut all = self.list()?.into_iter();
        all.find(|one| !self.is_of_sub_agent(one)).ok_or_else(|| {
            let message = format!("there is no conversation in {} yet", self.folder);
            Error::unmet("no-conversation", message).hint("start one with `metier chat`")
        })
    }

    /// Other problems are reported when the conversation is continued.
    fn is_of_sub_agent(&self, one: &StoredConversation) -> bool {
        let store = self.store.as_ref();
        let read = store.map(|store| Transcript::resume(store, &one.id).map(drop));
        matches!(read, Some(Err(report)) if report.code == Transcript::OF_SUB_AGENT)
    }

    /// The conversation whose id begins with `prefix`, in any project.
    ///
    /// An example is at [`StoredConversations::newest`].
    ///
    /// # Errors
    /// When there is none or more than one; the error names those that there are.
    pub fn find(&self, prefix: &str) -> Result<StoredConversation, Error> {
        let found = match &self.store {
            Some(store) => store.lock().find_conversation(prefix)?,
            None => Vec::new(),
        };
        let shown = one_line(prefix);
        match <[StoredConversation; 1]>::try_from(found) {
            Ok([one]) => Ok(one),
            Err(none) if none.is_empty() => {
                let message = format!("there is no conversation `{shown}`");
                Err(naming(
                    Error::unmet("no-conversation", message),
                    &self.list()?,
                ))
            }
            Err(several) => {
                let message = format!("`{shown}` is the beginning of {} ids", several.len());
                Err(naming(
                    Error::unmet("ambiguous-conversation", message),
                    &several,
                ))
            }
        }
    }

    /// The last message of a conversation, and its answer.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let conversations = workspace.conversations()?;
    /// let newest = conversations.newest()?;
    /// let last = conversations.last_exchange(&newest.id)?;
    /// println!("{}", last.answer.unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the conversation can't be read.
    pub fn last_exchange(&self, id: &str) -> Result<LastExchange, Error> {
        let Some(store) = &self.store else {
            return Ok(LastExchange::default());
        };
        let (_, records) = Transcript::resume(store, id).map_err(failure)?;
        let mut last = LastExchange::default();
        for record in records {
            match record {
                HistoryRecord::User { text, .. } if !text.is_empty() => {
                    last = LastExchange {
                        message: Some(text),
                        answer: None,
                    };
                }
                HistoryRecord::Assistant { text, .. } if !text.is_empty() => {
                    last.answer = Some(text);
                }
                _ => {}
            }
        }
        Ok(last)
    }
}

/// An error that names the conversations there are.
fn naming(error: Error, these: &[StoredConversation]) -> Error {
    if these.is_empty() {
        return error.hint("start one with `metier chat`");
    }
    let error = these.iter().take(MAX_NAMED).fold(error, |error, one| {
        let when = machine::ago(machine::now(), &one.last_at);
        error.detail(format!("{} {when} {}", one.id, one.title))
    });
    let error = match these.len().saturating_sub(MAX_NAMED) {
        0 => error,
        more => error.detail(format!("and {more} more")),
    };
    error.hint("type more of the id; metier chat --list shows all conversations of this project")
}
