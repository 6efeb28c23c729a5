//! Targets inside and outside the approved hosts.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use proptest::prelude::*;
use url::Host;

use super::{AllowedHosts, FetchTarget, HostRefusal, authority};
use crate::net::address::{AddressKind, kind};

fn hosts(scopes: &[&str]) -> AllowedHosts {
    let scopes: Vec<String> = scopes.iter().map(|&scope| scope.to_owned()).collect();
    AllowedHosts::new(&scopes, false).unwrap()
}

fn ask(hosts: &AllowedHosts, url: &str) -> Result<String, HostRefusal> {
    let target = FetchTarget::parse(url)?;
    let verdict = hosts.admits(&target.host, target.port)?;
    Ok(verdict.scope)
}

/// `expected` is the scope that admitted the URL, or the code of the refusal.
#[track_caller]
fn check(hosts: &AllowedHosts, url: &str, expected: &str) {
    let found = ask(hosts, url).unwrap_or_else(|refusal| refusal.code().to_owned());
    assert_eq!(found, expected, "{}", url.escape_debug());
}

#[track_caller]
fn check_address(hosts: &AllowedHosts, host: &str, address: &str, expected: Result<(), &str>) {
    let host = Host::parse(host).unwrap();
    let found = hosts.admits_address(&host, address.parse().unwrap());
    assert_eq!(
        found.as_ref().map_err(HostRefusal::code).copied(),
        expected,
        "{host} {address}"
    );
}

#[test]
fn a_host_is_itself_on_the_two_ports_of_the_web() {
    let hosts = hosts(&["api.example.com"]);
    check(
        &hosts,
        "https://api.example.com/v1?q=1#x",
        "api.example.com",
    );
    check(&hosts, "http://api.example.com/", "api.example.com");
    check(&hosts, "http://api.example.com:443/", "api.example.com");
    check(&hosts, "https://api.example.com:8443/", "port-not-approved");
    check(&hosts, "https://api.example.com:22/", "port-not-approved");
    check(&hosts, "https://example.com/", "host-not-approved");
    check(&hosts, "https://x.api.example.com/", "host-not-approved");
}

#[test]
fn other_ways_to_write_the_same_host_are_the_same_host() {
    let hosts = hosts(&["api.example.com", "münchen.example", "Straße.example."]);
    check(&hosts, "https://API.Example.COM/", "api.example.com");
    check(&hosts, "https://api.example.com./", "api.example.com");
    check(&hosts, "https://%61pi.example.com/", "api.example.com");
    check(&hosts, "https://ａpi。example．com/", "api.example.com");
    check(&hosts, "https://xn--mnchen-3ya.example/", "münchen.example");
    check(&hosts, "https://MÜNCHEN.example/", "münchen.example");
    check(&hosts, "https://straße.example/", "Straße.example.");
}

// case 111
#[test]
fn look_alikes_are_other_hosts() {
    let hosts = hosts(&["api.example.com", "*.example.org"]);
    for url in [
        "https://evil-api.example.com/",
        "https://api.example.com.evil.io/",
        "https://api.example.comevil.io/",
        "https://api-example.com/",
        "https://apiXexample.com/",
        "https://evil.io/api.example.com",
        "https://evil.io/?api.example.com",
        "https://evil.io/#api.example.com",
        "https://evil.io#@api.example.com/",
        "https://evil.io?@api.example.com/",
        "https://аpi.example.com/", // a Cyrillic а
        "https://api.example.com%2eevil.io/",
        "https://example.org/",
        "https://evilexample.org/",
        "https://x.example.org.evil.io/",
    ] {
        check(&hosts, url, "host-not-approved");
    }
    check(
        &hosts,
        "https://api.example.com#@evil.io/",
        "api.example.com",
    );
    check(&hosts, "https://a.b.example.org/", "*.example.org");
}

// case 111
#[test]
fn what_two_programs_read_differently_is_refused() {
    let hosts = hosts(&["api.example.com"]);
    check(
        &hosts,
        "https://api.example.com@evil.io/",
        "userinfo-in-url",
    );
    check(
        &hosts,
        "https://evil.io@api.example.com/",
        "userinfo-in-url",
    );
    check(&hosts, "https://u:p@api.example.com/", "userinfo-in-url");
    check(&hosts, "https://:p@api.example.com/", "userinfo-in-url");
    for url in [
        r"https://api.example.com\@evil.io/",
        r"https:\\api.example.com\",
        "https://api.exa\tmple.com/",
        "https://api.example.com\n.evil.io/",
        " https://api.example.com/",
        "https://api.example.com/ HTTP/1.1",
        "https://api.example.com\u{a0}/",
        "https://api.example.com%00.evil.io/",
        "https://api..example.com/",
        "https://api.example.com../",
        "https://api.example.com:99999/",
        "https://api.example.com:0/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://",
        "//api.example.com/",
        "api.example.com",
        "",
    ] {
        check(&hosts, url, "url-unusable");
    }
}

#[test]
fn only_the_web_is_fetched() {
    let hosts = AllowedHosts::new(&["api.example.com".to_owned()], true).unwrap();
    for url in [
        "file:///etc/passwd",
        "gopher://api.example.com/",
        "data:text/plain,x",
        "ftp://api.example.com/",
        "unix:/run/docker.sock",
        "ws://api.example.com/",
        "javascript:alert(1)",
        "blob:https://api.example.com/x",
        "view-source:https://api.example.com/",
    ] {
        check(&hosts, url, "scheme-not-fetched");
    }
}

const LOOPBACK_SPELLINGS: &[&str] = &[
    "http://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://0177.1/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://１２７.0.0.1/",
];

// case 107
#[test]
fn every_spelling_of_an_address_is_that_address() {
    let any = AllowedHosts::new(&[], true).unwrap();
    let named = hosts(&["127.0.0.1"]);
    let other = hosts(&["127.0.0.2"]);
    for url in LOOPBACK_SPELLINGS {
        check(&any, url, "address-not-public");
        check(&other, url, "address-not-public");
        check(&named, url, "127.0.0.1");
    }
}

#[test]
fn a_literal_approval_is_for_that_address_and_any_port() {
    let hosts = hosts(&["127.0.0.1", "[::1]:8080", "10.0.0.7:9000"]);
    check(&hosts, "http://127.0.0.1:6379/", "127.0.0.1");
    check(&hosts, "http://127.0.0.2/", "address-not-public");
    check(&hosts, "http://localhost/", "address-not-public");
    check(&hosts, "http://[::ffff:127.0.0.1]/", "address-not-public");
    check(&hosts, "http://[::ffff:7f00:1]/", "address-not-public");
    check(&hosts, "http://[64:ff9b::7f00:1]/", "address-not-public");
    check(&hosts, "http://[2002:7f00:1::]/", "address-not-public");
    check(&hosts, "http://0.0.0.0/", "address-not-public");
    check(&hosts, "http://[::]/", "address-not-public");
    check(&hosts, "http://[::1]:8080/", "[::1]:8080");
    check(&hosts, "http://[::1]:8081/", "port-not-approved");
    check(&hosts, "http://10.0.0.7:9000/", "10.0.0.7:9000");
    check(&hosts, "http://10.0.0.7/", "port-not-approved");
}

#[test]
fn localhost_is_this_machine_and_nothing_wrapped() {
    let hosts = hosts(&["localhost"]);
    check(&hosts, "http://localhost:3000/", "localhost");
    check(&hosts, "http://LOCALHOST./", "localhost");
    check(&hosts, "http://127.0.0.9:1/", "localhost");
    check(&hosts, "http://[::1]/", "localhost");
    check(&hosts, "http://[::ffff:127.0.0.1]/", "address-not-public");
    check(&hosts, "http://x.localhost/", "host-not-approved");
    check(&hosts, "http://10.0.0.1/", "address-not-public");
    check_address(&hosts, "localhost", "127.0.0.1:80", Ok(()));
    check_address(&hosts, "localhost", "[::1]:80", Ok(()));
    check_address(&hosts, "localhost", "1.1.1.1:80", Err("address-not-public"));
}

#[test]
fn any_is_every_public_host_on_the_two_ports() {
    for hosts in [AllowedHosts::new(&[], true).unwrap(), hosts(&["*"])] {
        check(&hosts, "https://evil.io/", "*");
        check(&hosts, "https://1.1.1.1/", "*");
        check(&hosts, "https://evil.io:22/", "port-not-approved");
        check(&hosts, "http://localhost/", "address-not-public");
        check(&hosts, "http://10.0.0.1/", "address-not-public");
        check(&hosts, "http://[fd00::1]/", "address-not-public");
        check_address(&hosts, "evil.io", "1.1.1.1:443", Ok(()));
        check_address(
            &hosts,
            "evil.io",
            "127.0.0.1:443",
            Err("address-not-public"),
        );
        check_address(
            &hosts,
            "evil.io",
            "[::ffff:10.0.0.1]:443",
            Err("address-not-public"),
        );
        check_address(&hosts, "1.1.1.1", "1.0.0.1:443", Err("address-not-public"));
    }
}

// case 108
#[test]
fn metadata_is_never_reached() {
    let wide = AllowedHosts::new(
        &[
            "localhost".into(),
            "*.google.internal".into(),
            "evil.io".into(),
        ],
        true,
    );
    let wide = wide.unwrap();
    for url in [
        "http://169.254.169.254/latest/meta-data",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://100.100.100.200/",
        "http://168.63.129.16/",
        "http://metadata.google.internal/",
        "http://METADATA.google.internal./",
    ] {
        check(&wide, url, "metadata-address");
    }
    check_address(
        &wide,
        "evil.io",
        "169.254.169.254:80",
        Err("metadata-address"),
    );
    for scope in [
        "169.254.169.254",
        "[fd00:ec2::254]:80",
        "[::ffff:169.254.169.254]",
    ] {
        let error = AllowedHosts::new(&[scope.to_owned()], false).unwrap_err();
        assert!(error.reason.contains("can't be approved"), "{error}");
    }
}

#[test]
fn a_name_of_a_private_address_needs_the_address_as_well() {
    let name_only = hosts(&["wiki.corp"]);
    check_address(
        &name_only,
        "wiki.corp",
        "10.1.2.3:443",
        Err("address-not-public"),
    );
    let both = hosts(&["wiki.corp", "10.1.2.3:443"]);
    check_address(&both, "wiki.corp", "10.1.2.3:443", Ok(()));
    check_address(&both, "wiki.corp", "10.1.2.3:80", Err("address-not-public"));
    check_address(
        &both,
        "wiki.corp",
        "10.1.2.4:443",
        Err("address-not-public"),
    );
    check_address(
        &both,
        "other.corp",
        "10.1.2.3:443",
        Err("host-not-approved"),
    );
}

#[test]
fn nothing_approved_is_nothing_allowed() {
    check(&hosts(&[]), "https://example.com/", "host-not-approved");
    check(
        &AllowedHosts::default(),
        "http://127.0.0.1/",
        "address-not-public",
    );
}

#[test]
fn a_scope_that_hides_what_it_names_is_an_error() {
    for (scope, part) in [
        ("https://api.example.com", "without scheme"),
        ("api.example.com/v1", "without scheme"),
        ("127.1", "use that"),
        ("2130706433", "use that"),
        ("*.com", "too broad"),
        ("*.127.0.0.1", "too broad"),
        ("api.*.com", "in the middle"),
        ("*example.com", "in the middle"),
        ("::1", "brackets"),
        ("host:0", "port"),
        ("host:x", "port"),
        ("host:+80", "port"),
        ("host:", "port"),
        ("a@b", "can't contain"),
        ("a%2eb", "can't contain"),
        ("a b", "is not a host"),
        ("", "is not a host"),
        ("a..b", "is not a host"),
    ] {
        let error = AllowedHosts::new(&[scope.to_owned()], false).unwrap_err();
        assert!(error.reason.contains(part), "{error}");
    }
}

#[test]
fn an_authority_is_a_host_and_a_port_only() {
    let read = |text: &str| {
        authority(text)
            .ok()
            .map(|(host, port)| (host.to_string(), port))
    };
    assert_eq!(
        read("Example.com.:443"),
        Some(("example.com".into(), Some(443)))
    );
    assert_eq!(read("[::1]:80"), Some(("[::1]".into(), Some(80))));
    assert_eq!(read("example.com"), Some(("example.com".into(), None)));
    for bad in [
        "a@b:443", "a/b:443", "a#b:443", "a:443:80", "a:80 ", "a%2eb:1", ":443", "a\\b:1", "[::1",
        "::1",
    ] {
        assert_eq!(read(bad), None, "{bad}");
    }
}

#[test]
fn a_redirect_is_read_like_any_url() {
    let start = FetchTarget::parse("https://api.example.com/a/b").unwrap();
    let to = |location: &str| start.join(location).map(|target| target.url.to_string());
    assert_eq!(to("../c?x"), Ok("https://api.example.com/c?x".into()));
    assert_eq!(to("//evil.io/x"), Ok("https://evil.io/x".into()));
    assert_eq!(to("//u@evil.io/x"), Err(HostRefusal::Userinfo));
    assert!(matches!(
        to("file:///etc/passwd"),
        Err(HostRefusal::Scheme { .. })
    ));
    assert!(matches!(to("\\\\evil.io"), Err(HostRefusal::Url { .. })));
}

fn name() -> impl Strategy<Value = String> {
    // `xn--` means that a name in other letters follows, and random text does not contain it.
    "[a-z][a-z0-9-]{0,8}[a-z](\\.[a-z]{2,6}){1,3}"
        .prop_filter("not an encoded name", |name| !name.starts_with("xn--"))
}

proptest! {
    #[test]
    fn nothing_panics_and_what_is_admitted_is_named(url in "\\PC{0,60}", scope in "\\PC{0,20}") {
        let hosts = AllowedHosts::new(&[scope], false);
        if let (Ok(hosts), Ok(target)) = (hosts, FetchTarget::parse(&url)) {
            let _ = hosts.admits(&target.host, target.port);
        }
        let _ = authority(&url);
    }

    #[test]
    fn a_host_admits_itself_and_no_longer_or_shorter_name(host in name(), extra in "[a-z]{1,5}") {
        let hosts = hosts(&[&host]);
        check(&hosts, &format!("https://{host}/"), &host);
        check(&hosts, &format!("https://{}/", host.to_uppercase()), &host);
        for other in [
            format!("{extra}{host}"),
            format!("{extra}.{host}"),
            format!("{extra}-{host}"),
            format!("{host}{extra}"),
            format!("{host}.{extra}"),
        ] {
            check(&hosts, &format!("https://{other}/"), "host-not-approved");
        }
    }

    #[test]
    fn a_name_never_leads_to_an_address_that_is_not_public(host in name(), bits: u32, any: bool) {
        let hosts = AllowedHosts::new(std::slice::from_ref(&host), any).unwrap();
        let ip = IpAddr::V4(Ipv4Addr::from_bits(bits));
        let host = Host::Domain(host);
        let admitted = hosts.admits_address(&host, SocketAddr::new(ip, 443)).is_ok();
        prop_assert_eq!(admitted, kind(ip) == AddressKind::Public);
    }

    #[test]
    fn every_number_is_the_address_that_is_dialled(bits: u32) {
        let ip = Ipv4Addr::from_bits(bits);
        for spelling in [format!("{bits}"), format!("{bits:#x}"), format!("0{bits:o}"), ip.to_string()] {
            let target = FetchTarget::parse(&format!("http://{spelling}/")).unwrap();
            prop_assert_eq!(&target.host, &Host::<String>::Ipv4(ip));
        }
    }

    #[test]
    fn a_hand_made_host_does_not_bypass_the_parser(text in "[0-9a-fx.%@/]{1,12}") {
        let hosts = AllowedHosts::new(&[], true).unwrap();
        if hosts.admits(&Host::Domain(text.clone()), 80).is_ok() {
            let parsed = Host::parse(&text).unwrap();
            prop_assert!(matches!(parsed, Host::Domain(_)));
        }
    }
}

#[test]
fn a_denied_host_inside_an_approved_domain_is_not_admitted() {
    let without = |approved: &str, denied: &str| {
        let hosts = AllowedHosts::new(&[approved.to_owned()], false).unwrap();
        hosts.without(&[denied.to_owned()]).unwrap()
    };
    let some = without("*.a.io", "evil.a.io");
    check(&some, "https://evil.a.io/", "host-denied");
    check(&some, "https://EVIL.A.IO/", "host-denied");
    check(&some, "https://fine.a.io/", "*.a.io");
    check(
        &without("*", "evil.a.io"),
        "https://evil.a.io/",
        "host-denied",
    );
    check(
        &without("*.a.io", "*.b.a.io"),
        "https://x.b.a.io/",
        "host-denied",
    );
    let port = without("127.0.0.1", "127.0.0.1:81");
    check(&port, "http://127.0.0.1:81/", "host-denied");
    check(&port, "http://127.0.0.1:82/", "127.0.0.1");
    check(&without("a.io", ""), "https://a.io/", "host-not-approved");
}

fn without(approved: &[&str], denied: &[&str]) -> AllowedHosts {
    let denied: Vec<String> = denied.iter().map(|&scope| scope.to_owned()).collect();
    hosts(approved).without(&denied).unwrap()
}

// case 167
#[test]
fn a_denied_address_is_not_dialled_under_any_name() {
    let hosts = without(
        &["localhost", "a.io", "10.0.0.7"],
        &["127.0.0.1:81", "10.0.0.7"],
    );
    for host in ["localhost", "127.0.0.1", "127.0.0.2", "[::1]"] {
        check(&hosts, &format!("http://{host}:81/"), "host-denied");
    }
    check(&hosts, "http://localhost:82/", "localhost");
    check(&hosts, "http://10.0.0.7/", "host-denied");
    check_address(&hosts, "localhost", "127.0.0.1:81", Err("host-denied"));
    check_address(&hosts, "localhost", "[::1]:81", Err("host-denied"));
    check_address(&hosts, "localhost", "127.0.0.1:82", Ok(()));
    let hosts = without(&["a.io", "[::ffff:9.9.9.9]"], &["9.9.9.9"]);
    check_address(&hosts, "a.io", "9.9.9.9:80", Err("host-denied"));
    check_address(&hosts, "a.io", "8.8.8.8:80", Ok(()));
    for form in [
        "[::ffff:9.9.9.9]",
        "[::9.9.9.9]",
        "[64:ff9b::909:909]",
        "[2002:909:909::1]",
    ] {
        let address = format!("{form}:80");
        check_address(&hosts, "a.io", &address, Err("host-denied"));
    }
}

/// A spelling of a host that a URL parser treats as the same.
fn spelling(host: &str, style: u8, flips: u32) -> String {
    if let Ok(v4) = host.parse::<Ipv4Addr>() {
        let bits = v4.to_bits();
        let [a, b, c, d] = v4.octets();
        return match style % 9 {
            0 => format!("{bits}"),
            1 => format!("{bits:#x}"),
            2 => format!("{a:#o}.{b}.{c}.{d}").replace("0o", "0"),
            3 => format!("{a}.{b}.{}", u32::from(c) << 8 | u32::from(d)),
            4 => format!("[::ffff:{v4}]"),
            5 => format!("[64:ff9b::{:x}:{:x}]", bits >> 16, bits & 0xffff),
            6 => format!("[2002:{:x}:{:x}::]", bits >> 16, bits & 0xffff),
            7 => format!("{v4}."),
            _ => host.to_owned(),
        };
    }
    let flipped = host.chars().enumerate().map(|(at, letter)| {
        if flips >> (at % 32) & 1 == 1 {
            letter.to_ascii_uppercase()
        } else {
            letter
        }
    });
    let flipped: String = flipped.collect();
    match style % 4 {
        0 => format!("{flipped}."),
        // Full-width letters.
        1 => flipped
            .chars()
            .map(|letter| match letter {
                'a'..='z' | 'A'..='Z' => char::from_u32(letter as u32 + 0xfee0).unwrap_or(letter),
                other => other,
            })
            .collect(),
        _ => flipped,
    }
}

proptest! {
    // case 167
    #[test]
    fn every_spelling_of_what_was_denied_is_denied_at_every_door(
        denied in prop::sample::select(vec!["evil.example", "localhost", "127.0.0.1", "9.9.9.9", "10.1.2.3"]),
        style in any::<u8>(),
        flips in any::<u32>(),
        port in prop::sample::select(vec![80_u16, 443, 8080]),
        named in any::<bool>(),
    ) {
        let scope = if named { format!("{denied}:{port}") } else { denied.to_owned() };
        let wide = ["*", "localhost", "127.0.0.1", "10.1.2.3", "evil.example:8080", "9.9.9.9"];
        let hosts = without(&wide, &[&scope]);
        let written = spelling(denied, style, flips);
        let pattern = metier_model::scope::HostPattern::read(&scope).unwrap();
        // On the host: the URL, policy, and the network.
        let fetched = FetchTarget::parse(&format!("http://{written}:{port}/")).map(|target| {
            let policy = !pattern.denies(&target.host.to_string(), target.port);
            let network = hosts.admits(&target.host, target.port).is_ok();
            (policy, network)
        });
        // The proxy of a child.
        let proxied = authority(&format!("{written}:{port}"))
            .map(|(host, port)| hosts.admits(&host, port.unwrap_or(80)).is_ok());
        prop_assert!(fetched.as_ref().is_ok_and(|doors| *doors == (false, false)) || fetched.is_err(), "{written}: {fetched:?}");
        prop_assert!(!proxied.as_ref().is_ok_and(|admitted| *admitted), "{written}: {proxied:?}");
        prop_assert_eq!(fetched.is_ok(), proxied.is_ok());
        // A name that was not denied leads to the same address.
        if let Ok(ip) = denied.parse::<IpAddr>() {
            let other = Host::parse("innocent.example").unwrap();
            prop_assert!(hosts.admits_address(&other, SocketAddr::new(ip, port)).is_err());
        }
    }

    #[test]
    fn policy_and_network_agree_on_what_a_scope_approves(
        scope in prop::sample::select(vec!["a.example", "*.a.example", "localhost", "127.0.0.2", "[::1]", "localhost:81", "a.example:81", "9.9.9.9"]),
        host in prop::sample::select(vec!["a.example", "b.a.example", "localhost", "127.0.0.1", "127.0.0.2", "[::1]", "9.9.9.9", "A.EXAMPLE."]),
        port in prop::sample::select(vec![80_u16, 81, 443]),
    ) {
        let pattern = metier_model::scope::HostPattern::read(scope).unwrap();
        let target = FetchTarget::parse(&format!("http://{host}:{port}/")).unwrap();
        let policy = pattern.matches(&target.host.to_string(), target.port);
        let network = hosts(&[scope]).admits(&target.host, target.port).is_ok();
        prop_assert_eq!(policy, network);
    }
}
