//! Greetings of a real client: complete, cut and broken.

use std::sync::Arc;

use proptest::prelude::*;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, crypto::aws_lc_rs, pki_types::ServerName,
};

use super::{Hello, hello};

fn greeting(name: &str, sni: bool) -> Vec<u8> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().unwrap();
    let builder = builder.with_root_certificates(RootCertStore::empty());
    let mut config = builder.with_no_client_auth();
    config.enable_sni = sni;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

/// The message in records of `size` bytes.
fn in_records(bytes: &[u8], size: usize) -> Vec<u8> {
    let record = |piece: &[u8]| {
        let length = u16::try_from(piece.len()).unwrap().to_be_bytes();
        [&[22, 3, 1], &length[..], piece].concat()
    };
    bytes[5..].chunks(size).flat_map(record).collect()
}

#[test]
fn a_greeting_contains_the_name() {
    let to = |name: &str| Hello::To(Some(name.to_owned()));
    assert_eq!(
        hello(&greeting("api.example.com", true)),
        to("api.example.com")
    );
    assert_eq!(
        hello(&greeting("API.example.com", true)),
        to("api.example.com")
    );
    assert_eq!(hello(&greeting("api.example.com", false)), Hello::To(None));
    assert_eq!(hello(&greeting("127.0.0.1", true)), Hello::To(None));
}

#[test]
fn a_greeting_in_pieces_is_waited_for() {
    let whole = greeting("api.example.com", true);
    for length in 0..whole.len() {
        assert_eq!(hello(&whole[..length]), Hello::More, "{length}");
    }
    for size in [1, 7, 100] {
        let cut = in_records(&whole, size);
        assert_eq!(hello(&cut), hello(&whole), "{size}");
        assert_eq!(hello(&cut[..cut.len() - 1]), Hello::More, "{size}");
    }
}

#[test]
fn other_bytes_are_something_else() {
    for bytes in ["GET / HTTP/1.1\r\n", "SSH-2.0-x\r\n", "\u{15}\u{3}"] {
        assert_eq!(hello(bytes.as_bytes()), Hello::Other);
    }
    assert_eq!(hello(b"\x16\x02\x00\x00\x05hello"), Hello::Broken);
    assert_eq!(hello(b"\x16\x03\x01\x00\x00"), Hello::Broken);
    assert_eq!(
        hello(b"\x16\x03\x01\x00\x05\x02\x00\x00\x01x"),
        Hello::Broken
    );
}

#[test]
fn two_names_are_none() {
    let mut twice = greeting("api.example.com", true);
    let name = b"api.example.com";
    let at = twice.windows(name.len()).position(|w| w == name).unwrap();
    let extension = twice[at - 9..at + name.len()].to_vec();
    let end = at + name.len();
    twice.splice(end..end, extension.iter().copied());
    // The three lengths around the extensions: record, message, extensions.
    let grow = |bytes: &mut Vec<u8>, at: usize| {
        let length = u16::from_be_bytes([bytes[at], bytes[at + 1]]);
        let grown = length + u16::try_from(extension.len()).unwrap();
        bytes[at..at + 2].copy_from_slice(&grown.to_be_bytes());
    };
    grow(&mut twice, 3);
    grow(&mut twice, 7);
    let session = 5 + 4 + 2 + 32;
    let suites = session + 1 + usize::from(twice[session]);
    let count = usize::from(u16::from_be_bytes([twice[suites], twice[suites + 1]]));
    let extensions = suites + 2 + count + 2;
    grow(&mut twice, extensions);
    assert_eq!(hello(&twice), Hello::Broken);
}

proptest! {
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0..300usize) {
        hello(&bytes);
        let mut real = greeting("api.example.com", true);
        let end = (at + bytes.len()).min(real.len());
        let at = at.min(end);
        real.splice(at..end, bytes);
        if let Hello::To(Some(name)) = hello(&real) {
            prop_assert!(name.is_ascii());
        }
    }
}
