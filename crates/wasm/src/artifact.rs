//! Machine code: the only place where bytes become code that the processor runs.
//!
//! Such code can't be checked: control over it is control over this process. So it is never taken from a skill. It comes
//! from our own compiler ([`crate::compile`]), which validated WebAssembly, either in this process, in a child that
//! runs our own binary, or earlier; then it comes from the [`Cache`](crate::Cache), which has checked its digest. Between
//! the check and the processor there is only memory of this process, or a sealed file in memory.
#![allow(
    unsafe_code,
    reason = "there is no safe way to load machine code; only this crate can create a `Compiled`"
)]

use wasmtime::{Engine, Module, component::Component};

use crate::{
    engine::refused, error::WasmLoadError, limits::WasmLimits, process_memory::MemoryShare,
    sealed_file::SealedFile,
};

/// Output of our own compiler.
pub struct CompiledCode(Vec<u8>);

impl CompiledCode {
    /// Output of the compiler in another process.
    ///
    /// # Safety
    /// It must be the output of [`crate::compile`], from a child that runs our own binary and got only WebAssembly: the code
    /// will run.
    #[must_use]
    pub const unsafe fn from_own_compiler(code: Vec<u8>) -> Self {
        Self(code)
    }

    /// Output of this process.
    pub(crate) const fn own(code: Vec<u8>) -> Self {
        Self(code)
    }

    /// The bytes, to send or store them.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Earlier output of our own compiler, with a checked digest.
pub(crate) struct Kept(SealedFile);

impl Kept {
    /// Cached code that was just checked.
    pub(crate) const fn own(code: SealedFile) -> Self {
        Self(code)
    }
}

/// Code to be loaded.
pub(crate) enum CodeOrigin<'a> {
    /// Compiled just now.
    Made(&'a CompiledCode),
    /// From the cache.
    Kept(Kept),
}

impl CodeOrigin<'_> {
    /// The part of this process's memory that it takes once it is loaded.
    pub(crate) fn share(&self) -> Result<MemoryShare, WasmLoadError> {
        let size = match self {
            Self::Made(code) => code.0.len(),
            Self::Kept(code) => code.0.size().unwrap_or(usize::MAX),
        };
        let fits = size <= WasmLimits::CODE;
        let share = fits.then(|| MemoryShare::of(size)).flatten();
        share.ok_or(WasmLoadError::CodeTooLarge {
            size,
            limit: WasmLimits::CODE,
        })
    }

    /// Loads a module.
    pub(crate) fn module(self, engine: &Engine) -> Result<Module, WasmLoadError> {
        let loaded = match self {
            // SAFETY: these bytes were made by `Engine::precompile_module`: `CompiledCode` is made from nothing else. Wasmtime itself
            // checks that they match this engine.
            Self::Made(code) => unsafe { Module::deserialize(engine, &code.0) },
            // SAFETY: the same is true of cached code, and it does not change while it is mapped: it is sealed.
            Self::Kept(code) => unsafe { Module::deserialize_file(engine, code.0.path()) },
        };
        loaded.map_err(refused)
    }

    /// Loads a component.
    pub(crate) fn component(self, engine: &Engine) -> Result<Component, WasmLoadError> {
        let loaded = match self {
            // SAFETY: as for a module; wasmtime checks which of the two it is.
            Self::Made(code) => unsafe { Component::deserialize(engine, &code.0) },
            // SAFETY: as above.
            Self::Kept(code) => unsafe { Component::deserialize_file(engine, code.0.path()) },
        };
        loaded.map_err(refused)
    }
}
