//! `metier call`

use std::io::Read;

use metier::{Called, SessionOptions};
use metier_wire::CallDocument;
use serde_json::Value;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
};

/// How much is read from standard input.
const MAX_INPUT: u64 = 4 << 20;

/// Call a tool of a skill
///
/// Activates the skill, calls its tool and deactivates the skill again. The tool's acts need the permissions that were
/// approved for the skill, and each act leaves a receipt (`metier log`). With --skills, other skills are active too, and their
/// hooks see the call.
#[derive(clap::Args)]
pub(crate) struct CallArgs {
    /// The skill
    name: String,
    /// One of its tools (`metier tools NAME`)
    tool: String,
    /// Its input as a JSON object; `-` reads it from standard input
    #[arg(value_name = "JSON", default_value = "{}")]
    input: String,
}

pub(crate) fn run(run: &CliRun, args: &CallArgs) -> Result<Exit, Failure> {
    let input = input(&args.input)?;
    let skills = run.skills()?;
    run.find(&skills, &args.name)?;
    let mut live = run.session(&skills, SessionOptions::default())?;
    for name in run.global.skills.iter().chain([&args.name]) {
        live.activate(name)?;
    }
    let called = live.call_tool(&args.name, &args.tool, &input)?;
    live.end()?;
    print(run, &called)
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
        Err(wrong(
            "the input of a tool must be a JSON object".to_owned(),
        ))
    }
}

/// Prints the output of a tool or a workflow: text as it is, anything else as JSON.
pub(super) fn print(run: &CliRun, called: &Called) -> Result<Exit, Failure> {
    let output = &run.output;
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
    Ok(Exit::unmet_if(called.is_error))
}
