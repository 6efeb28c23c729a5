//! Reads requests and writes responses. HTTP/1.1, one request per connection.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// The maximum length of the server's waits.
pub(super) const LONGEST: Duration = Duration::from_secs(30);

const HEAD: usize = 64 * 1024;
const BODY: usize = 64 * 1024 * 1024;

/// A received request.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// `POST`.
    pub method: String,
    /// With the query.
    pub path: String,
    /// Names in lower case, in the received order.
    pub headers: Vec<(String, String)>,
    /// The bytes of the body.
    pub body: Vec<u8>,
    /// The body as JSON; `null` if it is not JSON.
    pub json: Value,
}

impl Recorded {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The names of its tools, in their order, in either format.
    #[must_use]
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.json["tools"].as_array().map_or(&[][..], Vec::as_slice);
        let names = tools.iter().filter_map(|tool| {
            let name = tool["name"].as_str();
            name.or_else(|| tool["function"]["name"].as_str())
        });
        names.collect()
    }

    /// Its system prompt, in either format.
    #[must_use]
    pub fn system(&self) -> String {
        if let Some(text) = self.json["system"].as_str() {
            return text.to_owned();
        }
        if let Some(blocks) = self.json["system"].as_array() {
            return blocks
                .iter()
                .filter_map(|block| block["text"].as_str())
                .collect();
        }
        let first = &self.json["messages"][0];
        let is_system = first["role"] == "system";
        let text = first["content"].as_str().filter(|_| is_system);
        text.unwrap_or_default().to_owned()
    }
}

/// The response.
#[derive(Debug)]
pub(super) struct HttpAnswer {
    status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    content_type: String,
    body: Vec<u8>,
    is_silent: bool,
    pub(super) cut_after: Option<usize>,
    pub(super) hang_after: Option<usize>,
    pub(super) piece: usize,
}

impl HttpAnswer {
    pub(super) fn raw(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            content_type: content_type.to_owned(),
            body,
            is_silent: false,
            cut_after: None,
            hang_after: None,
            piece: usize::MAX,
        }
    }

    pub(super) fn document(status: u16, body: &Value) -> Self {
        Self::raw(status, "application/json", body.to_string().into_bytes())
    }

    pub(super) fn events(body: String) -> Self {
        Self::raw(200, "text/event-stream; charset=utf-8", body.into_bytes())
    }

    pub(super) fn silence() -> Self {
        Self {
            is_silent: true,
            ..Self::raw(200, "", Vec::new())
        }
    }
}

/// The request on a connection, or `None` when the client disconnected without one.
pub(super) fn read(stream: &mut TcpStream) -> Result<Option<Recorded>, String> {
    stream
        .set_read_timeout(Some(LONGEST))
        .and_then(|()| stream.set_write_timeout(Some(LONGEST)))
        .and_then(|()| stream.set_nodelay(true))
        .map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let mut buffer = [0; 16 * 1024];
    let (mut request, head) = loop {
        let count = match stream.read(&mut buffer) {
            Ok(0) if bytes.is_empty() => return Ok(None),
            Ok(0) => return Err("it ends in its head".to_owned()),
            Ok(count) => count,
            Err(_) if bytes.is_empty() => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        bytes.extend_from_slice(&buffer[..count]);
        if let Some(parsed) = head(&bytes)? {
            break parsed;
        }
        if bytes.len() > HEAD {
            return Err(format!("its head has more than {HEAD} bytes"));
        }
    };
    let length = request.header("content-length");
    let length: usize = match length.map(str::parse) {
        Some(Ok(length)) if length <= BODY => length,
        Some(_) => return Err("its length is none, or too much".to_owned()),
        None => return Err("it has no content-length".to_owned()),
    };
    request.body = bytes.split_off(head);
    let come = request.body.len().min(length);
    request.body.resize(length, 0);
    let rest = stream.read_exact(&mut request.body[come..]);
    rest.map_err(|error| format!("its body: {error}"))?;
    request.json = serde_json::from_slice(&request.body).unwrap_or(Value::Null);
    Ok(Some(request))
}

/// The head and its length, once it is complete.
fn head(bytes: &[u8]) -> Result<Option<(Recorded, usize)>, String> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let header = |header: &httparse::Header<'_>| {
        let value = String::from_utf8_lossy(header.value).into_owned();
        (header.name.to_ascii_lowercase(), value)
    };
    let request = Recorded {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: parsed.path.unwrap_or_default().to_owned(),
        headers: parsed.headers.iter().map(header).collect(),
        body: Vec::new(),
        json: Value::Null,
    };
    Ok(Some((request, length)))
}

/// Sends a response. The client may disconnect in the middle, so this is not an error.
pub(super) fn write(stream: &mut TcpStream, answer: &HttpAnswer, is_over: &AtomicBool) {
    if answer.is_silent {
        return wait_until_gone(stream, is_over);
    }
    if send(stream, answer).is_ok() && answer.hang_after.is_some() {
        wait_until_gone(stream, is_over);
    }
}

fn send(stream: &mut TcpStream, answer: &HttpAnswer) -> io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} {}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n",
        answer.status,
        if answer.status < 400 { "OK" } else { "Error" },
    );
    if !answer.content_type.is_empty() {
        head.push_str(&format!("content-type: {}\r\n", answer.content_type));
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes())?;
    let stop = answer.cut_after.or(answer.hang_after);
    let body = &answer.body[..stop.unwrap_or(usize::MAX).min(answer.body.len())];
    for piece in body.chunks(answer.piece) {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        stream.write_all(&chunk)?;
    }
    if stop.is_none() {
        stream.write_all(b"0\r\n\r\n")?;
    }
    stream.flush()
}

/// Returns when the client has closed the connection, or the test is over.
fn wait_until_gone(stream: &mut TcpStream, is_over: &AtomicBool) {
    let end = Instant::now() + LONGEST;
    let _ = stream.set_read_timeout(Some(Duration::from_millis(20)));
    let mut byte = [0];
    while Instant::now() < end && !is_over.load(Ordering::Acquire) {
        match stream.read(&mut byte) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) => {}
            Err(_) => return,
        }
    }
}
