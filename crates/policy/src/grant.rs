//! Grants and permits.
//!
//! A [`Grant`] contains everything that one activation may ever do; a [`Permit`] is one act that was just checked and counted, and
//! contains the act. Both can be created only here, so a permit proves that the check was made.

use std::{
    path::{Component, Path, PathBuf},
    time::Duration,
};

use metier_model::{
    Permission, Scope, Want,
    scope::{Anchor, CommandPattern, PathPattern, PossibleCommand, PossibleWord, Reach},
    text::shell_word,
};

use crate::{
    Act, CommandLine, CommandWords, ExactOnly, FetchAct, Identity, LineContext, RedirectTarget,
    meter::{ActMeter, Rates},
    variables,
};

/// The terms of every grant on this machine.
#[derive(Clone, Debug)]
pub struct GrantTerms {
    /// The maximum number of acts in a turn.
    pub rates: Rates,
    /// The time limit of a command.
    pub shell_timeout: Duration,
    /// The time limit of a request.
    pub fetch_timeout: Duration,
    /// The allowed first words of a command; `None` sets no limit.
    pub prefixes: Option<Vec<Vec<String>>>,
    /// The folder that `./` stands for.
    pub project: PathBuf,
    /// The folder that `~/` stands for.
    pub home: Option<PathBuf>,
}

/// Everything that one activation of a skill may ever do.
#[derive(Debug)]
pub struct Grant {
    identity: Identity,
    allowed: Vec<Want>,
    denied: Vec<Want>,
    on_use: Vec<Want>,
    terms: GrantTerms,
}

/// One act that was just checked and counted.
#[derive(Debug)]
pub struct Permit {
    act: Act,
    timeout: Option<Duration>,
}

/// Why an act was not permitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermitRefusal {
    /// A stable name for programs.
    pub code: &'static str,
    /// The reason in one sentence.
    pub message: String,
    /// The permission that would allow it.
    pub needed: Option<String>,
}

impl std::fmt::Display for PermitRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for PermitRefusal {}

impl Grant {
    pub(crate) fn mint(
        identity: Identity,
        allowed: Vec<Want>,
        denied: Vec<Want>,
        terms: GrantTerms,
    ) -> Self {
        Self {
            identity,
            allowed,
            denied,
            on_use: Vec::new(),
            terms,
        }
    }

    /// This grant with permissions that the user is asked about on each use.
    pub(crate) fn asking_on_use(self, on_use: Vec<Want>) -> Self {
        Self { on_use, ..self }
    }

    /// The skill that it was granted to.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The permissions that were allowed.
    #[must_use]
    pub fn allowed(&self) -> &[Want] {
        &self.allowed
    }

    /// The permissions that were denied within the allowed ones.
    #[must_use]
    pub fn denied(&self) -> &[Want] {
        &self.denied
    }

    /// The permissions that the user is asked about on each use.
    #[must_use]
    pub fn on_use(&self) -> &[Want] {
        &self.on_use
    }

    /// Whether the skill can do nothing but return text, whatever the user answers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.allowed.is_empty() && self.on_use.is_empty()
    }

    /// The permissions that define the sandbox of a child process. An approved command works with the files that its
    /// skill may be allowed to change: the question about the command states that.
    pub fn fence(&self) -> impl Iterator<Item = &Want> {
        self.allowed.iter().chain(&self.on_use)
    }

    /// The terms of the grant.
    #[must_use]
    pub fn terms(&self) -> &GrantTerms {
        &self.terms
    }

    /// Checks one act and counts it.
    ///
    /// # Errors
    /// If the grant does not cover it, if its limit in this turn is reached, or if no skill may ever do it.
    pub fn permit(&self, act: Act, meter: &ActMeter) -> Result<Permit, PermitRefusal> {
        self.check(&act)?;
        let permission = act.permission();
        if !self.holds(&self.scopes_allowed(permission), &act) {
            return Err(self.not_permitted(&act));
        }
        self.count(permission, meter)?;
        Ok(self.made(act))
    }

    /// Checks an act against the rules that no approval can override, and against the grant's denials.
    pub(crate) fn check(&self, act: &Act) -> Result<(), PermitRefusal> {
        self.forbidden(act)?;
        match self.denial_of(act) {
            Some(denial) => Err(self.denied_by(denial, act)),
            None => Ok(()),
        }
    }

    /// Counts an act; fails if the limit in this turn is reached.
    pub(crate) fn count(
        &self,
        permission: Permission,
        meter: &ActMeter,
    ) -> Result<(), PermitRefusal> {
        match self.terms.rates.of(permission) {
            Some(limit) if !meter.take(self.identity.digest, permission, limit) => {
                Err(PermitRefusal {
                    code: "rate-limit",
                    message: format!(
                        "`{permission}`: the limit of {limit} in one turn is reached (skills.limits)"
                    ),
                    needed: None,
                })
            }
            _ => Ok(()),
        }
    }

    /// The permit. The caller has checked and counted the act.
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

    /// Whether a file may be read, for a permitted search over many files. Nothing is counted.
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

    /// Acts that no grant can allow.
    fn forbidden(&self, act: &Act) -> Result<(), PermitRefusal> {
        let refuse = |code, message: String| {
            Err(PermitRefusal {
                code,
                message,
                needed: None,
            })
        };
        match act {
            Act::SetVariable { name, .. } if variables::is_reserved(name) => refuse(
                "forbidden-variable",
                format!(
                    "`{name}` affects what other programs load, run or reach; no skill may set it"
                ),
            ),
            Act::Script { path, .. } if !is_plain_below(path) => refuse(
                "path",
                format!(
                    "`{}` is not a plain path below the skill's folder",
                    metier_model::text::visible(path)
                ),
            ),
            Act::Line(line) => match &self.terms.prefixes {
                Some(prefixes) if !begins_with(line.commands.as_deref(), prefixes) => refuse(
                    "prefix",
                    format!(
                        "`{}` does not start with one of skills.security.allowed_command_prefixes",
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

    /// Whether some scope covers the whole act; a line of several commands can need several scopes.
    pub(crate) fn holds(&self, scopes: &[Scope], act: &Act) -> bool {
        if let Act::Line(line) = act {
            let CommandLine {
                text,
                commands,
                exact,
                ..
            } = line;
            let known =
                |command: &CommandWords| scopes.iter().any(|scope| has_command(scope, command));
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

    /// The first file that a redirect of a line writes and that no permission to write covers. A line of a body runs
    /// in the skill's folder, where nothing is written; `~` is a private folder of the run, and programs read
    /// configuration there.
    fn first_unwritable<'l>(&self, line: &'l CommandLine) -> Option<&'l RedirectTarget> {
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
                LineContext::Project => Some(self.terms.project.join(target)),
                LineContext::Skill => Path::new(target).is_absolute().then(|| target.into()),
            });
            path.is_some_and(|path| {
                is_plain(&path) && covered(&allowed, &path) && !covered(&denied, &path)
            })
        };
        line.writes.iter().find(|target| !is_writable(target))
    }

    /// The first denial that touches any part of the act.
    fn denial_of(&self, act: &Act) -> Option<&Want> {
        let permission = act.permission();
        let mut denied = self.denied.iter();
        denied.find(|want| want.permission == permission && self.touches(&want.reach(), act))
    }

    /// Whether a denied scope touches any part of the act.
    fn touches(&self, scope: &Scope, act: &Act) -> bool {
        match (act, scope) {
            (Act::ReadVariable(_), Scope::All) => self.holds_one(scope, act),
            (_, Scope::All) => true,
            // Denied files within it are excluded one by one; only a complete denial is a refusal.
            (Act::FindFiles { folder, .. } | Act::SearchFiles { folder, .. }, scope) => {
                self.contains(scope, folder)
            }
            (Act::Line(line), Scope::Command(pattern)) => {
                // A line is parsed once, not for each command.
                let denied = pattern.denied_commands().unwrap_or_default();
                let denies = |command| denied.iter().any(|pattern| pattern.denies(command));
                pattern.is_line(&line.text)
                    || line
                        .could_run
                        .as_deref()
                        .is_none_or(|all| all.iter().any(denies))
            }
            (Act::Script { path, arguments }, Scope::Command(pattern)) => {
                let words = std::iter::once(&**path).chain(arguments.iter().map(String::as_str));
                let words = words.map(|word| PossibleWord::Known(word.into())).collect();
                pattern.is_line(path) || pattern.denies(&PossibleCommand::new(words))
            }
            (Act::Fetch(fetch), Scope::Host(pattern)) => pattern.denies(&fetch.host, fetch.port),
            (Act::CallModel(target) | Act::InvokeSkill(target), scope) => {
                target.is_denied_by(scope)
            }
            (act, scope) => self.holds_one(scope, act),
        }
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
            (Act::CallModel(target) | Act::InvokeSkill(target), scope) => {
                target.is_allowed_by(scope)
            }
            (
                Act::ReadVariable(name)
                | Act::SetVariable { name, .. }
                | Act::CallTool { tool: name, .. },
                scope,
            ) => scope.names(name),
            _ => false,
        }
    }

    /// The refusal of an act that a denial covers. No approval of the act lifts it, so the message names the denial.
    fn denied_by(&self, denial: &Want, act: &Act) -> PermitRefusal {
        let shown = denial.to_string();
        let why = match act {
            Act::Line(line) if line.could_run.is_none() => {
                "may apply, since the line can't be analysed"
            }
            Act::Line(line) if is_lifted_by_quotes(&denial.reach(), line) => {
                "applies to a command that this line could run if a value is several words, as `$DIR` can be, but not `\"$DIR\"`"
            }
            Act::Line(_) => "applies to a command that this line could run",
            _ => "applies",
        };
        PermitRefusal {
            code: "denied",
            message: format!(
                "{} was not done: the denial `{}` {why}; to lift it: metier permissions {} --revoke {}",
                metier_model::text::visible(&act.detail()),
                metier_model::text::visible(&shown),
                shell_word(&self.identity.skill),
                shell_word(&metier_model::text::visible(&shown)),
            ),
            needed: None,
        }
    }

    /// The refusal of an act that was not granted, with the permission that it requires.
    fn not_permitted(&self, act: &Act) -> PermitRefusal {
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
            Act::CallTool { tool, .. } => tool.to_string(),
            _ => detail.clone(),
        };
        let why = match act {
            Act::Line(CommandLine {
                exact: Some(exact), ..
            }) => format!(": {exact}, so it needs an approval of this exact command"),
            Act::Line(line) => self.first_unwritable(line).map_or(String::new(), |target| {
                let target = target.as_deref().unwrap_or("a file that is known only at run time");
                let target = metier_model::text::visible(target);
                format!(
                    ": it writes `{target}`, which no file:write permission covers, so it needs an approval of this exact command"
                )
            }),
            _ => String::new(),
        };
        PermitRefusal {
            code: "not-permitted",
            message: format!(
                "`{permission}` is not granted for {}{why}",
                metier_model::text::visible(&detail)
            ),
            needed: Some(format!("{permission}({scope})")),
        }
    }

    /// Whether a scope can cover something in a folder, or the folder itself: each file is checked later.
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

    /// Whether a scope covers everything in a folder.
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

    /// The folder on this machine that a pattern starts from.
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
    /// The act that was permitted.
    #[must_use]
    pub fn act(&self) -> &Act {
        &self.act
    }

    /// The time limit of the act, if it has one.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}

fn scopes(wants: &[Want], permission: Permission) -> Vec<Scope> {
    let wants = wants.iter().filter(|want| want.permission == permission);
    wants.map(Want::reach).collect()
}

/// The path of an act.
fn path(act: &Act) -> Option<&Path> {
    match act {
        Act::ReadFile(path) | Act::WriteFile { path, .. } => Some(path),
        Act::FindFiles { folder, .. } | Act::SearchFiles { folder, .. } => Some(folder),
        Act::ReadRepository(git) | Act::WriteRepository(git) => Some(&git.repository),
        _ => None,
    }
}

/// A host as written in a scope, with its port where that is required.
fn needed_host(fetch: &FetchAct) -> String {
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

/// Whether a scope allows a command.
fn has_command(scope: &Scope, command: &CommandWords) -> bool {
    match scope {
        Scope::All => true,
        Scope::Command(pattern) => {
            let words: Vec<Option<&str>> = command.iter().map(Option::as_deref).collect();
            pattern.matches(&words)
        }
        _ => false,
    }
}

/// Whether every command starts with one of the prefixes, word by word. A line that can't be parsed starts with none.
fn begins_with(commands: Option<&[CommandWords]>, prefixes: &[Vec<String>]) -> bool {
    let fits = |command: &CommandWords, prefix: &Vec<String>| {
        !prefix.is_empty()
            && command.len() >= prefix.len()
            && prefix
                .iter()
                .zip(command)
                .all(|(wanted, word)| word.as_deref() == Some(wanted))
    };
    let known = |command: &CommandWords| prefixes.iter().any(|prefix| fits(command, prefix));
    commands.is_some_and(|commands| !commands.is_empty() && commands.iter().all(known))
}

/// The path of a file of a skill in the one form in which it is compared with scopes: without empty names and `.`.
#[must_use]
pub fn plain_script(path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned(); // not a file of a skill; refused as it is
    }
    let names = path.split('/').filter(|name| !matches!(*name, "" | "."));
    names.collect::<Vec<_>>().join("/")
}

fn is_plain_below(path: &str) -> bool {
    let mut names = path.split('/');
    names.all(|name| !matches!(name, "" | "." | ".."))
}

/// Whether a path is absolute, without components that point elsewhere.
fn is_plain(path: &Path) -> bool {
    path.is_absolute()
        && path
            .components()
            .all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

/// Whether a denial would not cover the line if its variables were in double quotes.
fn is_lifted_by_quotes(denied: &Scope, line: &CommandLine) -> bool {
    let Scope::Command(pattern) = denied else {
        return false;
    };
    let mut all = line.could_run.iter().flatten().cloned();
    !pattern.is_line(&line.text) && !all.any(|command| pattern.denies(&command.quoted()))
}
