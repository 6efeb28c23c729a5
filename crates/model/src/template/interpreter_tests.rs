//! Lines of interpreters with a placeholder in any position, run by real shells: whatever is accepted treats the value as data.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use metier_testkit::{needed, needs};
use proptest::prelude::*;

use super::*;

/// A folder in which a value that runs creates the file `pwned`.
struct CanaryFolder(PathBuf);

impl CanaryFolder {
    fn new(name: &str) -> Self {
        let id = std::process::id();
        let folder = std::env::temp_dir().join(format!("metier-interpreter-{name}-{id}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        // A file that a value can name.
        std::fs::write(folder.join("evil"), "echo >pwned\n").expect("a file");
        std::fs::write(folder.join("x.sh"), "true\n").expect("a file");
        Self(folder)
    }

    /// Whether a value ran in a line; nothing if the line is refused with these values.
    fn value_runs(&self, shell: &Path, recipe: &Recipe, words: &[String]) -> Option<bool> {
        let values = Values {
            text: &words.join(" "),
            words,
            skill_dir: "/",
            project_dir: "/",
            session_id: "",
        };
        let invocation = recipe.instantiate(&values).ok()?;
        let canary = self.0.join("pwned");
        let _ = std::fs::remove_file(&canary);
        let mut child = Process::new(shell)
            .arg("-c")
            .arg(&invocation.script)
            .arg("metier")
            .args(&invocation.parameters)
            .current_dir(&self.0)
            .env("HOME", &self.0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a shell");
        child.wait().expect("its end");
        Some(canary.exists())
    }
}

impl Drop for CanaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn prepared(text: &str) -> Option<Recipe> {
    let spellings = Spellings {
        names: &[],
        declared: true,
        positional: true,
        dash_ends: true,
    };
    match Script::prepare(text, spellings) {
        Script::Ready(recipe) => Some(recipe),
        Script::Refused(_) => None,
    }
}

/// Values that run in one place or another: as text of a shell or of a language, as an option, as a file.
const ATTACKS: &[&[&str]] = &[
    &["echo >pwned"],
    &["a; echo >pwned #"],
    &["a", "echo >pwned"],
    &["+c", "echo >pwned"],
    &["-c", "echo >pwned"],
    &["./evil"],
    &["evil", "echo >pwned"],
    &["1e echo >pwned"],
    &["w pwned"],
    &["echo >pwned|"],
    &[">pwned"],
    &["BEGIN { printf \"\" > \"pwned\" }"],
    &["BEGIN{open F,\">pwned\"}"],
    &["require('fs').writeFileSync('pwned','')"],
    &["open('pwned','w')"],
    &["c"],
    &["", "echo >pwned"],
    &[],
];

/// How many of these are for shells.
const SHELL_ATTACKS: usize = 7;

fn check(folder: &CanaryFolder, shell: &Path, line: &str, attacks: &[&[&str]]) {
    let Some(recipe) = prepared(line) else {
        return;
    };
    for attack in attacks {
        let words: Vec<String> = attack.iter().map(|word| (*word).to_owned()).collect();
        assert_ne!(
            folder.value_runs(shell, &recipe, &words),
            Some(true),
            "{line} with {attack:?}"
        );
    }
}

/// Lines that ran their argument, and others that are close to them.
const LINES: &[&str] = &[
    "bash -ceuo pipefail \"echo @\"",
    "bash -oc pipefail \"echo @\"",
    "bash -c -e \"echo @\"",
    "bash -c -- \"echo @\"",
    "bash -c -o pipefail \"echo @\"",
    "bash -c +e \"echo @\"",
    "bash +c \"echo @\"",
    "bash -O extglob -c \"echo @\"",
    "bash --rcfile x -c \"echo @\"",
    "bash --norc -c -e \"echo @\"",
    "bash -rcfile x -c \"echo @\"",
    "sh -c -e \"echo @\"",
    "dash -c -e \"echo @\"",
    "nice bash -c -e \"echo @\"",
    "env X=1 sh -c -e \"echo @\"",
    "echo a | xargs sh -c -e \"echo @\"",
    "echo a | xargs --replace bash +c \"echo @\"",
    "find . -maxdepth 0 -exec sh -c -e \"echo @\" \\;",
    "find . -maxdepth 0 -e@ sh -c \"echo @\" \\;",
    "x='1 bash -co'; env A=$x pipefail @",
    "x=-v; timeout \"$x\" 5 bash -c \"echo @\"",
    "x='. -exec bash -c'; find $x @ -exec true {} \\;",
    "x='bash'; echo a | xargs -n 1 $x -c @",
    "bash -s @ true </dev/null",
    "bash -x @ -c \"echo @\"",
    "bash $x -c \"echo @\"",
    "x=; bash -c $x \"echo @\"",
    "x=; bash $x x.sh -c \"echo @\"",
    ". -- @",
    "x=; . $x @",
    "sed -e p --expression=\"@\" x.sh",
    "sed --line-length 5 \"1e echo @\" x.sh",
    "sed --line-length 5 @ x.sh",
    "sed p x.sh -e @",
    "sed p x.sh -e@",
    "sed p @ x.sh",
    "sed -n '1p' @",
    "node -e 1 --eval=\"@\"",
    "node -e 1 -r @",
    "node -pe 1 @",
    "perl -e 1 -e @",
    "perl -e 1 -M@",
    "perl -ne 1 @",
    "perl -e 1 @ -e @",
    "perl -e 1 -- @",
    "python3 -W ignore -c @",
    "python3 -c 1 @",
    "python3 -Ic @",
    "awk -f x.awk -f @ x.sh",
    "awk -F : @ x.sh",
    "awk 1 @",
    "fish -C true -c @",
    "fish -c true --command=@",
    "zsh -o pipefail -c @",
    "zsh -ceo pipefail \"echo @\"",
    "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec=@ x.sh",
];

// case 168
#[test]
fn no_accepted_line_of_an_interpreter_runs_a_value() {
    let bash = needed!(needs::program("bash"));
    let folder = CanaryFolder::new("lines");
    for line in LINES {
        for placeholder in ["$ARGUMENTS", "$0"] {
            check(&folder, &bash, &line.replace('@', placeholder), ATTACKS);
        }
    }
}

/// A wrapper, a shell, its options in any order and grouping, and operands, with a placeholder in any position.
fn shell_line() -> impl Strategy<Value = String> {
    let wrapper = prop::sample::select(vec![
        "",
        "nice ",
        "nice -n 5 ",
        "env X=1 ",
        "timeout 5 ",
        "echo a | xargs ",
        "echo a | xargs -I {} ",
        "echo a | xargs --replace ",
        "find . -maxdepth 0 -exec ",
    ]);
    let shell = prop::sample::select(vec!["sh", "bash", "dash"]);
    let letters = prop::sample::subsequence(vec!["c", "e", "u", "o", "x", "s", "O"], 0..4)
        .prop_shuffle()
        .prop_map(|letters| format!("-{}", letters.concat()));
    let word = prop_oneof![
        3 => letters,
        2 => prop::sample::select(vec!["-c", "-e", "-o", "+c", "+o", "-O", "--", "-", "+e", "-s"]).prop_map(str::to_owned),
        1 => prop::sample::select(vec!["--rcfile", "--norc", "-norc", "--posix", "--init-file", "-rcfile", "--login"])
            .prop_map(str::to_owned),
        2 => prop::sample::select(vec!["pipefail", "extglob", "errexit", "x.sh", "true", ":", "$x", "\"$x\"", "''"])
            .prop_map(str::to_owned),
        4 => prop::sample::select(vec!["$ARGUMENTS", "\"echo $ARGUMENTS\"", "\"$0\"", "-e$0", "x$0", "-$0", "\"$0; $1\""])
            .prop_map(str::to_owned),
    ];
    (wrapper, shell, prop::collection::vec(word, 1..6)).prop_map(|(wrapper, shell, words)| {
        let end = if wrapper.starts_with("find") {
            " \\;"
        } else {
            ""
        };
        format!("{wrapper}{shell} {}{end}", words.join(" "))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    // case 168
    #[test]
    fn no_accepted_shell_line_runs_a_value(line in shell_line()) {
        if let Ok(bash) = needs::program("bash") {
            check(&CanaryFolder::new("shells"), &bash, &line, &ATTACKS[..SHELL_ATTACKS]);
        }
    }
}

#[test]
fn code_in_a_certain_place_takes_arguments() {
    for line in [
        "bash -c 'echo \"$@\"' sh \"$ARGUMENTS\"",
        "bash -ceuo pipefail 'echo \"$@\"' sh $0",
        "bash -o pipefail -c 'x' $0",
        "bash -c -- 'x' $0",
        "bash --norc -c 'x' $0",
        "bash -s -- $ARGUMENTS",
        "bash x.sh -c $0",
        "bash -eu -o pipefail x.sh $0",
        "sh -c 'x' sh $0",
        "zsh -c 'x' $0",
        "python3 x.py $0",
        "python3 -u -m http.server $0",
        "python3 -c 'x' $ARGUMENTS",
        "python3 - $0",
        "node -e 'x' $0",
        "node x.js --eval $0",
        "perl -e 'x' -- $0",
        "ruby -rjson -e 'x' $0",
        "php -r 'x' -- $0",
        "awk -F: '{ print }' $0",
        "awk -f x.awk $0",
        "sed -n -e '1p' $0",
        "sed -n '1p' -- \"$ARGUMENTS\"",
        "source x.sh $0",
        "timeout -k \"${limit}\" 5 gh $0",
        "env A=\"$x\" nice -n \"$n\" gh $0",
        "find \"$dir\" -exec grep $0 {} +",
        "tar -tf $0",
        "find . -name $0",
    ] {
        assert!(prepared(line).is_some(), "{line}");
    }
}
