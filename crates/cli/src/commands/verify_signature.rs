//! `metier verify-signature`

use std::path::PathBuf;

use metier::distribution::signing::SignedFile;
use metier_wire::SignatureDocument;

use crate::{
    cli_run::CliRun,
    failure::{Exit, Failure},
    output::{Tone, one_line},
};

/// Check the signature of a package
///
/// The signature is read from FILE.minisig. Without `--key`, the signer must be the known signer of the skill: the first one that you
/// trusted. Exit code 1 when the signature does not match, when a different key signed, or when no signer is known.
#[derive(clap::Args)]
pub(crate) struct VerifySignatureArgs {
    /// The package
    #[arg(value_name = "FILE.skill")]
    file: PathBuf,
    /// The public key: its line, or a file
    #[arg(long, value_name = "KEY|FILE")]
    key: Option<String>,
    /// Make this key the known signer of the skill, if the signature is valid
    #[arg(long, requires = "key")]
    trust: bool,
}

pub(crate) fn run(run: &CliRun, args: &VerifySignatureArgs) -> Result<Exit, Failure> {
    let output = &run.output;
    let key = args.key.as_deref();
    let key = key.map(|key| run.public_key(key)).transpose()?;
    let verified = run.verify_package(&args.file, key.as_ref(), args.trust)?;
    if output.is_json() {
        output.document(&document(&verified))?;
        return Ok(Exit::Ok);
    }
    let package = &verified.package;
    let title = one_line(&format!("{} {}", package.name, package.version));
    output.report(&format!(
        "{} {title} is signed by {}\n",
        output.paint("✓", Tone::Good),
        verified.key
    ))?;
    if verified.is_written {
        output.note(&format!(
            "the key is now the known signer of {}",
            package.name
        ));
    }
    Ok(Exit::Ok)
}

/// The document of a signature.
pub(super) fn document(signed: &SignedFile) -> SignatureDocument {
    SignatureDocument {
        name: signed.package.name.clone(),
        version: signed.package.version.clone(),
        tree: signed.package.tree.to_string(),
        signature: signed.signature.to_string_lossy().into_owned(),
        key: signed.key.to_string(),
        written: signed.is_written,
    }
}
