//! The workspace: configuration, roots, trust, and the inventory of this machine.

#[cfg(feature = "agent")]
mod agent;
mod live;

use std::{
    collections::BTreeSet,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use metier_catalog::{
    Catalog, CatalogEntry, DiscoveryLimits, DiscoveryOptions, Fingerprint, IndexHome, MachineFacts,
    NotedVerdict, Root, SkillLocation, VerdictKey, Verdicts, discover, read_named, read_small,
};
use metier_config::{Config, ConfigProblem, Layer, LoadedConfig, Origin, ValidationSetting};
use metier_model::{Digest, Source, Strictness};
use metier_runtime::{Inventory, survey};
use metier_store::{PooledStore, StorePool, TrustedRoot};
#[cfg(feature = "run")]
use metier_store::{SharedStore, Store};

use crate::{
    Error, NoticeLevel, Notices, Settings, Skills, TaskProgress, WorkKind,
    machine::Machine,
    scan_gate::{GateFacts, ScanGate},
};
pub(crate) use live::{KnownSkills, LiveInventory, LiveVersions, VerdictsState};

/// A skill that was changed less than this long ago is being worked on.
const JUST_NOW: Duration = Duration::from_secs(600);

/// With more unknown skills than this, none of them is hashed for a list.
const MAX_NEW: usize = 64;

/// The largest new skill that is hashed for a list.
const MAX_NEW_BYTES: u64 = 4 << 20;
const MAX_NEW_FILES: usize = 1_000;

/// Up to this many skills of a folder have their bodies read when the folder is examined.
const MAX_EXAMINED: usize = 500;

/// The skills of a machine, and everything that can be done with them. Cheap to clone; clones are the same workspace.
///
/// The [crate](crate) has an overview of its methods, and [`Workspace::open`] an example.
#[derive(Clone)]
pub struct Workspace {
    pub(crate) settings: Arc<Settings>,
    pub(crate) machine: Arc<Machine>,
    pub(crate) config: Arc<Config>,
    pub(crate) problems: Arc<Vec<ConfigProblem>>,
    pub(crate) notices: Arc<dyn Notices>,
    /// Warnings that were given, by [`Workspace::warn_once`].
    pub(crate) warned: Arc<Mutex<BTreeSet<String>>>,
    /// Connections to the database, for one call each. None without a home directory.
    pub(crate) stores: Option<StorePool>,
    /// The connection of all sessions, once one was opened. Acts that it begins are open only while it is.
    #[cfg(feature = "run")]
    pub(crate) shared_store: Arc<Mutex<Option<SharedStore>>>,
    /// The data about the skills that a long-running program keeps.
    pub(crate) live: Option<LiveVersions>,
    /// Connections to MCP servers.
    #[cfg(feature = "mcp")]
    pub(crate) mcp: Arc<crate::mcp::ServerPool>,
    /// The tools of MCP servers, once they were listed.
    #[cfg(all(feature = "mcp", feature = "agent"))]
    pub(crate) served: Arc<std::sync::OnceLock<Arc<crate::mcp::ServerTools>>>,
}

impl Workspace {
    /// Loads the configuration, after what killed runs left in protected places was put back. Mistakes in the user's own configuration are
    /// errors; those of a project are notices: a mistake in a repository must not stop the program. (A project can disable skills: that tightens.)
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// println!("{} skills", workspace.skills()?.all().count());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the user's configuration can't be read or is wrong.
    pub fn open(settings: Settings) -> Result<Self, Error> {
        let workspace = Self::open_anyway(settings)?;
        let own = |problem: &&ConfigProblem| {
            problem.is_error() && !matches!(problem.origin, Origin::Project(_))
        };
        if let Some(problem) = workspace.problems.iter().find(own) {
            return Err(problem_failure(problem));
        }
        for problem in workspace.problems.iter() {
            workspace
                .notices
                .notice(NoticeLevel::Warning, &problem.to_string());
        }
        Ok(workspace)
    }

    /// [`Workspace::open`] also with mistakes in the configuration, for programs that show or fix them.
    ///
    /// ```no_run
    /// use metier::{Settings, Workspace};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// let workspace = Workspace::open_anyway(Settings::from_env()?)?;
    /// for problem in workspace.config_problems() {
    ///     eprintln!("{problem:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the user's configuration can't be read at all.
    pub fn open_anyway(settings: Settings) -> Result<Self, Error> {
        #[cfg(feature = "run")]
        if !settings.keep_leftovers {
            crate::leftovers::restore_protected_places(&settings.machine, &*settings.notices)?;
            #[cfg(feature = "hub")]
            crate::distribution::complete_changes(&settings.machine, &*settings.notices);
        }
        let (layers, unread) = layers(&settings)?;
        let LoadedConfig {
            config,
            mut problems,
        } = metier_config::load(layers);
        problems.extend(unread);
        let stores = settings.machine.database.clone().map(StorePool::new);
        Ok(Self {
            machine: Arc::clone(&settings.machine),
            notices: Arc::clone(&settings.notices),
            settings: Arc::new(settings),
            config: Arc::new(config),
            problems: Arc::new(problems),
            warned: Arc::default(),
            stores,
            #[cfg(feature = "run")]
            shared_store: Arc::default(),
            live: None,
            #[cfg(feature = "mcp")]
            mcp: Arc::default(),
            #[cfg(all(feature = "mcp", feature = "agent"))]
            served: Arc::default(),
        })
    }

    /// The machine that it was opened on: folders, variables, and the time of that moment.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// println!("the project is {}", workspace.machine().project.display());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The database, if there is one already.
    pub(crate) fn existing_store(&self) -> Result<Option<PooledStore>, Error> {
        let store = self.stores.as_ref().map(StorePool::existing);
        Ok(store.transpose()?.flatten())
    }

    /// The connection that all sessions of this workspace share. What was left open by runs that were killed is closed when it is opened.
    #[cfg(feature = "run")]
    pub(crate) fn shared_store(&self, now: &str) -> Result<SharedStore, Error> {
        let mut shared = self
            .shared_store
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = &*shared {
            return Ok(store.clone());
        }
        let store = Store::open(self.stores()?.database())?;
        store.close_abandoned(now)?;
        Ok(shared.insert(store.into()).clone())
    }

    /// A connection that can be kept for long, if there is a database: that of the sessions, or one of its own.
    #[cfg(feature = "agent")]
    pub(crate) fn existing_shared_store(&self) -> Result<Option<SharedStore>, Error> {
        let shared = self.shared_store.lock();
        if let Some(store) = &*shared.unwrap_or_else(PoisonError::into_inner) {
            return Ok(Some(store.clone()));
        }
        let database = self.stores.as_ref().map(StorePool::database);
        let store = database.map(Store::open_existing).transpose()?;
        Ok(store.flatten().map(SharedStore::from))
    }

    /// The database, created if there is none.
    pub(crate) fn store(&self) -> Result<PooledStore, Error> {
        Ok(self.stores()?.store()?)
    }

    fn stores(&self) -> Result<&StorePool, Error> {
        self.stores.as_ref().ok_or_else(|| {
            Error::broken("store", "there is no home directory for the database")
                .hint("set METIER_HOME to a folder")
        })
    }

    /// A warning that a workspace prints once, however often the cause occurs.
    pub(crate) fn warn_once(&self, line: &str) {
        let mut warned = self.warned.lock().unwrap_or_else(PoisonError::into_inner);
        if warned.insert(line.to_owned()) {
            self.notices.notice(NoticeLevel::Alert, line);
        }
    }

    /// Lenient or strict.
    #[must_use]
    pub(crate) fn mode(&self) -> Strictness {
        match self.config.validation {
            ValidationSetting::Lenient => Strictness::Lenient,
            ValidationSetting::Strict => Strictness::Strict,
        }
    }

    #[must_use]
    pub(crate) fn limits(&self) -> DiscoveryLimits {
        let limits = &self.config.limits;
        let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        DiscoveryLimits {
            max_skills: size(limits.max_skills),
            max_entries: size(limits.max_entries),
            max_skill_bytes: limits.max_skill_bytes,
            max_depth: size(limits.max_depth),
            max_root_time: Duration::from_secs(limits.max_root_seconds),
        }
    }

    /// Every skill, judged.
    pub(crate) fn inventory(&self) -> Result<Inventory, Error> {
        if let Some(known) = self.known_inventory() {
            return Ok(Inventory::clone(known));
        }
        let agent = AgentFiles::read(self);
        let (roots, builtins) = self.roots(&agent)?;
        Ok(self.take_stock(roots, builtins, self.mode(), &agent.selection))
    }

    /// The skills of the workspace, and those of further roots, which win names.
    pub(crate) fn skills_beside(&self, more: Vec<Root>) -> Result<Skills, Error> {
        let agent = AgentFiles::read(self);
        let (mut roots, builtins) = self.roots(&agent)?;
        roots.extend(more);
        let inventory = self.take_stock(roots, builtins, self.mode(), &agent.selection);
        Ok(Skills {
            inventory: Arc::new(inventory),
        })
    }

    /// Reads the given roots only, every file again, and examines a skill that was named itself more closely than the thousands in a
    /// folder.
    #[must_use]
    pub(crate) fn examine(&self, roots: Vec<Root>, mode: Strictness) -> Inventory {
        self.examine_counting(roots, mode).0
    }

    /// [`Self::examine`], with how many skills were not examined closely.
    #[must_use]
    pub(crate) fn examine_counting(
        &self,
        roots: Vec<Root>,
        mode: Strictness,
    ) -> (Inventory, usize) {
        self.examine_within(roots, mode, self.limits())
    }

    /// [`Self::examine_counting`] within limits that differ from the configured ones.
    #[must_use]
    pub(crate) fn examine_within(
        &self,
        roots: Vec<Root>,
        mode: Strictness,
        limits: DiscoveryLimits,
    ) -> (Inventory, usize) {
        let named: Vec<PathBuf> = roots
            .iter()
            .filter_map(|root| root.path.canonicalize().ok())
            .collect();
        let mut catalog = self.look(roots, false, mode, None, limits);
        let few = catalog.entries.len() <= MAX_EXAMINED;
        let is_close = |entry: &CatalogEntry| {
            let path = entry.place.path();
            let is_named =
                |named: &PathBuf| *named == *path || *named == path.join(entry.files.main());
            few || named.iter().any(is_named)
        };
        let limit = self.config.limits.max_skill_bytes;
        let mut left = 0;
        for entry in &mut catalog.entries {
            match is_close(entry) {
                true => entry.examine(mode, limit),
                false => left += 1,
            }
        }
        (self.judge(catalog, mode, &[], None), left)
    }

    /// Where the warm index is, unless the settings disable it.
    pub(crate) fn index(&self) -> Option<IndexHome> {
        let cache = self.machine.cache.as_ref()?;
        let home = IndexHome {
            folder: cache.join("catalog"),
            stamp: self.machine.stamp,
        };
        (!self.settings.no_index).then_some(home)
    }

    /// Keeps digests for later lists.
    pub(crate) fn remember_digests(
        &self,
        roots: &[Root],
        digests: &[(PathBuf, Digest, Fingerprint)],
    ) {
        let Some(index) = self.index().filter(|_| !digests.is_empty()) else {
            return;
        };
        for root in roots {
            let Ok(root) = root.path.canonicalize() else {
                continue;
            };
            let below: Vec<(&Path, Digest, Fingerprint)> = digests
                .iter()
                .filter(|(path, _, _)| path.starts_with(&root))
                .map(|(path, digest, state)| (path.as_path(), *digest, *state))
                .collect();
            if !below.is_empty() {
                index.remember_digests(&root, self.mode(), self.machine.now, &below);
            }
        }
    }

    /// The verdicts of earlier scans.
    fn verdicts(&self) -> Verdicts {
        self.index()
            .map_or_else(Verdicts::default, |index| Verdicts::load(&index))
    }

    /// How skills are scanned here, with the rules of the skills of a catalog.
    pub(crate) fn screening(&self, catalog: &Catalog) -> ScanGate {
        let facts = || Arc::new(GateFacts::new(self, catalog, self.verdicts()));
        let known = self.known_skills();
        let known = known.filter(|known| std::ptr::eq(&known.usable.catalog, catalog));
        let facts = match known {
            Some(known) => known.facts(facts),
            None => facts(),
        };
        ScanGate::new(self, facts)
    }

    /// Writes verdicts and digests to the cache.
    pub(crate) fn keep_verdicts(
        &self,
        roots: &[Root],
        verdicts: Vec<(VerdictKey, NotedVerdict)>,
        digests: &[(PathBuf, Digest, Fingerprint)],
    ) {
        if let Some(index) = self.index().filter(|_| !verdicts.is_empty()) {
            // A cache that can't be written only costs time.
            Verdicts::add(&index, verdicts, self.machine.now).ok();
        }
        self.remember_digests(roots, digests);
    }

    /// The skills of the usual places, not judged.
    pub(crate) fn catalog(&self) -> Result<Catalog, Error> {
        let agent = AgentFiles::read(self);
        let (roots, builtins) = self.roots(&agent)?;
        let index = self.index();
        Ok(self.look(roots, builtins, self.mode(), index.as_ref(), self.limits()))
    }

    fn take_stock(
        &self,
        roots: Vec<Root>,
        builtins: bool,
        mode: Strictness,
        selection: &[String],
    ) -> Inventory {
        let index = self.index();
        let catalog = self.look(roots, builtins, mode, index.as_ref(), self.limits());
        self.judge(catalog, mode, selection, None)
    }

    fn look(
        &self,
        roots: Vec<Root>,
        builtins: bool,
        mode: Strictness,
        index: Option<&IndexHome>,
        limits: DiscoveryLimits,
    ) -> Catalog {
        let work = Arc::new(TaskProgress::new(WorkKind::List, "Looking for skills…"));
        let options = DiscoveryOptions {
            mode,
            limits,
            threads: std::thread::available_parallelism()
                .map_or(1, usize::from)
                .min(8),
            index,
            now: self.machine.now,
            builtins,
            progress: Some(&work.done),
        };
        let _shown = self.notices.progress(&work);
        #[cfg_attr(
            not(feature = "mcp"),
            expect(unused_mut, reason = "servers are asked with `mcp`")
        )]
        let mut catalog = discover(roots, &options);
        #[cfg(feature = "mcp")]
        if builtins {
            crate::mcp::remote_skills(self, &mut catalog, mode);
        }
        catalog
    }

    /// Adds the digests of skills that were changed just now. The index doesn't know those yet, and an author who scans a new
    /// skill and lists it expects to see the verdict. Nothing is scanned, only a few small skills are
    /// hashed, and none that is not trusted: an untrusted skill must not take time.
    fn digest_newest(&self, catalog: &mut Catalog) {
        let since = self.machine.now.checked_sub(JUST_NOW);
        let is_new = |entry: &CatalogEntry| {
            let state = entry.place.fingerprint().ok().flatten();
            state.is_some_and(|state| since.is_none_or(|since| state.changed_since(since)))
        };
        let Catalog { roots, entries, .. } = catalog;
        let is_trusted = |entry: &CatalogEntry| {
            let root = entry.root.and_then(|root| roots.get(usize::from(root)));
            root.is_some_and(|root| root.trusted)
        };
        let is_unknown = |entry: &&mut CatalogEntry| {
            let in_folder = matches!(entry.place, SkillLocation::Folder(_));
            entry.digest.is_none() && entry.card.is_some() && in_folder && is_trusted(entry)
        };
        let unknown: Vec<&mut CatalogEntry> = entries.iter_mut().filter(is_unknown).collect();
        if unknown.len() > MAX_NEW {
            return;
        }
        let mut digests = Vec::new();
        for entry in unknown.into_iter().filter(|entry| is_new(entry)) {
            let found = entry.place.digest_within(MAX_NEW_BYTES, MAX_NEW_FILES).ok();
            entry.digest = found.map(|(digest, _)| digest);
            let path = entry.place.path().into_owned();
            digests.extend(found.map(|(digest, state)| (path, digest, state)));
        }
        self.remember_digests(roots, &digests);
    }

    fn judge(
        &self,
        mut catalog: Catalog,
        mode: Strictness,
        selection: &[String],
        own_tools: Option<&[String]>,
    ) -> Inventory {
        let setting = |path: &str| self.config.setting_is_truthy(path);
        let host = MachineFacts::new(
            self.machine.path.as_deref(),
            self.machine.variables.clone(),
            &setting,
            self.config.agent.tools.as_deref(),
        );
        let host = match own_tools {
            Some(tools) => host.with_own_tools(tools),
            None => host,
        };
        let verdicts = self.verdicts();
        if !verdicts.is_empty() {
            self.digest_newest(&mut catalog);
        }
        // Without verdicts there is nothing to look up, and no rule needs to be read.
        let known = match verdicts.is_empty() {
            true => Vec::new(),
            false => {
                let facts = GateFacts::new(self, &catalog, verdicts);
                let scan_gate = ScanGate::new(self, Arc::new(facts));
                let entries = catalog.entries.iter();
                entries
                    .map(|entry| scan_gate.earlier_verdict(entry).map(Box::new))
                    .collect()
            }
        };
        #[cfg_attr(
            not(feature = "hub"),
            expect(unused_mut, reason = "locks are checked with `hub`")
        )]
        let mut inventory = survey(catalog, &self.config, &host, mode, selection, known);
        #[cfg(feature = "hub")]
        self.check_pins(&mut inventory);
        inventory
    }

    /// Where to look, in rising precedence, and whether to include the built-in skills.
    fn roots(&self, agent: &AgentFiles) -> Result<(Vec<Root>, bool), Error> {
        let absolute = |path: &Path| self.machine.work.join(path);
        let mut roots: Vec<Root> = if self.settings.roots.is_empty() {
            let extra: Vec<PathBuf> = self
                .config
                .load
                .extra_dirs
                .iter()
                .map(|path| self.expand(path))
                .collect();
            metier_catalog::usual(
                &self.machine.places(),
                &extra,
                self.config.load.agents,
                true,
            )
        } else {
            self.settings
                .roots
                .iter()
                .map(|root| Root::explicit(root.source, absolute(&root.path)))
                .collect()
        };
        roots.extend(
            agent
                .folders
                .iter()
                .map(|path| Root::usual(Source::Inline, path.clone())),
        );
        if self.settings.roots.is_empty() {
            self.judge_trust(&mut roots)?;
            #[cfg(feature = "hub")]
            roots.extend(self.placed_roots(&roots)?);
        }
        roots.extend(
            self.settings
                .skill_dirs
                .iter()
                .map(|path| Root::explicit(Source::Inline, absolute(path))),
        );
        Ok((roots, self.settings.roots.is_empty()))
    }

    /// Every place that skills and settings are read from, in this run or another: no skill writes there.
    pub(crate) fn obeyed(&self) -> Vec<PathBuf> {
        let machine = &*self.machine;
        let extra = self.config.load.extra_dirs.iter();
        let extra: Vec<PathBuf> = extra.map(|path| self.expand(path)).collect();
        let usual = metier_catalog::usual(&self.machine.places(), &extra, true, true);
        let given = self.settings.roots.iter().map(|root| &root.path);
        let given = given.chain(&self.settings.skill_dirs);
        let given = given.map(|path| machine.work.join(path));
        let config = machine.config_file.as_ref();
        // The rules of scans, and the program that runs hooks.
        let named = [&self.config.scan.rules_dir, &self.config.hooks.deno];
        let named = named.into_iter().flatten().map(|path| self.expand(path));
        usual
            .into_iter()
            .map(|root| root.path)
            .chain(named)
            .chain(given)
            .chain(AgentFiles::read(self).folders)
            .chain(config.map(|file| machine.work.join(file)))
            .collect()
    }

    /// `~/x` and paths relative to the folder of the configuration file.
    pub(crate) fn expand(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.machine.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => {
                let base = self
                    .machine
                    .config_file
                    .as_deref()
                    .and_then(Path::parent)
                    .unwrap_or(&self.machine.work);
                self.machine.work.join(base).join(path)
            }
        }
    }

    /// Marks each root of a project, including those that its AGENT.md names, as trusted or not. The
    /// database is opened only if there is such a root.
    fn judge_trust(&self, roots: &mut [Root]) -> Result<(), Error> {
        let of_project = |root: &&mut Root| matches!(root.source, Source::Project | Source::Inline);
        let brought = roots.iter_mut().filter(of_project);
        let mut there: Vec<&mut Root> = brought
            .filter_map(|root| {
                root.trusted = false;
                root.path.exists().then_some(root)
            })
            .collect();
        if there.is_empty() {
            return Ok(());
        }
        let store = self.existing_store()?;
        let project = real(&self.machine.project);
        for root in &mut there {
            let below = root.path.strip_prefix(&self.machine.project);
            root.trusted = match (&store, below) {
                (Some(store), Ok(below)) => {
                    let usual = metier_catalog::usual_in_project();
                    store.trusts_root(&project.join(below), &real(&root.path), usual)?
                }
                _ => false,
            };
        }
        Ok(())
    }
}

/// The path without links, if it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The roots of skills in a project as they are now, for the user to trust; and whether all of its folders were inspected.
pub(crate) fn roots_to_trust(project: &Path) -> (Vec<TrustedRoot>, bool) {
    let (mut roots, all) = metier_catalog::roots_below(project);
    let named = AgentFiles::of(project).folders.into_iter();
    roots.extend(named.filter_map(|folder| {
        let below = folder.strip_prefix(project).ok()?;
        Some(below.components().collect())
    }));
    let there = roots.into_iter().filter_map(|root| {
        let target = project.join(&root).canonicalize().ok()?;
        // A path that is not UTF-8 can't be stored, and so it stays untrusted.
        let is_text = root.to_str().is_some() && target.to_str().is_some();
        is_text.then_some(TrustedRoot { root, target })
    });
    (there.collect(), all)
}

/// A problem of the configuration as an error.
#[must_use]
pub(crate) fn problem_failure(problem: &ConfigProblem) -> Error {
    let failure = Error::broken("config", problem.message.clone())
        .line(problem.line.and_then(|line| u32::try_from(line).ok()));
    let failure = match (problem.path(), &problem.origin) {
        (Some(path), _) => failure.path(path),
        (None, origin) => failure.detail(format!("from {origin}")),
    };
    failure.hint(
        problem
            .hint
            .clone()
            .unwrap_or_else(|| "metier config shows all values and where they come from".into()),
    )
}

/// The configuration, layer by layer; and the project's file, if it exists and can't be read.
fn layers(settings: &Settings) -> Result<(Vec<Layer>, Option<ConfigProblem>), Error> {
    let machine = &settings.machine;
    let mut layers = Vec::new();
    let mut unread = None;
    // With explicit roots, the result is the same skills on every machine: of the user's file only the models count then, unless it is
    // named too.
    let whole = settings.roots.is_empty() || settings.is_config_named;
    if let Some(file) = &machine.config_file {
        let path = machine.work.join(file);
        match read_named(&path, MAX_PROJECT_FILE) {
            Ok(text) if whole => layers.push(Layer::user(path, text)),
            Ok(text) => layers.push(Layer::user_models(path, text)),
            Err(_) if !whole => {}
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound && !settings.is_config_named => {}
            Err(error) => {
                return Err(Error::broken(
                    "config",
                    format!("the configuration can't be read: {error}"),
                )
                .path(file)
                .hint("check the file, or name another with `--config`"));
            }
        }
    }
    if settings.roots.is_empty() {
        let file = machine.project.join(PROJECT_CONFIG);
        match read_small(&machine.project, PROJECT_CONFIG, MAX_PROJECT_FILE) {
            Ok(text) => layers.extend(text.map(|text| Layer::project(file, text))),
            Err(error) => unread = Some(unread_project(file, &error)),
        }
    }
    layers.extend(
        machine
            .settings
            .iter()
            .map(|(name, value)| Layer::env(name, value)),
    );
    Ok((layers, unread))
}

/// A project's configuration that can't be read tightens nothing.
fn unread_project(file: PathBuf, error: &std::io::Error) -> ConfigProblem {
    ConfigProblem {
        severity: metier_config::ProblemSeverity::Error,
        message: format!("the project's configuration can't be read and has no effect: {error}"),
        origin: Origin::Project(file),
        line: None,
        column: None,
        hint: Some("check the file and its permissions".to_owned()),
    }
}

const PROJECT_CONFIG: &str = ".metier/config.toml";

/// The largest file of a project that is read before the project is trusted.
const MAX_PROJECT_FILE: u64 = 1 << 20;

/// The skills that AGENT.md and AGENTS.md of the project, and `--skills`, request.
#[derive(Default)]
struct AgentFiles {
    selection: Vec<String>,
    folders: Vec<PathBuf>,
}

impl AgentFiles {
    fn read(workspace: &Workspace) -> Self {
        let selection = workspace.settings.skills.clone();
        if !workspace.settings.roots.is_empty() {
            return Self {
                selection,
                ..Self::default()
            };
        }
        let mut files = Self::of(&workspace.machine.project);
        let asked = std::mem::replace(&mut files.selection, selection);
        for skill in asked {
            if !files.selection.contains(&skill) {
                files.selection.push(skill);
            }
        }
        files
    }

    /// The requests of one project.
    fn of(project: &Path) -> Self {
        let mut files = Self::default();
        for name in ["AGENT.md", "AGENTS.md"] {
            let Ok(Some(text)) = read_small(project, name, MAX_PROJECT_FILE) else {
                continue;
            };
            for skill in metier_model::agent_skills(&text) {
                if skill.contains('/') || skill.starts_with('.') {
                    // Skills that a project names are in the project.
                    let folder: PathBuf = project.join(&*skill).components().collect();
                    let outside = folder.components().any(|part| part == Component::ParentDir);
                    if real(&folder).starts_with(real(project)) && !outside {
                        files.folders.push(folder);
                    }
                } else {
                    files.selection.push(skill.into());
                }
            }
        }
        files
    }
}
