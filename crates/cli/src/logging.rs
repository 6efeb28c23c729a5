//! The log: what the libraries report while they work, on stderr, when `METIER_LOG` asks for it.
//!
//! It shows what happened inside a run. What users must see is output, what skills did is a receipt.

use std::{env, io};

use tracing_subscriber::{
    Layer as _, filter::Targets, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _,
};

use crate::output::Output;

/// Which lines: a level, or levels for parts of the program (`warn,metier::skills=debug`).
const FILTER: &str = "METIER_LOG";
/// `json` for one object a line.
const FORMAT: &str = "METIER_LOG_FORMAT";

/// Starts the log if it is asked for. A value that can't be read is reported, and nothing is logged.
pub(crate) fn start(output: &Output) {
    if let Some(written) = asked() {
        begin(output, &written);
    }
}

/// Starts the log with this filter, if no other one was asked for.
pub(crate) fn start_with(output: &Output, filter: &str) {
    if asked().is_none() {
        begin(output, filter);
    }
}

/// The filter that was asked for.
fn asked() -> Option<String> {
    let written = env::var_os(FILTER).filter(|written| !written.is_empty())?;
    Some(written.to_string_lossy().into_owned())
}

fn begin(output: &Output, written: &str) {
    let Ok(filter) = written.parse::<Targets>() else {
        output.warn(&format!(
            "{FILTER} is `{written}`, which is not a log filter: nothing is logged; write {FILTER}=info, or \
             {FILTER}=warn,metier::skills=debug"
        ));
        return;
    };
    let lines = fmt::layer().with_writer(io::stderr);
    let lines = match env::var_os(FORMAT) {
        Some(format) if format == "json" => lines.json().flatten_event(true).boxed(),
        _ => lines.with_ansi(false).boxed(),
    };
    // Only the first logger of a process is used, and this is the only place that installs one.
    let _ = tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .try_init();
}
