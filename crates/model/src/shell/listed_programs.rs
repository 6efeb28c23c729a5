//! The tables of programs that treat values as data. [`super::listed`] defines what that means.

/// Programs that run nothing and write no file, whatever their arguments are.
pub(super) const ANYTHING: &str = "\
    [ arch b2sum basename cat cksum cmp column comm cut date df diff dir dirname du echo egrep \
    expand expr false fgrep fmt fold grep head hexdump id join ls md5sum mkdir nl nproc \
    numfmt od paste printf pwd readlink realpath rev rm rmdir seq sha1sum sha224sum sha256sum \
    sha384sum sha512sum sleep stat strings sum tac tail test tr true tty type uname \
    unexpand wc which whoami";

/// A program that runs nothing and writes no file if its options are on this list.
pub(super) struct ListedProgram {
    pub(super) name: &'static str,
    /// The subcommands, separated by commas; any if empty.
    pub(super) subcommands: &'static str,
    /// The options that it can have: `--long` with or without `=value`, `-x`, `-x:` if a value can be attached to the
    /// letter, `-0` for a number, `--` if the program reads nothing after it as an option.
    pub(super) options: &'static str,
    /// The kind of its operands.
    pub(super) operands: OperandKind,
}

/// The kind of words that are not options.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OperandKind {
    /// Operands are data.
    Data,
    /// The first operand is program text and must be the author's; the others are data.
    TextFirst,
    /// No operands: the second one would be written to.
    Absent,
}

const fn listed(
    name: &'static str,
    subcommands: &'static str,
    options: &'static str,
) -> ListedProgram {
    ListedProgram {
        name,
        subcommands,
        options,
        operands: OperandKind::Data,
    }
}

const CONTAINER_QUERIES: &str = "images, inspect, logs, port, ps, stats, version";
const CONTAINER_OPTIONS: &str = "-- --all --details --digests --filter --format --last --latest --no-stream --no-trunc --quiet \
    --since --size --tail --timestamps --until -a -l -n: -q -s -t";

const FD_OPTIONS: &str = "-- --absolute-path --color --exclude --extension --follow --full-path --glob --hidden --ignore-case \
    --max-depth --max-results --min-depth --no-ignore --type --unrestricted -0 -1 -E: -H -I -L -a -d: -e: -g -i -p -s -t: -u";

const PIP_OPTIONS: &str = "-- --editable --files --format --local --not-required --outdated --pre --quiet --uptodate --user --verbose -e -f -l -o -q -u -v";

/// The programs, by name.
pub(super) const LISTED: &[ListedProgram] = &[
    listed(
        "cargo",
        "info, search, test, tree",
        "--all-features --all-targets --depth --doc --edges --features --invert --lib --limit --locked --no-default-features \
         --no-run --offline --package --quiet --release --test --verbose --workspace -e: -i: -p: -q -v",
    ),
    listed(
        "curl",
        "",
        "-- --compressed --connect-timeout --data --data-raw --data-urlencode --fail --fail-with-body --get --head --header \
         --include --json --location --max-time --no-progress-meter --request --retry --show-error --silent --url --user-agent \
         -A: -G -H: -I -L -S -X: -d: -f -i -m: -s -v",
    ),
    listed("docker", CONTAINER_QUERIES, CONTAINER_OPTIONS),
    listed("fd", "", FD_OPTIONS),
    listed("fdfind", "", FD_OPTIONS),
    listed(
        "file",
        "",
        "-- --brief --mime --mime-encoding --mime-type -L -b -h -i",
    ),
    listed(
        "find",
        "",
        "-H -L -P -a -amin -and -atime -cmin -ctime -daystart -depth -empty -executable -false -follow -gid -group -iname \
         -inum -ipath -iregex -iwholename -links -lname -ls -maxdepth -mindepth -mmin -mount -mtime -name -newer -newermt \
         -nogroup -not -nouser -o -or -path -perm -print -print0 -printf -prune -quit -readable -regex -regextype -samefile \
         -size -true -type -uid -user -wholename -writable -xdev",
    ),
    listed(
        "gh",
        "api, cache list, gist list, gist view, issue close, issue comment, issue create, issue edit, issue list, \
         issue reopen, issue status, issue view, label list, pr checks, pr close, pr comment, pr create, pr diff, pr edit, \
         pr list, pr merge, pr ready, pr reopen, pr review, pr status, pr view, project item-list, project list, \
         project view, release list, release view, repo list, repo view, ruleset list, ruleset view, run list, run view, \
         search code, search commits, search issues, search prs, search repos, variable list, workflow list, workflow view",
        "-- --add-assignee --add-label --add-reviewer --app --approve --archived --assignee --author --base --body \
         --body-file --branch --comment --comments --commit --created --delete-branch --draft --event --extension \
         --field --filename --fill --files --head --header --include --interval --job --jq --json --label --language --limit \
         --log --log-failed --match --mention --merge --method --milestone --name-only --order --org --owner --paginate \
         --patch --preview --raw-field --reason --rebase --remove-assignee --remove-label --repo --request-changes --required \
         --reviewer --search --slurp --sort --squash --state --status --template --title --topic --updated --user --visibility \
         --workflow -A: -B: -F: -H: -L: -R: -S: -X: -a: -b: -c -d -f: -i -j: -l: -m: -q: -r: -s: -t:",
    ),
    listed(
        "git",
        "blame, branch --all, branch --contains, branch --list, branch --merged, branch --no-merged, branch --show-current, \
         branch -a, branch -r, cat-file, check-ignore, cherry, count-objects, describe, diff, diff-tree, for-each-ref, grep, log, \
         ls-files, ls-tree, merge-base, name-rev, range-diff, reflog show, rev-list, rev-parse, shortlog, show, show-branch, \
         show-ref, stash list, stash show, status, tag --list, tag -l, var, whatchanged",
        "-- --abbrev --abbrev-commit --abbrev-ref --after --all --all-match --always --ancestry-path --author --author-date-order \
         --batch-check --before --boundary --branch --branches --break-heading --cached --cc --cherry --cherry-pick --color \
         --column --combined --committer --compact-summary --contains --count --cumulative --date --date-order --decorate \
         --deleted --diff-algorithm --diff-filter --dirstat --dirty --email --exact-match --exclude-standard --exit-code \
         --extended-regexp --files-with-matches --find-renames --first-parent --fixed-strings --follow --format --full-history \
         --function-context --git-common-dir --graph --grep --heading --histogram --ignore-all-space --ignore-blank-lines \
         --ignore-case --ignore-space-at-eol --ignore-space-change --ignored --invert-grep --is-ancestor --is-bare-repository \
         --is-inside-work-tree --left-right --line-number --line-porcelain --list --local --long --max-count --max-depth \
         --max-parents --merge --merge-base --merged --merges --min-parents --minimal --modified --name-only --name-status \
         --no-abbrev --no-color --no-decorate --no-ext-diff --no-merged --no-merges --no-patch --no-prefix --no-renames \
         --no-textconv --not --notes --null --numbered --numstat --object-id --oneline --only-matching --others --patch \
         --patch-with-stat --patience --perl-regexp --pickaxe-regex --points-at --porcelain --pretty --quiet --raw --reflog \
         --regexp-ignore-case --relative --remotes --reverse --short --shortstat --show-current --show-function \
         --show-name --show-prefix --show-stash --show-toplevel --since --skip --sort --staged --stage --stat --submodule \
         --summary --symbolic-full-name --tags --text --topo-order --tracked --unified --unmerged --untracked --untracked-files \
         --until --verbose --verify --walk-reflogs --word-diff --word-regexp -0 -A: -B: -C: -E -F -G: -H -L: -M -P -R -S: -U: \
         -W -a -b -c -d -e: -g -h -i -l -m -n: -o -p -q -r -s -t -v -w -z",
    ),
    listed(
        "glab",
        "ci list, issue list, issue view, mr diff, mr list, mr view, release list, release view, repo view",
        "-- --all --assignee --author --closed --comments --label --merged --milestone --output --page --per-page --raw --repo \
         --search --source-branch --state --target-branch -A -F: -P: -R: -a: -c -l: -m: -p: -s:",
    ),
    ListedProgram {
        operands: OperandKind::TextFirst,
        ..listed(
            "jq",
            "",
            "-- --arg --argjson --args --ascii-output --color-output --compact-output --exit-status --indent --join-output \
             --jsonargs --monochrome-output --null-input --raw-input --raw-output --rawfile --slurp --slurpfile --sort-keys \
             --stream --tab -C -M -R -S -a -c -e -j -n -r -s",
        )
    },
    listed(
        "kubectl",
        "api-resources, api-versions, cluster-info, describe, explain, get, logs, top, version",
        "-- --all-containers --all-namespaces --client --container --field-selector --label-columns --namespace --no-headers \
         --output --previous --recursive --selector --short --show-kind --show-labels --since --since-time --sort-by --tail \
         --timestamps -A -L: -c: -l: -n: -o: -p",
    ),
    listed(
        "npm",
        "explain, info, list, ls, outdated, search, show, view, why",
        "-- --all --depth --global --json --long --parseable --silent -a -g -l -p -s",
    ),
    listed("pip", "index versions, list, show", PIP_OPTIONS),
    listed("pip3", "index versions, list, show", PIP_OPTIONS),
    listed("podman", CONTAINER_QUERIES, CONTAINER_OPTIONS),
    listed(
        "rg",
        "",
        "-- --after-context --before-context --case-sensitive --color --column --context --count --count-matches --files \
         --files-with-matches --files-without-match --fixed-strings --follow --glob --heading --hidden --iglob --ignore-case \
         --invert-match --json --line-number --max-columns --max-count --max-depth --multiline --no-config --no-filename \
         --no-heading --no-ignore --no-line-number --no-messages --null --only-matching --passthru --pcre2 --quiet --regexp \
         --smart-case --sort --stats --text --trim --type --type-not --unrestricted --vimgrep --with-filename --word-regexp -0 \
         -A: -B: -C: -F -H -I -L -M: -N -P -S -T: -U -a -c -d: -e: -g: -i -l -m: -n -o -q -s -t: -u -v -w -x",
    ),
    listed(
        "sort",
        "",
        "-- --check --dictionary-order --field-separator --general-numeric-sort --human-numeric-sort --ignore-case \
         --ignore-leading-blanks --key --month-sort --numeric-sort --reverse --stable --unique --version-sort --zero-terminated \
         -M -V -b -c -d -f -g -h -i -k: -n -r -s -t: -u -z",
    ),
    listed(
        "tree",
        "",
        "-- --du --dirsfirst --gitignore --noreport --prune -C -D -F -I: -J -L: -P: -X -a -d -f -h -i -l -n -p -s",
    ),
    ListedProgram {
        operands: OperandKind::Absent,
        ..listed(
            "uniq",
            "",
            "--count --ignore-case --repeated --unique --zero-terminated -c -d -i -u -z",
        )
    },
];

/// Programs that run the command after them, unchanged.
pub(super) const PASSERS: &str =
    "builtin command env exec ionice nice nohup setsid stdbuf time timeout";

/// The options that these can have: none that writes a file, reads a configuration or changes the folder.
pub(super) const PASSER_OPTIONS: &str = "-- --foreground --kill-after --preserve-status --signal -0 -c -e0 -eL -i -i0 -iL -k -n -o0 -oL -p -s -u";

/// Shells, whose program text is parsed like the line that contains it.
pub(super) const SHELLS: &str = "ash bash dash ksh mksh sh zsh";

/// Interpreters that run a file, and the options that they can have: none that reads more code, from the input, from
/// a start-up file or from a value.
pub(super) const FILE_RUNNERS: &[(&str, &str)] = &[
    ("ash", "-e -u -x"),
    ("bash", "-e -u -x -eu"),
    ("dash", "-e -u -x -eu"),
    ("ksh", "-e -u -x"),
    ("mksh", "-e -u -x"),
    ("node", "--no-warnings"),
    ("nodejs", "--no-warnings"),
    ("perl", "-T -t -w"),
    ("php", "-n -q"),
    ("pypy", "-B -E -I -O -s -u"),
    ("python", "-B -E -I -O -s -u"),
    ("ruby", "-w"),
    ("sh", "-e -u -x -eu"),
    ("zsh", "-e -u -x"),
];

/// Programs whose text is checked separately, and the options that can precede it; `-x:` takes a value.
pub(super) const TEXT_RUNNERS: &[(&str, &str)] = &[
    ("awk", "-F: -v:"),
    ("gawk", "-F: -v:"),
    ("gsed", "-E -e -n -r -s -u -z"),
    ("mawk", "-F: -v:"),
    ("nawk", "-F: -v:"),
    ("sed", "-E -e -n -r -s -u -z"),
];
