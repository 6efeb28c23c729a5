//! A model with scripted answers.
//!
//! **Problem.** An agent's acts depend on the model's answers and on the requests. A real model answers
//! differently each time; a mock inside the client checks the mock. **Decision.** A real HTTP server on the loopback
//! interface that speaks the providers' wire formats, plays a script of [`ScriptedTurn`]s, one per request, and records every request.
//! It is stricter than the providers are: for a request that departs from their documented shape it returns 400 and
//! fails the test; an extra request and a turn that was never played fail it too.
//!
//! **Worked example.**
//! ```
//! use metier_testkit::model_server::{ModelServer, ScriptedTurn};
//! use serde_json::json;
//!
//! let server = ModelServer::start([
//!     ScriptedTurn::calls([("read_file", json!({ "path": "a.txt" }))]),
//!     ScriptedTurn::text("done"),
//! ]);
//! let base = server.url(); // for ANTHROPIC_BASE_URL or OPENAI_BASE_URL
//! assert!(base.starts_with("http://127.0.0.1:"));
//! # server.forget();
//! ```
//! After the program ran, `server.finish()` returns the requests, or fails the test with all errors.
//!
//! Bounded: the number of connections, the bytes of a request, and every wait, so that no test hangs.
//!
//! | file | content |
//! |---|---|
//! | `turn` | the turns of a script |
//! | `http` | reads requests, writes responses |
//! | `check` | whether a request is valid; `schemas/` describe its form |
//! | `anthropic`, `openai`, `responses` | a reply in each format, streamed or whole |

mod anthropic;
mod check;
mod http;
mod openai;
mod responses;
mod turn;

use std::collections::VecDeque;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub use http::Recorded;
pub use turn::ScriptedTurn;

use http::{HttpAnswer, LONGEST};
use turn::{ModelReply, Play};

/// The maximum number of connections. Sub-agents send requests in parallel, but not that many.
const CONNECTIONS: usize = 32;

/// The provider format of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProviderFormat {
    /// `POST /v1/messages`
    Anthropic,
    /// `POST /v1/chat/completions`
    OpenAi,
    /// `POST /v1/responses`, only from other programs
    OpenAiResponses,
}

/// The server. It runs until it is finished or dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<ServerShared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct ServerShared {
    script: Mutex<VecDeque<ScriptedTurn>>,
    requests: Mutex<Vec<Recorded>>,
    problems: Mutex<Vec<String>>,
    open: AtomicUsize,
    is_over: AtomicBool,
    client: Client,
}

/// The sender of the requests, which determines the checks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Client {
    /// metier: exactly the provider's documented format, with a key.
    #[default]
    Keyed,
    /// metier, without a key.
    Keyless,
    /// Another program, which uses fields that we never send.
    Foreign,
}

impl ModelServer {
    /// Starts a server that plays `script`, one turn for each request.
    ///
    /// # Panics
    /// When there is no loopback interface.
    #[must_use]
    pub fn start(script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::new(script, Client::Keyed)
    }

    /// [`Self::start`] for requests that must not contain a key, such as those to the user's own server.
    ///
    /// # Panics
    /// When there is no loopback interface.
    #[must_use]
    pub fn start_keyless(script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::new(script, Client::Keyless)
    }

    /// [`Self::start`] for another program: its requests are recorded and answered, and their form is not checked.
    /// An extra request and a turn that was never played still fail the test.
    ///
    /// # Panics
    /// When there is no loopback interface.
    #[must_use]
    pub fn start_foreign(script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        Self::new(script, Client::Foreign)
    }

    fn new(script: impl IntoIterator<Item = ScriptedTurn>, client: Client) -> Self {
        let bound = TcpListener::bind("127.0.0.1:0").and_then(|listener| {
            let address = listener.local_addr()?;
            Ok((listener, address))
        });
        let (listener, address) =
            bound.unwrap_or_else(|error| panic!("no port on the loopback interface: {error}"));
        let shared = Arc::new(ServerShared {
            script: Mutex::new(script.into_iter().collect()),
            client,
            ..ServerShared::default()
        });
        let accepting = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || accept(&listener, &shared))
        };
        Self {
            address,
            shared,
            accepting: Some(accepting),
        }
    }

    /// `http://127.0.0.1:PORT`: the base URL in every format.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds turns to the end of the script.
    pub fn play(&self, turns: impl IntoIterator<Item = ScriptedTurn>) {
        lock(&self.shared.script).extend(turns);
    }

    /// The requests so far, including those that got an error.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared.requests).clone()
    }

    /// Waits until this many requests have arrived, for as long as a test may wait.
    ///
    /// # Panics
    /// When they don't arrive.
    pub fn wait_for(&self, count: usize) {
        let end = Instant::now() + LONGEST;
        while lock(&self.shared.requests).len() < count {
            assert!(Instant::now() < end, "{count} requests did not come");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until every client has disconnected or got its response.
    ///
    /// # Panics
    /// When one stays for longer than a test may wait.
    pub fn wait_until_left(&self) {
        let end = Instant::now() + LONGEST / 2;
        while self.shared.open.load(Ordering::Acquire) > 0 {
            assert!(Instant::now() < end, "a client did not leave");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops, and returns the requests.
    ///
    /// # Panics
    /// When a request was invalid or extra, or a turn was not played.
    #[must_use]
    pub fn finish(mut self) -> Vec<Recorded> {
        self.stop();
        let problems = self.problems();
        assert!(problems.is_empty(), "{}", listed(&problems));
        self.requests()
    }

    /// Stops, and returns the errors instead of failing: for tests of the server.
    #[must_use]
    pub fn problems_at_end(mut self) -> Vec<String> {
        self.stop();
        self.problems()
    }

    /// Stops without checking the played turns.
    pub fn forget(mut self) {
        self.stop();
    }

    fn problems(&self) -> Vec<String> {
        let mut problems = lock(&self.shared.problems).clone();
        match lock(&self.shared.script).len() {
            0 => {}
            1 => problems.push("1 turn was not played".to_owned()),
            left => problems.push(format!("{left} turns were not played")),
        }
        problems
    }

    fn stop(&mut self) {
        let Some(accepting) = self.accepting.take() else {
            return;
        };
        self.shared.is_over.store(true, Ordering::Release);
        let _ = TcpStream::connect(self.address); // wakes the accepting thread
        let _ = accepting.join();
        let end = Instant::now() + LONGEST;
        while self.shared.open.load(Ordering::Acquire) > 0 && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if self.accepting.is_none() {
            return;
        }
        self.stop();
        let problems = self.problems();
        if !thread::panicking() {
            assert!(problems.is_empty(), "{}", listed(&problems));
        }
    }
}

fn listed(problems: &[String]) -> String {
    format!("the model server saw:\n- {}", problems.join("\n- "))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<ServerShared>) {
    for stream in listener.incoming() {
        if shared.is_over.load(Ordering::Acquire) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if shared.open.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS {
            shared.open.fetch_sub(1, Ordering::AcqRel);
            shared.problem(format!("more than {CONNECTIONS} connections at once"));
            continue;
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            shared.serve(stream);
            shared.open.fetch_sub(1, Ordering::AcqRel);
        });
    }
}

impl ServerShared {
    fn problem(&self, problem: String) {
        lock(&self.problems).push(problem);
    }

    /// One connection: one request, one turn.
    fn serve(&self, mut stream: TcpStream) {
        let request = match http::read(&mut stream) {
            Ok(Some(request)) => request,
            Ok(None) => return, // an empty connection is fine
            Err(reason) => return self.problem(format!("not a request: {reason}")),
        };
        lock(&self.requests).push(request.clone());
        let answer = match check::format(&request) {
            Ok(format) => self.turn(&request, format),
            Err(reason) => self.wrong(404, &request, &reason),
        };
        http::write(&mut stream, &answer, &self.is_over);
    }

    fn turn(&self, request: &Recorded, format: ProviderFormat) -> HttpAnswer {
        let problems = match self.client {
            Client::Foreign => Vec::new(),
            client => check::request(request, format, client == Client::Keyless),
        };
        if !problems.is_empty() {
            return self.wrong(400, request, &problems.join("; "));
        }
        let Some(mut turn) = lock(&self.script).pop_front() else {
            return self.wrong(400, request, "the script is over");
        };
        let mut answer = loop {
            match turn.play {
                Play::Reply(reply) => break played(&reply, format, &request.json),
                Play::Status { code, after } => break refused(code, after, format),
                Play::Raw(answer) => break answer,
                Play::Hang => break HttpAnswer::silence(),
                Play::Computed(compute) => turn = compute(request),
            }
        };
        answer.cut_after = turn.cut_after;
        answer.hang_after = turn.hang_after;
        answer.piece = turn.piece;
        answer
    }

    fn wrong(&self, code: u16, request: &Recorded, reason: &str) -> HttpAnswer {
        let asked = format!("{} {}", request.method, request.path);
        self.problem(format!("{asked}: {reason}"));
        let body = json!({ "error": { "type": "invalid_request_error", "message": reason } });
        HttpAnswer::document(code, &body)
    }
}

fn played(reply: &ModelReply, format: ProviderFormat, request: &Value) -> HttpAnswer {
    let model = request["model"].as_str().unwrap_or_default();
    let is_stream = request["stream"] == json!(true);
    match (format, is_stream) {
        (ProviderFormat::Anthropic, true) => HttpAnswer::events(anthropic::events(reply, model)),
        (ProviderFormat::Anthropic, false) => {
            HttpAnswer::document(200, &anthropic::whole(reply, model))
        }
        (ProviderFormat::OpenAi, true) => HttpAnswer::events(openai::events(reply, model)),
        (ProviderFormat::OpenAi, false) => HttpAnswer::document(200, &openai::whole(reply, model)),
        (ProviderFormat::OpenAiResponses, true) => {
            HttpAnswer::events(responses::events(reply, request))
        }
        (ProviderFormat::OpenAiResponses, false) => {
            HttpAnswer::document(200, &responses::whole(reply, request))
        }
    }
}

fn refused(code: u16, after: Option<String>, format: ProviderFormat) -> HttpAnswer {
    let (kind, message) = match code {
        401 => ("authentication_error", "invalid x-api-key"),
        429 => ("rate_limit_error", "too many requests"),
        529 => ("overloaded_error", "overloaded"),
        400..500 => ("invalid_request_error", "the request is wrong"),
        _ => ("api_error", "something broke"),
    };
    let body = match format {
        ProviderFormat::Anthropic => {
            json!({ "type": "error", "error": { "type": kind, "message": message } })
        }
        ProviderFormat::OpenAi | ProviderFormat::OpenAiResponses => {
            json!({ "error": { "message": message, "type": kind, "param": null, "code": null } })
        }
    };
    let mut answer = HttpAnswer::document(code, &body);
    answer
        .headers
        .extend(after.map(|after| ("retry-after", after)));
    answer
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
