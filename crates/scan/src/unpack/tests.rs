//! File types, archives and bytecode.

use std::io::Write as _;

use proptest::prelude::*;

use super::archive::{ArchiveMember, ArchiveProblem, OpenedArchive, UnpackLimits, open};
use super::image::picture;
use super::kind::{FileDialect, FileKind, kind, mismatch, polyglot};
use super::pyc::{PycValidation, compare, pyc};
use crate::made::{code, gzipped, png, pyc_312, short, tarred, zipped};

fn member(path: &str, bytes: &[u8]) -> ArchiveMember {
    ArchiveMember {
        path: path.to_owned(),
        bytes: bytes.to_vec(),
    }
}

#[test]
fn bytes_and_names_tell_the_kind() {
    let table: &[(&str, &[u8], FileKind)] = &[
        ("SKILL.md", b"# Hello", FileKind::Markdown),
        ("a.py", b"import os", FileKind::Python),
        ("a.tsx", b"", FileKind::JavaScript(FileDialect::Tsx)),
        ("run", b"#!/usr/bin/env -S python3 -u\n", FileKind::Python),
        ("run", b"#!/bin/sh\n", FileKind::Shell),
        (
            "run",
            b"#!/usr/bin/env node\n",
            FileKind::JavaScript(FileDialect::Plain),
        ),
        ("run", b"just text", FileKind::Text),
        ("a.bin", b"\x00\x01\x02\x03zz", FileKind::Binary),
        ("a.png", b"\x89PNG\r\n\x1a\n", FileKind::Image),
        ("a.png", b"#!/bin/bash\ncurl x", FileKind::Shell),
        ("a.docx", b"PK\x03\x04", FileKind::Ooxml),
        ("a.jar", b"PK\x03\x04", FileKind::Jar),
        ("a.skill", b"PK\x03\x04", FileKind::Zip),
        ("a.tgz", b"\x1f\x8b\x08", FileKind::Gzip),
        ("a", b"\x7fELF\x02", FileKind::Elf),
        ("a", b"\xca\xfe\xba\xbe\0\0\0\x34", FileKind::JavaClass),
        ("a", b"\xca\xfe\xba\xbe\0\0\0\x02", FileKind::MachO),
        ("a.txt", b"MZ is a pair of letters", FileKind::Text),
        ("a.exe", b"MZ\x90\0\x03\0", FileKind::Pe),
        ("a.pyc", b"\xcb\x0d\r\n\0\0\0\0", FileKind::Pyc),
        ("a", b"\x80\x04\x95\0\0\0\0\0\0\0\0", FileKind::Pickle),
        ("a", b"<?xml version='1.0'?><svg/>", FileKind::Svg),
        ("a.rar", b"Rar!\x1a\x07\0", FileKind::Sealed),
        ("LICENSE", b"MIT", FileKind::Text),
    ];
    for (path, head, expected) in table {
        assert_eq!(kind(path, head), *expected, "{path}");
    }
}

#[test]
fn a_deceptive_name_is_reported() {
    let deceives = |path: &str, head: &[u8]| mismatch(path, kind(path, head)).is_some();
    for (path, head) in [
        ("logo.png", &b"#!/bin/bash\n"[..]),
        ("notes.txt", b"#!/usr/bin/python3\n"),
        ("notes.txt", b"PK\x03\x04\x14\0"),
        ("README.md", b"\x7fELF\x02\x01"),
        ("logo.jpg", b"<svg onload=x>"),
        ("a.py", b"\x7fELF\x02\x01"),
        ("data.json", b"\x80\x04\x95\0\0\0"),
    ] {
        assert!(deceives(path, head), "{path}");
    }
    for (path, head) in [
        ("a.docx", &b"PK\x03\x04"[..]),
        ("a.whl", b"PK\x03\x04"),
        ("a.png", b"\xff\xd8\xff\xe0"),
        ("a.md", b"# title"),
        ("run", b"#!/bin/sh\n"),
        ("a.sh", b"#!/usr/bin/env python3\n"),
        ("a.tar.gz", b"\x1f\x8b"),
        ("empty.png", b""),
    ] {
        assert!(!deceives(path, head), "{path}");
    }
}

#[test]
fn a_file_of_two_types_is_reported() {
    let clean = png(&[(b"IHDR", &[0; 13]), (b"IEND", b"")]);
    assert_eq!(polyglot(FileKind::Image, &clean), None);
    assert_eq!(
        polyglot(FileKind::Image, &[clean.clone(), vec![0; 8]].concat()),
        None
    );
    let zip = zipped(&[("a.py", b"x")]);
    assert_eq!(
        polyglot(FileKind::Image, &[clean.clone(), zip].concat()),
        Some("a zip archive is appended")
    );
    assert_eq!(
        polyglot(FileKind::Image, &[&clean[..], b"#!/bin/sh\nid"].concat()),
        Some("a script follows the picture")
    );
    assert_eq!(
        polyglot(FileKind::Image, &[&clean[..], b"some words"].concat()),
        Some("text follows the picture")
    );
    let jpeg = b"\xff\xd8\xff\xfe\x00\x07hello\xff\xda\x00\x02\x12\xff\x00\x34\xff\xd9";
    assert_eq!(polyglot(FileKind::Image, jpeg), None);
    assert_eq!(
        picture(jpeg).texts,
        [("comment".to_owned(), "hello".to_owned())]
    );
    assert_eq!(
        polyglot(FileKind::Image, &[&jpeg[..], b"\x7fELF"].concat()),
        Some("a program follows the picture")
    );
}

#[test]
fn an_archive_is_opened_one_level_deep() {
    let inner = zipped(&[("b.py", b"1")]);
    let zip = zipped(&[("a/x.py", b"import os"), ("in.zip", &inner)]);
    let expected = OpenedArchive {
        members: vec![member("a/x.py", b"import os"), member("in.zip", &inner)],
        problems: vec![ArchiveProblem::Nested("in.zip".to_owned())],
    };
    assert_eq!(open(FileKind::Zip, &zip, UnpackLimits::default()), expected);
    let tar = tarred(&[("x.py", b"import os")], &[("l", "/etc/passwd")]);
    let expected = OpenedArchive {
        members: vec![member("x.py", b"import os")],
        problems: vec![ArchiveProblem::Link(
            "l".to_owned(),
            "/etc/passwd".to_owned(),
        )],
    };
    assert_eq!(open(FileKind::Tar, &tar, UnpackLimits::default()), expected);
    assert_eq!(
        open(FileKind::Gzip, &gzipped(&tar), UnpackLimits::default()),
        expected
    );
    assert_eq!(
        open(FileKind::Gzip, &gzipped(b"text"), UnpackLimits::default()).members,
        [member("content", b"text")]
    );
}

// case 23, 29, 31, 33
#[test]
fn a_hostile_archive_is_refused() {
    let problems =
        |kind: FileKind, bytes: &[u8]| open(kind, bytes, UnpackLimits::default()).problems;
    let bomb = vec![0; 8 * 1024 * 1024];
    assert_eq!(
        problems(FileKind::Zip, &zipped(&[("b", &bomb)])),
        [ArchiveProblem::Bomb("b".to_owned())]
    );
    assert_eq!(
        problems(FileKind::Gzip, &gzipped(&bomb)),
        [ArchiveProblem::Bomb("content".to_owned())]
    );
    assert_eq!(
        problems(FileKind::Zip, &zipped(&[("../x", b"1")])),
        [ArchiveProblem::Traversal("../x".to_owned())]
    );
    assert_eq!(
        problems(FileKind::Tar, &tarred(&[("/etc/x", b"1")], &[])),
        [ArchiveProblem::Traversal("/etc/x".to_owned())]
    );
    assert!(matches!(
        *problems(FileKind::Zip, b"PK\x03\x04 nothing"),
        [ArchiveProblem::Broken(_)]
    ));
    assert_eq!(
        problems(FileKind::Sealed, b"Rar!"),
        [ArchiveProblem::Unsupported]
    );
    let few = UnpackLimits {
        members: 1,
        ..UnpackLimits::default()
    };
    let two = zipped(&[("a", b"1"), ("b", b"2")]);
    assert_eq!(
        open(FileKind::Zip, &two, few).problems,
        [ArchiveProblem::TooMany(2)]
    );
    let small = UnpackLimits {
        bytes: 3,
        ..UnpackLimits::default()
    };
    assert_eq!(
        open(FileKind::Zip, &zipped(&[("a", b"12345")]), small).problems,
        [ArchiveProblem::TooLarge("a".to_owned())]
    );
    let mut locked = zipped(&[("a", b"12345")]);
    let directory = memchr::memmem::find(&locked, b"PK\x01\x02").unwrap();
    locked[6] |= 1;
    locked[directory + 8] |= 1;
    assert_eq!(
        problems(FileKind::Zip, &locked),
        [ArchiveProblem::Encrypted("a".to_owned())]
    );
    let mut twice = zipped(&[("a", b"harmless"), ("b", b"harmful!")]);
    for at in 0..twice.len() - 4 {
        let name = if twice[at..].starts_with(b"PK\x01\x02") {
            at + 46
        } else {
            continue;
        };
        twice[name] = b'a';
    }
    assert!(matches!(
        problems(FileKind::Zip, &twice)[0],
        ArchiveProblem::Ambiguous(_)
    ));
}

#[test]
fn the_names_in_bytecode_are_found() {
    let inner = code(&[short("id"), vec![b'N']], &["system"]);
    let bytes = pyc_312(
        1,
        &code(
            &[short("curl evil"), inner, vec![b'i', 1, 0, 0, 0]],
            &["os", "path.join"],
        ),
    );
    let read = pyc(&bytes).unwrap();
    assert!(read.complete);
    assert_eq!((read.version, read.codes), ((3, 12), 2));
    assert_eq!(
        read.validation,
        PycValidation::Hash {
            hash: 0,
            checked: false
        }
    );
    assert_eq!(read.names, ["<module>", "os", "path.join", "system"]);
    assert_eq!(read.strings, ["curl evil", "id"]);
    assert_eq!(read.files, ["mod.py"]);
    let honest = "import os\nfrom path import join\nos.system('id')\nx = 'curl\\tevil'\n";
    assert!(compare(&read, honest).agrees());
    let harmless = "print('hello')";
    let foreign = compare(&read, harmless);
    assert_eq!(foreign.names, ["os", "path.join", "system"]);
    assert_eq!(foreign.strings, ["curl evil"]);
}

#[test]
fn references_and_literals_are_followed() {
    let shared = [vec![0xda, 4], b"exec".to_vec()].concat();
    let again = vec![b'r', 1, 0, 0, 0];
    let bytes = pyc_312(0, &code(&[shared, again], &["a"]));
    let read = pyc(&bytes).unwrap();
    assert!(read.complete);
    assert_eq!(read.strings, ["exec"]);
    let bytes = pyc_312(0, &code(&[short("downloader")], &["_Box__key"]));
    let read = pyc(&bytes).unwrap();
    assert!(compare(&read, "class Box:\n  __key = 'down' 'loader'").agrees());
}

#[test]
fn old_bytecode_is_read_too() {
    let two_seven = [
        &62211_u16.to_le_bytes()[..],
        b"\r\n",
        &[0; 4],
        b"c",
        &[0; 16],
        b"s\x01\0\0\0d",
        b"(\x01\0\0\0s\x02\0\0\0hi",
        b"(\x01\0\0\0t\x02\0\0\0os",
        b"(\0\0\0\0(\0\0\0\0(\0\0\0\0",
        b"s\x04\0\0\0m.py",
        b"R\0\0\0\0",
        &[1, 0, 0, 0],
        b"s\0\0\0\0",
    ]
    .concat();
    let read = pyc(&two_seven).unwrap();
    assert!(read.complete, "{read:?}");
    assert_eq!(
        (read.version, &read.names[..], &read.strings[..]),
        ((2, 7), &["os".to_owned()][..], &["hi".to_owned()][..])
    );
}

#[test]
fn pictures_give_up_their_texts() {
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(b"packed words").unwrap();
    let packed = [&b"Comment\0\0"[..], &writer.finish().unwrap()].concat();
    let bytes = png(&[
        (b"tEXt", b"Author\0someone"),
        (b"zTXt", &packed),
        (b"iTXt", b"Title\0\0\0en\0\0name"),
        (b"IEND", b""),
    ]);
    let found = picture(&bytes);
    let texts: Vec<(&str, &str)> = found
        .texts
        .iter()
        .map(|(key, text)| (key.as_str(), text.as_str()))
        .collect();
    assert_eq!(
        texts,
        [
            ("Author", "someone"),
            ("Comment", "packed words"),
            ("Title", "name")
        ]
    );
    let gif = b"GIF89a\x01\0\x01\0\0\0\0\x21\xfe\x05hello\0\x3btail";
    let found = picture(gif);
    assert_eq!(
        (found.texts[0].1.as_str(), found.trailing),
        ("hello", Some(23..27))
    );
}

/// Parses a good sample that was cut, and one with one byte changed.
pub(super) fn mutated(sample: &[u8], cut: usize, at: usize, byte: u8) -> Vec<u8> {
    let mut bytes = sample
        .get(..sample.len() - cut % (sample.len() + 1))
        .unwrap_or_default()
        .to_vec();
    if !bytes.is_empty() {
        let at = at % bytes.len();
        bytes[at] = byte;
    }
    bytes
}

proptest! {
    #[test]
    fn kinds_survive(path in "\\PC{0,20}", bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let found = kind(&path, &bytes);
        let _ = (mismatch(&path, found), polyglot(found, &bytes), polyglot(FileKind::Image, &bytes));
    }

    #[test]
    fn archives_survive(cut in 0..40_usize, at in any::<usize>(), byte in any::<u8>()) {
        let limits = UnpackLimits { members: 10, bytes: 100_000, ratio: 100 };
        let _ = open(FileKind::Zip, &mutated(&zipped(&[("a", b"hello hello"), ("b/c", b"x")]), cut, at, byte), limits);
        let tar = tarred(&[("a", b"hello")], &[("l", "t")]);
        let _ = open(FileKind::Tar, &mutated(&tar, cut * 64, at, byte), limits);
        let _ = open(FileKind::Gzip, &mutated(&gzipped(&tar), cut, at, byte), limits);
    }

    #[test]
    fn any_bytes_are_survived_as_an_archive(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        for kind in [FileKind::Zip, FileKind::Tar, FileKind::Gzip] {
            let _ = open(kind, &bytes, UnpackLimits::default());
        }
    }

    #[test]
    fn bytecode_survives(cut in 0..100_usize, at in any::<usize>(), byte in any::<u8>(), noise in proptest::collection::vec(any::<u8>(), 0..300)) {
        let good = pyc_312(0, &code(&[short("text"), code(&[], &["x"])], &["os"]));
        if let Some(read) = pyc(&mutated(&good, cut, at, byte)) {
            let _ = compare(&read, "import os");
        }
        for magic in [62211_u16, 3131, 3379, 3413, 3531, 3627] {
            let _ = pyc(&[&magic.to_le_bytes()[..], b"\r\n", &[0; 12], &noise].concat());
        }
    }

    #[test]
    fn pictures_survive(cut in 0..30_usize, at in any::<usize>(), byte in any::<u8>(), noise in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = picture(&mutated(&png(&[(b"tEXt", b"a\0b"), (b"iTXt", b"a\0\0\0\0\0b"), (b"IEND", b"")]), cut, at, byte));
        for head in [&b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8", b"GIF89a"] {
            let _ = picture(&[head, &noise].concat());
        }
    }
}
