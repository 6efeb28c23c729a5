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

/// What the daemon counts.
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

/// Values that are known elsewhere.
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

    /// The page.
    pub(super) fn page(&self, gauges: &Gauges) -> String {
        let mut page = String::new();
        let mut metric = |name: &str, kind: &str, help: &str, values: &[(&str, String)]| {
            // Writing to a string does not fail.
            let _ = writeln!(
                page,
                "# HELP metier_{name} {help}\n# TYPE metier_{name} {kind}"
            );
            for (labels, value) in values {
                let _ = writeln!(page, "metier_{name}{labels} {value}");
            }
        };
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed).to_string();
        let level = |gauge: &AtomicI64| gauge.load(Ordering::Relaxed).to_string();
        let classes = [1, 2, 3, 4, 5].map(|class: usize| {
            let label = format!("{{status=\"{class}xx\"}}");
            (label, read(&self.answers[class]))
        });
        let classes = classes
            .each_ref()
            .map(|(label, value)| (label.as_str(), value.clone()));
        metric(
            "http_requests_total",
            "counter",
            "Answered requests.",
            &classes,
        );
        let rows = self.histogram();
        let rows: Vec<(&str, String)> = rows
            .iter()
            .map(|(label, value)| (label.as_str(), value.clone()))
            .collect();
        metric(
            "http_request_seconds",
            "histogram",
            "Time until an answer began.",
            &rows,
        );
        let counters = [
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
            ("skills_executed_total", "Executed skills.", &self.executed),
            (
                "skill_changes_total",
                "Reported changes of skills.",
                &self.changes,
            ),
        ];
        for (name, help, counter) in counters {
            metric(name, "counter", help, &[("", read(counter))]);
        }
        let levels = [
            ("connections", "Open connections.", level(&self.connections)),
            ("websockets", "Open WebSockets.", level(&self.sockets)),
            (
                "generation",
                "Listings of the skills so far.",
                gauges.generation.to_string(),
            ),
            (
                "skills",
                "Skills that were found.",
                gauges.skills.to_string(),
            ),
            (
                "skills_ready",
                "Skills that can be used.",
                gauges.ready.to_string(),
            ),
            (
                "watched_folders",
                "Folders with reported changes.",
                gauges.watched_folders.to_string(),
            ),
            (
                "watch_polling",
                "Whether folders are polled.",
                u8::from(gauges.is_polling).to_string(),
            ),
            (
                "sessions",
                "Sessions of agents.",
                gauges.sessions.to_string(),
            ),
            (
                "approvals_pending",
                "Questions without an answer.",
                gauges.approvals.to_string(),
            ),
        ];
        for (name, help, value) in levels {
            metric(name, "gauge", help, &[("", value)]);
        }
        page
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
