//! Command lines that are known to treat values as data.
//!
//! **Problem.** `sqlite3 db "$ARGUMENTS"` runs a shell for the argument `.shell id`, and hundreds of other programs
//! do so in their own ways. A list of those programs can't be complete, and neither can a list of such options: `find
//! -$1`, `npm --git=$1`, `cargo --manifest-path $1`. A value can also take a detour: into a file, and from there into
//! a program.
//!
//! **Decision.** The lists here are allow-lists. A line that contains a value is *listed* if every command in it is:
//! then an approval of its commands (`gh *`) covers it. Any other line is covered only by an approval of that exact
//! line.
//!
//! In a listed line a value never becomes an option, a program, program text or a file that configures a program:
//!
//! - the program is in `listed_programs.rs`, with one of its subcommands and only its listed options, or it is a file
//!   below the skill's folder, where the line runs and which it can't write;
//! - an option is the author's text up to its `=`. A value that would start an option is refused when it is inserted
//!   ([`crate::template::Slot::option_risk`]);
//! - it writes only to `/dev/null` and to descriptors. So no command reads a file that another one wrote.
//!
//! The result of a substitution or a shell variable can start with `-`, so it is accepted only for programs without
//! any dangerous option.

use super::listed_programs::{
    ANYTHING, FILE_RUNNERS, LISTED, ListedProgram, OperandKind, PASSER_OPTIONS, PASSERS, SHELLS,
    TEXT_RUNNERS,
};
use super::programs::{base, literal_start, runs};
use super::{REFERENCE, Redirect, RunArguments, ShellWord, SimpleCommand, WordPart};

/// Folders of programs that a skill can't write to.
const SYSTEM_FOLDERS: &[&str] = &["/bin/", "/usr/bin/", "/usr/local/bin/"];

pub(super) fn has(names: &str, name: &str) -> bool {
    names.split_ascii_whitespace().any(|other| other == name)
}

/// The first command of a line that is not known to treat values as data, by its program or its redirect; `None` if
/// all do.
pub(crate) fn unlisted(commands: &[SimpleCommand]) -> Option<String> {
    commands.iter().find_map(|command| {
        if let Some(redirect) = command.redirects.iter().find(|one| !one.is_harmless()) {
            let target = redirect.target.literal().unwrap_or("…");
            return Some(format!("> {target}"));
        }
        if is_listed(&command.words, 0) {
            return None;
        }
        let program = command.words.first().and_then(ShellWord::literal);
        Some(
            program
                .unwrap_or("a program that only the shell will know")
                .to_owned(),
        )
    })
}

impl Redirect {
    /// Whether it writes no file: it reads, copies a descriptor, or writes to a null or standard device.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        const SHOWN: &[&str] = &["/dev/null", "/dev/stderr", "/dev/stdout"];
        let is_descriptor = |text: &str| {
            let digits = text.strip_suffix('-').unwrap_or(text);
            digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        !self.op.writes()
            || self.target.literal().is_some_and(|target| {
                SHOWN.contains(&target)
                    || self.op == super::RedirectOp::DuplicateOut && is_descriptor(target)
            })
    }
}

/// Whether a command of a program that is found on the search path or in a system folder is known to treat all of its words as data. A file
/// in the current folder is not known, whatever its name is.
pub(super) fn is_data(words: &[ShellWord]) -> bool {
    let program = words.first().and_then(ShellWord::literal);
    let program = program.and_then(named_program);
    program.is_some_and(|program| has(ANYTHING, program) || is_right(program, words))
}

/// Whether the text of `sed`, `awk` or `perl` is known to run no program.
pub(super) fn runs_nothing(program: &str, code: &str) -> bool {
    const AWK: &[&str] = &["system", "|", "getline", "@"];
    const PERL: &[&str] = &[
        "`", "|", "#", "{", "do", "eval", "exec", "open", "qx", "readpipe", "require", "sys", "use",
    ];
    let is_free_of = |signs: &[&str]| !signs.iter().any(|sign| code.contains(sign));
    // Two of the flag `e` evaluate the result of the text as a text again.
    let is_evaluated = |part: &str| part.matches('e').count() > 1;
    match program {
        "perl" => {
            let mut parts = code.split(|letter: char| !letter.is_ascii_alphanumeric());
            is_free_of(PERL) && !parts.any(is_evaluated)
        }
        _ if program.ends_with("awk") => is_free_of(AWK),
        _ => program.ends_with("sed") && quiet_sed(code).is_some(),
    }
}

/// `Some` for commands of sed that run nothing and write no file: `/a/,$d; s/a/b/g`. The texts between their signs are data.
fn quiet_sed(code: &str) -> Option<()> {
    let flags = |letter: char| "IMgip".contains(letter) || letter.is_ascii_digit();
    let mut rest = code;
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        rest = match letter {
            '/' => behind(rest, '/')?.trim_start_matches(['I', 'M']),
            's' | 'y' => {
                let sign = rest.chars().next().filter(char::is_ascii_punctuation)?;
                behind(behind(&rest[1..], sign)?, sign)?.trim_start_matches(flags)
            }
            _ if " \n;{},$!~+=DGHNPdghnpqx".contains(letter) => rest,
            _ if letter.is_ascii_digit() => rest,
            _ => return None,
        };
    }
    Some(())
}

/// The text behind the next sign that is not escaped; `None` if it could be one of several, in brackets.
fn behind(text: &str, sign: char) -> Option<&str> {
    let mut letters = text.chars();
    loop {
        match letters.next()? {
            '\\' => drop(letters.next()),
            letter if letter == sign => return Some(letters.as_str()),
            '[' => return None,
            _ => {}
        }
    }
}

fn is_listed(words: &[ShellWord], depth: usize) -> bool {
    const DEEPEST: usize = 8;
    let Some(first) = words.first() else {
        return true;
    };
    if depth == DEEPEST || words.iter().any(glues_an_option) {
        return false;
    }
    let Some(text) = first.literal() else {
        return false;
    };
    if text.contains('/') && is_own_file(text) {
        return true;
    }
    let Some(program) = named_program(text) else {
        return false;
    };
    match runs(words) {
        RunArguments::Unclear => false,
        RunArguments::Command { at } => {
            passes(program, &words[1..at]) && is_listed(&words[at..], depth + 1)
        }
        RunArguments::Code { until } => is_harmless_text(program, words, until, depth),
        RunArguments::File { at } => is_own_script(program, words, at),
        RunArguments::Nothing => has(ANYTHING, program) || is_right(program, words),
    }
}

/// The name of a program that is found on the search path or in a system folder, exactly as in the tables.
pub(super) fn named_program(text: &str) -> Option<&str> {
    let name = match text.rsplit_once('/') {
        None => text,
        Some((_, name)) => {
            let in_system = |folder: &&str| text.strip_prefix(*folder) == Some(name);
            SYSTEM_FOLDERS.iter().any(in_system).then_some(name)?
        }
    };
    (base(name) == name).then_some(name)
}

/// Whether the name of an option contains anything other than the author's text: `-$1`, `--$1=x`, `-e"$1"`, `''-$1`.
fn glues_an_option(word: &ShellWord) -> bool {
    let start = literal_start(word);
    // `echo "- $1"` prints a list item.
    word.literal().is_none() && start.starts_with(['-', '+']) && !start.contains(['=', ' '])
}

fn stem(program: &str) -> &str {
    program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.')
}

/// `./x`, `scripts/x`: a path that stays below the skill's folder, where the line runs.
fn is_own_file(path: &str) -> bool {
    let mut names = path.split('/');
    !path.starts_with(['/', '~', '-']) && names.all(|name| name != "..")
}

/// Whether the words before a command are options that only affect how it runs, and their values.
fn passes(program: &str, words: &[ShellWord]) -> bool {
    let harmless = |word: &ShellWord| {
        let text = word.literal()?;
        let name = text.split('=').next().unwrap_or(text);
        let is_number = text
            .trim_start_matches('-')
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        Some(!text.starts_with('-') || is_number || has(PASSER_OPTIONS, name))
    };
    has(PASSERS, program) && words.iter().all(|word| harmless(word) == Some(true))
}

/// Whether an interpreter gets a file of the skill, without options that make it read anything else.
fn is_own_script(program: &str, words: &[ShellWord], at: usize) -> bool {
    let Some(file) = words
        .get(at)
        .and_then(ShellWord::literal)
        .filter(|file| is_own_file(file))
    else {
        return false;
    };
    if ["source", "."].contains(&program) {
        return at == 1 && file.contains('/');
    }
    let name = stem(program);
    let Some((_, options)) = FILE_RUNNERS.iter().find(|(known, _)| *known == name) else {
        return false;
    };
    let mut front = words[1..at].iter();
    // A name without either can be a subcommand, as in `node inspect x`.
    file.contains(['/', '.'])
        && front.all(|word| word.literal().is_some_and(|text| has(options, text)))
}

/// Whether program text in a line is known to treat its arguments as data.
fn is_harmless_text(program: &str, words: &[ShellWord], until: usize, depth: usize) -> bool {
    let Some(code) = words.get(until).and_then(ShellWord::literal) else {
        return false;
    };
    let name = stem(program);
    if has(SHELLS, name) {
        let plain = matches!(words[1..until].iter().map(ShellWord::literal).collect::<Vec<_>>()[..],
            [Some(option)] if has("-c -ec -euc -uc -xc", option));
        let line = super::parse(code);
        return plain
            && line.is_ok_and(|line| {
                let mut commands = line.commands.iter();
                commands.all(|command| {
                    command.redirects.iter().all(Redirect::is_harmless)
                        && is_listed(&command.words, depth + 1)
                })
            });
    }
    let Some((_, options)) = TEXT_RUNNERS.iter().find(|(known, _)| *known == name) else {
        return false;
    };
    // Only sed accepts options after the text.
    let is_option =
        |word: &ShellWord| literal_start(word).starts_with('-') && word.literal() != Some("-");
    let more = words.get(until + 1..).unwrap_or_default();
    is_introduced(&words[1..until], options)
        && !more.iter().any(is_option)
        && match name.ends_with("sed") {
            true => is_plain_sed(code),
            // `>` both compares and writes.
            false => !["system", "|", "getline", "@", "ENVIRON", ">"]
                .iter()
                .any(|sign| code.contains(sign)),
        }
}

/// Whether the words before a program text are listed options, with at most one of them introducing the text.
fn is_introduced(words: &[ShellWord], options: &str) -> bool {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let start = literal_start(word);
        let Some(letters) = start
            .strip_prefix('-')
            .filter(|letters| !letters.is_empty())
        else {
            return false;
        };
        let takes = |letter: char| has(options, &format!("-{letter}:"));
        let first = letters.chars().next().unwrap_or_default();
        let last = at + 1 == words.len();
        match () {
            () if takes(first) => {
                at += if start.len() == 2 && word.literal().is_some() {
                    2
                } else {
                    1
                }
            }
            () if word.literal().is_some()
                && letters
                    .chars()
                    .all(|letter| has(options, &format!("-{letter}")))
                && (last || !letters.contains('e')) =>
            {
                at += 1;
            }
            () => return false,
        }
    }
    at == words.len()
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

/// Whether a program of the table has a listed subcommand, and only listed options.
fn is_right(program: &str, words: &[ShellWord]) -> bool {
    let Some(entry) = LISTED.iter().find(|entry| entry.name == program) else {
        return false;
    };
    let Some(behind) = entry.behind_subcommand(words) else {
        return false;
    };
    let arguments = &words[behind..];
    arguments
        .iter()
        .all(|word| !is_open(word) && entry.takes(word))
        && (entry.operands != OperandKind::TextFirst || has_own_text(arguments))
}

impl ListedProgram {
    /// The position of the arguments of a listed subcommand.
    fn behind_subcommand(&self, words: &[ShellWord]) -> Option<usize> {
        let mut at = 1;
        if self.name == "git" {
            while words.get(at).and_then(ShellWord::literal) == Some("--no-pager") {
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
            let same = given.iter().map(ShellWord::literal).eq(names.map(Some));
            same.then_some(at + count)
        };
        self.subcommands.split(',').find_map(fits)
    }

    /// Whether a word is an operand, or a listed option.
    fn takes(&self, word: &ShellWord) -> bool {
        let start = literal_start(word);
        if !start.starts_with(['-', '+']) || start == "-" {
            return self.operands != OperandKind::Absent;
        }
        let (name, value) = match start.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (start.as_str(), None),
        };
        if name.starts_with("--") || self.name == "find" {
            return has(self.options, name) && (value.is_none() || self.name != "find");
        }
        value.is_none() && word.literal().is_some() && self.has_letters(&name[1..])
    }

    /// Whether letters after one dash are listed options; the rest after one that takes a value is that value.
    fn has_letters(&self, letters: &str) -> bool {
        for letter in letters.chars() {
            if has(self.options, &format!("-{letter}:")) {
                return true;
            }
            let name = if letter.is_ascii_digit() { '0' } else { letter };
            if !has(self.options, &format!("-{name}")) {
                return false;
            }
        }
        !letters.is_empty()
    }
}

/// Whether shell expansion can turn a word into several, or into one that starts with `-`: a substitution, a
/// variable, a glob, braces.
fn is_open(word: &ShellWord) -> bool {
    let begins_with_pattern = matches!(word.parts().first(), Some(WordPart::Glob(_)));
    begins_with_pattern
        || word.parts().iter().any(|part| match part {
            WordPart::Parameter { name, .. } => !name.starts_with(REFERENCE),
            WordPart::Command { .. }
            | WordPart::Process
            | WordPart::Brace
            | WordPart::Dollar(_) => true,
            _ => false,
        })
}

/// Whether the first operand is the author's text. Options that take two words are skipped.
fn has_own_text(words: &[ShellWord]) -> bool {
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
