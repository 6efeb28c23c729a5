//! A session inside of this process: WebAssembly, with a fresh instance for every call.
//!
//! There is nothing to be started, restarted or ended: what goes wrong in a call is gone with its instance.

use std::time::{Duration, Instant};

use metier_sdk::wire::{Contributions, HostRequest, Initialize, RpcError, method};
use metier_wasm::{Answer, Cache, Limits, Program, Refused, Trouble};
use serde_json::{Map, Value};

use super::{
    Compiler, Event, Host, Session, SessionError, events::Events, line::understand, log::Log, write,
};
use crate::world::{Wasi, WorldError};

/// What keeps it in, for a receipt.
const CONFINEMENT: &str = "wasm";

/// What to run, and within what.
pub struct Code<'a> {
    /// The module or component, as it was judged.
    pub bytes: &'a [u8],
    /// How much it may use up.
    pub limits: Limits,
    /// What its grant opens.
    pub wasi: Wasi,
    /// Where compiled code is kept.
    pub cache: Option<&'a Cache>,
    /// Who compiles what is not there.
    pub compiler: &'a Compiler,
}

/// The code of a skill as WebAssembly.
pub struct Wasm {
    program: Program,
    wasi: Wasi,
    /// What `initialize` is told.
    about: Value,
    contributions: Contributions,
    log: Log,
    events: Events,
}

impl Wasm {
    /// Loads it and asks what it contributes; `patience` is how long it may take to say so.
    ///
    /// # Errors
    /// When it can't be loaded, or does not say what it contributes.
    pub fn open(
        code: Code<'_>,
        hello: &Initialize,
        host: &dyn Host,
        patience: Duration,
    ) -> Result<Self, SessionError> {
        let began = Instant::now();
        let about = write(hello)?;
        let program = Program::load(
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
            events: Events::default(),
        };
        for closed in std::mem::take(&mut wasm.wasi.closed) {
            wasm.events.note([Event::Said(closed)]);
        }
        let about = wasm.about.clone();
        let answer = wasm.call(method::INITIALIZE, about, host, patience)?;
        wasm.contributions = serde_json::from_value(answer).map_err(|error| {
            SessionError::Protocol(format!("what it says that it contributes: {error}"))
        })?;
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        wasm.events.note([Event::Started {
            ms,
            confinement: CONFINEMENT,
        }]);
        Ok(wasm)
    }

    /// What is wrong, as every session says it.
    fn failed(&mut self, trouble: Trouble) -> SessionError {
        let stderr = self.log.tail();
        let error = match trouble {
            Trouble::Answered(error) => return SessionError::Answered(error),
            Trouble::TimedOut(time) => SessionError::TimedOut(time),
            Trouble::Protocol(why) => SessionError::Protocol(why),
            other => SessionError::Ended {
                how: other.to_string(),
                stderr: stderr.clone(),
            },
        };
        self.events.note([Event::Crashed {
            how: error.to_string(),
            stderr,
        }]);
        error
    }
}

impl From<Refused> for SessionError {
    fn from(refused: Refused) -> Self {
        Self::Unfit(Box::new(refused))
    }
}

impl Session for Wasm {
    fn contributions(&self) -> &Contributions {
        &self.contributions
    }

    fn call(
        &mut self,
        method: &str,
        params: Value,
        host: &dyn Host,
        timeout: Duration,
    ) -> Result<Value, SessionError> {
        self.log = Log::default();
        let (program, about, log) = (&self.program, &self.about, &mut self.log);
        let mut ask = |method: &str, params: Value| answer(host, log, method, params);
        let guarded = self
            .wasi
            .guarding(|| program.call(about, method, &params, &mut ask, timeout));
        let (Answer { result, said }, undone) = guarded?;
        self.log.hear(&said.bytes);
        if said.more > 0 {
            self.log.say(&format!("and {} bytes more", said.more));
        }
        let words = self.log.finish();
        self.events.note(words);
        if let Some(place) = undone.first() {
            // It is gone already; whoever made it is told that this is not how it goes.
            let never = WorldError::Never {
                path: place.path.clone(),
                what: "written",
            };
            self.events.note_undone(&undone);
            return Err(never.into());
        }
        result.map_err(|trouble| self.failed(trouble))
    }

    fn events(&mut self) -> Vec<Event> {
        self.events.take()
    }

    fn close(mut self: Box<Self>, _: &dyn Host, _: Duration) -> Vec<Event> {
        self.events.note([Event::Ended]);
        self.events.take()
    }
}

/// Answers one question of the skill.
fn answer(host: &dyn Host, log: &mut Log, method: &str, params: Value) -> Result<Value, RpcError> {
    let params = Some(params).filter(|params| !params.is_null());
    match understand(method, params)? {
        // Needs no permission, and is kept with all that it says.
        HostRequest::Log { level, message } => {
            log.told(level.as_deref(), &message);
            Ok(Value::Object(Map::new()))
        }
        request => host.ask(request),
    }
}
