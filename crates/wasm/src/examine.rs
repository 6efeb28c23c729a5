//! Checks before bytes are compiled: their kind and their size.
//!
//! Only headers are read here; the compiler validates everything else in its child. So a bomb is refused for its size, or
//! killed at its deadline.

use wasmparser::{Parser, Payload};
use wasmtime::Engine;

use crate::{
    error::{WasmLoadError, shown},
    limits::WasmLimits,
};

/// The two kinds of WebAssembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WasmKind {
    /// A core module.
    Module,
    /// A component.
    Component,
}

impl WasmKind {
    /// The kind, by the first bytes.
    ///
    /// # Errors
    /// The bytes are not WebAssembly in binary form.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, WasmLoadError> {
        if Engine::detect_precompiled(bytes).is_some() {
            return Err(WasmLoadError::Precompiled);
        }
        match (bytes.get(..4), bytes.get(4..8)) {
            (Some(b"\0asm"), Some([1, 0, 0, 0])) => Ok(Self::Module),
            (Some(b"\0asm"), Some([_, 0, 1, 0])) => Ok(Self::Component),
            (Some(b"\0asm"), _) => Err(WasmLoadError::Garbage("its version is not known".into())),
            _ if bytes.trim_ascii_start().starts_with(b"(") => Err(WasmLoadError::Garbage(
                "it is the text form; compile it with `wat2wasm`".into(),
            )),
            _ => Err(WasmLoadError::Garbage(
                "it does not start with `\\0asm`".into(),
            )),
        }
    }
}

/// Determines the kind of bytes, and refuses modules that are too large to compile.
pub(crate) fn examine(bytes: &[u8], limits: &WasmLimits) -> Result<WasmKind, WasmLoadError> {
    if bytes.len() > limits.module_bytes {
        return Err(WasmLoadError::TooLarge {
            size: bytes.len(),
            limit: limits.module_bytes,
        });
    }
    let kind = WasmKind::of(bytes)?;
    let mut functions: u32 = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload.map_err(|error| WasmLoadError::Garbage(shown(error.message())))?;
        if let Payload::FunctionSection(section) = payload {
            functions = functions.saturating_add(section.count());
        }
        if functions > limits.functions {
            return Err(WasmLoadError::TooManyFunctions(limits.functions));
        }
    }
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        let found = examine(bytes, &WasmLimits::default());
        let found = found.map_or_else(|error| error.to_string(), |kind| format!("{kind:?}"));
        assert!(found.starts_with(expected), "{found}");
    }

    #[test]
    fn bytes_are_what_they_begin_like() {
        check(b"\0asm\x01\0\0\0", "Module");
        check(b"\0asm\x0d\0\x01\0", "Component");
        check(b"\0asm\x09\0\0\0", "is not WebAssembly: its version");
        check(b"", "is not WebAssembly");
        check(b"#!/bin/sh\n", "is not WebAssembly");
        check(b"(module)", "is not WebAssembly: it is the text form");
        check(b"\0asm\x01\0\0\0\x03\x05", "is not WebAssembly");
    }

    // case 138
    #[test]
    fn too_much_is_refused_before_it_is_compiled() {
        let limits = WasmLimits {
            module_bytes: 8,
            ..WasmLimits::default()
        };
        let long = examine(b"\0asm\x01\0\0\0\0", &limits);
        assert!(matches!(
            long,
            Err(WasmLoadError::TooLarge { size: 9, limit: 8 })
        ));
        // A section with a type, then one with a hundred thousand functions of it.
        let mut bytes = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03".to_vec();
        let count: [u8; 3] = [0xa0, 0x8d, 0x06];
        bytes.extend([0xa3, 0x8d, 0x06]);
        bytes.extend(count);
        bytes.extend(std::iter::repeat_n(0, 100_000));
        check(&bytes, "has more than 65536 functions");
    }
}
