//! A session in this process: WebAssembly, with a new instance for every call.
//!
//! Nothing is started, restarted or stopped: a failure of a call ends with its instance.

use std::time::{Duration, Instant};

use metier_sdk::wire::{Contributions, HostRequest, Initialize, RpcError, method};
use metier_wasm::{Cache, WasmAnswer, WasmCallError, WasmLimits, WasmLoadError, WasmProgram};
use serde_json::{Map, Value};

use super::{
    Compiler, ProcessEvent, SkillHost, SkillProcess, SkillProcessError, events::EventQueue,
    log::Log, write,
};
use crate::execution::{ExecutionError, Wasi};

/// The name of the sandbox, for a receipt.
const CONFINEMENT: &str = "wasm";

/// The code to run, and its limits.
pub struct WasmCode<'a> {
    /// The module or component, as it was scanned.
    pub bytes: &'a [u8],
    /// Its limits.
    pub limits: WasmLimits,
    /// The folders and variables of its grant.
    pub wasi: Wasi,
    /// The cache of compiled code.
    pub cache: Option<&'a Cache>,
    /// The compiler, for code that is not in the cache.
    pub compiler: &'a Compiler,
}

/// A skill's code as WebAssembly.
pub struct WasmProcess {
    program: WasmProgram,
    wasi: Wasi,
    /// The parameters of `initialize`.
    about: Value,
    contributions: Contributions,
    log: Log,
    events: EventQueue,
}

impl WasmProcess {
    /// Loads it and requests its contributions; `patience` is the time limit for that.
    ///
    /// # Errors
    /// It can't be loaded, or does not report its contributions.
    pub fn open(
        code: WasmCode<'_>,
        hello: &Initialize,
        host: &dyn SkillHost,
        patience: Duration,
    ) -> Result<Self, SkillProcessError> {
        let began = Instant::now();
        let about = write(hello)?;
        let program = WasmProgram::load(
            code.bytes,
            code.limits,
            code.wasi.room.clone(),
            code.cache,
            &|bytes, time| code.compiler.compile(bytes, time),
        )?;
        let mut wasm = Self {
            program,
            wasi: code.wasi,
            about,
            contributions: Contributions::default(),
            log: Log::default(),
            events: EventQueue::default(),
        };
        for closed in std::mem::take(&mut wasm.wasi.closed) {
            wasm.events.note([ProcessEvent::Said(closed)]);
        }
        let about = wasm.about.clone();
        let answer = wasm.call(method::INITIALIZE, about, host, patience)?;
        wasm.contributions = serde_json::from_value(answer).map_err(|error| {
            SkillProcessError::Protocol(format!("its contributions are malformed: {error}"))
        })?;
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        wasm.events.note([ProcessEvent::Started {
            ms,
            confinement: CONFINEMENT,
        }]);
        Ok(wasm)
    }

    /// The error of a call, in the form that other sessions use.
    fn failed(&mut self, trouble: WasmCallError) -> SkillProcessError {
        let stderr = self.log.tail();
        let error = match trouble {
            WasmCallError::Answered(error) => return SkillProcessError::Answered(error),
            WasmCallError::TimedOut(time) => SkillProcessError::TimedOut(time),
            WasmCallError::Protocol(why) => SkillProcessError::Protocol(why),
            other => SkillProcessError::Ended {
                how: other.to_string(),
                stderr: stderr.clone(),
            },
        };
        self.events.note([ProcessEvent::Crashed {
            how: error.to_string(),
            stderr,
        }]);
        error
    }
}

impl From<WasmLoadError> for SkillProcessError {
    fn from(refused: WasmLoadError) -> Self {
        Self::Unfit(Box::new(refused))
    }
}

impl SkillProcess for WasmProcess {
    fn contributions(&self) -> &Contributions {
        &self.contributions
    }

    fn call(
        &mut self,
        method: &str,
        params: Value,
        host: &dyn SkillHost,
        timeout: Duration,
    ) -> Result<Value, SkillProcessError> {
        self.log = Log::default();
        let (program, about, log) = (&self.program, &self.about, &mut self.log);
        let mut ask = |method: &str, params: Value| answer(host, log, method, params);
        let guarded = self
            .wasi
            .guarding(|| program.call(about, method, &params, &mut ask, timeout));
        let (WasmAnswer { result, said }, undone) = guarded?;
        self.log.hear(&said.bytes);
        if said.more > 0 {
            self.log
                .say(&format!("[{} more bytes are omitted]", said.more));
        }
        let words = self.log.finish();
        self.events.note(words);
        if let Some(place) = undone.first() {
            // The place is already restored; the caller gets the reason.
            let never = ExecutionError::Never {
                path: place.path.clone(),
                what: "written",
            };
            self.events.note_undone(&undone);
            return Err(never.into());
        }
        result.map_err(|trouble| self.failed(trouble))
    }

    fn events(&mut self) -> Vec<ProcessEvent> {
        self.events.take()
    }

    fn close(mut self: Box<Self>, _: &dyn SkillHost, _: Duration) -> Vec<ProcessEvent> {
        self.events.note([ProcessEvent::Ended]);
        self.events.take()
    }
}

/// Answers one request of the skill.
fn answer(
    host: &dyn SkillHost,
    log: &mut Log,
    method: &str,
    params: Value,
) -> Result<Value, RpcError> {
    match HostRequest::new(method, params)? {
        // Requires no permission, and is kept complete.
        HostRequest::Log { level, message } => {
            log.told(level.as_deref(), &message);
            Ok(Value::Object(Map::new()))
        }
        request => host.ask(request),
    }
}
