//! The tables of programs for `could_run`: which of their words could be commands.

use super::ShellWord;
use super::listed::{has, runs_nothing};
use super::programs::{is_marked, literal_start};
use crate::scope::PossibleWord;

/// The options of git before its subcommand that are followed by a value, and those without one.
const GIT_VALUES: &str = "-C -c --attr-source --config-env --git-dir --namespace --work-tree";
const GIT_FLAGS: &str = "-P -p --bare --glob-pathspecs --icase-pathspecs --literal-pathspecs --no-advice --no-lazy-fetch \
    --no-optional-locks --no-pager --no-replace-objects --noglob-pathspecs --paginate";

/// Whether a value follows an option of git before its subcommand, if that is known.
pub(crate) fn git_option_has_value(option: &str) -> Option<bool> {
    let has_value = has(GIT_VALUES, option);
    (has_value || has(GIT_FLAGS, option)).then_some(has_value)
}

/// Programs that never run a word, except with an option that [`super::programs`] lists. Those of [`super::listed_programs::ANYTHING`]
/// belong to them.
pub(super) const NEVER: &str = "\
    : [[ apk aws base64 basename black break bunzip2 bzip2 cd chgrp chmod chown code continue cp curl declare dig dpkg-query eslint \
    exit export false flake8 getent getopts gofmt gunzip gzip history host isort jest journalctl jq kill killall ln local lsof mkdir \
    mocha mv mypy notify-send nslookup pacman pgrep phpunit ping pkill popd prettier printenv pushd pytest read readonly return rspec \
    ruff rustfmt service set sha1sum shasum shellcheck shift shred systemctl tee touch trash true truncate tsc type typeset ulimit \
    umask unlink unset unxz unzip vitest wait xz zcat";

/// Programs with subcommands, and the subcommands with which they run no word. Any other subcommand can be another program or an alias.
const DATA_SUBCOMMANDS: &str = "\
    apt: autoremove install list purge remove search show update upgrade\n\
    apt-get: autoremove download install purge remove source update upgrade\n\
    brew: cleanup deps doctor info install leaves list outdated reinstall search tap uninstall untap update upgrade uses\n\
    bun: add build init install link outdated pm publish remove rm test unlink update upgrade\n\
    bundle: add install list lock outdated remove show update\n\
    cargo: add b bench build c check clean clippy doc fetch fix fmt generate-lockfile init install login logout metadata new owner \
        package pkgid publish remove rm rustc rustdoc search t test tree uninstall update vendor version yank\n\
    conda: activate clean config create deactivate env info install list remove search uninstall update\n\
    deno: add cache check doc fmt info install lint outdated publish remove uninstall upgrade\n\
    dnf yum: autoremove check-update info install list remove search update upgrade\n\
    docker nerdctl podman: attach build commit config cp diff down events export history images import info inspect kill load login \
        logout logs ls manifest network pause port prune ps pull push rename restart rm rmi save search start stats stop system tag top \
        unpause up update version volume wait\n\
    gem: cleanup info install list outdated search uninstall update\n\
    gh: api attestation auth cache gist issue label org pr project release repo ruleset run search secret ssh-key status variable \
        workflow\n\
    git: add am apply archive blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean clone commit \
        commit-tree count-objects describe diff diff-index diff-tree fetch for-each-ref format-patch fsck gc grep hash-object help init \
        log ls-files ls-remote ls-tree maintenance merge merge-base mktag mktree mv name-rev notes prune pull push range-diff read-tree \
        rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref \
        sparse-checkout stash status submodule switch symbolic-ref tag update-index update-ref var verify-commit verify-tag version \
        whatchanged worktree write-tree\n\
    go: build clean doc env fix fmt get help install list mod telemetry test version vet work\n\
    helm: dependency get history install lint list package pull push repo rollback search show status template uninstall upgrade\n\
    kubectl: annotate api-resources api-versions apply auth autoscale config cordon cp create delete describe diff drain edit \
        explain expose get label logs patch port-forward replace rollout scale set taint top uncordon version wait\n\
    npm: add audit cache ci config dedupe deprecate dist-tag fund help i info install link list login logout ls outdated owner pack \
        ping prune publish rebuild remove rm search show start stop t test token un uninstall unpublish up update version view whoami \
        why\n\
    nvm: alias current deactivate install list ls ls-remote uninstall use version which\n\
    pnpm: add audit i install link list ls outdated prune publish rebuild remove rm start store t test un uninstall up update why\n\
    pip pip3: cache check download freeze hash index inspect install list search show uninstall wheel\n\
    pipx: inject install list uninstall upgrade\n\
    poetry: add build cache check config env export init install list lock new publish remove search show update version\n\
    rustup: check component default doc override set show target toolchain uninstall update which\n\
    snap: find info install list refresh remove\n\
    uv: add build cache export init lock pip publish python remove self sync tree venv version\n\
    yarn: add audit cache config dedupe info init install link list outdated pack publish remove start test up upgrade version why";

/// Programs for containers.
pub(super) const CONTAINERS: &str = "docker nerdctl podman";

/// Words before the subcommand of a container program: `docker image rm`.
pub(super) const CONTAINER_GROUPS: &str = "builder buildx compose container image";

/// Programs with a subcommand `run` that is followed by the name of a script, and then by the arguments of that script.
pub(super) const SCRIPT_RUNNERS: &str = "npm pnpm yarn";

/// Of these, no subcommand runs a word: options may be before it.
pub(super) const ANY_ORDER: &str = "apt apt-get dnf pip pip3 yum";

/// The options with which any subcommand of git can run a word.
const GIT_OPTIONS: &str =
    "--config-env --exec --ext-diff --open-files-in-pager --receive-pack --template --upload-pack";

/// (programs, subcommand or `` for all, options): with one of these, programs that run no word run one after all. With a subcommand that is
/// not known, such as an alias, each row of the program counts. Those of git count for approvals as well.
const RUNNING_OPTIONS: &[(&str, &str, &str)] = &[
    ("apt apt-get", "", "-o --option -c --config-file"),
    ("cargo", "", "--config"),
    ("docker", "build", "--ssh"),
    ("gh kubectl yarn", "", "--"),
    ("git", "", GIT_OPTIONS),
    ("git", "archive", "--remote"),
    ("git", "clone", "-u -c --config"),
    ("git", "grep", "-O"),
    ("git", "rebase", "-x"),
    ("git", "submodule", "foreach"),
    (
        "go",
        "",
        "-exec --exec -toolexec --toolexec -vettool --vettool",
    ),
    ("helm", "", "--post-renderer"),
    ("just", "", "-c --command --shell"),
    ("mvn", "", "-Dexec.executable"),
    ("npm", "", "-- --node-options --script-shell"),
    ("pnpm", "", "-- --script-shell"),
    ("tox", "", "e exec"),
];

/// Whether some of the words make a program with this subcommand run a word.
pub(super) fn has_running_option(program: &str, name: &str, words: &[ShellWord]) -> bool {
    let is_known = data_subcommands(program).is_some_and(|known| has(known, name));
    let rows = RUNNING_OPTIONS.iter().filter(|(of, subcommand, _)| {
        has(of, program) && (subcommand.is_empty() || *subcommand == name || !is_known)
    });
    let mut options = rows.flat_map(|(_, _, options)| options.split_ascii_whitespace());
    let starts: Vec<String> = words.iter().map(literal_start).collect();
    options.any(|option| {
        starts.iter().any(|text| match option {
            "--" => text == option,
            option => is_marked(option, text),
        })
    })
}

/// Whether a word of `sed`, `awk` or `perl`, with what is glued to an option, is known to run no program and no file.
pub(super) fn is_quiet(program: &str, text: &str) -> bool {
    let is_quiet = |text: &str| runs_nothing(program, text);
    let option = text.strip_prefix('-').filter(|_| program != "perl");
    let Some(letters) = option else {
        return is_quiet(text);
    };
    if let Some(long) = letters.strip_prefix('-') {
        let (name, value) = long.split_once('=').unwrap_or((long, ""));
        return has("expression in-place null-data posix quiet source", name) && is_quiet(value);
    }
    if program.ends_with("awk") {
        // A word that looks like this option can be the value of another one.
        let is_separator = letters.starts_with('F') && !letters.contains('{');
        let is_file = !letters.starts_with(['F', 'v']) && letters.contains(['E', 'f', 'i', 'l']);
        return !is_file && (is_quiet(text) || is_separator && is_quiet(&text.replace('|', "")));
    }
    let value = letters.trim_start_matches(|letter| !"efil".contains(letter));
    program.ends_with("sed")
        && match value.strip_prefix('e') {
            Some(code) => is_quiet(code),
            None => !value.starts_with('f'),
        }
}

/// The subcommands with which a program runs no word, if it has subcommands.
pub(super) fn data_subcommands(program: &str) -> Option<&'static str> {
    let mut rows = DATA_SUBCOMMANDS
        .lines()
        .filter_map(|row| row.split_once(": "));
    rows.find_map(|(programs, names)| has(programs, program).then_some(names))
}

/// The position of git's subcommand. An option can contain a value, as in `--git-dir="$x"`.
pub(super) fn behind_git_options(words: &[ShellWord]) -> usize {
    let mut at = 1;
    while let Some(start) = words.get(at).map(literal_start) {
        if !start.starts_with('-') {
            break;
        }
        at += if has(GIT_VALUES, &start) { 2 } else { 1 };
    }
    at.min(words.len())
}

/// The words, with each program like `git-push` in two, in any folder, if there is one. Patterns count as well: `gi[t]-pus[h]`.
pub(super) fn spelt_out(words: &[PossibleWord]) -> Vec<PossibleWord> {
    let behind = |path: &str| {
        let (program, name) = path.rsplit('/').next()?.split_once('-')?;
        ["git", "gi*", "g*", "g*t"]
            .contains(&program)
            .then(|| name.into())
    };
    let split = |word: &PossibleWord| {
        let name = match word {
            PossibleWord::Known(path) => behind(path).map(PossibleWord::Known),
            PossibleWord::Partly { pattern, is_value } => {
                behind(pattern).map(|pattern| PossibleWord::Partly {
                    pattern,
                    is_value: *is_value,
                })
            }
            PossibleWord::Any => None,
        };
        let git = PossibleWord::Known("git".into());
        name.map_or_else(|| vec![word.clone()], |name| vec![git, name])
    };
    let all: Vec<PossibleWord> = words.iter().flat_map(split).collect();
    if all.len() > words.len() {
        all
    } else {
        Vec::new()
    }
}

/// Whether an option makes git run something: `-c` before the subcommand, `rebase -x`, `grep -O`.
pub(super) fn git_runs_something(words: &[ShellWord]) -> bool {
    let (options, rest) = words.split_at(behind_git_options(words));
    let name = rest.first().and_then(ShellWord::literal).unwrap_or("");
    let is_setting = |word: &ShellWord| is_marked("-c", &literal_start(word));
    options.iter().any(is_setting) || has_running_option("git", name, &words[1..])
}

/// Programs that run no word, but may run a text of several words, or the value of an assignment: `make CC='…'`, `vim -c '!…'`.
pub(super) const TEXTS: &str = "\
    bind compgen complete crontab emacs fc gmake less make mapfile more mvim nano nvim psql readarray sqlite3 vi view vim";

/// Programs each of whose operands counts like a subcommand: `make clean deploy`.
pub(super) const TARGETS: &str =
    "ant bmake gmake gradle gradlew just make mvn mvnw ninja nox rake remake scons tox";

/// Names of variables whose value other programs run, or whose files, by their ends.
pub(super) const COMMAND_VARIABLES: &str = "\
    ASKPASS BASH_ENV BROWSER CC CMD COMMAND CXX DIFF EDITOR LD_AUDIT LD_PRELOAD LESS LESSCLOSE LESSOPEN LINKER MAKEFILES MAKEFLAGS \
    NODE_OPTIONS OPENER PAGER PERL5DB PERL5OPT PS4 PYTHONSTARTUP RSH RUBYOPT RUNNER SHELL SSH TAR_OPTIONS VISUAL WRAPPER";
