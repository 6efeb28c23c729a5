//! Clients of the daemon that are malicious or misbehave. It answers each of them, and continues.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    thread,
    time::Duration,
};

use metier_testkit::patience;
use serde_json::json;
use tungstenite::Message;

use crate::test_daemon::{Daemon, MOMENT, context, execute};

/// The daemon still answers.
fn is_alive(daemon: &Daemon) {
    assert_eq!(daemon.get("/api/v1/skills").ok()["total"], 1);
}

// case 143
#[test]
fn foreign_pages_and_rebinding_names_are_refused() {
    let context = context();
    let daemon = Daemon::start(&context);
    let (address, token) = (&daemon.address, &daemon.token);
    let port = address.rsplit(':').next().unwrap();
    let bearer = format!("Authorization: Bearer {token}\r\n");
    for (headers, expected) in [
        (
            format!("Host: evil.example\r\n{bearer}"),
            (421, "wrong-host"),
        ),
        (
            format!("Host: evil.example:{port}\r\n{bearer}"),
            (421, "wrong-host"),
        ),
        (bearer.clone(), (421, "wrong-host")),
        (
            format!("Host: {address}\r\nOrigin: http://evil.example\r\n{bearer}"),
            (403, "foreign-origin"),
        ),
        (
            format!("Host: {address}\r\nOrigin: null\r\n{bearer}"),
            (403, "foreign-origin"),
        ),
        (
            format!("Host: {address}\r\nOrigin: http://127.0.0.1:1\r\n{bearer}"),
            (403, "foreign-origin"),
        ),
        (format!("Host: {address}\r\n"), (401, "unauthorized")),
        (
            format!("Host: {address}\r\nAuthorization: Bearer wrong\r\n"),
            (401, "unauthorized"),
        ),
        (
            format!("Host: {address}\r\nCookie: metier_session=x\r\n"),
            (401, "unauthorized"),
        ),
    ] {
        let refused = daemon
            .request("GET", "/api/v1/skills", &headers, "")
            .refused();
        assert_eq!(refused, (expected.0, expected.1.to_owned()), "{headers}");
        // The health check does not bypass the check of a request's origin.
        if expected.0 != 401 {
            let health = daemon.request("GET", "/healthz", &headers, "");
            assert_eq!(health.status, expected.0, "{headers}");
        }
    }
    // The same for upgrades.
    let bearer = format!("Bearer {token}");
    let evil = format!("evil.example:{port}");
    assert_eq!(
        daemon
            .upgrade(&[
                ("authorization", &bearer),
                ("origin", "http://evil.example")
            ])
            .err(),
        Some(403)
    );
    assert_eq!(
        daemon
            .upgrade(&[("authorization", &bearer), ("origin", "null")])
            .err(),
        Some(403)
    );
    assert_eq!(
        daemon
            .upgrade(&[("authorization", &bearer), ("host", &evil)])
            .err(),
        Some(421)
    );
    assert_eq!(
        daemon.upgrade(&[("authorization", "Bearer wrong")]).err(),
        Some(401)
    );
    let own = format!("http://{address}");
    assert!(
        daemon
            .upgrade(&[("authorization", &bearer), ("origin", &own)])
            .is_ok()
    );
    is_alive(&daemon);
}

#[test]
fn without_a_token_only_health_answers() {
    let context = context();
    let daemon = Daemon::start(&context);
    let host = format!("Host: {}\r\n", daemon.address);
    for (method, path) in [
        ("GET", "/api/v1/skills"),
        ("GET", "/api/v1/openapi.json"),
        ("POST", "/api/v1/skills/report/execute"),
        ("GET", "/metrics"),
        ("GET", "/nothing"),
        ("POST", "/healthz"),
        ("DELETE", "/"),
        ("GET", "/healthz/../api/v1/skills"),
        ("GET", "//healthz"),
        ("GET", "/api/v1/events"),
    ] {
        let answer = daemon.request(method, path, &host, "");
        assert_eq!(answer.status, 401, "{method} {path}: {answer:?}");
        assert!(!answer.body.contains("report"), "{answer:?}");
    }
    assert_eq!(daemon.request("GET", "/healthz", &host, "").status, 200);
    // A socket opens, since a browser can show the token only then; and it sends nothing before.
    let mut socket = daemon.upgrade(&[]).unwrap();
    let refused = socket.ask(&json!({ "id": 1, "type": "list_skills" }));
    assert_eq!(refused["code"], "unauthorized", "{refused}");
    assert_eq!(
        socket.ask(&execute(2, "report", ""))["code"],
        "unauthorized"
    );
    socket.say(&json!({ "type": "auth", "token": "wrong" }).to_string());
    assert_eq!(socket.hear()["code"], "unauthorized");
    assert_eq!(socket.closed(), "the token is invalid");
    let mut socket = daemon.upgrade(&[]).unwrap();
    let welcome = socket.ask(&json!({ "type": "auth", "token": daemon.token }));
    assert_eq!(welcome["type"], "authenticated");
    assert_eq!(
        socket.ask(&json!({ "id": 3, "type": "list_skills" }))["id"],
        3
    );
}

// case 145
#[test]
fn forms_of_a_foreign_page_change_nothing() {
    let context = context();
    let daemon = Daemon::start(&context);
    let path = "/api/v1/skills/report/execute";
    let body = "{\"arguments\":\"x\"}";
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonp",
    ] {
        let headers = format!("{}Content-Type: {kind}\r\n", daemon.headers());
        let refused = daemon.request("POST", path, &headers, body).refused();
        assert_eq!(refused, (415, "not-json".to_owned()), "{kind}");
    }
    let untyped = daemon.request("POST", path, &daemon.headers(), body);
    assert_eq!(untyped.status, 415, "{untyped:?}");
    // A header that names another method, and a callback, have no effect.
    let headers = format!("{}X-HTTP-Method-Override: POST\r\n", daemon.headers());
    assert_eq!(daemon.request("GET", path, &headers, "").status, 405);
    let refused = daemon.get("/api/v1/skills?callback=alert").refused();
    assert_eq!(refused, (400, "usage".to_owned()));
    is_alive(&daemon);
}

/// The link of the page: it works once, and its cookie can't be used by forms.
#[test]
fn the_link_becomes_a_cookie_once() {
    let context = context();
    let daemon = Daemon::start(&context);
    let host = format!("Host: {}\r\n", daemon.address);
    let path = daemon
        .link
        .split_once(&daemon.address)
        .unwrap()
        .1
        .to_owned();
    let login = daemon.request("GET", &path, &host, "");
    assert_eq!(login.status, 200, "{login:?}");
    let cookie = login
        .head
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .unwrap();
    for word in ["HttpOnly", "SameSite=Strict", "Max-Age=", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert_eq!(
        daemon.request("GET", &path, &host, "").refused(),
        (401, "used-link".to_owned())
    );
    let cookie = cookie.split(';').next().unwrap();
    let page = format!("{host}Cookie: {cookie}\r\n");
    assert_eq!(
        daemon.request("GET", "/api/v1/skills", &page, "").status,
        200
    );
    let typed = format!("{page}Content-Type: application/json\r\n");
    let refused = daemon
        .request("POST", "/api/v1/refresh", &typed, "{}")
        .refused();
    assert_eq!(refused, (403, "missing-header".to_owned()));
    let ours = format!(
        "{typed}X-Metier-Request: 1\r\nOrigin: http://{}\r\n",
        daemon.address
    );
    assert_eq!(
        daemon
            .request("POST", "/api/v1/refresh", &ours, "{}")
            .status,
        200
    );
}

// case 144
#[test]
fn large_frames_and_floods_end_only_their_socket() {
    let context = context();
    let daemon = Daemon::start(&context);
    let mut other = daemon.socket();
    let mut socket = daemon.socket();
    // The server stops reading, and may close before all of it is written.
    socket.0.send(Message::text("x".repeat(3 << 20))).ok();
    socket.closed();
    let mut socket = daemon.socket();
    for _ in 0..5_000 {
        if socket.0.send(Message::Ping(Vec::new().into())).is_err() {
            break;
        }
    }
    patience::wait_until("the flood is over", || {
        daemon
            .get("/metrics")
            .body
            .contains("metier_websockets 1\n")
    });
    // Binary, empty, malformed: answered, and the socket stays open.
    for text in [
        "",
        "{",
        "[]",
        "null",
        "{\"id\":1}",
        "{\"id\":1,\"type\":\"dance\"}",
        "{\"id\":[],\"type\":\"list_skills\"}",
    ] {
        other.say(text);
        let answer = other.hear();
        assert_eq!(
            (&answer["type"], &answer["code"]),
            (&json!("error"), &json!("usage")),
            "{text}"
        );
    }
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    other.say(&deep);
    assert_eq!(other.hear()["code"], "usage");
    let long = json!({ "id": "x".repeat(200), "type": "list_skills" });
    assert_eq!(other.ask(&long)["code"], "usage");
    other.0.send(Message::binary(vec![0, 1, 2])).unwrap();
    assert_eq!(other.hear()["code"], "usage");
    assert_eq!(
        other.ask(&json!({ "id": 5, "type": "list_skills" }))["id"],
        5
    );
    is_alive(&daemon);
}

// case 144
#[test]
fn slow_and_half_open_clients_are_not_waited_for() {
    let context = context();
    let daemon = Daemon::start(&context);
    // Headers that never end: the connection does.
    let mut slow = TcpStream::connect(&daemon.address).unwrap();
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        .unwrap();
    // A body that never comes.
    let mut waiting = TcpStream::connect(&daemon.address).unwrap();
    let head = format!(
        "POST /api/v1/scan HTTP/1.1\r\n{}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n",
        daemon.headers()
    );
    waiting.write_all(head.as_bytes()).unwrap();
    // Connections that send nothing, and are closed.
    let silent: Vec<TcpStream> = (0..50)
        .map(|_| TcpStream::connect(&daemon.address).unwrap())
        .collect();
    drop(silent);
    let socket = daemon.socket();
    socket.0.get_ref().shutdown(std::net::Shutdown::Write).ok();
    is_alive(&daemon);
    let ended = |mut stream: TcpStream| {
        thread::spawn(move || {
            stream.set_read_timeout(Some(patience::PATIENCE)).unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).ok();
            text
        })
    };
    let (slow, waiting) = (ended(slow), ended(waiting));
    slow.join().unwrap();
    assert!(
        waiting.join().unwrap().contains("408"),
        "the body did not arrive"
    );
    is_alive(&daemon);
}

/// A client that sends requests and never reads: its queue is limited, and others are answered.
#[test]
fn connections_over_the_limit_are_closed_and_counted() {
    let context = context();
    let own = ["--listen", "127.0.0.1:0", "--max-connections", "3"];
    let daemon = Daemon::start_at(&context, &["--root", "skills"], &own);
    let sockets = [(); 3].map(|()| daemon.socket());
    for _ in 0..2 {
        let mut fourth = TcpStream::connect(&daemon.address).unwrap();
        fourth.set_read_timeout(Some(patience::PATIENCE)).unwrap();
        // The end of the stream, or a reset: in no case an answer.
        let answered = fourth.read(&mut [0; 16]);
        assert_eq!(answered.unwrap_or(0), 0);
    }
    let [first, mut second, _third] = sockets;
    second.ask(&json!({"type": "list_skills", "id": 1}));
    // A freed slot is used again.
    drop(first);
    let metrics = patience::wait_for("a free place", || {
        let mut stream = TcpStream::connect(&daemon.address).ok()?;
        stream.set_read_timeout(Some(patience::PATIENCE)).ok()?;
        let request = format!(
            "GET /metrics HTTP/1.1\r\nConnection: close\r\n{}\r\n",
            daemon.headers()
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok();
        (!answer.is_empty()).then_some(answer)
    });
    let refused = metrics.lines().find_map(|line| {
        let value = line.strip_prefix("metier_refused_connections_total ")?;
        value.trim().parse::<u64>().ok()
    });
    assert!(refused >= Some(2), "{metrics}");
}

#[test]
fn a_client_that_does_not_read_is_dropped() {
    let context = context();
    for number in 0..300 {
        let about = "Describes something at great length. ".repeat(20);
        crate::test_daemon::skill(&context, &format!("long-{number}"), &about, "Body.\n");
    }
    let daemon = Daemon::start(&context);
    let mut socket = daemon.socket();
    let stream = socket.0.get_ref().try_clone().unwrap();
    stream
        .set_write_timeout(Some(Duration::from_secs(1)))
        .unwrap();
    for id in 0..2_000 {
        let message = json!({ "id": id, "type": "list_skills" }).to_string();
        if socket.0.send(Message::text(message)).is_err() {
            break;
        }
    }
    let total = daemon.get("/api/v1/skills?limit=1").ok()["total"].clone();
    assert_eq!(total, 301, "others are answered");
    patience::wait_until("the client is dropped", || {
        daemon
            .get("/metrics")
            .body
            .contains("metier_websockets 0\n")
    });
}

#[test]
fn bodies_and_addresses_have_limits() {
    let context = context();
    let daemon = Daemon::start(&context);
    let large = json!({ "arguments": "x".repeat(2 << 20) });
    let refused = daemon.post("/api/v1/skills/report/render", &large);
    assert!(matches!(refused.status, 413 | 0), "{}", refused.status);
    let long = format!("/api/v1/skills?query={}", "x".repeat(10_000));
    assert!(
        matches!(daemon.get(&long).status, 414 | 431 | 400),
        "a long address"
    );
    let headers = format!("{}X-Long: {}\r\n", daemon.headers(), "x".repeat(100_000));
    let answer = daemon.request("GET", "/api/v1/skills", &headers, "");
    assert!(matches!(answer.status, 431 | 0), "{}", answer.status);
    for body in [
        "{",
        "[]",
        "null",
        "{\"arguments\":1}",
        "{\"surprise\":1}",
        "\u{0}",
    ] {
        let headers = format!("{}Content-Type: application/json\r\n", daemon.headers());
        let refused = daemon.request("POST", "/api/v1/skills/report/render", &headers, body);
        assert_eq!(refused.refused(), (400, "usage".to_owned()), "{body}");
    }
    for path in [
        "/api/v1/skills/report/files/../../../etc/passwd",
        "/api/v1/skills/report/files/%2e%2e/%2e%2e/secret",
        "/api/v1/skills/report/files/%2Fetc%2Fpasswd",
    ] {
        let refused = daemon.get(path);
        assert!((400..500).contains(&refused.status), "{path}: {refused:?}");
        assert!(!refused.body.contains("root:"), "{refused:?}");
    }
    is_alive(&daemon);
}

#[test]
fn other_machines_need_tls() {
    let context = context();
    let refused = context.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(refused.code, 2, "{}", refused.snapshot());
    assert!(
        refused.stderr.contains("--tls-cert"),
        "{}",
        refused.snapshot()
    );
    thread::sleep(MOMENT);
    context.write("cert.pem", "nothing\n");
    let wrong = [
        "serve",
        "--listen",
        "0.0.0.0:0",
        "--tls-cert",
        "cert.pem",
        "--tls-key",
        "cert.pem",
    ];
    let refused = context.run(&wrong);
    assert_eq!(refused.code, 2, "{}", refused.snapshot());
    assert!(
        refused.stderr.contains("cert.pem"),
        "{}",
        refused.snapshot()
    );
}

// case 106
#[test]
fn the_files_of_the_daemon_are_the_users_own() {
    use std::os::unix::fs::PermissionsExt as _;
    let context = context();
    let daemon = Daemon::start(&context);
    let found = context.run(&["serve", "--rotate-token", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    let token = std::path::PathBuf::from(document["token_file"].as_str().unwrap());
    for file in [token.clone(), token.with_file_name("serve.lock")] {
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", file.display());
    }
    drop(daemon);
}

/// A frame with a mask of zeros, so that its payload is plain.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        short @ 0..126 => bytes.push(0x80 | u8::try_from(short).unwrap()),
        long => {
            bytes.push(0xff);
            bytes.extend((long as u64).to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend_from_slice(payload);
    bytes
}

// case 144
#[test]
fn compressed_frames_and_endless_messages_end_only_their_socket() {
    let context = context();
    let daemon = Daemon::start(&context);
    let open = || {
        let mut stream = TcpStream::connect(&daemon.address).unwrap();
        stream.set_read_timeout(Some(patience::PATIENCE)).unwrap();
        let upgrade = format!(
            "GET /ws HTTP/1.1\r\n{}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
            daemon.headers()
        );
        stream.write_all(upgrade.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        assert!(head.starts_with("http/1.1 101"), "{head}");
        assert!(!head.contains("sec-websocket-extensions"), "{head}");
        stream
    };
    let ends = |mut stream: TcpStream| {
        let mut rest = Vec::new();
        // A reset is an end too.
        stream.read_to_end(&mut rest).ok();
    };
    // Text that is marked as compressed, although no extension was negotiated.
    let mut compressed = open();
    compressed.write_all(&frame(0xc1, b"\xab\x02")).unwrap();
    ends(compressed);
    // One message in endless parts: it may have a megabyte.
    let mut parts = open();
    parts.write_all(&frame(0x01, b"{")).unwrap();
    let part = frame(0x00, &vec![b' '; 64 << 10]);
    let refused = (0..1_000).any(|_| parts.write_all(&part).is_err());
    assert!(refused, "64 MB were taken");
    ends(parts);
    // A frame that announces a gigabyte.
    let mut huge = open();
    let mut head = frame(0x81, &[b' '; 200]);
    head[2..10].copy_from_slice(&(1_u64 << 30).to_be_bytes());
    huge.write_all(&head).unwrap();
    ends(huge);
    is_alive(&daemon);
}

// case 133, 134, 143, 145
#[test]
fn wrong_requests_to_mcp_over_http_are_refused_and_the_daemon_continues() {
    let context = context();
    let daemon = Daemon::start(&context);
    let typed = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
    let headers = format!("{}{typed}", daemon.headers());
    let long = "9".repeat(400);
    let modern = |version: &str, method: &str| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" } } } })
        .to_string()
    };
    for (more, body) in [
        ("", String::new()),
        ("", "{".to_owned()),
        ("", "[]".to_owned()),
        ("", "null".to_owned()),
        ("", "\u{0}".to_owned()),
        (
            "",
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}".to_owned(),
        ),
        (
            "",
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{long},\"method\":\"ping\"}}"),
        ),
        ("", format!("{}{}", "[".repeat(10_000), "]".repeat(10_000))),
        // A method that requires a session, without one; and an unknown session.
        (
            "",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string(),
        ),
        (
            "Mcp-Session-Id: none\r\n",
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string(),
        ),
        // Versions that don't exist, and fields of the other era.
        (
            "MCP-Protocol-Version: 1999-01-01\r\nMcp-Method: tools/list\r\n",
            modern("1999-01-01", "tools/list"),
        ),
        (
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n",
            modern("2026-07-28", "tools/list"),
        ),
        (
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: dance\r\n",
            modern("2026-07-28", "dance"),
        ),
        (
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: logging/setLevel\r\n",
            modern("2026-07-28", "logging/setLevel"),
        ),
    ] {
        let answer = daemon.request("POST", "/mcp", &format!("{headers}{more}"), &body);
        let is_refused = (400..500).contains(&answer.status) || answer.body.contains("\"error\"");
        assert!(is_refused, "{more}{body:.200}: {answer:?}");
        assert!(!answer.body.contains("\"tools\":["), "{answer:?}");
    }
    // A page whose name was made to resolve to this machine.
    let rebound = headers.replacen(&daemon.address, "evil.example", 1);
    let refused = daemon.request(
        "POST",
        "/mcp",
        &rebound,
        &modern("2026-07-28", "tools/list"),
    );
    assert_eq!(refused.refused(), (421, "wrong-host".to_owned()));
    let form = headers.replace("application/json\r\n", "text/plain\r\n");
    let answer = daemon.request("POST", "/mcp", &form, &modern("2026-07-28", "tools/list"));
    assert!((400..500).contains(&answer.status), "{answer:?}");
    is_alive(&daemon);
}
