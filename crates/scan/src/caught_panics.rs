//! Panics that are caught without output on the terminal.
//!
//! Third-party parsers have bugs, and a scan that fails closed catches their panics. But Rust prints a panic before
//! it can be caught, into the middle of the program's output. The panic hook belongs to the whole
//! program, so it is wrapped once and checks a flag of the thread: other threads, and uncaught panics, print as before.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; returns `None` if it panics, and prints nothing.
pub fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A thread that is ending no longer has a flag.
            if !QUIET.try_with(Cell::get).unwrap_or(false) {
                before(info);
            }
        }));
    });
    let outside = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    QUIET.set(outside);
    result.ok()
}

/// Whether panics of this thread are caught; a thread that works for it adopts this with [`inherit`].
#[cfg(feature = "scan-code")]
pub(crate) fn is_quiet() -> bool {
    QUIET.get()
}

/// Sets the flag at the start of a thread that another one joins.
#[cfg(feature = "scan-code")]
pub(crate) fn inherit(quiet: bool) {
    QUIET.set(quiet);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_the_flag_goes_back() {
        assert_eq!(quietly(|| 7), Some(7));
        assert!(!QUIET.get());
        assert_eq!(quietly(|| -> u8 { panic!("not to be seen") }), None);
        assert!(!QUIET.get(), "later panics are reported");
        let within = quietly(|| {
            let inner = quietly(|| -> u8 { panic!("not to be seen") });
            (inner, QUIET.get())
        });
        assert_eq!(within, Some((None, true)));
    }
}
