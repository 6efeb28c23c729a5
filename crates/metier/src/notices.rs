//! Warnings and progress, for the interface that shows them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

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

    /// Long work starts, and counts in `work` what it has done. It ends when the returned value is dropped.
    fn progress(&self, work: &Arc<TaskProgress>) -> Option<Box<dyn Send>> {
        let _ = work;
        None
    }

    /// Whether notices explain how the code of skills is started.
    fn explains(&self) -> bool {
        false
    }
}

/// Work that can take a long time, and its progress. The work counts; an interface looks from time to time.
///
/// ```
/// use metier::{TaskProgress, WorkKind};
/// use std::sync::atomic::Ordering;
///
/// let work = TaskProgress::new(WorkKind::Scan, "Scanning 2 skills…").of(2);
/// work.done.fetch_add(1, Ordering::Relaxed);
/// assert_eq!(work.so_far().done, 1);
/// assert_eq!(work.so_far().total, Some(2));
/// ```
#[derive(Debug)]
pub struct TaskProgress {
    /// The kind of work.
    pub kind: WorkKind,
    /// What is done, as a line of text without control characters.
    pub label: String,
    /// How many skills are done.
    pub done: AtomicUsize,
    total: Option<usize>,
    bytes: AtomicU64,
    total_bytes: AtomicU64,
}

/// The kinds of long work.
///
/// An example is at [`TaskProgress`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkKind {
    /// Skills are looked for.
    List,
    /// Skills are fetched from a source.
    Fetch,
    /// Skills are scanned.
    Scan,
}

impl WorkKind {
    /// The word in JSON.
    ///
    /// ```
    /// assert_eq!(metier::WorkKind::Fetch.as_str(), "fetch");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Fetch => "fetch",
            Self::Scan => "scan",
        }
    }
}

/// The progress of a long operation at one moment.
///
/// An example is at [`TaskProgress`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressSnapshot {
    /// How many skills are done.
    pub done: usize,
    /// How many there are, if that is known.
    pub total: Option<usize>,
    /// The bytes that were received.
    pub bytes: u64,
    /// How many there are, if that is known.
    pub total_bytes: Option<u64>,
}

impl TaskProgress {
    /// Work of which nothing is done yet. Its number of skills is not known, unless [`TaskProgress::of`] states it.
    ///
    /// An example is at [`TaskProgress`].
    #[must_use]
    pub fn new(kind: WorkKind, label: impl Into<String>) -> Self {
        Self {
            kind,
            label: label.into(),
            done: AtomicUsize::new(0),
            total: None,
            bytes: AtomicU64::new(0),
            total_bytes: AtomicU64::new(0),
        }
    }

    /// This work with a known number of skills.
    ///
    /// An example is at [`TaskProgress`].
    #[must_use]
    pub fn of(self, total: usize) -> Self {
        Self {
            total: Some(total),
            ..self
        }
    }

    /// Counts bytes that were received.
    ///
    /// The example of [`ProgressWatcher`] counts some.
    pub fn receive(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Announces bytes that will be received. Several announcements add up.
    ///
    /// ```
    /// let work = metier::TaskProgress::new(metier::WorkKind::Fetch, "Fetching owner/repo…");
    /// work.expect(1024);
    /// work.receive(512);
    /// assert_eq!((work.so_far().bytes, work.so_far().total_bytes), (512, Some(1024)));
    /// ```
    pub fn expect(&self, bytes: u64) {
        self.total_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The progress at this moment: skills and bytes, done and in total.
    ///
    /// An example is at [`TaskProgress`].
    #[must_use]
    pub fn so_far(&self) -> ProgressSnapshot {
        let bytes = self.bytes.load(Ordering::Relaxed);
        let total_bytes = self.total_bytes.load(Ordering::Relaxed);
        ProgressSnapshot {
            done: self.done.load(Ordering::Relaxed),
            total: self.total,
            bytes,
            // The announced size of one file of several does not reveal the total.
            total_bytes: Some(total_bytes).filter(|total| *total > 0 && *total >= bytes),
        }
    }
}

/// Checks the progress of work from time to time, on a separate thread, until it is dropped.
///
/// ```
/// use metier::{TaskProgress, WorkKind, ProgressWatcher};
/// use std::{sync::{Arc, mpsc}, time::Duration};
///
/// let work = Arc::new(TaskProgress::new(WorkKind::Fetch, "Fetching owner/repo…"));
/// let (sender, looks) = mpsc::channel();
/// let watcher = ProgressWatcher::start(&work, Duration::from_millis(10), move |work, ended| {
///     sender.send((work.so_far().bytes, ended)).ok();
/// });
/// work.receive(512);
/// drop(watcher);
/// assert_eq!(looks.iter().last(), Some((512, true)));
/// ```
pub struct ProgressWatcher {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressWatcher {
    /// Calls `look` after each pause in which the work came further, and once at its end, then with `true`. `None` if the system has no
    /// more threads.
    ///
    /// An example is at [`ProgressWatcher`].
    #[must_use]
    pub fn start(
        work: &Arc<TaskProgress>,
        pause: Duration,
        mut look: impl FnMut(&TaskProgress, bool) + Send + 'static,
    ) -> Option<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let (over, work) = (Arc::clone(&is_over), Arc::clone(work));
        let watch = move || {
            let mut last = None;
            loop {
                thread::park_timeout(pause);
                let has_ended = over.load(Ordering::Acquire);
                let far = work.so_far();
                if has_ended || last != Some(far) {
                    look(&work, has_ended);
                    last = Some(far);
                }
                if has_ended {
                    return;
                }
            }
        };
        let thread = thread::Builder::new().name("metier-progress".to_owned());
        let thread = Some(thread.spawn(watch).ok()?);
        Some(Self { is_over, thread })
    }
}

impl Drop for ProgressWatcher {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            thread.join().ok();
        }
    }
}

/// Notices go to the log of the program (`tracing`), and nowhere else. Without the feature `log` they are dropped.
///
/// [`Settings::from_env`](crate::Settings::from_env) uses it; [`Notices`] has an example of another receiver.
#[derive(Clone, Copy, Debug, Default)]
pub struct Logged;

impl Notices for Logged {
    #[cfg(feature = "log")]
    fn notice(&self, level: NoticeLevel, line: &str) {
        match level {
            NoticeLevel::Alert | NoticeLevel::Warning => tracing::warn!("{line}"),
            NoticeLevel::Note => tracing::info!("{line}"),
        }
    }

    #[cfg(not(feature = "log"))]
    fn notice(&self, _: NoticeLevel, _: &str) {}
}
