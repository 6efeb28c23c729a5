//! Carriers: three ways to pass a request of the wire protocol to a module and to get its answer.

pub(crate) mod command;
pub(crate) mod component;
pub(crate) mod line;
pub(crate) mod reactor;
pub(crate) mod stdio;

use std::time::{Duration, Instant};

use metier_sdk::wire::{
    MAX_FRAME, RpcError, code,
    envelope::{Message, TooLong},
};
use serde_json::Value;

use crate::{
    error::{WasmCallError, shown},
    limits::WasmLimits,
    meter::MemoryLimit,
};

/// One request, and the limits of its call.
pub(crate) struct CarrierRequest<'a> {
    /// The parameters of `initialize`.
    pub(crate) about: &'a Value,
    pub(crate) method: &'a str,
    pub(crate) params: &'a Value,
    pub(crate) limits: WasmLimits,
    pub(crate) until: Instant,
}

impl CarrierRequest<'_> {
    /// The error for an engine's error in this request.
    pub(crate) fn trouble(
        &self,
        error: &wasmtime::Error,
        refused_by: Option<MemoryLimit>,
    ) -> WasmCallError {
        WasmCallError::of(error, &self.limits, refused_by)
    }
}

/// An instant in the future; at most a year if the clock can't represent it.
pub(crate) fn far(after: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(after)
        .unwrap_or(now + Duration::from_secs(365 * 24 * 3600))
}

/// A value as JSON for the guest, if it is not too long.
pub(crate) fn encode(value: &Value) -> Result<String, WasmCallError> {
    let text = value.to_string();
    if text.len() > MAX_FRAME {
        return Err(WasmCallError::Answered(too_long("the request", text.len())));
    }
    Ok(text)
}

pub(crate) fn too_long(what: &str, size: usize) -> RpcError {
    TooLong(size).error(code::PARAMS, what)
}

/// The answer in these bytes: `{"result": …}` or `{"error": …}`.
pub(crate) fn decode(bytes: &[u8]) -> Result<Value, WasmCallError> {
    match Message::parse_answer(bytes) {
        Ok(answer) => answer.map_err(WasmCallError::Answered),
        Err(malformed) => Err(malformed_answer(&malformed.why)),
    }
}

pub(crate) fn malformed_answer(why: &str) -> WasmCallError {
    WasmCallError::Protocol(format!("sent a malformed answer: {}", shown(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_result_or_an_error() {
        assert_eq!(decode(br#"{"result":null}"#).unwrap(), Value::Null);
        let error = decode(br#"{"error":{"code":-32602,"message":"no"}}"#);
        assert!(matches!(error, Err(WasmCallError::Answered(error)) if error.code == -32602));
        let text = decode(br#"{"error":"no"}"#);
        assert!(matches!(text, Err(WasmCallError::Answered(error)) if error.message == "no"));
        for wrong in [&b"{}"[..], b"", b"1", b"[]", b"\xff"] {
            assert!(matches!(decode(wrong), Err(WasmCallError::Protocol(_))));
        }
    }
}
