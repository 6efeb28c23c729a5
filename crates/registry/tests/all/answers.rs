//! The registry over HTTP.

use std::io::{Read, Write};
use std::net::TcpStream;

use base64::Engine as _;
use metier_package::registry_api::{SIGNATURE_HEADER, SIGNER_HEADER};
use metier_testkit::patience;

use crate::test_registry::{TestRegistry, get, package, send};

/// A registry with one skill, and its address.
fn served() -> (
    TestRegistry,
    metier_registry::http::BackgroundServer,
    String,
) {
    let stage = TestRegistry::new();
    let token = stage.token("ada", "publish:*");
    stage.publish(&token, "pdf", "1.0.0");
    let server = stage.serve();
    (stage, server, token)
}

#[test]
fn a_download_has_its_digest_and_can_be_continued() {
    let (stage, server, _) = served();
    let url = format!("{}/api/v1/skills/pdf/1.0.0/package", server.url());
    let (version, bytes) = stage.registry.package("pdf", "1.0.0").unwrap();
    let whole = get(&url);
    assert_eq!((whole.status, &whole.body), (200, &bytes));
    assert_eq!(whole.header("etag"), format!("\"{}\"", version.archive));
    let digest: metier_model::Digest = version.archive.parse().unwrap();
    let expected = base64::engine::general_purpose::STANDARD.encode(digest.0);
    assert_eq!(whole.header("repr-digest"), format!("sha-256=:{expected}:"));
    assert_eq!(whole.header("accept-ranges"), "bytes");
    assert_eq!(whole.header("content-type"), "application/zip");
    let etag = whole.header("etag");
    let rest = send(
        "GET",
        &url,
        &[("range", "bytes=10-"), ("if-range", etag)],
        None,
    );
    assert_eq!((rest.status, &rest.body[..]), (206, &bytes[10..]));
    let range = format!("bytes 10-{}/{}", bytes.len() - 1, bytes.len());
    assert_eq!(rest.header("content-range"), range);
    let beyond = send("GET", &url, &[("range", "bytes=9999999-")], None);
    assert_eq!(beyond.status, 416);
    let known = send("GET", &url, &[("if-none-match", etag)], None);
    assert_eq!((known.status, known.body.len()), (304, 0));
}

#[test]
fn a_document_that_did_not_change_is_not_sent_again() {
    let (stage, server, token) = served();
    let url = format!("{}/api/v1/skills/pdf", server.url());
    let first = get(&url);
    let etag = first.header("etag").to_owned();
    assert_eq!(
        send("GET", &url, &[("if-none-match", &etag)], None).status,
        304
    );
    stage.publish(&token, "pdf", "1.1.0");
    let second = send("GET", &url, &[("if-none-match", &etag)], None);
    assert_eq!(second.status, 200);
    assert_eq!(second.json()["latest"], "1.1.0");
}

#[test]
fn publishing_answers_with_what_became_of_it() {
    let stage = TestRegistry::new();
    let token = stage.token("ada", "publish:*");
    let server = stage.serve();
    let url = format!("{}/api/v1/packages", server.url());
    let bearer = format!("Bearer {token}");
    let publish = |headers: &[(&str, &str)], bytes: &[u8]| send("POST", &url, headers, Some(bytes));
    let authorized = [("authorization", bearer.as_str())];
    let bytes = package("pdf", "1.0.0", "");
    assert_eq!(publish(&[], &bytes).status, 401);
    assert_eq!(
        publish(&[("authorization", "Bearer mrt_0")], &bytes).status,
        401
    );
    let created = publish(&authorized, &bytes);
    assert_eq!(
        (created.status, created.json()["status"].as_str()),
        (201, Some("published"))
    );
    let again = publish(&authorized, &bytes);
    assert_eq!(
        (again.status, again.json()["status"].as_str()),
        (200, Some("unchanged"))
    );
    let other = publish(&authorized, &package("pdf", "1.0.0", "license: MIT\n"));
    assert_eq!(
        (other.status, other.json()["code"].as_str()),
        (409, Some("version-exists"))
    );
    assert_eq!(publish(&authorized, b"nothing").status, 422);
    let odd = [
        ("authorization", bearer.as_str()),
        (SIGNATURE_HEADER, "%"),
        (SIGNER_HEADER, "x"),
    ];
    assert_eq!(publish(&odd, &bytes).status, 400);
}

#[test]
fn a_request_that_is_too_large_is_refused() {
    let (_stage, server, _) = served();
    let large = vec![0; (32 << 20) + 1];
    let url = format!("{}/api/v1/packages", server.url());
    let mut stream = TcpStream::connect(server.url().trim_start_matches("http://")).unwrap();
    let head = format!(
        "POST /api/v1/packages HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n",
        large.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413", "{url}");
}

#[test]
fn checksums_are_lines_of_sha256sum() {
    let (stage, server, _) = served();
    let (version, _) = stage.registry.package("pdf", "1.0.0").unwrap();
    let lines = get(&format!(
        "{}/api/v1/skills/pdf/1.0.0/checksums",
        server.url()
    ));
    let lines = String::from_utf8(lines.body).unwrap();
    let first = format!("{}  pdf-1.0.0.skill", &version.archive["sha256:".len()..]);
    assert_eq!(lines.lines().next(), Some(first.as_str()));
    assert_eq!(lines.lines().count(), 3);
    assert!(lines.contains("  pdf/notes/a.txt\n"));
}

#[test]
fn both_well_known_lists_lead_to_the_same_files() {
    let (stage, server, _) = served();
    let base = server.url();
    let index = get(&format!("{base}/.well-known/agent-skills/index.json")).json();
    let skill = &index["skills"][0];
    assert_eq!(skill["name"], "pdf");
    let archive = get(&format!("{base}{}", skill["url"].as_str().unwrap()));
    let found = metier_hub::SiteIndex::parse(
        index.to_string().as_bytes(),
        &url::Url::parse(&format!("{base}/.well-known/agent-skills/index.json")).unwrap(),
    );
    let found = found.unwrap();
    assert_eq!((found.skills.len(), found.left_out.len()), (1, 0));
    let digest = stage.registry.version("pdf", "1.0.0").unwrap().flat_archive;
    assert_eq!(skill["digest"], digest.as_str());
    assert_eq!(archive.header("etag"), format!("\"{digest}\""));
    let old = get(&format!("{base}/.well-known/skills/index.json")).json();
    let files: Vec<&str> = old["skills"][0]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file.as_str().unwrap())
        .collect();
    assert_eq!(files, ["SKILL.md", "notes/a.txt"]);
    let file = get(&format!("{base}/.well-known/skills/pdf/notes/a.txt"));
    assert_eq!((file.status, file.body.as_slice()), (200, &b"a"[..]));
    assert_eq!(
        get(&format!("{base}/.well-known/skills/pdf/none")).status,
        404
    );
    let outside = get(&format!(
        "{base}/.well-known/skills/pdf/..%2f..%2fregistry.db"
    ));
    assert_eq!(outside.status, 404);
}

#[test]
fn clawhub_s_interface_finds_and_downloads_the_same_files() {
    let (stage, server, token) = served();
    stage.publish(&token, "pdf", "1.1.0");
    let discovery = get(&format!("{}/.well-known/clawhub.json", server.url())).json();
    let base = format!("{}/clawhub", server.url());
    assert_eq!(discovery["apiBase"], base.as_str());
    let found = get(&format!("{base}/api/v1/search?q=pdf&limit=5")).json();
    assert_eq!(found["results"][0]["slug"], "pdf");
    assert!(found["results"][0]["score"].is_number());
    let skill = get(&format!("{base}/api/v1/skills/pdf")).json();
    assert_eq!(skill["latestVersion"]["version"], "1.1.0");
    assert_eq!(skill["moderation"]["isMalwareBlocked"], false);
    let zip = get(&format!("{base}/api/v1/download?slug=pdf&version=1.0.0"));
    assert_eq!(
        zip.body,
        stage.registry.flat_archive("pdf", "1.0.0").unwrap().1
    );
    let absent = get(&format!("{base}/api/v1/download?slug=pdf&version=9.0.0"));
    assert_eq!(absent.status, 404);
    assert_eq!(absent.body, b"there is no version 9.0.0 of skill `pdf`");
    let version = stage.registry.version("pdf", "1.0.0").unwrap();
    let lines: Vec<String> = version
        .files
        .iter()
        .map(|file| format!("{}:{}", file.path, &file.digest["sha256:".len()..]))
        .collect();
    let mut sorted = lines;
    sorted.sort();
    let hash = sha256(sorted.join("\n").as_bytes());
    let resolved = get(&format!("{base}/api/v1/resolve?slug=pdf&hash={hash}")).json();
    assert_eq!(resolved["match"]["version"], "1.0.0");
    let unknown = get(&format!("{base}/api/v1/resolve?slug=pdf&hash=00")).json();
    assert!(unknown["match"].is_null());
    let all = get(&format!("{base}/api/v1/skills?limit=1")).json();
    assert_eq!(all["items"][0]["latestVersion"]["version"], "1.1.0");
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn odd_addresses_are_not_found() {
    let (_stage, server, _) = served();
    for path in [
        "/",
        "/api/v1/skills/..%2f..",
        "/api/v1/skills/PDF",
        "/api/v1/skills/pdf/1.0.0/../../..",
        "/api/v1/skills/pdf/1%2e0%2e0%00",
        "/api/v1/skills/%ff",
        "/api/v2/search",
    ] {
        let answer = get(&format!("{}{path}", server.url()));
        assert!(
            (400..500).contains(&answer.status),
            "{path}: {}",
            answer.status
        );
    }
    assert_eq!(
        send(
            "DELETE",
            &format!("{}/api/v1/skills/pdf", server.url()),
            &[],
            None
        )
        .status,
        405
    );
    for query in ["offset=-1", "limit=x", "offset=99999999999999999999999"] {
        let answer = get(&format!("{}/api/v1/search?{query}", server.url()));
        assert_eq!(answer.status, 400, "{query}");
    }
    let syntax = get(&format!(
        "{}/api/v1/search?q=%22)%20OR%20name:*%20NEAR(",
        server.url()
    ));
    assert_eq!(syntax.status, 200, "a query has no syntax");
}

#[test]
fn a_server_that_is_asked_to_end_completes_what_began() {
    let (_stage, server, _) = served();
    let address = server.url();
    let mut open = TcpStream::connect(address.trim_start_matches("http://")).unwrap();
    open.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    open.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    patience::ends("the server", move || drop(server));
    assert!(TcpStream::connect(address.trim_start_matches("http://")).is_err());
}
