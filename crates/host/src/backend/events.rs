//! The events of a session, until they are collected.

use super::ProcessEvent;
use crate::sandbox::UndonePlace;

/// How many uncollected events are kept.
const MOST: usize = 2_000;

/// The events of one session.
#[derive(Default)]
pub(super) struct EventQueue(Vec<ProcessEvent>);

impl EventQueue {
    /// Keeps events, up to the limit.
    pub(super) fn note(&mut self, events: impl IntoIterator<Item = ProcessEvent>) {
        let room = MOST.saturating_sub(self.0.len());
        self.0.extend(events.into_iter().take(room));
    }

    /// Records that protected places were restored, even beyond the limit: a receipt must contain it.
    pub(super) fn note_undone(&mut self, places: &[UndonePlace]) {
        if !places.is_empty() {
            self.0.push(ProcessEvent::Undone(places.to_vec()));
        }
    }

    /// The events since the last call.
    pub(super) fn take(&mut self) -> Vec<ProcessEvent> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_output_does_not_grow() {
        let mut events = EventQueue::default();
        for _ in 0..3 {
            events.note(std::iter::repeat_n(ProcessEvent::Ended, MOST - 1));
        }
        assert_eq!(events.take().len(), MOST);
        events.note([ProcessEvent::Ended]);
        assert_eq!(events.take(), [ProcessEvent::Ended]);
    }
}
