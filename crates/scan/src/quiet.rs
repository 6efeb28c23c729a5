//! Panics that are caught, without a word on the terminal.
//!
//! Parsers of other people's languages have mistakes, and a scan that fails closed catches them. But Rust prints a panic before
//! anybody can catch it, into the middle of what is shown to the user. The hook that prints belongs to the whole
//! program, so it is wrapped once, and asks a flag of the thread: other threads, and panics that nobody catches, are told as before.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Does something; `None` if it panics, and nothing is printed then.
pub fn quietly<T>(work: impl FnOnce() -> T) -> Option<T> {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A thread that is ending has no flag any more; nobody catches for it.
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

/// Whether panics of this thread are caught; a thread that works for it takes this over with [`inherit`].
pub(crate) fn is_quiet() -> bool {
    QUIET.get()
}

/// For the beginning of a thread whose end is waited for.
pub(crate) fn inherit(quiet: bool) {
    QUIET.set(quiet);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_the_flag_goes_back() {
        assert_eq!(quietly(|| 7), Some(7));
        assert!(!is_quiet());
        assert_eq!(quietly(|| -> u8 { panic!("not to be seen") }), None);
        assert!(!is_quiet(), "what panics later is told");
        let within = quietly(|| {
            let inner = quietly(|| -> u8 { panic!("not to be seen") });
            (inner, is_quiet())
        });
        assert_eq!(within, Some((None, true)));
    }
}
