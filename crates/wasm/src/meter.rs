//! The limits of memory and table elements of one instance.

use wasmtime::ResourceLimiter;

use crate::{limits::WasmLimits, process_memory::MemoryShare};

/// Counts allocations, and refuses those beyond the limit.
pub(crate) struct Meter {
    limits: WasmLimits,
    memory: MemoryShare,
    elements: usize,
    /// Whether an allocation was refused.
    hungry: bool,
}

impl Meter {
    pub(crate) fn new(limits: WasmLimits) -> Self {
        Self {
            limits,
            memory: MemoryShare::default(),
            elements: 0,
            hungry: false,
        }
    }

    /// Whether an allocation was refused.
    pub(crate) const fn is_hungry(&self) -> bool {
        self.hungry
    }
}

/// The difference, if it fits into the limit.
fn fitting(used: usize, current: usize, desired: usize, limit: usize) -> Option<usize> {
    let more = desired.saturating_sub(current);
    used.checked_add(more)
        .is_some_and(|wanted| wanted <= limit)
        .then_some(more)
}

impl ResourceLimiter for Meter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // An allocation beyond the module's own maximum fails anyway, and is not counted.
        let possible = maximum.is_none_or(|maximum| desired <= maximum);
        let more = fitting(self.memory.bytes(), current, desired, self.limits.memory);
        let enough = possible && more.is_some_and(|more| self.memory.grow(more));
        self.hungry |= possible && !enough;
        Ok(enough)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let possible = maximum.is_none_or(|maximum| desired <= maximum);
        let limit = self.limits.table_elements;
        let more = fitting(self.elements, current, desired, limit).filter(|_| possible);
        self.elements += more.unwrap_or_default();
        Ok(more.is_some())
    }

    fn instances(&self) -> usize {
        self.limits.instances
    }

    fn tables(&self) -> usize {
        self.limits.instances
    }

    fn memories(&self) -> usize {
        self.limits.instances
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_memories_share_one_limit() {
        let mut meter = Meter::new(WasmLimits {
            memory: 1_000,
            ..WasmLimits::default()
        });
        assert!(meter.memory_growing(0, 600, None).unwrap());
        assert!(!meter.memory_growing(0, 600, None).unwrap());
        assert!(meter.is_hungry());
        assert!(meter.memory_growing(600, 1_000, None).unwrap());
        assert!(!meter.memory_growing(1_000, usize::MAX, None).unwrap());
    }

    #[test]
    fn what_its_own_maximum_forbids_is_not_for_want_of_ours() {
        let mut meter = Meter::new(WasmLimits {
            memory: 1_000,
            table_elements: 10,
            ..WasmLimits::default()
        });
        assert!(!meter.memory_growing(0, 600, Some(500)).unwrap());
        assert!(!meter.is_hungry());
        assert!(!meter.table_growing(0, 8, Some(4)).unwrap());
        assert!(meter.table_growing(0, 8, None).unwrap());
    }
}
