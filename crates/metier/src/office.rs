//! Where permission is asked for and acts are done in this run: the desk, and what surrounds a skill here.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use metier_catalog::Entry;
use metier_host::sandbox::NamedByVariables;
use metier_policy::{Approver, Asked, Changes, Headless, Meter, Rates, SessionAnswers, Terms};
use metier_runtime::{
    desk::{Asking, Desk, Refused},
    premises::Premises,
};
use metier_store::Store;

use crate::{
    approver::{Terminal, difference},
    failure::Failure,
    leftovers,
    output::one_line,
    session::Session,
};

/// Where, below the cache, folders are made that stand for projects in tests of skills.
pub(crate) const TEST_PROJECTS: &str = "tests";

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

/// What decides and acts in this run.
pub(crate) struct Office<'s> {
    session: &'s Session<'s>,
    store: Store,
    approver: Box<dyn Approver>,
    warn: Box<dyn Fn(&str) + 's>,
    common: Vec<(OsString, OsString)>,
    own: Vec<PathBuf>,
    obeyed: Vec<PathBuf>,
    temporary: PathBuf,
    compiled: PathBuf,
    shim: PathBuf,
    id: String,
    answers: Arc<SessionAnswers>,
}

impl<'s> Office<'s> {
    /// Opens the database; without one nothing is done, because nothing could be written down.
    pub(crate) fn open(session: &'s Session<'s>) -> Result<Self, Failure> {
        let output = session.output;
        let approver: Box<dyn Approver> = if output.is_attended() {
            Box::new(Terminal::new(output))
        } else {
            Box::new(Headless)
        };
        Self::with(session, approver)
    }

    /// The same with somebody else to ask.
    pub(crate) fn with(
        session: &'s Session<'s>,
        approver: Box<dyn Approver>,
    ) -> Result<Self, Failure> {
        let machine = session.machine;
        let nowhere = |what: &str| {
            Failure::broken("store", format!("there is no place for {what}"))
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
        // A folder that is there is fenced in. One that isn't could be made by a skill, and would count until the skill ends.
        if let Some(folder) = machine.own_skills.as_deref().and_then(Path::parent) {
            std::fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
        }
        let shim = std::env::current_exe().map_err(|error| {
            Failure::broken("program", format!("the program can't find itself: {error}"))
                .hint("start metier by its full path")
        })?;
        let config = machine
            .config_file
            .as_ref()
            .map(|file| machine.work.join(file));
        let common = COMMON
            .iter()
            .filter_map(|name| Some(((*name).into(), std::env::var_os(name)?)));
        let named = NamedByVariables::read(machine.home.as_deref(), &|name| std::env::var_os(name));
        let mut obeyed = session.obeyed();
        obeyed.extend(named.obeyed);
        obeyed.push(cache.join(TEST_PROJECTS));
        let store = Store::open(database)?;
        store.close_abandoned(&crate::machine::timestamp(now()))?;
        Ok(Self {
            session,
            store,
            approver,
            warn: Box::new(|line| session.output.warn(&one_line(line))),
            common: common.collect(),
            own: own(database)
                .chain(session.machine.history())
                .chain(config)
                .chain([cache.join("catalog"), cache.join("wasm")])
                .chain(named.secret)
                .collect(),
            obeyed,
            temporary: leftovers::temporary(cache),
            compiled: private(cache.join("wasm"))?,
            shim,
            id: fresh_id()?,
            answers: Arc::default(),
        })
    }

    /// The same with what was answered in this session so far.
    pub(crate) fn sharing(self, answers: Arc<SessionAnswers>) -> Self {
        Self { answers, ..self }
    }

    /// The same for a session that has a name already.
    pub(crate) fn named(self, id: &str) -> Self {
        Self {
            id: id.to_owned(),
            ..self
        }
    }

    /// What is at hand when a skill works.
    pub(crate) fn premises(&self) -> Premises<'_> {
        let machine = self.session.machine;
        Premises {
            desk: self.desk(),
            config: &self.session.config,
            variable: &|name| std::env::var_os(name),
            shim: &self.shim,
            work: &machine.work,
            home: machine.home.as_deref(),
            path: machine.path.as_deref(),
            common: &self.common,
            own: &self.own,
            obeyed: &self.obeyed,
            temporary: &self.temporary,
            compiled: &self.compiled,
            unsandboxed: self.session.global.unsandboxed,
            stop: None,
        }
    }

    /// Who decides.
    pub(crate) fn desk(&self) -> Desk<'_> {
        Desk {
            store: &self.store,
            approver: self.approver.as_ref(),
            approved_now: &self.session.global.approve_skills,
            approved: &self.session.config.approved,
            terms: terms(self.session),
            clock: &now,
            warn: &*self.warn,
            meter: Meter::default(),
            session: self.id.clone(),
            asking: Asking::sharing(Arc::clone(&self.answers)),
        }
    }
}

/// A name that no session had before.
pub(crate) fn fresh_id() -> Result<String, Failure> {
    let number = getrandom::u64().map_err(std::io::Error::from)?;
    Ok(format!("{number:016x}"))
}

/// A folder for the user alone. It must be there before a skill could make it: what is in it will be run.
pub(crate) fn private(folder: PathBuf) -> Result<PathBuf, Failure> {
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
    endings.into_iter().map(|ending| {
        let mut name = database.as_os_str().to_owned();
        name.push(ending);
        name.into()
    })
}

/// The clock of receipts; tests own it.
fn now() -> SystemTime {
    crate::machine::now()
}

/// What holds for every grant of this run.
pub(crate) fn terms(session: &Session<'_>) -> Terms {
    let limits = &session.config.limits;
    let prefixes = session.config.security.allowed_command_prefixes.as_ref();
    let words = |prefix: &String| prefix.split_whitespace().map(str::to_owned).collect();
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    Terms {
        rates: Rates {
            shell_exec: limits.max_shell_exec_per_turn,
            net_fetch: limits.max_net_fetch_per_turn,
            llm_call: limits.max_llm_calls_per_turn,
        },
        shell_timeout: Duration::from_secs(limits.shell_exec_timeout),
        fetch_timeout: Duration::from_secs(limits.net_fetch_timeout),
        prefixes: prefixes.map(|prefixes| prefixes.iter().map(words).collect()),
        project: real(&session.machine.project),
        home: session.machine.home.as_deref().map(real),
    }
}

/// What to say when there is no grant.
pub(crate) fn refused(entry: &Entry, refused: Refused) -> Failure {
    let name = entry.name();
    let word = metier_model::text::shell_word(&name);
    match refused {
        Refused::Store(error) => error.into(),
        Refused::Denied(ref asked) => denied(&name, asked).hint(format!(
            "this was denied for good; metier permissions {word} shows it, metier permissions {word} --revoke removes it"
        )),
        Refused::DeniedNow(ref asked) => denied(&name, asked).hint(
            "nothing was recorded: run the command again to be asked again",
        ),
        Refused::NotApproved {
            ref asked,
            ref changes,
            other_source,
        } => {
            let failure = Failure::unmet(
                "not-approved",
                format!("skill `{name}` needs permission, and nobody was there to give it"),
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
            failure.hint(format!("allow it for this run with --approve-skills {word}, or for good with: metier permissions {word} --approve"))
        }
    }
}

fn denied(name: &str, asked: &[Asked]) -> Failure {
    let failure = Failure::unmet("denied", format!("skill `{name}`: permission was denied"));
    asked.iter().fold(failure.skill(name), |failure, asked| {
        failure.detail(asked.want.to_string())
    })
}

/// What a bare name in the configuration does not approve, and what would.
pub(crate) fn meant_by_name(entry: &Entry) -> String {
    let (name, source) = (entry.name(), entry.source.as_str());
    format!(
        "`{name}` in skills.approved means your own and built-in skills; this one has the source {source}: \
         `{source}:{name}` would mean it"
    )
}

fn changed(failure: Failure, changes: &Changes) -> Failure {
    let failure = failure.detail(format!(
        "it is not what was approved on {}:",
        one_line(&changes.since)
    ));
    difference(changes).lines().fold(failure, |failure, line| {
        failure.detail(line.trim().to_owned())
    })
}
