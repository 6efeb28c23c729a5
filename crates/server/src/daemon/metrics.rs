//! Counters in the text format of Prometheus.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Duration,
};

/// The upper bounds of the histogram of request times, in microseconds.
const BOUNDS: [u64; 8] = [
    250, 1_000, 5_000, 25_000, 100_000, 500_000, 2_500_000, 10_000_000,
];

/// The counters of the daemon.
#[derive(Default)]
pub(super) struct Metrics {
    /// Answers by the first digit of their status.
    answers: [AtomicU64; 6],
    times: [AtomicU64; BOUNDS.len() + 1],
    time_sum: AtomicU64,
    /// Open connections of any kind.
    pub(super) connections: AtomicI64,
    /// Connections that were refused because there were too many.
    pub(super) refused_connections: AtomicU64,
    /// Open WebSockets.
    pub(super) sockets: AtomicI64,
    /// Messages that came over WebSockets.
    pub(super) messages: AtomicU64,
    /// WebSockets that were closed because they read too slowly, or asked too much.
    pub(super) dropped_sockets: AtomicU64,
    /// Skills that were executed.
    pub(super) executed: AtomicU64,
    /// Changes of skills that were reported.
    pub(super) changes: AtomicU64,
}

/// Values that other parts of the daemon know and that are read for each request.
pub(super) struct Gauges {
    pub(super) generation: u64,
    pub(super) skills: usize,
    pub(super) ready: usize,
    pub(super) watched_folders: usize,
    pub(super) is_polling: bool,
    pub(super) sessions: usize,
    pub(super) approvals: usize,
}

impl Metrics {
    /// Counts an answer.
    pub(super) fn answered(&self, status: u16, took: Duration) {
        let class = usize::from(status / 100).min(5);
        self.answers[class].fetch_add(1, Ordering::Relaxed);
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.iter().position(|bound| took <= *bound);
        self.times[bucket.unwrap_or(BOUNDS.len())].fetch_add(1, Ordering::Relaxed);
        self.time_sum.fetch_add(took, Ordering::Relaxed);
    }

    /// The document that Prometheus reads.
    pub(super) fn page(&self, gauges: &Gauges) -> String {
        let mut page = String::new();
        let classes = [1, 2, 3, 4, 5].map(|class: usize| {
            let count = self.answers[class].load(Ordering::Relaxed);
            (format!("{{status=\"{class}xx\"}}"), count.to_string())
        });
        let name = "http_requests_total";
        metric(&mut page, name, "counter", "Answered requests.", &classes);
        let (name, help) = ("http_request_seconds", "Time until an answer began.");
        metric(&mut page, name, "histogram", help, &self.histogram());
        for (name, help, counter) in self.counters() {
            let value = counter.load(Ordering::Relaxed).to_string();
            metric(&mut page, name, "counter", help, &[(String::new(), value)]);
        }
        for (name, help, value) in self.levels(gauges) {
            let value = value.to_string();
            metric(&mut page, name, "gauge", help, &[(String::new(), value)]);
        }
        page
    }

    fn counters(&self) -> [(&'static str, &'static str, &AtomicU64); 5] {
        [
            (
                "refused_connections_total",
                "Connections over the limit.",
                &self.refused_connections,
            ),
            (
                "websocket_messages_total",
                "Messages over WebSockets.",
                &self.messages,
            ),
            (
                "websockets_dropped_total",
                "WebSockets closed for a limit.",
                &self.dropped_sockets,
            ),
            (
                "skills_executed_total",
                "Skills that were executed.",
                &self.executed,
            ),
            (
                "skill_changes_total",
                "Reported changes of skills.",
                &self.changes,
            ),
        ]
    }

    fn levels(&self, gauges: &Gauges) -> [(&'static str, &'static str, u64); 9] {
        let level =
            |gauge: &AtomicI64| u64::try_from(gauge.load(Ordering::Relaxed)).unwrap_or_default();
        let size = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let (folders, polls) = (size(gauges.watched_folders), u64::from(gauges.is_polling));
        [
            ("connections", "Open connections.", level(&self.connections)),
            ("websockets", "Open WebSockets.", level(&self.sockets)),
            (
                "generation",
                "Listings of the skills so far.",
                gauges.generation,
            ),
            ("skills", "Skills that were found.", size(gauges.skills)),
            (
                "skills_ready",
                "Skills that can be used.",
                size(gauges.ready),
            ),
            ("watched_folders", "Folders with reported changes.", folders),
            ("watch_polling", "Whether folders are polled.", polls),
            ("sessions", "Sessions of agents.", size(gauges.sessions)),
            (
                "approvals_pending",
                "Unanswered questions.",
                size(gauges.approvals),
            ),
        ]
    }

    /// Rows of the histogram: each bucket contains those before it.
    fn histogram(&self) -> Vec<(String, String)> {
        let mut sum = 0;
        let mut rows = Vec::new();
        for (bucket, counter) in self.times.iter().enumerate() {
            sum += counter.load(Ordering::Relaxed);
            let bound = BOUNDS.get(bucket).map_or_else(
                || "+Inf".to_owned(),
                |bound| (Duration::from_micros(*bound).as_secs_f64()).to_string(),
            );
            rows.push((format!("_bucket{{le=\"{bound}\"}}"), sum.to_string()));
        }
        let total = Duration::from_micros(self.time_sum.load(Ordering::Relaxed));
        rows.push(("_sum".to_owned(), total.as_secs_f64().to_string()));
        rows.push(("_count".to_owned(), sum.to_string()));
        rows
    }
}

/// One metric with its values, each behind its labels.
fn metric(page: &mut String, name: &str, kind: &str, help: &str, values: &[(String, String)]) {
    // Writing to a string does not fail.
    writeln!(
        page,
        "# HELP metier_{name} {help}\n# TYPE metier_{name} {kind}"
    )
    .ok();
    for (labels, value) in values {
        writeln!(page, "metier_{name}{labels} {value}").ok();
    }
}
