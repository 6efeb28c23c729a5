//! `metier ui`

use std::{
    fs::{self, OpenOptions},
    io::Write as _,
    net::SocketAddr,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use metier::Machine;
use metier_server::{DaemonOptions, link_to_running};
use serde_json::json;

use crate::{
    cli::Global,
    commands::serve::{MAX_CONNECTIONS, unattended_settings, until_asked_to_end},
    failure::{Exit, Failure},
    output::Output,
};

/// Open the web page in a browser
///
/// The page shows the skills of this machine, what is wrong with them and why, pending questions, what skills did, and
/// conversations with an agent. It is part of the daemon: this command uses the one that runs, or becomes one until Ctrl-C.
///
/// The link works once, for ten minutes. The browser then has a cookie for twelve hours.
#[derive(clap::Args)]
pub(crate) struct UiArgs {
    /// Only print the link
    #[arg(long)]
    no_open: bool,
    /// The address to listen on, if no daemon runs; port 0 chooses a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7717")]
    listen: SocketAddr,
}

pub(crate) fn run(
    global: &Global,
    machine: &Machine,
    output: &Output,
    args: &UiArgs,
) -> Result<Exit, Failure> {
    let settings = unattended_settings(global, machine);
    let beside = machine
        .daemon_token()
        .and_then(|token| Some(token.parent()?.join("open.html")));
    let tell = |link: &str, is_ours: bool| -> Result<(), Failure> {
        let is_opened = !args.no_open && beside.as_deref().is_some_and(|file| open(link, file));
        if output.is_json() {
            output.document(&json!({ "link": link, "opened": is_opened }))?;
            return Ok(());
        }
        let did = if is_opened {
            "opened in the browser; it works once:"
        } else {
            "open this in a browser; it works once:"
        };
        let then = if is_ours {
            "\nCtrl-C ends the daemon\n"
        } else {
            ""
        };
        output.report(&format!("{did}\n  {link}\n{then}"))?;
        Ok(())
    };
    if let Some(link) = link_to_running(&settings)? {
        tell(&link, false)?;
        return Ok(Exit::Ok);
    }
    let options = DaemonOptions {
        listen: args.listen,
        hosts: Vec::new(),
        tls: None,
        passed_sockets: 0,
        max_connections: MAX_CONNECTIONS,
    };
    until_asked_to_end(output, settings, &options, |started| {
        tell(&started.link, true)
    })
}

/// Lets the desktop open the link. The arguments of a program can be read by other users, so it opens a file that only this user can read.
fn open(link: &str, file: &Path) -> bool {
    let Some(opener) = opener() else {
        return false;
    };
    let page = format!(
        "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url={link}\"><title>metier</title>\n"
    );
    let aside = file.with_extension("html.new");
    // A file that another run left may have wider permissions, so it is not reused.
    fs::remove_file(&aside).ok();
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600);
    let written = options.open(&aside).and_then(|mut new| {
        new.write_all(page.as_bytes())?;
        fs::rename(&aside, file)
    });
    let mut command = Command::new(opener);
    command
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    written.is_ok() && command.spawn().is_ok()
}

/// The program that opens files, if there is a desktop.
fn opener() -> Option<PathBuf> {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let name = match cfg!(target_os = "macos") {
        true => "open",
        false if has("DISPLAY") || has("WAYLAND_DISPLAY") => "xdg-open",
        false => return None,
    };
    let path = std::env::var_os("PATH")?;
    let mut files = std::env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}
