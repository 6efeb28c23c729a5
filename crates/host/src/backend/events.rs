//! What happened to a session, kept until somebody asks for it.

use super::Event;
use crate::sandbox::UndonePlace;

/// How many events are kept when nobody asks for them.
const MOST: usize = 2_000;

/// The events of one session.
#[derive(Default)]
pub(super) struct Events(Vec<Event>);

impl Events {
    /// Keeps these, as long as there is room.
    pub(super) fn note(&mut self, events: impl IntoIterator<Item = Event>) {
        let room = MOST.saturating_sub(self.0.len());
        self.0.extend(events.into_iter().take(room));
    }

    /// Keeps that protected places were put back, even if there is no room: it must be written down.
    pub(super) fn note_undone(&mut self, places: &[UndonePlace]) {
        if !places.is_empty() {
            self.0.push(Event::Undone(places.to_vec()));
        }
    }

    /// What happened since this was asked last.
    pub(super) fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_who_forgets_to_ask_is_drowned() {
        let mut events = Events::default();
        for _ in 0..3 {
            events.note(std::iter::repeat_n(Event::Ended, MOST - 1));
        }
        assert_eq!(events.take().len(), MOST);
        events.note([Event::Ended]);
        assert_eq!(events.take(), [Event::Ended]);
    }
}
