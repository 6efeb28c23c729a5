//! Events for clients that read at their own speed.
//!
//! The newest events are kept once, for all readers; a reader only remembers how far it is. So a slow one costs nothing, and learns that it missed
//! something.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use axum::body::Bytes;
use tokio::sync::watch;

/// An event, as JSON.
#[derive(Clone, Debug)]
pub(super) struct LoggedEvent {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Its kind: `skills_changed`, `receipt` and so on.
    pub(super) kind: &'static str,
    /// The document.
    pub(super) text: Bytes,
}

/// The newest events.
pub(super) struct EventLog {
    kept: Mutex<KeptEvents>,
    last: watch::Sender<u64>,
    max_events: usize,
    max_bytes: usize,
}

#[derive(Default)]
struct KeptEvents {
    events: VecDeque<LoggedEvent>,
    bytes: usize,
    last: u64,
    is_over: bool,
}

/// The result of a read.
#[derive(Debug)]
pub(super) enum NextEvents {
    /// Events in their order.
    Some(Vec<LoggedEvent>),
    /// Events were dropped that this reader had not read; it continues after this one.
    Missed(u64),
    /// There will be no more.
    Over,
}

/// Reads a log from one point on.
pub(super) struct EventReader {
    read: u64,
    last: watch::Receiver<u64>,
}

impl EventLog {
    /// A log that keeps this much.
    pub(super) fn new(max_events: usize, max_bytes: usize) -> Self {
        Self {
            kept: Mutex::default(),
            last: watch::Sender::new(0),
            max_events,
            max_bytes,
        }
    }

    /// Adds an event.
    pub(super) fn add(&self, kind: &'static str, text: Vec<u8>) {
        let mut kept = self.kept();
        if kept.is_over {
            return;
        }
        kept.last += 1;
        kept.bytes += text.len();
        let event = LoggedEvent {
            number: kept.last,
            kind,
            text: text.into(),
        };
        kept.events.push_back(event);
        while kept.events.len() > self.max_events
            || kept.bytes > self.max_bytes && kept.events.len() > 1
        {
            let gone = kept.events.pop_front();
            kept.bytes -= gone.map_or(0, |gone| gone.text.len());
        }
        let last = kept.last;
        drop(kept);
        self.last.send_replace(last);
    }

    /// Ends the log: readers get nothing more.
    pub(super) fn end(&self) {
        self.kept().is_over = true;
        self.last.send_modify(|_| {});
    }

    /// A reader of the events after this one; without a number, of those from now on.
    pub(super) fn reader(&self, after: Option<u64>) -> EventReader {
        let last = self.last.subscribe();
        let read = after.unwrap_or_else(|| self.kept().last);
        EventReader { read, last }
    }

    /// Waits for events that a reader has not read.
    pub(super) async fn next(&self, reader: &mut EventReader) -> NextEvents {
        loop {
            reader.last.borrow_and_update();
            if let Some(next) = self.unread(reader) {
                return next;
            }
            if reader.last.changed().await.is_err() {
                return NextEvents::Over;
            }
        }
    }

    fn unread(&self, reader: &mut EventReader) -> Option<NextEvents> {
        let kept = self.kept();
        if reader.read >= kept.last {
            return kept.is_over.then_some(NextEvents::Over);
        }
        let first = kept.events.front().map_or(0, |event| event.number);
        if reader.read + 1 < first {
            reader.read = first - 1;
            return Some(NextEvents::Missed(reader.read));
        }
        let new = kept.events.iter();
        let new: Vec<LoggedEvent> = new
            .skip_while(|event| event.number <= reader.read)
            .cloned()
            .collect();
        reader.read = kept.last;
        Some(NextEvents::Some(new))
    }

    fn kept(&self) -> MutexGuard<'_, KeptEvents> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
