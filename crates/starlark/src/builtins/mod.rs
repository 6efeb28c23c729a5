//! The built-ins of the SDK, which every skill has besides the language.
//!
//! Each function takes its arguments as values and checks them itself, so that an error names the function and what it
//! expects: `read_file: path must be a string, got int`, not which type of the interpreter did
//! not match.

mod data;
mod git;
mod host;
mod patterns;
mod register;

use std::sync::OnceLock;

use metier_sdk::worker::Unanswered;
use starlark::environment::{Globals, GlobalsBuilder, LibraryExtension};
use starlark::values::Value;
use starlark::values::dict::DictRef;

use crate::json::{JsonError, cut};

pub(crate) use register::handler_name;

/// Names of the language and of the SDK. They contain nothing of a skill, so they are built once.
pub(crate) fn globals() -> &'static Globals {
    static GLOBALS: OnceLock<Globals> = OnceLock::new();
    GLOBALS.get_or_init(|| {
        language()
            .with(register::functions)
            .with(host::functions)
            .with(git::functions)
            .with(data::functions)
            .with(patterns::functions)
            .build()
    })
}

/// The language without the SDK.
fn language() -> GlobalsBuilder {
    GlobalsBuilder::extended_by(&[LibraryExtension::StructType, LibraryExtension::SetType])
}

/// An error of a built-in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Complaint {
    /// An argument has the wrong type.
    #[error("{function}: {argument} must be {wanted}, got {got}")]
    Argument {
        function: &'static str,
        argument: &'static str,
        wanted: &'static str,
        got: String,
    },
    /// An argument has no JSON form.
    #[error("{function}: {source}")]
    Json {
        function: &'static str,
        source: JsonError,
    },
    /// The host refused.
    #[error("{function}: refused: {reason}")]
    Refused {
        function: &'static str,
        reason: String,
    },
    /// The host failed.
    #[error("{function}: {reason}")]
    Failed {
        function: &'static str,
        reason: String,
    },
}

impl From<Complaint> for starlark::Error {
    fn from(complaint: Complaint) -> Self {
        Self::new_native(complaint)
    }
}

impl Complaint {
    /// It failed, for this reason.
    fn failed(function: &'static str, reason: impl Into<String>) -> Self {
        Self::Failed {
            function,
            reason: reason.into(),
        }
    }

    fn argument(
        function: &'static str,
        argument: &'static str,
        wanted: &'static str,
        got: Value<'_>,
    ) -> Self {
        Self::Argument {
            function,
            argument,
            wanted,
            got: got.get_type().to_owned(),
        }
    }

    /// The error for an error of the host.
    fn unanswered(function: &'static str, why: Unanswered) -> Self {
        match why {
            Unanswered::Refused(error) => Self::Refused {
                function,
                reason: error.message,
            },
            Unanswered::Failed(error) => Self::Failed {
                function,
                reason: error.message,
            },
            Unanswered::Ended(reason) => Self::failed(function, reason),
        }
    }
}

/// An argument that must be a string.
fn text<'v>(
    function: &'static str,
    argument: &'static str,
    value: Value<'v>,
) -> Result<&'v str, Complaint> {
    value
        .unpack_str()
        .ok_or_else(|| Complaint::argument(function, argument, "a string", value))
}

/// An argument that must be a string or `None`.
fn optional_text(
    function: &'static str,
    argument: &'static str,
    value: Option<Value<'_>>,
) -> Result<Option<String>, Complaint> {
    match value {
        Some(value) if !value.is_none() => value
            .unpack_str()
            .map(|text| Some(text.to_owned()))
            .ok_or_else(|| Complaint::argument(function, argument, "a string or None", value)),
        _ => Ok(None),
    }
}

/// An argument that must be a boolean.
fn flag(
    function: &'static str,
    argument: &'static str,
    value: Option<Value<'_>>,
) -> Result<bool, Complaint> {
    value.map_or(Ok(false), |value| {
        value
            .unpack_bool()
            .ok_or_else(|| Complaint::argument(function, argument, "True or False", value))
    })
}

/// An argument that must be a dict of strings.
fn texts(
    function: &'static str,
    argument: &'static str,
    value: Option<Value<'_>>,
) -> Result<std::collections::BTreeMap<String, String>, Complaint> {
    let Some(value) = value.filter(|value| !value.is_none()) else {
        return Ok(std::collections::BTreeMap::new());
    };
    let wrong = || Complaint::argument(function, argument, "a dict of strings", value);
    let dict = DictRef::from_value(value).ok_or_else(wrong)?;
    dict.iter()
        .map(
            |(key, value)| match (key.unpack_str(), value.unpack_str()) {
                (Some(key), Some(value)) => Ok((key.to_owned(), value.to_owned())),
                _ => Err(Complaint::Argument {
                    function,
                    argument,
                    wanted: "a dict of strings",
                    got: format!("{} for key {}", value.get_type(), cut(&key.to_repr(), 60)),
                }),
            },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_table_names_every_built_in_and_nothing_else() {
        let language = language().build();
        let plain: BTreeSet<&str> = language.names().map(|name| name.as_str()).collect();
        let ours: BTreeSet<&str> = globals()
            .names()
            .map(|name| name.as_str())
            .filter(|name| !plain.contains(name))
            .collect();
        let mut table: BTreeSet<&str> = crate::reference()
            .iter()
            .map(|builtin| builtin.name)
            .collect();
        // The only value that differs between skills.
        assert!(table.remove("skill"));
        assert_eq!(ours, table);
    }
}
