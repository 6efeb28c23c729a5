//! Grants and permits.
//!
//! A [`Grant`] is what one activation may ever do; a [`Permit`] is one act, checked and counted just now, and it contains
//! the act. Neither can be made anywhere but here, so whoever holds a permit holds the result of this check.

use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

use metier_model::{
    Permission, Scope, Want,
    scope::{Anchor, CommandPattern, PathPattern, Reach},
};

use crate::{
    Act, Command, ExactOnly, Fetch, Identity, Line, RedirectTarget, Within,
    meter::{Meter, Rates},
    variables,
};

/// What holds for every grant on this machine.
#[derive(Clone, Debug)]
pub struct Terms {
    /// How often in a turn.
    pub rates: Rates,
    /// How long a command may take.
    pub shell_timeout: Duration,
    /// How long a request may take.
    pub fetch_timeout: Duration,
    /// What a command may begin with, word by word; `None` sets no limit.
    pub prefixes: Option<Vec<Vec<String>>>,
    /// Where `./` starts.
    pub project: PathBuf,
    /// Where `~/` starts.
    pub home: Option<PathBuf>,
}

/// What one activation of a skill may ever do.
#[derive(Debug)]
pub struct Grant {
    identity: Identity,
    allowed: Vec<Want>,
    denied: Vec<Want>,
    on_use: Vec<Want>,
    terms: Terms,
}

/// One act that was checked and counted just now.
#[derive(Debug)]
pub struct Permit {
    act: Act,
    timeout: Option<Duration>,
}

/// Why an act was not permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// A stable word.
    pub code: &'static str,
    /// What happened.
    pub message: String,
    /// The permission that would have allowed it.
    pub needed: Option<String>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Refusal {}

impl Grant {
    pub(crate) fn mint(
        identity: Identity,
        allowed: Vec<Want>,
        denied: Vec<Want>,
        terms: Terms,
    ) -> Self {
        Self {
            identity,
            allowed,
            denied,
            on_use: Vec::new(),
            terms,
        }
    }

    /// The same, and besides these, each of which is asked about when it is used.
    pub(crate) fn asking_on_use(self, on_use: Vec<Want>) -> Self {
        Self { on_use, ..self }
    }

    /// For whom it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// What was allowed.
    #[must_use]
    pub fn allowed(&self) -> &[Want] {
        &self.allowed
    }

    /// What was denied inside of that.
    #[must_use]
    pub fn denied(&self) -> &[Want] {
        &self.denied
    }

    /// What is asked about when it is used.
    #[must_use]
    pub fn on_use(&self) -> &[Want] {
        &self.on_use
    }

    /// Whether the skill can do nothing but answer, whatever the user says.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty() && self.on_use.is_empty()
    }

    /// The permissions that make the fence of a child. A command that was approved works with the files that its skill may be allowed to
    /// change: the question about the command says so.
    pub fn fence(&self) -> impl Iterator<Item = &Want> {
        self.allowed.iter().chain(&self.on_use)
    }

    /// What holds for it.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Checks one act and counts it.
    ///
    /// # Errors
    /// When the grant does not hold it, when it was done too often in this turn, or when nobody may ever do it.
    pub fn permit(&self, act: Act, meter: &Meter) -> Result<Permit, Refusal> {
        self.check(&act)?;
        let permission = act.permission();
        if !self.holds(&self.scopes_allowed(permission), &act) {
            return Err(self.not_permitted(&act));
        }
        self.count(permission, meter)?;
        Ok(self.made(act))
    }

    /// Whether anything speaks against an act, whoever allowed it.
    pub(crate) fn check(&self, act: &Act) -> Result<(), Refusal> {
        self.forbidden(act)?;
        match self.touches(&scopes(&self.denied, act.permission()), act) {
            true => Err(self.not_permitted(act)),
            false => Ok(()),
        }
    }

    /// Counts an act, unless that would be one too many in this turn.
    pub(crate) fn count(&self, permission: Permission, meter: &Meter) -> Result<(), Refusal> {
        match self.terms.rates.of(permission) {
            Some(limit) if !meter.take(self.identity.digest, permission, limit) => Err(Refusal {
                code: "rate-limit",
                message: format!(
                    "`{permission}`: the limit of {limit} in one turn is reached (skills.limits)"
                ),
                needed: None,
            }),
            _ => Ok(()),
        }
    }

    /// The permit itself. Whoever makes one has checked and counted the act.
    pub(crate) fn made(&self, act: Act) -> Permit {
        let timeout = match act.permission() {
            Permission::ShellExec => Some(self.terms.shell_timeout),
            Permission::NetFetch => Some(self.terms.fetch_timeout),
            _ => None,
        };
        Permit { act, timeout }
    }

    pub(crate) fn scopes_allowed(&self, permission: Permission) -> Vec<Scope> {
        scopes(&self.allowed, permission)
    }

    pub(crate) fn scopes_on_use(&self, permission: Permission) -> Vec<Scope> {
        scopes(&self.on_use, permission)
    }

    /// Whether a file could be read, for whoever looks at many and was permitted to look. Nothing is counted.
    #[must_use]
    pub fn may_read(&self, path: &Path) -> bool {
        let covers = |wants: &[Want]| {
            let wants = wants.iter();
            let mut wants = wants.filter(|want| want.permission == Permission::FileRead);
            wants.any(|want| match want.reach() {
                Scope::All => true,
                Scope::Paths(pattern) => self.in_pattern(&pattern, path),
                _ => false,
            })
        };
        is_plain(path) && covers(&self.allowed) && !covers(&self.denied)
    }

    /// What no grant can hold.
    fn forbidden(&self, act: &Act) -> Result<(), Refusal> {
        let refuse = |code, message: String| {
            Err(Refusal {
                code,
                message,
                needed: None,
            })
        };
        match act {
            Act::SetVariable { name, .. } if variables::is_reserved(name) => refuse(
                "forbidden-variable",
                format!(
                    "`{name}` decides what other programs load, run or reach; no skill may set it"
                ),
            ),
            Act::Line(line) => match &self.terms.prefixes {
                Some(prefixes) if !begins_with(line.commands.as_deref(), prefixes) => refuse(
                    "prefix",
                    format!(
                        "`{}` does not begin with one of skills.security.allowed_command_prefixes",
                        metier_model::text::visible(&line.text)
                    ),
                ),
                _ => Ok(()),
            },
            _ => match path(act) {
                Some(path) if !is_plain(path) => refuse(
                    "path",
                    format!("{} is not a plain absolute path", path.display()),
                ),
                _ => Ok(()),
            },
        }
    }

    /// Whether some scope holds the act as a whole; a line of several commands may take several scopes.
    pub(crate) fn holds(&self, scopes: &[Scope], act: &Act) -> bool {
        if let Act::Line(line) = act {
            let Line {
                text,
                commands,
                exact,
                ..
            } = line;
            let known = |command: &Command| scopes.iter().any(|scope| runs(scope, command));
            if matches!(exact, Some(ExactOnly::Value { .. })) {
                let mut scopes = scopes.iter().filter(|scope| **scope != Scope::All);
                return scopes.any(|scope| is_line(scope, text));
            }
            return scopes.iter().any(|scope| is_line(scope, text))
                || commands
                    .as_deref()
                    .is_some_and(|commands| !commands.is_empty() && commands.iter().all(known))
                    && self.first_unwritable(line).is_none();
        }
        if let Act::FindFiles { folder, .. } | Act::SearchFiles { folder, .. } = act {
            return scopes.iter().any(|scope| self.reaches(scope, folder));
        }
        scopes.iter().any(|scope| self.holds_one(scope, act))
    }

    /// The first file that a redirect of a line writes and that no permission to write covers. A line of a body runs in the skill's folder,
    /// where nothing is written; `~` is a folder that the run has for itself, and programs obey what lies there.
    fn first_unwritable<'l>(&self, line: &'l Line) -> Option<&'l RedirectTarget> {
        let covered = |scopes: &[Scope], path: &Path| {
            scopes.iter().any(|scope| match scope {
                Scope::All => true,
                Scope::Paths(pattern) => self.in_pattern(pattern, path),
                _ => false,
            })
        };
        let allowed = scopes(&self.allowed, Permission::FileWrite);
        let denied = scopes(&self.denied, Permission::FileWrite);
        let is_writable = |target: &&RedirectTarget| {
            let path = target.as_deref().and_then(|target| match line.within {
                Within::Project => Some(self.terms.project.join(target)),
                Within::Skill => Path::new(target).is_absolute().then(|| target.into()),
            });
            path.is_some_and(|path| {
                is_plain(&path) && covered(&allowed, &path) && !covered(&denied, &path)
            })
        };
        line.writes.iter().find(|target| !is_writable(target))
    }

    /// Whether some denied scope touches any part of the act.
    fn touches(&self, scopes: &[Scope], act: &Act) -> bool {
        if let Act::FindFiles { folder, .. } | Act::SearchFiles { folder, .. } = act {
            // What is denied inside of it is left out, file by file; only all of it is a refusal.
            return scopes.iter().any(|scope| self.contains(scope, folder));
        }
        if let Act::Line(Line { text, commands, .. }) = act {
            let hits = |command: &Command| {
                // A program that only the shell knows could be the denied one.
                command.first().is_none_or(Option::is_none)
                    || scopes.iter().any(|scope| runs(scope, command))
            };
            return !scopes.is_empty()
                && (scopes.iter().any(|scope| is_line(scope, text))
                    || commands
                        .as_deref()
                        .is_none_or(|commands| commands.iter().any(hits)));
        }
        if let Act::Fetch(fetch) = act {
            return scopes.iter().any(|scope| match scope {
                Scope::Host(pattern) => pattern.denies(&fetch.host, fetch.port),
                scope => *scope == Scope::All,
            });
        }
        scopes.iter().any(|scope| self.holds_one(scope, act))
    }

    fn holds_one(&self, scope: &Scope, act: &Act) -> bool {
        match (act, scope) {
            (Act::ReadVariable(name), Scope::All) => !variables::is_secret(name),
            (_, Scope::All) => true,
            (_, Scope::Paths(pattern)) => {
                path(act).is_some_and(|path| self.in_pattern(pattern, path))
            }
            (Act::Script { path, arguments }, Scope::Command(pattern)) => {
                let words = arguments.iter().map(|word| Some(word.as_str()));
                let words: Vec<_> = std::iter::once(Some(&**path)).chain(words).collect();
                pattern.matches(&words) || pattern.is_line(path)
            }
            (Act::Fetch(fetch), Scope::Host(pattern)) => pattern.matches(&fetch.host, fetch.port),
            (
                Act::ReadVariable(name)
                | Act::SetVariable { name, .. }
                | Act::CallModel(name)
                | Act::InvokeSkill(name),
                scope,
            ) => scope.names(name),
            _ => false,
        }
    }

    /// The refusal of something that was not granted, with the permission that it would have taken.
    fn not_permitted(&self, act: &Act) -> Refusal {
        let permission = act.permission();
        let detail = act.detail();
        let scope = match act {
            Act::Line(line) => CommandPattern::line(&line.text).to_string(),
            Act::Script { path, .. } => CommandPattern::script(path).to_string(),
            Act::Fetch(fetch) => needed_host(fetch),
            Act::FindFiles { folder, .. } | Act::SearchFiles { folder, .. } => {
                folder.join("**").display().to_string()
            }
            Act::ReadRepository(git) | Act::WriteRepository(git) => {
                git.repository.display().to_string()
            }
            _ => detail.clone(),
        };
        let why = match act {
            Act::Line(Line {
                exact: Some(exact), ..
            }) => format!(": {exact}, so that only an approval of this very line covers it"),
            Act::Line(line) => self.first_unwritable(line).map_or(String::new(), |target| {
                let target = target.as_deref().unwrap_or("a file that only the shell will know");
                let target = metier_model::text::visible(target);
                format!(
                    ": it writes `{target}`, which no file:write covers, so that only an approval of this very line covers it"
                )
            }),
            _ => String::new(),
        };
        Refusal {
            code: "not-permitted",
            message: format!(
                "`{permission}` is not granted for {}{why}",
                metier_model::text::visible(&detail)
            ),
            needed: Some(format!("{permission}({scope})")),
        }
    }

    /// Whether a scope may hold something in a folder, or the folder itself: what it does hold is seen file by file.
    fn reaches(&self, scope: &Scope, folder: &Path) -> bool {
        let Scope::Paths(pattern) = scope else {
            return *scope == Scope::All;
        };
        let (names, reach) = pattern.fixed();
        let Some(base) = self
            .anchor(pattern)
            .map(|anchor| anchor.join(names.join("/")))
        else {
            return false;
        };
        base.starts_with(folder) || (reach != Reach::Exactly && folder.starts_with(&base))
    }

    /// Whether a scope holds all that is in a folder.
    fn contains(&self, scope: &Scope, folder: &Path) -> bool {
        let Scope::Paths(pattern) = scope else {
            return *scope == Scope::All;
        };
        let (names, reach) = pattern.fixed();
        let base = self
            .anchor(pattern)
            .map(|anchor| anchor.join(names.join("/")));
        reach == Reach::Everything && base.is_some_and(|base| folder.starts_with(base))
    }

    /// Where a pattern starts on this machine.
    fn anchor(&self, pattern: &PathPattern) -> Option<&Path> {
        match pattern.anchor() {
            Anchor::Project => Some(self.terms.project.as_path()),
            Anchor::Home => self.terms.home.as_deref(),
            Anchor::Root => Some(Path::new("/")),
        }
    }

    fn in_pattern(&self, pattern: &PathPattern, path: &Path) -> bool {
        let anchor = self.anchor(pattern);
        let Some(rest) = anchor.and_then(|anchor| path.strip_prefix(anchor).ok()) else {
            return false;
        };
        let names: Option<Vec<&str>> = rest.iter().map(|name| name.to_str()).collect();
        names.is_some_and(|names| pattern.matches(&names))
    }
}

impl Permit {
    /// What was permitted.
    #[must_use]
    pub fn act(&self) -> &Act {
        &self.act
    }

    /// How long it may take, if there is a limit.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

fn scopes(wants: &[Want], permission: Permission) -> Vec<Scope> {
    let wants = wants.iter().filter(|want| want.permission == permission);
    wants.map(Want::reach).collect()
}

/// The path that an act is about.
fn path(act: &Act) -> Option<&Path> {
    match act {
        Act::ReadFile(path) | Act::WriteFile { path, .. } => Some(path),
        Act::FindFiles { folder, .. } | Act::SearchFiles { folder, .. } => Some(folder),
        Act::ReadRepository(git) | Act::WriteRepository(git) => Some(&git.repository),
        _ => None,
    }
}

/// A host as a scope names it, with its port where that must be named.
fn needed_host(fetch: &Fetch) -> String {
    match (
        format!("net:fetch({})", fetch.host).parse::<Want>(),
        &*fetch.host,
    ) {
        (Ok(want), host) if matches!(&want.scope, Scope::Host(pattern) if pattern.matches(host, fetch.port)) => {
            host.to_owned()
        }
        (_, host) => format!("{host}:{}", fetch.port),
    }
}

pub(crate) fn is_line(scope: &Scope, text: &str) -> bool {
    match scope {
        Scope::All => true,
        Scope::Command(pattern) => pattern.is_line(text),
        _ => false,
    }
}

fn runs(scope: &Scope, command: &Command) -> bool {
    match scope {
        Scope::All => true,
        Scope::Command(pattern) => {
            let words: Vec<Option<&str>> = command.iter().map(Option::as_deref).collect();
            pattern.matches(&words)
        }
        _ => false,
    }
}

/// Whether every command begins with one of the prefixes, word by word. What isn't understood begins with nothing.
fn begins_with(commands: Option<&[Command]>, prefixes: &[Vec<String>]) -> bool {
    let fits = |command: &Command, prefix: &Vec<String>| {
        !prefix.is_empty()
            && command.len() >= prefix.len()
            && prefix
                .iter()
                .zip(command)
                .all(|(wanted, word)| word.as_deref() == Some(wanted))
    };
    let known = |command: &Command| prefixes.iter().any(|prefix| fits(command, prefix));
    commands.is_some_and(|commands| !commands.is_empty() && commands.iter().all(known))
}

/// Absolute, and nothing in it that could lead elsewhere.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}
