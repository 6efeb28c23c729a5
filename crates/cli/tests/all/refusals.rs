//! Each command has a test that it refuses: in some specification it exits with a code other than 0.
//!
//! The commands come from `metier --help`, so this applies to a new one as soon as it appears.

use std::{collections::BTreeSet, fs, path::Path};

use metier_testkit::TestContext;

/// Commands that no specification refuses yet. This list only shrinks, and so does the number in its type.
const EXCEPTIONS: [&str; 0] = [];

/// The name of plain `metier` here: the overview counts as a command too.
const OVERVIEW: &str = "metier alone";

/// Global flags that take a value, so that the value isn't taken for the command.
const WITH_VALUE: &[&str] = &[
    "-C",
    "--config",
    "--root",
    "--skills",
    "--skill-dir",
    "--approve-skills",
    "--color",
];

#[test]
fn every_command_is_refused_somewhere() {
    let commands = commands();
    let refused = refused_in(&specifications());
    assert!(
        commands.len() > 1,
        "the program names no command: {commands:?}"
    );
    assert!(!refused.is_empty(), "no specification refuses anything");
    let open: Vec<&String> = commands
        .iter()
        .filter(|command| !refused.contains(*command) && !EXCEPTIONS.contains(&command.as_str()))
        .collect();
    assert!(
        open.is_empty(),
        "no scenario in spec/*.md ends with `? N` for {open:?}: add one in which the command is refused"
    );
}

#[test]
fn an_exception_is_a_command_that_is_not_refused() {
    let (commands, refused) = (commands(), refused_in(&specifications()));
    for exception in EXCEPTIONS {
        assert!(
            commands.contains(exception),
            "`{exception}` is no command: remove it from the list"
        );
        assert!(
            !refused.contains(exception),
            "`{exception}` is refused by now: remove it from the list"
        );
    }
}

/// The commands that the Tab key offers, and the overview.
fn commands() -> BTreeSet<String> {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let offered = context.run(&["__complete", "1", "metier", ""]);
    assert_eq!(offered.code, 0, "{}", offered.snapshot());
    let lines = offered.stdout.lines();
    let names = lines.filter_map(|line| line.split('\t').next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .chain([OVERVIEW.to_owned()])
        .collect()
}

fn specifications() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec");
    let documents = || -> std::io::Result<Vec<String>> {
        let mut texts = Vec::new();
        for file in fs::read_dir(&folder)? {
            let path = file?.path();
            if path.extension().is_some_and(|ending| ending == "md") {
                texts.push(fs::read_to_string(path)?);
            }
        }
        Ok(texts)
    };
    documents().unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

/// The commands that end with a code other than 0 in some transcript.
fn refused_in(documents: &[String]) -> BTreeSet<String> {
    let mut refused = BTreeSet::new();
    for document in documents {
        let (mut in_transcript, mut last) = (false, None);
        for line in document.lines() {
            if line.starts_with("```") {
                (in_transcript, last) = (line.trim_start_matches('`') == "console", None);
            } else if let Some(command) = line.strip_prefix("$ ").filter(|_| in_transcript) {
                last = command_of(command);
            } else if let Some(code) = line.strip_prefix("? ").filter(|_| in_transcript) {
                refused.extend(last.take().filter(|_| code.trim() != "0"));
            }
        }
    }
    refused
}

/// The command in a line of a transcript, behind variables, global flags and the words `skill` and `skills`.
fn command_of(line: &str) -> Option<String> {
    let is_variable = |word: &&str| word.contains('=');
    let mut words = line.split_whitespace().skip_while(is_variable);
    if words.next() != Some("metier") {
        return None;
    }
    while let Some(word) = words.next() {
        match word {
            flag if WITH_VALUE.contains(&flag) => drop(words.next()),
            flag if flag.starts_with('-') => {}
            "skill" | "skills" => {}
            command => return Some(command.to_owned()),
        }
    }
    Some(OVERVIEW.to_owned())
}

#[test]
fn a_transcript_is_read_as_it_runs() {
    let check = |text: &str, expected: &[&str]| {
        let refused = refused_in(&[text.to_owned()]);
        assert_eq!(
            refused.iter().map(String::as_str).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
    };
    check("```console\n$ metier list\n? 1\n```\n", &["list"]);
    check(
        "````console\n$ A=b metier -C x --json skills info y\nerror: …\n? 1\n$ metier -C x\n? 2\n````\n",
        &["info", OVERVIEW],
    );
    check(
        "```console\n$ metier list\nfine\n\n$ cat x\n? 1\n```\n",
        &[],
    );
    check(
        "```console\n$ metier list\n? 0\n```\n```text\n$ metier read x y\n? 1\n```\n",
        &[],
    );
}
