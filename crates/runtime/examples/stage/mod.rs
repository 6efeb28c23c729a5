//! The stage of these programs: a runtime on a folder of skills, without the command line around it.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use metier_catalog::{Entry, Limits, Options, Root, Snapshot, discover};
use metier_config::Config;
use metier_model::{Mode, Os, Source};
use metier_policy::{Facts, Headless, Meter, Rates, Terms};
use metier_runtime::{
    Inventory,
    desk::{Asking, Desk},
    live::{Patience, Runtime},
    premises::{HostEnvironment, Premises},
    scanning::{Known, Scanner, Stance, Unscreened},
    survey,
};
use metier_store::Store;

pub(crate) type Error = Box<dyn std::error::Error>;
pub(crate) type Outcome = Result<(), Error>;

pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

#[allow(
    clippy::print_stdout,
    reason = "printing is what these programs are for"
)]
pub(crate) fn tell(name: &str, value: f64) {
    println!("{name} {value:.3}");
}

/// The median time of one piece of work, in microseconds; what `after` does is not counted.
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

/// A machine on which nothing is asked for.
struct Bare;

impl Facts for Bare {
    fn os(&self) -> Option<Os> {
        Some(Os::Linux)
    }

    fn has_program(&self, _: &str) -> bool {
        true
    }

    fn has_variable(&self, _: &str) -> bool {
        false
    }

    fn has_setting(&self, _: &str) -> bool {
        false
    }

    fn tools(&self) -> Option<&[String]> {
        None
    }
}

/// Everything around a session but its database.
pub(crate) struct Stage<'a> {
    metier: &'a Path,
    folder: &'a Path,
    config: Arc<Config>,
    inventory: Arc<Inventory>,
    judging: Arc<Judging>,
}

/// What judges skills.
struct Judging {
    config: Arc<Config>,
    scanner: Scanner,
    /// The bytes that were scanned, each as what it is.
    scanned: Mutex<BTreeSet<String>>,
    /// How long the last judgement took.
    took: Mutex<Duration>,
}

impl Judging {
    /// As the program does: every byte is read and hashed, and what was scanned once is not scanned again.
    fn judge(&self, entry: &Entry) -> Result<Snapshot, String> {
        let start = Instant::now();
        let held = self.scanner.snapshot(entry);
        let held = held.map_err(|error| error.to_string())?;
        let digest = held.digest.to_string();
        let mut scanned = self.scanned.lock().unwrap_or_else(PoisonError::into_inner);
        if !scanned.contains(&digest) {
            let (report, _) = self.scanner.scan_snapshot(entry, &held);
            // A program that nobody can read is what a user has to accept.
            let is_program = entry.name() == "compiled";
            let known = Known::of(&report).judged(&self.config, || is_program);
            if known.stance == Stance::Blocked {
                return Err(format!("it is blocked: {}", known.message));
            }
            scanned.insert(digest);
        }
        *self.took.lock().unwrap_or_else(PoisonError::into_inner) = start.elapsed();
        Ok(held)
    }
}

impl<'a> Stage<'a> {
    pub(crate) fn new(metier: &'a Path, folder: &'a Path, config: Config) -> Result<Self, Error> {
        let options = Options {
            mode: Mode::Lenient,
            limits: Limits {
                max_skills: 1_000,
                max_entries: 10_000,
                max_skill_bytes: 1 << 20,
                max_depth: 3,
                max_root_time: PATIENCE,
            },
            threads: 1,
            index: None,
            now: SystemTime::now(),
            builtins: false,
            progress: None,
        };
        let root = Root::explicit(Source::User, fs::canonicalize(folder)?.join("skills"));
        let catalog = discover(vec![root], &options);
        let config = Arc::new(config);
        let inventory = survey(catalog, &config, &Bare, Mode::Lenient, &[], &Unscreened);
        let judging = Judging {
            config: Arc::clone(&config),
            scanner: Scanner::new(&config, Vec::new(), 0),
            scanned: Mutex::default(),
            took: Mutex::default(),
        };
        Ok(Self {
            metier,
            folder,
            config,
            inventory: Arc::new(inventory),
            judging: Arc::new(judging),
        })
    }

    /// How long the last judgement took.
    #[allow(dead_code, reason = "one of the programs measures something else")]
    pub(crate) fn judging(&self) -> Duration {
        let took = &self.judging.took;
        *took.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session with a database in this folder.
    pub(crate) fn play(&self, data: &Path, act: impl FnOnce(&Runtime) -> Outcome) -> Outcome {
        let store = Store::open(&data.join("metier.db"))?;
        let names: Vec<String> = self
            .inventory
            .skills
            .iter()
            .map(|skill| self.inventory.entry(skill).name().into_owned())
            .collect();
        let temporary = self.folder.join("runs");
        let work = self.folder.join("project");
        for folder in [&temporary, &work] {
            fs::create_dir_all(folder)?;
        }
        let desk = Desk {
            store: store.into(),
            approver: Arc::new(Headless),
            approved_now: names,
            approved: Vec::new(),
            terms: Terms {
                rates: Rates {
                    shell_exec: u64::MAX,
                    net_fetch: u64::MAX,
                    llm_call: u64::MAX,
                },
                shell_timeout: PATIENCE,
                fetch_timeout: PATIENCE,
                prefixes: None,
                project: work.clone(),
                home: None,
            },
            clock: Arc::new(SystemTime::now),
            meter: Meter::default(),
            session: "0123456789abcdef".into(),
            warn: Arc::new(|_| {}),
            asking: Asking::default(),
        };
        let host = HostEnvironment {
            shim: self.metier.to_owned(),
            work,
            home: None,
            path: Some("/usr/bin:/bin".into()),
            common: Vec::new(),
            own: vec![data.to_owned()],
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
        let judging = Arc::clone(&self.judging);
        let judge = Arc::new(move |entry: &Entry| judging.judge(entry));
        let patience = Patience {
            start: PATIENCE,
            end: PATIENCE,
            tool: PATIENCE,
            hook: PATIENCE,
        };
        let inventory = Arc::clone(&self.inventory);
        act(&Runtime::new(premises, inventory, judge, patience))
    }
}
