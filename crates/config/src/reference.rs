//! The reference page, generated from the table so that it can't be out of date.

use std::fmt::Write;

use crate::key::{ConfigKey, DefaultValue, ProjectAuthority, StricterValue, ValueKind};
use crate::{KEYS, OTHER_VARIABLES};

/// All keys as a Markdown page.
pub fn reference_markdown() -> String {
    let mut page = String::from(INTRODUCTION);
    let section =
        |key: &ConfigKey| heading(key.path.rsplit_once('.').map_or("", |(table, _)| table));
    let mut sections: Vec<&str> = Vec::new();
    for key in KEYS {
        if !sections.contains(&section(key)) {
            sections.push(section(key));
        }
    }
    for name in sections {
        write_to(&mut page, format_args!("\n## `{name}`\n"));
        let keys = KEYS.iter().filter(|key| section(key) == name);
        keys.for_each(|key| describe(&mut page, key));
    }
    let others = OTHER_VARIABLES
        .iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    write_to(
        &mut page,
        format_args!("\nOther variables that metier reads or sets: {others}.\n"),
    );
    page
}

const INTRODUCTION: &str = "# Configuration

A value comes from the last of these layers that sets it: the defaults below, your `config.toml`, the project's
`.metier/config.toml`, `METIER_…` variables, flags. `metier config` shows each value and its layer; `metier config KEY VALUE`
sets one and keeps your comments. A project's file arrives with a clone, so it can only tighten your settings.
";

fn heading(section: &str) -> &str {
    if section == "settings" {
        "settings"
    } else {
        section.trim_end_matches(".<variable>")
    }
}

fn describe(page: &mut String, key: &ConfigKey) {
    write_to(
        page,
        format_args!("\n### `{}`\n\n{}\n\n", key.path, key.doc),
    );
    write_to(page, format_args!("- type: {}\n", key.kind.describe()));
    write_to(page, format_args!("- default: {}\n", default(key)));
    if let Some(env) = key.env {
        write_to(page, format_args!("- variable: `{env}`\n"));
    }
    write_to(page, format_args!("- in a project: {}\n", in_project(key)));
}

fn default(key: &ConfigKey) -> String {
    match key.default {
        DefaultValue::Absent => "not set".to_owned(),
        DefaultValue::Bool(value) => format!("`{value}`"),
        DefaultValue::Int(value) => format!("`{value}`"),
        DefaultValue::Text(value) => format!("`\"{value}\"`"),
        DefaultValue::Empty => "`[]`".to_owned(),
    }
}

fn in_project(key: &ConfigKey) -> String {
    match key.project {
        ProjectAuthority::Never => "can't be set".to_owned(),
        ProjectAuthority::Tighten(StricterValue::Only(word)) if key.kind == ValueKind::Bool => {
            format!("only `{word}`")
        }
        ProjectAuthority::Tighten(StricterValue::Only(word)) => format!("only `\"{word}\"`"),
        ProjectAuthority::Tighten(StricterValue::Lower) => "can be lowered".to_owned(),
        ProjectAuthority::Tighten(StricterValue::LowerWhereZeroIsNoLimit) => {
            "can be lowered, not to 0".to_owned()
        }
        ProjectAuthority::Tighten(StricterValue::Intersect) => {
            "narrows the current list".to_owned()
        }
        ProjectAuthority::Tighten(StricterValue::IntersectPrefixes) => {
            "narrows the current list (`git log` is within `git`)".to_owned()
        }
    }
}

fn write_to(page: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = page.write_fmt(text);
}
