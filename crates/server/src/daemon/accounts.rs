//! Read-only requests for explanations and history: why skills fit a task, and earlier conversations; and links for browsers.

use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderMap, Method},
};
use metier::selection::{Risk, Task};
use metier_wire::{
    ConversationRow, ConversationsDocument, LinkDocument, RiskField, WhyDocument, WhyRequest,
};

use super::{
    access::Caller,
    answer::{ApiResult, JsonBody, Refusal, document, json},
    skills::Shared,
    state::WorkLane,
};

/// The document of `metier why`.
pub(super) async fn why(
    State(state): Shared,
    JsonBody(request): JsonBody<WhyRequest>,
) -> ApiResult {
    let risk = match request.risk {
        RiskField::Low => Risk::Low,
        RiskField::Medium => Risk::Medium,
        RiskField::High => Risk::High,
    };
    let (skill, limit) = (request.skill, request.limit.unwrap_or(usize::MAX));
    let task = Task {
        risk,
        ..Task::new(request.task)
    };
    let explained = state.work(WorkLane::Quick, move |state| {
        let now = state.live.current()?;
        let matches = now.workspace.why(now.usable(), task, skill.as_deref())?;
        let (accounts, incomplete) = matches.accounts();
        let shown = &accounts[..accounts.len().min(limit)];
        let about_one = skill.is_some();
        let why = WhyDocument::new(
            &matches,
            shown,
            incomplete.as_ref(),
            about_one,
            risk.as_str(),
        );
        let text = serde_json::to_vec(&why);
        Ok(Bytes::from(text.unwrap_or_default()))
    });
    Ok(json(explained.await?))
}

/// The conversations of this project that can be continued.
pub(super) async fn conversations(State(state): Shared) -> ApiResult {
    let listed = state.work(WorkLane::Quick, |state| {
        let workspace = state.live.current()?.workspace.clone();
        let all = workspace.conversations()?.list()?;
        let conversations = all.iter().map(ConversationRow::from).collect();
        Ok(ConversationsDocument { conversations })
    });
    Ok(document(&listed.await?))
}

/// Another link for a browser. Only a program with the token gets one: a page can't let others in.
pub(super) async fn link(State(state): Shared, headers: HeaderMap) -> ApiResult {
    let caller = state.access.caller(&Method::POST, &headers)?;
    if caller != Caller::Program {
        return Err(Refusal::new(403, "not-permitted", "a page can't create links").into());
    }
    let path = format!("/login?code={}", state.access.link()?);
    Ok(document(&LinkDocument { path }))
}
