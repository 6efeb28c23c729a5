//! Machine code: the one place where bytes become something that the processor runs.
//!
//! Such code is not checked by anybody: whoever can choose it, owns this process. So it is never taken from a skill. It comes
//! from our own compiler ([`crate::compile`]), which got WebAssembly and validated it, either in this process, in a child that
//! runs our own binary, or earlier, and then from the [`Cache`](crate::Cache), where its digest was checked just now. What is
//! between the check and the processor is memory of this process, or a file in memory that nobody can change any more.
#![allow(
    unsafe_code,
    reason = "there is no safe way to load machine code; who may make a `Compiled` is in the hands of this crate"
)]

use wasmtime::{Engine, Module, component::Component};

use crate::{engine::refused, frozen::Frozen, trouble::Refused};

/// What our own compiler made.
pub struct Compiled(Vec<u8>);

impl Compiled {
    /// What the compiler of another process made.
    ///
    /// # Safety
    /// It must be the output of [`crate::compile`], from a child that runs our own binary and got nothing but WebAssembly: what
    /// is in it will run.
    #[must_use]
    pub const unsafe fn from_own_compiler(code: Vec<u8>) -> Self {
        Self(code)
    }

    /// What this crate made itself, just now or earlier.
    pub(crate) const fn own(code: Vec<u8>) -> Self {
        Self(code)
    }

    /// To be sent or kept.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What our own compiler made earlier, and what is exactly that.
pub(crate) struct Kept(Frozen);

impl Kept {
    /// What this crate kept, and has checked just now.
    pub(crate) const fn own(code: Frozen) -> Self {
        Self(code)
    }
}

/// Code on its way to the processor.
pub(crate) enum Code<'a> {
    /// Made just now.
    Made(&'a Compiled),
    /// Made earlier.
    Kept(Kept),
}

impl Code<'_> {
    /// Loads a module.
    pub(crate) fn module(self, engine: &Engine) -> Result<Module, Refused> {
        let loaded = match self {
            // SAFETY: these bytes were made by `Engine::precompile_module`: `Compiled` is made from nothing else. That they fit
            // this engine is checked by wasmtime itself.
            Self::Made(code) => unsafe { Module::deserialize(engine, &code.0) },
            // SAFETY: so was what is kept, and it stays as it is while it is mapped: it is frozen.
            Self::Kept(code) => unsafe { Module::deserialize_file(engine, code.0.path()) },
        };
        loaded.map_err(refused)
    }

    /// Loads a component.
    pub(crate) fn component(self, engine: &Engine) -> Result<Component, Refused> {
        let loaded = match self {
            // SAFETY: as for a module; wasmtime checks which of both it is.
            Self::Made(code) => unsafe { Component::deserialize(engine, &code.0) },
            // SAFETY: as above.
            Self::Kept(code) => unsafe { Component::deserialize_file(engine, code.0.path()) },
        };
        loaded.map_err(refused)
    }
}
