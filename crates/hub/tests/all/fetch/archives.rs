//! Archives as files: an archive with wrong statements is refused.

use std::io::{Cursor, Write};

use metier_hub::fetch::FetchError;
use metier_package::{pack, read_archive};
use tar::{Builder, EntryType, Header};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{User, listing, manifest, names, opened, refused, typed};

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        let options = SimpleFileOptions::default().unix_permissions(0o4755);
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn tar_of(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, kind, content) in entries {
        let mut header = Header::new_ustar();
        // Written byte by byte: the crate would refuse the tested forms.
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Replaces the n-th occurrence, or all of them.
fn patched(bytes: &[u8], from: &[u8], to: &[u8], only: Option<usize>) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> = (0..=bytes.len() - from.len())
        .filter(|at| bytes[*at..].starts_with(from))
        .collect();
    assert!(!places.is_empty());
    for (number, at) in places.into_iter().enumerate() {
        if only.is_none_or(|only| only == number) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

/// An archive that must be refused, for one of these reasons.
#[track_caller]
fn check_refused(name: &str, bytes: &[u8], reason: &str) {
    let user = User::new();
    let path = user.write(name, bytes);
    let error = refused(user.fetch(&typed(&path)));
    assert!(
        reason.split('|').any(|reason| error.contains(reason)),
        "{error}"
    );
    // No file was written anywhere.
    assert!(user.left().is_empty());
}

#[test]
fn every_format_is_read_from_its_root_or_from_one_folder() {
    let text = manifest("pdf");
    let root = [("SKILL.md", text.as_bytes()), ("a/b", b"1")];
    let wrapped = [("pdf-1.0/SKILL.md", text.as_bytes()), ("pdf-1.0/a/b", b"1")];
    let tar = |files: &[(&str, &[u8])]| {
        let entries: Vec<_> = files
            .iter()
            .map(|(path, content)| (*path, EntryType::Regular, *content))
            .collect();
        tar_of(&entries)
    };
    let user = User::new();
    for (number, files) in [&root[..], &wrapped[..]].into_iter().enumerate() {
        for (name, bytes) in [
            ("pdf.zip", zip_of(files)),
            ("pdf.skill", zip_of(files)),
            ("pdf.tar", tar(files)),
            ("pdf.tar.gz", gzip(&tar(files))),
        ] {
            let path = user.write(&format!("{number}/{name}"), &bytes);
            let skills = user.fetch(&typed(&path)).unwrap();
            let [skill] = skills.as_slice() else {
                panic!("{skills:?}")
            };
            assert_eq!(skill.name, "pdf", "{name}");
            assert_eq!(
                listing(skill),
                [format!("SKILL.md: {text}"), "a/b: 1".to_owned()]
            );
            assert_eq!(skill.origin.source, typed(&path));
            assert!(skill.origin.archive.is_some());
        }
    }
}

#[test]
fn an_archive_of_several_skills_offers_them_all() {
    let (one, two) = (manifest("one"), manifest("two"));
    let bytes = zip_of(&[
        ("repo-main/skills/one/SKILL.md", one.as_bytes()),
        ("repo-main/skills/two/SKILL.md", two.as_bytes()),
        ("repo-main/README.md", b"hi"),
    ]);
    let user = User::new();
    let path = user.write("repo.zip", bytes);
    let access = user.access();
    assert_eq!(
        names(&opened(&access, &typed(&path))),
        ["one repo-main/skills/one", "two repo-main/skills/two"]
    );
}

// case 37
#[test]
fn a_skill_file_holds_exactly_one_skill() {
    let text = manifest("pdf");
    let text = text.as_bytes();
    let two = zip_of(&[("a/SKILL.md", text), ("b/SKILL.md", text)]);
    check_refused("x.skill", &two, "contains 2 skills: a, b");
    let deep = zip_of(&[("a/b/SKILL.md", text)]);
    check_refused("x.skill", &deep, "the skill is in `a/b`");
    let beside = zip_of(&[("a/SKILL.md", text), ("README", b"")]);
    check_refused("x.skill", &beside, "outside the folder of the skill");
    let none = zip_of(&[("README.md", b"hi")]);
    check_refused("x.skill", &none, "no SKILL.md or SKILL.yaml");
    check_refused("x.zip", &none, "no SKILL.md or SKILL.yaml");
}

// case 23, 34
#[test]
fn names_that_lead_elsewhere_or_hide_refuse_the_archive() {
    let text = manifest("pdf");
    for name in [
        "../x",
        "/abs",
        "C:\\x",
        "a/../../x",
        "a\nb",
        "a\u{202e}b",
        "a\u{200b}b",
    ] {
        let zip = zip_of(&[("SKILL.md", text.as_bytes()), (name, b"x")]);
        check_refused("x.zip", &zip, "is refused");
        let tar = tar_of(&[
            ("SKILL.md", EntryType::Regular, text.as_bytes()),
            (name, EntryType::Regular, b"x"),
        ]);
        check_refused("x.tar.gz", &gzip(&tar), "is refused");
    }
}

// case 24, 25, 26, 35
#[test]
fn links_and_special_entries_refuse_the_archive() {
    let text = manifest("pdf");
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    writer.start_file("SKILL.md", options).unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    writer.add_symlink("link", "/etc", options).unwrap();
    let zip = writer.finish().unwrap().into_inner();
    check_refused("x.zip", &zip, "`link` is a link");
    for (kind, reason) in [
        (EntryType::Symlink, "is a link"),
        (EntryType::Link, "is a link"),
        (EntryType::Char, "`odd` is"),
        (EntryType::Fifo, "`odd` is"),
        (EntryType::GNUSparse, "`odd` is"),
    ] {
        let tar = tar_of(&[
            ("SKILL.md", EntryType::Regular, text.as_bytes()),
            ("odd", kind, b""),
        ]);
        check_refused("x.tar", &tar, reason);
    }
}

// case 27, 28, 29, 30, 32
#[test]
fn archives_that_tools_read_differently_are_refused() {
    let text = manifest("pdf");
    let text = text.as_bytes();
    let zip = zip_of(&[("SKILL.md", text), ("aa", b"1"), ("bb", b"2")]);
    check_refused(
        "x.zip",
        &patched(&zip, b"bb", b"aa", None),
        "duplicate|twice",
    );
    check_refused("x.zip", &patched(&zip, b"bb", b"cc", Some(0)), "ambiguous");
    let mut before = b"data".to_vec();
    before.extend_from_slice(&zip);
    check_refused("x.zip", &before, "is refused");
    let cases = zip_of(&[("SKILL.md", text), ("Read", b"1"), ("read", b"2")]);
    check_refused("x.zip", &cases, "the same file");
    let tar = tar_of(&[("SKILL.md", EntryType::Regular, text)]);
    let mut two = gzip(&tar);
    two.extend_from_slice(&gzip(&tar));
    check_refused("x.tar.gz", &two, "ambiguous");
    let mut hidden = tar.clone();
    hidden.extend_from_slice(&tar);
    check_refused("x.tar", &hidden, "is refused");
}

// case 31
#[test]
fn a_decompression_bomb_is_refused() {
    let text = manifest("pdf");
    let zeros = vec![0; 64 << 20];
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    writer.start_file("SKILL.md", options).unwrap();
    writer.write_all(text.as_bytes()).unwrap();
    writer.start_file("zeros", options).unwrap();
    writer.write_all(&zeros).unwrap();
    let zip = writer.finish().unwrap().into_inner();
    check_refused("x.zip", &zip, "bomb");
    let tar = tar_of(&[
        ("SKILL.md", EntryType::Regular, text.as_bytes()),
        ("zeros", EntryType::Regular, &zeros),
    ]);
    check_refused("x.tar.gz", &gzip(&tar), "bomb");
}

// case 33
#[test]
fn an_encrypted_entry_refuses_the_archive() {
    let zip = zip_of(&[("SKILL.md", manifest("pdf").as_bytes())]);
    // The flag of encryption, in both headers.
    let mut bytes = zip;
    for (signature, offset) in [(&b"PK\x03\x04"[..], 6), (&b"PK\x01\x02"[..], 8)] {
        let at = (0..bytes.len())
            .find(|at| bytes[*at..].starts_with(signature))
            .unwrap();
        bytes[at + offset] |= 1;
    }
    check_refused("x.zip", &bytes, "encrypted");
}

// case 36
#[test]
fn modes_of_an_archive_are_ignored() {
    let bytes = zip_of(&[("SKILL.md", manifest("pdf").as_bytes()), ("run", b"x")]);
    let plain = pack(
        "pdf",
        &read_archive(&bytes, metier_package::ArchiveLimits::default()).unwrap(),
    );
    let user = User::new();
    let odd = user
        .fetch(&typed(&user.write("odd.skill", &bytes)))
        .unwrap();
    let plain = user
        .fetch(&typed(&user.write("plain.skill", plain.unwrap())))
        .unwrap();
    assert_eq!(odd[0].tree, plain[0].tree);
}

#[test]
fn a_git_folder_in_an_archive_refuses_the_skill() {
    let text = manifest("pdf");
    for name in [".git/config", ".GIT/hooks/post-checkout"] {
        let zip = zip_of(&[
            ("pdf/SKILL.md", text.as_bytes()),
            (&format!("pdf/{name}"), b"x"),
        ]);
        check_refused("x.skill", &zip, "which git would obey");
    }
}

#[test]
fn a_signature_beside_an_archive_is_read_with_it() {
    let user = User::new();
    let text = manifest("pdf");
    let bytes = zip_of(&[("pdf/SKILL.md", text.as_bytes())]);
    let path = user.write("pdf.skill", &bytes);
    assert_eq!(user.fetch(&typed(&path)).unwrap()[0].origin.signature, None);
    user.write("pdf.skill.minisig", "untrusted comment: x\n");
    let skill = user.fetch(&typed(&path)).unwrap().remove(0);
    // Both are needed to check it.
    assert_eq!(
        skill.origin.signature.as_deref(),
        Some("untrusted comment: x\n")
    );
    assert_eq!(skill.archive.as_deref(), Some(bytes.as_slice()));
}

#[test]
fn a_file_that_is_not_an_archive_is_refused() {
    check_refused("x.zip", b"hello", "not a zip");
    let user = User::new();
    let path = user.write("x.zip", vec![0; (64 << 20) + 1]);
    let error = user.fetch(&typed(&path)).unwrap_err();
    assert!(matches!(error, FetchError::Archive { .. }), "{error}");
}
