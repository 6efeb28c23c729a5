//! Keys, signatures of packages, and the signers that are known.
//!
//! A signer is remembered per skill when a signature of that skill is trusted for the first time. From then on another signer of the same
//! skill is refused until the user decides. The keys are files in the data folder, one for each skill, in the format of minisign.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
};

use metier_model::{FileText, Files, Strictness, name::departures, text::shell_word};
use metier_package::{
    ArchiveLimits, KeyPair, PackageTree, SIGNATURE_EXTENSION, SignatureError, claimed_key,
    needs_password, read_archive, sign, verify,
};

pub use metier_package::{PublicKey, SignedPackage};

use super::package_files::{beside, is_different, read_file, unwritten, write_new, write_whole};
use crate::{Error, NoticeLevel, Workspace};

/// The largest key or signature file.
const MAX_TEXT: usize = 64 << 10;

/// A key that was generated.
///
/// [`Workspace::generate_key`] returns it and has an example.
#[derive(Clone, Debug)]
pub struct GeneratedKey {
    /// The file with the secret key.
    pub secret: PathBuf,
    /// The file with the public key.
    pub public: PathBuf,
    /// The public key.
    pub key: PublicKey,
    /// Whether the secret key is encrypted.
    pub is_encrypted: bool,
}

/// A package with a signature.
///
/// [`Workspace::sign_package`] and [`Workspace::verify_package`] return it, each with an example.
#[derive(Clone, Debug)]
pub struct SignedFile {
    /// The skill, its version and the digest of its files.
    pub package: SignedPackage,
    /// The file with the signature.
    pub signature: PathBuf,
    /// The key that signed.
    pub key: PublicKey,
    /// Whether something was written: the signature when signing, the known signer when verifying.
    pub is_written: bool,
}

/// Options of a signature: by default with the key in the data folder.
///
/// An example is at [`Workspace::sign_package`].
#[derive(Clone, Debug, Default)]
pub struct SignOptions {
    /// The secret key, if it is not the user's usual one.
    pub key: Option<PathBuf>,
    /// Replace another signature.
    pub replace: bool,
    /// Sign, and write nothing.
    pub dry_run: bool,
}

impl Workspace {
    /// The files that [`Workspace::generate_key`] would write: the secret key and the public one. Nothing is written.
    ///
    /// The example of [`Workspace::generate_key`] calls it.
    ///
    /// # Errors
    /// When there is a file already.
    pub fn check_key_files(&self, file: Option<&Path>) -> Result<(PathBuf, PathBuf), Error> {
        let secret = self.secret_key_path(file)?;
        let public = beside(&secret, "pub");
        for path in [&secret, &public] {
            if path.symlink_metadata().is_ok() {
                return Err(taken_key(path));
            }
        }
        Ok((secret, public))
    }

    /// Generates a key to sign packages with. The secret key is written to this file, or to the data folder; the public key next to it.
    /// With a password the secret key is encrypted.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let (secret, public) = workspace.check_key_files(None)?;
    /// println!("it will write {} and {}", secret.display(), public.display());
    /// let generated = workspace.generate_key(None, Some("a long password"))?;
    /// println!("the public key is {}", generated.key);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When there is a file already: a key is never replaced.
    pub fn generate_key(
        &self,
        file: Option<&Path>,
        password: Option<&str>,
    ) -> Result<GeneratedKey, Error> {
        let secret = self.secret_key_path(file)?;
        let public = beside(&secret, "pub");
        let keys =
            KeyPair::generate(password).map_err(|error| Error::broken("key", error.to_string()))?;
        if file.is_none()
            && let Some(folder) = secret.parent()
        {
            make_private(folder).map_err(|error| Error::unwritable(folder, &error))?;
        }
        let taken = |path: &Path, error: &io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => taken_key(path),
            _ => unwritten(path, error),
        };
        write_new(&secret, keys.secret_file.as_bytes(), 0o600)
            .map_err(|error| taken(&secret, &error))?;
        if let Err(error) = write_new(&public, keys.public_file.as_bytes(), 0o644) {
            // A secret key whose public key could not be written is useless, so it is removed again.
            let _half = fs::remove_file(&secret);
            return Err(taken(&public, &error));
        }
        Ok(GeneratedKey {
            secret,
            public,
            key: keys.public,
            is_encrypted: password.is_some(),
        })
    }

    /// Signs a package; the signature is written next to it. `password` is called if the secret key is encrypted.
    ///
    /// ```no_run
    /// use metier::distribution::{packages::PackOptions, signing::SignOptions};
    ///
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let packed = workspace.pack("skills/pdf", &PackOptions::default())?;
    /// let options = SignOptions::default();
    /// let signed = workspace.sign_package(&packed.file, &options, &mut || Ok("the password of the key".to_owned()))?;
    /// println!("{}: {} signed it", signed.signature.display(), signed.key);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the package or the key can't be read, or when there is another signature already.
    pub fn sign_package(
        &self,
        file: &Path,
        options: &SignOptions,
        password: &mut dyn FnMut() -> Result<String, Error>,
    ) -> Result<SignedFile, Error> {
        let file = self.machine.work.join(file);
        let (bytes, package) = read_package(&file)?;
        let secret = self.secret_key_path(options.key.as_deref())?;
        let text = read_text(&secret).map_err(|error| match error.code() {
            "not-found" => Error::unmet("no-key", "there is no key to sign with")
                .path(&secret)
                .hint("create one with `metier keygen`, or name one with `--key`"),
            _ => error,
        })?;
        let key_error = |error: SignatureError| {
            let error = Error::unmet("key", error.to_string()).path(&secret);
            error.hint("check the file and its password")
        };
        let password = match needs_password(&text).map_err(key_error)? {
            true => Some(password()?),
            false => None,
        };
        let signed = sign(&text, password.as_deref(), &bytes, &package);
        let (text, key) = signed.map_err(key_error)?;
        let signature = beside(&file, SIGNATURE_EXTENSION);
        let is_signed =
            read_text(&signature).is_ok_and(|there| verify(&key, &there, &bytes, &package).is_ok());
        let (text, replace) = (text.as_bytes(), options.replace);
        let is_written = match (is_signed, options.dry_run) {
            (true, _) => false,
            (false, true) => is_different(&signature, text, replace)?,
            (false, false) => write_whole(&signature, text, replace)?,
        };
        if !options.dry_run {
            self.note_own_signature(&package.name, &key)?;
        }
        Ok(SignedFile {
            package,
            signature,
            key,
            is_written,
        })
    }

    /// Verifies the signature of a package with this key, or with the signer that is known for the skill. With `remember`, the key becomes
    /// the known signer.
    ///
    /// ```no_run
    /// # use std::path::Path;
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// let key = workspace.public_key("publisher.pub")?;
    /// let verified = workspace.verify_package(Path::new("pdf.skill"), Some(&key), true)?;
    /// println!("{} {} is of {}", verified.package.name, verified.package.version, verified.key);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the signature does not match, when another key signed, or when no signer is known and no key was given.
    pub fn verify_package(
        &self,
        file: &Path,
        key: Option<&PublicKey>,
        remember: bool,
    ) -> Result<SignedFile, Error> {
        let file = self.machine.work.join(file);
        let (bytes, package) = read_package(&file)?;
        let signature = beside(&file, SIGNATURE_EXTENSION);
        let text = read_text(&signature).map_err(|error| match error.code() {
            "not-found" => Error::unmet(
                "unsigned",
                "the package is not signed: there is no signature next to it",
            )
            .skill(&package.name)
            .path(&signature),
            _ => error,
        })?;
        let name = &package.name;
        let known = self.known_signer(name)?;
        let expected = match (key, &known) {
            (Some(key), _) => key,
            (None, Some(known)) => known,
            (None, None) => return Err(unknown_signer(&file, name, &text)),
        };
        verify(expected, &text, &bytes, &package).map_err(|error| match error {
            SignatureError::OtherKey => changed_signer(&file, name, expected, claimed_key(&text)),
            error => Error::unmet("signature", error.to_string())
                .skill(name)
                .path(&signature)
                .hint("get the package and its signature again from the publisher"),
        })?;
        let is_written = remember && known.as_ref() != Some(expected);
        if is_written {
            self.remember_signer(name, expected)?;
        }
        Ok(SignedFile {
            key: expected.clone(),
            package,
            signature,
            is_written,
        })
    }

    /// The key that signed this skill when it was trusted; `None` if no signer is known.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), metier::Error> {
    /// # let workspace = metier::Workspace::open(metier::Settings::from_env()?)?;
    /// match workspace.known_signer("pdf")? {
    ///     Some(key) => println!("signed by {key}"),
    ///     None => workspace.remember_signer("pdf", &workspace.public_key("publisher.pub")?)?,
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the file with the key can't be read: it then protects nothing.
    pub fn known_signer(&self, skill: &str) -> Result<Option<PublicKey>, Error> {
        let Some(file) = self.signer_path(skill) else {
            return Ok(None);
        };
        match read_text(&file) {
            Err(error) if error.code() == "not-found" => Ok(None),
            Err(error) => Err(error),
            Ok(text) => PublicKey::parse(&text).map(Some).map_err(|error| {
                Error::broken(
                    "signer",
                    format!("the known signer of `{skill}` can't be read: {error}"),
                )
                .skill(skill)
                .path(&file)
                .hint("delete the file to trust the next signer")
            }),
        }
    }

    /// Makes a key the known signer of a skill, instead of the one before.
    ///
    /// An example is at [`Workspace::known_signer`].
    ///
    /// # Errors
    /// When the data folder can't be written.
    pub fn remember_signer(&self, skill: &str, key: &PublicKey) -> Result<(), Error> {
        let file = self.signer_path(skill).ok_or_else(no_home)?;
        if let Some(folder) = file.parent() {
            make_private(folder).map_err(|error| Error::unwritable(folder, &error))?;
        }
        write_whole(&file, key.to_file().as_bytes(), true)?;
        Ok(())
    }

    /// The user's own signature is trusted, unless another signer is known.
    fn note_own_signature(&self, skill: &str, key: &PublicKey) -> Result<(), Error> {
        match self.known_signer(skill)? {
            None if self.signer_path(skill).is_some() => self.remember_signer(skill, key),
            Some(known) if known != *key => {
                let line = format!("the known signer of `{skill}` is another key: {known}");
                self.notices.notice(NoticeLevel::Alert, &line);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reads a public key: its line, or a file.
    ///
    /// The example of [`Workspace::verify_package`] reads one.
    ///
    /// # Errors
    /// When it is neither.
    pub fn public_key(&self, text: &str) -> Result<PublicKey, Error> {
        if let Ok(key) = PublicKey::parse(text) {
            return Ok(key);
        }
        let file = self.machine.work.join(text);
        let key = read_text(&file).ok();
        let key = key.and_then(|key| PublicKey::parse(&key).ok());
        key.ok_or_else(|| {
            let shown = crate::text::one_line(text);
            let message = format!("`{shown}` is not a public key, and not a file with one");
            Error::unmet("key", message)
                .hint("name the file that ends in `.pub`, or its second line")
        })
    }

    fn secret_key_path(&self, file: Option<&Path>) -> Result<PathBuf, Error> {
        match file {
            Some(file) => Ok(self.machine.work.join(file)),
            None => self.machine.signing_key().ok_or_else(no_home),
        }
    }

    /// The file of a skill's signer. Only a name that conforms becomes a path.
    fn signer_path(&self, skill: &str) -> Option<PathBuf> {
        let conforms = !skill.is_empty() && departures(skill).next().is_none();
        let folder = self.machine.signers().filter(|_| conforms)?;
        Some(folder.join(format!("{skill}.pub")))
    }
}

fn taken_key(path: &Path) -> Error {
    Error::unmet("exists", "the key already exists; nothing was changed")
        .path(path)
        .hint("name another file with `-o`")
}

/// A folder that only its owner can read.
fn make_private(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

fn no_home() -> Error {
    Error::broken("store", "there is no home directory for keys")
        .hint("set METIER_HOME to a folder")
}

fn read_text(file: &Path) -> Result<String, Error> {
    let bytes = read_file(file, MAX_TEXT)?;
    String::from_utf8(bytes)
        .map_err(|_| Error::unmet("unreadable", "the file is not text").path(file))
}

/// The bytes of a package, and what a signature of it contains.
fn read_package(file: &Path) -> Result<(Vec<u8>, SignedPackage), Error> {
    let limits = ArchiveLimits::default();
    let bytes = read_file(file, limits.packed)?;
    let refused = |why: String| {
        Error::unmet("not-a-package", format!("not a package of a skill: {why}"))
            .path(file)
            .hint("create one with `metier pack`")
    };
    let tree = read_archive(&bytes, limits).map_err(|error| refused(error.to_string()))?;
    let tree = tree
        .only_skill()
        .map_err(|error| refused(error.to_string()))?;
    let package =
        described(&tree).ok_or_else(|| refused("its manifest is not valid".to_owned()))?;
    Ok((bytes, package))
}

/// The name, the version and the digest of a skill; `None` if its manifest is not valid or its name is not one of a package.
///
/// [`Workspace::verify_package`] returns the same for a file, and has an example.
#[must_use]
pub fn described(tree: &PackageTree) -> Option<SignedPackage> {
    let text = |name| tree.get(name).map(String::from_utf8_lossy);
    let (md, yaml) = (text("SKILL.md"), text("SKILL.yaml"));
    let files = Files {
        skill_md: md.as_deref().map(|text| FileText {
            name: "SKILL.md",
            text,
        }),
        skill_yaml: yaml.as_deref().map(|text| FileText {
            name: "SKILL.yaml",
            text,
        }),
        ..Files::default()
    };
    let card = metier_model::parse(&files, Strictness::Lenient)
        .manifest?
        .card;
    if departures(&card.name).next().is_some() {
        return None;
    }
    let version = card.version.as_ref().and_then(|version| version.semver());
    Some(SignedPackage {
        name: card.name.to_string(),
        version: version.map(ToString::to_string).unwrap_or_default(),
        tree: tree.digest(),
    })
}

/// The command that trusts a key.
fn trust_line(file: &Path, key: &PublicKey) -> String {
    let file = file.to_string_lossy();
    format!(
        "metier verify-signature {} --key {key} --trust",
        shell_word(&file)
    )
}

fn unknown_signer(file: &Path, skill: &str, signature: &str) -> Error {
    let message = format!("no signer of `{skill}` is known");
    let error = Error::unmet("unknown-signer", message)
        .skill(skill)
        .path(file);
    match claimed_key(signature) {
        Some(key) => error
            .detail(format!("the signature names the key {key}"))
            .hint(format!(
                "compare the key with the one that the publisher shows, then: {}",
                trust_line(file, &key)
            )),
        None => error.hint("get the publisher's public key, and name it with `--key`"),
    }
}

fn changed_signer(file: &Path, skill: &str, known: &PublicKey, found: Option<PublicKey>) -> Error {
    let message = format!("another key signed `{skill}`");
    let error = Error::unmet("signer-changed", message)
        .skill(skill)
        .path(file)
        .detail(format!("expected {known}"));
    match found {
        Some(found) => error
            .detail(format!("the signature names the key {found}"))
            .hint(format!(
                "ask the publisher; to trust the other key: {}",
                trust_line(file, &found)
            )),
        None => error.hint("ask the publisher which key signs the skill"),
    }
}
