//! The output of a Claude command: an exit code, text, or JSON.
//!
//! ```text
//! exit 2                        blocks the call or the message; standard error is the reason
//! exit 0, plain text            at SessionStart and UserPromptSubmit it is given to the model
//! exit 0, {"decision": "block"} and hookSpecificOutput{permissionDecision, updatedInput, additionalContext}
//! ```
//!
//! `allow` grants nothing: permission is still requested for every act. `ask` blocks, because no one can be asked during a hook.
//!
//! A verdict that can't be parsed is not an approval. Output that starts like JSON or names a verdict, and can't be parsed, blocks
//! where a verdict could have blocked; plain text is context and never a verdict.

use metier_model::{HookPhase, hooks::CommandHook};
use serde_json::Value;

/// The result of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Judged {
    /// Another input for the tool.
    pub(super) input: Option<Value>,
    /// Why the call must not happen.
    pub(super) cancel: Option<String>,
    /// The text for the model.
    pub(super) told: Option<String>,
    /// The text for the user.
    pub(super) said: Vec<String>,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Printed<'a> {
    /// Whether its exit code denies.
    pub(super) blocks: bool,
    pub(super) stdout: &'a str,
    pub(super) stderr: &'a str,
    /// Whether it printed more than is kept.
    pub(super) cut: bool,
}

/// Judges the output of a command.
pub(super) fn judged(hook: &CommandHook, printed: &Printed<'_>) -> Judged {
    let mut judged = Judged::default();
    let stdout = printed.stdout;
    if printed.blocks {
        let reason = Some(printed.stderr.trim()).filter(|reason| !reason.is_empty());
        judged.stop(hook, reason.unwrap_or("exit code 2"));
        return judged;
    }
    let answer = stdout.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    match serde_json::from_str::<Value>(answer) {
        Ok(answer) if answer.is_object() => judged.read(hook, &answer),
        // Its end is missing, and may contain a denial. The length of the output is often determined by the calls that the command should
        // stop.
        Err(_) if printed.cut && answer.starts_with('{') => {
            judged.stop(hook, "its output exceeds the limit");
        }
        Err(error) if answer.starts_with('{') => {
            judged.stop(hook, &format!("its output is not valid JSON: {error}"));
        }
        _ if names_a_verdict(answer) => {
            judged.stop(
                hook,
                "its output contains a verdict between other text; print only the JSON",
            );
        }
        _ => judged.told = text(Some(answer)),
    }
    judged
}

/// Whether text that is not a verdict contains the words of a denial.
fn names_a_verdict(text: &str) -> bool {
    let has = |word: &str| text.contains(word);
    has("\"permissionDecision\"")
        || (has("\"decision\"") && has("\"block\""))
        || (has("\"continue\"") && has("false"))
}

impl Judged {
    /// Stops a call, the turn of a message, or the end of a turn. Any other event continues, and the reason is reported to the
    /// user.
    fn stop(&mut self, hook: &CommandHook, reason: &str) {
        match hook.phase {
            HookPhase::BeforeToolCall | HookPhase::BeforePromptBuild | HookPhase::AfterResponse => {
                self.cancel = Some(reason.to_owned());
            }
            _ => self
                .said
                .push(format!("its hook for {}: {reason}", hook.event)),
        }
    }

    /// The agent must stop: a call and a message are stopped, and a turn that ends is not continued.
    fn end(&mut self, hook: &CommandHook, reason: &str) {
        match hook.phase {
            HookPhase::AfterResponse => self
                .said
                .push(format!("its hook for {}: {reason}", hook.event)),
            _ => self.stop(hook, reason),
        }
    }

    fn read(&mut self, hook: &CommandHook, answer: &Value) {
        let own = &answer["hookSpecificOutput"];
        self.said.extend(text(answer["systemMessage"].as_str()));
        let reason = |value: &Value, otherwise: &str| {
            text(value.as_str()).unwrap_or_else(|| otherwise.to_owned())
        };
        match &answer["continue"] {
            Value::Null | Value::Bool(true) => {}
            Value::Bool(false) => {
                self.end(hook, &reason(&answer["stopReason"], "it must not continue"));
            }
            other => self.stop(hook, &unknown("continue", other)),
        }
        match &answer["decision"] {
            Value::Null => {}
            Value::String(word) if ["allow", "approve"].contains(&&**word) => {}
            Value::String(word) if word == "block" => {
                self.stop(hook, &reason(&answer["reason"], "it is blocked"));
            }
            other => self.stop(hook, &unknown("decision", other)),
        }
        let why = &own["permissionDecisionReason"];
        match &own["permissionDecision"] {
            Value::Null => {}
            Value::String(word) if word == "allow" => {}
            Value::String(word) if word == "deny" => self.stop(hook, &reason(why, "it is denied")),
            Value::String(word) if word == "ask" => {
                let why = reason(why, "no reason was given");
                self.stop(hook, &format!("the user must be asked first: {why}"));
            }
            other => self.stop(hook, &unknown("permissionDecision", other)),
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

/// Why an answer with an unknown value denies.
fn unknown(field: &str, value: &Value) -> String {
    let mut shown: String = value.to_string().chars().take(40).collect();
    if shown.len() < value.to_string().len() {
        shown.push('…');
    }
    format!("its `{field}` is {shown}, which is not understood")
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

    /// The result of a command with this output and exit code 0.
    fn printed(hook: &CommandHook, stdout: &str) -> Judged {
        let printed = Printed {
            stdout,
            ..Printed::default()
        };
        judged(hook, &printed)
    }

    /// The result of a command that exited with code 2.
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
    fn exit_code_two_blocks_a_call_and_is_only_reported_elsewhere() {
        let pre = hook("PreToolUse", HookPhase::BeforeToolCall);
        assert_eq!(blocked(&pre, "no\n").cancel.as_deref(), Some("no"));
        assert_eq!(blocked(&pre, "").cancel.as_deref(), Some("exit code 2"));
        let stop = blocked(&hook("Stop", HookPhase::AfterResponse), "go on");
        assert_eq!(stop.cancel.as_deref(), Some("go on"));
        let after = blocked(&hook("PostToolUse", HookPhase::AfterToolResult), "odd");
        assert_eq!(after.cancel, None);
        assert_eq!(after.said, ["its hook for PostToolUse: odd"]);
    }

    #[test]
    fn to_stop_at_the_end_is_to_end() {
        let stop = hook("Stop", HookPhase::AfterResponse);
        let ends = printed(&stop, r#"{"continue": false, "stopReason": "done"}"#);
        assert_eq!(
            (ends.cancel, ends.said),
            (None, vec!["its hook for Stop: done".to_owned()])
        );
        let continues = printed(&stop, r#"{"decision": "block", "reason": "run the tests"}"#);
        assert_eq!(continues.cancel.as_deref(), Some("run the tests"));
    }

    // case 184
    #[test]
    fn a_verdict_that_cannot_be_read_is_a_no() {
        let deep = format!(
            "{{\"decision\": \"block\", \"x\": {}1{}}}",
            "[".repeat(200),
            "]".repeat(200)
        );
        for answer in [
            &*deep,
            "{\"decision\": \"block\"",
            "{\"decision\": \"block\"} and more",
            "{}{\"decision\": \"block\"}",
            "debug: checked\n{\"decision\": \"block\", \"reason\": \"r\"}",
            "[{\"decision\": \"block\"}]",
            "\u{feff}{'decision': 'block'}",
            "{\"decision\": \"deny\"}",
            "{\"decision\": true}",
            "{\"continue\": \"false\"}",
            "{\"hookSpecificOutput\": {\"permissionDecision\": \"Deny\"}}",
            "{\"hookSpecificOutput\": {\"permissionDecision\": [\"deny\"]}}",
            "note\n{\"hookSpecificOutput\": {\"permissionDecision\": \"deny\"}}",
        ] {
            assert!(before(answer).cancel.is_some(), "{answer}");
            let prompt = hook("UserPromptSubmit", HookPhase::BeforePromptBuild);
            assert!(printed(&prompt, answer).cancel.is_some(), "{answer}");
        }
        let marked = "\u{feff} {\"decision\": \"block\", \"reason\": \"r\"}\n";
        assert_eq!(before(marked).cancel.as_deref(), Some("r"));
        for plain in [
            "all is well",
            "",
            "[1]",
            "a { b",
            "the decision is to block it",
        ] {
            assert_eq!(before(plain).cancel, None, "{plain}");
        }
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
                "the user must be asked first: r",
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
    fn plain_output_is_logged() {
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
