//! Malformed archives, and correct ones.

use std::io::{Cursor, Write};

use metier_package::{
    ArchiveError, ArchiveLimits, PackageFile, PackagePath, PackageTree, TreeError, pack,
    read_archive,
};
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};
use zip::{ZipWriter, write::SimpleFileOptions};

const SKILL: &[u8] = b"---\nname: pdf\ndescription: Reads PDF files.\n---\nHello.\n";

fn read(bytes: &[u8]) -> Result<PackageTree, ArchiveError> {
    read_archive(bytes, ArchiveLimits::default())
}

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Replaces all occurrences, or only the one at an index.
fn patched(bytes: &[u8], from: &[u8], to: &[u8], only: Option<usize>) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> = bytes
        .windows(from.len())
        .enumerate()
        .filter_map(|(at, window)| (window == from).then_some(at))
        .collect();
    assert!(!places.is_empty());
    for (index, at) in places.into_iter().enumerate() {
        if only.is_none_or(|only| only == index) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

fn tar_header(path: &str, kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_ustar();
    // The name is written unchanged: `set_path` would refuse the tested one.
    let field = &mut header.as_old_mut().name;
    field[..path.len()].copy_from_slice(path.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

fn tar_of(entries: &[(&str, EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(Vec::new());
    for (path, kind, content) in entries {
        let header = tar_header(path, *kind, content.len() as u64);
        builder.append(&header, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn every_format_gives_the_same_tree() {
    let tree = PackageTree::new(vec![
        PackageFile {
            path: PackagePath::new(b"SKILL.md").unwrap(),
            bytes: SKILL.to_vec(),
        },
        PackageFile {
            path: PackagePath::new(b"scripts/run.sh").unwrap(),
            bytes: b"echo hi\n".to_vec(),
        },
    ])
    .unwrap();
    let tar = tar_of(&[
        ("scripts/", EntryType::Directory, b""),
        ("scripts/run.sh", EntryType::Regular, b"echo hi\n"),
        ("./SKILL.md", EntryType::Regular, SKILL),
    ]);
    let zst = ruzstd::encoding::compress_to_vec(
        tar.as_slice(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let zip = zip_of(&[("SKILL.md", SKILL), ("scripts/run.sh", b"echo hi\n")]);
    let packed = pack("pdf", &tree).unwrap();
    for archive in [tar.clone(), gzip(&tar), zst, zip, packed] {
        let read = read(&archive).unwrap().only_skill().unwrap();
        assert_eq!(read, tree);
        assert_eq!(read.digest(), tree.digest());
    }
}

#[test]
fn packing_is_reproducible() {
    let tree = read(&zip_of(&[("SKILL.md", SKILL), ("b", b"2"), ("a", b"1")])).unwrap();
    let one = pack("pdf", &tree).unwrap();
    assert_eq!(one, pack("pdf", &tree).unwrap());
    assert_eq!(pack("pdf", &read(&one).unwrap().below("pdf")).unwrap(), one);
}

// case 23, 34
#[test]
fn a_zip_that_leads_out_is_refused() {
    for name in [
        "../x",
        "/abs",
        "C:\\x",
        "..\\x",
        "a/../../b",
        "a\nb",
        "a\u{202e}b",
    ] {
        let archive = zip_of(&[("SKILL.md", SKILL), (name, b"x")]);
        assert!(
            matches!(read(&archive), Err(ArchiveError::Path(_))),
            "{name:?}"
        );
    }
}

// case 24
#[test]
fn a_zip_with_a_link_is_refused() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer
        .add_symlink("up", "/etc", SimpleFileOptions::default())
        .unwrap();
    let archive = writer.finish().unwrap().into_inner();
    assert_eq!(read(&archive), Err(ArchiveError::Link("up".into())));
}

// case 28
#[test]
fn a_zip_whose_headers_disagree_is_refused() {
    let archive = zip_of(&[("SKILL.md", SKILL), ("safe.sh", b"echo safe")]);
    for only in [0, 1] {
        let lying = patched(&archive, b"safe.sh", b"evil.sh", Some(only));
        let error = read(&lying).unwrap_err();
        assert!(matches!(error, ArchiveError::Ambiguous(_)), "{error}");
    }
}

// case 29, 30
#[test]
fn names_that_are_there_twice_are_refused() {
    let archive = zip_of(&[("a.md", b"one"), ("b.md", b"two")]);
    let twice = patched(&archive, b"b.md", b"a.md", None);
    assert!(read(&twice).is_err());
    let tar = tar_of(&[
        ("a.md", EntryType::Regular, b"one"),
        ("a.md", EntryType::Regular, b"two"),
    ]);
    assert_eq!(read(&tar), Err(TreeError::Duplicate("a.md".into()).into()));
    let collision = zip_of(&[("A.md", b"one"), ("a.md", b"two")]);
    assert!(matches!(
        read(&collision),
        Err(ArchiveError::Tree(TreeError::Collision { .. }))
    ));
}

// case 33
#[test]
fn encrypted_entries_are_refused() {
    let archive = zip_of(&[("SKILL.md", SKILL)]);
    // Bit 0 of the flags, in the local header (offset 6) and in the central one (offset 8).
    let central = archive
        .windows(4)
        .position(|window| window == b"PK\x01\x02")
        .unwrap();
    let mut encrypted = archive;
    encrypted[6] |= 1;
    encrypted[central + 8] |= 1;
    assert_eq!(
        read(&encrypted),
        Err(ArchiveError::Encrypted("SKILL.md".into()))
    );
}

// case 32
#[test]
fn data_around_an_archive_is_refused() {
    let zip = zip_of(&[("SKILL.md", SKILL)]);
    let tar = tar_of(&[("SKILL.md", EntryType::Regular, SKILL)]);
    let gz = gzip(&tar);
    for archive in [
        [zip.as_slice(), b"more"].concat(),
        [b"PKjunk", zip.as_slice()].concat(),
        [gz.as_slice(), b"more"].concat(),
        [gz.as_slice(), gz.as_slice()].concat(),
        [tar.as_slice(), b"more"].concat(),
        [tar.as_slice(), tar.as_slice()].concat(),
    ] {
        let error = read(&archive).unwrap_err();
        assert!(
            matches!(error, ArchiveError::Trailing | ArchiveError::Damaged(_)),
            "{error}"
        );
    }
    assert_eq!(read(b"%PDF-1.7"), Err(ArchiveError::Unknown));
}

// case 31
#[test]
fn bombs_are_refused() {
    let zeros = vec![0u8; 4 << 20];
    let zip = zip_of(&[("SKILL.md", SKILL), ("zeros", &zeros)]);
    assert_eq!(read(&zip), Err(ArchiveError::Bomb));
    let tar = tar_of(&[("zeros", EntryType::Regular, &zeros)]);
    assert_eq!(read(&gzip(&tar)), Err(ArchiveError::Bomb));
    let many: Vec<(String, Vec<u8>)> = (0..4)
        .map(|index| (format!("f{index}"), vec![0; 1 << 20]))
        .collect();
    let many: Vec<(&str, &[u8])> = many
        .iter()
        .map(|(name, content)| (name.as_str(), content.as_slice()))
        .collect();
    assert_eq!(read(&zip_of(&many)), Err(ArchiveError::Bomb));
}

// case 31
#[test]
fn limits_hold() {
    let limits = ArchiveLimits {
        packed: 4 << 20,
        unpacked: 2 << 20,
        file: 1 << 20,
        entries: 3,
        ratio: 100,
    };
    let noise: Vec<u8> = (0..(1u32 << 20) + 1)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let refused = |archive: &[u8]| read_archive(archive, limits).unwrap_err();
    assert!(matches!(
        refused(&zip_of(&[("big", &noise)])),
        ArchiveError::FileTooLarge { .. }
    ));
    let four: Vec<(&str, &[u8])> = vec![("a", b""), ("b", b""), ("c", b""), ("d", b"")];
    assert_eq!(refused(&zip_of(&four)), ArchiveError::TooMany { limit: 3 });
    let part = &noise[..900 << 10];
    let three = zip_of(&[("a", part), ("b", part), ("c", part)]);
    assert_eq!(refused(&three), ArchiveError::Bomb);
    assert!(matches!(
        refused(&vec![0; (4 << 20) + 1]),
        ArchiveError::TooLarge { .. }
    ));
}

// case 23, 25, 26, 35
#[test]
fn links_devices_and_extensions_of_tar_are_refused() {
    let cases = [
        (EntryType::Symlink, "is a link"),
        (EntryType::Link, "is a link"),
        (EntryType::Char, "is a device"),
        (EntryType::Block, "is a device"),
        (EntryType::Fifo, "is a pipe"),
        (EntryType::GNUSparse, "is a sparse file"),
        (EntryType::GNULongName, "long name"),
        (EntryType::GNULongLink, "long name"),
        (EntryType::Continuous, "unknown kind"),
        (EntryType::new(b'Z'), "unknown kind"),
    ];
    for (kind, expected) in cases {
        let archive = tar_of(&[("SKILL.md", EntryType::Regular, SKILL), ("odd", kind, b"")]);
        let error = read(&archive).unwrap_err().to_string();
        assert!(error.contains(expected), "{kind:?}: {error}");
    }
    for name in ["../x", "/abs", "a/../../b"] {
        let archive = tar_of(&[(name, EntryType::Regular, b"x")]);
        assert!(
            matches!(read(&archive), Err(ArchiveError::Path(_))),
            "{name}"
        );
    }
}

// case 27
#[test]
fn extended_headers_set_paths_and_nothing_else() {
    let record = |key: &str, value: &str| {
        let rest = format!(" {key}={value}\n");
        let mut length = rest.len() + 1;
        while length != rest.len() + length.to_string().len() {
            length = rest.len() + length.to_string().len();
        }
        format!("{length}{rest}").into_bytes()
    };
    let with = |kind: EntryType, header: &[u8]| {
        read(&tar_of(&[
            ("pax", kind, header),
            ("short", EntryType::Regular, b"x"),
        ]))
    };
    let long = format!("{}/{}", "d".repeat(120), "f".repeat(120));
    let tree = with(EntryType::XHeader, &record("path", &long)).unwrap();
    assert_eq!(tree.get(&long), Some(b"x".as_slice()));
    assert!(with(EntryType::XHeader, &record("mtime", "1.5")).is_ok());
    assert!(with(EntryType::XGlobalHeader, &record("comment", "abc")).is_ok());
    for (kind, header) in [
        (EntryType::XHeader, record("size", "512")),
        (EntryType::XHeader, record("linkpath", "/etc")),
        (EntryType::XHeader, record("GNU.sparse.name", "x")),
        (EntryType::XHeader, b"99 path=x\n".to_vec()),
        (EntryType::XHeader, b"path=x\n".to_vec()),
        (EntryType::XGlobalHeader, record("path", "x")),
        (
            EntryType::XHeader,
            [record("path", "a"), record("path", "b")].concat(),
        ),
    ] {
        let error = with(kind, &header).unwrap_err();
        assert!(matches!(error, ArchiveError::Ambiguous(_)), "{error}");
    }
    let alone = tar_of(&[("pax", EntryType::XHeader, &record("path", "x"))]);
    assert!(read(&alone).is_err());
}

// case 36
#[test]
fn modes_and_owners_are_ignored() {
    let plain = tar_of(&[("run.sh", EntryType::Regular, b"x")]);
    let mut header = tar_header("run.sh", EntryType::Regular, 1);
    header.set_mode(0o6777);
    header.set_uid(0);
    header.set_gid(0);
    header.set_cksum();
    let mut builder = Builder::new(Vec::new());
    builder.append(&header, &b"x"[..]).unwrap();
    let privileged = builder.into_inner().unwrap();
    assert_ne!(plain, privileged);
    assert_eq!(read(&plain), read(&privileged));
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().unix_permissions(0o4777);
    writer.start_file("run.sh", options).unwrap();
    writer.write_all(b"x").unwrap();
    let zip = writer.finish().unwrap().into_inner();
    assert_eq!(read(&zip), read(&plain));
}

// case 29, 30
#[test]
fn a_folder_with_the_path_of_a_file_is_refused() {
    let refused = |first: &str, second: &str| {
        let kind = |name: &str| match name.ends_with('/') {
            true => EntryType::Directory,
            false => EntryType::Regular,
        };
        let archive = tar_of(&[(first, kind(first), b""), (second, kind(second), b"")]);
        matches!(
            read(&archive),
            Err(ArchiveError::Tree(
                TreeError::FileAndFolder(_) | TreeError::Collision { .. }
            ))
        )
    };
    assert!(refused("a", "a/"));
    assert!(refused("a", "A/"));
    assert!(refused("a", "a/b/"));
    assert!(refused("A/", "a/b"));
    assert!(!refused("a/", "a/b"));
}

#[test]
fn a_part_of_an_archive_is_none() {
    let tar = tar_of(&[("SKILL.md", EntryType::Regular, SKILL)]);
    let zip = zip_of(&[("SKILL.md", SKILL), ("b", b"2")]);
    for archive in [&zip, &gzip(&tar)] {
        for length in 0..archive.len() {
            assert!(read(&archive[..length]).is_err(), "{length}");
        }
    }
    // A tar archive ends with blocks of zeros: without them it may be a part of one.
    for length in 0..2 * 512 {
        assert!(read(&tar[..length]).is_err(), "{length}");
    }
}

proptest! {
    /// One changed byte: refused, or only the time of a file changed. It never panics, and never returns another tree.
    #[test]
    fn a_changed_byte_changes_nothing_in_silence(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let original = zip_of(&[("SKILL.md", SKILL), ("scripts/run.sh", b"echo hi\n")]);
        let mut changed = original.clone();
        let at = at.index(changed.len());
        changed[at] = byte;
        if let Ok(tree) = read(&changed) {
            prop_assert_eq!(tree, read(&original).unwrap());
        }
    }

    #[test]
    fn no_bytes_make_it_panic(kind in 0usize..4, bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let magic: &[u8] = [b"PK\x03\x04".as_slice(), &[0x1f, 0x8b, 8, 0], &[0x28, 0xb5, 0x2f, 0xfd], b""][kind];
        let _ = read(&[magic, &bytes].concat());
    }
}
