//! The limits of memory and table elements of one instance.

use wasmtime::ResourceLimiter;

use crate::limits::WasmLimits;

/// Counts allocations, and refuses those beyond the limit.
pub(crate) struct Meter {
    limits: WasmLimits,
    memory: usize,
    elements: usize,
    /// Whether an allocation was refused.
    hungry: bool,
}

impl Meter {
    pub(crate) const fn new(limits: WasmLimits) -> Self {
        Self {
            limits,
            memory: 0,
            elements: 0,
            hungry: false,
        }
    }

    /// Whether an allocation was refused.
    pub(crate) const fn is_hungry(&self) -> bool {
        self.hungry
    }
}

/// Subtracts the difference from the remainder, if that is enough.
fn take(used: &mut usize, current: usize, desired: usize, limit: usize) -> bool {
    let wanted = used.saturating_add(desired.saturating_sub(current));
    let enough = wanted <= limit;
    if enough {
        *used = wanted;
    }
    enough
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
        let enough = possible && take(&mut self.memory, current, desired, self.limits.memory);
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
        Ok(possible && take(&mut self.elements, current, desired, limit))
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
