//! WebAssembly: in this process, with only the opened places of its grant.

use metier_catalog::SnapshotContent;
use metier_host::backend::{Compiler, WasmCode, WasmProcess};
use metier_wasm::{Cache, WasmLimits};

use super::{BackendOpening, OpenedBackend};
use crate::{granted_skill::ActError, live::ActivateError, scanning::MOST_FILE_BYTES};

/// A runnable module is read completely when it is scanned.
const _: () = assert!(WasmLimits::CEILING.module_bytes <= MOST_FILE_BYTES);

/// The argument that makes metier's binary a compiler.
const COMPILE: &str = "__wasm-compile";

pub(super) fn open(opening: &BackendOpening<'_>, entrypoint: &str) -> OpenedBackend {
    let loaded = &opening.active.loaded;
    let file = loaded
        .held
        .files
        .iter()
        .find(|file| file.path == *entrypoint);
    let held = file.and_then(|file| match &file.content {
        SnapshotContent::Bytes(bytes) if u64::try_from(bytes.len()).ok() == Some(file.size) => {
            Some(bytes)
        }
        _ => None,
    });
    let Some(bytes) = held else {
        let message =
            format!("its entrypoint `{entrypoint}` is not a regular file, or is too large");
        return Err(ActivateError::Entrypoint(message));
    };
    let environment = &opening.runtime.environment;
    let cache = Cache::new(environment.compiled.to_owned());
    let compiler = Compiler {
        worker: opening.worker(COMPILE),
    };
    let code = WasmCode {
        bytes,
        limits: limits(opening),
        wasi: opening
            .active
            .worker
            .wasi(entrypoint)
            .map_err(ActError::from)?,
        cache: Some(&cache),
        compiler: &compiler,
    };
    let patience = opening.runtime.patience.start;
    WasmProcess::open(code, &opening.initialize(), opening.host, patience)
        .map(|session| Box::new(session) as _)
        .map_err(ActivateError::Session)
}

/// The limits of the skill, or the defaults; never more than the maximum.
fn limits(opening: &BackendOpening<'_>) -> WasmLimits {
    let asked = &opening.active.loaded.manifest.code.limits;
    let usual = WasmLimits::default();
    let megabytes = asked.memory_mb.and_then(|mb| usize::try_from(mb).ok());
    let limits = WasmLimits {
        memory: megabytes.map_or(usual.memory, |mb| mb.saturating_mul(1 << 20)),
        fuel: asked.fuel.unwrap_or(usual.fuel),
        time: asked.timeout.unwrap_or(usual.time),
        ..usual
    };
    limits.within_ceiling()
}
