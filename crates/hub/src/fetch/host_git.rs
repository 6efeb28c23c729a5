//! The user's git in the sandbox.
//!
//! | remote | access of git |
//! |---|---|
//! | `https` | the typed host, through the checking proxy of the host crate; a redirect to another host is refused |
//! | `http` | the same, on this machine only |
//! | `file` | that folder, for reading |
//! | `ssh` | one listener, behind which the user's own ssh is connected to the typed host (see [`super::host_ssh`]) |
//!
//! Git sees no home and no configuration except the one in quarantine: no hooks, attributes, aliases, helpers or other protocols. It can
//! start only git. A credential for `https` is requested from the user's own git, outside the sandbox and only after the server demanded
//! one: no byte of the repository takes part in that, and the sandboxed git gets the credential for this host alone, without redirects.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{BufRead, BufReader, Read, Write},
    os::{fd::AsFd, unix::fs::OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use metier_host::{
    child::{self, Child, ChildError, ChildSpec, Confinement, Exit, PROXY_PORT, Stdin},
    execution::git_programs,
    net::{NetworkProxy, ProxyDecision, ProxyLimits},
    sandbox::{NetworkAccess, SandboxLimits, SandboxProfile, machine_keys, system_read},
};
use metier_model::text::visible;
use url::Url;

use super::{
    access::{GitRemote, GitRun, ObjectReader},
    error::FetchError,
    git_messages::{self, GitProblem},
    host_access::HostAccess,
    host_ssh::SshBridge,
};

/// Settings of every run.
const SETTINGS: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.askPass=false",
    "core.sshCommand=false",
    "core.gitProxy=none",
    "core.alternateRefsCommand=false",
    "credential.helper=",
    "protocol.ext.allow=never",
    "protocol.fd.allow=never",
    "fetch.recurseSubmodules=false",
    "fetch.unpackLimit=1",
    "transfer.bundleURI=false",
    "transfer.credentialsInUrl=die",
    "http.proxyAuthMethod=basic",
    "gc.auto=0",
    "maintenance.auto=false",
    "submodule.recurse=false",
    "advice.detachedHead=false",
];

/// Programs of git that take part in a fetch.
const HELPERS: &[&str] = &["git-remote-http", "git-remote-https", "git-upload-pack"];

/// How often the size of the received data is measured, for the progress line.
const GLANCE: Duration = Duration::from_millis(200);

/// The maximum memory of one git process, in bytes.
const MEMORY: u64 = 4 << 30;
/// How many bytes of git's messages on standard error are kept.
const MAX_MESSAGES: usize = 64 * 1024;

/// A proxy of one run, started when the network of git exists.
struct RunNetwork<'a> {
    access: &'a HostAccess,
    url: &'a Url,
    credential: String,
    proxy: Mutex<Option<std::io::Result<NetworkProxy>>>,
}

impl<'a> RunNetwork<'a> {
    fn new(access: &'a HostAccess, url: &'a Url) -> Result<Self, FetchError> {
        let draw = || getrandom::u64().map_err(|error| FetchError::NoGit(error.to_string()));
        Ok(Self {
            access,
            url,
            credential: format!("{:016x}{:016x}", draw()?, draw()?),
            proxy: Mutex::new(None),
        })
    }

    fn address(&self) -> String {
        let url = NetworkProxy::url(0, &self.credential);
        format!("{}{{port}}", url.strip_suffix('0').unwrap_or(&url))
    }

    fn open(&self, listener: std::net::TcpListener) {
        let started = self
            .access
            .hosts(self.url, false)
            .map_err(std::io::Error::other)
            .and_then(|hosts| {
                NetworkProxy::start(
                    listener,
                    hosts,
                    &self.credential,
                    ProxyLimits::default(),
                    self.access.resolver(),
                    Arc::new(mpsc::channel().0),
                )
            });
        *self.proxy.lock().unwrap_or_else(PoisonError::into_inner) = Some(started);
    }

    /// Ends it, and returns why connections were refused.
    fn close(self) -> Vec<String> {
        let proxy = self
            .proxy
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let connections = match proxy {
            Some(Ok(proxy)) => proxy.stop(),
            Some(Err(error)) => return vec![error.to_string()],
            None => return Vec::new(),
        };
        let mut refused: Vec<String> = connections
            .into_iter()
            .filter_map(|connection| match connection.decision {
                ProxyDecision::Refused(reason) => Some(reason),
                ProxyDecision::Cut(reason) => Some(reason),
                ProxyDecision::Allowed => None,
            })
            .collect();
        refused.dedup();
        refused
    }
}

/// Runs git to its end.
pub(super) fn run(access: &HostAccess, run: &GitRun<'_>) -> Result<Vec<u8>, FetchError> {
    let result = run_once(access, run);
    let (Err(FetchError::Git { message, .. }), Some(GitRemote::Web(url))) = (&result, run.remote)
    else {
        return result;
    };
    if git_messages::problem(message) != Some(GitProblem::NoCredentials) {
        return result;
    }
    let Some(header) = credential(access, run, url) else {
        return result;
    };
    let config = run.repository.join("config");
    let before = fs::read(&config).map_err(|error| FetchError::disk(&config, error))?;
    add_private(&config, &header).map_err(|error| FetchError::disk(&config, error))?;
    let result = run_once(access, run);
    fs::write(&config, before).map_err(|error| FetchError::disk(&config, error))?;
    result
}

fn run_once(access: &HostAccess, run: &GitRun<'_>) -> Result<Vec<u8>, FetchError> {
    let invocation = GitInvocation::new(access, run)?;
    let network = match run.remote {
        Some(GitRemote::Web(url)) => Some(RunNetwork::new(access, url)?),
        _ => None,
    };
    let bridge = match run.remote {
        Some(GitRemote::Ssh { host, port, path }) => {
            Some(SshBridge::new(access, host, *port, path))
        }
        _ => None,
    };
    let address = network.as_ref().map(RunNetwork::address);
    let open = |listener| {
        if let Some(network) = &network {
            network.open(listener);
        } else if let Some(bridge) = &bridge {
            bridge.open(listener);
        }
    };
    let mut spec = invocation.spec(access);
    spec.stdin = match run.input.is_empty() {
        true => Stdin::Null,
        false => Stdin::Bytes(run.input),
    };
    spec.timeout = run.limits.timeout;
    spec.max_output = run.max_output.max(MAX_MESSAGES);
    spec.stop = access.settings.stop.as_deref();
    if network.is_some() || bridge.is_some() {
        spec.proxy = Some(child::ProxyListener {
            url: address.as_deref().unwrap_or("http://127.0.0.1:{port}"),
            serve: &open,
        });
    }
    let outcome = match run.remote {
        Some(_) => counted(run, || child::run(&spec)),
        None => child::run(&spec),
    };
    let mut notes = network.map(RunNetwork::close).unwrap_or_default();
    notes.extend(bridge.into_iter().flat_map(SshBridge::close));
    let outcome = outcome.map_err(|error| not_started(&error))?;
    if access.is_stopped() {
        return Err(FetchError::Stopped);
    }
    match outcome.exit {
        Exit::Code(0) if !outcome.truncated => Ok(outcome.stdout),
        Exit::Code(0) | Exit::Flooded => Err(FetchError::TooMany {
            source_name: run.source_name.to_owned(),
            limit: run.limits.names,
            what: "files and folders",
        }),
        Exit::NotStarted(error) => Err(FetchError::NoGit(error.to_string())),
        exit => Err(failed(run, &exit, &outcome.stderr, notes)),
    }
}

/// Runs a fetch, and reports the size of the repository's packs while it runs.
fn counted<T>(run: &GitRun<'_>, work: impl FnOnce() -> T) -> T {
    let packs = run.repository.join("objects/pack");
    let size = move || -> u64 {
        let files = fs::read_dir(&packs).into_iter().flatten().flatten();
        let sizes = files.filter_map(|file| Some(file.metadata().ok()?.len()));
        sizes.sum()
    };
    // The sender is dropped at the end of the work, however it ends.
    let (working, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(GLANCE) {
                (run.progress)(size());
            }
            (run.progress)(size());
        });
        let _working = working;
        work()
    })
}

/// Git's message, in one line.
fn failed(run: &GitRun<'_>, exit: &Exit, stderr: &[u8], notes: Vec<String>) -> FetchError {
    let text = String::from_utf8_lossy(stderr);
    let told: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| {
            !line.is_empty() && !line.starts_with("hint:") && !line.starts_with("warning:")
        })
        .collect();
    let mut parts: Vec<String> = notes;
    parts.extend(told.iter().take(4).map(|line| visible(line).into_owned()));
    if let Exit::TimedOut | Exit::Signal(_) = exit {
        parts.insert(0, format!("git {exit}"));
    }
    if parts.is_empty() {
        parts.push(format!("it ended with {exit}"));
    }
    FetchError::Git {
        source_name: run.source_name.to_owned(),
        message: parts.join("; "),
    }
}

fn not_started(error: &ChildError) -> FetchError {
    FetchError::NoGit(error.to_string())
}

/// The complete settings of git's process.
struct GitInvocation {
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    profile: SandboxProfile,
    repository: File,
}

impl GitInvocation {
    fn new(access: &HostAccess, run: &GitRun<'_>) -> Result<Self, FetchError> {
        let settings = &access.settings;
        let repository =
            File::open(run.repository).map_err(|error| FetchError::disk(run.repository, error))?;
        let mut arguments: Vec<OsString> = Vec::new();
        for setting in SETTINGS {
            arguments.extend(["-c".into(), (*setting).into()]);
        }
        if let Some(remote) = run.remote {
            let url = format!("remote.origin.url={}", address(remote));
            arguments.extend(["-c".into(), url.into()]);
        }
        arguments.extend(run.arguments.iter().map(OsString::from));
        let folders: Vec<PathBuf> = std::env::split_paths(&settings.path).collect();
        let mut read = system_read(&folders, settings.home.as_deref());
        if let Some(GitRemote::Folder(folder)) = run.remote {
            read.push(folder.clone());
        }
        let is_elsewhere = |place: &PathBuf| !read.iter().any(|path| path.starts_with(place));
        let deny = machine_keys().into_iter().filter(is_elsewhere).collect();
        let mut programs = git_programs(&folders, HELPERS);
        // Git starts the other end of a local fetch with a shell.
        if let (Some(programs), Some(GitRemote::Folder(_))) = (&mut programs, run.remote) {
            programs.push("/bin/sh".into());
        }
        let network = match run.remote {
            Some(GitRemote::Web(_) | GitRemote::Ssh { .. }) => NetworkAccess::Proxy,
            _ => NetworkAccess::None,
        };
        let profile = SandboxProfile {
            read,
            write: vec![run.repository.to_owned()],
            deny,
            network,
            limits: SandboxLimits {
                memory: Some(MEMORY),
                address_space: None,
                file_size: Some(run.limits.repository),
                open_files: Some(1024),
                processes: Some(64),
                cpu_seconds: Some(run.limits.timeout.as_secs().max(1)),
            },
            programs,
            ..SandboxProfile::default()
        };
        Ok(Self {
            arguments,
            environment: environment(&settings.path, run),
            profile,
            repository,
        })
    }

    fn spec<'s>(&'s self, access: &'s HostAccess) -> ChildSpec<'s> {
        let fence = Confinement::Profile(&self.profile);
        let launcher = &access.settings.launcher;
        let mut spec = ChildSpec::new(launcher, "git", self.repository.as_fd(), fence);
        spec.args = &self.arguments;
        spec.env = &self.environment;
        spec
    }
}

/// The address that git gets for a remote.
fn address(remote: &GitRemote) -> String {
    match remote {
        GitRemote::Web(url) => url.to_string(),
        GitRemote::Folder(path) => format!("file://{}", path.display()),
        GitRemote::Ssh { .. } => format!("git://127.0.0.1:{PROXY_PORT}/repository"),
    }
}

fn environment(path: &OsString, run: &GitRun<'_>) -> Vec<(OsString, OsString)> {
    let protocol = match run.remote {
        Some(GitRemote::Web(url)) if url.scheme() == "http" => "http",
        Some(GitRemote::Web(_)) => "https",
        Some(GitRemote::Folder(_)) => "file",
        Some(GitRemote::Ssh { .. }) => "git",
        None => "none",
    };
    let repository = run.repository.as_os_str().to_owned();
    let mut variables: Vec<(OsString, OsString)> = vec![
        ("PATH".into(), path.clone()),
        ("HOME".into(), repository.clone()),
        ("GIT_DIR".into(), repository),
    ];
    for (name, value) in [
        ("GIT_ALLOW_PROTOCOL", protocol),
        ("GIT_ATTR_NOSYSTEM", "1"),
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_NO_REPLACE_OBJECTS", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("LC_ALL", "C"),
    ] {
        variables.push((name.into(), value.into()));
    }
    variables
}

/// The header of the user's git for a host; `None` if it has none.
fn credential(access: &HostAccess, run: &GitRun<'_>, url: &Url) -> Option<String> {
    let settings = &access.settings;
    let host = match url.port() {
        Some(port) => format!("{}:{port}", url.host_str()?),
        None => url.host_str()?.to_owned(),
    };
    let path = url.path().trim_start_matches('/');
    let input = format!("protocol={}\nhost={host}\npath={path}\n\n", url.scheme());
    // The top of the file system, so that no repository's configuration is found.
    let folder = File::open("/").ok()?;
    let mut environment: Vec<(OsString, OsString)> = settings
        .environment
        .iter()
        .filter(|(name, _)| {
            let name = name.to_string_lossy();
            !name.starts_with("GIT_") && name != "SSH_ASKPASS"
        })
        .cloned()
        .collect();
    environment.push(("GIT_TERMINAL_PROMPT".into(), "0".into()));
    let arguments = [
        "-c".into(),
        "core.askPass=".into(),
        "credential".into(),
        "fill".into(),
    ];
    let mut spec = ChildSpec::new(
        &settings.launcher,
        "git",
        folder.as_fd(),
        Confinement::Unsandboxed,
    );
    spec.args = &arguments;
    spec.env = &environment;
    spec.stdin = Stdin::Bytes(input.as_bytes());
    spec.timeout = run.limits.timeout.min(Duration::from_secs(60));
    spec.stop = settings.stop.as_deref();
    let outcome = child::run(&spec).ok()?;
    if outcome.exit != Exit::Code(0) {
        return None;
    }
    let answer = String::from_utf8(outcome.stdout).ok()?;
    let field = |name: &str| {
        let mut lines = answer.lines().filter_map(|line| line.split_once('='));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let (user, password) = (field("username")?, field("password")?);
    let encoded = STANDARD.encode(format!("{user}:{password}"));
    Some(format!("Authorization: Basic {encoded}"))
}

/// Adds the header to the configuration in quarantine, where only this user can read it: other users can see arguments.
fn add_private(config: &Path, header: &str) -> std::io::Result<()> {
    let before = fs::read_to_string(config)?;
    fs::remove_file(config)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(config)?;
    write!(
        file,
        "{before}[http]\n\tfollowRedirects = false\n\textraHeader = \"{header}\"\n"
    )
}

/// Starts git to read objects.
pub(super) fn objects(
    access: &HostAccess,
    run: &GitRun<'_>,
) -> Result<Box<dyn ObjectReader>, FetchError> {
    let invocation = GitInvocation::new(access, run)?;
    let mut spec = invocation.spec(access);
    spec.stdin = Stdin::Piped;
    let mut child = child::spawn(&spec).map_err(|error| not_started(&error))?;
    let Some(pipes) = child.pipes() else {
        return Err(FetchError::NoGit("it has no pipes".to_owned()));
    };
    Ok(Box::new(GitObjects {
        source_name: run.source_name.to_owned(),
        input: File::from(pipes.stdin),
        output: BufReader::new(File::from(pipes.stdout)),
        messages: File::from(pipes.stderr),
        _child: child,
    }))
}

/// `git cat-file --batch`: one request, one reply.
struct GitObjects {
    source_name: String,
    input: File,
    output: BufReader<File>,
    /// Stays open, so that a message does not end git.
    messages: File,
    /// Ends with this value.
    _child: Child,
}

impl GitObjects {
    /// Git closed its output: its message is complete.
    fn ended(&mut self) -> FetchError {
        let mut told = Vec::new();
        let _cut = (&mut self.messages).take(1024).read_to_end(&mut told);
        let told = String::from_utf8_lossy(&told);
        let told = visible(told.trim()).into_owned();
        self.failed(&format!("git exited while objects were being read: {told}"))
    }

    fn failed(&self, message: &str) -> FetchError {
        FetchError::Git {
            source_name: self.source_name.clone(),
            message: message.to_owned(),
        }
    }

    /// Requests an object; returns its size, from the first line of the reply.
    fn ask(&mut self, id: &str) -> Result<Option<u64>, FetchError> {
        let sent = self.input.write_all(format!("{id}\n").as_bytes());
        sent.map_err(|_| self.ended())?;
        let mut line = String::new();
        let read = (&mut self.output).take(256).read_line(&mut line);
        read.map_err(|_| self.ended())?;
        let mut words = line.trim_end().split(' ');
        match (words.next(), words.next(), words.next()) {
            (Some(found), Some("blob"), Some(size)) if found == id => size
                .parse()
                .map(Some)
                .map_err(|_| self.failed("a size is not a number")),
            (Some(_), Some("missing"), None) => Ok(None),
            (Some(""), None, None) => Err(self.ended()),
            _ => {
                let line = visible(line.trim_end());
                Err(self.failed(&format!("git answered `{line}` when an object was read")))
            }
        }
    }
}

impl ObjectReader for GitObjects {
    fn read(&mut self, id: &str) -> Result<Vec<u8>, FetchError> {
        let size = self.ask(id)?;
        let length = size.and_then(|size| usize::try_from(size).ok());
        let Some(length) = length else {
            return Err(self.failed(&format!("the object {id} was not fetched")));
        };
        let mut content = vec![0; length];
        let read = self.output.read_exact(&mut content);
        let mut end = [0; 1];
        let read = read.and_then(|()| self.output.read_exact(&mut end));
        read.map_err(|_| self.ended())?;
        Ok(content)
    }
}
