//! The resources that a child may use.

use std::fs;
use std::time::Duration;

use metier_host::child::Exit;
use metier_host::sandbox::SandboxLimits;

use crate::test_home::{BOTH, TestHome, out};

const MEGABYTE: u64 = 1 << 20;

// case 88
#[test]
fn processes_are_bounded() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.profile.limits.processes = Some(20);
        room.timeout = Duration::from_secs(20);
        // The probe starts at most 1000, each of which only sleeps.
        let outcome = room.probe(&["forks", "1000"]);
        let refused = out(&outcome).starts_with("refused after");
        assert!(
            refused || outcome.exit == Exit::Swarmed,
            "{mechanism:?}: {outcome:?}"
        );
    }
}

// case 88
#[test]
fn a_fork_bomb_is_bounded_and_leaves_nothing() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.profile.limits = SandboxLimits {
            processes: Some(30),
            cpu_seconds: Some(2),
            memory: Some(256 * MEGABYTE),
            ..SandboxLimits::default()
        };
        room.timeout = Duration::from_millis(800);
        // Five levels of four, so that it ends by itself even without a limit.
        room.file(
            "work/bomb.sh",
            "[ $1 -gt 5 ] && exec sleep 20; for i in 1 2 3 4; do sh bomb.sh $(($1+1)) & done; wait\n",
        );
        let outcome = room.sh("sh bomb.sh 1");
        let refused = String::from_utf8_lossy(&outcome.stderr).contains("fork");
        assert!(
            refused || outcome.exit != Exit::Code(0),
            "{mechanism:?}: {outcome:?}"
        );
        assert!(outcome.ms < 10_000, "{mechanism:?}: {outcome:?}");
    }
}

// case 89
#[test]
fn memory_is_bounded() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.profile.limits.memory = Some(128 * MEGABYTE);
        let outcome = room.probe(&["memory", "1000"]);
        assert!(out(&outcome).starts_with("refused after"), "{outcome:?}");
    }
}

// case 89
#[test]
fn files_are_bounded() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.profile.limits.file_size = Some(MEGABYTE);
        let outcome = room.run("/bin/sh", &["-c", "exec head -c 5000000 /dev/zero > big"]);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.exit, Exit::Signal(25), "{outcome:?}");
        assert_eq!(
            outcome.exit.to_string(),
            "ended by signal 25 (file size limit exceeded)"
        );
        assert_eq!(
            fs::metadata(room.work().join("big")).unwrap().len(),
            MEGABYTE
        );
    }
}

// case 89
#[test]
fn processor_time_and_open_files_are_bounded() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        room.profile.limits.cpu_seconds = Some(1);
        room.profile.limits.open_files = Some(50);
        let outcome = room.sh("ulimit -n; ulimit -c; ulimit -t; exec sh -c 'while :; do :; done'");
        assert_eq!(out(&outcome), "50\n0\n1", "{outcome:?}");
        assert!(matches!(outcome.exit, Exit::Signal(9 | 24)), "{outcome:?}");
    }
}

// case 89
#[test]
fn uncounted_memory_can_not_be_allocated() {
    for mechanism in BOTH {
        let mut room = TestHome::new(mechanism);
        assert_eq!(out(&room.probe(&["memfd"])), "allowed");
        room.profile.limits.memory = Some(512 * MEGABYTE);
        room.stdin = b"input".to_vec();
        for call in ["memfd", "shm", "grow-input"] {
            assert_eq!(out(&room.probe(&[call])), "EPERM", "{mechanism:?}: {call}");
        }
    }
}
