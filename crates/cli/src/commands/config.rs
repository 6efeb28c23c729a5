//! `metier config`

use std::path::Path;

use metier::{
    configuration::{ConfigChange, ConfigLine, ConfigProblem, reference_markdown},
    text::shell_word,
};
use metier_wire::{ConfigChangeDocument, ConfigDocument, ConfigValue};
use serde_json::json;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::Tone,
};

/// Show or change the configuration
///
/// `metier config` shows everything, `metier config KEY` one value, `metier config KEY VALUE` writes it
/// to the user's file and keeps the comments there. Values are taken from defaults, then the user's file, then
/// the project's `.metier/config.toml` (which can only make them stricter), then METIER_… variables. `config get KEY`, `config set KEY VALUE` and
/// `config unset KEY` do the same; a section, such as `agent`, shows its keys.
#[derive(clap::Args)]
pub(crate) struct ConfigArgs {
    /// A key, such as `skills.validation`, or a section, such as `agent`
    key: Option<String>,
    /// Its new value
    value: Option<String>,
    /// The value after `set KEY`
    #[arg(hide = true)]
    behind_set: Option<String>,
    /// Remove the key from the user's file
    #[arg(long, requires = "key", conflicts_with = "value")]
    unset: bool,
    /// Print every key and what it does, as Markdown
    #[arg(long, conflicts_with_all = ["key", "value"])]
    reference: bool,
}

pub(crate) fn run(run: &CliRun, args: &ConfigArgs) -> Result<Exit, Failure> {
    let (key, value, unsets) = wanted(args)?;
    match (key, value) {
        _ if args.reference => run
            .output
            .page("reference", reference_markdown().as_bytes())?,
        (Some(key), Some(value)) => changed(run, key, &run.set_config(key, value)?)?,
        (Some(key), None) if unsets => changed(run, key, &run.unset_config(key)?)?,
        (Some(key), None) => show_one(run, key)?,
        (None, _) => show_all(run)?,
    }
    Ok(Exit::Ok)
}

/// The key, its new value, and whether it is to be removed. Other programs spell that `get`, `set`, `unset` and `list`, so these words work too.
fn wanted(args: &ConfigArgs) -> Result<(Option<&str>, Option<&str>, bool), Failure> {
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
            Err(Failure::broken("usage", "a value must be one argument")
                .hint(format!("metier config {key} {}", shell_word(&all))))
        }
        [..] => Ok((None, None, false)),
    }
}

fn show_one(run: &CliRun, key: &str) -> Result<(), Failure> {
    let found = run.config_value(key);
    let below = format!("{key}.");
    let section = |value: &ConfigLine| value.key.starts_with(&below);
    if found.is_err() && run.config_values().iter().any(section) {
        return show(run, section);
    }
    let value = found?;
    if run.output.is_json() {
        run.output.document(&row(value))?;
    } else {
        run.output.text(&format!(
            "{}\n",
            value.text.as_deref().unwrap_or("(not set)")
        ))?;
        run.output
            .note(&format!("from {}: {}", value.origin, value.doc));
    }
    Ok(())
}

fn show_all(run: &CliRun) -> Result<(), Failure> {
    show(run, |_| true)
}

/// The requested keys, with their values.
fn show(run: &CliRun, is_wanted: impl Fn(&ConfigLine) -> bool) -> Result<(), Failure> {
    let mut values = run.config_values();
    values.retain(is_wanted);
    if run.output.is_json() {
        let problem = |problem: &ConfigProblem| {
            json!({
                "severity": if problem.is_error() { "error" } else { "warning" }, "message": problem.message, "path": problem.path().map(Path::to_string_lossy),
                "line": problem.line, "column": problem.column, "hint": problem.hint,
            })
        };
        let values = values.into_iter().map(row).collect();
        run.output.document(&ConfigDocument {
            values,
            problems: run.config_problems().iter().map(problem).collect(),
        })?;
        return Ok(());
    }
    run.output.text(&table(&values, run))?;
    for problem in run.config_problems().iter() {
        let (word, tone) = if problem.is_error() {
            ("error:", Tone::Bad)
        } else {
            ("warning:", Tone::Warn)
        };
        run.output
            .say(&format!("{} {problem}", run.output.paint_talk(word, tone)));
        if let Some(hint) = &problem.hint {
            run.output.say(&format!(
                "{} {hint}",
                run.output.paint_talk("hint:", Tone::Note)
            ));
        }
    }
    Ok(())
}

fn table(values: &[ConfigLine], run: &CliRun) -> String {
    let width = values
        .iter()
        .map(|value| value.key.len())
        .max()
        .unwrap_or(0);
    values
        .iter()
        .map(|value| {
            let text = value.text.as_deref().unwrap_or("(not set)");
            let origin = run
                .output
                .paint(&format!("# {}", value.origin), Tone::Faint);
            format!("{:width$} = {text}  {origin}\n", value.key)
        })
        .collect()
}

fn row(value: ConfigLine) -> ConfigValue {
    ConfigValue {
        key: value.key,
        value: value.text,
        origin: value.origin.to_string(),
        line: value.line,
        is_default: value.is_default,
        doc: value.doc,
    }
}

fn changed(run: &CliRun, key: &str, change: &ConfigChange) -> Result<(), Failure> {
    let (output, file) = (&run.output, &change.file);
    if output.is_json() {
        output.document(&ConfigChangeDocument {
            key: key.to_owned(),
            old: change.old.clone(),
            path: file.to_string_lossy().into_owned(),
        })?;
        return Ok(());
    }
    output.note(&format!("wrote {}", file.display()));
    if let Some(old) = change.old.as_ref().filter(|old| !old.contains('…')) {
        output.note(&format!(
            "it was {old}; undo with `metier config {key} {}`",
            shell_word(old)
        ));
    }
    Ok(())
}
