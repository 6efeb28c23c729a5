//! Checks of this machine: configuration, database, sandbox, backends, rules of the scanner, skills.

mod backends;

use std::path::Path;

use metier_catalog::CatalogEntry;
use metier_host::sandbox::{Mechanism, Support};
use metier_model::{DiagnosticSeverity, Digest, text::shell_word};
use metier_policy::Identity;
use metier_runtime::{Inventory, Status, approvals, hooks};
use metier_store::Store;

use crate::{
    Error, Skills, Workspace, explain,
    grant_terms::meant_by_name,
    scan_gate::ScanGate,
    text::count,
    watched_folders::{Unwatched, WatchedFolders},
};

/// One check of [`Workspace::diagnose`], and its result.
///
/// An example is at [`Workspace::diagnose`].
#[derive(Clone, Debug)]
pub struct HealthCheck {
    /// The subject of the check, as in `database` or `skill pdf`.
    pub name: String,
    /// The result of the check.
    pub status: CheckStatus,
    /// The result in a sentence.
    pub message: String,
    /// The command or the action that fixes it.
    pub fix: Option<String>,
}

/// The result of a check.
///
/// An example is at [`Workspace::diagnose`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    /// Nothing is wrong.
    Ok,
    /// It works with restrictions.
    Warn,
    /// It does not work.
    Fail,
}

impl CheckStatus {
    /// `ok`, `warn` or `fail`.
    ///
    /// ```
    /// assert_eq!(metier::diagnosis::CheckStatus::Warn.as_str(), "warn");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

impl HealthCheck {
    /// A check of the program itself, to be shown together with those of [`Workspace::diagnose`].
    ///
    /// ```
    /// use metier::diagnosis::{CheckStatus, HealthCheck};
    ///
    /// let fix = Some("connect the printer".to_owned());
    /// let check = HealthCheck::new("printer", CheckStatus::Fail, "it does not answer".to_owned(), fix);
    /// assert_eq!(check.status, CheckStatus::Fail);
    /// ```
    #[must_use]
    pub fn new(name: &str, status: CheckStatus, message: String, fix: Option<String>) -> Self {
        Self {
            name: name.to_owned(),
            status,
            message,
            fix,
        }
    }
}

/// The result of [`Workspace::diagnose`], which has an example.
pub struct Diagnosis {
    /// Every check, in the order in which they were made.
    pub checks: Vec<HealthCheck>,
    /// The skills, scanned; none if they can't be read.
    pub skills: Option<Skills>,
}

impl Workspace {
    /// Checks this machine and scans its skills, unless the verdicts on their exact bytes are known. With `form` the warnings about the form
    /// of skills that work are counted too.
    ///
    /// ```no_run
    /// use metier::{Settings, Workspace, diagnosis::CheckStatus};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// let workspace = Workspace::open_anyway(Settings::from_env()?)?;
    /// for check in workspace.diagnose(false).checks {
    ///     if check.status != CheckStatus::Ok {
    ///         println!("{}: {}", check.name, check.message);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn diagnose(&self, form: bool) -> Diagnosis {
        let mut checks = self.check_configuration();
        let worker = self.worker_program();
        let support = worker.map(|worker| metier_host::child::detect(&worker));
        checks.extend([self.check_database(), self.check_index(), sandbox(&support)]);
        checks.extend(self.check_watches());
        #[cfg(feature = "hub")]
        checks.extend(self.check_locks());
        checks.extend(backends::checks(self, support.as_ref().ok()));
        #[cfg(feature = "mcp")]
        checks.extend(self.check_servers());
        let Ok(mut inventory) = self.inventory() else {
            let message = "skipped until the checks above pass".to_owned();
            checks.push(HealthCheck::new("skills", CheckStatus::Fail, message, None));
            return Diagnosis {
                checks,
                skills: None,
            };
        };
        let scan_gate = self.screening(&inventory.catalog);
        checks.extend(rules(&scan_gate));
        scan_gate.look_at_all(&mut inventory);
        self.check_skills(&inventory, form, &mut checks);
        Diagnosis {
            checks,
            skills: Some(Skills {
                inventory: inventory.into(),
            }),
        }
    }

    /// Locks that can't be read, and skills that they state and that are not there.
    #[cfg(feature = "hub")]
    fn check_locks(&self) -> Vec<HealthCheck> {
        use crate::distribution::InstallScope;
        let check = |scope: InstallScope| {
            let name = match scope {
                InstallScope::User => "lock",
                InstallScope::Project => "lock of the project",
            };
            let lock = match self.lock(scope) {
                Ok(lock) => lock,
                Err(error) => {
                    let message = error.message().to_owned();
                    let fix = error.advice().map(str::to_owned);
                    return Some(HealthCheck::new(name, CheckStatus::Fail, message, fix));
                }
            };
            let places = self.scope_places(scope).ok()?;
            let names = lock.skills.keys();
            let missing: Vec<&str> = names
                .filter(|name| !places.skill(name).exists())
                .map(String::as_str)
                .collect();
            let message = match missing.as_slice() {
                [] => return None,
                [one] => format!("skill `{one}` is not installed"),
                [first, rest @ ..] => {
                    let more = rest.len();
                    format!(
                        "{} are not installed: {first} and {more} more",
                        count(missing.len(), "skill")
                    )
                }
            };
            let fix = Some(format!("metier {}", scope.verb()));
            Some(HealthCheck::new(name, CheckStatus::Warn, message, fix))
        };
        InstallScope::ALL.into_iter().filter_map(check).collect()
    }

    /// One check for each MCP server with skills. All of them are asked.
    #[cfg(feature = "mcp")]
    fn check_servers(&self) -> Vec<HealthCheck> {
        let check = |listing: crate::mcp::ServerListing| {
            let name = format!("MCP server {}", listing.server);
            match listing.skills {
                Ok(skills) => {
                    HealthCheck::new(&name, CheckStatus::Ok, count(skills, "skill"), None)
                }
                Err(problem) => {
                    let fix = format!("check `skills.mcp.{}` with: metier config", listing.server);
                    HealthCheck::new(&name, CheckStatus::Warn, problem, Some(fix))
                }
            }
        };
        self.list_servers(true).into_iter().map(check).collect()
    }

    /// One check for each mistake in the configuration, or one if there is none.
    fn check_configuration(&self) -> Vec<HealthCheck> {
        if self.problems.is_empty() {
            let file = self.machine.config_file.as_ref();
            let message = file.filter(|file| file.exists()).map_or_else(
                || "no file, all defaults".to_owned(),
                |file| file.display().to_string(),
            );
            let check = HealthCheck::new("configuration", CheckStatus::Ok, message, None);
            return vec![check];
        }
        let one = |problem: &metier_config::ConfigProblem| {
            let status = match problem.is_error() {
                true => CheckStatus::Fail,
                false => CheckStatus::Warn,
            };
            let fix = problem.hint.clone();
            let fix = fix.or_else(|| Some("metier config".into()));
            HealthCheck::new("configuration", status, problem.to_string(), fix)
        };
        self.problems.iter().map(one).collect()
    }

    fn check_database(&self) -> HealthCheck {
        let check = |status, message, fix: Option<&str>| {
            HealthCheck::new("database", status, message, fix.map(str::to_owned))
        };
        let Some(path) = &self.machine.database else {
            let message = "there is no home directory to store it in".to_owned();
            return check(
                CheckStatus::Warn,
                message,
                Some("set METIER_HOME to a folder"),
            );
        };
        match Store::open_existing(path) {
            Ok(Some(_)) => check(CheckStatus::Ok, path.display().to_string(), None),
            Ok(None) => match unwritable(path) {
                Some(folder) => check(
                    CheckStatus::Fail,
                    format!("{} can't be written", folder.display()),
                    Some(
                        "check its permissions, or set METIER_HOME to a folder that can be written",
                    ),
                ),
                None => check(CheckStatus::Ok, "not needed yet".to_owned(), None),
            },
            Err(error) => check(CheckStatus::Fail, error.to_string(), Some(&error.hint())),
        }
    }

    fn check_index(&self) -> HealthCheck {
        let check =
            |status, message: &str, fix| HealthCheck::new("index", status, message.to_owned(), fix);
        match &self.machine.cache {
            Some(folder) if folder.exists() => {
                check(CheckStatus::Ok, &folder.display().to_string(), None)
            }
            Some(_) => check(CheckStatus::Ok, "not written yet", None),
            None => check(
                CheckStatus::Warn,
                "there is no home directory to store it in: every start is a cold start",
                Some("set METIER_HOME to a folder".to_owned()),
            ),
        }
    }

    /// Whether a server could watch the folders of skills; nothing if it is not to.
    fn check_watches(&self) -> Option<HealthCheck> {
        if !self.config.load.watch {
            return None;
        }
        let watched = WatchedFolders::new().and_then(|mut folders| {
            let watched = folders.follow(self.watched_places());
            watched.map(|()| folders.count())
        });
        let why = watched.err()?;
        let message = format!("{why}: a running server lists the skills every few seconds");
        let fix = match why {
            Unwatched::NoMoreWatches => "sudo sysctl fs.inotify.max_user_watches=524288",
            Unwatched::TooMany => {
                "move large folders, such as `node_modules`, out of the folders of skills"
            }
            Unwatched::NoMoreQueues => "sudo sysctl fs.inotify.max_user_instances=1024",
            Unwatched::Unreadable(..) => "check the folder and its permissions",
        };
        Some(HealthCheck::new(
            "changes",
            CheckStatus::Warn,
            message,
            Some(fix.to_owned()),
        ))
    }

    fn check_skills(&self, inventory: &Inventory, form: bool, checks: &mut Vec<HealthCheck>) {
        let found = count(inventory.skills.len(), "skill");
        let message = format!("{found} found, {} ready", inventory.counts().ready);
        checks.push(HealthCheck::new("skills", CheckStatus::Ok, message, None));
        for diagnostic in &inventory.diagnostics {
            let status = match diagnostic.severity {
                DiagnosticSeverity::Error => CheckStatus::Fail,
                DiagnosticSeverity::Warning => CheckStatus::Warn,
                DiagnosticSeverity::Info => continue,
            };
            let fix = diagnostic.hint.as_ref().map(ToString::to_string);
            let message = diagnostic.message.to_string();
            checks.push(HealthCheck::new(&diagnostic.file, status, message, fix));
        }
        for skill in &inventory.skills {
            let entry = inventory.entry(skill);
            let name = format!("skill {}", entry.name());
            let warn = |message, fix| HealthCheck::new(&name, CheckStatus::Warn, message, fix);
            checks.extend(explain::pin_problem(entry).map(|problem| {
                let fix = problem.hint.as_ref().map(ToString::to_string);
                warn(problem.message.to_string(), fix)
            }));
            let is_ready = skill.status == Status::Ready;
            if is_ready && self.is_approved_elsewhere(entry) {
                let fix = "metier config skills.approved".to_owned();
                checks.push(warn(meant_by_name(entry), Some(fix)));
            }
            let is_listed = is_ready || matches!(skill.status, Status::Disabled | Status::Shadowed);
            let warnings = entry.warnings();
            if is_listed && form && warnings > 0 {
                let path = entry.place.path();
                let fix = format!("metier validate {}", shell_word(&path.to_string_lossy()));
                let message = format!("it has {}", count(warnings, "warning"));
                checks.push(warn(message, Some(fix)));
            }
            if is_ready {
                checks.extend(self.hook_problems(entry, &name));
            }
        }
    }

    /// Whether the configuration contains the name of a skill that it does not approve.
    fn is_approved_elsewhere(&self, entry: &CatalogEntry) -> bool {
        let identity = Identity {
            skill: entry.name().as_ref().into(),
            source: entry.source,
            // No digest is involved: an approval of bytes does not approve a name.
            digest: entry.digest.unwrap_or(Digest([0; 32])),
        };
        approvals::is_approved_elsewhere(&identity, &self.config.approved)
    }

    /// Hooks that can't be read, and those that failed at the last activation.
    fn hook_problems(&self, entry: &CatalogEntry, name: &str) -> Vec<HealthCheck> {
        let brought = hooks::in_place(entry);
        let read = brought.diagnostics.iter();
        let read = read.filter(|diagnostic| diagnostic.severity > DiagnosticSeverity::Info);
        let read = read.map(|diagnostic| {
            let message = format!("{}: {}", diagnostic.file, diagnostic.message);
            let fix = diagnostic.hint.as_ref().map(ToString::to_string);
            HealthCheck::new(name, CheckStatus::Warn, message, fix)
        });
        let failed = self.last_failure(entry).map(|message| {
            let fix = format!("metier info {}", shell_word(&entry.name()));
            HealthCheck::new(name, CheckStatus::Warn, message, Some(fix))
        });
        read.chain(failed).collect()
    }
}

/// The nearest existing folder above a file, if it is not writable.
fn unwritable(file: &Path) -> Option<&Path> {
    let folder = file.ancestors().skip(1).find(|folder| folder.exists())?;
    let refused = rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err();
    (refused || !folder.is_dir()).then_some(folder)
}

/// The sandbox for programs of skills on this machine.
fn sandbox(support: &Result<Support, Error>) -> HealthCheck {
    let refused = "programs of skills are refused here, unless --unsandboxed is given";
    let check = |status, message: String, fix: Option<&str>| {
        HealthCheck::new("sandbox", status, message, fix.map(str::to_owned))
    };
    let support = match support {
        Ok(support) => support,
        Err(error) => {
            let message = format!("can't be checked: {}", error.message());
            return check(CheckStatus::Warn, message, Some(refused));
        }
    };
    let missing = support.missing.join("; ");
    match support.mechanism {
        Mechanism::Namespaces => {
            let message = "namespaces, Landlock and seccomp".to_owned();
            check(CheckStatus::Ok, message, None)
        }
        Mechanism::Landlock => check(
            CheckStatus::Warn,
            format!("Landlock and seccomp only: {missing}"),
            Some("allow unprivileged user namespaces; without them skills have no network"),
        ),
        Mechanism::None => check(CheckStatus::Warn, format!("none: {missing}"), Some(refused)),
    }
}

/// One check for each rule that the scanner can't use.
fn rules(scan_gate: &ScanGate) -> impl Iterator<Item = HealthCheck> {
    scan_gate.problems().iter().map(|problem| {
        let line = problem.line.map(|line| format!(":{line}"));
        let (file, line) = (problem.file.display(), line.unwrap_or_default());
        let (status, fix) = match problem.own {
            true => (
                CheckStatus::Fail,
                Some("metier config skills.scan.rules_dir".to_owned()),
            ),
            false => (CheckStatus::Warn, None),
        };
        let message = format!("{file}{line}: {}", problem.message);
        HealthCheck::new("rules of the scanner", status, message, fix)
    })
}
