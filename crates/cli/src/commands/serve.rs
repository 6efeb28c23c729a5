//! `metier serve`

use std::{
    io::{self, Read as _},
    net::SocketAddr,
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::Arc,
    thread,
};

use metier::{Headless, Logged, Machine, Settings};
use metier_server::{DaemonOptions, DaemonStarted, rotate_token, serve_daemon};
use serde_json::json;

use crate::{
    cli::Global,
    cli_run::settings,
    failure::{Exit, Failure, end},
    logging,
    output::Output,
};

/// The default of `METIER_LOG`.
const LOG: &str = "warn,metier_server=info";

/// Enough for thousands of idle WebSockets, and fewer than the files that a user may open on a usual system.
pub(super) const MAX_CONNECTIONS: usize = 8_192;

/// Serve the skills to programs and pages: HTTP, WebSocket and MCP
///
/// The daemon answers on this machine only: HTTP below /api/v1 (/api/v1/openapi.json describes it), a WebSocket at /ws,
/// /healthz and /metrics. Changes to skills are noticed immediately and reported to every subscriber. Programs send the token, which is in
/// the file `token` of the data folder: `Authorization: Bearer TOKEN`. A browser opens the link that is printed; it works once.
///
/// There is one daemon for each data folder. Ctrl-C or SIGTERM stops it, and everything that it started. Other machines reach it
/// only with --tls-cert and --tls-key, under the names of --host. `dist/` has units for systemd, with socket activation.
#[derive(clap::Args)]
pub(crate) struct ServeArgs {
    /// The address to listen on; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7717")]
    listen: SocketAddr,
    /// An additional host name for the daemon
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// The certificate chain for TLS, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Maximum number of connections; further ones are closed immediately
    #[arg(long, value_name = "N", default_value_t = MAX_CONNECTIONS)]
    max_connections: usize,
    /// Create a new token and exit; a running daemon uses it immediately and signs all browsers out
    #[arg(long)]
    rotate_token: bool,
}

pub(crate) fn run(
    global: &Global,
    machine: &Machine,
    output: &Output,
    args: &ServeArgs,
) -> Result<Exit, Failure> {
    let settings = unattended_settings(global, machine);
    if args.rotate_token {
        let file = rotate_token(&settings)?;
        match output.is_json() {
            true => output.document(&json!({ "token_file": file }))?,
            false => output.report(&format!("the new token is in {}\n", file.display()))?,
        }
        return Ok(Exit::Ok);
    }
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let options = DaemonOptions {
        listen: args.listen,
        hosts: args.host.clone(),
        tls,
        passed_sockets: passed_sockets(),
        max_connections: args.max_connections,
    };
    until_asked_to_end(output, settings, &options, |started| tell(output, started))
}

/// The settings of a program without a terminal.
pub(super) fn unattended_settings(global: &Global, machine: &Machine) -> Settings {
    let unattended = Arc::new(Output::unattended(global));
    Settings {
        approver: Arc::new(Headless),
        notices: Arc::new(Logged),
        ..settings(global, machine, &unattended)
    }
}

/// Serves until Ctrl-C or SIGTERM. `tell` is called once it listens.
pub(super) fn until_asked_to_end(
    output: &Output,
    settings: Settings,
    options: &DaemonOptions,
    tell: impl FnOnce(&DaemonStarted) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    logging::start_with(output, LOG);
    let wait = asked_to_end().map_err(|error| {
        Failure::broken(
            "signals",
            format!("the program can't listen for signals: {error}"),
        )
    })?;
    let mut told = Ok(());
    let served = serve_daemon(settings, options, |started| told = tell(started), wait);
    served?;
    told?;
    Ok(Exit::Ok)
}

/// Prints the address, the link and the file with the token.
fn tell(output: &Output, started: &DaemonStarted) -> Result<(), Failure> {
    let DaemonStarted {
        url,
        link,
        token_file,
    } = started;
    if output.is_json() {
        output.document(&json!({ "url": url, "link": link, "token_file": token_file }))?;
        return Ok(());
    }
    let token_file = token_file.display();
    output.report(&format!(
        "listening on {url}\n  for a browser, once:  {link}\n  for programs:         the token in {token_file}\n"
    ))?;
    Ok(())
}

/// The number of sockets that the service manager passed to this very process.
fn passed_sockets() -> u32 {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    match number("LISTEN_PID") == Some(std::process::id()) {
        true => number("LISTEN_FDS").unwrap_or(0),
        false => 0,
    }
}

/// Waits for the first SIGTERM or SIGINT. A second one kills the program, as it would without a handler.
fn asked_to_end() -> io::Result<impl FnOnce() + Send + 'static> {
    let (mut read, write) = UnixStream::pair()?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::low_level::pipe::register(signal, write.try_clone()?)?;
    }
    Ok(move || {
        // Reading fails only if there is nothing to wait for any more.
        read.read_exact(&mut [0]).ok();
        thread::spawn(move || {
            read.read_exact(&mut [0]).ok();
            end(Exit::Interrupted);
        });
    })
}
