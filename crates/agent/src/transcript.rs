//! A conversation in the store: written line by line, before anything follows from it.

use metier_store::{NewConversation, Store};

use crate::{Record, Report};

/// The place where one conversation is written down.
pub struct Transcript<'s> {
    store: &'s Store,
    id: String,
    lines: u64,
}

impl<'s> Transcript<'s> {
    /// A new one.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn begin(store: &'s Store, new: &NewConversation<'_>) -> Result<Self, Report> {
        store.begin_conversation(new)?;
        Ok(Self {
            store,
            id: new.id.to_owned(),
            lines: 0,
        })
    }

    /// One that was begun earlier, and all that is in it.
    ///
    /// # Errors
    /// When there is none, or when it can't be read.
    pub fn resume(store: &'s Store, id: &str) -> Result<(Self, Vec<Record>), Report> {
        let lines = store.conversation_lines(id)?;
        let unread = |number: u64, error: &serde_json::Error| {
            let message = format!("line {number} of conversation `{id}` can't be read: {error}");
            Report::broken("transcript", message)
                .hint("it may come from a newer metier; begin a new one with `metier chat`")
        };
        let records = lines.iter().map(|line| {
            serde_json::from_str(&line.body).map_err(|error| unread(line.number, &error))
        });
        let records = records.collect::<Result<Vec<Record>, Report>>()?;
        let transcript = Self {
            store,
            id: id.to_owned(),
            lines: records.len() as u64,
        };
        Ok((transcript, records))
    }

    /// Writes records down, all or none.
    ///
    /// # Errors
    /// When they can't be written, or when somebody else went on with this conversation.
    pub fn write(&mut self, at: &str, records: &[&Record]) -> Result<(), Report> {
        let lines = records.iter().map(|record| {
            serde_json::to_string(record)
                .map_err(|error| Report::broken("transcript", error.to_string()))
        });
        let lines = lines.collect::<Result<Vec<String>, Report>>()?;
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.lines = self.store.append_lines(&self.id, self.lines, at, &lines)?;
        Ok(())
    }
}
