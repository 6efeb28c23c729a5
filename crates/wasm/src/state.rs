//! The state of one instance, and its store: always with fuel, a deadline and a memory limit.

use std::time::Instant;

use wasmtime::{Engine, Store, UpdateDeadline, component::ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::{
    error::{DeadlineExceeded, WasmCallError},
    limits::WasmLimits,
    meter::{MemoryLimit, Meter},
    question_slot::QuestionSlot,
};

/// The state of one instance; `W` is its side of WASI.
pub(crate) struct InstanceState<W> {
    pub(crate) wasi: W,
    pub(crate) counter: QuestionSlot,
    /// Whether the host is currently writing an answer to the module's memory.
    pub(crate) placing: bool,
    meter: Meter,
}

/// WASI for components.
pub(crate) struct Second {
    pub(crate) context: WasiCtx,
    pub(crate) table: ResourceTable,
}

impl WasiView for InstanceState<Second> {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi.context,
            table: &mut self.wasi.table,
        }
    }
}

impl<W> InstanceState<W> {
    /// The limit that refused it memory last.
    pub(crate) const fn refused_by(&self) -> Option<MemoryLimit> {
        self.meter.refused_by()
    }
}

/// A store for one call.
pub(crate) fn store<W: Send + 'static>(
    engine: &Engine,
    wasi: W,
    limits: &WasmLimits,
    until: Instant,
) -> Result<Store<InstanceState<W>>, WasmCallError> {
    let state = InstanceState {
        wasi,
        counter: QuestionSlot::default(),
        placing: false,
        meter: Meter::new(*limits),
    };
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.meter);
    store
        .set_fuel(limits.fuel)
        .map_err(|error| WasmCallError::Engine(error.to_string()))?;
    store.set_epoch_deadline(1);
    // The epoch is shared by all calls; each checks its own deadline.
    store.epoch_deadline_callback(move |_| match Instant::now() >= until {
        true => Err(DeadlineExceeded.into()),
        false => Ok(UpdateDeadline::Continue(1)),
    });
    Ok(store)
}
