//! The two parsers of shell agree where both apply.
//!
//! `metier_model::shell` determines which commands a permission covers: its grammar is closed, and it gives up where shells differ. The
//! lowering of the scanner has to continue after mistakes, and follows data. Both list commands, redirects and substitutions, so one is the
//! oracle of the other: on every text that the closed grammar accepts, both see the same programs and the same written files.

use std::collections::BTreeSet;

use metier_model::shell::{RedirectOp, ShellLine, ShellWord, parse};
use proptest::prelude::{Just, Strategy, prop_oneof, proptest};

use super::Patience;
use crate::form::{CallExpr, Expr, LoweredProgram, READ, Stmt, WRITE};

/// The results of a parser for a text.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    /// Programs with a literal name, without their folder.
    programs: BTreeSet<String>,
    /// Files with a literal name that redirects write.
    written: BTreeSet<String>,
}

/// Builtins that set variables: the lowering binds their names, with or without a call.
const BINDING: &[&str] = &[
    "declare", "export", "local", "read", "readonly", "typeset", "unset",
];
/// Redirects to these store nothing.
const STREAMS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"];

/// The name of a program: without its folder, and one name for builtins that have several.
fn base(program: &str) -> &str {
    let program = program.trim_end_matches('/');
    match program.rsplit('/').next().unwrap_or(program) {
        "[" | "[[" => "test",
        "." => "source",
        name => name,
    }
}

fn by_grammar(line: &ShellLine) -> Seen {
    let mut seen = Seen::default();
    for command in &line.commands {
        seen.programs
            .extend(command.program().map(|program| base(program).to_owned()));
        let files = command.redirects.iter().filter(|redirect| {
            let descriptor = redirect.target.literal().is_some_and(is_descriptor);
            redirect.op.writes() && !(redirect.op == RedirectOp::DuplicateOut && descriptor)
        });
        let files = files.filter_map(|redirect| redirect.target.literal());
        seen.written.extend(files.map(str::to_owned));
    }
    seen
}

/// `2` and `-` in `>&2` and `>&-`.
fn is_descriptor(target: &str) -> bool {
    target == "-" || target.bytes().all(|byte| byte.is_ascii_digit())
}

fn by_scanner(program: &LoweredProgram) -> Seen {
    let mut seen = Seen::default();
    program.body.iter().for_each(|stmt| seen.statement(stmt));
    seen
}

impl Seen {
    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Let { value, .. } | Stmt::Do(value) | Stmt::Return(value) => self.value(value),
            Stmt::Function { body, .. } => body.iter().for_each(|stmt| self.statement(stmt)),
            Stmt::Block { condition, body } => {
                condition.iter().for_each(|value| self.value(value));
                body.iter().for_each(|stmt| self.statement(stmt));
            }
        }
    }

    fn value(&mut self, value: &Expr) {
        match value {
            Expr::Call(call) => self.call(call),
            Expr::Join(parts) | Expr::Parts(parts) | Expr::List(parts) => {
                parts.iter().for_each(|part| self.value(part));
            }
            Expr::Lambda { body, .. } => body.iter().for_each(|stmt| self.statement(stmt)),
            Expr::Text(..) | Expr::Number(..) | Expr::Name(..) | Expr::Nothing => {}
        }
    }

    fn call(&mut self, call: &CallExpr) {
        match (&*call.callee, call.args.first().map(|arg| &arg.value)) {
            (WRITE, Some(Expr::Text(path, _))) => {
                self.written.insert(path.clone());
            }
            ("" | READ | WRITE, _) => {}
            (program, _) => {
                self.programs.insert(base(program).to_owned());
            }
        }
        call.on.iter().for_each(|value| self.value(value));
        call.args.iter().for_each(|arg| self.value(&arg.value));
        call.input.iter().for_each(|value| self.value(value));
    }

    /// Leaves out intended differences between the two parsers: names that no program has (the scanner also looks for operations on
    /// values), and paths that a shell expands.
    fn shared(mut self) -> Self {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.');
        self.programs.retain(|name| {
            let is_plain = name.starts_with(char::is_alphanumeric) && name.chars().all(is_name);
            is_plain && !BINDING.contains(&&**name)
        });
        self.written.retain(|path| {
            let expands = path.contains(['~', '*', '?', '[', '{']);
            !expands && !STREAMS.contains(&&**path)
        });
        self
    }
}

/// Whether the programs that run are more than those that are named: then only the scanner unfolds them.
fn unfolds(line: &ShellLine) -> bool {
    let expands = |word: &ShellWord| word.literal().is_none();
    line.commands
        .iter()
        .any(|command| command.runs_arguments() || command.words.first().is_some_and(expands))
}

/// Compares the parsers; returns whether the closed grammar accepts the text, so that something was compared.
#[track_caller]
fn compare(text: &str) -> bool {
    let Ok(line) = parse(text) else {
        return false;
    };
    let lowered = super::shell(text, &Patience::default());
    assert!(!lowered.cut, "{text:?}");
    let (expected, seen) = (by_grammar(&line).shared(), by_scanner(&lowered).shared());
    let missing: Vec<_> = expected.programs.difference(&seen.programs).collect();
    assert!(
        missing.is_empty(),
        "{text:?}: only the grammar sees {missing:?}"
    );
    if !unfolds(&line) {
        let more: Vec<_> = seen.programs.difference(&expected.programs).collect();
        assert!(more.is_empty(), "{text:?}: only the scanner sees {more:?}");
    }
    assert_eq!(seen.written, expected.written, "{text:?}: written files");
    true
}

#[test]
fn both_readers_see_the_same_commands_and_files() {
    for text in [
        "git log --oneline -5",
        "git log | head -3 > /tmp/out.txt",
        "a && b || c; d & e",
        "FOO=1 BAR=\"x y\" make -j4 2>&1 | tee build.log",
        "echo \"$(git rev-parse HEAD)\" >> notes.md",
        "echo `date` > now",
        "for f in *.md; do wc -l \"$f\"; done > counts 2> errors",
        "if [ -f Cargo.toml ]; then cargo test; else echo none; fi",
        "while read -r line; do echo \"$line\"; done < list.txt",
        "( cd src && ls ) | sort",
        "{ date; uname -a; } > facts",
        "case $1 in start) run-it ;; *) usage ;; esac",
        "diff <(sort a) <(sort b)",
        "cat <<'EOF' > config\nname: $(id)\nEOF\nls",
        "grep -c . <<< \"$text\"",
        "! grep -q x file && echo \"not there\"",
        "/usr/bin/env | sort",
        "x=$(curl -s https://example.org/a) && printf '%s' \"$x\"",
        "test -d out || mkdir -p out >| log",
        "cmd1 |& cmd2 &> all",
        "ls -l\nwhoami # who\nid -u",
        "echo 'a; rm -rf /' \"b && c\" d\\;e",
        "\"my tool\" --flag 'c''d'",
        "until ping -c1 host; do sleep 1; done",
        "[[ -n $X ]] && echo yes",
        "! { git status; } && ! ( hg status ) > out",
        "echo \"$( ! { git; } )\"",
        "! for f in a b; do git add $f; done | tail -1",
        "if ! while read x; do ls; done; then date; fi",
        "! ! case $1 in a) id ;; esac",
        ". ./lib.sh; source other.sh",
        "echo $((1 + 2)) ${HOME:-none} ~/x {a,b}",
    ] {
        assert!(compare(text), "{text:?} is not understood");
    }
}

/// Typical words, without a special meaning.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        5 => proptest::sample::select(vec!["x", "-n", "a.txt", "src/main.rs", "--all", "1", "k=v"])
            .prop_map(str::to_owned),
        1 => Just("'single; | > quoted'".to_owned()),
        1 => Just("\"double $HOME quoted\"".to_owned()),
        1 => Just("esc\\ aped\\;".to_owned()),
        1 => Just("$VAR".to_owned()),
        1 => Just("*.rs".to_owned()),
        1 => Just("mixed'q'\"r\"s".to_owned()),
        1 => Just("${NAME:-none}".to_owned()),
        1 => Just("$'tab\\t'".to_owned()),
        1 => Just("#no".to_owned()),
    ]
}

fn program() -> impl Strategy<Value = String> {
    let names = vec![
        "git",
        "ls",
        "cat",
        "grep",
        "curl",
        "sed",
        "sort",
        "./run.sh",
        "/bin/date",
        "c'u't",
        "t\\r",
    ];
    proptest::sample::select(names).prop_map(str::to_owned)
}

fn redirect() -> impl Strategy<Value = String> {
    let forms = vec![
        "> out",
        ">> log.txt",
        "2> err",
        "2>&1",
        "< in",
        ">| out",
        "&> all",
        "> 'a b'",
        "<<< text",
        ">/dev/null",
    ];
    proptest::sample::select(forms).prop_map(str::to_owned)
}

/// One command; [`line`] adds the rest.
fn simple() -> impl Strategy<Value = String> {
    let words = proptest::collection::vec(word(), 0..4);
    let redirects = proptest::collection::vec(redirect(), 0..2);
    let assigned = proptest::option::weighted(0.2, Just("A=1 ".to_owned()));
    (assigned, program(), words, redirects).prop_map(|(assigned, program, words, redirects)| {
        let mut parts = vec![program];
        parts.extend(words);
        parts.extend(redirects);
        assigned.unwrap_or_default() + &parts.join(" ")
    })
}

fn line() -> impl Strategy<Value = String> {
    simple().prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        let joint = proptest::sample::select(vec![" | ", " && ", " || ", "; ", "\n", " & "]);
        prop_oneof![
            4 => (two.clone(), joint).prop_map(|((one, other), joint)| format!("{one}{joint}{other}")),
            1 => inner.clone().prop_map(|line| format!("( {line} )")),
            1 => inner.clone().prop_map(|line| format!("{{ {line}; }}")),
            1 => inner.clone().prop_map(|line| format!("echo \"$( {line} )\"")),
            1 => inner.clone().prop_map(|line| format!("cat <( {line} )")),
            1 => inner.clone().prop_map(|line| format!("for f in a b; do {line}; done")),
            1 => two.clone().prop_map(|(one, other)| format!("if {one}; then {other}; fi")),
            1 => two.prop_map(|(one, other)| format!("while {one}; do {other}; done")),
            1 => inner.prop_map(|line| format!("! {line}")),
        ]
    })
}

proptest! {
    #[test]
    fn generated_lines_are_read_alike(text in line()) {
        compare(&text);
    }
}

/// The generator must not produce only what the grammar refuses.
#[test]
fn most_generated_lines_are_compared() {
    use proptest::{strategy::ValueTree as _, test_runner::TestRunner};
    let mut runner = TestRunner::deterministic();
    let compared = (0..200).filter(|_| {
        let text = line().new_tree(&mut runner).unwrap().current();
        parse(&text).is_ok()
    });
    let compared = compared.count();
    assert!(compared >= 100, "only {compared} of 200");
}
