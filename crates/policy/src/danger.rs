//! The order in which a question shows permissions.

use metier_model::{
    Permission, Scope, Want,
    scope::{Anchor, CommandPattern, Reach},
    shell,
};

use crate::variables::is_secret;

/// How dangerous a permission is, the worst first. A question shows permissions in this order, so the least
/// important are cut off at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Danger {
    /// Any command, or any that starts with a program that runs its arguments.
    RunAnything,
    /// Files outside the project are written.
    WriteElsewhere,
    /// Files outside the project are read: the home, the whole machine.
    ReadElsewhere,
    /// A variable with a secret is read.
    Secret,
    /// Any host on the network.
    AnyHost,
    /// Only certain commands.
    Run,
    /// Files of the project are written, or its repository is changed.
    Write,
    /// Variables are set for the skill's own programs.
    Variables,
    /// Certain hosts, models or skills.
    Reach,
    /// Files of the project, its repository, variables without secrets.
    Read,
}

impl Danger {
    /// The position of a permission in a question: by danger, and within one danger the widest first.
    #[must_use]
    pub fn rank(want: &Want) -> DangerRank {
        DangerRank {
            danger: Self::of(want),
            width: width(&want.reach()),
        }
    }

    /// The danger of a permission.
    #[must_use]
    pub fn of(want: &Want) -> Self {
        let reach = want.reach();
        let all = reach == Scope::All;
        let shown = reach.to_string();
        match want.permission {
            Permission::ShellExec if runs_anything(&reach) => Self::RunAnything,
            Permission::ShellExec => Self::Run,
            Permission::FileWrite | Permission::GitWrite if is_elsewhere(&shown) => {
                Self::WriteElsewhere
            }
            Permission::FileWrite | Permission::GitWrite => Self::Write,
            Permission::FileRead | Permission::GitRead if is_elsewhere(&shown) => {
                Self::ReadElsewhere
            }
            Permission::EnvRead if !all && is_secret(&shown) => Self::Secret,
            Permission::FileRead | Permission::GitRead | Permission::EnvRead => Self::Read,
            Permission::NetFetch if all || shown.starts_with('*') => Self::AnyHost,
            Permission::EnvWrite => Self::Variables,
            Permission::NetFetch | Permission::LlmCall | Permission::SkillInvoke => Self::Reach,
        }
    }
}

/// The position of a permission in a question; the smallest is shown first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DangerRank {
    danger: Danger,
    width: (u8, usize, usize),
}

/// How much a scope covers, the widest first. A scope that covers another one is never sorted after it.
fn width(scope: &Scope) -> (u8, usize, usize) {
    let letters = |text: &str| text.chars().filter(|letter| *letter != '*').count();
    let named = |text: &str| (if text.contains('*') { 1 } else { 2 }, letters(text), 0);
    match scope {
        Scope::All => (0, 0, 0),
        Scope::Paths(pattern) => {
            let (names, reach) = pattern.fixed();
            let anchor = match pattern.anchor() {
                Anchor::Root => 1,
                Anchor::Home => 2,
                Anchor::Project => 3,
            };
            let reach = match reach {
                Reach::Everything => 0,
                Reach::Some => 1 + letters(&pattern.to_string()),
                Reach::Exactly => usize::MAX,
            };
            (anchor, names.len(), reach)
        }
        Scope::Command(CommandPattern::Words { words, open }) => {
            let letters = words.iter().map(|word| letters(word)).sum();
            (if *open { 1 } else { 3 }, words.len(), letters)
        }
        // Code in a line is only noticed by reading all of it.
        Scope::Command(CommandPattern::Line(line)) => match runs_code(line) {
            true => (2, 0, 0),
            false => (4, 0, 0),
        },
        Scope::Host(pattern) => named(&pattern.to_string()),
        Scope::Variable(name) | Scope::Name(name) => named(name),
    }
}

/// Whether a line contains program text, names other programs to run, or can't be parsed.
fn runs_code(line: &str) -> bool {
    shell::parse(line).map_or(true, |line| {
        let mut commands = line.commands.iter();
        commands.any(|command| !command.words.is_empty() && command.runs_arguments())
    })
}

/// Whether a command with open arguments can run every program: a shell, a program that runs others, or any program of a folder.
fn runs_anything(reach: &Scope) -> bool {
    let Scope::Command(CommandPattern::Words { words, open }) = reach else {
        return *reach == Scope::All;
    };
    let first = words.first().map_or("", |word| &**word);
    let program = first.rsplit('/').next().unwrap_or(first);
    let is_open = *open || words.iter().any(|word| word.contains('*'));
    // `git log *` has a subcommand, and `git *` has all of them.
    let is_bare = words.len() == 1;
    // `scripts/*` are files of the skill; what begins with a star can be a program in any folder.
    let is_any_program = first
        .split_once('*')
        .is_some_and(|(folder, _)| folder.starts_with('/') || !folder.contains('/'));
    is_any_program || is_open && (is_bare || is_wrapper(words)) && shell::can_run_programs(program)
}

/// Whether the words are those of a program that runs the rest of them, or the text in them.
fn is_wrapper(words: &[Box<str>]) -> bool {
    let text = words.join(" ").replace('*', "x");
    let parsed = shell::parse(&format!("{text} x")).ok();
    let commands = parsed.map(|line| line.commands).unwrap_or_default();
    commands.iter().any(shell::SimpleCommand::runs_arguments)
}

/// Whether a path is not below the project.
fn is_elsewhere(path: &str) -> bool {
    path.starts_with(['~', '/']) || path.split('/').any(|part| part == "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    // case 127
    #[test]
    fn the_worst_comes_first() {
        let mut wants: Vec<Want> = [
            "file:read(./docs/**)",
            "net:fetch(a.io)",
            "env:write(A)",
            "file:write(./out/**)",
            "shell:exec(git status)",
            "net:fetch",
            "env:read(GITHUB_TOKEN)",
            "file:read(~/**)",
            "file:write(/srv/**)",
            "shell:exec(bash -c *)",
        ]
        .iter()
        .map(|text| text.parse().expect(text))
        .collect();
        let expected: Vec<String> = wants.iter().rev().map(Want::to_string).collect();
        wants.sort_by_key(Danger::of);
        let sorted: Vec<String> = wants.iter().map(Want::to_string).collect();
        assert_eq!(sorted, expected);
    }

    /// One table lists the programs that run others, for questions, patterns and denials.
    // case 127
    #[test]
    fn a_command_that_can_run_any_program_is_not_behind_a_harmless_one() {
        let danger = |text: &str| Danger::of(&text.parse().expect(text));
        for text in [
            "/bin/*",
            "/usr/bin/ba* *",
            "*/*",
            "*bin/*",
            "*/s* *",
            "b*/sh *",
            "timeout *",
            "nice *",
            "stdbuf *",
            "setsid *",
            "time *",
            "command *",
            "flock *",
            "strace *",
            "script *",
            "watch *",
            "vim *",
            "gdb *",
            "python3.11 *",
            "nodejs *",
            "pypy *",
            "tclsh *",
            "sed *",
            "docker *",
            "npm *",
            "uv *",
            "parallel *",
            "env A=1 *",
            "timeout 5 *",
        ] {
            let want = format!("shell:exec({text})");
            assert_eq!(danger(&want), Danger::RunAnything, "{text}");
        }
        for text in [
            "git log *",
            "ls *",
            "uniq *",
            "scripts/*",
            "cargo test *",
            "gh pr view *",
        ] {
            let want = format!("shell:exec({text})");
            assert_eq!(danger(&want), Danger::Run, "{text}");
        }
    }

    // case 127
    #[test]
    fn among_equals_the_widest_comes_first() {
        let check = |texts: &[&str]| {
            let mut wants: Vec<Want> = texts
                .iter()
                .rev()
                .map(|text| text.parse().expect(text))
                .collect();
            wants.sort_by_key(Danger::rank);
            let sorted: Vec<String> = wants.iter().map(Want::to_string).collect();
            assert_eq!(sorted, texts);
        };
        check(&[
            "file:read(/**)",
            "file:read(/a/**)",
            "file:read(~/**)",
            "file:read(~/.ssh/**)",
            "file:read(~/.ssh/id)",
        ]);
        check(&[
            "shell:exec(git *)",
            "shell:exec(git log *)",
            "shell:exec(curl x | sh)",
            "shell:exec(git log)",
            "shell:exec(ls | wc)",
        ]);
        check(&["shell:exec", "shell:exec(bash *)", "shell:exec(bash -c *)"]);
        check(&["net:fetch", "net:fetch(*.a.io)", "net:fetch(*.b.a.io)"]);
        check(&["skill:invoke", "skill:invoke(a*)", "skill:invoke(abc)"]);
    }

    // case 127
    #[test]
    fn what_covers_another_is_not_behind_it() {
        let texts = [
            "file:read",
            "file:read(/**)",
            "file:read(/srv/**)",
            "file:read(/srv/*/x)",
            "file:read(/srv/a/x)",
            "file:read(~/**)",
            "file:read(~/a/*.md)",
            "file:read(~/a/b.md)",
            "file:read(./**)",
            "file:read(./*)",
            "file:read(./a)",
            "shell:exec",
            "shell:exec(git *)",
            "shell:exec(git log *)",
            "shell:exec(git log)",
            "shell:exec(scripts/*)",
            "shell:exec(scripts/x)",
            "shell:exec(git l*)",
            "net:fetch",
            "net:fetch(*.a.io)",
            "net:fetch(b.a.io)",
            "net:fetch(b.a.io:81)",
            "env:read",
            "env:read(A)",
            "llm:call(a*)",
            "llm:call(ab)",
        ];
        let wants: Vec<Want> = texts.iter().map(|text| text.parse().expect(text)).collect();
        for wide in &wants {
            for narrow in wants.iter().filter(|narrow| wide.covers(narrow)) {
                let same = Danger::of(wide) == Danger::of(narrow);
                assert!(
                    !same || Danger::rank(wide) <= Danger::rank(narrow),
                    "{wide} and {narrow}"
                );
            }
        }
    }

    #[test]
    fn each_permission_has_its_place() {
        let of = |text: &str| Danger::of(&text.parse().expect(text));
        assert_eq!(of("shell:exec"), Danger::RunAnything);
        assert_eq!(of("shell:exec(/bin/sh *)"), Danger::RunAnything);
        assert_eq!(of("shell:exec(bash scripts/x.sh)"), Danger::Run);
        assert_eq!(of("file:write"), Danger::Write);
        assert_eq!(of("file:read(/**)"), Danger::ReadElsewhere);
        assert_eq!(of("env:read"), Danger::Read);
        assert_eq!(of("skill:invoke"), Danger::Reach);
        assert_eq!(of("git:write"), Danger::Write);
    }
}
