//! A runtime on folders of skills, without the command line around it. The benchmarks of `crates/agent` use this file too.
#![allow(dead_code, reason = "each program uses a part of it")]

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use metier_catalog::{CatalogEntry, DiscoveryLimits, DiscoveryOptions, Root, discover};
use metier_config::Config;
use metier_model::{Os, Source, Strictness};
use metier_policy::{ActMeter, Facts, GrantTerms, Headless, Rates};
use metier_runtime::{
    AdmittedSnapshot, Inventory,
    approvals::{Approvals, AskedQuestions},
    live::{CallTimeouts, Runtime},
    scanning::{KnownVerdict, Scanner},
    skill_environment::{HostEnvironment, SkillEnvironment},
    survey,
};
use metier_store::Store;

pub(crate) type Error = Box<dyn std::error::Error>;
pub(crate) type Outcome = Result<(), Error>;

const SESSION: &str = "0123456789abcdef";
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

#[allow(
    clippy::print_stdout,
    reason = "printing is what these programs are for"
)]
pub(crate) fn tell(name: &str, value: f64) {
    println!("{name} {value:.3}");
}

/// The median time of one piece of work, in microseconds; the time of `after` is not counted.
pub(crate) fn median(
    rounds: usize,
    mut work: impl FnMut() -> Outcome,
    mut after: impl FnMut() -> Outcome,
) -> Result<f64, Error> {
    let mut times = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        after()?;
    }
    times.sort_by(f64::total_cmp);
    times.get(rounds / 2).copied().ok_or("no rounds".into())
}

pub(crate) fn nothing() -> Outcome {
    Ok(())
}

/// A machine that has everything a skill can require.
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

/// The environment of a session, except its database.
#[derive(Clone)]
pub(crate) struct BenchEnvironment {
    metier: PathBuf,
    /// The folder for everything that sessions write.
    folder: PathBuf,
    pub(crate) config: Arc<Config>,
    pub(crate) inventory: Arc<Inventory>,
    judging: Arc<Judging>,
}

/// Scans skills before they are used.
pub(crate) struct Judging {
    config: Arc<Config>,
    scanner: Scanner,
    /// The verdicts on the skills that were scanned, by digest.
    scanned: Mutex<BTreeMap<String, KnownVerdict>>,
    /// The duration of the last judgement.
    took: Mutex<Duration>,
}

impl Judging {
    pub(crate) fn new(config: &Arc<Config>) -> Arc<Self> {
        Arc::new(Self {
            config: Arc::clone(config),
            scanner: Scanner::new(config, Vec::new(), 0),
            scanned: Mutex::default(),
            took: Mutex::default(),
        })
    }

    /// As in the program: every byte is read and hashed, and the same bytes are scanned once.
    fn judge(&self, entry: &CatalogEntry) -> Result<AdmittedSnapshot, String> {
        let start = Instant::now();
        let held = self.scanner.snapshot(entry);
        let held = held.map_err(|error| error.to_string())?;
        let mut scanned = self.scanned.lock().unwrap_or_else(PoisonError::into_inner);
        let known = scanned.entry(held.digest.to_string()).or_insert_with(|| {
            let (report, _) = self.scanner.scan_snapshot(entry, &held);
            // A compiled program can't be scanned; users have to accept it.
            let is_program = entry.name() == "compiled";
            KnownVerdict::of(&report).judged(&self.config, || is_program)
        });
        let admitted = AdmittedSnapshot::with_verdict(held, known);
        *self.took.lock().unwrap_or_else(PoisonError::into_inner) = start.elapsed();
        admitted.ok_or_else(|| format!("it is blocked: {}", known.message))
    }
}

impl BenchEnvironment {
    /// With the skills of these folders.
    pub(crate) fn new(
        metier: &Path,
        folder: &Path,
        roots: &[&Path],
        builtins: bool,
        config: Config,
    ) -> Result<Self, Error> {
        let options = DiscoveryOptions {
            mode: Strictness::Lenient,
            limits: DiscoveryLimits {
                max_skills: 100_000,
                max_entries: 1_000_000,
                max_skill_bytes: 1 << 20,
                max_depth: 3,
                max_root_time: PATIENCE,
            },
            threads: 1,
            index: None,
            now: SystemTime::now(),
            builtins,
            progress: None,
        };
        let roots = roots.iter().map(|root| {
            let root = fs::canonicalize(root)?;
            Ok(Root::explicit(Source::User, root))
        });
        let catalog = discover(roots.collect::<Result<Vec<Root>, Error>>()?, &options);
        let config = Arc::new(config);
        let mode = Strictness::Lenient;
        let inventory = survey(catalog, &config, &Furnished, mode, &[], Vec::new());
        for place in ["runs", "project"] {
            fs::create_dir_all(folder.join(place))?;
        }
        Ok(Self {
            metier: metier.to_owned(),
            folder: fs::canonicalize(folder)?,
            inventory: Arc::new(inventory),
            judging: Judging::new(&config),
            config,
        })
    }

    /// The duration of the last judgement.
    pub(crate) fn judging(&self) -> Duration {
        let took = &self.judging.took;
        *took.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session with a database in this folder, in which all skills are approved.
    pub(crate) fn play(&self, data: &Path, act: impl FnOnce(&Runtime) -> Outcome) -> Outcome {
        let store = Store::open(&data.join("metier.db"))?;
        let skills = self.inventory.skills.iter();
        let names = skills.map(|skill| self.inventory.entry(skill).name().into_owned());
        let judging = Arc::clone(&self.judging);
        act(&self.open(store, data, names.collect(), SESSION, judging))
    }

    /// A runtime in which these skills are approved. `own` is the place that no skill can read: the database.
    pub(crate) fn open(
        &self,
        store: Store,
        own: &Path,
        approved: Vec<String>,
        session: &str,
        judging: Arc<Judging>,
    ) -> Runtime {
        let (temporary, project) = (self.folder.join("runs"), self.folder.join("project"));
        let approvals = Approvals {
            store: store.into(),
            approver: Arc::new(Headless),
            approved_now: approved,
            approved: Vec::new(),
            terms: terms(&project),
            clock: Arc::new(SystemTime::now),
            meter: ActMeter::default(),
            session: session.to_owned(),
            warn: Arc::new(|_| {}),
            asking: AskedQuestions::default(),
        };
        let host = HostEnvironment {
            shim: self.metier.clone(),
            work: project,
            home: None,
            path: Some("/usr/bin:/bin".into()),
            common: Vec::new(),
            own: vec![own.to_owned()],
            obeyed: Vec::new(),
            temporary: temporary.clone(),
            unsandboxed: false,
            stop: None,
        };
        let environment = SkillEnvironment {
            approvals: Arc::new(approvals),
            config: Arc::clone(&self.config),
            variable: Arc::new(|_| None),
            host: Arc::new(host),
            compiled: temporary,
        };
        let judge = Arc::new(move |entry: &CatalogEntry| judging.judge(entry));
        let patience = CallTimeouts {
            start: PATIENCE,
            end: PATIENCE,
            tool: PATIENCE,
            hook: PATIENCE,
        };
        Runtime::new(environment, Arc::clone(&self.inventory), judge, patience)
    }
}

/// No limit that a benchmark could reach.
fn terms(project: &Path) -> GrantTerms {
    GrantTerms {
        rates: Rates {
            shell_exec: u64::MAX,
            net_fetch: u64::MAX,
            llm_call: u64::MAX,
        },
        shell_timeout: PATIENCE,
        fetch_timeout: PATIENCE,
        prefixes: None,
        project: project.to_owned(),
        home: None,
    }
}
