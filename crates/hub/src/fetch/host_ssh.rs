//! Repositories behind ssh.
//!
//! Ssh needs the user's keys, agent and known hosts, which git in the sandbox must not have. So only ssh itself runs outside: it is the
//! user's program with the user's configuration, it connects to the host that the user typed, and asks no questions. Git runs in the
//! sandbox as usual and speaks its own protocol to a listener of its network; the received bytes are passed to ssh, which has started
//! `git-upload-pack` on the host.

use std::{
    ffi::OsString,
    fs::File,
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::fd::AsFd,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use metier_host::child::{self, ChildSpec, Confinement, Stdin};
use metier_model::text::visible;

use super::host_access::{AccessSettings, HostAccess};

/// The longest request that git sends first, in bytes.
const MAX_REQUEST: usize = 4096;
/// How often the listener checks whether the run is over.
const GLANCE: Duration = Duration::from_millis(20);
/// How much of the messages of ssh is kept.
const MAX_MESSAGES: u64 = 4096;

/// Passes bytes between git and a host.
pub(super) struct SshBridge {
    settings: AccessSettings,
    arguments: Vec<OsString>,
    ended: Arc<AtomicBool>,
    messages: Arc<Mutex<Vec<String>>>,
    accepting: Mutex<Option<thread::JoinHandle<()>>>,
}

impl SshBridge {
    pub(super) fn new(access: &HostAccess, host: &str, port: Option<u16>, path: &str) -> Self {
        let mut arguments: Vec<OsString> =
            ["-T", "-o", "BatchMode=yes", "-o", "SendEnv=GIT_PROTOCOL"]
                .map(OsString::from)
                .to_vec();
        if let Some(port) = port {
            arguments.extend(["-p".into(), port.to_string().into()]);
        }
        // The shell of the host parses the path: quoted, it is a single word.
        let quoted = path.replace('\'', "'\\''");
        let command = format!("git-upload-pack '{quoted}'");
        arguments.extend(["--".into(), host.into(), command.into()]);
        Self {
            settings: access.settings.clone(),
            arguments,
            ended: Arc::default(),
            messages: Arc::default(),
            accepting: Mutex::new(None),
        }
    }

    /// Serves the listener of git's network until the run is over.
    pub(super) fn open(&self, listener: TcpListener) {
        let (settings, arguments) = (self.settings.clone(), self.arguments.clone());
        let (ended, messages) = (Arc::clone(&self.ended), Arc::clone(&self.messages));
        let accept = move || {
            if listener.set_nonblocking(true).is_err() {
                return;
            }
            while !ended.load(Ordering::Acquire) {
                match listener.accept() {
                    Ok((stream, _)) => {
                        if let Err(error) = connect(&settings, &arguments, &stream, &messages) {
                            note(&messages, &error.to_string());
                        }
                        let _gone = stream.shutdown(Shutdown::Both);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        thread::sleep(GLANCE);
                    }
                    Err(_) => return,
                }
            }
        };
        let started = thread::Builder::new()
            .name("metier-ssh".to_owned())
            .spawn(accept);
        if let Ok(started) = started {
            *self
                .accepting
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(started);
        }
    }

    /// Ends it, and returns ssh's messages.
    pub(super) fn close(self) -> Vec<String> {
        self.ended.store(true, Ordering::Release);
        let accepting = self
            .accepting
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(accepting) = accepting {
            let _panicked = accepting.join();
        }
        std::mem::take(&mut self.messages.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn note(messages: &Mutex<Vec<String>>, text: &str) {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let lines = lines.take(4).map(|line| format!("ssh: {}", visible(line)));
    let mut messages = messages.lock().unwrap_or_else(PoisonError::into_inner);
    messages.extend(lines);
}

/// Starts ssh for one connection of git, and passes bytes on until one side ends.
fn connect(
    settings: &AccessSettings,
    arguments: &[OsString],
    stream: &TcpStream,
    messages: &Mutex<Vec<String>>,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let version = requested_version(stream)?;
    let folder = File::open("/")?;
    let mut environment = settings.environment.clone();
    environment.retain(|(name, _)| !name.to_string_lossy().starts_with("GIT_"));
    if environment.iter().all(|(name, _)| name != "PATH") {
        environment.push(("PATH".into(), settings.path.clone()));
    }
    environment.push(("GIT_PROTOCOL".into(), version.into()));
    let launcher = &settings.launcher;
    let mut spec = ChildSpec::new(launcher, "ssh", folder.as_fd(), Confinement::Unsandboxed);
    spec.args = arguments;
    spec.env = &environment;
    spec.stdin = Stdin::Piped;
    let mut child = child::spawn(&spec).map_err(io::Error::other)?;
    let Some(pipes) = child.pipes() else {
        return Err(io::Error::other("it has no pipes"));
    };
    let (mut up, mut down) = (File::from(pipes.stdin), File::from(pipes.stdout));
    let told = File::from(pipes.stderr);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut from = stream;
            pass(&mut from, &mut up);
        });
        let complaints = scope.spawn(move || {
            let mut text = Vec::new();
            let _cut = told.take(MAX_MESSAGES).read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        let mut to = stream;
        pass(&mut down, &mut to);
        let _gone = stream.shutdown(Shutdown::Both);
        drop(child);
        if let Ok(text) = complaints.join() {
            note(messages, &text);
        }
    });
    Ok(())
}

/// Copies until either side ends. Each piece is passed on immediately: the kernel's copy waits for more.
fn pass(from: &mut impl Read, to: &mut impl Write) {
    let mut piece = vec![0; 64 * 1024];
    loop {
        match from.read(&mut piece) {
            Ok(0) => return,
            Ok(count) if to.write_all(&piece[..count]).is_err() => return,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Parses git's first line, `git-upload-pack /path NUL host=… NUL NUL version=2 NUL`, and returns the version.
fn requested_version(mut stream: &TcpStream) -> io::Result<String> {
    let malformed = || io::Error::new(io::ErrorKind::InvalidData, "git sent no request");
    let mut length = [0; 4];
    stream.read_exact(&mut length)?;
    let length = std::str::from_utf8(&length).map_err(|_| malformed())?;
    let length = usize::from_str_radix(length, 16).map_err(|_| malformed())?;
    let rest = length.checked_sub(4).filter(|rest| *rest <= MAX_REQUEST);
    let mut request = vec![0; rest.ok_or_else(malformed)?];
    stream.read_exact(&mut request)?;
    if !request.starts_with(b"git-upload-pack ") {
        return Err(malformed());
    }
    let version = request
        .split(|byte| *byte == 0)
        .find(|part| part.starts_with(b"version="));
    Ok(String::from_utf8_lossy(version.unwrap_or_default()).into_owned())
}
