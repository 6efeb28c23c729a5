//! The contributions of active skills to prompts, answers and scans.

use std::sync::Arc;

use metier_model::{SkillType, model_text::for_model};
use metier_sdk::{
    HookPhase,
    wire::{FoundByScanner, ScannedFile, ScannerOutput, method},
};
use metier_store::StoreError;
use serde_json::{Value, json};

use super::{Active, CallError, Runtime};
use crate::{
    prompt_files::{CUT, PromptFiles, plain},
    tokens::within,
};

/// How many tokens a fragment of a hook can have.
const MAX_FRAGMENT: usize = 8_000;

/// A piece of the system prompt that a skill contributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFragment {
    /// The skill; none for fragments that hooks injected.
    pub skill: Option<String>,
    /// The text for the model.
    pub text: String,
    /// Whether the text was cut to fit.
    pub cut: bool,
}

impl PromptFragment {
    /// Adds it to a prompt, after the name of its skill.
    pub fn append(&self, prompt: &mut String) {
        if !prompt.is_empty() {
            prompt.push_str("\n\n");
        }
        if let Some(skill) = &self.skill {
            prompt.push_str(&format!("## {skill}\n\n"));
        }
        prompt.push_str(self.text.trim());
        if self.cut {
            prompt.push_str(&format!("\n{CUT}"));
        }
    }
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
pub enum PromptError {
    /// A hook blocked the message of the user.
    #[error("the message was blocked by skill `{by}`: {reason}")]
    Blocked {
        /// The skill whose hook it is.
        by: String,
        /// The reason that the hook gave.
        reason: String,
    },
    /// It can't be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The findings of a skill's scanner.
#[derive(Debug)]
pub struct ScannerResult {
    /// Name of the skill.
    pub skill: String,
    /// Name of the scanner.
    pub scanner: String,
    /// Its findings, or the reason why it did not run.
    pub found: Result<Vec<FoundByScanner>, String>,
}

/// A model's answer, and whether the turn may end with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalAnswer {
    /// The answer, after all hooks.
    pub text: String,
    /// The skill whose hook does not let the turn end, and the remaining work.
    pub sent_back: Option<(String, String)>,
}

impl Runtime {
    /// Calls the hooks for a new conversation.
    ///
    /// # Errors
    /// When a receipt can't be written.
    pub fn conversation_start(&self) -> Result<(), StoreError> {
        let event = json!({ "session": self.environment.approvals.session });
        self.dispatch(HookPhase::ConversationStart, event).map(drop)
    }

    /// The additions of active skills to the system prompt: the prompt files of skills whose text the model does not have otherwise, each
    /// within its own limit, then the fragments of hooks. The hooks read the message that the turn answers, and the prompt files of all
    /// active skills.
    ///
    /// # Errors
    /// When a hook blocks that message, or when it can't be recorded.
    pub fn fragments(&self) -> Result<Vec<PromptFragment>, PromptError> {
        let active = self.all_active();
        let declared: Vec<PromptFragment> = active.iter().filter_map(|one| declared(one)).collect();
        let event = json!({
            "session": self.environment.approvals.session,
            "fragments": declared.iter().map(|fragment| &fragment.text).collect::<Vec<_>>(),
            "prompt": *self.user_message.lock(),
        });
        let dispatched = self.dispatch(HookPhase::BeforePromptBuild, event)?;
        if let Some((by, reason)) = dispatched.cancelled {
            return Err(PromptError::Blocked { by, reason });
        }
        let event = dispatched.event;
        let all = event["fragments"].as_array().cloned().unwrap_or_default();
        let injected = all.iter().skip(declared.len()).filter_map(text);
        let injected: Vec<PromptFragment> = injected
            .map(|text| {
                let (kept, cut) = within(&text, MAX_FRAGMENT);
                PromptFragment {
                    skill: None,
                    text: kept.to_owned(),
                    cut,
                }
            })
            .collect();
        let instructed = self.instructed.lock();
        let is_given = |fragment: &PromptFragment| {
            let skill = fragment.skill.as_ref();
            skill.is_some_and(|skill| instructed.contains(skill))
        };
        let declared = declared.into_iter().filter(|one| !is_given(one));
        Ok(declared
            .chain(injected)
            .map(|fragment| PromptFragment {
                text: for_model(&plain(&fragment.text)).into_owned(),
                ..fragment
            })
            .collect())
    }

    /// The system prompt: the caller's text, then the additions of active skills, each after the skill's name.
    ///
    /// # Errors
    /// As [`Runtime::fragments`].
    pub fn build_prompt(&self, base: &str) -> Result<String, PromptError> {
        let mut prompt = base.trim_end().to_owned();
        for fragment in self.fragments()? {
            fragment.append(&mut prompt);
        }
        Ok(prompt)
    }

    /// A model's answer, after all transforms. `continued` is set if a hook has sent back the previous answer.
    ///
    /// # Errors
    /// When a receipt can't be written.
    pub fn after_response(&self, text: &str, continued: bool) -> Result<FinalAnswer, StoreError> {
        let session = &self.environment.approvals.session;
        let event = json!({ "text": text, "session": session, "continued": continued });
        let dispatched = self.dispatch(HookPhase::AfterResponse, event)?;
        Ok(FinalAnswer {
            text: dispatched.event["text"].as_str().unwrap_or(text).to_owned(),
            sent_back: dispatched.cancelled,
        })
    }

    /// Findings of a scan, with the additions of hooks.
    ///
    /// # Errors
    /// When a receipt can't be written.
    pub fn scan_complete(
        &self,
        skill: &str,
        verdict: &str,
        findings: &[Value],
    ) -> Result<Vec<Value>, StoreError> {
        let event = json!({ "skill": skill, "verdict": verdict, "findings": findings });
        let mut event = self.dispatch(HookPhase::SecurityScanComplete, event)?.event;
        Ok(match event["findings"].take() {
            Value::Array(all) => all.into_iter().skip(findings.len()).collect(),
            _ => Vec::new(),
        })
    }
}

/// The result of a tool, in one line.
pub(super) fn shown(output: &Value) -> String {
    output
        .as_str()
        .map_or_else(|| output.to_string(), str::to_owned)
}

/// A string, or the text of a value that contains one.
fn text(value: &Value) -> Option<String> {
    let text = value.as_str().or_else(|| value["content"].as_str());
    text.filter(|text| !text.trim().is_empty())
        .map(str::to_owned)
}

/// The prompt files of an active skill.
fn declared(active: &Active) -> Option<PromptFragment> {
    let files = PromptFiles::read(&active.loaded.manifest, &active.loaded.held);
    for path in &files.unreadable {
        active.say(format!("its prompt file `{path}` can't be read"));
    }
    (!files.text.trim().is_empty()).then(|| PromptFragment {
        skill: Some(active.name().to_owned()),
        text: files.text,
        cut: files.cut,
    })
}

/// Every scanner of every active `security-rule` skill.
pub(super) fn scan(
    runtime: &Runtime,
    files: &[ScannedFile],
) -> Result<Vec<ScannerResult>, StoreError> {
    let mut all = Vec::new();
    let active = runtime.all_active();
    for active in active.iter().filter(|one| one.is(SkillType::SecurityRule)) {
        // Without its permissions it stays in the list, and its scanners report that they did not run.
        let active = match active.contributions.scanners.is_empty() {
            true => Arc::clone(active),
            false => match runtime.current_for_event(active) {
                Ok(current) => current,
                Err(CallError::Store(error)) => return Err(error),
                Err(_) => Arc::clone(active),
            },
        };
        for scanner in &active.contributions.scanners {
            let params = json!({ "name": scanner.name, "files": files });
            let found: Result<ScannerOutput, CallError> = runtime.ask(
                &active,
                method::SCANNER,
                ("scanner:run", &scanner.name),
                params,
                |_| None,
            );
            let found = match found {
                Ok(output) => Ok(output.findings),
                Err(CallError::Store(error)) => return Err(error),
                Err(error) => Err(error.to_string()),
            };
            all.push(ScannerResult {
                skill: active.name().to_owned(),
                scanner: scanner.name.clone(),
                found,
            });
        }
    }
    Ok(all)
}
