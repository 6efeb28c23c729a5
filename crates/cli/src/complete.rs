//! Completions for the Tab key: commands, options, their values, names of skills and agents, keys and values of the configuration.
//!
//! The scripts of `metier completions` call `metier __complete POSITION WORD…`, which prints a line
//! for each candidate: its value, a tab and its description. `FILES` alone makes the shell complete names of files.

use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory, Parser};
use metier::{
    Machine,
    configuration::{KEYS, ValueKind},
    skill::{Inventory, known_agents},
};

use crate::{
    cli::{Cli, without_seed_spelling},
    cli_run::CliRun,
    commands::list,
    failure::Exit,
    output::{Output, one_line},
};

/// The shell completes the name of a file.
const FILES: &str = "__files";

/// A value and its description.
type Candidate = (String, String);

/// The completions at a position.
enum Offered {
    These(Vec<Candidate>),
    Files,
}

/// Answers a shell: the position of the word, then all words.
pub(crate) fn main(arguments: &[OsString]) -> Exit {
    let words: Vec<String> = arguments
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let Some((position, words)) = words.split_first() else {
        return Exit::Unmet;
    };
    let position = position.parse().unwrap_or(words.len());
    let partial = words.get(position).map_or("", String::as_str);
    let before = words.get(..position).unwrap_or(words);
    let text = match offered(before, partial) {
        Offered::Files => format!("{FILES}\n"),
        Offered::These(all) => {
            let fits = |candidate: &&Candidate| candidate.0.starts_with(partial);
            let line = |(value, about): &Candidate| format!("{value}\t{}\n", one_line(about));
            all.iter().filter(fits).map(line).collect()
        }
    };
    // A closed pipe is the shell's choice.
    Output::json().text(&text).ok();
    Exit::Ok
}

fn offered(before: &[String], partial: &str) -> Offered {
    let before: Vec<OsString> = before.iter().map(OsString::from).collect();
    let before: Vec<String> = without_seed_spelling(before)
        .into_iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let mut root = Cli::command();
    root.build();
    let read = TypedLine::read(&root, &before);
    if let Some(arg) = read.expects {
        return values(arg, &read, partial);
    }
    let command = read.command.unwrap_or(&root);
    if partial.starts_with('-') {
        return Offered::These(options(command));
    }
    if read.command.is_none() {
        return Offered::These(commands(&root));
    }
    if command.get_name() == "help" {
        return Offered::These(commands(&root));
    }
    let positionals: Vec<&Arg> = command.get_positionals().collect();
    let arg = positionals.get(read.given.len()).or(positionals.last());
    match arg {
        Some(arg) => values(arg, &read, partial),
        None => Offered::These(Vec::new()),
    }
}

/// The text before the word.
struct TypedLine<'c> {
    command: Option<&'c Command>,
    /// The words that are neither a command nor an option.
    given: Vec<&'c str>,
    /// The option whose value is next.
    expects: Option<&'c Arg>,
    /// Options that decide where skills are searched, with their values.
    places: Vec<String>,
}

impl<'c> TypedLine<'c> {
    fn read(root: &'c Command, words: &'c [String]) -> Self {
        let mut line = Self {
            command: None,
            given: Vec::new(),
            expects: None,
            places: Vec::new(),
        };
        for word in words.iter().skip(1) {
            if let Some(arg) = line.expects.take() {
                line.note_place(arg, word);
            } else if let Some(flag) = word.strip_prefix("--").filter(|flag| !flag.is_empty()) {
                let command = line.command.unwrap_or(root);
                let mut options = command.get_arguments();
                let arg = options.find(|arg| arg.get_long() == Some(flag));
                line.expects = arg.filter(|arg| arg.get_action().takes_values());
            } else if word == "-C" {
                line.expects = root
                    .get_arguments()
                    .find(|arg| arg.get_short() == Some('C'));
            } else if word.starts_with('-') {
                continue;
            } else if line.command.is_none() {
                line.command = root.find_subcommand(word);
            } else {
                line.given.push(word);
            }
        }
        line
    }

    fn note_place(&mut self, arg: &Arg, value: &str) {
        let flag = match arg.get_id().as_str() {
            "directory" => "-C",
            "root" => "--root",
            "skill_dir" => "--skill-dir",
            _ => return,
        };
        self.places.extend([flag.to_owned(), value.to_owned()]);
    }
}

fn commands(root: &Command) -> Vec<Candidate> {
    let shown = root.get_subcommands().filter(|sub| !sub.is_hide_set());
    let one = |sub: &Command| {
        let about = sub.get_about().map(ToString::to_string);
        (sub.get_name().to_owned(), about.unwrap_or_default())
    };
    shown.map(one).collect()
}

fn options(command: &Command) -> Vec<Candidate> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let one = |arg: &Arg| {
        let help = arg.get_help().map(ToString::to_string);
        Some((format!("--{}", arg.get_long()?), help.unwrap_or_default()))
    };
    shown.filter_map(one).collect()
}

/// The possible values of an argument.
fn values(arg: &Arg, line: &TypedLine<'_>, partial: &str) -> Offered {
    let possible: Vec<Candidate> = arg
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| {
            let help = value.get_help().map(ToString::to_string);
            (value.get_name().to_owned(), help.unwrap_or_default())
        })
        .collect();
    if !possible.is_empty() {
        return Offered::These(possible);
    }
    let command = line.command.map_or("", Command::get_name);
    Offered::These(match (command, arg.get_id().as_str()) {
        ("config", "key") => keys(),
        ("config", "value") => values_of_key(line.given.first().copied().unwrap_or_default()),
        ("list", "agent") => {
            let agents = known_agents().into_iter();
            agents
                .map(|agent| (agent.to_owned(), String::new()))
                .collect()
        }
        ("profile", "name") | ("rollback", "to") => Vec::new(),
        (_, "to") => {
            let agents = known_agents().into_iter();
            let agents = agents.map(|agent| (agent.to_owned(), String::new()));
            in_list(partial, agents.collect())
        }
        ("new", _) if arg.is_positional() => Vec::new(),
        ("read", "path") => files_of_skill(line),
        (_, "skills" | "approve_skills") => in_list(partial, skills(line)),
        (_, "name" | "names" | "words") => skills(line),
        ("scan" | "test" | "validate", _) if arg.is_positional() => {
            let all = skills(line);
            let begins = |(name, _): &Candidate| name.starts_with(partial);
            return match command != "validate" && !partial.is_empty() && all.iter().any(begins) {
                true => Offered::These(all),
                false => Offered::Files,
            };
        }
        ("call", "tool") | (_, "task") => Vec::new(),
        _ => return Offered::Files,
    })
}

/// Candidates for the last part of `a,b`, with the parts before it.
fn in_list(partial: &str, all: Vec<Candidate>) -> Vec<Candidate> {
    let head = partial.rfind(',').map_or("", |comma| &partial[..=comma]);
    let whole = |(name, about): Candidate| (format!("{head}{name}"), about);
    all.into_iter().map(whole).collect()
}

fn keys() -> Vec<Candidate> {
    let keys = KEYS.iter().filter(|key| !key.is_pattern());
    keys.map(|key| (key.path.to_owned(), key.doc.to_owned()))
        .collect()
}

fn values_of_key(key: &str) -> Vec<Candidate> {
    let known = KEYS.iter().find(|known| known.path == key);
    let words: &[&str] = match known.map(|known| known.kind) {
        Some(ValueKind::Bool) => &["true", "false"],
        Some(ValueKind::Choice(words)) => words,
        _ => &[],
    };
    words
        .iter()
        .map(|word| ((*word).to_owned(), String::new()))
        .collect()
}

/// The skills of this machine, as the words before see it.
fn with_inventory<T: Default>(line: &TypedLine<'_>, use_it: impl FnOnce(&Inventory) -> T) -> T {
    let places = line.places.iter().map(String::as_str);
    let words = std::iter::once("metier").chain(places);
    let Ok(cli) = Cli::try_parse_from(words) else {
        return T::default();
    };
    let output = Output::json();
    let Ok(machine) = Machine::from_env(
        cli.global.directory.as_deref(),
        cli.global.config.as_deref(),
    ) else {
        return T::default();
    };
    let run = CliRun::open_to_read(&cli.global, &machine, &output);
    let skills = run.and_then(|run| run.skills());
    skills.map_or_else(|_| T::default(), |skills| use_it(skills.inventory()))
}

fn skills(line: &TypedLine<'_>) -> Vec<Candidate> {
    with_inventory(line, |inventory| {
        let cards = inventory
            .skills
            .iter()
            .filter(|skill| list::is_shown(skill))
            .filter_map(|skill| inventory.entry(skill).card.as_ref());
        cards
            .map(|card| (card.name.to_string(), card.description.to_string()))
            .collect()
    })
}

fn files_of_skill(line: &TypedLine<'_>) -> Vec<Candidate> {
    let name = line.given.first().copied().unwrap_or_default();
    with_inventory(line, |inventory| {
        let Ok(skill) = inventory.find(name) else {
            return Vec::new();
        };
        let files = inventory.entry(skill).place.files().unwrap_or_default();
        let paths = files.iter().filter_map(|file| file.path.as_str());
        paths.map(|path| (path.to_owned(), String::new())).collect()
    })
}
