//! The capabilities of a skill, and the permissions that it declares.
//!
//! Each capability has the form of a permission: a host with its port, the name of a program or the path of one of the skill's
//! own scripts, a path in the form of [`scope`]. [`proposal`] combines them.

mod commands;
mod proposal;
mod scope;

use std::collections::{BTreeMap, BTreeSet};

use metier_sdk::Permission;

pub use proposal::suggested;

use crate::{
    flow::{ActKind, ObservedKind, ObservedUse, ProgramAct, RemoteHost, Site, UNKNOWN},
    prose::{CodeSpan, SentenceRole},
    report::{Capabilities, Finding, FindingLocation, FindingSeverity, FoundBy},
    rule::RuleCondition,
    rules,
    scan::SkillScanner,
};
use scope::PathScope;

/// Collects capabilities, except from warnings and quotations.
pub(crate) fn of(scanner: &SkillScanner<'_>, seen: &ObservedUse) -> Capabilities {
    let mut gathering = Gathering {
        own: &scanner.names,
        found: Capabilities::default(),
    };
    let counts = |site: Site| {
        scanner
            .origins
            .get(site.unit as usize)
            .is_some_and(|origin| is_done(origin.role))
    };
    // If a list of addresses was found, a request without an address uses one of them.
    let named: BTreeSet<Site> = sites(
        seen,
        |what| matches!(what, ObservedKind::Reach(whom) if !whom.contains(UNKNOWN)),
    );
    // The words of a command line name the files that its programs read; acts include more, because they record possible dangers.
    let started: BTreeSet<Site> = sites(seen, |what| matches!(what, ObservedKind::Program(..)));
    // An unknown file in a program that lists a folder is assumed to be in that folder.
    let listing: BTreeSet<u32> = sites(
        seen,
        |what| matches!(what, ObservedKind::Walk(path) if !is_unknown(path)),
    )
    .into_iter()
    .map(|site| site.unit)
    .collect();
    let mut blanks = Blanks::default();
    let read = |path: &str, site: Site| {
        !(started.contains(&site) || is_unknown(path) && listing.contains(&site.unit))
    };
    for act in seen.acts.iter().filter(|act| counts(act.site)) {
        let redirects = matches!(act.kind, ActKind::Read | ActKind::Write);
        let done = act.kind != ActKind::Read || read(&act.subject, act.site);
        if done && !(redirects && blanks.has(scanner, act)) {
            gathering.act(act, named.contains(&act.site));
        }
    }
    for used in seen.used.iter().filter(|used| counts(used.site)) {
        let known = match &used.what {
            ObservedKind::Read(path) | ObservedKind::Walk(path) => read(path, used.site),
            _ => true,
        };
        if known {
            gathering.usage(&used.what);
        }
    }
    for (text, document) in &scanner.documents {
        let content = &scanner.texts.0[*text].content;
        for code in document.code.iter().filter(|code| code.inline) {
            gathering.spoken(content, code);
        }
    }
    gathering.found.permissions = gathering.permissions();
    gathering.found
}

/// Words in documents that a shell parses as files: in `tool --from <city> --to <city>`, `city` and `--to`.
#[derive(Default)]
struct Blanks(BTreeMap<usize, BTreeSet<String>>);

impl Blanks {
    fn has(&mut self, scanner: &SkillScanner<'_>, act: &ProgramAct) -> bool {
        let Some(origin) = scanner.origins.get(act.site.unit as usize) else {
            return false;
        };
        if origin.is_file {
            return false;
        }
        let words = self.0.entry(origin.text).or_insert_with(|| {
            let content = &scanner.texts.0[origin.text].content;
            content.split('<').skip(1).flat_map(blank).collect()
        });
        words.contains(&act.subject)
    }
}

/// The first word inside `<…>` and the one after it, in the text after `<`.
fn blank(rest: &str) -> Vec<String> {
    let Some((inside, after)) = rest.split_once('>') else {
        return Vec::new();
    };
    if inside.len() > 60 || inside.contains('\n') {
        return Vec::new();
    }
    let first = |text: &str| text.split_whitespace().next().map(str::to_owned);
    [first(inside), first(after)]
        .into_iter()
        .flatten()
        .collect()
}

/// The position of a use.
fn sites(seen: &ObservedUse, is: impl Fn(&ObservedKind) -> bool) -> BTreeSet<Site> {
    let uses = seen.used.iter().filter(|used| is(&used.what));
    uses.map(|used| used.site).collect()
}

/// Whether no part of the path is known.
fn is_unknown(path: &str) -> bool {
    path.chars().all(|c| matches!(c, UNKNOWN | '/' | '.'))
}

fn is_done(role: SentenceRole) -> bool {
    !matches!(role, SentenceRole::Warning | SentenceRole::Quotation)
}

struct Gathering<'s> {
    /// The files of the skill.
    own: &'s BTreeSet<String>,
    found: Capabilities,
}

impl Gathering<'_> {
    fn act(&mut self, act: &ProgramAct, is_named: bool) {
        match act.kind {
            ActKind::Send | ActKind::Fetch | ActKind::RemoteShell => match &act.host {
                Some(host) => self.host(host),
                None if is_named => {}
                None => self.found.any_host = true,
            },
            ActKind::Read => self.reads(&act.subject, false),
            ActKind::Write | ActKind::Delete => self.writes(&act.subject),
            ActKind::Environment => self.variable(&act.subject),
            ActKind::Listen => self.listens(act),
            // Programs are recorded as uses.
            ActKind::Run
            | ActKind::Eval
            | ActKind::Install
            | ActKind::Unprotect
            | ActKind::Permit
            | ActKind::Show
            | ActKind::Mention => {}
        }
    }

    fn usage(&mut self, what: &ObservedKind) {
        match what {
            ObservedKind::Program(path, words) => self.program(path, words),
            ObservedKind::Read(path) => self.reads(path, false),
            ObservedKind::Walk(path) => self.reads(path, true),
            ObservedKind::Write(path) => self.writes(path),
            ObservedKind::Reach(whom) => self.reaches(whom),
        }
    }

    /// Whether an inline code span is a command: `npm test`, not `select`. With a `!` before it, it runs when the skill is rendered.
    fn spoken(&mut self, content: &str, code: &CodeSpan) {
        let before = content.get(..code.at.start).unwrap_or_default();
        let rendered = before.ends_with('!');
        if code.role != SentenceRole::Instruction || code.text.contains('\n') {
            return;
        }
        let words: Vec<String> = code.text.split_whitespace().map(str::to_owned).collect();
        let Some((program, words)) = words.split_first() else {
            return;
        };
        let runs_own =
            |word: &String| matches!(scope::scope(word, false, self.own), PathScope::Own(_));
        let known = !words.is_empty()
            && if commands::is_interpreter(program) {
                words.first().is_some_and(runs_own)
            } else {
                commands::is_known(program) || runs_own(program)
            };
        if rendered || known {
            self.program(program, words);
        }
    }

    fn program(&mut self, path: &str, words: &[String]) {
        if let PathScope::Own(script) = scope::scope(path, false, self.own) {
            self.script(script);
            return;
        }
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.trim_end_matches(".exe");
        if commands::is_interpreter(name)
            && let Some(PathScope::Own(script)) = words
                .iter()
                .find(|word| !word.starts_with('-'))
                .filter(|word| word.contains('.'))
                .map(|word| scope::scope(word, false, self.own))
        {
            self.script(script);
            return;
        }
        let plausible = !name.is_empty()
            && name.len() <= 40
            && name
                .chars()
                .next()
                .is_some_and(|c| c.is_ascii_alphanumeric())
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+'))
            && !name.starts_with("__");
        if !plausible {
            return;
        }
        if !commands::is_builtin(name) {
            self.found.programs.insert(name.to_owned());
        }
        if let Some(reach) = commands::reached(name, words) {
            self.talks(reach.hosts, words);
        }
        if let Some([within, rest @ ..]) = commands::within(name, words) {
            self.program(within, rest);
        }
        for named in commands::named(name, words) {
            match named {
                commands::NamedProgram::Read(path, folder) => self.reads(path, folder),
                commands::NamedProgram::Write(path) => self.writes(path),
            }
        }
    }

    /// The path of one of the skill's own scripts, with `./` next to the manifest.
    fn script(&mut self, path: String) {
        self.found.programs.insert(if path.contains('/') {
            path
        } else {
            format!("./{path}")
        });
    }

    /// Adds the hosts of a program: its service, an address among its arguments, or any host from its settings.
    fn talks(&mut self, home: &[&str], words: &[String]) {
        let addressed: Vec<RemoteHost> = words
            .iter()
            .filter(|word| {
                word.contains("://") && !word.starts_with("s3:") && !word.starts_with("op:")
            })
            .filter_map(|word| RemoteHost::of(word))
            .collect();
        for host in &addressed {
            self.host(host);
        }
        for host in home {
            self.found.hosts.insert((*host).to_owned());
        }
        self.found.any_host |= addressed.is_empty() && home.is_empty();
    }

    fn reaches(&mut self, whom: &str) {
        let scheme = whom.contains("://");
        match RemoteHost::of(whom)
            .or_else(|| (!scheme).then(|| RemoteHost::of(&format!("https://{whom}")))?)
        {
            Some(host) => self.host(&host),
            // A file or a database on this machine.
            None if whom.starts_with("file:") || whom.starts_with("sqlite:") => {}
            None => self.found.any_host = true,
        }
    }

    /// Reserved names (`api.example.com`) are kept unchanged: they have no owner, so nothing is granted, and the user sees
    /// what to replace.
    fn host(&mut self, host: &RemoteHost) {
        let usual = if host.plain { 80 } else { 443 };
        let scope = match host.port {
            Some(port) if port != usual => format!("{}:{port}", host.name),
            _ => host.name.clone(),
        };
        self.found.hosts.insert(scope);
    }

    /// A program that opens a port on this machine is contacted there.
    fn listens(&mut self, act: &ProgramAct) {
        let port = act
            .subject
            .split(|c: char| !c.is_ascii_digit())
            .find_map(|number| number.parse::<u16>().ok().filter(|port| *port >= 80));
        self.found.hosts.insert(match port {
            Some(port) => format!("localhost:{port}"),
            None => "localhost".to_owned(),
        });
    }

    fn reads(&mut self, path: &str, folder: bool) {
        match scope::scope(path, folder, self.own) {
            PathScope::Path(scope) => {
                self.found.reads.insert(scope);
            }
            PathScope::Anywhere => self.found.any_read = true,
            PathScope::Own(_) | PathScope::Nothing => {}
        }
    }

    fn writes(&mut self, path: &str) {
        match scope::scope(path, false, self.own) {
            PathScope::Path(scope) => {
                self.found.writes.insert(scope);
            }
            PathScope::Own(name) => {
                self.found.writes.insert(format!("./{name}"));
            }
            PathScope::Anywhere => self.found.any_write = true,
            PathScope::Nothing => {}
        }
    }

    /// Whether the agent or the shell provides the variable, not the user.
    fn variable(&mut self, name: &str) {
        const PROVIDED: &[&str] = &[
            "ARGUMENTS",
            "SKILL_DIR",
            "SKILL_ROOT",
            "SKILL_PATH",
            "CLAUDE_SKILL_DIR",
            "CLAUDE_PLUGIN_ROOT",
            "CLAUDE_PROJECT_DIR",
            "BASH_SOURCE",
            "RANDOM",
            "SECONDS",
            "UID",
            "EUID",
            "LINENO",
            "OLDPWD",
            "OSTYPE",
            "REPLY",
            "OPTARG",
            "OPTIND",
        ];
        let spelt = name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '*');
        if spelt && !name.is_empty() && !PROVIDED.contains(&name) {
            self.found.variables.insert(name.to_owned());
        }
    }

    fn permissions(&self) -> BTreeSet<Permission> {
        let found = &self.found;
        [
            (
                Permission::NetFetch,
                found.any_host || !found.hosts.is_empty(),
            ),
            (Permission::ShellExec, !found.programs.is_empty()),
            (
                Permission::FileRead,
                found.any_read || !found.reads.is_empty(),
            ),
            (
                Permission::FileWrite,
                found.any_write || !found.writes.is_empty(),
            ),
            (Permission::EnvRead, !found.variables.is_empty()),
        ]
        .into_iter()
        .filter_map(|(permission, taken)| taken.then_some(permission))
        .collect()
    }
}

/// Reports the permissions that the skill uses and does not declare.
pub(crate) fn undeclared(scanner: &mut SkillScanner<'_>) {
    let Some(declared) = &scanner.about.declared else {
        return;
    };
    let missing: BTreeSet<Permission> = scanner
        .report
        .capabilities
        .permissions
        .difference(declared)
        .copied()
        .filter(|missing| {
            let ran = [Permission::ShellExec, Permission::NetFetch].contains(missing);
            !(ran && only_git(scanner, declared))
        })
        .collect();
    let Some(rule) = rules::all().find(|rule| matches!(rule.when, RuleCondition::Undeclared))
    else {
        return;
    };
    for permission in missing {
        let finding = Finding {
            rule: FoundBy::Builtin(rule),
            severity: FindingSeverity::Warning,
            place: FindingLocation {
                file: "SKILL.md".to_owned(),
                line: 1,
                column: 1,
            },
            message: format!("{}: `{permission}`", rule.message),
            evidence: evidence(&scanner.report.capabilities, permission),
            steps: Vec::new(),
        };
        scanner.push(finding);
    }
}

/// Whether git is the only program that it runs and contacts hosts with, and the manifest declares `git` permissions.
fn only_git(scanner: &SkillScanner<'_>, declared: &BTreeSet<Permission>) -> bool {
    let git = [Permission::GitRead, Permission::GitWrite];
    let seen = &scanner.report.capabilities;
    git.iter().any(|git| declared.contains(git))
        && seen.hosts.is_empty()
        && seen.programs.iter().all(|program| program == "git")
}

fn evidence(seen: &Capabilities, permission: Permission) -> String {
    let some = |set: &BTreeSet<String>| {
        set.iter()
            .take(4)
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join(", ")
    };
    match permission {
        Permission::NetFetch => some(&seen.hosts),
        Permission::ShellExec => some(&seen.programs),
        Permission::FileRead => some(&seen.reads),
        Permission::FileWrite => some(&seen.writes),
        Permission::EnvRead => some(&seen.variables),
        _ => String::new(),
    }
}
