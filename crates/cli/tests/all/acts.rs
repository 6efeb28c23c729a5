//! Acts that were permitted, performed for real: files, hosts, repositories and variables, and what remains denied even then.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
};

use metier_catalog::Snapshot;
use metier_host::{
    child::Exit,
    execution::{ActResult, ExecutionError, HostEnvironment},
};
use metier_model::{Digest, Source};
use metier_policy::{
    Act, FetchAct, GitAct, Identity, PermissionRequest, RequestReason, RequestedPermission,
};
use metier_runtime::{
    Redactor,
    approvals::RequestingSkill,
    granted_skill::{ActError, GrantedSkill},
};
use metier_store::{ReceiptDecision, Store};
use metier_testkit::TestContext;

use crate::session_parts::{approvals, host_environment, terms, without_files, without_folder};

/// Acts with these granted permissions, in the project of a context.
fn work_with(context: &TestContext, wants: &[&str], work: impl FnOnce(&GrantedSkill, &Path)) {
    let project = context.work().canonicalize().unwrap();
    let home = context.home().canonicalize().unwrap();
    let store = Store::open(&home.join("acts.db")).unwrap();
    let digest = Digest([1; 32]);
    let identity = Identity {
        skill: "a".into(),
        source: Source::User,
        digest,
    };
    let approvals = approvals(store, &["a"], terms(100, &project, Some(&home)));
    let held = Snapshot {
        files: Vec::new(),
        digest,
        fingerprint: None,
    };
    let subject = RequestingSkill {
        identity: &identity,
        place: "/",
        held: &held,
    };
    let asked = wants.iter().map(|want| RequestedPermission {
        want: want.parse().unwrap(),
        why: RequestReason::Declared,
    });
    let granted = approvals
        .grant(&subject, &PermissionRequest::new(asked))
        .unwrap();
    let host = HostEnvironment {
        home: Some(home.clone()),
        path: Some("/usr/local/bin:/usr/bin:/bin".into()),
        own: vec![project.join("metier.db")],
        ..host_environment(Path::new(env!("CARGO_BIN_EXE_metier")), &project, &home)
    };
    let worker = GrantedSkill::new(
        Arc::new(approvals),
        granted,
        Arc::new(host),
        without_folder(&[("COLOR", "blue")]),
        Redactor::default(),
        without_files(),
        Box::new(|| true),
    )
    .unwrap();
    work(&worker, &project);
}

fn write(path: PathBuf, text: &str) -> Act {
    Act::WriteFile {
        path,
        content: text.into(),
    }
}

#[test]
fn files_are_read_and_written_where_that_was_allowed() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    context.write("src/a.txt", "text\n");
    context.write("~/.ssh/id_ed25519", "key\n");
    context.write("metier.db", "ours\n");
    context.write(".git/hooks/pre-commit", "#!/bin/sh\n");
    let wants = ["file:read(./**)", "file:write(./**)", "file:read(~/**)"];
    work_with(&context, &wants, |worker, project| {
        let read = |path: PathBuf| worker.act(&Act::ReadFile(path));
        assert!(
            matches!(read(project.join("src/a.txt")), Ok(ActResult::Bytes(bytes)) if bytes == b"text\n")
        );
        worker
            .act(&write(project.join("src/b.txt"), "new\n"))
            .unwrap();
        assert_eq!(
            fs::read_to_string(project.join("src/b.txt")).unwrap(),
            "new\n"
        );
        // No link is followed, not even the user's own.
        std::os::unix::fs::symlink("/etc/passwd", project.join("src/link")).unwrap();
        assert!(matches!(
            read(project.join("src/link")),
            Err(ActError::Execution(ExecutionError::File { .. }))
        ));
        // Keys, our own state and files that other programs obey remain denied.
        let home = context.home().canonicalize().unwrap();
        for path in [home.join(".ssh/id_ed25519"), project.join("metier.db")] {
            assert!(matches!(
                read(path),
                Err(ActError::Execution(ExecutionError::Never { .. }))
            ));
        }
        for path in [
            "metier.db",
            ".git/hooks/pre-commit",
            "AGENTS.md",
            ".mcp.json",
        ] {
            let refused = worker.act(&write(project.join(path), "evil"));
            assert!(
                matches!(
                    refused,
                    Err(ActError::Execution(ExecutionError::Never { .. }))
                ),
                "{path}: {refused:?}"
            );
            let receipt = worker.receipts().pop().unwrap();
            assert_eq!(receipt.entry.decision, ReceiptDecision::Refused, "{path}");
        }
        assert!(matches!(
            read("/etc/passwd".into()),
            Err(ActError::Refused(_))
        ));
    });
}

/// Answers this many requests with one text.
fn serve(times: usize, answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming().take(times) {
            let stream = stream.unwrap();
            let mut request = BufReader::new(&stream);
            let mut line = String::from("x");
            while !line.trim().is_empty() {
                line.clear();
                request.read_line(&mut line).unwrap();
            }
            (&stream).write_all(answer.as_bytes()).unwrap();
        }
    });
    port
}

fn fetch(host: &str, port: u16) -> Act {
    Act::Fetch(FetchAct {
        method: "GET".into(),
        url: format!("http://{host}:{port}/").into(),
        host: host.into(),
        port,
        headers: Vec::new(),
        body: Vec::new(),
    })
}

/// The host of a redirect gets the request too, so it has a receipt of its own.
// case 225
#[test]
fn a_host_that_a_redirect_leads_to_has_a_receipt() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let page = serve(
        1,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
    );
    let answer = format!(
        "HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:{page}/\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    );
    let first = serve(1, answer.leak());
    work_with(&context, &["net:fetch(127.0.0.1)"], |worker, _| {
        let answered = worker.act(&fetch("127.0.0.1", first));
        assert!(
            matches!(&answered, Ok(ActResult::Response(_))),
            "{answered:?}"
        );
        let receipts = worker.receipts();
        let of = |detail: &str| {
            let same = receipts.iter().filter(|one| one.entry.detail == detail);
            same.count()
        };
        assert_eq!(of(&format!("CONNECT 127.0.0.1:{page}")), 1, "{receipts:?}");
        assert_eq!(
            of(&format!("GET http://127.0.0.1:{first}/")),
            1,
            "{receipts:?}"
        );
    });
}

#[test]
fn hosts_are_reached_that_were_named_and_no_others() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    let page = serve(
        1,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
    );
    let away = serve(
        1,
        "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    work_with(&context, &["net:fetch(127.0.0.1)"], |worker, _| {
        let answered = worker.act(&fetch("127.0.0.1", page));
        assert!(
            matches!(&answered, Ok(ActResult::Response(response)) if response.body == b"hello"),
            "{answered:?}"
        );
        let redirected = worker.act(&fetch("127.0.0.1", away));
        assert!(
            matches!(redirected, Err(ActError::Execution(ExecutionError::Net(_)))),
            "{redirected:?}"
        );
        let elsewhere = worker.act(&fetch("127.0.0.2", page));
        assert!(
            matches!(elsewhere, Err(ActError::Refused(_))),
            "{elsewhere:?}"
        );
    });
}

#[test]
fn a_repository_is_read_by_commands_that_only_read() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    context.write("a.txt", "a\n");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command
            .current_dir(context.work())
            .env("HOME", context.home())
            .args(arguments);
        assert!(
            command.output().unwrap().status.success(),
            "git {arguments:?}"
        );
    };
    git(&["init", "-q"]);
    git(&["add", "a.txt"]);
    git(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.com",
        "commit",
        "-qm",
        "first",
    ]);
    work_with(&context, &["git:read(.)"], |worker, project| {
        let act = |arguments: &[&str]| {
            worker.act(&Act::ReadRepository(GitAct {
                repository: project.to_owned(),
                arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            }))
        };
        let Ok(ActResult::Child(ended, _)) = act(&["log", "--format=%s"]) else {
            panic!("git log did not run");
        };
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(
            (ended.exit, ended.stdout.as_slice()),
            (Exit::Code(0), &b"first\n"[..]),
            "{said}"
        );
        for arguments in [
            &["push"][..],
            &["commit", "-m", "x"],
            &["-c", "core.pager=id", "log"],
            &["log", "--output=x"],
            &["diff", "--ext-diff"],
            &["branch", "-D", "main"],
            &[],
        ] {
            let refused = act(arguments);
            assert!(
                matches!(&refused, Err(ActError::Execution(error)) if error.is_refusal()),
                "{arguments:?}: {refused:?}"
            );
        }
    });
}

#[test]
fn a_variable_is_read_that_was_named() {
    let context = TestContext::new(env!("CARGO_BIN_EXE_metier"));
    work_with(&context, &["env:read(COLOR)"], |worker, _| {
        let read = |name: &str| worker.act(&Act::ReadVariable(name.into()));
        assert!(matches!(read("COLOR"), Ok(ActResult::Value(Some(value))) if value == "blue"));
        assert!(matches!(read("HOME"), Err(ActError::Refused(_))));
    });
}
