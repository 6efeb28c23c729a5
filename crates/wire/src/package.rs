//! Packages of skills, keys and signatures.

use serde::Serialize;

/// `pack --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackDocument {
    /// Name of the skill.
    pub name: String,
    /// Version in its manifest.
    pub version: Option<String>,
    /// Path of the package.
    pub file: String,
    /// Path of the bill of materials, if it was requested.
    pub sbom: Option<String>,
    /// The files in the package.
    pub files: Vec<PackedFileRow>,
    /// Files of the folder that are not in the package.
    pub left_out: Vec<String>,
    /// Size of the package in bytes.
    pub size: usize,
    /// Digest of the files.
    pub tree: String,
    /// Digest of the package.
    pub archive: String,
    /// Whether the package was written; `false` for a dry run, and if the file already had this content.
    pub written: bool,
}

/// A file in a package.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackedFileRow {
    /// Path of the file in the skill's folder.
    pub path: String,
    /// Size of the file in bytes.
    pub size: u64,
}

/// `keygen --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyDocument {
    /// The public key; `null` if none was made because of `--dry-run`.
    pub key: Option<String>,
    /// Path of the file with the secret key.
    pub secret: String,
    /// Path of the file with the public key.
    pub public: String,
    /// Whether the secret key is encrypted with a password.
    pub encrypted: bool,
}

/// `sign --json` and `verify-signature --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignatureDocument {
    /// Name of the skill.
    pub name: String,
    /// Version in its manifest; empty if there is none.
    pub version: String,
    /// Digest of the files.
    pub tree: String,
    /// Path of the signature.
    pub signature: String,
    /// The public key of the signer.
    pub key: String,
    /// Whether something was written: the signature by `sign`, the known signer by `verify-signature --trust`.
    pub written: bool,
}
