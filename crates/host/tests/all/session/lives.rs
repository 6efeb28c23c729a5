//! How a session starts, breaks, recovers and ends.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use metier_host::backend::{
    ChildProcess, MonotonicClock, ProcessEvent, SkillHost, SkillProcess, SkillProcessError,
    WorkerCommand,
};
use metier_sdk::wire::{HostRequest, RpcError, method};
use metier_testkit::patience::wait_until;
use serde_json::{Value, json};

use super::{Desk, PATIENCE, Script, check, hello, text};
use crate::test_home::probe;

/// A clock that only advances during a wait, or when a test advances it.
#[derive(Clone, Default)]
struct Hand(Arc<Mutex<Duration>>);

impl MonotonicClock for Hand {
    fn now(&self) -> Duration {
        *self.0.lock().unwrap()
    }

    fn sleep(&self, time: Duration) {
        *self.0.lock().unwrap() += time;
    }
}

fn call(session: &mut ChildProcess<'_>, timeout: Duration) -> Result<Value, SkillProcessError> {
    session.call(method::TOOL, json!({}), &Desk::default(), timeout)
}

// case 136
#[test]
fn one_that_never_answers_is_ended_in_time() {
    for script in [
        "time.sleep(1000)",
        "while True: pass",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)",
        "os.close(0); time.sleep(1000)",
        "os.close(2); time.sleep(1000)",
        "os.kill(os.getpid(), signal.SIGSTOP)",
        "if os.fork() == 0: time.sleep(1000)\ntime.sleep(1000)",
    ] {
        let (answer, events, _) = check(script, Duration::from_millis(300));
        assert_eq!(
            text(answer),
            "took longer than 300 ms and was stopped",
            "{script}"
        );
        assert!(
            matches!(
                &events[..],
                [ProcessEvent::Started { .. }, ProcessEvent::Crashed { .. }]
            ),
            "{events:?}"
        );
    }
}

/// A host whose user stops the call at some moment.
struct Impatient(Instant);

impl SkillHost for Impatient {
    fn ask(&self, _: HostRequest) -> Result<Value, RpcError> {
        Ok(json!({}))
    }

    fn is_stopped(&self) -> bool {
        Instant::now() > self.0
    }
}

#[test]
fn one_without_a_waiting_caller_is_killed_and_can_be_called_again() {
    let script = Script::new(
        "begin()\nasked = hear()\nif asked['params'].get('slow'): time.sleep(1000)\nsend(id=asked['id'], result='quick')\nhear()",
    );
    let mut session = script.open(&Desk::default()).unwrap();
    let slow = session.call(
        method::TOOL,
        json!({"slow": true}),
        &Impatient(Instant::now() + Duration::from_millis(100)),
        PATIENCE,
    );
    assert!(matches!(slow, Err(SkillProcessError::Stopped)), "{slow:?}");
    assert!(!script.lives());
    assert_eq!(call(&mut session, PATIENCE).unwrap(), "quick");
    let events = session.events();
    let crashed = |event: &ProcessEvent| matches!(event, ProcessEvent::Crashed { .. });
    assert!(!events.iter().any(crashed), "{events:?}");
}

// case 136
#[test]
fn a_late_answer_is_nobodys() {
    let script = Script::new(
        "begin()\nfirst = hear()\nif not os.path.exists(sys.argv[1] + '/late'):\n    open(sys.argv[1] + '/late', 'w').close()\n    time.sleep(0.6)\n    send(id=first['id'], result='late')\nsend(id=first['id'], result='in time')\nhear()",
    );
    let desk = Desk::default();
    let mut session = script.open(&desk).unwrap();
    let late = call(&mut session, Duration::from_millis(300));
    assert!(
        matches!(late, Err(SkillProcessError::TimedOut(_))),
        "{late:?}"
    );
    assert_eq!(call(&mut session, PATIENCE).unwrap(), "in time");
    let events = session.events();
    assert!(
        events.contains(&ProcessEvent::Restarted {
            attempt: 1,
            waited: Duration::ZERO
        }),
        "{events:?}"
    );
}

#[test]
fn the_exit_status_and_the_last_output_are_reported() {
    for (script, expected) in [
        (
            "sys.stderr.write('no tea\\n'); sys.exit(3)",
            "ended before it answered `tool/execute`: exit code 3",
        ),
        (
            "sys.stderr.write('no tea\\n'); sys.stderr.flush(); os.abort()",
            "ended before it answered `tool/execute`: ended by signal 6 (aborted)",
        ),
        (
            "sys.stderr.write('no tea\\n'); sys.stderr.flush(); os.close(1); time.sleep(1000)",
            "closed its standard output without exiting, and was stopped",
        ),
    ] {
        let (answer, _, _) = check(script, PATIENCE);
        let Err(SkillProcessError::Ended { how, stderr }) = answer else {
            panic!("{script}: {answer:?}");
        };
        assert_eq!(how, expected);
        assert_eq!(stderr, "no tea\n");
    }
}

#[test]
fn one_that_does_not_begin_is_not_opened() {
    let desk = Desk::default();
    let refused = |text: &str, patience: Duration| {
        let script = Script::new(text);
        let opened = ChildProcess::open(script.worker(), &hello(), &desk, patience);
        let refused = opened.err().map(|error| error.to_string()).unwrap();
        assert!(!script.lives(), "{text}");
        refused
    };
    assert_eq!(
        refused("sys.exit(7)", PATIENCE),
        "ended before it answered `initialize`: exit code 7"
    );
    assert_eq!(
        refused("time.sleep(1000)", Duration::from_millis(200)),
        "took longer than 200 ms and was stopped"
    );
    assert_eq!(
        refused(
            "send(id=1, error={'code': -32603, 'message': 'no key'})\nhear()",
            PATIENCE
        ),
        "no key"
    );
    let wrong = refused("send(id=1, result={'tools': 7})\nhear()", PATIENCE);
    assert!(
        wrong.starts_with("broke the protocol: its contributions are malformed: "),
        "{wrong}"
    );
    let missing = WorkerCommand {
        binary: "/no/such/program".into(),
        arguments: Vec::new(),
        variables: Vec::new(),
        confinement: "unsandboxed",
    };
    let missing = ChildProcess::open(missing, &hello(), &desk, PATIENCE)
        .err()
        .unwrap();
    assert!(
        matches!(missing, SkillProcessError::NotStarted(_)),
        "{missing:?}"
    );
}

// case 136
#[test]
fn one_that_crashes_again_and_again_is_left_alone_for_a_while() {
    let script = Script::new(
        "begin()\nhear()\nif os.path.exists(sys.argv[1] + '/well'): send(id=2, result='well')\nelse: sys.exit(1)\nhear()",
    );
    let (desk, hand) = (Desk::default(), Hand::default());
    let opened = ChildProcess::open_with(script.worker(), &hello(), &desk, PATIENCE, hand.clone());
    let mut session = opened.unwrap();
    for _ in 0..5 {
        let ended = call(&mut session, PATIENCE);
        assert!(
            matches!(ended, Err(SkillProcessError::Ended { .. })),
            "{ended:?}"
        );
        assert!(!script.lives());
    }
    assert_eq!(
        hand.now(),
        Duration::from_millis(700),
        "0, 100, 200 and 400 ms were waited"
    );
    let waited: Vec<Duration> = session
        .events()
        .into_iter()
        .filter_map(|event| match event {
            ProcessEvent::Restarted { waited, .. } => Some(waited),
            _ => None,
        })
        .collect();
    assert_eq!(waited, [0, 100, 200, 400].map(Duration::from_millis));
    hand.sleep(Duration::from_secs(10));
    assert_eq!(
        text(call(&mut session, PATIENCE)),
        "crashed 5 times in a row; it can be restarted in 20 s"
    );
    assert_eq!(session.events(), [], "nothing happened");
    // Tried once more, then left alone again.
    hand.sleep(Duration::from_secs(20));
    assert!(matches!(
        call(&mut session, PATIENCE),
        Err(SkillProcessError::Ended { .. })
    ));
    assert!(matches!(
        call(&mut session, PATIENCE),
        Err(SkillProcessError::GaveUp { crashes: 6, .. })
    ));
    let gave_up = ProcessEvent::GaveUp {
        crashes: 6,
        wait: Duration::from_secs(30),
    };
    assert!(session.events().contains(&gave_up));
    // One successful call resets all of that.
    fs::write(script.path("well"), "").unwrap();
    hand.sleep(Duration::from_secs(30));
    assert_eq!(call(&mut session, PATIENCE).unwrap(), "well");
    fs::remove_file(script.path("well")).unwrap();
    assert!(matches!(
        call(&mut session, PATIENCE),
        Err(SkillProcessError::TimedOut(_) | SkillProcessError::Ended { .. })
    ));
    let before = hand.now();
    assert!(matches!(
        call(&mut session, PATIENCE),
        Err(SkillProcessError::Ended { .. })
    ));
    assert_eq!(hand.now(), before, "started again at once");
}

#[test]
fn one_that_died_between_calls_is_restarted() {
    let script = Script::new("begin()\nm = hear()\nsend(id=m['id'], result=os.getpid())\nhear()");
    let desk = Desk::default();
    let mut session = script.open(&desk).unwrap();
    let pid = call(&mut session, PATIENCE).unwrap().as_i64().unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    // Until all of it is gone, including its pipes: it is a child of this process, and has no other parent.
    let stat = format!("/proc/{}/stat", pid.as_raw_nonzero());
    wait_until("its end", || {
        fs::read_to_string(&stat).unwrap().contains(") Z ")
    });
    assert_ne!(
        call(&mut session, PATIENCE).unwrap(),
        pid.as_raw_nonzero().get()
    );
    let crashed = |event: &ProcessEvent| matches!(event, ProcessEvent::Crashed { how, .. } if how == "ended between calls: ended by signal 9 (killed)");
    assert!(session.events().iter().any(crashed));
}

// case 137
#[test]
fn one_that_comes_back_as_another_stays_closed() {
    let script = Script::new(
        "again = os.path.exists(sys.argv[1] + '/again')\nopen(sys.argv[1] + '/again', 'w').close()\nbegin(tools=[{'name': 'rm' if again else 'ls'}])\nhear()\nsys.exit(1)",
    );
    let desk = Desk::default();
    let mut session = script.open(&desk).unwrap();
    assert_eq!(session.contributions().tools[0].name, "ls");
    assert!(matches!(
        call(&mut session, PATIENCE),
        Err(SkillProcessError::Ended { .. })
    ));
    for _ in 0..3 {
        let text = text(call(&mut session, PATIENCE));
        assert_eq!(
            text,
            "broke the protocol: registered different contributions than at its first start"
        );
        assert!(!script.lives());
    }
    assert_eq!(session.contributions().tools[0].name, "ls");
}

#[test]
fn a_session_ends_in_order_or_is_made_to() {
    let desk = Desk::default();
    let close = |text: &str| {
        let script = Script::new(text);
        let session = script.open(&desk).unwrap();
        let events = Box::new(session).close(&desk, Duration::from_millis(400));
        assert!(!script.lives(), "{text}");
        events
    };
    let polite =
        close("begin()\nm = hear()\nassert m['method'] == 'shutdown'\nsend(id=m['id'], result={})");
    assert_eq!(polite.last(), Some(&ProcessEvent::Ended));
    let deaf = close("begin()\nhear()\nsys.stderr.write('bye\\n')");
    assert_eq!(
        deaf[1..],
        [ProcessEvent::Said("bye".into()), ProcessEvent::Ended]
    );
    for stubborn in [
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nbegin()\ntime.sleep(1000)",
        "begin()\nsend(id=hear()['id'], result={})\ntime.sleep(1000)",
        "begin()\nos.close(0)\nwhile True: os.write(2, b'never' * 1000)",
    ] {
        let events = close(stubborn);
        let Some(ProcessEvent::Crashed { how, .. }) = events.last() else {
            panic!("{events:?}");
        };
        assert_eq!(how, "did not end within 400 ms and was stopped");
    }
    let script = Script::new("begin()\ntime.sleep(1000)");
    drop(script.open(&desk).unwrap());
    assert!(!script.lives(), "dropped");
}

/// Descriptors, threads and children of this process, including ended ones that were not waited for.
fn used() -> [usize; 3] {
    let count = |path: &str| fs::read_dir(path).unwrap().count();
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    let children = threads.map(|thread| {
        let list = fs::read_to_string(thread.path().join("children"));
        list.unwrap_or_default().split_whitespace().count()
    });
    let children = children.sum();
    [count("/proc/self/fd"), count("/proc/self/task"), children]
}

/// Not a test: the code that `a_thousand_sessions_leave_nothing` runs in a process where nothing else opens files.
#[test]
#[ignore = "counts what its process has open"]
fn a_thousand_sessions() {
    let desk = Desk::default();
    let worker = || WorkerCommand {
        binary: probe().into(),
        arguments: vec!["speak".into()],
        variables: Vec::new(),
        confinement: "unsandboxed",
    };
    let cycle = || {
        let mut session = ChildProcess::open(worker(), &hello(), &desk, PATIENCE).unwrap();
        assert_eq!(call(&mut session, PATIENCE).unwrap(), json!({}));
        assert_eq!(
            Box::new(session).close(&desk, PATIENCE).last(),
            Some(&ProcessEvent::Ended)
        );
    };
    cycle();
    let before = used();
    for _ in 0..1_000 {
        cycle();
    }
    assert_eq!(used(), before);
    // Sessions that break leave nothing either.
    for trouble in [
        "time.sleep(1000)",
        "sys.exit(1)",
        "while True: raw('x')",
        "os.close(1); time.sleep(1000)",
    ] {
        let script = Script::new(&format!("begin()\nhear()\n{trouble}"));
        let mut session = script.open(&desk).unwrap();
        for _ in 0..3 {
            assert!(call(&mut session, Duration::from_millis(50)).is_err());
        }
        drop(session);
        assert_eq!(used(), before, "{trouble}");
    }
}

// case 136
#[test]
fn a_thousand_sessions_leave_nothing() {
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    alone.args([
        "--ignored",
        "--exact",
        "session::lives::a_thousand_sessions",
        "--test-threads=1",
    ]);
    let output = alone.output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}
