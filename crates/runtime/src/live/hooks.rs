//! The parts of an event that a hook may change, phase by phase.
//!
//! A hook answers with a whole event, and it runs in a skill. So only the one field that the phase lets it change
//! counts; and where a phase only lets it add, the existing values stay in place.

use metier_model::Source;
use metier_sdk::HookPhase;
use serde_json::Value;

/// The effects that a phase allows a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum May {
    /// The hook changes nothing.
    Look,
    /// Give these fields other values.
    Change(&'static [&'static str]),
    /// Append to this list.
    Add(&'static str),
}

const fn may(phase: HookPhase) -> May {
    match phase {
        HookPhase::Activate | HookPhase::Deactivate | HookPhase::ConversationStart => May::Look,
        HookPhase::BeforePromptBuild => May::Add("fragments"),
        HookPhase::BeforeToolCall => May::Change(&["input"]),
        HookPhase::AfterToolResult => May::Change(&["output", "is_error"]),
        HookPhase::AfterResponse => May::Change(&["text"]),
        HookPhase::BeforeWikiSection => May::Add("context"),
        HookPhase::SecurityScanComplete => May::Add("findings"),
    }
}

/// The event for the next hook, and the changes that did not count.
#[derive(Debug, PartialEq)]
pub(super) struct HookChange {
    pub(super) event: Value,
    pub(super) changed: bool,
    pub(super) ignored: Option<String>,
}

/// The part of an answer that the phase allows.
pub(super) fn take(phase: HookPhase, before: &Value, answer: &Value) -> HookChange {
    let mut event = before.clone();
    let ignored = match may(phase) {
        May::Look => {
            (before != answer).then(|| format!("a hook of `{phase}` can't change anything"))
        }
        May::Change(fields) => {
            for field in fields {
                let (Some(old), Some(new)) = (event.get_mut(*field), answer.get(*field)) else {
                    continue;
                };
                if same_kind(phase, old, new) {
                    *old = new.clone();
                }
            }
            others(phase, before, answer, fields)
        }
        May::Add(list) => {
            let added = appended(&before[list], &answer[list]);
            let ignored = added
                .is_none()
                .then(|| format!("a hook of `{phase}` can only add to `{list}`"));
            if let (Some(all), Some(added)) = (event[list].as_array_mut(), added) {
                all.extend(added);
            }
            ignored.or_else(|| others(phase, before, answer, &[list]))
        }
    };
    HookChange {
        changed: event != *before,
        event,
        ignored,
    }
}

/// A string stays a string: the model's answer, and whether it is an error. Input and output of a tool can be any value.
fn same_kind(phase: HookPhase, old: &Value, new: &Value) -> bool {
    match phase {
        HookPhase::AfterResponse => new.is_string(),
        HookPhase::BeforeToolCall => new.is_object() || !old.is_object(),
        HookPhase::AfterToolResult => !old.is_boolean() || new.is_boolean(),
        _ => true,
    }
}

/// The items of the second list after all items of the first.
fn appended(before: &Value, after: &Value) -> Option<Vec<Value>> {
    let (before, after) = (before.as_array()?, after.as_array()?);
    after
        .starts_with(before)
        .then(|| after[before.len()..].to_vec())
}

/// The fields that a hook changed without being allowed to.
fn others(phase: HookPhase, before: &Value, answer: &Value, allowed: &[&str]) -> Option<String> {
    let (before, answer) = (before.as_object()?, answer.as_object());
    let Some(answer) = answer else {
        return Some(format!("a hook of `{phase}` must return an event"));
    };
    let changed: Vec<&str> = before
        .iter()
        .filter(|(key, _)| !allowed.contains(&key.as_str()))
        .filter(|(key, value)| answer.get(*key).is_some_and(|new| new != *value))
        .map(|(key, _)| key.as_str())
        .collect();
    (!changed.is_empty()).then(|| {
        format!(
            "a hook of `{phase}` can't change `{}`",
            changed.join("`, `")
        )
    })
}

/// The order of hooks: built-in skills, other folders, the user, the project, this run.
pub(super) const fn rank(source: Source) -> u8 {
    match source {
        Source::Builtin => 0,
        Source::Extra => 1,
        Source::User => 2,
        Source::Project => 3,
        Source::Inline => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_call_keeps_its_tool_and_may_get_another_input() {
        let before = json!({"tool": "greet", "skill": "a", "input": {"who": "x"}});
        let answer = json!({"tool": "shell", "skill": "a", "input": {"who": "y"}, "extra": 1});
        let taken = take(HookPhase::BeforeToolCall, &before, &answer);
        assert_eq!(
            taken.event,
            json!({"tool": "greet", "skill": "a", "input": {"who": "y"}})
        );
        assert!(taken.changed);
        assert_eq!(
            taken.ignored.as_deref(),
            Some("a hook of `before_tool_call` can't change `tool`")
        );
    }

    // case 130
    #[test]
    fn findings_are_added_and_never_removed_or_changed() {
        let before = json!({"skill": "a", "findings": [{"rule": "x"}]});
        let phase = HookPhase::SecurityScanComplete;
        let more = json!({"skill": "a", "findings": [{"rule": "x"}, {"rule": "y"}]});
        assert_eq!(take(phase, &before, &more).event, more);
        for less in [
            json!({"skill": "a", "findings": []}),
            json!({"skill": "a", "findings": [{"rule": "y"}]}),
            json!({"skill": "a", "findings": [{"rule": "y"}, {"rule": "x"}]}),
            json!({"skill": "a", "findings": null}),
            json!({"skill": "a"}),
            json!(null),
        ] {
            let taken = take(phase, &before, &less);
            assert_eq!(taken.event, before, "{less}");
            assert!(!taken.changed && taken.ignored.is_some(), "{less}");
        }
    }

    #[test]
    fn an_answer_of_a_model_stays_a_text() {
        let before = json!({"text": "hello"});
        let phase = HookPhase::AfterResponse;
        assert_eq!(
            take(phase, &before, &json!({"text": "HELLO"})).event,
            json!({"text": "HELLO"})
        );
        assert!(!take(phase, &before, &json!({"text": 7})).changed);
    }

    #[test]
    fn some_phases_only_look() {
        let before = json!({"session": "s"});
        let taken = take(
            HookPhase::ConversationStart,
            &before,
            &json!({"session": "t"}),
        );
        assert_eq!((taken.event, taken.changed), (before, false));
        assert!(taken.ignored.is_some());
    }

    #[test]
    fn what_comes_with_the_program_is_asked_first() {
        let mut sources = Source::ALL;
        sources.sort_by_key(|source| rank(*source));
        assert_eq!(
            sources,
            [
                Source::Builtin,
                Source::Extra,
                Source::User,
                Source::Project,
                Source::Inline
            ]
        );
    }
}
