//! Hooks in their order: each sees the result of the previous one.

use std::sync::Arc;

use metier_model::SkillType;
use metier_sdk::{
    HookPhase,
    wire::{HookAnswer, method},
};
use metier_store::{NewReceipt, ReceiptOutcome, StoreError};
use serde_json::{Value, json};

use super::{Active, CallError, Runtime, hooks, went};
use crate::{approvals::ActRecord, granted_skill::GrantedSkill};

/// Receipts of hooks, written together because each write takes time. They are written before the event itself happens, and before
/// a skill is called that can act, so that receipts are in order.
#[derive(Default)]
pub(super) struct Notes(Vec<(Arc<GrantedSkill>, NewReceipt)>);

impl Notes {
    fn add(
        &mut self,
        worker: &Arc<GrantedSkill>,
        phase: HookPhase,
        detail: &str,
        went: &ActRecord,
    ) {
        let draft = worker.draft(&format!("hook:{phase}"), detail, went);
        self.0.push((Arc::clone(worker), draft));
    }
}

/// The result of all hooks of an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatched {
    /// The event as the last hook left it.
    pub event: Value,
    /// The skill that cancelled the call or kept the turn from ending, and its reason.
    pub cancelled: Option<(String, String)>,
}

impl Runtime {
    /// Whether any active skill handles events of a phase.
    #[must_use]
    pub fn handles(&self, phase: HookPhase) -> bool {
        let active = self.active.lock();
        active.iter().any(|active| active.hook(phase).is_some())
    }

    /// Calls the hooks of all active skills for an event. Changes and failures are written to receipts.
    ///
    /// # Errors
    /// When a receipt can't be written.
    pub fn dispatch(&self, phase: HookPhase, event: Value) -> Result<Dispatched, StoreError> {
        let mut done = Dispatched {
            event,
            cancelled: None,
        };
        let all = self.all_active();
        let mut notes = Notes::default();
        ask_ahead(&all, phase, &done.event);
        for active in all {
            if active.hook(phase).is_none() {
                continue;
            }
            let acts = !active.worker.grant().is_empty();
            if acts {
                self.write_down(&mut notes)?;
            }
            self.handle_current(&active, phase, &mut done, &mut notes)
                .or_else(|error| self.write_down(&mut notes).and(Err(error)))?;
            if done.cancelled.is_some() {
                break;
            }
        }
        self.write_down(&mut notes)?;
        Ok(done)
    }

    /// Records the acts of hooks since the last call.
    pub(super) fn write_down(&self, notes: &mut Notes) -> Result<(), StoreError> {
        let (whose, drafts): (Vec<_>, Vec<_>) = notes.0.drain(..).unzip();
        let receipts = self.environment.approvals.write(&drafts)?;
        for (worker, receipt) in whose.iter().zip(receipts) {
            worker.keep(receipt);
        }
        Ok(())
    }

    /// The hook of a skill, which is started again first if a permission of it was withdrawn.
    fn handle_current(
        &self,
        active: &Arc<Active>,
        phase: HookPhase,
        done: &mut Dispatched,
        notes: &mut Notes,
    ) -> Result<(), StoreError> {
        match self.current_for_event(active) {
            Ok(current) if current.hook(phase).is_none() => Ok(()),
            Ok(current) => self.handle(&current, phase, done, notes),
            Err(error) => hook_failed(active, phase, (error, 0), done, notes),
        }
    }

    /// One hook of one skill.
    pub(super) fn handle(
        &self,
        active: &Active,
        phase: HookPhase,
        done: &mut Dispatched,
        notes: &mut Notes,
    ) -> Result<(), StoreError> {
        let start = std::time::Instant::now();
        let answer = self.answer(active, phase, &done.event);
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        active.changes.set(false);
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => return hook_failed(active, phase, (error, ms), done, notes),
        };
        let mut note =
            |detail: &str, went: ActRecord| notes.add(&active.worker, phase, detail, &went);
        if let Some(cancel) = answer.cancel {
            active.changes.set(true);
            if can_cancel(phase) {
                let detail = match phase {
                    HookPhase::BeforePromptBuild => "blocked the message",
                    HookPhase::AfterResponse => "sent the answer back",
                    _ => "cancelled the call",
                };
                note(detail, ActRecord::refused(cancel.reason.clone()));
                done.cancelled = Some((active.name().to_owned(), cancel.reason));
            } else {
                let reason = format!("a hook of `{phase}` can't cancel anything");
                note(
                    "ignored",
                    ActRecord::badly(ReceiptOutcome::Error, reason, 0),
                );
            }
            return Ok(());
        }
        if let Some(event) = answer.event {
            let taken = hooks::take(phase, &done.event, &event);
            if let Some(reason) = taken.ignored {
                note(
                    "ignored",
                    ActRecord::badly(ReceiptOutcome::Error, reason, 0),
                );
            }
            if taken.changed {
                active.changes.set(true);
                note(&changed(phase, &taken.event), ActRecord::well(ms));
                done.event = taken.event;
            }
        }
        Ok(())
    }

    pub(super) fn answer(
        &self,
        active: &Active,
        phase: HookPhase,
        event: &Value,
    ) -> Result<HookAnswer, CallError> {
        let params = params(phase, event);
        let value = self.request(active, method::HOOK, params, self.patience.hook)?;
        serde_json::from_value(value).map_err(|error| CallError::Answer {
            skill: active.name().to_owned(),
            reason: error.to_string(),
        })
    }
}

/// Records a hook that gave no answer. A check that fails is a no.
fn hook_failed(
    active: &Active,
    phase: HookPhase,
    (error, ms): (CallError, u64),
    done: &mut Dispatched,
    notes: &mut Notes,
) -> Result<(), StoreError> {
    if let CallError::Store(error) = error {
        return Err(error);
    }
    let went = went(&Err::<(), _>(error), ms);
    let reason = went.reason.clone().unwrap_or_default();
    notes.add(&active.worker, phase, "failed", &went);
    let closes = active.hook(phase).is_some_and(|hook| hook.fail_closed());
    if closes && prevents(phase) && active.is(SkillType::SecurityRule) {
        let reason = format!("its check failed: {reason}");
        done.cancelled = Some((active.name().to_owned(), reason));
    } else {
        active.report_failed(phase, &reason);
    }
    Ok(())
}

/// Whether a hook of this phase can stop the event: a call, the turn of a message, or the end of a turn.
const fn can_cancel(phase: HookPhase) -> bool {
    prevents(phase) || matches!(phase, HookPhase::AfterResponse)
}

/// Whether a hook of this phase prevents the event by stopping it. A check that fails counts as a no there.
const fn prevents(phase: HookPhase) -> bool {
    matches!(
        phase,
        HookPhase::BeforeToolCall | HookPhase::BeforePromptBuild
    )
}

fn params(phase: HookPhase, event: &Value) -> Value {
    json!({ "phase": phase, "event": event })
}

/// Starts later hooks early, assuming that earlier hooks change nothing, which is usual: fifty hooks then run at once. A result
/// counts only if the hook got exactly the event that it would have got in its turn. Only hooks that can do nothing but answer are
/// started early: interpreted hooks without any permission.
fn ask_ahead(all: &[Arc<Active>], phase: HookPhase, event: &Value) {
    let asked: Vec<&Arc<Active>> = all
        .iter()
        .filter(|active| active.hook(phase).is_some())
        .collect();
    if asked.len() < 2 {
        return;
    }
    let params = params(phase, event);
    for active in asked {
        if active.only_answers() {
            active.begin_ahead(method::HOOK, &params);
        }
        // A hook that changed the event last time may do so again; starting the later ones early would be useless.
        if active.changes.get() {
            return;
        }
    }
}

/// The text of a receipt about a change: the changed fields, not their values.
fn changed(phase: HookPhase, event: &Value) -> String {
    let tool = event["tool"].as_str().unwrap_or_default();
    match phase {
        HookPhase::BeforeToolCall => format!("changed the input of {tool}"),
        HookPhase::AfterToolResult => format!("changed the result of {tool}"),
        HookPhase::AfterResponse => "changed the answer".to_owned(),
        HookPhase::SecurityScanComplete => "added findings".to_owned(),
        _ => "added context".to_owned(),
    }
}
