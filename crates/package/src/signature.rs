//! Signatures of packages in the format of minisign: that tool verifies them with the public key.
//!
//! The trusted comment of a signature contains the name of the skill, its version and the digest of its files, and is signed together with
//! the archive: a valid signature of one package is not valid for another. The untrusted comment contains the public key, so that a key can
//! be stored the first time that it is seen.

use std::{fmt, io::Cursor};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use metier_model::Digest;
use minisign::{
    KeyPair as Keys, PublicKeyBox, SecretKey, SecretKeyBox, SignatureBones, SignatureBox,
};

/// The start of the untrusted comment; the public key follows.
const SIGNED_WITH: &str = "metier package, signed with ";

/// A public key, as one line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(minisign::PublicKey);

impl PublicKey {
    /// Parses a key: one line, or a file with a comment above it.
    ///
    /// # Errors
    /// If it is not a key of minisign.
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        let text = text.trim();
        let key = match text.contains('\n') {
            true => PublicKeyBox::from_string(text).and_then(PublicKeyBox::into_public_key),
            false => minisign::PublicKey::from_base64(text),
        };
        key.map(Self).map_err(|_| SignatureError::NotAKey)
    }

    /// The content of a key file.
    #[must_use]
    pub fn to_file(&self) -> String {
        format!("untrusted comment: metier public key\n{self}\n")
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_base64())
    }
}

/// A key to sign with, and the content of both key files.
pub struct KeyPair {
    /// The public key, which others verify signatures with.
    pub public: PublicKey,
    /// The file with the public key.
    pub public_file: String,
    /// The file with the secret key, encrypted if a password was given.
    pub secret_file: String,
}

impl KeyPair {
    /// A new pair, from the randomness of the operating system.
    ///
    /// # Errors
    /// If the system provides no random numbers.
    pub fn generate(password: Option<&str>) -> Result<Self, SignatureError> {
        let keys = match password {
            Some(password) => Keys::generate_encrypted_keypair(Some(password.to_owned())),
            None => Keys::generate_unencrypted_keypair(),
        };
        let keys = keys.map_err(|_| SignatureError::NoRandomness)?;
        let comment = Some("metier secret key");
        let secret = keys
            .sk
            .to_box(comment)
            .map_err(|_| SignatureError::NotAKey)?;
        let public = PublicKey(keys.pk);
        Ok(Self {
            public_file: public.to_file(),
            public,
            secret_file: secret.into_string(),
        })
    }
}

/// The content of a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedPackage {
    /// The name of the skill.
    pub name: String,
    /// The version in its manifest; empty if there is none.
    pub version: String,
    /// The digest of its files.
    pub tree: Digest,
}

impl SignedPackage {
    /// The comment that is signed.
    fn comment(&self) -> String {
        format!("{} {} {}", self.name, self.version, self.tree)
    }
}

/// Whether the secret key in this file is encrypted with a password.
///
/// # Errors
/// If the string is not a secret key.
pub fn needs_password(secret_file: &str) -> Result<bool, SignatureError> {
    const ENCRYPTED: &[u8] = b"Sc";
    // The two bytes after the algorithm name the function that derives a key from the password.
    let bytes = secret_bytes(secret_file)?;
    let function = bytes.get(2..4).ok_or(SignatureError::NotAKey)?;
    Ok(function == ENCRYPTED)
}

/// The second line of a key file.
fn secret_bytes(secret_file: &str) -> Result<Vec<u8>, SignatureError> {
    let line = secret_file.lines().nth(1).ok_or(SignatureError::NotAKey)?;
    let bytes = BASE64_STANDARD.decode(line.trim());
    bytes.map_err(|_| SignatureError::NotAKey)
}

/// Signs an archive; returns the content of the signature file and the public key that verifies it.
///
/// # Errors
/// If the secret key can't be read with this password.
pub fn sign(
    secret_file: &str,
    password: Option<&str>,
    archive: &[u8],
    package: &SignedPackage,
) -> Result<(String, PublicKey), SignatureError> {
    let secret = match password {
        Some(password) => {
            let secret = SecretKeyBox::from_string(secret_file);
            let secret = secret.map_err(|_| SignatureError::NotAKey)?;
            secret.into_secret_key(Some(password.to_owned()))
        }
        None if needs_password(secret_file)? => return Err(SignatureError::WrongPassword),
        // Without encryption minisign writes no checksum, so none is compared: the signature is verified instead.
        None => SecretKey::from_bytes(&secret_bytes(secret_file)?),
    };
    let secret = secret.map_err(|_| SignatureError::WrongPassword)?;
    let public = minisign::PublicKey::from_secret_key(&secret);
    let public = public.map_err(|_| SignatureError::NotAKey)?;
    let signature = minisign::sign(
        Some(&public),
        &secret,
        Cursor::new(archive),
        Some(&package.comment()),
        Some(&format!("{SIGNED_WITH}{}", public.to_base64())),
    );
    let signature = signature.map_err(|_| SignatureError::NotAKey)?;
    Ok((signature.into_string(), PublicKey(public)))
}

/// Whether a string is a signature, valid or not.
#[must_use]
pub fn is_signature(text: &str) -> bool {
    SignatureBox::from_string(text).is_ok()
}

/// The public key that a signature names in its untrusted comment. Nothing is verified.
#[must_use]
pub fn claimed_key(signature: &str) -> Option<PublicKey> {
    let signature = SignatureBox::from_string(signature).ok()?;
    let comment = signature.untrusted_comment().ok()?;
    PublicKey::parse(comment.trim().strip_prefix(SIGNED_WITH)?).ok()
}

/// Checks that this key signed this archive as this package.
///
/// # Errors
/// If the signature is not valid for exactly this key, archive and package.
pub fn verify(
    key: &PublicKey,
    signature: &str,
    archive: &[u8],
    package: &SignedPackage,
) -> Result<(), SignatureError> {
    let signature = read_for(key, signature)?;
    minisign::verify(&key.0, &signature, Cursor::new(archive), true, false, false)
        .map_err(|_| SignatureError::Invalid)?;
    match is_about(&signature, package) {
        // Another tool signed these bytes, which contain the name and the version.
        Err(SignatureError::OtherPackage(comment)) if !is_own(&comment) => Ok(()),
        about => about,
    }
}

/// Whether metier wrote this trusted comment.
fn is_own(comment: &str) -> bool {
    let digest = comment.rsplit(' ').next().unwrap_or_default();
    digest.parse::<Digest>().is_ok()
}

/// Checks that this key signed the name, the version and the digest of this package, without the bytes of the archive.
///
/// The digest covers all files, so this is sufficient where only the files are available.
///
/// # Errors
/// If the signature is not valid for exactly this key, name, version and digest.
pub fn verify_tree(
    key: &PublicKey,
    signature: &str,
    package: &SignedPackage,
) -> Result<(), SignatureError> {
    const PLAIN: &[u8] = b"Ed";
    const HEAD: usize = 10;
    const SIGNATURE: usize = 64;
    let read = read_for(key, signature)?;
    let line = |number| {
        let line = signature.lines().nth(number).unwrap_or_default();
        let bytes = BASE64_STANDARD.decode(line.trim());
        bytes.map_err(|_| SignatureError::NotASignature)
    };
    // The last line signs the signature of the archive together with the trusted comment.
    let (of_archive, of_both) = (line(1)?, line(3)?);
    if of_archive.len() != HEAD + SIGNATURE || of_both.len() != SIGNATURE {
        return Err(SignatureError::NotASignature);
    }
    let signed = [&of_archive[HEAD..], trusted_comment(&read)?.as_bytes()].concat();
    let bones = [PLAIN, key.0.keynum(), &of_both].concat();
    let bones = SignatureBones::from_bytes(&bones).map_err(|_| SignatureError::NotASignature)?;
    minisign::verify(
        &key.0,
        &bones.into(),
        Cursor::new(signed),
        true,
        false,
        true,
    )
    .map_err(|_| SignatureError::Invalid)?;
    is_about(&read, package)
}

/// A signature that this key may have made.
fn read_for(key: &PublicKey, signature: &str) -> Result<SignatureBox, SignatureError> {
    let signature = SignatureBox::from_string(signature);
    let signature = signature.map_err(|_| SignatureError::NotASignature)?;
    match signature.keynum() == key.0.keynum() {
        true => Ok(signature),
        false => Err(SignatureError::OtherKey),
    }
}

fn trusted_comment(signature: &SignatureBox) -> Result<String, SignatureError> {
    let comment = signature.trusted_comment();
    comment.map_err(|_| SignatureError::NotASignature)
}

fn is_about(signature: &SignatureBox, package: &SignedPackage) -> Result<(), SignatureError> {
    let comment = trusted_comment(signature)?;
    match comment == package.comment() {
        true => Ok(()),
        false => Err(SignatureError::OtherPackage(comment)),
    }
}

/// Why a package is not signed, or not by this key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The string is not a key.
    #[error("not a key in the format of minisign")]
    NotAKey,
    /// The secret key is encrypted with another password, or no password was given.
    #[error("the secret key can't be read with this password")]
    WrongPassword,
    /// No key can be generated.
    #[error("the operating system provides no random numbers")]
    NoRandomness,
    /// The string is not a signature.
    #[error("not a signature in the format of minisign")]
    NotASignature,
    /// The signature was made with a key other than the expected one.
    #[error("the package was signed with another key")]
    OtherKey,
    /// The signature does not belong to these bytes.
    #[error("the signature does not match the package")]
    Invalid,
    /// The signature belongs to another skill, version or tree.
    #[error("the signature is for another package: {0}")]
    OtherPackage(String),
}
