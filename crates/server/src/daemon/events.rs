//! Server-sent events: what happens, as it happens.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, Uri, header},
    response::Response,
};
use futures_util::stream;
use metier_wire::SkillsChangedDocument;
use tokio::sync::watch;

use super::{
    answer::ApiResult,
    decisions,
    event_log::{EventLog, EventReader, LoggedEvent, NextEvents},
    skills::{Shared, parameters},
    state::{DaemonState, WorkLane},
};

/// How often a stream without events shows that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How often the database is asked for new receipts, while someone listens.
const RECEIPTS: Duration = Duration::from_millis(500);

/// The last event that a client has, if it continues.
pub(super) fn last_event(headers: &HeaderMap) -> Option<u64> {
    headers.get("last-event-id")?.to_str().ok()?.parse().ok()
}

/// All events of the daemon, or only those of some kinds.
pub(super) async fn all(State(state): Shared, uri: Uri, headers: HeaderMap) -> ApiResult {
    let kinds = parameters(&uri)?.remove("kinds");
    // A subscription counts from now on: the folders have to be watched.
    let watched = state.work(WorkLane::Quick, |state| state.live.watch().map(drop));
    watched.await?;
    let after = last_event(&headers);
    Ok(filtered(&state, Arc::clone(&state.events), after, kinds))
}

/// A log as a stream that begins after one of its events.
pub(super) fn stream(state: &Arc<DaemonState>, log: Arc<EventLog>, after: Option<u64>) -> Response {
    filtered(state, log, after, None)
}

struct Listening {
    state: Arc<DaemonState>,
    log: Arc<EventLog>,
    reader: EventReader,
    ending: watch::Receiver<bool>,
    kinds: Option<String>,
    is_first: bool,
    /// Counts who listens; receipts are looked for only then.
    _listener: Arc<()>,
}

fn filtered(
    state: &Arc<DaemonState>,
    log: Arc<EventLog>,
    after: Option<u64>,
    kinds: Option<String>,
) -> Response {
    let listening = Listening {
        reader: log.reader(after),
        log,
        ending: state.ending.clone(),
        kinds,
        is_first: true,
        _listener: Arc::clone(&state.listeners),
        state: Arc::clone(state),
    };
    let events = stream::unfold(listening, |mut listening| async {
        let text = listening.next().await?;
        Some((Ok::<_, Infallible>(text), listening))
    });
    let mut response = Response::new(Body::from_stream(events));
    let headers = response.headers_mut();
    let kind = HeaderValue::from_static("text/event-stream");
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

impl Listening {
    /// The next part of the stream.
    async fn next(&mut self) -> Option<String> {
        if self.is_first {
            self.is_first = false;
            return Some(": connected\n\n".to_owned());
        }
        if *self.ending.borrow() || *self.state.ending.borrow() {
            return None;
        }
        loop {
            let next = tokio::select! {
                next = self.log.next(&mut self.reader) => next,
                _ = self.ending.changed() => return None,
                () = tokio::time::sleep(KEEP_ALIVE) => return Some(": alive\n\n".to_owned()),
            };
            match next {
                NextEvents::Over => return None,
                NextEvents::Missed(last) => {
                    return Some(format!("id: {last}\nevent: missed\ndata: {{}}\n\n"));
                }
                NextEvents::Some(events) => {
                    let wanted = events.iter().filter(|event| self.is_wanted(event));
                    let text: String = wanted.map(lines).collect();
                    if !text.is_empty() {
                        return Some(text);
                    }
                }
            }
        }
    }

    fn is_wanted(&self, event: &LoggedEvent) -> bool {
        let kinds = self.kinds.as_deref();
        kinds.is_none_or(|kinds| kinds.split(',').any(|kind| kind == event.kind))
    }
}

/// One event; its document is one line.
fn lines(event: &LoggedEvent) -> String {
    let text = String::from_utf8_lossy(&event.text);
    let (number, kind) = (event.number, event.kind);
    format!("id: {number}\nevent: {kind}\ndata: {text}\n\n")
}

/// Reports changes of skills, on a separate thread, until the daemon ends.
pub(super) fn report_changes(state: &Arc<DaemonState>) {
    let mut watch = loop {
        match state.live.watch() {
            Ok(watch) => break watch,
            Err(error) => tracing::warn!(error = %error.in_full(), "the skills can't be listed"),
        }
        std::thread::sleep(Duration::from_secs(5));
        if *state.ending.borrow() {
            return;
        }
    };
    while !*state.ending.borrow() {
        let Some(changes) = watch.next(Duration::from_secs(3_600)) else {
            continue;
        };
        let Ok(now) = state.live.current() else {
            continue;
        };
        let counter = &state.metrics.changes;
        counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let document = SkillsChangedDocument::new(&changes, &now);
        let (added, changed) = (document.added.len(), document.changed.len());
        tracing::info!(
            added,
            changed,
            removed = document.removed.len(),
            "skills changed"
        );
        state.report("skills_changed", &document);
    }
}

/// Reports new receipts while someone listens.
pub(super) async fn report_receipts(state: Arc<DaemonState>) {
    let mut last = None;
    let mut ending = state.ending.clone();
    loop {
        tokio::select! {
            _ = ending.changed() => return,
            () = tokio::time::sleep(RECEIPTS) => {}
        }
        if Arc::strong_count(&state.listeners) == 1 {
            last = None;
            continue;
        }
        let shared = Arc::clone(&state);
        let looked = state.work(WorkLane::Quick, move |_| {
            decisions::new_receipts(&shared, &mut last)?;
            Ok(last)
        });
        last = looked.await.unwrap_or_default();
    }
}
