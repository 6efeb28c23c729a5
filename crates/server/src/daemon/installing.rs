//! Requests that change which skills are installed: plans and decisions about them, removal, and undoing.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use axum::{
    extract::{Path, State},
    http::{StatusCode, Uri},
};
use metier::{
    Error, Headless, Logged, NoticeLevel, Notices, ProgressWatcher, TaskProgress, Workspace,
    distribution::{
        InstallDecision, InstallOptions, InstallPlan, InstallScope, InstalledState, SourceRequest,
        UpdateDecision, UpdateOptions, UpdatePlan, VerifiedSkill,
    },
};
use metier_wire::{
    ApplyInstallRequest, ApplyUpdateRequest, ChangesDocument, InstallDocument, InstallPlanDocument,
    OffersDocument, OffersRequest, OutdatedDocument, OutdatedRow, PlanInstallRequest,
    PlanUpdateRequest, ProgressDocument, RemoveDocument, RemoveRequest, RestoreRequest,
    SourceOfferRow, UndoRequest, UpdateDocument, UpdatePlanDocument, UpdateRow, VerifiedRow,
    VerifyDocument,
};
use serde::Serialize;

use super::{
    answer::{ApiError, ApiResult, JsonBody, Refusal, document, json},
    event_log::EventLog,
    plans::{PLAN_TIME, SkillPlan},
    skills::{Shared, done, parameters},
    state::{DaemonState, WorkLane},
};

/// How often the progress of work is reported.
const REPORTS: Duration = Duration::from_millis(250);

/// The longest `progress` word that a client can choose, and how many notices a plan keeps.
const MAX_WORD: usize = 64;
const MAX_NOTICES: usize = 64;

pub(super) async fn offers(
    State(state): Shared,
    JsonBody(request): JsonBody<OffersRequest>,
) -> ApiResult {
    let source = request.source;
    let found = changing(&state, request.progress, |_, changing| {
        let offers = changing.workspace.offers(&source)?;
        let offers = offers.iter().map(SourceOfferRow::from).collect();
        Ok(written(&OffersDocument { source, offers }))
    });
    Ok(json(found.await?.into()))
}

pub(super) async fn plan_install(
    State(state): Shared,
    JsonBody(request): JsonBody<PlanInstallRequest>,
) -> ApiResult {
    let planned = changing(&state, request.progress.clone(), move |state, changing| {
        let scope = InstallScope::from(request.scope);
        let wanted = [SourceRequest::from(&request)];
        let options = InstallOptions { scope };
        let workspace = &changing.workspace;
        let mut plan = workspace.prepare_install(&wanted, options, &|_, _| None)?;
        plan.for_agents(&request.agents)?;
        let id = plan_id()?;
        let notices = changing.notices.taken();
        let seconds = PLAN_TIME.as_secs();
        let document = InstallPlanDocument::new(id.clone(), seconds, scope, &plan, notices);
        let document = written(&document);
        state.plans.keep(id, SkillPlan::Install(Box::new(plan)));
        Ok(document)
    });
    created(&state, planned.await?)
}

pub(super) async fn apply_install(
    State(state): Shared,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<ApplyInstallRequest>,
) -> ApiResult {
    let (taken, plan) = state.plans.take(&id)?;
    let SkillPlan::Install(plan) = plan else {
        state.plans.put_back(taken, plan);
        return Err(other_kind("updates").into());
    };
    let decisions: Vec<InstallDecision> = request.skills.iter().map(Into::into).collect();
    let seen = request.skills.iter().map(|one| (&*one.name, &*one.digest));
    if let Err(refusal) = same_bytes(seen, &|name| digest_of(&plan, name)) {
        state.plans.put_back(taken, SkillPlan::Install(plan));
        return Err(refusal.into());
    }
    let applied = changing(&state, None, move |state, changing| {
        let plan = plan.at(&changing.workspace);
        if let Err(error) = plan.check(&decisions) {
            state
                .plans
                .put_back(taken, SkillPlan::Install(Box::new(plan)));
            return Err(error);
        }
        let scope = plan.skills().first().map(|skill| skill.card.scope);
        let left_out = plan.left_out().to_vec();
        let report = plan.apply(&decisions)?;
        let scope = scope.unwrap_or_default().as_str();
        Ok(written(&InstallDocument::done(scope, &report, left_out)))
    });
    Ok(json(applied.await?.into()))
}

pub(super) async fn plan_update(
    State(state): Shared,
    JsonBody(request): JsonBody<PlanUpdateRequest>,
) -> ApiResult {
    let planned = changing(&state, request.progress.clone(), move |state, changing| {
        let options = UpdateOptions::from(&request);
        let plan = changing.workspace.prepare_update(&options)?;
        let id = plan_id()?;
        let notices = changing.notices.taken();
        let (seconds, scope) = (PLAN_TIME.as_secs(), options.scope);
        let document = UpdatePlanDocument::new(id.clone(), seconds, scope, &plan, notices);
        let document = written(&document);
        state.plans.keep(id, SkillPlan::Update(Box::new(plan)));
        Ok(document)
    });
    created(&state, planned.await?)
}

pub(super) async fn apply_update(
    State(state): Shared,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<ApplyUpdateRequest>,
) -> ApiResult {
    let (taken, plan) = state.plans.take(&id)?;
    let SkillPlan::Update(plan) = plan else {
        state.plans.put_back(taken, plan);
        return Err(other_kind("installs").into());
    };
    let decisions: Vec<UpdateDecision> = request.skills.iter().map(Into::into).collect();
    let seen = request.skills.iter().map(|one| (&*one.name, &*one.digest));
    if let Err(refusal) = same_bytes(seen, &|name| new_digest_of(&plan, name)) {
        state.plans.put_back(taken, SkillPlan::Update(plan));
        return Err(refusal.into());
    }
    let applied = changing(&state, None, move |state, changing| {
        let plan = plan.at(&changing.workspace);
        if let Some(error) = decisions.iter().find_map(|one| plan.objection(one)) {
            state
                .plans
                .put_back(taken, SkillPlan::Update(Box::new(plan)));
            return Err(error);
        }
        let skills = UpdateRow::all(&plan);
        let report = plan.apply(&decisions)?;
        Ok(written(&UpdateDocument {
            skills,
            updated: report.updated,
            dry_run: false,
            change: report.change.as_ref().map(|change| change.id.to_string()),
        }))
    });
    Ok(json(applied.await?.into()))
}

pub(super) async fn forget(State(state): Shared, Path(id): Path<String>) -> ApiResult {
    state.plans.forget(&id)?;
    Ok(done())
}

pub(super) async fn installed(State(state): Shared, uri: Uri) -> ApiResult {
    let scope = scope_of(&uri)?;
    let compared = changing(&state, None, move |_, changing| {
        let skills = changing.workspace.verify_skills(&[] as &[&str], scope)?;
        let is_unchanged = |skill: &VerifiedSkill| skill.state == InstalledState::Unchanged;
        Ok(written(&VerifyDocument {
            unchanged: skills.iter().all(is_unchanged),
            skills: skills.iter().map(VerifiedRow::from).collect(),
        }))
    });
    Ok(json(compared.await?.into()))
}

pub(super) async fn outdated(State(state): Shared, uri: Uri) -> ApiResult {
    let scope = scope_of(&uri)?;
    let compared = changing(&state, None, move |_, changing| {
        let scope = scope.unwrap_or_default();
        let skills = changing.workspace.outdated(&[], scope)?;
        let skills = skills.iter().map(OutdatedRow::from).collect();
        Ok(written(&OutdatedDocument { skills }))
    });
    Ok(json(compared.await?.into()))
}

pub(super) async fn remove(
    State(state): Shared,
    JsonBody(request): JsonBody<RemoveRequest>,
) -> ApiResult {
    if request.names.is_empty() {
        return Err(Refusal::usage("`names` is empty").into());
    }
    let removed = changing(&state, None, move |_, changing| {
        let workspace = &changing.workspace;
        let scope = request.scope.map(InstallScope::from);
        let skills = workspace.installed_skills(&request.names, scope)?;
        if !request.dry_run {
            workspace.remove(&skills)?;
        }
        Ok(RemoveDocument {
            action: "removed",
            dry_run: request.dry_run,
            skills: skills.iter().map(Into::into).collect(),
        })
    });
    Ok(document(&removed.await?))
}

pub(super) async fn restore(
    State(state): Shared,
    JsonBody(request): JsonBody<RestoreRequest>,
) -> ApiResult {
    let restored = changing(&state, None, move |_, changing| {
        let scope = request.scope.map(InstallScope::from);
        let skill = changing.workspace.restore(&request.name, scope)?;
        Ok(RemoveDocument {
            action: "restored",
            dry_run: false,
            skills: vec![(&skill).into()],
        })
    });
    Ok(document(&restored.await?))
}

pub(super) async fn changes(State(state): Shared) -> ApiResult {
    let listed = changing(&state, None, |_, changing| {
        changing.workspace.skill_changes()
    });
    Ok(document(&ChangesDocument {
        action: "listed",
        changes: listed.await?.into_iter().map(Into::into).collect(),
    }))
}

pub(super) async fn undo(
    State(state): Shared,
    JsonBody(request): JsonBody<UndoRequest>,
) -> ApiResult {
    let undone = changing(&state, None, move |_, changing| {
        changing.workspace.undo_change(&request.change)
    });
    Ok(document(&ChangesDocument {
        action: "undone",
        changes: vec![undone.await?.into()],
    }))
}

/// A workspace in its current state for one request: it stops when the client is gone or the daemon ends, and its progress is reported.
struct Changing {
    workspace: Workspace,
    notices: Arc<RequestNotices>,
}

/// Work that fetches, scans or changes skills, on a separate thread.
async fn changing<T: Send + 'static>(
    state: &Arc<DaemonState>,
    word: Option<String>,
    work: impl FnOnce(&DaemonState, &Changing) -> Result<T, Error> + Send + 'static,
) -> Result<T, ApiError> {
    if word.as_ref().is_some_and(|word| word.len() > MAX_WORD) {
        let message = format!("`progress` is longer than {MAX_WORD} bytes");
        return Err(Refusal::usage(message).into());
    }
    let client = StopOnDrop::default();
    let stop = Arc::clone(&client.0);
    let mut ending = state.ending.clone();
    let worked = state.work(WorkLane::Long, move |state| {
        let notices = Arc::new(RequestNotices {
            word,
            events: Arc::clone(&state.events),
            lines: Mutex::default(),
        });
        let workspace = state.live.current()?.workspace.reopen()?;
        let shared: Arc<dyn Notices> = Arc::<RequestNotices>::clone(&notices);
        let workspace = workspace.for_request(Arc::new(Headless), stop, shared);
        work(state, &Changing { workspace, notices })
    });
    tokio::select! {
        worked = worked => worked,
        _ = ending.wait_for(|is_ending| *is_ending) => {
            Err(Refusal::new(503, "ending", "the daemon is stopping; nothing was changed").into())
        }
    }
}

/// Stops the work of a request whose client is gone. A change that has begun is completed.
#[derive(Default)]
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Notices of one request: lines for its answer, and progress as events.
struct RequestNotices {
    word: Option<String>,
    events: Arc<EventLog>,
    lines: Mutex<Vec<String>>,
}

impl RequestNotices {
    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.lines.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Notices for RequestNotices {
    fn notice(&self, level: NoticeLevel, line: &str) {
        Logged.notice(level, line);
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() < MAX_NOTICES {
            lines.push(line.to_owned());
        }
    }

    fn progress(&self, work: &Arc<TaskProgress>) -> Option<Box<dyn Send>> {
        let (word, events) = (self.word.clone(), Arc::clone(&self.events));
        let watcher = ProgressWatcher::start(work, REPORTS, move |work, ended| {
            let document = ProgressDocument::new(work, word.clone(), ended);
            events.add("progress", written(&document));
        });
        Some(Box::new(watcher?))
    }
}

/// The answer about a new plan, which is forgotten when it expires.
fn created(state: &Arc<DaemonState>, document: Vec<u8>) -> ApiResult {
    let shared = Arc::clone(state);
    tokio::spawn(async move {
        tokio::time::sleep(PLAN_TIME).await;
        shared.plans.forget_expired();
    });
    let mut answer = json(document.into());
    *answer.status_mut() = StatusCode::CREATED;
    Ok(answer)
}

/// An id that can't be guessed, and that a later daemon does not use again.
fn plan_id() -> Result<String, Error> {
    let draw = || {
        getrandom::u64().map_err(|error| {
            Error::broken(
                "random",
                format!("the system's random number generator failed: {error}"),
            )
        })
    };
    Ok(format!("{:016x}{:016x}", draw()?, draw()?))
}

fn digest_of(plan: &InstallPlan, name: &str) -> Option<String> {
    let mut skills = plan.skills().iter();
    let skill = skills.find(|skill| skill.card.name == name)?;
    Some(skill.card.digest.to_string())
}

fn new_digest_of(plan: &UpdatePlan, name: &str) -> Option<String> {
    let planned = plan.planned(name)?;
    Some(planned.card.digest.to_string())
}

/// A decision is about the bytes that its card shows.
fn same_bytes<'r>(
    seen: impl Iterator<Item = (&'r str, &'r str)>,
    digest: &dyn Fn(&str) -> Option<String>,
) -> Result<(), Refusal> {
    for (name, seen) in seen {
        if digest(name).is_some_and(|digest| digest != seen) {
            let name = name.escape_debug();
            let message =
                format!("the `digest` in the decision about `{name}` differs from the plan's");
            let refusal = Refusal::new(409, "other-bytes", message);
            return Err(refusal.hint("send the `digest` of the card that was decided about"));
        }
    }
    Ok(())
}

fn other_kind(address: &str) -> Refusal {
    let message = format!("this plan belongs to /api/v1/{address}");
    Refusal::new(404, "unknown-plan", message)
}

fn scope_of(uri: &Uri) -> Result<Option<InstallScope>, Refusal> {
    match parameters(uri)?.remove("scope").as_deref() {
        None => Ok(None),
        Some("user") => Ok(Some(InstallScope::User)),
        Some("project") => Ok(Some(InstallScope::Project)),
        Some(_) => Err(Refusal::usage("`scope` is `user` or `project`")),
    }
}

/// Serialises a document on the thread of the request, because it borrows from there.
fn written(document: &impl Serialize) -> Vec<u8> {
    // No document fails to serialise: their keys are strings, and they have no numbers that JSON lacks.
    serde_json::to_vec(document).unwrap_or_default()
}
