//! The limits of memory and table elements of one instance.

use wasmtime::ResourceLimiter;

use crate::{limits::WasmLimits, process_memory::MemoryShare};

/// Counts allocations, and refuses those beyond the limit.
pub(crate) struct Meter {
    limits: WasmLimits,
    memory: MemoryShare,
    elements: usize,
    /// The limit that refused the last allocation.
    refused_by: Option<MemoryLimit>,
}

/// A limit of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryLimit {
    /// That of the skill.
    Skill,
    /// That of all skills in this process.
    Process,
}

impl Meter {
    pub(crate) fn new(limits: WasmLimits) -> Self {
        Self {
            limits,
            memory: MemoryShare::default(),
            elements: 0,
            refused_by: None,
        }
    }

    /// The limit that refused the last allocation.
    pub(crate) const fn refused_by(&self) -> Option<MemoryLimit> {
        self.refused_by
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
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let refused_by = match fitting(self.memory.bytes(), current, desired, self.limits.memory) {
            None => Some(MemoryLimit::Skill),
            Some(more) => (!self.memory.grow(more)).then_some(MemoryLimit::Process),
        };
        self.refused_by = refused_by.or(self.refused_by);
        Ok(refused_by.is_none())
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
    use crate::process_memory;

    #[test]
    fn several_memories_share_one_limit() {
        let _alone = process_memory::alone();
        let mut meter = Meter::new(WasmLimits {
            memory: 1_000,
            ..WasmLimits::default()
        });
        assert!(meter.memory_growing(0, 600, None).unwrap());
        assert!(!meter.memory_growing(0, 600, None).unwrap());
        assert_eq!(meter.refused_by(), Some(MemoryLimit::Skill));
        assert!(meter.memory_growing(600, 1_000, None).unwrap());
        assert!(!meter.memory_growing(1_000, usize::MAX, None).unwrap());
    }

    // case 234
    #[test]
    fn what_other_skills_hold_is_not_the_limit_of_this_one() {
        let _alone = process_memory::alone();
        let mut meter = Meter::new(WasmLimits::default());
        let others = MemoryShare::of(WasmLimits::PROCESS).unwrap();
        assert!(!meter.memory_growing(0, 600, None).unwrap());
        assert_eq!(meter.refused_by(), Some(MemoryLimit::Process));
        drop(others);
        assert!(meter.memory_growing(0, 600, None).unwrap());
    }

    #[test]
    fn what_its_own_maximum_forbids_is_not_for_want_of_ours() {
        let mut meter = Meter::new(WasmLimits {
            memory: 1_000,
            table_elements: 10,
            ..WasmLimits::default()
        });
        assert!(!meter.memory_growing(0, 600, Some(500)).unwrap());
        assert_eq!(meter.refused_by(), None);
        assert!(!meter.table_growing(0, 8, Some(4)).unwrap());
        assert!(meter.table_growing(0, 8, None).unwrap());
    }
}
