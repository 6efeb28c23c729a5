//! A daemon for one test, and clients that can send anything.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::Child,
    thread,
    time::Duration,
};

use metier_testkit::{TestContext, patience};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket, client::IntoClientRequest as _, handshake::HandshakeError};

/// A running daemon. It is killed if the test ends before it does.
pub(crate) struct Daemon {
    pub(crate) child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    pub(crate) link: String,
}

impl Daemon {
    /// Starts one for the skills of `skills/`.
    pub(crate) fn start(context: &TestContext) -> Self {
        Self::start_with(context, &["--root", "skills"])
    }

    pub(crate) fn start_with(context: &TestContext, arguments: &[&str]) -> Self {
        Self::start_at(context, arguments, &["--listen", "127.0.0.1:0"])
    }

    /// Starts one with these options of `serve`.
    pub(crate) fn start_at(context: &TestContext, arguments: &[&str], own: &[&str]) -> Self {
        let mut command = context.command();
        command.args(arguments).args(["serve", "--json"]).args(own);
        command.stdout(std::process::Stdio::piped());
        command.stderr(std::process::Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let Ok(started) = serde_json::from_str::<Value>(&line) else {
            let mut errors = String::new();
            let stderr = child.stderr.as_mut().unwrap();
            stderr.read_to_string(&mut errors).unwrap();
            panic!("the daemon did not start: {line}{errors}");
        };
        // It must not wait for a reader of its log.
        let mut stderr = child.stderr.take().unwrap();
        thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let text = |key: &str| started[key].as_str().unwrap().to_owned();
        let token = std::fs::read_to_string(text("token_file")).unwrap();
        Self {
            child,
            address: text("url").trim_start_matches("http://").to_owned(),
            token: token.trim().to_owned(),
            link: text("link"),
        }
    }

    /// The headers of a program's request.
    pub(crate) fn headers(&self) -> String {
        let (address, token) = (&self.address, &self.token);
        format!("Host: {address}\r\nAuthorization: Bearer {token}\r\n")
    }

    /// Sends bytes, and reads until the connection ends.
    pub(crate) fn raw(&self, request: &str) -> HttpAnswer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(patience::PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).ok();
        HttpAnswer::parse(&String::from_utf8_lossy(&bytes))
    }

    /// A request with these headers, which end with a line break.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> HttpAnswer {
        let length = body.len();
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    pub(crate) fn get(&self, path: &str) -> HttpAnswer {
        self.request("GET", path, &self.headers(), "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> HttpAnswer {
        let headers = format!("{}Content-Type: application/json\r\n", self.headers());
        self.request("POST", path, &headers, &body.to_string())
    }

    /// A WebSocket with these further headers.
    pub(crate) fn upgrade(&self, headers: &[(&'static str, &str)]) -> Result<Socket, u16> {
        let mut request = format!("ws://{}/ws", self.address)
            .into_client_request()
            .unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(patience::PATIENCE)).unwrap();
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => Ok(Socket(socket)),
            Err(HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// A WebSocket of a program that showed the token.
    pub(crate) fn socket(&self) -> Socket {
        let token = format!("Bearer {}", self.token);
        self.upgrade(&[("authorization", &token)]).unwrap()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    /// Ends it, and waits for that.
    pub(crate) fn end(self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.wait()
    }

    /// Waits until it has ended.
    pub(crate) fn wait(mut self) -> Option<i32> {
        let status = patience::in_time("the daemon ends", || self.child.wait().unwrap());
        status.code()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl HttpAnswer {
    fn parse(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        Self {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: match is_chunked {
                true => chunks(body),
                false => body.to_owned(),
            },
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The document of a request that must succeed.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert!((200..300).contains(&self.status), "{self:?}");
        self.json()
    }

    /// The status and the code of a request that must be refused.
    #[track_caller]
    pub(crate) fn refused(&self) -> (u16, String) {
        let code = self.json()["error"]["code"].as_str().unwrap().to_owned();
        (self.status, code)
    }
}

fn chunks(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        let Some(chunk) = rest.get(..size).filter(|_| size > 0) else {
            break;
        };
        whole.push_str(chunk);
        body = rest.get(size + 2..).unwrap_or("");
    }
    whole
}

/// A client of the WebSocket.
pub(crate) struct Socket(pub(crate) WebSocket<TcpStream>);

impl Socket {
    pub(crate) fn say(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }

    /// The next message; that it is JSON is part of every test.
    pub(crate) fn hear(&mut self) -> Value {
        loop {
            match self.0.read().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        self.say(&message.to_string());
        self.hear()
    }

    /// Reads until the server closes the socket; returns the reason.
    pub(crate) fn closed(&mut self) -> String {
        loop {
            match self.0.read() {
                Ok(Message::Close(Some(frame))) => return frame.reason.to_string(),
                Ok(Message::Close(None)) | Err(_) => return String::new(),
                Ok(_) => {}
            }
        }
    }
}

/// A machine with one skill.
pub(crate) fn context() -> TestContext {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    skill(&context, "report", "Writes reports.", "Now $ARGUMENTS.\n");
    context
}

pub(crate) fn skill(context: &TestContext, name: &str, description: &str, body: &str) {
    let text = format!("---\nname: {name}\ndescription: {description}\n---\n{body}");
    context.write(&format!("skills/{name}/SKILL.md"), text);
}

/// A skill whose workflow is Starlark and needs nothing.
pub(crate) fn workflow(context: &TestContext, name: &str, code: &str) {
    let manifest = format!(
        "name: {name}\ndescription: Runs {name}.\nversion: 1.0.0\ntypes: [workflow]\nimplementation:\n  backend: starlark\n  entrypoint: skill.star\n"
    );
    context.write(&format!("skills/{name}/SKILL.yaml"), manifest);
    context.write(&format!("skills/{name}/skill.star"), code);
}

/// Names in a list.
pub(crate) fn names(list: &Value) -> Vec<String> {
    let rows = list.as_array().unwrap().iter();
    let name = |row: &Value| row["name"].as_str().or(row.as_str()).unwrap().to_owned();
    rows.map(name).collect()
}

/// `execute_skill` with these arguments.
pub(crate) fn execute(id: u64, name: &str, arguments: &str) -> Value {
    json!({ "id": id, "type": "execute_skill", "name": name, "arguments": arguments })
}

/// A short time, for events that must not happen.
pub(crate) const MOMENT: Duration = Duration::from_millis(300);
