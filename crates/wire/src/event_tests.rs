//! The line of every event, letter for letter: clients rely on them.

use super::*;

fn check(event: AgentEvent, line: &str) {
    let told = ReportedEvent {
        session: "a1".into(),
        depth: 1,
        event,
    };
    let expected = format!(r#"{{"session":"a1","depth":1,{line}}}"#);
    assert_eq!(event_document(&told).to_string(), expected);
}

fn text(text: &str) -> String {
    text.to_owned()
}

#[test]
fn a_session_and_the_text_of_the_model() {
    check(
        AgentEvent::SessionStarted {
            model: text("anthropic/m"),
            resumed: true,
        },
        r#""type":"session_started","model":"anthropic/m","resumed":true"#,
    );
    check(
        AgentEvent::Tools {
            tools: vec![text("read")],
        },
        r#""type":"tools","tools":["read"]"#,
    );
    check(
        AgentEvent::Text { text: text("a\"b") },
        r#""type":"text","text":"a\"b""#,
    );
    check(
        AgentEvent::Thinking { text: text("hm") },
        r#""type":"thinking","text":"hm""#,
    );
    check(
        AgentEvent::Retry {
            seconds: 1.5,
            attempt: 2,
            of: 4,
            reason: text("r"),
        },
        r#""type":"retry","seconds":1.5,"attempt":2,"of":4,"reason":"r""#,
    );
    check(
        AgentEvent::Note { text: text("n") },
        r#""type":"note","text":"n""#,
    );
}

#[test]
fn skills() {
    for (by, word) in [
        (ActivatedBy::User, "user"),
        (ActivatedBy::Model, "model"),
        (ActivatedBy::Plan, "plan"),
        (ActivatedBy::Trigger, "trigger"),
    ] {
        check(
            AgentEvent::SkillActivated {
                skill: text("s"),
                by,
                why: text("w"),
                already: false,
            },
            &format!(
                r#""type":"skill_activated","skill":"s","by":"{word}","why":"w","already":false"#
            ),
        );
    }
    check(
        AgentEvent::SkillUnloaded { skill: text("s") },
        r#""type":"skill_unloaded","skill":"s""#,
    );
    check(
        AgentEvent::WorkflowOffered {
            skill: text("s"),
            why: text("w"),
        },
        r#""type":"workflow_offered","skill":"s","why":"w""#,
    );
    check(
        AgentEvent::Compacted {
            before: 9,
            after: 4,
            skills: vec![KeptSkill {
                skill: text("s"),
                cut: true,
            }],
        },
        r#""type":"compacted","before":9,"after":4,"skills":[{"skill":"s","cut":true}]"#,
    );
}

#[test]
fn calls_of_tools() {
    check(
        AgentEvent::ToolCall {
            id: text("1"),
            tool: text("read"),
            input: json!({"z": 1, "a": null}),
        },
        r#""type":"tool_call","id":"1","tool":"read","input":{"z":1,"a":null}"#,
    );
    check(
        AgentEvent::ToolResult {
            id: text("1"),
            tool: text("read"),
            output: text("o"),
            is_error: true,
            ms: 7,
        },
        r#""type":"tool_result","id":"1","tool":"read","output":"o","is_error":true,"ms":7"#,
    );
    check(
        AgentEvent::ToolRefused {
            id: text("1"),
            tool: text("read"),
            reason: text("r"),
        },
        r#""type":"tool_refused","id":"1","tool":"read","reason":"r""#,
    );
}

#[test]
fn sub_agents() {
    for (kind, word) in [(SubagentKind::Spawn, "spawn"), (SubagentKind::Fork, "fork")] {
        check(
            AgentEvent::SubagentStarted {
                kind,
                task: text("t"),
                skills: vec![text("s")],
            },
            &format!(r#""type":"subagent_started","kind":"{word}","task":"t","skills":["s"]"#),
        );
    }
    check(
        AgentEvent::SubagentRejected {
            errors: vec![text("e")],
        },
        r#""type":"subagent_rejected","errors":["e"]"#,
    );
}

#[test]
fn the_end_of_a_turn_has_only_the_fields_that_are_known() {
    let ended = |cost| AgentEvent::TurnEnded {
        text: text("t"),
        requests: 2,
        input_tokens: 3,
        output_tokens: 4,
        cost,
    };
    let line = r#""type":"turn_ended","text":"t","requests":2,"input_tokens":3,"output_tokens":4"#;
    check(ended(None), line);
    check(ended(Some(text("$1"))), &format!(r#"{line},"cost":"$1""#));
    let failed = |hint| AgentEvent::TurnFailed {
        code: text("c"),
        message: text("m"),
        hint,
    };
    let line = r#""type":"turn_failed","code":"c","message":"m""#;
    check(failed(None), line);
    check(failed(Some(text("h"))), &format!(r#"{line},"hint":"h""#));
}
