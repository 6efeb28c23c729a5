//! The documents and requests of the daemon.

use super::{NamedSchema, generator, one_of};
use crate::{
    ApplyInstallRequest, ApplyUpdateRequest, ApprovalsDocument, ExecutedDocument,
    InstallPlanDocument, LinkDocument, OffersDocument, OffersRequest, PlanInstallRequest,
    PlanUpdateRequest, ProgressDocument, RefreshDocument, RemoveRequest, RestoreRequest,
    SessionRow, SessionsDocument, SkillsChangedDocument, StatusDocument, UndoRequest,
    UpdatePlanDocument,
    requests::{
        AnswerRequest, CallRequest, ComposeRequest, ExecuteRequest, ForgetRequest, MessageRequest,
        PermitRequest, RenderRequest, ScanRequest, SelectRequest, SocketRequest, StartRequest,
        WhyRequest,
    },
    served::SkillsPageShape,
};

macro_rules! shape {
    ($name:literal, $about:literal, $shape:ty) => {
        NamedSchema {
            name: $name,
            about: $about,
            make: || {
                let mut generator = generator();
                let shape = generator.subschema_for::<$shape>().to_value();
                one_of(generator, vec![shape])
            },
        }
    };
}

/// Sorted by name. Requests have names that end with `_request`.
pub(super) const SERVED: &[NamedSchema] = &[
    shape!("answer_request", "An answer to a question", AnswerRequest),
    shape!(
        "apply_install_request",
        "Decisions about a plan to install skills",
        ApplyInstallRequest
    ),
    shape!(
        "apply_update_request",
        "Decisions about a plan to update skills",
        ApplyUpdateRequest
    ),
    shape!("approvals", "Unanswered questions", ApprovalsDocument),
    shape!("call_request", "A call of a tool", CallRequest),
    shape!("compose_request", "A set of skills", ComposeRequest),
    shape!("execute_request", "How a skill is executed", ExecuteRequest),
    shape!(
        "executed",
        "The result of executing a skill",
        ExecutedDocument
    ),
    shape!("forget_request", "Answers to forget", ForgetRequest),
    shape!(
        "install_plan",
        "A plan to install skills",
        InstallPlanDocument
    ),
    shape!("link", "A link for a browser", LinkDocument),
    shape!("message_request", "A message to an agent", MessageRequest),
    shape!(
        "permit_request",
        "An answer about permissions",
        PermitRequest
    ),
    shape!("offers", "The skills of a source", OffersDocument),
    shape!("offers_request", "A source", OffersRequest),
    shape!(
        "plan_install_request",
        "Which skills to fetch and scan",
        PlanInstallRequest
    ),
    shape!(
        "plan_update_request",
        "Which skills to compare with their sources",
        PlanUpdateRequest
    ),
    shape!("progress", "The progress of long work", ProgressDocument),
    shape!("refresh", "A new listing of the skills", RefreshDocument),
    shape!("remove_request", "Skills to remove", RemoveRequest),
    shape!("restore_request", "A removed skill", RestoreRequest),
    shape!("render_request", "How a skill is rendered", RenderRequest),
    shape!("scan_request", "What to scan", ScanRequest),
    shape!(
        "select_request",
        "A task to select skills for",
        SelectRequest
    ),
    shape!("session", "A session of an agent", SessionRow),
    shape!("sessions", "Sessions of agents", SessionsDocument),
    shape!("skills_changed", "Changes of skills", SkillsChangedDocument),
    shape!(
        "skills_page",
        "A part of the list of skills",
        SkillsPageShape
    ),
    shape!(
        "socket_request",
        "A message over the WebSocket",
        SocketRequest
    ),
    shape!("start_request", "A task for an agent", StartRequest),
    shape!("status", "The state of the daemon", StatusDocument),
    shape!("undo_request", "The change to undo", UndoRequest),
    shape!("update_plan", "A plan to update skills", UpdatePlanDocument),
    shape!("why_request", "A task to explain", WhyRequest),
];
