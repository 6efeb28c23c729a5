//! A server's message, from bytes.

use rmcp::model::ServerJsonRpcMessage;
use serde_json::Value;

/// The methods of the Skills extension answer with one of these fields.
const SKILL_FIELDS: [&str; 2] = ["skills", "skill"];

/// Parses one message.
///
/// The library distinguishes results by their fields, and treats one with `_meta` and no known field as the result of a tool: the
/// list of skills would be lost. So `_meta` of an answer of the Skills extension, which nothing reads, is removed first.
pub(crate) fn decode(bytes: &[u8]) -> Result<ServerJsonRpcMessage, serde_json::Error> {
    let mut message: Value = serde_json::from_slice(bytes)?;
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut)
        && SKILL_FIELDS.iter().any(|field| result.contains_key(*field))
    {
        result.remove("_meta");
    }
    serde_json::from_value(message)
}

#[cfg(test)]
mod tests {
    use rmcp::model::{JsonRpcMessage, ServerResult};

    use super::*;

    #[test]
    fn a_list_of_skills_stays_whole_whatever_is_beside_it() {
        for beside in [
            "",
            r#","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","version":"1"}}"#,
        ] {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":4,"result":{{"resultType":"complete","skills":[{{"uri":"skill://a/SKILL.md"}}],"ttlMs":0,"cacheScope":"private"{beside}}}}}"#
            );
            let JsonRpcMessage::Response(response) = decode(text.as_bytes()).unwrap() else {
                panic!("{text}");
            };
            let ServerResult::CustomResult(custom) = response.result else {
                panic!("{:?}", response.result);
            };
            assert_eq!(custom.0["skills"][0]["uri"], "skill://a/SKILL.md");
        }
    }
}
