//! `metier serve` on special machines: no watches left, a socket from the service manager, an address that others can reach.

use std::{fs, process::Command};

use base64::Engine as _;
use metier_testkit::{TestContext, needed, needs, patience};
use rustix::process::Signal;
use serde_json::json;

use crate::test_daemon::{Daemon, context, names, skill};

/// A program that starts another one with a separate limit for watches: that of a user namespace.
fn limited(
    context: &mut TestContext,
    limit: &str,
    most: u32,
) -> Result<(), metier_testkit::NotRun> {
    let unshare = needs::program("unshare")?;
    let unshare = unshare.to_string_lossy();
    let script = format!("echo {most} > /proc/sys/user/{limit} && exec \"$@\"");
    let trial = Command::new(&*unshare)
        .args(["-Ur", "/bin/sh", "-c", &script, "sh", "true"])
        .status();
    let works = trial.is_ok_and(|status| status.success());
    needs::condition(works, "this user can't make user namespaces")?;
    context.wrap(&[&unshare, "-Ur", "/bin/sh", "-c", &script, "sh"]);
    Ok(())
}

#[test]
fn without_watches_changes_are_polled_and_said_to_be() {
    for (limit, most, why) in [
        ("max_inotify_watches", 3, "fs.inotify.max_user_watches"),
        ("max_inotify_instances", 0, "fs.inotify.max_user_instances"),
    ] {
        let mut context = context();
        needed!(limited(&mut context, limit, most));
        let daemon = Daemon::start(&context);
        let mut socket = daemon.socket();
        socket.ask(&json!({ "type": "subscribe" }));
        patience::wait_until("the folders were prepared", || {
            let status = daemon.get("/api/v1/status").ok();
            status["watch"]["state"] != "starting"
        });
        let status = daemon.get("/api/v1/status").ok();
        assert_eq!(status["watch"]["state"], "polled", "{status}");
        assert!(status["watch"].to_string().contains(why), "{status}");
        // A request is never answered from an old list, and a subscriber is notified of the change.
        skill(&context, "audit", "Audits.", "One.\n");
        daemon.get("/api/v1/skills/audit").ok();
        let changes = socket.hear();
        assert_eq!(names(&changes["added"]), ["audit"], "{changes}");
        let doctor = context.run(&["--root", "skills", "doctor"]);
        assert!(doctor.stdout.contains(why), "{}", doctor.snapshot());
        assert_eq!(daemon.end(Signal::TERM), Some(0));
    }
}

/// The part of a service manager: the socket is handle 3, and two variables announce it.
const MANAGER: &str = "
import os, socket, sys
s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen(64)
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS='1', LISTEN_PID=os.environ.get('OTHER_PID', str(os.getpid())), PASSED_PORT=str(s.getsockname()[1]))
print(os.environ['PASSED_PORT'], file=open(os.environ['PORT_FILE'], 'w'))
os.execv(sys.argv[1], sys.argv[1:])
";

#[test]
fn the_socket_of_a_service_manager_is_used() {
    let python = needed!(needs::program("/usr/bin/python3"));
    let port = |context: &TestContext| {
        let text = fs::read_to_string(context.path("port")).unwrap();
        format!("127.0.0.1:{}", text.trim())
    };
    let mut context = context();
    context.wrap(&[&python.to_string_lossy(), "-c", MANAGER]);
    let file = context.path("port").to_string_lossy().into_owned();
    context.env("PORT_FILE", &file);
    let daemon = Daemon::start(&context);
    assert_eq!(daemon.address, port(&context));
    assert_eq!(daemon.get("/api/v1/skills").ok()["total"], 1);
    // Waits for its end: there is one daemon for each data folder.
    assert_eq!(daemon.end(Signal::TERM), Some(0));
    // Variables that were meant for another process have no effect.
    context.env("OTHER_PID", "1");
    let daemon = Daemon::start(&context);
    assert_ne!(daemon.address, port(&context));
}

#[test]
fn the_units_start_the_daemon_at_its_usual_address() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dist");
    let unit = |name: &str| fs::read_to_string(format!("{folder}/{name}")).unwrap();
    assert!(unit("metier.socket").contains("\nListenStream=127.0.0.1:7717\n"));
    assert!(unit("metier.service").contains("/metier serve\n"));
    let help = context().run(&["help", "serve"]);
    assert!(
        help.stdout.contains("127.0.0.1:7717"),
        "{}",
        help.snapshot()
    );
}

/// The file format of certificates and keys.
fn pem(kind: &str, bytes: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!("-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n")
}

// case 143
#[test]
fn other_machines_are_served_over_tls_with_a_token() {
    let curl = needed!(needs::program("curl"));
    let context = context();
    let made = rcgen::generate_simple_self_signed(["metier.test".to_owned()]).unwrap();
    context.write("cert.pem", pem("CERTIFICATE", made.cert.der()));
    let key = made.signing_key.serialize_der();
    context.write("key.pem", pem("PRIVATE KEY", &key));
    let daemon = Daemon::start_at(
        &context,
        &["--root", "skills"],
        &[
            "--listen",
            "0.0.0.0:0",
            "--tls-cert",
            "cert.pem",
            "--tls-key",
            "key.pem",
            "--host",
            "metier.test",
        ],
    );
    let address = daemon.address.trim_start_matches("https://");
    let port = address.rsplit(':').next().unwrap();
    let certificate = context.path("cert.pem");
    let ask = |path: &str, more: &[&str]| {
        let mut command = Command::new(&curl);
        command
            .args(["-sS", "--noproxy", "*", "--cacert"])
            .arg(&certificate)
            .args(["--resolve", &format!("metier.test:{port}:127.0.0.1")])
            .args(["-w", "\n%{http_code}"])
            .args(more)
            .arg(format!("https://metier.test:{port}{path}"));
        let output = context.start(command).wait_with_output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let token = format!("Authorization: Bearer {}", daemon.token);
    let listed = ask("/api/v1/skills", &["-H", &token]);
    assert!(
        listed.contains("\"report\"") && listed.ends_with("\n200"),
        "{listed}"
    );
    assert!(ask("/healthz", &[]).ends_with("\n200"));
    assert!(ask("/api/v1/skills", &[]).ends_with("\n401"));
    assert!(
        ask(
            "/api/v1/skills",
            &["-H", &token, "-H", "Host: evil.example"]
        )
        .ends_with("\n421")
    );
    assert!(
        ask(
            "/api/v1/skills",
            &["-H", &token, "-H", "Origin: https://evil.example"]
        )
        .ends_with("\n403")
    );
    // Without TLS there is no answer, and the daemon continues.
    let plain = Command::new(&curl)
        .args(["-sS", "--noproxy", "*", "-m", "20"])
        .arg(format!("http://127.0.0.1:{port}/healthz"))
        .output()
        .unwrap();
    assert!(!plain.status.success());
    assert!(ask("/healthz", &[]).ends_with("\n200"));
    assert_eq!(daemon.end(Signal::TERM), Some(0));
}
