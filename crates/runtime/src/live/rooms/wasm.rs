//! WebAssembly: in this process, with nothing but what its grant opens.

use metier_catalog::Content;
use metier_host::backend::{Code, Compiler, Wasm};
use metier_wasm::{Cache, Limits};

use super::{Opened, Opening};
use crate::{live::ActivateError, scanning::MOST_FILE_BYTES, worker::Failed};

/// A module that may be run is read as a whole when it is scanned.
const _: () = assert!(Limits::CEILING.module_bytes <= MOST_FILE_BYTES);

/// What makes our own binary a compiler.
const COMPILE: &str = "__wasm-compile";

pub(super) fn open(opening: &Opening<'_>, entrypoint: &str) -> Opened {
    let loaded = &opening.active.loaded;
    let file = loaded
        .held
        .files
        .iter()
        .find(|file| file.path == *entrypoint);
    let held = file.and_then(|file| match &file.content {
        Content::Bytes(bytes) if u64::try_from(bytes.len()).ok() == Some(file.size) => Some(bytes),
        _ => None,
    });
    let Some(bytes) = held else {
        let message =
            format!("its entrypoint `{entrypoint}` is not a regular file, or is too large");
        return Err(ActivateError::Entrypoint(message));
    };
    let premises = &opening.runtime.premises;
    let cache = Cache::new(premises.compiled.to_owned());
    let compiler = Compiler {
        worker: opening.worker(COMPILE),
    };
    let code = Code {
        bytes,
        limits: limits(opening),
        wasi: opening
            .active
            .worker
            .wasi(entrypoint)
            .map_err(Failed::from)?,
        cache: Some(&cache),
        compiler: &compiler,
    };
    let patience = opening.runtime.patience.start;
    Wasm::open(code, &opening.initialize(), opening.host, patience)
        .map(|session| Box::new(session) as _)
        .map_err(ActivateError::Session)
}

/// What the skill asks for, and else what every skill gets; never more than there is.
fn limits(opening: &Opening<'_>) -> Limits {
    let asked = &opening.active.loaded.manifest.code.limits;
    let usual = Limits::default();
    let megabytes = asked.memory_mb.and_then(|mb| usize::try_from(mb).ok());
    let limits = Limits {
        memory: megabytes.map_or(usual.memory, |mb| mb.saturating_mul(1 << 20)),
        fuel: asked.fuel.unwrap_or(usual.fuel),
        time: asked.timeout.unwrap_or(usual.time),
        ..usual
    };
    limits.within_ceiling()
}
