//! A process that sandboxed itself: the acts that it can no longer do, and those that still work.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};

use metier_host::backend::{
    ChildProcess, ProcessEvent, SkillProcess, SkillProcessError, WorkerCommand,
};
use metier_sdk::wire::method;
use metier_testkit::patience::wait_until;
use serde_json::json;

use crate::session::{Desk, PATIENCE, hello};
use crate::test_home::probe;

/// The signal of a call that is not allowed.
const SIGSYS: i32 = 31;

/// The output of a sandboxed process, and the signal that killed it.
fn confined(words: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(probe());
    let output = command.arg("confined").args(words).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    (text, output.status.signal())
}

#[test]
fn files_are_out_of_reach() {
    for path in ["/etc/passwd", "/dev/null", "/proc/self/mem", "."] {
        assert_eq!(
            confined(&["open", path]),
            ("Err(PermissionDenied)".into(), None),
            "{path}"
        );
    }
}

#[test]
fn every_other_call_is_its_end() {
    let own = std::process::id().to_string();
    for words in [
        &["unix"][..],
        &["inet"],
        &["udp"],
        &["netlink"],
        &["forks", "1"],
        &["thread"],
        &["execute"],
        &["signal", &own],
        &["ptrace"],
        &["mount"],
        &["keyctl"],
        &["bpf"],
        &["memfd"],
        &["shm"],
        &["code"],
        #[cfg(target_arch = "x86_64")]
        &["x32"],
    ] {
        assert_eq!(confined(words), (String::new(), Some(SIGSYS)), "{words:?}");
    }
    assert_eq!(confined(&["limit", &own]).0, "EPERM");
}

#[test]
fn memory_and_time_run_out() {
    let (text, signal) = confined(&["memory", "1000"]);
    let taken: u64 = text
        .strip_prefix("refused after ")
        .unwrap()
        .parse()
        .unwrap();
    assert!((150..=200).contains(&taken) && signal.is_none(), "{text}");
    assert_eq!(confined(&["hog"]).1, Some(6), "it gave up");
    assert_eq!(confined(&["spin"]).1, Some(9));
}

// case 92
#[test]
fn nothing_is_open_but_the_pipes() {
    let leak = fs::File::open("/dev/null").unwrap();
    rustix::io::fcntl_setfd(&leak, rustix::io::FdFlags::empty()).unwrap();
    assert_eq!(confined(&["descriptors"]), ("[0, 1, 2]".into(), None));
}

#[test]
fn a_worker_ends_with_its_parent() {
    let mut parent = Command::new(probe());
    let mut parent = parent.arg("nest").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(parent.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let status = format!("/proc/{}/status", line.trim());
    let state = || {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let seccomp = text.lines().any(|line| line == "Seccomp:\t2");
        let dead = text.is_empty() || text.lines().any(|line| line.starts_with("State:\tZ"));
        (seccomp, dead)
    };
    wait_until("it is confined", || state().0);
    parent.kill().unwrap();
    parent.wait().unwrap();
    wait_until("it is gone", || state().1);
}

#[test]
fn a_worker_outlives_the_thread_that_started_it() {
    let open = || {
        ChildProcess::open(
            worker(&["confined", "speak"]),
            &hello(),
            &Desk::default(),
            PATIENCE,
        )
    };
    let mut session = std::thread::spawn(move || open().unwrap()).join().unwrap();
    // A thread can be joined a moment before the kernel ends the processes that it started.
    for _ in 0..20 {
        let answer = session.call(method::TOOL, json!({}), &Desk::default(), PATIENCE);
        assert_eq!(answer.unwrap(), json!({}));
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let events = Box::new(session).close(&Desk::default(), PATIENCE);
    assert!(
        matches!(
            events[..],
            [ProcessEvent::Started { .. }, ProcessEvent::Ended]
        ),
        "{events:?}"
    );
}

fn worker(words: &[&str]) -> WorkerCommand {
    WorkerCommand {
        binary: probe().into(),
        arguments: words.iter().map(|word| (*word).to_owned()).collect(),
        variables: Vec::new(),
        confinement: "landlock",
    }
}

#[test]
fn a_confined_worker_does_its_work() {
    let desk = Desk::default();
    let mut session =
        ChildProcess::open(worker(&["confined", "speak"]), &hello(), &desk, PATIENCE).unwrap();
    for size in [10, 1_000_000] {
        let params = json!({"text": "x".repeat(size)});
        let answer = session.call(method::TOOL, params, &desk, PATIENCE);
        assert_eq!(answer.unwrap(), json!({}));
    }
    let events = Box::new(session).close(&desk, PATIENCE);
    assert!(
        matches!(
            events[..],
            [
                ProcessEvent::Started {
                    confinement: "landlock",
                    ..
                },
                ProcessEvent::Ended
            ]
        ),
        "{events:?}"
    );
}

#[test]
fn a_worker_that_exceeds_a_limit_reports_how_it_ended() {
    let desk = Desk::default();
    let ended =
        |words: &[&str]| match ChildProcess::open(worker(words), &hello(), &desk, PATIENCE).err() {
            Some(SkillProcessError::Ended { how, stderr }) => (how, stderr),
            other => panic!("{other:?}"),
        };
    let (how, _) = ended(&["confined", "inet"]);
    let expected =
        "ended before it answered `initialize`: ended by signal 31 (forbidden system call)";
    assert_eq!(how, expected);
    let (how, stderr) = ended(&["confined", "panic"]);
    assert_eq!(how, "ended before it answered `initialize`: exit code 101");
    assert!(stderr.contains("as told"), "{stderr}");
    let (how, stderr) = ended(&["confined", "hog"]);
    assert!(how.ends_with("ended by signal 6 (aborted)"), "{how}");
    assert!(stderr.contains("memory allocation of"), "{stderr}");
}
