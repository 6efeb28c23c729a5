//! The network that a child can reach.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::mpsc;

use metier_host::child::{self, ChildError, ChildSpec, Confinement, ProxyListener};
use metier_host::sandbox::{Mechanism, NetworkAccess};

use crate::test_home::{BOTH, TestHome, out, probe, shim};

// case 116
#[test]
fn without_network_not_even_this_machine_can_be_reached() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    for mechanism in BOTH {
        let room = TestHome::new(mechanism);
        let outcome = room.probe(&["connect", &address]);
        assert_eq!(
            out(&outcome),
            "Err(PermissionDenied)",
            "{mechanism:?}: {outcome:?}"
        );
    }
}

// case 116
#[test]
fn with_a_proxy_the_only_door_is_the_proxy() {
    let mut room = TestHome::new(Mechanism::Namespaces);
    room.profile.network = NetworkAccess::Proxy;
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = outside.local_addr().unwrap().to_string();
    let (given, taken) = mpsc::channel::<TcpListener>();
    let server = std::thread::spawn(move || {
        let listener = taken.recv().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let mut heard = [0; 6];
        stream.read_exact(&mut heard).unwrap();
        stream.write_all(b"from outside").unwrap();
        heard
    });
    let serve = move |listener: TcpListener| given.send(listener).unwrap();
    let folder = File::open(room.work()).unwrap();
    let mut spec = ChildSpec::new(
        shim(),
        "/bin/sh",
        folder.as_fd(),
        Confinement::Profile(&room.profile),
    );
    let script = format!(
        "{0} connect {address}; {0} ask $HTTPS_PROXY; echo \"$http_proxy $ALL_PROXY\"",
        probe().display()
    );
    let args = ["-c".into(), script.into()];
    spec.args = &args;
    spec.proxy = Some(ProxyListener {
        url: "http://127.0.0.1:{port}",
        serve: &serve,
    });
    let outcome = child::run(&spec).unwrap();
    let text = out(&outcome);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..2],
        ["Err(ConnectionRefused)", "from outside"],
        "{outcome:?}"
    );
    assert!(lines[2].starts_with("http://127.0.0.1:"), "{text}");
    assert_eq!(&server.join().unwrap(), b"hello\n");
}

// case 116
#[test]
fn a_proxy_without_a_network_of_its_own_is_refused() {
    let mut room = TestHome::new(Mechanism::Landlock);
    room.profile.network = NetworkAccess::Proxy;
    let refused = room.run("/bin/true", &[]);
    assert!(
        matches!(refused, Err(ChildError::NoSandbox { .. })),
        "{refused:?}"
    );
}
