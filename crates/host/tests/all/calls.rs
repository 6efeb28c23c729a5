//! System calls that open ways around the sandbox, one by one.

use metier_host::child::Exit;
use metier_host::sandbox::{Mechanism, NetworkAccess};

use crate::test_home::{BOTH, TestHome, out};

/// Calls that are denied whatever the profile, and what they return.
const DENIED: &[(&str, &str)] = &[
    ("unix", "EPERM"),
    ("udp", "EPERM"),
    ("sctp", "EPERM"),
    ("netlink", "EPERM"),
    ("packet", "EPERM"),
    ("vsock", "EPERM"),
    ("alg", "EPERM"),
    ("datagram-pair", "EPERM"),
    ("io_uring", "EPERM"),
    ("ptrace", "EPERM"),
    ("process_vm_readv", "EPERM"),
    ("userns", "EPERM"),
    ("clone-userns", "EPERM"),
    ("clone3", "ENOSYS"),
    ("setns", "EPERM"),
    ("mount", "EPERM"),
    ("umount", "EPERM"),
    ("open_tree", "EPERM"),
    ("fsopen", "EPERM"),
    ("pivot_root", "EPERM"),
    ("chroot", "EPERM"),
    ("keyctl", "EPERM"),
    ("add_key", "EPERM"),
    ("request_key", "EPERM"),
    ("bpf", "EPERM"),
    ("perf", "EPERM"),
    ("userfaultfd", "EPERM"),
    ("kexec", "EPERM"),
    ("module", "EPERM"),
    ("handle", "EPERM"),
    ("pidfd_getfd", "EPERM"),
    ("tiocsti", "EPERM"),
    ("tiocsti-high", "EPERM"),
    #[cfg(target_arch = "x86_64")]
    ("x32", "ENOSYS"),
];

fn check(room: &TestHome, call: &str, expected: &str) {
    let outcome = room.probe(&[call]);
    assert_eq!(
        out(&outcome),
        expected,
        "{call}, {:?}: {outcome:?}",
        room.mechanism
    );
    assert_eq!(outcome.exit, Exit::Code(0));
}

// case 91, 93, 99
#[test]
fn what_opens_ways_around_the_fence_is_denied() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        for (call, expected) in DENIED {
            check(&room, call, expected);
        }
    }
}

// case 99, 116
#[test]
fn without_network_there_are_no_sockets_but_pairs() {
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        check(&room, "inet", "EPERM");
        check(&room, "inet6", "EPERM");
        check(&room, "pair", "allowed");
    }
}

// case 99, 116
#[test]
fn with_a_proxy_there_is_tcp_and_nothing_else() {
    let mut room = TestHome::new(Mechanism::Namespaces);
    room.profile.network = NetworkAccess::Proxy;
    for (call, expected) in DENIED {
        check(&room, call, expected);
    }
    check(&room, "inet", "allowed");
    check(&room, "inet6", "allowed");
}

#[test]
fn shared_memory_of_others_is_out_of_reach() {
    check(&TestHome::new(Mechanism::Landlock), "shm", "EPERM");
    // In a namespace there are no other processes.
    check(&TestHome::new(Mechanism::Namespaces), "shm", "allowed");
}
