//! What a command of Claude answers: an exit code, a text, or JSON.
//!
//! ```text
//! exit 2                        blocks the call or the message; standard error says why
//! exit 0, plain text            at SessionStart and UserPromptSubmit it is told to the model
//! exit 0, {"decision": "block"} and hookSpecificOutput{permissionDecision, updatedInput, additionalContext}
//! ```
//!
//! `allow` grants nothing: permission is asked for whatever is done. `ask` blocks, since at a hook nobody can be asked.

use metier_model::{HookPhase, hooks::CommandHook};
use serde_json::Value;

/// What came of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Judged {
    /// Another input for the tool.
    pub(super) input: Option<Value>,
    /// Why the call must not happen.
    pub(super) cancel: Option<String>,
    /// What the model is told.
    pub(super) told: Option<String>,
    /// What the user is told.
    pub(super) said: Vec<String>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Printed<'a> {
    /// Whether its exit code says no.
    pub(super) blocks: bool,
    pub(super) stdout: &'a str,
    pub(super) stderr: &'a str,
    /// Whether it printed more than is kept.
    pub(super) cut: bool,
}

/// Judges what a command printed.
pub(super) fn judged(hook: &CommandHook, printed: &Printed<'_>) -> Judged {
    let mut judged = Judged::default();
    let stdout = printed.stdout;
    if printed.blocks {
        let reason = Some(printed.stderr.trim()).filter(|reason| !reason.is_empty());
        judged.stop(hook, reason.unwrap_or("exit code 2"));
        return judged;
    }
    let parsed = serde_json::from_str::<Value>(stdout);
    match parsed.ok().filter(Value::is_object) {
        Some(answer) => judged.read(hook, &answer),
        // Its end is missing, and with it perhaps a no. How long it gets is often up to those whom it is to stop.
        None if printed.cut && stdout.trim_start().starts_with('{') => {
            judged.stop(hook, "its answer is more than is read");
        }
        None => judged.told = text(Some(stdout)),
    }
    judged
}

impl Judged {
    /// Stops a call, or the turn of a message. Any other event goes on, and the reason is reported to the user.
    fn stop(&mut self, hook: &CommandHook, reason: &str) {
        match hook.phase {
            HookPhase::BeforeToolCall | HookPhase::BeforePromptBuild => {
                self.cancel = Some(reason.to_owned());
            }
            _ => self
                .said
                .push(format!("its hook for {}: {reason}", hook.event)),
        }
    }

    fn read(&mut self, hook: &CommandHook, answer: &Value) {
        let own = &answer["hookSpecificOutput"];
        self.said.extend(text(answer["systemMessage"].as_str()));
        let reason = |value: &Value, otherwise: &str| {
            text(value.as_str()).unwrap_or_else(|| otherwise.to_owned())
        };
        if answer["continue"] == false {
            self.stop(hook, &reason(&answer["stopReason"], "it is not to go on"));
        }
        if answer["decision"] == "block" {
            self.stop(hook, &reason(&answer["reason"], "it is blocked"));
        }
        let why = &own["permissionDecisionReason"];
        match own["permissionDecision"].as_str() {
            Some("deny") => self.stop(hook, &reason(why, "it is denied")),
            Some("ask") => {
                let why = reason(why, "no reason was given");
                self.stop(hook, &format!("somebody must be asked first: {why}"));
            }
            _ => {}
        }
        let input = &own["updatedInput"];
        if hook.phase == HookPhase::BeforeToolCall && input.is_object() {
            self.input = Some(input.clone());
        }
        match (hook.phase, text(own["additionalContext"].as_str())) {
            (HookPhase::ConversationStart | HookPhase::BeforePromptBuild, context) => {
                self.told = context;
            }
            (_, Some(context)) => self.said.push(context),
            (_, None) => {}
        }
    }
}

fn text(text: Option<&str>) -> Option<String> {
    let text = text?.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_model::hooks::Matcher;

    fn hook(event: &'static str, phase: HookPhase) -> CommandHook {
        CommandHook {
            event,
            phase,
            matcher: Matcher::All,
            command: "true".into(),
            timeout: None,
            once: false,
            file: "SKILL.md".into(),
            line: 1,
        }
    }

    fn before(stdout: &str) -> Judged {
        printed(&hook("PreToolUse", HookPhase::BeforeToolCall), stdout)
    }

    /// What came of a command that printed this and ended well.
    fn printed(hook: &CommandHook, stdout: &str) -> Judged {
        let printed = Printed {
            stdout,
            ..Printed::default()
        };
        judged(hook, &printed)
    }

    /// What came of a command that ended with exit code 2.
    fn blocked(hook: &CommandHook, stderr: &str) -> Judged {
        let printed = Printed {
            blocks: true,
            stdout: "{}",
            stderr,
            cut: false,
        };
        judged(hook, &printed)
    }

    #[test]
    fn exit_code_two_blocks_a_call_and_is_told_elsewhere() {
        let pre = hook("PreToolUse", HookPhase::BeforeToolCall);
        assert_eq!(blocked(&pre, "no\n").cancel.as_deref(), Some("no"));
        assert_eq!(blocked(&pre, "").cancel.as_deref(), Some("exit code 2"));
        let stop = blocked(&hook("Stop", HookPhase::AfterResponse), "go on");
        assert_eq!(stop.cancel, None);
        assert_eq!(stop.said, ["its hook for Stop: go on"]);
    }

    #[test]
    fn every_way_to_say_no_is_a_no() {
        for (answer, reason) in [
            (r#"{"decision": "block", "reason": "r"}"#, "r"),
            (r#"{"decision": "block"}"#, "it is blocked"),
            (r#"{"continue": false, "stopReason": "r"}"#, "r"),
            (
                r#"{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "r"}}"#,
                "r",
            ),
            (
                r#"{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "r"}}"#,
                "somebody must be asked first: r",
            ),
        ] {
            assert_eq!(before(answer).cancel.as_deref(), Some(reason), "{answer}");
        }
    }

    #[test]
    fn half_an_answer_is_a_no() {
        let pre = hook("PreToolUse", HookPhase::BeforeToolCall);
        let cut = |stdout| {
            let printed = Printed {
                stdout,
                cut: true,
                ..Printed::default()
            };
            judged(&pre, &printed).cancel
        };
        assert!(cut("{\"decision\": \"blo").is_some());
        assert_eq!(cut("{}"), None);
        assert_eq!(cut("a long story"), None);
    }

    #[test]
    fn to_allow_is_to_say_nothing() {
        for answer in [
            r#"{"hookSpecificOutput": {"permissionDecision": "allow"}}"#,
            r#"{"decision": "approve"}"#,
            r#"{"continue": true}"#,
            "{}",
        ] {
            assert_eq!(before(answer), Judged::default(), "{answer}");
        }
    }

    #[test]
    fn an_input_is_changed_before_a_call_only() {
        let answer = r#"{"hookSpecificOutput": {"updatedInput": {"a": 1}}}"#;
        assert_eq!(before(answer).input, Some(serde_json::json!({"a": 1})));
        let after = hook("PostToolUse", HookPhase::AfterToolResult);
        assert_eq!(printed(&after, answer).input, None);
        let odd = r#"{"hookSpecificOutput": {"updatedInput": "rm"}}"#;
        assert_eq!(before(odd).input, None);
    }

    #[test]
    fn what_is_printed_plainly_is_told() {
        let start = hook("SessionStart", HookPhase::ConversationStart);
        let told = |stdout: &str| printed(&start, stdout).told;
        assert_eq!(told("Be kind.\n").as_deref(), Some("Be kind."));
        assert_eq!(told("  \n"), None);
        assert_eq!(
            told(r#"{"hookSpecificOutput": {"additionalContext": "x"}}"#).as_deref(),
            Some("x")
        );
        assert_eq!(told("[1]").as_deref(), Some("[1]"));
        let said =
            before(r#"{"systemMessage": "s", "hookSpecificOutput": {"additionalContext": "c"}}"#);
        assert_eq!(said.said, ["s", "c"]);
    }
}
