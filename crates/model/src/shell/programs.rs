//! Tables of programs: those that run their arguments, and those that change the shell.
//!
//! Unlike the grammar these tables can't be complete: any program can run its arguments. They contain the programs
//! whose purpose it is, and those that are commonly used to avoid `sh -c`.

use super::could_run_programs::git_runs_something;
use super::interpreters;
use super::{REFERENCE, SetVariable, ShellWord, SimpleCommand, UnsupportedSyntax, WordPart};

/// The arguments that a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunArguments {
    /// None that are known.
    Nothing,
    /// The words from `at` on are a separate command: `env A=1 git log`, `timeout 5 git log`.
    Command {
        /// The position of the inner program.
        at: usize,
    },
    /// Some of the words `1..=until` are program text: `sh -c '…'`, `awk '…'`. The words after them are its data.
    Code {
        /// The last word that can be program text.
        until: usize,
    },
    /// The word at `at` is the name of program text: `bash x.sh`, `. x.sh`, `python -m x`.
    File {
        /// The position of the name.
        at: usize,
    },
    /// Some words that can't be determined.
    Unclear,
}

/// A program whose arguments end with another command.
struct WrapperProgram {
    name: &'static str,
    /// Options without and with a value.
    flags: &'static str,
    values: &'static str,
    long_flags: &'static [&'static str],
    long_values: &'static [&'static str],
    /// The number of operands before the command.
    operands: usize,
    /// Whether `NAME=value` can precede it.
    assigns: bool,
}

const fn wrapper(name: &'static str, flags: &'static str, values: &'static str) -> WrapperProgram {
    WrapperProgram {
        name,
        flags,
        values,
        long_flags: &[],
        long_values: &[],
        operands: 0,
        assigns: false,
    }
}

const WRAPPERS: &[WrapperProgram] = &[
    WrapperProgram {
        long_flags: &["ignore-environment", "null"],
        long_values: &["unset", "chdir"],
        assigns: true,
        ..wrapper("env", "i0", "uC")
    },
    WrapperProgram {
        long_flags: &["non-interactive", "preserve-env", "set-home", "stdin"],
        long_values: &["user", "group", "prompt", "chdir"],
        assigns: true,
        ..wrapper("sudo", "nEHSkbAP", "ugpCDR")
    },
    wrapper("doas", "nL", "uC"),
    wrapper("nohup", "", ""),
    WrapperProgram {
        long_values: &["adjustment"],
        ..wrapper("nice", "0123456789", "n")
    },
    wrapper("ionice", "t", "cn"),
    WrapperProgram {
        long_flags: &["foreground", "preserve-status", "verbose"],
        long_values: &["kill-after", "signal"],
        operands: 1,
        ..wrapper("timeout", "v", "ks")
    },
    wrapper("stdbuf", "", "ioe"),
    wrapper("setsid", "cfw", ""),
    wrapper("time", "pvqa", "fo"),
    wrapper("command", "p", ""),
    wrapper("builtin", "", ""),
    wrapper("exec", "cl", "a"),
    WrapperProgram {
        // The value of `--replace` and `--max-lines` is optional, so that it is never the next word.
        long_flags: &[
            "null",
            "no-run-if-empty",
            "verbose",
            "exit",
            "replace",
            "max-lines",
        ],
        long_values: &["max-args", "max-procs", "delimiter"],
        ..wrapper("xargs", "0rtxop", "ILnPsdE")
    },
    wrapper("npx", "yq", "p"),
    wrapper("pnpx", "", ""),
    wrapper("bunx", "", ""),
    wrapper("uvx", "", "p"),
    wrapper("busybox", "", ""),
    wrapper("toybox", "", ""),
    WrapperProgram {
        operands: 1,
        ..wrapper("chroot", "", "")
    },
];

/// Programs that run any of their words, or pass them to a shell.
const ALL_CODE: &[&str] = &["eval", "trap", "ssh", "watch", "parallel", "su", "script"];

/// Programs that run some of their words, with too many ways to determine which.
const UNCLEAR: &[&str] = &[
    "at",
    "batch",
    "bind",
    "compgen",
    "complete",
    "coproc",
    "crontab",
    "deno",
    "emacs",
    "entr",
    "fc",
    "flock",
    "gdb",
    "gmake",
    "ltrace",
    "make",
    "mapfile",
    "nsenter",
    "nvim",
    "pipx",
    "readarray",
    "runuser",
    "screen",
    "strace",
    "systemd-run",
    "tmux",
    "unshare",
    "vi",
    "vim",
];

/// Subcommands with which containers run something.
const CONTAINER_RUNNERS: &[&str] = &["exec", "run", "create", "build", "compose"];

/// (program, words or prefixes of options): only with one of these does it run an argument. The options of git are in
/// [`super::could_run_programs`].
const SOMETIMES: &[(&str, &[&str])] = &[
    ("ack", &["--pager"]),
    ("ag", &["--pager"]),
    ("claude", &["mcp", "--mcp-config", "--settings"]),
    ("dpkg", &["--pre-invoke", "--post-invoke"]),
    ("fd", &["-x", "-X", "--exec"]),
    ("fdfind", &["-x", "-X", "--exec"]),
    (
        "git",
        &[
            "bisect",
            "foreach",
            "filter-branch",
            "difftool",
            "mergetool",
            "clone",
            "instaweb",
            "remote-ext",
            "send-email",
            "web--browse",
        ],
    ),
    (
        "tar",
        &[
            "--to-command",
            "--checkpoint-action",
            "-I",
            "--use-compress-program",
            "--rsh-command",
            "-F",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
        ],
    ),
    ("jobs", &["-x"]),
    ("docker", CONTAINER_RUNNERS),
    ("podman", CONTAINER_RUNNERS),
    ("nerdctl", CONTAINER_RUNNERS),
    ("kubectl", &["exec", "run", "debug"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("man", &["-P", "--pager", "-H"]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("uv", &["run", "tool"]),
    ("cargo", &["--config"]),
    ("rg", &["--pre"]),
    ("sort", &["--compress-program"]),
    ("split", &["--filter"]),
    ("wget", &["--use-askpass"]),
    ("yq", &["--security-enable-system-operator"]),
    ("zip", &["-TT", "--unzip-command"]),
];

/// Builtins that change the shell that later commands run in.
const CHANGES: &[&str] = &[
    "export",
    "declare",
    "typeset",
    "readonly",
    "local",
    "unset",
    "set",
    "cd",
    "pushd",
    "popd",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "eval",
    "source",
    ".",
    "trap",
    "umask",
    "ulimit",
    "exec",
    "shift",
    "builtin",
    "command",
];

pub(crate) fn runs(words: &[ShellWord]) -> RunArguments {
    let Some(first) = words.first() else {
        return RunArguments::Nothing;
    };
    let Some(program) = first.literal().map(base) else {
        return RunArguments::Unclear;
    };
    let program = program.as_str();
    let last = words.len() - 1;
    if program == "source" || program == "." {
        return sourced(words);
    }
    if ALL_CODE.contains(&program) {
        return RunArguments::Code { until: last };
    }
    if UNCLEAR.contains(&program) {
        return RunArguments::Unclear;
    }
    if program == "find" {
        return found(words);
    }
    if let Some((_, marks)) = SOMETIMES.iter().find(|(name, _)| *name == program) {
        let is_marked_word = |word: &ShellWord| {
            marks.iter().any(|mark| match word.literal() {
                Some(text) => is_marked(mark, text),
                None => could_be_marked(mark, &literal_start(word)),
            })
        };
        // The first word of tar is options, even without a `-`.
        let letters = words.get(1).and_then(ShellWord::literal);
        let letters = letters.filter(|text| program == "tar" && !text.starts_with('-'));
        let letters = letters.map(|text| format!("-{text}"));
        let is_unclear = words[1..].iter().any(is_marked_word)
            || letters.is_some_and(|text| marks.iter().any(|mark| is_marked(mark, &text)))
            || (program == "git" && git_runs_something(words));
        return match is_unclear {
            true => RunArguments::Unclear,
            false => RunArguments::Nothing,
        };
    }
    if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == program) {
        return wrapped(wrapper, words);
    }
    interpreters::runs(program, words).unwrap_or(RunArguments::Nothing)
}

/// Whether a program runs the command that its words end with.
pub(super) fn is_wrapper(name: &str) -> bool {
    WRAPPERS.iter().any(|wrapper| wrapper.name == name)
}

/// Whether a program runs some of its words, with too many ways to determine which.
pub(super) fn is_runner(name: &str) -> bool {
    UNCLEAR.contains(&name)
}

/// Whether a program runs a word only with one of the options or subcommands in a table.
pub(super) fn is_sometimes(name: &str) -> bool {
    SOMETIMES.iter().any(|(known, _)| *known == name)
}

/// Whether a program with any arguments can run other programs or program text: a shell, an interpreter, a wrapper such as `timeout`, or
/// one with a subcommand for it. A program that has options for it, such as `tar` and git, does not count: a line with such an option is
/// recognised.
#[must_use]
pub fn can_run_programs(program: &str) -> bool {
    let name = base(program);
    let is_subcommand = |mark: &&str| !mark.starts_with('-');
    let by_subcommand =
        |(known, marks): &(&str, &[&str])| *known == name && marks.iter().all(is_subcommand);
    let has_options = name == "git";
    ["source", "."].contains(&name.as_str())
        || runs_words(program)
        || ALL_CODE.contains(&name.as_str())
        || (!has_options && SOMETIMES.iter().any(by_subcommand))
        || interpreters::is_interpreter(&name)
}

/// Whether a program runs its words as a command, whatever they are.
fn runs_words(program: &str) -> bool {
    let name = base(program);
    let name = name.as_str();
    name == "find" || UNCLEAR.contains(&name) || WRAPPERS.iter().any(|wrapper| wrapper.name == name)
}

/// Whether a word is a marked one: a subcommand, or an option in any accepted spelling. A long option can be abbreviated, as in
/// `--upl=x` for `--upload-pack`, and a short one can be among others, as in `-avze`.
pub(super) fn is_marked(mark: &str, text: &str) -> bool {
    if mark.starts_with("--") {
        let name = text.split('=').next().unwrap_or_default();
        let is_cut = name.len() > 2 && name.starts_with("--") && mark.starts_with(name);
        return is_cut || text.starts_with(mark);
    }
    match (mark.strip_prefix('-'), text.strip_prefix('-')) {
        (Some(letter), Some(letters)) => !letters.starts_with('-') && letters.contains(letter),
        (None, _) => text == mark,
        _ => false,
    }
}

/// Whether an option that begins with this text could be a marked one: `--exec=$1`, `--exe$1`, `-$1`.
fn could_be_marked(mark: &str, start: &str) -> bool {
    if !start.starts_with('-') || !mark.starts_with('-') {
        return false;
    }
    match (mark.starts_with("--"), start.starts_with("--")) {
        (true, true) => is_marked(mark, start) || mark.starts_with(start),
        // Any letter can follow those of a group.
        (false, false) => true,
        (true, false) => start == "-",
        (false, true) => false,
    }
}

/// The literal text at the start of a word.
pub(super) fn literal_start(word: &ShellWord) -> String {
    let texts = word.parts().iter().map_while(|part| match part {
        WordPart::Literal { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// The name without its folder: `/usr/bin/env` is `env`, and so is `ENV` on case-insensitive file systems.
pub(super) fn base(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or_default();
    let name = name.to_ascii_lowercase();
    match name.strip_suffix(".exe") {
        Some(stem) => stem.to_owned(),
        None => name,
    }
}

/// `. x`, `source -- x`: a file. A first word that is known only at run time can be an option, or no word at all.
fn sourced(words: &[ShellWord]) -> RunArguments {
    let at = match words.get(1).and_then(ShellWord::literal) {
        Some("--") => 2,
        _ => 1,
    };
    let is_file = |word: &ShellWord| {
        is_one_word(word) && (at == 2 || word.literal().is_none_or(|text| !text.starts_with('-')))
    };
    match words.get(at) {
        Some(word) if !is_file(word) => RunArguments::Code {
            until: words.len() - 1,
        },
        _ => RunArguments::File { at },
    }
}

fn found(words: &[ShellWord]) -> RunArguments {
    // `-exe$0` can be `-exec`.
    let is_open =
        |word: &ShellWord| word.literal().is_none() && literal_start(word).starts_with('-');
    if words.iter().any(is_open) {
        return RunArguments::Unclear;
    }
    let starts = |word: &ShellWord| {
        matches!(
            word.literal(),
            Some("-exec" | "-execdir" | "-ok" | "-okdir")
        )
    };
    let mut places = (1..words.len()).filter(|at| starts(&words[*at]));
    match (places.next(), places.next()) {
        (None, _) => RunArguments::Nothing,
        (Some(at), None) if at + 1 < words.len() => RunArguments::Command { at: at + 1 },
        _ => RunArguments::Unclear,
    }
}

fn wrapped(wrapper: &WrapperProgram, words: &[ShellWord]) -> RunArguments {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else {
            break;
        };
        if text == "--" {
            at += 1;
            break;
        }
        if wrapper.name == "command" && matches!(text, "-v" | "-V" | "-pv" | "-pV") {
            return RunArguments::Nothing;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        match option(wrapper, text) {
            Some(2) if words.get(at + 1).is_some_and(|word| !is_one_word(word)) => {
                return RunArguments::Unclear;
            }
            Some(length) => at += length,
            None => return RunArguments::Unclear,
        }
    }
    while wrapper.assigns && words.get(at).is_some_and(assigns) {
        at += 1;
    }
    for _ in 0..wrapper.operands {
        if words.get(at).is_some_and(|word| !is_one_word(word)) {
            return RunArguments::Unclear;
        }
        at += 1;
    }
    match words.get(at) {
        None => RunArguments::Nothing,
        Some(word) if word.literal().is_some_and(|text| text.starts_with('-')) => {
            RunArguments::Unclear
        }
        Some(_) => RunArguments::Command { at },
    }
}

/// Whether a word can't become several or none: its text is known, or it is one value in double quotes.
pub(super) fn is_one_word(word: &ShellWord) -> bool {
    let is_quoted = |part: &WordPart| match part {
        WordPart::Literal { .. } | WordPart::Process | WordPart::Tilde => true,
        WordPart::Parameter { name, quoted, .. } => *quoted && name != "@",
        WordPart::Command { quoted } => *quoted,
        _ => false,
    };
    word.parts().iter().all(is_quoted)
}

/// Whether a word of a wrapper, in front of its command, can make another word the command at run time: by becoming several words or none, as
/// `$x` in `env A=$x`, or an option, as in `timeout "$x" 5`.
pub(crate) fn moves_command(words: &[ShellWord]) -> bool {
    let is_find = words
        .first()
        .and_then(ShellWord::literal)
        .is_some_and(|program| base(program) == "find");
    let is_after_option = |at: usize| literal_start(&words[at - 1]).starts_with('-');
    (1..words.len()).any(|at| {
        let word = &words[at];
        let is_open = word.literal().is_none() && literal_start(word).is_empty();
        word.parts().iter().any(interpreters::splits) || is_open && !is_find && !is_after_option(at)
    })
}

/// How many words an option of a wrapper takes, if it is known.
fn option(wrapper: &WrapperProgram, text: &str) -> Option<usize> {
    if let Some(long) = text.strip_prefix("--") {
        if let Some((name, _)) = long.split_once('=') {
            let known = wrapper.long_values.contains(&name) || wrapper.long_flags.contains(&name);
            return known.then_some(1);
        }
        if wrapper.long_flags.contains(&long) {
            return Some(1);
        }
        return wrapper.long_values.contains(&long).then_some(2);
    }
    let mut letters = text[1..].chars();
    while let Some(letter) = letters.next() {
        if wrapper.values.contains(letter) {
            return Some(if letters.as_str().is_empty() { 2 } else { 1 });
        }
        if !wrapper.flags.contains(letter) {
            return None;
        }
    }
    Some(1)
}

/// Whether a word is `NAME=…` for a program that accepts such.
fn assigns(word: &ShellWord) -> bool {
    let Some(WordPart::Literal { text, .. }) = word.parts().first() else {
        return false;
    };
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

pub(super) fn changes_shell(command: &SimpleCommand) -> bool {
    if command.words.is_empty() {
        return !command.assignments.is_empty();
    }
    let Some(program) = command.program() else {
        return true;
    };
    let prints = program == "printf"
        && command.words[1..]
            .iter()
            .any(|word| word.literal().is_none_or(|text| text.starts_with("-v")));
    CHANGES.contains(&program) || prints
}

/// Builtins that export names, or create names that can be exported.
const EXPORTERS: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// Builtins that assign values to names.
const FILLERS: &[&str] = &["getopts", "mapfile", "read", "readarray", "unset"];

/// Every variable that a command sets, in any way.
pub(super) fn sets(command: &SimpleCommand) -> Vec<SetVariable<'_>> {
    let alone = command.words.is_empty();
    let mut sets: Vec<SetVariable<'_>> = command
        .assignments
        .iter()
        .map(|assignment| SetVariable {
            name: Some(&assignment.name),
            value: assignment.value.literal(),
            exported: !alone,
        })
        .collect();
    let mut words = command.words.as_slice();
    while let Some(program) = words.first().and_then(ShellWord::literal).map(base) {
        let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == program);
        if wrapper.is_some_and(|wrapper| wrapper.assigns) {
            let until = match runs(words) {
                RunArguments::Command { at } => at,
                _ => words.len(),
            };
            let given = words.get(1..until).unwrap_or_default();
            sets.extend(given.iter().filter(|word| assigns(word)).map(exported));
        } else if EXPORTERS.contains(&program.as_str()) {
            let names = words[1..].iter().filter(|word| !is_option(word));
            sets.extend(names.map(exported));
        } else if FILLERS.contains(&program.as_str()) {
            let names = words[1..].iter().filter(|word| !is_option(word));
            sets.extend(names.map(|word| SetVariable {
                name: word.literal(),
                value: None,
                exported: false,
            }));
        } else if program == "printf" {
            sets.extend(printed(&words[1..]));
        }
        match runs(words) {
            RunArguments::Command { at } if wrapper.is_some() && at > 0 => words = &words[at..],
            _ => break,
        }
    }
    sets
}

fn is_option(word: &ShellWord) -> bool {
    word.literal()
        .is_some_and(|text| text.starts_with(['-', '+']))
}

/// `NAME` or `NAME=value` as an argument.
fn exported(word: &ShellWord) -> SetVariable<'_> {
    let first = match word.parts().first() {
        Some(WordPart::Literal { text, .. }) => Some(text.as_str()),
        _ => None,
    };
    let (name, value) = match word.literal() {
        Some(text) => match text.split_once('=') {
            Some((name, value)) => (Some(name), Some(value)),
            // The value it was set to before.
            None => (Some(text), None),
        },
        None => (first.and_then(|text| Some(text.split_once('=')?.0)), None),
    };
    SetVariable {
        name: name.map(|name| name.trim_end_matches('+')),
        value,
        exported: true,
    }
}

/// The variable of `printf -v NAME`.
fn printed(words: &[ShellWord]) -> Option<SetVariable<'_>> {
    let first = words.first()?.literal()?;
    let name = match first.strip_prefix("-v")? {
        "" => words.get(1)?.literal(),
        name => Some(name),
    };
    Some(SetVariable {
        name,
        value: None,
        exported: false,
    })
}

/// Builtins that change the meaning of later words.
const ALIASES: &[&str] = &["alias", "unalias", "hash", "enable", "shopt"];

/// Builtins of bash that evaluate a name as `name[expression]`, where the expression can run commands.
const NAME_READERS: &[&str] = &[
    "declare",
    "export",
    "getopts",
    "local",
    "mapfile",
    "read",
    "readarray",
    "readonly",
    "typeset",
    "unset",
];

/// Whether a builtin would run code that does not look like code, such as `unset 'a[$(id)]'`.
pub(super) fn hides_code(words: &[ShellWord], references: bool) -> Option<UnsupportedSyntax> {
    let program = words.first().and_then(ShellWord::literal)?;
    let rest = &words[1..];
    match program {
        "command" | "builtin" | "time" | "exec" => match runs(words) {
            RunArguments::Command { at } => hides_code(&words[at..], references),
            _ => None,
        },
        "let" => Some(UnsupportedSyntax::Arithmetic),
        "set" => traces(rest).then_some(UnsupportedSyntax::Alias),
        "test" | "[" => tests_oddly(rest, references).then_some(UnsupportedSyntax::Test),
        "printf" => {
            let first = rest.first()?;
            let known = starts_with_text(first);
            let sets = first.literal().is_some_and(|text| text.starts_with("-v"));
            let odd = !known || (sets && rest.iter().take(2).any(|word| !is_plain_name(word)));
            odd.then_some(UnsupportedSyntax::Arithmetic)
        }
        "wait" => {
            let odd = |word: &ShellWord| match word.literal() {
                Some(text) => text.starts_with('-'),
                None => !matches!(word.parts(), [WordPart::Parameter { name, .. }] if name == "!"),
            };
            rest.iter()
                .any(odd)
                .then_some(UnsupportedSyntax::Arithmetic)
        }
        name if ALIASES.contains(&name) => Some(UnsupportedSyntax::Alias),
        name if NAME_READERS.contains(&name) => {
            let odd = rest.iter().any(|word| !is_plain_name(word));
            odd.then_some(UnsupportedSyntax::Arithmetic)
        }
        _ => None,
    }
}

fn is_reference(name: &str) -> bool {
    name.starts_with(REFERENCE)
}

fn starts_with_text(word: &ShellWord) -> bool {
    matches!(word.parts().first(), Some(WordPart::Literal { text, .. }) if !text.is_empty())
}

/// A name or `name=value` without a subscript, or an option that does not enable arithmetic.
fn is_plain_name(word: &ShellWord) -> bool {
    let Some(WordPart::Literal { text, .. }) = word.parts().first() else {
        return false;
    };
    let text = word.literal().unwrap_or(text);
    if let Some(letters) = text.strip_prefix(['-', '+']) {
        return word.literal().is_some() && !letters.contains(['i', 'n', 'a', 'A', '[']);
    }
    let name = text.split('=').next().unwrap_or_default();
    !text.is_empty() && !name.contains('[')
}

/// `set -x` expands `PS4`, which can contain a command; `set -k` turns arguments into assignments.
fn traces(words: &[ShellWord]) -> bool {
    for word in words {
        match word.literal() {
            None => return true,
            Some("--" | "-") => return false,
            Some("xtrace" | "keyword") => return true,
            Some(text) if text.starts_with(['-', '+']) && text.contains(['x', 'k']) => return true,
            Some(_) => {}
        }
    }
    false
}

/// `[ -v 'a[$(id)]' ]` runs `id`, so an operator must not come from a value.
fn tests_oddly(words: &[ShellWord], references: bool) -> bool {
    let operands = words
        .iter()
        .filter(|word| word.literal() != Some("]"))
        .count();
    let first_known = words.first().is_none_or(|word| word.literal().is_some());
    let splits = |word: &ShellWord| {
        word.parts().iter().any(|part| match part {
            WordPart::Literal { .. } | WordPart::Arithmetic => false,
            WordPart::Parameter { name, quoted, .. } => {
                let one_word = name == "?" || name == "#" || (references && is_reference(name));
                !quoted && !one_word
            }
            WordPart::Command { quoted } => !quoted,
            _ => true,
        })
    };
    (operands == 2 && !first_known)
        || words.iter().any(|word| word.literal() == Some("-v"))
        || words.iter().any(splits)
}
