//! The WebSocket: one JSON object in each text frame, answers with the id of their request, errors as messages.
//!
//! One task serves a socket: it reads, starts the work of each request elsewhere, and writes. A client that does not read, or that asks for more than
//! may be under way at once, is not read from either; what waits for it is bounded, and it is closed with a reason when a frame can't be
//! written for a while.

use std::{
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use axum::{
    Extension,
    body::Bytes,
    extract::{
        State,
        ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code},
    },
    response::Response,
};
use metier::agent::Cancel;
use metier_wire::{ScanRequest, SocketRequest};
use serde_json::{Value, json};
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};

use super::{
    access::Caller,
    answer::{ApiError, Refusal},
    event_log::{EventReader, NextEvents},
    listen::ConnectionPlace,
    skills::{self, CancelOnDrop, ListQuery, Shared},
    state::{DaemonState, WorkLane},
};

/// The largest message of a client, and how much is buffered for reading and writing.
const MAX_MESSAGE: usize = 1 << 20;
const BUFFER: usize = 4 << 10;

/// Requests of one socket that are under way at once.
const AT_ONCE: usize = 8;

/// How long a socket can stay without a token, and a frame unwritten.
const AUTH_TIME: Duration = Duration::from_secs(10);
const WRITE_TIME: Duration = Duration::from_secs(10);

/// How often a silent client is asked whether it is still connected, and how long it may be silent.
const PING: Duration = Duration::from_secs(30);
const SILENCE: Duration = Duration::from_secs(95);

/// Frames at once, and in a second after that.
const BURST: f64 = 1_000.0;
const PER_SECOND: f64 = 200.0;

/// Upgrades a request. Its sender may still be unknown: then the first message contains the token.
pub(super) fn upgrade(
    state: Arc<DaemonState>,
    caller: Option<Caller>,
    place: ConnectionPlace,
    upgrade: WebSocketUpgrade,
) -> Response {
    upgrade
        .max_message_size(MAX_MESSAGE)
        .max_frame_size(MAX_MESSAGE)
        .read_buffer_size(BUFFER)
        .write_buffer_size(0)
        .max_write_buffer_size(2 * MAX_MESSAGE)
        .on_upgrade(move |socket| async move {
            state.metrics.sockets.fetch_add(1, Ordering::Relaxed);
            let mut client = SocketClient::new(&state, caller.is_some());
            let why = client.serve(socket).await;
            drop(place);
            state.metrics.sockets.fetch_sub(1, Ordering::Relaxed);
            if let Some(why) = why {
                state
                    .metrics
                    .dropped_sockets
                    .fetch_add(1, Ordering::Relaxed);
                tracing::info!(why, "a WebSocket was closed");
            }
        })
}

/// The handler; the caller was checked before.
pub(super) async fn handler(
    State(state): Shared,
    Extension(caller): Extension<Option<Caller>>,
    Extension(place): Extension<ConnectionPlace>,
    request: WebSocketUpgrade,
) -> Response {
    upgrade(state, caller, place, request)
}

/// One socket.
struct SocketClient {
    state: Arc<DaemonState>,
    is_known: bool,
    answers: mpsc::Sender<Utf8Bytes>,
    written: Option<mpsc::Receiver<Utf8Bytes>>,
    changes: Option<EventReader>,
    under_way: Arc<()>,
    /// Ends the work of the socket when it is closed.
    cancel: Arc<CancelOnDrop>,
    heard: Instant,
    frames: (f64, Instant),
}

/// The next step of a socket.
enum NextStep {
    Read(Option<Result<Message, axum::Error>>),
    Write(Utf8Bytes),
    Changes(NextEvents),
    Tick,
    Unknown,
    End,
}

impl SocketClient {
    fn new(state: &Arc<DaemonState>, is_known: bool) -> Self {
        let (answers, written) = mpsc::channel(AT_ONCE);
        Self {
            state: Arc::clone(state),
            is_known,
            answers,
            written: Some(written),
            changes: None,
            under_way: Arc::default(),
            cancel: Arc::default(),
            heard: Instant::now(),
            frames: (BURST, Instant::now()),
        }
    }

    /// Serves until the client disconnects or is disconnected; returns the reason.
    async fn serve(&mut self, mut socket: WebSocket) -> Option<&'static str> {
        let mut written = self.written.take()?;
        let (code, why) = loop {
            let step = self.next(&mut socket, &mut written).await;
            let done = match step {
                NextStep::Read(Some(Ok(message))) => self.read(message, &mut socket).await,
                NextStep::Read(None) => return None,
                NextStep::Read(Some(Err(_))) => Err((
                    close_code::SIZE,
                    "the message is not valid, or exceeds the limit of 1 MB",
                )),
                NextStep::Write(text) => write(&mut socket, Message::Text(text)).await,
                NextStep::Changes(next) => self.tell(next, &mut socket).await,
                NextStep::Tick => self.tick(&mut socket).await,
                NextStep::Unknown => Err((close_code::POLICY, "no token was sent in time")),
                NextStep::End => Err((close_code::AWAY, "the daemon is stopping")),
            };
            if let Err(why) = done {
                break why;
            }
        };
        let frame = CloseFrame {
            code,
            reason: Utf8Bytes::from_static(why),
        };
        let closing = socket.send(Message::Close(Some(frame)));
        // The client may be the cause, so it is not waited for.
        timeout(Duration::from_secs(1), closing).await.ok();
        (code != close_code::AWAY).then_some(why)
    }

    async fn next(
        &mut self,
        socket: &mut WebSocket,
        written: &mut mpsc::Receiver<Utf8Bytes>,
    ) -> NextStep {
        let mut ending = self.state.ending.clone();
        let is_free = Arc::strong_count(&self.under_way) <= AT_ONCE;
        let (events, changes) = (&self.state.events, &mut self.changes);
        let changed = async {
            match changes {
                Some(reader) => events.next(reader).await,
                None => std::future::pending().await,
            }
        };
        let late = async {
            match self.is_known {
                true => std::future::pending().await,
                false => sleep(AUTH_TIME.saturating_sub(self.heard.elapsed())).await,
            }
        };
        tokio::select! {
            biased;
            _ = ending.wait_for(|ending| *ending) => NextStep::End,
            Some(text) = written.recv() => NextStep::Write(text),
            next = changed => NextStep::Changes(next),
            message = socket.recv(), if is_free => NextStep::Read(message),
            () = late => NextStep::Unknown,
            () = sleep(PING) => NextStep::Tick,
        }
    }

    async fn read(&mut self, message: Message, socket: &mut WebSocket) -> Written {
        self.count()?;
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) => {
                let refusal = Refusal::usage("messages are text, not binary");
                return write(socket, problem(&Value::Null, &refusal.into())).await;
            }
            // The library answers pings, and ends after a close.
            Message::Ping(_) | Message::Pong(_) => {
                self.heard = Instant::now();
                return Ok(());
            }
            Message::Close(_) => return Ok(()),
        };
        self.state.metrics.messages.fetch_add(1, Ordering::Relaxed);
        let (id, request) = match parse(&text) {
            Ok(parsed) => parsed,
            Err(wrong) => {
                let (id, refusal) = *wrong;
                return write(socket, problem(&id, &refusal.into())).await;
            }
        };
        if !self.is_known {
            return self.authenticate(&id, request, socket).await;
        }
        self.heard = Instant::now();
        match request {
            SocketRequest::Auth { token } => match self.state.access.program(&token) {
                Ok(_) => write(socket, answer(&id, "authenticated", &json!({}))).await,
                Err(refusal) => write(socket, problem(&id, &refusal.into())).await,
            },
            SocketRequest::Subscribe => self.subscribe(&id, socket).await,
            request => {
                self.start(id, request);
                Ok(())
            }
        }
    }

    /// The first message of a client that showed no token yet.
    async fn authenticate(
        &mut self,
        id: &Value,
        request: SocketRequest,
        socket: &mut WebSocket,
    ) -> Written {
        let SocketRequest::Auth { token } = request else {
            let refusal = super::access::unauthorized();
            return write(socket, problem(id, &refusal.into())).await;
        };
        match self.state.access.program(&token) {
            Ok(_) => {
                self.is_known = true;
                self.heard = Instant::now();
                write(socket, answer(id, "authenticated", &json!({}))).await
            }
            Err(refusal) => {
                write(socket, problem(id, &refusal.into())).await?;
                Err((close_code::POLICY, "the token is invalid"))
            }
        }
    }

    async fn subscribe(&mut self, id: &Value, socket: &mut WebSocket) -> Written {
        // Changes count from now on, so the folders have to be watched.
        let reader = self.state.events.reader(None);
        let watched = self.state.work(WorkLane::Quick, |state| {
            state.live.watch().map(drop)?;
            Ok(state.live.current()?.generation)
        });
        match watched.await {
            Ok(generation) => {
                self.changes = Some(reader);
                let fields = json!({ "generation": generation });
                write(socket, answer(id, "subscribed", &fields)).await
            }
            Err(error) => write(socket, problem(id, &error)).await,
        }
    }

    /// Begins the work of a request; its answer is written when it is ready.
    fn start(&self, id: Value, request: SocketRequest) {
        let (state, answers) = (Arc::clone(&self.state), self.answers.clone());
        let under_way = Arc::clone(&self.under_way);
        let cancel = self.cancel.0.clone();
        tokio::spawn(async move {
            let answer = match work(&state, &id, request, cancel).await {
                Ok(text) => text,
                Err(error) => problem_text(&id, &error),
            };
            drop(under_way);
            // A disconnected client needs no answer.
            answers.send(answer).await.ok();
        });
    }

    /// Passes changes on.
    async fn tell(&mut self, next: NextEvents, socket: &mut WebSocket) -> Written {
        match next {
            NextEvents::Some(events) => {
                for event in events.iter().filter(|one| one.kind == "skills_changed") {
                    let text = Utf8Bytes::try_from(event.text.clone());
                    let text = text.map_err(|_| (close_code::ERROR, "an event is not text"))?;
                    write(socket, Message::Text(text)).await?;
                }
                Ok(())
            }
            NextEvents::Missed(_) => Err((close_code::AGAIN, "the client reads too slowly")),
            NextEvents::Over => Ok(()),
        }
    }

    /// Asks a silent client whether it is still connected.
    async fn tick(&mut self, socket: &mut WebSocket) -> Written {
        if self.heard.elapsed() > SILENCE {
            return Err((close_code::AWAY, "the client does not respond"));
        }
        write(socket, Message::Ping(Bytes::new())).await
    }

    /// Counts a frame; a flood of them ends the socket.
    fn count(&mut self) -> Written {
        let (left, since) = self.frames;
        let now = Instant::now();
        let left = left + now.duration_since(since).as_secs_f64() * PER_SECOND;
        self.frames = (left.min(BURST) - 1.0, now);
        match left >= 1.0 {
            true => Ok(()),
            false => Err((close_code::POLICY, "too many messages in a second")),
        }
    }
}

/// Whether the socket stays open; otherwise the code and the reason.
type Written = Result<(), (u16, &'static str)>;

async fn write(socket: &mut WebSocket, message: Message) -> Written {
    match timeout(WRITE_TIME, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err((close_code::AWAY, "the client disconnected")),
        Err(_) => Err((close_code::AGAIN, "the client reads too slowly")),
    }
}

/// The id of a message, and its request. A message that is not one has the id that could be found.
fn parse(text: &str) -> Result<(Value, SocketRequest), Box<(Value, Refusal)>> {
    let message: Value = serde_json::from_str(text).map_err(|error| {
        let message = format!("the message is not JSON: {error}");
        Box::new((Value::Null, Refusal::usage(message)))
    })?;
    let id = message.get("id").cloned().unwrap_or_default();
    if !message.is_object() {
        let refusal = Refusal::usage("the message is not an object");
        return Err(Box::new((id, refusal)));
    }
    if !matches!(id, Value::Null | Value::Number(_) | Value::String(_)) || is_long(&id) {
        let refusal = Refusal::usage("`id` is neither a number nor a text of up to 128 bytes");
        return Err(Box::new((Value::Null, refusal)));
    }
    let kind = message
        .get("type")
        .and_then(Value::as_str)
        .map(str::to_owned);
    match serde_json::from_value(message) {
        Ok(request) => Ok((id, request)),
        Err(error) => {
            let kind = kind.unwrap_or_default();
            let message = format!("invalid message `{}`: {error}", kind.escape_debug());
            let refusal = Refusal::usage(message).hint("docs/serve.md lists all messages");
            Err(Box::new((id, refusal)))
        }
    }
}

fn is_long(id: &Value) -> bool {
    match id {
        Value::String(text) => text.len() > 128,
        Value::Number(number) => number.to_string().len() > 128,
        _ => false,
    }
}

async fn work(
    state: &Arc<DaemonState>,
    id: &Value,
    request: SocketRequest,
    cancel: Cancel,
) -> Result<Utf8Bytes, ApiError> {
    match request {
        SocketRequest::ListSkills {
            query,
            status,
            limit,
            cursor,
        } => {
            let now = state.now().await?;
            let wanted = ListQuery {
                query,
                status,
                limit,
                cursor,
                ..ListQuery::default()
            };
            let page = skills::page(state, &now, wanted).await?;
            Ok(spliced(id, "skills_list", &page))
        }
        SocketRequest::ExecuteSkill { name, how } => {
            let executed = skills::executed(state, name, how.into(), cancel).await?;
            Ok(text_of(id, "skill_result", &json!(executed)))
        }
        SocketRequest::ScanSkill { name, path } => {
            let scanned = skills::scanned(state, ScanRequest { name, path }).await?;
            Ok(text_of(id, "scan_result", &json!(scanned)))
        }
        SocketRequest::Auth { .. } | SocketRequest::Subscribe => {
            Err(Refusal::usage("this is answered elsewhere").into())
        }
    }
}

/// A document with an id and a type before its fields.
fn spliced(id: &Value, kind: &str, document: &[u8]) -> Utf8Bytes {
    let document = String::from_utf8_lossy(document);
    let fields = document.trim_end().strip_prefix('{').unwrap_or("}");
    let comma = if fields == "}" { "" } else { "," };
    format!("{{\"id\":{id},\"type\":\"{kind}\"{comma}{fields}").into()
}

fn text_of(id: &Value, kind: &str, document: &Value) -> Utf8Bytes {
    spliced(id, kind, document.to_string().as_bytes())
}

fn answer(id: &Value, kind: &str, fields: &Value) -> Message {
    Message::Text(text_of(id, kind, fields))
}

fn problem(id: &Value, error: &ApiError) -> Message {
    Message::Text(problem_text(id, error))
}

fn problem_text(id: &Value, error: &ApiError) -> Utf8Bytes {
    text_of(id, "error", &json!(error.document().error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_repeats_the_id_of_its_request() {
        let text = |id: Value, document: &[u8]| spliced(&id, "x", document).to_string();
        assert_eq!(
            text(json!(1), b"{\"a\":2}\n"),
            r#"{"id":1,"type":"x","a":2}"#
        );
        assert_eq!(text(json!("q\""), b"{}"), r#"{"id":"q\"","type":"x"}"#);
        assert_eq!(text(Value::Null, b"{}"), r#"{"id":null,"type":"x"}"#);
    }

    #[test]
    fn a_message_that_is_wrong_is_answered_with_what_is_known_of_it() {
        let check = |text: &str| match parse(text) {
            Ok((id, _)) => format!("{id}: ok"),
            Err(wrong) => format!("{}: {}", wrong.0, wrong.1.code),
        };
        for (text, expected) in [
            (r#"{"id":1,"type":"list_skills"}"#, "1: ok"),
            (r#"{"type":"subscribe"}"#, "null: ok"),
            (
                r#"{"id":"a","type":"execute_skill","name":"x"}"#,
                "\"a\": ok",
            ),
            (r#"{"id":7,"type":"execute_skill"}"#, "7: usage"),
            (r#"{"id":7,"type":"dance"}"#, "7: usage"),
            (r#"{"id":7}"#, "7: usage"),
            (r#"{"id":{},"type":"list_skills"}"#, "null: usage"),
            ("[]", "null: usage"),
            ("{", "null: usage"),
            ("", "null: usage"),
        ] {
            assert_eq!(check(text), expected, "{text}");
        }
    }
}
