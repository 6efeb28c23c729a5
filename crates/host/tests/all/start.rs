//! How a program starts: what it finds, and what is said when it can't.

use metier_host::child::Exit;

use crate::room::{BOTH, Room, out};

#[test]
fn a_program_runs_and_its_output_comes_back() {
    for mechanism in BOTH {
        let room = Room::new(mechanism);
        let outcome = room.sh("echo hello; echo oops >&2; exit 3");
        assert_eq!(outcome.exit, Exit::Code(3), "{outcome:?}");
        assert_eq!(out(&outcome), "hello");
        assert_eq!(outcome.stderr, b"oops\n");
        assert_eq!(outcome.mechanism, mechanism);
        assert!(!outcome.truncated && !outcome.survivors_killed);
    }
}

#[test]
fn only_the_workspace_can_be_written() {
    for mechanism in BOTH {
        let room = Room::new(mechanism);
        let outside = room.file("other", "as it was");
        let script = format!("echo new > inside; echo new > {}", outside.display());
        let outcome = room.sh(&script);
        assert_ne!(outcome.exit, Exit::Code(0), "{outcome:?}");
        assert_eq!(std::fs::read(room.work().join("inside")).unwrap(), b"new\n");
        assert_eq!(std::fs::read(outside).unwrap(), b"as it was");
    }
}
