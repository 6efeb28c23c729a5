//! Activation: five steps from a name to contributions.

use std::{path::PathBuf, sync::Arc};

use metier_catalog::{CatalogEntry, SkillLocation};
use metier_host::backend::SkillProcessError;
use metier_model::{HookPhase, SkillType, Types, Version, hooks::SkillHooks};
use metier_policy::{Grant, PermissionRequest, Purpose, ReasonKind};
use metier_schema::BoundedSchema;
use metier_sdk::wire::{Contributions, ToolSpec};
use metier_store::StoreError;

use super::{
    Active, CallError, Dispatched, HostApi, Runtime,
    dispatch::Notes,
    tools::{self, BadTool, Tool},
};
use crate::{
    InventorySkill, Status,
    approvals::{ActRecord, GrantRefused},
    granted_skill::ActError,
    guarded::Guarded,
    hooks::{self, NoDeno},
    inventory::NotFound,
    render::{LoadedSkill, RenderError},
    requests,
    skill_environment::StartError,
};

/// How deep skills may invoke each other.
pub(super) const MAX_DEPTH: usize = 8;

/// Why a skill is not active.
#[derive(Debug, thiserror::Error)]
pub enum ActivateError {
    /// No skill has that name.
    #[error("there is no skill `{}`", .0.name)]
    NotFound(NotFound),
    /// It can't be used.
    #[error("{0}")]
    Unusable(String),
    /// Its bytes are not those that the session started with.
    #[error("it changed since this session started; start a new session to use it")]
    Changed,
    /// It can't be read.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The skill is not permitted to run.
    #[error(transparent)]
    Refused(#[from] GrantRefused),
    /// Its program was not started.
    #[error(transparent)]
    Failed(#[from] ActError),
    /// It names no file to run, or one that does not exist.
    #[error("{0}")]
    Entrypoint(String),
    /// Its backend is not part of this build.
    #[error("this build of metier cannot run {language} skills: the feature `{feature}` is off")]
    LeftOut {
        /// Its language, for display.
        language: &'static str,
        /// The feature of the crate that adds the backend.
        feature: &'static str,
    },
    /// Its code did not start.
    #[error("{}", super::error::told(.0, "its code can't be loaded: ", "it "))]
    Session(SkillProcessError),
    /// Its hooks need Deno.
    #[error("its hooks require Deno, which is not available: {0}")]
    NoDeno(NoDeno),
    /// It contributes something that it must not.
    #[error("{0}")]
    Contribution(String),
    /// Its `activate` hook failed.
    #[error("its `activate` hook failed: {0}")]
    Hook(String),
    /// Skills invoke each other too deeply.
    #[error("{0}")]
    Chain(String),
}

impl From<StartError> for ActivateError {
    fn from(stopped: StartError) -> Self {
        match stopped {
            StartError::Refused(refused) => Self::Refused(refused),
            StartError::Failed(failed) => Self::Failed(failed),
        }
    }
}

impl Runtime {
    /// Opens a skill for its caller.
    pub(super) fn open(
        &self,
        entry: &CatalogEntry,
        caller: Option<&Active>,
    ) -> Result<Active, ActivateError> {
        let start = std::time::Instant::now();
        let loaded = self.loaded(entry)?;
        let hooks = hooks::of(&loaded.held);
        let mut request = self.requested(&loaded, &hooks);
        if self.describes {
            let identity = requests::identity(&loaded);
            let allowed = self
                .environment
                .approvals
                .allowed_before(&identity, &request);
            request = allowed.map_err(GrantRefused::from)?;
        }
        let granted = self.environment.grant_request(&loaded, &request)?;
        let (grant, own) = match caller {
            Some(caller) => (caller.worker.narrow(&granted), Some(granted.grant)),
            None => (granted, None),
        };
        let worker = Arc::new(self.environment.worker_with(&loaded, grant)?);
        let mut active = Active {
            identity: requests::identity(&loaded),
            types: loaded.manifest.card.types,
            folder: folder(entry),
            worker,
            loaded,
            hooks,
            session: None.into(),
            is_busy: Guarded::default(),
            confinement: None.into(),
            contributions: Contributions::default(),
            tools: Vec::new(),
            schemas: Vec::new(),
            changes: Guarded::new(false),
            callers: caller.map_or_else(Vec::new, Active::chain),
            said: Vec::new().into(),
            tried_with: None.into(),
            broken_hooks: Vec::new().into(),
        };
        active.report_ungranted(&request);
        let opened = self.begin(&mut active, own.as_ref());
        let ms = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        let went = match &opened {
            Ok(()) => ActRecord::well(ms),
            Err(error) => {
                ActRecord::badly(metier_store::ReceiptOutcome::Error, error.to_string(), ms)
            }
        };
        let went = ActRecord {
            sandbox: active.confinement.get().map(str::to_owned),
            ..went
        };
        let detail = active.callers.join(" → ");
        let noted = active.worker.record("skill:activate", &detail, &went);
        let noted = noted.and(active.worker.settle());
        if opened.is_err() {
            self.keep_said(&active);
            self.keep_receipts(&active);
        }
        opened?;
        noted.map_err(ActError::from)?;
        Ok(active)
    }

    /// The permissions that a skill and its hooks request.
    fn requested(&self, loaded: &LoadedSkill, hooks: &SkillHooks) -> PermissionRequest {
        let lines: Vec<&str> = hooks.commands.iter().map(|hook| &*hook.command).collect();
        let purpose = match loaded.manifest.card.backend.is_some() || !hooks.is_empty() {
            true => Purpose::Code(&lines),
            false => Purpose::Render(&[]),
        };
        let request = self.environment.request(loaded, purpose);
        request.with_hooks(hooks::wants(&loaded.manifest, &loaded.held, hooks))
    }

    pub(super) fn usable(&self, entry: &CatalogEntry) -> Result<(), ActivateError> {
        let mut skills = self.inventory.skills.iter();
        let skill = skills.find(|skill| std::ptr::eq(self.inventory.entry(skill), entry));
        match skill {
            Some(skill) if matches!(skill.status, Status::Ready | Status::Shadowed) => Ok(()),
            // The list knows only the last scan; the judge checks again.
            Some(skill) if skill.status == Status::Blocked && only_scan(skill) => Ok(()),
            Some(skill) => Err(ActivateError::Unusable(format!("it {}", skill.standing()))),
            None => Err(ActivateError::Unusable("it is not in the inventory".into())),
        }
    }

    /// Starts its code, checks its contributions, and calls its hook. `own` is its own grant, if it works for a skill with fewer
    /// permissions.
    fn begin(&self, active: &mut Active, own: Option<&Grant>) -> Result<(), ActivateError> {
        let (session, registered) = {
            let hands = HostApi {
                runtime: self,
                skill: active,
            };
            self.session(active, own, &hands)?
        };
        let Some(mut session) = session else {
            return Ok(());
        };
        active.contributions = session.contributions().clone();
        let events = session.events();
        *active.session.get_mut() = Some(session);
        self.happened(active, events).map_err(ActError::from)?;
        if self.tests.is_some() {
            return Ok(());
        }
        itself(active)?;
        declared(active, &registered)?;
        for hook in active
            .contributions
            .hooks
            .iter()
            .filter(|hook| hook.fail_closed())
        {
            if !active.is(SkillType::SecurityRule) {
                active.say(format!(
                    "its hook `{}` can't cancel a call by failing: only skills of the type `security-rule` can",
                    hook.phase()
                ));
            }
        }
        let (name, source) = (active.name(), active.identity.source);
        active.tools = tools::named(name, source, &described(active))
            .map_err(|error| ActivateError::Contribution(error.to_string()))?;
        let schema = |tool: &Tool| {
            BoundedSchema::new(&tool.spec.input_schema).map_err(|error| {
                let name = &tool.spec.name;
                let bad = BadTool::Refused(name.clone(), error);
                ActivateError::Contribution(bad.to_string())
            })
        };
        active.schemas = active.tools.iter().map(schema).collect::<Result<_, _>>()?;
        if self.describes || active.hook(HookPhase::Activate).is_none() {
            return Ok(());
        }
        let event = serde_json::json!({ "skill": active.name() });
        self.answer(active, HookPhase::Activate, &event)
            .map(drop)
            .map_err(|error| ActivateError::Hook(error.to_string()))
    }

    /// Calls the deactivation hook of a skill, and ends its code.
    pub(super) fn close(&self, active: &Active) -> Result<(), CallError> {
        let mut hook = Ok(());
        // Its code is always ended, even when the answers can't be read.
        let is_called = !self.describes && !active.worker.is_withdrawn().unwrap_or(true);
        if is_called && active.hook(HookPhase::Deactivate).is_some() {
            let mut event = Dispatched {
                event: serde_json::json!({ "skill": active.name() }),
                cancelled: None,
            };
            let mut notes = Notes::default();
            hook = self
                .handle(active, HookPhase::Deactivate, &mut event, &mut notes)
                .and_then(|()| self.write_down(&mut notes));
        }
        self.end_code(active)?;
        active
            .worker
            .record("skill:deactivate", "", &ActRecord::well(0))?;
        self.keep_receipts(active);
        Ok(hook?)
    }

    /// Ends the code of a skill, and records its last events.
    pub(super) fn end_code(&self, active: &Active) -> Result<(), StoreError> {
        let session = active.session.take();
        if let Some(session) = session {
            let hands = HostApi {
                runtime: self,
                skill: active,
            };
            let events = session.close(&hands, self.patience.end);
            self.happened(active, events)?;
        }
        self.keep_said(active);
        // Its connections are closed with it: its hosts and its exit are recorded before its own end.
        active.worker.end()
    }

    fn keep_receipts(&self, active: &Active) {
        let receipts = active.worker.take_receipts();
        self.receipts.lock().append(receipts);
    }
}

impl Active {
    /// The chain of skills that invoked it, and itself.
    pub(super) fn chain(&self) -> Vec<String> {
        let mut chain = self.callers.clone();
        chain.push(self.name().to_owned());
        chain
    }
}

fn only_scan(skill: &InventorySkill) -> bool {
    let mut reasons = skill.reasons.iter();
    reasons.all(|reason| reason.kind == ReasonKind::Scan)
}

/// A skill's own path to its files. A built-in skill has no folder; its name is used instead.
fn folder(entry: &CatalogEntry) -> PathBuf {
    match &entry.place {
        SkillLocation::Folder(path) => path.clone(),
        SkillLocation::Builtin(_) => PathBuf::from(format!("/builtin:{}", entry.name())),
        SkillLocation::Remote(skill) => PathBuf::from(format!("/{}", skill.address())),
    }
}

/// Whether the code belongs to this skill, if it declares a name: a library built for another skill or version was left there by
/// mistake.
fn itself(active: &Active) -> Result<(), ActivateError> {
    let Some(said) = &active.contributions.manifest else {
        return Ok(());
    };
    let (name, card) = (active.name(), &active.loaded.manifest.card);
    // `1.2` and `1.2.0` are one version.
    let same = |version: &Version| match (version.semver(), Version::new(&said.version).semver()) {
        (Some(one), Some(other)) => one == other,
        _ => version.as_str() == said.version,
    };
    let version = card.version.as_ref();
    if said.name == name && version.is_none_or(same) {
        return Ok(());
    }
    let version = version.map_or_else(String::new, |version| format!(" {version}"));
    Err(ActivateError::Contribution(format!(
        "its code declares `{} {}`, but SKILL.yaml declares `{name}{version}`: rebuild it or fix SKILL.yaml",
        said.name, said.version
    )))
}

/// The tools of a skill. The manifest's description of a tool takes precedence over the code's, because the user approved the
/// manifest.
fn described(active: &Active) -> Vec<ToolSpec> {
    let declared = &active.loaded.manifest.code.tools;
    let tools = active.contributions.tools.iter().cloned();
    tools
        .map(|mut spec| {
            if let Some(tool) = declared.iter().find(|tool| *tool.name == *spec.name) {
                if !tool.description.trim().is_empty() {
                    spec.description = tool.description.to_string();
                }
                if let Some(schema) = &tool.input_schema {
                    spec.input_schema = schema.clone();
                }
            }
            spec
        })
        .collect()
}

/// Whether the code of a skill contributes exactly its declarations. Hooks in the formats of other agents can't declare
/// anything; they can't change an answer either.
fn declared(active: &Active, offered: &Contributions) -> Result<(), ActivateError> {
    let first = |names: Vec<&str>| names.first().map(|name| (*name).to_owned());
    let kinds = [
        (
            SkillType::Tool,
            "the tool",
            first(
                offered
                    .tools
                    .iter()
                    .map(|tool| tool.name.as_str())
                    .collect(),
            ),
        ),
        (
            SkillType::Workflow,
            "the workflow",
            first(
                offered
                    .workflows
                    .iter()
                    .map(|flow| flow.name.as_str())
                    .collect(),
            ),
        ),
        (
            SkillType::SecurityRule,
            "the scanner",
            first(
                offered
                    .scanners
                    .iter()
                    .map(|scanner| scanner.name.as_str())
                    .collect(),
            ),
        ),
        (
            SkillType::Transform,
            "the hook",
            offered
                .hooks
                .iter()
                .find(|hook| hook.phase() == HookPhase::AfterResponse)
                .map(|hook| hook.phase().to_string()),
        ),
    ];
    for (kind, what, name) in kinds {
        if let Some(name) = name.filter(|_| !active.is(kind)) {
            let kind = kind.as_str();
            return Err(ActivateError::Contribution(format!(
                "it registers {what} `{name}`, but `{kind}` is not one of its types ({}): add it in SKILL.yaml",
                words(active.types)
            )));
        }
    }
    let registered = |name: &str| offered.tools.iter().any(|tool| tool.name == name);
    let missing = active.loaded.manifest.code.tools.iter();
    match missing.into_iter().find(|tool| !registered(&tool.name)) {
        Some(tool) => Err(ActivateError::Contribution(format!(
            "it declares the tool `{}` but does not register it: register it in the code, or remove it from `tools` in SKILL.yaml",
            tool.name
        ))),
        None => Ok(()),
    }
}

fn words(types: Types) -> String {
    let words: Vec<&str> = types.iter().map(SkillType::as_str).collect();
    words.join(", ")
}
