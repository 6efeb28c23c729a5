//! State that the engine's functions share: the skill's files, the host, and the remaining limits.
//!
//! It contains no value of the engine, except one function that is dropped before the engine: the engine's collector
//! does not see values that Rust holds.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use metier_sdk::wire::{HostRequest, Initialize};
use metier_sdk::worker::{Unanswered, WorkerHost};
use rquickjs::{Function, Persistent};
use serde_json::Value;

use crate::JsLimits;
use crate::strip::{SourceDialect, SourcePosition, StrippedSource, SyntaxTrouble, compile, origin};
use crate::{absent, shims};

/// How many unhandled rejections are kept.
const MAX_REJECTED: usize = 100;

/// Why a call must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Stop {
    /// It ran for too long.
    #[error("it ran for more than {} s and was stopped", .0.as_secs_f32())]
    TooLong(Duration),
    /// The host cancelled it, or closed the connection.
    #[error("{0}")]
    Ended(&'static str),
}

/// The shared state.
pub(crate) struct EngineState {
    host: Rc<dyn WorkerHost>,
    pub(crate) limits: JsLimits,
    pub(crate) directory: String,
    /// The folder for relative paths.
    pub(crate) project: String,
    pub(crate) skill: String,
    pub(crate) permissions: Vec<String>,
    pub(crate) config: Value,
    files: BTreeMap<String, String>,
    ready: RefCell<BTreeMap<String, Rc<StrippedSource>>>,
    /// Loads a CommonJS module by its name; set once, when the engine starts.
    pub(crate) load: RefCell<Option<Persistent<Function<'static>>>>,
    /// The deadline of the current call. The time of requests to the host does not count.
    deadline: Cell<Instant>,
    stop: Cell<Option<Stop>>,
    /// Remaining bytes of log in this call; `None` once the limit was reached.
    log_left: Cell<Option<usize>>,
    /// The reasons of unhandled rejections so far.
    rejected: RefCell<Vec<String>>,
    began: Instant,
}

impl EngineState {
    pub(crate) fn new(initialize: Initialize, host: &Rc<dyn WorkerHost>, limits: JsLimits) -> Self {
        let now = Instant::now();
        // Some editors start a file with a byte order mark.
        let files = initialize.sources.into_iter().map(|(path, text)| {
            let text = text
                .strip_prefix('\u{feff}')
                .map(str::to_owned)
                .unwrap_or(text);
            (path, text)
        });
        Self {
            host: Rc::clone(host),
            limits,
            project: initialize
                .project
                .unwrap_or_else(|| initialize.directory.clone()),
            directory: initialize.directory,
            skill: initialize.skill,
            permissions: initialize.permissions,
            config: initialize.config,
            files: files.collect(),
            ready: RefCell::new(BTreeMap::new()),
            load: RefCell::new(None),
            deadline: Cell::new(now + limits.time),
            stop: Cell::new(None),
            log_left: Cell::new(Some(limits.log)),
            rejected: RefCell::new(Vec::new()),
            began: now,
        }
    }

    /// Starts a call with new limits.
    pub(crate) fn begin(&self) {
        self.deadline.set(Instant::now() + self.limits.time);
        self.stop.set(None);
        self.log_left.set(Some(self.limits.log));
    }

    /// Why the call must stop now, if it must.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        if self.stop.get().is_none() && Instant::now() > self.deadline.get() {
            self.stop.set(Some(Stop::TooLong(self.limits.time)));
        }
        self.stop.get()
    }

    /// Sleeps for a timer. The call stops before the host would kill the worker, to return a better error.
    pub(crate) fn wait(&self, duration: Duration) {
        let left = self
            .deadline
            .get()
            .saturating_duration_since(Instant::now());
        std::thread::sleep(duration.min(left + Duration::from_millis(1)));
    }

    /// Milliseconds since the engine started.
    pub(crate) fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64() * 1_000.0
    }

    /// Sends a request to the host and waits. The time does not count.
    pub(crate) fn ask(&self, request: &HostRequest) -> Result<Value, Unanswered> {
        if let Some(Stop::Ended(why)) = self.stop.get() {
            return Err(Unanswered::Ended(why));
        }
        let asked = Instant::now();
        let answer = self.host.ask(request);
        self.deadline.set(self.deadline.get() + asked.elapsed());
        if let Err(Unanswered::Ended(why)) = answer {
            self.stop.set(Some(Stop::Ended(why)));
        }
        answer
    }

    /// Sends a log line, up to the limit.
    pub(crate) fn log(&self, level: &str, message: &str) {
        let Some(left) = self.log_left.get() else {
            return;
        };
        // An empty line counts too.
        self.log_left.set(left.checked_sub(message.len() + 16));
        let (level, message) = match self.log_left.get() {
            Some(_) => (level, message),
            None => (
                "warn",
                "[it logs too much; the rest of this call is omitted]",
            ),
        };
        if let Err(Unanswered::Ended(why)) = self.host.log(level, message) {
            self.stop.set(Some(Stop::Ended(why)));
        }
    }

    /// Notes an unhandled rejection, or that one is handled after all.
    pub(crate) fn rejection(&self, reason: String, seen: bool) {
        let mut rejected = self.rejected.borrow_mut();
        if !seen {
            if rejected.len() < MAX_REJECTED {
                rejected.push(reason);
            }
        } else if let Some(at) = rejected.iter().rposition(|known| *known == reason) {
            rejected.remove(at);
        }
    }

    /// The unhandled rejections of this call.
    pub(crate) fn take_rejected(&self) -> Vec<String> {
        self.rejected.take()
    }

    /// The name of the module that a specifier means in a file.
    pub(crate) fn resolve(
        &self,
        base: &str,
        word: &str,
    ) -> Result<String, crate::resolve::UnresolvedImport> {
        crate::resolve::resolve(&self.files, &self.directory, base, word)
    }

    /// The absolute path of a file of the skill.
    pub(crate) fn path(&self, name: &str) -> String {
        if self.files.contains_key(name) {
            format!("{}/{name}", self.directory.trim_end_matches('/'))
        } else {
            name.to_owned()
        }
    }

    /// The original source of a file of the skill.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    /// A compiled module; `None` if there is none with this name. It is requested twice: for its kind and for its code.
    pub(crate) fn compiled(&self, name: &str) -> Result<Option<Rc<StrippedSource>>, SyntaxTrouble> {
        if let Some(ready) = self.ready.borrow().get(name) {
            return Ok(Some(Rc::clone(ready)));
        }
        let compiled = match (self.files.get(name), shims::find(name)) {
            (Some(text), _) => compile(name, text)?,
            (None, Some(shim)) if shim.is_typescript() => compile("module.ts", shim.text)?,
            (None, shim) => {
                let module = name.strip_prefix("node:").unwrap_or(name);
                let missing = absent::code(module);
                if shim.is_none() && missing.is_none() {
                    return Ok(None);
                }
                let text = shim.map_or("", |shim| shim.text);
                let code = format!("{text}{}", missing.unwrap_or_default());
                let kind = SourceDialect::Common;
                StrippedSource { code, kind }
            }
        };
        let compiled = Rc::new(compiled);
        let mut ready = self.ready.borrow_mut();
        ready.insert(name.to_owned(), Rc::clone(&compiled));
        Ok(Some(compiled))
    }

    /// The author's position for a position of the engine; `None` outside the author's files.
    pub(crate) fn origin(&self, name: &str, at: SourcePosition) -> Option<Option<SourcePosition>> {
        let text = self.files.get(name)?;
        Some(origin(name, text, at))
    }
}
