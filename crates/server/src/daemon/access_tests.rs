//! Who is let in.

use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use metier_testkit::patience;

use super::*;

fn access(listen: &str, names: &[&str]) -> (Access, tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    let token = DaemonToken::open(&file).unwrap();
    let text = std::fs::read_to_string(&file).unwrap().trim().to_owned();
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    (
        Access::new(token, listen.parse().unwrap(), &names),
        folder,
        text,
    )
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(*name, HeaderValue::from_str(value).unwrap());
    }
    headers
}

// case 143
#[test]
fn a_request_of_a_foreign_page_is_refused() {
    let (access, ..) = access("127.0.0.1:7717", &[]);
    let check = |pairs: &[(&'static str, &str)]| {
        let refused = access.check_source(&Uri::from_static("/ws"), &headers(pairs));
        refused.map_or_else(|refusal| refusal.code, |()| "ok")
    };
    for host in [
        "127.0.0.1:7717",
        "localhost:7717",
        "LOCALHOST:7717",
        "[::1]:7717",
    ] {
        assert_eq!(check(&[("host", host)]), "ok", "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:7717",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1.evil.example:7717",
        "localhost.:7717",
        "127.1:7717",
        "0.0.0.0:7717",
        "127.0.0.1:7717@evil.example",
        "",
    ] {
        assert_eq!(check(&[("host", host)]), "wrong-host", "{host}");
    }
    assert_eq!(check(&[]), "wrong-host");
    let ours = ("host", "127.0.0.1:7717");
    assert_eq!(check(&[ours, ("host", "127.0.0.1:7717")]), "wrong-host");
    assert_eq!(check(&[ours, ("origin", "http://127.0.0.1:7717")]), "ok");
    for origin in [
        "null",
        "http://evil.example",
        "http://127.0.0.1:3000",
        "http://evil.example:7717",
        "https://127.0.0.1:7717.evil.example",
        "file://",
        "",
    ] {
        assert_eq!(
            check(&[ours, ("origin", origin)]),
            "foreign-origin",
            "{origin}"
        );
    }
    let both = [
        ours,
        ("origin", "http://127.0.0.1:7717"),
        ("origin", "null"),
    ];
    assert_eq!(check(&both), "foreign-origin");
}

#[test]
fn an_address_in_the_request_line_is_checked_too() {
    let (access, ..) = access("127.0.0.1:7717", &[]);
    let ours = headers(&[("host", "127.0.0.1:7717")]);
    let check = |uri: &'static str| access.check_source(&Uri::from_static(uri), &ours).is_ok();
    assert!(check("http://127.0.0.1:7717/healthz"));
    assert!(!check("http://evil.example/healthz"));
}

#[test]
fn elsewhere_only_the_named_hosts_count() {
    let (access, ..) = access("192.0.2.1:443", &["skills.example"]);
    let check = |host: &str| {
        let checked = access.check_source(&Uri::from_static("/"), &headers(&[("host", host)]));
        checked.is_ok()
    };
    assert!(check("skills.example") && check("192.0.2.1:443"));
    assert!(!check("localhost") && !check("evil.example"));
}

#[test]
fn the_token_lets_in_and_nothing_like_it() {
    let (access, _folder, token) = access("127.0.0.1:7717", &[]);
    let check = |value: &str| {
        let headers = headers(&[("authorization", value)]);
        let caller = access.caller(&Method::GET, &headers);
        caller.map_or_else(|refusal| refusal.status, |_| 200)
    };
    assert_eq!(check(&format!("Bearer {token}")), 200);
    assert_eq!(check(&format!("bearer  {token} ")), 200);
    for wrong in [
        "Bearer ",
        "Bearer x",
        "Basic x",
        "",
        &format!("Bearer {}", &token[1..]),
        &format!("Bearer {token}x"),
        &token,
    ] {
        assert_eq!(check(wrong), 401, "{wrong}");
    }
    for _ in 0..MAX_FAILURES {
        check("Bearer guess");
    }
    assert_eq!(check("Bearer guess"), 429, "guessing ends");
    assert_eq!(
        check(&format!("Bearer {token}")),
        200,
        "and locks no one out"
    );
}

#[test]
fn a_link_becomes_a_cookie_once() {
    let (access, folder, _) = access("127.0.0.1:7717", &[]);
    let code = access.link().unwrap();
    let cookie = access.redeem(&code).unwrap();
    assert_eq!(access.redeem(&code).unwrap_err().code, "used-link");
    assert_eq!(access.redeem("").unwrap_err().code, "used-link");
    let shown = format!("other=1; {COOKIE}={cookie}");
    let check = |method: Method, pairs: &[(&'static str, &str)]| {
        let caller = access.caller(&method, &headers(pairs));
        caller.map_or_else(|refusal| refusal.code, |_| "ok")
    };
    assert_eq!(check(Method::GET, &[("cookie", &shown)]), "ok");
    assert_eq!(check(Method::POST, &[("cookie", &shown)]), "missing-header");
    let with = [("cookie", &*shown), ("x-metier-request", "1")];
    assert_eq!(check(Method::POST, &with), "ok");
    let other = format!("{COOKIE}={}", &cookie[1..]);
    assert_eq!(check(Method::GET, &[("cookie", &other)]), "unauthorized");
    // Another token ends all of it.
    crate::daemon::instance::replace(&folder.path().join("token")).unwrap();
    patience::wait_until("the cookie is refused", || {
        check(Method::GET, &[("cookie", &shown)]) == "unauthorized"
    });
}

// case 106
#[test]
fn a_token_that_others_can_read_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    DaemonToken::open(&file).unwrap();
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = DaemonToken::open(&file).err().expect("it is refused");
    assert!(
        refused.message().contains("other users"),
        "{}",
        refused.message()
    );
}
