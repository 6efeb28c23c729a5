//! What is going on while Starlark code runs: who can be asked, what may be registered, how much may be logged.
//!
//! Built-ins are plain functions of the interpreter, and the one thing that they all need is this. The interpreter has a
//! slot for such things, but whoever wants to use it writes `unsafe impl`, which this crate forbids itself. So the calls
//! that are under way are kept in a stack of the thread: usually one, and one more for each file that is being loaded. A
//! guard takes the call off again.
//!
//! A hook that cancels does so by ending: `cancel()` leaves its reason here and stops the handler with an error that nobody
//! sees. If it were a value to be returned, a handler that forgets the `return` would let everything through.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use metier_sdk::wire::Contributions;
use metier_sdk::worker::Host;
use starlark::eval::Evaluator;

use crate::Limits;

thread_local! {
    static CALLS: RefCell<Vec<Rc<Call>>> = const { RefCell::new(Vec::new()) };
}

/// One evaluation, from the view of the built-ins.
pub(crate) struct Call {
    pub(crate) host: Rc<dyn Host>,
    pub(crate) limits: Limits,
    pub(crate) stage: Stage,
    /// Why a hook cancelled.
    pub(crate) cancelled: RefCell<Option<String>>,
    /// Bytes of log that are left; nothing once the limit was reached.
    log_left: Cell<Option<usize>>,
}

/// Which code runs.
pub(crate) enum Stage {
    /// The entrypoint is loaded, and says what the skill contributes.
    Entrypoint(Rc<RefCell<Contributions>>),
    /// A file that another one loads.
    Library,
    /// A file that is tested: what it registers is not registered.
    Tested,
    /// A handler of a tool, workflow or scanner.
    Handler,
    /// A handler of a hook.
    Hook,
}

impl Call {
    pub(crate) fn new(host: &Rc<dyn Host>, limits: &Limits, stage: Stage) -> Rc<Self> {
        Rc::new(Self {
            host: Rc::clone(host),
            limits: *limits,
            stage,
            cancelled: RefCell::new(None),
            log_left: Cell::new(Some(limits.output)),
        })
    }

    /// Whether a line of this length may be logged. The first that may not is replaced by a notice; all others are left out.
    pub(crate) fn may_log(&self, bytes: usize) -> Option<bool> {
        let left = self.log_left.get()?;
        self.log_left.set(left.checked_sub(bytes));
        Some(bytes <= left)
    }

    /// Sets the limits of an evaluator, and makes this the call that built-ins see until the guard goes.
    pub(crate) fn enter(
        self: &Rc<Self>,
        eval: &mut Evaluator<'_, '_, '_>,
    ) -> starlark::Result<UnderWay> {
        eval.set_max_callstack_size(self.limits.call_stack.max(1))?;
        eval.set_max_heap_size(self.limits.heap.max(1))?;
        eval.set_max_tick_count(self.limits.ticks.max(1))?;
        CALLS.with_borrow_mut(|calls| calls.push(Rc::clone(self)));
        Ok(UnderWay(()))
    }
}

/// A call is under way as long as this is there.
#[must_use]
pub(crate) struct UnderWay(());

impl Drop for UnderWay {
    fn drop(&mut self) {
        CALLS.with_borrow_mut(Vec::pop);
    }
}

/// The call that is under way.
pub(crate) fn current() -> starlark::Result<Rc<Call>> {
    CALLS
        .with_borrow(|calls| calls.last().cloned())
        .ok_or_else(|| starlark::Error::new_native(NoCall))
}

#[derive(Debug, thiserror::Error)]
#[error("a built-in was called outside a skill")]
struct NoCall;
