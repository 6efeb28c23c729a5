//! The engine, of which there is one per process because it is expensive to create, and the compiler.
//!
//! Both have the same configuration, so that the engine can load the compiler's code. The engine reserves address space
//! for all instances that can exist at once (it becomes memory only when used), so that an instance is created within
//! microseconds. The compiler runs in a child with little address space, so it reserves none.

use std::{
    hash::{Hash, Hasher},
    sync::OnceLock,
};

use sha2::{Digest, Sha256};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::{
    artifact::CompiledCode,
    error::{WasmLoadError, shown},
    examine::WasmKind,
    limits::WasmLimits,
};

/// How many instances can exist at once. Skills that invoke each other hold one each, at most eight deep; a component consists
/// of several.
const AT_ONCE: u32 = 32;
const CORE_AT_ONCE: u32 = 8 * AT_ONCE;
/// How many frames of a trap are reported.
const FRAMES: usize = 4;
/// How many bytes stay mapped for the next instance, so that small skills cause no page faults.
const KEPT: usize = 256 * 1024;

/// The engine of this process.
pub(crate) fn engine() -> Result<&'static Engine, WasmLoadError> {
    static ENGINE: OnceLock<Result<Engine, String>> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| {
        let mut pooled = config();
        pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool()));
        // If the address space is limited, each instance reserves what it needs, when it needs it.
        Engine::new(&pooled)
            .or_else(|_| Engine::new(&config()))
            .map_err(|error| shown(&error.to_string()))
    });
    engine
        .as_ref()
        .map_err(|why| WasmLoadError::Engine(why.clone()))
}

/// Compiles in this process, with one thread. Untrusted bytes can keep the compiler busy for any time:
/// compile those in a child that can be killed.
///
/// # Errors
/// The bytes are invalid, or exceed what the engine supports.
pub fn compile(bytes: &[u8]) -> Result<CompiledCode, WasmLoadError> {
    let kind = WasmKind::of(bytes)?;
    let mut config = config();
    config.parallel_compilation(false);
    let compiler =
        Engine::new(&config).map_err(|error| WasmLoadError::Engine(error.to_string()))?;
    let compiled = match kind {
        WasmKind::Component => compiler.precompile_component(bytes),
        WasmKind::Module => compiler.precompile_module(bytes),
    };
    compiled.map(CompiledCode::own).map_err(refused)
}

/// Lets the compiler detect the processor's features, before a sandbox prevents it.
///
/// # Errors
/// This machine can't run WebAssembly.
pub fn prepare() -> Result<(), WasmLoadError> {
    compile(b"\0asm\x01\0\0\0").map(drop)
}

/// An error of the compiler as a reason.
#[expect(
    clippy::needless_pass_by_value,
    reason = "for `map_err`, which passes it by value"
)]
pub(crate) fn refused(error: wasmtime::Error) -> WasmLoadError {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    WasmLoadError::Compile(shown(&chain.join(": ")))
}

/// The inputs of compiled code besides the bytes: the engine and the processor.
pub(crate) fn fingerprint(engine: &Engine) -> [u8; 32] {
    let mut hasher = EngineFingerprint(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.0.finalize().into()
}

struct EngineFingerprint(Sha256);

impl Hasher for EngineFingerprint {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Not used: the whole digest is taken instead.
    fn finish(&self) -> u64 {
        0
    }
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(WasmLimits::STACK)
        .async_stack_size(2 * WasmLimits::STACK)
        .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(FRAMES))
        // This information would add a sixth to the code; only system debuggers and offsets, which are not reported, need it.
        .native_unwind_info(false)
        .generate_address_map(false)
        // Explicit, because compiled code depends on them, with either allocation strategy.
        .memory_reservation(1 << 32)
        .memory_guard_size(32 << 20)
        .memory_may_move(false);
    config
}

fn pool() -> PoolingAllocationConfig {
    let most = WasmLimits::CEILING;
    let per_component = u32::try_from(most.instances).unwrap_or(u32::MAX);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(AT_ONCE)
        .total_core_instances(CORE_AT_ONCE)
        .total_memories(2 * AT_ONCE)
        .total_tables(CORE_AT_ONCE)
        .total_stacks(AT_ONCE)
        .max_memory_size(most.memory)
        .table_elements(most.table_elements)
        .max_tables_per_module(4)
        .max_memories_per_module(4)
        .max_core_instances_per_component(per_component)
        .max_core_instance_size(WasmLimits::INSTANCE)
        .max_component_instance_size(8 << 20)
        // Only written pages are cleared, where the kernel can list them.
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(KEPT)
        .table_keep_resident(KEPT)
        .max_unused_warm_slots(AT_ONCE);
    pool
}
