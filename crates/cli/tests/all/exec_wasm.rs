//! `.wasm` files as scripts of `metier exec`: what a WASI program gets, and the sandbox around it, which is that of any other script.

use crate::{conditions::under_every_condition, skill_project::SkillProject};

/// Opens the file that its first argument names in every folder that was opened for it, and prints the first one found: exit code 7. If
/// there is none, 9.
const READS: &str = r#"(module
  (import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (func (export "_start") (local $folder i32) (local $path i32) (local $length i32)
    (drop (call $args_get (i32.const 0) (i32.const 1024)))
    (local.set $path (i32.load (i32.const 4)))
    (block $end (loop $next
      (br_if $end (i32.eqz (i32.load8_u (i32.add (local.get $path) (local.get $length)))))
      (local.set $length (i32.add (local.get $length) (i32.const 1)))
      (br $next)))
    (local.set $folder (i32.const 3))
    (loop $try
      (if (i32.eqz (call $path_open (local.get $folder) (i32.const 1) (local.get $path) (local.get $length)
                     (i32.const 0) (i64.const 2) (i64.const 0) (i32.const 0) (i32.const 512)))
        (then
          (i32.store (i32.const 520) (i32.const 8192))
          (i32.store (i32.const 524) (i32.const 4096))
          (drop (call $fd_read (i32.load (i32.const 512)) (i32.const 520) (i32.const 1) (i32.const 516)))
          (i32.store (i32.const 524) (i32.load (i32.const 516)))
          (drop (call $fd_write (i32.const 1) (i32.const 520) (i32.const 1) (i32.const 516)))
          (call $proc_exit (i32.const 7))))
      (local.set $folder (i32.add (local.get $folder) (i32.const 1)))
      (br_if $try (i32.lt_u (local.get $folder) (i32.const 16))))
    (call $proc_exit (i32.const 9))))"#;

/// Creates a file `made.txt` in every folder that was opened for it; its exit code is the number of folders in which that worked.
const WRITES: &str = r#"(module
  (import "wasi_snapshot_preview1" "path_open"
    (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 64) "made.txt")
  (func (export "_start") (local $folder i32) (local $made i32)
    (local.set $folder (i32.const 3))
    (loop $try
      (if (i32.eqz (call $path_open (local.get $folder) (i32.const 1) (i32.const 64) (i32.const 8)
                     (i32.const 1) (i64.const 64) (i64.const 0) (i32.const 0) (i32.const 16)))
        (then (local.set $made (i32.add (local.get $made) (i32.const 1)))))
      (local.set $folder (i32.add (local.get $folder) (i32.const 1)))
      (br_if $try (i32.lt_u (local.get $folder) (i32.const 16))))
    (call $proc_exit (local.get $made))))"#;

/// Copies one read of standard input to standard output.
const ECHOES: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 64))
    (i32.store (i32.const 4) (i32.const 64))
    (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (i32.store (i32.const 4) (i32.load (i32.const 8)))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#;

/// A component whose `run` fails.
const FAILS: &str = r#"(component
  (core module $code (func (export "run") (result i32) (i32.const 1)))
  (core instance $code (instantiate $code))
  (func $run (result (result)) (canon lift (core func $code "run")))
  (instance $exported (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $exported)))"#;

/// A skill with one module, in text form, that also requests these permissions.
fn skill(stage: &SkillProject, name: &str, permissions: &[&str], module: &str) {
    let all = [&["shell:exec(scripts/*)"], permissions].concat();
    let list = serde_json::to_string(&all).unwrap();
    let body = "Run scripts/tool.wasm.\n";
    stage.skill(name, &format!("permissions: {list}\n"), body);
    let bytes = wat::parse_str(module).unwrap();
    let file = format!("skills/{name}/scripts/tool.wasm");
    stage.context.write(&file, bytes);
}

fn command<'a>(name: &'a str, arguments: &[&'a str]) -> Vec<&'a str> {
    let head = ["--approve-skills", name, "exec", name, "scripts/tool.wasm"];
    head.iter().chain(arguments).copied().collect()
}

#[test]
fn a_module_reads_what_was_granted_and_nothing_else() {
    under_every_condition(|stage| {
        stage.context.write("data/x.txt", "inside\n");
        stage.context.write("secret.txt", "canary-3181\n");
        stage.context.symlink("../secret.txt", "data/link");
        skill(stage, "reads", &["file:read(data/**)"], READS);
        skill(stage, "closed", &[], READS);
        let read = |name: &str, path: &str| stage.run(&command(name, &[path]));
        for path in ["x.txt", "data/x.txt"] {
            let output = read("reads", path);
            let found = (output.code, output.stdout.as_str());
            assert_eq!(found, (7, "inside\n"), "{path}: {}", output.snapshot());
        }
        for (name, path) in [
            ("reads", "secret.txt"),
            ("reads", "../secret.txt"),
            ("reads", "link"),
            ("reads", "../../../../../../etc/hostname"),
            ("closed", "x.txt"),
            ("closed", "data/x.txt"),
            ("closed", "secret.txt"),
        ] {
            let output = read(name, path);
            let found = (output.code, output.stdout.as_str());
            assert_eq!(found, (9, ""), "{name} {path}: {}", output.snapshot());
        }
        // Its own files are accessible as for any script.
        let output = read("closed", "SKILL.md");
        assert!(
            output.stdout.starts_with("---\nname: closed"),
            "{}",
            output.snapshot()
        );
    });
}

#[test]
fn a_module_writes_where_it_was_granted() {
    under_every_condition(|stage| {
        for folder in ["out", "data"] {
            stage.context.dir(folder);
        }
        let permissions = ["file:read(data/**)", "file:write(out/**)"];
        skill(stage, "writes", &permissions, WRITES);
        let output = stage.run(&command("writes", &[]));
        assert!(output.code > 0, "{}", output.snapshot());
        assert!(stage.has("out/made.txt"));
        for closed in ["made.txt", "data/made.txt", "skills/writes/made.txt"] {
            assert!(!stage.has(closed), "{closed}: {}", output.snapshot());
        }
    });
}

#[test]
fn streams_and_exit_codes_are_those_of_the_program() {
    let stage = SkillProject::new();
    skill(&stage, "echoes", &[], ECHOES);
    let all = [&["--root", "skills"], &*command("echoes", &[])].concat();
    let output = stage.context.run_with_stdin(&all, "hello\n");
    assert_eq!(
        (output.code, &*output.stdout),
        (0, "hello\n"),
        "{}",
        output.snapshot()
    );
    skill(&stage, "component", &[], FAILS);
    let output = stage.run(&command("component", &[]));
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert_eq!(output.stderr, "");
}

#[test]
fn what_traps_or_is_not_a_program_is_reported() {
    let stage = SkillProject::new();
    for (name, module, code, expected) in [
        (
            "traps",
            "(module (func $inner unreachable) (func (export \"_start\") (call $inner)))",
            134,
            "was stopped: wasm trap: wasm `unreachable` instruction executed, in `inner`",
        ),
        (
            "library",
            "(module (func (export \"other\")))",
            1,
            "is not a program: it does not export `_start`",
        ),
        (
            "imports",
            "(module (import \"env\" \"f\" (func)) (func (export \"_start\")))",
            1,
            "unknown import: `env::f` has not been defined",
        ),
    ] {
        skill(&stage, name, &[], module);
        let output = stage.run(&command(name, &[]));
        assert_eq!(output.code, code, "{}", output.snapshot());
        assert!(output.stderr.contains(expected), "{}", output.snapshot());
    }
    skill(&stage, "text", &[], "(module)");
    stage
        .context
        .write("skills/text/scripts/tool.wasm", "(module)");
    let output = stage.run(&command("text", &[]));
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("WebAssembly"),
        "{}",
        output.snapshot()
    );
}

#[test]
fn a_module_that_does_not_end_is_ended() {
    let mut stage = SkillProject::new();
    let setting = "METIER_SKILLS_LIMITS_SHELL_EXEC_TIMEOUT";
    stage.context.env(setting, "3");
    let module = "(module (func (export \"_start\") (loop $again (br $again))))";
    skill(&stage, "endless", &[], module);
    let output = stage.run(&command("endless", &[]));
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stderr.contains("scripts/tool.wasm"),
        "{}",
        output.snapshot()
    );
}
