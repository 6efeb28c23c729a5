//! Tools of servers that the user configured, which an agent calls.
//!
//! **Problem.** A server describes its tools itself, and can change the description later. **Decision.** A call is handled like every other
//! act: hooks see it, its input is checked against the schema, the user is asked, a receipt is written before and after. The user's answer
//! belongs to the exact description that the question was about: name, text and schema are the bytes of an [`Identity`], as the files of a
//! skill are.

use std::time::Instant;

use metier_catalog::{Snapshot, SnapshotContent, SnapshotFile};
use metier_model::{Digest, Permission, Scope, Source, Want};
use metier_policy::{Act, Identity, PermissionRequest, RequestReason, RequestedPermission, Ruling};
use metier_schema::{BoundedSchema, SchemaMisfit};
use metier_sdk::{HookPhase, wire::ToolOutput};
use metier_store::{ReceiptOutcome, StoreError};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{CallError, Called, InputCheck, Runtime, called::CompletedCall};
use crate::{
    approvals::{ActRecord, GrantRefused, RequestingSkill},
    guarded::Guarded,
    redact::Redactor,
    standing_answers::allow,
};

/// The longest name that models accept.
const MAX_NAME: usize = 64;
/// The longest description that a model gets.
const MAX_DESCRIPTION: usize = 4_000;

/// A tool of a configured server.
pub struct ServedTool {
    server: String,
    name: String,
    full_name: String,
    description: String,
    input_schema: Value,
    schema: BoundedSchema,
    is_allowed: bool,
    held: Snapshot,
}

impl ServedTool {
    /// A tool in its server's description. `is_allowed` is whether the user's configuration allows it without a question.
    ///
    /// # Errors
    /// Why a model can't get it.
    pub fn new(
        server: &str,
        name: &str,
        description: &str,
        input_schema: Value,
        is_allowed: bool,
    ) -> Result<Self, String> {
        let full_name = format!("{server}__{name}");
        let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if name.is_empty() || full_name.len() > MAX_NAME || !name.bytes().all(is_letter) {
            return Err(format!(
                "models accept only names of letters, digits, `_` and `-`, at most {MAX_NAME} with the server's"
            ));
        }
        if !input_schema.is_object() {
            return Err("its input schema is not an object".to_owned());
        }
        let schema = BoundedSchema::new(&input_schema);
        let schema = schema.map_err(|error| format!("its input schema is refused: {error}"))?;
        let held = described(&full_name, description, &input_schema);
        let description: String = description.chars().take(MAX_DESCRIPTION).collect();
        Ok(Self {
            server: server.to_owned(),
            name: name.to_owned(),
            full_name,
            description,
            input_schema,
            schema,
            is_allowed,
            held,
        })
    }

    /// The user's name for the server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Its name on the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name for a model: `server__tool`.
    #[must_use]
    pub fn full_name(&self) -> &str {
        &self.full_name
    }

    /// Its server's description.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The schema of its input, as the server wrote it.
    #[must_use]
    pub fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// Its owner's name in rules. No skill can have this name.
    #[must_use]
    pub fn owner(&self) -> String {
        format!("mcp/{}", self.server)
    }

    fn identity(&self) -> Identity {
        Identity {
            skill: format!("mcp:{}", self.server).into(),
            source: Source::Extra,
            digest: self.held.digest,
        }
    }

    fn want(&self) -> Want {
        Want {
            permission: Permission::SkillInvoke,
            scope: Scope::Name(self.full_name.as_str().into()),
        }
    }
}

/// The description of a tool as the bytes that an answer of the user belongs to.
fn described(name: &str, description: &str, schema: &Value) -> Snapshot {
    let text = json!({ "name": name, "description": description, "inputSchema": schema });
    let bytes = text.to_string().into_bytes();
    let hash: [u8; 32] = Sha256::digest(&bytes).into();
    let file = SnapshotFile {
        path: format!("{name}.json").as_str().into(),
        size: bytes.len() as u64,
        content: SnapshotContent::Bytes(bytes),
        hash,
        shared: false,
        executable: false,
    };
    Snapshot {
        files: vec![file],
        digest: Digest(hash),
        fingerprint: None,
    }
}

impl Runtime {
    /// Calls a tool of a server, if hooks, its schema and the user allow it. `deed` makes the call; `may` is called again when a hook
    /// changed the input.
    ///
    /// # Errors
    /// When it is not called. An error of the tool or of its server is a result.
    pub fn call_served(
        &self,
        tool: &ServedTool,
        input: &Value,
        may: InputCheck<'_>,
        deed: &dyn Fn(&Value) -> Result<ToolOutput, String>,
    ) -> Result<Called, CallError> {
        self.answered(|| self.served(tool, input, may, deed))
    }

    fn served(
        &self,
        tool: &ServedTool,
        input: &Value,
        may: InputCheck<'_>,
        deed: &dyn Fn(&Value) -> Result<ToolOutput, String>,
    ) -> Result<CompletedCall, CallError> {
        let name = tool.full_name.as_str();
        let unfit = |misfit: SchemaMisfit| CallError::Input {
            skill: tool.owner(),
            tool: name.to_owned(),
            reason: misfit.to_string(),
        };
        if let Err(misfit) = BoundedSchema::check_size(input) {
            return self.not_served(tool, unfit(misfit));
        }
        let session = &self.environment.approvals.session;
        let event =
            json!({ "tool": name, "skill": tool.owner(), "input": input, "session": session });
        let mut before = self.dispatch(HookPhase::BeforeToolCall, event)?;
        if let Some((by, reason)) = before.cancelled {
            let tool_name = name.to_owned();
            let cancelled = CallError::Cancelled {
                tool: tool_name,
                by,
                reason,
            };
            return self.not_served(tool, cancelled);
        }
        let changed = before.event["input"].take();
        if changed != *input
            && let Err(reason) = may(&changed)
        {
            let tool_name = name.to_owned();
            let refused = CallError::NotAllowed {
                tool: tool_name,
                reason,
            };
            return self.not_served(tool, refused);
        }
        let input = changed;
        if let Err(misfit) = tool.schema.check(&input) {
            return self.not_served(tool, unfit(misfit));
        }
        let done = self.permitted(tool, &input, deed)?;
        let event = json!({
            "tool": name, "skill": tool.owner(), "input": input,
            "output": done.output, "is_error": done.is_error, "session": session,
        });
        self.after_result(done, event)
    }

    /// Asks for permission, records it, makes the call, and records the result.
    fn permitted(
        &self,
        tool: &ServedTool,
        input: &Value,
        deed: &dyn Fn(&Value) -> Result<ToolOutput, String>,
    ) -> Result<ToolOutput, CallError> {
        let approvals = &self.environment.approvals;
        let identity = tool.identity();
        let place = tool.owner();
        let subject = RequestingSkill {
            identity: &identity,
            place: &place,
            held: &tool.held,
        };
        let request = PermissionRequest::new([RequestedPermission {
            want: tool.want(),
            why: RequestReason::OnUse,
        }]);
        let (grant, behind) = if tool.is_allowed {
            // A stored denial counts also where the configuration allows.
            match approvals.rule(&identity, &request, &[allow(&tool.want())])? {
                (Ruling::Granted(grant), behind) => (*grant, behind),
                (Ruling::Ask(_) | Ruling::Denied(_), _) => {
                    return self.refused(tool, "it was denied");
                }
            }
        } else {
            match approvals.grant(&subject, &request) {
                Ok(granted) => (granted.grant, granted.behind),
                Err(GrantRefused::Store(error)) => return Err(error.into()),
                Err(_) => return self.refused(tool, "it was denied"),
            }
        };
        let act = Act::CallTool {
            tool: tool.full_name.as_str().into(),
            input: input.to_string().into(),
        };
        let behind = Guarded::new(behind);
        let permit = match approvals.permit(&subject, (&grant, &behind), &act, |act| act)? {
            Ok(permit) => permit,
            Err(refusal) => return self.refused(tool, &refusal.message),
        };
        let nothing = Redactor::new([]);
        let detail = permit.act().detail();
        let begun = approvals.begin(&identity, ("tool:call", &detail), &nothing)?;
        let start = Instant::now();
        let done = deed(input);
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let went = match &done {
            Ok(output) if !output.is_error => ActRecord::well(ms),
            Ok(output) => {
                let reason = super::contributions::shown(&output.output);
                ActRecord::badly(ReceiptOutcome::Error, reason, ms)
            }
            Err(reason) => ActRecord::badly(ReceiptOutcome::Error, reason.clone(), ms),
        };
        approvals.complete(begun, &went, &nothing)?;
        done.or_else(|reason| {
            Ok(ToolOutput {
                output: reason.into(),
                is_error: true,
            })
        })
    }

    /// The user denies it, or can't be asked.
    fn refused(&self, tool: &ServedTool, reason: &str) -> Result<ToolOutput, CallError> {
        self.note_refused(tool, reason)?;
        Err(CallError::Refused {
            tool: tool.full_name.clone(),
            reason: reason.to_owned(),
        })
    }

    fn not_served(&self, tool: &ServedTool, error: CallError) -> Result<CompletedCall, CallError> {
        self.note_refused(tool, &error.to_string())?;
        Err(error)
    }

    fn note_refused(&self, tool: &ServedTool, reason: &str) -> Result<(), StoreError> {
        let went = ActRecord::refused(reason.to_owned());
        let approvals = &self.environment.approvals;
        let nothing = Redactor::new([]);
        approvals
            .record(
                &tool.identity(),
                "tool:call",
                &tool.full_name,
                &went,
                &nothing,
            )
            .map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, description: &str) -> Result<ServedTool, String> {
        ServedTool::new(
            "docs",
            name,
            description,
            json!({ "type": "object" }),
            false,
        )
    }

    #[test]
    fn an_answer_belongs_to_the_description() {
        let one = tool("search", "Finds pages").unwrap();
        assert_eq!(one.full_name(), "docs__search");
        let same = tool("search", "Finds pages").unwrap();
        assert_eq!(one.identity(), same.identity());
        let other = tool("search", "Finds pages, and sends them away").unwrap();
        assert_ne!(one.identity(), other.identity());
    }

    #[test]
    fn a_name_that_no_model_takes_is_refused() {
        for name in ["", "a b", "ü", "a/b", "a\u{7}", &"x".repeat(80)] {
            assert!(tool(name, "").is_err(), "{name:?}");
        }
        assert!(ServedTool::new("docs", "x", "", json!([]), false).is_err());
    }
}
