//! What a scope covers and what it does not: denied hosts under other names, variables before commands, values that would run, and programs
//! that a repository makes git run.

use std::{
    io::{Read, Write},
    net::TcpListener,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use metier_testkit::{needed, needs};

use crate::{
    conditions::{behind_namespaces, under_every_condition},
    skill_project::SkillProject,
};

/// A web server of this machine that counts its answers.
fn serve() -> (u16, Arc<AtomicUsize>) {
    let answered = Arc::new(AtomicUsize::new(0));
    let listener = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0"));
    let listener = listener.unwrap();
    let port = listener.local_addr().unwrap().port();
    let counted = Arc::clone(&answered);
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4096];
            if stream.read(&mut request).unwrap_or(0) > 0 {
                counted.fetch_add(1, Ordering::SeqCst);
                let page = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\npage";
                stream.write_all(page.as_bytes()).ok();
            }
        }
    });
    (port, answered)
}

// case 167
#[test]
fn a_denied_address_is_not_reached_under_another_name() {
    needed!(needs::program("curl"));
    behind_namespaces(|stage| {
        let (port, answered) = serve();
        let asked = ["shell:exec(scripts/*)", "net:fetch(localhost)"];
        let script = format!(
            "for host in localhost LOCALHOST localhost. 127.0.0.1 127.0.0.2 2130706433 0x7f.1 '[::1]' '[::ffff:127.0.0.1]'; do\n\
             curl -s -m 5 -o /dev/null -w '%{{http_code}}\\n' \"http://$host:{port}/\"\ndone\n"
        );
        stage.scripted("net", &asked, &script);
        let permissions = |rest: &[&str]| {
            let output = stage.run(&[&["permissions", "net"], rest].concat());
            assert_eq!(output.code, 0, "{}", output.snapshot());
        };
        permissions(&["--approve"]);
        let open = stage.run(&["exec", "net", "scripts/do.sh"]);
        assert!(open.stdout.contains("200"), "{}", open.snapshot());
        let before = answered.load(Ordering::SeqCst);
        permissions(&["--deny", &format!("net:fetch(127.0.0.1:{port})")]);
        let shut = stage.run(&["exec", "net", "scripts/do.sh"]);
        assert!(!shut.stdout.contains("200"), "{}", shut.snapshot());
        assert_eq!(
            answered.load(Ordering::SeqCst),
            before,
            "{}",
            shut.snapshot()
        );
    });
}

// case 168
#[test]
fn a_variable_does_not_ride_along_with_an_approved_command() {
    under_every_condition(|stage| {
        for (name, scope, line, variable) in [
            (
                "status",
                "shell:exec(git status *)",
                "XDG_CONFIG_HOME=$METIER_SKILL_DIR/x git status -s",
                "XDG_CONFIG_HOME",
            ),
            (
                "pack",
                "shell:exec(tar cf *)",
                "TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=id' tar cf /dev/null .",
                "TAR_OPTIONS",
            ),
        ] {
            stage.skill(
                name,
                &format!("permissions: [\"{scope}\"]\n"),
                &format!("!`{line}`\n"),
            );
            let output = stage.show(name, &[]);
            assert_eq!(output.code, 1, "{}", output.snapshot());
            assert!(output.stderr.contains(variable), "{}", output.snapshot());
            assert!(!output.stdout.contains("uid="), "{}", output.snapshot());
        }
    });
}

// case 168
#[test]
fn a_value_runs_only_in_a_line_that_was_approved_itself() {
    under_every_condition(|stage| {
        // What a program does with its words is not known.
        stage.context.write("$BIN/run-it", "#!/bin/sh\n\"$@\"\n");
        stage.skill(
            "run",
            "permissions: [\"shell:exec\"]\n",
            "!`run-it $ARGUMENTS`\n",
        );
        let approve = |what: &str| {
            let output = stage.run(&["permissions", "run", "--approve", what]);
            assert_eq!(output.code, 0, "{}", output.snapshot());
        };
        approve("shell:exec");
        let show = || stage.run(&["show", "run", "--raw", "--", "echo", "ran"]);
        let refused = show();
        assert_eq!(refused.code, 1, "{}", refused.snapshot());
        assert!(
            refused.stderr.contains("run-it $ARGUMENTS"),
            "{}",
            refused.snapshot()
        );
        assert!(!refused.stdout.contains("ran"), "{}", refused.snapshot());
        approve("shell:exec(run-it $ARGUMENTS)");
        let output = show();
        assert_eq!(output.code, 0, "{}", output.snapshot());
        assert!(output.stdout.contains("ran"), "{}", output.snapshot());
    });
}

// case 168
#[test]
fn a_value_becomes_no_option_and_no_program_on_a_detour() {
    under_every_condition(|stage| {
        for (number, line) in [
            "find . -maxdepth 0 -$ARGUMENTS id ;",
            "echo \"$ARGUMENTS\" | sh /dev/stdin",
            "echo \"$ARGUMENTS\" | bash ./../../../../../../../dev/stdin",
            "printf %s \"$ARGUMENTS\" | tee \"$TMPDIR/r.sh\"; sh \"$TMPDIR/r.sh\"",
            "echo \"$ARGUMENTS\" | tee ~/.profile; bash -lc true",
            "echo \"$ARGUMENTS\" > ~/.bashrc; bash -i scripts/x.sh",
        ]
        .iter()
        .enumerate()
        {
            let name = format!("detour-{number}");
            let front = "permissions: [\"shell:exec\"]\n";
            stage.skill(&name, front, &format!("!`{line}`\n"));
            let approved = stage.run(&["permissions", &name, "--approve", "shell:exec"]);
            assert_eq!(approved.code, 0, "{}", approved.snapshot());
            for value in ["exec", "id"] {
                let output = stage.run(&["show", &name, "--raw", "--", value]);
                assert_eq!(output.code, 1, "{line}: {}", output.snapshot());
                assert!(!output.stdout.contains("uid="), "{}", output.snapshot());
            }
        }
    });
}

// case 182
#[test]
fn a_redirect_does_not_fill_what_the_next_command_obeys() {
    under_every_condition(|stage| {
        let front = "permissions: [\"shell:exec(echo *)\", \"shell:exec(git diff *)\"]\n";
        let line = "echo '[diff] external = id' > ~/.gitconfig; git diff --no-index SKILL.md x.txt";
        stage.skill("config", front, &format!("!`{line}`\n"));
        let approved = stage.run(&["permissions", "config", "--approve"]);
        assert_eq!(approved.code, 0, "{}", approved.snapshot());
        let output = stage.run(&["show", "config", "--raw"]);
        assert_eq!(output.code, 1, "{}", output.snapshot());
        assert!(output.stderr.contains("it writes"), "{}", output.snapshot());
        stage.skill("quiet", front, "!`echo shown; echo hidden > /dev/null`\n");
        let output = stage.show("quiet", &[]);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        assert!(output.stdout.contains("shown"), "{}", output.snapshot());
    });
}

/// Git as its user runs it.
fn git(stage: &SkillProject, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(stage.context.work())
        .env("HOME", stage.context.home())
        .args(["-c", "user.name=a", "-c", "user.email=a@example.com"])
        .args(["-c", "safe.directory=*"])
        .args(arguments);
    let output = git.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}");
}

// case 169
#[test]
fn a_difference_is_shown_and_nothing_of_the_repository_runs() {
    under_every_condition(|stage| {
        stage.context.write("a.txt", "one\n");
        git(stage, &["init", "-q"]);
        git(stage, &["add", "a.txt"]);
        git(stage, &["commit", "-qm", "first"]);
        stage.context.write("a.txt", "one\ntwo\n");
        stage.context.write(".gitattributes", "* filter=x diff=x\n");
        let canary = "touch out/canary; cat";
        for key in [
            "core.fsmonitor",
            "core.pager",
            "diff.external",
            "diff.x.textconv",
            "filter.x.clean",
        ] {
            git(stage, &["config", key, canary]);
        }
        stage.context.dir("out");
        stage.skill(
            "look",
            "permissions: [\"git:read\", \"file:write(./out/**)\"]\ntypes: [tool, prompt]\nimplementation: {backend: starlark, entrypoint: skill.star}\n",
            "Looks.\n",
        );
        stage.context.write(
            "skills/look/skill.star",
            "def diff(_):\n    ended = git_diff()\n    return ended.stdout + ended.stderr\n\
             register_tool(\"diff\", \"Shows differences.\", diff, {\"type\": \"object\"})\n",
        );
        let output = stage.run(&["--approve-skills", "look", "call", "look", "diff", "{}"]);
        assert_eq!(output.code, 0, "{}", output.snapshot());
        assert!(output.stdout.contains("+two"), "{}", output.snapshot());
        assert!(!stage.has("out/canary"), "{}", output.snapshot());
    });
}
