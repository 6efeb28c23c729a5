//! Signatures.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use metier_package::{
    KeyPair, PublicKey, SignatureError, SignedPackage, claimed_key, needs_password, sign, verify,
    verify_tree,
};
use metier_testkit::{needed, needs};

fn package() -> SignedPackage {
    SignedPackage {
        name: "pdf".to_owned(),
        version: "1.0.0".to_owned(),
        tree: metier_model::Digest([1; 32]),
    }
}

#[test]
fn a_signature_belongs_to_one_key_one_archive_and_one_package() {
    let keys = KeyPair::generate(None).unwrap();
    let archive = b"the bytes";
    let (signature, signer) = sign(&keys.secret_file, None, archive, &package()).unwrap();
    assert_eq!(signer, keys.public);
    assert_eq!(claimed_key(&signature), Some(signer));
    let check = |bytes: &[u8], package: &SignedPackage, key: &PublicKey| {
        verify(key, &signature, bytes, package)
    };
    assert_eq!(check(archive, &package(), &keys.public), Ok(()));
    assert_eq!(
        check(b"the bytez", &package(), &keys.public),
        Err(SignatureError::Invalid)
    );
    let other = KeyPair::generate(None).unwrap();
    assert_eq!(
        check(archive, &package(), &other.public),
        Err(SignatureError::OtherKey)
    );
    let mut renamed = package();
    renamed.name = "pdf-pro".to_owned();
    assert!(matches!(
        check(archive, &renamed, &keys.public),
        Err(SignatureError::OtherPackage(_))
    ));
}

#[test]
fn the_comment_can_not_be_changed() {
    let keys = KeyPair::generate(None).unwrap();
    let (signature, _) = sign(&keys.secret_file, None, b"x", &package()).unwrap();
    let forged = signature.replace("pdf 1.0.0", "pdf 2.0.0");
    assert_ne!(forged, signature);
    let mut newer = package();
    newer.version = "2.0.0".to_owned();
    assert_eq!(
        verify(&keys.public, &forged, b"x", &newer),
        Err(SignatureError::Invalid)
    );
    assert_eq!(
        verify_tree(&keys.public, &forged, &newer),
        Err(SignatureError::Invalid)
    );
}

#[test]
fn a_signature_is_checked_without_the_archive() {
    let keys = KeyPair::generate(None).unwrap();
    let (signature, _) = sign(&keys.secret_file, None, b"archive", &package()).unwrap();
    assert_eq!(verify_tree(&keys.public, &signature, &package()), Ok(()));
    let mut other = package();
    other.tree = metier_model::Digest([2; 32]);
    assert!(matches!(
        verify_tree(&keys.public, &signature, &other),
        Err(SignatureError::OtherPackage(_))
    ));
    let stranger = KeyPair::generate(None).unwrap();
    assert_eq!(
        verify_tree(&stranger.public, &signature, &package()),
        Err(SignatureError::OtherKey)
    );
    // One changed character in any line but the first: refused, or not a signature any more.
    for (number, line) in signature.lines().enumerate().skip(1) {
        for at in 0..line.len() {
            let mut bytes = line.as_bytes().to_vec();
            bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(bytes).unwrap();
            let text: Vec<&str> = signature
                .lines()
                .enumerate()
                .map(|(index, line)| match index == number {
                    true => changed.as_str(),
                    false => line,
                })
                .collect();
            let text = text.join("\n");
            assert!(
                verify_tree(&keys.public, &text, &package()).is_err(),
                "{text}"
            );
        }
    }
}

/// The program itself, which asks for passwords only on a terminal.
fn minisign(program: &Path, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn minisign_verifies_our_signatures_and_we_verify_its() {
    let program = needed!(needs::program("minisign"));
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let run = |arguments: &[&str]| minisign(&program, folder.path(), arguments);
    write("pdf.skill", "the bytes");

    let keys = KeyPair::generate(None).unwrap();
    let (signature, _) = sign(&keys.secret_file, None, b"the bytes", &package()).unwrap();
    write("pdf.skill.minisig", &signature);
    write("our.pub", &keys.public_file);
    let verified = run(&["-V", "-m", "pdf.skill", "-p", "our.pub"]);
    assert!(verified.status.success(), "{verified:?}");
    let shown = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(shown.contains("pdf 1.0.0 sha256:0101"), "{shown}");
    write("pdf.skill", "other bytes");
    assert!(
        !run(&["-V", "-m", "pdf.skill", "-p", "our.pub"])
            .status
            .success()
    );
    write("pdf.skill", "the bytes");

    // Our secret key also signs in the other program.
    write("our.key", &keys.secret_file);
    let signed = run(&[
        "-S",
        "-m",
        "pdf.skill",
        "-s",
        "our.key",
        "-x",
        "with-our-key.minisig",
    ]);
    assert!(signed.status.success(), "{signed:?}");
    let theirs = read("with-our-key.minisig");
    assert_eq!(
        verify(&keys.public, &theirs, b"the bytes", &package()),
        Ok(())
    );
    assert_eq!(claimed_key(&theirs), None);

    let made = run(&["-G", "-W", "-p", "their.pub", "-s", "their.key"]);
    assert!(made.status.success(), "{made:?}");
    let comment =
        "pdf 1.0.0 sha256:0101010101010101010101010101010101010101010101010101010101010101";
    let signed = run(&[
        "-S",
        "-m",
        "pdf.skill",
        "-s",
        "their.key",
        "-x",
        "theirs.minisig",
        "-t",
        comment,
    ]);
    assert!(signed.status.success(), "{signed:?}");
    let key = PublicKey::parse(&read("their.pub")).unwrap();
    let theirs = read("theirs.minisig");
    assert_eq!(verify(&key, &theirs, b"the bytes", &package()), Ok(()));
    assert_eq!(verify_tree(&key, &theirs, &package()), Ok(()));
    assert_eq!(
        verify(&key, &theirs, b"other", &package()),
        Err(SignatureError::Invalid)
    );
    assert_eq!(
        verify(&keys.public, &theirs, b"the bytes", &package()),
        Err(SignatureError::OtherKey)
    );
    assert_eq!(needs_password(&read("their.key")), Ok(false));
    let (ours, _) = sign(&read("their.key"), None, b"the bytes", &package()).unwrap();
    assert_eq!(verify(&key, &ours, b"the bytes", &package()), Ok(()));
}

#[test]
fn a_secret_key_can_have_a_password() {
    let keys = KeyPair::generate(Some("open sesame")).unwrap();
    let with = |password| sign(&keys.secret_file, password, b"x", &package());
    assert_eq!(with(None), Err(SignatureError::WrongPassword));
    assert_eq!(with(Some("no")), Err(SignatureError::WrongPassword));
    assert_eq!(needs_password(&keys.secret_file), Ok(true));
    let (signature, _) = with(Some("open sesame")).unwrap();
    assert_eq!(verify(&keys.public, &signature, b"x", &package()), Ok(()));
}

#[test]
fn keys_are_read_as_a_line_or_as_a_file() {
    let keys = KeyPair::generate(None).unwrap();
    assert_eq!(PublicKey::parse(&keys.public_file), Ok(keys.public.clone()));
    assert_eq!(
        PublicKey::parse(&keys.public.to_string()),
        Ok(keys.public.clone())
    );
    assert_eq!(PublicKey::parse("nonsense"), Err(SignatureError::NotAKey));
    assert_eq!(
        verify(&keys.public, "nonsense", b"x", &package()),
        Err(SignatureError::NotASignature)
    );
}
