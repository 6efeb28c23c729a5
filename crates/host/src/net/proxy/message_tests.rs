//! Requests as they are received and as they are forwarded.

use proptest::prelude::*;

use super::{Framing, ParsedHead, RequestHead, parse};

fn head(text: &str) -> RequestHead {
    match parse(text.as_bytes()) {
        ParsedHead::Head(head, length) if length == text.len() => head,
        other => panic!("{text:?}: {other:?}"),
    }
}

fn framing(headers: &str) -> Option<Framing> {
    head(&format!("POST / HTTP/1.1\r\n{headers}\r\n"))
        .framing()
        .ok()
}

#[test]
fn what_was_meant_for_the_proxy_stays_there() {
    let head = head(
        "GET http://a/x HTTP/1.1\r\nHost: evil\r\nProxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\n\
         Connection: keep-alive, X-Private\r\nX-Private: 1\r\nUpgrade: h2c\r\nTE: trailers\r\nAccept: */*\r\n\r\n",
    );
    let onward = head.onward("/x", "a", Framing::None);
    let expected = "GET /x HTTP/1.1\r\nHost: a\r\naccept: */*\r\nConnection: close\r\n\r\n";
    assert_eq!(String::from_utf8(onward).unwrap(), expected);
}

#[test]
fn a_body_has_one_end() {
    assert_eq!(framing(""), Some(Framing::None));
    assert_eq!(framing("Content-Length: 3\r\n"), Some(Framing::Length(3)));
    assert_eq!(
        framing("Transfer-Encoding: Chunked\r\n"),
        Some(Framing::Chunked)
    );
    for two_readings in [
        "Content-Length: 3\r\nContent-Length: 4\r\n",
        "Content-Length: +3\r\n",
        "Content-Length: 3, 3\r\n",
        "Content-Length: 0x3\r\n",
        "Content-Length: \r\n",
        "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: identity\r\n",
    ] {
        assert_eq!(framing(two_readings), None, "{two_readings}");
    }
}

fn copied(framing: Framing, body: &str) -> Option<(String, String)> {
    let mut from = body.as_bytes();
    let mut to = Vec::new();
    framing.copy(&mut from, &mut to).ok()?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Some((text(&to), text(from)))
}

#[test]
fn a_body_is_copied_to_its_end_and_no_further() {
    let next = "GET /second HTTP/1.1\r\n";
    let check = |framing, body: &str, expected: &str| {
        let found = copied(framing, &format!("{body}{next}"));
        assert_eq!(
            found,
            Some((expected.to_owned(), next.to_owned())),
            "{body}"
        );
    };
    check(Framing::None, "", "");
    check(Framing::Length(3), "abc", "abc");
    check(Framing::Chunked, "0\r\n\r\n", "0\r\n\r\n");
    check(
        Framing::Chunked,
        "03;x=y\r\nabc\r\n0\r\nT: 1\r\n\r\n",
        "3\r\nabc\r\n0\r\n\r\n",
    );
    for broken in [
        "",
        "x\r\n",
        "-1\r\n",
        "+1\r\na\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n",
        "3\r\nabcd\r\n0\r\n\r\n",
        "11111111111111111\r\n",
        "3\r\nab",
    ] {
        assert_eq!(copied(Framing::Chunked, broken), None, "{broken}");
    }
    assert_eq!(copied(Framing::Length(4), "abc"), None);
}

proptest! {
    #[test]
    fn nothing_panics_and_nothing_is_smuggled(bytes in "\\PC{0,40}", value in "[ -~]{0,20}") {
        parse(bytes.as_bytes());
        copied(Framing::Chunked, &bytes);
        let text = format!("GET /a HTTP/1.1\r\nX: {value}\r\nHost: b\r\n\r\n");
        if let ParsedHead::Head(head, _) = parse(text.as_bytes()) {
            let onward = head.onward("/a", "c", Framing::None);
            let ParsedHead::Head(again, length) = parse(&onward) else {
                return Err(TestCaseError::fail("not a head"));
            };
            prop_assert_eq!(length, onward.len());
            prop_assert_eq!(again.only("host"), Some("c"));
        }
    }
}
