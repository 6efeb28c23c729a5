//! How a child ends: in time, completely, and with bounded output.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use metier_host::child::Exit;
use metier_host::sandbox::Mechanism;
use metier_testkit::patience::wait_until;

use crate::test_home::{BOTH, TestHome, out};

/// Whether a process with this argument is running on the machine.
fn lives(marker: &str) -> bool {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let mut lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| {
        String::from_utf8_lossy(&line)
            .split('\0')
            .any(|word| word == marker)
    })
}

/// A unique number of seconds to sleep.
fn marker(test: u32, mechanism: Mechanism) -> String {
    format!("77{test}.{}{}", std::process::id(), mechanism as u8)
}

// case 84, 85
#[test]
fn endless_output_is_cut_and_ended() {
    for mechanism in BOTH {
        for stream in [
            "yes",
            "yes >&2",
            "yes & yes >&2",
            "cat /dev/zero",
            "cat /dev/urandom >&2",
        ] {
            let room = TestHome::new(mechanism);
            let outcome = room.sh(stream);
            assert_eq!(outcome.exit, Exit::Flooded, "{mechanism:?}, {stream}");
            assert!(outcome.truncated);
            assert!(outcome.stdout.len() <= 65536 && outcome.stderr.len() <= 65536);
            assert!(outcome.stdout.len() + outcome.stderr.len() >= 65536);
        }
    }
}

#[test]
fn one_without_a_waiting_caller_is_killed() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        let stop = Arc::new(AtomicBool::new(false));
        room.stop = Some(Arc::clone(&stop));
        let marker = marker(9, mechanism);
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(300));
                stop.store(true, Ordering::Release);
            });
            room.sh(&format!(
                "sleep {marker} & trap '' TERM; echo here; sleep {marker}; sleep {marker}"
            ))
        });
        assert_eq!(outcome.exit, Exit::Stopped, "{outcome:?}");
        assert_eq!(out(&outcome), "here");
        assert!(!lives(&marker));
    }
}

// case 84
#[test]
fn too_much_output_is_cut_but_the_program_may_finish() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let outcome = room.sh("head -c 200000 /dev/zero; echo done >&2; exit 4");
        assert_eq!(outcome.exit, Exit::Code(4), "{outcome:?}");
        assert!(outcome.truncated);
        assert_eq!(outcome.stdout.len(), 65536);
        assert_eq!(outcome.stderr, b"done\n");
    }
}

// case 86
#[test]
fn who_ignores_the_request_to_end_is_ended_within_a_second() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.timeout = Duration::from_millis(300);
        let run = |script: &str, exit: Exit| {
            let started = Instant::now();
            let outcome = room.sh(script);
            assert_eq!(outcome.exit, exit, "{outcome:?}");
            started.elapsed()
        };
        // A busy machine has delays of its own. A child that runs in parallel has the same ones.
        let tries = (0..5).map(|_| {
            let mut other = TestHome::new(mechanism);
            other.timeout = Duration::from_millis(300 + 1000 + 400);
            thread::scope(|scope| {
                let other = scope.spawn(|| {
                    let started = Instant::now();
                    assert_eq!(other.sh("exec sleep 600").exit, Exit::TimedOut);
                    started.elapsed()
                });
                let stubborn = "trap '' TERM INT HUP; echo ready; while :; do sleep 0.05; done";
                (run(stubborn, Exit::TimedOut), other.join().unwrap())
            })
        });
        let mut tries = tries.inspect(|(took, _)| assert!(took.as_millis() >= 300, "{took:?}"));
        assert!(tries.any(|(took, other)| took <= other), "{mechanism:?}");
    }
}

#[test]
fn who_is_asked_to_end_may_tidy_up() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.timeout = Duration::from_millis(500);
        let outcome =
            room.sh("trap 'echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.02; done");
        assert_eq!(outcome.exit, Exit::TimedOut, "{outcome:?}");
        assert_eq!(out(&outcome), "ready\ntidy", "{mechanism:?}");
    }
}

// case 87
#[test]
fn nothing_outlives_a_child() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let marker = marker(1, mechanism);
        let outcome = room.sh(&format!(
            "setsid sh -c 'setsid sleep {marker} >/dev/null 2>&1 </dev/null & exit' & \
             nohup sleep {marker} >/dev/null 2>&1 & (trap '' TERM; sleep {marker} & exit) & \
             sleep 0.2; echo started"
        ));
        assert_eq!(outcome.exit, Exit::Code(0), "{outcome:?}");
        assert_eq!(out(&outcome), "started");
        assert!(outcome.survivors_killed, "{mechanism:?}");
        assert!(!lives(&marker), "{mechanism:?}");
    }
}

// case 86, 87
#[test]
fn nothing_outlives_a_child_that_took_too_long() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.timeout = Duration::from_millis(400);
        let marker = marker(2, mechanism);
        let outcome = room.sh(&format!(
            "trap '' TERM; (trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep {marker}; sleep {marker}') & sleep {marker}"
        ));
        assert_eq!(outcome.exit, Exit::TimedOut, "{outcome:?}");
        assert!(!lives(&marker), "{mechanism:?}");
    }
}

// case 90
#[test]
fn a_grandchild_that_holds_the_pipe_does_not_block_the_caller() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let marker = marker(3, mechanism);
        let outcome = room.sh(&format!("setsid sleep {marker} & echo done"));
        assert_eq!(out(&outcome), "done", "{outcome:?}");
        assert!(!lives(&marker), "{mechanism:?}");
    }
}

// case 87
#[test]
fn processes_that_run_away_from_their_parents_are_found() {
    // Each starts the next and exits immediately, so that none has a parent for long.
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.timeout = Duration::from_millis(500);
        room.profile.limits.processes = Some(200);
        let marker = marker(4, mechanism);
        room.file("work/run.sh", "[ -e stop ] && exit; sh run.sh $1 & exit\n");
        let outcome = room.sh(&format!(
            "sh run.sh {marker} & sleep 0.2; sh run.sh {marker}"
        ));
        let ended = outcome.survivors_killed || outcome.exit == Exit::TimedOut;
        assert!(ended, "{mechanism:?}: {outcome:?}");
        let found = lives(&marker);
        fs::write(room.work().join("stop"), "").unwrap();
        assert!(!found, "{mechanism:?}");
    }
}

// case 87
#[test]
fn a_child_can_not_end_its_supervisor() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let marker = marker(5, mechanism);
        let outcome = room.sh(&format!(
            "setsid sleep {marker} & kill -9 $PPID; kill -STOP $PPID; sleep 0.1; echo still here"
        ));
        assert_eq!(outcome.exit, Exit::Code(0), "{mechanism:?}: {outcome:?}");
        assert_eq!(out(&outcome), "still here");
        assert!(outcome.survivors_killed && !lives(&marker), "{mechanism:?}");
    }
}

/// Not a test: the process that `nothing_outlives_the_parent` starts and kills.
#[test]
#[ignore = "waits to be killed"]
fn a_parent_that_waits() {
    let mechanism = BOTH[usize::from(std::env::var_os("METIER_TEST_LANDLOCK").is_some())];
    let marker = std::env::var("METIER_TEST_MARKER").unwrap();
    let room = TestHome::new(mechanism);
    fs::write(
        std::env::var("METIER_TEST_ROOM").unwrap(),
        room.home().to_str().unwrap(),
    )
    .unwrap();
    room.sh(&format!(
        "trap '' TERM HUP; setsid sleep {marker} & sleep {marker}"
    ));
}

// case 87
#[test]
fn nothing_outlives_the_parent() {
    for mechanism in BOTH {
        let marker = marker(6, mechanism);
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("room");
        let mut parent = std::process::Command::new(std::env::current_exe().unwrap());
        parent.args(["--ignored", "--exact", "ends::a_parent_that_waits"]);
        parent
            .env("METIER_TEST_MARKER", &marker)
            .env("METIER_TEST_ROOM", &note);
        if mechanism == Mechanism::Landlock {
            parent.env("METIER_TEST_LANDLOCK", "1");
        }
        let mut parent = parent.stdout(std::process::Stdio::null()).spawn().unwrap();
        wait_until("it runs", || lives(&marker));
        parent.kill().unwrap();
        parent.wait().unwrap();
        wait_until("all is gone", || !lives(&marker));
        if let Some(room) = fs::read_to_string(note)
            .ok()
            .as_deref()
            .and_then(|home| Path::new(home).parent())
        {
            let _already_gone = fs::remove_dir_all(room);
        }
    }
}
