//! Packages, keys and checks as other programs use them.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use metier_testkit::{TestContext, make_executable, needed, needs};

use crate::mcp::python;

const PROGRAM: &str = env!("CARGO_BIN_EXE_metier");

const CHART: &str = "---\nname: chart\ndescription: Draws charts. Use for numbers.\nversion: 0.3.0\nlicense: MIT\n\
    dependencies: [{name: table, version: ^1}, {name: colours, optional: true}]\n\
    metadata:\n  openclaw:\n    requires: {bins: [gnuplot], anyBins: [gs, mutool]}\n    install:\n      \
    - {id: brew, kind: brew, formula: gnuplot, bins: [gnuplot]}\n      - {id: npm, kind: npm, package: '@scope/chart@2', bins: [gs]}\n---\nDraw.\n";

fn context() -> TestContext {
    let context = TestContext::new(PROGRAM);
    context.write("chart/SKILL.md", CHART);
    context.write("chart/scripts/draw.gp", "plot sin(x)\n");
    context
}

#[track_caller]
fn run(context: &TestContext, arguments: &[&str]) -> String {
    let output = context.run(arguments);
    assert_eq!(output.code, 0, "{}", output.snapshot());
    output.stdout
}

#[test]
fn a_package_depends_on_the_files_only() {
    let context = context();
    run(&context, &["pack", "chart", "-o", "one.skill"]);
    // Another folder, another order of writing, other modes and times.
    context.write("elsewhere/chart/scripts/draw.gp", "plot sin(x)\n");
    context.write("elsewhere/chart/SKILL.md", CHART);
    let script = context.path("elsewhere/chart/scripts/draw.gp");
    make_executable(&script);
    let old = fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH);
    fs::File::options()
        .write(true)
        .open(&script)
        .unwrap()
        .set_times(old)
        .unwrap();
    run(&context, &["pack", "elsewhere/chart", "-o", "two.skill"]);
    let read = |name: &str| fs::read(context.path(name)).unwrap();
    assert_eq!(read("one.skill"), read("two.skill"));
    context.write("elsewhere/chart/scripts/draw.gp", "plot cos(x)\n");
    run(&context, &["pack", "elsewhere/chart", "-o", "three.skill"]);
    assert_ne!(read("one.skill"), read("three.skill"));
}

#[test]
fn a_bill_of_materials_conforms_to_the_official_schema() {
    let context = context();
    run(&context, &["pack", "chart", "--sbom"]);
    let check = |file: &Path| -> Output {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/check_bill.py");
        Command::new(python())
            .arg(script)
            .arg(file)
            .output()
            .unwrap()
    };
    let bill = context.path("chart.skill.cdx.json");
    let output = check(&bill);
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(&bill).unwrap();
    for expected in [
        "skill:table",
        "program:mutool",
        "pkg:npm/%40scope/chart",
        "file:scripts/draw.gp",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    let broken = context.write("broken.json", text.replace("\"SHA-256\"", "\"SHA\""));
    assert!(!check(&broken).status.success());
}

#[test]
fn a_secret_key_is_private() {
    let context = context();
    run(&context, &["keygen", "--no-password"]);
    let key = context.path("~/.local/share/metier/signing.key");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&key), 0o600);
    assert_eq!(mode(key.parent().unwrap()), 0o700);
    let before = fs::read(&key).unwrap();
    assert_eq!(context.run(&["keygen", "--no-password"]).code, 1);
    assert_eq!(fs::read(&key).unwrap(), before);
}

/// A repository with a skill, and git for the program.
fn repository(context: &mut TestContext, git: &Path) {
    let path = env::join_paths([
        context.path("$BIN/x").parent().unwrap(),
        git.parent().unwrap(),
    ]);
    context.env("PATH", path.unwrap());
    context.write(
        "skills/notes/SKILL.md",
        "---\nname: notes\ndescription: Takes notes. Use in meetings.\n---\n",
    );
    in_git(context, git, &["init", "-q"]);
    commit(context, git);
}

fn in_git(context: &TestContext, git: &Path, arguments: &[&str]) -> String {
    let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    let done = Command::new(git)
        .args(author)
        .args(arguments)
        .current_dir(context.work())
        .env("HOME", context.home())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

fn commit(context: &TestContext, git: &Path) {
    in_git(context, git, &["add", "-A"]);
    in_git(context, git, &["commit", "-qm", "x"]);
}

#[test]
fn only_skills_that_changed_are_checked() {
    let git = needed!(needs::program("git"));
    let mut context = context();
    repository(&mut context, &git);
    let since = |reference: &str| run(&context, &["check", ".", "--since", reference]);
    assert!(since("HEAD").ends_with("✓ 0 skills: 0 passed, 2 unchanged; no tests\n"));
    context.write("chart/scripts/new.gp", "plot x\n");
    let shown = since("HEAD");
    assert!(shown.contains("✓ chart: valid"), "{shown}");
    assert!(
        shown.ends_with("✓ 1 skill: 1 passed, 1 unchanged; no tests\n"),
        "{shown}"
    );
    commit(&context, &git);
    context.write("skills/notes/SKILL.md", "---\nname: notes\n---\n");
    let output = context.run(&["check", ".", "--since", "HEAD~1"]);
    assert_eq!(output.code, 1, "{}", output.snapshot());
    assert!(
        output.stdout.contains("✗ notes: not valid"),
        "{}",
        output.snapshot()
    );
    assert!(
        output.stdout.contains("2 skills: 1 passed"),
        "{}",
        output.snapshot()
    );
    let output = context.run(&["check", ".", "--since", "no-such-branch"]);
    assert!(
        output.stderr.contains("no-such-branch"),
        "{}",
        output.snapshot()
    );
    assert_eq!(output.code, 1);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_hook_runs_in_pre_commit() {
    let git = needed!(needs::program("git"));
    let mut context = context();
    repository(&mut context, &git);
    let hooks = context.path("~/hooks/.pre-commit-hooks.yaml");
    context.write(
        "~/hooks/.pre-commit-hooks.yaml",
        fs::read(root().join(".pre-commit-hooks.yaml")).unwrap(),
    );
    let hooks = hooks.parent().unwrap().to_str().unwrap();
    for arguments in [
        &["-C", hooks, "init", "-q"][..],
        &["-C", hooks, "add", "-A"],
        &["-C", hooks, "commit", "-qm", "x"],
    ] {
        in_git(&context, &git, arguments);
    }
    let revision = in_git(&context, &git, &["-C", hooks, "rev-parse", "HEAD"]);
    let config =
        format!("repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks: [{{id: metier-check}}]\n");
    context.write(".pre-commit-config.yaml", config);
    commit(&context, &git);
    let folders = [
        Path::new(PROGRAM).parent().unwrap(),
        git.parent().unwrap(),
        Path::new("/usr/bin"),
        Path::new("/bin"),
    ];
    let hook = || {
        Command::new(python())
            .args(["-m", "pre_commit", "run", "--all-files", "--verbose"])
            .current_dir(context.work())
            .env_clear()
            .env("HOME", context.home())
            .env("PATH", env::join_paths(folders).unwrap())
            .output()
            .unwrap()
    };
    let output = hook();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{output:?}");
    assert!(shown.contains("2 skills: 2 passed"), "{shown}");
    context.write("skills/notes/SKILL.md", "---\nname: notes\n---\n");
    let output = hook();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(shown.contains("✗ notes: not valid"), "{shown}");
}

/// The script of the action runs the program, with values that can't be commands.
#[test]
fn the_action_runs_the_check() {
    let bash = needed!(needs::program("bash"));
    let context = context();
    let script = "import json, sys, yaml\nwith open(sys.argv[1]) as file: action = yaml.safe_load(file)\n\
        assert action['runs']['using'] == 'composite'\nstep = action['runs']['steps'][-1]\n\
        used = {value.strip('${} ').removeprefix('inputs.') for value in step['env'].values()}\n\
        assert used == set(action['inputs']), used\nprint(json.dumps(step['run']))\n";
    let read = Command::new(python())
        .args(["-c", script])
        .arg(root().join("action.yml"))
        .output()
        .unwrap();
    assert!(read.status.success(), "{read:?}");
    let text: String = serde_json::from_slice(&read.stdout).unwrap();
    assert!(!text.contains("${{"), "a value becomes a command: {text}");
    let folders = [
        Path::new(PROGRAM).parent().unwrap(),
        Path::new("/usr/bin"),
        Path::new("/bin"),
    ];
    let action = |paths: &str| {
        Command::new(&bash)
            .args(["-e", "-o", "pipefail", "-c", &text])
            .current_dir(context.work())
            .env_clear()
            .envs([("HOME", context.home())])
            .env("PATH", env::join_paths(folders).unwrap())
            .envs([
                ("PATHS", paths),
                ("STRICT", "false"),
                ("SINCE", ""),
                ("SARIF", "out.sarif"),
            ])
            .output()
            .unwrap()
    };
    let output = action("chart\n\n");
    assert!(output.status.success(), "{output:?}");
    let log: serde_json::Value =
        serde_json::from_slice(&fs::read(context.path("out.sarif")).unwrap()).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let output = action("$(touch marker)\n");
    assert!(!output.status.success());
    assert!(!context.path("marker").exists());
}
