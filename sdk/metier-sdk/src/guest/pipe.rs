//! Frames over a pair of pipes: one message a line, bounded, each answer to its question.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Write},
    process::ExitCode,
};

use serde_json::{Map, Value, json};

use super::{HostError, Skill, Transport};
use crate::wire::{HostRequest, MAX_FRAME, RpcError, code, method};

impl Skill {
    /// Serves on stdin and stdout until the host ends. Meanwhile what anybody prints goes to stderr, which is the skill's log, and
    /// a child that reads stdin finds its end: neither can get between the frames.
    #[must_use]
    pub fn serve(mut self) -> ExitCode {
        serve(|method, params, transport| self.answer(method, params, transport))
    }

    /// Serves on any pair of pipes until `shutdown`, or until the host says nothing more.
    ///
    /// # Errors
    ///
    /// Reading or writing fails.
    pub fn serve_on(mut self, input: impl BufRead, output: impl Write) -> io::Result<()> {
        serve_on(input, output, |method, params, transport| {
            self.answer(method, params, transport)
        })
    }
}

/// Serves on stdin and stdout like [`Skill::serve`], whoever answers. Nothing of `answer` is called before the pipes are out of
/// everybody else's reach.
#[must_use]
pub fn serve(
    answer: impl FnMut(&str, Value, &mut dyn Transport) -> Result<Value, RpcError>,
) -> ExitCode {
    let served = private_pipes().and_then(|(input, output)| serve_on(input, output, answer));
    match served {
        // The host went away in the middle of an answer.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            writeln!(io::stderr(), "the pipe to the host broke: {error}").ok();
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Serves on any pair of pipes until `shutdown`, or until the host says nothing more, whoever answers.
///
/// # Errors
///
/// Reading or writing fails.
pub fn serve_on(
    input: impl BufRead,
    output: impl Write,
    mut answer: impl FnMut(&str, Value, &mut dyn Transport) -> Result<Value, RpcError>,
) -> io::Result<()> {
    let mut pipes = Pipes {
        input,
        output,
        asked: 0,
        waiting: VecDeque::new(),
    };
    while let Some(Request { id, method, params }) = pipes.request()? {
        let answer = answer(&method, params, &mut pipes);
        pipes.reply(&id, answer)?;
        if method == method::SHUTDOWN {
            break;
        }
    }
    Ok(())
}

type Ends = (Box<dyn BufRead>, Box<dyn Write>);

/// The real stdin and stdout, taken out of everybody else's reach.
#[cfg(unix)]
fn private_pipes() -> io::Result<Ends> {
    use std::{fs::File, os::fd::AsFd};

    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (empty, _) = io::pipe()?;
    rustix::stdio::dup2_stdin(empty)?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok((Box::new(io::BufReader::new(input)), Box::new(output)))
}

#[cfg(not(unix))]
fn private_pipes() -> io::Result<Ends> {
    let input = io::BufReader::new(io::stdin());
    Ok((Box::new(input), Box::new(io::stdout())))
}

struct Request {
    id: Value,
    method: String,
    params: Value,
}

/// The answer to one of our questions.
struct Response {
    id: Value,
    answer: Result<Value, HostError>,
}

enum Message {
    Request(Request),
    Response(Response),
    /// Nobody waits for an answer: a call can't be stopped half-way, so `cancel` has nothing to do here.
    Notification,
    /// What to reply, and to whom.
    Broken(Value, RpcError),
}

struct Pipes<R, W> {
    input: R,
    output: W,
    /// The last id that we used.
    asked: u64,
    /// Requests that came while we waited for an answer.
    waiting: VecDeque<Request>,
}

impl<R: BufRead, W: Write> Pipes<R, W> {
    /// The next request; nothing when the host has ended.
    fn request(&mut self) -> io::Result<Option<Request>> {
        if let Some(request) = self.waiting.pop_front() {
            return Ok(Some(request));
        }
        loop {
            match self.message()? {
                None => return Ok(None),
                Some(Message::Request(request)) => return Ok(Some(request)),
                // An answer that nobody asked for.
                Some(_) => {}
            }
        }
    }

    fn response(&mut self, wanted: u64) -> io::Result<Option<Result<Value, HostError>>> {
        loop {
            match self.message()? {
                None => return Ok(None),
                Some(Message::Request(request)) => self.waiting.push_back(request),
                Some(Message::Response(Response { id, answer })) if id == wanted => {
                    return Ok(Some(answer));
                }
                Some(_) => {}
            }
        }
    }

    /// The next message that is one; what is none is answered at once.
    fn message(&mut self) -> io::Result<Option<Message>> {
        loop {
            let Some(line) = frame(&mut self.input)? else {
                return Ok(None);
            };
            match line.map_or_else(too_long, |line| parse(&line)) {
                Message::Broken(id, error) => self.reply(&id, Err(error))?,
                message => return Ok(Some(message)),
            }
        }
    }

    fn reply(&mut self, id: &Value, answer: Result<Value, RpcError>) -> io::Result<()> {
        let message = match answer {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        };
        if self.send(&message)? {
            return Ok(());
        }
        let error = json!({"code": code::INTERNAL, "message": oversized("the answer")});
        let message = json!({"jsonrpc": "2.0", "id": id, "error": error});
        self.send(&message).map(drop)
    }

    /// Sends a message unless it is too long; says whether.
    fn send(&mut self, message: &Value) -> io::Result<bool> {
        let mut line = message.to_string();
        if line.len() > MAX_FRAME {
            return Ok(false);
        }
        line.push('\n');
        self.output.write_all(line.as_bytes())?;
        self.output.flush()?;
        Ok(true)
    }

    /// Sends a question, with an id if there is one.
    fn question(&mut self, request: &HostRequest, id: Option<u64>) -> Result<(), HostError> {
        let mut message = json!({"jsonrpc": "2.0"});
        if let Some(id) = id {
            message["id"] = id.into();
        }
        let request = serde_json::to_value(request)
            .map_err(|error| RpcError::new(code::INTERNAL, error.to_string()))?;
        message["method"] = request["method"].clone();
        message["params"] = request["params"].clone();
        match self.send(&message) {
            Ok(true) => Ok(()),
            Ok(false) => Err(RpcError::new(code::PARAMS, oversized("the request"))),
            Err(error) => Err(gone(&error.to_string())),
        }
    }
}

impl<R: BufRead, W: Write> Transport for Pipes<R, W> {
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError> {
        self.asked += 1;
        let id = self.asked;
        self.question(request, Some(id))?;
        match self.response(id) {
            Ok(Some(answer)) => answer,
            Ok(None) => Err(gone("it closed the pipe")),
            Err(error) => Err(gone(&error.to_string())),
        }
    }

    fn tell(&mut self, request: &HostRequest) -> Result<(), HostError> {
        self.question(request, None)
    }
}

/// One line without its end; `Err` if it is too long, nothing at the end of the input.
fn frame(input: &mut impl BufRead) -> io::Result<Option<Result<Vec<u8>, ()>>> {
    let (mut line, mut length) = (Vec::new(), 0_usize);
    loop {
        let piece = match input.fill_buf() {
            Ok(piece) => piece,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if piece.is_empty() {
            // Half a line before the end was never finished, and nobody waits for its answer.
            return Ok(None);
        }
        let end = piece.iter().position(|&byte| byte == b'\n');
        let text = &piece[..end.unwrap_or(piece.len())];
        length = length.saturating_add(text.len());
        if length <= MAX_FRAME {
            line.extend_from_slice(text);
        }
        let used = end.map_or(piece.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            let fits = length <= MAX_FRAME;
            return Ok(Some(if fits { Ok(line) } else { Err(()) }));
        }
    }
}

fn too_long((): ()) -> Message {
    Message::Broken(
        Value::Null,
        RpcError::new(code::PARSE, oversized("this line")),
    )
}

fn parse(line: &[u8]) -> Message {
    if line.trim_ascii().is_empty() {
        return Message::Notification;
    }
    match serde_json::from_slice(line) {
        Ok(Value::Object(message)) => sort(message),
        Ok(_) => Message::Broken(Value::Null, no_message()),
        Err(_) => {
            let message = "this line is no JSON".to_owned();
            Message::Broken(Value::Null, RpcError::new(code::PARSE, message))
        }
    }
}

fn sort(mut message: Map<String, Value>) -> Message {
    let id = message.remove("id");
    let params = message.remove("params").unwrap_or_default();
    match (id, message.remove("method")) {
        (Some(id), Some(Value::String(method))) => Message::Request(Request { id, method, params }),
        (None, Some(Value::String(_))) => Message::Notification,
        (Some(id), None) if message.contains_key("result") => {
            let answer = Ok(message.remove("result").unwrap_or_default());
            Message::Response(Response { id, answer })
        }
        (Some(id), None) if message.contains_key("error") => {
            let error = message.remove("error").unwrap_or_default();
            let error = serde_json::from_value(error).unwrap_or_else(|_| {
                RpcError::new(
                    code::INVALID,
                    "the host sent an error without words".to_owned(),
                )
            });
            Message::Response(Response {
                id,
                answer: Err(error),
            })
        }
        (id, _) => Message::Broken(id.unwrap_or_default(), no_message()),
    }
}

fn no_message() -> RpcError {
    RpcError::new(
        code::INVALID,
        "this is no message of JSON-RPC 2.0".to_owned(),
    )
}

fn gone(why: &str) -> HostError {
    RpcError::new(code::INTERNAL, format!("the host is gone: {why}"))
}

fn oversized(what: &str) -> String {
    format!("{what} is longer than {MAX_FRAME} bytes")
}
