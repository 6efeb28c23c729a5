//! The tables of programs for `could_run`: which of their words could be commands.

use super::ShellWord;
use super::listed::has;
use super::programs::is_marked;

/// The options of git that are followed by a value, before its subcommand.
pub(crate) const GIT_VALUES: &[&str] = &[
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--git-dir",
    "--namespace",
    "--work-tree",
];

/// The options of git without a value, before its subcommand.
pub(crate) const GIT_FLAGS: &[&str] = &[
    "-P",
    "-p",
    "--bare",
    "--glob-pathspecs",
    "--icase-pathspecs",
    "--literal-pathspecs",
    "--no-advice",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-pager",
    "--no-replace-objects",
    "--noglob-pathspecs",
    "--paginate",
];

/// Programs that never run a word, whatever their options are. Those of [`super::listed_programs::ANYTHING`] belong to them.
pub(super) const NEVER: &str = "\
    : [[ apk base64 basename bunzip2 bzip2 cd chgrp chmod chown continue cp curl break declare dig dpkg-query eslint exit export false \
    getent getopts gofmt gunzip gzip hash history host jobs journalctl jq kill killall ln local lsof mkdir mv mypy nslookup pacman \
    pgrep ping pkill popd prettier printenv pushd read readonly return ruff set shellcheck shift shred \
    systemctl tee touch trash true truncate type typeset ulimit umask unlink unset unxz unzip wait xz zcat";

/// Programs with subcommands: with one of these, no word is run. Any other subcommand can be another program or an alias.
pub(super) const DATA_SUBCOMMANDS: &[(&str, &str)] = &[
    (
        "apt",
        "autoremove install list purge remove search show update upgrade",
    ),
    (
        "apt-get",
        "autoremove download install purge remove source update upgrade",
    ),
    (
        "brew",
        "cleanup deps doctor info install leaves list outdated reinstall search tap uninstall untap update upgrade uses",
    ),
    (
        "bundle",
        "add install list lock outdated remove show update",
    ),
    (
        "cargo",
        "add b bench build c check clean clippy doc fetch fix fmt generate-lockfile init install login logout metadata new \
         owner package pkgid publish remove rm rustc rustdoc search t test tree uninstall update vendor version yank",
    ),
    (
        "conda",
        "activate clean config create deactivate env info install list remove search uninstall update",
    ),
    (
        "deno",
        "add cache check doc fmt info install lint outdated publish remove uninstall upgrade",
    ),
    (
        "dnf",
        "autoremove check-update info install list remove search update upgrade",
    ),
    ("docker", CONTAINERS),
    (
        "gh",
        "api attestation auth cache gist issue label org pr project release repo ruleset run search secret ssh-key status \
         variable workflow",
    ),
    (
        "git",
        "add am apply archive blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean clone \
         commit commit-tree count-objects describe diff diff-index diff-tree fetch for-each-ref format-patch fsck gc grep \
         hash-object help init log ls-files ls-remote ls-tree maintenance merge merge-base mktag mktree mv name-rev notes prune pull push \
         range-diff read-tree rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm shortlog \
         show show-branch show-ref sparse-checkout stash status submodule switch symbolic-ref tag update-index update-ref \
         var verify-commit verify-tag version whatchanged worktree write-tree",
    ),
    (
        "go",
        "build clean doc env fix fmt get help install list mod telemetry test version vet work",
    ),
    (
        "kubectl",
        "annotate api-resources api-versions apply auth autoscale config cordon cp create delete describe diff drain edit \
         explain expose get label logs patch port-forward replace rollout scale set taint top uncordon version wait",
    ),
    ("nerdctl", CONTAINERS),
    (
        "npm",
        "add audit cache ci config dedupe deprecate dist-tag fund help i info install link list login logout ls outdated owner pack \
         ping prune publish rebuild remove rm run run-script search show start stop t test token un uninstall unpublish \
         up update version view whoami why",
    ),
    (
        "nvm",
        "alias current deactivate install list ls ls-remote uninstall use version which",
    ),
    (
        "pnpm",
        "add audit i install link list ls outdated prune publish rebuild remove rm run start store t test un uninstall up update why",
    ),
    (
        "pip",
        "cache check download freeze hash index inspect install list search show uninstall wheel",
    ),
    (
        "pip3",
        "cache check download freeze hash index inspect install list search show uninstall wheel",
    ),
    ("podman", CONTAINERS),
    (
        "poetry",
        "add build cache check config env export init install list lock new publish remove search show update version",
    ),
    (
        "rustup",
        "check component default doc override set show target toolchain uninstall update which",
    ),
    (
        "uv",
        "add build cache export init lock pip publish python remove self sync tree venv version",
    ),
    (
        "yarn",
        "add audit cache config dedupe info init install link list outdated pack publish remove start test up upgrade version why",
    ),
    (
        "yum",
        "autoremove check-update info install list remove search update upgrade",
    ),
];

const CONTAINERS: &str = "attach build builder commit cp diff events export history images import info inspect kill load login \
    logout logs manifest network pause port ps pull push rename restart rm rmi save search start stats stop system tag top \
    unpause update version volume wait";

/// Of these, no subcommand runs a word: options may be before it.
pub(super) const ANY_ORDER: &str = "apt apt-get dnf pip pip3 yum";

/// (program, subcommand or ``, options): with one of these, programs of the table above run a word after all.
pub(super) const RUNNING_OPTIONS: &[(&str, &str, &str)] = &[
    ("apt", "", "-o --option -c --config-file"),
    ("apt-get", "", "-o --option -c --config-file"),
    ("cargo", "", "--config"),
    ("docker", "build", "--ssh"),
    ("gh", "", "--"),
    ("git", "archive", "--exec --remote"),
    ("git", "clone", "-u --upload-pack -c --config --template"),
    ("git", "diff", "--ext-diff"),
    ("git", "fetch", "--upload-pack"),
    ("git", "grep", "-O --open-files-in-pager"),
    ("git", "log", "--ext-diff"),
    ("git", "ls-remote", "--upload-pack --exec"),
    ("git", "pull", "--upload-pack"),
    ("git", "push", "--receive-pack --exec"),
    ("git", "rebase", "-x --exec"),
    ("git", "show", "--ext-diff"),
    ("git", "submodule", "foreach"),
    (
        "go",
        "",
        "-exec --exec -toolexec --toolexec -vettool --vettool",
    ),
    ("npm", "", "-- --node-options --script-shell"),
    ("pnpm", "", "-- --script-shell"),
    ("yarn", "", "--"),
];

/// Programs that run no word, but may run a text of several words, or the value of an assignment: `make CC='…'`, `vim -c '!…'`.
pub(super) const TEXTS: &str = "\
    bind compgen complete crontab emacs fc gmake less make mapfile more mvim nano nvim psql readarray sqlite3 vi view vim";

/// Programs each of whose operands counts like a subcommand: `make clean deploy`.
pub(super) const TARGETS: &str =
    "ant bmake gmake gradle gradlew just make mvn mvnw ninja nox rake remake scons tox";

/// Names of variables whose value other programs run, by their ends.
pub(super) const COMMAND_VARIABLES: &[&str] = &[
    "ASKPASS",
    "BROWSER",
    "COMMAND",
    "DIFF",
    "EDITOR",
    "LESSCLOSE",
    "LESSOPEN",
    "PAGER",
    "SHELL",
    "SSH",
    "VISUAL",
    "WRAPPER",
];

/// Whether an option of git with one letter makes it run something: `-c` before the subcommand, `rebase -x`, `grep -O`. With an unknown
/// subcommand, which can be an alias, each of these letters counts.
pub(super) fn has_running_letter(words: &[ShellWord]) -> bool {
    let mut at = 1;
    while let Some(text) = words.get(at).and_then(ShellWord::literal) {
        if !text.starts_with('-') {
            break;
        }
        if is_marked("-c", text) {
            return true;
        }
        at += if GIT_VALUES.contains(&text) { 2 } else { 1 };
    }
    let name = words
        .get(at)
        .and_then(ShellWord::literal)
        .unwrap_or_default();
    let known = DATA_SUBCOMMANDS
        .iter()
        .find(|(program, _)| *program == "git");
    let letters: &[&str] = match name {
        "rebase" => &["-x"],
        "grep" => &["-O"],
        name if known.is_some_and(|(_, names)| has(names, name)) => return false,
        _ => &["-c", "-x", "-O"],
    };
    let given = words.iter().skip(1).filter_map(ShellWord::literal);
    given
        .into_iter()
        .any(|text| letters.iter().any(|letter| is_marked(letter, text)))
}
