//! A program: the code of one skill, loaded once and instantiated for every call.

use std::time::Duration;

use metier_sdk::wire::RpcError;
use serde_json::Value;
use wasmtime::{Engine, Module};

use crate::{
    artifact::{CodeOrigin, CompiledCode},
    cache::Cache,
    captured_output::{CapturedOutput, OutputSink},
    carrier::{CarrierRequest, command, component, far, reactor},
    engine::engine,
    error::{WasmCallError, WasmLoadError},
    examine::{WasmKind, examine},
    limits::WasmLimits,
    process_memory::MemoryShare,
    wasi_roots::WasiRoots,
};

/// Answers a request of a skill: a method, such as `host/read_file`, and its parameters.
pub type Ask<'a> = dyn FnMut(&str, Value) -> Result<Value, RpcError> + 'a;

/// Compiles bytes within a time limit.
pub type Compile<'a> = dyn Fn(&[u8], Duration) -> Result<CompiledCode, WasmLoadError> + 'a;

/// The code of one skill.
pub struct WasmProgram {
    engine: &'static Engine,
    carrier: Carrier,
    limits: WasmLimits,
    room: WasiRoots,
    /// Given back when the code is dropped.
    _code: MemoryShare,
}

enum Carrier {
    Component(component::LoadedComponent),
    Reactor(reactor::LoadedReactor),
    Command(command::LoadedCommand),
}

/// The outcome of a call.
#[derive(Debug)]
pub struct WasmAnswer {
    /// The answer or the error.
    pub result: Result<Value, WasmCallError>,
    /// Its other output on the standard streams.
    pub said: CapturedOutput,
}

/// The outcome of a program without the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The exit code.
    pub code: i32,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error.
    pub stderr: Vec<u8>,
}

impl WasmProgram {
    /// Loads code from the cache, or compiles it.
    ///
    /// # Errors
    /// The bytes can't be run, or the compiler fails.
    pub fn load(
        bytes: &[u8],
        limits: WasmLimits,
        room: WasiRoots,
        cache: Option<&Cache>,
        compiler: &Compile<'_>,
    ) -> Result<Self, WasmLoadError> {
        let limits = limits.within_ceiling();
        let kind = examine(bytes, &limits)?;
        let engine = engine()?;
        let load = |code: CodeOrigin<'_>| {
            let share = code.share()?;
            Ok::<_, WasmLoadError>((Carrier::new(engine, kind, code)?, share))
        };
        let key = cache.map(|cache| cache.key(bytes, engine));
        let found = cache.zip(key.as_ref());
        let found = found.and_then(|(cache, key)| cache.get(key));
        let (carrier, code) = match found.map(|code| load(CodeOrigin::Kept(code))) {
            Some(Ok(loaded)) => loaded,
            // Compiled again, it would be as large.
            Some(Err(error @ WasmLoadError::CodeTooLarge { .. })) => return Err(error),
            // Cached code that does not load is replaced.
            Some(Err(_)) | None => {
                let code = compiler(bytes, limits.compile_time)?;
                let loaded = load(CodeOrigin::Made(&code))?;
                if let Some((cache, key)) = cache.zip(key.as_ref()) {
                    cache.put(key, &code);
                }
                loaded
            }
        };
        Ok(Self {
            engine,
            carrier,
            limits,
            room,
            _code: code,
        })
    }

    /// The name of the carrier.
    #[must_use]
    pub const fn carrier(&self) -> &'static str {
        match self.carrier {
            Carrier::Component(_) => "component",
            Carrier::Reactor(_) => "reactor",
            Carrier::Command(_) => "command",
        }
    }

    /// Calls one method of the wire protocol in a new instance. `about` has the parameters of `initialize`.
    pub fn call(
        &self,
        about: &Value,
        method: &str,
        params: &Value,
        ask: &mut Ask<'_>,
        timeout: Duration,
    ) -> WasmAnswer {
        let request = self.request(about, method, params, timeout);
        let (engine, room, mouth) = (self.engine, &self.room, OutputSink::default());
        let result = match &self.carrier {
            Carrier::Component(loaded) => loaded.call(engine, room, &request, ask, &mouth),
            Carrier::Reactor(loaded) => loaded.call(engine, room, &request, ask, &mouth),
            Carrier::Command(loaded) => loaded.call(engine, room, &request, ask, &mouth),
        };
        let said = mouth.take();
        WasmAnswer { result, said }
    }

    /// Runs a command as a program without the protocol, with this standard input.
    ///
    /// # Errors
    /// It is not a command, or it does not exit by itself.
    pub fn run(&self, input: &[u8], timeout: Duration) -> Result<Finished, WasmCallError> {
        let Carrier::Command(loaded) = &self.carrier else {
            return Err(WasmCallError::Protocol(
                "it does not export `_start`".into(),
            ));
        };
        let request = self.request(&Value::Null, "", &Value::Null, timeout);
        loaded.run(self.engine, &self.room, &request, input)
    }

    fn request<'a>(
        &self,
        about: &'a Value,
        method: &'a str,
        params: &'a Value,
        timeout: Duration,
    ) -> CarrierRequest<'a> {
        let time = timeout.min(self.limits.time);
        CarrierRequest {
            about,
            method,
            params,
            limits: WasmLimits {
                time,
                ..self.limits
            },
            until: far(time),
        }
    }
}

impl Carrier {
    fn new(engine: &Engine, kind: WasmKind, code: CodeOrigin<'_>) -> Result<Self, WasmLoadError> {
        if kind == WasmKind::Component {
            return component::LoadedComponent::new(engine, &code.component(engine)?)
                .map(Self::Component);
        }
        let module: Module = code.module(engine)?;
        if module.get_export(reactor::ANSWER).is_some() {
            return reactor::LoadedReactor::new(engine, &module).map(Self::Reactor);
        }
        if module.get_export(command::START).is_some() {
            return command::LoadedCommand::new(engine, &module).map(Self::Command);
        }
        let why = format!(
            "exports neither `{}` nor `{}`, so there is nothing to call (docs/wasm.md)",
            reactor::ANSWER,
            command::START
        );
        Err(WasmLoadError::Carrier(why))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::{compile, process_memory};

    // case 234
    #[test]
    fn cached_code_without_memory_left_for_it_is_not_compiled_again() {
        let _alone = process_memory::alone();
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("wasm"));
        let bytes =
            wat::parse_str(r#"(module (memory (export "memory") 1) (func (export "_start")))"#);
        let bytes = bytes.unwrap();
        let compiled = Cell::new(0);
        let load = || {
            let compiler = |bytes: &[u8], _| {
                compiled.set(compiled.get() + 1);
                compile(bytes)
            };
            let (limits, room) = (WasmLimits::default(), WasiRoots::default());
            WasmProgram::load(&bytes, limits, room, Some(&cache), &compiler)
        };
        load().unwrap();
        let all = MemoryShare::of(WasmLimits::PROCESS).unwrap();
        let refused = load().err();
        assert!(
            matches!(refused, Some(WasmLoadError::CodeTooLarge { .. })),
            "{refused:?}"
        );
        drop(all);
        load().unwrap();
        assert_eq!(compiled.get(), 1);
    }
}
