//! The machine: environment, folders, clock. No other module reads them.

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use metier_catalog::{Root, RootBases};

use crate::Error;

/// The machine as a workspace sees it: folders, variables, time.
///
/// An example is at [`Machine::from_env`], which reads the environment; [`Settings::of`](crate::Settings::of) has one that describes a
/// machine by hand.
#[derive(Clone)]
pub struct Machine {
    /// The home directory.
    pub home: Option<PathBuf>,
    /// The working directory.
    pub work: PathBuf,
    /// The repository's root, or the working directory.
    pub project: PathBuf,
    /// The user's configuration.
    pub config_file: Option<PathBuf>,
    /// The folder of metier's own skills of the user.
    pub own_skills: Option<PathBuf>,
    /// The database: trust, approvals, receipts, conversations.
    pub database: Option<PathBuf>,
    /// Files that can be recreated: the index, verdicts, compiled code.
    pub cache: Option<PathBuf>,
    /// The value of `PATH`, where programs are found.
    pub path: Option<OsString>,
    /// Names of the variables that are set and not empty.
    pub variables: BTreeSet<String>,
    /// The variables whose names begin with `METIER_`, with their values: they override the files of the configuration.
    pub settings: Vec<(String, String)>,
    /// The time when this was read; [`Machine::now`] renews it.
    pub now: SystemTime,
    /// A number that is another one for another build of the program: an index that another build wrote is not used.
    pub stamp: u64,
}

impl Machine {
    /// The machine of this process, in this directory and with this configuration if they are named.
    ///
    /// ```
    /// # fn main() -> Result<(), metier::Error> {
    /// let machine = metier::Machine::from_env(None, None)?;
    /// assert!(machine.work.is_absolute());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the directory can't be used.
    pub fn from_env(directory: Option<&Path>, config: Option<&Path>) -> Result<Self, Error> {
        let start = env::current_dir().map_err(|error| {
            Error::broken(
                "working-directory",
                format!("the working directory can't be used: {error}"),
            )
            .hint("cd to a folder that exists")
        })?;
        let work = match directory {
            None => start,
            Some(directory) => start.join(directory).canonicalize().map_err(|error| {
                Error::broken(
                    "working-directory",
                    format!("can't work in `{}`: {error}", directory.display()),
                )
                .hint("check the folder behind `-C`")
            })?,
        };
        let folders = Folders::find();
        let mut variables = BTreeSet::new();
        let mut settings = Vec::new();
        for (name, value) in env::vars_os().filter(|(_, value)| !value.is_empty()) {
            let Ok(name) = name.into_string() else {
                continue;
            };
            if name.starts_with("METIER_") {
                settings.push((name.clone(), value.to_string_lossy().into_owned()));
            }
            variables.insert(name);
        }
        Ok(Self {
            project: project_root(&work, folders.home.as_deref()),
            work,
            config_file: config.map(Path::to_owned).or(folders
                .config
                .as_ref()
                .map(|folder| folder.join("config.toml"))),
            own_skills: folders.config.map(|folder| folder.join("skills")),
            database: folders.data.map(|folder| folder.join("metier.db")),
            cache: folders.cache,
            home: folders.home,
            path: env::var_os("PATH"),
            variables,
            settings,
            now: now(),
            stamp: stamp(),
        })
    }

    /// The file with the lines that were typed in chats; none without a data folder. No skill can read it.
    ///
    /// The example of [`Machine::signing_key`] prints such a place.
    #[must_use]
    pub fn history(&self) -> Option<PathBuf> {
        Some(self.database.as_ref()?.with_file_name("chat-history"))
    }

    /// The secret key that signs packages; none without a data folder. No skill can read it.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let machine = metier::Machine::from_env(None, None)?;
    /// let files = [machine.signing_key(), machine.server_tokens(), machine.daemon_token()];
    /// for file in files.into_iter().flatten() {
    ///     println!("no skill can read {}", file.display());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn signing_key(&self) -> Option<PathBuf> {
        Some(self.database.as_ref()?.with_file_name("signing.key"))
    }

    /// The folder with tokens of MCP servers. No skill can read it.
    ///
    /// The example of [`Machine::signing_key`] prints it.
    #[must_use]
    pub fn server_tokens(&self) -> Option<PathBuf> {
        Some(self.database.as_ref()?.with_file_name("mcp-tokens"))
    }

    /// The folder with the known signers of skills. No skill can read or write it.
    ///
    /// The example of [`Machine::signing_key`] prints such a place.
    #[must_use]
    pub fn signers(&self) -> Option<PathBuf> {
        Some(self.database.as_ref()?.with_file_name("signers"))
    }

    /// The token of the daemon. No skill can read it.
    ///
    /// The example of [`Machine::signing_key`] prints it.
    #[must_use]
    pub fn daemon_token(&self) -> Option<PathBuf> {
        Some(self.database.as_ref()?.with_file_name("token"))
    }

    /// The file that a running daemon locks. No skill can write it.
    ///
    /// The example of [`Machine::signing_key`] prints such a place.
    #[must_use]
    pub fn daemon_lock(&self) -> Option<PathBuf> {
        Some(self.database.as_ref()?.with_file_name("serve.lock"))
    }

    /// The folders in which agents look for skills here, whether they exist or not.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let machine = metier::Machine::from_env(None, None)?;
    /// for root in machine.skill_roots() {
    ///     println!("{}: {}", root.source.as_str(), root.path.display());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn skill_roots(&self) -> Vec<Root> {
        metier_catalog::usual(&self.places(), &[], true, true)
    }

    pub(crate) fn places(&self) -> RootBases<'_> {
        RootBases {
            home: self.home.as_deref(),
            own: self.own_skills.as_deref(),
            work: &self.work,
            project: &self.project,
        }
    }

    /// This machine at this moment, for a long-running program.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// let started = metier::Machine::from_env(None, None)?;
    /// // … later …
    /// assert!(started.now().now >= started.now);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn now(&self) -> Self {
        Self {
            now: now(),
            ..self.clone()
        }
    }
}

/// Where configuration, data and cache are: below `METIER_HOME` if that is set, else in the XDG folders.
struct Folders {
    home: Option<PathBuf>,
    config: Option<PathBuf>,
    data: Option<PathBuf>,
    cache: Option<PathBuf>,
}

impl Folders {
    fn find() -> Self {
        let home = env::home_dir();
        if let Some(own) = env::var_os("METIER_HOME")
            .filter(|own| !own.is_empty())
            .map(PathBuf::from)
        {
            return Self {
                home,
                cache: Some(own.join("cache")),
                config: Some(own.clone()),
                data: Some(own),
            };
        }
        // According to the specification, a relative path in one of these variables is ignored.
        let xdg = |variable: &str, usual: &str| {
            let set = env::var_os(variable).map(PathBuf::from);
            let set = set.filter(|folder| folder.is_absolute());
            let folder = set.or_else(|| Some(home.as_ref()?.join(usual)));
            folder.map(|folder| folder.join("metier"))
        };
        Self {
            config: xdg("XDG_CONFIG_HOME", ".config"),
            data: xdg("XDG_DATA_HOME", ".local/share"),
            cache: xdg("XDG_CACHE_HOME", ".cache"),
            home,
        }
    }
}

/// The nearest folder upwards that is a git work tree, but never the home directory or what is
/// above it: a dotfiles repository does not make everything a project.
fn project_root(work: &Path, home: Option<&Path>) -> PathBuf {
    let is_home = |folder: &Path| home.is_some_and(|home| home.starts_with(folder));
    let found = work
        .ancestors()
        .take_while(|folder| !is_home(folder))
        .find(|folder| folder.join(".git").exists());
    found.unwrap_or(work).to_owned()
}

/// The time; tests set it with `METIER_NOW`, as `2026-01-02T03:04:05Z`.
pub(crate) fn now() -> SystemTime {
    env::var("METIER_NOW")
        .ok()
        .and_then(|text| humantime::parse_rfc3339(&text).ok())
        .unwrap_or_else(SystemTime::now)
}

/// The value of a variable, if it is set and text.
#[cfg(feature = "mcp")]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Size and time of the program file: another build must not use this one's index.
fn stamp() -> u64 {
    let file = env::current_exe().and_then(fs::metadata);
    let modified = file
        .as_ref()
        .ok()
        .and_then(|file| file.modified().ok())
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let size = file.map_or(0, |file| file.len());
    modified.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(0)) ^ size.rotate_left(32)
}

/// The age of a time in RFC 3339 at `now`; the text itself if it is not one.
///
/// ```
/// use metier::text::{ago, parse_time};
///
/// let now = parse_time("2026-01-02T03:04:05Z").expect("a time");
/// assert_eq!(ago(now, "2026-01-02T00:04:05Z"), "3 h ago");
/// assert_eq!(ago(now, "some day"), "some day");
/// ```
#[must_use]
pub fn ago(now: SystemTime, at: &str) -> String {
    match humantime::parse_rfc3339(at) {
        Ok(time) => metier_model::text::ago(now.duration_since(time).unwrap_or_default()),
        Err(_) => at.to_owned(),
    }
}

/// A time as `YYYY-MM-DDTHH:MM:SSZ`, in UTC.
///
/// The example of [`parse_time`] writes one.
#[must_use]
pub fn timestamp(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

/// The time that [`timestamp`] writes; a day alone is its beginning. None for any other text.
///
/// ```
/// use metier::text::{parse_time, timestamp};
///
/// let time = parse_time("2026-01-02T03:04:05Z").expect("a time");
/// assert_eq!(timestamp(time), "2026-01-02T03:04:05Z");
/// assert_eq!(parse_time("2026-01-02"), parse_time("2026-01-02T00:00:00Z"));
/// assert_eq!(parse_time("some day"), None);
/// ```
#[must_use]
pub fn parse_time(text: &str) -> Option<SystemTime> {
    let whole = humantime::parse_rfc3339_weak(text);
    let day = || humantime::parse_rfc3339_weak(&format!("{text} 00:00:00"));
    whole.or_else(|_| day()).ok()
}
