//! The grammar compared with real shells: words have the predicted values, and every command that runs was listed.
#![cfg(unix)]

use std::process::{Command, Stdio};

use proptest::prelude::*;

use super::*;

/// The shells of this machine, as paths; `sh` always exists.
fn shells() -> Vec<String> {
    let path = |shell: &str| {
        let found = output("sh", &format!("command -v {shell}"));
        String::from_utf8(found).expect("a path").trim().to_owned()
    };
    let mut shells = Vec::from(["sh", "bash", "dash"].map(path));
    shells.retain(|shell| !shell.is_empty());
    shells
}

fn output(shell: &str, script: &str) -> Vec<u8> {
    Command::new(shell)
        .args(["-c", script])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .expect("a shell")
        .stdout
}

/// One of many ways to quote a string.
fn quoted(text: &str, way: u8) -> String {
    match way % 3 {
        0 => format!("'{}'", text.replace('\'', "'\\''")),
        1 => {
            let mut out = String::from("\"");
            for c in text.chars() {
                if matches!(c, '"' | '$' | '`' | '\\') {
                    out.push('\\');
                }
                out.push(c);
            }
            out + "\""
        }
        _ => {
            let mut out = String::new();
            for c in text.chars() {
                match c {
                    '\n' => out.push_str("'\n'"),
                    c if c.is_ascii_alphanumeric() => out.push(c),
                    c if c.is_ascii() => out.extend(['\\', c]),
                    c => out.extend(['\'', c, '\'']),
                }
            }
            out
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn words_are_what_the_shell_makes_of_them(
        words in prop::collection::vec(
            prop::collection::vec(("[ -~\u{e9}\u{4e16}\n\t]{0,6}", any::<u8>()), 1..4),
            1..6,
        )
    ) {
        let spelt: Vec<String> = words
            .iter()
            .map(|parts| {
                let word: String = parts.iter().map(|(text, way)| quoted(text, *way)).collect();
                if word.is_empty() { "''".to_owned() } else { word }
            })
            .collect();
        let script = format!("printf '%s\\0' {}", spelt.join(" "));
        let line = parse(&script).expect("understood");
        prop_assert_eq!(line.commands.len(), 1);
        let ours: Vec<u8> = line.commands[0].words[2..]
            .iter()
            .flat_map(|word| [word.literal().expect("literal").as_bytes(), b"\0"].concat())
            .collect();
        prop_assert_eq!(output("sh", &script), ours);
    }
}

/// A generator with a fixed seed: the same lines in each run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % sides as u64).expect("small")
    }
}

const TOKENS: &[&str] = &[
    "p N ",
    "p N ",
    "p N ",
    "p N",
    " ",
    ";",
    "; ",
    "\n",
    "\n",
    "&& ",
    "|| ",
    "| ",
    "& ",
    "$(",
    ")",
    "( ",
    "{ ",
    "; }",
    "\"",
    "\"",
    "'",
    "'",
    "`",
    "`",
    "\\",
    "\\\n",
    "#",
    "x",
    "${x:-",
    "}",
    "$'",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    " E\n",
    "if ",
    "; then ",
    "; fi\n",
    "case x in ",
    "x) ",
    ";; ",
    "esac\n",
    "for i in ",
    "; do ",
    "; done\n",
    "<(",
    "<<<",
    " >/dev/null ",
    "2>&1 ",
    "!",
    "! ",
    "[[ ",
    " ]]",
    "$((",
    "))",
    "1",
    "{",
    ",",
    "=",
    "X=",
    "$",
    "\t",
    "-",
    "<<-E\n",
    "\\`",
    "\\\"",
    "$x",
    "~",
    "&>/dev/null ",
    "\nE",
    "function ",
    "p() ",
    "else ",
];

/// Random lines; the numbers in them are arguments of `p`.
fn random_text(dice: &mut Dice) -> String {
    let length = 3 + dice.roll(14);
    (0..length)
        .map(|number| TOKENS[dice.roll(TOKENS.len())].replace('N', &number.to_string()))
        .collect()
}

/// Whether `p id` is among the commands, or can be: an unknown program can be any program.
fn is_listed(line: &ShellLine, id: &str) -> bool {
    line.commands.iter().any(|simple| {
        let fits = |word: &ShellWord| word.literal().is_none_or(|text| text == id);
        match simple.program() {
            None => !simple.words.is_empty(),
            Some(program) => program == "p" && simple.words.get(1).map_or(id.is_empty(), fits),
        }
    })
}

/// A program `p` records its first argument. For random lines that can be parsed, everything that a real shell runs
/// must be in the list. Commands in the background can write late, so each run has its own file, read at the end.
#[test]
fn nothing_runs_that_was_not_listed() {
    let folder = std::env::temp_dir().join(format!("metier-shell-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let shells = shells();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut runs = Vec::new();
    while runs.len() < 250 {
        let text = random_text(&mut dice);
        let Ok(line) = parse(&text) else {
            continue;
        };
        if line.commands.len() < 2 {
            continue;
        }
        let log = folder.join(runs.len().to_string());
        for shell in &shells {
            let write = format!("printf '%s\\0' \"$1\" >>'{}'", log.display());
            Command::new(shell)
                .args(["-c", &format!("p() {{ {write}; }}\n{text}")])
                .env_clear()
                .env("PATH", "/nonexistent")
                .current_dir(&folder)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .expect("a shell");
        }
        runs.push((text, line, log));
    }
    let mut ran = 0;
    for (text, line, log) in runs {
        let happened = std::fs::read_to_string(log).unwrap_or_default();
        for id in happened.split_terminator('\0') {
            ran += 1;
            assert!(is_listed(&line, id), "`p {id}` ran in {text:?}: {line:?}");
        }
    }
    std::fs::remove_dir_all(&folder).expect("removed");
    assert!(ran > 100, "only {ran} commands ran: the test tests nothing");
}
