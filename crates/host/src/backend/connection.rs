//! The connection to a child: JSON-RPC over its pipes, without a thread.
//!
//! **Problem.** A child can write without limit, read nothing, send unexpected answers, or never answer. A caller must wait no
//! longer than its deadline, with bounded memory, and the child's requests in the meantime belong to that call.
//!
//! **Decision.** One loop over all three pipes, none of which ever blocks. While one pipe is full, the others continue;
//! when too many answers are unread by the child, no more of its requests are read, and the pipe blocks it. Between
//! calls nothing is read: messages stay in the pipes, which the kernel bounds.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use metier_sdk::wire::envelope::{Body, Envelope, Lines, Message, TooLong, append_answer};
use metier_sdk::wire::{HostRequest, MAX_FRAME, RpcError, code};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use serde_json::{Map, Value};

use super::frame::{self, Got, Queue, parse};
use super::log::Log;
use super::{ProcessEvent, SkillHost};

/// How many bytes of unread answers the child can have before its requests are no longer read.
const QUEUE: usize = 2 * MAX_FRAME;
/// How many messages of a call can be unexpected answers, unknown notifications and malformed lines.
const STRAY: u32 = 1_000;
/// How long the thread polls for an answer before it sleeps.
const AWAKE: Duration = Duration::from_micros(50);
/// How often a wait checks whether the call was stopped.
const GLANCE: Duration = Duration::from_millis(20);

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum Failed {
    /// The child answered with an error.
    Answered(RpcError),
    /// The deadline passed.
    TimedOut,
    /// The host stopped the call.
    Stopped,
    /// The child closed its output.
    Closed,
    /// The child broke the protocol.
    Protocol(String),
}

impl From<io::Error> for Failed {
    /// Polling and writing fail only if the machine does; the child can't be reached then.
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

/// A connection over three pipes.
pub(super) struct PipeConnection {
    /// `None` once it is closed.
    stdin: Option<OwnedFd>,
    /// `None` at its end.
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    incoming: Lines,
    outgoing: Queue,
    complaints: Vec<u8>,
    log: Log,
    /// The id of the next request.
    next: u64,
    /// A request that was sent ahead of its call.
    ahead: Option<Ahead>,
    stray: u32,
}

/// A request that was sent ahead of its call.
struct Ahead {
    id: u64,
    method: String,
    params: Value,
}

/// The deadline of an answer. Time that the host spends waiting for the user is added.
#[derive(Clone, Copy)]
struct Deadline {
    until: Instant,
    waited_before: Duration,
}

impl Deadline {
    fn new(until: Instant, host: &dyn SkillHost) -> Self {
        let waited_before = host.waited();
        Self {
            until,
            waited_before,
        }
    }

    fn of(self, host: &dyn SkillHost) -> Instant {
        let waited = host.waited().saturating_sub(self.waited_before);
        self.until.checked_add(waited).unwrap_or(self.until)
    }

    fn has_passed(self, host: &dyn SkillHost) -> bool {
        Instant::now() >= self.of(host)
    }
}

impl PipeConnection {
    pub(super) fn new(stdin: OwnedFd, stdout: OwnedFd, stderr: OwnedFd) -> io::Result<Self> {
        for pipe in [&stdin, &stdout, &stderr] {
            fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            stdin: Some(stdin),
            stdout: Some(stdout),
            stderr: Some(stderr),
            incoming: Lines::default(),
            outgoing: Queue::default(),
            complaints: Vec::new(),
            log: Log::default(),
            next: 1,
            ahead: None,
            stray: 0,
        })
    }

    /// Whether the child closed its output between calls.
    pub(super) fn is_cut(&self) -> bool {
        let now = self.look();
        // Unread output comes first: it can be the child's last message.
        now.intersects(PollFlags::HUP | PollFlags::ERR) && !now.contains(PollFlags::IN)
    }

    /// The state of standard output at this moment.
    fn look(&self) -> PollFlags {
        let Some(stdout) = &self.stdout else {
            return PollFlags::HUP;
        };
        let mut polled = [PollFd::new(stdout, PollFlags::IN)];
        match poll(&mut polled, Some(&timespec(Duration::ZERO))) {
            Ok(_) => polled[0].revents(),
            Err(_) => PollFlags::empty(),
        }
    }

    /// Sends a request, and answers the child's requests until the answer arrives.
    pub(super) fn request(
        &mut self,
        method: &str,
        params: &Value,
        host: &dyn SkillHost,
        until: Instant,
    ) -> Result<Value, Failed> {
        self.log.begin();
        self.stray = 0;
        let until = Deadline::new(until, host);
        // A request sent ahead counts if it is exactly this one; otherwise its answer is ignored.
        let ahead = self.ahead.take();
        let ahead = ahead.filter(|ahead| ahead.method == method && ahead.params == *params);
        let id = match ahead {
            Some(ahead) => ahead.id,
            None => {
                self.catch_up(host, until)?;
                self.send(method, params)
                    .map_err(|size| Failed::Answered(size.error(code::PARAMS, "the request")))?
            }
        };
        loop {
            if let Some(answer) = self.listen(Some(id), host, until)? {
                return answer.map_err(Failed::Answered);
            }
            self.flush();
            if until.has_passed(host) {
                return Err(Failed::TimedOut);
            }
            if host.is_stopped() {
                return Err(Failed::Stopped);
            }
            if self.stdout.is_none() && self.outgoing.len() < QUEUE {
                return Err(Failed::Closed);
            }
            self.wait(until.of(host).min(Instant::now() + GLANCE))?;
        }
    }

    /// Sends a request ahead of its call. Only one at a time, and only if the child keeps up.
    pub(super) fn ahead(&mut self, method: &str, params: &Value) {
        if self.ahead.is_some() || self.outgoing.len() > 0 {
            return;
        }
        if let Ok(id) = self.send(method, params) {
            self.flush();
            self.ahead = Some(Ahead {
                id,
                method: method.to_owned(),
                params: params.clone(),
            });
        }
    }

    /// Adds a request to the queue and returns its id.
    fn send(&mut self, method: &str, params: &Value) -> Result<u64, TooLong> {
        let id = self.next;
        self.next += 1;
        let body = Body::Call { method, params };
        Envelope::request(Some(id), body).append_to(self.outgoing.lines())?;
        Ok(id)
    }

    /// Reads messages that arrived between calls: none of them answers the new request.
    fn catch_up(&mut self, host: &dyn SkillHost, until: Deadline) -> Result<(), Failed> {
        loop {
            self.listen(None, host, until)?;
            let more = self.look().contains(PollFlags::IN);
            if !more || self.outgoing.len() >= QUEUE {
                return Ok(());
            }
            if until.has_passed(host) {
                return Err(Failed::TimedOut);
            }
            self.read();
        }
    }

    /// Closes the child's input.
    pub(super) fn hang_up(&mut self) {
        self.stdin = None;
        self.outgoing.clear();
    }

    /// Reads the rest of standard error, without waiting.
    pub(super) fn drain(&mut self) {
        // More than a pipe holds, but bounded: the child could still be writing.
        for _ in 0..32 {
            if !self.hear() {
                return;
            }
        }
    }

    /// The end of standard error.
    pub(super) fn tail(&self) -> String {
        self.log.tail()
    }

    /// The log lines since the last call.
    pub(super) fn said(&mut self) -> Vec<ProcessEvent> {
        self.log.take()
    }

    /// The last log lines, at the end.
    pub(super) fn last_words(&mut self) -> Vec<ProcessEvent> {
        self.log.finish()
    }

    /// Reads complete lines until one is the answer, none is left, or the child has to read first.
    fn listen(
        &mut self,
        id: Option<u64>,
        host: &dyn SkillHost,
        until: Deadline,
    ) -> Result<Option<Result<Value, RpcError>>, Failed> {
        while self.outgoing.len() < QUEUE {
            let line = self.incoming.next();
            let Some(line) = line.map_err(|error| Failed::Protocol(error.to_string()))? else {
                break;
            };
            match parse(line, id) {
                Err(garbage) => {
                    self.reply(&Value::Null, &Err(garbage.malformed.error()));
                    if garbage.answers {
                        let code = garbage.malformed.code;
                        let text = format!("sent a malformed answer: {}", garbage.malformed);
                        return Ok(Some(Err(RpcError::new(code, text))));
                    }
                    let text = format!("not a message, on standard output: {}", garbage.shown);
                    self.log.say(&text);
                    self.stray(&garbage.shown)?;
                }
                Ok(Message::Answer { id: of, answer }) if id.is_some() && of.as_u64() == id => {
                    return Ok(Some(answer));
                }
                Ok(Message::Answer { .. }) => self.stray("a response that matches no request")?,
                Ok(message) => {
                    self.serve(message, host)?;
                    if until.has_passed(host) {
                        return Err(Failed::TimedOut);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Answers a request of the child. Of notifications only `host/log` is used.
    fn serve(&mut self, message: Message, host: &dyn SkillHost) -> Result<(), Failed> {
        let (id, method, params) = match message {
            Message::Request { id, method, params } => (Some(id), method, params),
            Message::Notification { method, params } => (None, method, params),
            Message::Answer { .. } => return Ok(()),
        };
        let answer = match HostRequest::new(&method, params) {
            // Requires no permission, and is kept complete.
            Ok(HostRequest::Log { level, message }) => {
                self.log.told(level.as_deref(), &message);
                Ok(Value::Object(Map::new()))
            }
            _ if id.is_none() => return self.stray(&method),
            Ok(request) => host.ask(request),
            Err(error) => Err(error),
        };
        if let Some(id) = id {
            self.reply(&id, &answer);
        }
        Ok(())
    }

    fn reply(&mut self, id: &Value, answer: &Result<Value, RpcError>) {
        append_answer(self.outgoing.lines(), id, answer, code::FAILED);
    }

    fn stray(&mut self, what: &str) -> Result<(), Failed> {
        self.stray += 1;
        if self.stray <= STRAY {
            return Ok(());
        }
        let what: String = what.chars().take(80).collect();
        Err(Failed::Protocol(format!(
            "sent more than {STRAY} unexpected messages in one call; the last one: {what}"
        )))
    }

    /// Writes as much as the pipe takes. A child that no longer reads can still write.
    fn flush(&mut self) {
        let Some(stdin) = &self.stdin else {
            self.outgoing.clear();
            return;
        };
        if self.outgoing.len() > 0 && self.outgoing.write(stdin.as_fd()).is_err() {
            self.hang_up();
        }
    }

    /// Waits until a pipe is ready, and reads.
    fn wait(&mut self, until: Instant) -> io::Result<()> {
        let stdout = self.stdout.as_ref().filter(|_| self.outgoing.len() < QUEUE);
        let stdin = self.stdin.as_ref().filter(|_| self.outgoing.len() > 0);
        // In this order, so that an error message before an answer is read together with it.
        let sources = [
            (stdout, PollFlags::IN),
            (self.stderr.as_ref(), PollFlags::IN),
            (stdin, PollFlags::OUT),
        ];
        let mut polled = Vec::with_capacity(3);
        for (source, flags) in sources {
            polled.extend(source.map(|source| PollFd::new(source, flags)));
        }
        // Most answers arrive within microseconds; sleeping and waking up takes longer.
        let began = Instant::now();
        let mut ready = 0;
        while ready == 0 && began.elapsed() < AWAKE {
            ready = poll(&mut polled, Some(&timespec(Duration::ZERO))).unwrap_or(0);
            std::thread::yield_now();
        }
        if ready == 0 {
            let left = timespec(until.saturating_duration_since(Instant::now()));
            match poll(&mut polled, Some(&left)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut answers = polled.iter().map(|source| !source.revents().is_empty());
        let mut ready = |there: bool| there && answers.next().unwrap_or(false);
        let (to_read, to_hear) = (ready(stdout.is_some()), ready(self.stderr.is_some()));
        drop(polled);
        if to_hear {
            self.hear();
        }
        if to_read {
            self.read();
        }
        Ok(())
    }

    fn read(&mut self) {
        let Some(stdout) = &self.stdout else { return };
        if frame::read(&mut self.incoming, stdout.as_fd()) == Got::End {
            self.incoming.finish();
            self.stdout = None;
        }
    }

    /// Reads once from standard error; returns whether there was output.
    fn hear(&mut self) -> bool {
        let Some(stderr) = &self.stderr else {
            return false;
        };
        self.complaints.resize(16 * 1024, 0);
        match rustix::io::read(stderr, &mut self.complaints) {
            Ok(0) => self.stderr = None,
            Ok(length) => {
                self.log
                    .hear(self.complaints.get(..length).unwrap_or_default());
                return true;
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
            Err(_) => self.stderr = None,
        }
        false
    }
}

/// Rounded up: a wait that is too short would spin.
fn timespec(duration: Duration) -> Timespec {
    let nanos = i64::from(duration.subsec_nanos());
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: nanos
            .saturating_add(i64::from(!duration.is_zero()) * 1_000)
            .min(999_999_999),
    }
}
