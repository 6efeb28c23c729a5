//! The context is hermetic, kills programs that hang, and hides its paths. `/bin/sh` replaces the program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use super::TestContext;
use crate::patience::{in_time, wait_until};
use crate::{RunError, make_executable};

fn shell(script: &str) -> (TestContext, [&str; 2]) {
    (TestContext::new("/bin/sh"), ["-c", script])
}

#[test]
fn the_environment_contains_only_what_the_context_sets() {
    let (mut context, arguments) = shell("/usr/bin/env | /usr/bin/sort");
    context.env("EXTRA", "1").unset("TERM");
    let output = context.run(&arguments).filtered();
    // A shell adds these itself.
    let own = ["_=", "OLDPWD=", "SHLVL="];
    let given = |line: &&str| !own.iter().any(|name| line.starts_with(name));
    let names = output.stdout.lines().filter(given);
    let expected = [
        "EXTRA=1",
        "HOME=[HOME]",
        "METIER_NOW=2026-01-02T03:04:05Z",
        "PATH=[BIN]",
        "PWD=[WORK]",
    ];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}

#[test]
fn streams_and_code_are_kept_apart_and_filtered() {
    let (context, arguments) = shell("pwd; echo problem >&2; exit 3");
    let snapshot = context.run(&arguments).snapshot();
    assert_eq!(
        snapshot,
        "exit: 3\n--- stdout\n[WORK]\n--- stderr\nproblem\n"
    );
}

#[test]
fn stdin_is_given_or_empty() {
    let (context, arguments) = shell("while read line; do echo got $line; done");
    assert_eq!(context.run(&arguments).stdout, "");
    let output = context.run_with_stdin(&arguments, "a\nb\n");
    assert_eq!(output.stdout, "got a\ngot b\n");
}

#[test]
fn fake_programs_are_found_on_path() {
    let (context, arguments) = shell("gh pr list");
    assert_eq!(context.run(&arguments).code, 127);
    let path = context.bin("gh", "#!/bin/sh\necho fake \"$@\"\n");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o111, 0o111);
    assert_eq!(context.run(&arguments).stdout, "fake pr list\n");
}

#[test]
fn a_hanging_program_is_killed_with_its_children() {
    let (mut context, arguments) = shell("echo started; /bin/sleep 600 & echo $! > pid; wait");
    context.timeout(Duration::from_secs(1));
    let error = in_time("the killed program", || {
        context.try_run(&arguments, None).unwrap_err()
    });
    let RunError::Timeout { stdout, .. } = error else {
        panic!("expected a timeout, got {error}");
    };
    assert_eq!(stdout, "started\n");
    let grandchild = context.read("pid").trim().parse().unwrap();
    wait_until("the end of the grandchild", || is_gone(grandchild));
}

/// A killed process may stay a zombie until its new parent reaps it; that counts as gone.
fn is_gone(id: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(id).unwrap();
    let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    rustix::process::test_kill_process(pid).is_err() || state.contains(") Z ")
}

#[test]
fn a_signal_is_a_code_as_in_shells() {
    let (context, arguments) = shell("kill -TERM $$");
    assert_eq!(context.run(&arguments).code, 143);
}

/// Another thread's child may hold a file open that a test wrote; here the test does.
#[test]
fn a_file_that_is_open_for_writing_runs_once_it_is_executable() {
    let context = TestContext::new("/bin/sh");
    context.write("program", "#!/bin/sh\necho it runs\n");
    let program = context.path("program");
    let _inherited = fs::File::options().append(true).open(&program).unwrap();
    make_executable(&program);
    let output = Command::new(&program).output().unwrap();
    assert_eq!(output.stdout, b"it runs\n");
}

#[test]
fn names_choose_the_folder() {
    let context = TestContext::new("/bin/sh");
    context.write("~/.config/x.toml", "home");
    context.write("a/b.md", "work");
    context.symlink("b.md", "a/link.md");
    context.dir("empty");
    context.fifo("pipe");
    assert_eq!(context.read("~/.config/x.toml"), "home");
    assert_eq!(context.read("a/link.md"), "work");
    assert!(context.work().join("empty").is_dir());
    assert!(context.home().join(".config").is_dir());
    assert_eq!(
        context.filter(&context.path("a").to_string_lossy()),
        "[WORK]/a"
    );
}

#[test]
#[should_panic(expected = "leaves the test's folder")]
fn nothing_is_written_outside() {
    TestContext::new("/bin/sh").write("../escaped", "");
}
