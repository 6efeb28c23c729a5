//! The commands that a line could run, for denials.
//!
//! **Problem.** A denial of `git push` must cover `env -S'git push'`, `xargs git`, `taskset -c 0 git push` and `x='git push'; $x`, and must
//! not refuse `git clone`, `make test` or `git commit -m "explain git push"`.
//!
//! **Decision.** [`could_run`] lists every command that could run, and nothing else does. By what is known about the program of a command:
//!
//! - it runs none of its words (`echo`, `git commit`, `npm install`): only the command itself;
//! - it runs a known part of them (`timeout 5 …`, `find -exec …`, `sh -c '…'`, `git -c alias.x=…`): the command in that part, followed in
//!   the same way;
//! - it runs text but no single word (`make CC='…'`, `vim -c '…'`): any words in a text of several words;
//! - nothing: any of its words, split at the signs of shells and languages, could begin a command.
//!
//! A word that is known only at run time could be any word with the same known text. A value is the *program* only where a program is
//! expected: in front, and behind a program that is known to run its words. A pattern of file names is also one behind any other.
//!
//! The work is limited to [`PASSES`] times the size of the line. A line that needs more, by nesting, could run anything.

use super::could_run_programs::{
    ANY_ORDER, COMMAND_VARIABLES, CONTAINER_GROUPS, CONTAINERS, NEVER, SCRIPT_RUNNERS, TARGETS,
    TEXTS, behind_git_options, data_subcommands, has_running_option, is_quiet, spelt_out,
};
use super::listed::{has, is_data, named_program};
use super::listed_programs::SHELLS;
use super::programs::{base, is_runner, is_sometimes, is_wrapper, literal_start, runs};
use super::word::unescaped;
use super::{RedirectOp, RunArguments, ShellLine, ShellWord, SimpleCommand, WordPart};
use crate::scope::{CommandStart, PossibleCommand, PossibleWord};

/// The maximum number of commands inside each other that are followed; deeper ones are words of an unknown program.
const DEEPEST: usize = 16;

/// The number of times that each letter of a line is read, on average.
const PASSES: usize = 16;

pub(super) fn could_run(line: &ShellLine) -> Vec<PossibleCommand> {
    let finder = CommandFinder::of(line);
    match finder.is_spent() {
        true => vec![PossibleCommand::anything()],
        false => finder.found,
    }
}

/// Collects the commands.
#[derive(Default)]
pub(super) struct CommandFinder {
    found: Vec<PossibleCommand>,
    /// The work so far, and its limit, in letters and words.
    pub(super) work: usize,
    pub(super) limit: usize,
    /// The values of variables.
    assigned: Vec<PossibleWord>,
    /// Whether a program that could run its words has one that is known only at run time, such as the value of a variable.
    is_open: bool,
    /// Whether a shell runs its input.
    reads_input: bool,
}

/// Whether a program runs none of its words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Nothing,
    Something,
}

impl CommandFinder {
    pub(super) fn of(line: &ShellLine) -> Self {
        let line = line.decoded();
        let texts = || line.commands.iter().flat_map(texts);
        let is_file = |op| matches!(op, RedirectOp::Read | RedirectOp::ReadWrite);
        let redirects = || line.commands.iter().flat_map(|simple| &simple.redirects);
        let files = || redirects().filter(|one| is_file(one.op));
        let inputs = || texts().chain(files().map(|redirect| &redirect.target));
        let assignments = line.commands.iter().flat_map(|simple| &simple.assignments);
        let values = assignments.map(|assignment| &assignment.value);
        let mut finder = Self {
            limit: PASSES * (PASSES + size(inputs().chain(values))),
            ..Self::default()
        };
        finder.line(&line, 0);
        if finder.is_open {
            let assigned = std::mem::take(&mut finder.assigned);
            finder.push(assigned, CommandStart::Anywhere);
        }
        if finder.reads_input {
            let decoded = inputs().map(|word| with_texts(word, unescaped));
            finder.any_of(&decoded.collect::<Vec<_>>(), CommandStart::Anywhere);
            let input: Vec<ShellWord> = inputs().cloned().collect();
            finder.any_of(&input, CommandStart::Anywhere);
        }
        finder
    }

    /// Counts work; false if the limit is reached.
    fn spend(&mut self, amount: usize) -> bool {
        self.work += amount;
        !self.is_spent()
    }

    fn is_spent(&self) -> bool {
        self.work > self.limit
    }

    fn line(&mut self, line: &ShellLine, depth: usize) {
        for simple in &line.commands {
            self.variables(simple);
            let runs = self.command(&simple.words, depth);
            self.input(simple, runs, depth);
        }
    }

    fn push(&mut self, words: Vec<PossibleWord>, begins: CommandStart) {
        if !words.is_empty() && self.spend(words.len()) {
            self.found.push(PossibleCommand {
                words,
                begins,
                has_targets: false,
            });
        }
    }

    /// Any of the words, and of the words in their text, could begin a command.
    fn any_of(&mut self, words: &[ShellWord], begins: CommandStart) {
        for words in readings(words) {
            self.is_open |= words.iter().any(PossibleWord::is_value);
            let last = words.last().and_then(PossibleWord::known);
            self.reads_input |= last.is_some_and(|text| has(SHELLS, &base(text)));
            self.push(spelt_out(&words), begins);
            self.push(words, begins);
        }
    }

    /// A text of several words could be a command, but no single word. The signs before a command of make belong to no program.
    fn texts(&mut self, words: &[ShellWord]) {
        let recipe = |text: &str| text.replace(['@', '+'], ";").replace(";-", ";");
        for word in words {
            let mut all = readings(std::slice::from_ref(word));
            all.extend(readings(&[with_texts(word, recipe)]).pop());
            all.dedup();
            for pieces in all.into_iter().filter(|pieces| pieces.len() > 1) {
                self.push(pieces, CommandStart::AnywhereGlued);
            }
        }
    }

    /// A command, and what it could run.
    fn command(&mut self, words: &[ShellWord], depth: usize) -> Runs {
        let Some(first) = words.first().filter(|_| self.spend(size(words))) else {
            return Runs::Nothing;
        };
        let last = first.literal().map(base);
        let known: Vec<PossibleWord> = words.iter().map(possible).collect();
        self.push(spelt_out(&known), CommandStart::First);
        self.found.push(PossibleCommand {
            has_targets: last.is_some_and(|name| has(TARGETS, &name)),
            ..PossibleCommand::new(known)
        });
        let Some(program) = first.literal().and_then(named_program) else {
            self.any_of(&words[1..], CommandStart::AnywhereGlued);
            return Runs::Something;
        };
        if depth >= DEEPEST {
            self.any_of(&words[1..], CommandStart::AnywhereGlued);
            self.unknown_program(&words[1..]);
            return Runs::Something;
        }
        self.exported(program, words);
        match program {
            "git" => return self.git(words),
            "find" => self.find(words, depth),
            "xargs" => self.xargs(words, depth),
            "parallel" => self.parallel(words),
            "eval" => self.code(&joined(&words[1..]), depth),
            "trap" => {
                let code = words[1..].iter().find(|word| word.literal() != Some("--"));
                self.code(code.unwrap_or(&ShellWord::default()), depth);
            }
            _ if has(NEVER, program) || is_data(words) => return Runs::Nothing,
            _ if has(SHELLS, program) => self.shell(words, depth),
            _ if has(TEXTS, program) || has(TARGETS, program) => {
                match has_running_option(program, "", &words[1..]) {
                    true => self.any_of(&words[1..], CommandStart::AnywhereGlued),
                    false => self.texts(&words[1..]),
                }
            }
            _ => return self.other(program, words, depth),
        }
        Runs::Something
    }

    /// A command of a program that the tables of [`runs`] describe, or of an unknown one.
    fn other(&mut self, program: &str, words: &[ShellWord], depth: usize) -> Runs {
        if let Some(known) = data_subcommands(program) {
            return self.subcommand(program, known, words, 1);
        }
        match runs(words) {
            RunArguments::Nothing if is_wrapper(program) || is_sometimes(program) => {
                return Runs::Nothing;
            }
            RunArguments::Nothing => self.any_of(&words[1..], CommandStart::Anywhere),
            RunArguments::Command { at } => {
                self.command(&words[at..], depth + 1);
            }
            RunArguments::Code { until } => {
                // Perl runs a file name that ends in `|`, and sed accepts options behind its files.
                let is_last = program == "perl" || until >= words.len();
                let until = if is_last { words.len() } else { until + 1 };
                let (code, data) = words[1..].split_at(until - 1);
                let options = data
                    .iter()
                    .filter(|word| literal_start(word).starts_with('-'));
                let known = |part: &WordPart| match part {
                    WordPart::Literal { text, .. } => text.clone(),
                    _ => "0".to_owned(),
                };
                let text = |word: &ShellWord| word.parts().iter().map(known).collect::<String>();
                let mut given = code.iter().chain(options);
                if given.all(|word| is_quiet(program, &text(word))) {
                    return Runs::Nothing;
                }
                self.any_of(&words[1..], CommandStart::AnywhereGlued);
                // Languages have quotes of their own: `qw/git push/`, `s/.*/git push/e`.
                let signs = ['/', '|', '[', ']', '#', ':', '~', '\\'];
                let apart = |text: &str| text.replace(signs, " ");
                let code: Vec<ShellWord> =
                    code.iter().map(|word| with_texts(word, apart)).collect();
                self.any_of(&code, CommandStart::Anywhere);
            }
            RunArguments::File { at } => {
                let file = words.get(at..).unwrap_or_default();
                match words[at - 1].literal() {
                    Some("-m") => {
                        self.command(file, depth + 1);
                    }
                    _ => self.file(file),
                }
                // Options before it can load files: `node -r x.js y.js`.
                self.any_of(&words[1..at], CommandStart::Anywhere);
            }
            RunArguments::Unclear if program.starts_with("fd") => {
                let mut given: Vec<ShellWord> =
                    words[1..].iter().map(|word| filled(word, "{")).collect();
                given.push(unknown());
                self.any_of(&given, CommandStart::AnywhereGlued);
            }
            RunArguments::Unclear => {
                let is_option = |word: &ShellWord| literal_start(word).starts_with('-');
                self.reads_input |= words[1..].iter().all(is_option) || has("at batch", program);
                self.any_of(&words[1..], CommandStart::AnywhereGlued);
                if is_wrapper(program) || is_runner(program) {
                    self.unknown_program(&words[1..]);
                }
            }
        }
        Runs::Something
    }

    /// A file that an interpreter runs, with its arguments.
    fn file(&mut self, words: &[ShellWord]) {
        self.push(words.iter().map(possible).collect(), CommandStart::First);
        self.reads_input |= words.first().is_some_and(is_input);
        self.any_of(words.get(1..).unwrap_or_default(), CommandStart::Anywhere);
    }

    /// The position of the program among these words is not known: a word that is known only at run time could be it. The first operand
    /// always could; a later one only if it can be several words.
    fn unknown_program(&mut self, words: &[ShellWord]) {
        let is_option =
            |word: &&ShellWord| word.literal().is_some_and(|text| text.starts_with('-'));
        let first = words.iter().find(|word| !is_option(word));
        let is_unknown = first.is_some_and(|word| word.literal().is_none());
        if is_unknown || words.iter().any(|word| possible(word) == PossibleWord::Any) {
            self.found.push(PossibleCommand::anything());
        }
    }

    /// Text that a shell runs.
    fn code(&mut self, code: &ShellWord, depth: usize) {
        let text = code.literal().filter(|text| self.spend(text.len()));
        match text.map(super::parse_names) {
            Some(Ok(line)) if depth < DEEPEST => self.line(&line.decoded(), depth + 1),
            _ => self.found.push(PossibleCommand::anything()),
        }
    }

    /// A shell. Its code is the first operand behind the options, wherever the `-c` is: `bash -c -e 'git push'`.
    fn shell(&mut self, words: &[ShellWord], depth: usize) {
        let mut has_code = false;
        let mut reads = false;
        let mut at = 1;
        while let Some(text) = words.get(at).and_then(ShellWord::literal) {
            if !text.starts_with(['-', '+']) {
                break;
            }
            at += 1;
            let letters = &text[1..];
            match text {
                "-" | "--" => break,
                "--init-file" | "--rcfile" | "-init-file" | "-rcfile" => {
                    let file = words.get(at..=at).unwrap_or_default();
                    self.any_of(file, CommandStart::Anywhere);
                    at += 1;
                }
                _ if letters.starts_with('-') => {}
                _ if !letters.bytes().all(|b| b.is_ascii_alphabetic()) => {
                    return self.any_of(&words[1..], CommandStart::AnywhereGlued);
                }
                _ => {
                    has_code |= letters.contains('c');
                    reads |= letters.contains('s');
                    at += letters.matches(['o', 'O']).count(); // each takes a word: `-oc pipefail`
                }
            }
        }
        match words.get(at) {
            Some(code) if has_code => self.code(code, depth),
            Some(file) if !reads && file.literal().is_some() => self.file(&words[at..]),
            _ => {
                self.reads_input = true;
                self.any_of(&words[1..], CommandStart::Anywhere);
            }
        }
    }

    /// The text that a command reads from the line: `bash <<EOF`.
    fn input(&mut self, simple: &SimpleCommand, runs: Runs, depth: usize) {
        let shell = simple.program().and_then(named_program);
        let is_shell = shell.is_some_and(|name| has(SHELLS, name));
        let texts = texts(simple).skip(simple.words.len());
        for text in texts.filter(|_| runs == Runs::Something) {
            match is_shell {
                true => self.code(text, depth),
                false => self.any_of(std::slice::from_ref(text), CommandStart::Anywhere),
            }
        }
    }

    /// `find … -exec …`: each command ends at its `;` or `+`.
    fn find(&mut self, words: &[ShellWord], depth: usize) {
        const EXEC: &[&str] = &["-exec", "-execdir", "-ok", "-okdir"];
        let mut at = 1;
        while let Some(word) = words.get(at).filter(|_| !self.is_spent()) {
            at += 1;
            let is_exec = word.literal().is_some_and(|text| EXEC.contains(&text));
            let could_be_exec = at > 2
                && match possible(word) {
                    PossibleWord::Known(_) => false,
                    PossibleWord::Partly { .. } => "-exec".starts_with(&*literal_start(word)),
                    PossibleWord::Any => return self.found.push(PossibleCommand::anything()),
                };
            self.is_open |= word.literal().is_none();
            let rest = &words[at..];
            let is_operand =
                |word: &ShellWord| !literal_start(word).starts_with(['-', '(', '!', ')']);
            if !(is_exec || could_be_exec && rest.first().is_some_and(is_operand)) {
                continue;
            }
            let is_end = |word: &ShellWord| matches!(word.literal(), Some(";" | "+"));
            let end = rest.iter().position(is_end).unwrap_or(rest.len());
            let inner: Vec<ShellWord> = rest[..end].iter().map(|word| filled(word, "{}")).collect();
            self.command(&inner, depth + 1);
            if is_exec {
                at += end;
            }
        }
    }

    /// `xargs git` runs git with words of its input, behind the others or in place of a mark.
    fn xargs(&mut self, words: &[ShellWord], depth: usize) {
        let (options, inner) = match runs(words) {
            RunArguments::Command { at } => words.split_at(at),
            _ => words.split_at(1),
        };
        let mut mark = None;
        for (at, word) in options.iter().enumerate() {
            let text = word.literal().unwrap_or_default();
            let value = ["--replace=", "-I", "-J", "-i"]
                .iter()
                .find_map(|option| text.strip_prefix(option));
            mark = match value {
                Some("") if text != "-i" => options.get(at + 1).and_then(ShellWord::literal),
                Some(value) if !value.is_empty() => Some(value),
                Some(_) => Some("{}"),
                None if text == "--replace" => Some("{}"),
                None => mark,
            };
        }
        let mut given: Vec<ShellWord> = match mark {
            Some(mark) => inner.iter().map(|word| filled(word, mark)).collect(),
            None => inner.to_vec(),
        };
        given.push(unknown());
        match runs(words) {
            RunArguments::Command { .. } => {
                self.command(&given, depth + 1);
            }
            RunArguments::Nothing => {}
            _ => {
                self.any_of(&given, CommandStart::AnywhereGlued);
                self.unknown_program(inner);
            }
        }
    }

    /// `parallel git ::: push`: each word behind `:::` is given to the command, or is one.
    fn parallel(&mut self, words: &[ShellWord]) {
        let is_sign = |word: &ShellWord| word.literal().is_some_and(|text| text.starts_with(":::"));
        let end = words.iter().position(is_sign);
        let inner = &words[1..end.unwrap_or(words.len())];
        let mut given: Vec<ShellWord> = inner.iter().map(|word| filled(word, "{")).collect();
        given.push(unknown());
        self.any_of(&given, CommandStart::AnywhereGlued);
        self.any_of(&words[1..], CommandStart::AnywhereGlued);
        self.unknown_program(inner);
        self.reads_input |= end.is_none();
    }

    fn git(&mut self, words: &[ShellWord]) -> Runs {
        let at = behind_git_options(words);
        let (options, rest) = words.split_at(at);
        for (word, value) in options.iter().zip(&options[1..]) {
            if word.literal() == Some("-c") && !self.is_spent() {
                self.git_setting(value, rest);
            }
        }
        let is_set = |word: &ShellWord| literal_start(word).starts_with("--config-env");
        if options.iter().any(is_set) {
            self.any_git();
        }
        if rest.first().and_then(ShellWord::literal) == Some("config") {
            self.git_config(&rest[1..]);
            return Runs::Nothing;
        }
        // A helper for `ext::` addresses runs the text behind it.
        let apart = |text: &str| text.replace("ext::", " ext:: ");
        let helpers: Vec<ShellWord> = rest.iter().map(|word| with_texts(word, apart)).collect();
        if helpers != rest {
            self.any_of(&helpers, CommandStart::AnywhereGlued);
        }
        let known = data_subcommands("git").unwrap_or_default();
        self.subcommand("git", known, words, at)
    }

    /// `git config alias.x push` gives `git x` another meaning.
    fn git_config(&mut self, words: &[ShellWord]) {
        let is_alias = |word: &ShellWord| {
            let text = word.literal().unwrap_or_default().to_ascii_lowercase();
            text.starts_with("alias.") || text.starts_with("include")
        };
        let Some(at) = words.iter().position(is_alias) else {
            return self.texts(words);
        };
        let key = words[at].literal().unwrap_or_default();
        match words.get(at + 1).map(ShellWord::literal) {
            Some(Some(value)) => {
                let setting = ShellWord::text(format!("{key}={value}"));
                self.git_setting(&setting, &[unknown()]);
            }
            Some(None) => self.any_git(),
            None => {}
        }
    }

    /// A setting `name=value`, before these words: an alias is a subcommand with another name, and other values can be commands.
    fn git_setting(&mut self, setting: &ShellWord, words: &[ShellWord]) {
        let start = literal_start(setting);
        let key = start
            .split_once('=')
            .map(|(key, _)| key.to_ascii_lowercase());
        let key = key.or_else(|| setting.literal().map(str::to_ascii_lowercase));
        let Some(key) = key else {
            return self.any_git();
        };
        let alias = key.strip_prefix("alias.");
        if key.starts_with("include") || (alias.is_some() && setting.literal().is_none()) {
            return self.any_git();
        }
        let is_name = |word: &&ShellWord| {
            let text = word.literal();
            text.is_some_and(|text| alias.is_some_and(|alias| text.eq_ignore_ascii_case(alias)))
        };
        for pieces in readings(std::slice::from_ref(setting)) {
            let value = pieces.into_iter().skip(1);
            if alias.is_none() {
                self.push(value.collect(), CommandStart::AnywhereGlued);
                continue;
            }
            let rest = words.iter().filter(|word| !is_name(word)).map(possible);
            let git = PossibleWord::Known("git".into());
            let words = std::iter::once(git).chain(value).chain(rest).collect();
            // The text of `alias.x=!…` is a shell's: any of its words could begin a command, among them this first one.
            self.push(words, CommandStart::AnywhereGlued);
        }
    }

    /// Any subcommand of git.
    fn any_git(&mut self) {
        let git = PossibleWord::Known("git".into());
        self.push(vec![git, PossibleWord::Any], CommandStart::First);
    }

    /// A command of a program with subcommands: with a known one, and without options that run a word, none of its words is run.
    fn subcommand(&mut self, program: &str, known: &str, words: &[ShellWord], at: usize) -> Runs {
        let is_option = |word: &ShellWord| literal_start(word).starts_with(['-', '+']);
        // The value of an option before the subcommand could look like one: `npm --prefix install exec …`.
        let is_before = |word: &ShellWord| {
            let text = word.literal().unwrap_or_default();
            let is_group = has(CONTAINERS, program) && has(CONTAINER_GROUPS, text);
            is_group || text.starts_with('+') || (is_option(word) && has(ANY_ORDER, program))
        };
        let behind = words.get(at..).unwrap_or_default();
        let first = behind.iter().position(|word| !is_before(word));
        let name = first.and_then(|first| behind[first].literal());
        let name = name.unwrap_or_default();
        let is_question = words.len() > 1 && words[1..].iter().all(is_option);
        let is_running = has_running_option(program, name, &words[1..]);
        let arguments = match name {
            "run" | "run-script" if has(SCRIPT_RUNNERS, program) => {
                let mut script = behind[first.unwrap_or_default() + 1..].iter();
                script.position(|word| !is_option(word));
                script.as_slice()
            }
            _ if !is_running && (is_question || first.is_none() || has(known, name)) => &[],
            _ => behind,
        };
        if arguments.is_empty() {
            return Runs::Nothing;
        }
        self.any_of(arguments, CommandStart::AnywhereGlued);
        Runs::Something
    }

    /// The variables that a command sets before its words, or alone.
    fn variables(&mut self, simple: &SimpleCommand) {
        for assignment in &simple.assignments {
            let is_local =
                simple.words.is_empty() && assignment.name.bytes().all(|b| !b.is_ascii_uppercase());
            self.variable(&assignment.name, &assignment.value, 0, is_local);
        }
    }

    /// The variables that `env A=x` and `export A=x` set.
    fn exported(&mut self, program: &str, words: &[ShellWord]) {
        const SETTERS: &str = "declare doas env export local readonly sudo typeset";
        if !has(SETTERS, program) {
            return;
        }
        let until = match runs(words) {
            RunArguments::Command { at } => at,
            _ => words.len(),
        };
        for word in &words[1..until] {
            if let Some((name, _)) = literal_start(word).split_once('=') {
                self.variable(name, word, 1, false);
            }
        }
    }

    /// A value counts as a command if programs are known to run that variable, or if it contains a substitution: arithmetic evaluates
    /// `a[$(id)]`. It begins behind this number of pieces.
    fn variable(&mut self, name: &str, word: &ShellWord, before: usize, is_local: bool) {
        let ends = |end: &str| name.ends_with(end);
        let is_command = !is_local && (name == "ENV" || COMMAND_VARIABLES.split(' ').any(ends));
        let is_evaluated =
            |text: &str| text.contains("$(") || (text.contains('[') && text.contains('`'));
        for pieces in readings(std::slice::from_ref(word)) {
            let value: Vec<PossibleWord> = pieces.into_iter().skip(before).collect();
            let is_nothing = value == [PossibleWord::Known("/dev/null".into())];
            if name.starts_with("GIT_CONFIG") && name != "GIT_CONFIG_NOSYSTEM" && !is_nothing {
                self.any_git();
            }
            if is_command && value.first() == Some(&PossibleWord::Any) {
                self.found.push(PossibleCommand::anything());
            }
            if is_command || word.literal().is_some_and(is_evaluated) {
                self.push(value.clone(), CommandStart::Anywhere);
            }
            self.assigned.extend(value);
        }
    }
}

/// The words of a command, and the text of its input.
fn texts(simple: &SimpleCommand) -> impl Iterator<Item = &ShellWord> {
    let is_text = |op| matches!(op, RedirectOp::HereDocument | RedirectOp::HereString);
    let redirects = simple.redirects.iter();
    let inputs = redirects.filter(move |redirect| is_text(redirect.op));
    let inputs = inputs.map(|redirect| &redirect.target);
    simple.words.iter().chain(inputs)
}

/// The number of words, of known letters and of other parts.
fn size<'a>(words: impl IntoIterator<Item = &'a ShellWord>) -> usize {
    let letters = |part: &WordPart| match part {
        WordPart::Literal { text, .. } => text.len(),
        _ => 1,
    };
    let of_word = |word: &ShellWord| 1 + word.parts().iter().map(letters).sum::<usize>();
    words.into_iter().map(of_word).sum()
}

/// The same word with other texts.
fn with_texts(word: &ShellWord, change: impl Fn(&str) -> String) -> ShellWord {
    let changed = |part: &WordPart| match part {
        WordPart::Literal { text, quoted } => WordPart::Literal {
            text: change(text),
            quoted: *quoted,
        },
        other => other.clone(),
    };
    ShellWord::from_parts(word.parts().iter().map(changed).collect())
}

/// Whether a file is the input of the program that opens it.
fn is_input(file: &ShellWord) -> bool {
    let start = literal_start(file);
    let is_device = start.starts_with("/dev/") || start.starts_with("/proc/");
    is_device || start == "-" || file.parts().contains(&WordPart::Process)
}

/// Any number of unknown words.
fn unknown() -> ShellWord {
    ShellWord::dynamic(WordPart::Parameter {
        name: "@".into(),
        quoted: false,
        plain: true,
    })
}

/// The word itself, or an unknown one if it contains a mark that is replaced by input.
fn filled(word: &ShellWord, mark: &str) -> ShellWord {
    match word.literal() {
        Some(text) if text.contains(mark) => ShellWord::dynamic(WordPart::Parameter {
            name: String::new(),
            quoted: true,
            plain: true,
        }),
        _ => word.clone(),
    }
}

/// The text that `eval` runs.
fn joined(words: &[ShellWord]) -> ShellWord {
    let texts: Option<Vec<&str>> = words.iter().map(ShellWord::literal).collect();
    match texts {
        Some(texts) => ShellWord::text(texts.join(" ")),
        None => unknown(),
    }
}

/// The possible values of a word when the line runs.
fn possible(word: &ShellWord) -> PossibleWord {
    if let Some(text) = word.literal() {
        return PossibleWord::Known(text.into());
    }
    if word.parts().iter().any(is_several) {
        return PossibleWord::Any;
    }
    spelling(word.parts())
}

/// One word, with `*` for each part that is known only at run time.
fn spelling(parts: &[WordPart]) -> PossibleWord {
    let mut text = String::new();
    let (mut is_known, mut is_value) = (true, false);
    for part in parts {
        match part {
            WordPart::Literal { text: more, .. } => text += more,
            WordPart::Glob(sign) => {
                is_known = false;
                text.push(if *sign == '[' { '[' } else { '*' });
            }
            _ => {
                (is_known, is_value) = (false, true);
                text.push('*');
            }
        }
    }
    if is_known {
        return PossibleWord::Known(text.into());
    }
    // In each name, the text up to what closes a `[` belongs to the pattern.
    let names = text.split('/').map(|name| match name.split_once('[') {
        Some((before, behind)) => {
            let after = behind.rsplit_once(']').map_or(behind, |(_, after)| after);
            format!("{before}*{after}")
        }
        None => name.to_owned(),
    });
    PossibleWord::Partly {
        pattern: names.collect::<Vec<_>>().join("/").into(),
        is_value,
    }
}

/// Whether a part can expand to several words. A pattern of file names counts as one: each of its words begins and ends in the same way.
fn is_several(part: &WordPart) -> bool {
    match part {
        WordPart::Parameter { name, quoted, .. } => match name.as_str() {
            "@" => true,
            "?" | "#" | "$" | "!" => false,
            _ => !quoted,
        },
        WordPart::Command { quoted } => !quoted,
        WordPart::Brace => true,
        _ => false,
    }
}

fn is_between(letter: char) -> bool {
    letter.is_whitespace() || "=;&|()<>{}`\"'!,".contains(letter)
}

/// The words in the text of these words: as they are, and without quotes, as a shell would read the text.
fn readings(words: &[ShellWord]) -> Vec<Vec<PossibleWord>> {
    let unquoted = |text: &str| text.replace(['"', '\'', '\\'], "");
    let read = words.iter().map(|word| with_texts(word, unquoted));
    let mut readings = vec![
        words.iter().flat_map(pieces).collect(),
        read.flat_map(|word| pieces(&word)).collect(),
    ];
    readings.dedup();
    readings
}

/// The words of a word, if a program treated it as a command line or as the value of an option.
fn pieces(word: &ShellWord) -> Vec<PossibleWord> {
    if word.parts().contains(&WordPart::Brace)
        && let PossibleWord::Partly { pattern, .. } = spelling(word.parts())
    {
        // Each word of `gi{t,x}` begins and ends in the same way.
        let before = pattern.split('{').next().unwrap_or_default();
        let after = pattern.rsplit('}').next().unwrap_or_default();
        let pattern = format!("{before}*{after}");
        if pattern.contains(|letter| letter != '*') {
            return vec![PossibleWord::Partly {
                pattern: pattern.into(),
                is_value: false,
            }];
        }
    }
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    for part in word.parts() {
        match part {
            WordPart::Literal { text, .. } => {
                for (at, text) in text.split(is_between).enumerate() {
                    if at > 0 {
                        pieces.push(std::mem::take(&mut piece));
                    }
                    piece.push(WordPart::Literal {
                        text: text.to_owned(),
                        quoted: true,
                    });
                }
            }
            WordPart::Brace => pieces.push(std::mem::take(&mut piece)),
            other => piece.push(other.clone()),
        }
    }
    if pieces.is_empty() {
        return vec![possible(word)];
    }
    pieces.push(piece);
    let words = pieces.iter().map(|parts| match spelling(parts) {
        word if word.is_value() => PossibleWord::Any,
        word => word,
    });
    let is_text = |word: &PossibleWord| *word != PossibleWord::Known("".into());
    words.filter(is_text).collect()
}
