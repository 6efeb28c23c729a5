//! The daemon: the skills of this machine over HTTP and WebSocket, for pages and programs, with live updates.
//!
//! **Problem.** A program that listens is asked by everyone who can reach it: programs of the user, and pages in the user's browser that are
//! someone else's. It runs for weeks, so nothing in it grows, and one client can't keep others waiting. **Decision.** Every connection, message, queue
//! and wait has a limit. A request passes one gate ([`access`]), a handler parses it, and one method of the library does the work on one
//! of a bounded number of threads. The list of skills is kept as long as nothing changes ([`metier::LiveSkills`]), and its pages as bytes.
//!
//! | file | what it is |
//! |---|---|
//! | `listen` | connections: limits, TLS, sockets of the service manager, the gate |
//! | `access`, `instance` | tokens, cookies, `Host` and `Origin`; one daemon for each data folder |
//! | `routes` | every address, and the description of them |
//! | `skills`, `decisions`, `accounts`, `conversations`, `execute`, `installing` | what the addresses do; the page itself is `crate::page` |
//! | `plans` | plans to install and update, until they are decided about |
//! | `socket`, `events`, `event_log` | WebSocket and server-sent events |

pub(crate) mod access;
mod accounts;
mod answer;
mod conversations;
mod decisions;
mod event_log;
mod events;
mod execute;
mod installing;
mod instance;
mod listen;
mod metrics;
mod plans;
mod routes;
mod skills;
mod socket;
mod state;

use std::{
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, SystemTime},
};

use metier::{Error, Settings, Workspace};
use tokio::sync::{oneshot, watch};

use access::Access;
use instance::{DaemonToken, InstanceLock};
use listen::{BoundListener, Gate};
use state::DaemonState;

/// How long a running daemon may take to make a link.
const LINK_TIME: Duration = Duration::from_secs(10);

/// How long the end waits for connections and work.
const GRACE: Duration = Duration::from_secs(5);

/// How the daemon is started.
pub struct DaemonOptions {
    /// The address to listen on. Only loopback addresses work without [`DaemonOptions::tls`].
    pub listen: SocketAddr,
    /// Further names under which clients reach it.
    pub hosts: Vec<String>,
    /// The certificate chain and its key, as PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// The number of sockets that the service manager passed, beginning with handle 3.
    pub passed_sockets: u32,
    /// Connections at a time, WebSockets included. A further one is closed immediately.
    pub max_connections: usize,
}

/// The facts that are known once the daemon listens.
pub struct DaemonStarted {
    /// Its address, as `http://127.0.0.1:7717`.
    pub url: String,
    /// A link for a browser: it works once, for ten minutes.
    pub link: String,
    /// The file with the token.
    pub token_file: PathBuf,
}

/// Makes another token for the daemon of a data folder, and returns its file. A running daemon uses it immediately.
///
/// # Errors
/// When there is no data folder, or when it can't be written.
pub fn rotate_token(settings: &Settings) -> Result<PathBuf, Error> {
    let file = token_file(settings)?;
    instance::replace(&file)?;
    Ok(file)
}

/// A link for a browser to the daemon of a data folder that runs already; none if there is no such daemon.
///
/// # Errors
/// When the token can't be read, or when the daemon does not answer as one.
pub fn link_to_running(settings: &Settings) -> Result<Option<String>, Error> {
    let lock = settings.machine.daemon_lock().ok_or_else(no_folder)?;
    let Some(address) = instance::running_address(&lock) else {
        return Ok(None);
    };
    let token = instance::read(&token_file(settings)?)?;
    let refused = |why: String| {
        let message = format!("could not get a link from the daemon at {address}: {why}");
        Error::unmet("no-link", message).hint("restart it: `metier serve` prints a link")
    };
    let mut answer = ureq::post(format!("{address}/api/v1/links"))
        .config()
        .timeout_global(Some(LINK_TIME))
        .build()
        .header("Authorization", format!("Bearer {token}"))
        .send_empty()
        .map_err(|error| refused(error.to_string()))?;
    let text = answer.body_mut().read_to_string();
    let text = text.map_err(|error| refused(error.to_string()))?;
    let link = serde_json::from_str::<serde_json::Value>(&text).ok();
    let path = link.as_ref().and_then(|link| link["path"].as_str());
    match path.filter(|path| path.starts_with("/login?code=")) {
        Some(path) => Ok(Some(format!("{address}{path}"))),
        None => Err(refused("its response contains no link".to_owned())),
    }
}

fn token_file(settings: &Settings) -> Result<PathBuf, Error> {
    settings.machine.daemon_token().ok_or_else(no_folder)
}

fn no_folder() -> Error {
    Error::broken("store", "there is no data folder for the daemon's token")
        .hint("set METIER_HOME to a folder")
}

/// Serves until `wait_for_end` returns, on a separate thread. `started` is called once, when connections are accepted.
///
/// # Errors
/// When another daemon has the data folder, when the address can't be used, or when the token or the certificate can't be read.
pub fn serve_daemon(
    settings: Settings,
    options: &DaemonOptions,
    started: impl FnOnce(&DaemonStarted),
    wait_for_end: impl FnOnce() + Send + 'static,
) -> Result<(), Error> {
    let lock = settings.machine.daemon_lock().ok_or_else(no_folder)?;
    let mut lock = InstanceLock::take(&lock)?;
    let token = DaemonToken::open(&token_file(&settings)?)?;
    listen::raise_file_limit();
    let listener = BoundListener::open(options)?;
    let (url, address) = (listener.url(), listener.address());
    // Leftovers of killed runs are restored first: after that, runs of this program are in progress.
    let workspace = Workspace::open(settings)?;
    let live = workspace.live()?;
    let access = Access::new(token, address, &options.hosts);
    let (end, ending) = watch::channel(false);
    let now = metier::text::timestamp(SystemTime::now());
    let state = Arc::new(DaemonState::new(live, access, now, ending));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(state::max_threads())
        .thread_name("metier-serve")
        .build()?;
    lock.note(&url)?;
    started(&DaemonStarted {
        link: format!("{url}/login?code={}", state.access.link()?),
        token_file: state.access.token_file().to_owned(),
        url: url.clone(),
    });
    tracing::info!(%url, "listening");
    let served = runtime.block_on(async {
        let changes = Arc::clone(&state);
        let reporting = thread::Builder::new().name("metier-changes".to_owned());
        reporting.spawn(move || events::report_changes(&changes))?;
        tokio::spawn(events::report_receipts(Arc::clone(&state)));
        let (asked, is_asked) = oneshot::channel();
        let waiting = thread::Builder::new().name("metier-signals".to_owned());
        waiting.spawn(move || {
            wait_for_end();
            // The daemon may have ended for another reason.
            asked.send(()).ok();
        })?;
        let shutdown = async {
            is_asked.await.ok();
        };
        listen::serve(listener, Gate::new(&state), shutdown, end).await;
        Ok(())
    });
    state.questions.close();
    state.conversations.end_all();
    state.live.save_verdicts();
    runtime.shutdown_timeout(GRACE);
    tracing::info!("ended");
    drop(lock);
    served
}
