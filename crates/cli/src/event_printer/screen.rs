//! The terminal of a conversation: who writes to it, where its cursor is, and what has to be erased.
//!
//! **Problem.** The model's words come in pieces on stdout; everything else is lines on stderr, from several threads; a sign shows that
//! the model is working; and now and then a question needs an answer. All of it is on one screen. **Decision.** Every writer
//! takes the lock, and finds and leaves the cursor at the beginning of a line. While a question is open no other thread writes.

use std::{
    sync::{
        Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::markdown::MarkdownStream;
use crate::{
    failure::end_if_closed,
    output::{Output, Tone, inert},
};

/// The sign appears after this much silence, and then moves this often.
const SILENCE: Duration = Duration::from_millis(300);
const STEP: Duration = Duration::from_millis(120);
const FRAMES: [&str; 8] = ["⣾", "⣽", "⣻", "⢿", "⡿", "⣟", "⣯", "⣷"];
/// Back to the beginning of the line, and clears it.
const ERASE: &str = "\r\x1b[2K";
/// Erases what is left of a longer line.
const ERASE_REST: &str = "\x1b[K";

/// The output of all sessions of a run.
pub(crate) struct TerminalScreen {
    output: Output,
    shows_waiting: bool,
    /// The conversation that the user talks to.
    primary: OnceLock<String>,
    state: Mutex<CursorState>,
}

/// Where the cursor is.
struct CursorState {
    /// Text of the model that was written to a pipe has not ended its line.
    is_open: bool,
    /// The line contains thoughts of the model.
    is_thinking: bool,
    /// The sign does, and nothing else.
    has_sign: bool,
    /// How many answers are waited for, and since when.
    waiting: usize,
    since: Instant,
    /// When the screen last changed.
    changed: Instant,
    /// The text of the model, for a terminal.
    markdown: Option<MarkdownStream>,
}

impl TerminalScreen {
    /// `is_text`: people read it.
    pub(crate) fn new(output: &Output, is_text: bool) -> Self {
        let now = Instant::now();
        let style = output.markdown().filter(|_| is_text);
        Self {
            output: output.clone(),
            shows_waiting: is_text && output.shows_progress(),
            primary: OnceLock::new(),
            state: Mutex::new(CursorState {
                is_open: false,
                is_thinking: false,
                has_sign: false,
                waiting: 0,
                since: now,
                changed: now,
                markdown: style.map(MarkdownStream::new),
            }),
        }
    }

    /// A conversation of this run has started; the first one is the user's.
    pub(crate) fn started(&self, conversation: &str) {
        self.primary.get_or_init(|| conversation.to_owned());
    }

    /// Whether a conversation is that of a sub-agent.
    pub(crate) fn is_subagent(&self, conversation: &str) -> bool {
        self.primary
            .get()
            .is_some_and(|primary| primary != conversation)
    }

    /// A line that a quiet run leaves out.
    pub(crate) fn line(&self, line: &str) {
        let mut state = self.lock();
        self.settle(&mut state);
        self.output.note(line);
    }

    /// A line that the user asked for.
    pub(crate) fn say(&self, line: &str) {
        let mut state = self.lock();
        self.settle(&mut state);
        self.output.say(line);
    }

    /// More words of the model. On a terminal they are shown when their block ends.
    pub(crate) fn words(&self, words: &str) {
        if words.is_empty() {
            return;
        }
        let mut state = self.lock();
        if let Some(markdown) = &mut state.markdown {
            if let Some(style) = self.output.markdown() {
                markdown.set_width(style.width);
            }
            let shown = markdown.push(words);
            self.show(&mut state, &shown);
            return;
        }
        if !state.is_open {
            self.settle(&mut state);
        }
        end_if_closed(self.output.content(words));
        state.is_open = !words.ends_with('\n');
    }

    /// The text of the model has ended.
    pub(crate) fn end_text(&self) {
        self.end_text_in(&mut self.lock());
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

    /// Does something during which the model is waited for. While nothing else happens on the screen, a sign shows that.
    pub(crate) fn while_waiting(&self, work: &mut dyn FnMut()) {
        if !self.shows_waiting {
            return work();
        }
        self.begin_waiting();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let ticking = scope.spawn(|| {
                while !is_over.load(Ordering::Acquire) {
                    thread::park_timeout(STEP);
                    self.show_sign(&is_over);
                }
            });
            work();
            self.end_waiting(&is_over);
            ticking.thread().unpark();
        });
    }

    /// Ends the line that is being written.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        self.end_text_in(&mut state);
        self.settle(&mut state);
    }

    /// The user pressed Ctrl-C, and a terminal shows that as `^C` wherever its cursor is.
    pub(crate) fn stopped(&self) {
        self.close();
        if self.shows_waiting {
            self.output.murmur(ERASE);
        }
    }

    /// Keeps the terminal for a question.
    pub(crate) fn hold<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut state = self.lock();
        self.settle(&mut state);
        work()
    }

    fn begin_waiting(&self) {
        let mut state = self.lock();
        if state.waiting == 0 {
            state.since = Instant::now();
        }
        state.waiting += 1;
        state.changed = Instant::now();
    }

    fn end_waiting(&self, is_over: &AtomicBool) {
        let mut state = self.lock();
        is_over.store(true, Ordering::Release);
        state.waiting -= 1;
        self.erase_sign(&mut state);
    }

    fn show_sign(&self, is_over: &AtomicBool) {
        // If the lock is taken, something is being written or asked: there is no silence.
        let Ok(mut state) = self.state.try_lock() else {
            return;
        };
        let is_busy = is_over.load(Ordering::Acquire) || state.is_thinking;
        if is_busy || state.changed.elapsed() < SILENCE {
            return;
        }
        let waited = state.since.elapsed();
        let frame = waited.as_millis() / STEP.as_millis() % FRAMES.len() as u128;
        let frame = FRAMES[usize::try_from(frame).unwrap_or(0)];
        let holds_text = state
            .markdown
            .as_ref()
            .is_some_and(MarkdownStream::holds_text);
        let what = if holds_text || state.is_open {
            "writing"
        } else {
            "thinking"
        };
        let sign = format!("{frame} {what}… {}s", waited.as_secs());
        let sign = self.output.paint_talk(&sign, Tone::Faint);
        self.output.murmur(&format!("\r{sign}{ERASE_REST}"));
        state.has_sign = true;
    }

    fn erase_sign(&self, state: &mut CursorState) {
        if std::mem::take(&mut state.has_sign) {
            self.output.murmur(ERASE);
        }
        state.changed = Instant::now();
    }

    fn end_text_in(&self, state: &mut CursorState) {
        if let Some(markdown) = &mut state.markdown {
            let shown = markdown.finish();
            self.show(state, &shown);
        }
    }

    fn show(&self, state: &mut CursorState, shown: &str) {
        if !shown.is_empty() {
            self.settle(state);
            end_if_closed(self.output.text(shown));
        }
    }

    fn settle(&self, state: &mut CursorState) {
        self.erase_sign(state);
        if std::mem::take(&mut state.is_open) {
            end_if_closed(self.output.text("\n"));
        }
        if std::mem::take(&mut state.is_thinking) {
            self.output.murmur("\n");
        }
    }

    fn lock(&self) -> MutexGuard<'_, CursorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
