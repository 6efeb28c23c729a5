//! Downloads, sites that list their skills, and ClawHub: servers on loopback that are honest, disconnect, or lie.

use std::{
    io::{Cursor, Write},
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use metier_host::net::{Resolve, Trust};
use metier_hub::fetch::{FetchError, HostAccess, SourceLimits, open};
use metier_package::{PackageFile, PackagePath, PackageTree, pack};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{
    Collected, User, fetch_with, listing, manifest, names, noise, opened, parsed, refused,
    server::{Asked, Server, answer, missing, ok, redirect},
};

fn package(name: &str) -> Vec<u8> {
    let file = |path: &str, bytes: &[u8]| PackageFile {
        path: PackagePath::new(path.as_bytes()).unwrap(),
        bytes: bytes.to_vec(),
    };
    let noise = noise(400_000);
    let files = vec![
        file("SKILL.md", manifest(name).as_bytes()),
        file("data.bin", &noise),
    ];
    pack(name, &PackageTree::new(files).unwrap()).unwrap()
}

fn digest(bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    metier_model::Digest(Sha256::digest(bytes).into()).to_string()
}

#[test]
fn an_archive_is_downloaded_with_progress_and_its_signature() {
    let bytes = package("pdf");
    let length = bytes.len();
    let server = Server::start(move |asked| match asked.path.as_str() {
        "/pdf.skill" => ok(&bytes),
        "/pdf.skill.minisig" => ok("untrusted comment: x\n"),
        _ => missing(),
    });
    let user = User::new();
    let access = user.access();
    let progress = Collected::default();
    let text = server.url("/pdf.skill");
    let opened = open(&parsed(&text), &access, &SourceLimits::default(), &progress).unwrap();
    let skill = opened.read(&opened.offers()[0]).unwrap();
    assert_eq!(skill.name, "pdf");
    assert_eq!(skill.origin.source, text);
    assert_eq!(
        skill.origin.signature.as_deref(),
        Some("untrusted comment: x\n")
    );
    let reported = progress.0.lock().unwrap().clone();
    assert_eq!(reported.first(), Some(&format!("opening {text}")));
    assert!(
        reported.contains(&format!("{length} of Some({length})")),
        "{reported:?}"
    );
    assert!(reported.len() > 4, "{reported:?}");
}

#[test]
fn a_single_manifest_is_a_skill() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/skills/pdf/SKILL.md" => ok(manifest("pdf")),
        "/page/SKILL.md" => ok("<!doctype html><p>hi"),
        _ => missing(),
    });
    let user = User::new();
    let skills = user.fetch(&server.url("/skills/pdf/SKILL.md")).unwrap();
    assert_eq!(
        listing(&skills[0]),
        [format!("SKILL.md: {}", manifest("pdf"))]
    );
    let error = refused(user.fetch(&server.url("/page/SKILL.md")));
    assert!(error.contains("a web page"), "{error}");
    let error = refused(user.fetch(&server.url("/none/SKILL.md")));
    assert!(error.contains("status 404: nothing here"), "{error}");
}

/// Sends the first part of a response and disconnects, this many times.
fn breaking(bytes: Vec<u8>, breaks: usize, tag: Option<&'static str>) -> Server {
    let left = AtomicUsize::new(breaks);
    Server::start(move |asked| {
        let from = asked
            .header("range")
            .and_then(|range| {
                range
                    .strip_prefix("bytes=")?
                    .strip_suffix('-')?
                    .parse()
                    .ok()
            })
            .filter(|_| tag.is_some() && asked.header("if-range") == tag)
            .unwrap_or(0_usize);
        let range = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
        let mut headers = vec![];
        headers.extend(tag.map(|tag| ("ETag", tag)));
        let whole = match from {
            0 => answer("200 OK", &headers, &bytes),
            _ => {
                headers.push(("Content-Range", range.as_str()));
                answer("206 Partial Content", &headers, &bytes[from..])
            }
        };
        let is_cut = left
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                left.checked_sub(1)
            })
            .is_ok();
        match is_cut {
            true => whole[..whole.len() - (bytes.len() - from) / 2].to_vec(),
            false => whole,
        }
    })
}

// case 38
#[test]
fn a_download_that_breaks_off_is_continued() {
    let bytes = package("pdf");
    let server = breaking(bytes.clone(), 2, Some("\"one\""));
    let user = User::new();
    let skills = user.fetch(&server.url("/pdf.zip")).unwrap();
    assert_eq!(
        skills[0].origin.archive.unwrap().to_string(),
        digest(&bytes)
    );
    let ranges: Vec<Option<String>> = server
        .asked()
        .iter()
        .map(|asked| asked.header("range").map(str::to_owned))
        .collect();
    assert_eq!(ranges[0], None);
    assert!(ranges[1].is_some() && ranges[2].is_some(), "{ranges:?}");
    assert_ne!(ranges[1], ranges[2]);
}

// case 38
#[test]
fn a_download_without_a_tag_begins_again() {
    let bytes = package("pdf");
    let server = breaking(bytes, 2, None);
    let user = User::new();
    assert!(user.fetch(&server.url("/pdf.zip")).is_ok());
    assert_eq!(server.asked().len(), 3);
}

// case 38
#[test]
fn a_download_that_never_ends_well_is_an_error() {
    let server = breaking(package("pdf"), usize::MAX, Some("\"one\""));
    let user = User::new();
    let error = refused(user.fetch(&server.url("/pdf.zip")));
    assert!(error.contains("cut off"), "{error}");
    assert!(user.left().is_empty());
}

// case 38, 146
#[test]
fn parts_of_two_files_are_never_joined() {
    let (one, two) = (package("one"), package("two"));
    let first = AtomicBool::new(true);
    let expected = digest(&two);
    let server = Server::start(move |asked| {
        if first.swap(false, Ordering::SeqCst) {
            let whole = answer("200 OK", &[("ETag", "\"one\"")], &one);
            return whole[..whole.len() / 2].to_vec();
        }
        // It ignores the condition, and sends the end of another file.
        let from = asked.header("range").map(|range| {
            let from = range.trim_start_matches("bytes=").trim_end_matches('-');
            from.parse::<usize>().unwrap()
        });
        match from {
            Some(from) => {
                let range = format!("bytes {from}-{}/{}", two.len() - 1, two.len());
                let headers = [("ETag", "\"two\""), ("Content-Range", range.as_str())];
                answer("206 Partial Content", &headers, &two[from..])
            }
            None => answer("200 OK", &[("ETag", "\"two\"")], &two),
        }
    });
    let user = User::new();
    let skills = user.fetch(&server.url("/x.zip")).unwrap();
    assert_eq!(skills[0].name, "two");
    assert_eq!(skills[0].origin.archive.unwrap().to_string(), expected);
}

#[test]
fn a_redirect_to_a_private_address_is_refused() {
    let bytes = package("pdf");
    let inner = Server::start(move |_| ok(&bytes));
    let user = User::new();
    for location in [
        inner.url("/pdf.zip"),
        "http://10.0.0.1/pdf.zip".to_owned(),
        "https://192.168.1.1/pdf.zip".to_owned(),
        "http://169.254.169.254/latest/meta-data/x.zip".to_owned(),
        "http://[::1]/pdf.zip".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let leading = Server::start({
            let location = location.clone();
            move |_| redirect(&location)
        });
        let error = refused(user.fetch(&leading.url("/pdf.zip")));
        assert!(
            error.contains("a redirect points to a URL that is not allowed"),
            "{location}: {error}"
        );
    }
    assert!(inner.asked().is_empty());
}

/// A resolver that knows one name.
struct OneName(&'static str, SocketAddr);

impl Resolve for OneName {
    fn resolve(&self, host: &str, port: u16, _: Duration) -> std::io::Result<Vec<SocketAddr>> {
        match host == self.0 {
            true => Ok(vec![SocketAddr::new(self.1.ip(), port)]),
            false => Err(std::io::ErrorKind::NotFound.into()),
        }
    }
}

#[test]
fn a_name_that_leads_to_this_machine_is_refused() {
    let server = Server::start(|_| ok("x"));
    let user = User::new();
    for address in [server.address, "169.254.169.254:443".parse().unwrap()] {
        let resolver = Arc::new(OneName("evil.example", address));
        let access = HostAccess::with_network(user.settings(), resolver, Trust::system());
        let error = refused(fetch_with(&access, "https://evil.example/x.zip"));
        assert!(error.contains("can't be reached"), "{error}");
    }
    assert!(server.asked().is_empty());
}

#[test]
fn a_download_over_the_limit_is_cut_off() {
    let server = Server::start(|_| ok(vec![b'x'; 300_000]));
    let user = User::new();
    let access = user.access();
    let mut limits = SourceLimits::default();
    limits.archive.packed = 100_000;
    let source = parsed(&server.url("/x.zip"));
    let error = open(&source, &access, &limits, &()).err().unwrap();
    assert!(
        error.to_string().contains("larger than 100000 bytes"),
        "{error}"
    );
}

#[test]
fn an_interrupted_download_ends() {
    let mut user = User::new();
    user.stop = Some(Arc::new(AtomicBool::new(true)));
    let server = Server::start(|_| ok(package("pdf")));
    let error = user.fetch(&server.url("/pdf.zip")).unwrap_err();
    assert!(matches!(error, FetchError::Stopped), "{error}");
}

const SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// A site of version 0.2.0 with an archive and a manifest.
fn site(change: impl Fn(&Asked) -> Option<Vec<u8>> + Send + Sync + 'static) -> Server {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .start_file("SKILL.md", SimpleFileOptions::default())
        .unwrap();
    writer.write_all(manifest("pdf").as_bytes()).unwrap();
    let archive = writer.finish().unwrap().into_inner();
    let text = manifest("note");
    let index = format!(
        r#"{{"$schema": "{SCHEMA}", "skills": [
            {{"name": "pdf", "type": "archive", "description": "P.", "url": "/a/pdf.zip", "digest": "{}"}},
            {{"name": "note", "type": "skill-md", "description": "N.", "url": "note.md", "digest": "{}"}},
            {{"name": "liar", "type": "skill-md", "description": "L.", "url": "note.md", "digest": "{}"}},
            {{"name": "odd", "type": "oci", "description": "O.", "url": "x", "digest": "x"}}
        ]}}"#,
        digest(&archive),
        digest(text.as_bytes()),
        digest(text.as_bytes()),
    );
    Server::start(move |asked| {
        if let Some(changed) = change(asked) {
            return changed;
        }
        match asked.path.as_str() {
            "/.well-known/agent-skills/index.json" => ok(&index),
            "/.well-known/agent-skills/note.md" => ok(&text),
            "/a/pdf.zip" => ok(&archive),
            _ => missing(),
        }
    })
}

#[test]
fn a_site_offers_what_it_lists() {
    let server = site(|_| None);
    let user = User::new();
    let access = user.access();
    for path in ["/", "/team/docs"] {
        let opened = opened(&access, &server.url(path));
        assert_eq!(names(&opened), ["pdf pdf", "note note", "liar liar"]);
        assert_eq!(opened.left_out().len(), 1);
        let offers: Vec<_> = opened.offers().iter().collect();
        let read = opened.read_all(&offers);
        let pdf = read[0].as_ref().unwrap();
        assert_eq!(listing(pdf), [format!("SKILL.md: {}", manifest("pdf"))]);
        assert_eq!(pdf.origin.source, server.url(path));
        assert!(read[1].is_ok());
        // Listed under a name that its manifest does not contain.
        let error = read[2].as_ref().unwrap_err().to_string();
        assert!(
            error.contains("lists the skill `liar`, but the manifest states `note`"),
            "{error}"
        );
    }
}

// case 38, 146
#[test]
fn a_file_with_another_digest_is_refused() {
    let server = site(|asked| (asked.path == "/a/pdf.zip").then(|| ok(package("pdf"))));
    let user = User::new();
    let access = user.access();
    let opened = opened(&access, &server.url("/"));
    let error = opened.read(&opened.offers()[0]).unwrap_err();
    assert!(matches!(error, FetchError::Digest { .. }), "{error}");
    assert!(opened.read(&opened.offers()[1]).is_ok());
}

#[test]
fn a_site_of_the_first_version_is_read_file_by_file() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/.well-known/skills/index.json" => ok(
            r#"{"skills": [{"name": "pdf", "description": "P.", "files": ["SKILL.md", "a/b.txt"]},
                {"name": "gone", "description": "G.", "files": ["SKILL.md"]}]}"#,
        ),
        "/.well-known/skills/pdf/SKILL.md" => ok(manifest("pdf")),
        "/.well-known/skills/pdf/a/b.txt" => ok("b"),
        _ => missing(),
    });
    let user = User::new();
    let access = user.access();
    let opened = opened(&access, &server.url("/"));
    let skill = opened.read(&opened.offers()[0]).unwrap();
    assert_eq!(
        listing(&skill),
        [
            format!("SKILL.md: {}", manifest("pdf")),
            "a/b.txt: b".to_owned()
        ]
    );
    let error = opened.read(&opened.offers()[1]).unwrap_err();
    assert!(
        matches!(error, FetchError::Status { status: 404, .. }),
        "{error}"
    );
}

#[test]
fn a_site_without_a_list_is_an_error_with_a_hint() {
    let user = User::new();
    for page in [missing(), ok("<html>everything</html>")] {
        let server = Server::start(move |_| page.clone());
        let error = user.fetch(&server.url("/")).unwrap_err();
        assert!(matches!(error, FetchError::NoIndex(_)), "{error}");
        assert!(error.hint().unwrap().contains("git+https"));
    }
    let server = Server::start(|_| ok("[]"));
    let error = user.fetch(&server.url("/")).unwrap_err();
    assert!(matches!(error, FetchError::Index { .. }), "{error}");
}

#[test]
fn a_marketplace_by_its_address_names_other_sources() {
    let server = Server::start(|_| {
        ok(r#"{"name": "m", "plugins": [
            {"name": "far", "source": {"source": "github", "repo": "a/b"}},
            {"name": "near", "source": "./near"}
        ]}"#)
    });
    let user = User::new();
    let access = user.access();
    let opened = opened(&access, &server.url("/x/marketplace.json"));
    assert!(opened.offers().is_empty());
    assert_eq!(opened.elsewhere()[0].source.to_string(), "a/b");
    assert!(opened.left_out()[0].contains("`near`"));
}

/// ClawHub with one skill.
fn clawhub(moderation: &'static str) -> Server {
    let bytes = package("github");
    Server::start(move |asked| match asked.path.split('?').next().unwrap() {
        "/api/v1/skills/github" => ok(format!(
            r#"{{"skill": {{"slug": "github"}}, "latestVersion": {{"version": "1.4.0"}}, "moderation": {moderation}}}"#
        )),
        "/api/v1/download" if asked.path.contains("slug=github") => {
            answer("200 OK", &[("Content-Type", "application/zip")], &bytes)
        }
        _ => missing(),
    })
}

#[test]
fn a_skill_of_clawhub_is_downloaded_in_a_version() {
    let server = clawhub("null");
    let user = User::new();
    let access = user.access().with_clawhub(&server.url("/"));
    let skills = fetch_with(&access, "clawhub:github").unwrap();
    assert_eq!(skills[0].name, "github");
    assert_eq!(skills[0].origin.source, "clawhub:github");
    fetch_with(&access, "clawhub:@steipete/github@1.0.0").unwrap();
    let asked: Vec<String> = server.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(
        asked,
        [
            "/api/v1/skills/github",
            "/api/v1/download?slug=github&version=1.4.0",
            "/api/v1/skills/github?ownerHandle=steipete",
            "/api/v1/download?ownerHandle=steipete&slug=github&version=1.0.0",
        ]
    );
    let error = refused(fetch_with(&access, "clawhub:none"));
    assert!(error.contains("status 404"), "{error}");
}

#[test]
fn what_clawhub_blocks_is_not_downloaded() {
    let server = clawhub(r#"{"isMalwareBlocked": true, "summary": "steals keys"}"#);
    let user = User::new();
    let access = user.access().with_clawhub(&server.url("/"));
    let error = refused(fetch_with(&access, "clawhub:github"));
    assert!(error.contains("blocked there as malware"), "{error}");
    assert_eq!(server.asked().len(), 1);
    let server = clawhub(r#"{"isSuspicious": true}"#);
    let access = user.access().with_clawhub(&server.url("/"));
    let opened = opened(&access, "clawhub:github");
    assert!(opened.left_out()[0].contains("suspicious"));
}

#[test]
fn clawhub_hands_over_to_github_only() {
    for repo in [
        "git+file:///etc#",
        "git+http://127.0.0.1/x.git#",
        "/etc",
        "ext::sh",
    ] {
        let answer = format!(
            r#"{{"repo": "{repo}", "commit": "0123456789012345678901234567890123456789", "path": "x"}}"#
        );
        let server = Server::start(move |asked| match asked.path.contains("download") {
            true => ok(&answer),
            false => ok("{}"),
        });
        let user = User::new();
        let access = user.access().with_clawhub(&server.url("/"));
        let error = fetch_with(&access, "clawhub:github").unwrap_err();
        assert!(
            matches!(error, FetchError::Answer { .. }),
            "{repo}: {error}"
        );
        assert!(user.left().is_empty());
    }
}
