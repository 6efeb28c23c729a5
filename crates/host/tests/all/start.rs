//! How a program starts: what it finds, and the error when it can't.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use metier_host::child::{
    self, ChildError, ChildOutcome, ChildSpec, Confinement, Exit, NotStarted, ProxyListener, Stdin,
};
use metier_host::sandbox::{Mechanism, NetworkAccess, StandIn};
use metier_testkit::{make_executable, needed, needs};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::test_home::{BOTH, TestHome, out, shim};

#[test]
fn a_program_runs_and_its_output_comes_back() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let outcome = room.sh("echo hello; echo oops >&2; exit 3");
        assert_eq!(outcome.exit, Exit::Code(3), "{outcome:?}");
        assert_eq!(out(&outcome), "hello");
        assert_eq!(outcome.stderr, b"oops\n");
        assert_eq!(outcome.mechanism, mechanism);
        assert!(!outcome.truncated && !outcome.survivors_killed);
    }
}

#[test]
fn the_strongest_mechanism_is_taken() {
    let mut room = TestHome::new(Mechanism::Namespaces);
    room.mechanism = None;
    let support = child::detect(shim());
    assert_eq!(room.sh("true").mechanism, support.mechanism, "{support:?}");
}

#[test]
fn nothing_is_not_a_program() {
    let refused = TestHome::new(Mechanism::Namespaces).run("", &[]);
    assert!(matches!(refused, Err(ChildError::Unfit(_))), "{refused:?}");
}

#[test]
fn only_the_workspace_can_be_written() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let outside = room.file("other", "as it was");
        let script = format!("echo new > inside; echo new > {}", outside.display());
        let outcome = room.sh(&script);
        assert_ne!(outcome.exit, Exit::Code(0), "{outcome:?}");
        assert_eq!(fs::read(room.work().join("inside")).unwrap(), b"new\n");
        assert_eq!(fs::read(outside).unwrap(), b"as it was");
    }
}

// case 100
#[test]
fn the_environment_is_exactly_what_was_given() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.env = vec![
            ("GREETING".into(), "hello = you".into()),
            ("EMPTY".into(), "".into()),
        ];
        let outcome = room.run("/usr/bin/env", &[]).unwrap();
        assert_eq!(out(&outcome), "GREETING=hello = you\nEMPTY=");
    }
}

// case 102
#[test]
fn variables_that_are_code_are_refused() {
    for name in [
        "LD_PRELOAD",
        "PYTHONSTARTUP",
        "NODE_OPTIONS",
        "BASH_ENV",
        "GIT_SSH_COMMAND",
        "*",
        "AWS_*",
        "",
        "A=B",
    ] {
        let mut room = TestHome::new(Mechanism::Namespaces);
        room.env.push((name.into(), "x".into()));
        let refused = room.run("/bin/true", &[]);
        assert!(
            matches!(refused, Err(ChildError::Variable(_))),
            "{name}: {refused:?}"
        );
    }
}

// case 92
#[test]
fn a_child_sees_three_descriptors_and_no_more() {
    // A file that is inheritable by mistake, as some libraries leave them.
    let leak = File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    for mechanism in BOTH {
        let outcome = TestHome::new(mechanism).probe(&["descriptors"]);
        assert_eq!(out(&outcome), "[0, 1, 2]", "{mechanism:?}");
    }
}

// case 91
#[test]
fn there_is_no_terminal_and_nothing_to_read() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let outcome =
            room.sh("cat; echo x > /dev/tty; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none");
        assert_eq!(out(&outcome), "none", "{outcome:?}");
        let session = room.sh("cut -d' ' -f6,7 /proc/$$/stat; echo $$");
        let text = out(&session);
        let words: Vec<&str> = text.split_whitespace().collect();
        assert_eq!(
            words,
            [words[2], "0", words[2]],
            "a session of its own, without a terminal: {text}"
        );
    }
}

#[test]
fn bytes_can_be_given_to_read() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.stdin = vec![b'x'; 300_000];
        assert_eq!(out(&room.sh("wc -c")), "300000");
    }
}

// case 93
#[test]
fn other_processes_can_not_be_inspected() {
    let own = std::process::id();
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let outcome = room.sh(&format!(
            "cat /proc/{own}/environ /proc/{own}/cmdline /proc/{own}/maps; cat /proc/$PPID/environ /proc/1/environ; ls /proc/{own}/fd/"
        ));
        assert_eq!(out(&outcome), "", "{mechanism:?}: {outcome:?}");
        for word in ["signal", "limit"] {
            let outcome = room.probe(&[word, &own.to_string()]);
            assert_ne!(out(&outcome), "allowed", "{mechanism:?}: {word}");
        }
    }
}

#[test]
fn a_child_has_no_powers() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let outcome = room.sh("while read -r k v; do case $k in Cap[PE]*|NoNew*|Seccomp:) echo $k $v;; esac; done < /proc/$$/status");
        let expected =
            "CapPrm: 0000000000000000\nCapEff: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2";
        assert_eq!(out(&outcome), expected, "{mechanism:?}");
    }
}

fn script(room: &TestHome, text: &str) -> String {
    let path = room.file("work/tool", text);
    make_executable(&path);
    path.to_str().unwrap().to_owned()
}

// case 96
#[test]
fn a_failed_start_is_reported_with_the_reason() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let exit = |program: &str| match room.run(program, &[]).unwrap().exit {
            Exit::NotStarted(why) => why,
            other => panic!("{program}: {other:?}"),
        };
        assert!(matches!(
            exit("/usr/bin/no-such-program"),
            NotStarted::NotFound(_)
        ));
        assert!(matches!(exit("no-such-program"), NotStarted::NotFound(_)));
        let tool = script(&room, "#!/no/such/shell\necho x\n");
        let why = exit(&tool);
        assert!(
            matches!(&why, NotStarted::NoInterpreter(what) if what.contains("/no/such/shell")),
            "{why:?}"
        );
        let tool = script(&room, "#!/bin/sh\r\necho x\r\n");
        assert!(matches!(exit(&tool), NotStarted::CarriageReturn(_)));
        let tool = script(&room, "#!/usr/bin/env sh\r\necho x\r\n");
        assert!(matches!(exit(&tool), NotStarted::CarriageReturn(_)));
        let tool = script(&room, "neither\n");
        assert!(matches!(exit(&tool), NotStarted::BadFormat(_)));
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(exit(&tool), NotStarted::NotExecutable(_)));
        assert!(matches!(
            exit("."),
            NotStarted::NotFound(_) | NotStarted::NotExecutable(_)
        ));
    }
}

// case 96
#[test]
fn scripts_run_with_the_interpreter_of_their_first_line() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        for first in ["#!/bin/sh", "#!/usr/bin/env sh", "#!/usr/bin/env -S sh -e"] {
            let tool = script(&room, &format!("{first}\necho from a script\n"));
            let outcome = room.run(&tool, &[]).unwrap();
            assert_eq!(out(&outcome), "from a script", "{first}: {outcome:?}");
        }
        let outcome = room.run("sh", &["-c", "no-such-command"]).unwrap();
        assert_eq!(outcome.exit, Exit::Code(127));
        assert_eq!(
            outcome.exit.to_string(),
            "exit code 127 (a command was not found)"
        );
        assert_eq!(room.sh("kill -9 $$").exit, Exit::Signal(9));
    }
}

// case 97
#[test]
fn a_folder_that_is_renamed_stays_the_folder() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        room.file("work/inside/which", "the first");
        let folder = File::open(room.work().join("inside")).unwrap();
        fs::rename(room.work().join("inside"), room.work().join("elsewhere")).unwrap();
        room.file("work/inside/which", "the second");
        let mut spec = ChildSpec::new(
            shim(),
            "/bin/cat",
            folder.as_fd(),
            Confinement::Profile(&room.profile),
        );
        let args = ["which".into()];
        spec.args = &args;
        spec.mechanism = Some(mechanism);
        let outcome = child::run(&spec).unwrap();
        assert_eq!(out(&outcome), "the first", "{mechanism:?}: {outcome:?}");
    }
}

// case 97
#[test]
fn a_folder_that_is_gone_is_an_answer() {
    let room = TestHome::new(Mechanism::Namespaces);
    room.file("work/inside/which", "");
    let folder = File::open(room.work().join("inside")).unwrap();
    fs::remove_dir_all(room.work().join("inside")).unwrap();
    let spec = ChildSpec::new(
        shim(),
        "/bin/true",
        folder.as_fd(),
        Confinement::Profile(&room.profile),
    );
    let outcome = child::run(&spec).unwrap();
    assert!(
        matches!(outcome.exit, Exit::NotStarted(NotStarted::Folder(_))),
        "{outcome:?}"
    );
}

// case 95
#[test]
fn without_a_mechanism_nothing_runs() {
    let room = TestHome::new(Mechanism::None);
    let refused = room.run("/bin/touch", &["made"]);
    assert!(
        matches!(refused, Err(ChildError::NoSandbox { .. })),
        "{refused:?}"
    );
    assert!(!room.work().join("made").exists());
}

#[test]
fn a_shim_that_is_none_is_an_error() {
    let room = TestHome::new(Mechanism::Namespaces);
    let folder = File::open(room.work()).unwrap();
    for shim in ["/no/such/shim", "/bin/true", "/bin/cat"] {
        let spec = ChildSpec::new(
            shim.as_ref(),
            "/bin/true",
            folder.as_fd(),
            Confinement::Profile(&room.profile),
        );
        let refused = child::run(&spec);
        assert!(
            matches!(refused, Err(ChildError::Shim { .. })),
            "{shim}: {refused:?}"
        );
    }
}

#[test]
fn a_child_that_is_refused_leaves_no_shim_behind() {
    let mut room = TestHome::new(Mechanism::Namespaces);
    let folder = File::open(room.work()).unwrap();
    let link = room.home().join("shim-of-this-test");
    std::os::unix::fs::symlink(shim(), &link).unwrap();
    room.profile.write.push(room.work().join("missing"));
    let profile = Confinement::Profile(&room.profile);
    let refused = child::run(&ChildSpec::new(&link, "/bin/true", folder.as_fd(), profile));
    assert!(matches!(refused, Err(ChildError::Unfit(_))), "{refused:?}");
    let name = link.to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let is_shim = |path: &std::path::PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(name)
    };
    let left = processes.map(|entry| entry.path()).find(is_shim);
    assert_eq!(left, None);
}

#[test]
fn the_machine_is_asked_and_not_guessed() {
    let support = child::detect(shim());
    assert!(support.landlock.is_some(), "{support:?}");
    let strongest = support.mechanism == Mechanism::Namespaces;
    assert_eq!(support.missing.is_empty(), strongest, "{support:?}");
}

#[test]
fn a_worker_can_be_talked_to_and_is_gone_when_dropped() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let folder = File::open(room.work()).unwrap();
        let mut spec = ChildSpec::new(
            shim(),
            "/bin/cat",
            folder.as_fd(),
            Confinement::Profile(&room.profile),
        );
        spec.stdin = Stdin::Piped;
        spec.mechanism = Some(mechanism);
        let mut worker = child::spawn(&spec).unwrap();
        let mut answers = BufReader::new(worker.stdout.take().unwrap());
        for question in ["one\n", "two\n"] {
            worker
                .stdin
                .as_mut()
                .unwrap()
                .write_all(question.as_bytes())
                .unwrap();
            let mut answer = String::new();
            answers.read_line(&mut answer).unwrap();
            assert_eq!(answer, question);
        }
        assert!(worker.is_running());
        let outcome = worker.kill_all().unwrap();
        assert_eq!(outcome.exit, Exit::Stopped);
    }
}

#[test]
fn without_a_fence_a_child_is_still_supervised() {
    let room = TestHome::new(Mechanism::None);
    let outside = room.file("outside", "");
    let folder = File::open(room.work()).unwrap();
    let mut spec = ChildSpec::new(shim(), "/bin/sh", folder.as_fd(), Confinement::Unsandboxed);
    let script = format!(
        "echo written > {}; setsid sleep 300 & echo done",
        outside.display()
    );
    let args = ["-c".into(), script.into()];
    spec.args = &args;
    let env = [("PATH".into(), "/usr/bin:/bin".into())];
    spec.env = &env;
    let outcome = child::run(&spec).unwrap();
    assert_eq!(
        (outcome.exit, outcome.mechanism),
        (Exit::Code(0), Mechanism::None)
    );
    assert!(outcome.survivors_killed);
    assert_eq!(fs::read_to_string(outside).unwrap(), "written\n");
}

#[test]
fn an_interpreter_finds_its_library() {
    let python = needed!(needs::program("/usr/bin/python3"));
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let program = python.to_str().unwrap();
        let code = "import json, os, subprocess, hashlib, tempfile; print(json.dumps([os.getcwd(), \
                    subprocess.run(['echo', 'hello'], capture_output=True).stdout.decode().strip()]))";
        let outcome = room.run(program, &["-c", code]).unwrap();
        let expected = format!("[\"{}\", \"hello\"]", room.work().display());
        assert_eq!(out(&outcome), expected, "{mechanism:?}: {outcome:?}");
    }
}

/// A room with a skill, its approved copy, and a folder that was not approved. Each has a `tool` that prints its own folder's name.
fn with_skill() -> TestHome {
    let mut room = TestHome::new(Mechanism::Namespaces);
    for name in ["skill", "judged", "unapproved"] {
        let text = format!("#!/bin/sh\necho {name}\n");
        let tool = room.file(&format!("{name}/tool"), &text);
        make_executable(&tool);
    }
    let [at, copy] = ["skill", "judged"].map(|name| room.home().join(name));
    room.profile.read.push(at.clone());
    room.profile.stand_in = Some(StandIn { at, copy });
    room.profile.network = NetworkAccess::Proxy;
    room
}

/// Starts a program in a folder, and runs a function as soon as the mounts exist.
fn run_after_mounts(
    room: &TestHome,
    program: &Path,
    args: &[&str],
    meanwhile: &dyn Fn(),
) -> ChildOutcome {
    let folder = File::open(room.home().join("skill")).unwrap();
    let fence = Confinement::Profile(&room.profile);
    let mut spec = ChildSpec::new(shim(), program.as_os_str(), folder.as_fd(), fence);
    let args: Vec<OsString> = args.iter().map(OsString::from).collect();
    spec.args = &args;
    let serve = |_listener: TcpListener| meanwhile();
    spec.proxy = Some(ProxyListener {
        url: "http://127.0.0.1:{port}",
        serve: &serve,
    });
    child::run(&spec).unwrap()
}

// case 207
#[test]
fn a_skill_that_is_exchanged_after_the_mounts_runs_no_other_bytes() {
    for round in 0..8 {
        let room = with_skill();
        let [at, other] = ["skill", "unapproved"].map(|name| room.home().join(name));
        let tool = at.join("tool");
        let name = tool.to_str().unwrap();
        let ways: [(&Path, &[&str]); 3] = [
            (&tool, &[]),
            (Path::new("/bin/sh"), &[name]),
            (Path::new("/bin/sh"), &["-c", ". ./tool"]),
        ];
        for (program, args) in ways {
            let outcome = run_after_mounts(&room, program, args, &|| {});
            assert_eq!(out(&outcome), "judged", "{args:?}: {outcome:?}");
            let exchange = || renameat_with(CWD, &at, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            let outcome = run_after_mounts(&room, program, args, &exchange);
            exchange();
            let text = out(&outcome);
            assert!(
                ["", "judged"].contains(&&*text),
                "{round} {args:?}: {outcome:?}"
            );
            if let Exit::NotStarted(why) = &outcome.exit {
                assert!(matches!(why, NotStarted::Replaced(_)), "{why}");
                let text = format!(
                    "`{}` was replaced while the sandbox was prepared; run it again",
                    at.display()
                );
                assert_eq!(why.to_string(), text);
            }
        }
    }
}

// case 207
#[test]
fn a_skill_whose_folder_is_gone_does_not_run_without_its_copy() {
    let mut room = with_skill();
    room.profile.network = NetworkAccess::None;
    fs::rename(room.home().join("skill"), room.home().join("moved")).unwrap();
    let refused = room.run("/bin/true", &[]);
    assert!(matches!(refused, Err(ChildError::Unfit(_))), "{refused:?}");
}

// case 208
#[test]
fn a_writable_folder_that_is_exchanged_after_the_mounts_opens_nothing_else() {
    for round in 0..8 {
        let room = with_skill();
        let [work, other] = ["work", "unapproved"].map(|name| room.home().join(name));
        let script = format!("cat {0}/tool; echo evil >{0}/new", work.display());
        let args = ["-c", &script];
        let exchange = || renameat_with(CWD, &work, CWD, &other, RenameFlags::EXCHANGE).unwrap();
        let outcome = run_after_mounts(&room, Path::new("/bin/sh"), &args, &exchange);
        exchange();
        assert_eq!(out(&outcome), "", "{round}: {outcome:?}");
        assert!(!other.join("new").exists(), "{round}: {outcome:?}");
        if let Exit::NotStarted(why) = &outcome.exit {
            let place = work.canonicalize().unwrap().display().to_string();
            assert_eq!(*why, NotStarted::Replaced(place), "{round}");
        }
    }
}
