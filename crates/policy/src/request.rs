//! The permissions that a skill requests: those in its manifest, or, if it declares none, those that its text would use.
//!
//! Most existing skills declare no permissions. For such a skill each `!` command requests exactly that command, and
//! a script that is to run requests itself. A skill that declares permissions gets those and nothing else, except for
//! lines that might run their input: those are asked about separately. If nothing runs, no question is asked.

use metier_model::{
    Backend, Need, Permission, Scope, SkillManifest, Want,
    scope::CommandPattern,
    shell,
    template::{self, Placeholders},
};

use crate::variables;

/// The planned use of a skill.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Render its body, which contains these commands, as written.
    Render(&'a [&'a str]),
    /// Run a script in its folder, at this path.
    Script(&'a str),
    /// Run any file in its `scripts/`.
    Scripts,
    /// Run its code, and these commands of its hooks, as written.
    Code(&'a [&'a str]),
}

/// Why a permission is requested.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestReason {
    /// The user's configuration sets this variable for the skill, in `skills.entries` under this key. It comes first: a question has to
    /// state where a value comes from, even if the manifest declares the variable.
    Configured(Box<str>),
    /// The manifest declares it.
    Declared,
    /// The manifest declares nothing, and its text or its script would do it.
    Inferred,
    /// Its hooks would use it. They run without it too, with reduced function.
    Hooks,
    /// One of metier's own tools reads inside the project: that needs no answer, but can be denied.
    InProject,
    /// One of metier's own tools would use it: the user is asked on each use.
    OnUse,
}

impl RequestReason {
    /// Whether the skill works without it, at least in part.
    #[must_use]
    pub const fn is_optional(&self) -> bool {
        matches!(self, Self::Hooks)
    }
}

/// One requested permission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedPermission {
    /// The permission with its scope.
    pub want: Want,
    /// The reason why it is requested.
    pub why: RequestReason,
}

/// All requested permissions, each once and in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PermissionRequest {
    asked: Vec<RequestedPermission>,
}

impl PermissionRequest {
    /// The requests of a skill for this purpose, and the variables that this entry of the user's configuration sets for it. A skill
    /// that declares nothing also requests the variables that it requires, and the hosts that the scanner found in its
    /// code.
    #[must_use]
    pub fn of(
        manifest: &SkillManifest,
        purpose: Purpose<'_>,
        (entry, variables): (&str, &[&str]),
        hosts: &[Want],
    ) -> Self {
        if matches!(purpose, Purpose::Render([])) {
            return Self::default();
        }
        let (why, wants) = if manifest.wants.is_empty() {
            let mut wants = inferred(manifest, purpose);
            wants.extend(hosts.iter().cloned());
            (RequestReason::Inferred, wants)
        } else {
            (RequestReason::Declared, manifest.wants.clone())
        };
        let configured = variables
            .iter()
            .filter_map(|name| format!("{}({name})", Permission::EnvRead).parse().ok());
        let asked = |why: RequestReason| {
            move |want: Want| RequestedPermission {
                want,
                why: why.clone(),
            }
        };
        Self::new(
            wants
                .into_iter()
                .map(asked(why))
                .chain(
                    besides(manifest, purpose)
                        .into_iter()
                        .map(asked(RequestReason::Inferred)),
                )
                .chain(configured.map(asked(RequestReason::Configured(entry.into())))),
        )
    }

    /// A request for these permissions.
    #[must_use]
    pub fn new(asked: impl IntoIterator<Item = RequestedPermission>) -> Self {
        let mut asked: Vec<RequestedPermission> = asked.into_iter().collect();
        asked.sort_by(|a, b| (&a.want, &a.why).cmp(&(&b.want, &b.why)));
        asked.dedup_by(|a, b| a.want == b.want);
        Self { asked }
    }

    /// This request with what the skill's hooks would use in addition.
    #[must_use]
    pub fn with_hooks(self, wants: impl IntoIterator<Item = Want>) -> Self {
        let wants = wants.into_iter().filter(|want| {
            let mut asked = self.asked.iter();
            !asked.any(|asked| asked.want.covers(want))
        });
        let why = RequestReason::Hooks;
        let wants: Vec<RequestedPermission> = wants
            .map(|want| RequestedPermission {
                want,
                why: why.clone(),
            })
            .collect();
        Self::new(self.asked.into_iter().chain(wants))
    }

    /// Whether nothing is requested.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// The requested permissions.
    pub fn iter(&self) -> impl Iterator<Item = &RequestedPermission> {
        self.asked.iter()
    }
}

fn exec(pattern: CommandPattern) -> Want {
    Want {
        permission: Permission::ShellExec,
        scope: Scope::Command(pattern),
    }
}

/// The requests of a skill that declares nothing: the commands it runs, and the variables that it requires.
fn inferred(manifest: &SkillManifest, purpose: Purpose<'_>) -> Vec<Want> {
    let mut wants: Vec<Want> = match purpose {
        Purpose::Render(commands) => commands.iter().flat_map(|line| of_line(line)).collect(),
        Purpose::Script(path) => vec![exec(CommandPattern::script(path))],
        Purpose::Scripts => "shell:exec(scripts/*)".parse().into_iter().collect(),
        Purpose::Code(_) => Vec::new(),
    };
    wants.extend(required_variables(manifest, purpose));
    wants
}

/// Requests that don't depend on the declarations: its program, the commands of its hooks, and a line that might run its
/// input, which no wider permission covers.
fn besides(manifest: &SkillManifest, purpose: Purpose<'_>) -> Vec<Want> {
    let line = |line: &&str| exec(CommandPattern::line(line));
    match purpose {
        Purpose::Code(hooks) => {
            let program = match (&manifest.card.backend, &manifest.code.entrypoint) {
                (Some(Backend::Process | Backend::Native), Some(path)) => {
                    let path = path.strip_prefix("./").unwrap_or(path);
                    Some(exec(CommandPattern::script(path)))
                }
                _ => None,
            };
            program.into_iter().chain(hooks.iter().map(line)).collect()
        }
        Purpose::Render(lines) if !manifest.wants.is_empty() => {
            let invocation = &manifest.invocation;
            let placeholders = Placeholders {
                names: &invocation.arguments,
                declared: invocation.argument_hint.is_some() || !invocation.arguments.is_empty(),
            };
            let runs_a_value =
                |line: &&&str| template::might_run_a_value(line, placeholders).is_some();
            lines.iter().filter(runs_a_value).map(line).collect()
        }
        _ => Vec::new(),
    }
}

/// The variables that a skill without declared permissions requires: its code can't work without them.
fn required_variables(manifest: &SkillManifest, purpose: Purpose<'_>) -> Vec<Want> {
    let code = &manifest.card;
    if matches!(purpose, Purpose::Code([])) && code.backend.is_none() {
        return Vec::new();
    }
    let required = code.requirements.iter().filter_map(|one| match &one.need {
        Need::Env(name) => Some(name),
        _ => None,
    });
    let names = required.chain(&code.primary_env);
    names
        .filter(|name| !variables::is_reserved(name))
        .filter_map(|name| format!("{}({name})", Permission::EnvRead).parse().ok())
        .collect()
}

/// Exactly that line; and for a line that runs git also the repository, without which it can't work.
fn of_line(line: &str) -> Vec<Want> {
    let runs_git = shell::parse(line).is_ok_and(|line| {
        let mut programs = line
            .commands
            .iter()
            .filter_map(shell::SimpleCommand::program);
        programs.any(|program| program == "git")
    });
    let repository = format!("{}(.)", Permission::GitRead).parse().ok();
    let repository = repository.filter(|_| runs_git);
    [exec(CommandPattern::line(line))]
        .into_iter()
        .chain(repository)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use metier_model::{FileText, Files, Strictness, parse};

    fn asks(front: &str, purpose: Purpose<'_>, variables: &[&str]) -> Vec<String> {
        let text = format!("---\nname: x\ndescription: y\n{front}---\nbody\n");
        let files = Files {
            skill_md: Some(FileText {
                name: "SKILL.md",
                text: &text,
            }),
            ..Files::default()
        };
        let manifest = parse(&files, Strictness::Lenient)
            .manifest
            .expect("a manifest");
        let request = PermissionRequest::of(&manifest, purpose, ("x", variables), &[]);
        request.iter().map(|asked| asked.want.to_string()).collect()
    }

    // case 228
    #[test]
    fn a_value_of_the_configuration_says_so_although_it_is_declared() {
        let want: Want = "env:read(KEY)".parse().expect("a permission");
        let asked = |why| RequestedPermission {
            want: want.clone(),
            why,
        };
        let configured = || RequestReason::Configured("github".into());
        for both in [
            [asked(RequestReason::Declared), asked(configured())],
            [asked(configured()), asked(RequestReason::Inferred)],
        ] {
            let request = PermissionRequest::new(both);
            let whys: Vec<RequestReason> = request.iter().map(|one| one.why.clone()).collect();
            assert_eq!(whys, [configured()]);
        }
    }

    #[test]
    fn nothing_runs_and_nothing_is_asked() {
        let declared = "permissions: [net:fetch]\n";
        assert!(asks("", Purpose::Render(&[]), &["KEY"]).is_empty());
        assert!(asks(declared, Purpose::Render(&[]), &[]).is_empty());
    }

    #[test]
    fn a_skill_that_declares_nothing_asks_for_exactly_what_it_would_run() {
        let lines = [
            "gh pr view $ARGUMENTS",
            "git log -3",
            "gh pr view $ARGUMENTS",
        ];
        assert_eq!(
            asks("", Purpose::Render(&lines), &["GH_TOKEN"]),
            [
                "shell:exec(git log -3)",
                "shell:exec(gh pr view $ARGUMENTS)",
                "git:read(.)",
                "env:read(GH_TOKEN)"
            ]
        );
        assert_eq!(
            asks("", Purpose::Script("scripts/x.py"), &[]),
            ["shell:exec(scripts/x.py)"]
        );
    }

    #[test]
    fn a_skill_that_declares_gets_what_it_declared() {
        let declared = "permissions: [net:fetch(a.io), 'shell:exec(git *)']\n";
        let expected = ["shell:exec(git *)", "net:fetch(a.io)"];
        assert_eq!(
            asks(declared, Purpose::Render(&["curl b.io"]), &[]),
            expected
        );
        assert_eq!(
            asks(declared, Purpose::Script("scripts/x.py"), &[]),
            expected
        );
    }

    #[test]
    fn required_variables_are_part_of_what_is_inferred() {
        let front =
            "metadata: {metier: {requires: {env: [GITHUB_TOKEN, PATH]}, primaryEnv: GH_KEY}}\n";
        let expected = [
            "shell:exec(gh pr list)",
            "env:read(GH_KEY)",
            "env:read(GITHUB_TOKEN)",
        ];
        assert_eq!(asks(front, Purpose::Render(&["gh pr list"]), &[]), expected);
        assert!(asks(front, Purpose::Render(&[]), &[]).is_empty());
        let declared = format!("{front}permissions: ['shell:exec(gh *)']\n");
        assert_eq!(
            asks(&declared, Purpose::Render(&["gh pr list"]), &[]),
            ["shell:exec(gh *)"]
        );
    }

    // case 168
    #[test]
    fn a_line_that_might_run_what_it_is_given_is_asked_about_by_itself() {
        let declared = "permissions: [shell:exec]\n";
        let lines = [
            "gh pr view $ARGUMENTS",
            "sqlite3 :memory: \"$ARGUMENTS\"",
            "ls",
        ];
        assert_eq!(
            asks(declared, Purpose::Render(&lines), &[]),
            ["shell:exec", "shell:exec(sqlite3 :memory: \"$ARGUMENTS\")"]
        );
    }

    #[test]
    fn what_hooks_would_use_is_asked_for_once_and_is_optional() {
        let want = |text: &str| text.parse::<Want>().unwrap();
        let declared = PermissionRequest::new([RequestedPermission {
            want: want("file:read"),
            why: RequestReason::Declared,
        }]);
        let wants = [want("file:read(./**)"), want("env:read(HOME)")];
        let request = declared.with_hooks(wants);
        let shown: Vec<(String, bool)> = request
            .iter()
            .map(|asked| (asked.want.to_string(), asked.why.is_optional()))
            .collect();
        assert_eq!(
            shown,
            [
                ("file:read".to_owned(), false),
                ("env:read(HOME)".to_owned(), true)
            ]
        );
    }

    #[test]
    fn the_commands_of_hooks_are_asked_for_whatever_is_declared_besides() {
        let code = Purpose::Code(&["./scripts/check.sh", "jq . | cat"]);
        let commands = ["shell:exec(./scripts/check.sh)", "shell:exec(jq . | cat)"];
        assert_eq!(asks("", code, &[]), commands);
        assert_eq!(
            asks("permissions: [file:read]\n", code, &[]),
            ["file:read", commands[0], commands[1]]
        );
        assert!(asks("", Purpose::Code(&[]), &[]).is_empty());
    }
}
