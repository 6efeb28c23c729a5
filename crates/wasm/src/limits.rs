//! Limits of a skill: the defaults and the maximum.

use std::time::Duration;

const MIB: usize = 1 << 20;

/// The limits of one skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WasmLimits {
    /// Bytes of memory, all memories of an instance together.
    pub memory: usize,
    /// Units of fuel in a call; an instruction costs about one.
    pub fuel: u64,
    /// How long a call can take, including its requests to the host.
    pub time: Duration,
    /// Elements of tables, all tables of an instance together.
    pub table_elements: usize,
    /// Core instances in one component.
    pub instances: usize,
    /// Size of the file in bytes.
    pub module_bytes: usize,
    /// Number of functions in the file.
    pub functions: u32,
    /// How long compiling can take.
    pub compile_time: Duration,
}

impl Default for WasmLimits {
    fn default() -> Self {
        Self {
            memory: 64 * MIB,
            fuel: 20_000_000_000,
            time: Duration::from_secs(60),
            ..Self::CEILING
        }
    }
}

impl WasmLimits {
    /// The maximum of each limit.
    pub const CEILING: Self = Self {
        memory: 96 * MIB,
        fuel: 1_000_000_000_000,
        time: Duration::from_secs(600),
        table_elements: 100_000,
        instances: 32,
        module_bytes: 32 * MIB,
        functions: 65_536,
        compile_time: Duration::from_secs(60),
    };

    /// The bytes of all instances and all machine code in this process together. With metier itself, the file of a skill and what the
    /// engine keeps for each instance it stays below the 256 MB that no skill makes metier exceed.
    pub(crate) const PROCESS: usize = 112 * MIB;

    /// The size of the machine code of a skill in bytes.
    pub const CODE: usize = 48 * MIB;

    /// The memory of the engine for one core instance: functions, globals, imports.
    pub(crate) const INSTANCE: usize = MIB;

    /// The size of the stack in bytes.
    pub(crate) const STACK: usize = MIB;

    /// These limits, reduced to the maximum.
    #[must_use]
    pub fn within_ceiling(self) -> Self {
        let most = Self::CEILING;
        Self {
            memory: self.memory.min(most.memory),
            fuel: self.fuel.min(most.fuel),
            time: self.time.min(most.time),
            table_elements: self.table_elements.min(most.table_elements),
            instances: self.instances.min(most.instances),
            module_bytes: self.module_bytes.min(most.module_bytes),
            functions: self.functions.min(most.functions),
            compile_time: self.compile_time.min(most.compile_time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_never_exceeds_the_rest() {
        let greedy = WasmLimits {
            memory: usize::MAX,
            fuel: u64::MAX,
            time: Duration::MAX,
            table_elements: usize::MAX,
            instances: usize::MAX,
            module_bytes: usize::MAX,
            functions: u32::MAX,
            compile_time: Duration::MAX,
        };
        assert_eq!(greedy.within_ceiling(), WasmLimits::CEILING);
        assert_eq!(
            WasmLimits::default().within_ceiling(),
            WasmLimits::default()
        );
    }
}
