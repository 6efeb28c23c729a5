//! The stage of these programs: a runtime on a folder of skills, without the command line around it.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    fs,
    path::Path,
    time::{Duration, Instant, SystemTime},
};

use metier_catalog::{Entry, Limits, Options, Root, Snapshot, discover};
use metier_config::Config;
use metier_model::{Mode, Os, Source};
use metier_policy::{Facts, Headless, Meter, Rates, Terms};
use metier_runtime::{
    Inventory,
    desk::Desk,
    live::{Patience, Runtime},
    premises::Premises,
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
    config: Config,
    inventory: Inventory,
    scanner: Scanner,
    /// The bytes that were scanned, each as what it is.
    scanned: RefCell<BTreeSet<String>>,
    /// How long the last judgement took.
    pub(crate) judging: Cell<Duration>,
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
        Ok(Self {
            metier,
            folder,
            inventory: survey(catalog, &config, &Bare, Mode::Lenient, &[], &Unscreened),
            scanner: Scanner::new(&config, Vec::new(), 0),
            config,
            scanned: RefCell::default(),
            judging: Cell::default(),
        })
    }

    /// As the program does: every byte is read and hashed, and what was scanned once is not scanned again.
    fn judge(&self, entry: &Entry) -> Result<Snapshot, String> {
        let start = Instant::now();
        let held = self.scanner.snapshot(entry);
        let held = held.map_err(|error| error.to_string())?;
        let digest = held.digest.to_string();
        if !self.scanned.borrow().contains(&digest) {
            let (report, _) = self.scanner.scan_snapshot(entry, &held);
            // A program that nobody can read is what a user has to accept.
            let is_program = entry.name() == "compiled";
            let known = Known::of(&report).judged(&self.config, || is_program);
            if known.stance == Stance::Blocked {
                return Err(format!("it is blocked: {}", known.message));
            }
            self.scanned.borrow_mut().insert(digest);
        }
        self.judging.set(start.elapsed());
        Ok(held)
    }

    /// A session with a database in this folder.
    pub(crate) fn play(&self, data: &Path, act: impl FnOnce(&Runtime<'_>) -> Outcome) -> Outcome {
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
        let premises = Premises {
            desk: Desk {
                store: &store,
                approver: &Headless,
                approved_now: &names,
                approved: &[],
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
                clock: &SystemTime::now,
                meter: Meter::default(),
                session: "0123456789abcdef".into(),
                warn: &|_| {},
                asking: metier_runtime::desk::Asking::default(),
            },
            config: &self.config,
            variable: &|_| None,
            shim: self.metier,
            work: &work,
            home: None,
            path: Some("/usr/bin:/bin".as_ref()),
            common: &[],
            own: &[data.to_owned()],
            obeyed: &[],
            temporary: &temporary,
            compiled: &temporary,
            unsandboxed: false,
            stop: None,
        };
        let judge = |entry: &Entry| self.judge(entry);
        let patience = Patience {
            start: PATIENCE,
            end: PATIENCE,
            tool: PATIENCE,
            hook: PATIENCE,
        };
        act(&Runtime::new(&premises, &self.inventory, &judge, patience))
    }
}
