//! A session in a child process: started, watched, stopped and restarted.
//!
//! **Problem.** Skill code hangs and crashes repeatedly. A call must still return in time, and
//! nothing must stay behind: no process, no descriptor, no half-read answer that the next call could take for its own.
//!
//! **Decision.** Any failure of a call stops the child. The next call starts another one, immediately the first
//! time, then after growing pauses; after too many failures in a row it is not restarted for a while. A restarted child
//! must contribute the same as before: a crash does not change what the user approved.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use metier_sdk::wire::{Contributions, Initialize, method};
use serde_json::{Map, Value};

use super::connection::{Failed, PipeConnection};
use super::events::EventQueue;
use super::{ProcessEvent, SkillHost, SkillProcess, SkillProcessError, write};
use crate::child::Exit;
use crate::execution::ExecutionError;
use crate::sandbox::UndonePlace;

/// After this many failures in a row it is not restarted for a while.
const TOO_OFTEN: u32 = 5;
/// The length of that pause.
const LEFT_ALONE: Duration = Duration::from_secs(30);
/// The pause before the second restart in a row; it doubles each time, up to the maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause that a caller waits for.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// How long a child that closed its output has to exit by itself, so that its exit code is known.
const LAST_BREATH: Duration = Duration::from_millis(250);

/// Starts the same child, any number of times.
pub trait ChildStarter: Send {
    /// Starts a child.
    ///
    /// # Errors
    /// The child can't be started or sandboxed.
    fn start(&self) -> Result<StartedChild, ExecutionError>;
}

impl<F: Fn() -> Result<StartedChild, ExecutionError> + Send> ChildStarter for F {
    fn start(&self) -> Result<StartedChild, ExecutionError> {
        self()
    }
}

/// A child that was just started.
pub struct StartedChild {
    /// Its standard input.
    pub stdin: OwnedFd,
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error.
    pub stderr: OwnedFd,
    /// The mechanism of its sandbox, for a receipt.
    pub confinement: &'static str,
    /// The process.
    pub child: Box<dyn LiveChild>,
}

/// A running child. Dropping it kills it, and all that it started.
pub trait LiveChild: Send {
    /// Waits this long for its exit, then kills it; all that it started is killed anyway.
    fn end(self: Box<Self>, patience: Duration) -> ChildEnd;
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildEnd {
    /// Whether it exited by itself.
    pub by_itself: bool,
    /// The exit code, the signal, or why neither is known.
    pub how: ChildEndCause,
    /// Protected places that it had created or changed, and that were restored.
    pub undone: Vec<UndonePlace>,
    /// Protected files that another program replaced meanwhile. The child could have changed them; they stay in place.
    pub replaced: Vec<PathBuf>,
}

/// Why a child ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChildEndCause {
    /// It exited, or a signal or a limit ended it.
    #[error(transparent)]
    Exit(Exit),
    /// Its exit was not observed.
    #[error("{0}")]
    Unobserved(String),
}

impl ChildEndCause {
    /// Whether it exited with code 0.
    #[must_use]
    pub fn is_success(&self) -> bool {
        *self == Self::Exit(Exit::Code(0))
    }
}

/// A monotonic clock, for the pauses between restarts.
pub trait MonotonicClock: Send {
    /// The time since a fixed moment.
    fn now(&self) -> Duration;

    /// Sleeps.
    fn sleep(&self, time: Duration);
}

/// The clock of the machine.
#[derive(Debug)]
pub struct SystemMonotonicClock(Instant);

impl Default for SystemMonotonicClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl MonotonicClock for SystemMonotonicClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// A skill's code in a child process.
pub struct ChildProcess<'a> {
    starter: Box<dyn ChildStarter + 'a>,
    clock: Box<dyn MonotonicClock + 'a>,
    hello: Value,
    patience: Duration,
    contributions: Contributions,
    live: Option<Live>,
    /// Failures in a row.
    crashes: u32,
    /// The earliest time of the next start.
    not_before: Duration,
    /// Why it is never started again.
    closed: Option<String>,
    events: EventQueue,
}

struct Live {
    line: PipeConnection,
    child: Box<dyn LiveChild>,
}

impl<'a> ChildProcess<'a> {
    /// Starts it and requests its contributions. `patience` is the time limit for that, including restarts.
    ///
    /// # Errors
    /// It does not start, or does not report its contributions.
    pub fn open(
        starter: impl ChildStarter + 'a,
        hello: &Initialize,
        host: &dyn SkillHost,
        patience: Duration,
    ) -> Result<Self, SkillProcessError> {
        Self::open_with(
            starter,
            hello,
            host,
            patience,
            SystemMonotonicClock::default(),
        )
    }

    /// [`Self::open`] with the caller's clock.
    ///
    /// # Errors
    /// As [`ChildProcess::open`].
    pub fn open_with(
        starter: impl ChildStarter + 'a,
        hello: &Initialize,
        host: &dyn SkillHost,
        patience: Duration,
        clock: impl MonotonicClock + 'a,
    ) -> Result<Self, SkillProcessError> {
        let mut process = Self {
            starter: Box::new(starter),
            clock: Box::new(clock),
            hello: write(hello)?,
            patience,
            contributions: Contributions::default(),
            live: None,
            crashes: 0,
            not_before: Duration::ZERO,
            closed: None,
            events: EventQueue::default(),
        };
        process.contributions = process.start(host)?;
        Ok(process)
    }

    /// Starts a child and returns its contributions.
    fn start(&mut self, host: &dyn SkillHost) -> Result<Contributions, SkillProcessError> {
        let began = Instant::now();
        let started = match self.starter.start() {
            Ok(started) => started,
            Err(error) => {
                self.crashed(error.to_string(), String::new());
                return Err(error.into());
            }
        };
        let confinement = started.confinement;
        let line = match PipeConnection::new(started.stdin, started.stdout, started.stderr) {
            Ok(line) => line,
            Err(error) => {
                self.crashed(error.to_string(), String::new());
                return Err(SkillProcessError::Protocol(error.to_string()));
            }
        };
        let mut live = Live {
            line,
            child: started.child,
        };
        let until = far(self.patience);
        let answer = live
            .line
            .request(method::INITIALIZE, &self.hello, host, until);
        let contributions = answer.and_then(|answer| {
            serde_json::from_value(answer).map_err(|error| {
                Failed::Protocol(format!("its contributions are malformed: {error}"))
            })
        });
        match contributions {
            Ok(contributions) => {
                let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
                self.events
                    .note([ProcessEvent::Started { ms, confinement }]);
                self.live = Some(live);
                Ok(contributions)
            }
            Err(failed) => Err(self.broke(live, failed, Some(method::INITIALIZE), self.patience)),
        }
    }

    /// Makes sure that a child is running.
    fn ready(&mut self, host: &dyn SkillHost) -> Result<(), SkillProcessError> {
        if let Some(why) = &self.closed {
            return Err(SkillProcessError::Protocol(why.clone()));
        }
        if let Some(live) = self.live.take_if(|live| live.line.is_cut()) {
            // No call was waiting; the events are enough.
            let _told = self.broke(live, Failed::Closed, None, Duration::ZERO);
        }
        if self.live.is_some() {
            return Ok(());
        }
        let wait = self.not_before.saturating_sub(self.clock.now());
        if wait > LONGEST_WAIT {
            return Err(SkillProcessError::GaveUp {
                crashes: self.crashes,
                wait,
            });
        }
        if !wait.is_zero() {
            self.clock.sleep(wait);
        }
        self.events.note([ProcessEvent::Restarted {
            attempt: self.crashes,
            waited: wait,
        }]);
        let contributions = self.start(host)?;
        if contributions == self.contributions {
            return Ok(());
        }
        let why = "registered different contributions than at its first start";
        self.closed = Some(why.to_owned());
        if let Some(live) = self.live.take() {
            let failed = Failed::Protocol(why.to_owned());
            return Err(self.broke(live, failed, Some(method::INITIALIZE), self.patience));
        }
        Err(SkillProcessError::Protocol(why.to_owned()))
    }

    /// Stops a child that failed and returns the reason; `asked` is the method of the current call, if there is one.
    fn broke(
        &mut self,
        live: Live,
        failed: Failed,
        asked: Option<&str>,
        timeout: Duration,
    ) -> SkillProcessError {
        let Live { mut line, child } = live;
        line.drain();
        let patience = match failed {
            Failed::Closed => LAST_BREATH,
            _ => Duration::ZERO,
        };
        let end = child.end(patience);
        line.drain();
        self.events.note(line.last_words());
        self.events.note_undone(&end.undone);
        let stderr = line.tail();
        let error = match failed {
            Failed::Stopped => {
                // This is not the child's fault, so it does not count as a crash.
                self.events.note([ProcessEvent::Ended]);
                return SkillProcessError::Stopped;
            }
            Failed::Answered(error) => SkillProcessError::Answered(error),
            Failed::TimedOut => SkillProcessError::TimedOut(timeout),
            Failed::Protocol(why) => SkillProcessError::Protocol(why),
            Failed::Closed => SkillProcessError::Ended {
                how: match asked {
                    _ if !end.by_itself => {
                        "closed its standard output without exiting, and was stopped".to_owned()
                    }
                    Some(asked) => format!("ended before it answered `{asked}`: {}", end.how),
                    None => format!("ended between calls: {}", end.how),
                },
                stderr: stderr.clone(),
            },
        };
        self.crashed(error.to_string(), stderr);
        error
    }

    fn crashed(&mut self, how: String, stderr: String) {
        self.events.note([ProcessEvent::Crashed { how, stderr }]);
        self.crashes = self.crashes.saturating_add(1);
        let wait = pause(self.crashes);
        self.not_before = self.clock.now().saturating_add(wait);
        if wait > LONGEST_WAIT {
            self.events.note([ProcessEvent::GaveUp {
                crashes: self.crashes,
                wait,
            }]);
        }
    }
}

impl SkillProcess for ChildProcess<'_> {
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
        self.ready(host)?;
        let Some(mut live) = self.live.take() else {
            return Err(SkillProcessError::Protocol("it is not running".to_owned()));
        };
        let answer = live.line.request(method, &params, host, far(timeout));
        match answer {
            Err(
                failed
                @ (Failed::TimedOut | Failed::Stopped | Failed::Closed | Failed::Protocol(_)),
            ) => Err(self.broke(live, failed, Some(method), timeout)),
            Ok(_) | Err(Failed::Answered(_)) => {
                self.events.note(live.line.said());
                self.live = Some(live);
                self.crashes = 0;
                answer.map_err(|failed| match failed {
                    Failed::Answered(error) => SkillProcessError::Answered(error),
                    other => SkillProcessError::Protocol(format!("{other:?}")),
                })
            }
        }
    }

    fn ahead(&mut self, method: &str, params: &Value) {
        if let Some(live) = &mut self.live {
            live.line.ahead(method, params);
        }
    }

    fn events(&mut self) -> Vec<ProcessEvent> {
        self.events.take()
    }

    fn close(mut self: Box<Self>, host: &dyn SkillHost, grace: Duration) -> Vec<ProcessEvent> {
        let Some(Live { mut line, child }) = self.live.take() else {
            return self.events.take();
        };
        let until = far(grace);
        let nothing = Value::Object(Map::new());
        // The answer does not matter.
        let _answer = line.request(method::SHUTDOWN, &nothing, host, until);
        line.hang_up();
        line.drain();
        let end = child.end(until.saturating_duration_since(Instant::now()));
        line.drain();
        self.events.note(line.last_words());
        self.events.note_undone(&end.undone);
        self.events.note([if end.by_itself {
            ProcessEvent::Ended
        } else {
            ProcessEvent::Crashed {
                how: format!(
                    "did not end within {} and was stopped",
                    metier_model::text::duration(grace)
                ),
                stderr: line.tail(),
            }
        }]);
        self.events.take()
    }
}

/// The pause before a restart, after this many failures in a row.
fn pause(crashes: u32) -> Duration {
    match crashes {
        0 | 1 => Duration::ZERO,
        TOO_OFTEN.. => LEFT_ALONE,
        _ => FIRST_PAUSE
            .saturating_mul(2u32.saturating_pow(crashes - 2))
            .min(LONGEST_PAUSE),
    }
}

/// An instant in the future; at most a year if the clock can't represent it.
#[must_use]
pub fn far(after: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(after)
        .unwrap_or(now + Duration::from_secs(365 * 24 * 3600))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_until_it_is_left_alone() {
        let pauses: Vec<u128> = (0..8).map(|crashes| pause(crashes).as_millis()).collect();
        assert_eq!(pauses, [0, 0, 100, 200, 400, 30_000, 30_000, 30_000]);
    }
}
