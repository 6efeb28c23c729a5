//! `metier call`

use std::{io::Read, process::ExitCode, sync::Arc};

use metier_runtime::live::{CallError, Called};
use metier_wire::CallDocument;
use serde_json::Value;

use crate::{active, failure::Failure, session::Session};

/// How much is read from standard input.
const MAX_INPUT: u64 = 4 << 20;

/// Call a tool of a skill
///
/// The skill is activated, its tool called and the skill deactivated again. What the tool does needs the permissions that were
/// approved for the skill, and each act leaves a receipt (`metier log`). With --skills other skills are active too, and their
/// hooks see the call.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The skill
    name: String,
    /// One of its tools (`metier tools NAME`)
    tool: String,
    /// Its input as a JSON object; `-` reads it from standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    input: String,
}

pub(crate) fn run(session: &Session, args: &Args) -> Result<ExitCode, Failure> {
    let input = input(&args.input)?;
    let inventory = Arc::new(session.inventory()?);
    let skill = super::find_usable(session, &inventory, &args.name)?;
    let name = inventory.entry(skill).name().into_owned();
    let called = active::with(session, &inventory, &[&args.name], |runtime| {
        let called = runtime.call(&name, &args.tool, &input);
        told(session, called)
    })?;
    print(session, &called)
}

fn input(text: &str) -> Result<Value, Failure> {
    let wrong = |message: String| {
        Failure::broken("input", message).hint("an object, such as '{\"path\": \"README.md\"}'")
    };
    let text = match text {
        "-" => {
            let mut read = String::new();
            let stdin = std::io::stdin().lock();
            stdin.take(MAX_INPUT).read_to_string(&mut read)?;
            read
        }
        text => text.to_owned(),
    };
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("the input is not valid JSON: {error}")))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(wrong("the input of a tool is a JSON object".to_owned()))
    }
}

/// Prints what skills logged during a call, before they log about their end.
pub(super) fn told(
    session: &Session,
    called: Result<Called, CallError>,
) -> Result<Called, Failure> {
    let mut called = called.map_err(|error| active::failed(&error))?;
    active::tell(session, std::mem::take(&mut called.said));
    Ok(called)
}

/// What came of a tool or a workflow: a text as it is, anything else as JSON.
pub(super) fn print(session: &Session, called: &Called) -> Result<ExitCode, Failure> {
    let output = &session.output;
    if output.is_json() {
        output.document(&CallDocument::from(called))?;
    } else {
        match &called.output {
            Value::Null => {}
            Value::String(text) => {
                output.content(text)?;
                if !text.is_empty() && !text.ends_with('\n') {
                    output.content("\n")?;
                }
            }
            other => output.content(&format!("{other:#}\n"))?,
        }
    }
    Ok(ExitCode::from(u8::from(called.is_error)))
}
