//! The host survives its guests: one attack on memory and time for each entry point.
//!
//! Measured are the largest process that a run of the program starts, as the system reports it, and the time.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::fs::symlink,
    process::Command,
    sync::mpsc::channel,
    thread,
};

use metier_testkit::{
    NotRun, ProgramOutput,
    model_server::{ModelServer, ScriptedTurn},
    needed,
    patience::PATIENCE,
};
use serde_json::{Value, json};

use crate::{conditions::under_every_condition, skill_project::SkillProject};

/// The maximum that the program uses for any input, in kilobytes.
const MEMORY: u64 = 256 << 10;

/// A fixture in which the memory of the program is measured.
fn scales() -> Result<SkillProject, NotRun> {
    let mut stage = SkillProject::measured()?;
    stage.context.env("METIER_SKILLS_LIMITS_TOOL_TIMEOUT", "10");
    Ok(stage)
}

/// Runs the program, which must end and stay small.
fn weigh(stage: &SkillProject, arguments: &[&str]) -> ProgramOutput {
    let output = stage.run(arguments);
    let memory = stage.used().kilobytes;
    assert!(
        memory < MEMORY,
        "{arguments:?}: {memory} KB: {}",
        output.snapshot()
    );
    output
}

/// A skill in Starlark, with a tool `t`.
fn starlark(stage: &SkillProject, name: &str, permissions: &[&str], code: &str) {
    let front = format!(
        "types: [tool]\nimplementation: {{backend: starlark, entrypoint: main.star}}\npermissions: {}\n",
        serde_json::to_string(permissions).unwrap()
    );
    stage.skill(name, &front, "Text.\n");
    stage
        .context
        .write(&format!("skills/{name}/main.star"), code);
}

fn fifo(path: &std::path::Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Code that registers `t` with a schema of definitions, each of which contains references to the next.
fn chain(count: usize, link: &str) -> String {
    format!(
        "def build():\n    defs = {{}}\n    for i in range({count}):\n        \
         next = {{\"$ref\": \"#/$defs/d%d\" % (i + 1)}}\n        defs[\"d%d\" % i] = {link}\n    \
         defs[\"d{count}\"] = {{}}\n    return {{\"type\": \"object\", \"$ref\": \"#/$defs/d0\", \"$defs\": defs}}\n\
         register_tool(\"t\", \"A tool\", lambda input: 1, build())\n"
    )
}

// case 158
#[test]
fn a_schema_neither_kills_nor_hangs_the_program() {
    under_every_condition(|stage| {
        let overflows = "{\"oneOf\": [next], \"unevaluatedProperties\": False}";
        starlark(stage, "overflows", &[], &chain(10_000, overflows));
        starlark(
            stage,
            "doubles",
            &[],
            &chain(40, "{\"allOf\": [next, next]}"),
        );
        starlark(stage, "works", &[], &chain(3, "{\"allOf\": [next]}"));
        for name in ["overflows", "doubles"] {
            let output = stage.run(&["call", name, "t", "{}"]);
            assert_eq!(output.code, 1, "{}", output.snapshot());
            let said = "the input schema of `t` is refused: ";
            assert!(output.stderr.contains(said), "{}", output.snapshot());
        }
        let output = stage.run(&["call", "works", "t", "{}"]);
        assert_eq!(output.code, 0, "{}", output.snapshot());
    });
}

// case 158
#[test]
fn no_schema_and_no_input_takes_all_of_the_memory() {
    let stage = needed!(scales());
    let links = [
        "{\"anyOf\": [next, {\"not\": next}], \"unevaluatedItems\": False}",
        "{\"properties\": {\"a\": next}, \"patternProperties\": {\"^(a|b{500}){30}\": next}}",
        "{\"items\": next, \"contains\": next, \"uniqueItems\": True}",
    ];
    for (at, link) in links.iter().enumerate() {
        let name = format!("schema-{at}");
        starlark(
            &stage,
            &name,
            &[],
            &chain(if at == 0 { 6 } else { 2_000 }, link),
        );
        let deep = format!("{{\"a\": {}{}}}", "[".repeat(100), "]".repeat(100));
        let wide = format!("{{\"a\": [{}1]}}", "[1],".repeat(20_000));
        for input in [&deep, &wide] {
            stage.context.write("input.json", input);
            weigh(
                &stage,
                &["call", &name, "t", input.get(..100_000).unwrap_or(input)],
            );
        }
    }
}

// case 185
#[test]
fn an_input_that_is_nested_deeply_is_refused_and_not_waited_for() {
    under_every_condition(|stage| {
        let code = "def t(input):\n    return 1\nregister_tool(\"t\", \"A tool\", t)\n";
        starlark(stage, "deep", &[], code);
        for depth in [100, 118, 119, 120, 121, 124, 125, 126, 127, 128, 200] {
            let input = format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
            let output = stage.run(&["call", "deep", "t", &input]);
            let expected = i32::from(depth > 119);
            assert_eq!(
                output.code.min(1),
                expected,
                "{depth}: {}",
                output.snapshot()
            );
            assert!(
                !output.stderr.contains("did not answer"),
                "{}",
                output.snapshot()
            );
        }
    });
}

// case 164
#[test]
fn an_ignore_file_that_is_not_used_is_named() {
    let stage = SkillProject::new();
    let code =
        "def t(input):\n    return len(glob(\"**/*.txt\"))\nregister_tool(\"t\", \"A tool\", t)\n";
    starlark(&stage, "finds", &["file:read(./**)"], code);
    stage.context.write("a.txt", "x\n");
    let arguments = ["--approve-skills", "finds", "call", "finds", "t", "{}"];
    stage.context.write(".gitignore", "b.txt\n");
    let output = stage.run(&arguments);
    assert!(
        !output.stderr.contains(".gitignore"),
        "{}",
        output.snapshot()
    );
    stage.context.write(".gitignore", "a.txt\n".repeat(2_001));
    let output = stage.run(&arguments);
    assert_eq!(output.stdout, "1\n", "{}", output.snapshot());
    assert!(
        output
            .stderr
            .contains(".gitignore is not used as an ignore file"),
        "{}",
        output.snapshot()
    );
}

// case 164, 16
#[test]
fn ignore_files_of_a_clone_neither_kill_nor_hang_a_search() {
    under_every_condition(|stage| {
        let code = "def t(input):\n    return [len(glob(\"**/*.txt\")), len(grep(\"needle\"))]\n\
                    register_tool(\"t\", \"A tool\", t)\n";
        starlark(stage, "finds", &["file:read(./**)"], code);
        let work = stage.context.work();
        stage.context.write("a.txt", "needle\n");
        stage.context.write("sub/b.txt", "needle\n");
        let arguments = ["--approve-skills", "finds", "call", "finds", "t", "{}"];
        let search = || {
            let output = stage.run(&arguments);
            let found: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
            // The skill itself is in the project and contains the word in its code.
            assert_eq!(found, json!([2, 3]), "{}", output.snapshot());
        };
        symlink("/dev/zero", work.join(".ignore")).unwrap();
        symlink("/dev/zero", work.join("sub/.gitignore")).unwrap();
        search();
        fifo(&work.join(".gitignore"));
        fs::create_dir_all(work.join(".git/info")).unwrap();
        fifo(&work.join(".git/info/exclude"));
        search();
    });
}

// case 164, 22
#[test]
fn no_folder_takes_all_of_the_memory_of_a_search() {
    let stage = needed!(scales());
    let tool = |call: &str| {
        format!("def t(input):\n    return len({call})\nregister_tool(\"t\", \"A tool\", t)\n")
    };
    starlark(&stage, "globs", &["file:read(./**)"], &tool("glob(\"**\")"));
    let grep = "grep(\"(?i)(x+x+)+y|[a-q][^u-z]{13}x\")";
    starlark(&stage, "greps", &["file:read(./**)"], &tool(grep));
    let work = stage.context.work();
    symlink("/dev/zero", work.join(".ignore")).unwrap();
    stage
        .context
        .write("wide/.gitignore", "**/*{a,b}*[a-z]*\n".repeat(1_900));
    for number in 0..30_000 {
        symlink("x", work.join(format!("wide/{number}"))).unwrap();
    }
    for number in 0..20 {
        stage
            .context
            .write(&format!("long/{number}.txt"), "x".repeat(1 << 20));
    }
    let sparse = fs::File::create(work.join("sparse.txt")).unwrap();
    sparse.set_len(8 << 30).unwrap();
    for name in ["globs", "greps"] {
        weigh(&stage, &["--approve-skills", name, "call", name, "t", "{}"]);
    }
}

// case 16, 22
#[test]
fn no_folder_takes_all_of_the_memory_of_a_list_or_a_scan() {
    let stage = needed!(scales());
    let work = stage.context.work();
    stage.skill("fine", "", "Text.\n");
    for name in ["huge", "odd", "many"] {
        stage.skill(name, "", "Text.\n");
    }
    let sparse = fs::File::create(work.join("skills/huge/SKILL.md")).unwrap();
    sparse.set_len(4 << 30).unwrap();
    fifo(&work.join("skills/odd/notes.md"));
    symlink("/dev/zero", work.join("skills/odd/zero.md")).unwrap();
    for number in 0..20_000 {
        fs::write(work.join(format!("skills/many/{number}.txt")), "x").unwrap();
    }
    stage
        .context
        .write("skills/fine/a.md", "<|[<|[".repeat(200_000));
    let output = weigh(&stage, &["list"]);
    assert!(output.stdout.contains("fine"), "{}", output.snapshot());
    weigh(&stage, &["scan", "skills"]);
    // The files of a project that metier reads before it is trusted.
    symlink("/dev/zero", work.join("AGENT.md")).unwrap();
    fs::create_dir_all(work.join(".metier")).unwrap();
    fifo(&work.join(".metier/config.toml"));
    let output = weigh(&stage, &["list"]);
    assert!(output.stdout.contains("fine"), "{}", output.snapshot());
}

// case 16
#[test]
fn no_hook_takes_all_of_the_memory() {
    let stage = needed!(scales());
    let code = "def t(input):\n    return 1\nregister_tool(\"t\", \"A tool\", t)\n\
                def before(event):\n    event[\"input\"] = {\"x\": [\"y\" * 1000] * 4000}\n    return event\n\
                register_hook(\"before_tool_call\", before)\n";
    starlark(&stage, "hooked", &[], code);
    weigh(&stage, &["call", "hooked", "t", "{}"]);
    let work = stage.context.work();
    for (name, file) in [("claude", "hooks/hooks.json"), ("claw", "HOOK.md")] {
        stage.skill(name, "", "Text.\n");
        let file = work.join(format!("skills/{name}/{file}"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::File::create(&file).unwrap().set_len(2 << 30).unwrap();
        weigh(&stage, &["info", name]);
        weigh(&stage, &["show", name]);
    }
}

// case 230, 16
#[test]
fn no_project_takes_all_of_the_memory_of_those_who_look_at_its_files() {
    let mut stage = needed!(scales());
    let front = "triggers: {files: [\"**/*.rs\"], keywords: [task]}\n";
    for number in 0..8 {
        stage.skill(&format!("s{number}"), front, "Text.\n");
    }
    let work = stage.context.work();
    // Each is a megabyte of patterns, in a folder with a folder, so that its rules would be kept.
    for number in 0..20 {
        let (pattern, folder) = match number {
            0 => ("?\n", String::new()),
            1..10 => ("?\n", format!("f{number}/")),
            _ => ("a\n", format!("f{number}/")),
        };
        stage
            .context
            .write(&format!("{folder}.gitignore"), pattern.repeat(524_288));
        stage.context.write(&format!("{folder}sub/x.rs"), "x\n");
    }
    // Long names in a deep folder.
    let deep = format!("{}/", "d".repeat(200)).repeat(15);
    stage.context.write(&format!("{deep}x.rs"), "x\n");
    let folder = fs::File::open(work.join(&deep)).unwrap();
    for number in 0..40_000 {
        let name = format!("{number}{}", "n".repeat(200));
        rustix::fs::symlinkat("x", &folder, name).unwrap();
    }
    let output = weigh(&stage, &["select", "a task"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let said = ".gitignore is not used as an ignore file";
    assert!(output.stderr.contains(said), "{}", output.snapshot());
    let output = weigh(&stage, &["prompt", "--max-skills", "2"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let server = ModelServer::start([ScriptedTurn::text("done")]);
    stage
        .context
        .env("METIER_MODEL", "anthropic/test-model")
        .env("ANTHROPIC_BASE_URL", server.url())
        .env("ANTHROPIC_API_KEY", "sk-test");
    let output = weigh(&stage, &["agent", "a task"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(output.stderr.contains(said), "{}", output.snapshot());
}

// case 230, 16, 22
#[test]
fn no_pattern_takes_all_of_the_memory_or_ends_the_program() {
    let stage = needed!(scales());
    let nested = |depth: usize| format!("{}a,b{}", "{".repeat(depth), "}".repeat(depth));
    let code = format!(
        "def t(input):\n    return len(glob(\"**/*.txt\"))\nregister_tool(\"t\", \"A tool\", t)\n\
         def n(input):\n    return len(glob(\"{0}\"))\nregister_tool(\"n\", \"A tool\", n)\n\
         def g(input):\n    return len(grep(\"x\", glob = \"{0}\"))\nregister_tool(\"g\", \"A tool\", g)\n",
        nested(251)
    );
    starlark(&stage, "finds", &["file:read(./**)"], &code);
    // Each pattern of a skill is different.
    for skill in 0..20 {
        let file = |number| format!("\"{skill}{number}{}\"", "?".repeat(940));
        let files: Vec<String> = (0..60).map(file).collect();
        let front = format!("triggers: {{files: [{}]}}\n", files.join(", "));
        stage.skill(&format!("s{skill}"), &front, "Text.\n");
    }
    stage.context.write(".gitignore", nested(60_000));
    stage.context.write(".git/config", "");
    let mut nest = String::new();
    for number in 0..40 {
        stage
            .context
            .write(&format!("f{number}/.gitignore"), "?".repeat(120_000));
        stage.context.write(&format!("f{number}/sub/x.txt"), "x\n");
        nest += "n/";
        for kind in [".ignore", ".gitignore"] {
            stage
                .context
                .write(&format!("{nest}{kind}"), "?".repeat(120_000));
        }
    }
    let output = weigh(&stage, &["select", "a task"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    let said = ".gitignore is not used as an ignore file";
    assert!(output.stderr.contains(said), "{}", output.snapshot());
    let call = |tool| {
        weigh(
            &stage,
            &["--approve-skills", "finds", "call", "finds", tool, "{}"],
        )
    };
    let output = call("t");
    assert_eq!(output.stdout, "40\n", "{}", output.snapshot());
    assert!(output.stderr.contains(said), "{}", output.snapshot());
    for tool in ["n", "g"] {
        let output = call(tool);
        assert_eq!(output.code, 1, "{}", output.snapshot());
        let said = "it has more than 16 braces";
        assert!(output.stdout.contains(said), "{}", output.snapshot());
    }
}

// case 230, 16
#[test]
fn no_ignore_file_remembers_the_files_that_it_was_compared_with() {
    let stage = needed!(scales());
    let front = "triggers: {files: [\"**/*.rs\"], keywords: [task]}\n";
    stage.skill("fine", front, "Text.\n");
    let work = stage.context.work();
    let mut seed = 1_u64;
    for folder in 0..200 {
        // An automaton for it has a state for each text of a hundred letters.
        let pattern = format!("*a{}b\n", "?".repeat(100));
        stage
            .context
            .write(&format!("f{folder}/.gitignore"), pattern);
        stage.context.write(&format!("f{folder}/sub/x.rs"), "x\n");
        for _ in 0..50 {
            let letter = |_| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                if seed & 1 == 0 { 'a' } else { 'c' }
            };
            let name: String = (0..250).map(letter).collect();
            symlink("x", work.join(format!("f{folder}/{name}"))).unwrap();
        }
    }
    let output = weigh(&stage, &["select", "a task"]);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    assert!(output.stdout.contains("fine"), "{}", output.snapshot());
}

/// The peak memory of a running process, in kilobytes.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let words = line.unwrap().split_whitespace().nth(1);
    words.unwrap().parse().unwrap()
}

// case 158
#[test]
fn a_message_that_is_too_deep_or_too_large_gets_an_error_and_takes_no_memory() {
    let stage = SkillProject::new();
    stage.skill("fine", "", "Text.\n");
    let mut command = stage.context.command();
    command.args(["--root", "skills", "mcp"]);
    let mut child = stage.context.start(command);
    let (send, lines) = channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            send.send(line).ok();
        }
    });
    let mut stdin = child.stdin.take().unwrap();
    let mut ask = |message: String| -> Value {
        stdin.write_all(message.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
        serde_json::from_str(&lines.recv_timeout(PATIENCE).unwrap()).unwrap()
    };
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    assert_eq!(ask(hello.to_string())["id"], 1);
    let call = |id: u32, inside: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{{\"name\":\"list_skills\",\"arguments\":{{\"source\":{inside}}}}},\"id\":{id}}}"
        )
    };
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let large = format!("\"{}\"", "x".repeat(100 << 20));
    let wide = format!("[{}1]", "[],".repeat(1_300_000));
    for (id, inside) in [(2, &deep), (3, &large), (4, &wide)] {
        let answer = ask(call(id, inside));
        assert_eq!(answer["id"], id, "{answer}");
        assert!(answer["error"].is_object(), "{answer}");
    }
    let answer = ask(json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}).to_string());
    assert!(answer["result"].is_object(), "{answer}");
    let memory = peak(child.id());
    assert!(memory < MEMORY, "{memory} KB");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

// case 16
#[test]
fn a_database_that_is_a_fifo_or_a_device_is_refused_and_not_waited_for() {
    let stage = SkillProject::new();
    stage.scripted("x", &["shell:exec(scripts/*)"], "echo done\n");
    assert_eq!(stage.exec("x", &[]).code, 0);
    let found = crate::skill_project::bytes_below(&stage.context.home());
    let found = found
        .into_iter()
        .find(|(path, _)| path.ends_with("/metier.db"));
    let database = std::path::PathBuf::from(found.unwrap().0);
    for make in [fifo as fn(&std::path::Path), |path| {
        symlink("/dev/zero", path).unwrap();
    }] {
        fs::remove_file(&database).unwrap();
        make(&database);
        for arguments in [
            &["log"][..],
            &["--approve-skills", "x", "exec", "x", "scripts/do.sh"],
        ] {
            let output = stage.run(arguments);
            assert_ne!(output.code, 0, "{}", output.snapshot());
            assert!(
                output.stderr.contains("can't open the database"),
                "{}",
                output.snapshot()
            );
        }
    }
}
