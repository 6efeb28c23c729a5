//! Packages: the same bytes everywhere, and readable by other tools.

use std::{fs, process::Command};

use metier_package::{
    ArchiveLimits, PackageFile, PackagePath, PackageTree, is_left_out, pack, read_archive,
};
use metier_testkit::{needed, needs};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

fn tree(files: &[(&str, &[u8])]) -> PackageTree {
    let file = |(path, bytes): &(&str, &[u8])| PackageFile {
        path: PackagePath::new(path.as_bytes()).unwrap(),
        bytes: bytes.to_vec(),
    };
    PackageTree::new(files.iter().map(file).collect()).unwrap()
}

fn sample() -> PackageTree {
    let text = b"---\nname: pdf\ndescription: Reads PDF files.\n---\n".repeat(40);
    let noise: Vec<u8> = (0..5000u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 11) as u8)
        .collect();
    tree(&[
        ("SKILL.md", &text),
        ("assets/noise.bin", &noise),
        ("empty", b""),
        ("références/été.md", b"x"),
    ])
}

/// The digest of the package on every machine. It changes only if the format or the compressor does; packages of the versions before then
/// have other bytes.
#[test]
fn the_bytes_are_the_same_on_every_machine() {
    let packed = pack("pdf", &sample()).unwrap();
    let digest: String = Sha256::digest(&packed)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(
        digest,
        "4811107a93231acb102277778be9984ecbe978712e34ee654c62c08896486373"
    );
}

#[test]
fn python_unpacks_a_package_into_one_folder() {
    let python = needed!(needs::program("python3"));
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("pdf.skill"),
        pack("pdf", &sample()).unwrap(),
    )
    .unwrap();
    let unpack = "import zipfile\nwith zipfile.ZipFile('pdf.skill') as z:\n  assert z.testzip() is None\n  \
        assert all(n.startswith('pdf/') for n in z.namelist())\n  z.extractall('out')\n";
    let done = Command::new(python)
        .args(["-c", unpack])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    for file in sample().files() {
        let path = folder.path().join("out/pdf").join(file.path.as_str());
        assert_eq!(fs::read(path).unwrap(), file.bytes, "{}", file.path);
    }
}

#[test]
fn output_of_tools_and_earlier_packages_are_left_out() {
    for path in [
        "__pycache__/x.pyc",
        "scripts/__pycache__/deep/x.txt",
        "node_modules/.bin/tool",
        "a/node_modules/x",
        "x.pyc",
        ".DS_Store",
        "assets/.DS_Store",
        "evals/evals.json",
        "SKILL.schema.json",
        "pdf.skill",
        "pdf.skill.minisig",
        "pdf.skill.cdx.json",
    ] {
        assert!(is_left_out(path), "{path}");
    }
    for path in [
        "SKILL.md",
        "node_modules",
        "scripts/evals/x",
        "evals",
        "x.py",
        "assets/pdf.skill",
        "references/skill",
        "x.cdx.json",
    ] {
        assert!(!is_left_out(path), "{path}");
    }
}

proptest! {
    #[test]
    fn every_tree_is_read_as_it_was_packed(files in proptest::collection::btree_map("[a-z]{1,8}(/[a-zé]{1,4})?", proptest::collection::vec(any::<u8>(), 0..200), 0..6)) {
        let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        // `con` is the name of a device.
        let entries = files.iter().filter_map(|(path, bytes)| {
            let path = PackagePath::new(path.as_bytes()).ok()?;
            Some(PackageFile { path, bytes: bytes.to_vec() })
        });
        // `a` with `a/b` is a file and a folder.
        let tree = PackageTree::new(entries.collect());
        prop_assume!(tree.is_ok());
        let tree = tree.unwrap();
        let packed = pack("skill", &tree).unwrap();
        let read = read_archive(&packed, ArchiveLimits::default()).unwrap();
        prop_assert_eq!(read.below("skill"), tree);
    }
}
