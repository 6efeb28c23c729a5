//! Signatures.

use metier_package::{KeyPair, PublicKey, SignatureError, SignedPackage, sign, verify};

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
    let signature = sign(&keys.secret_file, None, archive, &package()).unwrap();
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
    let signature = sign(&keys.secret_file, None, b"x", &package()).unwrap();
    let forged = signature.replace("pdf 1.0.0", "pdf 2.0.0");
    assert_ne!(forged, signature);
    let mut newer = package();
    newer.version = "2.0.0".to_owned();
    assert_eq!(
        verify(&keys.public, &forged, b"x", &newer),
        Err(SignatureError::Invalid)
    );
}

#[test]
fn a_secret_key_can_have_a_password() {
    let keys = KeyPair::generate(Some("open sesame")).unwrap();
    let with = |password| sign(&keys.secret_file, password, b"x", &package());
    assert_eq!(with(None), Err(SignatureError::WrongPassword));
    assert_eq!(with(Some("no")), Err(SignatureError::WrongPassword));
    let signature = with(Some("open sesame")).unwrap();
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
