//! The setup of these sessions: skills and a store on a disk, and a model that costs nothing.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use metier_agent::{AgentContext, ChosenModel, ErrorReport};
use metier_config::Config;
use metier_runtime::{Status, live::Runtime};
use metier_store::Store;

use crate::environment::{BenchEnvironment, Error, Judging};

/// The time that is used for everything that is written.
pub(crate) const NOW: &str = "2026-01-02T03:04:05.678Z";

/// Skills and a store on a disk.
pub(crate) struct Disk {
    stage: BenchEnvironment,
    database: PathBuf,
    /// The skills with code.
    approved: Vec<String>,
    chosen: ChosenModel,
    sessions: AtomicU64,
}

impl Disk {
    /// Skills of these folders and the built-in ones; `folder` is for everything that is written.
    pub(crate) fn new(
        metier: &Path,
        folder: &Path,
        roots: &[&Path],
        approved: &[&str],
        chosen: ChosenModel,
    ) -> Result<Self, Error> {
        Ok(Self {
            stage: BenchEnvironment::new(metier, folder, roots, true, Config::default())?,
            database: std::fs::canonicalize(folder)?.join("metier.db"),
            approved: approved.iter().map(|&name| name.to_owned()).collect(),
            chosen,
            sessions: AtomicU64::new(0),
        })
    }

    /// How many skills a session can use.
    pub(crate) fn ready(&self) -> usize {
        let skills = self.stage.inventory.skills.iter();
        skills.filter(|skill| skill.status == Status::Ready).count()
    }

    /// The database of all sessions.
    pub(crate) fn store(&self) -> Result<Store, ErrorReport> {
        let store = Store::open(&self.database);
        store.map_err(|error| ErrorReport::broken("store", error.to_string()))
    }

    /// These skills with another model.
    pub(crate) fn with(&self, chosen: ChosenModel) -> Self {
        Self {
            stage: self.stage.clone(),
            database: self.database.clone(),
            approved: self.approved.clone(),
            chosen,
            sessions: AtomicU64::new(self.sessions.load(Ordering::Relaxed)),
        }
    }
}

impl Disk {
    /// The values that a session and its sub-agents share.
    pub(crate) fn context(&self) -> AgentContext {
        let chosen = self.chosen.clone();
        AgentContext::new(
            Arc::clone(&self.stage.inventory),
            Arc::clone(&self.stage.config),
            move |_| Ok(chosen.clone()),
            || {
                Err(ErrorReport::new(
                    "sub-agent",
                    "these sessions start no sub-agents",
                ))
            },
            || NOW.to_owned(),
        )
    }

    /// A runtime for the next session. Each session scans what it uses.
    pub(crate) fn runtime(&self) -> Result<Runtime, ErrorReport> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        let id = format!("{number:016x}");
        let judging = Judging::new(&self.stage.config);
        let approved = self.approved.clone();
        let store = self.store()?;
        Ok(self
            .stage
            .open(store, &self.database, approved, &id, judging))
    }
}
