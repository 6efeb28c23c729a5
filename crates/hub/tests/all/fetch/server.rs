//! A small server on loopback: replies from a function, and repositories through `git http-backend`.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use metier_testkit::patience::PATIENCE;

/// A client's request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) method: String,
    /// With the query.
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// A server; it ends with this value.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Replies to each request with the bytes that a function returns. Each connection is closed after its reply.
    pub(crate) fn start(answer: impl Fn(&Asked) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let ended = Arc::new(AtomicBool::new(false));
        let (book, stop, answer) = (Arc::clone(&asked), Arc::clone(&ended), Arc::new(answer));
        let accepting = thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let (book, answer) = (Arc::clone(&book), Arc::clone(&answer));
                thread::spawn(move || {
                    if let Some(request) = read_request(&stream) {
                        book.lock().unwrap().push(request.clone());
                        let _gone = (&stream).write_all(&answer(&request));
                    }
                });
            }
        });
        Self {
            address,
            asked,
            ended,
            accepting: Some(accepting),
        }
    }

    /// Serves the repositories below a folder, if the request passes a check.
    pub(crate) fn git(
        root: PathBuf,
        check: impl Fn(&Asked) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        Self::start(move |asked| match check(asked) {
            Some(answer) => answer,
            None => backend(&root, asked),
        })
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        let _woken = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            accepting.join().unwrap();
        }
    }
}

pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("Connection: close\r\n\r\n");
    let mut bytes = text.into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) fn ok(body: impl AsRef<[u8]>) -> Vec<u8> {
    answer("200 OK", &[], body.as_ref())
}

pub(crate) fn missing() -> Vec<u8> {
    answer(
        "404 Not Found",
        &[("Content-Type", "text/plain")],
        b"nothing here\n",
    )
}

pub(crate) fn redirect(location: &str) -> Vec<u8> {
    answer("302 Found", &[("Location", location)], b"")
}

fn read_request(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let mut asked = Asked {
        method: words.next()?.to_owned(),
        path: words.next()?.to_owned(),
        ..Asked::default()
    };
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
        asked.headers.push((name, value));
    }
    let length = asked.header("content-length").unwrap_or("0").parse().ok()?;
    asked.body = vec![0; length];
    reader.read_exact(&mut asked.body).ok()?;
    Some(asked)
}

/// Runs git's own program for servers, as a web server does.
fn backend(root: &PathBuf, asked: &Asked) -> Vec<u8> {
    let (path, query) = asked.path.split_once('?').unwrap_or((&asked.path, ""));
    let mut child = Command::new("git")
        .arg("http-backend")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &asked.method)
        .env("CONTENT_TYPE", asked.header("content-type").unwrap_or(""))
        .env("CONTENT_LENGTH", asked.body.len().to_string())
        .env(
            "HTTP_CONTENT_ENCODING",
            asked.header("content-encoding").unwrap_or(""),
        )
        .env("GIT_PROTOCOL", asked.header("git-protocol").unwrap_or(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let body = asked.body.clone();
    let feeding = thread::spawn(move || {
        let _closed = input.write_all(&body);
    });
    let output = child.wait_with_output().unwrap().stdout;
    feeding.join().unwrap();
    let end = (0..output.len())
        .find(|at| output[*at..].starts_with(b"\r\n\r\n"))
        .unwrap_or(output.len());
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let mut status = "200 OK".to_owned();
    let mut headers = Vec::new();
    for line in head.lines() {
        match line.split_once(": ") {
            Some(("Status", value)) => value.clone_into(&mut status),
            Some((name, value)) => headers.push((name, value)),
            None => {}
        }
    }
    answer(&status, &headers, output.get(end + 4..).unwrap_or_default())
}
