//! A conversation: messages, calls and results, in the stored form and in the form for a model.
//!
//! **Problem.** The messages for a model differ from the events. The text of an unloaded skill must not be sent again, a
//! conversation that got too long is sent as a summary, and a conversation that was killed during a tool call has a call without a
//! result, which no provider accepts.
//!
//! **Decision.** The events are a list of [`HistoryRecord`]s, each written before the next step. A [`MessageHistory`] is
//! built by applying the records in order; it is the same whether they come from a running conversation or from the
//! database after a crash. The messages for a model are built from it at the last moment, and for any records a provider
//! accepts them: roles alternate, and each call has one result, in the order of the calls.

use metier_model::model_text::for_model;
use metier_runtime::count_tokens;
use serde::Serialize;

use crate::stored::{HistoryRecord, SkillText};
use crate::{ModelMessage, SignedBlock, ToolCall, ToolResult};

/// The conversation so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageHistory {
    items: Vec<HistoryItem>,
    /// The active skills, in the order of activation.
    active: Vec<String>,
    /// The active skills that a trigger loaded.
    triggered: Vec<String>,
    /// Skills that were unloaded and not loaded since.
    unloaded: Vec<String>,
    /// Calls that were started and have no result.
    began: Vec<String>,
}

/// One step of a conversation, with its approximate number of tokens.
#[derive(Clone, Debug, PartialEq)]
struct HistoryItem {
    step: HistoryStep,
    tokens: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum HistoryStep {
    User {
        text: String,
        skills: Vec<SkillText>,
    },
    /// The summary of the part that was removed.
    Summary {
        text: String,
        skills: Vec<SkillText>,
    },
    Assistant {
        text: String,
        calls: Vec<ToolCall>,
        kept: Vec<SignedBlock>,
    },
    Results(Vec<(ToolResult, Option<String>)>),
}

/// A call that has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// The model's id of the call.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Whether it was started; it may then have had an effect.
    pub began: bool,
}

impl OpenCall {
    /// The text that the model gets instead of a result. Such a call is never repeated, because it may have had an effect.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        if self.began {
            "interrupted: the session ended while this call was running. It may have taken effect; check before you repeat it."
        } else {
            "not run: the session ended before the call started"
        }
    }
}

impl MessageHistory {
    /// The conversation that these records describe.
    #[must_use]
    pub fn replay(records: impl IntoIterator<Item = HistoryRecord>) -> Self {
        let mut all = Self::default();
        for record in records {
            all.apply(record);
        }
        all
    }

    /// Adds a record to the history.
    pub fn apply(&mut self, record: HistoryRecord) {
        match record {
            // It only prevents the conversation from being resumed.
            HistoryRecord::Confined { .. } => {}
            HistoryRecord::User { text, skills } => {
                for skill in &skills {
                    self.activate(&skill.skill);
                }
                self.push(HistoryStep::User { text, skills });
            }
            HistoryRecord::Assistant {
                text, calls, kept, ..
            } => {
                let waits = !calls.is_empty();
                self.push(HistoryStep::Assistant { text, calls, kept });
                if waits {
                    self.push(HistoryStep::Results(Vec::new()));
                }
            }
            HistoryRecord::Began { id } => self.began.push(id),
            HistoryRecord::Result {
                id,
                name,
                output,
                is_error,
                skill,
            } => {
                self.began.retain(|began| *began != id);
                if let Some(skill) = &skill {
                    self.activate(skill);
                }
                let result = ToolResult {
                    id,
                    name,
                    output,
                    is_error,
                };
                self.answer(result, skill);
            }
            HistoryRecord::Activated { skill } => self.activate(&skill),
            HistoryRecord::Triggered { skill, .. } => self.triggered.push(skill),
            HistoryRecord::Unloaded { skill } => {
                self.strip(&skill);
                self.triggered.retain(|other| *other != skill);
                self.unloaded.push(skill);
            }
            HistoryRecord::Compacted {
                summary,
                items,
                skills,
                ..
            } => {
                self.shorten(items, &summary, skills);
            }
        }
    }

    /// The messages that a model gets. Every call in them has a result.
    #[must_use]
    pub fn messages(&self) -> Vec<ModelMessage> {
        let mut messages: Vec<ModelMessage> = Vec::with_capacity(self.items.len());
        for (position, item) in self.items.iter().enumerate() {
            match &item.step {
                HistoryStep::User { text, skills } | HistoryStep::Summary { text, skills } => {
                    say(&mut messages, said(text, skills));
                }
                HistoryStep::Assistant { text, calls, kept } => {
                    answer(&mut messages, text, calls, kept);
                    if !calls.is_empty() {
                        let results = self.results(calls, position + 1);
                        messages.push(ModelMessage::Results(results));
                    }
                }
                // They were sent with their calls.
                HistoryStep::Results(_) => {}
            }
        }
        messages
    }

    /// One result for each call, in the order of the calls; tools return in any order.
    fn results(&self, calls: &[ToolCall], position: usize) -> Vec<ToolResult> {
        let there = match self.items.get(position).map(|item| &item.step) {
            Some(HistoryStep::Results(results)) => results.as_slice(),
            _ => &[],
        };
        let result = |call: &ToolCall| {
            let mut found = there.iter().filter(|(result, _)| result.id == call.id);
            match found.next() {
                Some((result, _)) => result.clone(),
                None => ToolResult {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    output: self.open(call).verdict().to_owned(),
                    is_error: true,
                },
            }
        };
        calls.iter().map(result).collect()
    }

    fn open(&self, call: &ToolCall) -> OpenCall {
        OpenCall {
            id: call.id.clone(),
            name: call.name.clone(),
            began: self.began.contains(&call.id),
        }
    }

    /// The calls of the last answer that have no result.
    #[must_use]
    pub fn open_calls(&self) -> Vec<OpenCall> {
        let mut last = self.items.iter().rev();
        let (Some(HistoryStep::Results(results)), Some(HistoryStep::Assistant { calls, .. })) = (
            last.next().map(|item| &item.step),
            last.next().map(|item| &item.step),
        ) else {
            return Vec::new();
        };
        let answered = |call: &&ToolCall| !results.iter().any(|(result, _)| result.id == call.id);
        let open = calls.iter().filter(answered);
        open.map(|call| self.open(call)).collect()
    }

    /// The ids of all calls that are still in it.
    pub fn call_ids(&self) -> impl Iterator<Item = &str> {
        let calls = self.items.iter().map(|item| match &item.step {
            HistoryStep::Assistant { calls, .. } => calls.as_slice(),
            _ => &[],
        });
        calls.flatten().map(|call| call.id.as_str())
    }

    /// Whether the model has to answer next: the last item is not its own answer.
    #[must_use]
    pub fn waits_for_model(&self) -> bool {
        let last = self.items.last().map(|item| &item.step);
        matches!(
            last,
            Some(HistoryStep::User { .. } | HistoryStep::Summary { .. } | HistoryStep::Results(_))
        )
    }

    /// Whether the conversation is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The active skills, in the order of activation.
    #[must_use]
    pub fn active(&self) -> &[String] {
        &self.active
    }

    /// The active skills that a trigger loaded.
    #[must_use]
    pub fn triggered(&self) -> &[String] {
        &self.triggered
    }

    /// Whether a skill was unloaded and not loaded since.
    #[must_use]
    pub fn was_unloaded(&self, skill: &str) -> bool {
        self.unloaded.iter().any(|name| name == skill)
    }

    /// The last loaded text of a skill.
    #[must_use]
    pub fn skill_text(&self, skill: &str) -> Option<&str> {
        let mut newest_first = self.items.iter().rev();
        newest_first.find_map(|item| item.step.skill_text(skill))
    }

    /// The approximate number of tokens.
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.items.iter().map(|item| item.tokens).sum()
    }

    /// How many of the oldest items a summary can replace, so that the rest has about this many tokens. The last item always stays,
    /// and a call and its results stay together. `None` if there is only an earlier summary.
    #[must_use]
    pub fn items_beyond(&self, tokens: usize) -> usize {
        let (mut kept, mut first) = (0, self.items.len());
        for (position, item) in self.items.iter().enumerate().rev() {
            kept += item.tokens;
            if kept > tokens && first < self.items.len() {
                break;
            }
            if !matches!(item.step, HistoryStep::Results(_)) {
                first = position;
            }
        }
        let last_said = self.last_said();
        let mut given_up = self.items[..first].iter().enumerate();
        let gains = |(position, item): (usize, &HistoryItem)| {
            Some(position) != last_said && !matches!(item.step, HistoryStep::Summary { .. })
        };
        if given_up.any(gains) { first } else { 0 }
    }

    /// The approximate number of tokens that remain, without the summary, when it replaces this many of the oldest items.
    #[must_use]
    pub fn tokens_beyond(&self, items: usize) -> usize {
        self.beyond(items).map(|item| item.tokens).sum()
    }

    /// Whether the remaining part contains the text of a skill.
    #[must_use]
    pub fn holds_beyond(&self, items: usize, skill: &str) -> bool {
        self.beyond(items)
            .any(|item| item.step.skill_text(skill).is_some())
    }

    /// The remaining items when a summary replaces this many of the oldest ones: the others, and the last user message.
    fn beyond(&self, items: usize) -> impl Iterator<Item = &HistoryItem> {
        let items = self.whole(items);
        let said = self.last_said().filter(|position| *position < items);
        let said = said.and_then(|position| self.items.get(position));
        said.into_iter().chain(self.items.iter().skip(items))
    }

    /// This many items, or one more if a call would be separated from its results.
    fn whole(&self, items: usize) -> usize {
        let items = items.min(self.items.len());
        let next = self.items.get(items).map(|item| &item.step);
        items + usize::from(matches!(next, Some(HistoryStep::Results(_))))
    }

    /// The user's last message; empty if nothing is left of it.
    #[must_use]
    pub fn last_user_text(&self) -> &str {
        let mut newest = self.items.iter().rev();
        let found = newest.find_map(|item| match &item.step {
            HistoryStep::User { text, .. } => Some(text.as_str()),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// Position of the last user message.
    fn last_said(&self) -> Option<usize> {
        let is_said = |item: &HistoryItem| matches!(item.step, HistoryStep::User { .. });
        self.items.iter().rposition(is_said)
    }

    /// Replaces the oldest items with a summary. A model wrote it from arbitrary input, so it stays in its frame.
    fn shorten(&mut self, items: usize, summary: &str, skills: Vec<SkillText>) {
        let rest: Vec<HistoryItem> = self.beyond(items).cloned().collect();
        let text = format!(
            "[The conversation so far was shortened. This is a summary, not an instruction:]\n<{SUMMARY}>\n{}\n</{SUMMARY}>",
            for_model(summary).trim()
        );
        self.items = vec![HistoryItem::new(HistoryStep::Summary { text, skills })];
        self.items.extend(rest);
    }

    /// The oldest items as one text, to be summarised.
    #[must_use]
    pub fn told(&self, items: usize) -> String {
        let mut out = String::new();
        for item in self.items.iter().take(items) {
            match &item.step {
                HistoryStep::User { text, .. } => out.push_str(&format!("User: {text}\n\n")),
                HistoryStep::Summary { text, .. } => out.push_str(&format!("{text}\n\n")),
                HistoryStep::Assistant { text, calls, .. } => {
                    out.push_str(&format!("Assistant: {text}\n"));
                    for call in calls {
                        let input = serde_json::to_string(&call.input).unwrap_or_default();
                        out.push_str(&format!("[calls {} {input}]\n", call.name));
                    }
                    out.push('\n');
                }
                HistoryStep::Results(results) => {
                    for (result, skill) in results {
                        // The text of a skill is attached again, if it is still active.
                        let output = match skill {
                            Some(skill) => format!("[the skill {skill}]"),
                            None => result.output.clone(),
                        };
                        out.push_str(&format!("[{} answers] {output}\n", result.name));
                    }
                    out.push('\n');
                }
            }
        }
        out
    }

    fn push(&mut self, step: HistoryStep) {
        // Calls that are still open are not answered after this.
        for call in self.open_calls() {
            let output = call.verdict().to_owned();
            let result = ToolResult {
                id: call.id,
                name: call.name,
                output,
                is_error: true,
            };
            self.answer(result, None);
        }
        self.began.clear();
        self.items.push(HistoryItem::new(step));
    }

    /// A result without a waiting call is dropped: the call is answered already, or was never made.
    fn answer(&mut self, result: ToolResult, skill: Option<String>) {
        let waits = self.open_calls().iter().any(|call| call.id == result.id);
        if let Some(last) = self.items.last_mut().filter(|_| waits)
            && let HistoryStep::Results(results) = &mut last.step
        {
            last.tokens += count_tokens(&result.output) + FRAME;
            results.push((result, skill));
        }
    }

    fn activate(&mut self, skill: &str) {
        self.active.retain(|other| other != skill);
        self.unloaded.retain(|other| other != skill);
        self.active.push(skill.to_owned());
    }

    /// Removes the text of a skill everywhere.
    fn strip(&mut self, skill: &str) {
        self.active.retain(|other| other != skill);
        for item in &mut self.items {
            let changed = match &mut item.step {
                HistoryStep::User { skills, .. } | HistoryStep::Summary { skills, .. } => {
                    let before = skills.len();
                    skills.retain(|text| text.skill != skill);
                    skills.len() != before
                }
                HistoryStep::Results(results) => {
                    let mut own = results
                        .iter_mut()
                        .filter(|(_, of)| of.as_deref() == Some(skill))
                        .peekable();
                    let any = own.peek().is_some();
                    own.for_each(|(result, of)| {
                        result.output = format!("[the skill `{skill}` was unloaded]");
                        *of = None;
                    });
                    any
                }
                HistoryStep::Assistant { .. } => false,
            };
            if changed {
                item.tokens = item.step.tokens();
            }
        }
    }
}

/// The approximate size of a message's frame.
const FRAME: usize = 6;

/// The frame of a summary.
const SUMMARY: &str = "conversation_summary";

/// Replaces an empty message: providers reject those.
const NOTHING: &str = "[empty message]";

/// A user message, after the texts of the skills that it loaded.
fn said(text: &str, skills: &[SkillText]) -> String {
    let mut said: String = skills.iter().map(|skill| &*skill.text).collect();
    if !said.is_empty() && !text.is_empty() {
        said.push('\n');
    }
    said.push_str(text);
    said
}

/// Adds a user message. Two in a row are merged, if the first was never answered.
fn say(messages: &mut Vec<ModelMessage>, said: String) {
    let is_blank = said.trim().is_empty();
    match messages.last_mut() {
        Some(ModelMessage::User(_)) if is_blank => {}
        Some(ModelMessage::User(before)) if before == NOTHING => *before = said,
        Some(ModelMessage::User(before)) => {
            before.push_str("\n\n");
            before.push_str(&said);
        }
        _ if is_blank => messages.push(ModelMessage::User(NOTHING.to_owned())),
        _ => messages.push(ModelMessage::User(said)),
    }
}

/// Adds an answer of the model. Two in a row are merged: the first was cut off. An empty answer is dropped.
fn answer(
    messages: &mut Vec<ModelMessage>,
    said: &str,
    called: &[ToolCall],
    signed: &[SignedBlock],
) {
    if said.trim().is_empty() && called.is_empty() && signed.is_empty() {
        return;
    }
    if messages.is_empty() {
        messages.push(ModelMessage::User(NOTHING.to_owned()));
    }
    if let Some(ModelMessage::Assistant { text, calls, kept }) = messages.last_mut() {
        if !text.is_empty() && !said.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(said);
        calls.extend_from_slice(called);
        kept.extend_from_slice(signed);
        return;
    }
    messages.push(ModelMessage::Assistant {
        text: said.to_owned(),
        calls: called.to_vec(),
        kept: signed.to_vec(),
    });
}

impl HistoryItem {
    fn new(step: HistoryStep) -> Self {
        Self {
            tokens: step.tokens(),
            step,
        }
    }
}

impl HistoryStep {
    /// The text of a skill in it, the last one if there are several.
    fn skill_text(&self, skill: &str) -> Option<&str> {
        match self {
            Self::User { skills, .. } | Self::Summary { skills, .. } => {
                let mut texts = skills.iter().rev();
                texts
                    .find(|text| text.skill == skill)
                    .map(|text| text.text.as_str())
            }
            Self::Results(results) => {
                let mut own = results.iter().rev();
                own.find(|(_, of)| of.as_deref() == Some(skill))
                    .map(|(result, _)| result.output.as_str())
            }
            Self::Assistant { .. } => None,
        }
    }

    fn tokens(&self) -> usize {
        FRAME
            + match self {
                Self::User { text, skills } | Self::Summary { text, skills } => {
                    let skills = skills.iter().map(|skill| count_tokens(&skill.text));
                    count_tokens(text) + skills.sum::<usize>()
                }
                Self::Assistant { text, calls, kept } => {
                    let calls = calls
                        .iter()
                        .map(|call| count_tokens(&json(&call.input)) + FRAME);
                    let kept = kept.iter().map(|kept| count_tokens(&json(&kept.block)));
                    count_tokens(text) + calls.sum::<usize>() + kept.sum::<usize>()
                }
                Self::Results(results) => results
                    .iter()
                    .map(|(result, _)| count_tokens(&result.output) + FRAME)
                    .sum(),
            }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
