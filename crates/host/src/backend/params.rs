//! What crosses a session, between the types of the wire and JSON. A session that can't be understood broke the protocol.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::SessionError;

/// What parameters or an answer mean.
///
/// # Errors
/// When they are not what they should be.
pub fn read<T: DeserializeOwned>(value: Value) -> Result<T, SessionError> {
    serde_json::from_value(value).map_err(|error| SessionError::Protocol(error.to_string()))
}

/// Parameters or an answer, to be sent.
///
/// # Errors
/// When there is no JSON for them.
pub fn write(value: &impl Serialize) -> Result<Value, SessionError> {
    serde_json::to_value(value).map_err(|error| SessionError::Protocol(error.to_string()))
}
