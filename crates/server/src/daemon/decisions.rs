//! Requests about decisions and what came of them: permissions, questions, receipts; and the state of the daemon.

use std::{sync::Arc, time::SystemTime};

use axum::{
    body::Bytes,
    extract::{Path, State},
    http::{HeaderValue, Uri, header},
    response::{IntoResponse, Response},
};
use metier::{
    Digest, Error, Reply, WatchState,
    permissions::ApprovalDecision,
    receipts::{ReceiptQuery, Verified},
};
use metier_wire::{
    AgentSkillsRow, AnswerField, AnswerRequest, AnswersDocument, ApprovalsDocument, DecisionField,
    ForgetRequest, ListCounts, LogDocument, PermitRequest, ReceiptRow, RefreshDocument,
    SkillPermissions, SourceRow, StatusDocument, WatchRow,
};

use super::{
    answer::{ApiResult, JsonBody, Refusal, document, json},
    metrics::Gauges,
    skills::{Shared, done, parameters},
    state::{DaemonState, WorkLane},
};

/// The number of receipts in an answer, by default and at most.
const RECEIPTS: u32 = 100;
const MAX_RECEIPTS: u32 = 10_000;

pub(super) async fn permissions(State(state): Shared, uri: Uri) -> ApiResult {
    let skill = parameters(&uri)?.remove("skill");
    let written = state.work(WorkLane::Quick, move |state| {
        let text = match skill {
            Some(skill) => {
                let now = state.live.current_for(&skill)?;
                let report = now.workspace.permissions(&skill)?;
                serde_json::to_vec(&SkillPermissions::from(&report))
            }
            None => serde_json::to_vec(&answers(state)?),
        };
        Ok(Bytes::from(text.unwrap_or_default()))
    });
    Ok(json(written.await?))
}

fn answers(state: &DaemonState) -> Result<AnswersDocument, Error> {
    let answers = state.live.current_files()?.workspace.answers()?;
    let approvals = answers.into_iter().map(Into::into).collect();
    Ok(AnswersDocument { approvals })
}

pub(super) async fn permit(
    State(state): Shared,
    JsonBody(request): JsonBody<PermitRequest>,
) -> ApiResult {
    let seen: Digest = request.digest.parse().map_err(|error| {
        let message = format!("`digest` is {error}");
        Refusal::usage(message).hint("GET /api/v1/permissions?skill=NAME has it")
    })?;
    let written = state.work(WorkLane::Quick, move |state| {
        let now = state.live.current_for(&request.skill)?;
        let decision = match request.decision {
            DecisionField::Allow => ApprovalDecision::Allowed,
            DecisionField::Deny => ApprovalDecision::Denied,
        };
        let (workspace, permissions) = (&now.workspace, &request.permissions);
        let report = workspace.answer_permissions(&request.skill, &seen, permissions, decision)?;
        let text = serde_json::to_vec(&SkillPermissions::from(&report));
        Ok(Bytes::from(text.unwrap_or_default()))
    });
    Ok(json(written.await?))
}

pub(super) async fn forget(
    State(state): Shared,
    JsonBody(request): JsonBody<ForgetRequest>,
) -> ApiResult {
    let forgotten = state.work(WorkLane::Quick, move |state| {
        let workspace = state.live.current()?.workspace.clone();
        workspace.forget_answers(&request.skill, &request.permissions)?;
        answers(state)
    });
    Ok(document(&forgotten.await?))
}

pub(super) async fn approvals(State(state): Shared) -> ApiResult {
    let approvals = state.approvals();
    Ok(document(&ApprovalsDocument { approvals }))
}

pub(super) async fn answer(
    State(state): Shared,
    Path(id): Path<String>,
    JsonBody(request): JsonBody<AnswerRequest>,
) -> ApiResult {
    let reply = match request.answer {
        AnswerField::Once => Reply::Once,
        AnswerField::Session => Reply::Session,
        AnswerField::Always => Reply::Always,
        AnswerField::No => Reply::Deny,
    };
    match state.answer(&id, reply) {
        true => Ok(done()),
        false => Err(
            Refusal::new(404, "unknown-approval", "no open question has this id")
                .hint("GET /api/v1/approvals lists the open ones")
                .into(),
        ),
    }
}

pub(super) async fn receipts(State(state): Shared, uri: Uri) -> ApiResult {
    let mut wanted = parameters(&uri)?;
    let limit = wanted.remove("limit").map_or(Ok(RECEIPTS), |limit| {
        let limit = limit.parse::<u32>();
        limit.map_err(|_| Refusal::usage("`limit` is not a number"))
    })?;
    let since = wanted.remove("since").map(|since| {
        let since = metier::text::parse_time(&since);
        since.ok_or_else(|| {
            Refusal::usage("`since` is not a time").hint("write it as 2026-01-31T09:00:00Z")
        })
    });
    let start = wanted.remove("cursor").map_or(Ok(0), |cursor| {
        let start = cursor.parse::<usize>();
        start.map_err(|_| Refusal::usage("invalid `cursor`"))
    })?;
    let query = wanted.remove("query").map(|query| query.to_lowercase());
    let status = wanted.remove("status");
    let query_skill = wanted.remove("skill");
    let verify = wanted.remove("verify").is_some_and(|word| word == "true");
    let since: Option<SystemTime> = since.transpose()?;
    let read = state.work(WorkLane::Quick, move |state| {
        let workspace = state.live.current_files()?.workspace.clone();
        let all = workspace.receipts(&ReceiptQuery {
            skill: query_skill,
            since,
            limit: Some(MAX_RECEIPTS),
        })?;
        let verified = verify.then(|| workspace.verify_receipts()).transpose()?;
        let whole = verified.map(|verified| matches!(verified, Verified::Whole { .. }));
        let rows = all.iter().map(ReceiptRow::from).collect::<Vec<_>>();
        Ok((rows, whole))
    });
    let is_wanted = |row: &ReceiptRow| {
        let has_status = status
            .as_deref()
            .is_none_or(|status| row.decision == status || row.outcome == Some(status));
        let text = || format!("{} {} {}", row.skill, row.act, row.detail).to_lowercase();
        has_status && query.as_ref().is_none_or(|query| text().contains(query))
    };
    let (rows, whole) = read.await?;
    let rows = rows.into_iter().filter(is_wanted).skip(start);
    let receipts = rows
        .take(usize::try_from(limit).unwrap_or(usize::MAX))
        .collect();
    Ok(document(&LogDocument { receipts, whole }))
}

pub(super) async fn refresh(State(state): Shared) -> ApiResult {
    let now = state
        .work(WorkLane::Quick, |state| state.live.refresh())
        .await?;
    Ok(document(&RefreshDocument {
        generation: now.generation,
        counts: ListCounts::from(now.skills.inventory().counts()),
    }))
}

pub(super) async fn status(State(state): Shared) -> ApiResult {
    let now = state.now().await?;
    let inventory = now.skills.inventory();
    let project = &now.workspace.machine().project;
    Ok(document(&StatusDocument {
        version: env!("CARGO_PKG_VERSION"),
        started: state.started.clone(),
        project: project.to_string_lossy().into_owned(),
        generation: now.generation,
        counts: ListCounts::from(inventory.counts()),
        sources: SourceRow::all(inventory),
        agents: AgentSkillsRow::all(inventory),
        watch: WatchRow::from(state.live.watching()),
        sessions: state.conversations.count(),
        approvals: state.approvals().len(),
    }))
}

/// The page for Prometheus. It shows what is known, and lists nothing.
pub(super) async fn metrics(State(state): Shared) -> Response {
    let now = state.live.last_listed();
    let counts = now.as_ref().map(|now| now.skills.inventory().counts());
    let watching = state.live.watching();
    let page = state.metrics.page(&Gauges {
        generation: now.as_ref().map_or(0, |now| now.generation),
        skills: now
            .as_ref()
            .map_or(0, |now| now.skills.inventory().skills.len()),
        ready: counts.map_or(0, |counts| counts.ready),
        watched_folders: match &watching {
            WatchState::Watched(folders) => *folders,
            _ => 0,
        },
        is_polling: matches!(watching, WatchState::Polled(_)),
        sessions: state.conversations.count(),
        approvals: state.approvals().len(),
    });
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    ([(header::CONTENT_TYPE, kind)], page).into_response()
}

pub(super) async fn healthz() -> &'static str {
    "ok\n"
}

/// Reports new receipts, while someone listens. Other programs write receipts too, so the database is asked.
pub(super) fn new_receipts(
    state: &Arc<DaemonState>,
    last: &mut Option<String>,
) -> Result<(), Error> {
    let workspace = state.live.current_files()?.workspace.clone();
    let newest = workspace.receipts(&ReceiptQuery {
        limit: Some(RECEIPTS),
        ..ReceiptQuery::default()
    })?;
    let rows: Vec<ReceiptRow> = newest.iter().map(ReceiptRow::from).collect();
    if let Some(last) = last.as_ref() {
        let new = rows.iter().take_while(|row| row.id != *last);
        let new: Vec<&ReceiptRow> = new.collect();
        for row in new.into_iter().rev() {
            state.report(
                "receipt",
                &serde_json::json!({ "type": "receipt", "receipt": row }),
            );
        }
    }
    let newest = rows.first().map(|row| row.id.clone());
    *last = Some(newest.unwrap_or_default());
    Ok(())
}
