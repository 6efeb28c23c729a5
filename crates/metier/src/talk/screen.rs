//! The terminal of a session: who writes to it, where its cursor is, and what has to be taken back.
//!
//! **Problem.** The model's words come in pieces on stdout; everything else is lines on stderr, from several threads; a mark says that
//! somebody is waited for; and now and then a question needs an answer. All of it is on one screen. **Decision.** Whoever writes
//! takes the lock and finds the cursor at the begin of a line, or leaves it there. While a question stands nobody else writes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::output::{Output, Tone, inert};

/// Shown while the first word is waited for.
const WAITING: &str = "…";
/// Back to the begin of the line, and nothing on it.
const TAKE_BACK: &str = "\r\x1b[2K";

/// What all of a run's sessions write to.
pub(crate) struct Screen {
    output: Output,
    shows_waiting: bool,
    state: Mutex<State>,
}

/// Where the cursor is.
#[derive(Default)]
struct State {
    /// Words of the model stand on the line.
    is_open: bool,
    /// Thoughts of the model do.
    is_thinking: bool,
    /// The mark does, and nothing else.
    is_waiting: bool,
}

impl Screen {
    /// `is_text` says that people read it.
    pub(crate) fn new(output: &Output, is_text: bool) -> Self {
        Self {
            output: output.clone(),
            shows_waiting: is_text && output.shows_progress(),
            state: Mutex::default(),
        }
    }

    /// A line that a quiet run leaves out.
    pub(crate) fn line(&self, line: &str) {
        let mut state = self.lock();
        self.settle(&mut state);
        self.output.note(line);
    }

    /// A line that somebody asked for.
    pub(crate) fn say(&self, line: &str) {
        let mut state = self.lock();
        self.settle(&mut state);
        self.output.say(line);
    }

    /// More words of the model.
    pub(crate) fn words(&self, words: &str) {
        if words.is_empty() {
            return;
        }
        let mut state = self.lock();
        if !state.is_open {
            self.settle(&mut state);
        }
        // Whoever closed stdout is told by what is written next.
        self.output.content(words).ok();
        state.is_open = !words.ends_with('\n');
    }

    /// More thoughts of the model.
    pub(crate) fn thoughts(&self, thoughts: &str) {
        let mut state = self.lock();
        if !state.is_thinking {
            self.settle(&mut state);
            state.is_thinking = true;
        }
        let thoughts = self.output.paint_talk(&inert(thoughts), Tone::Faint);
        self.output.murmur(&thoughts);
    }

    /// Somebody is waited for. The mark goes with whatever is written next.
    pub(crate) fn wait(&self) {
        let mut state = self.lock();
        if self.shows_waiting && !state.is_open && !state.is_thinking && !state.is_waiting {
            self.output
                .murmur(&self.output.paint_talk(WAITING, Tone::Faint));
            state.is_waiting = true;
        }
    }

    /// Nobody is waited for any more.
    pub(crate) fn stop_waiting(&self) {
        self.take_back(&mut self.lock());
    }

    /// Ends the line that somebody is writing.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        self.settle(&mut state);
    }

    /// Somebody pressed Ctrl-C, and a terminal shows that as `^C` wherever its cursor is.
    pub(crate) fn stopped(&self) {
        let mut state = self.lock();
        self.settle(&mut state);
        if self.shows_waiting {
            self.output.murmur(TAKE_BACK);
        }
    }

    /// Lets somebody have the terminal to themselves.
    pub(crate) fn hold<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut state = self.lock();
        self.settle(&mut state);
        work()
    }

    fn take_back(&self, state: &mut State) {
        if std::mem::take(&mut state.is_waiting) {
            self.output.murmur(TAKE_BACK);
        }
    }

    fn settle(&self, state: &mut State) {
        self.take_back(state);
        if std::mem::take(&mut state.is_open) {
            self.output.text("\n").ok();
        }
        if std::mem::take(&mut state.is_thinking) {
            self.output.murmur("\n");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
