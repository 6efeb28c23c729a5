//! Denials of commands: whether a command that a line could run is a denied one.
//!
//! A denial is compared with what a command *could* be: the program counts by any path, options may be anywhere, and a word that is known
//! only at run time could be any word that begins and ends like it. One pass over the words, whatever their number: a set of positions in
//! the pattern moves along, so that no start in the words is compared with all of the words after it.

use super::CommandPattern;
use super::glob;
use crate::shell::git_option_has_value;

/// A command that a line could run; [`crate::shell::ShellLine::could_run`] makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleCommand {
    /// Its words.
    pub words: Vec<PossibleWord>,
    /// Where its program is.
    pub begins: CommandStart,
    /// Whether every operand counts like a first one, as the targets of `make a b`.
    pub has_targets: bool,
}

/// A word of a command that a line could run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PossibleWord {
    /// Its text is known.
    Known(Box<str>),
    /// One word that is known only at run time.
    Partly {
        /// Its text, with `*` for what is unknown.
        pattern: Box<str>,
        /// Whether a value is in it, such as that of a variable; otherwise it is a pattern of file names.
        is_value: bool,
    },
    /// Any words, or none.
    Any,
}

/// Where the program of a possible command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandStart {
    /// The first word.
    First,
    /// Any word with known text: another program could run them.
    Anywhere,
    /// Any such word, including one behind the letters of an option (`-Sgit`): another program is known to run such words.
    AnywhereGlued,
}

impl PossibleCommand {
    /// A command with its program in front.
    #[must_use]
    pub fn new(words: Vec<PossibleWord>) -> Self {
        Self {
            words,
            begins: CommandStart::First,
            has_targets: false,
        }
    }

    /// A command that is known only at run time.
    #[must_use]
    pub fn anything() -> Self {
        Self::new(vec![PossibleWord::Any])
    }

    /// The same command if each value behind its program were one word, as it is in double quotes.
    #[must_use]
    pub fn quoted(mut self) -> Self {
        for word in self.words.iter_mut().skip(1) {
            if *word == PossibleWord::Any {
                *word = PossibleWord::Partly {
                    pattern: "*".into(),
                    is_value: true,
                };
            }
        }
        self
    }
}

impl PossibleWord {
    /// Whether it contains a value that is known only at run time.
    pub(crate) fn is_value(&self) -> bool {
        match self {
            Self::Known(_) => false,
            Self::Partly { is_value, .. } => *is_value,
            Self::Any => true,
        }
    }

    pub(crate) fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it could match a pattern.
    fn could_be(&self, pattern: &str) -> bool {
        match self {
            Self::Known(text) => fits(pattern, text),
            Self::Partly { pattern: given, .. } => {
                glob::is_pattern(pattern) || glob::matches(given, pattern)
            }
            Self::Any => true,
        }
    }

    /// The text that it begins with, if it could be an option.
    fn as_option(&self) -> Option<&str> {
        match self {
            Self::Known(text) => text.starts_with('-').then_some(text),
            Self::Partly { pattern, .. } => {
                let begins = pattern.split('*').next().unwrap_or_default();
                (begins.is_empty() || begins.starts_with('-')).then_some(begins)
            }
            Self::Any => Some(""),
        }
    }
}

fn fits(pattern: &str, word: &str) -> bool {
    pattern == word || (glob::is_pattern(pattern) && glob::matches(pattern, word))
}

impl CommandPattern {
    /// Whether a denial of this pattern covers a command: one that matches, or could match.
    #[must_use]
    pub fn denies(&self, command: &PossibleCommand) -> bool {
        let Self::Words { words, .. } = self else {
            let commands = self.denied_commands().unwrap_or_default();
            return commands.iter().any(|pattern| pattern.denies(command));
        };
        let Some((program, wanted)) = words.split_first() else {
            return false;
        };
        if command.begins == CommandStart::First
            && command.words.first() == Some(&PossibleWord::Any)
        {
            // A program that is known only at run time can add words of its own, as in `x='git push'; $x`.
            return true;
        }
        // Programs accept options behind operands, in any order.
        let (options, operands): (Vec<&str>, Vec<&str>) = wanted
            .iter()
            .map(|word| &**word)
            .partition(|word| word.starts_with('-') && word.len() > 1);
        let program = DeniedProgram::new(program);
        has_options(&options, &command.words)
            && Positions::new(&operands, program.is_git()).reach_end(&program, command)
    }
}

/// Whether the words could have all of these options. Short ones count in any order and grouping: `-rf` is `-f -r`.
fn has_options(wanted: &[&str], words: &[PossibleWord]) -> bool {
    const MOST_LETTERS: usize = 3;
    if wanted.is_empty() {
        return true;
    }
    let given: Vec<&str> = words.iter().filter_map(PossibleWord::as_option).collect();
    let is_open = words.iter().any(|word| match word {
        PossibleWord::Known(_) => false,
        PossibleWord::Partly { pattern, .. } => pattern.starts_with('*'),
        PossibleWord::Any => true,
    });
    let letters = |text: &str| {
        let letters = text.strip_prefix('-')?;
        (!letters.starts_with('-')).then(|| letters.to_owned())
    };
    let has_letter = |letter: char| {
        given
            .iter()
            .any(|text| letters(text).is_some_and(|all| all.contains(letter)))
    };
    let has = |option: &str| {
        let is_same = |text: &&str| {
            let name = text.split('=').next().unwrap_or_default();
            let is_cut = name.len() > 2 && name.starts_with("--") && option.starts_with(name);
            fits(option, text) || fits(option, name) || is_cut
        };
        given.iter().any(is_same)
            || letters(option).is_some_and(|all| {
                all.len() <= MOST_LETTERS && !glob::is_pattern(&all) && all.chars().all(has_letter)
            })
    };
    is_open || wanted.iter().all(|option| has(option))
}

/// The program of a denial.
struct DeniedProgram<'p> {
    pattern: &'p str,
    /// Its names without `.` and empty ones, if it is a file of a skill.
    own: Option<Vec<&'p str>>,
    /// The name, if it is written with the folder of a program: it counts in every folder.
    name: Option<&'p str>,
}

impl<'p> DeniedProgram<'p> {
    fn new(pattern: &'p str) -> Self {
        let is_own = pattern.contains('/') && !pattern.starts_with('/');
        let name = pattern.starts_with('/').then(|| last_name(pattern));
        Self {
            pattern,
            own: is_own.then(|| names(pattern)),
            name: name.filter(|name| name.chars().any(|letter| letter != '*')),
        }
    }

    fn is_git(&self) -> bool {
        last_name(self.pattern) == "git"
    }

    /// Whether a word could be it. Behind another program, the name must be known in part, and not come from a value.
    fn could_be(&self, word: &PossibleWord, is_first: bool) -> bool {
        let (pattern, is_value) = match word {
            PossibleWord::Known(path) => return self.is(path),
            PossibleWord::Partly { pattern, is_value } => (pattern, *is_value),
            PossibleWord::Any => return false,
        };
        let end = pattern.rsplit('*').next().unwrap_or_default();
        if end.contains('/') {
            return self.is(end.trim_start_matches('/'));
        }
        // A value can contain folders.
        let name = match is_value {
            true => format!("*{end}"),
            false => last_name(pattern).to_ascii_lowercase(),
        };
        let wanted = last_name(self.name.unwrap_or(self.pattern));
        match is_first {
            true => glob::is_pattern(wanted) || glob::matches(&name, wanted),
            false => {
                !is_value
                    && name.contains(|letter| letter != '*')
                    && (glob::matches(&name, wanted) || self.is(pattern))
            }
        }
    }

    fn is(&self, path: &str) -> bool {
        let name = last_name(path);
        let is_named = |pattern: &str| {
            let small = name.to_ascii_lowercase();
            fits(pattern, name) || fits(pattern, small.strip_suffix(".exe").unwrap_or(&small))
        };
        if let Some(own) = &self.own {
            return fits(self.pattern, path) || is_same_file(own, &names(path));
        }
        fits(self.pattern, path) || is_named(self.name.unwrap_or(self.pattern))
    }

    /// Whether an option has it as its value: `-Sgit` for any program, `-qcgit` for one that is known to run such values.
    fn is_glued(&self, word: &PossibleWord, any_letters: bool) -> bool {
        let Some(value) = word.known().and_then(|text| text.strip_prefix('-')) else {
            return false;
        };
        let mut letters = value.chars();
        if letters.next().is_none_or(|first| first == '-') {
            return false;
        }
        let value = letters.as_str();
        let name = last_name(self.pattern);
        self.is(value) || (any_letters && !glob::is_pattern(name) && value.ends_with(name))
    }
}

fn last_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The names of a path, without `.`, empty ones, and folders that are left again.
fn names(path: &str) -> Vec<&str> {
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            _ => names.push(name),
        }
    }
    names
}

/// Whether two paths could name one file: one of them ends with the other, since a line can change its folder. A pattern needs all of its
/// names: `scripts/*` does not cover each program.
fn is_same_file(pattern: &[&str], path: &[&str]) -> bool {
    let last = pattern.last().copied().unwrap_or_default();
    if pattern.is_empty()
        || path.is_empty()
        || (glob::is_pattern(last) && path.len() < pattern.len())
    {
        return false;
    }
    let mut pairs = pattern.iter().rev().zip(path.iter().rev());
    pairs.all(|(pattern, name)| fits(pattern, name))
}

/// The possible next words at a position in the pattern.
#[derive(Clone, Copy)]
enum Next {
    /// The wanted operand, or an option.
    Operand,
    /// The wanted operand, an option, or the value of the option before.
    Either,
    /// The value of the option before.
    Value,
}

/// The positions in a pattern that the words so far could have reached.
struct Positions<'p> {
    wanted: &'p [&'p str],
    /// For each operand, whether it is the next one, by what the next word can be.
    reached: Vec<[bool; 3]>,
    is_git: bool,
}

impl<'p> Positions<'p> {
    fn new(wanted: &'p [&'p str], is_git: bool) -> Self {
        Self {
            wanted,
            reached: vec![[false; 3]; wanted.len()],
            is_git,
        }
    }

    /// Whether some start in the words leads to the end of the pattern.
    fn reach_end(mut self, program: &DeniedProgram<'_>, command: &PossibleCommand) -> bool {
        let is_glued = |word: &PossibleWord| match command.begins {
            CommandStart::First => false,
            CommandStart::Anywhere => program.is_glued(word, false),
            CommandStart::AnywhereGlued => program.is_glued(word, true),
        };
        for (at, word) in command.words.iter().enumerate() {
            if self.step(word, command.has_targets) {
                return true;
            }
            let is_start = match command.begins {
                CommandStart::First => at == 0 && program.could_be(word, true),
                _ => program.could_be(word, false) || is_glued(word),
            };
            if is_start {
                let Some(first) = self.reached.first_mut() else {
                    return true;
                };
                first[Next::Operand as usize] = true;
            }
        }
        false
    }

    /// Reads one word; true if it completes the pattern.
    fn step(&mut self, word: &PossibleWord, has_targets: bool) -> bool {
        for at in (0..self.wanted.len()).rev() {
            let from = std::mem::take(&mut self.reached[at]);
            let [operand, either, value] = from;
            if !(operand || either || value) {
                continue;
            }
            if *word == PossibleWord::Any {
                return true;
            }
            if (operand || either) && word.could_be(self.wanted[at]) {
                match self.reached.get_mut(at + 1) {
                    Some(next) => next[Next::Operand as usize] = true,
                    None => return true,
                }
            }
            let stays = &mut self.reached[at];
            if value || either {
                stays[Next::Operand as usize] = true;
            }
            if operand || either {
                match word.as_option() {
                    Some(option) => {
                        let known = word.known().is_some();
                        stays[after(option, known, self.is_git && at == 0) as usize] = true;
                    }
                    None if has_targets => stays[Next::Operand as usize] = true,
                    None => {}
                }
            }
        }
        false
    }
}

/// The words that can follow an option. Of git's options before the subcommand, it is known which have a value.
fn after(option: &str, is_known: bool, is_git: bool) -> Next {
    let has_value = git_option_has_value(option).filter(|_| is_git && is_known);
    match has_value {
        _ if option.contains('=') => Next::Operand,
        Some(true) => Next::Value,
        Some(false) => Next::Operand,
        None => Next::Either,
    }
}
