//! A large stack, for trees that are deeper than ours.
//!
//! `oxc` parses by recursion, and both `ruff`'s parser and Rust drop a tree by recursion: `a+a+a+…` with 100,000 operands
//! ends a program that has 2 MiB of stack. Refusing such texts would be a way to hide from the scanner, so they are parsed on a
//! thread with as much stack as the text could need. The memory is only reserved; it is used only if the nesting is real.

use std::mem::ManuallyDrop;
use std::thread::Builder;

use crate::caught_panics;

/// The stack that the calling thread can certainly spare.
const SPARE: usize = 768 * 1024;
/// The maximum stack; a text that needs more is refused.
const MOST: usize = 1 << 30;
/// The stack used besides the nesting.
const BASE: usize = 2 * 1024 * 1024;

/// Runs `work` on `input` with `needed` bytes of stack; `None` if there is no such stack.
///
/// `input` is leaked when no thread can be started: dropping it here could overflow the stack.
pub(super) fn with_stack<I: Send, T: Send>(
    needed: usize,
    input: I,
    work: impl FnOnce(I) -> T + Send,
) -> Option<T> {
    if needed <= SPARE {
        return Some(work(input));
    }
    if needed > MOST {
        std::mem::forget(input);
        return None;
    }
    let input = ManuallyDrop::new(input);
    let is_quiet = caught_panics::is_quiet();
    std::thread::scope(|scope| {
        Builder::new()
            .stack_size(needed + BASE)
            .spawn_scoped(scope, move || {
                caught_panics::inherit(is_quiet);
                work(ManuallyDrop::into_inner(input))
            })
            .ok()
            .and_then(|thread| thread.join().ok())
    })
}
