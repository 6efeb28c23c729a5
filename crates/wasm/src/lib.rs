//! # metier-wasm — skills that are WebAssembly
