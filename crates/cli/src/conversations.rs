//! The conversations that were held here: which one somebody means, and where it stood.

use std::path::Path;

use metier_agent::{Record, Transcript};
use metier_store::{Conversation, SharedStore, Store};

use crate::{
    failure::Failure,
    machine,
    output::{Output, count, one_line},
    session::Session,
};

/// As many as a list shows, and as many as are named when one is not found.
const MAX_LISTED: u32 = 50;
const MAX_NAMED: usize = 10;

/// Where conversations are kept.
pub(crate) struct Conversations {
    /// None if nothing was ever kept.
    store: Option<SharedStore>,
    folder: String,
}

/// What was said last.
#[derive(Default)]
pub(crate) struct Exchange {
    pub(crate) said: Option<String>,
    pub(crate) answered: Option<String>,
}

impl Conversations {
    pub(crate) fn open(session: &Session) -> Result<Self, Failure> {
        let project: &Path = &session.machine.project;
        let folder = project.canonicalize();
        let folder = folder.unwrap_or_else(|_| project.to_owned());
        Ok(Self {
            store: match &session.machine.database {
                Some(database) => Store::open_existing(database)?.map(SharedStore::from),
                None => None,
            },
            folder: folder.to_string_lossy().into_owned(),
        })
    }

    /// Those of this project in which something was said, the newest first.
    pub(crate) fn list(&self) -> Result<Vec<Conversation>, Failure> {
        let Some(store) = &self.store else {
            return Ok(Vec::new());
        };
        let mut all = store.lock().conversations(Some(&self.folder), MAX_LISTED)?;
        all.retain(|one| one.lines > 0);
        Ok(all)
    }

    /// The newest one of this project that can be gone on with.
    pub(crate) fn newest(&self) -> Result<Conversation, Failure> {
        let mut all = self.list()?.into_iter();
        all.find(|one| !self.is_of_sub_agent(one)).ok_or_else(|| {
            let message = format!("there is no conversation in {} yet", self.folder);
            Failure::unmet("no-conversation", message).hint("begin one with `metier chat`")
        })
    }

    /// Whatever else is wrong with it is said when somebody goes on with it.
    fn is_of_sub_agent(&self, one: &Conversation) -> bool {
        let store = self.store.as_ref();
        let read = store.map(|store| Transcript::resume(store, &one.id).map(drop));
        matches!(read, Some(Err(report)) if report.code == Transcript::OF_SUB_AGENT)
    }

    /// The one that an id means, or the beginning of one.
    pub(crate) fn named(&self, prefix: &str) -> Result<Conversation, Failure> {
        let found = match &self.store {
            Some(store) => store.lock().find_conversation(prefix)?,
            None => Vec::new(),
        };
        let shown = one_line(prefix);
        match <[Conversation; 1]>::try_from(found) {
            Ok([one]) => Ok(one),
            Err(none) if none.is_empty() => {
                let message = format!("there is no conversation `{shown}`");
                let failure = Failure::unmet("no-conversation", message);
                Err(self.naming(failure, &self.list()?))
            }
            Err(several) => {
                let message = format!("`{shown}` is the beginning of {} ids", several.len());
                let failure = Failure::unmet("ambiguous-conversation", message);
                Err(self.naming(failure, &several))
            }
        }
    }

    /// What was said last in one of them.
    pub(crate) fn last_exchange(&self, id: &str) -> Result<Exchange, Failure> {
        let Some(store) = &self.store else {
            return Ok(Exchange::default());
        };
        let (_, records) = Transcript::resume(store, id).map_err(crate::agents::failure)?;
        let mut last = Exchange::default();
        for record in records {
            match record {
                Record::User { text, .. } if !text.is_empty() => {
                    last = Exchange {
                        said: Some(text),
                        answered: None,
                    };
                }
                Record::Assistant { text, .. } if !text.is_empty() => last.answered = Some(text),
                _ => {}
            }
        }
        Ok(last)
    }

    fn naming(&self, failure: Failure, these: &[Conversation]) -> Failure {
        if these.is_empty() {
            return failure.hint("begin one with `metier chat`");
        }
        let failure = these.iter().take(MAX_NAMED).fold(failure, |failure, one| {
            failure.detail(format!("{} {} {}", one.id, when(one), one.title))
        });
        let failure = match these.len().saturating_sub(MAX_NAMED) {
            0 => failure,
            more => failure.detail(format!("and {more} more")),
        };
        failure.hint(
            "type as much of the id as it takes; metier chat --list shows all of this project",
        )
    }
}

/// When it was continued last.
fn when(one: &Conversation) -> String {
    machine::ago(machine::now(), &one.last_at)
}

/// A conversation in one line.
pub(crate) fn line(output: &Output, one: &Conversation) -> String {
    let lines = usize::try_from(one.lines).unwrap_or(usize::MAX);
    let head = format!(
        "{}  {:<11}  {:>9}  ",
        one.id,
        when(one),
        count(lines, "line")
    );
    let title = output.fitted(&one_line(&one.title), head.len());
    format!("{head}{title}\n")
}
