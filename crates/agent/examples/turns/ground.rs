//! The ground of these sessions: skills from a disk, a store on a disk, and a model that costs nothing.
//!
//! As the program's own ground, without its command line: skills are discovered and admitted once, a runtime is opened for each session, and
//! whatever a skill contains is read, hashed and scanned before it is used.

use std::{
    cell::RefCell,
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use metier_agent::{Chosen, Ground, Report};
use metier_catalog::{Entry, Limits, Options, Root, discover};
use metier_config::Config;
use metier_model::{Mode, Os, Source};
use metier_policy::{Facts, Headless, Meter, Rates, Terms};
use metier_runtime::{
    Inventory, Status,
    desk::Desk,
    live::{self, Patience, Runtime},
    premises::Premises,
    scanning::{Known, Scanner, Stance, Unscreened},
    survey,
};
use metier_store::Store;

use crate::Error;

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
    config: Config,
    inventory: Inventory,
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
        for place in ["runs", "project"] {
            fs::create_dir_all(folder.join(place))?;
        }
        Ok(Self {
            metier: metier.to_owned(),
            folder: fs::canonicalize(folder)?,
            inventory: survey(
                catalog,
                &config,
                &Furnished,
                Mode::Lenient,
                &[],
                &Unscreened,
            ),
            config,
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

    /// The same skills, and somebody else who answers.
    pub(crate) fn with(self, chosen: Chosen) -> Self {
        Self { chosen, ..self }
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

impl Ground for Disk {
    fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    fn config(&self) -> &Config {
        &self.config
    }

    fn open(
        &self,
        id: &str,
        voice: &dyn live::Model,
        work: &mut dyn FnMut(&Runtime<'_>),
    ) -> Result<(), Report> {
        let store = self.store()?;
        let (temporary, project) = (self.folder.join("runs"), self.folder.join("project"));
        let premises = Premises {
            desk: Desk {
                store: &store,
                approver: &Headless,
                approved_now: &self.approved,
                approved: &[],
                terms: self.terms(),
                clock: &SystemTime::now,
                meter: Meter::default(),
                session: id.to_owned(),
                warn: &|_| {},
                asking: metier_runtime::desk::Asking::default(),
            },
            config: &self.config,
            variable: &|_| None,
            shim: &self.metier,
            work: &project,
            home: None,
            path: Some("/usr/bin:/bin".as_ref()),
            common: &[],
            stop: None,
            own: &[self.folder.join("metier.db")],
            obeyed: &[],
            temporary: &temporary,
            compiled: &temporary,
            unsandboxed: false,
        };
        let scanner = Scanner::new(&self.config, Vec::new(), 0);
        let scanned = RefCell::new(BTreeSet::new());
        let judge = |entry: &Entry| {
            let held = scanner.snapshot(entry).map_err(|error| error.to_string())?;
            if scanned.borrow_mut().insert(held.digest.to_string()) {
                let (report, _) = scanner.scan_snapshot(entry, &held);
                let known = Known::of(&report).judged(&self.config, || false);
                if known.stance == Stance::Blocked {
                    return Err(format!("it is blocked: {}", known.message));
                }
            }
            Ok(held)
        };
        let patience = Patience {
            start: PATIENCE,
            end: PATIENCE,
            tool: PATIENCE,
            hook: PATIENCE,
        };
        let runtime = Runtime::new(&premises, &self.inventory, &judge, patience).with_model(voice);
        work(&runtime);
        let ended = runtime.end();
        ended.map_err(|error| Report::broken("runtime", error.to_string()))
    }

    fn model(&self, _: Option<&str>) -> Result<Chosen, Report> {
        Ok(self.chosen.clone())
    }

    fn now(&self) -> String {
        "2026-01-02T03:04:05.678Z".to_owned()
    }

    fn fresh_id(&self) -> Result<String, Report> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        Ok(format!("{number:016x}"))
    }
}
