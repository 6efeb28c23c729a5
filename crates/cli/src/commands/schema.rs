//! `metier schema`

use std::fmt::Write as _;

use metier_wire::{NamedSchema, SchemaRow, SchemasDocument, schemas};

use crate::{
    failure::{Exit, Failure},
    output::{Output, Tone, one_line},
};

/// Print a JSON Schema of a file or of a command's JSON
///
/// Without a name it lists all of them: files that you write, and the documents that commands print with `--json`.
#[derive(clap::Args)]
pub(crate) struct SchemaArgs {
    /// A file such as SKILL.yaml, or a command such as list
    name: Option<String>,
}

pub(crate) fn run(args: &SchemaArgs, output: &Output) -> Result<Exit, Failure> {
    match &args.name {
        Some(name) => print(name, output)?,
        None => list(output)?,
    }
    Ok(Exit::Ok)
}

fn print(name: &str, output: &Output) -> Result<(), Failure> {
    let same = |named: &&NamedSchema| named.name.eq_ignore_ascii_case(name);
    let Some(named) = schemas().find(same) else {
        let near = schemas().map(|named| (strsim::osa_distance(named.name, name), named.name));
        let near = near.min().filter(|(distance, _)| *distance <= 2);
        let message = format!("there is no schema `{}`", one_line(name));
        return Err(Failure::unmet("unknown-schema", message).hint(match near {
            Some((_, near)) => format!("did you mean `{near}`?"),
            None => "metier schema lists all of them".to_owned(),
        }));
    };
    let schema = named.schema();
    if output.is_json() {
        return output.document(&schema);
    }
    let text = serde_json::to_string_pretty(&schema);
    let text = text.map_err(|error| Failure::broken("schema", error.to_string()))?;
    output.text(&format!("{text}\n"))
}

fn list(output: &Output) -> Result<(), Failure> {
    if output.is_json() {
        let row = |named: &NamedSchema| SchemaRow {
            name: named.name,
            about: named.about,
        };
        return output.document(&SchemasDocument {
            schemas: schemas().map(row).collect(),
        });
    }
    let width = schemas().map(|named| named.name.len()).max().unwrap_or(0);
    let mut page = String::new();
    for named in schemas() {
        let name = format!("{:<width$}", named.name);
        // Writing to a string does not fail.
        let _written = writeln!(
            page,
            "{}  {}",
            output.paint(&name, Tone::Strong),
            named.about
        );
    }
    output.report(&page)
}
