//! `metier config`

use std::{fs, path::Path, process::ExitCode};

use metier_catalog::read_named;
use metier_config::{Value, edit};
use metier_model::text::shell_word;
use metier_wire::{ConfigDocument, ConfigValue};
use serde_json::json;

use crate::{
    failure::Failure,
    output::{Tone, one_line},
    session::Session,
};

/// The largest configuration that is changed, in bytes.
const MAX_CONFIG: u64 = 1 << 20;

/// Show or change the configuration
///
/// `metier config` shows everything, `metier config KEY` one value, `metier config KEY VALUE` writes it
/// to the user's file and keeps the comments there. Values come from defaults, then the user's file, then
/// the project's `.metier/config.toml` (which may only tighten), then METIER_… variables. `config get KEY`, `config set KEY VALUE` and
/// `config unset KEY` are other spellings; a section, such as `agent`, shows its keys.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A key, such as `skills.validation`, or a section, such as `agent`
    key: Option<String>,
    /// Its new value
    value: Option<String>,
    /// The value behind `set KEY`
    #[arg(hide = true)]
    behind_set: Option<String>,
    /// Remove the key from the user's file
    #[arg(long, requires = "key", conflicts_with = "value")]
    unset: bool,
    /// Print every key with what it does, as Markdown
    #[arg(long, conflicts_with_all = ["key", "value"])]
    reference: bool,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let (key, value, unsets) = wanted(args)?;
    match (key, value) {
        _ if args.reference => session
            .output
            .page("reference", metier_config::reference_markdown().as_bytes())?,
        (Some(key), Some(value)) => change(session, key, |text| edit::set(text, key, value))?,
        (Some(key), None) if unsets => change(session, key, |text| edit::unset(text, key))?,
        (Some(key), None) => show_one(session, key)?,
        (None, _) => show_all(session)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The key, its new value, and whether it is to be removed: `get`, `set`, `unset` and `list` are words that other programs have.
fn wanted(args: &Args) -> Result<(Option<&str>, Option<&str>, bool), Failure> {
    let words = [&args.key, &args.value, &args.behind_set].map(Option::as_deref);
    match words {
        [Some("list"), None, None] => Ok((None, None, false)),
        [Some("get"), key, None] => Ok((key, None, false)),
        [Some("unset"), Some(key), None] => Ok((Some(key), None, true)),
        [Some("set"), Some(key), Some(value)] => Ok((Some(key), Some(value), false)),
        [Some("set" | "unset"), ..] => {
            Err(Failure::broken("usage", "the key or its value is missing")
                .hint("metier config set KEY VALUE, or metier config unset KEY"))
        }
        [key, value, None] => Ok((key, value, args.unset)),
        [Some(key), Some(value), Some(more)] => {
            let all = format!("{value} {more}");
            Err(Failure::broken("usage", "a value is one word")
                .hint(format!("metier config {key} {}", shell_word(&all))))
        }
        [..] => Ok((None, None, false)),
    }
}

fn show_one(session: &Session, key: &str) -> Result<(), Failure> {
    let found = session.config.get(key);
    let below = format!("{key}.");
    let section = |value: &Value| value.key.starts_with(&below);
    if found.is_err() && session.config.values().iter().any(section) {
        return show(session, section);
    }
    let value = found.map_err(|unknown| {
        Failure::unmet(
            "unknown-key",
            format!("there is no key `{}`", one_line(&unknown.key)),
        )
        .hint(unknown.hint)
    })?;
    if session.output.is_json() {
        session.output.document(&row(value))?;
    } else {
        session.output.text(&format!(
            "{}\n",
            value.text.as_deref().unwrap_or("(not set)")
        ))?;
        let effect = without_effect(&value);
        session
            .output
            .note(&format!("from {}{effect}: {}", value.origin, value.doc));
    }
    Ok(())
}

fn show_all(session: &Session) -> Result<(), Failure> {
    show(session, |_| true)
}

/// The keys that are wanted, with their values.
fn show(session: &Session, is_wanted: impl Fn(&Value) -> bool) -> Result<(), Failure> {
    let mut values = session.config.values();
    values.retain(is_wanted);
    if session.output.is_json() {
        let problem = |problem: &metier_config::Problem| {
            json!({
                "severity": if problem.is_error() { "error" } else { "warning" }, "message": problem.message, "path": problem.path().map(Path::to_string_lossy),
                "line": problem.line, "column": problem.column, "hint": problem.hint,
            })
        };
        let values = values.into_iter().map(row).collect();
        session.output.document(&ConfigDocument {
            values,
            problems: session.problems.iter().map(problem).collect(),
        })?;
        return Ok(());
    }
    session.output.text(&table(&values, session))?;
    for problem in session.problems.iter() {
        let (word, tone) = if problem.is_error() {
            ("error:", Tone::Bad)
        } else {
            ("warning:", Tone::Warn)
        };
        session.output.say(&format!(
            "{} {problem}",
            session.output.paint_talk(word, tone)
        ));
        if let Some(hint) = &problem.hint {
            session.output.say(&format!(
                "{} {hint}",
                session.output.paint_talk("hint:", Tone::Note)
            ));
        }
    }
    Ok(())
}

fn table(values: &[Value], session: &Session) -> String {
    let width = values
        .iter()
        .map(|value| value.key.len())
        .max()
        .unwrap_or(0);
    values
        .iter()
        .map(|value| {
            let text = value.text.as_deref().unwrap_or("(not set)");
            let origin = session.output.paint(
                &format!("# {}{}", value.origin, without_effect(value)),
                Tone::Faint,
            );
            format!("{:width$} = {text}  {origin}\n", value.key)
        })
        .collect()
}

fn without_effect(value: &Value) -> &'static str {
    if value.has_effect {
        ""
    } else {
        ", without effect in this version"
    }
}

fn row(value: Value) -> ConfigValue {
    ConfigValue {
        key: value.key,
        value: value.text,
        origin: value.origin.to_string(),
        line: value.line,
        is_default: value.is_default,
        doc: value.doc,
        has_effect: value.has_effect,
    }
}

/// Edits the user's file: read, change, write beside it, put in its place.
fn change(
    session: &Session,
    key: &str,
    edit: impl Fn(&str) -> Result<edit::Edited, edit::EditError>,
) -> Result<(), Failure> {
    let file = session
        .machine
        .config_file
        .as_ref()
        .map(|file| session.machine.work.join(file));
    let file = file.ok_or_else(|| {
        Failure::broken(
            "config",
            "there is no home directory to keep a configuration in",
        )
        .hint("set METIER_HOME to a folder")
    })?;
    let text = match read_named(&file, MAX_CONFIG) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unwritable(&file, &error)),
    };
    let edited = edit(&text).map_err(|error| {
        Failure::unmet("config", error.to_string())
            .path(&file)
            .hint(error.hint())
    })?;
    write_whole(&file, &edited.text).map_err(|error| unwritable(&file, &error))?;
    if session.output.is_json() {
        session
            .output
            .document(&json!({ "key": key, "old": edited.old, "path": file.to_string_lossy() }))?;
    } else {
        session.output.note(&format!("wrote {}", file.display()));
        if let Some(old) = edited.old.filter(|old| !old.contains('…')) {
            session.output.note(&format!(
                "it was {old}; take it back with `metier config {key} {}`",
                shell_word(&old)
            ));
        }
    }
    Ok(())
}

fn unwritable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::broken(
        "config",
        format!("the configuration can't be written: {error}"),
    )
    .path(file)
    .hint("check the folder's permissions, or name another file with `--config`")
}

/// The configuration can hold keys: only its owner may read it.
fn write_whole(file: &Path, text: &str) -> std::io::Result<()> {
    use std::{io::Write, os::unix::fs::OpenOptionsExt};
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let file = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let temporary = file.with_extension(format!("toml.{}", std::process::id()));
    let mut out = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs::rename(&temporary, &file)
}
