//! What a new user sees after building the program: at a terminal with colours, in a fresh clone, and with skills of several agents.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    path::Path,
    process::{Command, Stdio},
};

use metier_testkit::TestContext;

use crate::skill_project::SkillProject;

fn skill(context: &TestContext, folder: &str, name: &str, description: &str) {
    context.write(
        &format!("{folder}/{name}/SKILL.md"),
        format!("---\nname: {name}\ndescription: {description}\n---\nDo it.\n"),
    );
}

/// Runs a command at a terminal with this many columns, with colours and without input, and returns the screen.
fn screen(context: &TestContext, columns: usize, arguments: &[&str]) -> String {
    let command = context.command();
    let program = command.get_program().to_str().unwrap();
    let words: Vec<String> = std::iter::once(program)
        .chain(arguments.iter().copied())
        .map(|word| format!("'{word}'"))
        .collect();
    let line = format!("stty cols {columns} rows 50; exec {}", words.join(" "));
    let mut script = Command::new("script");
    script
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .env_clear()
        .current_dir(command.get_current_dir().unwrap())
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("TERM", "xterm-256color")
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    let output = script.output().unwrap();
    String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")
}

/// The screen without colours.
fn plain(screen: &str) -> String {
    let mut plain = String::new();
    let mut letters = screen.chars();
    while let Some(c) = letters.next() {
        if c == '\u{1b}' {
            letters.by_ref().find(|c| c.is_ascii_alphabetic());
        } else {
            plain.push(c);
        }
    }
    // The output of a progress counter was erased.
    let lines = plain
        .lines()
        .map(|line| line.rsplit('\r').next().unwrap_or_default());
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn no_command_prints_escape_codes_as_text_or_asks_a_question() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    skill(&context, "~/.claude/skills", "pdf", "Reads tables.");
    skill(&context, "skills", "local", "Comes with the project.");
    let commands: &[&[&str]] = &[
        &[],
        &["list"],
        &["list", "--all"],
        &["info", "git"],
        &["tools"],
        &["tools", "git"],
        &["doctor"],
        &["validate", "skills"],
        &["scan", "skills"],
        &["select", "resolve the merge conflict"],
        &["why", "resolve the merge conflict", "git"],
        &["compose", "git", "core-tools"],
        &["permissions"],
        &["permissions", "git"],
        &["log"],
        &["deps", "git"],
        &["config"],
        &["config", "agent"],
        &["trust", "--list"],
        &["chat", "--list"],
        &["prompt"],
        &["help"],
        &["help", "list"],
        &["info", "nothing"],
        &["install", "x"],
    ];
    let mut painted = 0;
    for arguments in commands {
        let screen = screen(&context, 80, arguments);
        painted += usize::from(screen.contains('\u{1b}'));
        assert!(!screen.contains("\\u{1b}"), "{arguments:?}\n{screen}");
        assert!(!screen.contains("(deny)"), "{arguments:?} asks\n{screen}");
        assert!(!screen.is_empty(), "{arguments:?} prints nothing");
    }
    assert!(
        painted > 15,
        "only {painted} commands paint: are there colours?"
    );
}

#[test]
fn text_is_wrapped_between_words_and_nothing_is_cut() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    context.write(
        "~/.openclaw/skills/notes/SKILL.md",
        "---\nname: notes\ndescription: Keeps notes.\nmetadata:\n  openclaw:\n    requires: {bins: [memo]}\n    install:\n      - {kind: brew, formula: antoniorodr/memo/memo, bins: [memo]}\n---\nDo it.\n",
    );
    context.write("~/.claude/skills/broken/SKILL.md", "No frontmatter.\n");
    for arguments in [
        &[][..],
        &["list", "--all"],
        &["doctor"],
        &["info", "notes"],
        &["help"],
    ] {
        let screen = plain(&screen(&context, 60, arguments));
        for line in screen.lines().filter(|line| line.contains(' ')) {
            let width = line.trim_end().chars().count();
            let longest = line.split(' ').map(|word| word.chars().count()).max();
            assert!(
                width <= 60 || longest.unwrap() > 50,
                "{arguments:?}: {width} columns: {line}\n{screen}"
            );
        }
        let flat: String = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        if !arguments.contains(&"help") {
            assert!(
                flat.contains("brew install antoniorodr/memo/memo"),
                "{arguments:?}\n{screen}"
            );
        }
        assert!(
            !screen.contains(context.home().to_str().unwrap()),
            "{arguments:?}\n{screen}"
        );
    }
}

#[test]
fn a_fresh_clone_of_metier_is_not_full_of_errors() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sources = metier_catalog_builtins();
    for (path, content) in &sources {
        context.write(&format!("clone/skills/{path}"), content);
        assert!(repository.join("skills").join(path).exists());
    }
    fs::create_dir(context.path("clone/.git")).unwrap();
    let output = context.run(&["-C", "clone"]);
    assert!(!output.stdout.contains('✗'), "{}", output.snapshot());
    assert!(!output.stdout.contains("project"), "{}", output.snapshot());
    // With one more byte it is a skill of the project like any other.
    context.write(
        "clone/skills/git/SKILL.md",
        "---\nname: git\ndescription: Other.\n---\n",
    );
    let output = context.run(&["-C", "clone"]);
    assert!(
        output
            .stdout
            .contains("1 skill in skills: the folder is not trusted"),
        "{}",
        output.snapshot()
    );
}

/// The files of the built-in skills, as they are in the repository.
fn metier_catalog_builtins() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../skills");
    let mut files = Vec::new();
    let mut waiting = vec![root.clone()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                waiting.push(entry.path());
            } else {
                let path = entry.path();
                let name = path
                    .strip_prefix(&root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                files.push((name, fs::read(&path).unwrap()));
            }
        }
    }
    files
}

#[test]
fn one_untrusted_folder_is_one_line() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    for name in ["one", "two", "three"] {
        skill(&context, ".claude/skills", name, "Does something.");
    }
    for arguments in [&[][..], &["list"], &["doctor"]] {
        let output = context.run(arguments);
        let times = output.stdout.matches("not trusted").count();
        let expected = if arguments.is_empty() { 2 } else { 1 };
        assert_eq!(times, expected, "{arguments:?}: {}", output.snapshot());
    }
}

#[test]
fn skills_are_found_by_agent_status_and_word() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    skill(&context, "~/.codex/skills", "pdf", "Reads documents.");
    skill(
        &context,
        "~/.openclaw/skills",
        "weather",
        "Gets a forecast.",
    );
    let names = |arguments: &[&str]| -> Vec<String> {
        let all: Vec<&str> = ["list", "--json"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let output = context.run(&all);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        let list: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
        let skills = list["skills"].as_array().unwrap();
        skills
            .iter()
            .map(|skill| skill["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(&["pdf"]), ["pdf"]);
    assert_eq!(names(&["FORECAST"]), ["weather"]);
    assert_eq!(names(&["--agent", "codex"]), ["pdf"]);
    assert_eq!(names(&["--agent", "open", "--ready"]), ["weather"]);
    assert_eq!(
        names(&["--source", "user"]).len(),
        2,
        "the folders of agents are the user's"
    );
    assert_eq!(names(&["--status", "blocked"]), [""; 0]);
    let wrong = context.run(&["list", "--agent", "unknown"]);
    assert_eq!(wrong.code, 2, "{}", wrong.snapshot());
    // The user's own skill takes precedence over a built-in one.
    skill(&context, "~/.codex/skills", "git", "My own.");
    let output = context.run(&["info", "git"]);
    assert!(output.stdout.contains("My own."), "{}", output.snapshot());
}

#[test]
fn a_script_gets_its_input_and_shows_its_output_as_it_comes() {
    let stage = SkillProject::new();
    stage.scripted(
        "echoer",
        &["shell:exec(scripts/do.sh *)"],
        "read name; echo \"hello $name\"; printf '  indented\\n' >&2; read rest; echo \"and $rest\"\n",
    );
    let mut command = stage.context.command();
    command.args([
        "--root",
        "skills",
        "--approve-skills",
        "echoer",
        "exec",
        "echoer",
        "scripts/do.sh",
    ]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    writeln!(keyboard, "Bob").unwrap();
    // The script is still running and waits for its second line.
    assert_eq!(lines.next().unwrap().unwrap(), "hello Bob");
    writeln!(keyboard, "Ada").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "and Ada");
    let mut error = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut error)
        .unwrap();
    assert_eq!(error, "  indented\n", "as the script wrote it");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_pipe_ends_a_command_quietly() {
    let stage = SkillProject::new();
    stage.scripted(
        "endless",
        &["shell:exec(scripts/do.sh *)"],
        "while :; do echo again; done\n",
    );
    for number in 0..200 {
        skill(
            &stage.context,
            "many",
            &format!("skill-{number}"),
            "Does something useful, and says so.",
        );
    }
    let exec = [
        "--root",
        "skills",
        "--approve-skills",
        "endless",
        "exec",
        "endless",
        "scripts/do.sh",
    ];
    let commands: &[&[&str]] = &[
        &["--root", "many", "list"],
        &["--root", "many", "list", "--json"],
        &["help"],
        &["config", "--reference"],
        &exec,
    ];
    for arguments in commands {
        let mut command = stage.context.command();
        command.args(*arguments).stdin(Stdio::null());
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        let status = child.wait().unwrap();
        assert!(
            !said.contains("error") && !said.contains("panicked"),
            "{arguments:?}: {said}"
        );
        assert_eq!(status.code(), Some(0), "{arguments:?}: {said}");
    }
}

#[test]
fn named_roots_keep_the_models_of_the_user() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    skill(&context, "skills", "one", "Does something.");
    let set = context.run(&["config", "set", "agent.model", "ollama/some"]);
    assert_eq!(set.code, 0, "{}", set.snapshot());
    context.run(&["config", "skills.enabled", "false"]);
    let get = |key: &str| {
        context
            .run(&["--root", "skills", "config", "get", key])
            .stdout
    };
    assert_eq!(get("agent.model").trim(), "\"ollama/some\"");
    assert_eq!(
        get("skills.enabled").trim(),
        "true",
        "everything else is the same on every machine"
    );
}

#[test]
fn a_home_that_cannot_be_written_is_named() {
    let mut context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    // No user can create a folder inside a file, not even root.
    let home = context.write("~/file", "").join("metier");
    context.env("METIER_HOME", &home);
    skill(&context, "skills", "one", "Does something.");
    for arguments in [
        &["--root", "skills", "permissions", "one", "--approve"][..],
        &["tools", "git"],
        &["trust"],
    ] {
        let output = context.run(arguments);
        assert_eq!(output.code, 2, "{arguments:?}: {}", output.snapshot());
        assert!(
            output.stderr.contains("~/file/metier"),
            "{arguments:?}: {}",
            output.snapshot()
        );
        assert!(
            output.stderr.contains("hint: "),
            "{arguments:?}: {}",
            output.snapshot()
        );
        assert!(
            !output.stderr.contains("the output can't"),
            "{arguments:?}: {}",
            output.snapshot()
        );
    }
    let doctor = context.run(&["doctor"]);
    assert!(
        !doctor.stdout.contains("ok    database"),
        "{}",
        doctor.snapshot()
    );
}

#[test]
fn the_tab_key_knows_skills_keys_and_values() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    skill(
        &context,
        "~/.claude/skills",
        "review-pr",
        "Reviews pull requests.",
    );
    let offered = |words: &[&str]| -> Vec<String> {
        let position = (words.len() - 1).to_string();
        let all: Vec<&str> = ["__complete", position.as_str()]
            .iter()
            .chain(words)
            .copied()
            .collect();
        let output = context.run(&all);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        let lines = output
            .stdout
            .lines()
            .map(|line| line.split('\t').next().unwrap().to_owned());
        lines.collect()
    };
    assert_eq!(offered(&["metier", "sho"]), ["show"]);
    assert_eq!(offered(&["metier", "show", "re"]), ["review-pr"]);
    assert_eq!(
        offered(&["metier", "--skills", "git,re"]),
        ["git,review-pr"]
    );
    assert_eq!(offered(&["metier", "config", "agent.mod"]), ["agent.model"]);
    assert_eq!(
        offered(&["metier", "config", "skills.validation", ""]),
        ["lenient", "strict"]
    );
    assert_eq!(
        offered(&["metier", "new", "x", "--type", "w"]),
        ["workflow"]
    );
    assert_eq!(
        offered(&["metier", "list", "--agent", "cod"])
            .first()
            .unwrap(),
        "codeartsdoer"
    );
    assert_eq!(
        offered(&["metier", "read", "skill-author", "references/c"]),
        ["references/checklist.md"]
    );
    assert_eq!(offered(&["metier", "list", "--rea"]), ["--ready"]);
    assert_eq!(offered(&["metier", "validate", ""]), ["__files"]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = context.run(&["completions", shell]);
        assert!(
            output.code == 0 && output.stdout.contains("metier"),
            "{}",
            output.snapshot()
        );
    }
}
