//! Signatures of packages, in the format of minisign: anyone can check one with that tool and the public key.
//!
//! The trusted comment of a signature names the skill, its version and the digest of its files, and is signed with the archive: a valid signature of
//! one package can't be passed off as one of another.

use std::{fmt, io::Cursor};

use metier_model::Digest;
use minisign::{KeyPair as Keys, PublicKeyBox, SecretKeyBox, SignatureBox};

/// A public key, as one line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey(minisign::PublicKey);

impl PublicKey {
    /// Reads a key: the one line, or a file with a comment above it.
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
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_base64())
    }
}

/// A key to sign with, and the text of both key files.
pub struct KeyPair {
    /// The public key.
    pub public: PublicKey,
    /// The file for others.
    pub public_file: String,
    /// The file to keep, encrypted if a password was given.
    pub secret_file: String,
}

impl KeyPair {
    /// A new pair, from the randomness of the operating system.
    ///
    /// # Errors
    /// If the system has no randomness.
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
        let public = keys.pk.to_box().map_err(|_| SignatureError::NotAKey)?;
        Ok(Self {
            public: PublicKey(keys.pk),
            public_file: public.into_string(),
            secret_file: secret.into_string(),
        })
    }
}

/// What a signature is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedPackage {
    /// The name of the skill.
    pub name: String,
    /// Its version, as its manifest states it; empty if it states none.
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

/// Signs an archive; the text of the signature file.
///
/// # Errors
/// If the secret key can't be read with this password.
pub fn sign(
    secret_file: &str,
    password: Option<&str>,
    archive: &[u8],
    package: &SignedPackage,
) -> Result<String, SignatureError> {
    let secret = SecretKeyBox::from_string(secret_file).map_err(|_| SignatureError::NotAKey)?;
    let secret = match password {
        Some(password) => secret.into_secret_key(Some(password.to_owned())),
        None => secret.into_unencrypted_secret_key(),
    };
    let secret = secret.map_err(|_| SignatureError::WrongPassword)?;
    let comment = package.comment();
    let signature = minisign::sign(
        None,
        &secret,
        Cursor::new(archive),
        Some(&comment),
        Some("signature of a metier package"),
    );
    let signature = signature.map_err(|_| SignatureError::NotAKey)?;
    Ok(signature.into_string())
}

/// Checks that this key signed this archive as this package.
///
/// # Errors
/// If it didn't.
pub fn verify(
    key: &PublicKey,
    signature: &str,
    archive: &[u8],
    package: &SignedPackage,
) -> Result<(), SignatureError> {
    let signature =
        SignatureBox::from_string(signature).map_err(|_| SignatureError::NotASignature)?;
    if signature.keynum() != key.0.keynum() {
        return Err(SignatureError::OtherKey);
    }
    minisign::verify(&key.0, &signature, Cursor::new(archive), true, false, false)
        .map_err(|_| SignatureError::Invalid)?;
    let comment = signature
        .trusted_comment()
        .map_err(|_| SignatureError::NotASignature)?;
    match comment == package.comment() {
        true => Ok(()),
        false => Err(SignatureError::OtherPackage(comment)),
    }
}

/// Why a package is not signed, or not by this key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The text is not a key.
    #[error("not a key in the format of minisign")]
    NotAKey,
    /// The secret key is encrypted with another password, or with one at all.
    #[error("the secret key can't be read with this password")]
    WrongPassword,
    /// No key can be made.
    #[error("the operating system provides no random numbers")]
    NoRandomness,
    /// The text is not a signature.
    #[error("not a signature in the format of minisign")]
    NotASignature,
    /// Another key signed.
    #[error("the package was signed with another key")]
    OtherKey,
    /// The signature does not belong to these bytes.
    #[error("the signature does not match the package")]
    Invalid,
    /// The signature belongs to another skill, version or tree.
    #[error("the signature is for another package: {0}")]
    OtherPackage(String),
}
