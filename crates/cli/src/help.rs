//! Help: commands in groups, an example for each, and the options that all commands share in one place.
//!
//! Other runs don't pay for it: the command line is parsed without any of this, and parsed again with it when
//! clap returns a page of help.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use crate::{cli::Cli, wrap::wrapped};

/// The commands in the order of the help, by what they are for.
const GROUPS: &[(&str, &[&str])] = &[
    ("Find skills", &["list", "info", "select", "why", "doctor"]),
    (
        "Get skills",
        &["search", "install", "add", "remove", "undo", "verify"],
    ),
    (
        "Keep installed skills in order",
        &[
            "update", "outdated", "rollback", "sync", "enable", "disable", "profile",
        ],
    ),
    (
        "Check skills",
        &["validate", "scan", "test", "eval", "improve", "check"],
    ),
    (
        "Give skills to a model",
        &["prompt", "show", "read", "compose", "mcp", "serve"],
    ),
    ("Work with an agent", &["agent", "chat", "run", "spawn"]),
    ("Run code of a skill", &["tools", "call", "exec", "deps"]),
    (
        "Decide what skills may do",
        &["ui", "trust", "permissions", "log"],
    ),
    (
        "Share skills",
        &[
            "pack",
            "keygen",
            "sign",
            "verify-signature",
            "publish",
            "login",
            "yank",
        ],
    ),
    (
        "Write skills, set up metier",
        &["new", "schema", "config", "completions", "man", "help"],
    ),
];

/// What to type, for every command.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "list",
        &[
            "metier list",
            "metier list pdf",
            "metier list --agent codex --ready",
        ],
    ),
    ("info", &["metier info git", "metier info user:git"]),
    (
        "select",
        &[
            "metier select 'resolve the merge conflict'",
            "metier select 'write the release notes' --risk high",
        ],
    ),
    (
        "why",
        &[
            "metier why 'resolve the merge conflict'",
            "metier why 'resolve the merge conflict' git",
            "metier why --collisions",
        ],
    ),
    ("doctor", &["metier doctor"]),
    (
        "install",
        &[
            "metier install ./my-skill",
            "metier install owner/repo pdf docx",
            "metier install owner/repo --all --dry-run",
            "metier install --frozen",
        ],
    ),
    (
        "add",
        &[
            "metier add ./my-skill",
            "metier add owner/repo/skills/pdf@main",
        ],
    ),
    (
        "remove",
        &["metier remove pdf", "metier remove --restore pdf"],
    ),
    ("undo", &["metier undo", "metier undo --list"]),
    ("verify", &["metier verify", "metier verify pdf --accept"]),
    (
        "validate",
        &[
            "metier validate my-skill",
            "metier validate --strict .claude/skills",
        ],
    ),
    (
        "scan",
        &[
            "metier scan my-skill",
            "metier scan --bad ~/.claude/skills",
            "metier scan git --suggest-permissions",
        ],
    ),
    ("test", &["metier test my-skill"]),
    (
        "eval",
        &[
            "metier eval skills",
            "metier eval skills queries.tsv --min-hit1 0.9",
            "metier eval my-skill --installed",
        ],
    ),
    (
        "improve",
        &[
            "metier improve git",
            "metier improve git --query 'undo my last commit'",
        ],
    ),
    (
        "check",
        &[
            "metier check skills",
            "metier check --since origin/main",
            "metier check --format sarif > metier.sarif",
        ],
    ),
    (
        "pack",
        &[
            "metier pack my-skill",
            "metier pack my-skill -o dist --sbom",
        ],
    ),
    ("keygen", &["metier keygen"]),
    ("sign", &["metier sign my-skill.skill"]),
    (
        "verify-signature",
        &[
            "metier verify-signature my-skill.skill",
            "metier verify-signature my-skill.skill --key publisher.pub --trust",
        ],
    ),
    ("prompt", &["metier prompt", "metier prompt --budget 4000"]),
    (
        "show",
        &["metier show git --no-exec", "metier show review-pr 123"],
    ),
    (
        "read",
        &["metier read skill-author references/checklist.md"],
    ),
    (
        "compose",
        &["metier compose specification-engine opencode-implementer --coding"],
    ),
    ("mcp", &["claude mcp add metier -- metier mcp"]),
    (
        "serve",
        &[
            "metier serve",
            "metier serve --listen 127.0.0.1:0 --json",
            "metier serve --rotate-token",
        ],
    ),
    ("ui", &["metier ui", "metier ui --no-open"]),
    (
        "agent",
        &[
            "metier agent 'review the last commit'",
            "metier agent --model ollama/qwen3 'review the last commit'",
        ],
    ),
    ("chat", &["metier chat", "metier chat --resume"]),
    (
        "run",
        &["metier run review-pr 123", "metier run git --dry-run"],
    ),
    (
        "spawn",
        &["metier spawn --task 'summarise the log' --skills git"],
    ),
    ("tools", &["metier tools", "metier tools git"]),
    (
        "call",
        &[
            "metier call git status",
            "metier call my-skill count '{\"path\": \"README.md\"}'",
        ],
    ),
    (
        "exec",
        &[
            "metier exec my-skill scripts/check.py",
            "echo text | metier exec my-skill scripts/filter.sh",
        ],
    ),
    (
        "deps",
        &[
            "metier deps my-skill",
            "metier deps my-skill --install",
            "metier deps --tree",
        ],
    ),
    (
        "update",
        &[
            "metier update --dry-run",
            "metier update pdf",
            "metier update pdf --yes --approve 'net:fetch(api.github.com)'",
        ],
    ),
    ("outdated", &["metier outdated"]),
    (
        "rollback",
        &["metier rollback pdf", "metier rollback pdf 1.2.0"],
    ),
    (
        "sync",
        &[
            "metier sync --to claude-code,codex",
            "metier sync pdf --to cursor --copy",
            "metier sync --remove",
        ],
    ),
    ("enable", &["metier enable git"]),
    (
        "disable",
        &["metier disable git", "metier disable deploy --project"],
    ),
    (
        "profile",
        &[
            "metier profile save writing pdf docx",
            "metier profile use writing",
            "metier profile clear",
        ],
    ),
    ("trust", &["metier trust", "metier trust --revoke"]),
    (
        "permissions",
        &[
            "metier permissions git",
            "metier permissions git --approve",
            "metier permissions git --approve 'git:read'",
        ],
    ),
    ("log", &["metier log", "metier log git --since 3h"]),
    (
        "search",
        &["metier search pdf", "metier search 'merge conflict'"],
    ),
    (
        "publish",
        &["metier publish my-skill", "metier publish my-skill --sign"],
    ),
    (
        "login",
        &[
            "metier login https://skills.example",
            "metier login --logout",
        ],
    ),
    (
        "yank",
        &["metier yank my-skill@1.2.0 --reason 'deletes the wrong files'"],
    ),
    (
        "new",
        &[
            "metier new my-skill",
            "metier new my-skill --backend process --language python",
            "metier new my-prompt --type prompt --path .claude/skills",
        ],
    ),
    (
        "config",
        &[
            "metier config",
            "metier config agent.model",
            "metier config agent.model ollama/qwen3",
        ],
    ),
    (
        "schema",
        &[
            "metier schema",
            "metier schema SKILL.yaml",
            "metier schema list",
        ],
    ),
    (
        "completions",
        &["metier completions bash > ~/.local/share/bash-completion/completions/metier"],
    ),
    (
        "man",
        &[
            "metier man | man -l -",
            "metier man --out ~/.local/share/man/man1",
        ],
    ),
];

/// Commands of other tools that this version doesn't have, with what to do instead.
const PLANNED: &[(&[&str], &str, &str)] = &[
    (
        &["get", "i"],
        "skills are installed with `install` and `add`",
        "metier install ./my-skill installs for you, metier add ./my-skill for a project",
    ),
    (
        &["find"],
        "skills are found with `search` and `list`",
        "metier search WORD; metier list WORD; metier select 'TASK' finds those that fit a task",
    ),
    (
        &["delete"],
        "skills are removed with `remove`",
        "metier remove NAME; metier disable NAME disables a skill",
    ),
    (
        &["upgrade"],
        "skills are updated with `update`",
        "metier update --dry-run shows what would change",
    ),
    (
        &["link", "export"],
        "skills are put into the folders of other agents with `sync`",
        "metier sync --to claude-code",
    ),
    (
        &["tui", "web", "dashboard"],
        "there is no terminal UI; `ui` opens the page in a browser",
        "metier ui; metier alone shows the overview; metier chat is a conversation with a model",
    ),
    (
        &["self", "self-update"],
        "metier can't update itself yet",
        "in its repository: git pull && cargo install --locked --path crates/cli",
    ),
    (&["version"], "the version is an option", "metier --version"),
    (
        &["init", "setup"],
        "metier needs no setup",
        "metier shows what it found; metier new NAME writes a skill",
    ),
];

/// The message and the hint about a command that does not exist yet.
pub(crate) fn planned(word: &str) -> Option<(&'static str, &'static str)> {
    let row = PLANNED.iter().find(|(words, _, _)| words.contains(&word))?;
    Some((row.1, row.2))
}

/// The command line as its help shows it.
pub(crate) fn command() -> Command {
    let mut command = Cli::command();
    command.build();
    let overview = overview(&command);
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    for name in names {
        command = command.mut_subcommand(&name, |sub| {
            let examples = examples(sub.get_name(), sub.get_styles());
            let sub = sub.mut_args(|arg| {
                let is_shared = arg.is_global_set() || arg.get_id() == "help";
                arg.hide(is_shared)
            });
            sub.after_help(examples)
        });
    }
    command.help_template(overview)
}

/// The page of `metier help`: the commands by group, then the options that all of them take.
fn overview(command: &Command) -> String {
    let styles = command.get_styles();
    let (head, literal) = (styles.get_header(), styles.get_literal());
    let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let mut page = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, names) in GROUPS {
        let _written = write!(page, "\n{head}{title}:{head:#}\n");
        for name in *names {
            let sub = command.find_subcommand(name);
            let about = sub.and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_default();
            let line = format!("  {literal}{name:<16}{literal:#} {about}\n");
            page.push_str(&wrapped(&line, columns));
        }
    }
    let _written = write!(
        page,
        "\n{head}Options that every command takes:{head:#}\n{{options}}\n\n`metier help COMMAND` explains a command, with examples.\n"
    );
    page
}

fn examples(name: &str, styles: &clap::builder::Styles) -> String {
    let (head, literal) = (styles.get_header(), styles.get_literal());
    let lines = EXAMPLES.iter().find(|(command, _)| *command == name);
    let mut text = String::new();
    for (index, line) in lines.iter().flat_map(|(_, lines)| *lines).enumerate() {
        if index == 0 {
            let _written = writeln!(text, "{head}Examples:{head:#}");
        }
        let _written = writeln!(text, "  {literal}{line}{literal:#}");
    }
    let _written = write!(
        text,
        "\nOptions that every command takes (--json, --quiet, -C DIR …): metier help"
    );
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;

    use super::*;

    fn commands() -> BTreeSet<String> {
        let command = Cli::command();
        let named = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        named.map(|sub| sub.get_name().to_owned()).collect()
    }

    #[test]
    fn every_command_is_in_one_group_and_has_an_example() {
        let grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let listed: BTreeSet<String> = grouped.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(listed.len(), grouped.len(), "a command is in two groups");
        let mut known = commands();
        let with_examples: BTreeSet<String> = EXAMPLES
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect();
        assert_eq!(with_examples, known);
        known.insert("help".to_owned());
        assert_eq!(listed, known);
    }

    /// The words of a line, as a shell would read the simple ones that examples have.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for c in line.chars() {
            match c {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                c => words.last_mut().unwrap().push(c),
            }
        }
        words
    }

    #[test]
    fn every_example_can_be_typed() {
        for (name, lines) in EXAMPLES {
            for line in *lines {
                let own = line.split(" | ").find(|part| part.starts_with("metier "));
                let Some(own) = own else { continue };
                let typed = words(own.split(" > ").next().unwrap());
                let read = Cli::try_parse_from(&typed);
                assert!(read.is_ok(), "{line}: {}", read.err().unwrap());
                assert_eq!(typed[1], *name, "{line}");
            }
        }
    }

    #[test]
    fn a_command_is_explained_in_one_line() {
        let command = Cli::command();
        for sub in command.get_subcommands() {
            let about = sub.get_about().unwrap().to_string();
            assert!(about.chars().count() <= 64, "{}: {about}", sub.get_name());
        }
    }

    #[test]
    fn a_planned_command_is_not_a_command() {
        let known = commands();
        for (words, _, _) in PLANNED {
            assert!(words.iter().all(|word| !known.contains(*word)), "{words:?}");
        }
    }
}
