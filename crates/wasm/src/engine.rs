//! The engine: one for the process, because what it costs is paid once; and the compiler, which needs none of that.
//!
//! Both are made from one configuration, so that what the compiler makes fits the engine. The engine sets aside address space
//! for all instances that there may be at once (nothing of it is memory until it is used), which makes an instance a matter of
//! microseconds. The compiler runs in a child with little address space, so it sets aside nothing.

use std::{
    hash::{Hash, Hasher},
    sync::OnceLock,
};

use sha2::{Digest, Sha256};
use wasmtime::{Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::{
    artifact::Compiled,
    examine::Kind,
    limits::Limits,
    trouble::{Refused, shown},
};

/// How many instances there may be at once. Skills that invoke each other hold one each, eight deep at most; a component is
/// made of several.
const AT_ONCE: u32 = 32;
const CORE_AT_ONCE: u32 = 8 * AT_ONCE;
/// How many frames of a trap are told.
const FRAMES: usize = 4;
/// What an instance leaves mapped for the next one, in bytes, so that small skills cause no page faults.
const KEPT: usize = 256 * 1024;

/// The engine of this process.
pub(crate) fn engine() -> Result<&'static Engine, Refused> {
    static ENGINE: OnceLock<Result<Engine, String>> = OnceLock::new();
    let engine = ENGINE.get_or_init(|| {
        let mut pooled = config();
        pooled.allocation_strategy(InstanceAllocationStrategy::Pooling(pool()));
        // Somebody may have limited our address space: then each instance takes what it needs, when it needs it.
        Engine::new(&pooled)
            .or_else(|_| Engine::new(&config()))
            .map_err(|error| shown(&error.to_string()))
    });
    engine.as_ref().map_err(|why| Refused::Engine(why.clone()))
}

/// Compiles, in this process and with one thread. Bytes of unknown origin can keep it busy for as long as they like: whoever
/// does not trust them calls this in a child that can be killed.
///
/// # Errors
/// When they are not valid, or go beyond what the engine supports.
pub fn compile(bytes: &[u8]) -> Result<Compiled, Refused> {
    let kind = Kind::of(bytes)?;
    let mut config = config();
    config.parallel_compilation(false);
    let compiler = Engine::new(&config).map_err(|error| Refused::Engine(error.to_string()))?;
    let compiled = match kind {
        Kind::Component => compiler.precompile_component(bytes),
        Kind::Module => compiler.precompile_module(bytes),
    };
    compiled.map(Compiled::own).map_err(refused)
}

/// Lets the compiler look at the processor, for who can't look around later.
///
/// # Errors
/// When this machine can't run WebAssembly.
pub fn prepare() -> Result<(), Refused> {
    compile(b"\0asm\x01\0\0\0").map(drop)
}

/// What the compiler says, as a reason.
#[expect(
    clippy::needless_pass_by_value,
    reason = "for `map_err`, which gives it away"
)]
pub(crate) fn refused(error: wasmtime::Error) -> Refused {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    Refused::Compile(shown(&chain.join(": ")))
}

/// What compiled code depends on besides the bytes: another engine, or another processor, has other code.
pub(crate) fn fingerprint(engine: &Engine) -> [u8; 32] {
    let mut hasher = Fingerprint(Sha256::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    hasher.0.finalize().into()
}

struct Fingerprint(Sha256);

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Not asked: the whole digest is taken instead.
    fn finish(&self) -> u64 {
        0
    }
}

fn config() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        .max_wasm_stack(Limits::STACK)
        .async_stack_size(2 * Limits::STACK)
        .wasm_backtrace_max_frames(std::num::NonZeroUsize::new(FRAMES))
        // A sixth of the code, for debuggers of the system and for offsets that nobody is told.
        .native_unwind_info(false)
        .generate_address_map(false)
        // Written out, because compiled code depends on them, whatever the way of allocation.
        .memory_reservation(1 << 32)
        .memory_guard_size(32 << 20)
        .memory_may_move(false);
    config
}

fn pool() -> PoolingAllocationConfig {
    let most = Limits::CEILING;
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
        .max_core_instance_size(8 << 20)
        .max_component_instance_size(8 << 20)
        // Of those only what was written is cleaned, where the kernel tells which pages that are.
        .pagemap_scan(Enabled::Auto)
        .linear_memory_keep_resident(KEPT)
        .table_keep_resident(KEPT)
        .max_unused_warm_slots(AT_ONCE);
    pool
}
