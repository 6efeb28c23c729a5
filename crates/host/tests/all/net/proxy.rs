//! The proxy as a child sees it, and what it refuses.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, mpsc},
    thread,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use metier_host::net::{AllowedHosts, NetworkProxy, ProxyConnection, ProxyDecision, ProxyLimits};
use metier_testkit::patience::{PATIENCE, ends, wait_until};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, crypto::aws_lc_rs,
    pki_types::ServerName,
};

use super::{Internet, Server, any, hosts, ok};

const CREDENTIAL: &str = "0123456789abcdef-_";

/// A proxy, and the internet behind it.
struct Door {
    proxy: NetworkProxy,
    port: u16,
    net: Arc<Internet>,
    log: mpsc::Receiver<ProxyConnection>,
}

impl Door {
    fn open(hosts: AllowedHosts, net: Internet) -> Self {
        Self::limited(hosts, net, |_| ())
    }

    fn limited(hosts: AllowedHosts, net: Internet, change: impl FnOnce(&mut ProxyLimits)) -> Self {
        let mut limits = ProxyLimits {
            head: Duration::from_millis(1500),
            connect: Duration::from_secs(2),
            idle: Duration::from_secs(5),
            total: Duration::from_secs(8),
            ..ProxyLimits::default()
        };
        change(&mut limits);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (send, log) = mpsc::channel();
        let net = Arc::new(net);
        let resolve = Arc::clone(&net) as Arc<dyn metier_host::net::Resolve>;
        let proxy =
            NetworkProxy::start(listener, hosts, CREDENTIAL, limits, resolve, Arc::new(send))
                .unwrap();
        Self {
            proxy,
            port,
            net,
            log,
        }
    }

    fn dial(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends `text` and reads the whole reply.
    fn ask(&self, text: &str) -> String {
        let mut stream = self.dial();
        stream.write_all(text.as_bytes()).unwrap();
        rest(&mut stream)
    }

    /// `line` as a request with the credential.
    fn request(&self, line: &str) -> String {
        self.ask(&with_credential(line, ""))
    }

    /// An open tunnel.
    fn tunnel(&self, authority: &str) -> TcpStream {
        let mut stream = self.dial();
        let line = format!("CONNECT {authority} HTTP/1.1");
        stream
            .write_all(with_credential(&line, "").as_bytes())
            .unwrap();
        let head = super::read_head(&mut stream);
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        stream
    }

    /// The next connection that ended.
    fn seen(&self) -> ProxyConnection {
        self.log.recv_timeout(PATIENCE).unwrap()
    }

    #[track_caller]
    fn saw_refused(&self, part: &str) {
        match self.seen().decision {
            ProxyDecision::Refused(reason) if reason.contains(part) => {}
            other => panic!("{part:?} expected: {other:?}"),
        }
    }
}

fn with_credential(line: &str, headers: &str) -> String {
    let secret = STANDARD.encode(format!("metier:{CREDENTIAL}"));
    format!("{line}\r\nProxy-Authorization: Basic {secret}\r\n{headers}\r\n")
}

/// The data up to the end; a reset counts as an end.
fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[track_caller]
fn answered(answer: &str, status: u16, part: &str) {
    assert!(
        answer.starts_with(&format!("HTTP/1.1 {status} ")),
        "{answer}"
    );
    assert!(answer.contains(part), "{part:?} expected: {answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(body.lines().count(), 1, "{answer}");
}

/// `api.example.com` at 1.2.3.4, whose ports end at `server`.
fn one_host(ports: &[u16], server: &Server) -> Internet {
    let net = Internet::default().name("api.example.com", &["1.2.3.4"]);
    let route = |net: Internet, port: &u16| net.route(&format!("1.2.3.4:{port}"), server);
    ports.iter().fold(net, route)
}

#[test]
fn a_plain_request_is_passed_on_without_what_is_the_proxys() {
    let server = Server::saying("hello");
    let door = Door::open(hosts(&["api.example.com"]), one_host(&[80], &server));
    let headers = "Host: evil.io\r\nProxy-Connection: keep-alive\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\n";
    let line = "GET http://API.example.com/a?b=c#d HTTP/1.1";
    let answer = door.ask(&with_credential(line, headers));
    assert!(
        answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("hello"),
        "{answer}"
    );
    let head = server.seen().concat();
    assert_eq!(
        head,
        "GET /a?b=c HTTP/1.1\r\nHost: api.example.com\r\nx-end: 2\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(door.net.lookups(), ["api.example.com"]);
    let seen = door.seen();
    assert_eq!((seen.host.as_str(), seen.port), ("api.example.com", 80));
    assert_eq!(seen.decision, ProxyDecision::Allowed);
    assert_eq!(seen.bytes_down, ok("hello").len() as u64);
    assert_eq!(door.proxy.stop(), [seen]);
}

#[test]
fn a_body_is_passed_on_to_its_end_and_no_second_request_behind_it() {
    let server = Server::start(|mut stream, seen| {
        let mut all = String::new();
        stream
            .set_read_timeout(Some(Duration::from_millis(400)))
            .unwrap();
        let mut bytes = [0; 1024];
        while let Ok(count @ 1..) = stream.read(&mut bytes) {
            all.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        seen.lock().unwrap().push(all);
        stream.write_all(ok("done").as_bytes()).ok();
    });
    let door = Door::open(hosts(&["api.example.com"]), one_host(&[80], &server));
    let second = "GET http://evil.io/second HTTP/1.1\r\nHost: evil.io\r\n\r\n";
    for (header, body, onward) in [
        ("Content-Length: 4\r\n", "body", "body"),
        (
            "Transfer-Encoding: chunked\r\n",
            "4;x\r\nbody\r\n0\r\n\r\n",
            "4\r\nbody\r\n0\r\n\r\n",
        ),
        ("", "", ""),
    ] {
        let head = with_credential("POST http://api.example.com/ HTTP/1.1", header);
        let answer = door.ask(&format!("{head}{body}{second}"));
        assert!(answer.ends_with("done"), "{answer}");
        let got = server.seen().pop().unwrap();
        assert!(got.ends_with(&format!("\r\n\r\n{onward}")), "{got}");
        assert!(!got.contains("second"), "{got}");
    }
}

// case 117
#[test]
fn no_request_passes_without_the_credential() {
    let server = Server::saying("secret");
    let door = Door::open(hosts(&["api.example.com"]), one_host(&[80, 443], &server));
    let basic = |text: &str| format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(text));
    let good = basic(&format!("metier:{CREDENTIAL}"));
    for header in [
        String::new(),
        basic("metier:0123456789abcdef-x"),
        basic(&format!("other:{CREDENTIAL}")),
        basic("metier:"),
        format!("Proxy-Authorization: Bearer {CREDENTIAL}\r\n"),
        format!("Authorization: Basic {CREDENTIAL}\r\n"),
        format!("{good}{good}"),
        format!("{}{good}", basic("metier:x")),
    ] {
        for line in ["CONNECT api.example.com:443", "GET http://api.example.com/"] {
            let answer = door.ask(&format!("{line} HTTP/1.1\r\n{header}\r\n"));
            answered(&answer, 407, "credential");
            assert!(answer.contains("Proxy-Authenticate: Basic"), "{answer}");
            door.saw_refused("credential");
        }
    }
    assert!(door.net.lookups().is_empty() && server.seen().is_empty());
}

// case 107, 108, 111, 117
#[test]
fn another_host_is_refused_before_it_is_looked_up() {
    let door = Door::open(hosts(&["api.example.com"]), Internet::default());
    for (line, part) in [
        ("CONNECT evil.io:443", "`evil.io` is not an approved host"),
        (
            "CONNECT api.example.com.evil.io:443",
            "not an approved host",
        ),
        ("CONNECT evil-api.example.com:443", "not an approved host"),
        ("CONNECT api.example.com:22", "port 22"),
        ("CONNECT api.example.com@evil.io:443", "can't be used"),
        ("CONNECT evil.io#@api.example.com:443", "can't be used"),
        ("CONNECT evil.io\\api.example.com:443", "can't be used"),
        ("CONNECT api.example.com%2eevil.io:443", "can't be used"),
        ("CONNECT api.example.com:443:443", "can't be used"),
        ("CONNECT api.example.com", "`host:port`"),
        ("CONNECT http://api.example.com:443/", "can't be used"),
        ("CONNECT 127.0.0.1:80", "loopback"),
        ("CONNECT 2130706433:80", "loopback"),
        ("CONNECT [::ffff:127.0.0.1]:80", "loopback"),
        ("CONNECT localhost:80", "loopback"),
        ("CONNECT 169.254.169.254:80", "credentials of this machine"),
        (
            "CONNECT metadata.google.internal:80",
            "credentials of this machine",
        ),
        ("GET http://evil.io/", "not an approved host"),
        ("GET http://u@api.example.com/", "contains credentials"),
        ("GET ftp://api.example.com/", "`ftp:` is not supported"),
        ("GET /etc/passwd", "can't be used"),
        ("GET http://0177.1/", "loopback"),
    ] {
        answered(&door.request(&format!("{line} HTTP/1.1")), 403, part);
        door.saw_refused(part);
    }
    answered(
        &door.request("GET https://api.example.com/ HTTP/1.1"),
        400,
        "CONNECT",
    );
    assert!(door.net.lookups().is_empty());
}

// case 113
#[test]
fn a_private_address_reads_like_a_dead_one() {
    let inner = Server::saying("secret");
    let net = Internet::default()
        .name("private.io", &["127.0.0.1", "::ffff:10.0.0.1"])
        .name("metadata.io", &["169.254.169.254"])
        .name("dead.io", &["1.2.3.4"])
        .route("127.0.0.1:80", &inner);
    let door = Door::open(any(), net);
    let ask = |host: &str| {
        let answer = door.request(&format!("CONNECT {host}:80 HTTP/1.1"));
        answered(&answer, 502, "can't be reached");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        (body.replace(host, "host"), door.seen().decision)
    };
    let (dead, why) = ask("dead.io");
    assert!(matches!(why, ProxyDecision::Refused(why) if why.contains("no address answered")));
    let (private, why) = ask("private.io");
    assert!(matches!(why, ProxyDecision::Refused(why) if why.contains("is not allowed")));
    let (metadata, _) = ask("metadata.io");
    let (nowhere, _) = ask("nowhere.io");
    assert!(dead == private && dead == metadata && dead == nowhere);
    assert_eq!(door.net.dials(), ["1.2.3.4:80"]);
    assert!(inner.seen().is_empty());
}

// case 109
#[test]
fn each_connection_is_looked_up_and_checked_again() {
    let server = Server::saying("public");
    let net = Internet::default()
        .name("api.example.com", &["1.2.3.4"])
        .name("api.example.com", &["127.0.0.1"])
        .route("1.2.3.4:80", &server);
    let door = Door::open(hosts(&["api.example.com"]), net);
    let line = "GET http://api.example.com/ HTTP/1.1";
    assert!(door.request(line).ends_with("public"));
    assert_eq!(door.net.lookups().len(), 1);
    answered(&door.request(line), 502, "can't be reached");
    assert_eq!(door.net.dials(), ["1.2.3.4:80"]);
}

fn tls(
    stream: TcpStream,
    name: &str,
    root: Option<&[u8]>,
) -> StreamOwned<ClientConnection, TcpStream> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut roots = RootCertStore::empty();
    if let Some(root) = root {
        roots.add(root.to_vec().into()).unwrap();
    }
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    StreamOwned::new(
        ClientConnection::new(Arc::new(config), name).unwrap(),
        stream,
    )
}

#[test]
fn tls_for_the_host_of_the_tunnel_passes() {
    let (server, root) = Server::secure(&["api.example.com"], ok("secure"));
    let door = Door::open(hosts(&["api.example.com"]), one_host(&[443], &server));
    let mut stream = tls(
        door.tunnel("API.example.com.:443"),
        "api.example.com",
        Some(&root),
    );
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok();
    assert!(answer.ends_with("secure"), "{answer}");
    drop(stream);
    let seen = door.seen();
    assert_eq!((seen.host.as_str(), seen.port), ("api.example.com", 443));
    assert_eq!(seen.decision, ProxyDecision::Allowed);
    assert!(seen.bytes_up > 100 && seen.bytes_down > 100, "{seen:?}");
}

// case 117
#[test]
fn tls_for_another_host_does_not() {
    let raw = Server::start(|mut stream, seen| {
        let mut bytes = [0; 64];
        let count = stream.read(&mut bytes).unwrap_or(0);
        seen.lock().unwrap().push(format!("{count} bytes"));
    });
    let approved = hosts(&["api.example.com", "api.example.com:8443"]);
    let door = Door::open(approved, one_host(&[443, 80, 8443], &raw));
    for port in [443, 80, 8443] {
        let tunnel = door.tunnel(&format!("api.example.com:{port}"));
        let mut stream = tls(tunnel, "evil.io", None);
        assert!(stream.write_all(b"x").is_err() || stream.flush().is_err());
        door.saw_refused("names `evil.io`");
    }
    assert!(
        raw.seen().iter().all(|seen| seen == "0 bytes"),
        "{:?}",
        raw.seen()
    );
}

#[test]
fn a_request_in_a_tunnel_is_for_the_tunnels_host() {
    let server = Server::saying("hello");
    let approved = hosts(&["api.example.com", "api.example.com:8080"]);
    let door = Door::open(approved, one_host(&[80, 8080], &server));
    let inside = |port: u16, text: &str| {
        let mut stream = door.tunnel(&format!("api.example.com:{port}"));
        stream.write_all(text.as_bytes()).unwrap();
        let answer = rest(&mut stream);
        drop(stream);
        (answer, door.seen().decision)
    };
    for (port, host) in [
        (80, "api.example.com"),
        (80, "API.Example.com.:80"),
        (8080, "api.example.com:8080"),
    ] {
        let (answer, decision) = inside(port, &format!("GET /x HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert!(answer.ends_with("hello"), "{answer}");
        assert_eq!(decision, ProxyDecision::Allowed);
    }
    assert_eq!(server.seen().len(), 3);
    for port in [80, 8080] {
        for text in [
            "GET / HTTP/1.1\r\nHost: evil.io\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: api.example.com:1\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: api.example.com\r\nHost: evil.io\r\n\r\n",
            "GET / HTTP/1.1\r\n\r\n",
            "GET http://evil.io/ HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
            "CONNECT evil.io:443 HTTP/1.1\r\nHost: api.example.com\r\n\r\n",
            "CONNECT evil.io:443 HTTP/1.1\r\nHost: evil.io:443\r\n\r\n",
        ] {
            let (answer, decision) = inside(port, text);
            answered(&answer, 403, "another host");
            assert!(matches!(decision, ProxyDecision::Refused(_)), "{text}");
        }
    }
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_second_request_in_a_tunnel_stays_behind() {
    let server = Server::start(|mut stream, seen| {
        seen.lock().unwrap().push(super::read_head(&mut stream));
        stream
            .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            .unwrap();
        stream
            .set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        let second = super::read_head(&mut stream);
        seen.lock().unwrap().push(second);
    });
    let door = Door::open(hosts(&["api.example.com"]), one_host(&[80], &server));
    let mut stream = door.tunnel("api.example.com:80");
    let first = "GET / HTTP/1.1\r\nHost: api.example.com\r\nConnection: keep-alive\r\n\r\n";
    let second = "GET / HTTP/1.1\r\nHost: evil.io\r\n\r\n";
    stream
        .write_all(format!("{first}{second}").as_bytes())
        .unwrap();
    assert!(rest(&mut stream).ends_with("ok"));
    door.seen();
    let seen = server.seen();
    assert!(
        seen[0].contains("Connection: close") && seen[1].is_empty(),
        "{seen:?}"
    );
}

#[test]
fn the_ports_of_the_web_carry_the_web() {
    let raw = Server::start(|mut stream, seen| {
        let mut bytes = [0; 64];
        let count = stream.read(&mut bytes).unwrap_or(0);
        seen.lock().unwrap().push(format!("{count} bytes"));
    });
    let door = Door::open(hosts(&["api.example.com"]), one_host(&[80, 443], &raw));
    for (port, bytes, part) in [
        (
            443,
            &b"GET / HTTP/1.1\r\nHost: api.example.com\r\n\r\n"[..],
            "requires TLS",
        ),
        (443, b"SSH-2.0-x\r\n", "requires TLS"),
        (80, b"SSH-2.0-x\r\n", "requires HTTP"),
        (80, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "requires HTTP"),
        (80, b"GET /\r\n", "requires HTTP"),
        (
            443,
            b"\x16\x02\x00\x00\x05hello",
            "ClientHello can't be parsed",
        ),
        (443, b"\x16\x03\x01\x02", "ended during the TLS ClientHello"),
    ] {
        let mut stream = door.tunnel(&format!("api.example.com:{port}"));
        stream.write_all(bytes).unwrap();
        stream.shutdown(Shutdown::Write).ok();
        assert_eq!(rest(&mut stream), "");
        door.saw_refused(part);
    }
    assert!(
        raw.seen().iter().all(|seen| seen == "0 bytes"),
        "{:?}",
        raw.seen()
    );
}

#[test]
fn another_protocol_passes_on_a_port_that_was_named() {
    // The server sends first, as mail servers do, and then echoes.
    let server = Server::start(|mut stream, _| {
        stream.write_all(b"220 hello\r\n").unwrap();
        let mut bytes = [0; 64];
        while let Ok(count @ 1..) = stream.read(&mut bytes) {
            stream.write_all(&bytes[..count]).unwrap();
        }
    });
    let door = Door::open(hosts(&["api.example.com:2525"]), one_host(&[2525], &server));
    let mut stream = door.tunnel("api.example.com:2525");
    let mut bytes = [0; 11];
    stream.read_exact(&mut bytes).unwrap();
    assert_eq!(&bytes, b"220 hello\r\n");
    for text in [
        b"EHLO me\r\n12",
        b"\0\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a",
    ] {
        stream.write_all(text).unwrap();
        stream.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, text);
    }
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(&mut stream), "");
    let seen = door.seen();
    assert_eq!((seen.bytes_up, seen.bytes_down), (22, 33));
}

#[test]
fn what_two_servers_would_read_differently_is_not_passed_on() {
    let server = Server::saying("x");
    let door = Door::open(hosts(&["api.example.com"]), one_host(&[80], &server));
    for header in [
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Content-Length: -1\r\n",
    ] {
        let text = with_credential("POST http://api.example.com/ HTTP/1.1", header);
        answered(&door.ask(&text), 400, "the request");
    }
    assert!(server.seen().is_empty());
    for text in [
        "hello\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\0\x05hello",
    ] {
        answered(&door.ask(text), 400, "not an HTTP/1 request");
    }
}

// case 114
#[test]
fn heads_have_an_end_and_a_time() {
    let door = Door::open(hosts(&["api.example.com"]), Internet::default());
    let flood = format!(
        "GET http://api.example.com/ HTTP/1.1\r\nX: {}\r\n\r\n",
        "y".repeat(40_000)
    );
    answered(&door.ask(&flood), 431, "larger than");
    door.saw_refused("larger than");
    let many: String = (0..300).map(|n| format!("X-{n}: y\r\n")).collect();
    answered(
        &door.ask(&format!("GET http://a/ HTTP/1.1\r\n{many}\r\n")),
        400,
        "not an HTTP/1",
    );
    door.saw_refused("not an HTTP/1");
    let mut slow = door.dial();
    let mut dripping = slow.try_clone().unwrap();
    let drip = thread::spawn(move || {
        let text = b"GET http://api.example.com/ HTTP/1.1\r\n";
        let mut sent = text.iter().take_while(|&&byte| {
            thread::sleep(Duration::from_millis(50));
            dripping.write_all(&[byte]).is_ok()
        });
        sent.by_ref().count()
    });
    answered(&rest(&mut slow), 408, "too long");
    door.saw_refused("too long");
    drop(slow);
    drip.join().unwrap();
}

#[test]
fn connections_at_the_same_time_are_counted() {
    let server = Server::start(|mut stream, _| {
        std::io::copy(&mut stream, &mut std::io::sink()).ok(); // until the other end closes
    });
    let net = one_host(&[8080], &server);
    let door = Door::limited(hosts(&["api.example.com:8080"]), net, |limits| {
        limits.max_connections = 2;
    });
    let first = door.tunnel("api.example.com:8080");
    let second = door.tunnel("api.example.com:8080");
    answered(&rest(&mut door.dial()), 503, "at the same time");
    door.saw_refused("at the same time");
    drop((first, second));
    door.seen();
    door.seen();
    // A slot is freed just after its end was logged.
    let until = Instant::now() + PATIENCE;
    while !door
        .request("CONNECT evil.io:1 HTTP/1.1")
        .contains("not an approved host")
    {
        assert!(Instant::now() < until);
    }
}

// case 113
#[test]
fn connections_in_all_are_counted() {
    let door = Door::limited(AllowedHosts::default(), Internet::default(), |limits| {
        limits.max_total = 3;
    });
    for _ in 0..3 {
        answered(
            &door.request("CONNECT evil.io:1 HTTP/1.1"),
            403,
            "not an approved host",
        );
    }
    for _ in 0..3 {
        answered(&rest(&mut door.dial()), 403, "more than 3 connections");
    }
    assert_eq!(door.proxy.stop().len(), 4);
}

// case 114
#[test]
fn bytes_are_counted_in_both_directions_together() {
    let server = Server::repeating("HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 1000], Duration::ZERO);
    let door = Door::limited(
        hosts(&["api.example.com"]),
        one_host(&[80], &server),
        |limits| {
            limits.max_bytes = 50_000;
        },
    );
    let line = "GET http://api.example.com/ HTTP/1.1";
    assert!(door.request(line).len() <= 50_000);
    assert!(matches!(door.seen().decision, ProxyDecision::Cut(why) if why.contains("50000 bytes")));
    // A used-up limit stays used up.
    answered(&door.request(line), 403, "50000 bytes");
    door.saw_refused("50000 bytes");
}

#[test]
fn a_quiet_tunnel_is_cut_and_a_busy_one_in_the_end() {
    let quiet = Server::start(|mut stream, _| {
        stream.read_exact(&mut [0; 4]).unwrap();
        thread::sleep(Duration::from_secs(2));
    });
    let busy = Server::repeating("", b"x", Duration::from_millis(20));
    let net = Internet::default()
        .name("quiet.io", &["1.2.3.4"])
        .name("busy.io", &["1.2.3.5"])
        .route("1.2.3.4:99", &quiet)
        .route("1.2.3.5:99", &busy);
    let door = Door::limited(hosts(&["quiet.io:99", "busy.io:99"]), net, |limits| {
        limits.idle = Duration::from_millis(600);
        limits.total = Duration::from_millis(1500);
    });
    for (host, part, least) in [
        ("quiet.io:99", "nothing was sent", 500),
        ("busy.io:99", "open for more", 1400),
    ] {
        let mut stream = door.tunnel(host);
        stream.write_all(b"\0first\r\n\r\n").unwrap();
        rest(&mut stream);
        let seen = door.seen();
        assert!(
            matches!(&seen.decision, ProxyDecision::Cut(why) if why.contains(part)),
            "{seen:?}"
        );
        assert!(seen.ms >= least, "{seen:?}");
    }
}

#[test]
fn the_end_of_the_proxy_is_the_end_of_its_connections() {
    for dropped in [false, true] {
        let server = Server::repeating("", b"x", Duration::from_millis(20));
        let door = Door::open(hosts(&["api.example.com:99"]), one_host(&[99], &server));
        let mut open = door.tunnel("api.example.com:99");
        open.write_all(b"\0first\r\n\r\n").unwrap();
        let mut silent = door.dial();
        let Door {
            proxy, port, log, ..
        } = door;
        thread::sleep(Duration::from_millis(200)); // both are accepted
        if dropped {
            ends("its end", move || drop(proxy));
        } else {
            let seen = ends("its end", move || proxy.stop());
            assert_eq!(seen.len(), 2, "{seen:?}");
        }
        assert_eq!(log.iter().take(2).count(), 2);
        rest(&mut open);
        assert_eq!(rest(&mut silent), "");
        // Another test can use the port for a moment.
        let is_closed = || TcpStream::connect(("127.0.0.1", port)).is_err();
        wait_until("the port is closed", is_closed);
    }
}

#[test]
fn a_credential_that_can_be_guessed_is_refused() {
    for credential in [
        "",
        "short",
        "0123456789abcde",
        "0123456789abcdef:@",
        "0123456789 abcdef",
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (log, _) = mpsc::channel();
        let resolve = Arc::new(Internet::default());
        let limits = ProxyLimits::default();
        let proxy = NetworkProxy::start(
            listener,
            AllowedHosts::default(),
            credential,
            limits,
            resolve,
            Arc::new(log),
        );
        assert!(proxy.is_err(), "{credential}");
    }
    assert_eq!(
        NetworkProxy::url(8080, "abc"),
        "http://metier:abc@127.0.0.1:8080"
    );
    let door = Door::open(hosts(&["api.example.com"]), Internet::default());
    let debug = format!("{:?}", door.proxy);
    assert!(
        !debug.contains(CREDENTIAL) && !debug.contains(&STANDARD.encode(CREDENTIAL)),
        "{debug}"
    );
}
