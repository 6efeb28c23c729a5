//! Conversion between wire types and JSON. A failure is a violation of the protocol.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::SkillProcessError;

/// Reads parameters or an answer.
///
/// # Errors
/// The JSON does not match the type.
pub fn read<T: DeserializeOwned>(value: Value) -> Result<T, SkillProcessError> {
    serde_json::from_value(value).map_err(|error| SkillProcessError::Protocol(error.to_string()))
}

/// Writes parameters or an answer.
///
/// # Errors
/// The value can't be represented in JSON.
pub fn write(value: &impl Serialize) -> Result<Value, SkillProcessError> {
    serde_json::to_value(value).map_err(|error| SkillProcessError::Protocol(error.to_string()))
}
