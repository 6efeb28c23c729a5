//! Warnings and progress, for the interface that shows them.

use std::sync::{Arc, atomic::AtomicUsize};

/// How important a notice is.
///
/// An example is at [`Notices`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeLevel {
    /// Shown always.
    Alert,
    /// A warning; a quiet interface leaves it out.
    Warning,
    /// A remark; a quiet interface leaves it out.
    Note,
}

/// Receives messages that are not errors: a rule that is not used, a skill that is used despite its findings.
///
/// ```
/// use metier::{NoticeLevel, Notices};
///
/// struct Stderr;
/// impl Notices for Stderr {
///     fn notice(&self, level: NoticeLevel, line: &str) {
///         eprintln!("{level:?}: {line}");
///     }
/// }
/// Stderr.notice(NoticeLevel::Note, "scanned");
/// ```
pub trait Notices: Send + Sync {
    /// One line of text, which can quote skills. It contains no control characters.
    fn notice(&self, level: NoticeLevel, line: &str);

    /// Long work starts; `done` counts up. It ends when the returned value is dropped.
    fn progress(&self, what: &str, done: &Arc<AtomicUsize>) -> Option<Box<dyn Send>> {
        let _ = (what, done);
        None
    }

    /// Whether notices explain how the code of skills is started.
    fn explains(&self) -> bool {
        false
    }
}

/// Notices go to the log of the program (`tracing`), and nowhere else.
///
/// [`Settings::from_env`](crate::Settings::from_env) uses it; [`Notices`] has an example of another receiver.
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
