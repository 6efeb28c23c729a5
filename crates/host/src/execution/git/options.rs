//! The allowed git commands, and their allowed options.
//!
//! The lists are positive: an option that is not on them is refused, and so is an abbreviation of one that is (git expands
//! `--textc` to `--textconv`). Left out are options that run a program (`--ext-diff`, `--textconv`, `--show-signature`,
//! `--strategy`, `--interactive`), write a file (`--output`), read from outside the repository (`--no-index`,
//! `--git-dir`), look into submodules (`--recurse-submodules`, `--submodule=diff`) or change the configuration
//! (`--set-upstream-to`, `--track`).
//!
//! An entry reads `--quiet` (no value), `--format=` (a value, after `=` or in the next word), `--stat[=]` (an optional value after
//! `=`), `-n:VALUE` (a value, in the same word or the next), `-m:TEXT` (the same; the next word can start with `-`) or `-M[VALUE]`
//! (an optional value in the same word).

/// The permission that a git command requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// `git:read`
    Read,
    /// `git:write`
    Write,
}

impl Needs {
    pub(super) const fn permission(self) -> &'static str {
        match self {
            Self::Read => "git:read",
            Self::Write => "git:write",
        }
    }
}

/// One command of git, with every allowed option.
pub(super) struct GitCommand {
    pub(super) name: &'static str,
    pub(super) needs: Needs,
    options: &'static [&'static str],
    /// Whether `-5` is a number of commits.
    counts: bool,
    /// Whether it accepts `--no-ext-diff` and `--no-textconv`, and therefore gets them.
    pub(super) diffs: bool,
}

/// Why arguments are refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unlisted {
    Command(String),
    Option {
        command: &'static str,
        option: String,
    },
}

/// Finds the entry for arguments of git and checks every option against it.
pub(super) fn check(arguments: &[String], needs: Needs) -> Result<&'static GitCommand, Unlisted> {
    let (name, rest) = match arguments.split_first() {
        Some((name, rest)) => (name.as_str(), rest),
        None => ("", arguments),
    };
    let entry = COMMANDS
        .iter()
        .find(|entry| entry.name == name && entry.needs == needs);
    let Some(command) = entry else {
        return Err(Unlisted::Command(name.to_owned()));
    };
    let refuse = |option: &str| {
        Err(Unlisted::Option {
            command: command.name,
            option: option.to_owned(),
        })
    };
    let mut has_arguments = false;
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        match command.judge(word) {
            OptionWord::Argument => has_arguments = true,
            OptionWord::EndOfOptions => {
                has_arguments |= words.next().is_some();
                break;
            }
            OptionWord::Unlisted => return refuse(word),
            OptionWord::Option => {}
            OptionWord::OptionWithNext { text } => match words.next() {
                // Git inserts `HEAD`, or reports an error.
                None => {}
                Some(value) if (text || !value.starts_with('-')) && is_plain(value) => {}
                Some(_) => return refuse(word),
            },
        }
    }
    // `branch` and `tag` also create and delete: for listing, names are passed only after `--list`.
    let listing = rest.iter().any(|word| word == "--list" || word == "-l");
    let makes = ["branch", "tag"].contains(&name) && has_arguments && !listing;
    if needs == Needs::Read && makes {
        return Err(Unlisted::Command(arguments.join(" ")));
    }
    Ok(command)
}

/// The role of one word of a command.
enum OptionWord {
    Argument,
    Option,
    /// Its value is the next word; `text` can start with `-`.
    OptionWithNext {
        text: bool,
    },
    EndOfOptions,
    Unlisted,
}

impl GitCommand {
    pub(super) fn options(&self) -> impl Iterator<Item = &'static str> {
        self.options
            .iter()
            .flat_map(|list| list.split_ascii_whitespace())
    }

    fn judge(&self, word: &str) -> OptionWord {
        if word == "--" {
            return OptionWord::EndOfOptions;
        }
        if let Some(cluster) = word.strip_prefix('-') {
            return match word.strip_prefix("--") {
                Some(_) => self.judge_long(word),
                None if cluster.is_empty() => OptionWord::Unlisted,
                None => self.judge_short(cluster),
            };
        }
        OptionWord::Argument
    }

    fn judge_long(&self, word: &str) -> OptionWord {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if value.is_some_and(|value| !is_plain(value)) {
            return OptionWord::Unlisted;
        }
        let spelt = |entry: &&str| entry.strip_prefix(name).is_some_and(is_long_rest);
        let entry = self
            .options()
            .find(|entry| *entry == word)
            .or_else(|| self.options().find(spelt));
        match (entry.and_then(|entry| entry.strip_prefix(name)), value) {
            (Some(""), None) | (Some("="), Some(_)) | (Some("[=]"), _) => OptionWord::Option,
            // An option in its long form with its value.
            (Some(rest), Some(_)) if rest == &word[name.len()..] => OptionWord::Option,
            (Some("="), None) => OptionWord::OptionWithNext { text: false },
            _ => OptionWord::Unlisted,
        }
    }

    /// `-sb`, `-U3`, `-am TEXT`: every letter is looked up, up to the first letter with a value.
    fn judge_short(&self, cluster: &str) -> OptionWord {
        if self.counts && cluster.bytes().all(|byte| byte.is_ascii_digit()) {
            return OptionWord::Option;
        }
        for (at, letter) in cluster.char_indices() {
            let rest = &cluster[at + letter.len_utf8()..];
            let flag = format!("-{letter}");
            let takes = self.options().find_map(|entry| {
                let takes = entry.strip_prefix(flag.as_str())?;
                (!entry.starts_with("--")).then_some(takes)
            });
            match takes {
                Some("") => {}
                Some("[VALUE]") if is_plain(rest) => return OptionWord::Option,
                Some(":VALUE" | ":TEXT") if !rest.is_empty() && is_plain(rest) => {
                    return OptionWord::Option;
                }
                Some(":VALUE") if rest.is_empty() => {
                    return OptionWord::OptionWithNext { text: false };
                }
                Some(":TEXT") if rest.is_empty() => {
                    return OptionWord::OptionWithNext { text: true };
                }
                _ => return OptionWord::Unlisted,
            }
        }
        OptionWord::Option
    }
}

/// The text that can follow the name of an option in an entry that has no value.
fn is_long_rest(rest: &str) -> bool {
    matches!(rest, "" | "=" | "[=]")
}

/// A format can make git verify signatures, and git runs a program for that.
fn is_plain(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    !value.contains("%G") && !lower.contains("%(signature") && !lower.contains("%(*signature")
}

const DIFF: &str = "\
    -p -u -s -z -R -a -b -w -W -c -m -U:VALUE -M[VALUE] -C[VALUE] -B[VALUE] -D -l:VALUE -S:VALUE \
    -G:VALUE -I:VALUE --patch --no-patch --unified= --raw --patch-with-raw --patch-with-stat \
    --indent-heuristic --no-indent-heuristic --minimal --patience --histogram --diff-algorithm= \
    --anchored= --stat[=] --stat-width= --stat-name-width= --stat-count= --compact-summary \
    --numstat --shortstat --dirstat[=] --cumulative --summary --name-only --name-status \
    --color[=] --no-color --color-moved[=] --no-color-moved --color-moved-ws= --word-diff[=] \
    --word-diff-regex= --color-words[=] --no-renames --rename-empty --no-rename-empty --check \
    --ws-error-highlight= --full-index --binary --abbrev[=] --no-abbrev --break-rewrites[=] \
    --find-renames[=] --find-copies[=] --find-copies-harder --irreversible-delete --diff-filter= \
    --find-object= --pickaxe-all --pickaxe-regex --skip-to= --rotate-to= --relative[=] \
    --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change \
    --ignore-all-space --ignore-blank-lines --ignore-matching-lines= --inter-hunk-context= \
    --function-context --exit-code --quiet --no-ext-diff --no-textconv --ignore-submodules \
    --ignore-submodules=all --ignore-submodules=dirty --submodule=short --src-prefix= \
    --dst-prefix= --no-prefix --default-prefix --line-prefix= --ita-invisible-in-index \
    --ita-visible-in-index --cc --combined-all-paths --diff-merges=off \
    --diff-merges=first-parent --diff-merges=separate --diff-merges=combined \
    --diff-merges=dense-combined --no-diff-merges --end-of-options";

const HISTORY: &str = "\
    -n:VALUE -i -E -F -P -g --max-count= --skip= --since= --after= --until= --before= --author= \
    --committer= --grep-reflog= --grep= --all-match --invert-grep --regexp-ignore-case \
    --basic-regexp --extended-regexp --fixed-strings --perl-regexp --remove-empty --merges \
    --no-merges --min-parents= --max-parents= --no-min-parents --no-max-parents --first-parent \
    --not --all --branches[=] --tags[=] --remotes[=] --glob= --exclude= --reflog \
    --ignore-missing --cherry-mark --cherry-pick --left-only --right-only --cherry \
    --walk-reflogs --merge --boundary --simplify-by-decoration --show-pulls --full-history \
    --dense --sparse --simplify-merges --ancestry-path --date-order --author-date-order \
    --topo-order --reverse --pretty[=] --format= --abbrev-commit --no-abbrev-commit --oneline \
    --encoding= --expand-tabs[=] --no-expand-tabs --notes[=] --no-notes --relative-date --date= \
    --parents --children --left-right --graph --no-graph --no-walk[=] --do-walk --count";

const LOG: &str = "\
    -L:VALUE --follow --decorate[=] --no-decorate --decorate-refs= --decorate-refs-exclude= \
    --source --log-size --mailmap --no-mailmap --use-mailmap --show-linear-break[=]";

/// The listing options of `branch`, `tag` and `for-each-ref`.
const LISTING: &str = "\
    -i --sort= --format= --contains= --no-contains= --merged= --no-merged= --points-at= \
    --color[=] --no-color --column[=] --no-column --ignore-case --omit-empty";

const BRANCH_READ: &str =
    "-a -r -v -q -l --all --remotes --verbose --quiet --list --show-current --abbrev= --no-abbrev";

const TAG_READ: &str = "-l -n[VALUE] --list";

const fn read(
    name: &'static str,
    options: &'static [&'static str],
    counts: bool,
    diffs: bool,
) -> GitCommand {
    GitCommand {
        name,
        needs: Needs::Read,
        options,
        counts,
        diffs,
    }
}

const fn write(name: &'static str, options: &'static [&'static str]) -> GitCommand {
    GitCommand {
        name,
        needs: Needs::Write,
        options,
        counts: false,
        diffs: false,
    }
}

/// Every command and option.
pub(super) const COMMANDS: &[GitCommand] = &[
    read(
        "blame",
        &["\
    -b -l -t -p -f -n -s -e -w -L:VALUE -M[VALUE] -C[VALUE] --root --show-stats --reverse \
    --porcelain --line-porcelain --incremental --encoding= --date= --score-debug --show-name \
    --show-number --show-email --abbrev= --ignore-rev= --first-parent --since= --color-lines \
    --color-by-age --minimal --progress --no-progress --no-textconv"],
        false,
        false,
    ),
    read("branch", &[BRANCH_READ, LISTING], false, false),
    read(
        "cat-file",
        &["-t -s -e -p --allow-unknown-type --use-mailmap --no-mailmap"],
        false,
        false,
    ),
    read(
        "describe",
        &["\
    --all --tags --contains --abbrev= --candidates= --exact-match --debug --long --match= \
    --exclude= --always --first-parent"],
        false,
        false,
    ),
    read(
        "diff",
        &[
            "-0 -1 -2 -3 --cached --staged --merge-base --base --ours --theirs",
            DIFF,
        ],
        false,
        true,
    ),
    read(
        "for-each-ref",
        &["--count= --exclude=", LISTING],
        false,
        false,
    ),
    read("log", &[LOG, HISTORY, DIFF], true, true),
    read(
        "ls-files",
        &["\
    -c -d -m -o -i -s -u -k -z -t -v -f -x:VALUE --cached --deleted --modified --others \
    --ignored --stage --unmerged --killed --directory --no-empty-directory --eol --deduplicate \
    --exclude= --exclude-standard --error-unmatch --full-name --abbrev[=] --debug --format= \
    --with-tree="],
        false,
        false,
    ),
    read(
        "ls-tree",
        &["\
    -d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree \
    --abbrev[=] --format="],
        false,
        false,
    ),
    read(
        "merge-base",
        &["-a --all --octopus --independent --is-ancestor --fork-point"],
        false,
        false,
    ),
    read(
        "rev-list",
        &[
            "\
    --objects --objects-edge --no-object-names --timestamp --header --disk-usage[=] --quiet \
    --abbrev[=] --no-abbrev --end-of-options",
            HISTORY,
        ],
        true,
        false,
    ),
    read(
        "rev-parse",
        &["\
    -q --verify --quiet --short[=] --abbrev-ref[=] --symbolic --symbolic-full-name \
    --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --is-inside-work-tree \
    --is-inside-git-dir --is-bare-repository --is-shallow-repository --all --branches[=] \
    --tags[=] --remotes[=] --glob= --exclude= --revs-only --no-revs --flags --no-flags --not \
    --since= --until= --show-object-format[=] --show-ref-format --disambiguate= --path-format= \
    --end-of-options"],
        false,
        false,
    ),
    read(
        "shortlog",
        &[
            "-n -s -e -c -w[VALUE] --numbered --summary --email --group=",
            HISTORY,
        ],
        true,
        false,
    ),
    read("show", &[LOG, HISTORY, DIFF], true, true),
    read(
        "status",
        &["\
    -s -b -v -z -u[VALUE] --short --branch --show-stash --porcelain[=] --long --verbose \
    --untracked-files[=] --ignore-submodules --ignore-submodules=all --ignore-submodules=dirty \
    --ignored[=] --column[=] --no-column --ahead-behind --no-ahead-behind --renames --no-renames \
    --find-renames[=]"],
        false,
        false,
    ),
    read("tag", &[TAG_READ, LISTING], false, false),
    write(
        "add",
        &["\
    -v -n -f -u -A -N --verbose --dry-run --force --update --all --no-all --ignore-removal \
    --no-ignore-removal --intent-to-add --refresh --ignore-errors --ignore-missing --renormalize \
    --chmod= --sparse"],
    ),
    write(
        "branch",
        &[
            "-d -D -m -M -c -C -f --delete --move --copy --force --no-track --create-reflog",
            BRANCH_READ,
            LISTING,
        ],
    ),
    write(
        "checkout",
        &["\
    -b:VALUE -B:VALUE -q -f -d -l -m --quiet --progress --no-progress --force --ours --theirs \
    --detach --no-track --orphan= --merge --conflict= --guess --no-guess \
    --ignore-skip-worktree-bits --overwrite-ignore --no-overwrite-ignore --overlay --no-overlay"],
    ),
    write(
        "commit",
        &["\
    -a -q -s -z -i -o -n -m:TEXT -C:VALUE -F:VALUE -u[VALUE] --all --message= --quiet --amend \
    --no-edit --allow-empty --allow-empty-message --signoff --no-signoff --author= --date= \
    --reuse-message= --fixup= --squash= --reset-author --dry-run --short --branch --porcelain \
    --long --include --only --no-verify --cleanup= --status --no-status --untracked-files[=] \
    --no-gpg-sign --file= --no-post-rewrite"],
    ),
    write(
        "init",
        &["-q -b:VALUE --quiet --initial-branch= --object-format="],
    ),
    write(
        "merge",
        &["\
    -n -q -v -m:TEXT -X:VALUE --stat --no-stat --squash --no-squash --commit --no-commit --ff \
    --no-ff --ff-only --no-edit --quiet --verbose --abort --continue --quit \
    --allow-unrelated-histories --strategy-option= --signoff --no-signoff --no-verify --log[=] \
    --no-log --no-gpg-sign --progress --no-progress"],
    ),
    write("mv", &["-f -k -n -v --force --dry-run --verbose --sparse"]),
    write(
        "reset",
        &["\
    -q -N --quiet --no-quiet --soft --mixed --hard --merge --keep --intent-to-add --refresh \
    --no-refresh"],
    ),
    write(
        "restore",
        &["\
    -s:VALUE -S -W -q -m --source= --staged --worktree --quiet --progress --no-progress --ours \
    --theirs --merge --conflict= --ignore-unmerged --ignore-skip-worktree-bits --overlay \
    --no-overlay"],
    ),
    write(
        "revert",
        &["\
    -n -s -m:VALUE -X:VALUE --no-edit --no-commit --mainline= --signoff --strategy-option= \
    --continue --quit --abort --skip --no-gpg-sign"],
    ),
    write(
        "rm",
        &["-f -n -r -q --force --dry-run --cached --ignore-unmatch --quiet --sparse"],
    ),
    write(
        "stash",
        &["\
    -q -k -u -a -S -m:TEXT --quiet --keep-index --no-keep-index --include-untracked --all \
    --staged --message= --index --stat --name-only --name-status --numstat --oneline --format="],
    ),
    write(
        "switch",
        &["\
    -c:VALUE -C:VALUE -d -f -m -q --create= --force-create= --detach --guess --no-guess --force \
    --discard-changes --merge --conflict= --quiet --progress --no-progress --no-track --orphan="],
    ),
    write(
        "tag",
        &[
            "\
    -a -f -d -m:TEXT -F:VALUE --annotate --message= --file= --force --delete --no-sign \
    --cleanup= --create-reflog",
            TAG_READ,
            LISTING,
        ],
    ),
];

/// Every command with its permission and its options, as in the lists.
pub(super) fn listed() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let entry = |command: &GitCommand| {
        let options = command.options().collect();
        (command.name, command.needs.permission(), options)
    };
    COMMANDS.iter().map(entry).collect()
}
