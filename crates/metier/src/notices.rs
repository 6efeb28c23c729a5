//! What a door shows while something is done.

use std::sync::{Arc, atomic::AtomicUsize};

/// How important a notice is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Shown always.
    Alert,
    /// A warning; a quiet door leaves it out.
    Warning,
    /// A remark; a quiet door leaves it out.
    Note,
}

/// Hears what is worth knowing and is no error: a rule that is not used, a skill that is used in spite of findings.
pub trait Notices: Send + Sync {
    /// One line of text that skills may have had a part in. It holds no control characters.
    fn notice(&self, level: NoticeLevel, line: &str);

    /// Work begins that may take its time; `done` counts up. It is over when what is returned is dropped.
    fn progress(&self, what: &str, done: &Arc<AtomicUsize>) -> Option<Box<dyn Send>> {
        let _ = (what, done);
        None
    }

    /// Whether it is said how the code of skills is started.
    fn explains(&self) -> bool {
        false
    }
}

/// Notices go to the log of the program (`tracing`), and nowhere else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Logged;

impl Notices for Logged {
    fn notice(&self, level: NoticeLevel, line: &str) {
        match level {
            NoticeLevel::Alert | NoticeLevel::Warning => tracing::warn!("{line}"),
            NoticeLevel::Note => tracing::info!("{line}"),
        }
    }
}
