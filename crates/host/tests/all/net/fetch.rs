//! Fetches that succeed, and all those that must not.

use std::{io::Write, sync::Arc, time::Duration};

use flate2::{Compression, write::GzEncoder};
use metier_host::net::{
    AllowedHosts, FetchLimits, FetchRequest, FetchResponse, HostRefusal, NetError, Trust,
    UnreachableCause,
};
use metier_testkit::patience::ends;

use super::{Dialect, Internet, Server, any, hosts, ok, redirect};

fn get(url: &str) -> FetchRequest {
    FetchRequest {
        url: url.to_owned(),
        ..FetchRequest::default()
    }
}

fn limits() -> FetchLimits {
    FetchLimits {
        timeout: Duration::from_secs(5),
        ..FetchLimits::default()
    }
}

fn fetch_on(
    net: &Internet,
    hosts: &AllowedHosts,
    request: &FetchRequest,
) -> Result<FetchResponse, NetError> {
    metier_host::net::fetch(request, hosts, &limits(), net, &Trust::system())
}

fn fetch(hosts: &AllowedHosts, url: &str) -> Result<FetchResponse, NetError> {
    fetch_on(&Internet::default(), hosts, &get(url))
}

#[track_caller]
fn refused(result: Result<FetchResponse, NetError>, code: &str) {
    match result {
        Err(NetError::Refused(refusal) | NetError::Redirect(refusal)) => {
            assert_eq!(refusal.code(), code, "{refusal}");
        }
        other => panic!("{code} expected: {other:?}"),
    }
}

#[track_caller]
fn unreachable(result: Result<FetchResponse, NetError>) -> UnreachableCause {
    match result {
        Err(NetError::Unreachable { cause, .. }) => cause,
        other => panic!("unreachable expected: {other:?}"),
    }
}

fn header<'r>(response: &'r FetchResponse, name: &str) -> Option<&'r str> {
    let mut headers = response.headers.iter();
    let found = headers.find(|(own, _)| own == name);
    found.map(|(_, value)| value.as_str())
}

#[test]
fn an_approved_address_answers() {
    let server = Server::saying("hello");
    let response = fetch(&hosts(&["127.0.0.1"]), &server.url("/a?b=c#d")).unwrap();
    assert_eq!(
        (response.status, response.body.as_slice()),
        (200, &b"hello"[..])
    );
    assert_eq!(header(&response, "x-from"), Some("test"));
    assert_eq!(response.url, server.url("/a?b=c"));
    assert!(response.redirects.is_empty());
    let head = server.seen().concat().to_lowercase();
    assert!(head.starts_with("get /a?b=c http/1.1\r\n"), "{head}");
    assert!(
        head.contains(&format!("host: {}\r\n", server.address)),
        "{head}"
    );
    assert!(!head.contains("cookie"), "{head}");
}

#[test]
fn a_body_and_headers_are_sent_and_a_status_is_not_an_error() {
    let server = Server::start(|mut stream, seen| {
        let mut head = super::read_head(&mut stream);
        let mut body = [0; 4];
        std::io::Read::read_exact(&mut stream, &mut body).unwrap();
        head.push_str(&String::from_utf8_lossy(&body));
        seen.lock().unwrap().push(head);
        stream
            .write_all(b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno")
            .unwrap();
    });
    for method in ["POST", "put", "PATCH", "DELETE"] {
        let request = FetchRequest {
            method: method.to_owned(),
            headers: vec![("X-Key".into(), "1".into())],
            body: b"body".to_vec(),
            ..get(&server.url("/"))
        };
        let response = fetch_on(&Internet::default(), &hosts(&["127.0.0.1"]), &request).unwrap();
        assert_eq!(
            (response.status, response.body.as_slice()),
            (404, &b"no"[..])
        );
        let head = server.seen().pop().unwrap();
        assert!(
            head.starts_with(&format!("{} / ", method.to_uppercase())),
            "{head}"
        );
        assert!(
            head.contains("x-key: 1\r\n") && head.ends_with("\r\n\r\nbody"),
            "{head}"
        );
        assert!(head.to_lowercase().contains("content-length: 4"), "{head}");
    }
}

// case 107
#[test]
fn no_spelling_of_loopback_reaches_an_unapproved_server() {
    let server = Server::saying("secret");
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST.",
        "[::1]",
        "0.0.0.0",
        "0",
        "0177.1",
        "2130706433",
        "0x7f000001",
        "127.1",
        "127.0.0.2",
        "127.0.0.1.",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "①②⑦.0.0.1",
    ] {
        for approved in [any(), hosts(&["api.example.com", "127.0.0.9", "10.0.0.1"])] {
            let url = format!("http://{host}:{port}/");
            refused(fetch(&approved, &url), "address-not-public");
        }
    }
    assert!(server.seen().is_empty());
}

#[test]
fn every_spelling_of_an_approved_address_is_that_address() {
    let server = Server::saying("mine");
    let port = server.address.port();
    for host in ["127.0.0.1", "127.1", "0177.1", "2130706433", "0x7f.1"] {
        let url = format!("http://{host}:{port}/");
        assert_eq!(fetch(&hosts(&["127.0.0.1"]), &url).unwrap().body, b"mine");
        refused(fetch(&hosts(&["127.0.0.2"]), &url), "address-not-public");
    }
    let url = format!("http://localhost:{port}/");
    assert_eq!(fetch(&hosts(&["localhost"]), &url).unwrap().body, b"mine");
    refused(fetch(&hosts(&["127.0.0.1"]), &url), "address-not-public");
}

// case 108
#[test]
fn metadata_is_refused_by_address_and_by_name() {
    let wide = AllowedHosts::new(&["localhost".to_owned(), "evil.io".to_owned()], true).unwrap();
    for host in [
        "169.254.169.254",
        "0xa9fea9fe",
        "[fd00:ec2::254]",
        "[::ffff:169.254.169.254]",
        "100.100.100.200",
        "168.63.129.16",
        "metadata.google.internal",
    ] {
        refused(
            fetch(&wide, &format!("http://{host}/latest")),
            "metadata-address",
        );
    }
    for ip in ["169.254.169.254", "168.63.129.16", "64:ff9b::a9fe:a9fe"] {
        let net = Internet::default().name("evil.io", &[ip]);
        unreachable(fetch_on(&net, &wide, &get("http://evil.io/")));
        assert!(net.dials().is_empty());
    }
}

// case 109
#[test]
fn a_name_is_looked_up_once_and_only_checked_addresses_are_dialled() {
    let server = Server::saying("public");
    let net = Internet::default()
        .name(
            "api.example.com",
            &["10.0.0.1", "::ffff:127.0.0.1", "1.2.3.4"],
        )
        .name("api.example.com", &["127.0.0.1"])
        .route("1.2.3.4:80", &server);
    let approved = hosts(&["api.example.com"]);
    let response = fetch_on(&net, &approved, &get("http://api.example.com/")).unwrap();
    assert_eq!(response.body, b"public");
    assert_eq!(net.lookups(), ["api.example.com"]);
    assert_eq!(net.dials(), ["1.2.3.4:80"]);
    // The second result is private: it isn't dialled, not even for the same host.
    unreachable(fetch_on(&net, &approved, &get("http://api.example.com/")));
    assert_eq!(net.dials(), ["1.2.3.4:80"]);
}

// case 109, 110
#[test]
fn a_name_that_turns_private_between_hops_is_not_followed() {
    let server = Server::leading(302, "/again");
    let net = Internet::default()
        .name("api.example.com", &["1.2.3.4"])
        .name("api.example.com", &["127.0.0.1"])
        .route("1.2.3.4:80", &server);
    unreachable(fetch_on(
        &net,
        &hosts(&["api.example.com"]),
        &get("http://api.example.com/"),
    ));
    assert_eq!(net.dials(), ["1.2.3.4:80"]);
}

// case 109
#[test]
fn the_other_end_has_to_be_what_was_dialled() {
    let server = Server::saying("not me");
    let net = |lie| {
        Internet::default()
            .name("api.example.com", &["1.2.3.4"])
            .route("1.2.3.4:80", &server)
            .lie("1.2.3.4:80", lie)
    };
    let approved = hosts(&["api.example.com"]);
    for peer in ["127.0.0.1:80", "1.2.3.4:81"] {
        let net = net(Dialect::Peer(peer.parse().unwrap()));
        let cause = unreachable(fetch_on(&net, &approved, &get("http://api.example.com/")));
        assert!(matches!(cause, UnreachableCause::Peer(..)), "{cause}");
    }
    let own = net(Dialect::Own);
    let cause = unreachable(fetch_on(&own, &approved, &get("http://api.example.com/")));
    assert!(matches!(cause, UnreachableCause::Own(_)), "{cause}");
    assert!(server.seen().is_empty());
}

// case 113
#[test]
fn what_is_refused_reads_like_what_is_dead() {
    let net = Internet::default()
        .name("private.io", &["10.0.0.1"])
        .name("dead.io", &["1.2.3.4"]);
    let text = |host: &str| {
        let result = fetch_on(&net, &any(), &get(&format!("http://{host}/")));
        result.unwrap_err().to_string().replace(host, "host")
    };
    assert_eq!(text("private.io"), "`host` can't be reached");
    assert_eq!(text("dead.io"), text("private.io"));
    assert_eq!(text("nowhere.io"), text("private.io"));
}

// case 110, 112
#[test]
fn a_redirect_is_checked_like_the_first_url() {
    let inner = Server::saying("secret");
    let port = inner.address.port();
    for (location, code) in [
        (format!("http://127.0.0.1:{port}/"), "address-not-public"),
        (format!("http://localhost:{port}/"), "address-not-public"),
        (format!("//0177.1:{port}/"), "address-not-public"),
        ("http://169.254.169.254/".to_owned(), "metadata-address"),
        ("http://evil.io/".to_owned(), "host-not-approved"),
        (
            "http://api.example.com.evil.io/".to_owned(),
            "host-not-approved",
        ),
        (
            "http://api.example.com:8080/".to_owned(),
            "port-not-approved",
        ),
        ("http://u:p@api.example.com/".to_owned(), "userinfo-in-url"),
        ("file:///etc/passwd".to_owned(), "scheme-not-fetched"),
        ("gopher://api.example.com/".to_owned(), "scheme-not-fetched"),
        (r"\\evil.io".to_owned(), "url-unusable"),
    ] {
        let server = Server::leading(302, &location);
        let net = Internet::default()
            .name("api.example.com", &["1.2.3.4"])
            .route("1.2.3.4:80", &server);
        let url = "http://api.example.com/";
        refused(
            fetch_on(&net, &hosts(&["api.example.com"]), &get(url)),
            code,
        );
    }
    assert!(inner.seen().is_empty());
}

// case 110
#[test]
fn a_redirect_to_a_name_with_a_private_address_is_a_dead_end() {
    let inner = Server::saying("secret");
    let server = Server::leading(307, "http://inner.io/");
    let net = Internet::default()
        .name("outer.io", &["1.2.3.4"])
        .name("inner.io", &["127.0.0.1"])
        .route("1.2.3.4:80", &server)
        .route("127.0.0.1:80", &inner);
    unreachable(fetch_on(&net, &any(), &get("http://outer.io/")));
    assert!(inner.seen().is_empty());
}

// case 110
#[test]
fn five_redirects_are_followed_and_not_fifty() {
    let server = Server::start(|mut stream, seen| {
        let head = super::read_head(&mut stream);
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let left: u32 = path[1..].parse().unwrap();
        seen.lock().unwrap().push(path);
        let answer = match left {
            0 => ok("there"),
            left => redirect(301, &format!("/{}", left - 1)),
        };
        stream.write_all(answer.as_bytes()).unwrap();
    });
    let response = fetch(&hosts(&["127.0.0.1"]), &server.url("/5")).unwrap();
    assert_eq!(
        (response.body.as_slice(), response.redirects.len()),
        (&b"there"[..], 5)
    );
    assert_eq!(response.url, server.url("/0"));
    let before = server.seen().len();
    let error = fetch(&hosts(&["127.0.0.1"]), &server.url("/50")).unwrap_err();
    assert!(
        matches!(error, NetError::TooManyRedirects { limit: 5, .. }),
        "{error}"
    );
    assert_eq!(server.seen().len() - before, 6);
}

// case 110
#[test]
fn https_never_redirects_to_http() {
    let plain = Server::saying("plain");
    let (secure, root) = Server::secure(
        &["api.example.com"],
        redirect(302, "http://api.example.com/"),
    );
    let net = Internet::default()
        .name("api.example.com", &["1.2.3.4"])
        .route("1.2.3.4:443", &secure)
        .route("1.2.3.4:80", &plain);
    let request = get("https://api.example.com/");
    let trust = Trust::only(vec![root]);
    let approved = hosts(&["api.example.com"]);
    let error = metier_host::net::fetch(&request, &approved, &limits(), &net, &trust).unwrap_err();
    assert!(matches!(error, NetError::Downgrade { .. }), "{error}");
    assert!(plain.seen().is_empty());
}

#[test]
fn a_certificate_has_to_be_known_and_for_the_host() {
    let (server, root) = Server::secure(&["api.example.com"], ok("secure"));
    let net = Internet::default()
        .name("api.example.com", &["1.2.3.4"])
        .name("other.example.com", &["1.2.3.4"])
        .route("1.2.3.4:443", &server);
    let approved = hosts(&["*.example.com"]);
    let fetch = |url: &str, trust: &Trust| {
        metier_host::net::fetch(&get(url), &approved, &limits(), &net, trust)
    };
    let known = Trust::only(vec![root]);
    assert_eq!(
        fetch("https://api.example.com/", &known).unwrap().body,
        b"secure"
    );
    assert_eq!(
        fetch("https://API.example.com./", &known).unwrap().body,
        b"secure"
    );
    let other = fetch("https://other.example.com/", &known).unwrap_err();
    assert!(matches!(other, NetError::Tls { .. }), "{other}");
    let untrusted = fetch("https://api.example.com/", &Trust::only(Vec::new())).unwrap_err();
    assert!(matches!(untrusted, NetError::Tls { .. }), "{untrusted}");
    let system = fetch("https://api.example.com/", &Trust::system()).unwrap_err();
    assert!(matches!(system, NetError::Tls { .. }), "{system}");
    assert_eq!(server.seen().len(), 2);
}

// case 112
#[test]
fn other_schemes_are_refused() {
    for url in [
        "file:///etc/passwd",
        "gopher://x/",
        "data:,x",
        "ftp://x/",
        "unix:/run/x.sock",
    ] {
        refused(fetch(&any(), url), "scheme-not-fetched");
    }
}

// case 111
#[test]
fn look_alikes_are_refused_before_anything_is_looked_up() {
    let net = Internet::default();
    for (url, code) in [
        ("http://evil-api.example.com/", "host-not-approved"),
        ("http://api.example.com.evil.io/", "host-not-approved"),
        ("http://api.example.com@evil.io/", "userinfo-in-url"),
        ("http://evil.io/#@api.example.com", "host-not-approved"),
        ("http://evil.io#@api.example.com/", "host-not-approved"),
        ("http://аpi.example.com/", "host-not-approved"),
        ("http://evil.io\\@api.example.com/", "url-unusable"),
        ("http://api.example.com\t.evil.io/", "url-unusable"),
        ("http://api.example.com:22/", "port-not-approved"),
    ] {
        refused(
            fetch_on(&net, &hosts(&["api.example.com"]), &get(url)),
            code,
        );
    }
    assert!(net.lookups().is_empty());
}

// case 115
#[test]
fn keys_stay_with_their_origin() {
    let request = |url: &str| FetchRequest {
        headers: vec![
            ("Authorization".into(), "Bearer k".into()),
            ("Cookie".into(), "s=1".into()),
            ("X-Api-Key".into(), "k".into()),
            ("Accept".into(), "text/x".into()),
        ],
        ..get(url)
    };
    let last = Server::saying("end");
    let same = Server::start(|mut stream, seen| {
        let head = super::read_head(&mut stream);
        let next = if head.starts_with("GET /a ") {
            "/b"
        } else {
            "http://other.io/"
        };
        seen.lock().unwrap().push(head);
        stream.write_all(redirect(302, next).as_bytes()).unwrap();
    });
    let net = Internet::default()
        .name("first.io", &["1.2.3.4"])
        .name("other.io", &["1.2.3.5"])
        .route("1.2.3.4:80", &same)
        .route("1.2.3.5:80", &last);
    let response = fetch_on(&net, &any(), &request("http://first.io/a")).unwrap();
    assert_eq!(
        response.redirects,
        ["http://first.io/a", "http://first.io/b"]
    );
    for head in same.seen() {
        for header in ["authorization: Bearer k", "cookie: s=1", "x-api-key: k"] {
            assert!(head.contains(header), "{head}");
        }
    }
    let head = last.seen().concat().to_lowercase();
    assert!(head.contains("accept: text/x"), "{head}");
    for header in ["authorization", "cookie", "x-api-key", "bearer"] {
        assert!(!head.contains(header), "{head}");
    }
}

// case 115
#[test]
fn nothing_is_remembered_between_requests() {
    let server =
        Server::answering("HTTP/1.1 200 OK\r\nSet-Cookie: s=1\r\nContent-Length: 0\r\n\r\n");
    for _ in 0..2 {
        fetch(&hosts(&["127.0.0.1"]), &server.url("/")).unwrap();
    }
    assert!(!server.seen().concat().to_lowercase().contains("cookie"));
}

#[test]
fn a_post_becomes_a_get_where_browsers_do_it() {
    for (status, method) in [
        (301, "GET"),
        (302, "GET"),
        (303, "GET"),
        (307, "POST"),
        (308, "POST"),
    ] {
        let last = Server::saying("end");
        let first = Server::leading(status, &last.url("/x"));
        let request = FetchRequest {
            method: "POST".to_owned(),
            headers: vec![("Content-Type".into(), "text/x".into())],
            body: b"body".to_vec(),
            ..get(&first.url("/"))
        };
        fetch_on(&Internet::default(), &hosts(&["127.0.0.1"]), &request).unwrap();
        let head = last.seen().concat();
        assert!(
            head.starts_with(&format!("{method} /x ")),
            "{status}: {head}"
        );
        assert_eq!(
            head.contains("content-type"),
            method == "POST",
            "{status}: {head}"
        );
    }
}

#[test]
fn headers_that_steer_a_message_are_not_a_skills_to_set() {
    for (name, value) in [
        ("Host", "evil.io"),
        ("content-length", "5"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "upgrade"),
        ("Proxy-Authorization", "x"),
        ("x", "a\r\nHost: evil.io"),
        ("x\r\ny", "a"),
        ("", "a"),
    ] {
        let request = FetchRequest {
            headers: vec![(name.to_owned(), value.to_owned())],
            ..get("http://127.0.0.1:1/")
        };
        let result = fetch_on(&Internet::default(), &hosts(&["127.0.0.1"]), &request);
        assert!(
            matches!(result, Err(NetError::Request(_))),
            "{name}: {result:?}"
        );
    }
    for method in ["CONNECT", "TRACE", "GET / HTTP/1.1\r\nX:", "get it"] {
        let method = method.to_owned();
        let request = FetchRequest {
            method,
            ..get("http://127.0.0.1:1/")
        };
        let result = fetch_on(&Internet::default(), &hosts(&["127.0.0.1"]), &request);
        assert!(matches!(result, Err(NetError::Request(_))), "{result:?}");
    }
}

/// Fetches with small limits from a server of this machine.
fn small(
    server: &Server,
    change: impl FnOnce(&mut FetchLimits),
) -> Result<FetchResponse, NetError> {
    let mut limits = FetchLimits {
        timeout: Duration::from_secs(4),
        max_body: 100_000,
        max_upload: 1000,
        max_head: 16_000,
        max_redirects: 5,
        max_ratio: 20,
    };
    change(&mut limits);
    let request = get(&server.url("/"));
    ends("the request", move || {
        let net = Internet::default();
        let approved = hosts(&["127.0.0.1"]);
        metier_host::net::fetch(&request, &approved, &limits, &net, &Trust::system())
    })
}

const NOW: Duration = Duration::ZERO;

// case 114
#[test]
fn a_body_has_an_end() {
    let announced = "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n";
    let endless = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let open = "HTTP/1.1 200 OK\r\n\r\n";
    for (head, piece) in [
        (announced, &b"0123456789abcdef"[..]),
        (endless, b"4\r\nabcd\r\n"),
        (endless, b"ffffffff\r\nabcd"),
        (open, b"0123456789abcdef"),
    ] {
        let server = Server::repeating(head, piece, NOW);
        let error = small(&server, |_| ()).unwrap_err();
        assert!(
            matches!(error, NetError::BodyTooLarge { .. }),
            "{head}: {error}"
        );
    }
}

#[test]
fn a_body_of_exactly_the_limit_is_taken() {
    let server = Server::saying(&"x".repeat(100_000));
    assert_eq!(small(&server, |_| ()).unwrap().body.len(), 100_000);
    let server = Server::saying(&"x".repeat(100_001));
    assert!(matches!(
        small(&server, |_| ()),
        Err(NetError::BodyTooLarge { .. })
    ));
}

// case 114
#[test]
fn time_is_up_for_everything_together() {
    let soon = |limits: &mut FetchLimits| limits.timeout = Duration::from_millis(400);
    let drip = Duration::from_millis(50);
    let length = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (head, piece) in [
        (length, &b"x"[..]),
        (chunks, b"1\r\nx\r\n"),
        ("", b"H"),
        ("HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
        ("HTTP/1.1 ", b""),
        ("", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ] {
        let server = Server::repeating(head, piece, drip);
        let error = small(&server, soon).unwrap_err();
        let late = matches!(error, NetError::Timeout { .. });
        let nonsense = matches!(error, NetError::Broken { .. }) && piece == b"H";
        assert!(late || nonsense, "{head:?} {piece:?}: {error}");
    }
    let hops = Server::start(|mut stream, _| {
        super::read_head(&mut stream);
        std::thread::sleep(Duration::from_millis(150));
        stream.write_all(redirect(302, "/").as_bytes()).ok();
    });
    let error = small(&hops, soon).unwrap_err();
    assert!(matches!(error, NetError::Timeout { .. }), "{error}");
}

// case 114
#[test]
fn a_head_has_an_end() {
    let many: String = (0..200).map(|n| format!("X-{n}: y\r\n")).collect();
    let long = format!("X: {}\r\n", "y".repeat(20_000));
    for headers in [many, long] {
        let server = Server::answering(format!("HTTP/1.1 200 OK\r\n{headers}\r\n"));
        let error = small(&server, |_| ()).unwrap_err();
        assert!(matches!(error, NetError::HeadTooLarge { .. }), "{error}");
    }
    let endless = Server::repeating("HTTP/1.1 200 OK\r\nX: ", b"yyyyyyyyyyyyyyyy", NOW);
    let error = small(&endless, |_| ()).unwrap_err();
    assert!(matches!(error, NetError::HeadTooLarge { .. }), "{error}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn packed(body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

// case 114
#[test]
fn a_packed_body_is_unpacked_within_the_limits() {
    let server = Server::answering(packed(&gzip(b"hello hello hello")));
    let response = small(&server, |_| ()).unwrap();
    assert_eq!(response.body, b"hello hello hello");
    assert_eq!(header(&response, "content-encoding"), None);
    assert_eq!(header(&response, "content-length"), None);

    let bomb = Server::answering(packed(&gzip(&vec![0; 400_000])));
    let error = small(&bomb, |_| ()).unwrap_err();
    assert!(matches!(error, NetError::Bomb { limit: 20, .. }), "{error}");
    let large = small(&bomb, |limits| limits.max_ratio = 100_000).unwrap_err();
    assert!(matches!(large, NetError::BodyTooLarge { .. }), "{large}");

    let nothing: Vec<u8> = gzip(b"").repeat(10_000);
    let server = Server::answering(packed(&nothing));
    let error = small(&server, |_| ()).unwrap_err();
    assert!(matches!(error, NetError::BodyTooLarge { .. }), "{error}");

    let broken = Server::answering(packed(b"this is no gzip"));
    let error = small(&broken, |_| ()).unwrap_err();
    assert!(matches!(error, NetError::Broken { .. }), "{error}");
}

#[test]
fn who_asks_for_an_encoding_gets_it() {
    let body = gzip(&vec![0; 400_000]);
    let server = Server::answering(packed(&body));
    let request = FetchRequest {
        headers: vec![("Accept-Encoding".into(), "gzip".into())],
        ..get(&server.url("/"))
    };
    let response = fetch_on(&Internet::default(), &hosts(&["127.0.0.1"]), &request).unwrap();
    assert_eq!(response.body, body);
    assert_eq!(header(&response, "content-encoding"), Some("gzip"));
}

#[test]
fn no_body_is_not_unpacked() {
    let server = Server::answering(packed(b""));
    let request = FetchRequest {
        method: "HEAD".to_owned(),
        ..get(&server.url("/"))
    };
    let response = fetch_on(&Internet::default(), &hosts(&["127.0.0.1"]), &request).unwrap();
    assert!(response.body.is_empty());
    assert_eq!(header(&response, "content-encoding"), Some("gzip"));
}

#[test]
fn an_odd_path_arrives_as_browsers_send_it() {
    let server = Server::saying("x");
    let url = server.url("/a|b^c`{d}[e]ü%41;=,'\"?q=|^`{}[]ü'\"<>&%zz");
    fetch(&hosts(&["127.0.0.1"]), &url).unwrap();
    let head = server.seen().concat();
    let line =
        "GET /a|b^c%60%7Bd%7D[e]%C3%BC%41;=,'%22?q=|^`{}[]%C3%BC%27%22%3C%3E&%zz HTTP/1.1\r\n";
    assert!(head.starts_with(line), "{head}");
}

#[test]
fn a_cut_body_is_not_taken_for_a_whole_one() {
    for text in [
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        "HTTP/1.1 200",
        "no http at all",
        "",
    ] {
        let server = Server::answering(text);
        let error = small(&server, |_| ()).unwrap_err();
        assert!(
            matches!(error, NetError::Broken { .. }),
            "{text:?}: {error}"
        );
    }
}

#[test]
fn an_upload_has_a_limit() {
    let server = Server::saying("x");
    let request = FetchRequest {
        method: "POST".to_owned(),
        body: vec![0; limits().max_upload + 1],
        ..get(&server.url("/"))
    };
    let result = fetch_on(&Internet::default(), &hosts(&["127.0.0.1"]), &request);
    assert!(matches!(result, Err(NetError::Request(_))), "{result:?}");
    assert!(server.seen().is_empty());
}

#[test]
fn the_systems_resolver_is_held_to_the_same_rules() {
    let server = Server::saying("secret");
    let url = server.url("/");
    let system = Arc::new(metier_host::net::SystemResolver::default());
    let request = get(&url);
    let trust = Trust::system();
    let fetch = |hosts: &AllowedHosts| {
        metier_host::net::fetch(&request, hosts, &limits(), system.as_ref(), &trust)
    };
    assert_eq!(fetch(&hosts(&["127.0.0.1"])).unwrap().body, b"secret");
    assert!(matches!(
        fetch(&any()),
        Err(NetError::Refused(HostRefusal::NotPublic { .. }))
    ));
}
