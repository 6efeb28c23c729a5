//! Where an interpreter finds its program text.
//!
//! **Problem.** `bash -c "echo $1"` runs the value of `$1`, and so do `bash -c -e "echo $1"`, `bash -oc pipefail "echo $1"` and
//! `node -e 1 --eval="$1"`. A reader that expects the text behind the option is wrong about each of them.
//!
//! **Decision.** Words are read as the interpreter reads them, with tables of the options that are known. Whatever is not in a table leaves the
//! position open, and then every word can be program text: a word is data only behind program text whose position is certain.
//!
//! ```text
//! bash -ceuo pipefail 'x' a   →  words up to 3 can be code; `a` is data
//! bash --unknown -c 'x' a     →  every word can be code
//! perl -e 'x' -M"$1" a        →  every word can be code: the option contains a value
//! ```

use super::programs::{is_one_word, literal_start};
use super::{REFERENCE, RunArguments, ShellWord, WordPart};

/// Where a shell finds its code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodePlace {
    /// The word at this position is the code, and the words behind it are data.
    Certain(usize),
    /// The input is the code; the words from this position on are data.
    Input(usize),
    /// The word at this position is the name of a file with the code, and the words behind it are data.
    File(usize),
    /// Any word can be code.
    Unclear,
}

/// Shells that read options as POSIX describes it: the code is the first operand behind all of them.
const POSIX_SHELLS: &[&str] = &[
    "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "rksh", "mksh", "lksh", "oksh", "yash",
];

/// Letters without a value in all of these shells, besides `c`, `s`, `o` and `O`.
const SHELL_FLAGS: &str = "aCefhilmnuvx";

/// Letters without a value in some of them.
const MORE_SHELL_FLAGS: &[(&str, &str)] = &[
    ("sh", "bEp"),
    ("bash", "bkprtBDEHIPT"),
    ("rbash", "bkprtBDEHIPT"),
    ("dash", "bpqEIV"),
    ("ash", "bpqEIV"),
];

/// Long options of bash, which also accepts them with one dash; those with a value are not among them.
const BASH_FLAGS: &[&str] = &[
    "debug",
    "debugger",
    "help",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "restricted",
    "verbose",
    "version",
];

const BASH_VALUES: &[&str] = &["init-file", "rcfile"];

/// Where a POSIX shell finds its code; the first of the words is the shell.
///
/// Every shell takes the first operand behind all options, wherever the `-c` is: `bash -c -e 'x'`, `bash -oc pipefail 'x'`.
pub(super) fn shell_code(words: &[ShellWord]) -> CodePlace {
    ShellReader::read(words).unwrap_or(CodePlace::Unclear)
}

struct ShellReader<'w> {
    name: &'w str,
    words: &'w [ShellWord],
    at: usize,
    has_code: bool,
    reads: bool,
    has_letters: bool,
}

impl<'w> ShellReader<'w> {
    /// Nothing if an option is not known.
    fn read(words: &'w [ShellWord]) -> Option<CodePlace> {
        let program = words.first()?.literal()?;
        let mut reader = Self {
            name: stem(program.rsplit('/').next().unwrap_or(program)),
            words,
            at: 1,
            has_code: false,
            reads: false,
            has_letters: false,
        };
        let is_ended = reader.options()?;
        let at = reader.at;
        let operand = words.get(at);
        let is_sure = |word: &ShellWord| is_one_word(word) && (is_ended || is_operand(word));
        match operand {
            // A value behind `--` is data even if it is several words, or none.
            _ if reader.reads && !reader.has_code && is_ended => Some(CodePlace::Input(at)),
            Some(word) if !is_sure(word) => None,
            None if reader.has_code => None,
            Some(_) if reader.has_code => Some(CodePlace::Certain(at)),
            Some(_) if !reader.reads => Some(CodePlace::File(at)),
            _ => Some(CodePlace::Input(at)),
        }
    }

    /// Reads the options; whether a `--` ended them.
    fn options(&mut self) -> Option<bool> {
        while let Some(text) = self.words.get(self.at).and_then(ShellWord::literal) {
            let Some(letters) = text.strip_prefix(['-', '+']) else {
                return Some(false);
            };
            self.at += 1;
            match text {
                "-" | "--" => return Some(true),
                _ if self.long(letters.strip_prefix('-').unwrap_or(letters))? => {
                    // A shell without long options treats `-norc` as letters.
                    let is_one_dash = text.starts_with('-') && !letters.starts_with('-');
                    if self.has_letters || text.starts_with('+') || is_one_dash {
                        return None;
                    }
                }
                _ => self.letters(letters)?,
            }
        }
        Some(false)
    }

    /// Whether it is a long option; its value is skipped.
    fn long(&mut self, name: &str) -> Option<bool> {
        if BASH_VALUES.contains(&name) {
            self.value()?;
            return Some(true);
        }
        Some(BASH_FLAGS.contains(&name))
    }

    fn letters(&mut self, letters: &str) -> Option<()> {
        let more = MORE_SHELL_FLAGS.iter().find(|(name, _)| *name == self.name);
        let more = more.map_or("", |(_, more)| more);
        let takes_next = ["bash", "rbash", "dash", "ash"].contains(&self.name);
        self.has_letters = true;
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            match letter {
                'c' => self.has_code = true,
                's' => self.reads = true,
                // Others take what follows in the word as the value. No option has a name of one letter, so that they fail then.
                'o' if takes_next || rest.as_str().len() <= 1 => self.value()?,
                'O' if self.name.ends_with("bash") => self.value()?,
                _ if SHELL_FLAGS.contains(letter) || more.contains(letter) => {}
                _ => return None,
            }
        }
        (!letters.is_empty()).then_some(())
    }

    /// Skips the next word, which is the value of an option.
    fn value(&mut self) -> Option<()> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        (is_one_word(word) && is_operand(word)).then_some(())
    }
}

/// Whether a word is not an option, whatever it is at run time: its known text begins with something else.
fn is_operand(word: &ShellWord) -> bool {
    let is_tilde = word.parts().first() == Some(&WordPart::Tilde);
    let start = literal_start(word);
    let is_known = word.literal().is_some() || !start.is_empty() || is_tilde;
    is_known && !start.starts_with(['-', '+']) && !word.parts().iter().any(splits)
}

/// Whether the part is a value that a shell splits into words, so that a later one can be anything. Metier's values are not split.
pub(super) fn splits(part: &WordPart) -> bool {
    match part {
        WordPart::Parameter { name, quoted, .. } => {
            name == "@" || !quoted && !name.starts_with(REFERENCE)
        }
        WordPart::Command { quoted } => !quoted,
        _ => false,
    }
}

/// A program that runs program text: from an option, a file, or (with [`Habit::BareText`]) its first operand. Options that are not listed
/// leave the position of the text open.
struct Interpreter {
    names: &'static [&'static str],
    /// Letters of options whose value is program text.
    code: &'static str,
    long_code: &'static [&'static str],
    /// Letters of options whose value names program text.
    files: &'static str,
    long_files: &'static [&'static str],
    /// Letters of options with another value, in the same word or the next.
    values: &'static str,
    long_values: &'static [&'static str],
    /// Letters of options whose optional value is the rest of the word.
    rest: &'static str,
    /// Letters of options without a value.
    flags: &'static str,
    long_flags: &'static [&'static str],
    habits: &'static [Habit],
}

/// How an interpreter differs from others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Without an option for it, the first operand is program text.
    BareText,
    /// Program text ends the options.
    CodeEnds,
    /// The first operand names a file that is run, even behind program text.
    FileToo,
    /// Options can follow operands.
    Permutes,
    /// A letter has its value in the next word, and letters have no groups.
    Separate,
    /// A first operand without `/` and `.` can be a subcommand.
    Subcommands,
    /// With `-n` and `-p`, each operand is opened as a file, and `id |` as a program.
    OpensOperands,
}

const BASIC: Interpreter = Interpreter {
    names: &[],
    code: "",
    long_code: &[],
    files: "",
    long_files: &[],
    values: "",
    long_values: &[],
    rest: "",
    flags: "",
    long_flags: &[],
    habits: &[],
};

/// Whether `sed -i` takes the next word: BSD's does.
const SED_FLAGS: (&str, &str) = match cfg!(target_vendor = "apple") {
    true => ("", "nEru"),
    false => ("i", "nErsuz"),
};

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["fish"],
        code: "cC",
        long_code: &["command", "init-command"],
        flags: "hilnNPv",
        values: "dDfop",
        ..BASIC
    },
    Interpreter {
        names: &["csh", "tcsh"],
        code: "c",
        flags: "defimnqstvVxX",
        habits: &[Habit::Separate],
        ..BASIC
    },
    Interpreter {
        names: &["python", "pypy"],
        code: "c",
        files: "m",
        values: "WXQ",
        long_values: &["check-hash-based-pycs"],
        flags: "bBdEiIOPqRsStuvx",
        habits: &[Habit::CodeEnds],
        ..BASIC
    },
    Interpreter {
        names: &["perl"],
        code: "eE",
        values: "I",
        rest: "0CdDFilmMVx",
        flags: "acfnpSStTuUvwWX",
        habits: &[Habit::OpensOperands],
        ..BASIC
    },
    Interpreter {
        names: &["ruby"],
        code: "e",
        values: "CEIr",
        rest: "0FiKTWx",
        flags: "acdhlnpSUvwy",
        ..BASIC
    },
    Interpreter {
        names: &["node", "nodejs", "bun", "tsx"],
        code: "ep",
        long_code: &["eval", "print"],
        values: "Cr",
        long_values: &[
            "conditions",
            "env-file",
            "experimental-loader",
            "import",
            "loader",
            "require",
        ],
        flags: "ci",
        long_flags: &[
            "check",
            "enable-source-maps",
            "experimental-strip-types",
            "interactive",
            "no-deprecation",
            "no-warnings",
            "pending-deprecation",
            "preserve-symlinks",
            "throw-deprecation",
            "trace-deprecation",
            "trace-uncaught",
            "trace-warnings",
        ],
        habits: &[Habit::Separate, Habit::Subcommands],
        ..BASIC
    },
    Interpreter {
        names: &["php"],
        code: "BErR",
        long_code: &["process-begin", "process-code", "process-end", "run"],
        files: "Ff",
        long_files: &["file", "process-file"],
        values: "cdz",
        long_values: &["define", "php-ini", "zend-extension"],
        flags: "aCeHnq",
        long_flags: &["interactive", "no-header", "no-php-ini"],
        ..BASIC
    },
    Interpreter {
        names: &["lua", "luajit"],
        code: "e",
        values: "l",
        flags: "EivW",
        habits: &[Habit::FileToo],
        ..BASIC
    },
    Interpreter {
        names: &["rscript"],
        code: "e",
        long_flags: &["no-restore", "no-save", "slave", "vanilla", "verbose"],
        habits: &[Habit::Separate],
        ..BASIC
    },
    Interpreter {
        names: &["osascript"],
        code: "e",
        values: "ls",
        flags: "i",
        ..BASIC
    },
    Interpreter {
        names: &["tclsh", "expect"],
        code: "c",
        files: "f",
        flags: "dinNv",
        habits: &[Habit::FileToo],
        ..BASIC
    },
    // These join all words behind an option to program text.
    Interpreter {
        names: &["pwsh", "powershell", "cmd"],
        ..BASIC
    },
    Interpreter {
        names: &["awk", "gawk", "mawk", "nawk"],
        code: "e",
        files: "f",
        values: "Fv",
        habits: &[Habit::BareText],
        ..BASIC
    },
    Interpreter {
        names: &["sed", "gsed"],
        code: "e",
        long_code: &["expression"],
        files: "f",
        long_files: &["file"],
        long_values: &["line-length"],
        rest: SED_FLAGS.0,
        flags: SED_FLAGS.1,
        long_flags: &[
            "debug",
            "follow-symlinks",
            "in-place",
            "null-data",
            "posix",
            "quiet",
            "regexp-extended",
            "sandbox",
            "separate",
            "silent",
            "unbuffered",
            "zero-terminated",
        ],
        habits: &[Habit::BareText, Habit::Permutes],
        ..BASIC
    },
];

/// The name of a program without its version: `python3.12` is `python`.
fn stem(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

fn interpreter(name: &str) -> Option<&'static Interpreter> {
    let stem = stem(name);
    INTERPRETERS
        .iter()
        .find(|language| language.names.contains(&stem))
}

/// Whether a program of this name runs program text.
pub(super) fn is_interpreter(name: &str) -> bool {
    POSIX_SHELLS.contains(&stem(name)) || interpreter(name).is_some()
}

/// What an interpreter runs of its words; `None` for other programs.
pub(super) fn runs(name: &str, words: &[ShellWord]) -> Option<RunArguments> {
    let is_shell = POSIX_SHELLS.contains(&stem(name));
    let language = interpreter(name);
    if !is_shell && language.is_none() {
        return None;
    }
    if is_question(words) {
        return Some(RunArguments::Nothing);
    }
    if words.len() == 1 {
        return Some(RunArguments::Unclear);
    }
    let runs = match language {
        Some(language) => TextReader::new(language, words).read(),
        None => shell(words),
    };
    let until = words.len() - 1;
    Some(runs.unwrap_or(RunArguments::Code { until }))
}

fn shell(words: &[ShellWord]) -> Option<RunArguments> {
    match shell_code(words) {
        CodePlace::Certain(at) => Some(RunArguments::Code { until: at }),
        CodePlace::File(at) => Some(RunArguments::File { at }),
        CodePlace::Input(at) if at < words.len() => Some(RunArguments::Code { until: at - 1 }),
        CodePlace::Input(_) => Some(RunArguments::Unclear),
        CodePlace::Unclear => None,
    }
}

/// `python --version` runs nothing; `python` alone runs its input.
fn is_question(words: &[ShellWord]) -> bool {
    let asks = |word: &ShellWord| matches!(word.literal(), Some("--version" | "--help" | "-V"));
    words.len() > 1 && words[1..].iter().all(asks)
}

/// Reads the words of an interpreter that is not a POSIX shell.
struct TextReader<'w> {
    language: &'static Interpreter,
    words: &'w [ShellWord],
    at: usize,
    /// The last word that is an option, its value, or program text.
    until: usize,
    has_code: bool,
    /// The file that the last option names.
    file: Option<usize>,
}

impl<'w> TextReader<'w> {
    fn new(language: &'static Interpreter, words: &'w [ShellWord]) -> Self {
        Self {
            language,
            words,
            at: 1,
            until: 0,
            has_code: false,
            file: None,
        }
    }

    fn has(&self, habit: Habit) -> bool {
        self.language.habits.contains(&habit)
    }

    /// Whether the first operand is program text, or names it.
    fn takes_operand(&self) -> bool {
        !self.has_code || self.has(Habit::FileToo)
    }

    /// Nothing if a word can be read in several ways.
    fn read(mut self) -> Option<RunArguments> {
        let mut operand = None;
        let mut is_ended = false;
        while let Some(word) = self.words.get(self.at) {
            if self.has_code && self.has(Habit::CodeEnds) {
                break;
            }
            let text = option_text(word);
            match text.as_deref() {
                Some("--") => {
                    self.at += 1;
                    is_ended = true;
                    break;
                }
                Some(text) if text.starts_with('-') && text.len() > 1 => {
                    self.option(text)?;
                    // Shells that permute, and those that don't, disagree about options behind an operand.
                    if operand.is_some() && self.has_code {
                        return None;
                    }
                }
                Some(_) if is_text_operand(word) && self.has(Habit::Permutes) => {
                    operand = operand.or(is_one_word(word).then_some(self.at));
                    operand?;
                    self.at += 1;
                }
                Some(_) if is_text_operand(word) => break,
                // A value in its place is never an option, but can be several words, or none.
                _ if is_value(word) && (operand.is_some() || !self.takes_operand()) => self.at += 1,
                _ => return None,
            }
        }
        if operand.is_none() && self.at < self.words.len() {
            operand = Some(self.at);
        }
        self.result(operand, is_ended)
    }

    fn result(self, operand: Option<usize>, is_ended: bool) -> Option<RunArguments> {
        let is_sure = |at: usize| {
            let word = &self.words[at];
            is_one_word(word) && (is_ended || is_text_operand(word))
        };
        match operand.filter(|_| self.takes_operand()) {
            Some(at) if !is_sure(at) => None,
            Some(at) if self.has(Habit::BareText) || self.has_code => {
                let until = at.max(self.until);
                Some(RunArguments::Code { until })
            }
            Some(at) => {
                let name = literal_start(&self.words[at]);
                let is_file =
                    !self.has(Habit::Subcommands) || name.contains(['/', '.']) || name == "-";
                is_file.then_some(RunArguments::File { at })
            }
            None if !self.has_code => Some(RunArguments::Unclear),
            None => Some(match self.file {
                Some(at) if at == self.until => RunArguments::File { at },
                _ => RunArguments::Code { until: self.until },
            }),
        }
    }

    /// Reads one option and its value.
    fn option(&mut self, text: &str) -> Option<()> {
        self.until = self.at;
        self.at += 1;
        match text.strip_prefix("--") {
            Some(long) => self.long(long),
            None => self.letters(&text[1..]),
        }
    }

    fn long(&mut self, text: &str) -> Option<()> {
        let language = self.language;
        let (name, has_value) = match text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (text, false),
        };
        let is_code = language.long_code.contains(&name);
        if is_code || language.long_files.contains(&name) {
            self.has_code = true;
            self.file = None;
        }
        let takes =
            is_code || language.long_files.contains(&name) || language.long_values.contains(&name);
        match takes {
            true if has_value => Some(()),
            true => self.value(),
            false => language.long_flags.contains(&name).then_some(()),
        }
    }

    fn letters(&mut self, letters: &str) -> Option<()> {
        let language = self.language;
        let is_separate = self.has(Habit::Separate);
        if is_separate && letters.len() > 1 && letters != "pe" {
            return None;
        }
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let is_last = rest.as_str().is_empty();
            let (is_code, is_file) = (
                language.code.contains(letter),
                language.files.contains(letter),
            );
            match () {
                () if is_separate && is_code && !is_last => {}
                () if is_code || is_file => {
                    self.has_code = true;
                    self.file = (is_file && is_last).then_some(self.at);
                    return match is_last {
                        true => self.value(),
                        // Not every awk accepts this.
                        false => {
                            (!self.has(Habit::BareText) || self.has(Habit::Permutes)).then_some(())
                        }
                    };
                }
                () if language.values.contains(letter) && is_last => return self.value(),
                () if language.values.contains(letter) => return Some(()),
                () if self.has(Habit::OpensOperands) && "np".contains(letter) => return None,
                // `-0777ne`: the digits end the value.
                () if language.rest.contains(letter) => {
                    let is_number = "0l".contains(letter);
                    let more = rest
                        .as_str()
                        .trim_start_matches(|c: char| c.is_ascii_digit());
                    if !is_number || more.is_empty() {
                        return Some(());
                    }
                    if more.starts_with(['x', 'X']) {
                        return None;
                    }
                    rest = more.chars();
                }
                () if language.flags.contains(letter) => {}
                () => return None,
            }
        }
        (!letters.is_empty()).then_some(())
    }

    /// The next word is the value of an option.
    fn value(&mut self) -> Option<()> {
        let word = self.words.get(self.at)?;
        self.until = self.at;
        self.at += 1;
        let is_taken = !self.has(Habit::Separate) || is_operand(word);
        (is_one_word(word) && is_taken).then_some(())
    }
}

/// The known text of a word, if that decides what an option it is: `--name=$x`, but not `-$x`.
fn option_text(word: &ShellWord) -> Option<String> {
    let start = literal_start(word);
    let is_long = start.starts_with("--") && start.contains('=') && is_one_word(word);
    match word.literal() {
        Some(text) => Some(text.to_owned()),
        None if is_long || is_operand(word) => Some(start),
        None => None,
    }
}

/// Whether a word is an operand of an interpreter: `-` is its input.
fn is_text_operand(word: &ShellWord) -> bool {
    is_operand(word)
        || word
            .literal()
            .is_some_and(|text| text == "-" || text.starts_with('+'))
}

/// Whether a word is a value of metier's, which is refused where it would be an option.
fn is_value(word: &ShellWord) -> bool {
    let is_text =
        |part: &&WordPart| matches!(part, WordPart::Literal { text, .. } if text.is_empty());
    let first = word.parts().iter().find(|part| !is_text(part));
    let is_reference = |part: &WordPart| match part {
        WordPart::Literal { .. } => true,
        WordPart::Parameter { name, .. } => name.starts_with(REFERENCE),
        _ => false,
    };
    matches!(first, Some(WordPart::Parameter { .. })) && word.parts().iter().all(is_reference)
}
