//! A conversation in the store: written line by line, each line before the next step.

use metier_store::{NewConversation, SharedStore};

use crate::{ErrorReport, HistoryRecord};

/// The stored form of one conversation.
pub struct Transcript {
    store: SharedStore,
    id: String,
    lines: u64,
}

impl Transcript {
    /// The code of the report that a conversation belongs to a sub-agent.
    pub const OF_SUB_AGENT: &'static str = "sub-agent";

    /// Starts a new transcript.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn begin(store: &SharedStore, new: &NewConversation<'_>) -> Result<Self, ErrorReport> {
        store.lock().begin_conversation(new)?;
        Ok(Self {
            store: store.clone(),
            id: new.id.to_owned(),
            lines: 0,
        })
    }

    /// Resumes an earlier transcript, with all its records. Those of sub-agents are not resumed: they were limited by the parent,
    /// or by the set of skills that was checked for one task, and neither exists any longer.
    ///
    /// # Errors
    /// When the transcript does not exist, can't be read, or belongs to a sub-agent.
    pub fn resume(
        store: &SharedStore,
        id: &str,
    ) -> Result<(Self, Vec<HistoryRecord>), ErrorReport> {
        let lines = store.lock().conversation_lines(id)?;
        let unread = |number: u64, error: &serde_json::Error| {
            let message = format!("line {number} of conversation `{id}` can't be read: {error}");
            ErrorReport::broken("transcript", message).hint(
                "it may have been written by a newer metier; start a new one with `metier chat`",
            )
        };
        let records = lines.iter().map(|line| {
            serde_json::from_str(&line.body).map_err(|error| unread(line.number, &error))
        });
        let records = records.collect::<Result<Vec<HistoryRecord>, ErrorReport>>()?;
        let has_parent = store
            .lock()
            .conversation(id)?
            .is_some_and(|one| one.parent.is_some());
        let confined = records.iter().find_map(|record| match record {
            HistoryRecord::Confined { skills } => Some(skills.join(",")),
            _ => None,
        });
        if has_parent || confined.is_some() {
            return Err(of_sub_agent(id, confined.as_deref()));
        }
        let transcript = Self {
            store: store.clone(),
            id: id.to_owned(),
            lines: records.len() as u64,
        };
        Ok((transcript, records))
    }

    /// Writes records, all or none.
    ///
    /// # Errors
    /// When they can't be written, or when another process continued this conversation.
    pub fn write(&mut self, at: &str, records: &[&HistoryRecord]) -> Result<(), ErrorReport> {
        let lines = records.iter().map(|record| {
            serde_json::to_string(record)
                .map_err(|error| ErrorReport::broken("transcript", error.to_string()))
        });
        let lines = lines.collect::<Result<Vec<String>, ErrorReport>>()?;
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        self.lines = self
            .store
            .lock()
            .append_lines(&self.id, self.lines, at, &lines)?;
        Ok(())
    }
}

fn of_sub_agent(id: &str, skills: Option<&str>) -> ErrorReport {
    let message = format!(
        "conversation `{id}` belongs to a sub-agent and can't be resumed: its limits would no longer apply"
    );
    ErrorReport::new(Transcript::OF_SUB_AGENT, message).hint(match skills {
        Some(skills) => format!("start another one: metier spawn --skills {skills} --task TASK"),
        None => "metier chat --list shows the conversations that can be resumed".to_owned(),
    })
}
