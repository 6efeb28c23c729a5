//! The state of running Starlark code: the host, the possible registrations, and the remaining log.
//!
//! Built-ins are plain functions of the interpreter, and all of them need this state. The interpreter has a
//! slot for it, but using it requires `unsafe impl`, which this crate forbids. So the current calls
//! are kept in a stack of the thread: usually one, and one more for each file that is being loaded. A
//! guard removes the call again.
//!
//! A hook cancels by ending: `cancel()` stores its reason here and stops the handler with an internal error.
//! If it were a return value, a handler that forgets `return` would let everything through.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use metier_sdk::wire::Contributions;
use metier_sdk::worker::WorkerHost;
use starlark::eval::Evaluator;

use crate::StarlarkLimits;

thread_local! {
    static CALLS: RefCell<Vec<Rc<EvaluationContext>>> = const { RefCell::new(Vec::new()) };
}

/// One evaluation, in the form for built-ins.
pub(crate) struct EvaluationContext {
    pub(crate) host: Rc<dyn WorkerHost>,
    pub(crate) limits: StarlarkLimits,
    pub(crate) stage: EvaluationStage,
    /// Why a hook cancelled.
    pub(crate) cancelled: RefCell<Option<String>>,
    /// Remaining bytes of the log; `None` once the limit was reached.
    log_left: Cell<Option<usize>>,
}

/// The code that runs.
pub(crate) enum EvaluationStage {
    /// The entrypoint, which registers contributions.
    Entrypoint(Rc<RefCell<Contributions>>),
    /// A file that another one loads.
    Library,
    /// A file that is tested: its registrations are ignored.
    Tested,
    /// A handler of a tool, workflow or scanner.
    Handler,
    /// A handler of a hook.
    Hook,
}

impl EvaluationContext {
    pub(crate) fn new(
        host: &Rc<dyn WorkerHost>,
        limits: &StarlarkLimits,
        stage: EvaluationStage,
    ) -> Rc<Self> {
        Rc::new(Self {
            host: Rc::clone(host),
            limits: *limits,
            stage,
            cancelled: RefCell::new(None),
            log_left: Cell::new(Some(limits.output)),
        })
    }

    /// Whether a line of this length can be logged. The first one beyond the limit is replaced by a notice; later ones are dropped.
    pub(crate) fn may_log(&self, bytes: usize) -> Option<bool> {
        let left = self.log_left.get()?;
        self.log_left.set(left.checked_sub(bytes));
        Some(bytes <= left)
    }

    /// Sets the limits of an evaluator, and makes this the current call until the guard is dropped.
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

/// Keeps a call current until it is dropped.
#[must_use]
pub(crate) struct UnderWay(());

impl Drop for UnderWay {
    fn drop(&mut self) {
        CALLS.with_borrow_mut(Vec::pop);
    }
}

/// The current call.
pub(crate) fn current() -> starlark::Result<Rc<EvaluationContext>> {
    CALLS
        .with_borrow(|calls| calls.last().cloned())
        .ok_or_else(|| starlark::Error::new_native(NoCall))
}

#[derive(Debug, thiserror::Error)]
#[error("a built-in was called outside a skill")]
struct NoCall;
