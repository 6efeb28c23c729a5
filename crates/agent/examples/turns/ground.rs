//! The ground of these sessions: skills from a disk, a store on a disk, and a model that costs nothing.
//!
//! As the program's own ground, without its command line: skills are discovered and admitted once, a runtime is opened for each session, and
//! whatever a skill contains is read, hashed and scanned before it is used.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use metier_agent::{AgentContext, Chosen, Report};
use metier_catalog::{Entry, Limits, Options, Root, discover};
use metier_config::Config;
use metier_model::{Mode, Os, Source};
use metier_policy::{Facts, Headless, Meter, Rates, Terms};
use metier_runtime::{
    Inventory, Status,
    desk::{Asking, Desk},
    live::{self, Patience, Runtime},
    premises::{HostEnvironment, Premises},
    scanning::{Known, Scanner, Stance, Unscreened},
    survey,
};
use metier_store::Store;

use crate::Error;

/// The time of everything that is written.
pub(crate) const NOW: &str = "2026-01-02T03:04:05.678Z";

const PATIENCE: Duration = Duration::from_secs(10);

/// A machine that has everything that skills ask for.
struct Furnished;

impl Facts for Furnished {
    fn os(&self) -> Option<Os> {
        Some(Os::Linux)
    }

    fn has_program(&self, _: &str) -> bool {
        true
    }

    fn has_variable(&self, _: &str) -> bool {
        true
    }

    fn has_setting(&self, _: &str) -> bool {
        true
    }

    fn tools(&self) -> Option<&[String]> {
        None
    }
}

/// Where sessions of this program stand.
pub(crate) struct Disk {
    metier: PathBuf,
    folder: PathBuf,
    config: Arc<Config>,
    inventory: Arc<Inventory>,
    /// The skills that were approved before: those with code.
    approved: Vec<String>,
    chosen: Chosen,
    sessions: AtomicU64,
}

impl Disk {
    /// Skills of these folders and the built-in ones; `folder` is for everything that is written.
    pub(crate) fn new(
        metier: &Path,
        folder: &Path,
        roots: &[&Path],
        approved: &[&str],
        chosen: Chosen,
    ) -> Result<Self, Error> {
        let options = Options {
            mode: Mode::Lenient,
            limits: Limits {
                max_skills: 100_000,
                max_entries: 1_000_000,
                max_skill_bytes: 1 << 20,
                max_depth: 3,
                max_root_time: PATIENCE,
            },
            threads: 1,
            index: None,
            now: SystemTime::now(),
            builtins: true,
            progress: None,
        };
        let roots = roots.iter().map(|root| {
            let root = fs::canonicalize(root)?;
            Ok(Root::explicit(Source::User, root))
        });
        let roots = roots.collect::<Result<Vec<Root>, Error>>()?;
        let config = Config::default();
        let catalog = discover(roots, &options);
        let inventory = survey(
            catalog,
            &config,
            &Furnished,
            Mode::Lenient,
            &[],
            &Unscreened,
        );
        for place in ["runs", "project"] {
            fs::create_dir_all(folder.join(place))?;
        }
        Ok(Self {
            metier: metier.to_owned(),
            folder: fs::canonicalize(folder)?,
            inventory: Arc::new(inventory),
            config: Arc::new(config),
            approved: approved.iter().map(|&name| name.to_owned()).collect(),
            chosen,
            sessions: AtomicU64::new(0),
        })
    }

    /// How many skills a session may use.
    pub(crate) fn ready(&self) -> usize {
        let skills = self.inventory.skills.iter();
        skills.filter(|skill| skill.status == Status::Ready).count()
    }

    /// The database of all sessions.
    pub(crate) fn store(&self) -> Result<Store, Report> {
        let store = Store::open(&self.folder.join("metier.db"));
        store.map_err(|error| Report::broken("store", error.to_string()))
    }

    /// The same skills, and another model that answers.
    pub(crate) fn with(&self, chosen: Chosen) -> Self {
        Self {
            metier: self.metier.clone(),
            folder: self.folder.clone(),
            config: Arc::clone(&self.config),
            inventory: Arc::clone(&self.inventory),
            approved: self.approved.clone(),
            chosen,
            sessions: AtomicU64::new(self.sessions.load(Ordering::Relaxed)),
        }
    }

    fn terms(&self) -> Terms {
        Terms {
            rates: Rates {
                shell_exec: u64::MAX,
                net_fetch: u64::MAX,
                llm_call: u64::MAX,
            },
            shell_timeout: PATIENCE,
            fetch_timeout: PATIENCE,
            prefixes: None,
            project: self.folder.join("project"),
            home: None,
        }
    }
}

impl Disk {
    /// What a session and its sub-agents have in common.
    pub(crate) fn context(&self) -> AgentContext {
        let chosen = self.chosen.clone();
        AgentContext::new(
            Arc::clone(&self.inventory),
            Arc::clone(&self.config),
            move |_| Ok(chosen.clone()),
            || {
                Err(Report::new(
                    "sub-agent",
                    "these sessions start no sub-agents",
                ))
            },
            || NOW.to_owned(),
        )
    }

    /// A runtime for the next session.
    pub(crate) fn runtime(&self) -> Result<Runtime, Report> {
        let id = self.fresh_id();
        let (temporary, project) = (self.folder.join("runs"), self.folder.join("project"));
        let desk = Desk {
            store: self.store()?.into(),
            approver: Arc::new(Headless),
            approved_now: self.approved.clone(),
            approved: Vec::new(),
            terms: self.terms(),
            clock: Arc::new(SystemTime::now),
            meter: Meter::default(),
            session: id,
            warn: Arc::new(|_| {}),
            asking: Asking::default(),
        };
        let host = HostEnvironment {
            shim: self.metier.clone(),
            work: project,
            home: None,
            path: Some("/usr/bin:/bin".into()),
            common: Vec::new(),
            own: vec![self.folder.join("metier.db")],
            obeyed: Vec::new(),
            temporary: temporary.clone(),
            unsandboxed: false,
            stop: None,
        };
        let premises = Premises {
            desk: Arc::new(desk),
            config: Arc::clone(&self.config),
            variable: Arc::new(|_| None),
            host: Arc::new(host),
            compiled: temporary,
        };
        let patience = Patience {
            start: PATIENCE,
            end: PATIENCE,
            tool: PATIENCE,
            hook: PATIENCE,
        };
        let inventory = Arc::clone(&self.inventory);
        let judge = judge(Arc::clone(&self.config));
        Ok(Runtime::new(premises, inventory, judge, patience))
    }

    fn fresh_id(&self) -> String {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        format!("{number:016x}")
    }
}

/// As the program does: every byte is read and hashed, and what was scanned once is not scanned again.
fn judge(config: Arc<Config>) -> live::Judge {
    let scanner = Scanner::new(&config, Vec::new(), 0);
    let scanned = Mutex::new(BTreeSet::new());
    Arc::new(move |entry: &Entry| {
        let held = scanner.snapshot(entry).map_err(|error| error.to_string())?;
        let mut scanned = scanned.lock().unwrap_or_else(PoisonError::into_inner);
        if scanned.insert(held.digest.to_string()) {
            let (report, _) = scanner.scan_snapshot(entry, &held);
            let known = Known::of(&report).judged(&config, || false);
            if known.stance == Stance::Blocked {
                return Err(format!("it is blocked: {}", known.message));
            }
        }
        Ok(held)
    })
}
