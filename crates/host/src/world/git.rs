//! Git: a closed list of commands, without hooks, helpers or anything else that a repository could make it run.

use std::{
    ffi::{OsStr, OsString},
    time::Duration,
};

use metier_policy::Git;

use crate::world::{Done, World, WorldError, room::Runs};

/// Commands that only look.
const READS: &[&str] = &[
    "blame",
    "branch",
    "cat-file",
    "describe",
    "diff",
    "for-each-ref",
    "log",
    "ls-files",
    "ls-tree",
    "merge-base",
    "rev-list",
    "rev-parse",
    "shortlog",
    "show",
    "status",
    "tag",
];

/// Commands that change the repository and reach nobody else.
const WRITES: &[&str] = &[
    "add", "branch", "checkout", "commit", "init", "merge", "mv", "reset", "restore", "revert",
    "rm", "stash", "switch", "tag",
];

/// Settings that switch off everything that a repository could make git run.
const SAFE: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.editor=true",
    "diff.external=",
    "credential.helper=",
    "protocol.allow=never",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "core.sshCommand=false",
    "submodule.recurse=false",
];

/// Flags that make git run a program, write elsewhere, or look at another repository.
const RUNS: &[&str] = &[
    "--ext-diff",
    "--textconv",
    "--exec",
    "--upload-pack",
    "--receive-pack",
    "--output",
    "--git-dir",
    "--work-tree",
    "--exec-path",
    "--open-files-in-pager",
    "--contents",
    "--template",
];

/// Whether these arguments only make git look. `branch` and `tag` also make and remove; to look, they are given nothing but
/// flags that list, and patterns only behind `--list`.
#[must_use]
pub fn only_reads(arguments: &[String]) -> bool {
    let Some((command, rest)) = arguments.split_first() else {
        return false;
    };
    if !READS.contains(&command.as_str()) {
        return false;
    }
    let lists = |word: &String| {
        word == "--list"
            || word.starts_with("--format=")
            || ["-a", "-r", "-v", "-vv", "--show-current"].contains(&word.as_str())
    };
    let listing = rest.iter().any(|word| word == "--list");
    !["branch", "tag"].contains(&command.as_str())
        || rest
            .iter()
            .all(|word| lists(word) || (listing && !word.starts_with('-')))
}

impl World<'_> {
    pub(super) fn git(
        &self,
        git: &Git,
        writes: bool,
        timeout: Duration,
    ) -> Result<Done, WorldError> {
        let (list, permission) = if writes {
            (WRITES, "git:write")
        } else {
            (READS, "git:read")
        };
        let refuse = |word: &str| Err(WorldError::Git(word.to_owned(), permission));
        let command = git
            .arguments
            .first()
            .map(String::as_str)
            .unwrap_or_default();
        if !list.contains(&command) {
            return refuse(command);
        }
        if !writes && !only_reads(&git.arguments) {
            return refuse(&git.arguments.join(" "));
        }
        let runs = |word: &&String| {
            let flag = word.split('=').next().unwrap_or_default();
            RUNS.contains(&flag) || flag == "-O"
        };
        if let Some(word) = git
            .arguments
            .iter()
            .take_while(|word| *word != "--")
            .find(runs)
        {
            return refuse(word);
        }
        let settings = SAFE.iter().flat_map(|setting| ["-c", setting]);
        let arguments: Vec<OsString> = settings
            .map(OsString::from)
            .chain(git.arguments.iter().map(OsString::from))
            .collect();
        let program = OsStr::new("git");
        self.child(
            Runs::Git,
            program,
            &arguments,
            &git.repository,
            timeout,
            &[],
        )
    }
}
