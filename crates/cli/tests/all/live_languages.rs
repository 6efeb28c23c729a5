//! One skill in four languages: found, selected, approved, called, changed by another skill's hooks, and deactivated. The receipts about it
//! are the same in every language.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use metier_model::Source;
use metier_testkit::make_executable;
use serde_json::Value;

use crate::{
    live_session::{Live, left_running},
    skill_project::field,
};

/// The skill, without the file that is run.
const FRONT: &str = "types: [tool]\ntriggers: {keywords: [greet]}\n";

const ASKS: &[&str] = &[
    "file:read(./greeting.txt)",
    "file:write(./note.txt)",
    "shell:exec(echo *)",
];

/// A skill that changes the input and the answer of the other one.
const POLITE: &str = r#"
def before(event):
    event["input"]["who"] = "Countess " + event["input"]["who"]
    return event

def after(event):
    event["output"] = event["output"] + "!"
    return event

register_hook("before_tool_call", before)
register_hook("after_tool_result", after)
"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CodeLanguage {
    Starlark,
    Python,
    TypeScript,
    Rust,
}

impl CodeLanguage {
    const ALL: [Self; 4] = [Self::Starlark, Self::Python, Self::TypeScript, Self::Rust];

    /// The file that is run.
    const fn file(self) -> &'static str {
        match self {
            Self::Starlark => "main.star",
            Self::Python => "main.py",
            Self::TypeScript => "main.ts",
            Self::Rust => "herald.bin",
        }
    }

    /// A machine on which this skill is there.
    fn live(self) -> Live {
        let live = Live::new();
        let context = &live.stage.context;
        context.write("greeting.txt", "Hello\n");
        context.write("secret.txt", "the secret\n");
        let code = match self {
            Self::Starlark => include_str!("../languages/main.star"),
            Self::Python => include_str!("../languages/main.py"),
            Self::TypeScript => include_str!("../languages/main.ts"),
            Self::Rust => "",
        };
        live.skill("herald", FRONT, ASKS, (self.file(), code));
        live.skill("polite", "types: [prompt]\n", &[], ("main.star", POLITE));
        match self {
            Self::Starlark | Self::Python => {}
            Self::TypeScript => {
                let sdk = include_str!("../../../../sdk/typescript/metier.ts");
                context.write("skills/herald/metier.ts", sdk);
                let bin = context.path("$BIN/node");
                std::os::unix::fs::symlink(node(), bin).unwrap();
            }
            Self::Rust => {
                let file = context.path("skills/herald/herald.bin");
                fs::remove_file(&file).unwrap();
                fs::copy(herald(), &file).unwrap();
                make_executable(&file);
            }
        }
        live
    }
}

/// The Node of the tests.
fn node() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
    let node = target.unwrap().join("node/node_modules/.bin/node");
    assert!(
        node.exists(),
        "there is no Node at {}: `cargo xtask test` installs it (it needs npm)",
        node.display()
    );
    node.canonicalize().unwrap()
}

/// The skill in Rust: an example, which cargo builds with the tests unless only some of them were requested.
fn herald() -> PathBuf {
    let tests = env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap();
    let herald = built.join("examples/herald");
    if !herald.exists() {
        let profile = match built.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let status = Command::new(env!("CARGO"))
            .args(["build", "--package", "metier-cli", "--example", "herald"])
            .args(["--quiet", "--profile", profile])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(status.is_ok_and(|status| status.success()), "no example");
    }
    herald
}

/// Runs the skill through its life; returns its receipts, the oldest first, without the parts that always differ.
fn life(language: CodeLanguage) -> Vec<String> {
    let live = language.live();
    let listed = live.json(&["list"]);
    let skills = listed["skills"].as_array().unwrap();
    let herald = skills.iter().find(|skill| skill["name"] == "herald");
    assert_eq!(herald.unwrap()["status"], "ready", "{language:?}: {listed}");

    let picked = live.json(&["select", "please greet Ada"]);
    let pick = &picked["picks"][0];
    assert_eq!(pick["name"], "herald", "{language:?}: {picked}");
    assert_eq!(
        pick["why"][0]["signal"], "keyword",
        "{language:?}: {picked}"
    );

    let call = ["call", "herald", "greet", r#"{"who":"Ada"}"#];
    let refused = live.run(&call);
    assert_eq!(refused.code, 1, "{language:?}: {}", refused.snapshot());
    let asked: Vec<&str> = refused.stderr.lines().map(str::trim).collect();
    for want in ASKS {
        assert!(asked.contains(want), "{language:?}: {}", refused.snapshot());
    }
    let program = format!("shell:exec({} *)", language.file());
    assert_eq!(
        asked.contains(&program.as_str()),
        language != CodeLanguage::Starlark,
        "{language:?}: {}",
        refused.snapshot()
    );
    assert!(!live.stage.has("note.txt"), "{language:?}");

    let approved = live.run(&["permissions", "herald", "--approve"]);
    assert_eq!(approved.code, 0, "{language:?}: {}", approved.snapshot());
    let tools = live.json(&["tools", "herald"]);
    let tools = tools["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = tools.map(|tool| field(tool, "name")).collect();
    assert_eq!(names, ["herald__greet", "herald__peek"], "{language:?}");

    let plain = live.json(&call);
    assert_eq!(plain["output"], "Hello, Ada", "{language:?}: {plain}");
    let polite = live.json(&[&["--skills", "polite"][..], &call].concat());
    assert_eq!(polite["output"], "Hello, Countess Ada!", "{language:?}");
    assert_eq!(polite["is_error"], false, "{language:?}");
    assert_eq!(live.stage.context.read("note.txt"), "Hello", "{language:?}");

    let peek = live.run(&["call", "herald", "peek"]);
    assert_eq!(peek.code, 1, "{language:?}: {}", peek.snapshot());
    assert!(!peek.stdout.contains("the secret"), "{language:?}");
    let wanted = "file:read";
    assert!(
        peek.stdout.contains(wanted),
        "{language:?}: {}",
        peek.snapshot()
    );

    assert_eq!(left_running(&live), [""; 0], "{language:?}");
    let mut receipts = live.stage.receipts();
    receipts.reverse();
    let own = receipts.iter().filter(|receipt| {
        // Where the skill is a program, running it requires a permission, and has a receipt from its start to its end.
        field(receipt, "detail") != program && field(receipt, "act") != "skill:run"
    });
    own.map(|receipt| normal(&live, receipt)).collect()
}

fn normal(live: &Live, receipt: &Value) -> String {
    let words = ["skill", "act", "detail", "decision", "outcome"];
    let words = words.map(|name| field(receipt, name)).join(" | ");
    // Each language reports the position of an error in its own words.
    let reason = field(receipt, "reason").lines().next().unwrap_or_default();
    let reason = reason.find('`').map_or(reason, |start| &reason[start..]);
    let line = format!("{words} | {reason}");
    live.stage.context.filter(line.trim_end_matches([' ', '|']))
}

#[test]
fn what_is_written_down_is_the_same_whatever_a_skill_is_written_in() {
    let lives: Vec<Vec<String>> = std::thread::scope(|scope| {
        let all = CodeLanguage::ALL.map(|language| scope.spawn(move || life(language)));
        all.into_iter().map(|life| life.join().unwrap()).collect()
    });
    let expected = include_str!("live_languages.txt");
    let table = lives[0].join("\n");
    if env::var_os("METIER_BLESS").is_some() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/live_languages.txt");
        fs::write(file, format!("{table}\n")).unwrap();
    } else {
        assert_eq!(table, expected.trim_end(), "METIER_BLESS=1 rewrites it");
    }
    for (language, life) in CodeLanguage::ALL.iter().zip(&lives).skip(1) {
        assert_eq!(*life, lives[0], "{language:?} is not as Starlark");
    }
}

/// The sandbox of a skill is recorded when it is activated; it differs, and nothing else does.
#[test]
fn what_confines_a_skill_is_written_down_when_it_is_activated() {
    for (language, expected) in [
        (CodeLanguage::Starlark, "worker"),
        (CodeLanguage::Python, "namespaces"),
    ] {
        let mut live = language.live();
        live.roots = vec![(Source::User, "skills")];
        let called = live.run(&["--approve-skills", "herald", "call", "herald", "peek"]);
        assert_eq!(called.code, 1, "{language:?}: {}", called.snapshot());
        let receipts = live.stage.receipts();
        let is_start = |receipt: &&Value| field(receipt, "act") == "skill:activate";
        let start = receipts.iter().find(is_start).unwrap();
        assert!(
            field(start, "sandbox").starts_with(expected),
            "{language:?}: {start}"
        );
    }
}
