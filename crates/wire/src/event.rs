//! `--format jsonl`: events of sessions with a model, one document per line.

use metier_agent::{ActivatedBy, AgentEvent, KeptSkill, ReportedEvent, SubagentKind};
use serde_json::{Value, json};

/// The document of one event: `session`, `depth`, `type`, and the fields of that type.
#[must_use]
pub fn event_document(told: &ReportedEvent) -> Value {
    let mut document = json!({"session": told.session, "depth": told.depth});
    if let (Value::Object(all), Value::Object(mut own)) = (&mut document, fields(&told.event)) {
        all.append(&mut own);
    }
    document
}

/// The type of an event and its fields, in the order of `docs/agent.md`.
fn fields(event: &AgentEvent) -> Value {
    match event {
        AgentEvent::SessionStarted { model, resumed } => {
            json!({"type": "session_started", "model": model, "resumed": resumed})
        }
        AgentEvent::Tools { tools } => json!({"type": "tools", "tools": tools}),
        AgentEvent::SkillActivated {
            skill,
            by,
            why,
            already,
        } => {
            let by = activated_by(*by);
            json!({"type": "skill_activated", "skill": skill, "by": by, "why": why, "already": already})
        }
        AgentEvent::SkillUnloaded { skill } => json!({"type": "skill_unloaded", "skill": skill}),
        AgentEvent::WorkflowOffered { skill, why } => {
            json!({"type": "workflow_offered", "skill": skill, "why": why})
        }
        AgentEvent::Text { text } => json!({"type": "text", "text": text}),
        AgentEvent::Thinking { text } => json!({"type": "thinking", "text": text}),
        AgentEvent::Retry {
            seconds,
            attempt,
            of,
            reason,
        } => {
            json!({"type": "retry", "seconds": seconds, "attempt": attempt, "of": of, "reason": reason})
        }
        AgentEvent::ToolCall { id, tool, input } => {
            json!({"type": "tool_call", "id": id, "tool": tool, "input": input})
        }
        AgentEvent::ToolResult {
            id,
            tool,
            output,
            is_error,
            ms,
        } => {
            json!({"type": "tool_result", "id": id, "tool": tool, "output": output, "is_error": is_error, "ms": ms})
        }
        AgentEvent::ToolRefused { id, tool, reason } => {
            json!({"type": "tool_refused", "id": id, "tool": tool, "reason": reason})
        }
        AgentEvent::SubagentStarted { kind, task, skills } => {
            let kind = subagent_kind(*kind);
            json!({"type": "subagent_started", "kind": kind, "task": task, "skills": skills})
        }
        AgentEvent::SubagentRejected { errors } => {
            json!({"type": "subagent_rejected", "errors": errors})
        }
        AgentEvent::Compacted {
            before,
            after,
            skills,
        } => {
            let skills: Vec<Value> = skills.iter().map(kept_skill).collect();
            json!({"type": "compacted", "before": before, "after": after, "skills": skills})
        }
        AgentEvent::Note { text } => json!({"type": "note", "text": text}),
        AgentEvent::TurnEnded {
            text,
            requests,
            input_tokens,
            output_tokens,
            cost,
        } => {
            let document = json!({"type": "turn_ended", "text": text, "requests": requests, "input_tokens": input_tokens, "output_tokens": output_tokens});
            with(document, "cost", cost.as_deref())
        }
        AgentEvent::TurnFailed {
            code,
            message,
            hint,
        } => {
            let document = json!({"type": "turn_failed", "code": code, "message": message});
            with(document, "hint", hint.as_deref())
        }
    }
}

fn kept_skill(kept: &KeptSkill) -> Value {
    json!({"skill": kept.skill, "cut": kept.cut})
}

const fn activated_by(by: ActivatedBy) -> &'static str {
    match by {
        ActivatedBy::User => "user",
        ActivatedBy::Model => "model",
        ActivatedBy::Plan => "plan",
        ActivatedBy::Trigger => "trigger",
    }
}

const fn subagent_kind(kind: SubagentKind) -> &'static str {
    match kind {
        SubagentKind::Spawn => "spawn",
        SubagentKind::Fork => "fork",
    }
}

/// A document with one more field, if there is a value.
fn with(mut document: Value, field: &str, value: Option<&str>) -> Value {
    if let (Value::Object(fields), Some(value)) = (&mut document, value) {
        fields.insert(field.to_owned(), value.into());
    }
    document
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
