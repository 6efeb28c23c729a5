//! Requests about skills: lists, one skill, rendering, executing, its files and its tools.

use std::{
    collections::{HashMap, HashSet},
    path::Path as FilePath,
    sync::Arc,
};

use axum::{
    body::Bytes,
    extract::{Path, Query, State},
    http::Uri,
    response::Response,
};
use metier::{
    CurrentSkills, Error, SessionOptions, ShowOptions, Skill, Source,
    agent::Cancel,
    scans::ScanOptions,
    selection::{Risk, Task},
    skill::Status,
};
use metier_wire::{
    CallDocument, CallRequest, ComposeDocument, ComposeRequest, ExecuteRequest, ExecutedDocument,
    InfoDocument, ReadDocument, RenderRequest, RiskField, ScanDocument, ScanRequest, ScannedRow,
    SelectDocument, SelectRequest, ShowDocument, SkillsPage, ToolRow, ToolsDocument,
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    answer::{ApiError, ApiResult, JsonBody, Refusal, document, json},
    execute,
    state::{DaemonState, WorkLane},
};

/// How many skills the search ranks; others that contain the words follow.
const MAX_FOUND: usize = 200;

pub(super) type Shared = State<Arc<DaemonState>>;

/// The parameters of a list: filters, the search, and which page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    pub(super) query: Option<String>,
    pub(super) search: Option<String>,
    pub(super) status: Option<String>,
    pub(super) source: Option<String>,
    pub(super) agent: Option<String>,
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) scan: Option<String>,
    pub(super) names: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) cursor: Option<String>,
}

pub(super) async fn list(State(state): Shared, uri: Uri) -> ApiResult {
    let raw = uri.query().unwrap_or_default();
    let now = state.now().await?;
    if let Some(page) = state.pages.find(now.generation, raw) {
        return Ok(json(page));
    }
    let wanted = Query::<ListQuery>::try_from_uri(&uri);
    let Query(wanted) = wanted.map_err(|error| Refusal::usage(error.body_text()))?;
    let page = page(&state, &now, wanted).await?;
    state.pages.keep(now.generation, raw, &page);
    Ok(json(page))
}

/// A page of the list, as JSON.
pub(super) async fn page(
    state: &Arc<DaemonState>,
    now: &Arc<CurrentSkills>,
    wanted: ListQuery,
) -> Result<Bytes, ApiError> {
    let wanted = WantedPage::try_from(wanted)?;
    let now = Arc::clone(now);
    let written = state.work(WorkLane::Quick, move |_| Ok(wanted.write(&now)));
    written.await
}

/// A [`ListQuery`] that was checked.
struct WantedPage {
    words: Vec<String>,
    search: String,
    names: Option<HashSet<String>>,
    status: Option<Status>,
    source: Option<Source>,
    agent: Option<String>,
    kind: Option<String>,
    scan: Option<String>,
    limit: usize,
    start: usize,
}

impl TryFrom<ListQuery> for WantedPage {
    type Error = Refusal;

    fn try_from(query: ListQuery) -> Result<Self, Refusal> {
        let status = query.status.map(|word| {
            let mut all = Status::ALL.into_iter();
            let found = all.find(|status| status.as_str() == word);
            found.ok_or_else(|| {
                let all = Status::ALL.map(Status::as_str).join(", ");
                Refusal::usage(format!("there is no status `{}`", word.escape_debug()))
                    .hint(format!("one of: {all}"))
            })
        });
        let source = query.source.map(|word| {
            let source = word.parse::<Source>();
            source.map_err(|error| Refusal::usage(error.to_string()))
        });
        let start = query.cursor.map(|cursor| {
            let start = cursor.parse::<usize>();
            start.map_err(|_| Refusal::usage("invalid `cursor`"))
        });
        let names = query.names.as_deref();
        Ok(Self {
            words: words(&query.query.unwrap_or_default()),
            search: query.search.unwrap_or_default(),
            names: names.map(|names| names.split(',').map(str::to_owned).collect()),
            status: status.transpose()?,
            source: source.transpose()?,
            agent: query.agent,
            kind: query.kind,
            scan: query.scan,
            limit: query.limit.unwrap_or(usize::MAX),
            start: start.transpose()?.unwrap_or(0),
        })
    }
}

impl WantedPage {
    fn write(&self, now: &CurrentSkills) -> Bytes {
        let inventory = now.skills.inventory();
        let matching = self.matching(now);
        let end = self.start.saturating_add(self.limit).min(matching.len());
        let rows = matching.get(self.start..end).unwrap_or_default();
        let page = SkillsPage {
            inventory,
            rows,
            total: matching.len(),
            next_cursor: (end < matching.len() && self.limit > 0).then(|| end.to_string()),
            is_first: self.start == 0,
        };
        page.to_bytes().into()
    }

    /// Positions of the skills. In a search those that contain all words come first, then those that fit about as well as the best, as in `select`. The
    /// words of a search that is being typed are not whole yet: a search for whole words alone would lose skills between two letters.
    fn matching(&self, now: &CurrentSkills) -> Vec<usize> {
        let kept = now.skills.all().enumerate();
        let kept = kept.filter(|(_, skill)| self.is_kept(skill));
        let wanted = words(&self.search);
        if wanted.is_empty() {
            return kept.map(|(position, _)| position).collect();
        }
        let found = now.search(&self.search, MAX_FOUND);
        let best = found.first().map_or(f32::INFINITY, |(_, points)| *points);
        let points: HashMap<usize, f32> = found.into_iter().collect();
        let rank = |(position, skill): (usize, Skill<'_>)| {
            let points = points.get(&position).copied().unwrap_or(0.0);
            let has_words = has_words(&skill, &wanted);
            let is_wanted = has_words || points * 2.0 >= best;
            is_wanted.then_some((position, has_words, points))
        };
        let mut ranked: Vec<(usize, bool, f32)> = kept.filter_map(rank).collect();
        ranked.sort_by(|a, b| b.1.cmp(&a.1).then(b.2.total_cmp(&a.2)));
        ranked.into_iter().map(|(position, ..)| position).collect()
    }

    /// Whether a skill passes the filters.
    fn is_kept(&self, skill: &Skill<'_>) -> bool {
        let scan = skill.judged().scan.as_deref();
        let verdict = scan.map_or("unknown", |known| known.verdict.word());
        let card = skill.entry().card.as_ref();
        let mut types = card.into_iter().flat_map(|card| card.types.iter());
        let is =
            |wanted: &Option<String>, word: &str| wanted.as_deref().is_none_or(|it| it == word);
        let names = self.names.as_ref();
        self.status.is_none_or(|status| skill.status() == status)
            && names.is_none_or(|names| names.contains(&*skill.name()))
            && self.source.is_none_or(|source| skill.source() == source)
            && is(&self.agent, skill.agent().unwrap_or_default())
            && is(&self.scan, verdict)
            && self
                .kind
                .as_deref()
                .is_none_or(|kind| types.any(|known| known.as_str() == kind))
            && has_words(skill, &self.words)
    }
}

fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    text.split_whitespace().map(str::to_owned).collect()
}

/// Whether name and description of a skill contain all words.
fn has_words(skill: &Skill<'_>, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let text = format!("{} {}", skill.name(), skill.description()).to_lowercase();
    words.iter().all(|word| text.contains(word))
}

/// Runs work on one skill with the skills as they are now. A skill that is not ready in the kept list is read again first.
async fn about<T: Send + 'static>(
    state: &Arc<DaemonState>,
    lane: WorkLane,
    name: String,
    work: impl FnOnce(&DaemonState, &CurrentSkills, &str) -> Result<T, Error> + Send + 'static,
) -> Result<T, ApiError> {
    let done = state.work(lane, move |state| {
        let now = state.live.current_for(&name)?;
        work(state, &now, &name)
    });
    done.await
}

pub(super) async fn info(State(state): Shared, Path(name): Path<String>) -> ApiResult {
    let written = state.work(WorkLane::Quick, move |state| {
        let now = state.live.current_to_show(&name)?;
        let about = now.workspace.inspect(&name)?;
        let mut text = Vec::new();
        InfoDocument::from(&about).write(&mut text)?;
        Ok(Bytes::from(text))
    });
    Ok(json(written.await?))
}

pub(super) async fn render(
    State(state): Shared,
    Path(name): Path<String>,
    JsonBody(request): JsonBody<RenderRequest>,
) -> ApiResult {
    let lane = match request.no_exec {
        true => WorkLane::Quick,
        false => WorkLane::Long,
    };
    let shown = about(&state, lane, name, move |state, now, name| {
        let workspace = execute::asking(now, request.approvals, &state.questions);
        let how = ShowOptions {
            raw: request.raw,
            no_exec: request.no_exec,
        };
        let skill = workspace.find_ready(now.usable(), name)?;
        execute::show(&workspace, skill, &request.arguments, how)
    });
    Ok(document(&ShowDocument::from(shown.await?)))
}

pub(super) async fn execute_skill(
    State(state): Shared,
    Path(name): Path<String>,
    JsonBody(request): JsonBody<ExecuteRequest>,
) -> ApiResult {
    let cancel = CancelOnDrop::default();
    let executed = executed(&state, name, request, cancel.0.clone()).await;
    Ok(document(&executed?))
}

/// Executes a skill, for HTTP and for the WebSocket.
pub(super) async fn executed(
    state: &Arc<DaemonState>,
    name: String,
    request: ExecuteRequest,
    cancel: Cancel,
) -> Result<ExecutedDocument, ApiError> {
    let executed = about(state, WorkLane::Long, name, move |state, now, name| {
        let workspace = execute::asking(now, request.approvals, &state.questions);
        execute::execute(now, &workspace, name, &request, &cancel)
    });
    let executed = executed.await;
    let counter = &state.metrics.executed;
    counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    executed
}

/// Ends the work of a request whose client is gone.
#[derive(Default)]
pub(super) struct CancelOnDrop(pub(super) Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

pub(super) async fn file(
    State(state): Shared,
    Path((name, path)): Path<(String, String)>,
) -> ApiResult {
    let read = state.work(WorkLane::Quick, move |state| {
        let now = state.live.current_to_show(&name)?;
        let file = now.workspace.read(&name, &path)?;
        let text = serde_json::to_vec(&ReadDocument::of(&file, &path));
        Ok(Bytes::from(text.unwrap_or_default()))
    });
    Ok(json(read.await?))
}

pub(super) async fn tools(State(state): Shared, Path(name): Path<String>) -> ApiResult {
    let tools = about(&state, WorkLane::Long, name, |_, now, name| {
        now.workspace.tools(now.usable(), name)
    });
    let tools = tools.await?.into_iter().map(ToolRow::from).collect();
    Ok(document(&ToolsDocument { tools }))
}

pub(super) async fn all_tools(State(state): Shared) -> ApiResult {
    let tools = state.work(WorkLane::Long, |state| {
        let now = state.live.current()?;
        Ok(now.workspace.all_tools(now.usable()).tools)
    });
    let tools = tools.await?.into_iter().map(ToolRow::from).collect();
    Ok(document(&ToolsDocument { tools }))
}

pub(super) async fn call(
    State(state): Shared,
    Path((name, tool)): Path<(String, String)>,
    JsonBody(request): JsonBody<CallRequest>,
) -> ApiResult {
    let cancel = CancelOnDrop::default();
    let stop = cancel.0.flag();
    let called = about(&state, WorkLane::Long, name, move |state, now, name| {
        let workspace = execute::asking(now, request.approvals, &state.questions);
        let skill = workspace.find_ready(now.usable(), name)?;
        let options = SessionOptions {
            stop: Some(stop),
            ..SessionOptions::default()
        };
        let mut session = workspace.session(now.usable(), options)?;
        session.activate(&skill.path().to_string_lossy())?;
        let input = match request.input {
            Value::Null => Value::Object(serde_json::Map::new()),
            input => input,
        };
        let called = session.call_tool(&skill.name(), &tool, &input);
        let ended = session.end();
        let called = called?;
        ended?;
        Ok(CallDocument::from(&called))
    });
    Ok(document(&called.await?))
}

pub(super) async fn scan(
    State(state): Shared,
    JsonBody(request): JsonBody<ScanRequest>,
) -> ApiResult {
    Ok(document(&scanned(&state, request).await?))
}

/// Scans a skill, for HTTP and for the WebSocket.
pub(super) async fn scanned(
    state: &Arc<DaemonState>,
    request: ScanRequest,
) -> Result<ScanDocument, ApiError> {
    let scanned = match (request.name, request.path) {
        (Some(name), None) => {
            let scanned = about(state, WorkLane::Quick, name, |_, now, name| {
                let scanned = now.workspace.scan_named(name)?;
                Ok(vec![ScannedRow::from(&scanned)])
            });
            scanned.await?
        }
        (None, Some(path)) => {
            let scanned = state.work(WorkLane::Quick, move |state| {
                let now = state.live.current()?;
                check_scanned_path(&now, &path)?;
                let options = ScanOptions::default();
                let scanned = now.workspace.scan(&[&path], options)?;
                Ok(scanned.iter().map(ScannedRow::from).collect())
            });
            scanned.await?
        }
        _ => return Err(Refusal::usage("a scan needs either `name` or `path`").into()),
    };
    Ok(ScanDocument { skills: scanned })
}

/// Refuses a path that is neither a skill's folder nor in a folder of skills: a client can scan skills, not the whole machine.
fn check_scanned_path(now: &CurrentSkills, path: &str) -> Result<(), Error> {
    let machine = now.workspace.machine();
    let folder = machine.work.join(path);
    let is_skill = |folder: &FilePath| {
        let manifests = ["SKILL.md", "SKILL.yaml", "SKILL.yml"];
        manifests.iter().any(|name| folder.join(name).is_file())
    };
    let real = folder.canonicalize().map_err(|error| {
        let message = format!("`{}` can't be read: {error}", path.escape_debug());
        Error::unmet("not-found", message).hint("name a skill's folder, or a skill with `name`")
    })?;
    let roots = now.skills.inventory().catalog.roots.iter();
    let mut roots = roots.filter_map(|root| root.path.canonicalize().ok());
    let is_place = roots.any(|root| real.starts_with(root));
    match is_skill(&real) || is_place {
        true => Ok(()),
        false => {
            let message = format!("`{}` is not a skill's folder", path.escape_debug());
            let error = Error::unmet("path-refused", message).path(&real);
            Err(error.hint("it contains no SKILL.md, and is in no folder of skills"))
        }
    }
}

pub(super) async fn select(
    State(state): Shared,
    JsonBody(request): JsonBody<SelectRequest>,
) -> ApiResult {
    let risk = match request.risk {
        RiskField::Low => Risk::Low,
        RiskField::Medium => Risk::Medium,
        RiskField::High => Risk::High,
    };
    let task = Task {
        files: request.files.iter().map(Into::into).collect(),
        languages: request.languages,
        coding: request.coding,
        risk,
        domain: request.domain,
        ..Task::new(request.task)
    };
    let top = request.top.unwrap_or(usize::MAX);
    let selected = state.work(WorkLane::Quick, move |state| {
        let now = state.live.current()?;
        let matches = now.workspace.select(now.usable(), task);
        let mut selection = matches.selection();
        let required = selection.picks.iter().filter(|pick| pick.required).count();
        selection.picks.truncate(top.max(required));
        let text = serde_json::to_vec(&SelectDocument::new(&matches, &selection, risk.as_str()));
        Ok(Bytes::from(text.unwrap_or_default()))
    });
    Ok(json(selected.await?))
}

pub(super) async fn compose(
    State(state): Shared,
    JsonBody(request): JsonBody<ComposeRequest>,
) -> ApiResult {
    let composed = state.work(WorkLane::Quick, move |state| {
        let now = state.live.current()?;
        let set = now.workspace.compose(&request.skills, request.coding)?;
        let text = serde_json::to_vec(&ComposeDocument::from(&set));
        Ok(Bytes::from(text.unwrap_or_default()))
    });
    Ok(json(composed.await?))
}

/// Parameters of a query that has no separate type.
pub(super) fn parameters(uri: &Uri) -> Result<HashMap<String, String>, Refusal> {
    let parsed = Query::<HashMap<String, String>>::try_from_uri(uri);
    let Query(parsed) = parsed.map_err(|error| Refusal::usage(error.body_text()))?;
    Ok(parsed)
}

/// An answer without content.
pub(super) fn done() -> Response {
    document(&serde_json::json!({ "done": true }))
}
