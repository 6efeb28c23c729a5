//! A skill on a pair of pipes: requests of the host, and requests to it.

use std::{
    collections::VecDeque,
    io::{self, BufRead, Write},
    process::ExitCode,
};

use serde_json::Value;

use super::{HostError, Skill, Transport};
use crate::wire::{
    HostRequest, RpcError, code,
    envelope::{Body, Envelope, Lines, Message, append_answer},
    method,
};

impl Skill {
    /// Serves on stdin and stdout until the host closes them. Meanwhile printed output goes to stderr, which is the skill's log, and
    /// a child that reads stdin gets end of file: neither can interfere with messages.
    #[must_use]
    pub fn serve(mut self) -> ExitCode {
        serve(|method, params, transport| self.answer(method, params, transport))
    }

    /// Serves on any pair of pipes until `shutdown`, or until the input ends.
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

/// Serves on stdin and stdout like [`Skill::serve`], with any function for answers. `answer` is not called before the pipes are out
/// of reach of other code.
#[must_use]
pub fn serve(
    answer: impl FnMut(&str, Value, &mut dyn Transport) -> Result<Value, RpcError>,
) -> ExitCode {
    let served = private_pipes().and_then(|(input, output)| serve_on(input, output, answer));
    match served {
        // The host closed the pipe during an answer.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            writeln!(io::stderr(), "the pipe to the host broke: {error}").ok();
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Serves on any pair of pipes until `shutdown`, or until the input ends, with any function for answers.
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
        lines: Lines::default(),
        output,
        asked: 0,
        waiting: VecDeque::new(),
    };
    while let Some(Request { id, method, params }) = pipes.request()? {
        let answer = answer(&method, params, &mut pipes);
        pipes.reply(&id, &answer)?;
        if method == method::SHUTDOWN {
            break;
        }
    }
    Ok(())
}

type Ends = (Box<dyn BufRead>, Box<dyn Write>);

/// The real stdin and stdout, out of reach of other code.
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

struct Pipes<R, W> {
    input: R,
    lines: Lines,
    output: W,
    /// The id of our last request.
    asked: u64,
    /// Requests that arrived while we waited for an answer.
    waiting: VecDeque<Request>,
}

impl<R: BufRead, W: Write> Pipes<R, W> {
    /// The next request; `None` when the host has closed the pipe.
    fn request(&mut self) -> io::Result<Option<Request>> {
        if let Some(request) = self.waiting.pop_front() {
            return Ok(Some(request));
        }
        loop {
            match self.message()? {
                None => return Ok(None),
                Some(Message::Request { id, method, params }) => {
                    return Ok(Some(Request { id, method, params }));
                }
                // An unexpected answer, or a notification: a call can't be interrupted, so `cancel` has no effect.
                Some(_) => {}
            }
        }
    }

    fn response(&mut self, wanted: u64) -> io::Result<Option<Result<Value, HostError>>> {
        loop {
            match self.message()? {
                None => return Ok(None),
                Some(Message::Request { id, method, params }) => {
                    self.waiting.push_back(Request { id, method, params });
                }
                Some(Message::Answer { id, answer }) if id == wanted => return Ok(Some(answer)),
                Some(_) => {}
            }
        }
    }

    /// The next message; a line that is not one is answered with an error.
    fn message(&mut self) -> io::Result<Option<Message>> {
        loop {
            let (id, error) = match self.lines.read_from(&mut self.input)? {
                None => return Ok(None),
                Some(Ok(line)) => match Message::parse(line) {
                    Ok(message) => return Ok(Some(message)),
                    Err(malformed) => (malformed.id.clone(), malformed.error()),
                },
                Some(Err(error)) => (Value::Null, RpcError::new(code::PARSE, error.to_string())),
            };
            self.reply(&id, &Err(error))?;
        }
    }

    fn reply(&mut self, id: &Value, answer: &Result<Value, RpcError>) -> io::Result<()> {
        let mut line = Vec::new();
        append_answer(&mut line, id, answer, code::INTERNAL);
        self.send(&line)
    }

    fn send(&mut self, line: &[u8]) -> io::Result<()> {
        self.output.write_all(line)?;
        self.output.flush()
    }

    /// Sends a request; without an id a notification.
    fn question(&mut self, request: &HostRequest, id: Option<u64>) -> Result<(), HostError> {
        let mut line = Vec::new();
        Envelope::request(id, Body::Question(request))
            .append_to(&mut line)
            .map_err(|size| size.error(code::PARAMS, "the request"))?;
        self.send(&line).map_err(|error| gone(&error.to_string()))
    }
}

impl<R: BufRead, W: Write> Transport for Pipes<R, W> {
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError> {
        self.asked += 1;
        let id = self.asked;
        self.question(request, Some(id))?;
        match self.response(id) {
            Ok(Some(answer)) => answer,
            Ok(None) => Err(RpcError::new(code::INTERNAL, "the host closed the pipe")),
            Err(error) => Err(gone(&error.to_string())),
        }
    }

    fn tell(&mut self, request: &HostRequest) -> Result<(), HostError> {
        self.question(request, None)
    }
}

fn gone(why: &str) -> HostError {
    RpcError::new(code::INTERNAL, format!("the host can't be reached: {why}"))
}
