//! # metier-wire — the shapes that clients see
//!
//! **Problem.** Scripts, editors and other agents rely on our JSON; two interfaces that print the same
//! thing in two shapes break them.
//!
//! **Goals.** One owner for every client-facing shape; documents of ten thousand skills written
//! without building them in memory first.
//!
//! **In → out.** [`Inventory`](metier_runtime::Inventory) → [`ListDocument`]; skill + manifest → [`InfoDocument`]; … → `serde::Serialize`.
//!
//! **Invariants.** no I/O · keys are snake_case · paths are absolute · existing fields keep their meaning, more can be added.
//!
//! **Start reading at** `list.rs`, then `info.rs`.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod baseline;
#[cfg(feature = "run")]
mod check;
mod compose;
mod conversation;
mod documents;
mod evaluation;
#[cfg(feature = "agent")]
mod event;
mod facade;
mod info;
#[cfg(feature = "hub")]
mod install;
mod json;
mod list;
#[cfg(feature = "run")]
mod live;
mod manifest;
mod package;
mod permission;
#[cfg(feature = "hub")]
mod plans;
#[cfg(feature = "hub")]
mod registry;
mod requests;
mod scan;
#[cfg(feature = "schema")]
mod schema;
mod select;
mod served;
mod serving;
#[cfg(feature = "hub")]
mod upkeep;

pub use baseline::Baseline;
#[cfg(feature = "run")]
pub use check::{CheckDocument, CheckRow, CheckSummary};
pub use compose::{ComposeDocument, ComposeTools, FaultRow};
pub use conversation::{AnswerDocument, ConversationRow, ConversationsDocument, UsageRow};
pub use documents::{
    Check, ConfigChangeDocument, ConfigDocument, ConfigValue, Doctor, ErrorBody, ErrorChoice,
    ErrorDocument, NewDocument, NextRow, OverviewDocument, PromptDocument, PromptSkill,
    ReadDocument, RootRow, SchemaRow, SchemasDocument, ShowDocument, TrustDocument, TrustRow,
    ValidateDocument, Validated,
};
pub use evaluation::{
    CollidingRow, CollisionRow, CollisionsDocument, CompetingSkillRow, ConfusionRow, EvalDocument,
    EvalSummary, HelpfulWordRow, ImproveDocument, LostQueryRow, QueryProblemRow, QueryRow,
};
#[cfg(feature = "agent")]
pub use event::event_document;
pub use info::{HookRow, InfoDocument};
#[cfg(feature = "hub")]
pub use install::{
    ChangeRow, ChangesDocument, FileChangesRow, InstallBeforeRow, InstallDocument,
    InstallFindingRow, InstallRow, ObstacleRow, RemoveDocument, RemovedRow, VerifiedRow,
    VerifyDocument,
};
pub use list::{DiagnosticRow, ListCounts, ListDocument, ReasonRow};
#[cfg(feature = "run")]
pub use live::{CallDocument, TestDocument, TestRow, ToolRow, ToolsDocument};
pub use manifest::{to_json as manifest, without_effect};
pub use package::{KeyDocument, PackDocument, PackedFileRow, SignatureDocument};
pub use permission::{
    AnswerRow, AnswersDocument, CommandRow, DepsDocument, ExecDocument, InstallerRow, LogDocument,
    PermissionRow, ReceiptRow, SkillPermissions,
};
#[cfg(feature = "hub")]
pub use plans::{
    ApplyInstallRequest, ApplyUpdateRequest, EditsField, InstallChoice, InstallPlanDocument,
    NoticeDocument, OffersDocument, OffersRequest, PlanInstallRequest, PlanUpdateRequest,
    PlannedRow, PlannedUpdateRow, ProgressDocument, RemoveRequest, RestoreRequest, ScopeField,
    SourceOfferRow, UndoRequest, UpdateChoice, UpdatePlanDocument,
};
#[cfg(feature = "hub")]
pub use registry::{
    LoginDocument, PublishDocument, PublishedFinding, SearchDocument, SearchRow, YankDocument,
};
pub use requests::{
    AnswerField, AnswerRequest, ApprovalsField, ArgumentsField, CallRequest, ComposeRequest,
    DecisionField, ExecuteRequest, ForgetRequest, MessageRequest, PermitRequest, RenderRequest,
    RiskField, ScanRequest, SelectRequest, SocketExecute, SocketRequest, StartRequest, WhyRequest,
};
pub use scan::{AcceptanceRow, FindingRow, Observed, ScanDocument, ScannedRow, UnreadRow, sarif};
#[cfg(feature = "schema")]
pub use schema::{NamedSchema, schemas, served_schemas};
pub use select::{
    AccountRow, CodingRow, EvidenceRow, GateRow, LackRow, MissRow, NearMissRow, PickRow,
    ProjectRow, RefusedRow, RerankRow, SelectDocument, ShareRow, SignalRow, WhyDocument,
};
pub use served::{
    AgentSkillsRow, ApprovalRow, ApprovalsDocument, BrokenSkillRow, ExecutedDocument, LinkDocument,
    OfferRow, RefreshDocument, SessionRow, SessionsDocument, SkillsChangedDocument, SkillsPage,
    SourceRow, StatusDocument, WatchRow,
};
pub use serving::{FoundSkillRow, FoundSkillsPage, ModelSkillsPage, skill_entry, text_of};
#[cfg(feature = "hub")]
pub use upkeep::{
    DepsTreeDocument, DifferenceRow, FileDiffRow, OutdatedDocument, OutdatedRow, ProblemRow,
    ProfileRow, ProfilesDocument, RequiredRow, RevisionRow, SwitchDocument, SwitchRow,
    SyncDocument, SyncRow, UpdateDocument, UpdateRow,
};
