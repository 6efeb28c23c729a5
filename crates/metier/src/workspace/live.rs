//! The inventory of a long-running program.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use metier_catalog::{CatalogEntry, Snapshot};
use metier_config::{ConfigProblem, Origin};
use metier_runtime::Inventory;

use super::{AgentFiles, PROJECT_CONFIG, Workspace, problem_failure};
use crate::{
    Error, NoticeLevel,
    last_good::{LastGood, SubstitutedSkills},
    learned_verdicts::LearnedVerdicts,
    scan_gate::GateFacts,
    serving::SkillResourceCache,
    watched_folders::WatchedPlaces,
};

/// The versions of skills that a long-running program keeps.
#[derive(Clone)]
pub(crate) struct LiveVersions {
    /// The versions that were used last.
    pub(crate) last_good: Arc<LastGood>,
    /// Verdicts that scans returned and that were not written yet.
    pub(crate) learned: Arc<LearnedVerdicts>,
    /// The entries of published skills.
    pub(crate) published: Arc<SkillResourceCache>,
    /// The last good versions that are used instead of broken ones now.
    pub(crate) substituted: Arc<SubstitutedSkills>,
    /// The skills, if this workspace is that of one moment: its methods don't list them again.
    pub(crate) known: Option<KnownSkills>,
}

/// The skills of one moment.
#[derive(Clone)]
pub(crate) struct KnownSkills {
    /// The skills that can be used.
    pub(crate) usable: Arc<Inventory>,
    /// The generation of their list, and that of the list that is known to be up to date; 0 if none is.
    pub(crate) generation: u64,
    pub(crate) certain: Arc<AtomicU64>,
    /// The facts that decide about these skills, built on first use.
    pub(crate) facts: Arc<OnceLock<Arc<GateFacts>>>,
}

impl KnownSkills {
    /// The facts that decide about these skills. A session can outlive its list; then they are rebuilt.
    pub(crate) fn facts(&self, make: impl FnOnce() -> Arc<GateFacts>) -> Arc<GateFacts> {
        match self.certain.load(Ordering::Acquire) == self.generation {
            true => Arc::clone(self.facts.get_or_init(make)),
            false => make(),
        }
    }
}

/// Every skill as it is, and as it can be used: with last good versions of those that can't be read, if there are any.
pub(crate) struct LiveInventory {
    pub(crate) found: Inventory,
    pub(crate) usable: Option<(Inventory, SubstitutedSkills)>,
}

/// Inode, size and time of the file of verdicts.
pub(crate) type VerdictsState = (u64, u64, i64, i64);

impl Workspace {
    /// This workspace now: configuration and time are read again, the database stays open, and what was reported before is not repeated.
    pub(crate) fn live_reopened(&self) -> Result<Self, Error> {
        let live = self.live.clone().map(|live| LiveVersions {
            known: None,
            ..live
        });
        let workspace = Self {
            warned: Arc::clone(&self.warned),
            stores: self.stores.clone(),
            #[cfg(feature = "run")]
            shared_store: Arc::clone(&self.shared_store),
            #[cfg(feature = "mcp")]
            mcp: Arc::clone(&self.mcp),
            live,
            ..Self::open_anyway(self.settings.renewed())?
        };
        let own = |problem: &&ConfigProblem| {
            problem.is_error() && !matches!(problem.origin, Origin::Project(_))
        };
        if let Some(problem) = workspace.problems.iter().find(own) {
            return Err(problem_failure(problem));
        }
        if workspace.problems != self.problems {
            for problem in workspace.problems.iter() {
                let line = problem.to_string();
                workspace.notices.notice(NoticeLevel::Warning, &line);
            }
        }
        Ok(workspace)
    }

    /// Every skill, judged for any agent, or for metier's own.
    pub(crate) fn live_inventory(
        &self,
        last_good: &LastGood,
        is_for_own_agent: bool,
    ) -> Result<LiveInventory, Error> {
        let agent = AgentFiles::read(self);
        let (roots, builtins) = self.roots(&agent)?;
        let mode = self.mode();
        let catalog = self.look(roots, builtins, mode, self.index().as_ref(), self.limits());
        #[cfg(feature = "agent")]
        let tools = match &self.config.agent.tools {
            None if is_for_own_agent => Some(self.own_agent_tools(&catalog)),
            _ => None,
        };
        #[cfg(not(feature = "agent"))]
        let tools: Option<Vec<String>> = {
            let _ = is_for_own_agent;
            None
        };
        let judge = |catalog| self.judge(catalog, mode, &agent.selection, tools.as_deref());
        let substituted = last_good.substitute(&catalog);
        Ok(LiveInventory {
            found: judge(catalog),
            usable: substituted.map(|(catalog, skills)| (judge(catalog), skills)),
        })
    }

    /// The current skills, to which this workspace belongs.
    pub(crate) fn known_skills(&self) -> Option<&KnownSkills> {
        self.live.as_ref()?.known.as_ref()
    }

    /// The inventory of that moment.
    pub(crate) fn known_inventory(&self) -> Option<&Arc<Inventory>> {
        Some(&self.known_skills()?.usable)
    }

    /// The last good version of a skill, if its folder has a broken one now.
    pub(crate) fn substituted(&self, entry: &CatalogEntry) -> Option<&Arc<Snapshot>> {
        let live = self.live.as_ref()?;
        live.substituted.get(&*entry.place.path())
    }

    /// The decisions about skills in the database: a list depends on it.
    pub(crate) fn judgements(&self) -> Result<Vec<String>, Error> {
        let Some(store) = self.existing_store()? else {
            return Ok(Vec::new());
        };
        let trusted = store.trusted()?.into_iter();
        let trusted = trusted.map(|one| format!("{} {}", one.folder.display(), one.at));
        let accepted = store.all_accepted()?.into_iter();
        Ok(trusted
            .chain(accepted.map(|one| format!("{} {}", one.digest, one.at)))
            .collect())
    }

    /// The file of verdicts as it is now; `None` if there is none.
    pub(crate) fn verdicts_state(&self) -> Option<VerdictsState> {
        let file = fs::metadata(self.index()?.folder.join("verdicts")).ok()?;
        Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
    }

    /// Files and folders whose changes matter, whether they exist or not.
    pub(crate) fn watched_places(&self) -> WatchedPlaces {
        let machine = &*self.machine;
        let project = &machine.project;
        let files = ["AGENT.md", "AGENTS.md", PROJECT_CONFIG, "metier.lock"];
        let mut whole: BTreeSet<PathBuf> = self.obeyed().into_iter().collect();
        whole.extend(files.map(|file| project.join(file)));
        let verdicts = self.index().map(|index| index.folder.join("verdicts"));
        let mut records: BTreeSet<PathBuf> = verdicts.into_iter().collect();
        if let Some(database) = &machine.database {
            whole.insert(database.with_file_name("metier.lock"));
            let mut log = database.clone().into_os_string();
            log.push("-wal");
            records.extend([database.clone(), log.into()]);
        }
        // A program that is installed makes skills ready.
        let programs = machine.path.as_deref().map(std::env::split_paths);
        let programs = programs.into_iter().flatten();
        WatchedPlaces {
            whole,
            flat: programs.filter(|folder| folder.is_absolute()).collect(),
            records,
        }
    }
}
