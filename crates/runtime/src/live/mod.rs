//! Active skills: their contributions, their callers, and their requests.
//!
//! **Problem.** A skill with code is more than text. It is started, contributes tools, handles events of others, and must leave
//! nothing behind when it is deactivated.
//!
//! **Decision.** A [`Runtime`] is one session. Activating a skill always takes the same five steps: its bytes are scanned,
//! permission is requested, its code is started in its backend, its contributions are checked against its declarations, its
//! `activate` hook is called. Everything that it contributes belongs to one value, `Active`; dropping that removes all of it.
//!
//! ```text
//! call "k8s__apply" {…}
//!   before_tool_call   builtin → extra → user → project → inline, each sees what the one before left; one may cancel
//!   tool/execute       the final input; each act of the tool needs its own permit
//!   after_tool_result  the same order
//! ```
//!
//! A hook that fails or times out leaves a receipt, and the others continue; only a skill of the type `security-rule` can require
//! that the call fails with it.

mod activation;
mod active_skill;
mod backends;
mod called;
mod contributions;
mod dispatch;
mod error;
mod hooks;
mod host_api;
mod instruct;
mod invoke;
mod ledger;
mod lifecycle;
mod model;
mod parallel_calls;
mod restart;
mod served_tools;
mod tools;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use metier_catalog::CatalogEntry;
use metier_host::backend::{ProcessEvent, SkillProcessError};
use metier_model::text::shell_word;
use metier_schema::{BoundedSchema, SchemaMisfit};
use metier_sdk::{
    HookPhase,
    wire::{self, Contributions, ScannedFile, ToolOutput, method},
};
use metier_store::{Receipt, ReceiptOutcome, StoreError};
use serde_json::{Value, json};

use crate::{
    AdmittedSnapshot,
    approvals::ActRecord,
    granted_skill::{ActError, undone},
    guarded::Guarded,
    inventory::{Inventory, NotFound},
    receipts::RecentReceipts,
    render::FramedText,
    skill_environment::SkillEnvironment,
};
pub(crate) use active_skill::Active;
use called::CompletedCall;
use host_api::HostApi;
use ledger::Ledger;
use lifecycle::Lifecycle;

pub use activation::ActivateError;
pub use called::{Called, InputCheck, SkillLine, workflow_input};
pub use contributions::{FinalAnswer, PromptError, PromptFragment};
pub use dispatch::Dispatched;
pub use error::CallError;
pub use ledger::AttachedText;
pub use lifecycle::{LifecycleState, Transition};
pub use model::Model;
pub use parallel_calls::PlannedCall;
pub use served_tools::ServedTool;
pub use tools::{BadTool, CORE, Tool, full_name};

/// How many uncollected lines are kept.
const MAX_SAID: usize = 2_000;

/// The time limits.
#[derive(Clone, Copy, Debug)]
pub struct CallTimeouts {
    /// From start to the list of contributions.
    pub start: Duration,
    /// From `shutdown` until it is killed.
    pub end: Duration,
    /// A tool or a workflow.
    pub tool: Duration,
    /// Timeout of a hook.
    pub hook: Duration,
}

/// Scans a skill and returns its bytes, or the reason why it is blocked.
pub type Judge = Arc<dyn Fn(&CatalogEntry) -> Result<AdmittedSnapshot, String> + Send + Sync>;

/// One session with skills.
pub struct Runtime {
    environment: SkillEnvironment,
    inventory: Arc<Inventory>,
    judge: Judge,
    patience: CallTimeouts,
    model: Option<Arc<dyn Model>>,
    /// A file of tests that runs in place of each skill's entrypoint.
    tests: Option<String>,
    /// Whether skills are started only to list their contributions: without permissions that have to be requested, and without
    /// their `activate` and `deactivate` hooks.
    describes: bool,
    /// Whether log lines explain how the code of skills is started.
    explains: bool,
    active: Guarded<Vec<Arc<Active>>>,
    life: Guarded<Lifecycle>,
    ledger: Guarded<Ledger>,
    /// Receipts of activations that are over.
    receipts: Guarded<RecentReceipts>,
    /// Lines of skills that were not collected yet.
    said: Guarded<Vec<SkillLine>>,
    /// The message of the user that the current turn answers; empty between turns.
    user_message: Guarded<String>,
    /// The skills whose whole text, including prompt files, a model already has.
    instructed: Guarded<BTreeSet<String>>,
    /// Whether a skill was started again because a permission was withdrawn.
    restarted: Guarded<bool>,
}

impl Runtime {
    /// A session in which nothing is active yet.
    ///
    /// `judge` returns bytes only as an [`AdmittedSnapshot`], which requires a verdict: no caller can activate unscanned bytes by mistake.
    #[must_use]
    pub fn new(
        environment: SkillEnvironment,
        inventory: Arc<Inventory>,
        judge: Judge,
        patience: CallTimeouts,
    ) -> Self {
        Self {
            environment,
            inventory,
            judge,
            patience,
            model: None,
            tests: None,
            describes: false,
            explains: false,
            active: Guarded::default(),
            life: Guarded::default(),
            ledger: Guarded::default(),
            receipts: Guarded::default(),
            said: Guarded::default(),
            user_message: Guarded::default(),
            instructed: Guarded::default(),
            restarted: Guarded::default(),
        }
    }

    /// This session with a model that skills may use, if they are permitted to.
    #[must_use]
    pub fn with_model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// This session for a file of a skill's own tests, which runs in place of its entrypoint; its tests are workflows.
    #[must_use]
    pub fn testing(mut self, file: &str) -> Self {
        self.tests = Some(file.to_owned());
        self
    }

    /// This session, if it only lists the contributions of skills: no question is asked, and they get only earlier approvals.
    #[must_use]
    pub fn describing(mut self, describes: bool) -> Self {
        self.describes = describes;
        self
    }

    /// This session with log lines that explain how the code of skills is started where that is not obvious.
    #[must_use]
    pub fn explaining(mut self, explains: bool) -> Self {
        self.explains = explains;
        self
    }

    /// The skills of this session.
    #[must_use]
    pub fn inventory(&self) -> &Arc<Inventory> {
        &self.inventory
    }

    /// The state of a skill.
    #[must_use]
    pub fn state(&self, skill: &str) -> LifecycleState {
        self.life.lock().state(skill)
    }

    /// Every step that skills took in this session.
    #[must_use]
    pub fn transitions(&self) -> Vec<Transition> {
        self.life.lock().transitions().to_vec()
    }

    /// Another session on the same skills, with the same approver, store and answers. Nothing is active in it, it has no model, and its
    /// rate limits are its own.
    #[must_use]
    pub fn beside(&self, session: &str) -> Self {
        let environment = self.environment.beside(session);
        let (inventory, judge) = (Arc::clone(&self.inventory), Arc::clone(&self.judge));
        Self::new(environment, inventory, judge, self.patience).explaining(self.explains)
    }

    /// Stores the text of an active skill, in place of an earlier one: it is attached again when a conversation is shortened. Nothing else
    /// puts a text there, so that a skill that is started again keeps the text that the conversation has.
    pub fn keep_text(&self, skill: &str, text: FramedText) {
        self.ledger.lock().keep(skill, text);
    }

    /// Removes the text of a skill: it is no longer attached.
    pub fn forget_text(&self, skill: &str) {
        self.ledger.lock().strip(skill);
    }

    /// The texts of active skills that are attached to a shortened conversation, the newest first, within the limits.
    #[must_use]
    pub fn attached_texts(&self) -> Vec<AttachedText> {
        self.ledger.lock().attach()
    }

    /// Notes that a model has the whole text of a skill: its prompt files are not repeated in the system prompt.
    pub fn note_instructed(&self, skill: &str) {
        self.instructed.lock().insert(skill.to_owned());
    }

    /// Starts a new turn: rate limits count from zero.
    pub fn next_turn(&self) {
        self.environment.approvals.meter.next_turn();
    }

    /// Sets the message that the current turn answers. Hooks of `before_prompt_build` read it; no receipt contains it.
    pub fn set_user_message(&self, message: &str) {
        message.clone_into(&mut self.user_message.lock());
    }

    /// Activates a skill, by name, `source:name` or path. An active skill is not changed.
    ///
    /// # Errors
    /// When it is unusable or not permitted, does not start, or contributes something that it must not.
    pub fn activate(&self, name: &str) -> Result<(), ActivateError> {
        let skill = self.find(name)?;
        let entry = self.inventory.entry(skill);
        let name = entry.name();
        if let Ok(active) = self.get(&name)
            && self.state(&name) == LifecycleState::Active
        {
            if !active.can_start_again().map_err(ActError::from)? {
                return Ok(());
            }
            self.close(&active)
                .map_err(|error| ActivateError::Unusable(error.to_string()))?;
        }
        self.life
            .lock()
            .step(&name, LifecycleState::Activating, None);
        match self.open(entry, None) {
            Ok(active) => {
                // An earlier error no longer applies.
                let broken = active.broken_hooks.lock().join("; ");
                let approvals = &self.environment.approvals;
                if broken.is_empty() {
                    let forgotten = approvals
                        .store
                        .lock()
                        .forget_state(&name, entry.source.as_str());
                    forgotten.map(drop)
                } else {
                    approvals.keep_state(
                        &name,
                        entry.source,
                        LifecycleState::Active.as_str(),
                        &broken,
                    )
                }
                .map_err(ActError::from)?;
                let active = Arc::new(active);
                {
                    let mut all = self.active.lock();
                    all.retain(|other| other.name() != &*name);
                    all.push(Arc::clone(&active));
                    // The order in which hooks are called, and tools listed.
                    all.sort_by_key(|active| hooks::rank(active.identity.source));
                }
                self.life.lock().step(&name, LifecycleState::Active, None);
                if let Some(problem) = self.activate_plugin_of(entry) {
                    active.log(true, problem);
                }
                Ok(())
            }
            Err(error) => {
                let reason = error.to_string();
                let kept = self.environment.approvals.keep_state(
                    &name,
                    entry.source,
                    LifecycleState::Error.as_str(),
                    &reason,
                );
                let mut life = self.life.lock();
                life.step(&name, LifecycleState::Error, Some(reason));
                kept.map_err(ActError::from)?;
                Err(error)
            }
        }
    }

    /// Activates the plugin that a skill belongs to, once for all of its skills. A problem affects only its hooks; it is returned
    /// as a string.
    pub fn activate_plugin_of(&self, entry: &CatalogEntry) -> Option<String> {
        let plugin = self.inventory.entry(self.inventory.plugin_of(entry)?);
        let name = plugin.name();
        if self.state(&name) != LifecycleState::Inactive {
            return None;
        }
        let place = plugin.place.path();
        let error = self.activate(&place.to_string_lossy()).err()?;
        let name = shell_word(&name);
        Some(format!(
            "the hooks of its plugin are not run: {error}; metier info {name}"
        ))
    }

    /// Deactivates a skill, and removes all of its contributions.
    ///
    /// # Errors
    /// When it is not active, or when that can't be recorded; it is removed anyway.
    pub fn deactivate(&self, name: &str) -> Result<Vec<Receipt>, CallError> {
        let active = self.get(name)?;
        let closed = match self.state(name) {
            LifecycleState::Active => self.close(&active),
            // It was ended when a permission was withdrawn, and did not start again.
            _ => Ok(()),
        };
        self.active
            .lock()
            .retain(|other| !Arc::ptr_eq(other, &active));
        self.ledger.lock().strip(name);
        self.instructed.lock().remove(name);
        self.life.lock().step(name, LifecycleState::Inactive, None);
        closed?;
        Ok(self.written().0)
    }

    /// Deactivates everything, the newest first.
    ///
    /// # Errors
    /// When it can't be recorded; everything is removed anyway.
    pub fn end(&self) -> Result<(), CallError> {
        let names: Vec<String> = self.names();
        let mut all = Ok(());
        for name in names.iter().rev() {
            all = all.and(self.deactivate(name).map(drop));
        }
        all
    }

    /// The active skills, in the order in which their hooks are called.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let active = self.active.lock();
        let names = active.iter().map(|active| active.name().to_owned());
        names.collect()
    }

    /// The tools of all active skills.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        let active = self.active.lock();
        active
            .iter()
            .flat_map(|active| active.tools.clone())
            .collect()
    }

    /// The contributions of an active skill.
    ///
    /// # Errors
    /// When it is not active.
    pub fn contributions(&self, skill: &str) -> Result<Contributions, CallError> {
        Ok(self.get(skill)?.contributions.clone())
    }

    /// Calls a tool of an active skill, by its own name or by the one that others use.
    ///
    /// # Errors
    /// When there is no such tool, when a hook cancels the call, or when its code does not answer. An error that the tool itself
    /// reports is an answer.
    pub fn call(&self, skill: &str, tool: &str, input: &Value) -> Result<Called, CallError> {
        self.call_within(skill, tool, input, &|_| Ok(()))
    }

    /// [`Self::call`] for a caller that has rules about the input: they are checked again when a hook changed it.
    ///
    /// # Errors
    /// Also when the caller refuses the changes of hooks.
    pub fn call_within(
        &self,
        skill: &str,
        tool: &str,
        input: &Value,
        may: InputCheck<'_>,
    ) -> Result<Called, CallError> {
        self.answered(|| {
            let active = self.current(skill)?;
            self.call_tool(&active, tool, input, may)
        })
    }

    /// Runs a workflow of an active skill; without a name the only one.
    ///
    /// # Errors
    /// As for a tool.
    pub fn run(
        &self,
        skill: &str,
        workflow: Option<&str>,
        input: &Value,
    ) -> Result<Called, CallError> {
        self.answered(|| {
            let active = self.current(skill)?;
            let done = self.run_workflow(&active, workflow, input)?;
            Ok(done.into())
        })
    }

    /// Runs the scanners of all active `security-rule` skills on files.
    ///
    /// # Errors
    /// When it can't be recorded. A scanner that fails is named in the result.
    pub fn scan(
        &self,
        files: &[ScannedFile],
    ) -> Result<Vec<contributions::ScannerResult>, StoreError> {
        contributions::scan(self, files)
    }

    fn find(&self, name: &str) -> Result<&crate::InventorySkill, ActivateError> {
        let not_found = |missing: NotFound| ActivateError::NotFound(missing);
        self.inventory.find(name).map_err(not_found)
    }

    /// A copy of the list: code that uses its skills may activate others.
    fn all_active(&self) -> Vec<Arc<Active>> {
        self.active.lock().clone()
    }

    fn get(&self, skill: &str) -> Result<Arc<Active>, CallError> {
        let active = self.active.lock();
        let found = active.iter().find(|active| active.name() == skill);
        found
            .cloned()
            .ok_or_else(|| CallError::NotActive(skill.to_owned()))
    }

    fn call_tool(
        &self,
        active: &Active,
        tool: &str,
        input: &Value,
        may: InputCheck<'_>,
    ) -> Result<CompletedCall, CallError> {
        let mut tools = active.tools.iter().zip(&active.schemas);
        let found = tools.find(|(known, _)| known.spec.name == tool || known.name == tool);
        let Some((found, schema)) = found else {
            let there = active.tools.iter().map(|tool| tool.spec.name.clone());
            return Err(active.unknown("tool", tool, there.collect()));
        };
        let refuse = |misfit: SchemaMisfit| -> Result<CompletedCall, CallError> {
            let reason = misfit.to_string();
            let went = ActRecord::refused(reason.clone());
            active.worker.record("tool:call", &found.name, &went)?;
            Err(CallError::Input {
                skill: active.name().to_owned(),
                tool: found.name.clone(),
                reason,
            })
        };
        // Before hooks are called: they can't judge input that can't be sent to them.
        if let Err(misfit) = BoundedSchema::check_size(input) {
            return refuse(misfit);
        }
        let session = &self.environment.approvals.session;
        let event = json!({
            "tool": found.name, "skill": active.name(), "input": input, "session": session,
        });
        let mut before = self.dispatch(HookPhase::BeforeToolCall, event)?;
        if let Some((by, reason)) = before.cancelled {
            let went = ActRecord::refused(format!("cancelled by `{by}`: {reason}"));
            active.worker.record("tool:call", &found.name, &went)?;
            let tool = found.name.clone();
            return Err(CallError::Cancelled { tool, by, reason });
        }
        let changed = before.event["input"].take();
        if changed != *input
            && let Err(reason) = may(&changed)
        {
            let went = ActRecord::refused(reason.clone());
            active.worker.record("tool:call", &found.name, &went)?;
            let tool = found.name.clone();
            return Err(CallError::NotAllowed { tool, reason });
        }
        let input = changed;
        if let Err(misfit) = schema.check(&input) {
            return refuse(misfit);
        }
        let params = tool_params(&found.spec.name, &input, session);
        let detail = found.name.as_str();
        let done: ToolOutput = self.ask(
            active,
            method::TOOL,
            ("tool:call", detail),
            params,
            |done: &ToolOutput| done.is_error.then(|| contributions::shown(&done.output)),
        )?;
        let event = json!({
            "tool": found.name, "skill": active.name(), "input": input,
            "output": done.output, "is_error": done.is_error, "session": session,
        });
        self.after_result(done, event)
    }

    /// The result of a call after the hooks that see it.
    fn after_result(&self, done: ToolOutput, event: Value) -> Result<CompletedCall, CallError> {
        let mut after = self.dispatch(HookPhase::AfterToolResult, event)?.event;
        let left = ToolOutput {
            output: after["output"].take(),
            is_error: after["is_error"].as_bool().unwrap_or(done.is_error),
        };
        let before_hooks = (left != done).then_some(done);
        Ok(CompletedCall { left, before_hooks })
    }

    fn run_workflow(
        &self,
        active: &Active,
        workflow: Option<&str>,
        input: &Value,
    ) -> Result<ToolOutput, CallError> {
        let all = &active.contributions.workflows;
        let found = match workflow {
            Some(name) => all.iter().find(|known| known.name == name),
            None if all.len() == 1 => all.first(),
            None => all.iter().find(|known| known.name == active.name()),
        };
        let Some(found) = found else {
            let there: Vec<String> = all.iter().map(|known| known.name.clone()).collect();
            return Err(match workflow {
                None if there.len() > 1 => CallError::WhichWorkflow {
                    skill: active.name().to_owned(),
                    there,
                },
                name => active.unknown("workflow", name.unwrap_or(active.name()), there),
            });
        };
        let params = json!({ "name": found.name, "input": input });
        let detail = found.name.as_str();
        let done: wire::WorkflowOutput = self.ask(
            active,
            method::WORKFLOW,
            ("workflow:run", detail),
            params,
            |_| None,
        )?;
        Ok(ToolOutput {
            output: done.output,
            is_error: false,
        })
    }

    /// Calls the code of a skill, and records the result, including the skill's own report.
    fn ask<T: serde::de::DeserializeOwned>(
        &self,
        active: &Active,
        method: &str,
        (act, detail): (&str, &str),
        params: Value,
        complaint: impl FnOnce(&T) -> Option<String>,
    ) -> Result<T, CallError> {
        let start = std::time::Instant::now();
        let answer = self.request(active, method, params, self.patience.tool);
        let answer = answer.and_then(|value| {
            serde_json::from_value(value).map_err(|error| CallError::Answer {
                skill: active.name().to_owned(),
                reason: error.to_string(),
            })
        });
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let went = match answer.as_ref().map(complaint) {
            Ok(Some(reason)) => ActRecord::badly(ReceiptOutcome::Error, reason, ms),
            _ => went(&answer, ms),
        };
        active.worker.record(act, detail, &went)?;
        answer
    }

    /// One request to the code of a skill, and the events of that code meanwhile.
    fn request(
        &self,
        active: &Active,
        method: &str,
        params: Value,
        timeout: Duration,
    ) -> Result<Value, CallError> {
        // Nothing runs after a grant was withdrawn: files that the kernel opened for it would stay open otherwise.
        if !active.is_busy.get() && active.worker.is_withdrawn()? {
            self.end_code(active)?;
            return Err(CallError::Withdrawn(active.name().to_owned()));
        }
        // Taken out, not borrowed: the skill's requests can call this function again.
        let Some(mut session) = active.session.take() else {
            return Err(CallError::Busy(active.name().to_owned()));
        };
        let hands = HostApi {
            runtime: self,
            skill: active,
        };
        active.is_busy.set(true);
        let answer = session.call(method, params, &hands, timeout);
        let events = session.events();
        active.session.set(Some(session));
        active.is_busy.set(false);
        self.happened(active, events)?;
        active.worker.settle()?;
        answer.map_err(|error| CallError::Session {
            skill: active.name().to_owned(),
            error: Box::new(error),
        })
    }

    /// Records the events of a skill's code.
    fn happened(&self, active: &Active, events: Vec<ProcessEvent>) -> Result<(), StoreError> {
        for event in events {
            let (detail, went) = match event {
                ProcessEvent::Said(line) => {
                    active.say(active.worker.clean(line.as_bytes()));
                    continue;
                }
                ProcessEvent::SaidMore(lines) => {
                    active.say(format!("[{lines} more lines were discarded]"));
                    continue;
                }
                ProcessEvent::Started { confinement, .. } => {
                    active.confinement.set(Some(confinement));
                    continue;
                }
                ProcessEvent::Ended => continue,
                ProcessEvent::Undone(places) => {
                    active.worker.warn_undone(&places);
                    let went = ActRecord::badly(ReceiptOutcome::Error, undone(&places), 0);
                    ("made protected files".to_owned(), went)
                }
                ProcessEvent::HookFailed { phase, reason } => {
                    active.report_failed(phase, &reason);
                    let went = ActRecord::badly(ReceiptOutcome::Error, reason, 0);
                    let act = format!("hook:{phase}");
                    active.worker.record(&act, "failed", &went)?;
                    continue;
                }
                ProcessEvent::Crashed { how, stderr } => {
                    let reason = match stderr.trim_end().lines().last() {
                        Some(last) => format!("{how}; last output: {last}"),
                        None => how,
                    };
                    (
                        "crashed".to_owned(),
                        ActRecord::badly(ReceiptOutcome::Error, reason, 0),
                    )
                }
                ProcessEvent::Restarted { attempt, waited } => {
                    let waited = metier_model::text::duration(waited);
                    (
                        format!("restarted, attempt {attempt}, after {waited}"),
                        ActRecord::well(0),
                    )
                }
                ProcessEvent::GaveUp { crashes, wait } => {
                    let wait = metier_model::text::duration(wait);
                    let reason =
                        format!("crashed {crashes} times in a row; not restarted for {wait}");
                    (
                        "given up".to_owned(),
                        ActRecord::badly(ReceiptOutcome::Error, reason, 0),
                    )
                }
            };
            active.worker.record("skill:run", &detail, &went)?;
        }
        Ok(())
    }

    /// Does some work, and returns its result with the receipts written meanwhile and all log lines since the last result. Without
    /// a result they are kept for the next.
    fn answered(
        &self,
        work: impl FnOnce() -> Result<CompletedCall, CallError>,
    ) -> Result<Called, CallError> {
        self.written();
        let done = work()?;
        let (receipts, receipts_left_out) = self.written();
        let said = self.collect().1;
        Ok(Called {
            output: done.left.output,
            is_error: done.left.is_error,
            receipts,
            receipts_left_out,
            said,
            before_hooks: done.before_hooks,
        })
    }

    /// Receipts and log lines since the last call.
    pub fn collect(&self) -> (Vec<Receipt>, Vec<SkillLine>) {
        for active in self.all_active() {
            self.keep_said(&active);
        }
        (self.written().0, self.said.take())
    }

    /// The newest receipts since the last call, and the number of older ones.
    fn written(&self) -> (Vec<Receipt>, u64) {
        let mut receipts = self.receipts.take();
        for active in self.all_active() {
            receipts.append(active.worker.take_receipts());
        }
        receipts.in_order()
    }

    /// Collects the log of a skill, up to the limit.
    fn keep_said(&self, active: &Active) {
        let lines = active.said.take();
        let mut said = self.said.lock();
        let room = MAX_SAID.saturating_sub(said.len());
        said.extend(lines.into_iter().take(room));
    }
}

/// The facts about a call that the code of a skill gets.
fn tool_params(tool: &str, input: &Value, session: &str) -> Value {
    json!({ "name": tool, "input": input, "session": session })
}

fn went<T>(answer: &Result<T, CallError>, ms: u64) -> ActRecord {
    match answer {
        Ok(_) => ActRecord::well(ms),
        Err(error) => {
            let outcome = match error {
                CallError::Session { error, .. }
                    if matches!(**error, SkillProcessError::TimedOut(_)) =>
                {
                    ReceiptOutcome::Timeout
                }
                _ => ReceiptOutcome::Error,
            };
            ActRecord::badly(outcome, error.to_string(), ms)
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        // `end` reports errors; here no caller is left for them.
        self.end().ok();
    }
}

/// A session can be sent to another thread and dropped there.
const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<Runtime>();
};
