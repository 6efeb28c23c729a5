//! Programs that are known to take their arguments and their input as data.
//!
//! **Problem.** `sqlite3 db "$ARGUMENTS"` runs a shell for the argument `.shell id`, and so do hundreds of other programs in ways
//! of their own. A list of those that do can't be complete.
//!
//! **Decision.** The lists here are positive. A line into which a value is put is *listed* if every command in it is: then
//! an approval of its commands (`gh *`) covers it. Any other line is covered only by an approval of that very line.
//!
//! A command is listed if its program is, with one of the subcommands that are named, and without an option that would run
//! the value; or if it is a file that the author names. What a substitution or a variable of the shell yields may begin with
//! `-`, which only programs without any dangerous option take.

use super::programs::{base, runs};
use super::{Part, REFERENCE, Runs, Simple, Word};

/// Programs that run nothing, whatever their arguments are.
const ANYTHING: &str = "\
    [ arch b2sum basename cat cksum cmp column comm cp cut date df diff dir dirname du echo egrep \
    expand expr false fgrep file fmt fold grep head hexdump id join ln ls md5sum mkdir mv nl nproc \
    numfmt od paste printf pwd readlink realpath rev rm rmdir seq sha1sum sha224sum sha256sum \
    sha384sum sha512sum sleep stat strings sum tac tail tee test touch tr tree true tty type uname \
    unexpand uniq wc which whoami xxd";

/// A program that runs nothing if its options are right.
pub(crate) struct ListedProgram {
    pub(crate) name: &'static str,
    /// One of these comes first, separated by commas; any if there are none.
    pub(crate) subcommands: &'static str,
    /// Options whose value, or whose presence, makes it run something.
    pub(crate) never: &'static str,
    /// Whether its first operand is program text, which must be the author's.
    pub(crate) program_text: bool,
}

const fn listed(
    name: &'static str,
    subcommands: &'static str,
    never: &'static str,
) -> ListedProgram {
    ListedProgram {
        name,
        subcommands,
        never,
        program_text: false,
    }
}

/// The programs, by name.
pub(crate) const LISTED: &[ListedProgram] = &[
    listed("cargo", "info, search, test, tree", "--config -Z"),
    listed("curl", "", "--config -K --engine"),
    listed(
        "docker",
        "images, inspect, logs, port, ps, stats, top, version",
        "",
    ),
    listed("fd", "", "-x -X --exec --exec-batch"),
    listed("fdfind", "", "-x -X --exec --exec-batch"),
    listed("find", "", "-exec -execdir -ok -okdir"),
    listed(
        "gh",
        "api, cache list, gist list, gist view, issue close, issue comment, issue create, issue edit, issue list, \
         issue reopen, issue status, issue view, label list, pr checks, pr close, pr comment, pr create, pr diff, pr edit, \
         pr list, pr merge, pr ready, pr reopen, pr review, pr status, pr view, project item-list, project list, \
         project view, release list, release view, repo list, repo view, ruleset list, ruleset view, run list, run view, \
         search code, search commits, search issues, search prs, search repos, variable list, workflow list, workflow view",
        "--editor --web -e -w",
    ),
    listed(
        "git",
        "add, blame, branch, cat-file, check-ignore, checkout, cherry, commit, count-objects, describe, diff, diff-tree, \
         for-each-ref, grep, log, ls-files, ls-tree, merge-base, mv, name-rev, range-diff, reflog, reset, restore, rev-list, \
         rev-parse, rm, shortlog, show, show-branch, show-ref, stash list, stash show, status, switch, symbolic-ref, tag, \
         var, whatchanged",
        "--ext-diff --textconv --open-files-in-pager -O --output --exec --upload-pack --receive-pack --config-env \
         --show-signature --gpg-sign --edit-description --template --no-index --contents --exec-path --git-dir --work-tree",
    ),
    listed(
        "glab",
        "ci list, ci view, issue list, issue view, mr diff, mr list, mr view, release list, release view, repo view",
        "--web -w",
    ),
    ListedProgram {
        program_text: true,
        ..listed("jq", "", "--from-file -f -L")
    },
    listed(
        "kubectl",
        "api-resources, api-versions, cluster-info, describe, explain, get, logs, top, version",
        "--kubeconfig",
    ),
    listed(
        "npm",
        "explain, info, list, ls, outdated, search, show, view, why",
        "--prefix -C",
    ),
    listed("pip", "index versions, list, show", "--python"),
    listed("pip3", "index versions, list, show", "--python"),
    listed(
        "podman",
        "images, inspect, logs, port, ps, stats, top, version",
        "",
    ),
    listed("rg", "", "--pre --hostname-bin"),
    listed("sort", "", "--compress-program"),
    listed("wget", "", "--config --execute -e --use-askpass"),
];

/// Programs that run the command behind them, as it is.
const PASSERS: &str =
    "builtin command doas env exec ionice nice nohup setsid stdbuf sudo time timeout";

/// Shells, whose program text is read like the line that it stands in.
const SHELLS: &str = "ash bash dash ksh mksh sh zsh";

/// Interpreters that are given a file by name.
const FILE_RUNNERS: &str = "ash bash dash ksh mksh node nodejs perl php pypy python ruby sh zsh";

fn has(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|other| other == name)
}

/// The first command of a line that is not known to take values as data, by its program; `None` if all of them do.
pub(crate) fn unlisted(commands: &[Simple]) -> Option<String> {
    let unlisted = commands
        .iter()
        .find(|command| !command.words.is_empty() && !is_listed(&command.words, 0))?;
    let program = unlisted.words.first().and_then(Word::literal);
    Some(
        program
            .unwrap_or("a program that only the shell will know")
            .to_owned(),
    )
}

fn is_listed(words: &[Word], depth: usize) -> bool {
    const DEEPEST: usize = 8;
    let Some(first) = words.first() else {
        return true;
    };
    if is_own_file(first) {
        return true;
    }
    let Some(program) = first.literal().map(base) else {
        return false;
    };
    let program = program.as_str();
    match runs(words) {
        _ if depth == DEEPEST => false,
        Runs::Unclear => false,
        Runs::Command { at } => has(PASSERS, program) && is_listed(&words[at..], depth + 1),
        Runs::Code { until } => is_harmless_text(program, words, until, depth),
        Runs::File { at } => {
            let by_name = at > 0 && words[at - 1].literal() != Some("-m");
            let source = ["source", "."].contains(&program);
            by_name && (source || has(FILE_RUNNERS, stem(program))) && is_fixed(words.get(at))
        }
        Runs::Nothing => has(ANYTHING, program) || is_right(program, words),
    }
}

fn stem(program: &str) -> &str {
    program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.')
}

/// `./x`, `scripts/x`, `${CLAUDE_SKILL_DIR}/x`: a file that the author put there.
fn is_own_file(word: &Word) -> bool {
    match (word.literal(), word.parts()) {
        (Some(text), _) => text.contains('/') && !text.starts_with(['/', '~']),
        (
            None,
            [
                Part::Parameter { name, .. },
                Part::Literal { text, .. },
                rest @ ..,
            ],
        ) => {
            let fixed = rest.iter().all(|part| matches!(part, Part::Literal { .. }));
            name.starts_with(REFERENCE) && text.starts_with('/') && fixed
        }
        _ => false,
    }
}

/// Whether a word is the name of a file, and not a subcommand such as in `node inspect x`.
fn is_fixed(word: Option<&Word>) -> bool {
    let literal = word.and_then(Word::literal);
    literal.is_some_and(|text| text.contains(['/', '.']))
}

/// Whether program text in a line is known to take its own arguments as data.
fn is_harmless_text(program: &str, words: &[Word], until: usize, depth: usize) -> bool {
    let Some(code) = words.get(until).and_then(Word::literal) else {
        return false;
    };
    let name = stem(program);
    if has(SHELLS, name) {
        let line = super::parse(code);
        return line.is_ok_and(|line| {
            let mut commands = line.commands.iter();
            commands.all(|command| command.words.is_empty() || is_listed(&command.words, depth + 1))
        });
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => !["system", "|", "getline", "@", "ENVIRON"]
            .iter()
            .any(|sign| code.contains(sign)),
        "sed" | "gsed" => is_plain_sed(code),
        _ => false,
    }
}

/// One address with one harmless command, or one substitution: sed can run programs and write files.
fn is_plain_sed(code: &str) -> bool {
    let address =
        code.trim_start_matches(|letter: char| letter.is_ascii_digit() || ",$".contains(letter));
    if matches!(address, "p" | "d" | "q" | "=" | "!d" | "!p") {
        return true;
    }
    let Some(rest) = address.strip_prefix('s') else {
        return false;
    };
    let Some(sign) = rest.chars().next().filter(char::is_ascii_punctuation) else {
        return false;
    };
    let parts: Vec<&str> = rest.split(sign).collect();
    let flags = |flags: &str| {
        flags
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b"gpIi".contains(&byte))
    };
    sign != '\\' && parts.len() == 4 && flags(parts[3]) && !code.contains(['\\', '\n'])
}

/// Whether a program of the table has its subcommand, and no option that runs something.
fn is_right(program: &str, words: &[Word]) -> bool {
    let Some(entry) = LISTED.iter().find(|entry| entry.name == program) else {
        return false;
    };
    let Some(behind) = entry.behind_subcommand(words) else {
        return false;
    };
    if words
        .iter()
        .skip(1)
        .any(|word| entry.is_never(word) || is_dynamic(word))
    {
        return false;
    }
    !entry.program_text || has_own_text(&words[behind..])
}

impl ListedProgram {
    /// Where the arguments of a named subcommand begin.
    fn behind_subcommand(&self, words: &[Word]) -> Option<usize> {
        let mut at = 1;
        if self.name == "git" {
            while words.get(at).and_then(Word::literal) == Some("--no-pager") {
                at += 1;
            }
        }
        if self.subcommands.is_empty() {
            return Some(at);
        }
        let fits = |subcommand: &str| {
            let names = subcommand.split_ascii_whitespace();
            let count = names.clone().count();
            let given = words.get(at..at + count)?;
            let same = given.iter().map(Word::literal).eq(names.map(Some));
            same.then_some(at + count)
        };
        self.subcommands.split(',').find_map(fits)
    }

    /// Whether a word is, abbreviates or begins with an option that runs something.
    fn is_never(&self, word: &Word) -> bool {
        let first = match word.parts().first() {
            Some(Part::Literal { text, .. }) => text.as_str(),
            _ => return false,
        };
        let text = word.literal().unwrap_or(first);
        let name = text.split('=').next().unwrap_or_default();
        self.never.split_ascii_whitespace().any(|never| {
            if never.starts_with("--") || never.len() > 2 {
                let abbreviates = name.len() > 2 && never.starts_with(name);
                abbreviates || name == never
            } else {
                // Among other letters, too.
                let letters = name.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
                letters.is_some_and(|letters| letters.contains(&never[1..]))
            }
        })
    }
}

/// Whether a part of a word comes out of a substitution or a variable of the shell: it might begin with `-`.
fn is_dynamic(word: &Word) -> bool {
    word.parts().iter().any(|part| match part {
        Part::Parameter { name, .. } => !name.starts_with(REFERENCE),
        Part::Command { .. } | Part::Process => true,
        _ => false,
    })
}

/// Whether the first operand is the author's text. Options that take two words are passed over.
fn has_own_text(words: &[Word]) -> bool {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        match word.literal() {
            Some("--arg" | "--argjson" | "--slurpfile" | "--rawfile") => at += 3,
            Some("--indent") => at += 2,
            Some(text) if text.starts_with('-') => at += 1,
            Some(_) => return true,
            None => return false,
        }
    }
    false
}
