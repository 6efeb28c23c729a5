//! The permission context of a run: approver, database, and the environment of a skill.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    time::SystemTime,
};

use metier_catalog::CatalogEntry;
use metier_host::{execution::HostEnvironment, sandbox::NamedByVariables};
use metier_policy::{ActMeter, Approver, Changes, RequestedPermission};
use metier_runtime::{
    approvals::{Approvals, AskedQuestions, GrantRefused},
    skill_environment::SkillEnvironment,
};
use metier_store::SharedStore;

use crate::{
    Error, NoticeLevel, approval_text,
    grant_terms::{meant_by_name, terms},
    leftovers,
    text::one_line,
    workspace::Workspace,
};

/// The folder below the cache for the projects of skill tests.
pub(crate) const TEST_PROJECTS: &str = "tests";

/// The file with the tokens of registries, in the data folder.
pub(crate) const REGISTRY_TOKENS: &str = "registry-tokens.json";

/// Variables that any child may see.
const COMMON: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_NUMERIC",
    "LC_TIME",
    "TZ",
    "TERM",
    "USER",
    "LOGNAME",
    "NO_COLOR",
    "COLUMNS",
    "LINES",
];

/// The approver, the database and the environment of this run.
pub(crate) struct ExecutionContext {
    workspace: Workspace,
    store: SharedStore,
    approver: Arc<dyn Approver>,
    warn: Arc<dyn Fn(&str) + Send + Sync>,
    common: Vec<(OsString, OsString)>,
    own: Vec<PathBuf>,
    obeyed: Vec<PathBuf>,
    temporary: PathBuf,
    compiled: PathBuf,
    shim: PathBuf,
    id: String,
}

impl ExecutionContext {
    /// Opens the database: without receipts nothing is done.
    pub(crate) fn open(workspace: &Workspace) -> Result<Self, Error> {
        Self::with(workspace, Arc::clone(&workspace.settings.approver))
    }

    /// [`Self::open`] with another approver.
    pub(crate) fn with(workspace: &Workspace, approver: Arc<dyn Approver>) -> Result<Self, Error> {
        let machine = &workspace.machine;
        let nowhere = |what: &str| {
            Error::broken("store", format!("there is no folder for {what}"))
                .hint("set METIER_HOME to a folder")
        };
        let database = machine
            .database
            .as_ref()
            .ok_or_else(|| nowhere("receipts"))?;
        let cache = machine
            .cache
            .as_ref()
            .ok_or_else(|| nowhere("temporary files"))?;
        // The sandbox protects a folder that exists. One that does not could be created by a skill, and would count until the skill ends.
        if let Some(folder) = machine.own_skills.as_deref().and_then(Path::parent) {
            std::fs::create_dir_all(folder).map_err(|error| Error::unwritable(folder, &error))?;
        }
        let shim = workspace.worker_program()?;
        let config = machine
            .config_file
            .as_ref()
            .map(|file| machine.work.join(file));
        let common = COMMON
            .iter()
            .filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        let named = NamedByVariables::read(machine.home.as_deref(), &|name| std::env::var_os(name));
        let mut obeyed = workspace.obeyed();
        obeyed.extend(named.obeyed);
        obeyed.push(cache.join(TEST_PROJECTS));
        let store = workspace.shared_store(&crate::machine::timestamp(now()))?;
        let notices = Arc::clone(&workspace.notices);
        Ok(Self {
            workspace: workspace.clone(),
            store,
            approver,
            warn: Arc::new(move |line| notices.notice(NoticeLevel::Alert, &one_line(line))),
            common: common.collect(),
            own: own(database)
                .chain(workspace.machine.history())
                .chain(workspace.machine.signing_key())
                .chain(workspace.machine.signers())
                .chain(workspace.machine.daemon_token())
                .chain(workspace.machine.daemon_lock())
                .chain(workspace.machine.server_tokens())
                .chain(config)
                .chain(["catalog", "mcp", "wasm", "quarantine"].map(|name| cache.join(name)))
                .chain(named.secret)
                .collect(),
            obeyed,
            temporary: leftovers::temporary(cache),
            compiled: private(cache.join("wasm"))?,
            shim,
            id: fresh_id()?,
        })
    }

    /// This context for a session that already has an id.
    pub(crate) fn named(self, id: &str) -> Self {
        Self {
            id: id.to_owned(),
            ..self
        }
    }

    /// Everything that a skill needs to run. `stop` cancels what it waits for; `project` is used in place of the user's.
    pub(crate) fn environment(
        self,
        stop: Option<Arc<AtomicBool>>,
        project: Option<&Path>,
    ) -> SkillEnvironment {
        let machine = Arc::clone(&self.workspace.machine);
        let mut approvals = self.approvals();
        if let Some(project) = project {
            project.clone_into(&mut approvals.terms.project);
        }
        SkillEnvironment {
            approvals: Arc::new(approvals),
            config: Arc::clone(&self.workspace.config),
            variable: Arc::new(|name| std::env::var_os(name)),
            host: Arc::new(HostEnvironment {
                shim: self.shim,
                work: project.unwrap_or(&machine.work).to_owned(),
                home: machine.home.clone(),
                path: machine.path.clone(),
                common: self.common,
                own: self.own,
                obeyed: self.obeyed,
                temporary: self.temporary,
                unsandboxed: self.workspace.settings.unsandboxed,
                stop,
            }),
            compiled: self.compiled,
        }
    }

    /// Grants permissions and writes receipts.
    pub(crate) fn approvals(&self) -> Approvals {
        Approvals {
            store: self.store.clone(),
            approver: Arc::clone(&self.approver),
            approved_now: self.workspace.settings.approve_skills.clone(),
            approved: self.workspace.config.approved.clone(),
            terms: terms(&self.workspace),
            clock: Arc::new(now),
            warn: Arc::clone(&self.warn),
            meter: ActMeter::default(),
            session: self.id.clone(),
            asking: AskedQuestions::default(),
        }
    }
}

/// A new session id.
pub(crate) fn fresh_id() -> Result<String, Error> {
    let number = getrandom::u64().map_err(std::io::Error::from)?;
    Ok(format!("{number:016x}"))
}

/// Creates a folder that only the user can read and write, before a skill can create it: its content is run later.
pub(crate) fn private(folder: PathBuf) -> Result<PathBuf, Error> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&folder)?;
    Ok(folder)
}

/// The database and its companions.
fn own(database: &Path) -> impl Iterator<Item = PathBuf> {
    let endings = ["", "-wal", "-shm", "-journal", "-receipts"];
    let files = endings.into_iter().map(|ending| {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        name.into()
    });
    // What is installed, and what was replaced.
    let beside = ["metier.lock", "changes", "objects", REGISTRY_TOKENS];
    files.chain(beside.map(|name| database.with_file_name(name)))
}

/// The clock of receipts; tests own it.
fn now() -> SystemTime {
    crate::machine::now()
}

/// The error for a request that was not granted.
pub(crate) fn refused(entry: &CatalogEntry, refused: GrantRefused) -> Error {
    let name = entry.name();
    let word = metier_model::text::shell_word(&name);
    match refused {
        GrantRefused::Store(error) => error.into(),
        GrantRefused::Denied(ref asked) => denied(&name, asked).hint(format!(
            "this was denied permanently; metier permissions {word} shows it, metier permissions {word} --revoke removes it"
        )),
        GrantRefused::DeniedNow(ref asked) => denied(&name, asked).hint(format!(
            "nothing was recorded: run the command again to be asked again, or allow it with: metier permissions {word} --approve"
        )),
        GrantRefused::RevokedMeanwhile(ref asked) => {
            let what = "a permission was revoked while a question was open";
            let failure = Error::unmet("revoked", format!("skill `{name}`: {what}"));
            let failure = failure.skill(name.as_ref());
            let details = asked.iter().map(|asked| asked.want.to_string());
            details.fold(failure, Error::detail).hint(format!(
                "run the command again to be asked again, or allow it with: metier permissions {word} --approve"
            ))
        }
        GrantRefused::NotApproved {
            ref asked,
            ref changes,
            other_source,
        } => {
            let failure = Error::unmet(
                "not-approved",
                format!("skill `{name}` needs permissions that are not approved, and there is no terminal to ask on"),
            )
            .skill(name.as_ref());
            let failure = asked.iter().fold(failure, |failure, asked| {
                failure.detail(asked.want.to_string())
            });
            let failure = changes
                .iter()
                .fold(failure, |failure, changes| changed(failure, changes));
            let failure = match other_source {
                true => failure.detail(meant_by_name(entry)),
                false => failure,
            };
            failure.hint(format!("allow it for this run with --approve-skills {word}, or permanently with: metier permissions {word} --approve"))
        }
    }
}

fn denied(name: &str, asked: &[RequestedPermission]) -> Error {
    let failure = Error::unmet("denied", format!("skill `{name}`: permission was denied"));
    asked.iter().fold(failure.skill(name), |failure, asked| {
        failure.detail(asked.want.to_string())
    })
}

fn changed(failure: Error, changes: &Changes) -> Error {
    let failure = failure.detail(format!(
        "it has changed since it was approved on {}:",
        one_line(&changes.since)
    ));
    approval_text::difference(changes)
        .lines()
        .fold(failure, |failure, line| {
            failure.detail(line.trim().to_owned())
        })
}
